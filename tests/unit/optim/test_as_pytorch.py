"""Optimizers and schedules agree with PyTorch: recorded, and with --oracle live."""

import importlib
import json
import re

import numpy as np
import pytest

import tinynet as tn
from tests.tools.grouped import for_each, in_parts
from tests.tools.rounding import STEPS, near

from .algorithms import RUN
from .record import RECORD, answers
from .refusals import REFUSED
from .regrouping import CASES, regrouped, regrouped_rates
from .trajectories import (
    JUMPING,
    LBFGS,
    MUON,
    PLATEAU,
    RUNS,
    SCHEDULES,
    SPARSE,
    WITH_TENSORS,
    beta_rates,
    error,
    final_parameters,
    forms,
    jumps,
    lbfgs_parameters,
    muon_parameters,
    plateau_rates,
    rates_of,
    schedule_states,
    signatures,
    sparse_parameters,
)

EXPECTED = json.loads(RECORD.read_text())
SIGNATURES = signatures(tn)


def assert_same(got, expected, tolerance):
    """Compare nested lists and dicts of numbers."""
    if isinstance(expected, dict):
        assert list(got) == list(expected)
        for key in expected:
            assert_same(got[key], expected[key], tolerance)
    elif isinstance(expected, list):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            assert_same(one, other, tolerance)
    elif isinstance(expected, float):
        assert got == pytest.approx(expected, rel=tolerance, abs=tolerance)
    else:
        assert got == expected


def assert_close(got, expected, tolerance=1e-9):
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def assert_near_in_float32(got, expected):
    """Each of the 20 steps propagates its roundings to all later ones."""
    for one, other in zip(got, expected, strict=True):
        assert np.ravel(one) == near(np.ravel(other), 20**2 * STEPS)


@for_each(in_parts(RUNS.keys(), 8))
def test_parameters_after_20_steps(label):
    assert_close(final_parameters(tn, label), EXPECTED["parameters"][label])


FIRST = {"SGD": "SGD momentum=0.9", "Adam": "Adam "}


@pytest.mark.parametrize(
    "label",
    [next(k for k in RUNS if k.startswith(FIRST.get(name, name))) for name in RUN],
)
def test_float32(label):
    assert_near_in_float32(final_parameters(tn, label, "float32"), EXPECTED["parameters"][label])


@pytest.mark.parametrize("label", MUON)
def test_muon(label):
    assert_same(muon_parameters(tn, label), EXPECTED["Muon"][label], 1e-9)
    assert_near_in_float32(muon_parameters(tn, label, "float32"), EXPECTED["Muon"][label])


@pytest.mark.parametrize("label", SPARSE)
def test_sparse_gradients(label):
    assert_same(sparse_parameters(tn, label), EXPECTED["sparse"][label], 1e-9)


@pytest.mark.parametrize("label", LBFGS)
def test_lbfgs(label):
    assert_same(lbfgs_parameters(tn, label), EXPECTED["LBFGS"][label], 1e-9)


SCHEDULED = {
    "rates": (rates_of, SCHEDULES),
    "schedules": (schedule_states, SCHEDULES),
    "jumps": (jumps, JUMPING),
    "betas": (beta_rates, WITH_TENSORS),
    "plateau": (plateau_rates, PLATEAU),
    "regrouped": (regrouped_rates, CASES),
}


@pytest.mark.filterwarnings("ignore:Detected call of")  # nested ones; in PyTorch, too
@for_each(
    in_parts(
        {
            f"{part} {label}": (part, label)
            for part, (_, rows) in SCHEDULED.items()
            for label in rows
        },
        20,
    )
)
def test_schedules(case):
    part, label = case
    measure, _ = SCHEDULED[part]
    assert_same(json.loads(json.dumps(measure(tn, label))), EXPECTED[part][label], 1e-12)


@for_each(in_parts((k for k, found in EXPECTED["regrouped"].items() if found[2]), 20))
def test_an_error_after_a_change_of_the_groups_names_them(case):
    _, raised = regrouped(tn, case)
    assert re.search(r"number of param groups in the `optimizer` \(|param_groups\[2\]", str(raised))


@pytest.mark.parametrize("name", EXPECTED["signatures"])
def test_the_parameters_of_the_constructor_and_their_defaults(name):
    assert SIGNATURES[name] == EXPECTED["signatures"][name]


@for_each(in_parts(REFUSED.keys(), 20))
def test_refused(name):
    assert EXPECTED["refused"][name] != "nothing was raised"
    assert error(tn, REFUSED[name]) == EXPECTED["refused"][name]


@pytest.mark.parametrize("name", EXPECTED["forms"])
def test_state_dict_and_printed_form(name):
    got, expected = forms(tn, name), EXPECTED["forms"][name]
    assert got["printed"] == expected["printed"]
    assert got["groups"] == expected["groups"]
    for group in got["groups"]:  # options stand in the order of the signature
        assert list(group)[-2:] == ["initial_lr", "params"]
    assert got["state"] == expected["state"]
    assert list(map(list, got["state"].values())) == list(map(list, expected["state"].values()))


def test_the_record_is_of_the_version_that_the_project_follows():
    assert EXPECTED["torch"] == "2.13.0"


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:Sparse invariant", "ignore:Detected call of")
def test_the_record_is_what_pytorch_says_today():
    live = answers(importlib.import_module("torch"))
    for label, expected in EXPECTED["parameters"].items():
        assert_close(live["parameters"][label], expected, 1e-12)
    for part in SCHEDULED:
        assert_same(json.loads(json.dumps(live[part])), EXPECTED[part], 1e-12)
    for part in ("Muon", "sparse", "LBFGS"):
        assert_same(live[part], EXPECTED[part], 1e-9)
    for part in ("forms", "signatures", "refused"):
        assert json.loads(json.dumps(live[part])) == EXPECTED[part]
