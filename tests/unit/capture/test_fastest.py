"""The form of a program that takes the least time on a machine: measured once, then noted."""

import json

import pytest

import tinynet as tn
from tests.tools.rounding import near
from tests.unit.capture.pairs import visible
from tests.unit.capture.test_compile import batch, make
from tinynet import nn
from tinynet.capture import compiled, fastest
from tinynet.capture.native import choices
from tinynet.kernels.llvm import store

pytest.importorskip("llvmlite")


@pytest.fixture
def times(tmp_path, monkeypatch):
    """What forms take per run, with notes in a folder of the test's own."""
    found = {"native": 1.0, "numpy": 2.0, "measured": 3.0, "kernel": 1.0, "plain": 2.0, "races": []}
    monkeypatch.setattr(store, "folder", lambda: tmp_path)
    monkeypatch.setattr(compiled, "fastest", fastest.fastest)

    def of_forms(entries, tensors, before):
        for entry in entries:
            fastest._run(entry, tensors)
            before.restore()
        found["races"].append(len(entries))
        return [found[name] for name in ("native", "numpy", "measured")[: len(entries)]]

    def of_calls(function, arrays):
        function(*arrays)
        return found["kernel" if hasattr(function, "native") else "plain"]

    monkeypatch.setattr(fastest, "_seconds", of_forms)
    monkeypatch.setattr(choices, "seconds", of_calls)
    return found


def trained(backend="llvm", replays=4, **options):
    """A compiled step after some replays, and all that is visible of its net after each."""
    net, optimizer, step = make()
    made = tn.compile(step, backend=backend, **options)
    tn.manual_seed(5)
    seen = []
    for _ in range(2 + replays):
        loss = made(*batch())
        seen.append((loss.item(), str(visible(net)), str(visible(optimizer))))
    return made, seen


def test_the_native_form_runs_if_it_is_faster(times):
    made, _ = trained()
    assert made.native_from == [1] and times["races"] == [2]
    assert "numpy takes less time" not in str(made.explain())


def test_numpy_runs_to_the_bit_if_it_is_faster(times, tmp_path):
    times["numpy"] = 0.5
    made, seen = trained()
    assert seen == trained("numpy")[1]
    assert made.native_from == [None] and made.calls() == (4, 2, 0)
    assert "numpy takes less time here for all calls" in str(made.explain())
    times["numpy"] = 2.0
    assert trained()[1] == seen and times["races"] == [2, 3]  # as noted


def test_parts_are_native_if_they_are_faster(times, tmp_path):
    times["native"] = 4.0
    times["numpy"] = 3.5
    made, seen = trained()
    ((_, entry),) = made.programs()
    assert not entry.is_exact and entry.outrun and made.native_from == [1]
    times["measured"] = 9.0
    assert trained()[1] == seen and times["races"] == [2, 3]


def test_a_run_that_takes_longer_natively_is_divided(times):
    times["native"], times["kernel"] = 4.0, 3.0
    times["numpy"] = 3.5
    made, seen = trained()
    assert made.explain().programs[0].native == [] and made.native_from == [1]
    assert [loss for loss, *_ in seen] == near([loss for loss, *_ in trained("numpy")[1]])


def test_measuring_leaves_no_traces(times):
    net = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5), nn.Tanh())
    times["numpy"] = 0.5
    seen = []
    for backend in ("llvm", "numpy"):
        tn.manual_seed(0)
        made = tn.compile(net, backend=backend)
        x = tn.ones(2, 4, requires_grad=True)
        for _ in range(5):
            made(x).sum().backward()
        seen.append((x.grad.tolist(), tn.rand(2).tolist()))
    assert seen[0] == seen[1] and times["races"]


def test_a_program_with_hooks_is_not_measured(times):
    net, optimizer, step = make()
    heard = []
    next(net.parameters()).register_hook(heard.append)
    made = tn.compile(step, backend="llvm")
    for _ in range(4):
        made(*batch())
    assert len(heard) == 4 and times["races"] == [] and made.native_from == [1]


def test_without_a_folder_nothing_is_measured(times, monkeypatch):
    monkeypatch.setattr(store, "folder", lambda: None)
    times["numpy"] = 0.5
    assert trained()[0].native_from == [1] and times["races"] == []


def test_a_program_that_waited_is_measured_when_its_turn_comes(times):
    times["numpy"] = 0.5
    made, seen = trained(wait=[3])
    assert made.native_from == [None] and seen == trained("numpy")[1]
    assert times["races"] == [2, 3]


def test_times_are_those_of_the_fastest_turn(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(fastest.time, "thread_time", lambda: next(clock) / 100)
    monkeypatch.setattr(fastest, "_run", lambda entry, tensors: entry.append(tensors))
    before = type("Before", (), {"restore": lambda self: restored.append(1)})()
    restored = []
    entries = [[], []]
    assert fastest._seconds(entries, [], before) == pytest.approx([0.01, 0.01])
    assert [len(entry) for entry in entries] == [7, 7] and len(restored) == 14


def test_a_note_names_what_it_is_for(times, tmp_path):
    trained()
    (note,) = (json.loads(path.read_text()) for path in tmp_path.glob("choice_*.json"))
    assert note["chosen"] == "llvm" and note["seconds"] == [1.0, 2.0]


def test_numpy_runs_where_there_is_no_clear_gain(times):
    times["native"] = times["measured"] = 1.95
    assert trained()[0].native_from == [None]


def test_parts_are_measured_where_the_whole_gains_little(times):
    """Some of them may be much slower natively, which the gain of the others hides."""
    times["native"], times["measured"] = 1.7, 1.0
    made, _ = trained()
    ((_, entry),) = made.programs()
    assert times["races"] == [2, 3] and entry.outrun


def test_large_programs_take_several_turns(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(fastest.time, "thread_time", lambda: next(clock))
    monkeypatch.setattr(fastest, "_run", lambda entry, tensors: entry.append(tensors))
    before = type("Before", (), {"restore": lambda self: None})()
    entries = [[], []]
    fastest._seconds(entries, [], before)
    assert [len(entry) for entry in entries] == [2 + fastest.LEAST] * 2
