"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import number_of
from tinynet.ops.arguments import EXPECTED, keywords, name_of, same_dtype
from tinynet.ops.linalg.checks import floating, matrices, square_sizes
from tinynet.ops.linalg.inverses import inverse_and_info
from tinynet.ops.linalg.spectra import svdvals
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.conversion import converted
from tinynet.ops.reduction.extrema import amax, amin
from tinynet.ops.reduction.statistics import vector_norm as p_norm
from tinynet.ops.reduction.sums import Dims, sum_dims
from tinynet.ops.shaping.views import axis_of, permute_dims, unsqueeze

Order = float | str | None

# ---- vectors ------------------------------------------------------------------------------------


def _in_dtype(name: str, x: Tensor, dtype: Any) -> Tensor:
    """Convert the tensor to the dtype to compute in."""
    if dtype is None:
        return x
    kind = dtypes.as_numpy(dtype)
    if dtypes.is_floating(x._array.dtype) and kind.itemsize < x._array.dtype.itemsize:
        wanted = dtypes.from_numpy(kind).scalar_name
        raise RuntimeError(
            f"{name}: the dtype of the input ({name_of(x._array)}) should be convertible without "
            f"narrowing to the specified dtype ({wanted})"
        )
    return converted(x, kind)


@keywords
@composite(module=True, out=EXPECTED)
def vector_norm(
    x: Tensor, ord: float = 2, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the p-norm of vectors, over one or more dimensions; all by default.

    Args:
        x: any shape.
        ord: 2, 1, ``inf`` and ``-inf`` (largest and smallest absolute value), 0 (number of nonzero
            elements), or any other number p: ``sum(|x|^p)^(1/p)``.
        dim: the dimension or dimensions.
        keepdim: keep them with length 1.
        dtype: the dtype to compute in.

    Raises:
        RuntimeError: the input is not floating-point.

    Example:
        >>> tn.linalg.vector_norm(tn.tensor([[3.0, -4.0], [1.0, 0.0]]), dim=1)
        tensor([5., 1.])
    """
    name = "linalg_vector_norm"
    if not isinstance(x, Tensor):
        raise errors.must_be_tensor(name, "x", 1, x)
    ord = float(number_of(ord, name, "ord", 2))
    return p_norm.function(_in_dtype("linalg.vector_norm", x, dtype), ord, dim, keepdim)


# ---- matrices -----------------------------------------------------------------------------------


def _matrix_axes(dim: Any, ndim: int) -> tuple[int, int]:
    """Return the two dimensions of the matrices."""
    name = "linalg.matrix_norm"
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        first = dim[0] if isinstance(dim, (tuple, list)) else dim
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {first}")
    one, two = (axis_of(d, ndim) for d in dim)
    if one == two:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return one, two


@keywords
@composite(
    module=True, out=same_dtype("linalg.{name} expected out tensor dtype {result} but got: {out}")
)
def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: tuple[int, int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Return the norms of matrices.

    ``"fro"``: ``sqrt(sum(A ** 2))``.

    Args:
        A: at least two dimensions.
        ord: ``"fro"`` (Frobenius norm), ``"nuc"`` (sum of the singular values), 2 and -2 (largest
            and smallest singular value), 1 and -1 (largest and smallest column sum of absolute
            values), ``inf`` and ``-inf`` (the same for rows).
        dim: the dimensions of the rows and columns.
        keepdim: keep them with length 1.
        dtype: the dtype to compute in.

    Raises:
        RuntimeError: an unknown order, or not floating-point matrices.

    Example:
        >>> tn.linalg.matrix_norm(tn.tensor([[1.0, -2.0], [3.0, 4.0]]), 1)
        tensor(6.)
    """
    name = "linalg.matrix_norm"
    a = matrices(name, A)
    known = ("fro", "nuc") if isinstance(ord, str) else (1, -1, 2, -2, math.inf, -math.inf)
    if ord not in known:
        shown = ord if isinstance(ord, str) else f"{ord:g}"
        raise RuntimeError(f"{name}: Order {shown} not supported.")
    one, two = _matrix_axes(dim, a.ndim)
    if not dtypes.is_inexact(a.dtype):
        floating(name, a)
    A = _in_dtype(name, A, dtype)
    if ord == "fro":
        return p_norm.function(A, 2.0, (one, two), keepdim)
    if ord in ("nuc", 2, -2):
        floating(name, A._array)
        return _by_singular_values(A, ord, one, two, keepdim)
    summed, other = (one, two) if abs(ord) == 1 else (two, one)  # type: ignore[arg-type]
    sums = p_norm.function(A, 1.0, summed, keepdim)
    if not keepdim and summed < other:
        other -= 1
    extreme = amax if ord > 0 else amin  # type: ignore[operator]
    return extreme.function(sums, other, keepdim)


def _by_singular_values(A: Tensor, ord: Any, one: int, two: int, keepdim: bool) -> Tensor:
    ndim = A._array.ndim
    if (one, two) != (ndim - 2, ndim - 1):
        rest = [i for i in range(ndim) if i not in (one, two)]
        A = permute_dims.function(A, (*rest, one, two))
    values = svdvals(A)
    if ord == "nuc":
        found = sum_dims.function(values, -1)
    else:
        found = (amax if ord == 2 else amin).function(values, -1)
    for axis in sorted((one, two)) if keepdim else ():
        found = unsqueeze.function(found, axis)
    return found


@keywords
@composite(
    module=True, out=same_dtype("linalg.norm expected out tensor dtype {result} but got: {out}")
)
def linalg_norm(
    input: Tensor, ord: Order = None, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the norm of vectors or matrices.

    Computes ``vector_norm`` over one dimension, or ``matrix_norm`` over two. Without ``dim``, the
    input is one vector or matrix; without ``ord`` either, it is flattened.

    Args:
        input: a tensor.
        ord: the order; see ``vector_norm`` and ``matrix_norm``.
        dim: one dimension or two.
        keepdim: keep them with length 1.
        dtype: the dtype to compute in.

    Raises:
        RuntimeError: an unsuitable order, or unsuitable dimensions.

    Example:
        >>> tn.linalg.norm(tn.tensor([[3.0, 0.0], [0.0, 4.0]])), tn.linalg.norm(tn.eye(2), 2)
        (tensor(5.), tensor(1.))
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("linalg_norm", "input", 1, input)
    ndim = input._array.ndim
    dims = (dim,) if isinstance(dim, int) else dim
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}"
        )
    if dims is None and ord is not None and ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{ndim}D."
        )
    if isinstance(ord, str) or (ord is not None and (ndim if dims is None else len(dims)) == 2):
        return matrix_norm(input, ord, dims or (-2, -1), keepdim, dtype=dtype)  # type: ignore[arg-type]
    return vector_norm(input, 2 if ord is None else ord, dims, keepdim, dtype=dtype)


@composite(out=EXPECTED)
def norm(
    self: Tensor, p: Order = "fro", dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the p-norm over the given dimensions; all by default.

    ``sum(abs(x) ** p) ** (1 / p)``; for ``"nuc"`` the sum of the singular values of matrices.

    Args:
        p: the order: 2 or ``"fro"`` (root of the sum of squares), 1 (sum of absolute values),
            ``inf`` and ``-inf`` (largest and smallest absolute value), 0 (number of nonzero
            elements), any other number, or ``"nuc"``.
        dim: the dimension or dimensions; two for ``"nuc"``.
        keepdim: keep them with length 1.
        dtype: the dtype to compute in.

    Raises:
        RuntimeError: an unknown order; the tensor is not floating-point.

    Example:
        >>> tn.tensor([3.0, -4.0]).norm()
        tensor(5.)
    """
    if not isinstance(self, Tensor):
        raise errors.must_be_tensor("norm", "input", 1, self)
    if isinstance(p, str) and p != "fro":
        dims: Any = tuple(range(self._array.ndim)) if dim is None else dim
        return matrix_norm(self, p, dims, keepdim, dtype=dtype)
    return vector_norm(self, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype)  # type: ignore[arg-type]


# ---- condition numbers --------------------------------------------------------------------------


@composite(module=True, out=True, autocast="float32")
def cond(A: Tensor, p: Order = None) -> Tensor:
    """Return the condition numbers of matrices: how much they amplify relative errors.

    Args:
        A: ``[..., m, n]``; square unless ``p`` is None, 2 or -2.
        p: the norm of ``norm(A) * norm(inv(A))``; None or 2 divides the largest singular value by
            the smallest, -2 the smallest by the largest. For others see ``matrix_norm``.

    Returns:
        ``[...]``; ``inf`` for a singular matrix.

    Raises:
        RuntimeError: an unknown norm, or not floating-point matrices.

    Example:
        >>> tn.linalg.cond(tn.tensor([[2.0, 0.0], [0.0, 0.5]]))
        tensor(4.)
    """
    a = matrices("linalg.cond", A)
    floating("linalg.cond", a)
    if p not in (None, 2, -2, 1, -1, math.inf, -math.inf, "fro", "nuc"):
        shown = p if isinstance(p, str) else f"{p:g}"
        raise RuntimeError(f"linalg.cond got an invalid norm type: {shown}")
    if p in (None, 2, -2):
        values = svdvals(A)
        first, last = values[..., 0], values[..., -1]
        return last / first if p == -2 else first / last
    square_sizes(f"linalg.cond(ord={p if isinstance(p, str) else f'{p:g}'})", a)
    inverse, info = inverse_and_info.function(A)
    found = matrix_norm(A, p) * matrix_norm(inverse, p)
    if info._array.any():
        return where.function(wrap(np.asarray(info._array != 0)), math.inf, found)
    return found
