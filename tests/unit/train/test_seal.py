"""Damage to any file of a run is noticed; what vanishes while training is written again."""

import json
import re
import shutil
import warnings
from pathlib import Path

import pytest

from tinynet.base.atomic_write import write_atomically
from tinynet.board import BoardWarning
from tinynet.train import StorageWarning, evaluate_run, resume, run
from tinynet.train.base import checkpoint_file as checkpoints
from tinynet.train.base.files import row_of, row_with_checksum
from tinynet.train.cli import main
from tinynet.train.store import storage as storages

from .test_resume import all_of, rows, same
from .test_runner import own_model

NET = """
    from tinynet import nn

    class Net(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Flatten(), nn.Linear(64, 10))
"""
TEXT = """\
run = {epochs = 1}
data = {type = "Text", path = "text.txt", length = 8, batch_size = 64}
model = {type = "LSTMLanguageModel", vocab_size = 16, width = 8}
loss = {type = "CrossEntropyLoss"}
optimizer = {type = "Adam", lr = 0.01}
"""


@pytest.fixture
def folder(write, digits):
    return run(write(own_model(digits), net=NET), {"run.epochs": 3}, quiet=True).folder


def told_by(work):
    """All that a function warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    assert all(issubclass(w.category, StorageWarning) for w in caught), [str(w) for w in caught]
    return " ".join(str(w.message) for w in caught)


# ---- files that stay as they are ----


@pytest.mark.parametrize("name", ["config.toml", "run.json", "sources/net.py"])
def test_a_flipped_bit_is_told(folder, name):
    path = folder / name
    data = bytearray(path.read_bytes())
    data[data.index(b"o")] ^= 1  # it can still be read
    path.write_bytes(data)
    telling = f"{name} was changed or damaged since the run wrote it"
    assert telling in told_by(lambda: evaluate_run(folder, quiet=True))
    assert telling in told_by(lambda: main(["export", str(folder), "w.npz"]))
    if name == "sources/net.py":
        assert telling in told_by(lambda: resume(folder, {"run.epochs": 4}, quiet=True))


@pytest.mark.parametrize("name", ["config.toml", "run.json", "sources/net.py"])
def test_a_file_that_is_missing_is_told(folder, name):
    (folder / name).unlink()
    assert f"{name} is missing" in told_by(lambda: evaluate_run(folder, quiet=True)) or (
        name == "config.toml"
    )


def test_a_run_record_that_cannot_be_read(folder):
    whole = all_of(folder)
    (folder / "run.json").write_text("{")
    assert "run.json cannot be read" in told_by(lambda: evaluate_run(folder, quiet=True))
    told_by(lambda: resume(folder, {"run.epochs": 3}, quiet=True))
    assert all_of(folder) == whole


def test_a_config_that_was_edited_is_told_by_a_quiet_resume(folder):
    path = folder / "config.toml"
    path.write_text(re.sub("^lr = 0.1", "lr = 0.2", path.read_text(), flags=re.MULTILINE))
    told = told_by(lambda: resume(folder, {"run.epochs": 4}, quiet=True))
    assert "config.toml was changed or damaged" in told
    assert "optimizer.lr: 0.1 -> 0.2" in told
    assert not told_by(lambda: evaluate_run(folder, quiet=True))


def test_a_damaged_tokenizer(write, capsys):
    config = write(TEXT)
    Path("text.txt").write_text("the cat sat on the mat. " * 40)
    folder = run(config, quiet=True).folder
    path = folder / "tokenizer.json"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"c", b"d", 1))
    with pytest.warns(StorageWarning, match="tokenizer.json was changed or damaged"):
        assert main(["predict", str(folder), "--prompt", "the"]) == 2
    assert "tokenizer.json was changed or damaged" in capsys.readouterr().err
    assert "tokenizer.json was changed or damaged" in told_by(
        lambda: resume(folder, {"run.epochs": 2}, quiet=True)
    )
    assert path.read_bytes() == whole


# ---- rows ----


def test_rows_are_json_and_each_has_its_checksum(folder):
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        row = json.loads(line)
        assert row_of(line) == {k: v for k, v in row.items() if k != "crc32"}


def test_every_damage_to_a_row_is_noticed():
    line = row_with_checksum('{"epoch": 1, "step": 22, "train/loss": 0.5, "name": "é"}')
    data = line.encode()
    assert row_of(line)["epoch"] == 1
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        assert row_of(flipped.decode(errors="replace")) is None
    for length in range(len(data)):
        assert row_of(data[:length].decode(errors="replace")) is None


@pytest.mark.parametrize("damage", ["flip", "key", "cut", "remove"])
def test_damaged_rows_are_told_and_left_out(folder, damage):
    path = folder / "metrics.jsonl"
    before = rows(folder)
    lines = path.read_text().splitlines(keepends=True)
    if damage == "flip":
        lines[1] = lines[1].replace('"epoch": 2', '"epoch": 3')
    elif damage == "key":
        lines[1] = lines[1].replace("crc32", "crc33")
    lines = lines[:2] + [lines[2][:20]] if damage == "cut" else lines
    path.write_text("".join(lines if damage != "remove" else [lines[0], *lines[2:]]))
    damaged, lost = path.read_text(), 3 if damage == "cut" else 2
    told = told_by(lambda: resume(folder, {"run.epochs": 4}, quiet=True))
    assert f"metrics.jsonl is damaged: it has no good row for epoch {lost} any more" in told
    assert (folder / "metrics.damaged").read_text() == damaged
    assert [row for row in rows(folder) if row["epoch"] < 4] == [
        row for row in before if row["epoch"] != lost
    ]
    assert not told_by(lambda: evaluate_run(folder, quiet=True))


# ---- checkpoints ----


def test_a_newest_checkpoint_that_is_missing_is_told(folder):
    (folder / "checkpoint.npz").unlink()
    telling = r"checkpoint\.npz is missing\. checkpoint-46\.npz, of step 46, is used instead"
    for work in (
        lambda: evaluate_run(folder, quiet=True),
        lambda: main(["predict", str(folder), "--count", "1"]),
        lambda: main(["export", str(folder), "w.npz"]),
        lambda: resume(folder, quiet=True),
    ):
        assert re.search(telling, told_by(work))
    assert not told_by(lambda: evaluate_run(folder, quiet=True))


def test_checkpoints_that_are_all_missing_are_told(folder):
    whole = all_of(folder)
    for path in folder.glob("*.npz"):
        path.unlink()
    told = told_by(lambda: resume(folder, quiet=True))
    assert (
        "has metrics of 3 epochs, but its checkpoint is missing: starting from the beginning"
        in told
    )
    assert all_of(folder) == whole


# ---- while training ----


@pytest.fixture
def after_row(monkeypatch):
    """Calls a function after a given number of rows of figures."""

    def do(count, work):
        usual = storages.Storage.add_row
        seen = []

        def add_row(storage, line):
            usual(storage, line)
            seen.append(line)
            if len(seen) == count:
                work(storage.folder.path)

        monkeypatch.setattr(storages.Storage, "add_row", add_row)

    return do


def test_a_folder_that_vanishes_is_made_again(write, digits, tmp_path, after_row):
    config = write(own_model(digits), net=NET)
    extra = {"run.epochs": 4, "run.keep_checkpoints": 1}
    whole = run(config, extra, out=tmp_path / "whole", quiet=True).folder
    after_row(2, shutil.rmtree)
    with pytest.warns((StorageWarning, BoardWarning)) as caught:
        folder = run(config, extra, out=tmp_path / "x", quiet=True).folder
    told = " ".join(str(w.message) for w in caught if w.category is StorageWarning)
    assert "config.toml, sources/net.py were removed from" in told and "were written again" in told
    same(folder, whole)
    names = {path.name for path in folder.iterdir()}
    assert names >= {"config.toml", "run.json", "sources", "metrics.jsonl", "checkpoint.npz"}
    assert json.loads((folder / "run.json").read_text())["status"] == "finished"
    assert evaluate_run(folder, quiet=True).metrics == evaluate_run(whole, quiet=True).metrics
    resume(folder, {"run.epochs": 5}, quiet=True)


def test_a_config_that_vanishes_is_written_again(write, digits, after_row):
    after_row(1, lambda path: (path / "config.toml").unlink())
    with pytest.warns(StorageWarning, match=r"config\.toml were removed from .* written again"):
        folder = run(write(digits), quiet=True).folder
    assert not told_by(lambda: evaluate_run(folder, quiet=True))
    assert (folder / "config.toml").read_text()


# ---- stray files ----


def test_an_error_while_writing_is_not_hidden_and_its_file_goes_with_the_next_start(
    folder, monkeypatch
):
    unlink = Path.unlink

    def failing(path, *arguments, **keywords):
        raise PermissionError(1, "Operation not permitted")

    def full(file):
        raise OSError(28, "No space left on device")

    (folder / "sources" / ".net.py.1-2.tmp").write_bytes(b"")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", failing)
        with pytest.raises(OSError, match="No space left"):
            write_atomically(folder / "best.npz", full)
        assert len([*folder.rglob(".*.tmp")]) == 2
        resume(folder, {"run.epochs": 4, "run.keep_checkpoints": 9}, quiet=True)  # nor now
    assert Path.unlink is unlink
    resume(folder, {"run.epochs": 5}, quiet=True)
    assert not [*folder.rglob(".*.tmp")]
    assert checkpoints.read_checkpoint(folder / "checkpoint.npz")["epoch"] == 5
