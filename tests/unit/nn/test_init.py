"""nn.init: distributions, versions, refusals."""

import math

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.nn import init


@pytest.fixture(autouse=True)
def _seed():
    tn.manual_seed(0)


FILLS = [
    (lambda p: init.uniform_(p), 1),
    (lambda p: init.normal_(p), 1),
    (lambda p: init.trunc_normal_(p), 1),
    (lambda p: init.constant_(p, 3), 1),
    (lambda p: init.ones_(p), 1),
    (lambda p: init.zeros_(p), 1),
    (lambda p: init.eye_(p), 1),
    (lambda p: init.xavier_uniform_(p), 1),
    (lambda p: init.xavier_normal_(p), 1),
    (lambda p: init.kaiming_uniform_(p), 1),
    (lambda p: init.kaiming_normal_(p), 1),
    (lambda p: init.orthogonal_(p), 2),
    (lambda p: init.sparse_(p, 0.5), 2),
]


@pytest.mark.parametrize("fill, writes", FILLS)
def test_a_fill_is_a_write_that_nobody_records(fill, writes):
    p = nn.Parameter(tn.empty(3, 2))
    assert fill(p) is p
    assert p._version == writes and p.is_leaf and p.requires_grad


@pytest.mark.parametrize(
    "name", "uniform normal trunc_normal xavier_uniform kaiming_normal orthogonal".split()
)
def test_a_generator_decides_what_is_drawn(name):
    fill = getattr(init, f"{name}_")
    one, two = (fill(tn.empty(4, 4), generator=tn.Generator().manual_seed(5)) for _ in range(2))
    assert one.tolist() == two.tolist()
    state = tn.get_rng_state()
    fill(tn.empty(4, 4), generator=tn.Generator())
    assert tn.equal(tn.get_rng_state(), state)


BIG = (400, 500)


@pytest.mark.parametrize(
    "fill, std, bound",
    [
        (lambda t: init.uniform_(t, -2, 4), 6 / math.sqrt(12), 4),
        (lambda t: init.normal_(t, 0, 3), 3, None),
        (lambda t: init.xavier_uniform_(t, 2.0), 2 * math.sqrt(2 / 900), 2 * math.sqrt(6 / 900)),
        (lambda t: init.xavier_normal_(t, 2.0), 2 * math.sqrt(2 / 900), None),
        (lambda t: init.kaiming_uniform_(t), math.sqrt(2 / 500), math.sqrt(6 / 500)),
        (lambda t: init.kaiming_normal_(t, mode="fan_out"), math.sqrt(2 / 400), None),
        (
            lambda t: init.kaiming_normal_(t, 1.0, nonlinearity="leaky_relu"),
            math.sqrt(1 / 500),
            None,
        ),
        (lambda t: init.trunc_normal_(t, 0, 1, -1, 1), 0.5396, 1),
        (lambda t: init.trunc_normal_(t, 0, 1, -0.1, 0.1), 0.2 / math.sqrt(12), 0.1),
    ],
)
def test_distributions(fill, std, bound):
    values = fill(tn.empty(*BIG)).numpy()
    assert values.std() == pytest.approx(std, rel=0.01)
    if bound is not None:
        assert bound * 0.99 < values.max() <= np.float32(bound)


def test_the_zeros_of_a_sparse_matrix_are_anywhere():
    w = init.sparse_(tn.empty(10, 2000), 0.3).numpy()
    assert (w == 0).sum(0).tolist() == [3] * 2000
    assert (w == 0).mean(1) == pytest.approx([0.3] * 10, abs=0.04)
    assert w[w != 0].std() == pytest.approx(0.01, rel=0.03)
    one, two = (
        init.sparse_(tn.empty(5, 5), 0.4, generator=tn.Generator().manual_seed(5)) for _ in range(2)
    )
    assert one.tolist() == two.tolist()


def test_a_truncated_tail():
    with pytest.warns(UserWarning, match="mean is more than 2 std from") as caught:
        values = init.trunc_normal_(tn.empty(20_000), 0, 1, 3, 5).numpy()
    assert caught[0].filename == __file__
    assert 3 <= values.min() and values.max() <= 5
    assert values.mean() == pytest.approx(3.283, abs=0.01)  # phi(3) / (1 - Phi(3)), nearly


def test_constants():
    assert init.constant_(tn.empty(2), 0.5).tolist() == [0.5, 0.5]
    assert init.eye_(tn.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert init.ones_(tn.empty(1)).item() == 1 and init.zeros_(tn.ones(1)).item() == 0


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)])
def test_orthogonal(shape):
    w = init.orthogonal_(tn.empty(*shape, dtype=tn.float64), gain=2).numpy()
    w = w.reshape(shape[0], -1)
    product = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    assert product == pytest.approx(4 * np.eye(len(product)), abs=1e-12)


def test_gains():
    gains = {"linear": 1, "conv2d": 1, "sigmoid": 1, "tanh": 5 / 3, "selu": 0.75}
    for name, gain in gains.items():
        assert init.calculate_gain(name) == gain
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("leaky_relu", 0.2) == 1.3867504905630728
    assert init.calculate_gain("leaky_relu") == 1.4141428569978354


def test_refusals():
    for call, text in [
        (lambda: init.calculate_gain("foo"), "Unsupported nonlinearity foo"),
        (lambda: init.calculate_gain("leaky_relu", "x"), "negative_slope x not a valid number"),
        (lambda: init.calculate_gain("leaky_relu", True), "negative_slope True not a valid"),
        (lambda: init.xavier_uniform_(tn.empty(3)), "Fan in and fan out can not be computed for"),
        (lambda: init.kaiming_normal_(tn.empty(3)), "Fan in and fan out can not be computed for"),
        (
            lambda: init.kaiming_uniform_(tn.empty(2, 2), mode="x"),
            "Mode x not supported, please use one of ['fan_in', 'fan_out']",
        ),
        (lambda: init.eye_(tn.empty(3)), "Only tensors with 2 dimensions are supported"),
        (lambda: init.orthogonal_(tn.empty(3)), "Only tensors with 2 or more dimensions are"),
        (lambda: init.dirac_(tn.empty(2, 2, 2), 0), "The 'groups' parameter of dirac_ must be > 0"),
        (lambda: init.trunc_normal_(tn.empty(3), std=0), "must be > 0. Got 0 instead."),
        (lambda: init.sparse_(tn.empty(3, 3), 1.5), "must be from 0 to 1. Got 1.5 instead."),
    ]:
        with pytest.raises(ValueError) as caught:
            call()
        assert text in str(caught.value)
    with pytest.raises(RuntimeError, match="normal expects std >= 0.0, but found std -1"):
        init.normal_(tn.empty(2), 0, -1)
    with pytest.raises(RuntimeError, match="uniform_ expects to return"):
        init.uniform_(tn.empty(2), 2, 1)


@pytest.mark.parametrize("fill", [init.kaiming_uniform_, init.kaiming_normal_])
def test_nothing_to_fill(fill):
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        assert fill(tn.empty(0, 2)).shape == (0, 2)
    assert init.orthogonal_(tn.empty(0, 2)).shape == (0, 2)
    assert init.xavier_uniform_(tn.empty(0, 2)).shape == (0, 2)
