"""What people expect of checkpoints: a test per expectation, under its name."""

import errno
import io
import itertools
import json
import os
import pickle
import random
import shutil
import subprocess
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.tools.rounding import near
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.exchange import files
from tinynet.train import (
    CheckpointError,
    NonFiniteError,
    StorageWarning,
    evaluate_run,
    resume,
    run,
)
from tinynet.train.base import checkpoint_file as checkpoints
from tinynet.train.base import files as run_files
from tinynet.train.cli import main
from tinynet.train.store import storage as storages

from .test_kill import killed_after
from .test_resume import GOLDEN, ROUNDINGS, flat, golden_folder, same
from .test_runner import own_model, weights

DAMAGES = 500


# ---- a crash while writing keeps the old file ----


def write_number(path, number):
    checkpoints.write_checkpoint(path, {"number": number, "x": np.full(100_000, number)})


def write_forever(path):
    for number in itertools.count():
        write_number(path, number)


def killed_writers(path, rounds):
    chance = random.Random(0)
    began = time.monotonic()
    write_number(path, -1)
    duration = time.monotonic() - began
    for _ in range(rounds):
        killed_after(duration * chance.uniform(0.5, 5), lambda: write_forever(path))
        back = checkpoints.read_checkpoint(path)
        assert (back["x"] == back["number"]).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_crash_while_writing_keeps_the_old_file(tmp_path):
    killed_writers(tmp_path / "checkpoint.npz", 8)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_200_crashes_while_writing_keep_the_old_file(tmp_path):
    killed_writers(tmp_path / "checkpoint.npz", 200)


# ---- a full disk ----


class Disk:
    """A disk on which there may be no room."""

    def __init__(self, monkeypatch):
        self.full, self.attempts = False, 0
        fsync = os.fsync

        def checked(handle):
            if self.full:
                self.attempts += 1
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            fsync(handle)

        monkeypatch.setattr(files.os, "fsync", checked)


@pytest.fixture
def disk(monkeypatch):
    monkeypatch.setattr(storages, "_PAUSE", 0.0)
    return Disk(monkeypatch)


@pytest.fixture
def full_for(disk, monkeypatch):
    """Lets the disk be full from one measurement to another."""

    def between(first, last):
        measured = storages.Storage.add_row
        count = []

        def add_row(storage, line):
            count.append(line)
            disk.full = first <= len(count) < last
            measured(storage, line)

        monkeypatch.setattr(storages.Storage, "add_row", add_row)

    return between


OF_TENSORBOARD = "ignore::tinynet.board.storage.BoardWarning"  # it warns for itself


@pytest.mark.filterwarnings(OF_TENSORBOARD)
def test_a_full_disk_keeps_the_old_checkpoint_warns_once_goes_on_and_retries(
    write, digits, tmp_path, full_for, disk
):
    path = write(digits)
    whole = run(path, {"run.epochs": 5}, out=tmp_path / "whole", quiet=True).folder
    full_for(2, 4)
    with pytest.warns(StorageWarning) as caught:
        folder = run(path, {"run.epochs": 5}, out=tmp_path / "full", quiet=True).folder
    first, second = [str(w.message) for w in caught if w.category is StorageWarning]
    assert "cannot be written (No space left on device). Training continues, and" in first
    assert second.endswith("can be written again; everything is saved")
    assert disk.attempts > 10  # it did not wait for the end of the epoch
    same(folder, whole)
    best, expected = (
        flat(checkpoints.read_checkpoint(place / "best.npz")) for place in (folder, whole)
    )
    assert best["model"] == expected["model"] and best["validation"] == expected["validation"]


@pytest.mark.filterwarnings(OF_TENSORBOARD)
def test_a_disk_that_stays_full_is_told_at_the_end(write, digits, full_for, capsys):
    full_for(2, 9)
    with pytest.warns(StorageWarning):
        assert main(["train", write(digits)]) == 1
    assert "the end of the run cannot be saved in runs/digits/" in capsys.readouterr().err
    (folder,) = Path("runs/digits").iterdir()
    assert checkpoints.read_checkpoint(folder / "checkpoint.npz")["epoch"] == 1  # the old one


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts need root")
def test_a_disk_that_is_really_full(write, digits, tmp_path, monkeypatch):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", small], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    monkeypatch.setattr(storages, "_PAUSE", 0.0)
    path = write(digits)
    ballast = small / "ballast"
    measured = storages.Storage.add_row
    rows = []

    def add_row(storage, line):
        rows.append(line)
        if len(rows) == 2:
            left = shutil.disk_usage(small).free
            ballast.write_bytes(bytes(max(left - 8192, 0)))
        if len(rows) == 4:
            ballast.unlink()
        measured(storage, line)

    try:
        monkeypatch.setattr(storages.Storage, "add_row", add_row)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = run(path, {"run.epochs": 5}, out=small, quiet=True)
        texts = [str(w.message) for w in caught if w.category is StorageWarning]
        assert "No space left on device" in texts[0] and len(texts) == 2
        monkeypatch.setattr(storages.Storage, "add_row", measured)
        whole = run(path, {"run.epochs": 5}, out=tmp_path / "whole", quiet=True)
        same(result.folder, whole.folder)
    finally:
        subprocess.run(["umount", small], check=True)


# ---- stray temporary files, corruption, hostile files ----


def test_stray_temporary_files_are_swept(write, digits):
    folder = run(write(digits), quiet=True).folder
    stray = folder / ".checkpoint.npz.12-ab.tmp"
    stray.write_bytes(b"half of")
    assert resume(folder, {"run.epochs": 3}, quiet=True)
    assert not stray.exists()


def test_500_bit_flips_and_truncations_are_all_detected(tmp_path):
    path = tmp_path / "checkpoint.npz"
    content = {"x": np.arange(200.0), "y": "text", "empty": np.zeros((0, 3)), "n": [1, 2.5, None]}
    checkpoints.write_checkpoint(path, content)
    whole = path.read_bytes()
    chance = np.random.default_rng(0)
    damages = []
    for bit in chance.choice(8 * len(whole), DAMAGES // 2, replace=False):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        damages.append(bytes(damaged))
    damages += [whole[: chance.integers(len(whole))] for _ in range(DAMAGES // 2)]
    damages += [whole + b"x", whole[1:], b"", whole[: len(whole) // 2] + whole]
    for damaged in damages:
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match="damaged"):
            checkpoints.read_checkpoint(path)
    path.write_bytes(whole)
    assert checkpoints.read_checkpoint(path)["y"] == "text"


@pytest.mark.slow
def test_every_bit_flip_and_every_truncation_is_detected(tmp_path):
    path = tmp_path / "checkpoint.npz"
    checkpoints.write_checkpoint(path, {"x": np.arange(3.0), "y": "text"})
    whole = path.read_bytes()
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError):
            checkpoints.read_checkpoint(path)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError):
            checkpoints.read_checkpoint(path)


class Evil:
    def __reduce__(self):
        return (os.system, ("touch evil",))


def test_nothing_runs_when_a_checkpoint_is_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "checkpoint.npz"
    checkpoints.write_checkpoint(path, {"x": np.ones(1)})
    structure = (
        zipfile.ZipFile(path).read("checkpoint.json").replace(b'"version": 2', b'"version": 1')
    )
    member = io.BytesIO()
    np.lib.format.write_array(member, np.array([Evil()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("checkpoint.json", structure)
        archive.writestr("x.npy", member.getvalue())
    with pytest.raises(CheckpointError, match="an array of objects"):
        checkpoints.read_checkpoint(path)
    path.write_bytes(pickle.dumps({"x": Evil()}))
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        checkpoints.read_checkpoint(path)
    assert not (tmp_path / "evil").exists()


# ---- what is in it ----


def test_any_layout_is_safe(tmp_path):
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    layouts = {"T": base.T, "slice": base[1:3, ::2], "0-d": np.float32(3), "empty": base[:0]}
    given = {name: wrap(np.asarray(array)) for name, array in layouts.items()}
    checkpoints.write_checkpoint(tmp_path / "c.npz", given)
    back = checkpoints.read_checkpoint(tmp_path / "c.npz")
    for name, array in layouts.items():
        assert np.array_equal(back[name].numpy(), array), name


TIED = """
    import tinynet as tn
    from tinynet import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(64, 64)
            self.second = nn.Linear(64, 64)
            self.second.weight = self.first.weight
            self.head = nn.Linear(64, 10)

        def forward(self, images):
            return self.head(self.second(self.first(images.flatten(1)).relu()))
"""


def test_ties_are_kept(write, digits):
    path = write(own_model(digits), net=TIED)
    whole = run(path, {"run.epochs": 3}, quiet=True)
    result = run(path, {"run.epochs": 1}, quiet=True)
    again = resume(result.folder, {"run.epochs": 3}, quiet=True)
    assert again.model.first.weight is again.model.second.weight
    assert weights(again.model) == weights(whole.model)
    state = checkpoints.read_checkpoint(result.folder / "checkpoint.npz")["model"]
    assert isinstance(state["first.weight"], Tensor)
    assert state["first.weight"].data_ptr() == state["second.weight"].data_ptr()


@pytest.mark.parametrize("step", [1, 2, 5, 6])
def test_a_resume_is_exact_after_every_step(write, digits, tmp_path, step):
    """Stopped after each step of a short run, in the middle of epochs and between them."""
    path = write(digits)
    extra = {"data.batch_size": 500, "model.dropout": 0.3, "run.save_every_steps": 1}
    whole = run(path, extra, out=tmp_path / "whole", quiet=True).folder
    extra["run.keep_checkpoints"] = 9
    folder = run(path, extra, out=tmp_path / "x", quiet=True).folder
    for file in folder.glob("checkpoint*.npz"):
        if checkpoints.read_checkpoint(file)["step"] > step:
            file.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StorageWarning)  # of the newest, which is missing
        resume(folder, {"run.keep_checkpoints": 2}, quiet=True)
    same(folder, whole)


def test_optimizer_and_learning_rate_are_restored_or_refused_loudly(write, digits, capsys):
    folder = run(write(digits), quiet=True).folder
    state = checkpoints.read_checkpoint(folder / "checkpoint.npz")
    del state["optimizers"][""]["state"][0]["momentum_buffer"]
    state["optimizers"][""]["param_groups"][0]["params"].append(7)
    checkpoints.write_checkpoint(folder / "checkpoint.npz", state)
    assert main(["resume", str(folder), "epochs=3"]) == 2
    err = capsys.readouterr().err
    assert "the checkpoint does not fit the current config of the run" in err
    assert "parameter group" in err


def test_nan_stops_before_the_weights_are_touched(write, digits):
    path = write(digits)
    with pytest.raises(NonFiniteError):
        run(path, {"optimizer.lr": 1e38}, quiet=True)
    (folder,) = Path("runs/digits").iterdir()
    assert json.loads((folder / "run.json").read_text())["status"] == "failed"
    assert [*folder.glob("post_mortem/*/report.json")]


def test_a_stored_checkpoint_still_loads(tmp_path):
    """Recorded with the version of its name: a change of the format needs another number."""
    golden_folder(tmp_path)
    assert evaluate_run(tmp_path, quiet=True).metrics["loss"] == near(2.2766264, ROUNDINGS)
    assert resume(tmp_path, {"run.epochs": 2}, quiet=True).metrics["loss"] == near(
        2.2602168, 6 * ROUNDINGS
    )
    assert [path.name for path in GOLDEN.iterdir()] == [f"checkpoint_v{checkpoints.FORMAT}.npz"]


def test_a_checkpoint_of_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.npz"
    checkpoints.write_checkpoint(path, {"x": 1})
    monkeypatch.setattr(checkpoints, "FORMAT", checkpoints.FORMAT + 1)
    with pytest.raises(CheckpointError, match="has version 2 of the format; expected 3"):
        checkpoints.read_checkpoint(path)


def test_rows_are_appended_whole_or_not_at_all(tmp_path, disk):
    path = tmp_path / "metrics.jsonl"
    run_files.append_lines(path, ["one"])
    disk.full = True
    with pytest.raises(run_files.TrainError, match="No space left"):
        run_files.append_lines(path, ["two", "three"])
    assert path.read_text() == "one\n"
