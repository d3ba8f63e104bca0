"""The page that is tinynet in small: it trains, and its rules are those of tinynet."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near

PAGE = Path(__file__).parents[3] / "docs" / "tiny.py"
spec = importlib.util.spec_from_file_location("tiny", PAGE)
assert spec is not None and spec.loader is not None
tiny = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tiny)

A, B = np.arange(6.0).reshape(2, 3) / 5, np.arange(12.0).reshape(3, 4) / 7 - 1


def test_it_trains_and_a_captured_step_goes_on_with_that(capsys):
    tiny.main()
    eager, captured = (float(word.strip(",")) for word in capsys.readouterr().out.split()[1::2])
    assert captured < eager / 2 < 0.02


def test_gradients_are_those_of_tinynet():
    found = []
    for make, mean in ((tiny.Tensor, tiny.mean), (tn.tensor, tn.mean)):
        a, b, c = (make(x.astype(np.float32), requires_grad=True) for x in (A, B, np.ones(4) / 3))
        tanh = tiny.tanh if make is tiny.Tensor else tn.tanh
        error = tanh(a @ b + c) * (a @ b) - c
        mean(error * error).backward()
        found.append([np.asarray(t.grad) for t in (a, b, c)])
    for mine, real in zip(*found, strict=True):
        assert mine == near(real, 20, scale=1)


def test_a_write_between_forward_and_backward_is_noticed():
    a = tiny.Tensor(A, requires_grad=True)
    b = tiny.tanh(a)
    loss = tiny.mean(b * b)
    b.mul_(tiny.Tensor(2.0))
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        loss.backward()
    with pytest.raises(RuntimeError, match="a leaf that requires grad"):
        a.mul_(b)
