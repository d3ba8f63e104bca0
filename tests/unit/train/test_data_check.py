"""Examples that cannot be trained on are refused before training, with their rows."""

import random
import re
import time

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.data import Dataset, Subset, TensorDataset
from tinynet.train import NonFiniteError, load_config, run
from tinynet.train.assemble.sets import for_loss
from tinynet.train.assemble.trial import trial
from tinynet.train.cli import main
from tinynet.train.diagnose.data_check import check_examples
from tinynet.train.diagnose.dry_run import examine
from tinynet.train.run.runner import prepare
from tinynet.train.step.seeds import get_states, undisturbed

from .test_runner import weights

NAN, INF = float("nan"), float("inf")

MADE = """
    import numpy as np
    import tinynet as tn
    from tinynet.data import Dataset, TensorDataset

    def made(kind: str, train: bool = True):
        x, y = tn.zeros(150, 64), tn.arange(150) % 10
        if train and kind == "values":
            x[17, 3], x[99, 0] = float("nan"), float("inf")
        elif train and kind == "classes":
            y[5], y[7], y[20:40] = 10, -1, 11
        elif kind == "floats":
            y = y.float()
        elif not train and kind == "targets":
            return TensorDataset(x, tn.full((150, 10), float("nan")))
        elif kind == "empty":
            x, y = (x, y) if train else (x[:0], y[:0])
        return TensorDataset(x, y) if kind[0] != "_" else Slow(kind, train)

    class Slow(Dataset):
        def __init__(self, kind, train):
            self.kind, self.train = kind, train

        def __len__(self):
            return 100

        def __getitem__(self, row):
            x = tn.zeros(64) + np.random.rand()
            if self.train and row in (0, 61):
                if self.kind == "_shape":
                    x = tn.zeros(65)
                elif self.kind == "_dtype":
                    x = x.double()
                elif self.kind == "_error":
                    raise KeyError(f"no file {row}.png")
                elif self.kind == "_pair":
                    return x
            return x, row % 10
"""


@pytest.fixture
def refusal(write, digits, capsys, tmp_path):
    """Trains on made examples, which must be refused with exit code 2; what is said."""

    def train(kind, *more, command="train"):
        config = digits.replace('"Digits"', f'"./made.py:made"\nkind = "{kind}"')
        more = ("data.validation=0", *more)  # so that row 17 of the file is example 17
        assert main([command, write(config, made=MADE), *more]) == 2
        assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) in (
            [],
            ["__pycache__"],
        )
        out, err = capsys.readouterr()
        assert out == "" and "Traceback" not in err
        return err.splitlines()

    return train


@pytest.mark.parametrize("command", ["train", "check"])
def test_nan_and_infinity(refusal, command):
    assert refusal("values", command=command) == [
        "digits.toml:6: data: the training set has examples that cannot be trained on",
        "  example 17: inputs: 1 NaN of 64, the first at [3]",
        "  example 99: inputs: 1 inf of 64, the first at [0]",
        "    expected: finite numbers",
        "  checked all 150 examples; data.check = false skips this check",
        "1 mistake; nothing was written.",
    ]


def test_the_validation_set_is_checked_too(refusal):
    lines = refusal("classes", "data.validation=0.4")
    assert [line for line in lines if " set has " in line] == [
        f"digits.toml:6: data: the {name} set has examples that cannot be trained on"
        for name in ("training", "validation")
    ]
    numbers = [int(found[1]) for line in lines if (found := re.search(r"\(number (\d+) of", line))]
    assert len(numbers) == 6  # those in the file
    assert all(number in (5, 7, *range(20, 40)) for number in numbers)
    more = [int(line.split()[2]) for line in lines if line.endswith(" more")]
    assert sum(more) == 22 - 6


def test_classes_that_the_model_does_not_have(refusal):
    lines = refusal("classes")
    assert lines[1:6] == [
        "  example 5: targets: 10",
        "  example 7: targets: -1",
        "  example 20: targets: 11",
        "  ... and 19 more",
        "    expected: a class from 0 to 9: the model has 10 outputs, the loss is CrossEntropyLoss",
    ]


def test_numbers_where_classes_are_wanted(refusal):
    lines = refusal("floats")
    assert "  example 1: targets: 1 (float32)" in lines
    assert "the training set" in lines[0] and any("the test set" in line for line in lines)


def test_targets_of_the_test_set(refusal):
    lines = refusal("targets", "model.sizes=[64,10]", "loss.type=MSELoss")
    assert lines[0].endswith("the test set has examples that cannot be trained on")
    assert lines[1] == "  example 0: targets: 10 NaN of 10, the first at [0]"


def test_a_part_without_examples(refusal):
    assert refusal("empty")[0] == "digits.toml:6: data: the test set is empty"


@pytest.mark.parametrize(
    "kind, found, expected",
    [
        ("_shape", "inputs: [65] float32", "[64] float32, as most have"),
        ("_dtype", "inputs: [64] float64", "[64] float32, as most have"),
        ("_error", "KeyError: 'no file 61.png'", "an example"),
        ("_pair", "[64] tinynet.float32", "a pair (input, target)"),
    ],
)
def test_rows_that_are_not_like_the_others(refusal, kind, found, expected):
    lines = refusal(kind)
    assert f"  example 61: {found}" in lines
    assert f"    expected: {expected}" in lines
    assert lines[1].startswith("  example 0: ")  # the first row does not decide what is usual


def test_it_can_be_switched_off(write, digits):
    config = digits.replace('"Digits"', '"./made.py:made"\nkind = "values"')
    write(config, made=MADE)
    with pytest.raises(NonFiniteError, match="origin   the batch: inputs had it already"):
        run("digits.toml", ["data.check=false", "data.shuffle=false"], quiet=True)


def test_check_reports_how_much_was_checked(write, digits, capsys):
    assert main(["check", write(digits)]) == 0
    out = capsys.readouterr().out
    everything = "all of the training set, all of the validation set and all of the test set"
    assert f"checked {everything}: no problems" in out
    assert main(["check", "digits.toml", "data.check=false"]) == 0
    assert "the examples were not checked" in capsys.readouterr().out


def test_random_augmentation_leaves_no_trace():
    class Noisy(Dataset):
        def __init__(self):
            self.own = [tn.Generator().manual_seed(3), np.random.default_rng(3)]
            self.more = {"a": random.Random(3), "b": np.random.RandomState(3)}

        def __len__(self):
            return 20

        def __getitem__(self, row):
            x = tn.rand(3) + tn.rand(3, generator=self.own[0]) + float(self.own[1].random())
            more = np.random.rand() + random.random() + self.more["a"].random()
            return x + float(more + self.more["b"].rand()), 0

    def trace():
        own = [noisy.own[0].state_dict(), noisy.own[1].bit_generator.state]
        return repr([get_states(), own, noisy.more["a"].getstate(), noisy.more["b"].get_state()])

    noisy = Noisy()
    before = trace()
    with undisturbed(noisy, seed=1):
        assert check_examples(noisy).checked == 20
        assert trace() != before  # there is something to be undone
    assert trace() == before


OWN_STREAM = """
    import numpy as np
    from tinynet.data import Dataset

    class Noisy(Dataset):
        def __init__(self, train: bool = True):
            self.rng = np.random.default_rng(3)

        def __len__(self):
            return 60

        def __getitem__(self, row):
            return self.rng.standard_normal(64).astype("float32"), row % 10
"""


def test_a_trial_leaves_the_random_streams_of_the_data_as_they_were(write, digits):
    write(digits.replace('"Digits"', '"./own.py:Noisy"'), own=OWN_STREAM)
    parts = prepare(load_config("digits.toml"))
    held = [examples.rng.bit_generator for examples in (parts.train_set.dataset, parts.test_set)]
    before = repr([one.state for one in held])
    trial(parts)
    examine(parts)
    assert repr([one.state for one in held]) == before


def test_a_run_is_the_same_with_and_without_the_look(write, digits):
    config = digits.replace('"Digits"', '"./made.py:made"\nkind = "_"')
    write(config, made=MADE)
    runs = [run("digits.toml", {"data.check": check}, quiet=True) for check in (True, False)]
    assert weights(runs[0].model) == weights(runs[1].model)


def test_a_slow_data_set_is_checked_in_part():
    class Slow(Dataset):
        def __len__(self):
            return 10_000

        def __getitem__(self, row):
            rows.append(row)
            time.sleep(0.001)
            return tn.zeros(2), 0

    rows = []
    report = check_examples(Slow(), seconds=0.05)
    assert 0 < report.checked < 10_000
    assert report.extent == f"{report.checked:,} of 10,000, evenly spread,"
    assert max(rows) > 9000 and min(rows) == 0


@pytest.mark.parametrize("count", [1, 15, 16, 17, 511, 512, 513, 1025])
def test_every_example_is_checked_once(count):
    values = tn.zeros(count)
    values[count - 1] = NAN
    report = check_examples(TensorDataset(values, values))
    assert report.checked == count
    mistakes = [(m.part, m.count, m.shown(1)[0][0]) for m in report.mistakes.values()]
    assert mistakes == [("inputs", 1, count - 1), ("targets", 1, count - 1)]
    some = check_examples(Subset(TensorDataset(values, values), [count - 1, 0]))
    assert [m.rows[0][0] for m in some.mistakes.values()] == [0, 0]


def test_parts_inside_of_parts():
    samples = [({"a": tn.zeros(2), "b": [1.0, "text"]}, 0) for _ in range(5)]
    samples[3][0]["b"][0] = INF
    (mistake,) = check_examples(samples).mistakes.values()
    assert (mistake.part, mistake.rows) == ("inputs/b/0", [(3, "1 inf of 1")])


def rules(loss, outputs, targets):
    return [r for r in for_loss(loss, outputs, targets[0].numpy()) if r.bad(targets.numpy()).any()]


def test_what_losses_want():
    scores = tn.zeros(4, 3)
    assert not rules(nn.CrossEntropyLoss(), scores, tn.tensor([0, 2, -100]))  # which is ignored
    assert rules(nn.CrossEntropyLoss(ignore_index=5), scores, tn.tensor([0, 2, -100]))
    assert not rules(nn.CrossEntropyLoss(ignore_index=5), scores, tn.tensor([0, 5]))
    assert not rules(nn.CrossEntropyLoss(), scores, tn.zeros(4, 3))  # probabilities
    assert rules(nn.NLLLoss(), tn.zeros(4, 3, 7), tn.full((4, 7), 3))
    assert not rules(nn.NLLLoss(), tn.zeros(4, 3, 7), tn.full((4, 7), 2))
    assert rules(nn.BCELoss(), tn.zeros(4, 1), tn.tensor([[0.5], [1.5]]))
    assert not rules(nn.MSELoss(), scores, tn.full((4, 3), 99.0))


def test_large_numbers_are_finite():
    large = tn.full((4, 8), 3e38)  # their sum is not
    assert not check_examples(TensorDataset(large, tn.zeros(4))).mistakes
