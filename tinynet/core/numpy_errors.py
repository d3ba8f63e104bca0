"""Translation of numpy's errors into PyTorch's."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors


def explain(op: Any, error: Exception, arrays: Sequence[Any]) -> Exception:
    """Return PyTorch's error for numpy's about shapes, dtypes or memory."""
    if op.mixed is not None and isinstance(error, TypeError):
        op.mixed(*arrays)
    if isinstance(error, ValueError) and "broadcast" in str(error):
        shapes = [a.shape for a in arrays if isinstance(a, np.ndarray)]
        for a, b in itertools.combinations(shapes, 2):
            for x, y in zip(a[::-1], b[::-1], strict=False):
                if x != y and 1 not in (x, y):
                    return errors.not_broadcastable(a, b)
    if isinstance(error, ValueError) and "negative integer powers" in str(error):
        return RuntimeError(str(error))
    if isinstance(error, TypeError) and str(error).startswith("argument '"):
        return TypeError(f"{op.title}(): {error}")
    if isinstance(error, TypeError) and "ufunc" in str(error):
        kind = dtypes.of(arrays[0]).scalar_name
        return NotImplementedError(f"\"{op.name}_cpu\" not implemented for '{kind}'")
    return errors.unallocated(error)
