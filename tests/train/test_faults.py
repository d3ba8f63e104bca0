"""One fault of the file system at every call of a run: complete files, or words; resume repairs."""

import contextlib
import io
import json
import random
import shutil
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tinynet.board import BoardWarning, tensorboardx
from tinynet.board.reading import PREFIX, _records
from tinynet.train.checkpoint.checksums import is_sealed, sealed
from tinynet.train.checkpoint.writing import write_json
from tinynet.train.cli import main

from .conftest import DIGITS
from .faults import FULL, Disk, faults_of
from .test_resume import all_of

EXTRA = ["data.batch_size=600", "run.save_every_steps=2", "evaluation.samples=2"]
KILLED = -1  # a number that no process has
SAMPLE = 30  # faults of a scenario without --full
PARTS = 10  # of all faults, as a test must end within two minutes


@dataclass
class Ended:
    """How a command ended: its exit code (None for a traceback), and what it printed and warned."""

    code: int | None
    printed: str
    warned: list

    @property
    def has_warned_of_curves(self):
        return any(issubclass(warning, BoardWarning) for warning, _ in self.warned)


def command(*words):
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(printed):
            try:
                code = main([str(word) for word in words])
            except Exception as error:
                code = None
                print(f"{type(error).__name__}: {error}", file=printed)
    return Ended(code, printed.getvalue(), [(w.category, str(w.message)) for w in caught])


def events(folder):
    """The number of values by tag and step in the event files."""
    parse = tensorboardx.load().Event.FromString
    found = Counter()
    for path in sorted(folder.glob(f"{PREFIX}*")):
        for record in _records(path.read_bytes()):
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
def whole(write, tmp_path, dies, monkeypatch):
    """A folder with an undisturbed run, a killed one, and a short one."""
    write(DIGITS)
    place = tmp_path / "whole"
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
    write_json(folder / "run.json", sealed({**record, "process": KILLED}))
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
        if not is_sealed(record):
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
