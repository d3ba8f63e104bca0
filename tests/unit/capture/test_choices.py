"""Convolutions of compiled steps: what takes less time on this machine, measured once."""

import json

import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn
from tinynet.capture.native import choices
from tinynet.kernels import onednn
from tinynet.kernels.llvm import store

pytest.importorskip("llvmlite")
if not onednn.is_available():
    pytest.skip("needs onednn-cpu-gomp", allow_module_level=True)


@pytest.fixture
def times(tmp_path, monkeypatch):
    """What kernels and numpy's functions take, with notes in a folder of the test's own."""
    found = {"kernel": 1.0, "plain": 2.0, "measured": 0}
    monkeypatch.setattr(store, "folder", lambda: tmp_path)

    def seconds(function, arrays):
        found["measured"] += 1
        return found["kernel" if hasattr(function, "__wrapped__") else "plain"]

    monkeypatch.setattr(choices, "seconds", seconds)
    return found


def replayed(groups=4):
    """The convolutions of a compiled step, each whether its kernel runs; its gradient is right."""
    net = nn.Conv1d(4, 8, 3, groups=groups)
    compiled = tn.compile(lambda x: net(x).square().sum(), backend="llvm")
    for _ in range(4):
        x = tn.randn(2, 4, 9, requires_grad=True)
        mine = tn.autograd.grad(compiled(x), [x, *net.parameters()])
        its = tn.autograd.grad(net(x).square().sum(), [x, *net.parameters()])
        for a, b in zip(mine, its, strict=True):
            assert a.numpy() == near(b.numpy())
    ((_, entry),) = compiled.programs()
    calls = [*entry.run.parts, *(c for _, f in entry.backwards for c in f.parts)]
    return [hasattr(c.function, "__wrapped__") for c in calls if "onvol" in c.title]


@pytest.mark.parametrize("groups", [1, 4])
def test_the_faster_one_runs(times, groups):
    assert {*replayed(groups)} == {True}
    times["kernel"] = 3.0
    assert {*replayed(groups)} == {True}  # as noted


def test_numpy_runs_where_it_is_faster(times):
    times["plain"] = 0.5
    assert {*replayed()} == {False}


def test_a_choice_is_measured_once_for_a_form(times, tmp_path):
    replayed()
    count = times["measured"]
    replayed(groups=4)
    assert times["measured"] == count > 0
    notes = [json.loads(path.read_text()) for path in tmp_path.glob("choice_*.json")]
    assert len(notes) == count / 2 and all(note["seconds"] == [1.0, 2.0] for note in notes)
    replayed(groups=2)
    assert count < times["measured"] < 2 * count  # the gradient of the bias knows no groups


def test_a_broken_note_is_written_again(times, tmp_path):
    replayed()
    count = times["measured"]
    for path in tmp_path.glob("choice_*.json"):
        path.write_text("[]")
    assert {*replayed()} == {True} and times["measured"] == 2 * count


def test_without_a_folder_nothing_is_measured(times, monkeypatch):
    monkeypatch.setattr(store, "folder", lambda: None)
    times["kernel"] = 3.0
    assert {*replayed()} == {True} and times["measured"] == 0


def test_the_time_of_the_fastest_call(monkeypatch):
    clock = iter([0, 3, 3, 4, 4, 9])
    monkeypatch.setattr(choices.time, "thread_time", lambda: next(clock) / 100)
    calls = []
    assert choices.seconds(calls.append, [1]) == pytest.approx(0.01)
    assert calls == [1] * 4  # the first is not counted, and three take long enough
