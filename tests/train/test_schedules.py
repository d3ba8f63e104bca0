"""Schedules that last as long as the run, and those that do not."""

import pytest

from tinynet.train import load_config, resume, run
from tinynet.train.build.build import build
from tinynet.train.checkpoint.files import read_checkpoint
from tinynet.train.cli import main

COSINE = '[schedule]\ntype = "CosineAnnealingLR"\n'
CYCLE = '[schedule]\ntype = "OneCycleLR"\nmax_lr = 0.2\nper = "step"\n'
WARM_UP = """
[schedule]
type = "SequentialLR"
milestones = [2]
schedulers = [
    {type = "LinearLR", total_iters = 2},
    {type = "CosineAnnealingLR"},
]
"""


def schedule_of(path, **overrides):
    return build(load_config(path, overrides)).updaters[""].schedule


def test_the_length_of_the_run_is_the_default(write, digits):
    path = write(digits + COSINE)
    assert schedule_of(path).T_max == 2
    assert schedule_of(path, **{"run.epochs": 5}).T_max == 5
    assert schedule_of(path, **{"schedule.T_max": 3}).T_max == 3
    by_step = {"schedule.per": "step", "optimizer.accumulate": 5}
    assert schedule_of(path, **by_step).T_max == 2 * 5  # 23 batches make 5 steps


def test_that_of_one_cycle(write, digits):
    path = write(digits + CYCLE)
    assert schedule_of(path).total_steps == 2 * 23
    said = {"schedule.epochs": 7, "schedule.steps_per_epoch": 10}
    assert schedule_of(path, **said).total_steps == 70


def test_of_schedules_in_a_row_each_has_its_own(write, digits):
    path = write(digits + WARM_UP)
    assert schedule_of(path, **{"run.epochs": 9})._schedulers[1].T_max == 7


def test_an_own_schedule_follows_too(write, digits):
    own = """
    from tinynet.optim.lr_scheduler import LRScheduler
    class Own(LRScheduler):
        def __init__(self, optimizer, max_epochs, T_max=4):
            self.max_epochs, self.T_max = max_epochs, T_max
            super().__init__(optimizer)
        def get_lr(self):
            return [0.1]
    """
    schedule = schedule_of(write(digits + '[schedule]\ntype = "./own.py:Own"', own=own))
    assert (schedule.max_epochs, schedule.T_max) == (2, 4)


@pytest.mark.parametrize("schedule", [COSINE, CYCLE], ids=["cosine", "one cycle"])
def test_a_longer_run_goes_on_with_a_longer_schedule(write, digits, schedule):
    first = run(write(digits + schedule), quiet=True)
    longer = resume(first.folder, {"run.epochs": 4}, quiet=True)
    whole = run(write(digits + schedule), {"run.epochs": 4}, quiet=True)
    states = [
        read_checkpoint(one.folder / "checkpoint.npz")["schedules"][""] for one in (longer, whole)
    ]
    lengths = ("T_max", "total_steps", "_schedule_phases")
    assert [states[0].get(name) for name in lengths] == [states[1].get(name) for name in lengths]


def test_check_says_where_another_length_is_fixed(write, digits, capsys):
    path = write(digits + COSINE + "T_max = 10\n")
    assert main(["check", path]) == 0
    said = (
        "note: digits.toml:22: schedule.T_max = 10, but the schedule lasts for 2 epochs of this "
        "run; left out, it is that number\n"
    )
    assert said in capsys.readouterr().out
    assert main(["check", path, "--set", "epochs=10"]) == 0
    assert "note: " not in capsys.readouterr().out


def test_what_is_stored_follows_again(write, digits):
    folder = run(write(digits + COSINE), quiet=True).folder
    assert "# T_max = None" in (folder / "config.toml").read_text()
    assert schedule_of(folder / "config.toml", **{"run.epochs": 6}).T_max == 6
