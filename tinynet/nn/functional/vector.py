"""Functions of vectors along a dimension, one-hot vectors, and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.operation import operation
from tinynet.core.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import tensor_only

# ---- length and direction -----------------------------------------------------------------------


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Return the input divided by its p-norm along a dimension (by at least ``eps``).

    Example:
        >>> F.normalize(tn.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    length: Any = input.norm(p, dim, keepdim=True)
    return input / length.clamp_min(eps)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of the angle between vectors along a dimension; lengths count as >= eps.

    Args:
        x1, x2: broadcast against each other.

    Example:
        >>> F.cosine_similarity(tn.tensor([[1.0, 0.0]]), tn.tensor([[1.0, 1.0]]))
        tensor([0.7071])
    """
    shape = np.broadcast_shapes(x1._array.shape, x2._array.shape)
    one, other = (_directions(x.expand(shape), dim, eps) for x in (x1, x2))
    return (one * other).sum(dim)


def _directions(x: Any, dim: int, eps: float) -> Any:
    return x / x.norm(2, dim, keepdim=True).clamp_min(eps)


# ---- one-hot ------------------------------------------------------------------------------------


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return vectors of zeros with a one at the place that each element names.

    Args:
        tensor: classes as int64, of any shape.
        num_classes: length of the vectors; one more than the largest class unless given.

    Raises:
        RuntimeError: not int64, a negative class, or one that has no place.

    Example:
        >>> F.one_hot(tn.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    tensor_only("one_hot", tensor=tensor)
    array = tensor._array
    if array.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if array.size == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if array.size and array.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(array.max()) + 1
    elif array.size and array.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return wrap((array[..., None] == np.arange(num_classes)).astype(np.int64))


# ---- padding ------------------------------------------------------------------------------------


def _frames(shape: Sequence[int], pad: Sequence[int]) -> list[tuple[int, int]]:
    """Return (before, after) for each dimension, from PyTorch's order: the last one first."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (len(shape) - len(pairs)) + pairs[::-1]


@operation(node="ConstantPadNdBackward0", methods=False)
def constant_pad(input: Array, /, pad: tuple[int, ...], value: float) -> Array:
    """Return the input with ``value`` around it; negative lengths cut off.

    An operation because its derivative is the same with the signs turned around.
    """
    frames = _frames(input.shape, pad)
    shape = [n + before + after for n, (before, after) in zip(input.shape, frames, strict=True)]
    if min(shape, default=0) < 0:
        raise RuntimeError(
            f"The input size {list(input.shape)}, plus negative padding {list(pad)}, resulted in a "
            "negative output size."
        )
    whole = np.full(shape, value, input.dtype)
    source = tuple(slice(max(-b, 0), n - max(-a, 0)) for n, (b, a) in _with(input.shape, frames))
    target = tuple(slice(max(b, 0), n - max(a, 0)) for n, (b, a) in _with(shape, frames))
    whole[target] = input[source]
    return whole


def _with(shape: Sequence[int], frames: list[tuple[int, int]]) -> Any:
    return zip(shape, frames, strict=True)


constant_pad.grad(input=lambda g, pad: constant_pad(g, tuple(-n for n in pad), 0.0))


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Return the input with a frame of a constant around it.

    Args:
        input: any shape.
        pad: for the last dimension the lengths before and after it, then for the one before it,
            and so on; negative lengths cut off.
        mode: only ``"constant"``.
        value: the constant; 0 unless given.

    Raises:
        RuntimeError: the lengths are no pairs, or too many.
        NotImplementedError: another mode.

    Example:
        >>> F.pad(tn.ones(1, 2), (1, 0))
        tensor([[0., 1., 1.]])
    """
    tensor_only("pad", input=input)
    if mode != "constant":
        raise NotImplementedError(
            f"The 'mode' parameter of pad must be 'constant'. Got {mode!r} instead."
        )
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {input.ndim}"
        )
    return constant_pad.function(input, tuple(int(n) for n in pad), 0.0 if value is None else value)
