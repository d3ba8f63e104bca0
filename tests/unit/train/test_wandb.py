"""Runs for Weights & Biases, offline, read back from the files that `wandb sync` would send."""

import json
import struct
import time
from pathlib import Path

import pytest

from tests.tools.libraries import needs
from tinynet.train import TrackerWarning, resume, run
from tinynet.train.trackers import Point, TrackedRun, Wandb, tracking

from .test_trackers import assert_same_curve, curves, tracked

pytestmark = [
    needs("wandb"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in wandb
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # its service ends with the process
]

_HEADER, _BLOCK = 7, 32_768  # of a file of records, in the format of LevelDB's log


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(tracking, "_PAUSE", 0.01)
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")


def records(folder):
    """The records of an offline run that has ended; wandb writes the last ones a moment later."""
    for _ in range(200):
        found = stored_records(folder)
        if any(record.WhichOneof("record_type") == "exit" for record in found):
            return found
        time.sleep(0.05)
    raise AssertionError(f"{folder} has no end")


def stored_records(folder):
    """The records of an offline run so far, in their order."""
    from wandb.proto import wandb_internal_pb2

    (path,) = folder.glob("*.wandb")
    data, place, whole, found = path.read_bytes(), _HEADER, b"", []
    while place + _HEADER <= len(data):
        left = _BLOCK - place % _BLOCK
        if left < _HEADER:
            place += left
            continue
        _, size, kind = struct.unpack("<IHB", data[place : place + _HEADER])
        whole += data[place + _HEADER : place + _HEADER + size]
        place += _HEADER + size
        if kind in (1, 4):  # a whole record, or the last part of one
            found.append(wandb_internal_pb2.Record.FromString(whole))
            whole = b""
    return found


def history(folder):
    """The logged figures, as {step: {name: value}}."""
    rows = {}
    for record in records(folder):
        if record.WhichOneof("record_type") == "history":
            items = {"/".join(i.nested_key) or i.key: i.value_json for i in record.history.item}
            row = {name: json.loads(text) for name, text in items.items()}
            rows.setdefault(row["_step"], {}).update(row)
    return rows


def run_of(folder):
    """The record of the run itself, and its config."""
    (found,) = [r.run for r in records(folder) if r.WhichOneof("record_type") == "run"]
    config = {u.key: json.loads(u.value_json) for u in found.config.update}
    return found, config


def test_a_run(digits, write, reports):
    text = tracked(digits, '{type = "Wandb", tags = ["first"]}', report="true")
    result = run(write(text), quiet=True)
    (folder,) = Path("runs/wandb").glob("offline-run-*")
    found, config = run_of(folder)
    assert (found.project, found.display_name) == ("digits", result.folder.name)
    assert (list(found.tags), found.run_group) == (["first"], "")
    assert config["optimizer"]["lr"] == 0.1 and config["model"]["sizes"] == [64, 16, 10]
    assert config["tinynet"]["run_folder"] == str(result.folder.absolute())
    rows = history(folder)
    for name, curve in curves(result.folder).items():
        x = "epoch" if name.startswith("epoch/") else "_step"
        logged = {row[x]: row[name] for row in rows.values() if name in row}
        assert_same_curve(logged, curve, name)
    (exit_record,) = [r.exit for r in records(folder) if r.WhichOneof("record_type") == "exit"]
    assert exit_record.exit_code == 0
    files = {path.name for path in (folder / "files").iterdir()}
    assert files >= {"config.toml", "best.npz", "report.html"}
    assert not list(Path().glob("wandb*"))


def test_a_resumed_run_has_the_same_id(digits, write):
    result = run(write(tracked(digits, '"Wandb"', epochs=1)), quiet=True)
    time.sleep(1.0)  # wandb names folders by the second
    resume(result.folder, {"run.epochs": 2}, quiet=True)
    folders = sorted(Path("runs/wandb").glob("offline-run-*"), key=lambda path: min(history(path)))
    first, second = (run_of(folder) for folder in folders)
    assert first[0].run_id == second[0].run_id
    assert (first[1]["run"]["epochs"], second[1]["run"]["epochs"]) == (1, 2)
    assert [[*history(folder)] for folder in folders] == [[*range(23)], [*range(23, 46)]]


def test_steps_never_decrease_and_groups(tmp_path):
    tracker = Wandb(tmp_path / "new", project="mine")
    tracker.begin(TrackedRun("lr=0.1", "digits", "sweep_1"))
    nan = {"train/loss": float("nan")}
    tracker.log([Point(5, 1, {"lr": 0.1}), Point(5, 1, nan), Point(3, 1, {"lr": 0.7})])
    tracker.log([Point(6, 1, {"lr": 0.2})])
    tracker.end("interrupted", [])
    (folder,) = (tmp_path / "new" / "wandb").glob("offline-run-*")
    found, _ = run_of(folder)
    assert (found.project, found.run_group, found.display_name) == ("mine", "sweep_1", "lr=0.1")
    rows = history(folder)
    assert {step: row["lr"] for step, row in rows.items()} == {5: 0.1, 6: 0.2}
    assert str(rows[5]["train/loss"]) in ("nan", "NaN")
    (ended,) = [r.exit for r in records(folder) if r.WhichOneof("record_type") == "exit"]
    assert ended.exit_code == 130


def test_online_without_a_key_only_warns(digits, write, monkeypatch, tmp_path):
    for name in ("WANDB_API_KEY", "WANDB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    path = write(tracked(digits, '{type = "Wandb", mode = "online"}', epochs=1))
    with pytest.warns(
        TrackerWarning, match=r"\(Wandb\) fails. PermissionError: there is no API key"
    ):
        assert run(path, quiet=True).is_complete
    assert not Path("runs/wandb").exists()
