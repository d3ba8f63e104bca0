"""Where tinynet shows something else than PyTorch on purpose, each with its reason.

A departure is written into PyTorch's answer, so that what tinynet must show instead is checked.
There are two kinds: `Departure` (of the operations' test, whose general ones hold here, too)
replaces a text wherever it stands; `Instead` replaces what is seen at certain places.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.oracle.departures import DEPARTURES as OF_OPERATIONS
from tests.oracle.departures import Departure, Matching
from tests.oracle.departures import depart as with_texts_replaced

from .spec import Program


@dataclass(frozen=True)
class Instead:
    """In one program, what tinynet shows at some places (dotted paths into the answer); None
    where it shows nothing."""

    reason: str
    program: str
    shows: Mapping[str, Any]


GENERAL = tuple(d for d in OF_OPERATIONS if d.cases == "*")

TEXTS = (
    Departure(
        "The seeds have these words for a second backward.",
        said=r"Trying to backward through the graph a second time \(or directly access.*",
        ours=lambda said: (
            r"Trying to backward through the graph a second time, but the (saved intermediate"
            r" results|buffers) have already been freed"
        ),
    ),
    Departure(
        "The seeds print <CopySlices> after `a[:] = 0`; PyTorch 2.13 sees that the whole tensor"
        " is written and skips the view.",
        said=r"FillBackward3|CopyBackwards",
        ours=lambda said: "CopySlices",
        cases="indexed_writes/*",
    ),
    Departure(
        "The same for `y[...] = x` and `y[()] = 7.0` without dimensions, and without elements.",
        said=r"FillBackward3|CopyBackwards",
        ours=lambda said: "CopySlices",
        cases="sizes/a*_result_written_*",
    ),
    Departure(
        "The seeds name the producer of a value that was written in part: AddBackward0 after"
        " `b[0] = 1000`. PyTorch 2.13 names the write.",
        said=r"(.* is output 0 of )tinynet::autograd::CopySlices(, is .*)",
        ours=lambda said: rf"{re.escape(said[1])}\w+Backward\d{re.escape(said[2])}",
    ),
    Departure(
        "An attribute without setter is refused in Python's own words.",
        said=r"attribute '\w+' of 'tinynet._C.TensorBase' objects is not writable",
        ours=lambda said: r"property .*of 'Tensor' object has no setter",
    ),
    Departure(
        "A wrong number of arguments is refused in Python's own words.",
        said=r"missing a required argument: '(\w+)'",
        ours=lambda said: rf".* missing 1 required positional argument: '{said[1]}'",
    ),
)

SAVED_ARRAYS = "Nodes save arrays, never tensors: a result that was saved dies with its name."

INSTEAD = (
    Instead(
        "The gradient of a leaf never shares memory with the one that was given to backward.",
        "gradients/the_gradient_of_a_view_is_a_tensor_of_its_own",
        {
            "sees.g": {"tensor": np.array([1.0, 2.0, 3.0, 4.0], "float32")},
            "sees.x.grad.memory_of": None,
        },
    ),
    Instead(
        SAVED_ARRAYS,
        "copies/a_result_that_was_saved_does_not_keep_its_tensor",
        {"sees.gone": True},
    ),
    Instead(
        SAVED_ARRAYS,
        "copies/a_written_tensor_leaves_no_cycle",
        {"sees.gone": True},
    ),
    Instead(
        "A context that is entered twice restores the mode of each time; PyTorch's no_grad"
        " remembers only the last and leaves recording off.",
        "modes/one_context_object_entered_twice",
        {"sees.states": [False, False, False, True]},
    ),
    Instead(
        "Decorating a class with a grad mode never worked; PyTorch warns that it will be refused.",
        "modes/a_decorated_class_is_refused_or_warned_of",
        {
            "warns": None,
            "sees.error": {
                "raises": "TypeError",
                "says": "no_grad decorates functions, not classes: decorate __init__ instead",
            },
        },
    ),
    Instead(
        "A hook on a view runs also if another one was registered before its base was written;"
        " PyTorch puts it on the view's old node, where it never runs.",
        "hooks_and_writes/a_hook_on_a_view_whose_base_is_written",
        {"sees.log": ["after"]},
    ),
    Instead(
        "More gradients than outputs are a mistake; PyTorch's grad ignores the rest.",
        "grad/too_many_gradients_are_refused",
        {
            "sees.error": {
                "raises": "RuntimeError",
                "says": "got 1 tensors and 2 gradients",
            }
        },
    ),
    Instead(
        "A gradient that is no tensor is refused in words; PyTorch tries to iterate over it.",
        "backward/a_gradient_that_is_no_tensor_is_refused",
        {
            "sees.error": {
                "raises": "TypeError",
                "says": "gradients can be either Tensors or None, but got float",
            }
        },
    ),
    Instead(
        "tinynet warns of a tensor on ctx, which escapes the checks of save_for_backward.",
        "function_contexts/a_value_on_ctx_is_a_constant_in_the_second_derivative_or_leaks",
        {"warns": [Matching(r"UserWarning: Custom.forward stores a tensor on ctx outside .*")]},
    ),
)


def depart(program: Program, answer: dict[str, Any]) -> dict[str, Any]:
    """PyTorch's answer to a program, with tinynet's departures written into it."""
    mine = [d for d in INSTEAD if d.program == program.id]
    return with_texts_replaced(program.id, replaced(answer, mine), (*TEXTS, *GENERAL))


def replaced(answer: dict[str, Any], departures: list[Instead]) -> dict[str, Any]:
    """The answer with other things at the places that the departures name."""
    answer = copy.deepcopy(answer)
    for departure in departures:
        for path, value in departure.shows.items():
            *outer, last = path.split(".")
            place = answer
            for key in outer:
                place = place[key]
            if value is None:
                del place[last]
            else:
                place[last] = value
    return answer
