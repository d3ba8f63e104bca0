"""BLAS-like sums with products: ``beta * self + alpha * product``.

Each is a single operation, for speed: scaling and addition reuse the product's memory.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.declaration.operation import operation
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import HALF, single
from tinynet.kernels.strides import resized
from tinynet.ops.arguments import EXPECTED, c_name, name_of, same_dtype
from tinynet.ops.indexing.gather import number_as
from tinynet.ops.products.matmul import bmm, mm, mv
from tinynet.ops.shaping.views import axis_of, expand, expand_to, unsqueeze

# ---- shared helpers -----------------------------------------------------------------------------


def _added(self: Array, multiply: Any, a: Array, b: Array, beta: float, alpha: float) -> Array:
    """Return ``beta * self + alpha * multiply(a, b)``; float16 is computed in float32.

    If ``beta`` is zero, ``self`` is ignored, including NaN and infinity.
    """
    if self.dtype is HALF:
        a, b = a.astype(np.float32), b.astype(np.float32)
        return _added(self.astype(np.float32), multiply, a, b, beta, alpha).astype(HALF)
    product = multiply(a, b)
    self = expand_to.kernel(self, product.shape)
    if alpha != 1:
        product *= number_as(alpha, product.dtype)
    if beta == 1:
        product += self
    elif beta != 0:
        product += self * number_as(beta, product.dtype)
    return product


def times(g: Any, factor: float) -> Any:
    """Multiply ``g`` by a number; return ``g`` itself for 1."""
    if factor == 1:
        return g
    return g * (single(factor) if g.dtype == HALF else factor)


def _matrix(name: str, x: Array) -> None:
    if x.ndim != 2:
        raise RuntimeError(f"{name} must be a matrix, got {x.ndim}-D tensor")


def _same(*arrays: Array) -> None:
    """Refuse matrices of different dtypes."""
    first = arrays[0]
    for other in arrays[1:]:
        if other.dtype != first.dtype:
            raise errors.mixed_dtypes(
                f"self and mat2 must have the same dtype, but got {name_of(first)} and "
                f"{name_of(other)}"
            )


def _refuse_shape(array: Array, needed: Sequence[int]) -> Array:
    raise RuntimeError(
        f"Bad in-place call: input tensor size {list(array.shape)} and output tensor size "
        f"{list(needed)} should match"
    )


# What all of them declare.
summed = functools.partial(operation, numbers_first=True, fitted=_refuse_shape)

# ---- a matrix plus a product of matrices --------------------------------------------------------


@summed(public=True, inplace=True, autocast="lower", out=EXPECTED, complex=True)
def addmm(self: Array, mat1: Array, mat2: Array, /, *, beta: float = 1, alpha: float = 1) -> Array:
    """Return ``beta * self + alpha * (mat1 @ mat2)``.

    Args:
        self: the summand; broadcast to ``[n, p]``.
        mat1: ``[n, m]``.
        mat2: ``[m, p]``.
        beta: the factor of ``self``; 0 drops ``self``, even NaN.
        alpha: the factor of the product.

    Raises:
        RuntimeError: not matrices, incompatible sizes, or different dtypes.

    Example:
        >>> tn.addmm(tn.ones(2), tn.ones(1, 3), tn.ones(3, 2), alpha=2)
        tensor([[7., 7.]])
    """
    _matrix("mat1", mat1)
    _matrix("mat2", mat2)
    _same(mat1, mat2)
    _same(self, mat1)
    return _added(self, mm.kernel, mat1, mat2, beta, alpha)


addmm.grad(
    self=lambda g, beta: times(g, beta),
    mat1=lambda g, mat2, alpha: times(mm(g, mat2.T), alpha),
    mat2=lambda g, mat1, alpha: times(mm(mat1.T, g), alpha),
)


@summed(public=True, inplace="function", out=EXPECTED, complex=True)
def addmv(self: Array, mat: Array, vec: Array, /, *, beta: float = 1, alpha: float = 1) -> Array:
    """Return ``beta * self + alpha * (mat @ vec)``.

    Args:
        self: the summand; broadcast to ``[n]``.
        mat: ``[n, m]``.
        vec: ``[m]``.
        beta: the factor of ``self``; 0 drops ``self``, even NaN.
        alpha: the factor of the product.

    Raises:
        RuntimeError: unexpected numbers of dimensions, incompatible sizes, or different dtypes.

    Example:
        >>> tn.addmv(tn.ones(2), tn.ones(2, 3), tn.ones(3), beta=0.5)
        tensor([3.5000, 3.5000])
    """
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}"
        )
    if vec.shape[0] != mat.shape[1] or self.size not in (1, mat.shape[0]):
        n, m = mat.shape
        raise RuntimeError(
            f"size mismatch, got input ({self.size}), mat ({n}x{m}), vec ({vec.shape[0]})"
        )
    if not self.dtype == mat.dtype == vec.dtype:
        names = f"{name_of(self)}, {name_of(mat)}, and {name_of(vec)}"
        raise errors.mixed_dtypes(f"addmv input tensors must have the same dtype, but got {names}")
    beta, alpha = (dtypes.representable(factor, mat.dtype) for factor in (beta, alpha))
    return _added(self, mv.kernel, mat, vec, beta, alpha)


addmv.grad(
    self=lambda g, beta: times(g, beta),
    mat=lambda g, vec, alpha: times(g[:, None] * vec, alpha),
    vec=lambda g, mat, alpha: times(mv(mat.T, g), alpha),
)


@summed(public=True, inplace=True, complex=True, order="iterated")
def addr(self: Array, vec1: Array, vec2: Array, /, *, beta: float = 1, alpha: float = 1) -> Array:
    """Return ``beta * self + alpha * outer(vec1, vec2)``, in the promoted dtype.

    Args:
        self: the summand; broadcast to ``[n, m]``.
        vec1: ``[n]``.
        vec2: ``[m]``.
        beta: the factor of ``self``; 0 drops ``self``, even NaN.
        alpha: the factor of the product.

    Raises:
        RuntimeError: not vectors, incompatible sizes, or a fractional factor for integers.

    Example:
        >>> tn.addr(tn.zeros(2, 2), tn.tensor([1.0, 2.0]), tn.tensor([3.0, 4.0]))
        tensor([[3., 4.],
                [6., 8.]])
    """
    for name, x in (("vec1", vec1), ("vec2", vec2)):
        if x.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {x.ndim}-D")
    kind = dtypes.result_type((self, vec1, vec2))
    beta, alpha = (dtypes.factor(n, v, kind) for n, v in (("beta", beta), ("alpha", alpha)))
    self, vec1, vec2 = (x.astype(kind, copy=False) for x in (self, vec1, vec2))
    beta, alpha = (dtypes.representable(factor, kind) for factor in (beta, alpha))
    return _added(self, np.multiply.outer, vec1, vec2, beta, alpha)


addr.grad(
    self=lambda g, beta: times(g, beta),
    vec1=lambda g, vec2, alpha: times(mv(g, vec2), alpha),
    vec2=lambda g, vec1, alpha: times(mv(g.T, vec1), alpha),
)

# ---- batches ------------------------------------------------------------------------------------


def _sums(batch1: Array, batch2: Array) -> tuple[int, int]:
    """Return the shape of the product of the last two dimensions."""
    return batch1.shape[axis_of(1, batch1.ndim)], batch2.shape[axis_of(2, batch2.ndim)]


def _batches(batch1: Array, batch2: Array) -> None:
    for name, x in (("batch1", batch1), ("batch2", batch2)):
        if x.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")


@summed(public=True, inplace=True, autocast="lower", out=EXPECTED, complex=True)
def baddbmm(
    self: Array, batch1: Array, batch2: Array, /, *, beta: float = 1, alpha: float = 1
) -> Array:
    """Return ``beta * self + alpha * (batch1 @ batch2)``, matrix by matrix.

    Args:
        self: the summand; broadcast to ``[batch, n, p]``.
        batch1: ``[batch, n, m]``.
        batch2: ``[batch, m, p]``.
        beta: the factor of ``self``; 0 drops ``self``, even NaN.
        alpha: the factor of the product.

    Raises:
        RuntimeError: unexpected numbers of dimensions, incompatible sizes, or different dtypes.

    Example:
        >>> tn.baddbmm(tn.ones(1), tn.ones(4, 2, 3), tn.ones(4, 3, 2)).shape
        tinynet.Size([4, 2, 2])
    """
    self = expand_to.kernel(self, (batch1.shape[0], *_sums(batch1, batch2)))
    _batches(batch1, batch2)
    size = batch1.shape[0], batch1.shape[2]
    if size != batch2.shape[:2]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"{list(size)} but got: {list(batch2.shape[:2])}."
        )
    if batch1.dtype == batch2.dtype != self.dtype:
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {c_name(self)}, batch1: {c_name(batch1)}, "
            f"batch2: {c_name(batch2)}"
        )
    return _added(self, bmm.kernel, batch1, batch2, beta, alpha)


baddbmm.grad(
    self=lambda g, beta: times(g, beta),
    batch1=lambda g, batch2, alpha: times(bmm(g, batch2.mT), alpha),
    batch2=lambda g, batch1, alpha: times(bmm(batch1.mT, g), alpha),
)


@summed(
    public=True,
    inplace=True,
    autocast="lower",
    out=same_dtype("self and mat2 must have the same dtype, but got {out} and {result}"),
    complex=True,
    fitted=resized,
)
def addbmm(
    self: Array, batch1: Array, batch2: Array, /, *, beta: float = 1, alpha: float = 1
) -> Array:
    """Return ``beta * self`` plus ``alpha`` times the sum of the products of a batch.

    Args:
        self: the summand; broadcast to ``[n, p]``.
        batch1: ``[batch, n, m]``.
        batch2: ``[batch, m, p]``.
        beta: the factor of ``self``; 0 drops ``self``, even NaN.
        alpha: the factor of the sum.

    Raises:
        RuntimeError: unexpected numbers of dimensions, incompatible sizes, or different dtypes.

    Example:
        >>> tn.addbmm(tn.ones(1), tn.ones(4, 2, 3), tn.ones(4, 3, 2))
        tensor([[13., 13.],
                [13., 13.]])
    """
    self = expand_to.kernel(self, _sums(batch1, batch2))
    _batches(batch1, batch2)
    (count, n, m), (other, k, p) = batch1.shape, batch2.shape
    if count != other:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {count} and {other}"
        )
    if m != k:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({n}x{m} and {k}x{p})")
    _same(batch1, batch2)
    _same(self, batch1)
    # A single product of long matrices sums over the batch.
    row = batch1.transpose(1, 0, 2).reshape(n, count * m)
    return _added(self, mm.kernel, row, batch2.reshape(count * m, p), beta, alpha)


def _to_all(g: Any, batch: tuple[int, ...]) -> Any:
    """Return the gradient of a sum over a batch of matrices with respect to each of them."""
    g = unsqueeze(g, 0)
    return expand(g, (batch[0], *g.shape[1:]))


addbmm.grad(
    self=lambda g, beta: times(g, beta),
    batch1=lambda g, batch2, batch2_shape, alpha: times(
        bmm(_to_all(g, batch2_shape), batch2.mT), alpha
    ),
    batch2=lambda g, batch1, batch1_shape, alpha: times(
        bmm(batch1.mT, _to_all(g, batch1_shape)), alpha
    ),
)
