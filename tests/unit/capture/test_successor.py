"""Programs that numpy runs until another process has compiled them: ``wait``."""

import pytest

import tinynet as tn
from tests.unit.capture.pairs import visible
from tests.unit.capture.test_compile import batch, make
from tinynet import nn
from tinynet.capture import native
from tinynet.capture.native import beside
from tinynet.kernels.llvm import machine, store

from .interpreted import interpret

pytest.importorskip("llvmlite")

REPLAYS = 9


@pytest.fixture
def compilations(monkeypatch):
    """Compilations that end when a test says so, of functions that run as Python."""
    interpret(monkeypatch)

    class Compilation:
        made = []

        def __init__(self, work):
            self.work, self.done, self.waits = work, False, 0
            self.made.append(self)

        def is_done(self, wait=False):
            self.waits += wait and not self.done
            return self.done or wait

    monkeypatch.setattr(native.beside, "Compilation", Compilation)
    return Compilation.made


def trained(wait, compilations=(), ends=None, backend="llvm"):
    """A compiled step after some replays, and all that is visible of its net after each."""
    net, optimizer, step = make()
    compiled = tn.compile(step, backend=backend, wait=wait)
    tn.manual_seed(5)
    seen = []
    for replay in range(-1, REPLAYS + 1):
        if replay == ends:
            compilations[-1].done = True
        loss = compiled(*batch())
        seen.append((loss.item(), str(visible(net)), str(visible(optimizer))))
    return compiled, seen


def test_numpy_runs_the_replays_until_then(compilations):
    compiled, seen = trained(False, compilations, ends=5)
    assert seen[:6] == trained(True, backend="numpy")[1][:6]
    ((_, entry),) = compiled.programs()
    assert not entry.is_exact and entry.replays == REPLAYS
    assert compiled.native_from == [5] == compiled.explain().native_from
    assert compilations[-1].waits == 0 and compiled.calls() == (REPLAYS, 2, 0)
    assert "from replay 5 on" in str(compiled.explain())


def test_a_run_repeats_to_the_bit(compilations):
    compiled, seen = trained(False, compilations, ends=5)
    again, same = trained(compiled.explain().native_from)
    assert seen == same and again.native_from == [5]
    assert compilations[-1].waits == 1
    assert trained(again.native_from, compilations, ends=1)[1] == seen


def test_a_run_that_was_never_native_repeats_too(compilations):
    compiled, seen = trained(False, compilations, ends=None)
    assert compiled.native_from == [None] and seen == trained([None])[1]
    assert "in another process" in str(compiled.explain())


def test_each_program_has_its_own_turn(compilations):
    double = tn.compile(lambda x: (x * 2 + 1).tanh(), backend="llvm", wait=False)
    for _ in range(4):
        double(tn.ones(3))
    compilations[0].done = True
    for _ in range(4):
        double(tn.ones(3)), double(tn.ones(4))
    assert double.native_from == [3, None]


@pytest.mark.parametrize("verify", [None, 2])
def test_the_native_form_is_verified_anew(compilations, verify):
    double = tn.compile(lambda x: (x * 2 + 1).tanh(), backend="llvm", wait=[20], verify=verify)
    for _ in range(2 + 25):
        double(tn.ones(3))
    ((_, entry),) = double.programs()
    assert entry.replays == 25 and not entry.is_exact
    assert entry.schedule.count == (1 if verify is None else 3)  # replay 22; 20, 22 and 24
    assert entry.schedule.due == (100 if verify is None else 26)


def test_a_pass_behind_a_module_becomes_native(compilations):
    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    compiled = tn.compile(net, backend="llvm", wait=[4])
    for _ in range(6):
        x = tn.randn(2, 4, requires_grad=True)
        compiled(x).square().sum().backward()
    assert compiled.explain().native_from == [4]
    titles = [job.title for job in compilations[-1].work]
    assert len(titles) == 2 and "linear" not in titles[1]


@pytest.mark.parametrize("wait", [[0], [-1], [2, 0]])
def test_numbers_of_replays_are_positive(wait):
    with pytest.raises(ValueError, match="wait must be a bool, or numbers of replays > 0"):
        tn.compile(lambda x: x, wait=wait)


def test_another_process_compiles_all_that_a_step_calls(tmp_path, monkeypatch):
    monkeypatch.setenv("TINYNET_CACHE", str(tmp_path))
    monkeypatch.setattr(store, "folder", store.find_folder)
    net = nn.LSTM(3, 2)
    optimizer = tn.optim.Adam(net.parameters())

    def step(x):
        optimizer.zero_grad()
        loss = (net(x)[0] * 2 + 1).tanh().mean()
        loss.backward()
        optimizer.step()
        return loss

    here: list[str] = []
    monkeypatch.setattr(machine, "machine_code", here.append)
    compiled = tn.compile(step, backend="llvm", wait=[3])
    for _ in range(2 + 3):
        compiled(tn.randn(4, 1, 3))
    ((_, entry),) = compiled.programs()
    natives = [n for call in entry.run.parts for n in getattr(call.function, "natives", tuple)()]
    assert natives and all(n.function for n in natives) and not here
    work = beside.jobs(entry.run.parts)
    assert [(job.op, job.formula) for job in work if isinstance(job, beside.Kernel)] == [
        ("lstm_sequence", ""),
        ("lstm_sequence", "joint"),
    ]
