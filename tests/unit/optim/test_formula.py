"""The update of an optimizer is one formula: numpy's blocks and native loops agree to the bit."""

import numpy as np
import pytest

import tinynet as tn
from tinynet import optim
from tinynet.optim.base.elementwise import Elementwise
from tinynet.optim.base.formula import Formula, maximum, where

from .trajectories import RUNS

LABELS = [
    label
    for label, (name, _, grouped) in RUNS.items()
    if issubclass(getattr(optim, name), Elementwise) and not grouped
]


def by_elements(formula, numbers, arrays):
    """Run the lines of a native loop in Python, on numbers of float32."""
    names = ["param", "grad", *formula.state]
    space = {f"x{n}": a for n, a in zip(names, arrays, strict=True)}
    space |= {f"x{n}": np.float32(x) for n, x in zip(formula.numbers, numbers, strict=True)}
    code = compile("\n".join(formula.native_lines("x", "i")), "loop", "exec")
    for i in range(len(arrays[0])):
        exec(code, {"np": np, "float32": np.float32, "i": i}, space)


@pytest.mark.parametrize("label", LABELS)
def test_both_readers_agree(label):
    name, options, _ = RUNS[label]
    p = tn.randn(40, generator=tn.Generator().manual_seed(3)).requires_grad_()
    optimizer = getattr(optim, name)([p], **options)
    (group,) = optimizer.param_groups
    for step in range(9):
        p.grad = tn.randn(40, generator=tn.Generator().manual_seed(step))
        if step > 0:  # the state exists
            slot = optimizer._slots[id(p)]
            formula, numbers, _ = optimizer.next_step(group, slot.numbers)
            arrays = [p.detach().numpy().copy(), p.grad.numpy(), *(a.copy() for a in slot.buffers)]
            by_elements(formula, numbers, arrays)
        optimizer.step()
        if step > 0:
            now = [p.detach().numpy(), p.grad.numpy(), *slot.buffers]
            for mine, theirs in zip(arrays, now, strict=True):
                np.testing.assert_array_equal(mine, theirs)


def test_values_of_the_state_are_overwritten_after_their_last_use():
    """Here the new state needs the old parameter, and the new parameter the old state."""

    def swap(c, param, grad, state):
        return maximum(state * c.rate, grad), where(grad > 0, param, 0.0)

    formula = Formula(swap, {"rate": 0.5, "unused": None, "flag": True}, ["state"])
    assert formula.numbers == ["rate"]
    param, grad, state = np.array([1.0, 2.0]), np.array([3.0, -4.0]), np.array([8.0, 16.0])
    block = formula.bind([np.array(0.5)])
    block(param, grad, *np.empty((3, 2)), state)
    assert param.tolist() == [4.0, 8.0] and state.tolist() == [1.0, 0.0]
    assert grad.tolist() == [3.0, -4.0]
