"""Random programs eager and compiled: to the bit the same, versions, aliases and errors included.

With the LLVM backend numbers may differ by rounding, and native functions run uncompiled.

A call that is not replayed runs eagerly, which is allowed; the tests report how many do.
"""

from random import Random

import numpy as np
import pytest

import tinynet as tn
from tests.laws.property.forms import CHOICES
from tests.laws.property.language import STEPS, _step
from tests.laws.property.shrinking import smallest
from tinynet.capture import compiled
from tinynet.capture.native import fusion

from . import twins
from .interpreted import interpret

QUICK, FULL = 60, 5000
SEED = 20261124


@pytest.fixture
def replays(monkeypatch):
    """Count replays in a list of one number."""
    count = [0]

    class Counting(compiled.Entry):
        def __init__(self, *args):
            super().__init__(*args)
            run = self.run

            def counted(*tensors, asked=False):
                result = run(*tensors, asked=asked)
                count[0] += result is not compiled.STALE and not asked
                return result

            self.run = counted

    monkeypatch.setattr(compiled, "Entry", Counting)
    return count


class LLVM:
    """tinynet, with the LLVM backend."""

    def __getattr__(self, name):
        return getattr(tn, name)

    def compile(self, function):
        return tn.compile(function, backend="llvm")


class Rounded:
    """An array that is equal to those of the same numbers but for rounding."""

    def __init__(self, array):
        self.array = np.array(array)

    def __eq__(self, other):
        a, b = self.array, other.array
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind != "f":
            return np.array_equal(a, b)
        largest = np.abs(b[np.isfinite(b)]).max(initial=1)
        # Rounding grows with the steps: exponentials of exponentials, quotients of small numbers.
        return np.allclose(a, b, rtol=2e-3, atol=1e-4 * largest, equal_nan=True)

    def __repr__(self):
        return repr(self.array)


@pytest.fixture
def llvm(monkeypatch):
    """The library whose compiled functions have native parts."""
    pytest.importorskip("llvmlite")
    interpret(monkeypatch)
    monkeypatch.setattr(twins, "exact", Rounded)
    monkeypatch.setattr(twins, "shown", str)
    with np.errstate(all="ignore"):
        yield LLVM()


@pytest.fixture
def native(monkeypatch):
    """Count native functions in a list of one number."""
    count, before = [0], fusion._native

    def counted(run, later):
        made = before(run, later)
        count[0] += made[0] is not run[0]
        return made

    monkeypatch.setattr(fusion, "_native", counted)
    return count


def parted(steps, seed, library=tn):
    """How the two ways to run a program differ, or None."""
    try:
        twins.run(steps, seed, library)
    except twins.PartedError as found:
        return found
    return None


def check(seed, library):
    """Fail with the smallest program that shows the same difference."""
    random = Random(seed)
    steps = [_step(CHOICES, random) for _ in range(STEPS)]
    found = parted(steps, seed, library)
    if found is None:
        return

    def fails(shorter):
        other = parted(shorter, seed, library)
        return other is not None and other.kind == found.kind

    raise parted(smallest(steps, fails), seed, library) or found


def run_programs(number, seed, replays, library=tn):
    """Run programs; return how many were replayed at least once."""
    replayed = 0
    for i in range(number):
        before = replays[0]
        check(seed + i, library)
        replayed += replays[0] > before
    return replayed


def test_some_programs(replays):
    assert run_programs(QUICK, SEED, replays) > QUICK / 3


def test_some_programs_with_native_parts(replays, llvm, native):
    run_programs(QUICK // 2, SEED, replays, llvm)
    assert native[0] > QUICK / 20


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_many_programs(request, replays, capsys, backend):
    asked = request.config.getoption("--hypothesis-seed", default=None)
    seed = SEED if asked is None else int(asked)
    library = tn if backend == "numpy" else request.getfixturevalue("llvm")
    replayed = run_programs(FULL, seed, replays, library)
    with capsys.disabled():
        print(f"\n{FULL} programs, --hypothesis-seed={seed}: {replayed} replayed")
