"""Warnings of what raises nothing: once per line, silenceable, and never where all is well."""

import warnings

import pytest

import tinynet as tn
from tinynet.errors import LostGradientWarning


def rebound():
    w = tn.ones(2, requires_grad=True)
    with tn.no_grad():
        return w * 2


def caught(filter_, run):
    with warnings.catch_warnings(record=True) as found:
        warnings.resetwarnings()
        warnings.simplefilter(filter_, LostGradientWarning)
        run()
    return found


def read_often():
    for _ in range(5):
        assert rebound().grad is None


def test_each_line_says_it_once_and_names_the_users_line():
    found = caught("default", read_often)
    assert [w.category for w in found] == [LostGradientWarning]
    assert found[0].filename == __file__


def test_they_can_be_silenced():
    assert not caught("ignore", read_often)


def test_they_can_be_errors():
    with pytest.raises(LostGradientWarning, match="w -= lr"):
        caught("error", read_often)


def test_nothing_is_said_where_all_is_well():
    x = tn.ones(2, requires_grad=True)
    with tn.no_grad():
        constant = tn.ones(2) * 3
        view = x[:1]
        y = x * 2
    assert constant.grad is None and view.grad is None and x.grad is None
    y.requires_grad_()
    (y * y).sum().backward()
    assert y.grad.tolist() == [4.0, 4.0]
    x.backward(tn.ones(2))  # a leaf with a gradient of its own is not a loss
    assert x.grad.tolist() == [1.0, 1.0]
