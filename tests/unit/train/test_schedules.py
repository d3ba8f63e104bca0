"""Schedules that last as long as the run, and those that do not."""

import math
import tomllib

import pytest

from tinynet.train import load_config, resume, run
from tinynet.train.assemble.build import build
from tinynet.train.base.checkpoint_file import read_checkpoint
from tinynet.train.cli import main

from .test_limits import rows
from .test_resume import killed, same

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


LINEAR = '[schedule]\ntype = "LinearLR"\nper = "step"\nstart_factor = 1.0\nend_factor = 0.05\n'
BY_STEP = {"schedule.per": "step", "run.epochs": 10}


def test_total_iters_is_that_of_the_run(write, digits):
    path = write(digits + LINEAR)
    assert schedule_of(path).total_iters == 2 * 23
    assert schedule_of(path, **{"run.max_steps": 30}).total_iters == 30
    assert schedule_of(path, **{"run.max_steps": 300}).total_iters == 2 * 23
    assert schedule_of(path, **{"optimizer.accumulate": 5}).total_iters == 2 * 5
    assert schedule_of(path, **{"run.limit_batches": 4}).total_iters == 2 * 4
    assert schedule_of(path, **{"schedule.total_iters": 7}).total_iters == 7


@pytest.mark.parametrize(
    "schedule, attribute, value",
    [
        ("{type='LinearLR', total_iters='50%'}", "total_iters", 115),
        ("{type='PolynomialLR', total_iters='100%'}", "total_iters", 230),
        ("{type='ConstantLR', total_iters='5%'}", "total_iters", 12),
        ("{type='CosineAnnealingLR', T_max='12.5%'}", "T_max", 29),
        ("{type='OneCycleLR', max_lr=0.2, total_steps='100%'}", "total_steps", 230),
        ("{type='CosineAnnealingWarmRestarts', T_0='20%'}", "T_0", 46),
        ("{type='StepLR', step_size='30%'}", "step_size", 69),
        ("{type='StepLR', step_size='0.001%'}", "step_size", 1),
        ("{type='MultiStepLR', milestones=['60%', 150, '80%']}", "milestones", {138, 150, 184}),
        ("{type='CyclicLR', base_lr=0.1, max_lr=0.2, step_size_up='10%'}", "total_size", 46),
    ],
)
def test_shares_of_the_run(write, digits, schedule, attribute, value):
    path = write(digits)
    built = schedule_of(path, **{"schedule": tomllib.loads(f"x = {schedule}")["x"], **BY_STEP})
    found = getattr(built, attribute)
    assert (set(found) if isinstance(value, set) else found) == value


def test_shares_of_schedules_in_a_row(write, digits):
    text = WARM_UP.replace("[2]", '["10%"]').replace(", total_iters = 2", "")
    built = schedule_of(write(digits + text), **BY_STEP)
    assert built._milestones == [23]
    assert [one.__dict__.get("total_iters") or one.T_max for one in built._schedulers] == [23, 207]


@pytest.mark.parametrize("warmup", ["10%", 0.1, 23])
def test_a_warm_up(write, digits, warmup):
    given = {**BY_STEP, "schedule.warmup": warmup}
    parts = build(load_config(write(digits + COSINE), given))
    updater, seen = parts.updaters[""], []
    updater.optimizer.stepped = True
    for _ in range(230):
        seen.append(updater.lr)
        updater.schedule.step()
    assert seen[:24] == pytest.approx([0.1 * (step + 1) / 24 for step in range(24)])
    cosine = [0.05 * (1 + math.cos(math.pi * step / 207)) for step in range(207)]
    assert seen[23:] == pytest.approx(cosine)


@pytest.mark.parametrize(
    "given, message",
    [
        ("total_iters=0.5", "must be an integer or a share of the run, such as '5%', got 0.5"),
        ("total_iters='5'", "must be an integer or a share of the run"),
        ("total_iters='0%'", "must be an integer or a share of the run"),
        ("total_iters='200%'", "must be an integer or a share of the run"),
        ("last_epoch='5%'", "must be an integer, got"),
        ("warmup='much'", "schedule.warmup: must be a count of at least 1, or a share"),
    ],
)
def test_shares_that_are_none(write, digits, given, message, capsys):
    assert main(["check", write(digits + LINEAR), "--set", f"schedule.{given}"]) == 2
    assert message in capsys.readouterr().err


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


SHARES = LINEAR + 'total_iters = "50%"\n'
WARM = COSINE + 'per = "step"\nwarmup = "10%"\n'


@pytest.mark.parametrize("stop", [2, 12, 40])
def test_a_longer_run_goes_on_with_longer_schedules_inside(write, digits, stop):
    """Milestones that were reached stay, all other lengths are those of the longer run."""
    first = run(write(digits + WARM), {"run.max_steps": stop, "run.epochs": 100}, quiet=True)
    reached = max(round(stop / 10), 1)
    longer = resume(first.folder, {"run.max_steps": 200}, quiet=True)
    state = read_checkpoint(longer.folder / "checkpoint.npz")["schedules"][""]
    assert state["_milestones"] == [reached if stop > 1 else 20]
    assert state["_schedulers"][1]["T_max"] == 200 - state["_milestones"][0]
    assert rows(longer.folder)[-1]["lr"] < 1e-4


@pytest.mark.parametrize("schedule", [COSINE, CYCLE, SHARES], ids=["cosine", "cycle", "shares"])
def test_a_longer_run_goes_on_with_a_longer_schedule(write, digits, schedule):
    first = run(write(digits + schedule), quiet=True)
    longer = resume(first.folder, {"run.epochs": 4}, quiet=True)
    whole = run(write(digits + schedule), {"run.epochs": 4}, quiet=True)
    states = [
        read_checkpoint(one.folder / "checkpoint.npz")["schedules"][""] for one in (longer, whole)
    ]
    lengths = ("T_max", "total_steps", "_schedule_phases", "total_iters")
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


def test_a_killed_run_with_a_warm_up_ends_as_if_it_had_not(
    write, digits, tmp_path, whole_run, dies
):
    given = ["run.epochs=3", "schedule.warmup=20%", "run.save_every_steps=1"]
    for count in (5, 14, 30):
        folder = killed(write(digits + WARM), given, dies, count, tmp_path / str(count))
        resume(folder, quiet=True)
        same(folder, whole_run(digits + WARM, *given).folder)


def test_a_warm_up_that_is_changed_is_refused(write, digits, capsys):
    folder = run(write(digits + WARM), quiet=True).folder
    assert main(["resume", str(folder), "schedule.warmup=20%", "epochs=3"]) == 2
    assert "schedule.warmup: '10%' -> '20%' is not possible" in capsys.readouterr().err
    assert main(["resume", str(folder), "schedule.eta_min=0.01", "epochs=3"]) == 0
    assert rows(folder)[-1]["lr"] > 0.005


def test_a_rate_that_is_changed_counts_in_schedules_in_a_row(write, digits, tmp_path, dies):
    text = """
    [schedule]
    type = "SequentialLR"
    milestones = [1]
    schedulers = [{type = "ConstantLR", factor = 0.5}, {type = "StepLR", step_size = 1}]
    """
    folder = killed(write(digits + text), ["run.epochs=4"], dies, 47, tmp_path / "runs")
    resume(folder, ["optimizer.lr=0.4"], quiet=True)
    assert [row["lr"] for row in rows(folder)] == pytest.approx([0.05, 0.1, 0.04, 0.004])
