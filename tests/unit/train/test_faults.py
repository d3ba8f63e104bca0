"""One fault of the file system at every call of a run: complete files, or words; resume repairs."""

import contextlib
import errno
import functools
import io
import json
import os
import random
import shutil
import warnings
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tinynet.board import BoardWarning, tensorboardx
from tinynet.board.storage import PREFIX, _records
from tinynet.train.base.checkpoint_file import CheckpointError
from tinynet.train.base.files import has_valid_checksum, with_checksum, write_json
from tinynet.train.cli import main
from tinynet.train.show import writing
from tinynet.train.store import storage as storages

from .conftest import Killed
from .faults import FULL, Disk, faults_of
from .test_resume import all_of

EXTRA = ["data.batch_size=600", "run.save_every_steps=2", "evaluation.samples=2"]
KILLED = -1  # a number that no process has
SAMPLE = 15  # faults of a scenario without --full
PARTS = 10  # of all faults, as a test must end within two minutes


@dataclass
class Ended:
    """How a command ended: its exit code (None for a traceback), and what it printed and warned."""

    code: int | None
    shown: str
    printed: str
    warned: list

    @property
    def has_warned_of_curves(self):
        return any(issubclass(warning, BoardWarning) for warning, _ in self.warned)


def command(*words):
    shown, printed = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(printed):
            try:
                code = main([str(word) for word in words])
            except Exception as error:
                code = None
                print(f"{type(error).__name__}: {error}", file=printed)
    warned = [(w.category, str(w.message)) for w in caught]
    return Ended(code, shown.getvalue(), printed.getvalue(), warned)


def events(folder):
    """The number of values by tag and step in the event files."""
    parse = tensorboardx.load().Event.FromString
    found = Counter()
    for path in sorted(folder.glob(f"{PREFIX}*")):
        for _, record in _records(path.read_bytes()):
            event = parse(record)
            found.update((value.tag, event.step) for value in event.summary.value)
    return found


# ---- scenarios: what is there before, and the command whose calls fail ----


def fresh(out, whole):
    return ["train", "digits.toml", "--out", out, *EXTRA]


def killed(out, whole):
    """The folder of a run that was killed after its third checkpoint."""
    return ["resume", copied(whole / "killed", out)]


def extended(out, whole):
    return ["resume", copied(whole / "short", out), "epochs=2"]


SCENARIOS = {"fresh": fresh, "killed": killed, "extended": extended}


def copied(source, out):
    shutil.copytree(source, out / "digits" / source.name)
    return out / "digits" / source.name


def folder_in(out):
    found = [path for path in out.glob("*/*") if path.is_dir()]
    return found[0] if len(found) == 1 else None


@pytest.fixture
def whole(write, digits, tmp_path, tmp_path_factory, dies):
    """A folder with an undisturbed run, a killed one, and a short one: copies, made once."""
    write(digits)
    original = tmp_path_factory.getbasetemp() / f"faults-{zlib.crc32(digits.encode())}"
    if not original.exists():
        train_all(tmp_path / "made", dies).rename(original)
    return shutil.copytree(original, tmp_path / "whole")


def train_all(place, dies):
    """Train the runs of `whole` in a folder."""
    assert command("train", "digits.toml", "--out", place / "1", *EXTRA).code == 0
    folder_in(place / "1").rename(place / "full")
    short = [*EXTRA, "epochs=1"]
    assert command("train", "digits.toml", "--out", place / "2", *short).code == 0
    folder_in(place / "2").rename(place / "short")
    revive = dies(5)
    with contextlib.suppress(BaseException):
        main(["train", "digits.toml", "--out", str(place / "3"), *EXTRA])
    revive()
    folder = folder_in(place / "3").rename(place / "killed")
    record = json.loads((folder / "run.json").read_bytes())
    write_json(folder / "run.json", with_checksum({**record, "process": KILLED}))
    return place


# ---- what must hold ----


def problems_of(ended, out, whole, fault):
    """What is wrong after a command with a fault, and after a resume without one."""
    if ended.code is None:
        yield f"a traceback: {ended.printed}"
        return
    if ended.code and not ended.printed.strip():
        yield f"exit code {ended.code} without a word"
    folder = folder_in(out)
    record = {}
    if folder is not None and (folder / "run.json").exists():
        record = json.loads((folder / "run.json").read_bytes())
        if not has_valid_checksum(record):
            yield "run.json is not sealed"
        is_touched = record.get("process") != KILLED
        if record["status"] == "running" and (ended.code == 0 or is_touched and fault != FULL):
            yield f"run.json says running after exit code {ended.code}"
    if ended.code == 0:
        yield from (
            f"exit code 0, but {text}" for text in differences(folder, whole, ended, record)
        )
    if folder is None or not (folder / "config.toml").exists():
        if ended.code == 0:
            yield "exit code 0 without a run"
        return
    again = command("resume", folder, "epochs=2")
    if again.code != 0:
        yield f"resuming it gives exit code {again.code}: {again.printed}"
        return
    record = json.loads((folder / "run.json").read_bytes())
    yield from (f"after resume, {text}" for text in differences(folder, whole, ended, record))


def differences(folder, whole, ended, record):
    try:
        mine, full = all_of(folder), all_of(whole / "full")
    except Exception as error:
        yield f"{type(error).__name__}: {error}"
        return
    yield from (f"other {key}" for key in full if mine.get(key) != full[key])
    if record["status"] != "finished" or not record["test"] or not record["best"]["epoch"]:
        yield f"run.json has {record['status']} {record.get('test')} {record.get('best')}"
    if (folder / "config.toml").read_text().strip() == "":
        yield "config.toml is empty"
    seen, expected = events(folder), events(whole / "full")
    if doubled := {key: count for key, count in seen.items() if count > expected[key]}:
        yield f"TensorBoard shows twice {doubled}"
    if not ended.has_warned_of_curves and expected - seen:
        yield f"TensorBoard lacks {expected - seen}"
    if stray := [*folder.rglob(".*.tmp")]:
        yield f"stray {stray}"


def attempt(scenario, at, fault, out, whole):
    words = scenario(out, whole)
    with Disk(out, at, fault) as disk:
        ended = command(*words)
    return disk.calls, ended


def check(name, whole, tmp_path, choose):
    """Try some of the faults of a scenario; those of others are like them."""
    scenario = SCENARIOS[name]
    calls, ended = attempt(scenario, -1, "", tmp_path / "counted", whole)
    assert ended.code == 0, ended.printed
    assert not [*problems_of(ended, tmp_path / "counted", whole, "")]
    wrong = []
    for at, fault in choose([*faults_of(calls)]):
        out = tmp_path / f"{at}-{fault}"
        out.mkdir()
        calls, ended = attempt(scenario, at, fault, out, whole)
        call, path = calls[at] if len(calls) > at else ("", "")
        where = f"{fault} at {call} {Path(path).name} (call {at})"
        wrong += [f"{where}: {text}" for text in problems_of(ended, out, whole, fault)]
        shutil.rmtree(out)
    assert not wrong, "\n".join([f"{len(wrong)} problems", *wrong])


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_fault_at_some_calls(name, whole, tmp_path):
    check(name, whole, tmp_path, lambda faults: random.Random(name).sample(faults, SAMPLE))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_fault_at_every_call(name, part, whole, tmp_path):
    check(name, whole, tmp_path, lambda faults: faults[part::PARTS])


# ---- the report ----


def test_a_fault_while_the_report_is_written(whole, tmp_path, reports, monkeypatch):
    page = (whole / "full" / "report.html").read_text(encoding="utf-8")
    monkeypatch.setattr(writing, "report_of", lambda folder, parts: page)  # it is drawn once
    out = tmp_path / "counted"
    with Disk(out) as disk:
        assert command(*fresh(out, whole)).code == 0
    numbers = [n for n, (_, path) in enumerate(disk.calls) if "report.html" in path]
    faults = [(n, fault) for n, fault in faults_of(disk.calls) if n in numbers and fault != FULL]
    assert len(faults) > 8
    for at, fault in faults:
        out = tmp_path / f"{at}-{fault}"
        _, ended = attempt(fresh, at, fault, out, whole)
        report = folder_in(out) / "report.html"
        assert ended.code == 0 and not [*problems_of(ended, out, whole, fault)], (at, fault)
        written = report.exists() and report.read_text().rstrip().endswith("</html>")
        assert written or "report.html is not written" in ended.shown, (at, fault)
        shutil.rmtree(out)


# ---- commands that only read ----

READERS = {
    "eval": ["eval"],
    "predict": ["predict", "--count", "1"],
    "explain": ["explain"],
    "export": ["export", "weights.npz", "--force"],
    "report": ["report", "--save", "page.html"],
}


@pytest.mark.parametrize("name", READERS)
def test_a_fault_while_a_run_is_read(name, whole, request):
    first, *others = READERS[name]
    folder = whole / "full"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with Disk(folder) as disk:
        assert command(first, folder, *others).code == 0
    assert len(disk.calls) > 5
    faults = [*faults_of(disk.calls)]
    if not request.config.getoption("--full"):
        faults = random.Random(name).sample(faults, 12)
    for at, fault in faults:
        with Disk(folder, at, fault):
            ended = command(first, folder, *others)
        assert ended.code is not None, (disk.calls[at], fault, ended.printed)
        assert ended.code == 0 or ended.printed.strip(), (disk.calls[at], fault)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- the faults by which these were found ----


def calls_of(calls, call, name):
    return [n for n, (one, path) in enumerate(calls) if one == call and name in Path(path).name]


def undisturbed(tmp_path, whole):
    with Disk(tmp_path / "calls") as disk:
        assert command(*fresh(tmp_path / "calls", whole)).code == 0
    return disk.calls


def test_an_error_when_the_figures_are_closed_does_not_double_them(whole, tmp_path):
    numbers = calls_of(undisturbed(tmp_path, whole), "close", "metrics.jsonl")
    assert len(numbers) == 2
    for at in numbers:
        _, ended = attempt(fresh, at, "EIO", tmp_path / str(at), whole)
        assert any("metrics.jsonl cannot be written" in text for _, text in ended.warned)
        assert not [*problems_of(ended, tmp_path / str(at), whole, "EIO")]


def test_a_last_record_that_cannot_be_opened_is_tried_again(whole, tmp_path):
    at = calls_of(undisturbed(tmp_path, whole), "open to write", ".run.json.")[-1]
    _, ended = attempt(fresh, at, "EACCES", tmp_path / "run", whole)
    assert ended.code == 0
    record = json.loads((folder_in(tmp_path / "run") / "run.json").read_bytes())
    assert record["status"] == "finished" and record["test"]["loss"] and record["epochs"] == 2


def test_a_last_record_that_cannot_be_written_is_an_error(whole, tmp_path):
    at = calls_of(undisturbed(tmp_path, whole), "open to write", ".run.json.")[-1]
    _, ended = attempt(fresh, at, FULL, tmp_path / "run", whole)
    assert ended.code == 1
    assert "the end of the run is not recorded: " in ended.printed
    assert "run.json cannot be written (No space left on device)" in ended.printed
    folder = folder_in(tmp_path / "run")
    assert f"{folder.name}` records it" in ended.printed
    assert json.loads((folder / "run.json").read_bytes())["status"] == "running"
    assert command("resume", folder).code == 0
    record = json.loads((folder / "run.json").read_bytes())
    assert record["status"] == "finished" and record["test"]["loss"] and record["epochs"] == 2


def test_an_error_when_the_lock_is_closed_is_not_told(whole, tmp_path):
    calls = undisturbed(tmp_path, whole)
    at = calls_of(calls, "close", Path(calls[-1][1]).name)[-1]
    assert at == len(calls) - 1
    _, ended = attempt(fresh, at, "EIO", tmp_path / "run", whole)
    assert ended.code == 0 and not [*problems_of(ended, tmp_path / "run", whole, "EIO")]


@pytest.mark.parametrize("kept", [1, 2])
def test_checkpoints_without_room_keep_the_position_of_the_last_one(
    whole, tmp_path, dies, monkeypatch, kept
):
    """``run.json`` can be written, and the larger checkpoints cannot."""
    usual = storages.write_checkpoint

    def full(path, content):
        if content["step"] > 3:
            error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise CheckpointError(f"{path} cannot be written ({error.strerror})") from error
        usual(path, content)

    words = [*fresh(tmp_path / "run", whole), "run.save_every_steps=1", f"keep_checkpoints={kept}"]
    again = dies(6)
    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr(storages, "write_checkpoint", full)
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            main([str(word) for word in words])
    again()
    folder = folder_in(tmp_path / "run")
    assert json.loads((folder / "run.json").read_bytes())["events"].keys() >= {"3"}
    assert command("resume", folder, "epochs=2").code == 0
    assert events(folder) == events(whole / "full")


@pytest.mark.parametrize("damage", [lambda path: path.write_text("{"), Path.unlink])
def test_curves_are_shown_once_without_the_positions(whole, damage):
    folder = whole / "killed"
    damage(folder / "run.json")
    assert command("resume", folder).code == 0
    assert events(folder) == events(whole / "full")


def test_figures_that_are_emptied_during_training_are_written_again(whole, tmp_path, monkeypatch):
    usual = storages.Storage.add_row

    def add_row(storage, line):
        usual(storage, line)
        if storage.written:
            storage.folder.metrics.write_bytes(b"")

    monkeypatch.setattr(storages.Storage, "add_row", add_row)
    ended = command(*fresh(tmp_path / "run", whole))
    told = "metrics.jsonl was changed or removed during training, and was written again"
    assert any(told in text for _, text in ended.warned)
    monkeypatch.undo()
    assert not [*problems_of(ended, tmp_path / "run", whole, "")]


@pytest.mark.parametrize("words", [[name] for name in (*READERS, "resume")], ids=str)
def test_emptied_figures_are_told(whole, words):
    folder = whole / "full"
    (folder / "metrics.jsonl").write_bytes(b"")
    name, *others = READERS.get(words[0], words)
    ended = command(name, folder, *others)
    told = "metrics.jsonl is damaged: it has 0 good rows of 2"
    told = told if name != "resume" else "it has no good row for epoch 1, 2 any more"
    shown = ended.shown + (Path("page.html").read_text() if name == "report" else "")
    assert ended.code == 0
    assert told in shown or any(told in text for _, text in ended.warned)


def keys_of(content, path=()):
    """The paths of all keys in a JSON object."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield (*path, key)
            yield from keys_of(value, (*path, key))
    elif isinstance(content, list) and content:
        yield from keys_of(content[0], (*path, 0))


def changed(content, path, change):
    """A copy of a JSON object in which a function replaces the pair of a key and its value."""
    copy = json.loads(json.dumps(content))
    inside = functools.reduce(lambda place, key: place[key], path[:-1], copy)
    pairs = [change(*pair) if pair[0] == path[-1] else pair for pair in inside.items()]
    inside.clear()
    inside.update(pairs)
    return copy


CHANGES = {
    "renamed": lambda key, value: (f"{key}_", value),
    "a number": lambda key, value: (key, 7 if isinstance(value, str | list | dict) else "7"),
    "null": lambda key, value: (key, None if value is not None else {}),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_key_of_the_record_is_told(change, whole):
    """Of the report only by the page, where there is one."""
    folder = whole / "short"
    assert command("resume", folder, "epochs=2").code == 0
    record = json.loads((folder / "run.json").read_bytes())
    paths = [*keys_of(record)]
    assert len(paths) > 50
    for path in paths:
        (folder / "run.json").write_text(json.dumps(changed(record, path, CHANGES[change])))
        ended = command("explain", folder)
        assert ended.code is not None, (path, ended.printed)
        assert "run.json was changed or damaged" in ended.shown, path
    for path in random.Random(change).sample(paths, 8):
        copy = copied(folder, Path(str(len(path))))
        (copy / "run.json").write_text(json.dumps(changed(record, path, CHANGES[change])))
        ended = command("eval", copy)
        assert ended.code == 0, (path, ended.printed)
        assert "run.json was changed or damaged" in str(ended.warned), path
        ended = command("resume", copy, "epochs=3")
        assert ended.code is not None, (path, ended.printed)
        assert "run.json was changed or damaged" in str(ended.warned), path
        if path[0] == "data" and ended.code == 2:
            assert "has changed since the run" in ended.printed  # as far as it is known
        else:
            assert ended.code == 0, (path, ended.printed)
            assert not [count for count in events(copy).values() if count > 1], path
            assert has_valid_checksum(json.loads((copy / "run.json").read_bytes()))
        shutil.rmtree(copy)
