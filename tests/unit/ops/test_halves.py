"""float16 and bfloat16 compute in float32 and round once: nothing overflows between."""

import copy
import math

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn

F = nn.functional
HALVES = [tn.float16, tn.bfloat16]
LARGE, SMALL = 300.0, 1e-3  # their squares are out of the range of float16
PLACES = tn.zeros(4, 64, dtype=tn.int64)

CASES = {
    "mean": lambda x: x.mean(1),
    "var": lambda x: x.var(1),
    "std": lambda x: x.std(1),
    "norm": lambda x: x.norm(2, 1),
    "1-norm": lambda x: x.norm(1, 1),
    "3-norm": lambda x: x.norm(3, 1),
    "normalize": lambda x: F.normalize(x, dim=1),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x.flip(1)),
    "pairwise_distance": lambda x: F.pairwise_distance(x, x.flip(1)),
    "dist": lambda x: tn.dist(x[0], x[1]),
    "renorm": lambda x: tn.renorm(x, 2, 0, 5.0),
    "layer_norm": lambda x: F.layer_norm(x, (64,)),
    "rms_norm": lambda x: F.rms_norm(x, (64,)),
    "group_norm": lambda x: F.group_norm(x.view(2, 8, 16), 2),
    "avg_pool1d": lambda x: F.avg_pool1d(x[None], 32),
    "avg_pool2d": lambda x: F.avg_pool2d(x.view(1, 4, 8, 8), 4, 2, 1),
    "avg_pool3d": lambda x: F.avg_pool3d(x.view(1, 4, 4, 4, 4), 4),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x.view(1, 4, 8, 8), 3),
    "interpolate": lambda x: F.interpolate(x.view(1, 4, 8, 8), size=5, mode="bicubic"),
    "scatter mean": lambda x: (x[:, :3] * 0).scatter_reduce(1, PLACES, x, "mean"),
    "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, x.flip(1), beta=1e3),
    "huber_loss": lambda x: F.huber_loss(x, x.flip(1), delta=1e3),
    "triplet_margin_loss": lambda x: F.triplet_margin_loss(
        x, x.flip(1), x.flip(0), reduction="none"
    ),
    "silu": F.silu,
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
    "mish": F.mish,
}


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.binary_cross_entropy_with_logits])
@pytest.mark.parametrize("dtype", HALVES)
def test_losses_of_one_number(loss, dtype):
    """Kernels that call kernels pass on numpy's scalars."""
    x = tn.tensor(0.5, dtype=dtype, requires_grad=True)
    result = loss(x, tn.tensor(0.25, dtype=dtype))
    result.backward()
    assert result.dtype is x.grad.dtype is dtype
    expected = loss(x.detach().double(), tn.tensor(0.25).double()).item()
    assert result.item() == pytest.approx(expected, rel=tn.finfo(dtype).eps)


def inputs(dtype, size):
    rng = np.random.default_rng(0)
    values = rng.uniform(0.5, 1.5, (4, 64)) * rng.choice([-1, 1], (4, 64)) * size
    return tn.tensor(values).to(dtype)


def with_gradient(function, x):
    x = x.detach().requires_grad_()
    result = function(x)
    result.backward(tn.ones_like(result))
    return result.detach(), x.grad


def assert_rounded(found, exact, dtype):
    """Check that results are float32's, rounded a few times, wherever these are in the range."""
    info = tn.finfo(dtype)
    found, exact = found.double().numpy(), exact.double().numpy()
    inside = np.abs(exact) < info.max
    scale = np.abs(exact[inside]) + np.abs(exact[inside]).mean() if inside.any() else 0
    near = 4 * info.eps * scale + info.tiny
    assert (np.abs(found[inside] - exact[inside]) <= near).all()


@pytest.mark.parametrize("size", [10 * LARGE, LARGE, SMALL])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_as_in_float32(name, dtype, size):
    x = inputs(dtype, size)
    exact = with_gradient(CASES[name], x.float())
    for found, wide in zip(with_gradient(CASES[name], x), exact, strict=True):
        assert found.dtype == dtype
        assert_rounded(found, wide, dtype)


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("name", ["norm", "gelu", "avg_pool2d", "cosine_similarity", "huber_loss"])
def test_compiled(name, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    x = inputs(tn.float16, LARGE)
    step = tn.compile(lambda x: with_gradient(CASES[name], x), backend=backend)
    for _ in range(4):
        for found, eager in zip(step(x), with_gradient(CASES[name], x), strict=True):
            assert tn.equal(found, eager)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_norms_of_gradients(p):
    parameters = [nn.Parameter(tn.zeros(2, dtype=tn.float16)) for _ in range(2)]
    parameters[0].grad = tn.tensor([300.0, 400.0], dtype=tn.float16)
    parameters[1].grad = tn.zeros(2, dtype=tn.float16)
    exact = parameters[0].grad.float().norm(p).item()
    grads = [copy.deepcopy(q.grad) for q in parameters]
    assert nn.utils.get_total_norm(grads, p).item() == near(exact, 2, dtype=np.float16)
    total = nn.utils.clip_grad_norm_(parameters, 1.0, p)
    assert total.dtype == tn.float16 and total.item() == near(exact, 2, dtype=np.float16)
    clipped = [300 / exact, 400 / exact]
    assert parameters[0].grad.tolist() == near(clipped, 4, dtype=np.float16)


def test_neighbours_of_bfloat16_are_its_own():
    x = tn.tensor([1.0, 2.5, -1.0]).bfloat16()
    assert (tn.nextafter(x, x * 2) - x).tolist() == [2**-7, 2**-6, -(2**-7)]


@pytest.mark.parametrize("dtype", [*HALVES, tn.float32])
def test_places_of_infinities_and_nan(dtype):
    """numpy's search loses its way after NaN in bfloat16."""
    edges = tn.tensor([1.0, 2.0]).to(dtype)
    values = tn.tensor([1.5, -math.inf, math.nan, math.inf, -0.0, 2.5]).to(dtype)
    assert tn.searchsorted(edges, values).tolist() == [1, 0, 2, 2, 0, 2]
    assert tn.bucketize(values, edges).tolist() == [1, 0, 2, 2, 0, 2]


@pytest.mark.parametrize("dtype", HALVES)
def test_segments_and_matrix_norms(dtype):
    x = tn.arange(1.0, 7.0).to(dtype)
    lengths = tn.tensor([2, 1, 3])
    found = {r: tn.segment_reduce(x, r, lengths=lengths).tolist() for r in ("sum", "max", "min")}
    assert found == {"sum": [3.0, 3.0, 15.0], "max": [2.0, 3.0, 6.0], "min": [1.0, 3.0, 4.0]}
    norms = [tn.linalg.matrix_norm(x.view(2, 3), order).item() for order in (1, -1, math.inf)]
    assert norms == [9.0, 5.0, 15.0]
    with pytest.raises(RuntimeError, match="Low precision dtypes not supported"):
        tn.linalg.matrix_norm(x.view(2, 3), 2)
