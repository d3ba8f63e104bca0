"""The results of the search for the first NaN or infinity of a step, and their messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import Location
from tinynet.core.messages import row
from tinynet.dtypes import Array

# ---- hints --------------------------------------------------------------------------------------
# Advice on operations that produce NaN or infinity from finite numbers.


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


# ---- suspects -----------------------------------------------------------------------------------


FINITE, INFINITE, NAN = 0, 1, 2


def badness(array: Array) -> int:
    """Return FINITE, INFINITE or NAN: the worst value in an array."""
    if array.dtype.kind not in "fc" or np.isfinite(array).all():
        return FINITE
    return NAN if np.isnan(array).any() else INFINITE


@dataclass(frozen=True)
class Values:
    """A summary of the values of an array."""

    name: str
    dtype: str
    shape: list[int]
    low: float | None
    """The smallest finite value; None if there is none."""

    high: float | None
    nans: int = 0
    infinities: int = 0

    @classmethod
    def of(cls, name: str, array: Array) -> Values:
        """Return the summary of an array."""
        finite = array[np.isfinite(array)] if dtypes.is_floating(array.dtype) else array
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (None, None)
        nans = int(np.isnan(array).sum()) if dtypes.is_floating(array.dtype) else 0
        infinities = array.size - finite.size - nans
        return cls(name, str(array.dtype), [*array.shape], low, high, nans, infinities)

    def __str__(self) -> str:
        """Such as ``x float32 [2, 3] from 0 to 1, with 2 NaN``."""
        text = f"{self.name} {self.dtype} {self.shape}".strip()
        if self.low is not None and self.high is not None:
            text += f" from {self.low:.6g} to {self.high:.6g}"
        counts = [f"{n} {what}" for n, what in ((self.nans, "NaN"), (self.infinities, "inf")) if n]
        return f"{text}, with {' and '.join(counts)}" if counts else text


@dataclass(frozen=True)
class Suspect:
    """An operation that produced a value that is not finite, or a tensor that held it."""

    kind: str
    """``"forward"`` and ``"backward"``: an operation; ``"constant"``: an operation that was passed
    the value; ``"batch"``, ``"weights"``: a tensor that held the value before the step;
    ``"elsewhere"``: a tensor that no operation produced."""

    name: str
    """The name of the operation or the tensor."""

    module: str = ""
    """The path of its module, starting with the class of the model."""

    line: Location | None = None
    """The line of the user's code, if known."""

    inputs: list[Values] = field(default_factory=list)
    output: Values | None = None
    place: list[int] = field(default_factory=list)
    """The index of the first element of the output that is not finite."""

    values: dict[str, str] = field(default_factory=dict)
    """The values of the inputs at that index, if known."""

    rows: list[int] = field(default_factory=list)
    """The first affected rows of the batch, if known."""

    count: int = 0
    """The number of affected rows."""

    hint: str = ""
    role: str = "made"
    """``"made"`` for the first suspect; ``"then"`` or ``"from"`` for a later or earlier one."""

    def lines(self) -> list[str]:
        """Return the lines of the message."""
        if self.kind in ("batch", "weights", "elsewhere"):
            return self._lines_of_tensor()
        what = f"by {self.name}{f' in {self.module}' if self.module else ''}"
        if self.kind == "backward" and self.line is not None:
            what += ", the derivative of this line"
        lines = row(self.role, self.line, what)
        lines += [f"  {'inputs' * (not i):<8} {values}" for i, values in enumerate(self.inputs)]
        lines.append(f"  {'output':<8} {self.output}; the first at {self.place}{self._from()}")
        return lines

    @property
    def brief(self) -> str:
        """A clause, such as ``made by log in Net.head``."""
        if self.kind in ("batch", "weights", "elsewhere"):
            of = {"batch": "of the batch", "weights": "of the model", "elsewhere": "a tensor"}
            return f"it was in {self.name} {of[self.kind]}".replace("  ", " ")
        return f"made by {self.name}{f' in {self.module}' if self.module else ''}"

    def _from(self) -> str:
        if not self.values:
            return ""
        return ", from " + ", ".join(f"{name} = {value}" for name, value in self.values.items())

    def _lines_of_tensor(self) -> list[str]:
        label = "origin" if self.role == "made" else self.role
        what = {
            "batch": f"the batch: {self.name} had it already, the first at {self.place}",
            "weights": f"the model: {self.name} had it before the step",
            "elsewhere": "a tensor created outside the step (for example from numpy)",
        }[self.kind]
        lines = [f"  {label:<8} {what}"]
        if self.kind != "batch":  # always shown
            lines.append(f"  {'values':<8} {self.output}; the first at {self.place}")
        return lines

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> Suspect:
        """Return the suspect of a dict from `dataclasses.asdict`."""
        line, output = saved["line"], saved["output"]
        inputs = [Values(**values) for values in saved["inputs"]]
        return cls(
            **{
                **saved,
                "line": None if line is None else Location(*line),
                "inputs": inputs,
                "output": None if output is None else Values(**output),
            }
        )


def first_bad(array: Array) -> tuple[int, ...]:
    """Return the index of the first element that is not finite."""
    return tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
