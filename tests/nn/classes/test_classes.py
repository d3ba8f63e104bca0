"""Every class of `nn` answers as PyTorch's does."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import warnings

import numpy as np
import pytest

import tinynet
from tests.rounding import bound, near
from tinynet import nn

from .run import arguments, build, describe, measured, numbers
from .spec import Failure, Layer, tensors_in
from .tables import HERE, TABLES

ROWS = {f"{t.name}/{r.name}": r for t in TABLES.values() for r in t.rows.values()}
ANSWERS = {
    f"{table}/{name}": answer
    for table in TABLES
    for name, answer in json.loads((HERE / "answers" / f"{table}.json").read_text()).items()
}
LAYERS = {name: row for name, row in ROWS.items() if isinstance(row, Layer)}
NUMBERS = ("outputs", "grads", "second", "losses", "trained")

# Layers whose slope makes much of a rounding: a root close to zero, a mean far from zero.
AMPLIFIED = {"pooling/LPPool3d-one": 10, "normalization/BatchNorm1d-far-from-zero": 10}


def same(found, expected, tolerance, where):
    """Equal, up to rounding relative to the size of what was computed."""
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for key in expected:
            same(found[key], expected[key], tolerance, f"{where} {key}")
    elif isinstance(expected, list) and expected and isinstance(expected[0], list | str):
        assert len(found) == len(expected), where
        for place, (x, y) in enumerate(zip(found, expected, strict=True)):
            same(x, y, tolerance, f"{where} {place}")
    elif isinstance(expected, list) and any(isinstance(x, float) for x in expected):
        scale = max([1.0, *(abs(x) for x in expected if isinstance(x, float))])
        for x, y in zip(found, expected, strict=True):
            if isinstance(y, float):
                assert abs(x - y) <= tolerance * scale, f"{where}: {found} is not {expected}"
            else:
                assert x == y, f"{where}: {found} is not {expected}"
    elif isinstance(expected, float) and not isinstance(found, str):
        assert abs(found - expected) <= tolerance * max(1, abs(expected)), where
    else:
        assert found == expected, where


def distributed(found, expected):
    """Initial values of the same distribution."""
    assert list(found) == list(expected)
    for key, (mean, spread, largest) in expected.items():
        if spread < 1e-12:
            assert found[key] == near([mean, spread, largest]), key
        else:
            assert found[key][0] == pytest.approx(mean, abs=0.2 * spread), key
            assert found[key][1] == pytest.approx(spread, rel=0.15), key
            assert found[key][2] == pytest.approx(largest, rel=0.35), key


@pytest.mark.parametrize("name", ROWS)
def test_as_pytorch(name):
    found, expected = describe(tinynet, ROWS[name]), dict(ANSWERS[name])
    if "initial" in expected:
        distributed(found.pop("initial"), expected.pop("initial"))
    assert sorted(found) == sorted(expected)
    for key, value in expected.items():
        same(found[key], value, 1e-9, key)


@pytest.mark.parametrize("name", LAYERS)
def test_in_float32(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = measured(tinynet, LAYERS[name], "float32")
    text = json.dumps({key: found[key] for key in NUMBERS if key in found})
    found = json.loads(text.replace('"float32"', '"float64"'))
    for key, value in found.items():
        if key != "second":  # differences of differences: rounding dominates
            roundings = 4000 if key == "grads" else 1000  # no sum of these layers is longer
            tolerance = AMPLIFIED.get(name, 1) * bound(np.float32, roundings)
            same(value, ANSWERS[name][key], tolerance, key)


@pytest.mark.parametrize("name", LAYERS)
def test_copies_compute_the_same(name):
    row = LAYERS[name]
    module = build(tinynet, row, "float64").eval()
    inputs = arguments(tinynet, row, "float64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [numbers(t) for t in tensors_in(row.call(module, *inputs))]
        for made in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
            assert [numbers(t) for t in tensors_in(row.call(made, *inputs))] == expected
            theirs = {id(p) for p in module.parameters()}
            assert not theirs & {id(p) for p in made.parameters()}


def test_the_tables_and_their_answers_go_together():
    recorded = {name for name in ANSWERS if not name.endswith("/PyTorch")}
    assert recorded == set(ROWS)
    assert all(ANSWERS[f"{table}/PyTorch"] == "2.13.0" for table in TABLES)
    for name, row in ROWS.items():
        raised = ANSWERS[name].get("error")
        assert isinstance(row, Failure) == (raised is not None), name
        assert raised != "nothing was raised", name


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
    named = {name for name, value in vars(nn).items() if inspect.isclass(value)}
    layers = {name for name in named if issubclass(getattr(nn, name), nn.Module)}
    with_rows = {name.partition("/")[2].partition("-")[0] for name in LAYERS}
    assert layers - with_rows == HOLD_ONLY | ABSTRACT | RENAMED


@pytest.mark.oracle
@pytest.mark.parametrize("name", LAYERS)
def test_weights_go_both_ways(name):
    torch = pytest.importorskip("torch")
    row = LAYERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = row.build(torch).double(), row.build(tinynet).double()
    state = {k: tinynet.tensor(np.asarray(t.tolist())) for k, t in theirs.state_dict().items()}
    ours.load_state_dict({k: t.reshape(theirs.state_dict()[k].shape) for k, t in state.items()})
    back = {k: torch.tensor(t.tolist()) for k, t in ours.state_dict().items()}
    theirs.load_state_dict({k: t.reshape(ours.state_dict()[k].shape) for k, t in back.items()})
    for key, t in ours.state_dict().items():
        assert numbers(t) == numbers(theirs.state_dict()[key]), key


@pytest.mark.oracle
@pytest.mark.parametrize("name", ROWS)
def test_the_record_is_what_pytorch_says(name):
    torch = pytest.importorskip("torch")
    found = json.loads(json.dumps(describe(torch, ROWS[name])))
    same(found, ANSWERS[name], 1e-9, name)
