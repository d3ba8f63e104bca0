"""Functions of sparse tensors: sums and softmax over their entries, products, diagonals.

The entries alone take part, in forward and backward: softmax is over the entries of a row, as in
graph attention networks. Results and gradients go to the values, which have a history.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core import layouts
from tinynet.core.graph.accumulate_grad import is_sparse
from tinynet.core.tensors.tensor import Tensor, method, wrap
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.creation.constructors import zeros
from tinynet.ops.indexing.index_put import index_put
from tinynet.ops.reduction.sums import axes_of
from tinynet.sparse.tensors import Pattern, SparseTensor, _sparse, mm


def _entries(input: Tensor, function: str) -> tuple[Pattern, Tensor]:
    """Return the indices and values of a tensor, each index once, in ascending order."""
    if is_sparse(input):  # the gradient of an embedding
        input = input.to_dense().to_sparse()
    if not isinstance(input, SparseTensor):
        raise RuntimeError(f"{function} expected sparse coordinate tensor layout but got Strided")
    entries: Any = input.coalesce()._array
    return entries.pattern, entries.values


def sum(input: Tensor, dim: int | Sequence[int] | None = None, dtype: DtypeLike = None) -> Tensor:
    """Return the sum of all elements, or the sums over some dimensions.

    Args:
        input: sparse.
        dim: the dimensions to sum over; all by default.
        dtype: of the result; the input's by default.

    Returns:
        A sparse tensor of the other dimensions; a dense one if none of them is sparse.

    Raises:
        RuntimeError: the input is dense, or a dimension is given twice.
        IndexError: a dimension is out of range.

    Example:
        >>> x = tn.sparse_coo_tensor([[0, 0, 1], [0, 2, 2]], [1.0, 2.0, 3.0])
        >>> tn.sparse.sum(x), tn.sparse.sum(x, 0).to_dense()
        (tensor(6.), tensor([1., 0., 5.]))
    """
    pattern, values = _entries(input, "coalesce")
    if dtype is not None:
        values = values.to(dtype)
    if isinstance(dim, Sequence) and not dim:
        return _sparse(pattern, values)
    count = len(pattern.shape)
    over = axes_of(dim, input.ndim)
    inner = [d - count + 1 for d in over if d >= count]
    values = values.sum(inner) if inner else values
    kept = [d for d in range(count) if d not in over]
    if not kept:
        return values.sum(0)
    part = Pattern(pattern.index[kept], tuple(pattern.shape[d] for d in kept))
    return _sparse(part, values).coalesce()


def _lines(pattern: Pattern, axis: int) -> tuple[Array, int]:
    """Return the number of the line along an axis of each entry, and the number of lines."""
    others = [d for d in range(len(pattern.shape)) if d != axis]
    flat = Pattern(pattern.index[others], tuple(pattern.shape[d] for d in others)).flat
    unique, line = np.unique(flat, return_inverse=True)
    return line, len(unique)


def _exponents(
    input: Tensor, dim: int, dtype: DtypeLike
) -> tuple[Pattern, Tensor, Callable[[Tensor], Tensor]]:
    """Return the pattern, each value minus its line's maximum, and the sum over each line."""
    pattern, values = _entries(input, "softmax")
    if dtype is not None:
        values = values.to(dtype)
    (axis,) = axes_of(dim, input.ndim)
    if not values.is_floating_point():
        raise NotImplementedError(
            f"\"softmax\" not implemented for '{values.dtype.tensor_name.removesuffix('Tensor')}'"
        )
    inside = axis - len(pattern.shape) + 1
    if inside > 0:  # a dimension of the entries
        largest = values.detach().amax(inside, keepdim=True)
        return pattern, values - largest, lambda x: x.sum(inside, keepdim=True)
    line, count = _lines(pattern, axis)
    dense = values._array.shape[1:]
    maxima = np.full((count, *dense), -np.inf, values._array.dtype)
    np.maximum.at(maxima, line, values._array)

    def sums(x: Tensor) -> Tensor:
        total = zeros(count, *dense, dtype=x.dtype)
        total = index_put(total, (wrap(line),), x, accumulate=True)
        return total[wrap(line)]

    return pattern, values - wrap(maxima[line]), sums


def softmax(input: Tensor, dim: int, *, dtype: DtypeLike = None) -> Tensor:
    """Return the softmax along a dimension over the entries of each line; the rest stays empty.

    Args:
        input: sparse.
        dim: the dimension along which the entries sum to 1.
        dtype: to which the input is converted first.

    Raises:
        IndexError: there is no such dimension.
        NotImplementedError: the dtype is not a floating-point one.
        RuntimeError: the input is dense.

    Example:
        >>> x = tn.sparse_coo_tensor([[0, 0, 1], [0, 2, 2]], [1.0, 1.0, 3.0])
        >>> tn.sparse.softmax(x, 1).to_dense()
        tensor([[0.5000, 0.0000, 0.5000],
                [0.0000, 0.0000, 1.0000]])
    """
    pattern, exponents, sums = _exponents(input, dim, dtype)
    powers = exponents.exp()
    return _sparse(pattern, powers / sums(powers))


def log_softmax(input: Tensor, dim: int, *, dtype: DtypeLike = None) -> Tensor:
    """Return the logarithm of ``softmax`` at the entries.

    Args:
        input, dim, dtype: as of ``softmax``.

    Raises:
        IndexError, NotImplementedError, RuntimeError: as ``softmax``.

    Example:
        >>> x = tn.sparse_coo_tensor([[0, 0, 1], [0, 2, 2]], [1.0, 1.0, 3.0])
        >>> tn.sparse.log_softmax(x, 1).values()
        tensor([-0.6931, -0.6931,  0.0000])
    """
    pattern, exponents, sums = _exponents(input, dim, dtype)
    return _sparse(pattern, exponents - sums(exponents.exp()).log())


def addmm(
    mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0
) -> Tensor:
    """Return ``beta * mat + alpha * (mat1 @ mat2)`` of a sparse ``mat1``, with gradients.

    Args:
        mat: added; expanded to ``[n, k]``.
        mat1: ``[n, m]``, sparse.
        mat2: ``[m, k]``, dense.
        beta, alpha: factors.

    Raises:
        RuntimeError: the layouts or shapes do not fit.

    Example:
        >>> tn.sparse.addmm(tn.ones(2), tn.eye(2).to_sparse(), tn.eye(2), alpha=3)
        tensor([[4., 1.],
                [1., 4.]])
    """
    if not isinstance(mat1, SparseTensor) or mat2.is_sparse:
        kinds = ["Sparse" if m.is_sparse else "Strided" for m in (mat1, mat2)]
        raise RuntimeError(
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have "
            f"strided layout, got 'mat1' with layout {kinds[0]} and 'mat2' with layout {kinds[1]}"
        )
    added = mat.expand(mat1.shape[0], mat2.shape[1])
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"addmm: Argument #3 (dense): Expected dim 0 size {mat1.shape[1]}, got {mat2.shape[0]}"
        )
    return beta * added + alpha * mm(mat1, mat2)


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0
) -> Tensor:
    """Return ``beta * input + alpha * (mat1 @ mat2)`` at the entries of a sparse ``input``.

    Only these elements of the product are computed.

    Args:
        input: ``[n, k]``, sparse.
        mat1: ``[n, m]``, dense.
        mat2: ``[m, k]``, dense.
        beta, alpha: factors.

    Raises:
        RuntimeError: ``input`` is dense, or the shapes do not fit.

    Example:
        >>> mask = tn.eye(2).to_sparse()
        >>> tn.sparse.sampled_addmm(mask, tn.ones(2, 3), tn.ones(3, 2)).values()
        tensor([4., 4.])
    """
    pattern, values = _entries(input, "sampled_addmm")
    if (mat1.shape[0], mat1.shape[1], mat2.shape[1]) != (
        pattern.shape[0],
        mat2.shape[0],
        pattern.shape[1],
    ):
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({'x'.join(map(str, mat1.shape))} and {'x'.join(map(str, mat2.shape))})"
        )
    rows, columns = (wrap(np.ascontiguousarray(i)) for i in pattern.index)
    product = (mat1[rows] * mat2.mT[columns]).sum(-1)
    return _sparse(pattern, beta * values + alpha * product)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: Any = None) -> Tensor:
    """Return a sparse matrix with the given diagonals.

    Column j of the matrix takes its elements from column j of ``diagonals``.

    Args:
        diagonals: ``[diagonals, n]``, or ``[n]`` for one.
        offsets: the diagonal of each row, positive above the main one.
        shape: of the matrix.
        layout: one of the sparse layouts, which are all stored alike.

    Raises:
        RuntimeError: the numbers of diagonals and offsets differ, an offset is given twice or is
            not of int64, or the shape is not that of a matrix.

    Example:
        >>> tn.sparse.spdiags(tn.tensor([[1.0, 2.0, 3.0]]), tn.tensor([1]), (3, 3)).to_dense()
        tensor([[0., 2., 0.],
                [0., 0., 3.],
                [0., 0., 0.]])
    """
    diagonals = diagonals.unsqueeze(0) if diagonals.ndim == 1 else diagonals
    offsets = offsets.unsqueeze(0) if offsets.ndim == 0 else offsets
    _check_diagonals(diagonals, offsets, shape, layout)
    height, width = shape
    index, places = [], []
    for row, offset in enumerate(offsets.tolist()):
        columns = np.arange(max(0, offset), min(width, height + offset, diagonals.shape[1]))
        index.append(np.stack([columns - offset, columns]))
        places.append(columns + row * diagonals.shape[1])
    values = diagonals.reshape(-1)[wrap(np.concatenate(places))]
    return _sparse(Pattern(np.concatenate(index, 1), (height, width)), values)


def _check_diagonals(diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: Any) -> None:
    """Raise RuntimeError for arguments of ``spdiags`` that do not fit."""
    if diagonals.ndim != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.ndim != 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if len(diagonals) != len(offsets):
        raise RuntimeError(
            f"Number of diagonals ({len(diagonals)}) does not match the number of offsets "
            f"({len(offsets)})"
        )
    if layout is layouts.strided:
        raise RuntimeError(
            "Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got Strided"
        )
    if offsets.dtype is not dtypes.int64:
        kind = offsets.dtype.tensor_name.removesuffix("Tensor")
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {kind}")
    if len({*offsets.tolist()}) < len(offsets):
        raise RuntimeError("Offset tensor contains duplicate values")


# ---- sparse products ----------------------------------------------------------------------------


def sspaddmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """Return ``beta * input + alpha * (mat1 @ mat2)`` as a sparse matrix, which is not coalesced.

    It has the entries of ``input``, and those of the rows of ``mat1`` that have any.

    Args:
        input: ``[n, k]``, sparse.
        mat1: ``[n, m]``, sparse.
        mat2: ``[m, k]``, dense.
        beta, alpha: factors.

    Raises:
        RuntimeError: a tensor has another layout, or the shapes do not fit.

    Example:
        >>> x = tn.eye(2).to_sparse()
        >>> tn.sspaddmm(x, x, tn.ones(2, 2)).to_dense()
        tensor([[2., 1.],
                [1., 2.]])
    """
    pattern, values = _stored(input, "sspaddmm")
    product = mm(mat1, mat2)
    rows = np.unique(_stored(mat1, "sspaddmm")[0].index[0])
    columns = np.arange(mat2.shape[1])
    index = np.stack([np.repeat(rows, len(columns)), np.tile(columns, len(rows))])
    computed = alpha * product[wrap(rows)].reshape(-1)
    joined = zeros(values.numel() + computed.numel(), dtype=computed.dtype)
    joined = index_put(joined, (wrap(np.arange(values.numel())),), beta * values)
    joined = index_put(joined, (wrap(np.arange(values.numel(), joined.numel())),), computed)
    return _sparse(Pattern(np.concatenate([pattern.index, index], 1), pattern.shape), joined)


def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of a sparse and a dense matrix as a sparse one: ``input @ mat2``.

    Args:
        input: ``[n, m]``, sparse.
        mat2: ``[m, k]``, dense.

    Raises:
        RuntimeError: a matrix has another layout, or the shapes do not fit.

    Example:
        >>> tn.smm(tn.eye(2).to_sparse(), tn.ones(2, 1)).to_dense()
        tensor([[1.],
                [1.]])
    """
    nothing = Pattern(np.zeros((2, 0), np.int64), (input.shape[0], mat2.shape[1]))
    return sspaddmm(_sparse(nothing, zeros(0, dtype=mat2.dtype)), input, mat2)


def _stored(t: Tensor, function: str) -> tuple[Pattern, Tensor]:
    """Return the indices and values as they are stored."""
    if not isinstance(t, SparseTensor):
        raise RuntimeError(f"{function}: Argument #1 must be sparse, got a dense tensor")
    return t._array.pattern, t._array.values


method(smm)
method(sspaddmm)

# ---- methods ------------------------------------------------------------------------------------


@method
def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """Return a sparse tensor with the elements at the entries of a sparse ``mask``.

    ``values[i] = self[mask.indices[:, i]]``.

    Args:
        mask: sparse, of the same shape.

    Raises:
        RuntimeError: the shapes differ, or the mask is dense.

    Example:
        >>> tn.tensor([[1.0, 2.0], [3.0, 4.0]]).sparse_mask(tn.eye(2).to_sparse()).values()
        tensor([1., 4.])
    """
    if self.shape != mask.shape:
        raise RuntimeError(
            "sparse_mask(): operands have incompatible sizes; self has size "
            f"{list(self.shape)} but mask has size {list(mask.shape)}"
        )
    pattern, values = _stored(mask, "sparse_mask")
    dense = self.to_dense() if self.is_sparse else self
    entries = dense.reshape(math.prod(pattern.shape), *values.shape[1:])
    return _sparse(pattern, entries[wrap(pattern.flat)])


def _refuse_layout(name: str, order: str) -> Callable[[Tensor], Tensor]:
    """Return a method that raises: the tensor has no compressed layout."""

    def refuse(self: Tensor) -> Tensor:
        found = "Sparse" if self.is_sparse else "Strided"
        raise RuntimeError(
            f"{name} expected sparse {order} compressed tensor layout but got {found}"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"""Raise RuntimeError: those with ``layout = sparse_cs{order[0]}`` have them.

    Example:
        >>> tn.ones(1).{name}()
        Traceback (most recent call last):
        RuntimeError: {name} expected sparse {order} compressed tensor layout but got Strided
    """
    return refuse


for _name, _order in (
    ("crow_indices", "row"),
    ("col_indices", "row"),
    ("ccol_indices", "column"),
    ("row_indices", "column"),
):
    method(_refuse_layout(_name, _order))


class check_sparse_tensor_invariants:  # noqa: N801 - PyTorch's name
    """Whether constructors of sparse tensors check their arguments: a switch, context, decorator.

    tinynet always checks indices; the switch keeps its state for programs that ask for it.

    Args:
        enable: the state in the context or the decorated function.

    Raises:
        RuntimeError: a context is entered again inside of itself.

    Example:
        >>> with tn.sparse.check_sparse_tensor_invariants():
        ...     tn.sparse.check_sparse_tensor_invariants.is_enabled()
        True
    """

    _enabled = False

    def __init__(self, enable: bool = True):
        self.state = enable
        self.saved_state: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Return the state of the switch."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable() -> None:
        """Switch on."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable() -> None:
        """Switch off."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self) -> None:
        if self.saved_state is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context "
                "manager instance for context nesting."
            )
        self.saved_state = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, *error: Any) -> None:
        check_sparse_tensor_invariants._enabled = bool(self.saved_state)
        self.saved_state = None

    def __call__(self, mth: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(mth)
        def checked(*args: Any, **options: Any) -> Any:
            with type(self)(self.state):
                return mth(*args, **options)

        return checked
