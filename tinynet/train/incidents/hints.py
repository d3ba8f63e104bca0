"""Advice on operations that produce NaN or infinity from finite numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tinynet.dtypes import Array

LARGE = 1e15  # larger than any number in a network that learns
_LOGARITHMS = {"log", "log2", "log10", "xlogy"}
_DIVISIONS = {"div", "truediv", "reciprocal", "rsqrt", "floor_divide", "remainder", "fmod"}
_ROOTS = {"sqrt", "rsqrt"}
_EXPONENTIALS = {"exp", "exp2", "expm1", "sinh", "cosh"}
_NORMALISED = {"softmax", "log_softmax", "logsumexp", "_softmax", "_log_softmax"}


def hint_for(
    name: str, inputs: Mapping[str, Array], output: Array, values: Mapping[str, float]
) -> str:
    """Return advice as a clause; "" if there is none.

    Args:
        name: the name of the operation.
        inputs: the inputs by name.
        output: the output.
        values: the known input values at the first element that is not finite.
    """
    if name in _NORMALISED and any(np.isneginf(array).any() for array in inputs.values()):
        return (
            "a row of only -inf (fully masked) has no softmax: keep one element of each row, "
            "or use a large negative number in place of -inf"
        )
    if _largest(inputs) > LARGE:
        return (
            "the numbers had already become huge: try a smaller optimizer.lr, optimizer.clip_norm, "
            "a warm-up, or inputs with a mean near 0 and a spread near 1"
        )
    given = next(iter(values.values()), 1.0)
    if name in _LOGARITHMS:
        return "log of 0 is -inf, of less NaN: use `x.clamp(min=1e-12).log()`, or log_softmax"
    if name in _ROOTS and given < 0:
        return "a negative number has no square root: use `x.clamp(min=0).sqrt()`"
    if name in _DIVISIONS:
        return "a division by 0: add a small number to the divisor, or `clamp` it away from 0"
    if name in _EXPONENTIALS:
        most = np.log(np.finfo(output.dtype).max)
        return (
            f"{name} of more than {most:.4g} is too large for {output.dtype}: log_softmax, "
            "logsumexp and the losses that take logits do not overflow"
        )
    return ""


def _largest(inputs: Mapping[str, Array]) -> float:
    with np.errstate(invalid="ignore"):
        return max(
            (float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in inputs.values()), default=0.0
        )
