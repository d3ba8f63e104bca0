"""Diagonals, block diagonals, triangle indices and adjoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.complex_rules import conjugate
from tinynet.core.declaration.operation import composite, operation, sequence, view
from tinynet.core.devices import DeviceLike, require_cpu
from tinynet.core.tensors.tensor import Tensor, method, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.arguments import EXPECTED, name_of, refuse_others
from tinynet.ops.shaping.joining import stack
from tinynet.ops.shaping.views import axis_of, expand, reshape, transpose

# ---- a view ------------------------------------------------------------------------------------


@operation(node="DiagonalBackwardBackward0", complex=True)
def diagonal_embed(
    self: Array, /, shape: tuple[int, ...], offset: int, dim1: int, dim2: int
) -> Array:
    """Return zeros of ``shape`` with ``self`` on a diagonal."""
    whole = np.zeros(shape, self.dtype)
    place = np.diagonal(whole, offset, dim1, dim2)
    place.flags.writeable = True
    place[...] = self
    return whole


diagonal_embed.grad(self=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2))


@view(node="DiagonalBackward0")
def diagonal_view(self: Array, /, offset: int, dim1: int, dim2: int) -> Array:
    """Return a view of a diagonal."""
    found = np.diagonal(self, offset, axis_of(dim1, self.ndim), axis_of(dim2, self.ndim))
    if self.flags.writeable:
        found.flags.writeable = True
    return found


diagonal_view.grad(
    self=lambda g, self_shape, offset, dim1, dim2: diagonal_embed(g, self_shape, offset, dim1, dim2)
)


def diagonal(x: Any, offset: int, dim1: int, dim2: int) -> Any:
    """Return the diagonal of an array or tensor."""
    if isinstance(x, Tensor):
        return diagonal_view.function(x, offset, dim1, dim2)
    return np.diagonal(x, offset, dim1, dim2)


# ---- diagonals ----------------------------------------------------------------------------------


@operation(public=True, autocast="float32", complex=True)
def trace(self: Array, /) -> Array:
    """Return the sum of the diagonal of a matrix; integers sum as int64.

    Raises:
        RuntimeError: not a matrix.

    Example:
        >>> tn.trace(tn.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(5.)
    """
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    if self.dtype.kind == "b":
        raise NotImplementedError(f"\"trace\" not implemented for '{name_of(self)}'")
    kind = self.dtype if dtypes.is_inexact(self.dtype) else np.dtype(np.int64)
    return np.trace(self, dtype=kind)


def _along_diagonal(g: Any, shape: tuple[int, ...]) -> Any:
    """Return zeros with the 0-d ``g`` along the diagonal."""
    return diagonal_embed(expand(reshape(g, (1,)), (min(shape),)), shape, 0, 0, 1)


trace.grad(self=lambda g, self_shape: _along_diagonal(g, self_shape))


@operation(node="DiagonalBackward0_copy", complex=True)
def diagonal_copy(self: Array, /, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """Return a copy of a diagonal."""
    return np.diagonal(self, offset, dim1, dim2).copy()


diagonal_copy.grad(
    self=lambda g, self_shape, offset, dim1, dim2: diagonal_embed(g, self_shape, offset, dim1, dim2)
)


@operation(node="DiagEmbedBackward0", complex=True)
def diagonal_matrix(self: Array, /, offset: int, dim1: int, dim2: int) -> Array:
    """Embed the last dimension in the diagonal of two new dimensions."""
    n = self.shape[-1] + abs(offset)
    shape = list(self.shape[:-1])
    for axis in sorted((dim1, dim2)):
        shape.insert(axis, n)
    return diagonal_embed.kernel(self, tuple(shape), offset, dim1, dim2)


diagonal_matrix.grad(self=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2))


@composite(checks=True)
def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return matrices with the last dimension of a tensor on a diagonal, zeros elsewhere.

    Args:
        self: ``[..., n]``.
        offset: the diagonal: above the main one if positive, below if negative.
        dim1, dim2: the positions of the two matrix dimensions in the result.

    Example:
        >>> tn.diag_embed(tn.tensor([1.0, 2.0]), offset=1)
        tensor([[0., 1., 0.],
                [0., 0., 2.],
                [0., 0., 0.]])
    """
    ndim = self._array.ndim + 1
    one, two = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if one == two:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if self._array.ndim == 0:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    return diagonal_matrix.function(self, offset, one, two)


@composite(out=EXPECTED, checks=True)
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """Return a diagonal of a matrix as a copy, or a matrix with a vector on a diagonal.

    Args:
        self: ``[n, m]`` or ``[n]``.
        diagonal: the diagonal: above the main one if positive, below if negative.

    Raises:
        RuntimeError: neither a matrix nor a vector.

    Example:
        >>> tn.diag(tn.diag(tn.tensor([1.0, 2.0])))
        tensor([1., 2.])
    """
    ndim = self._array.ndim
    if ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    if ndim == 1:
        return diag_embed(self, diagonal)
    return diagonal_copy.function(self, diagonal)


@composite(checks=True)
def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    """Return a matrix with the elements of a tensor of any shape, flattened, on a diagonal.

    Example:
        >>> tn.diagflat(tn.tensor([[1.0], [2.0]]))
        tensor([[1., 0.],
                [0., 2.]])
    """
    return diag_embed(reshape(self, (self._array.size,)), offset)


# ---- block diagonals ----------------------------------------------------------------------------


def _corners(shapes: Sequence[tuple[int, ...]]) -> Iterator[tuple[slice, slice]]:
    """Yield the position of each block; vectors count as rows."""
    row = column = 0
    for shape in shapes:
        height, width = (1,) * (2 - len(shape)) + tuple(shape)
        yield slice(row, row + height), slice(column, column + width)
        row, column = row + height, column + width


@sequence(node="BlockDiagBackward0")
def blocks(tensors: list[Array], /) -> Array:
    """Return the block-diagonal matrix of an array of matrices."""
    places = list(_corners([a.shape for a in tensors]))
    whole = np.zeros(tuple(x.stop for x in places[-1]), tensors[0].dtype)
    for a, place in zip(tensors, places, strict=True):
        whole[place] = a
    return whole


# All get one dtype, like in stack.
blocks.function.arrays = stack.function.arrays
blocks.grad(
    tensors=lambda g, tensors_shapes: tuple(
        g[place] if len(shape) == 2 else reshape(g[place], shape)
        for place, shape in zip(_corners(tensors_shapes), tensors_shapes, strict=True)
    )
)


@composite(method=False)
def block_diag(*tensors: Tensor) -> Tensor:
    """Return the block-diagonal matrix of the given matrices.

    Vectors count as rows, scalars as matrices of one element.

    Raises:
        RuntimeError: a tensor has more than two dimensions.

    Example:
        >>> tn.block_diag(tn.ones(1, 2), tn.tensor(3.0))
        tensor([[1., 1., 0.],
                [0., 0., 3.]])
    """
    for i, t in enumerate(tensors):
        refuse_others("block_diag", tensors=t)
        if t._array.ndim > 2:
            raise RuntimeError(
                "tinynet.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {t._array.ndim} dimensions"
            )
    if not tensors:
        return wrap(np.zeros((1, 0), dtypes.default_float()))
    return blocks.function(tensors)


# ---- indices of triangles -----------------------------------------------------------------------


@traced
def _indices(name: str, find: Any, row: int, col: int, offset: int, dtype: Any) -> Tensor:
    for side, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{side} must be non-negative, got{n}")
    kind = np.dtype(np.int64) if dtype is None else dtypes.as_numpy(dtype)
    if kind.kind != "i" or kind.itemsize < 4:
        shown = dtypes.from_numpy(kind).scalar_name
        raise NotImplementedError(f"\"{name}\" not implemented for '{shown}'")
    return wrap(np.stack(find(row, offset, col)).astype(kind, copy=False))


def _triangle(name: str, find: Any, side: str, shown: str) -> Any:
    """Build a public function that returns the indices of a triangle."""

    def function(
        row: int, col: int, offset: int = 0, *, dtype: DtypeLike = None, device: DeviceLike = None
    ) -> Tensor:
        require_cpu(device)
        return _indices(name, find, row, col, offset, dtype)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return the indices of the elements on and {side} a diagonal.

    The result is ``[2, count]``: rows and columns.

    Args:
        row, col: the size of the matrix.
        offset: the diagonal: above the main one if positive, below if negative.
        dtype: int64 (the default) or int32.
        device: only ``"cpu"``.

    Raises:
        RuntimeError: a size is negative.
        NotImplementedError: a floating-point dtype.

    Example:
        >>> tn.{name}(2, 2).tolist()
        {shown}
    """
    return composite(function, method=False)


tril_indices = _triangle("tril_indices", np.tril_indices, "below", "[[0, 1, 1], [0, 0, 1]]")
triu_indices = _triangle("triu_indices", np.triu_indices, "above", "[[0, 0, 1], [0, 1, 1]]")

# ---- adjoints -----------------------------------------------------------------------------------


@composite(checks=True)
def adjoint(self: Tensor) -> Tensor:
    """Return the conjugate with the last two dimensions swapped; of real numbers, a view.

    Raises:
        RuntimeError: the tensor has fewer than two dimensions.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).adjoint()
        tensor([[1, 3],
                [2, 4]])
    """
    return _adjoint(self, "tensor.adjoint()")


def _adjoint(self: Tensor, name: str) -> Tensor:
    ndim = self._array.ndim
    if ndim < 2:
        raise RuntimeError(
            f"{name} is only supported on matrices or batches of matrices. Got {ndim}-D tensor."
        )
    return conjugate(transpose.function(self, -2, -1))


def _matrices_adjoint(self: Tensor) -> Tensor:
    """The conjugate with the last two dimensions swapped.

    Raises:
        RuntimeError: the tensor has fewer than two dimensions.

    Example:
        >>> tn.ones(5, 2, 3).mH.shape
        tinynet.Size([5, 3, 2])
    """
    return _adjoint(self, "tensor.mH")


def _matrix_adjoint(self: Tensor) -> Tensor:
    """The conjugate of a matrix with its dimensions swapped.

    Raises:
        RuntimeError: the tensor has 1, 3 or more dimensions.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).H
        tensor([[1, 3],
                [2, 4]])
    """
    ndim = self._array.ndim
    if ndim not in (0, 2):
        hint = "For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(
            "tensor.H is only supported on matrices (2-D tensors). "
            f"Got {ndim}-D tensor.{' ' + hint if hint else ''}"
        )
    return conjugate(transpose.function(self, 0, -1))


method(property(_matrices_adjoint), "mH")
method(property(_matrix_adjoint), "H")
