"""GELU in float32: its accuracy, and that blocks and layouts change nothing."""

import math

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, assert_near, near
from tinynet.nn import functional as F
from tinynet.nn.functional.gelu_ops import _BLOCK, gelu
from tinynet.ops.pointwise.error_function import erf_of

LARGE = np.logspace(-30, 30, 2001)
X = np.concatenate([np.linspace(-12, 12, 200_001), LARGE, -LARGE]).astype(np.float32)


def exact(x):
    """The distribution function and the density, in float64."""
    x = x.astype(np.float64)
    square = np.minimum(x * x, 1e4)
    return (1 + erf_of(x, math.sqrt(0.5))) / 2, np.exp(-square / 2) / math.sqrt(2 * math.pi)


def test_accuracy():
    below, density = exact(X)
    output, found = gelu.kernel(X)
    assert_near(found, below)
    assert_near(output, X * below, scale=np.abs(X))
    x = tn.tensor(X, requires_grad=True)
    F.gelu(x).backward(tn.ones(len(X)))
    assert_near(x.grad.numpy(), below + X * density)


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_no_gradient_is_subnormal(backend):
    """A product with such numbers takes ten times as long, and so do the passes after it."""
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    step = tn.compile(lambda x: tn.autograd.grad(F.gelu(x).sum(), x)[0], backend=backend)
    x = tn.linspace(-40, 40, 100_001).requires_grad_()
    for _ in range(3):  # the last by the program
        size = step(x).abs()
        assert not ((size > 0) & (size < np.finfo(np.float32).tiny)).any()


def test_special_values():
    """As PyTorch 2.13 for several numbers of float32: infinity times 1 minus 1 is NaN."""
    x = tn.tensor([0.0, -0.0, np.inf, np.nan, 3e38, -3e38])
    np.testing.assert_array_equal(F.gelu(x).numpy(), np.float32([0, -0.0, np.nan, np.nan, 3e38, 0]))


@pytest.mark.parametrize("count", [0, 1, _BLOCK - 1, _BLOCK, _BLOCK + 1])
def test_blocks(count):
    x = tn.linspace(-3, 3, max(count, 1))[:count].requires_grad_()
    F.gelu(x).backward(tn.ones(count))
    for i in {0, count // 2, count - 1} if count else ():
        one = x.detach()[i : i + 1].requires_grad_()
        F.gelu(one).backward(tn.ones(1))
        assert F.gelu(x)[i].item() == near(F.gelu(one).item(), 2 * STEPS)
        assert x.grad[i].item() == near(one.grad.item(), 2 * STEPS)


def test_layouts():
    x = tn.randn(6, 8, generator=tn.Generator().manual_seed(0))
    for view in (x.T, x[::2, 1::3], x[0].expand(3, 8), x[0, 0]):
        leaf = view.detach().clone().requires_grad_()
        g = tn.tensor(1.0).expand(view.shape)
        out = F.gelu(leaf)
        out.backward(g)
        found = F.gelu(view)
        assert found.tolist() == out.tolist()
        below, density = exact(view.numpy())
        assert_near(leaf.grad.numpy(), below + view.numpy() * density)


def test_tanh_accuracy():
    """The gradient subtracts the square of tanh from 1, as in PyTorch."""
    x = tn.tensor(X, requires_grad=True)
    F.gelu(x, approximate="tanh").sum().backward()
    wide = tn.tensor(X.astype(np.float64), requires_grad=True)
    output = F.gelu(wide, approximate="tanh")
    output.sum().backward()
    found = F.gelu(x, approximate="tanh").detach().numpy()
    assert_near(found, output.detach().numpy(), scale=np.abs(X))
    assert_near(x.grad.numpy(), wide.grad.numpy(), scale=1 + np.minimum(np.abs(X), 6) ** 3 / 8)
