"""Functions of vectors along a dimension, and one-hot vectors."""

from __future__ import annotations

import functools
from typing import Any, cast

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.declaration.out_argument import written
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import run_traced
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import broadcast, tensor_only
from tinynet.ops.arguments import keywords, to_long
from tinynet.ops.creation.constructors import refuse_huge
from tinynet.ops.pointwise.arithmetic import div

__all__ = ["normalize", "cosine_similarity", "pairwise_distance", "pdist", "one_hot"]

# ---- length and direction -----------------------------------------------------------------------


def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """Return the input divided by its p-norm along a dimension (by at least ``eps``).

    ``x / max(norm(x), eps)``, written to ``out`` if that is given.

    Raises:
        RuntimeError: the tensor is not floating-point.

    Example:
        >>> F.normalize(tn.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    length: Any = input.norm(p, dim, keepdim=True)
    divisor = length.clamp_min(eps)
    if out is None:
        return input / divisor
    return cast(Tensor, written(div.function, (input, divisor), {}, out))


@keywords
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of the angle between vectors along a dimension; lengths are at least eps.

    ``sum(x1 * x2) / (max(norm(x1), eps) * max(norm(x2), eps))``.

    Args:
        x1, x2: broadcast against each other.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> F.cosine_similarity(tn.tensor([[1.0, 0.0]]), tn.tensor([[1.0, 1.0]]))
        tensor([0.7071])
    """
    tensor_only("cosine_similarity", x1=x1, x2=x2)
    eps = dtypes.number_of(eps, "cosine_similarity", "eps")
    kind = dtypes.from_numpy(dtypes.result_type((x1._array, x2._array)))
    if not kind.is_floating_point:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {kind.scalar_name}"
        )
    x1, x2 = broadcast(x1.to(kind), x2.to(kind))
    unit1, unit2 = (_unit_vectors(x, dim, eps) for x in (x1, x2))
    return (unit1 * unit2).sum(dim)


def _unit_vectors(x: Any, dim: int, eps: float) -> Any:
    length = x.norm(2, dim, keepdim=True).clone()
    with no_grad():  # as in PyTorch, a length below eps is replaced but keeps its derivative
        length.clamp_(min=eps)
    return x / length


@keywords
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Return the p-norm of ``x1 - x2 + eps`` along the last dimension.

    ``sum(abs(x1 - x2 + eps) ** p) ** (1 / p)``.

    Args:
        x1, x2: vectors, ``[batch, n]`` or ``[n]``, broadcast against each other.
        p: the order of the norm.
        eps: keeps the derivative finite where the vectors are equal.
        keepdim: keep the last dimension, with length 1.

    Raises:
        RuntimeError: the shapes do not broadcast, or the norm is undefined.

    Example:
        >>> F.pairwise_distance(tn.tensor([[3.0, 4.0]]), tn.zeros(1, 2))
        tensor([5.0000])
    """
    tensor_only("pairwise_distance", x1=x1, x2=x2)
    difference: Any = x1 - x2 + eps
    return difference.norm(p, -1, keepdim)


def pdist(input: Tensor, p: float = 2) -> Tensor:
    """Return the distances between all pairs of rows: first those of row 0 to the others, ...

    The upper triangle of ``cdist(input, input)`` without its diagonal.

    Args:
        input: ``[n, m]``.
        p: the order of the norm.

    Returns:
        ``[n * (n - 1) / 2]``.

    Raises:
        RuntimeError: the input is not a floating-point matrix, or ``p`` is negative.

    Example:
        >>> F.pdist(tn.tensor([[0.0], [1.0], [3.0]]))
        tensor([1., 3., 2.])
    """
    tensor_only("pdist", input=input)
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    first, second = map(wrap, run_traced(np.triu_indices, input.shape[0], 1))
    difference: Any = input.index_select(0, first) - input.index_select(0, second)
    return difference.norm(p, 1)


# ---- one-hot ------------------------------------------------------------------------------------


@errors.allocating
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Return one-hot vectors: zeros with a one at the index given by each element.

    ``result[..., c] = 1 if input[...] == c else 0``.

    Args:
        input: classes as int64, of any shape.
        num_classes: length of the vectors; one more than the largest class unless given.

    Raises:
        RuntimeError: the tensor is not int64, or a class is out of range.

    Example:
        >>> F.one_hot(tn.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    tensor_only("one_hot", input=input)
    if input._array.dtype != np.int64:
        sentence = "one_hot is only applicable to index tensor of type LongTensor."
        raise RuntimeError(errors.with_fix(sentence, to_long("input")))
    if input._array.size == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    # Without num_classes, the shape depends on the values: that cannot be traced.
    encode = _one_hot if num_classes == -1 else functools.partial(run_traced, _one_hot)
    return wrap(encode(input._array, num_classes))


def _one_hot(array: Array, num_classes: int) -> Array:
    if array.size and array.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(array.max()) + 1
    elif array.size and array.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    refuse_huge((*array.shape, num_classes))
    return (array[..., None] == np.arange(num_classes)).astype(np.int64)
