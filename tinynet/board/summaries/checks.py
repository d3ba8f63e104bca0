"""Converting the arguments of `add_...` methods, with errors that name the tag."""

from __future__ import annotations

import numbers
import time
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor

_SCALARS: tuple[Any, ...] = (numbers.Number, str)


def number(tag: str, value: Any) -> float:
    """Return the value as a Python float; errors of `float` have a note with the tag."""
    found = value._array if isinstance(value, Tensor) else value
    if isinstance(found, (np.ndarray, np.generic)):
        if found.size != 1:
            raise AssertionError(
                "Tensor should contain one element (0 dimensions). "
                f"Was given size: {found.size} and {found.ndim} dimensions. "
                f"The value of {tag!r} must be one number."
            )
        found = found.item()
    if not isinstance(found, _SCALARS):
        raise NotImplementedError(f"{_no_array(value)} The value of {tag!r} must be a number.")
    try:
        return float(found)
    except (OverflowError, TypeError, ValueError) as error:
        error.add_note(f"This was raised for the value of {tag!r}.")
        raise


def array(method: str, name: str, value: Any) -> np.ndarray[Any, Any]:
    """Return the parameter `name` of a method as a real array, without copying if possible."""
    found = value._array if isinstance(value, Tensor) else value
    try:
        found = np.asarray(found)
    except ValueError:  # a ragged list
        found = np.asarray(None)
    if found.dtype.kind in "biuf" or found.dtype.name == "bfloat16":
        return found
    wanted = f"The '{name}' parameter of {method} must be a tensor or an array of real numbers."
    if found.dtype.kind == "O":
        raise NotImplementedError(f"{_no_array(value)} {wanted}")
    raise TypeError(f"{wanted} Got {kind(value)} of {found.dtype} instead.")


def _no_array(value: Any) -> str:
    return f"Got {type(value)}, but numpy array or tinynet tensor are expected."


def step(value: Any, tag: str) -> int | None:
    """Return the step as a Python int; None stays None."""
    if value is None:
        return None
    try:
        found = int(value)
    except (TypeError, ValueError):
        found = None
    if found is None or not -(2**63) <= found < 2**63:
        raise TypeError(f"The step of {tag!r} must be a 64-bit integer. Got {value!r} instead.")
    return found


def check_tag(tag: Any, method: str) -> None:
    """Refuse a tag that is not a `str`."""
    if not isinstance(tag, str):
        raise TypeError(f"The tag of {method} must be a str. Got {kind(tag)} instead.")


def check_shape(method: str, name: str, shape: tuple[int, ...], good: bool, wanted: str) -> None:
    """Refuse an array of the wrong shape."""
    if not good:
        raise ValueError(
            f"The '{name}' parameter of {method} must have the shape {wanted}. "
            f"Got {list(shape)} instead."
        )


def kind(value: Any) -> str:
    """Return the name of a value's type, for messages."""
    return "None" if value is None else type(value).__name__


def now(walltime: float | None) -> float:
    """Return the given time, or the current time, in seconds since the epoch."""
    return time.time() if walltime is None else walltime
