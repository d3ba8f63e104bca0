"""Memory of tensors as contiguous arrays, counting of writes to it, and buckets of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tinynet import dtypes
from tinynet.core.graph.inplace import wrote
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import Writer, refuse_inference
from tinynet.dtypes import Array

REMEDY = "send or receive a copy (`{}.clone()`), or call {} after the backward()"


class Output(Protocol):
    """What an operation writes to."""

    tensor: Tensor

    def store(self) -> None:
        """Put the result into the tensor."""

    def count_write(self) -> None:
        """Count a write to the tensor."""


class Buffer:
    """The values of a tensor as a flat contiguous array, for an operation that writes to it.

    The array is the memory of the tensor if that is contiguous, else a copy. A write counts as an
    in-place operation under ``no_grad``: it is not recorded, but values saved for backward notice
    it.

    Args:
        tensor: the tensor.
        name: the operation, for messages.
        keep: whether the operation needs the values that the tensor has.

    Raises:
        RuntimeError: elements of the tensor share memory, or it is sparse or an inference tensor.
    """

    __slots__ = ("flat", "name", "staged", "tensor")

    def __init__(self, tensor: Tensor, name: str, keep: bool = True):
        _refuse_sparse(tensor, name)
        refuse_inference(tensor._counter)
        array = tensor._array
        refuse_overlap(array)
        if not array.flags.writeable:
            raise ValueError(f"{name} writes to its tensor, and the array of it is read-only.")
        self.tensor, self.name = tensor, Writer(name, REMEDY.format("t", name))
        self.staged = not array.flags.c_contiguous
        if not self.staged:
            self.flat = array.reshape(-1)
        else:
            self.flat = array.flatten() if keep else np.empty(array.size, array.dtype)

    def store(self) -> None:
        """Copy the result to a tensor that is not contiguous."""
        if self.staged:
            array = self.tensor._array
            array[...] = self.flat.reshape(array.shape)

    def count_write(self) -> None:
        """Count a write to the tensor, at the line of the user that runs."""
        wrote(self.tensor, self.name)


def flat(tensor: Tensor) -> Array:
    """Return the values of a tensor as a flat array: its memory, or a copy if not contiguous."""
    _refuse_sparse(tensor, "the operation")
    return np.ascontiguousarray(tensor._array).reshape(-1)


def _refuse_sparse(tensor: Tensor, name: str) -> None:
    if tensor.is_sparse:
        raise RuntimeError(
            f"Of a sparse tensor there is only the sum: {name} is not implemented. Use all_reduce, "
            "or pass `tensor.to_dense()`."
        )


def check_tensor(value: Any, name: str) -> None:
    """Raise if an argument is not a tensor."""
    if not isinstance(value, Tensor):
        raise _invalid(name, "tinynet.Tensor", value)


def check_tensors(value: Any, name: str) -> None:
    """Raise if an argument is not a list of tensors."""
    if not isinstance(value, list | tuple) or not all(isinstance(t, Tensor) for t in value):
        raise _invalid(name, "List[tinynet.Tensor]", value)


def _invalid(name: str, expected: str, value: Any) -> TypeError:
    return TypeError(
        f"Invalid function argument. Expected parameter `{name}` of type {expected}\n"
        f"             but got {type(value)} instead."
    )


def check_dtypes(*tensors: Tensor) -> None:
    """Raise if tensors have different dtypes."""
    first = tensors[0]
    for tensor in tensors[1:]:
        if tensor._array.dtype != first._array.dtype:
            kinds = dtypes.of(first._array), dtypes.of(tensor._array)
            raise ValueError(
                f"Invalid usage of tensors with different dtypesFound {kinds[0]} and  {kinds[1]}"
            )


def check_shapes(operation: str, tensors: Sequence[Tensor], shape: tuple[int, ...]) -> None:
    """Raise if the tensors of a list do not have a shape."""
    for index, tensor in enumerate(tensors):
        if tensor._array.shape != shape:
            raise RuntimeError(
                f"{operation}: invalid tensor size at index {index} (expected {_shown(shape)}, "
                f"got {_shown(tensor._array.shape)})"
            )


def check_multiple(large: Tensor, small: Tensor, n: int, name: str) -> None:
    """Raise if a tensor does not have ``n`` times the elements of another."""
    if large._array.size != n * small._array.size:
        raise RuntimeError(
            f"The {name} tensor must have {n} times the elements of the other, one part for each "
            f"rank: {n} * {small._array.size}. Got {large._array.size} instead."
        )


def _shown(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"


class GradBucket:
    """The gradients of some parameters, side by side in one tensor.

    Example:
        >>> def fp16_sum(group, bucket: tn.distributed.GradBucket):
        ...     n = tn.distributed.get_world_size(group)
        ...     half = bucket.buffer().to(tn.float16).div_(n)
        ...     work = tn.distributed.all_reduce(half, group=group, async_op=True)
        ...     return work.get_future().then(lambda done: done.value()[0].to(tn.float32))
        >>> net.register_comm_hook(None, fp16_sum)  # doctest: +SKIP
    """

    def __init__(
        self,
        index: int,
        buffer: Tensor,
        gradients: Sequence[Tensor],
        parameters: Sequence[Tensor],
        is_last: bool,
    ):
        self._index, self._buffer, self._is_last = index, buffer, is_last
        self._gradients, self._parameters = list(gradients), list(parameters)

    def index(self) -> int:
        """Return the number of the bucket, from 0 in the order of reduction."""
        return self._index

    def buffer(self) -> Tensor:
        """Return all gradients as one tensor with one dimension, not yet divided."""
        return self._buffer

    def set_buffer(self, tensor: Tensor) -> None:
        """Replace the values of the buffer."""
        self._buffer._array[...] = tensor._array.reshape(-1)

    def gradients(self) -> list[Tensor]:
        """Return the part of the buffer for each parameter, in its shape."""
        return self._gradients

    def parameters(self) -> list[Tensor]:
        """Return the parameters."""
        return self._parameters

    def is_last(self) -> bool:
        """Return whether this is the last bucket of the backward pass."""
        return self._is_last
