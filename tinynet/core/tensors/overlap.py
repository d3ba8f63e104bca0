"""Checks for writes to elements that share memory with each other or with another operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tinynet import errors
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array


def refuse_partial_overlap(t: Tensor, inputs: Sequence[Any], apart: bool = False) -> None:
    """Raise if an input partially overlaps the memory of ``t``.

    Args:
        t: the tensor to write to.
        inputs: the inputs; only tensors are checked.
        apart: whether to refuse a full overlap, such as the same tensor, too.
    """
    for x in inputs:
        if not isinstance(x, Tensor):
            continue
        if x._array is t._array:
            shared = apart
        else:
            shared = np.may_share_memory(x._array, t._array) and _overlap(t._array, x._array, apart)
        if shared:
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to "
                "tensor refer to a single memory location. Please clone() the tensor before "
                "performing the operation."
            )


def _overlap(a: Array, b: Array, whole: bool) -> bool:
    """Return True if the memory of two dense arrays overlaps, unless ``whole`` only in part."""
    if not a.size or not b.size or not _dense(a) or not _dense(b):
        return False  # PyTorch does not check these, either
    (start, end), (other_start, other_end) = byte_bounds(a), byte_bounds(b)
    if (start, end) == (other_start, other_end):
        return whole or a.strides != b.strides
    return start < other_end and other_start < end


def _dense(a: Array) -> bool:
    low, high = byte_bounds(a)
    return bool(high - low == a.nbytes)


def refuse_overlap(array: Array) -> None:
    """Raise if elements of ``array`` share memory (an expanded tensor)."""
    if 0 not in array.strides or not array.size:
        return
    if any(step == 0 and n > 1 for step, n in zip(array.strides, array.shape, strict=True)):
        raise errors.overlapping()
