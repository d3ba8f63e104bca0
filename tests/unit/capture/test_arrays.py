"""Arrays of numpy in captured functions: constants while they do not change."""

import warnings

import numpy as np
import pytest

import tinynet as tn
from tests.unit.capture.pairs import same
from tinynet.compiler import CompileWarning

FACTORS, PLACES = np.ones(3, np.float32), np.arange(3)


def run(function, calls=9):
    """Compare calls with eager ones, while the global array changes; return the counts and why
    calls ran eagerly."""
    compiled, heard = tn.compile(function, verify=0), []
    for i in range(calls):
        seen = []
        for f in (function, compiled):
            FACTORS[:] = 1
            FACTORS[1] = 7 if i in (5, 6) else 1
            tn.manual_seed(i)
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                seen.append([f(tn.randn(3, 3)), FACTORS.tolist()])
            heard += [str(w.message) for w in found if issubclass(w.category, CompileWarning)]
        same(*seen, f"call {i}")
    return compiled.calls(), " ".join(heard)


def shared(x):
    return x * tn.from_numpy(FACTORS)


def copied(x):
    return x * tn.tensor(FACTORS) + tn.as_tensor(FACTORS).view(3, 1)


def indexed(x):
    return x[:, PLACES] + tn.tensor(np.arange(3), dtype=tn.float32)


def written_to_in_a_copy(x):
    y = tn.from_numpy(FACTORS).clone()
    y[0] = 0
    return x * y


@pytest.mark.parametrize("function", [shared, copied, indexed, written_to_in_a_copy])
def test_an_array_is_a_constant_until_it_changes(function):
    calls, heard = run(function)
    assert calls.replayed >= 4 and not heard


def writes(x):
    tn.from_numpy(FACTORS).add_(1)
    return x * FACTORS.sum()


def writes_to_a_view(x):
    tn.from_numpy(FACTORS)[0] = 9
    return x * 2


def writes_to_a_new_array(x):
    made = np.zeros(3, np.float32)
    tn.from_numpy(made).add_(1)
    return x * float(made.sum())


@pytest.mark.parametrize("function", [writes, writes_to_a_view, writes_to_a_new_array])
def test_writes_to_an_array_run_eagerly(function):
    calls, heard = run(function)
    assert calls.replayed == 0 and "changes an array of numpy" in heard


def changes_what_a_tensor_shares(x):
    made = np.zeros(3, np.float32)
    t = tn.from_numpy(made)
    y = t * x
    made[0] = 1
    return y + t * x


def passes_an_array_again(x):
    made, total = np.zeros(3, np.float32), x
    for i in range(3):
        made[i] = 1
        total = total + x * tn.tensor(made)
    return total


@pytest.mark.parametrize("function", [changes_what_a_tensor_shares, passes_an_array_again])
def test_an_array_that_changes_between_its_uses_runs_eagerly(function):
    calls, heard = run(function)
    assert calls.replayed == 0 and "changes an array that it has passed" in heard


def test_results_share_the_memory_of_the_array():
    compiled = tn.compile(lambda x: (tn.from_numpy(FACTORS), x * 2), verify=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for i in range(7):
            result = compiled(tn.ones(2))[0]
            FACTORS[0] = i
            assert result[0] == i
            del result


def test_random_numbers_of_numpy_are_no_constant():
    with pytest.warns(CompileWarning, match="draws random numbers"):
        run(lambda x: x * tn.from_numpy(np.random.rand(3)), calls=0)
        compiled = tn.compile(lambda x: x * tn.from_numpy(np.random.rand(3)), verify=0)
        for _ in range(5):
            compiled(tn.ones(3))
    assert compiled.calls().replayed == 0


def test_a_long_array_from_outside_runs_eagerly():
    long = np.ones(20_000, np.float32)
    calls, heard = run(lambda x: x * tn.tensor(long[:3]))
    assert calls.replayed == 0 and "20,000 items" in heard
