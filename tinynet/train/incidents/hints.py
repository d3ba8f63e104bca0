"""What to do about an operation that made NaN or infinity of finite numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tinynet.dtypes import Array

_LARGE = 1e15  # no network that learns computes with such numbers
_LOGARITHMS = {"log", "log2", "log10", "xlogy"}
_DIVISIONS = {"div", "truediv", "reciprocal", "rsqrt", "floor_divide", "remainder", "fmod"}
_ROOTS = {"sqrt", "rsqrt"}
_EXPONENTIALS = {"exp", "exp2", "expm1", "sinh", "cosh"}
_NORMALISED = {"softmax", "log_softmax", "logsumexp", "_softmax", "_log_softmax"}


def hint_for(
    name: str, inputs: Mapping[str, Array], output: Array, values: Mapping[str, float]
) -> str:
    """What to do, as half a sentence.

    Args:
        name: of the operation.
        inputs: by name.
        output: what it made.
        values: what stood in the inputs where the output is not finite, as far as known.
    """
    if name in _NORMALISED and any(np.isneginf(array).any() for array in inputs.values()):
        return (
            "a row of nothing but -inf (everything in it is masked) has no softmax: leave one "
            "element of each row, or use a large negative number in place of -inf"
        )
    if _largest(inputs) > _LARGE:
        return (
            "the numbers had grown out of all measure before: a smaller optimizer.lr, "
            "optimizer.clip_norm, a warm-up, or inputs near 0 with a spread near 1"
        )
    given = next(iter(values.values()), 1.0)
    if name in _LOGARITHMS:
        return "log of 0 is -inf, of less NaN: `x.clamp(min=1e-12).log()`, or log_softmax"
    if name in _ROOTS and given < 0:
        return "there is no root of a negative number: `x.clamp(min=0).sqrt()`"
    if name in _DIVISIONS:
        return "something is divided by 0: add a small number to it, or `clamp` it away from 0"
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
