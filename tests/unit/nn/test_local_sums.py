"""Sums over few elements: a NaN or an infinity reaches only the results in which it has weight."""

import math

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, assert_near
from tinynet import nn

F = nn.functional
RNG = np.random.default_rng(0)
SIZES = (7, 6, 5)
CASES = {}


def case(name, shape, function):
    CASES[name] = shape, function


for _rank, _modes in {
    1: ("nearest", "nearest-exact", "area", "linear"),
    2: ("nearest", "nearest-exact", "area", "bilinear", "bicubic"),
    3: ("nearest", "area", "trilinear"),
}.items():
    for _mode in _modes:
        for _size in (3, 11, 14):
            options = {"size": _size, "mode": _mode}
            shape = (2, 1, *SIZES[:_rank])
            case(f"{_mode} to {_size}, {_rank}d", shape, lambda x, o=options: F.interpolate(x, **o))
            if "linear" in _mode or _mode == "bicubic":
                options = {**options, "align_corners": True}
                name = f"{_mode} to {_size}, corners"
                case(name, shape, lambda x, o=options: F.interpolate(x, **o))
for _mode in ("bilinear", "bicubic", "lanczos"):
    for _size in (3, 11):
        options = {"size": _size, "mode": _mode, "antialias": True}
        case(
            f"{_mode} to {_size}, smooth", (1, 1, 7, 6), lambda x, o=options: F.interpolate(x, **o)
        )
case(
    "bilinear, tap by tap",
    (1, 1, 4, 100),
    lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"),
)
for _rank in (1, 2, 3):
    adaptive, average = (getattr(F, f"{kind}_pool{_rank}d") for kind in ("adaptive_avg", "avg"))
    case(f"adaptive average, {_rank}d", (2, 1, *SIZES[:_rank]), lambda x, f=adaptive: f(x, 3))
    case(f"average, {_rank}d", (2, 1, *SIZES[:_rank]), lambda x, f=average: f(x, 3, 2, 1))
case("unfold", (1, 1, 6, 7), lambda x: F.unfold(x, 3, padding=1))
case("fold", (1, 4, 9), lambda x: F.fold(x, (4, 4), 2))


for _name, _shape, _kernel, _function in (
    ("conv1d", (1, 2, 9), (2, 2, 3), F.conv1d),
    ("conv2d", (1, 2, 6, 5), (2, 2, 3, 3), F.conv2d),
    ("conv3d", (1, 2, 4, 4, 3), (2, 2, 3, 3, 3), F.conv3d),
    ("conv1d, fewer products", (1, 32, 256), (32, 32, 3), F.conv1d),
    ("conv2d, fewer products", (1, 32, 16, 16), (32, 32, 3, 3), F.conv2d),
    ("conv_transpose2d", (1, 32, 16, 16), (32, 32, 3, 3), F.conv_transpose2d),
):
    _weight = tn.tensor(RNG.uniform(0.5, 1.5, _kernel), dtype=tn.float32)
    case(_name, _shape, lambda x, f=_function, w=_weight: f(x, w, padding=1))
_depthwise = tn.tensor(RNG.uniform(0.5, 1.5, (2, 1, 3)), dtype=tn.float32)
for _name, _function in (
    ("conv1d, depthwise", F.conv1d),
    ("conv_transpose1d, depthwise", F.conv_transpose1d),
):
    case(_name, (8, 2, 6), lambda x, f=_function: f(x, _depthwise, padding=1, groups=2))


def pulse(shape, place, value=1.0):
    made = np.zeros(shape, np.float32)
    made.flat[place] = value
    return made


def places(shape):
    """All places of a small array, and some of a large one."""
    count = math.prod(shape)
    return range(count) if count <= 120 else RNG.choice(count, 8, replace=False)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_one_element_that_is_not_finite(name, value):
    shape, function = CASES[name]
    clean = RNG.uniform(0.5, 1.5, shape).astype(np.float32)
    expected = function(tn.tensor(clean)).numpy()
    for place in places(shape):
        reached = function(tn.tensor(pulse(shape, place))).numpy() != 0
        found = function(tn.tensor(clean + pulse(shape, place, value))).numpy()
        np.testing.assert_array_equal(~np.isfinite(found), reached, err_msg=f"{place}")
        assert_near(found[~reached], expected[~reached], 2 * STEPS)


@pytest.mark.parametrize("name", CASES)
def test_one_gradient_that_is_not_finite(name):
    shape, function = CASES[name]
    x = tn.tensor(RNG.uniform(0.5, 1.5, shape), dtype=tn.float32, requires_grad=True)
    result = function(x)

    def backward(g):
        return tn.autograd.grad(result, x, tn.tensor(g), retain_graph=True)[0].numpy()

    for place in places(result.shape):
        reached = backward(pulse(result.shape, place)) != 0
        g = np.ones(result.shape, np.float32) + pulse(result.shape, place, math.nan)
        np.testing.assert_array_equal(np.isnan(backward(g)), reached, err_msg=f"{place}")
