"""Products of matrices and vectors."""

from __future__ import annotations

import math

import numpy as np

from tinynet import errors
from tinynet.core.complex_rules import conjugate
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.graph.views import requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor, counter_of, method
from tinynet.dtypes import Array
from tinynet.kernels import native as native_kernels
from tinynet.kernels import onednn
from tinynet.kernels.threads import products
from tinynet.ops.arguments import EXPECTED, c_name, name_of, refuse_others, same_dtype
from tinynet.ops.shaping import copies, views

# ---- products by BLAS ---------------------------------------------------------------------------


def gemm(a: Array, b: Array, bias: Array | None = None) -> Array:
    """Return ``a @ b + bias``; several threads share large products.

    Args:
        a: ``[rows, inputs]``.
        b: ``[inputs, columns]``.
        bias: ``[columns]``.
    """
    if len(a) == 1:
        made = a.dot(b)
    elif a.size * b.shape[1] >= _LARGE and native_kernels.takes(a, b) and onednn.is_available():
        made = _by_onednn(a, b)
    else:
        made = products.dot(a, b)
    if bias is not None:
        made += bias
    return made


_LARGE = 1 << 16  # multiply-adds: smaller products cost less than the call of a kernel


def _by_onednn(a: Array, b: Array) -> Array:
    out = np.empty((a.shape[0], b.shape[1]), np.float32)
    (a, a_turned), (b, b_turned) = map(_as_rows, (a, b))
    native_kernels.blas.product(a, a_turned, b, b_turned, out, np.float32(0))
    return out


def _as_rows(x: Array) -> tuple[Array, bool]:
    """Return a matrix or its transpose with contiguous rows, and whether it is the transpose."""
    if x.flags.f_contiguous and not x.flags.c_contiguous:
        return x.T, True
    return np.ascontiguousarray(x), False


# ---- operations ---------------------------------------------------------------------------------


# ---- checks -------------------------------------------------------------------------------------


def refused(kernel: str, *arrays: Array) -> Exception:
    """Return the error for two operands of matching shapes: their dtypes differ."""
    names = [name_of(a) for a in arrays]
    if names[0] == names[1] or kernel == "bmm" and names[0] == "Bool":
        return NotImplementedError(f"\"{kernel}\" not implemented for '{names[0]}'")
    if kernel == "addmm_impl_cpu_":
        a, b = (c_name(x) for x in arrays)
        return errors.mixed_dtypes(
            f"expected m1 and m2 to have the same dtype, but got: {a} != {b}"
        )
    if kernel == "addmv_impl_cpu":
        return errors.mixed_dtypes(
            "addmv input tensors must have the same dtype, but got "
            f"{names[1]}, {names[0]}, and {names[1]}"
        )
    if kernel == "dot":
        return errors.mixed_dtypes(
            f"dot : expected both vectors to have same dtype, but found {names[0]} and {names[1]}"
        )
    return errors.mixed_dtypes(f"expected scalar type {names[0]} but found {names[1]}")


_OF_VECTORS = same_dtype("result dtype {out} does not match input dtype {result}")

# ---- the products -------------------------------------------------------------------------------


@operation(public=True, autocast="lower", out=EXPECTED, complex=True)
def mm(self: Array, mat2: Array, /) -> Array:
    """Multiply two matrices.

    Raises:
        RuntimeError: not matrices, incompatible sizes, or different dtypes.

    Example:
        >>> tn.mm(tn.ones(2, 3), tn.ones(3, 1))
        tensor([[3.],
                [3.]])
    """
    if self.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(f"{'mat2' if self.ndim == 2 else 'self'} must be a matrix")
    if self.shape[1] != mat2.shape[0]:
        sizes = " and ".join(f"{a.shape[0]}x{a.shape[1]}" for a in (self, mat2))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({sizes})")
    if self.dtype != mat2.dtype or self.dtype.kind == "b":
        raise refused("addmm_impl_cpu_", self, mat2)
    # Faster than np.matmul for small matrices, and for expanded ones before numpy 2.3.
    return gemm(self, mat2)


mm.grad(self=lambda g, mat2: mm(g, mat2.T), mat2=lambda g, self: mm(self.T, g))


@operation(public=True, autocast="lower", out=EXPECTED, complex=True)
def bmm(self: Array, mat2: Array, /) -> Array:
    """Multiply two batches of matrices.

    Args:
        self: ``[batch, n, m]``.
        mat2: ``[batch, m, p]``.

    Raises:
        RuntimeError: not three dimensions, incompatible sizes, or different dtypes.

    Example:
        >>> tn.bmm(tn.ones(4, 2, 3), tn.ones(4, 3, 1)).shape
        tinynet.Size([4, 2, 1])
    """
    if self.ndim != 3 or mat2.ndim != 3:
        raise RuntimeError(f"batch{2 if self.ndim == 3 else 1} must be a 3D tensor")
    if (self.shape[0], self.shape[2]) != mat2.shape[:2]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{self.shape[0]}, {self.shape[2]}] but got: {list(mat2.shape[:2])}."
        )
    if 0 in (*self.shape, *mat2.shape):  # where PyTorch does not look at the first dtype
        return np.zeros((*self.shape[:2], mat2.shape[2]), mat2.dtype)
    if self.dtype != mat2.dtype or self.dtype.kind == "b":
        raise refused("bmm", self, mat2)
    return products.matmul(_solid(self), _solid(mat2))


def _solid(x: Array) -> Array:
    """Copy expanded matrices, which numpy before 2.3 multiplies slowly."""
    return np.ascontiguousarray(x) if 0 in x.strides[1:] else x


bmm.grad(self=lambda g, mat2: bmm(g, mat2.mT), mat2=lambda g, self: bmm(self.mT, g))


@operation(
    public=True,
    out=same_dtype(
        "addmv input tensors must have the same dtype, but got {out}, {result}, and {result}"
    ),
    complex=True,
)
def mv(self: Array, vec: Array, /) -> Array:
    """Multiply a matrix by a vector.

    Raises:
        RuntimeError: not a matrix and a vector, incompatible sizes, or different dtypes.

    Example:
        >>> tn.mv(tn.ones(2, 3), tn.ones(3))
        tensor([3., 3.])
    """
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {vec.ndim}, {self.ndim}, {vec.ndim}"
        )
    if self.shape[1] != vec.shape[0]:
        n, m = self.shape
        raise RuntimeError(f"size mismatch, got input ({n}), mat ({n}x{m}), vec ({vec.shape[0]})")
    if self.dtype != vec.dtype or self.dtype.kind == "b":
        raise refused("addmv_impl_cpu", self, vec)
    return np.dot(self, vec)


mv.grad(self=lambda g, vec: g[:, None] * vec, vec=lambda g, self: mv(self.T, g))


@operation(node="SqueezeBackward4", complex=True)
def row_product(self: Array, mat2: Array, /) -> Array:
    """Multiply a vector, as a row, by a matrix: one operation, for speed."""
    if self.shape[0] != mat2.shape[0] or self.dtype != mat2.dtype or self.dtype.kind == "b":
        return mm.kernel(self[None], mat2)[0]  # raises the error
    return np.dot(self, mat2)


row_product.grad(self=lambda g, mat2: mv(mat2, g), mat2=lambda g, self: self[:, None] * g)


@operation(public=True, out=_OF_VECTORS, complex=True)
def dot(self: Array, tensor: Array, /) -> Array:
    """Return the inner product of two vectors.

    Raises:
        RuntimeError: not vectors of the same length and dtype.

    Example:
        >>> tn.dot(tn.tensor([1.0, 2.0]), tn.tensor([3.0, 4.0]))
        tensor(11.)
    """
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    if self.dtype != tensor.dtype or self.dtype.kind == "b":
        raise refused("dot", self, tensor)
    n, m = self.shape[0], tensor.shape[0]
    if n != m:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same "
            f"number of elements, but got {n} and {m} elements respectively"
        )
    return np.dot(self, tensor)


dot.grad(self=lambda g, tensor: g * tensor, tensor=lambda g, self: g * self)


@operation(public=True, out=_OF_VECTORS, complex="given")
def vdot(self: Array, other: Array, /) -> Array:
    """Return the inner product of two vectors, with the conjugate of the first.

    Raises:
        RuntimeError: not vectors of the same length and dtype.

    Example:
        >>> tn.vdot(tn.tensor([1.0, 2.0]), tn.tensor([3.0, 4.0]))
        tensor(11.)
    """
    return dot.kernel(conjugate(self), other)


vdot.grad(self=lambda g, other: conjugate(g) * other, other=lambda g, self: g * self)


@operation(node="UnsafeViewBackward0", complex=True, order="")
def unsafe_view(self: Array, /, shape: tuple[int, ...]) -> Array:
    """Reshape an intermediate result: shares memory, but does not count as a view."""
    return self.reshape(shape)


unsafe_view.grad(self=lambda g, self_shape: views.reshape(g, self_shape))

# ---- matmul -------------------------------------------------------------------------------------


@composite(out=EXPECTED)
def matmul(self: Tensor, other: Tensor) -> Tensor:
    """Multiply vectors, matrices, or batches of matrices, like ``a @ b``.

    Two vectors give their inner product. A vector on the left is a row, one on the right a column;
    the result drops that dimension. With more than two dimensions, the last two are multiplied and
    the others broadcast.

    Raises:
        RuntimeError: a 0-d tensor, incompatible sizes, or different dtypes.

    Example:
        >>> tn.matmul(tn.ones(5, 2, 3), tn.ones(3, 4)).shape
        tinynet.Size([5, 2, 4])
    """
    if not (isinstance(self, Tensor) and isinstance(other, Tensor)):
        refuse_others("matmul", self=self, other=other)
    dims = self._array.ndim, other._array.ndim
    if dims == (2, 2):
        return mm.function(self, other)
    if mode.autocast is not None and 1 in dims:
        return mode.autocast("lower", matmul, (self, other), {})
    if dims == (2, 1):
        return mv.function(self, other)
    if dims == (1, 1):
        return dot.function(self, other)
    if dims == (1, 2):
        product = row_product.function(self, other)
        # PyTorch makes a matrix of one row, and counts dropping the dimension as a write.
        counter_of(product).bump(None, "squeeze_", row_product.node_name)
        return product
    if 0 in dims:
        raise RuntimeError(
            "both arguments to matmul need to be at least 1D, but they are "
            f"{dims[0]}D and {dims[1]}D"
        )
    return _folded(self, other) if _folds(self, other) else _batched(self, other)


def _folds(self: Tensor, other: Tensor) -> bool:
    """Return whether all matrices of one operand meet the same matrix or vector of the other.

    A single large product then replaces many small ones, and the gradient of the smaller operand
    needs no memory per matrix. If the larger one is on the right, the result must be copied into
    order, which only pays off if the smaller one requires grad.
    """
    a, b = self._array, other._array
    large, small = (self, other) if a.ndim >= b.ndim else (other, self)
    if small._array.ndim > 2:
        return False
    if mode.grad and requires_grad(small):
        return True
    if a.ndim == 2:
        return False
    array = large._array if large is self else large._array.swapaxes(-1, -2)
    steps = array.strides
    return array.size == 0 or all(
        steps[i] == steps[i + 1] * array.shape[i + 1] for i in range(array.ndim - 2)
    )


def _folded(self: Tensor, other: Tensor) -> Tensor:
    """Multiply with all dimensions but the last of the larger operand flattened."""
    swapped = other._array.ndim > self._array.ndim
    large = views.transpose.function(other, -2, -1) if swapped else self
    small = self if swapped else other
    if swapped and small._array.ndim == 2:
        small = views.t.function(small)
    *rows, inner = large._array.shape
    folded = views.reshape(large, (math.prod(rows), inner))
    if small._array.ndim == 1:
        return unsafe_view.function(mv.function(folded, small), tuple(rows))
    columns = small._array.shape[1]
    whole = unsafe_view.function(mm.function(folded, small), (*rows, columns))
    if swapped:
        return copies.contiguous(views.transpose.function(whole, -2, -1))
    return whole


def _batched(self: Tensor, other: Tensor) -> Tensor:
    """Multiply matrix by matrix, broadcasting the dimensions before the last two."""
    left, right = self._array.shape, other._array.shape
    if len(left) == len(right) == 3 and left[0] != right[0]:  # one matrix meets all others
        if left[0] == 1 and requires_grad(self):
            return matmul(views.squeeze_dim.function(self, 0), other)
        if right[0] == 1 and requires_grad(other):
            return matmul(self, views.squeeze_dim.function(other, 0))
    row, column = left[-2:], right[-2:]
    if len(left) == 1:
        row = (1, *left)
    if len(right) == 1:
        column = (*right, 1)
        other = views.unsqueeze.function(other, 1)
    try:
        batch = np.broadcast_shapes(left[:-2], right[:-2])
    except ValueError:
        raise errors.not_broadcastable(left[:-2], right[:-2]) from None
    count = math.prod(batch)
    a = _laid_out(self, (*batch, *row), (count, *row))
    b = _laid_out(other, (*batch, *column), (count, *column))
    kept = (*batch, *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    return unsafe_view.function(bmm.function(a, b), kept)


def _laid_out(x: Tensor, wide: tuple[int, ...], flat: tuple[int, ...]) -> Tensor:
    """Expand an operand to ``wide`` and reshape it to ``flat``."""
    if x._array.shape != wide:
        x = views.expand_to.function(x, wide)
    return x if wide == flat else views.reshape(x, flat)


def _operator(self: Tensor, other: Tensor) -> Tensor:
    """``self @ other``."""
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def _reflected(self: Tensor, other: Tensor) -> Tensor:
    """``other @ self``."""
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


method(_operator, "__matmul__")
method(_reflected, "__rmatmul__")


@composite(out=True)
def outer(self: Tensor, vec2: Tensor) -> Tensor:
    """Return the outer product of two vectors.

    ``result[i, j] = self[i] * vec2[j]``.

    Raises:
        RuntimeError: not vectors.

    Example:
        >>> tn.outer(tn.tensor([1.0, 2.0]), tn.tensor([3.0, 4.0]))
        tensor([[3., 4.],
                [6., 8.]])
    """
    refuse_others("outer", self=self, vec2=vec2)
    for name, x in (("self", self), ("vec2", vec2)):
        if x._array.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x._array.ndim}-D")
    return views.reshape(self, (self._array.size, 1)) * vec2


@composite(out=True)
def ger(self: Tensor, vec2: Tensor) -> Tensor:
    """Return the outer product of two vectors: the BLAS name of ``outer``.

    Raises:
        RuntimeError: not vectors.

    Example:
        >>> tn.ger(tn.tensor([1.0, 2.0]), tn.tensor([3.0, 4.0]))
        tensor([[3., 4.],
                [6., 8.]])
    """
    return outer(self, vec2)
