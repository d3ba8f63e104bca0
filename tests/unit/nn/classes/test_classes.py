"""Every class of `nn` answers as PyTorch's does."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest

import tinynet
from tests.tools.grouped import for_each, groups
from tests.tools.recorded.checks import RecordedAnswers
from tests.tools.recorded.compare import differences
from tests.tools.recorded.describe import numbers
from tests.tools.recorded.layers import Layer, tensors_in
from tests.tools.rounding import bound
from tinynet import nn
from tinynet.base import lazy

from .suite import SUITE

LAYERS = {row.id: row for row in SUITE.entries if isinstance(row, Layer)}
BY_CLASS = groups(LAYERS, lambda row: row.group)
# "second" is not among them: in differences of differences rounding dominates.
ROUNDINGS = {"outputs": 1000, "grads": 4000, "losses": 1000, "trained": 1000}  # longest sums
# Layers whose slope makes much of a rounding: a root close to zero, a mean far from zero.
AMPLIFIED = {"pooling/LPPool3d-one": 10, "normalization/BatchNorm1d-far-from-zero": 10}


class TestLayers(RecordedAnswers):
    suite = SUITE


def as_float64(described):
    """The description of a float32 tensor, as if it were of float64."""
    if isinstance(described, list):
        return [as_float64(part) for part in described]
    if not isinstance(described, dict):
        return described
    if "numbers" not in described:
        return {key: as_float64(part) for key, part in described.items()}
    return described | {"dtype": described["dtype"].replace("float32", "float64")}


@pytest.mark.sampled(3)
@for_each(BY_CLASS)
def test_in_float32(row):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = as_float64(row.computed(tinynet, "float32"))
    expected = SUITE.recorded(row)
    for key, roundings in ROUNDINGS.items():
        tolerance = AMPLIFIED.get(row.id, 1) * bound(np.float32, roundings)
        wrong = differences(expected.get(key), found.get(key), key, tolerance)
        assert [*wrong] == []


@pytest.mark.sampled(3)
@for_each(BY_CLASS)
def test_copies_compute_the_same(row):
    module = row.module(tinynet, "float64").eval()
    inputs = row.arguments(tinynet, "float64")

    def computed(module):
        found = map(numbers, tensors_in(row.call(module, *inputs)))
        return [(array.shape, array.dtype, array.tobytes()) for array in found]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = computed(module)
        for made in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
            assert computed(made) == expected
            theirs = {id(p) for p in module.parameters()}
            assert not theirs & {id(p) for p in made.parameters()}


HOLD_ONLY = {
    "Container",
    "DataParallel",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
}
ABSTRACT = {"Module", "RNNBase", "RNNCellBase"}
RENAMED = {"NLLLoss2d"}


def test_every_class_has_a_row():
    named = {name for name, value in lazy.members(nn).items() if inspect.isclass(value)}
    layers = {name for name in named if issubclass(getattr(nn, name), nn.Module)}
    with_rows = {row.name.partition("-")[0] for row in LAYERS.values()}
    assert layers - with_rows == HOLD_ONLY | ABSTRACT | RENAMED


@pytest.mark.oracle
@for_each(BY_CLASS)
def test_weights_go_both_ways(row):
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = row.build(torch).double(), row.build(tinynet).double()
    state = {k: tinynet.tensor(np.asarray(t.tolist())) for k, t in theirs.state_dict().items()}
    ours.load_state_dict({k: t.reshape(theirs.state_dict()[k].shape) for k, t in state.items()})
    back = {k: torch.tensor(t.tolist()) for k, t in ours.state_dict().items()}
    theirs.load_state_dict({k: t.reshape(ours.state_dict()[k].shape) for k, t in back.items()})
    for key, t in ours.state_dict().items():
        np.testing.assert_array_equal(numbers(t), numbers(theirs.state_dict()[key]), key)
