"""Optimizers and schedules agree with PyTorch: recorded, and with --oracle live."""

import importlib
import json

import numpy as np
import pytest

import tinynet as tn

from .record import RECORD
from .trajectories import ALGORITHMS, OPTIONS, SCHEDULES, answers, final_parameters, forms, rates_of

EXPECTED = json.loads(RECORD.read_text())


def assert_close(got, expected, tolerance=1e-9):
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("label", ALGORITHMS)
def test_parameters_after_20_steps(label):
    assert_close(final_parameters(tn, label), EXPECTED["parameters"][label])


FIRST = {"SGD": "SGD momentum=0.9", "Adam": "Adam "}


@pytest.mark.parametrize(
    "label",
    [next(k for k in ALGORITHMS if k.startswith(FIRST.get(name, name))) for name in OPTIONS],
)
def test_float32(label):
    assert_close(final_parameters(tn, label, "float32"), EXPECTED["parameters"][label], 1e-4)


@pytest.mark.parametrize("label", SCHEDULES)
def test_learning_rates(label):
    assert_close(rates_of(tn, label), EXPECTED["rates"][label], 1e-12)


@pytest.mark.parametrize("name", EXPECTED["forms"])
def test_state_dict_and_printed_form(name):
    got, expected = forms(tn, name), EXPECTED["forms"][name]
    assert got["printed"] == expected["printed"]
    assert got["groups"] == expected["groups"]
    assert [list(g) for g in got["groups"]] == [list(g) for g in expected["groups"]]
    assert got["state"] == expected["state"]
    assert list(map(list, got["state"].values())) == list(map(list, expected["state"].values()))


def test_the_record_is_of_the_version_that_the_project_follows():
    assert EXPECTED["torch"] == "2.13.0"


@pytest.mark.oracle
def test_the_record_is_what_pytorch_says_today():
    live = answers(importlib.import_module("torch"))
    for label, expected in EXPECTED["parameters"].items():
        assert_close(live["parameters"][label], expected, 1e-12)
    for label, expected in EXPECTED["rates"].items():
        assert_close(live["rates"][label], expected, 1e-12)
    assert json.loads(json.dumps(live["forms"])) == EXPECTED["forms"]
