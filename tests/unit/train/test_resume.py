"""Going on with runs: exactly, after a stop, a kill, damage; with a changed config; refused."""

import errno
import json
import os
import re
import signal
import stat
import time
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.tools.patience import PATIENCE
from tests.tools.rounding import STEPS
from tinynet.train import CheckpointError, StorageWarning, UsageError, evaluate_run, resume, run
from tinynet.train.base import checkpoint_file as checkpoints
from tinynet.train.base import files
from tinynet.train.cli import main

from .conftest import Killed
from .test_cli import start
from .test_method import GAN_CONFIG
from .test_runner import own_model, weights

GOLDEN = Path(__file__).parent / "golden"
ALL = """
[schedule]
type = "OneCycleLR"
max_lr = 0.2
total_steps = 100
per = "step"

[ema]
decay = 0.9

[evaluation]
metrics = ["accuracy", "top3", "confusion_matrix"]
"""
SAVING = ["run.save_every_steps=5"]


def all_rows(folder):
    return [json.loads(row) for row in (folder / "metrics.jsonl").read_text().splitlines()]


def rows(folder):
    """The rows of the epochs, without those of the test set at the end."""
    return [row for row in all_rows(folder) if "weights" not in row]


def all_of(folder):
    """What must be equal, to the bit: everything in the checkpoint, and the rows of figures."""
    state = checkpoints.read_checkpoint(folder / "checkpoint.npz")
    state.pop("config")  # has the names of the files that it was read from
    return {**flat(state), "rows": all_rows(folder)}


def same(one, other):
    """All that counts is equal in two run folders."""
    first, second = all_of(one), all_of(other)
    assert [key for key in first if first[key] != second[key]] == []
    assert first.keys() == second.keys()


# One pass through the network of the golden checkpoints, recorded from another such pass.
ROUNDINGS = 2 * (64 + 32 + 10 + 3 * STEPS)


def golden_folder(path):
    """A run folder with the recorded checkpoint, after one epoch."""
    (stored,) = GOLDEN.glob("checkpoint_v*.npz")
    (path / "config.toml").write_text(checkpoints.read_checkpoint(stored)["config"])
    (path / "checkpoint.npz").write_bytes(stored.read_bytes())
    record = files.with_checksum({"status": "finished"})
    (path / "run.json").write_text(json.dumps(record))
    row = files.row_with_checksum('{"epoch": 1, "step": 5, "train/loss": 2.5}')
    (path / "metrics.jsonl").write_text(f"{row}\n")


def flat(value):
    if isinstance(value, dict):
        return {key: flat(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [flat(item) for item in value]
    if hasattr(value, "numpy"):
        value = value.detach().numpy()
    return (value.dtype.str, value.tobytes()) if hasattr(value, "tobytes") else value


def killed(path, extra, dies, count, out):
    """The folder of a run that died after so many steps."""
    revive = dies(count)
    with pytest.raises(Killed):
        run(path, extra, out=out, quiet=True)
    revive()
    (folder,) = [path for path in Path(out).glob("*/*") if path.is_dir()]
    return folder


# ---- exactly as if nothing had happened ----

CASES = {
    "everything per step": (ALL, ["model.dropout=0.3", *SAVING]),
    "an epoch at a time": (ALL, ["model.dropout=0.3"]),
    "accumulation": ("", ["optimizer.accumulate=4", "run.save_every_steps=1"]),
    "workers": (ALL, ["data.workers=2", *SAVING]),
    "a schedule that waits": (
        '[schedule]\ntype = "ReduceLROnPlateau"\npatience = 0\nthreshold = 1e9\nfactor = 0.5\n',
        ["run.epochs=4", *SAVING],
    ),
    "a schedule per epoch": ('[schedule]\ntype = "StepLR"\nstep_size = 1\n', SAVING),
    "augmentation": ("", ["data.augment={type='RandomHorizontalFlip'}", "data.workers=1", *SAVING]),
    "Adam": ("", ["optimizer.type=AdamW", "optimizer.lr=1e-3", *SAVING]),
    "seldom measured": (ALL, ["run.epochs=4", "run.eval_every=3", *SAVING]),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("steps", [7, 23, 30])
def test_a_run_that_died_ends_as_if_it_had_not(
    write, whole_run, digits, tmp_path, dies, case, steps
):
    text, extra = CASES[case]
    if "optimizer.type=AdamW" in extra:
        digits = digits.replace("momentum = 0.9\n", "")
    path = write(digits + text)
    whole = whole_run(digits + text, *extra)
    if "optimizer.accumulate=4" in extra:
        steps //= 4
    folder = killed(path, extra, dies, steps, tmp_path / "killed")
    again = resume(folder, quiet=True)
    same(folder, whole.folder)
    assert again.metrics == whole.metrics and weights(again.model) == weights(whole.model)
    assert (folder / "best.npz").exists() == (whole.folder / "best.npz").exists()


@pytest.mark.parametrize("steps", [3, 24])
def test_a_gan_that_died(write, tmp_path, dies, steps):
    path = write(GAN_CONFIG)
    whole = run(path, SAVING, out=tmp_path / "whole", quiet=True)
    folder = killed(path, SAVING, dies, steps, tmp_path / "killed")
    resume(folder, quiet=True)
    same(folder, whole.folder)


def test_dying_again_and_again(write, digits, tmp_path, dies):
    path = write(digits + ALL)
    extra = ["model.dropout=0.3", "run.save_every_steps=4"]
    whole = run(path, extra, out=tmp_path / "whole", quiet=True)
    folder = killed(path, extra, dies, 6, tmp_path / "killed")
    for steps in (1, 3, 5, 13, 8):
        revive = dies(steps)
        with pytest.raises(Killed):
            resume(folder, quiet=True)
        revive()
    resume(folder, quiet=True)
    same(folder, whole.folder)
    record = json.loads((folder / "run.json").read_text())
    assert [entry["step"] for entry in record["resumed"]] == [4, 4, 4, 8, 20, 28]
    assert all(entry["versions"] and entry["started"] for entry in record["resumed"])
    assert record["status"] == "finished"
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    assert [event.step for event in events.Scalars("train/loss")] == [*range(46)]


def test_a_run_that_died_before_its_first_checkpoint_begins_anew(write, digits, tmp_path, dies):
    path = write(digits)
    whole = run(path, ["model.dropout=0.3"], out=tmp_path / "whole", quiet=True)
    folder = killed(path, ["model.dropout=0.3"], dies, 3, tmp_path / "killed")
    assert not (folder / "checkpoint.npz").exists()
    (folder / "metrics.jsonl").write_text('{"epoch": 1, "st')  # torn
    (folder / ".checkpoint.npz.1-2.tmp").write_bytes(b"torn")
    resume(folder, quiet=True)
    same(folder, whole.folder)
    assert not [*folder.glob(".*")]


def test_rows_that_are_newer_than_the_checkpoint_are_written_again(write, digits, tmp_path, dies):
    path = write(digits)
    whole = run(path, out=tmp_path / "whole", quiet=True)
    folder = killed(path, [], dies, 24, tmp_path / "killed")
    with open(folder / "metrics.jsonl", "a") as file:
        file.write('{"epoch": 2, "step": 45, "train/loss": 7}\n{"epoch": 3, "step"')
    resume(folder, quiet=True)
    assert all_rows(folder) == all_rows(whole.folder)


# ---- what is complete, what is changed, what is refused ----


def test_a_run_that_is_complete(write, digits, capsys):
    result = run(write(digits), quiet=True)
    before = (result.folder / "checkpoint.npz").read_bytes()
    assert main(["resume", str(result.folder)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("the run is complete (epoch 2, step 46); --set run.epochs=N extends it")
    assert (result.folder / "checkpoint.npz").read_bytes() == before
    assert main(["resume", str(result.folder), "--set", "epochs=3"]) == 0
    out = capsys.readouterr().out
    assert "  run.epochs: 2 -> 3\nresuming after epoch 2, step 46\nepoch 3/3: " in out
    assert "epochs = 3" in (result.folder / "config.toml").read_text()
    longer = run("digits.toml", {"run.epochs": 3}, quiet=True)
    same(result.folder, longer.folder)


def test_early_stopping_counts_on(write, digits, tmp_path, dies):
    extra = ["run.epochs=50", "evaluation.patience=2", "optimizer.lr=0.3", "run.seed=2"]
    path = write(digits)
    whole = run(path, extra, out=tmp_path / "whole", quiet=True)
    steps = 23 * (len(rows(whole.folder)) - 1) + 2
    folder = killed(path, extra, dies, steps, tmp_path / "killed")
    resume(folder, quiet=True)
    same(folder, whole.folder)
    assert len(rows(folder)) < 50
    assert resume(folder, quiet=True).is_complete  # not one epoch more


def test_a_learning_rate_that_is_changed_counts(write, digits, tmp_path, capsys, dies):
    schedule = '[schedule]\ntype = "StepLR"\nstep_size = 1\ngamma = 0.5\n'
    folder = killed(write(digits + schedule), ["run.epochs=4"], dies, 47, tmp_path / "runs")
    assert main(["resume", str(folder), "optimizer.lr=0.4", "optimizer.momentum=0.5"]) == 0
    out = capsys.readouterr().out
    assert "changed since the checkpoint (the new values apply):\n" in out
    assert "  optimizer.lr: 0.1 -> 0.4\n  optimizer.momentum: 0.9 -> 0.5\n" in out
    assert [row["lr"] for row in rows(folder)] == pytest.approx([0.1, 0.05, 0.1, 0.05])
    state = checkpoints.read_checkpoint(folder / "checkpoint.npz")
    assert state["optimizers"][""]["param_groups"][0]["momentum"] == 0.5
    assert "lr = 0.4" in state["config"]
    record = json.loads((folder / "run.json").read_text())
    assert record["resumed"][0]["changed"]["optimizer.lr"] == [0.1, 0.4]


def test_a_schedule_that_is_changed_counts(write, digits, tmp_path, dies):
    schedule = '[schedule]\ntype = "StepLR"\nstep_size = 1\ngamma = 0.5\n'
    folder = killed(write(digits + schedule), ["run.epochs=4"], dies, 47, tmp_path / "runs")
    resume(folder, ["schedule.gamma=0.1"], quiet=True)
    assert [row["lr"] for row in rows(folder)] == pytest.approx([0.1, 0.05, 0.005, 0.0005])


@pytest.mark.parametrize(
    "change, message",
    [
        ("run.seed=4", "run.seed: 3 -> 4 is not possible when resuming: all random numbers"),
        ("data.batch_size=32", "data.batch_size: 57 -> 32 is not possible when resuming: the rest"),
        ("model.sizes=[64, 8, 10]", "the checkpoint does not fit .* shape"),
        ("schedule={type='StepLR', step_size=1}", "schedule.type: left out -> 'StepLR' is not"),
    ],
)
def test_changes_that_are_refused(write, digits, change, message, capsys):
    result = run(write(digits), quiet=True)
    before = {path: path.read_bytes() for path in result.folder.iterdir()}
    assert main(["resume", str(result.folder), change, "epochs=3"]) == 2
    assert re.search(message, capsys.readouterr().err, re.S)
    after = {path: path.read_bytes() for path in result.folder.iterdir()}
    assert after == before


@pytest.mark.parametrize("epochs", [1, 2])
def test_fewer_epochs_than_have_begun_are_refused(write, digits, tmp_path, dies, capsys, epochs):
    folder = killed(write(digits), ["run.epochs=4", *SAVING], dies, 57, tmp_path / "runs")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert main(["resume", str(folder), "--set", f"epochs={epochs}"]) == 2
    assert capsys.readouterr().err == (
        "run.epochs must be at least 3 to resume this run: it has trained 2 epochs and 9 of 23 "
        f"batches of the next. Got {epochs} instead. "
        f"`tinynet eval {folder.relative_to(tmp_path)}` evaluates it without training\n"
    )
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert resume(folder, ["run.epochs=3"], quiet=True).is_complete
    assert [row["epoch"] for row in rows(folder)] == [1, 2, 3]


def test_what_is_no_run_folder(tmp_path, capsys):
    assert main(["resume", str(tmp_path)]) == 2
    assert "is not the folder of a run: it has no config.toml" in capsys.readouterr().err


class Msvcrt:
    """Windows's locks of files, by those of this system."""

    LK_NBLCK = 2

    def locking(self, handle, how, count):
        assert (how, count) == (self.LK_NBLCK, 1)
        assert stat.S_ISREG(os.fstat(handle).st_mode)
        fcntl = pytest.importorskip("fcntl")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None


@pytest.fixture(params=["own", "Windows"])
def locks(request, monkeypatch):
    if request.param == "Windows" and os.name != "nt":
        monkeypatch.setattr(files, "fcntl", None)
        monkeypatch.setattr(files, "msvcrt", Msvcrt())


def test_two_processes_on_one_folder(write, digits, locks):
    result = run(write(digits), quiet=True)
    with (
        files.locked(result.folder),
        pytest.raises(UsageError, match="another process is training in"),
    ):
        resume(result.folder, {"run.epochs": 3}, quiet=True)
    resume(result.folder, {"run.epochs": 3}, quiet=True)


# ---- damage ----


def test_a_damaged_checkpoint_is_reported_and_the_one_before_is_used(write, digits, tmp_path):
    path = write(digits)
    whole = run(path, out=tmp_path / "whole", quiet=True)
    folder = run(path, out=tmp_path / "x", quiet=True).folder
    assert sorted(p.name for p in folder.glob("*.npz")) == [
        *("best.npz", "checkpoint-23.npz", "checkpoint.npz")
    ]
    damaged = bytearray((folder / "checkpoint.npz").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (folder / "checkpoint.npz").write_bytes(damaged)
    telling = r"checkpoint.npz is not a checkpoint, or damaged: .* checkpoint-23.npz, of step 23,"
    with pytest.warns(StorageWarning, match=telling):
        assert evaluate_run(folder, quiet=True).metrics["accuracy"] > 0.5
    for command in (["export", str(folder), "x.npz"], ["predict", str(folder), "--count", "1"]):
        with pytest.warns(StorageWarning, match=telling):
            assert main(command) == 0
    with pytest.warns(StorageWarning, match=telling):
        resume(folder, quiet=True)
    same(folder, whole.folder)
    assert (folder / "checkpoint.damaged").read_bytes() == damaged
    for file in folder.glob("checkpoint*.npz"):
        file.write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"checkpoint\.npz is .*; .*checkpoint-23\.npz is "):
        resume(folder, quiet=True)


def test_so_many_checkpoints_are_kept(write, digits):
    extra = ["run.save_every_steps=10", "run.keep_checkpoints=3"]
    folder = run(write(digits), extra, quiet=True).folder
    assert {path.name for path in folder.glob("checkpoint*")} == {
        *("checkpoint.npz", "checkpoint-40.npz", "checkpoint-30.npz")
    }
    one = run("digits.toml", ["run.save_every_seconds=1e-9", "run.keep_checkpoints=1"], quiet=True)
    assert [path.name for path in one.folder.glob("checkpoint*")] == ["checkpoint.npz"]


# ---- signals ----


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_goes_on(write, digits, tmp_path, number, code):
    path = write(digits + ALL)
    extra = ["run.epochs=4", "model.dropout=0.3"]
    whole = run(path, extra, out=tmp_path / "whole", quiet=True)
    program = start("train", path, *extra, "--out", "stopped", cwd=tmp_path)
    program.stdout.readline()
    program.send_signal(number)
    out, err = program.communicate(timeout=PATIENCE)
    (folder,) = (tmp_path / "stopped" / "digits").iterdir()
    if program.returncode == code:  # else it was quicker than the signal
        assert re.search(r"^  .*tinynet resume stopped/digits/", out, re.M), err
        assert json.loads((folder / "run.json").read_text())["status"] == "interrupted"
    resume(folder, quiet=True)
    same(folder, whole.folder)


SLOW = """
    import time
    from pathlib import Path
    from tinynet import nn

    class Net(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Flatten(), nn.Linear(64, 10))
            self.calls = 0

        def forward(self, images):
            self.calls += self.training
            if self.calls == 30 and not Path("quick").exists():
                print("sleeping", flush=True)
                for _ in range(600):
                    time.sleep(0.1)
            return super().forward(images)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("number, codes", [(signal.SIGINT, {130}), (signal.SIGTERM, {-15, 143})])
def test_a_second_signal_aborts_at_once(write, digits, tmp_path, number, codes):
    path = write(own_model(digits), net=SLOW)
    program = start("train", path, cwd=tmp_path)
    while program.stdout.readline() != "sleeping\n":
        pass
    program.send_signal(number)
    time.sleep(0.3)
    assert program.poll() is None  # it finishes the step
    program.send_signal(number)
    program.communicate(timeout=PATIENCE)
    assert program.returncode in codes
    (folder,) = (tmp_path / "runs" / "digits").iterdir()
    assert (
        checkpoints.read_checkpoint(folder / "checkpoint.npz")["step"] == 23
    )  # nothing was saved in between
    (tmp_path / "quick").touch()
    whole = run(path, out=tmp_path / "whole", quiet=True)
    resume(folder, quiet=True)
    same(folder, whole.folder)


def test_a_sweep_that_is_resumed_goes_on_with_its_unfinished_runs(write, digits, capsys):
    assert main(["sweep", write(digits), "run.seed=1,2", "epochs=2"]) == 0
    (sweep,) = Path("runs/digits").iterdir()
    folder = next(sweep.glob("001*/*/run.json")).parent
    whole = all_of(folder)
    (folder / "checkpoint.npz").unlink()
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**record, "status": "running"}))
    capsys.readouterr()
    assert main(["sweep", "--resume", str(sweep)]) == 0
    assert re.search(r"^\[2/2\] run.seed=2: validation accuracy ", capsys.readouterr().out, re.M)
    assert all_of(folder) == whole
    assert len([*sweep.glob("001*/*/run.json")]) == 1  # in the same folder
    assert json.loads((folder / "run.json").read_text())["resumed"][0]["step"] == 23
