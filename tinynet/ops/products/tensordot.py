"""Contractions of chosen dimensions (tensordot, inner), kron, and chains of matrices.

All arrange their operands as two matrices, or batches of them, and multiply those.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.arguments import c_name, refuse_others, same_dtype
from tinynet.ops.products.matmul import mm, unsafe_view
from tinynet.ops.reduction.sums import sum_dims
from tinynet.ops.shaping.copies import clone
from tinynet.ops.shaping.views import axis_of, permute_dims, reshape

_SAME_DTYPE = same_dtype(
    "tensordot: Expected the output tensor to have dtype {result}, but got an output tensor "
    "with dtype {out}"
)

# ---- tensordot and inner ------------------------------------------------------------------------


def _contracted(dims: Any, a: Tensor, b: Tensor) -> tuple[list[int], list[int]]:
    """Return the dimensions of each operand that tensordot sums over."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a._array.ndim, b._array.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(-dims, 0)), list(range(dims))
    if not isinstance(dims, (list, tuple)) or len(dims) != 2:
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
            f"containing two lists, but got dims={dims}"
        )
    first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
    return first, second


@composite(method=False, out=_SAME_DTYPE)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Contract two tensors: sum their products over the given dimensions.

    With ``dims=1``: ``result[i, j] = sum over k of a[i, k] * b[k, j]``.

    The result has the remaining dimensions of ``a``, then those of ``b``. Dimensions of length 1
    broadcast.

    Args:
        a, b: the operands, of one dtype.
        dims: the number of dimensions to contract, the last of ``a`` with the first of ``b``; or
            two lists of dimensions, paired in order.

    Raises:
        RuntimeError: the dimensions do not match, or the dtypes differ.

    Example:
        >>> tn.tensordot(tn.ones(2, 3, 4), tn.ones(4, 3, 5), dims=([1, 2], [1, 0])).shape
        tinynet.Size([2, 5])
    """
    refuse_others("tensordot", a=a, b=b)
    first, second = _contracted(dims, a, b)
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    if a._array.dtype != b._array.dtype:
        raise RuntimeError("both inputs should have same dtype")
    one = [axis_of(d, a._array.ndim) for d in first]
    two = [axis_of(d, b._array.ndim) for d in second]
    for axes in (one, two):
        double = next((x for x in axes if axes.count(x) > 1), None)
        if double is not None:
            raise RuntimeError(f"dim {double} appears multiple times in the list of dims")
    for i, j in zip(one, two, strict=True):
        n, m = a._array.shape[i], b._array.shape[j]
        if n != m and m == 1:
            a = sum_dims.function(a, i, True)
        elif n != m and n == 1:
            b = sum_dims.function(b, j, True)
        elif n != m:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim {i} and "
                f"second has size {m} in dim {j}"
            )
    return _multiplied(a, b, one, two)


def _multiplied(a: Tensor, b: Tensor, one: list[int], two: list[int]) -> Tensor:
    """Multiply as matrices; the contracted dimensions are columns of ``a`` and rows of ``b``."""
    rows = [i for i in range(a._array.ndim) if i not in one]
    columns = [j for j in range(b._array.ndim) if j not in two]
    left, right = a._array.shape, b._array.shape
    inner = math.prod(left[i] for i in one)
    outer = [left[i] for i in rows] + [right[j] for j in columns]
    a = permute_dims.function(a, (*rows, *one))
    b = permute_dims.function(b, (*two, *columns))
    a = reshape(a, (math.prod(left[i] for i in rows), inner))
    b = reshape(b, (inner, math.prod(right[j] for j in columns)))
    return reshape(mm.function(a, b), tuple(outer))


@composite(out=_SAME_DTYPE)
def inner(self: Tensor, other: Tensor) -> Tensor:
    """Return inner products along the last dimensions; with a scalar, the product.

    ``result[i, j] = sum over k of self[i, k] * other[j, k]``.

    Raises:
        RuntimeError: the last dimensions or the dtypes differ.

    Example:
        >>> tn.inner(tn.ones(2, 3), tn.ones(4, 3)).shape
        tinynet.Size([2, 4])
    """
    refuse_others("inner", self=self, other=other)
    left, right = self._array.shape, other._array.shape
    if not left or not right:
        return self * other
    if left[-1] != right[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(left)} and {list(right)}"
        )
    return tensordot(self, other, ([-1], [-1]))


# ---- Kronecker product --------------------------------------------------------------------------


@composite(out=True)
def kron(self: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product: all of ``other`` times each element of ``self``.

    Takes any shape.

    For matrices, if ``other`` has p rows and q columns:
    ``result[i * p + k, j * q + l] = self[i, j] * other[k, l]``.

    The sizes of the dimensions multiply, counted from the last.

    Example:
        >>> tn.kron(tn.eye(2), tn.tensor([[1.0, 2.0]]))
        tensor([[1., 2., 0., 0.],
                [0., 0., 1., 2.]])
    """
    refuse_others("kron", self=self, other=other)
    ndim = max(self._array.ndim, other._array.ndim)
    left, right = ((1,) * (ndim - t._array.ndim) + t._array.shape for t in (self, other))
    a = reshape(self, tuple(n for length in left for n in (length, 1)))
    b = reshape(other, tuple(n for length in right for n in (1, length)))
    return unsafe_view.function(a * b, tuple(n * m for n, m in zip(left, right, strict=True)))


# ---- chains of matrices -------------------------------------------------------------------------


def _check_chain(tensors: Sequence[Tensor]) -> None:
    last = len(tensors) - 1
    if last < 1:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {last + 1}")
    for i, t in enumerate(tensors):
        ndim = t._array.ndim
        if i in (0, last) and ndim not in (1, 2):
            which = "last" if i else "first"
            raise RuntimeError(f"multi_dot(): the {which} tensor must be 1D or 2D but got {ndim}D")
        if 0 < i < last and ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {ndim}D")
        if t._array.dtype != tensors[0]._array.dtype:
            first, other = c_name(tensors[0]._array), c_name(t._array)
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{first} and tensor {i} {other}"
            )


def _lengths(tensors: Sequence[Tensor]) -> list[int]:
    """Return the sizes of a chain, ``[n0, n1, ...]`` for matrices of n0 x n1, n1 x n2, ..."""
    shapes = [t._array.shape for t in tensors]
    if len(shapes[0]) == 1:
        shapes[0] = (1, *shapes[0])
    if len(shapes[-1]) == 1:
        shapes[-1] = (*shapes[-1], 1)
    for i in range(len(shapes) - 1):
        if shapes[i][1] != shapes[i + 1][0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(tensors[i].shape)} and "
                f"{list(tensors[i + 1].shape)} cannot be multiplied"
            )
    return [shapes[0][0], *(s[1] for s in shapes)]


def _best_splits(lengths: list[int]) -> list[list[int]]:
    """Return the best split of each part ``i..j`` of a chain, by the number of multiplications.

    Cormen, Leiserson, Rivest, Stein: Introduction to Algorithms, "Matrix-chain multiplication".
    """
    n = len(lengths) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + lengths[i] * lengths[k + 1] * lengths[j + 1], k)
                for k in range(i, j)
            )
    return split


@composite(
    module=True,
    out=same_dtype("{name}(): expected out tensor to have dtype {result_c} but got {out_c}"),
)
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Multiply a chain of matrices in the order that needs the fewest operations.

    ``tensors[0] @ tensors[1] @ ...``; the order is found by dynamic programming (Cormen et al.,
    "Introduction to algorithms", matrix-chain multiplication).

    Args:
        tensors: two or more matrices; the first may be a vector (a row) and the last one (a
            column); the result drops their dimensions.

    Raises:
        RuntimeError: unexpected numbers of dimensions, incompatible sizes, or different dtypes.

    Example:
        >>> tn.linalg.multi_dot([tn.ones(2, 3), tn.ones(3, 4), tn.ones(4)])
        tensor([12., 12.])
    """
    _check_chain(tensors)
    lengths = _lengths(tensors)
    split = _best_splits(lengths)

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return reshape(tensors[i], (lengths[i], lengths[i + 1]))
        return mm.function(product(i, split[i][j]), product(split[i][j] + 1, j))

    ends = tensors[0]._array.shape[:-1] + tensors[-1]._array.shape[1:]
    return reshape(product(0, len(tensors) - 1), ends)


@composite(method=False)
def chain_matmul(*matrices: Tensor) -> Tensor:
    """Multiply a chain of matrices; prefer ``linalg.multi_dot``, which takes a list.

    ``matrices[0] @ matrices[1] @ ...``.

    Args:
        *matrices: matrices; each has as many rows as the one before has columns.

    Raises:
        RuntimeError: fewer than two matrices, not matrices, or incompatible sizes.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     tn.chain_matmul(tn.ones(2, 3), tn.ones(3, 4), tn.ones(4, 1)).shape
        tinynet.Size([2, 1])
    """
    warnings.warn(
        "tinynet.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "tinynet.linalg.multi_dot instead, which accepts a list of two or more tensors rather "
        "than multiple parameters.",
        UserWarning,
        stacklevel=2,
    )
    for t in matrices:
        if t._array.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {t._array.ndim}, expected 2 instead.")
    return clone.function(matrices[0]) if len(matrices) == 1 else multi_dot(matrices)
