"""Runs that end after a number of steps or a time, and those on a part of the batches."""

import json
import re

import pytest

from tinynet.train import evaluate_run, load_config, resume, run
from tinynet.train.assemble import stopping
from tinynet.train.assemble.build import build
from tinynet.train.base.checkpoint_file import read_checkpoint
from tinynet.train.base.problems import ConfigError
from tinynet.train.cli import main
from tinynet.train.diagnose.explanation import explain_run

from .test_resume import killed, same
from .test_resume import rows as all_rows

STEPS = 23  # of an epoch


def rows(folder):
    """The figures of epochs, without those of the test set at the end."""
    return [row for row in all_rows(folder) if "weights" not in row]


@pytest.fixture
def unlimited(digits):
    """A config without a number of epochs."""
    return digits.replace("epochs = 2\n", "")


def test_max_steps_ends_within_an_epoch(write, unlimited, capsys):
    result = run(write(unlimited), {"run.max_steps": 50})
    assert (result.stopped_by, result.is_complete) == ("run.max_steps", True)
    assert [(row["epoch"], row["step"]) for row in rows(result.folder)] == [
        (1, 22),
        (2, 45),
        (3, 49),
    ]
    out = capsys.readouterr().out
    assert "epoch 3/3: " in out and "\nstopped by run.max_steps = 50\n" in out
    assert "finished: the number of steps reached run.max_steps" in explain_run(result.folder)
    assert evaluate_run(result.folder, quiet=True).metrics == result.metrics
    assert resume(result.folder).is_complete
    assert "(epoch 3, step 50); --set run.max_steps=N extends it" in capsys.readouterr().out


def test_the_report_says_which_limit_ended_the_run(write, unlimited, reports):
    result = run(write(unlimited), {"run.max_steps": 3}, quiet=True)
    assert (
        "the number of steps reached run.max_steps" in (result.folder / "report.html").read_text()
    )


@pytest.mark.parametrize("epochs, steps, seen", [(2, 50, 46), (3, 46, 46), (2, 46, 46), (1, 5, 5)])
def test_what_ends_first_ends_the_run(write, digits, epochs, steps, seen):
    result = run(write(digits), {"run.epochs": epochs, "run.max_steps": steps}, quiet=True)
    assert rows(result.folder)[-1]["step"] == seen - 1
    assert result.stopped_by == (None if seen == epochs * STEPS else "run.max_steps")


@pytest.mark.parametrize("count", [3, 20, 24, 49])
def test_a_killed_run_with_max_steps_ends_as_if_it_had_not(
    write, unlimited, tmp_path, whole_run, dies, count
):
    config = unlimited + '[schedule]\ntype = "CosineAnnealingLR"\nper = "step"\nwarmup = "10%"\n'
    given = ["run.max_steps=50", "optimizer.accumulate=2", "run.save_every_steps=4"]
    folder = killed(write(config), given, dies, count, tmp_path / "runs")
    resume(folder, quiet=True)
    same(folder, whole_run(config, *given).folder)


def test_a_run_that_is_extended_within_an_epoch_is_that_of_the_longer_limit(write, unlimited):
    path = write(unlimited)
    first = run(path, {"run.max_steps": 30}, quiet=True)
    longer = resume(first.folder, {"run.max_steps": 60}, quiet=True)
    whole = run(path, {"run.max_steps": 60}, quiet=True)
    assert rows(longer.folder) == rows(whole.folder)
    states = [read_checkpoint(one.folder / "checkpoint.npz")["model"] for one in (longer, whole)]
    assert all((states[0][name] == states[1][name]).all() for name in states[0])


class Clock:
    """A clock that goes on by a second whenever someone reads it."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 1.0
        return self.now


def test_max_time_counts_the_whole_run(write, unlimited, tmp_path, dies, monkeypatch):
    monkeypatch.setattr(stopping, "time", Clock())
    given = {"run.max_time": "1m", "run.save_every_steps": 5}
    path = write(unlimited)
    whole = run(path, given, quiet=True)
    assert (whole.stopped_by, rows(whole.folder)[-1]["step"]) == ("run.max_time", 59)
    given = [f"{key}={value}" for key, value in given.items()]
    folder = killed(path, given, dies, 33, tmp_path / "killed")
    resumed = resume(folder, quiet=True)
    assert resumed.stopped_by == "run.max_time"
    same(folder, whole.folder)
    assert resume(folder, quiet=True).is_complete
    seconds = json.loads((folder / "run.json").read_text())["seconds"]
    assert seconds["60"] == 60.0
    longer = resume(folder, {"run.max_time": "1m10s"}, quiet=True)
    assert rows(longer.folder)[-1]["step"] == 69


def test_the_time_is_left_open_for_schedules(write, unlimited):
    path = write(unlimited + '[schedule]\ntype = "CosineAnnealingLR"\n')
    with pytest.raises(ConfigError, match=r"T_max follows .*: set run.epochs or run.max_steps"):
        run(path, {"run.max_time": "1s"}, quiet=True)
    result = run(path, {"run.max_time": 0.001, "schedule.T_max": 5}, quiet=True)
    assert result.stopped_by == "run.max_time"


@pytest.mark.parametrize(
    "amount, batches", [(3, 3), (0.25, 6), ("10%", 2), (1.0, STEPS), (100, STEPS), (0.001, 1)]
)
@pytest.mark.parametrize("key", ["limit_batches", "overfit_batches"])
def test_a_part_of_the_batches(write, digits, key, amount, batches):
    parts = build(load_config(write(digits), {f"run.{key}": amount}))
    assert len(parts.train_batches) == batches
    first, second = ([x.tolist() for x, _ in parts.train_batches] for _ in range(2))
    assert (first == second) == (key == "overfit_batches")
    assert len(first) == batches and len(parts.test_batches) == 7


def test_a_part_without_shuffling_is_the_first(write, digits):
    given = {"data.shuffle": False, "data.drop_last": True}
    whole = build(load_config(write(digits), given))
    part = build(load_config("digits.toml", {**given, "run.limit_batches": 2}))
    batches = [x.tolist() for x, _ in whole.train_batches]
    assert len(batches) == 22
    assert [x.tolist() for x, _ in part.train_batches] == batches[:2]


@pytest.mark.parametrize("given", ["run.limit_batches=7", "run.overfit_batches=0.3"])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_run_on_a_part_ends_as_if_it_had_not(
    write, digits, tmp_path, whole_run, dies, given, workers
):
    given = [given, "run.epochs=4", "run.save_every_steps=3", f"data.workers={workers}"]
    folder = killed(write(digits), given, dies, 11, tmp_path / "runs")
    resume(folder, quiet=True)
    same(folder, whole_run(digits, *given[:-1]).folder)


def test_a_model_that_overfits_reaches_a_loss_near_zero(write, digits, capsys):
    result = run(write(digits), {"run.overfit_batches": 1, "run.epochs": 100})
    out = capsys.readouterr().out
    assert out.startswith(
        "training on the same 1 batch, 57 of 1,290 examples, in each epoch (run.o"
    )
    assert rows(result.folder)[-1]["train/loss"] < 0.05


@pytest.mark.parametrize(
    "given, message",
    [
        ("run.max_steps=0", "run.max_steps: must be at least 1, got 0"),
        (
            "run.epochs=0",
            "run.epochs: must be at least 1, got 0. 0 needs run.max_steps or run.max_time",
        ),
        ("run.max_time=soon", "run.max_time: must be a duration greater than 0, such as '90s'"),
        ("run.max_time=0s", "run.max_time: must be a duration"),
        ("run.limit_batches=0", "run.limit_batches: must be a count of at least 1, or a share"),
        ("run.limit_batches=1.5", "run.limit_batches: must be a count"),
        ("run.limit_batches=110%", "run.limit_batches: must be a count"),
    ],
)
def test_limits_that_are_none(write, digits, capsys, given, message):
    assert main(["train", write(digits), "--set", given]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_both_parts_at_once(write, digits, capsys):
    given = ["--set", "run.limit_batches=1", "run.overfit_batches=1"]
    assert main(["train", write(digits), *given]) == 2
    assert "run.overfit_batches: cannot stand beside run.limit_batches" in capsys.readouterr().err
    assert main(["resume", str(run("digits.toml", quiet=True).folder), "run.limit_batches=2"]) == 2
    assert "the rest of the epoch would be undefined" in capsys.readouterr().err


def test_check_estimates_the_limited_run(write, unlimited, capsys):
    assert main(["check", write(unlimited), "--set", "run.max_steps=24"]) == 0
    assert "ms per step, 2 epochs in about" in capsys.readouterr().out
    assert main(["check", "digits.toml", "--set", "run.max_time=2h"]) == 0
    assert "steps in about 2:00:00" in capsys.readouterr().out
