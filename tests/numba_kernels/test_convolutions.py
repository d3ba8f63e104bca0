"""Convolutions in streams: the same as those of numpy, on any number of threads."""

import math

import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_alike, assert_gradients_alike, gradients
from tests.rounding import STEPS, assert_near
from tinynet.nn import functional as F
from tinynet.nn.functional.convolution import convolution_compiled as calls
from tinynet.nn.functional.convolution.im2col import Walk
from tinynet.numba_kernels import stream_convolutions, streams
from tinynet.numba_kernels.compiler import plain as python

# batch, channels, out channels, size, kernel, options
DIRECT = [
    (1, 1, 1, (1, 1), (3, 3), {"padding": 1}),
    (2, 1, 6, (28, 28), (5, 5), {"padding": 2}),
    (5, 6, 16, (14, 14), (5, 5), {}),
    (3, 3, 9, (9, 7), (3, 3), {"padding": 1}),
    (9, 5, 7, (11, 13), (3, 3), {"stride": 2, "padding": 1}),
    (3, 8, 5, (11, 13), (1, 1), {"stride": 2}),
    (2, 3, 9, (15, 12), (4, 2), {"stride": (3, 4), "padding": (2, 0), "dilation": (1, 3)}),
    (2, 4, 5, (6, 40), (1, 3), {"dilation": 2, "padding": 9}),
    (1, 2, 3, (5, 5), (5, 5), {}),
]
WINOGRAD = [
    (4, 32, 33, (32, 32), (3, 3), {"padding": 1}),
    (9, 40, 32, (7, 9), (3, 3), {"padding": (2, 1)}),
    (17, 32, 64, (8, 8), (3, 5), {"padding": 1}),
    (8, 33, 32, (10, 5), (3, 1), {}),
]


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def arrays(batch, channels, outputs, size, kernel):
    return numbers(batch, channels, *size), numbers(outputs, channels, *kernel), numbers(outputs)


@pytest.mark.parametrize("batch, channels, outputs, size, kernel, options", DIRECT)
def test_direct(compiled, batch, channels, outputs, size, kernel, options):
    given = arrays(batch, channels, outputs, size, kernel)
    terms = max(channels, outputs) * math.prod(kernel), batch * math.prod(size)
    assert_gradients_alike(lambda *a: F.conv2d(*a, **options), *given, terms=max(terms))


@pytest.mark.parametrize("batch, channels, outputs, size, kernel, options", WINOGRAD)
def test_winograd(compiled, batch, channels, outputs, size, kernel, options):
    given = arrays(batch, channels, outputs, size, kernel)
    terms = max(channels, outputs) * math.prod(kernel), batch * math.prod(size)
    assert_gradients_alike(lambda *a: F.conv2d(*a, **options), *given, terms=max(terms))


@pytest.mark.parametrize("stride, padding, more", [(1, 0, 0), (2, 1, 1), (3, (0, 2), 2)])
def test_transposed(compiled, stride, padding, more):
    x, weight, bias = numbers(3, 5, 6, 7), numbers(5, 4, 3, 3), numbers(4)
    options = {"stride": stride, "padding": padding, "output_padding": more}
    assert_gradients_alike(lambda *a: F.conv_transpose2d(*a, **options), x, weight, bias,
                           terms=3 * 8 * 9 * 9)  # fmt: skip


def test_an_array_with_gaps(compiled):
    x, weight, bias = numbers(13, 14, 5, 3), numbers(3, 3, 5, 6), numbers(6)

    def turned(x, weight, bias):
        return F.conv2d(x.permute(3, 2, 0, 1)[..., ::2], weight.permute(3, 2, 0, 1), bias)

    assert_gradients_alike(turned, x, weight, bias, terms=13 * 5 * 7)


def test_an_empty_batch(compiled):
    x, weight, bias = numbers(0, 3, 8, 8), numbers(4, 3, 3, 3), numbers(4)
    assert_gradients_alike(F.conv2d, x, weight, bias)


def test_infinity_and_nan_stay_where_they_are_seen(compiled):
    x = numbers(2, 3, 12, 12)
    x[0, 1, 3, 4], x[1, 2, 8, 8] = np.inf, np.nan
    given = numbers(4, 3, 3, 3), numbers(4)
    for options in ({}, {"stride": 2}, {"padding": 1}):

        def run(*arrays, options=options):
            return {"": F.conv2d(*map(tn.from_numpy, arrays), **options).numpy()}

        assert_alike(run, x, *given, terms=3 * 9)


def test_gradients_of_weights_with_infinity(compiled):
    x = numbers(2, 3, 12, 12)
    x[0, 1, 0, 11] = np.inf  # a corner: seen by one element of the kernel

    def run(x, weight):
        weight = tn.from_numpy(weight).requires_grad_()
        F.conv2d(tn.from_numpy(x), weight, padding=1).sum().backward()
        return {"": weight.grad.numpy()}

    assert_alike(run, x, numbers(4, 3, 3, 3), terms=2 * 12 * 12)


@pytest.mark.parametrize("case", [DIRECT[1], DIRECT[4], WINOGRAD[0], WINOGRAD[2]])
def test_threads_change_no_bit(compiled, case):
    batch, *rest, options = case
    given = arrays(32, *rest)
    found = []
    before = tn.get_num_threads()
    for count in (1, 2):
        tn.set_num_threads(count)
        found.append(gradients(lambda *a: F.conv2d(*a, **options), *given))
    tn.set_num_threads(before)
    for name, expected in found[0].items():
        np.testing.assert_array_equal(found[1][name], expected, err_msg=name)


def test_second_derivatives(compiled):
    def run(*arrays):
        x, w = (tn.from_numpy(a).requires_grad_() for a in arrays)
        first = tn.autograd.grad(
            F.conv2d(x, w, padding=1).square().sum(), [x, w], create_graph=True
        )
        second = tn.autograd.grad(sum(g.square().sum() for g in first), [x, w])
        return {str(i): g.numpy() for i, g in enumerate(second)}

    assert_alike(run, numbers(2, 3, 7, 7), numbers(4, 3, 3, 3), terms=2 * 2 * 7 * 7)


@pytest.mark.parametrize(
    "kernel, stride, by_tiles",
    [(3, 1, True), (3, 1, False), (3, 2, False), (3, 3, False), (15, 1, False)],
)
def test_the_same_without_numba(compiled, monkeypatch, kernel, stride, by_tiles):
    """Also: nothing is read from behind the end of a stream, which fails without numba."""
    x, weight, bias = numbers(3, 2, 7, 6), numbers(3, 2, kernel, kernel), numbers(3)
    padding = kernel // 2
    out = tuple((n + 2 * padding - kernel) // stride + 1 for n in (7, 6))
    walk = Walk((kernel,) * 2, (stride,) * 2, (padding,) * 2, (1, 1), out)
    y = numbers(3, 3, *out)
    backward = calls.winograd_weights if by_tiles else calls.direct_weights

    def run():
        return calls.convolved(x, weight, bias, walk, by_tiles), backward(x, y, walk)

    expected = run()
    for module in (stream_convolutions, streams):
        for name, value in vars(module).items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, python(value))
    for plain, found in zip(run(), expected, strict=True):
        assert_near(plain, found.astype(float), 2 * (3 * 15 * 15 + STEPS))
