"""A pass over programs: a batch norm and the relu behind it, and their gradients, as one call each.

Such calls go through memory once less, forward and backward: where the relu is zero follows from
the input of the norm.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import numpy as np

from tinynet.capture.native.forms import formula_of
from tinynet.capture.program import Call, Value
from tinynet.dtypes import Array
from tinynet.nn.functional.normalization.layout import Blocks
from tinynet.nn.functional.normalization.normalization_ops import batch_normalized


def norm_relu(
    x: Array, weight: Array, bias: Array, blocks: Blocks, eps: float
) -> tuple[Array, Array, Array]:
    """Return the relu of the normalised input, and mean and variance of each channel."""
    y, mean, var = batch_normalized.kernel(x, weight, bias, blocks, eps)
    return np.maximum(y, 0), mean, var


def norm_relu_slope(
    g: Array, x: Array, weight: Array, bias: Array, mean: Array, var: Array, blocks: Blocks,
    eps: float,
) -> Any:  # fmt: skip
    """Return the gradients of ``norm_relu`` by the input, the weight and the bias."""
    y = norm_relu(x, weight, bias, blocks, eps)[0]
    formula = (batch_normalized.formulas or {})["input"]
    slope = np.where(y != 0, g, np.zeros((), g.dtype))
    return formula(slope, x, weight, bias.shape, mean, var, blocks, eps, (True, True, True))


def with_relu_in_norms(calls: list[Call], kept: list[Value]) -> list[Call]:
    """Return a program with both as one call where nothing else uses what is between them.

    Args:
        calls: the program.
        kept: values that are needed after it.
    """
    uses = Counter(v.number for call in calls for v in call.inputs())
    uses.update(v.number for v in kept)
    made: list[Call | None] = []
    places: dict[int, int] = {}  # the calls that make norms and slopes of relus, by their results
    norms: dict[tuple[int, int], Call] = {}  # by the numbers of their results and means
    for call in calls:
        kind, first = _kind(call), call.args[0] if call.args else None
        number = first.number if isinstance(first, Value) and uses[first.number] == 1 else -1
        at = places.get(number, -1)
        before = made[at] if at >= 0 else None
        if kind in ("norm", "relu slope"):
            places[next(call.outputs()).number] = len(made)
        if kind == "relu" and before is not None and _kind(before) == "norm":
            joined = _call(before, norm_relu, before.args)
            joined.result = (call.result, *before.result[1:])
            norms[call.result.number, before.result[1].number] = made[at] = joined
        elif kind == "norm slope" and before is not None and _kind(before) == "relu slope":
            _, x, weight, _, mean, var, blocks, eps, needs = call.args
            norm = norms.get((before.args[1].number, mean.number))
            if norm is not None and all(needs):
                made[at] = None
                given = before.args[0], x, weight, norm.args[2], mean, var, blocks, eps
                call = _call(call, norm_relu_slope, given)
            made.append(call)
        else:
            made.append(call)
    return [call for call in made if call is not None]


def _kind(call: Call) -> str:
    """Return what a call is to this pass."""
    if call.kind != "compute" or call.kwargs:
        return ""
    if call.op is not None:
        name, which = call.op.name, ""
    else:
        owner = formula_of(call.function)
        name, which = (owner[0].name, owner[1]) if owner else ("", "")
    blocks = next((a for a in call.args if isinstance(a, Blocks)), None)
    if blocks is not None and not (blocks.shared and blocks.channels == blocks.places == 1):
        return ""
    kinds = {
        ("batch_normalized", ""): "norm",
        ("batch_normalized", "joint"): "norm slope",
        ("relu", ""): "relu",
        ("relu", "self"): "relu slope",
    }
    return kinds.get((name, which), "")


def _call(call: Call, function: Any, args: Any) -> Call:
    made = copy.copy(call)
    made.function, made.args, made.op = function, tuple(args), None
    return made
