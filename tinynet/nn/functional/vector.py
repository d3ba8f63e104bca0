"""Functions of vectors along a dimension, and one-hot vectors."""

from __future__ import annotations

import functools
from typing import Any, cast

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.declaration.operation import operation
from tinynet.core.declaration.out_argument import written
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import run_traced
from tinynet.dtypes import Array
from tinynet.kernels import distances
from tinynet.kernels.sums import sums
from tinynet.nn.functional.checks import broadcast, tensor_only
from tinynet.nn.functional.double_backward import one_node
from tinynet.ops.arguments import keywords, name_of, to_long
from tinynet.ops.creation.constructors import refuse_huge
from tinynet.ops.pointwise.arithmetic import div, where
from tinynet.ops.pointwise.clamp import clamp_numbers
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.products.cdist import summed_gaps, summed_slopes
from tinynet.ops.reduction.statistics import norm_slope, norm_weight, vector_norm
from tinynet.ops.shaping.views import axis_of, unsqueeze

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
    return cosines.function(x1, x2, dim, eps)


@operation(node="SumBackward1", hidden=("unit1", "unit2", "lengths", "cosine"))
def cosines(x1: Array, x2: Array, /, dim: int, eps: float) -> tuple[Array, ...]:
    """Return the cosines of vectors; an operation, since 11 would compute them for a batch."""
    axis = axis_of(dim, x1.ndim)
    lengths = [np.asarray(vector_norm.kernel(x, 2, (axis,), True)) for x in (x1, x2)]
    unit1, unit2 = (
        np.asarray(x / np.maximum(n, n.dtype.type(eps)))
        for x, n in zip((x1, x2), lengths, strict=True)
    )
    cosine = sums(unit1 * unit2, (axis,) if x1.ndim else (), True)
    found = cosine.squeeze(axis) if x1.ndim else cosine
    # its own: the caller may change the result in place, as after PyTorch's operations
    return np.array(found, x1.dtype), unit1, unit2, np.stack(lengths), cosine


def _towards(g: Any, unit: Any, other: Any, length: Any, cosine: Any, eps: float) -> Any:
    """Return the gradient by one vector; as in PyTorch, a length below eps has its derivative."""
    divisor = clamp_numbers(length, eps, None)
    turned = unit * (cosine * where(length == 0, 0.0, divisor / where(length == 0, 1.0, length)))
    return (other - turned) * (g / divisor)


def _cosine_formula(
    g: Any,
    x1: Any,
    x2: Any,
    unit1: Any,
    unit2: Any,
    lengths: Any,
    cosine: Any,
    dim: int,
    eps: float,
    needs: tuple[bool, ...],
) -> tuple[Any, Any]:
    axis = axis_of(dim, x1.ndim)

    def steps(g: Tensor, x1: Tensor, x2: Tensor) -> tuple[Any, Any]:
        pairs = [_unit_vectors(x, axis, eps) for x in (x1, x2)]
        (unit1, one), (unit2, two) = pairs
        cosine: Any = (unit1 * unit2).sum(axis, keepdim=True)
        g = g.unsqueeze(axis)
        return (
            _towards(g, unit1, unit2, one, cosine, eps) if needs[0] else None,
            _towards(g, unit2, unit1, two, cosine, eps) if needs[1] else None,
        )

    if isinstance(g, Tensor):
        found: tuple[Any, Any] = one_node("SumBackward1", steps, g, x1, x2)
        return found
    g = np.expand_dims(g, axis)
    of1 = _towards(g, unit1, unit2, lengths[0], cosine, eps) if needs[0] else None
    of2 = _towards(g, unit2, unit1, lengths[1], cosine, eps) if needs[1] else None
    return of1, of2


cosines.grads(_cosine_formula)


def _unit_vectors(x: Tensor, axis: int, eps: float) -> tuple[Any, Any]:
    length: Any = x.norm(2, axis, keepdim=True)
    return x / (length + (length.clamp(min=eps) - length).detach()), length


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
        NotImplementedError: the numbers have 16 bits.

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
    if input._array.dtype.itemsize == 2:
        raise NotImplementedError(f"\"pdist\" not implemented for '{name_of(input._array)}'")
    return pair_distances.function(input, float(p))


@operation(node="PdistBackward0")
def pair_distances(input: Array, /, p: float) -> Array:
    """Return the distances of each row to those that follow it."""
    return distances.pair_distances(input, p)


def _of_pairs(g: Any, x: Any, result: Any, p: float) -> Any:
    """Return the gradient of the distances: all pairs of rows count twice."""
    if p == 0:
        return zeros_for(x)
    pull = norm_weight(g, result, p)
    if isinstance(x, Tensor):
        first, second = map(wrap, np.triu_indices(x.shape[0], 1))
        slope = norm_slope(x[first] - x[second], unsqueeze(result, -1), p)
        each = slope * unsqueeze(pull, -1)
        return zeros_for(x).index_add(0, first, each).index_add(0, second, -each)
    if p == 2 and _far_apart(x, result):
        wide = x.astype(np.float64)
        pull = distances.symmetric(pull.astype(np.float64), len(x))
        return summed_gaps(pull, wide, wide).astype(x.dtype)
    pull, norm = (distances.symmetric(y, len(x)) for y in (pull, result))
    return summed_slopes(pull, x, x, norm, p)


def _far_apart(x: Array, result: Array) -> bool:
    """Return whether float64 takes up what products lose of differences of float32 points."""
    gains = x.dtype == np.float32 and result.size > 0
    return gains and bool(result.min() * 2.0**24 > np.abs(x).max())


pair_distances.grad(input=lambda g, input, result, p: _of_pairs(g, input, result, p))


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
