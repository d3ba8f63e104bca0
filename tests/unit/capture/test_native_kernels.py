"""Steps of the LLVM backend run the kernels of eager code, in their own thread only."""

import threading

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, assert_near
from tinynet import nn, optim
from tinynet.kernels import native as native_kernels
from tinynet.kernels.native import gates, tables
from tinynet.nn import functional as F

pytest.importorskip("llvmlite")

LENGTH, BATCH, SIZE, WORDS = 5, 4, 8, 40
NETS = {
    "lstm": lambda: nn.LSTM(SIZE, SIZE),
    "gru": lambda: nn.GRU(SIZE, SIZE),
    "dense": lambda: nn.Embedding(WORDS, SIZE),
    "rows": lambda: nn.Embedding(WORDS * LENGTH * BATCH, SIZE, max_norm=1.0),
}
KERNELS = {
    "lstm": (gates, "lstm_forward", "lstm_backward"),
    "gru": (gates, "gru_forward", "gru_backward"),
    "dense": (tables, "add_rows"),
    "rows": (tables, "shorten", "unite", "descend"),
}


def trained(name, dtype, compiler=lambda step: step):
    """Weights and gradients after four steps; the last ones replay a program."""
    tn.manual_seed(0)
    net = NETS[name]().to(tn.float32).to(dtype)
    optimizer = optim.SGD(net.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        found = net(x)
        loss = (found[0] if isinstance(found, tuple) else found).square().sum()
        loss.backward()
        optimizer.step()

    step = compiler(step)
    rng = np.random.default_rng(0)
    for _ in range(4):
        if name in ("lstm", "gru"):
            x = tn.from_numpy(rng.standard_normal((LENGTH, BATCH, SIZE)).astype("f4")).to(dtype)
        else:
            x = tn.from_numpy(rng.integers(0, WORDS, (LENGTH, BATCH)))
        step(x)
    parameters = net.named_parameters()
    return {n: (p.detach().numpy(), p.grad.numpy()) for n, p in parameters}


def by_llvm(step):
    return tn.compile(step, backend="llvm", fullgraph=True)


@pytest.mark.parametrize("name", NETS)
def test_steps_are_those_of_float64(name):
    exact, found = trained(name, tn.float64), trained(name, tn.float32, by_llvm)
    roundings = 4 * LENGTH * (BATCH + 2 * SIZE + STEPS)
    for key, pair in exact.items():
        for expected, array in zip(pair, found[key], strict=True):
            assert_near(array, expected, roundings, name=key)


@pytest.mark.parametrize("name", NETS)
def test_steps_run_the_kernels_in_their_thread(name, monkeypatch):
    tn.compile(tn.relu, backend="llvm")(tn.ones(1))
    native_kernels.compiler.prepare()
    module, *kernels = KERNELS[name]
    seen = []

    def watched(kernel):
        def run(*args):
            other = threading.Thread(target=lambda: seen.append((kernel, takes())))
            other.start()
            other.join()
            return function(*args)

        function = getattr(module, kernel)
        return run

    def takes():
        return native_kernels.takes(np.ones(1, "f4"))

    for kernel in kernels:
        monkeypatch.setattr(module, kernel, watched(kernel))
    trained(name, tn.float32, by_llvm)
    assert {*seen} == {(kernel, False) for kernel in kernels}
    assert not takes()


@pytest.mark.parametrize("name", NETS)
def test_steps_are_the_same_for_any_number_of_threads(name):
    before, found = tn.get_num_threads(), []
    for count in (1, 2):
        tn.set_num_threads(count)
        pairs = trained(name, tn.float32, by_llvm).values()
        found.append([array.tobytes() for pair in pairs for array in pair])
    tn.set_num_threads(before)
    assert found[0] == found[1]


def test_an_error_leaves_the_kernels_off():
    weight = tn.ones(4, 2)
    look_up = tn.compile(lambda x: F.embedding(x, weight, max_norm=1.0), backend="llvm")
    for _ in range(3):
        look_up(tn.tensor([0, 3]))
    with pytest.raises(IndexError, match="The table has 4 rows. Got index 4 instead."):
        look_up(tn.tensor([0, 4]))
    assert not native_kernels.thread.on
