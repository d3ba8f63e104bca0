"""Numbers that make no sense: refused by `check`, or stopped before they reach a checkpoint."""

from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.optim.lr_scheduler import LambdaLR
from tinynet.train import NonFiniteError, fit, run
from tinynet.train.base import checkpoint_file as checkpoints
from tinynet.train.cli import main
from tinynet.train.config.components import FAMILIES
from tinynet.train.step.epoch import Totals

ONE_CYCLE = "schedule={type='OneCycleLR', per='step', total_steps=%s, max_lr=%s}"


@pytest.fixture
def refused(write, digits, capsys, tmp_path):
    """What `check` says of a config with these values, which it must refuse."""

    def check(*values, config=digits, **modules):
        arguments = ["check", write(config, **modules), *(f"--set={value}" for value in values)]
        assert main(arguments) == 2
        out, err = capsys.readouterr()
        assert out == "" and "Traceback" not in err
        assert not (tmp_path / "runs").exists()
        return err

    return check


@pytest.mark.parametrize(
    "value",
    [
        *("schedule={type='CosineAnnealingLR', T_max=5, eta_min=nan}", ONE_CYCLE % (46, "nan")),
        *("schedule={type='ExponentialLR', gamma=inf}", "schedule={type='StepLR', step_size=-1}"),
        *("schedule={type='ReduceLROnPlateau', threshold=nan}", "optimizer.lr=inf"),
        *("optimizer.momentum=-0.5", "optimizer.lr=-1", "optimizer.dampening=nan"),
        *("run.save_every_seconds=nan", "run.save_every_seconds=inf", "evaluation.min_delta=nan"),
        *("evaluation.patience=-1", "optimizer.clip_norm=nan", "optimizer.clip_value=inf"),
        *(f"{key}=1{'0' * 30}" for key in ("run.epochs", "data.workers", "data.batch_size")),
        *(f"run.{key}=1{'0' * 30}" for key in ("keep_checkpoints", "skip_limit", "log_every")),
        *(f"{key}=1{'0' * 30}" for key in ("optimizer.accumulate", "evaluation.samples")),
        *("data.workers=100000", "evaluation.samples=100000000", "ema.decay=nan"),
    ],
)
def test_numbers_without_sense_are_refused(refused, value):
    key = value.partition("=")[0]
    err = refused(value)
    assert f"command line: {key}" in err and " must " in err


def test_a_list_with_nan_is_refused(refused, digits):
    config = digits.replace('type = "SGD"', 'type = "Adam"').replace("momentum = 0.9\n", "")
    assert "must be a finite number" in refused("optimizer.betas=[0.9, nan]", config=config)


@pytest.mark.parametrize("section", ["optimizer", "schedule"])
def test_defaults_are_accepted(section):
    from tinynet.train.config.rules import not_sensible
    from tinynet.train.config.signatures import signature_of

    for name, target in FAMILIES[section].names().items():
        for parameter in signature_of(target).parameters.values():
            if not parameter.required:
                assert not not_sensible(parameter.default, parameter.default), (name, parameter)


def test_a_schedule_that_is_too_short(refused, write, digits, capsys):
    err = refused(ONE_CYCLE % (44, 0.2))
    assert "schedule: fails after 45 of the run's 46 steps. ValueError: Tried to step" in err
    assert main(["train", write(digits), "--set", ONE_CYCLE % (46, 0.2)]) == 0
    (folder,) = Path("runs/digits").iterdir()
    capsys.readouterr()
    assert main(["resume", str(folder), "epochs=3"]) == 2
    assert "fails after 47 of the run's 69 steps" in capsys.readouterr().err


OWN_SCHEDULE = """
    from tinynet.optim.lr_scheduler import LambdaLR

    def nan_later(optimizer):
        return LambdaLR(optimizer, lambda epoch: 1.0 if epoch < 30 else float("nan"))
"""


def test_a_rate_that_becomes_nan_is_found_by_check(refused):
    value = "schedule={type='./own.py:nan_later', per='step'}"
    assert "schedule: gives a learning rate of nan after 30 steps" in refused(
        value, own=OWN_SCHEDULE
    )


# ---- past `check` ----


def test_a_rate_that_is_nan_changes_no_weight():
    model = nn.Linear(2, 1)
    sgd = optim.SGD(model.parameters(), lr=0.1)
    later = LambdaLR(sgd, lambda epoch: 1.0 if epoch < 2 else float("nan"))
    batches = [(tn.ones(4, 2), tn.ones(4, 1))] * 5
    steps = fit(
        *(model, nn.MSELoss(), sgd, batches, 1), schedule=later, per="step", skip=lambda error: True
    )
    next(steps), next(steps)
    before = model.weight.detach().numpy().copy()
    with pytest.raises(NonFiniteError, match="the learning rate is nan in epoch 1, step 3") as info:
        next(steps)
    assert np.array_equal(model.weight.detach().numpy(), before)
    assert "stopped before the weights were changed" in str(info.value)
    assert "schedule" in str(info.value)


POISON = """
    from tinynet import optim

    class Poison(optim.SGD):
        def step(self, closure=None):
            super().step(closure)
            self.steps = getattr(self, "steps", 0) + 1
            if self.steps == %d:
                self.param_groups[0]["params"][0].data.fill_(float("inf"))
"""


@pytest.mark.parametrize("steps", [46, 30])
def test_weights_that_an_update_spoils_reach_no_checkpoint(write, digits, steps):
    config = digits.replace('"SGD"', '"./poison.py:Poison"')
    extra = {"run.save_every_steps": 4, "run.non_finite": "skip"}
    with pytest.raises(NonFiniteError) as info:
        run(write(config, poison=POISON % steps), extra, quiet=True)
    (folder,) = Path("runs/digits").iterdir()
    for path in folder.glob("*.npz"):
        weights = checkpoints.read_checkpoint(path)["model"].values()
        assert all(np.isfinite(weight.numpy()).all() for weight in weights), path
    if steps == 46:  # the last of all: no later step could notice
        assert "is not finite after the update in epoch 2, step 46" in str(info.value)
        assert "stopped without saving it" in str(info.value)


# ---- data sets ----

LENGTH = """
    import tinynet as tn

    class Set:
        def __len__(self):
            return {length}

        def __getitem__(self, row):
            return tn.zeros(64), {label}
"""


@pytest.mark.parametrize(
    ("length", "told"),
    [
        ("-1", "__len__() should return >= 0"),
        ("1.5", "'float' object cannot be interpreted as an integer"),
        ("10**30", "cannot fit 'int' into an index-sized integer"),
        ("2**62", "the data set has 4,611,686,018,427,387,904 examples, too many to shuffle"),
    ],
)
@pytest.mark.parametrize("train", ["", ", train=True"])
def test_a_length_that_is_no_count(refused, digits, length, told, train):
    module = LENGTH.format(length=length, label=0)
    module += f"\n    def make(x=1{train}):\n        return Set()\n"
    config = digits.replace('"Digits"', '"./sets.py:make"')
    assert told in refused(config=config, sets=module)


def test_labels_that_are_numpy_integers_are_looked_at(refused, digits):
    module = "import numpy as np\n" + LENGTH.replace("\n    ", "\n").format(
        length=20, label="np.int64(row % 11)"
    )
    config = digits.replace('"Digits"', '"./sets.py:Set"')
    err = refused(config=config, sets=module)
    assert "targets: 10" in err and "expected: a class from 0 to 9" in err


BROKEN = """
    import tinynet as tn

    class Set:
        def __init__(self, train=True):
            self.train = train

        def __len__(self):
            return 64

        def __getitem__(self, row):
            if self.train and row == 63:
                raise RuntimeError("row 63 is gone")
            return tn.zeros(64), row % 10
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_in_a_worker_is_as_short_as_without(write, digits, capsys, workers):
    config = digits.replace('"Digits"', '"./sets.py:Set"')
    values = ["--set=data.batch_size=16", "--set=data.check=false", f"--set=data.workers={workers}"]
    assert main(["train", write(config, sets=BROKEN), "--quiet", *values]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "the run failed"
    assert [line.split(", line")[0].strip() for line in lines[1:]] == [
        f'File "{Path("sets.py").resolve()}"',
        'raise RuntimeError("row 63 is gone")',
        "RuntimeError: row 63 is gone",
    ]


# ---- scores that are NaN ----


@pytest.mark.parametrize("metric", ["accuracy", "top1", "top3", "binary_accuracy"])
def test_nan_is_never_right(metric):
    scores = tn.full((4, 3), float("nan"))
    targets = tn.zeros(4, 3) if metric == "binary_accuracy" else tn.tensor([0, 1, 2, 0])
    totals = Totals([metric])
    totals.add(scores, targets, loss=0.0)
    assert totals.figures()[metric] == 0.0


def test_one_nan_among_scores_spoils_only_its_example():
    scores = tn.tensor([[9.0, float("nan"), 0.0], [9.0, 0.0, 0.0]])
    totals = Totals(["accuracy", "top2", "confusion_matrix"])
    totals.add(scores, tn.tensor([0, 0]), loss=0.0)
    assert totals.figures() == {"loss": 0.0, "accuracy": 0.5, "top2": 0.5}
    assert totals.confusion_matrix().sum() == 1
