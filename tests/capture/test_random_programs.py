"""Random programs eager and compiled: to the bit the same, versions, aliases and errors included.

A call that is not replayed runs eagerly, which is allowed; the tests report how many do.
"""

import gc
from random import Random

import pytest

import tinynet as tn
from tests.property.forms import CHOICES
from tests.property.language import STEPS, _step
from tests.property.shrinking import smallest
from tinynet.capture import compiled

from . import twins

QUICK, FULL = 120, 5000
SEED = 20261124


@pytest.fixture(autouse=True)
def fast_captures():
    """A capture looks at all tensors that are alive; those of other tests do not matter here."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def replays(monkeypatch):
    """Count replays in a list of one number."""
    count = [0]

    class Counting(compiled.Entry):
        def __init__(self, *args):
            super().__init__(*args)
            run = self.run

            def counted(*tensors):
                result = run(*tensors)
                count[0] += result is not compiled.STALE
                return result

            self.run = counted

    monkeypatch.setattr(compiled, "Entry", Counting)
    return count


def parted(steps, seed):
    """How the two ways to run a program differ, or None."""
    try:
        twins.run(steps, seed, tn)
    except twins.PartedError as found:
        return found
    return None


def check(seed):
    """Fail with the smallest program that shows the same difference."""
    random = Random(seed)
    steps = [_step(CHOICES, random) for _ in range(STEPS)]
    found = parted(steps, seed)
    if found is None:
        return

    def fails(shorter):
        other = parted(shorter, seed)
        return other is not None and other.kind == found.kind

    raise parted(smallest(steps, fails), seed) or found


def run_programs(number, seed, replays):
    """Run programs; return how many were replayed at least once."""
    replayed = 0
    for i in range(number):
        before = replays[0]
        check(seed + i)
        replayed += replays[0] > before
    return replayed


def test_some_programs(replays):
    assert run_programs(QUICK, SEED, replays) > QUICK / 3


@pytest.mark.slow
def test_many_programs(request, replays, capsys):
    asked = request.config.getoption("--hypothesis-seed", default=None)
    seed = SEED if asked is None else int(asked)
    replayed = run_programs(FULL, seed, replays)
    with capsys.disabled():
        print(f"\n{FULL} programs, --hypothesis-seed={seed}: {replayed} replayed")
