"""``data.mix``: mixtures of training batches, exact after resume and with workers."""

import pytest

import tinynet as tn
from tinynet.train import load_config, resume, run
from tinynet.train.assemble.build import build
from tinynet.train.cli import main

from .test_resume import killed, rows, same


@pytest.fixture
def mixed(digits):
    """A config whose batches are mixed."""
    return digits.replace("batch_size = 57", 'batch_size = 57\nmix = ["MixUp", "CutMix"]')


def test_training_batches_are_mixed_and_others_are_not(write, mixed):
    parts = build(load_config(write(mixed)))
    inputs, targets = next(iter(parts.train_batches))
    assert targets.shape == (57, 10) and targets.dtype is tn.float32
    assert (targets.sum(1) - 1).abs().max() < 1e-6 and ((targets > 0) & (targets < 1)).any()
    assert next(iter(parts.test_batches))[1].dtype is tn.int64
    drawn = {type(one).__name__: one.num_classes for one in parts.train_batches.collate_fn.mixtures}
    assert drawn == {"MixUp": 10, "CutMix": 10}


def test_both_are_drawn(write, mixed):
    parts = build(load_config(write(mixed), {"data.batch_size": 8}))
    whole = [
        bool(((inputs > 0) & (inputs * 16 % 1 > 1e-3)).any()) for inputs, _ in parts.train_batches
    ]
    assert 35 < sum(whole) < 125  # of 162: with MixUp, gray values between those of the data


@pytest.mark.parametrize("given", [[], ["loss.label_smoothing=0.1"], ["run.compile=true"]])
def test_a_model_learns_from_shares(write, mixed, given):
    result = run(write(mixed), ["run.epochs=4", *given], quiet=True)
    assert result.metrics["accuracy"] > 0.6
    assert "train/accuracy" not in rows(result.folder)[-1]  # there are no single classes


@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_run_ends_as_if_it_had_not(write, mixed, tmp_path, whole_run, dies, workers):
    given = ["run.save_every_steps=5", f"data.workers={workers}"]
    folder = killed(write(mixed), given, dies, 33, tmp_path / "runs")
    resume(folder, quiet=True)
    same(folder, whole_run(mixed, given[0]).folder)


@pytest.mark.parametrize(
    "given, message",
    [
        ("data.mix=['MixOp']", "data.mix.0.type: there is no 'MixOp'; did you mean 'MixUp'?"),
        ("data.mix=[{type='MixUp', alpha=0}]", "The 'alpha' parameter of MixUp must be > 0"),
        ("data.targets=inputs", "data.mix: the targets are not classes"),
        ("loss.type=MultiMarginLoss", "the model, the loss and the data do not fit together"),
    ],
)
def test_what_does_not_fit_is_refused_before_training(write, mixed, capsys, given, message):
    assert main(["train", write(mixed), "--set", given]) == 2
    assert message in capsys.readouterr().err


def test_an_own_mixture(write, mixed):
    own = """
    def swapped(inputs, targets):
        return inputs.flip(0), targets.flip(0)
    """
    path = write(mixed, own=own)
    plain = build(load_config(path, {"data.mix": []}))
    parts = build(load_config(path, {"data.mix": ["./own.py:swapped"]}))
    first, mixed_ = next(iter(plain.train_batches)), next(iter(parts.train_batches))
    assert all(tn.equal(a.flip(0), b) for a, b in zip(first, mixed_, strict=True))
