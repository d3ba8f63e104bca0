"""Functions of vectors along a dimension, and one-hot vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.tensor import Tensor, wrap
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
