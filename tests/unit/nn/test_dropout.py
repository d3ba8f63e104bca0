"""Dropouts: what is drawn, how often, and what of it stays. (Recorded answers cannot show this.)"""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn
from tinynet.nn import functional as F

CHANNELS = {"dropout1d": (400, 5, 6), "dropout2d": (400, 5, 2, 3), "dropout3d": (400, 5, 1, 2, 3)}
FUNCTIONS = ["dropout", *CHANNELS, "alpha_dropout", "feature_alpha_dropout"]
LAYERS = {
    "dropout": nn.Dropout,
    "dropout1d": nn.Dropout1d,
    "dropout2d": nn.Dropout2d,
    "dropout3d": nn.Dropout3d,
    "alpha_dropout": nn.AlphaDropout,
    "feature_alpha_dropout": nn.FeatureAlphaDropout,
}


def ones(name):
    return tn.ones(CHANNELS.get(name, (400, 5, 6)))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("p", [0.2, 0.7])
def test_elements_are_dropped_with_probability_p_and_the_mean_is_kept(name, p):
    tn.manual_seed(0)
    result = getattr(F, name)(ones(name), p, training=True)
    kept, dropped = result.max(), result.min()
    assert bool(((result == kept) | (result == dropped)).all())
    assert (result == dropped).float().mean().item() == pytest.approx(p, abs=0.04)
    if "alpha" not in name:
        assert dropped == 0 and kept.item() == near(1 / (1 - p))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_channels_fall_as_a_whole(name):
    tn.manual_seed(0)
    result = getattr(F, name)(ones(name), 0.5, training=True).flatten(2)
    alike = bool((result == result[:, :, :1]).all())
    assert alike == (name not in ("dropout", "alpha_dropout"))
    fallen = (result == result.min()).float().mean((0, 2))  # per channel: each is drawn anew
    assert 0.3 < fallen.min().item() and fallen.max().item() < 0.7


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout"])
@pytest.mark.parametrize("p", [0.1, 0.5])
def test_alpha_dropout_keeps_mean_and_deviation(name, p):
    tn.manual_seed(0)
    result = getattr(F, name)(tn.randn(40000, 5), p, training=True)
    assert result.mean().item() == pytest.approx(0, abs=0.02)
    assert result.std().item() == pytest.approx(1, abs=0.02)


def test_what_alpha_dropout_drops_is_where_selu_ends():
    tn.manual_seed(0)
    x, p = tn.arange(1.0, 2001.0, dtype=tn.float64), 0.3
    result = F.alpha_dropout(x, p, training=True)
    floor = result.min()
    stay = result > floor
    scale = ((result[stay][1] - result[stay][0]) / (x[stay][1] - x[stay][0])).item()
    offset = (result[stay][0] - scale * x[stay][0]).item()
    assert (result[stay] - (scale * x[stay] + offset)).abs().max().item() < 1e-9
    bottom = F.selu(tn.tensor(-100.0, dtype=tn.float64)).item()
    assert (floor.item() - offset) / scale == pytest.approx(bottom, rel=1e-9)


def test_unbatched_channels_are_the_first_dimension():
    tn.manual_seed(0)
    for result in (F.dropout1d(tn.ones(200, 7)), F.dropout3d(tn.ones(200, 1, 7, 1))):
        rows = result.reshape(200, 7)
        assert bool((rows == rows[:, :1]).all()) and 0 < rows[:, 0].mean().item() < 2
    assert F.dropout1d(tn.ones(200, 7)).shape == (200, 7)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_gradient_is_that_of_what_stayed(name):
    tn.manual_seed(0)
    x = ones(name).requires_grad_()
    result = getattr(F, name)(x, 0.5, training=True)
    result.sum().backward()
    assert bool(((x.grad == 0) == (result == result.min())).all())
    lowest = F.selu(tn.tensor(-np.inf)).item()  # what alpha dropout puts in
    kept = (0.5 * (1 + 0.5 * lowest**2)) ** -0.5 if "alpha" in name else 2
    assert x.grad.max().item() == near(kept)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_in_place_is_the_same_draw(name):
    x = ones(name)
    tn.manual_seed(3)
    expected = getattr(F, name)(x, 0.5, training=True)
    tn.manual_seed(3)
    written = x.clone()
    assert getattr(F, name)(written, 0.5, training=True, inplace=True) is written
    assert written.tolist() == expected.tolist() and x.min() == 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_layers_draw_in_training_only(name):
    layer, x = LAYERS[name](0.5), ones(name)
    tn.manual_seed(5)
    expected = getattr(F, name)(x, 0.5, training=True)
    tn.manual_seed(5)
    assert layer(x).tolist() == expected.tolist()
    assert layer.eval()(x) is x


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout"])
def test_half_precision_stays(name):
    result = getattr(F, name)(tn.ones(50, dtype=tn.float16), 0.5, training=True)
    assert result.dtype == tn.float16


def test_the_warning_names_the_line_of_the_caller():
    with pytest.warns(UserWarning, match="Received a 2-D input to dropout2d") as caught:
        nn.Dropout2d()(tn.ones(2, 3))
    assert caught[0].filename == __file__
