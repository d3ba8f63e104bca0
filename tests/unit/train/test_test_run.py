"""``tinynet test-run``: one batch of everything, and a line for what fails."""

import re
import tempfile

import pytest

from tinynet.train.assemble.build import build
from tinynet.train.cli import main
from tinynet.train.config.resolve import load_config

pytestmark = pytest.mark.usefixtures("reports")
STEPS = [
    "train and evaluate",
    "resume from the checkpoint",
    "evaluate the checkpoint",
    "predict",
    "write the report",
]
CYCLE = '[schedule]\ntype = "OneCycleLR"\nmax_lr = 0.2\nper = "step"\nwarmup = "5%"\n'


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def lines_of(capsys):
    """The outcome of each step, and the last line."""
    *lines, last = capsys.readouterr().out.splitlines()
    found = [re.fullmatch(r"(ok|failed) +([a-z ]+)(?: \([\d.]+ s\))?(?:: (.*))?", x) for x in lines]
    return {one[2]: (one[1], one[3]) for one in found}, last


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "given",
    [
        [],
        ["--batches", "3", "optimizer.accumulate=2", "data.workers=2"],
        ["run.max_steps=1000", "run.max_time=2h"],
        ["run.overfit_batches=10", "evaluation.patience=1", "ema.decay=0.9"],
    ],
)
@pytest.mark.parametrize("schedule", ["", CYCLE], ids=["constant", "cycle"])
def test_everything_works(write, digits, tmp_path, capsys, given, schedule):
    assert main(["test-run", write(digits + schedule), *given]) == 0
    steps, last = lines_of(capsys)
    assert [*steps] == STEPS and {outcome for outcome, _ in steps.values()} == {"ok"}
    batches = 3 if given[:1] == ["--batches"] else 1
    assert f"({57 * batches} examples, epoch 2)" in steps["evaluate the checkpoint"][1]
    assert last == "everything works; nothing was kept"
    assert [path.name for path in tmp_path.iterdir()] == ["digits.toml"]


METRIC = "def broken(outputs, targets):\n    return 1 / (len(targets) - 57)\n"
BROKEN = ["evaluation.metrics=['./own.py:broken']", "evaluation.monitor=loss"]


def test_a_line_names_what_fails(write, digits, capsys):
    config = write(digits, own=METRIC.replace("57", "1000"))  # of another size: Python compares
    # sizes and seconds of files to decide whether to read one again
    assert main(["test-run", config, *BROKEN]) == 0
    capsys.readouterr()
    config = write(digits, own=METRIC)
    assert main(["test-run", config, *BROKEN]) == 1
    failed = capsys.readouterr().out
    start = "failed  train and evaluate: command line: evaluation.metrics: a metric failed: "
    assert failed.startswith(start + 'ZeroDivisionError: division by zero (File "')
    assert failed.endswith('own.py", line 2, in broken)\n')


def test_what_fails_later_is_named_too(write, digits, capsys):
    later = (
        "class Later:\n    def on_epoch_end(self, at):\n        assert at.epoch < 2, 'too late'\n"
    )
    config = write(digits, later=later)
    assert main(["test-run", config, "run.callbacks=['./later.py:Later']"]) == 1
    steps, last = lines_of(capsys)
    assert [name for name, (outcome, _) in steps.items() if outcome == "failed"] == [STEPS[1]]
    assert re.fullmatch(
        r'AssertionError: too late \(File ".*later.py", line 3, in on_epoch_end\)',
        steps[STEPS[1]][1],
    )
    assert last == "failed: resume from the checkpoint"


def test_mistakes_in_the_config_are_listed(write, digits, capsys):
    assert main(["test-run", write(digits), "model.type=mpl", "optimizer.lrr=1"]) == 2
    assert "2 mistakes; nothing was written." in capsys.readouterr().err
    assert main(["test-run", "digits.toml", "--batches", "0"]) == 2


def test_a_part_of_the_evaluation(write, digits):
    parts = build(load_config(write(digits), {"evaluation.limit_batches": "30%"}))
    assert (len(parts.test_batches), len(parts.test_set)) == (2, 114)
    parts = build(load_config("digits.toml", {"evaluation.limit_batches": 1.0}))
    assert (len(parts.test_batches), len(parts.test_set)) == (7, 364)
