"""``tn.compile``: results to the bit, and guards that notice every change."""

import copy
import dataclasses
import gc
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn, optim
from tinynet.compiler import CompileError, CompileWarning


def make(optimizer=optim.SGD, dropout=0.0, **options):
    """A net, its optimizer, and its training step."""
    tn.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(dropout), nn.Linear(8, 3))
    updating = optimizer(net.parameters(), **options or {"lr": 0.1})

    def step(x, y):
        updating.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        updating.step()
        return loss

    return net, updating, step


def batch(size=4):
    return tn.randn(size, 6), tn.randint(0, 3, (size,))


def equal(net, other):
    for (name, p), q in zip(net.state_dict().items(), other.state_dict().values(), strict=True):
        assert np.array_equal(p.numpy(), q.numpy()), name
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert p._version == q._version
        assert np.array_equal(p.grad.numpy(), q.grad.numpy())


@pytest.fixture(autouse=True)
def no_fall_back():
    """A warning that a function runs eagerly is an error, unless a test expects it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        yield


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [(optim.SGD, {"lr": 0.1, "momentum": 0.9}), (optim.AdamW, {"lr": 0.01})],
)
def test_a_training_step_is_the_same_to_the_bit(optimizer, options):
    net, _, step = make(optimizer, **options)
    other, _, eager = make(optimizer, **options)
    compiled = tn.compile(step)
    for i in range(8):
        x, y = batch(3 if i == 6 else 4)
        assert compiled(x, y).item() == eager(x, y).item()
        equal(net, other)
    assert [len(entries) for entries in compiled._entries.values()] == [1]


def test_dropout_draws_from_the_same_stream():
    net, _, step = make(dropout=0.5)
    other, _, eager = make(dropout=0.5)
    compiled = tn.compile(step)
    for _ in range(5):
        x, y = batch()
        state = tn.get_rng_state()
        loss = compiled(x, y)
        after = tn.get_rng_state()
        tn.set_rng_state(state)
        assert eager(x, y).item() == loss.item()
        assert (tn.get_rng_state() == after).all()
    equal(net, other)


def test_a_module_trains_and_infers():
    first = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.BatchNorm1d(8), nn.Linear(8, 3))
    net, other = copy.deepcopy(first), copy.deepcopy(first)
    compiled = tn.compile(net)
    for i in range(9):
        for one in (net, other):
            one.train(i not in (4, 5))
        x = tn.randn(4, 6, requires_grad=True)
        twin = x.detach().clone().requires_grad_()
        compiled(x).square().sum().backward()
        other(twin).square().sum().backward()
        assert np.array_equal(x.grad.numpy(), twin.grad.numpy())
        equal(net, other)
    with tn.no_grad():
        for _ in range(3):
            assert np.array_equal(compiled(x).numpy(), other(x).numpy())


def test_reading_a_value_runs_eagerly_and_says_where():
    def f(x):
        return x * 2 if x.sum().item() > 0 else x * 3

    compiled = tn.compile(f)
    with pytest.warns(CompileWarning, match=r"item\(\) reads values of a tensor.*\n.*x.sum"):
        for _ in range(6):
            assert compiled(tn.ones(2)).tolist() == [2, 2]
    assert compiled(-tn.ones(2)).tolist() == [-3, -3]
    with pytest.raises(CompileError, match="reads values"):
        tn.compile(f, fullgraph=True)(tn.ones(2))


def test_python_state_that_changes_is_found():
    counts = {"calls": 0}

    @tn.compile
    def f(x):
        counts["calls"] += 1
        return x * counts["calls"]

    with pytest.warns(CompileWarning, match="changes a dict from outside"):
        assert [f(tn.ones(1)).item() for _ in range(6)] == [1, 2, 3, 4, 5, 6]


def test_threads_of_kernels_do_not_hide_what_changes():
    """They run no code of users, whose threads may change what is read."""
    script = """
import tinynet as tn
tn.set_num_threads(3)
x = tn.rand(32, 32, 16, 16)
tn.nn.functional.conv2d(x, tn.rand(32, 32, 3, 3), padding=1)
tn.set_num_threads(1)
counts = {"calls": 0}

@tn.compile
def f(x):
    counts["calls"] += 1
    return x * counts["calls"]

for _ in range(4):
    f(tn.ones(1))
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "changes a dict from outside" in done.stderr


def test_a_global_number_is_a_guard():
    scale = 1.0

    @tn.compile
    def f(x):
        return x * scale

    results = []
    for scale in (1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0):  # noqa: B007
        results.append(f(tn.ones(1)).item())
    assert results == [1, 1, 1, 2, 2, 2, 1]


def test_a_target_that_is_ignored_in_a_replay_only():
    logits = tn.randn(4, 3, requires_grad=True)

    def slope(target):
        logits.grad = None
        F.cross_entropy(logits, target).backward()

    @tn.compile
    def compiled(logits, target):
        return F.cross_entropy(logits, target)

    for last in (0, 1, 2, -100, 1):
        target = tn.tensor([0, 1, 2, last])
        logits.grad = None
        compiled(logits, target).backward()
        found = logits.grad
        slope(target)
        assert np.array_equal(found.numpy(), logits.grad.numpy())
    with pytest.raises(IndexError, match="Target 3 is out of bounds"):
        compiled(logits, tn.tensor([0, 1, 2, 3]))


def test_code_without_a_file_is_watched():
    """As that of ``python -c``; generated code, as of dataclasses, has the same file name."""
    names = {"calls": 0}
    exec("def f(x):\n    global calls\n    calls += 1\n    return x * 2", names)
    compiled = tn.compile(names["f"])
    with pytest.warns(CompileWarning, match="sets the global variable 'calls'"):
        for _ in range(5):
            compiled(tn.ones(1))
    assert names["calls"] == 5


def test_a_dataclass_is_made_and_compared_in_a_program():
    @dataclasses.dataclass
    class Pair:
        first: tn.Tensor
        second: int

    @tn.compile
    def f(x):
        pair = Pair(x * 2, 3)
        return pair.first * pair.second if pair == pair else x

    assert [f(tn.ones(1)).item() for _ in range(4)] == [6] * 4


def test_gradients_accumulate_in_those_from_before():
    nets = []
    for wrap in (tn.compile, lambda f: f):
        net, updating, _ = make()

        @wrap
        def add(x, y, net=net):
            F.cross_entropy(net(x), y).backward()

        for _ in range(5):
            updating.zero_grad()
            for _ in range(3):
                add(*batch())
            updating.step()
        nets.append(net)
    equal(*nets)


def test_uninitialized_parameters_are_no_matter():
    lazy = nn.LazyLinear(3)
    compiled = tn.compile(lambda x: x * 2)
    for _ in range(3):
        assert compiled(tn.ones(2)).tolist() == [2, 2]
    assert lazy.has_uninitialized_params()


@pytest.mark.parametrize("optimizer", [optim.SGD, optim.AdamW])
def test_the_peak_of_memory_is_at_most_that_of_eager_code(optimizer):
    """The arrays of a step, and some Python objects, while it is not verified."""
    peaks = []
    for compile in (tn.compile(verify=0), lambda f: f):
        net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh())
        made = optimizer(net.parameters(), lr=0.01)

        @compile
        def step(x, net=net, made=made):
            made.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            made.step()
            return loss

        x = tn.randn(128, 64)
        for _ in range(4):
            step(x)
        gc.collect()
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        step(x), step(x)
        peaks.append(tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.stop()
    compiled, eager = peaks
    assert 100_000 < compiled < eager + 2_000


def test_a_program_keeps_nothing_of_its_capture_alive():
    compiled = tn.compile(lambda x: (x * 2).exp())
    tracemalloc.start()
    try:
        for _ in range(4):
            compiled(tn.ones(1_000_000))
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert compiled._entries
    assert kept < 4_000_000


def test_a_capture_needs_no_more_memory_than_the_call():
    def chain(x):
        for _ in range(20):
            x = x.sin()
        return x

    compiled, x = tn.compile(chain), tn.ones(250_000)
    tracemalloc.start()
    try:
        compiled(x), compiled(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert compiled.calls().captured == 2 and peak < 5_000_000  # 20 arrays take 20 MB
