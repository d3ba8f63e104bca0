"""State_dicts of PyTorch's optimizers load in tinynet, and vice versa."""

import copy

import numpy as np
import pytest

import tinynet as tn

from .algorithms import ALGORITHMS
from .trajectories import descend, loss_of

SHAPES = [(3, 2), (2, 5)]
NAMES = [name for name in ALGORITHMS if name != "SparseAdam"]


def converted(value, lib):
    """Return a value with the tensors of another library."""
    if isinstance(value, dict):
        return {k: converted(v, lib) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(converted(v, lib) for v in value)
    if hasattr(value, "detach"):
        return lib.tensor(value.detach().numpy().copy())
    return value


def started(lib, name):
    random = np.random.RandomState(0)
    params = [lib.tensor(random.standard_normal(s)).requires_grad_() for s in SHAPES]
    return params, getattr(lib.optim, name)(params, lr=0.05, **ALGORITHMS[name].full)


def run(lib, name, made, params, steps):
    if name != "LBFGS":
        descend(lib, made, params, steps)
        return

    def closure():
        made.zero_grad()
        loss = loss_of(params, 0)
        loss.backward()
        return loss

    made.step(closure)


def resumed(first, second, name):
    """Return the parameters after steps in one library, then in the other."""
    params, made = started(first, name)
    run(first, name, made, params, range(3))
    others, taken = started(second, name)
    with second.no_grad():
        for p, q in zip(others, params, strict=True):
            p.copy_(second.tensor(q.detach().numpy()))
    taken.load_state_dict(converted(copy.deepcopy(made.state_dict()), second))
    run(second, name, taken, others, range(3, 6))
    return [p.detach().numpy() for p in others]


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_a_run_goes_on_in_the_other_library(name):
    torch = pytest.importorskip("torch")
    expected = resumed(torch, torch, name)
    # PyTorch casts float32 numbers in the state to the parameter's float64 when it loads them.
    close = 1e-7 if name in ("ASGD", "NAdam") else 1e-9
    for first, second in ((torch, tn), (tn, torch), (tn, tn)):
        for one, other in zip(resumed(first, second, name), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=close, atol=close)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_goes_on_from_a_saved_state(name):
    params, made = started(tn, name)
    run(tn, name, made, params, range(3))
    run(tn, name, made, params, range(3, 6))
    for one, other in zip(resumed(tn, tn, name), params, strict=True):
        np.testing.assert_allclose(one, other.detach().numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_copied_optimizer_goes_on_by_itself(name):
    params, made = started(tn, name)
    run(tn, name, made, params, range(3))
    others, twin = copy.deepcopy((params, made))
    run(tn, name, made, params, range(3, 6))
    run(tn, name, twin, others, range(3, 6))
    assert [p.tolist() for p in others] == [p.tolist() for p in params]
    assert twin.param_groups[0]["params"][0] is others[0]
