"""The base class of all families of `add_...` methods, and conversion of their arguments.

Errors name the tag, or the parameter of the method.
"""

from __future__ import annotations

import numbers
import time
import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.proto import DATA_TYPES
from tinynet.board.storage import BoardWarning
from tinynet.core.tensors.tensor import Tensor


class Family(ABC):
    """The methods of the writer that its families of `add_...` methods use."""

    log_dir: str
    _doubted: set[str]

    @abstractmethod
    def _add(self, event: bytes, folder: str | None = None) -> None:
        """Add a serialised event to the event file of a folder, by default `log_dir`."""

    @abstractmethod
    def _store(self, files: dict[str, bytes]) -> None:
        """Write files: path below `log_dir` -> contents."""

    def _summary(
        self,
        tag: str,
        step: Any,
        walltime: float | None,
        folder: str | None = None,
        **value: Any,
    ) -> None:
        """Write one value: fields of the message `Summary.Value`."""
        when, number = walltime_or_now(walltime), as_step(step, tag)
        self._add(tensorboardx.summary(when, number, tag=tag, **value), folder)

    def _doubt(self, tag: str, what: str) -> None:
        """Warn once per tag that its data was changed before writing."""
        if tag not in self._doubted:
            self._doubted.add(tag)
            warnings.warn(f"{tag!r}: {what}. Training goes on.", BoardWarning, stacklevel=3)


def tensor_proto(array: np.ndarray[Any, Any]) -> Any:
    """Return the TensorProto of an array: shape, type, and the bytes of its elements."""
    if array.dtype.name not in DATA_TYPES:
        raise TypeError(f"Event files have no type for tensors of {array.dtype}.")
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return tensorboardx.load().TensorProto(
        dtype=DATA_TYPES[array.dtype.name],
        tensor_shape=tensorboardx.shape_proto(array.shape),
        tensor_content=little.tobytes(),
    )


def string_proto(content: bytes, shape: tuple[int, ...] = ()) -> Any:
    """Return the TensorProto of one string."""
    return tensorboardx.load().TensorProto(
        dtype="DT_STRING", string_val=[content], tensor_shape=tensorboardx.shape_proto(shape)
    )


_SCALARS: tuple[Any, ...] = (numbers.Number, str)


def as_number(tag: str, value: Any) -> float:
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


def as_array(method: str, name: str, value: Any) -> np.ndarray[Any, Any]:
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
    raise TypeError(f"{wanted} Got {type_name(value)} of {found.dtype} instead.")


def _no_array(value: Any) -> str:
    return f"Got {type(value)}, but numpy array or tinynet tensor are expected."


def as_step(value: Any, tag: str) -> int | None:
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
        raise TypeError(f"The tag of {method} must be a str. Got {type_name(tag)} instead.")


def check_shape(method: str, name: str, shape: tuple[int, ...], good: bool, wanted: str) -> None:
    """Refuse an array of the wrong shape."""
    if not good:
        raise ValueError(
            f"The '{name}' parameter of {method} must have the shape {wanted}. "
            f"Got {list(shape)} instead."
        )


def type_name(value: Any) -> str:
    """Return the name of a value's type, for messages."""
    return "None" if value is None else type(value).__name__


def walltime_or_now(walltime: float | None) -> float:
    """Return the given time, or the current time, in seconds since the epoch."""
    return time.time() if walltime is None else walltime
