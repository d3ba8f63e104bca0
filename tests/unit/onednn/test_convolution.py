"""Convolutions by oneDNN: against float64, with any geometry, on any number of threads."""

import os
import threading

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import assert_near
from tinynet import backends, nn
from tinynet.kernels import onednn
from tinynet.nn import functional as F
from tinynet.nn.functional.geometry import Geometry

if not onednn.is_available():
    pytest.skip("needs onednn-cpu-gomp", allow_module_level=True)
pytest.importorskip("llvmlite")  # the switch of the kernels is LLVM's

# input, weight, stride, padding, dilation, groups
SHAPES = [
    ((2, 3, 9), (4, 3, 3), 1, 1, 1, 1),
    ((5, 4, 12, 10), (6, 4, 3, 2), 2, 1, 1, 1),
    ((3, 6, 11, 8), (4, 3, 3, 3), 1, 2, 2, 2),
    ((4, 8, 7, 7), (8, 1, 3, 3), 3, 0, 1, 8),
    ((2, 2, 5, 6, 4), (3, 2, 2, 3, 1), 1, 1, 1, 1),
    ((8, 16, 24, 24), (32, 16, 3, 3), 1, 1, 1, 1),  # parts of the batch, on several threads
    ((7, 16, 24, 24), (32, 16, 3, 3), 1, 1, 1, 1),  # one of them is shorter
]


@pytest.fixture
def kernels(monkeypatch):
    """Enabled, as in compiled steps of the LLVM backend; counts the calls of oneDNN."""
    monkeypatch.setattr(backends.llvm, "enabled", True)
    calls = []
    for name in ("convolved", "spread", "correlated"):
        function = getattr(onednn.convolution, name)
        monkeypatch.setattr(
            onednn.convolution,
            name,
            lambda *args, name=name, function=function: calls.append(name) or function(*args),
        )
    yield calls
    backends.llvm.enabled = False


def gradients(arrays, options, transposed=False):
    """The result, and the gradients of its product with fixed numbers, in the dtype of arrays."""
    function = getattr(F, f"conv{'_transpose' * transposed}{arrays[0].ndim - 2}d")
    tensors = [tn.from_numpy(a.copy()).requires_grad_() for a in arrays]
    y = function(*tensors, **options)
    weights = np.random.default_rng(1).standard_normal(y.shape).astype(arrays[0].dtype)
    y.backward(tn.from_numpy(weights))
    return [y.detach().numpy(), *(t.grad.numpy() for t in tensors)]


def inputs(x, weight, channels):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(s).astype("f4") for s in (x, weight, (channels,))]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients(kernels, shape, transposed):
    x, weight, stride, padding, dilation, groups = shape
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    if transposed:
        x = (x[0], weight[0], *x[2:])
    arrays = inputs(x, weight, weight[1] * groups if transposed else weight[0])
    found = gradients(arrays, options, transposed)
    assert {*kernels} == {"convolved", "spread", "correlated"}
    exact = gradients([a.astype("f8") for a in arrays], options, transposed)
    terms = max(np.prod(weight), np.prod(found[0].shape))
    for a, b in zip(found, exact, strict=True):
        assert_near(a, b, terms)


@pytest.mark.parametrize("shape", SHAPES[-2:], ids=str)
def test_threads_change_nothing(kernels, shape):
    x, weight, stride, padding, dilation, groups = shape
    arrays, before, found = inputs(x, weight, weight[0]), tn.get_num_threads(), []
    for count in (1, 2, 3):
        tn.set_num_threads(count)
        found.append(gradients(arrays, {"padding": padding}))
    tn.set_num_threads(before)
    for first, *others in zip(*found, strict=True):
        for other in others:
            np.testing.assert_array_equal(other, first)


def test_the_same_convolution_in_several_threads_at_a_time(kernels):
    weight, layers = tn.randn(8, 4, 3, 3), [tn.randn(1, 4, 9, 9) for _ in range(4)]
    exact, found = [F.conv2d(x, weight) for x in layers], {}

    def work(number):
        found[number] = [F.conv2d(layers[number], weight) for _ in range(50)]

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for number, y in enumerate(exact):
        assert len(found[number]) == 50 and all(tn.equal(one, y) for one in found[number])


def test_arrays_that_may_not_be_written(kernels):
    x, weight = np.ones((2, 3, 5, 5), "f4"), np.ones((4, 3, 3, 3), "f4")
    x.flags.writeable = weight.flags.writeable = False
    y = onednn.convolution.convolved(
        x, weight, None, Geometry((3, 3), (1, 1), (0, 0), (1, 1), (3, 3)), 1
    )
    np.testing.assert_array_equal(y, np.full((2, 4, 3, 3), 27, "f4"))


def test_a_failure_of_a_part_is_an_error(kernels, monkeypatch):
    def fail(places, steps, streams, failed, work):
        failed[-1] = 5

    monkeypatch.setattr(onednn.parts, "run", fail)
    with pytest.raises(RuntimeError, match="oneDNN: a convolution failed with status 5"):
        F.conv2d(tn.ones(8, 16, 24, 24), tn.ones(32, 16, 3, 3))


@pytest.mark.parametrize("dtype, batch", [(tn.float64, 3), (tn.float32, 0)])
def test_what_it_does_not_take_runs_by_numpy(kernels, dtype, batch):
    layer = nn.Conv2d(2, 3, 3, padding=1).to(dtype)
    assert layer(tn.ones(batch, 2, 5, 5, dtype=dtype)).shape == (batch, 3, 5, 5)
    assert not kernels


def test_infinity_and_nan(kernels):
    x = np.ones((1, 1, 6, 6), "f4")
    x[0, 0, 0, 0], x[0, 0, 5, 5] = np.inf, np.nan
    y = F.conv2d(tn.from_numpy(x), tn.ones(1, 1, 2, 2)).numpy()[0, 0]
    assert np.isinf(y[0, 0]) and np.isnan(y[4, 4]) and y[2, 2] == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_convolves(kernels):
    x, weight = tn.randn(8, 16, 24, 24), tn.randn(32, 16, 3, 3)
    exact = F.conv2d(x, weight)
    pid = os.fork()
    if not pid:
        os._exit(0 if tn.equal(F.conv2d(x, weight), exact) else 1)
    assert os.waitpid(pid, 0)[1] == 0
