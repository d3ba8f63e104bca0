"""Random programs under tinynet and PyTorch at once: they must not part.

The quick form runs the same few hundred programs each time, the full one (`--full`) 5,000 of 30
steps from a seed that it prints; `--hypothesis-seed=N` gives it another one. A program that parts
them is made small and shown as source.
"""

import hypothesis
import pytest
from hypothesis import strategies as st

import tinynet as tn

from . import lockstep
from .found import FOUND
from .language import STEPS, programs
from .shrinking import smallest

VERSION = "2.13.0"
QUICK, FULL = 400, 5000
SEED = 20260213


@pytest.fixture(scope="module")
def torch():
    library = pytest.importorskip("torch", reason=f"the oracle is PyTorch {VERSION}: not installed")
    if library.__version__.partition("+")[0] != VERSION:
        pytest.skip(f"the oracle is PyTorch {VERSION}, not {library.__version__}")
    threads = library.get_num_threads()
    library.set_num_threads(1)
    yield library
    library.set_num_threads(threads)


@pytest.fixture(autouse=True)
def refuse_leaf_writes():
    """As PyTorch does today: indexed assignment to a leaf is refused at once."""
    tn.autograd.set_strict_leaf_writes(True)
    yield
    tn.autograd.set_strict_leaf_writes(False)


def parted(program, torch, watch):
    """How the libraries parted, or None."""
    try:
        lockstep.run(program, tn, torch, watch)
    except lockstep.PartedError as found:
        return found
    return None


def check(program, torch, watch):
    """Fail with the smallest program that parts the libraries in the same attribute."""
    found = parted(program, torch, watch)
    if found is None:
        return

    def fails(shorter):
        other = parted(shorter, torch, watch)
        return other is not None and other.kind == found.kind

    raise parted(smallest(program, fails), torch, watch) from None


def run_programs(torch, number, **settings):
    # Programs are made small here, so Hypothesis shall not try.
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]

    @hypothesis.settings(
        max_examples=number,
        phases=phases,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        **settings,
    )
    @hypothesis.given(programs(), st.booleans())
    def never_part(program, watch):
        check(program, torch, watch)

    return never_part


def test_some_programs(torch):
    run_programs(torch, QUICK, derandomize=True)()


@pytest.mark.slow
def test_many_programs(torch, request, capsys):
    asked = request.config.getoption("--hypothesis-seed", default=None)
    seed = SEED if asked is None else int(asked)
    with capsys.disabled():
        print(f"\n{FULL} programs of {STEPS} steps, --hypothesis-seed={seed}")
    hypothesis.seed(seed)(run_programs(torch, FULL, print_blob=True))()


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.name)
def test_found_programs_answer_as_recorded(torch, found):
    assert found.answer_of(torch) == found.answer
