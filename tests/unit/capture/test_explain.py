"""``compiled.explain()``: programs, what they save, guards that failed, and what runs eagerly."""

import warnings

import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn, optim
from tinynet.capture.entry import Entry
from tinynet.capture.explain import peak
from tinynet.capture.record.capturing import capture
from tinynet.capture.rerun import Rerun
from tinynet.capture.verify.schedule import Schedule
from tinynet.compiler import CompileWarning

from .interpreted import interpret


@pytest.fixture(autouse=True)
def no_fall_back():
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        yield


def test_a_training_step():
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    adam = optim.Adam(net.parameters())

    @tn.compile
    def step(x, y, scale=1.0):
        adam.zero_grad()
        loss = F.cross_entropy(net(x), y) * scale
        loss.backward()
        adam.step()
        return loss

    for count in (4, 4, 4, 4, 4, 2, 2, 2):
        step(tn.randn(count, 6), tn.randint(0, 3, (count,)), scale=2.0)
    explanation = step.explain()
    assert explanation.calls == (4, 4, 0)
    first, second = explanation.programs
    assert first.arguments == ["float32 [4, 6]", "int64 [4]", "scale=2.0"]
    assert second.arguments == ["float32 [2, 6]", "int64 [2]", "scale=2.0"]
    assert (first.replays, second.replays) == (3, 1)
    assert first.calls["forward"]["perform"] >= 2  # zero_grad, step
    text = str(explanation)
    assert text.startswith(
        "step: 2 programs; of 8 calls, 4 were replayed, 4 captured, 0 ran eagerly\n"
        "\n"
        "program 1, replayed 3 times\n"
        "  arguments      float32 [4, 6], int64 [4], scale=2.0\n"
    )
    assert "\nprogram 2, replayed 1 time\n" in text
    assert explanation._repr_html_() == f"<pre>{text}</pre>"


def test_a_module_has_a_backward_program():
    net = tn.compile(nn.Linear(2, 1))
    for _ in range(4):
        net(tn.ones(3, 2)).sum().backward()
    (program,) = net.explain().programs
    assert [*program.calls] == ["forward", "backward"]
    assert "\n  backward calls " in str(net.explain())


def test_the_guards_that_failed_are_named():
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    compiled = tn.compile(net)
    x = tn.ones(3, 2)
    for training in (True, True, True, False, False, False, False):
        net.train(training)
        compiled(x)
    net[0].weight.requires_grad_(False)
    compiled(x)
    train, evaluate = compiled.explain().programs
    frozen = {"requires_grad of a Parameter [2, 2] was True": 1}
    assert train.misses == 4 and train.failed == {"Sequential.training was True": 3, **frozen}
    assert evaluate.failed == frozen
    assert (
        "  guards failed  4 times\n"
        "                 Sequential.training was True (3)\n"
        "                 requires_grad of a Parameter [2, 2] was True (1)\n"
    ) in str(compiled.explain())


def test_what_runs_eagerly_names_its_line():
    @tn.compile
    def positive(x):
        return x if x.sum().item() > 0 else -x

    with pytest.warns(CompileWarning):
        for _ in range(6):
            positive(tn.ones(2))
    (fall_back,) = positive.explain().fall_backs
    assert fall_back.reason == "item() reads values of a tensor"
    assert fall_back.line.endswith("in positive: return x if x.sum().item() > 0 else -x")
    assert positive.explain().calls == (0, 4, 2)
    assert str(positive.explain()).splitlines()[2:] == [
        "runs eagerly",
        "  reason         item() reads values of a tensor",
        f"  line           {fall_back.line}",
        "  to fix it      return the tensor, and read it outside of the function",
    ]


def entry_of(captured, backend):
    rerun = Rerun(abs, captured, ((), {}), lambda: None)
    return Entry("function", captured, backend, Schedule(0), rerun)


def test_the_peak_of_a_chain_that_is_overwritten():
    def chain(x):
        return x.exp().tanh().sin()

    x = tn.ones(1000)
    _, captured, _ = capture(chain, [x], (x,), {})
    entry = entry_of(captured, "numpy")
    assert len(entry.run.overwritten) == 2
    assert peak(captured.program, entry.run) == (8000, 4000)


def test_the_peak_of_native_functions(monkeypatch):
    pytest.importorskip("llvmlite")
    interpret(monkeypatch)
    x, weight = tn.ones(10, 20), tn.ones(20, 30)
    for function, expected in (
        (lambda x: x.exp().tanh().sin(), (1600, 800)),  # one loop, with one result
        (lambda x: ((x @ weight) * 2).exp(), (2400, 2400)),  # and a product
    ):
        _, captured, _ = capture(function, [x], (x,), {})
        entry = entry_of(captured, "llvm")
        assert peak(captured.program, entry.run) == expected


def test_before_the_first_call_and_after_a_reset():
    compiled = tn.compile(abs)
    empty = "abs: 0 programs; of 0 calls, 0 were replayed, 0 captured, 0 ran eagerly"
    assert str(compiled.explain()) == empty
    for _ in range(3):
        compiled(tn.ones(1))
    compiled.reset()
    assert str(compiled.explain()) == empty


def test_observed_and_nested_calls():
    inner = tn.compile(lambda x: x * 2)
    outer = tn.compile(lambda x: inner(x) + 1)
    for _ in range(3):
        outer(tn.ones(1))
    with tn.autograd.checked():
        outer(tn.ones(1, requires_grad=True))
    assert outer.explain().calls == (1, 2, 1)


def test_what_follows_operations_is_named():
    """Programs omit what observers follow, so that these calls run eagerly."""
    compiled = tn.compile(lambda x: (x * 2).sum())
    x = tn.ones(3, requires_grad=True)
    for _ in range(2):
        tn.vmap(compiled)(tn.ones(2, 3))
    with tn.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        compiled(x)
    with tn.autograd.set_detect_anomaly(True):
        compiled(x)
    found = compiled.explain()
    assert found.calls == (0, 0, 4)
    assert [(f.reason.partition(",")[0], f.line) for f in found.fall_backs] == [
        ("vmap runs", "any, of 2 calls"),
        ("hooks pack saved tensors", "any, of 1 call"),
        ("an observer follows each operation", "any, of 1 call"),
    ]
    compiled.reset()
    assert not compiled.explain().fall_backs


def test_what_became_native(monkeypatch):
    pytest.importorskip("llvmlite")
    interpret(monkeypatch)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    adam = optim.Adam(net.parameters())

    def step(x, y):
        adam.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        return loss, x.median()

    step = tn.compile(step, backend="llvm")
    for _ in range(4):
        step(tn.ones(4, 6), tn.tensor([0, 1, 2, 0]))
    (program,) = step.explain().programs
    assert program.native == ["12 calls from addmm to of_bias, and the step of Adam"]
    assert program.others == {"median": 1}
    assert "\n  native         12 calls from addmm" in str(step.explain())
    assert "\n  others         1 call (median 1)\n" in str(step.explain())
