"""Whether a replay gave what the function gave: to the bit, or but for rounding.

Native functions take sums in another order. So their results, gradients and updates are accepted if
they differ by at most 1 % (updates: 10 %) in the Euclidean norm. Values below a thousandth of the
largest of their kind may be nothing but rounding, and so may be what optimizers make of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.capture.verify.appearance import (
    OF_GRADIENT,
    OF_OBJECT,
    OF_RESULT,
    OF_TENSOR,
    Appearance,
    Form,
    Sight,
)
from tinynet.dtypes import Array

CLOSE, CLOSE_UPDATE = 1e-2, 1e-1  # of the norm of a result or gradient, and of an update
NOISE = 1e-3  # of the largest value of a kind


def is_same(sight: Sight, a: Any, b: Any) -> bool:
    """Return whether two values are the same to the bit."""
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return type(a) is type(b) and bool(a == b or (a != a and b != b))
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind not in "fcV":
        return False
    both = np.isnan(a) & np.isnan(b)
    same = (a == b) & (np.signbit(a.real) == np.signbit(b.real))
    return bool(np.all(same | both))


class Closeness:
    """Whether values of a replay are close to those of the function.

    Args:
        before: what could be seen before the call.
        replayed: what can be seen after the replay.
        eager: what can be seen after the function.
    """

    def __init__(self, before: Appearance, replayed: Appearance, eager: Appearance):
        self._before = before
        self._largest: dict[tuple[str, str], float] = {}
        for sight, value in eager.items():
            key = _kin(sight)
            self._largest[key] = max(self._largest.get(key, 0.0), _largest(value))
        self._gradients = [
            {s.number: v for s, v in side.items() if s.role == OF_GRADIENT and "values" in s.what}
            for side in (replayed, eager)
        ]

    def accepts(self, sight: Sight, a: Any, b: Any) -> bool:
        """Return whether a value of a replay is close to that of the function."""
        if is_same(sight, a, b):
            return True
        if isinstance(a, Form) and isinstance(b, Form):
            return a._replace(strides=None) == b._replace(strides=None)
        a, b = _parts(a), _parts(b)
        if not _are_floats(a, b):
            return sight.role == OF_RESULT and _mostly_equal(a, b)
        noise = NOISE * self._largest[_kin(sight)] * float(np.sqrt(a.size))
        with np.errstate(all="ignore"):
            if _norm(a - b) <= noise / 2:  # the usual case; not so with NaN
                return True
            a, b = (np.atleast_1d(x).astype(np.float64) for x in (a, b))
            compared = np.isfinite(a) & np.isfinite(b)
            if not _mostly_equal(np.isfinite(a), np.isfinite(b)):
                return False
            if sight.role in (OF_RESULT, OF_GRADIENT):
                bound = CLOSE * _norm(b[compared]) + noise
            else:
                compared &= self._are_sure(sight, a.shape)
                before = _parts(self._before.get(sight))
                update = b - before if _are_floats(before, before) else b
                bound = CLOSE_UPDATE * _norm(update[compared]) + noise
            return _norm((a - b)[compared]) <= bound

    def _are_sure(self, sight: Sight, shape: tuple[int, ...]) -> Array:
        """Return where the gradient of a tensor is known well enough to know its update."""
        a, b = (_parts(side.get(sight.number)) for side in self._gradients)
        if sight.role != OF_TENSOR or a is None or b is None or not _are_floats(a, b):
            return np.ones(shape, bool)
        a, b = a.astype(np.float64), b.astype(np.float64)
        return np.abs(a - b) <= CLOSE * np.abs(b)


def _parts(value: Any) -> Any:
    """Return the real and imaginary parts of complex arrays as one; others as they are."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "c":
        return value
    return np.stack((value.real, value.imag))


def _kin(sight: Sight) -> tuple[str, str]:
    """Return what values of one magnitude have in common, such as the second moments of Adam."""
    return sight.role, sight.what.rpartition("[")[2] if sight.role == OF_OBJECT else ""


def _are_floats(a: Any, b: Any) -> bool:
    arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return arrays and a.shape == b.shape and a.dtype == b.dtype and a.dtype.kind in "fV"


def _mostly_equal(a: Any, b: Any) -> bool:
    """Return whether 99 % of two arrays are equal: a comparison may turn on rounding."""
    arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape
    return arrays and bool(np.mean(a != b) <= CLOSE if a.size else True)


def _norm(x: Array) -> float:
    return float(np.sqrt(np.sum(np.square(x))))


def _largest(value: Any) -> float:
    value = _parts(value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fV" or not value.size:
        return 0.0
    finite = np.isfinite(value)
    sizes = np.abs(value) if finite.all() else np.abs(value[finite])
    return float(np.max(sizes, initial=0))
