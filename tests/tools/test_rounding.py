"""The bounds of rounding: that they hold, and that the tests use them."""

import ast
from pathlib import Path

import numpy as np
import pytest

from tests.tools.rounding import STEPS, bound, near

TESTS = Path(__file__).parents[1]
COMPARISONS = {"approx", "allclose", "assert_allclose", "assert_close", "isclose"}
TOLERANCES = {"rel", "abs", "rtol", "atol"}
# Tolerances of this size that stand for something other than rounding.
OTHERS = {
    "unit/capture/test_random_programs.py": "quotients of small numbers, exp of exp",
    "unit/distributed/test_commands.py": "a table of four digits",
    "unit/distributed/test_scripts.py": "losses of PyTorch after many steps",
    "unit/distributions/test_distributions.py": "slopes from differences, the places of a grid",
    "unit/distributions/test_samples.py": "a series that is cut",
    "unit/ops/test_linalg.py": "slopes from differences",
    "laws/property/test_invariants.py": "slopes from differences",
    "unit/train/test_sweep.py": "a table of four digits",
    "unit/train/test_validation.py": "a table of four digits",
}


def guessed(path):
    """The lines that compare with a written number between roundings of float64 and chance."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            for keyword in node.keywords if name in COMPARISONS else ():
                value = getattr(keyword.value, "value", None)
                if keyword.arg in TOLERANCES and isinstance(value, float) and 2e-9 < value < 1e-2:
                    yield f"{path.relative_to(TESTS)}:{node.lineno}: {keyword.arg}={value}"


def test_no_tolerance_of_float32_is_a_guess():
    found = [line for path in sorted(TESTS.rglob("*.py")) for line in guessed(path)]
    guesses = [line for line in found if line.split(":")[0] not in OTHERS]
    assert not guesses, "compare with near() of tests/tools/rounding.py:\n" + "\n".join(guesses)
    assert {line.split(":")[0] for line in found} == set(OTHERS)


def test_sums_in_any_order_stay_within_the_bound():
    x = np.random.RandomState(0).uniform(-1, 1, 1000).astype(np.float32)
    exact = x.astype(float).sum()
    for order in (x, x[::-1], np.sort(x), np.sort(x)[::-1]):
        assert np.cumsum(order)[-1] == near(exact, 1000, scale=np.abs(x).sum())


def test_near():
    assert 1 + bound(np.float32, STEPS) * 0.99 == near(1)
    assert 1 + bound(np.float32, STEPS) * 1.01 != near(1)
    assert [[1.0, 2.0]] == near(np.array([[1, 2]])) and [1.0, 2.0] != near([2, 1])
    assert np.array([np.inf, 1e-9]) == near([np.inf, 0], scale=1)
    assert 1e-9 != near(0) and 1.0 == near(1 + 1e-12, 1, dtype=np.float32)
    assert 1 + 1e-12 != near(1, dtype=np.float64)
    with pytest.raises(AssertionError):
        assert [1.0] == near([1.1])
