"""numpy's errors: translated into PyTorch's; silent overflow inside tinynet."""

from __future__ import annotations

import itertools
import operator
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.callsite import is_outside

# ---- numpy's errors, as PyTorch's ----------------------------------------------------------------


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
    if isinstance(error, TypeError) and (text := _not_whole(op, sys._getframe(1).f_locals)):
        return TypeError(f"{op.title}(): {text}")
    if isinstance(error, TypeError) and "ufunc" in str(error):
        kind = dtypes.of(arrays[0]).scalar_name
        return NotImplementedError(f"\"{op.name}_cpu\" not implemented for '{kind}'")
    return errors.unallocated(error)


def _not_whole(op: Any, given: Mapping[str, Any]) -> str | None:
    """Describe the first argument that is declared as an int and is none; None if all are."""
    wanted = op.declared.__annotations__
    for position, name in enumerate(op.attributes, len(op.tensors) + 1):
        if wanted.get(name) == "int":
            try:
                operator.index(given[name])
            except TypeError:
                kind = type(given[name]).__name__
                return f"argument '{name}' (position {position}) must be int, not {kind}"
    return None


# ---- float errors -------------------------------------------------------------------------------
# Division by zero, overflow and invalid values: silent inside tinynet, as in PyTorch.
# numpy warns about them, and a warning for each ``log(0)`` of a training step would be noise at
# best (and an error where warnings are errors). Disabling the warnings per operation would cost
# more than many operations do, and disabling them globally would hide those of user code. So numpy
# calls a function that is silent for tinynet's frames and warns for all others.


_NUMPY = np.__file__.rpartition("/")[0] or np.__file__


def _report(kind: str, flag: int) -> None:
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NUMPY):
        frame, level = frame.f_back, level + 1
    if is_outside(frame.f_code.co_filename):
        warnings.warn(f"{kind} encountered", RuntimeWarning, stacklevel=level)


def install() -> None:
    """Take over numpy's floating-point errors that are set to ``"warn"``."""
    warned = {name: "call" for name, how in np.geterr().items() if how == "warn"}
    np.seterr(**warned)  # type: ignore[arg-type]
    np.seterrcall(_report)
