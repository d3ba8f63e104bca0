"""The base class of all families of `add_...` methods."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.proto import DATA_TYPES
from tinynet.board.storage import BoardWarning
from tinynet.board.summaries import checks


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
        when, number = checks.now(walltime), checks.step(step, tag)
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
