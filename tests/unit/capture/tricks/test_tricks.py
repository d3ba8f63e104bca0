"""Tricks: what a function can read, and what changes between calls. Eager and compiled agree.

Verification is off: what is tested are the guards.
"""

import functools
import random
import warnings

import numpy as np
import pytest

import tinynet as tn
from tests.unit.capture.interpreted import interpret

from . import arguments, surroundings
from .table import TRICKS


def same(a, b, rounding=0.0):
    """Return whether outcomes are equal but for rounding; NaN is equal to itself."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y, rounding) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return [*a] == [*b] and same([*a.values()], [*b.values()], rounding)
    if isinstance(a, float) and isinstance(b, float):
        return repr(a) == repr(b) or abs(a - b) <= rounding * max(1, abs(a))
    return a == b


def seen(run, compile):
    """Return what a trick saw, or its error."""
    tn.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(compile)
        except Exception as error:
            return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", TRICKS)
def test_numpy(name):
    compile = functools.partial(tn.compile, verify=0)
    eager, compiled = (seen(TRICKS[name], c) for c in (lambda f: f, compile))
    assert not isinstance(eager, str), eager
    assert same(eager, compiled), f"\neager    {eager}\ncompiled {compiled}"


@pytest.mark.sampled(8)  # the guards are those of numpy's programs, which all run
@pytest.mark.parametrize("name", TRICKS)
def test_llvm(name, monkeypatch):
    pytest.importorskip("llvmlite")
    interpret(monkeypatch)
    compile = functools.partial(tn.compile, backend="llvm", verify=0)
    with np.errstate(all="ignore"):
        eager, compiled = (seen(TRICKS[name], c) for c in (lambda f: f, compile))
    assert same(eager, compiled, rounding=1e-5), f"\neager    {eager}\ncompiled {compiled}"


def test_the_table_is_large():
    assert len(TRICKS) > 150 and arguments.READS and surroundings.HOOKS
