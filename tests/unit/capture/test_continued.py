"""Compiled functions that go on where those of another process stopped, to the bit."""

import json

import pytest

import tinynet as tn
from tests.unit.capture.pairs import visible
from tests.unit.capture.test_compile import batch, make
from tinynet.capture import native
from tinynet.capture.continued import Continued, Past
from tinynet.capture.verify.snapshot import Snapshot

from .interpreted import interpret

pytest.importorskip("llvmlite")

CALLS, TAKES = 12, 5  # native once the compiler was asked that often


@pytest.fixture(autouse=True)
def compilations(monkeypatch):
    """Compilations that end after a number of questions, of functions that run as Python."""
    interpret(monkeypatch)

    class Compilation:
        takes = TAKES

        def __init__(self, work):
            self.left = self.takes

        def is_done(self, wait=False):
            self.left -= 1
            return wait or self.left <= 0

    monkeypatch.setattr(native.beside, "Compilation", Compilation)
    return Compilation


class Run:
    """A training, and all that is visible after each step."""

    def __init__(self, wait=False):
        self.net, self.optimizer, self.step = make()
        tn.manual_seed(5)
        self.data = [batch() for _ in range(CALLS)]
        self.seen = []
        self.compiled = Continued(self.step, [self.net, self.optimizer], backend="llvm", wait=wait)

    def train(self, begin, end):
        for i in range(begin, end):
            loss = self.compiled(*self.data[i])
            self.seen.append((loss.item(), str(visible(self.net)), str(visible(self.optimizer))))
        return self

    def resumed(self, begin, wait=False):
        """Another process that goes on."""
        other = Run(wait)
        other.net.load_state_dict(self.net.state_dict())
        other.optimizer.load_state_dict(self.optimizer.state_dict())
        other.compiled.load_state_dict(json.loads(json.dumps(self.compiled.state_dict())))
        other.seen = [*self.seen]
        return other.train(begin, CALLS)


def test_it_goes_on_natively():
    whole = Run().train(0, CALLS)
    assert whole.compiled.first_native_replays() == [TAKES]
    for stop in range(8, CALLS):
        again = Run().train(0, stop).resumed(stop)
        assert losses(again) == losses(whole), stop
        assert again.compiled.first_native_replays() == [TAKES]
        assert again.compiled.state_dict() == whole.compiled.state_dict()
        ((_, entry),) = again.compiled.programs()
        assert not entry.is_exact and entry.replays == CALLS - 2


def test_it_goes_on_by_numpy(compilations):
    exact = Run([None]).train(0, CALLS)
    for stop in range(1, 7):
        begun = Run().train(0, stop)
        compilations.takes = CALLS
        again = begun.resumed(stop)
        compilations.takes = TAKES
        assert again.compiled.first_native_replays() == [None], stop
        assert losses(again) == losses(exact)


@pytest.mark.parametrize("wait", [True, [7], [1], [None]], ids=str)
def test_a_stated_turn_comes_at_the_same_call(wait):
    whole = Run(wait).train(0, CALLS)
    for stop in range(1, CALLS):
        again = Run(wait).train(0, stop).resumed(stop, wait)
        assert losses(again) == losses(whole), stop
        assert again.compiled.first_native_replays() == whole.compiled.first_native_replays()


def test_its_notes_repeat_it():
    whole = Run().train(0, CALLS)
    assert Run(whole.compiled.first_native_replays()).train(0, CALLS).seen == whole.seen


def test_captures_that_are_undone_leave_no_traces():
    random, versions = [], []
    for stop in (9, CALLS - 1):
        run = Run().train(0, stop).resumed(stop)
        random.append(tn.rand(3).tolist())
        versions.append([p._version for p in run.net.parameters()])
    assert random[0] == random[1] and versions[0] == [2 + v for v in versions[1]]


def test_calls_of_another_form_have_no_past():
    again = Run().train(0, 9)
    other = Run()
    other.compiled.load_state_dict(again.compiled.state_dict())
    x, y = batch()
    other.compiled(x[:2], y[:2])
    assert other.compiled.calls() == (0, 1, 0)
    assert len(other.compiled.state_dict()) == 2


def test_a_function_that_cannot_be_captured_any_more_runs_eagerly():
    again = Run().train(0, 9)
    step = again.step

    def changed(x, y):
        loss = step(x, y)
        return loss if loss.item() < 1e9 else None

    other = Continued(changed, [again.net, again.optimizer], backend="llvm")
    other.load_state_dict(again.compiled.state_dict())
    before = [p.tolist() for p in again.net.parameters()]
    with pytest.warns(tn.compiler.CompileWarning, match="item"):
        other(*again.data[9])
    eager = Run().train(0, 9)
    eager.step(*eager.data[9])
    assert losses_of(again.net) != before
    assert losses_of(again.net) == losses_of(eager.net)


def losses_of(net):
    return [p.tolist() for p in net.parameters()]


def losses(run):
    return [loss for loss, *_ in run.seen]


def test_what_is_past():
    assert (
        Past(1).after(1) == Past(2, 0, None, "numpy")
        and Past(2, 3, None, "numpy").after(2).replays == 5
    )
    assert Past(2, 6, 7, "llvm").is_native(0) and not Past(2, 5, 7, "llvm").is_native(1)
    assert not Past(2, 9, None, "numpy").is_native(0) and Past(2).is_native(1)
    assert not Past(1).is_native(1) and Past(2, 3, None, "numpy").is_native(4)


def test_the_plan_of_an_optimizer_outlives_what_is_undone():
    run = Run().train(0, 1)
    run.optimizer._plans.clear()  # as after load_state_dict
    before = Snapshot([run.net, run.optimizer])
    run.step(*run.data[1])
    before.restore()
    assert run.optimizer.planned() is not None
