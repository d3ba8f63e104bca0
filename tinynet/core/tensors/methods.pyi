"""What other files add to Tensor. Written by ``python -m docs.stubs``."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, Self

from tinynet import dtypes
from tinynet.compat.storage import TypedStorage, UntypedStorage
from tinynet.core import layouts
from tinynet.core.devices import DeviceLike
from tinynet.core.graph.node import Edge, Node, RemovableHandle
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes.kinds import Array, DtypeLike
from tinynet.ops.creation.memory import StorageBase
from tinynet.ops.creation.tensor_types import TensorKind
from tinynet.ops.linalg.norms import Order
from tinynet.ops.pointwise.clamp import Bound
from tinynet.ops.pointwise.powers import Frexp
from tinynet.ops.reduction.extrema import MinAndMax, ValuesAndIndices
from tinynet.ops.reduction.histograms import Histogram
from tinynet.ops.reduction.sums import Dims
from tinynet.ops.shaping.splitting import Sections
from tinynet.ops.shaping.views import Ints
from tinynet.random import Generator

class TensorMethods:
    """The base of Tensor for type checkers."""

    @property
    def H(self) -> Tensor:
        """The conjugate of a matrix with its dimensions swapped."""
    @property
    def T(self) -> Tensor:
        """The tensor with its dimensions in reverse order."""
    def __abs__(self) -> Tensor:
        """Return the absolute value."""
    def __add__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the elementwise sum."""
    def __and__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the bitwise AND; the logical one for booleans."""
    def __array_wrap__(
        self, array: Array, context: Any = None, return_scalar: builtins.bool = False
    ) -> Tensor:
        """Wrap what a numpy function such as ``np.sin(tensor)`` computed in a tensor."""
    def __delitem__(self, key: Any) -> None:
        """Refuse to delete a part: the shape of a tensor does not change."""
    def __dlpack__(
        self,
        *,
        stream: builtins.int | None = -1,
        max_version: tuple[builtins.int, builtins.int] | None = None,
        dl_device: tuple[builtins.int, builtins.int] | None = None,
        copy: builtins.bool | None = None,
    ) -> Any:
        """Return a DLPack capsule over the memory, for the ``from_dlpack`` of other libraries."""
    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]:
        """Return DLPack's numbers of the CPU."""
    def __eq__(self, other: Tensor | builtins.float) -> Tensor:  # type: ignore[override]
        """Return True where ``self`` equals ``other``."""
    def __floordiv__(self, other: Tensor | builtins.float) -> Tensor:
        """Divide and round down; without derivative."""
    def __ge__(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is greater than or equal to ``other``."""
    def __getitem__(self, key: Any) -> Tensor:
        """Return the part selected by ``key``."""
    def __gt__(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is greater than ``other``."""
    def __iadd__(self, other: Tensor | builtins.float) -> Self: ...
    def __iand__(self, other: Tensor | builtins.float) -> Self: ...
    def __ifloordiv__(self, other: Tensor | builtins.float) -> Self: ...
    def __ilshift__(self, other: Tensor | builtins.float) -> Self: ...
    def __imod__(self, other: Tensor | builtins.float) -> Self: ...
    def __imul__(self, other: Tensor | builtins.float) -> Self: ...
    def __invert__(self) -> Tensor:
        """Return the bitwise NOT; the logical one for booleans."""
    def __ior__(self, other: Tensor | builtins.float) -> Self: ...
    def __ipow__(self, exponent: Tensor | builtins.float) -> Self:
        """Raise each element of this tensor to the power of ``exponent`` in place and return it."""
    def __irshift__(self, other: Tensor | builtins.float) -> Self: ...
    def __isub__(self, other: Tensor | builtins.float) -> Self: ...
    def __itruediv__(self, other: Tensor | builtins.float) -> Self: ...
    def __ixor__(self, other: Tensor | builtins.float) -> Self: ...
    def __le__(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is less than or equal to ``other``."""
    def __lshift__(self, other: Tensor | builtins.float) -> Tensor:
        """Shift the bits of integers to the left: multiply by ``2 ** other``."""
    def __lt__(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is less than ``other``."""
    def __matmul__(self, other: Tensor) -> Tensor:
        """``self @ other``."""
    def __mod__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the remainder, with the sign of the divisor: ``self - other * floor(self /
        other)``."""
    def __mul__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the elementwise product."""
    def __ne__(self, other: Tensor | builtins.float) -> Tensor:  # type: ignore[override]
        """Return True where ``self`` differs from ``other``."""
    def __neg__(self) -> Tensor:
        """Return the negative."""
    def __or__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the bitwise OR; the logical one for booleans."""
    def __pow__(self, exponent: Tensor | builtins.float) -> Tensor: ...
    def __radd__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the elementwise sum."""
    def __rand__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the bitwise AND; the logical one for booleans."""
    def __rdiv__(self, other: Tensor | builtins.float) -> Tensor: ...
    def __rfloordiv__(self, other: Tensor | builtins.float) -> Tensor: ...
    def __rlshift__(self, other: Tensor | builtins.float) -> Tensor: ...
    def __rmatmul__(self, other: Tensor) -> Tensor:
        """``other @ self``."""
    def __rmod__(self, other: Tensor | builtins.float) -> Tensor: ...
    def __rmul__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the elementwise product."""
    def __ror__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the bitwise OR; the logical one for booleans."""
    def __rpow__(self, other: Tensor | builtins.float) -> Tensor: ...
    def __rrshift__(self, other: Tensor | builtins.float) -> Tensor: ...
    def __rshift__(self, other: Tensor | builtins.float) -> Tensor:
        """Shift the bits of integers to the right; the sign stays."""
    def __rsub__(self, other: Tensor | builtins.float) -> Tensor: ...
    def __rtruediv__(self, other: Tensor | builtins.float) -> Tensor: ...
    def __rxor__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the bitwise XOR; the logical one for booleans."""
    def __setitem__(self, key: Any, value: Any) -> None:
        """Write to the part selected by ``key``; recorded, even on a leaf (see the seeds)."""
    def __sub__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the elementwise difference."""
    def __truediv__(self, other: Tensor | builtins.float) -> Tensor:
        """Return the elementwise quotient; integers give floats."""
    def __xor__(self, other: Tensor | builtins.float) -> Self:
        """Return the bitwise XOR; the logical one for booleans."""
    @property
    def _base(self) -> Tensor | None:
        """Return the base of a view; None if the tensor is not a view."""
    def _indices(self) -> Tensor:
        """Return the numbers of the rows, ``[1, n]``."""
    def _is_view(self) -> builtins.bool:
        """Return True if the tensor is a view tracked by autograd."""
    def _nnz(self) -> builtins.int:
        """Return the number of stored rows."""
    def _shown(self) -> str:
        """Return what ``repr`` shows for a sparse tensor."""
    def _values(self) -> Tensor:
        """Return the rows, ``[n, ...]``; they share the memory."""
    @property
    def _version(self) -> builtins.int:
        """Return the number of writes to the memory since its creation."""
    def abs(self) -> Tensor:
        """Return the absolute value."""
    def abs_(self) -> Self:
        """Write the absolute values to this tensor and return it."""
    def absolute(self) -> Tensor:
        """Return the absolute value."""
    def absolute_(self) -> Self:
        """Write the absolute values to this tensor and return it."""
    def acos(self) -> Tensor:
        """Return the angle in [0, pi] whose cosine is the element; NaN outside [-1, 1]."""
    def acos_(self) -> Self:
        """Write the result of ``acos`` to this tensor and return it."""
    def acosh(self) -> Tensor:
        """Return the inverse of the hyperbolic cosine, at least 0; NaN below 1."""
    def acosh_(self) -> Self:
        """Write the result of ``acosh`` to this tensor and return it."""
    def add(self, other: Tensor | builtins.float, *, alpha: builtins.float = 1) -> Tensor:
        """Return ``self + alpha * other``."""
    def add_(self, other: Tensor | builtins.float, *, alpha: builtins.float = 1) -> Self:
        """Write ``self + alpha * other`` to this tensor and return it."""
    def addbmm(
        self, batch1: Tensor, batch2: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Tensor:
        """Return ``beta * self`` plus ``alpha`` times the sum of the products of a batch."""
    def addbmm_(
        self, batch1: Tensor, batch2: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Self:
        """Write the result of ``addbmm`` to this tensor and return it."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.float = 1) -> Tensor:
        """Return ``self + value * tensor1 / tensor2``."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.float = 1) -> Self:
        """Write the result of ``addcdiv`` to this tensor and return it."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.float = 1) -> Tensor:
        """Return ``self + value * tensor1 * tensor2``."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.float = 1) -> Self:
        """Write the result of ``addcmul`` to this tensor and return it."""
    def addmm(
        self, mat1: Tensor, mat2: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Tensor:
        """Return ``beta * self + alpha * (mat1 @ mat2)``."""
    def addmm_(
        self, mat1: Tensor, mat2: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Self:
        """Write the result of ``addmm`` to this tensor and return it."""
    def addmv(
        self, mat: Tensor, vec: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Tensor:
        """Return ``beta * self + alpha * (mat @ vec)``."""
    def addmv_(
        self, mat: Tensor, vec: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Self:
        """Write the result of ``addmv`` to this tensor and return it."""
    def addr(
        self, vec1: Tensor, vec2: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Tensor:
        """Return ``beta * self + alpha * outer(vec1, vec2)``, in the promoted dtype."""
    def addr_(
        self, vec1: Tensor, vec2: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Self:
        """Write the result of ``addr`` to this tensor and return it."""
    def adjoint(self) -> Tensor:
        """Return the conjugate with the last two dimensions swapped; of real numbers, a view."""
    def all(self, dim: Dims = None, keepdim: builtins.bool = False) -> Tensor:
        """Return True where all elements are nonzero, over the given dimensions or all."""
    def allclose(
        self,
        other: Tensor,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> builtins.bool:
        """Return whether all elements are close to each other; see ``isclose`` for the
        arguments."""
    def amax(self, dim: Dims = (), keepdim: builtins.bool = False) -> Tensor:
        """Return the maximum over the given dimensions; all by default."""
    def amin(self, dim: Dims = (), keepdim: builtins.bool = False) -> Tensor:
        """Return the minimum over the given dimensions; all by default."""
    def aminmax(
        self, *, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> MinAndMax:
        """Return the minimum and the maximum of all elements or along a dimension."""
    def angle(self) -> Tensor:
        """Return the angle in the complex plane, in radians; pi for negative real numbers."""
    def any(self, dim: Dims = None, keepdim: builtins.bool = False) -> Tensor:
        """Return True where any element is nonzero, over the given dimensions or all."""
    def apply_(self, callable: Callable[[Any], Any]) -> Self:
        """Apply a Python function to each element in place, and return the tensor; slow."""
    def arccos(self) -> Tensor:
        """Return the angle in [0, pi] whose cosine is the element; NaN outside [-1, 1]."""
    def arccos_(self) -> Self:
        """Write the result of ``acos`` to this tensor and return it."""
    def arccosh(self) -> Tensor:
        """Return the inverse of the hyperbolic cosine, at least 0; NaN below 1."""
    def arccosh_(self) -> Self:
        """Write the result of ``acosh`` to this tensor and return it."""
    def arcsin(self) -> Tensor:
        """Return the angle in [-pi/2, pi/2] whose sine is the element; NaN outside [-1, 1]."""
    def arcsin_(self) -> Self:
        """Write the result of ``asin`` to this tensor and return it."""
    def arcsinh(self) -> Tensor:
        """Return the inverse of the hyperbolic sine."""
    def arcsinh_(self) -> Self:
        """Write the result of ``asinh`` to this tensor and return it."""
    def arctan(self) -> Tensor:
        """Return the angle in [-pi/2, pi/2] whose tangent is the element."""
    def arctan2(self, other: Tensor) -> Tensor:
        """Return the angle in [-pi, pi] of the point with x ``other`` and y ``self``."""
    def arctan2_(self, other: Tensor) -> Self:
        """Write the result of ``atan2`` to this tensor and return it."""
    def arctan_(self) -> Self:
        """Write the result of ``atan`` to this tensor and return it."""
    def arctanh(self) -> Tensor:
        """Return the inverse of the hyperbolic tangent; NaN outside [-1, 1]."""
    def arctanh_(self) -> Self:
        """Write the result of ``atanh`` to this tensor and return it."""
    def argmax(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the index of the first maximum, along a dimension or in the flattened tensor."""
    def argmin(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the index of the first minimum, along a dimension or in the flattened tensor."""
    def argsort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = True,
    ) -> Tensor:
        """Return the indices that sort the elements along a dimension."""
    def argwhere(self) -> Tensor:
        """Return the indices of the nonzero elements as rows."""
    def as_strided(
        self,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> Tensor:
        """Return a view of the tensor's memory with the given size and strides, in elements."""
    def as_strided_(
        self,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> Self:
        """Make this tensor a view of its memory with the given strides, and return it."""
    def as_strided_scatter(
        self,
        src: Tensor,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> Tensor:
        """Return a copy with the elements of ``as_strided`` replaced by ``src``."""
    def as_subclass(self, cls: builtins.type[Tensor]) -> Tensor:
        """Return a view of the tensor as an instance of a subclass of Tensor."""
    def asin(self) -> Tensor:
        """Return the angle in [-pi/2, pi/2] whose sine is the element; NaN outside [-1, 1]."""
    def asin_(self) -> Self:
        """Write the result of ``asin`` to this tensor and return it."""
    def asinh(self) -> Tensor:
        """Return the inverse of the hyperbolic sine."""
    def asinh_(self) -> Self:
        """Write the result of ``asinh`` to this tensor and return it."""
    def atan(self) -> Tensor:
        """Return the angle in [-pi/2, pi/2] whose tangent is the element."""
    def atan2(self, other: Tensor) -> Tensor:
        """Return the angle in [-pi, pi] of the point with x ``other`` and y ``self``."""
    def atan2_(self, other: Tensor) -> Self:
        """Write the result of ``atan2`` to this tensor and return it."""
    def atan_(self) -> Self:
        """Write the result of ``atan`` to this tensor and return it."""
    def atanh(self) -> Tensor:
        """Return the inverse of the hyperbolic tangent; NaN outside [-1, 1]."""
    def atanh_(self) -> Self:
        """Write the result of ``atanh`` to this tensor and return it."""
    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Sequence[Tensor] | Tensor | None = None,
    ) -> None:
        """Compute the gradients of this tensor and add them to the ``.grad`` of its leaves."""
    def baddbmm(
        self, batch1: Tensor, batch2: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Tensor:
        """Return ``beta * self + alpha * (batch1 @ batch2)``, matrix by matrix."""
    def baddbmm_(
        self, batch1: Tensor, batch2: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Self:
        """Write the result of ``baddbmm`` to this tensor and return it."""
    def bernoulli(
        self, p: builtins.float | None = None, *, generator: Generator | None = None
    ) -> Tensor:
        """Draw ones with the given probabilities (or with ``p``), zeros otherwise."""
    def bernoulli_(
        self, p: Tensor | builtins.float = 0.5, *, generator: Generator | None = None
    ) -> Self:
        """Fill this tensor with ones (with probability ``p``) and zeros, and return it."""
    def bfloat16(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to bfloat16; return ``self`` if it already is."""
    def bincount(self, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
        """Count the occurrences of 0, 1, 2, ... in a vector of integers."""
    def bitwise_and(self, other: Tensor | builtins.float) -> Tensor:
        """Return the bitwise AND; the logical one for booleans."""
    def bitwise_and_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``bitwise_and`` to this tensor and return it."""
    def bitwise_left_shift(self, other: Tensor | builtins.float) -> Tensor:
        """Shift the bits of integers to the left: multiply by ``2 ** other``."""
    def bitwise_left_shift_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``bitwise_left_shift`` to this tensor and return it."""
    def bitwise_not(self) -> Tensor:
        """Return the bitwise NOT; the logical one for booleans."""
    def bitwise_not_(self) -> Self:
        """Write the result of ``bitwise_not`` to this tensor and return it."""
    def bitwise_or(self, other: Tensor | builtins.float) -> Tensor:
        """Return the bitwise OR; the logical one for booleans."""
    def bitwise_or_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``bitwise_or`` to this tensor and return it."""
    def bitwise_right_shift(self, other: Tensor | builtins.float) -> Tensor:
        """Shift the bits of integers to the right; the sign stays."""
    def bitwise_right_shift_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``bitwise_right_shift`` to this tensor and return it."""
    def bitwise_xor(self, other: Tensor | builtins.float) -> Tensor:
        """Return the bitwise XOR; the logical one for booleans."""
    def bitwise_xor_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``bitwise_xor`` to this tensor and return it."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """Multiply two batches of matrices."""
    def bool(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to bool; return ``self`` if it already is."""
    def broadcast_to(self, size: Sequence[builtins.int]) -> Tensor:
        """Return a view broadcast to a shape."""
    def byte(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to uint8; return ``self`` if it already is."""
    def cauchy_(
        self,
        median: builtins.float = 0.0,
        sigma: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> Self:
        """Fill this tensor with numbers from the Cauchy distribution and return it."""
    def ccol_indices(self) -> Tensor:
        """Raise RuntimeError: those with ``layout = sparse_csc`` have them."""
    def cdouble(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to complex128; return ``self`` if it already is."""
    def ceil(self) -> Tensor:
        """Return the smallest integer greater than or equal to each element."""
    def ceil_(self) -> Self:
        """Write the result of ``ceil`` to this tensor and return it."""
    def cfloat(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to complex64; return ``self`` if it already is."""
    def char(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to int8; return ``self`` if it already is."""
    def cholesky(self, upper: builtins.bool = False) -> Tensor:
        """Return Cholesky factors; prefer ``linalg.cholesky``."""
    def cholesky_inverse(self, upper: builtins.bool = False) -> Tensor:
        """Return the inverses of matrices, given their Cholesky factors."""
    def cholesky_solve(self, input2: Tensor, upper: builtins.bool = False) -> Tensor:
        """Solve ``A X = B``, given the Cholesky factor of A."""
    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Split into at most ``chunks`` views of equal size (the last may be smaller)."""
    def clamp(self, min: Bound = None, max: Bound = None) -> Tensor:
        """Clamp all elements to ``[min, max]``; each bound is a number, a tensor or None."""
    def clamp_(self, min: Bound = None, max: Bound = None) -> Self:
        """Clamp this tensor to ``[min, max]`` in place and return it."""
    def clamp_max(self, max: Tensor | builtins.float) -> Tensor:
        """Return the elements, lowered to at most ``max`` (a number or a tensor)."""
    def clamp_max_(self, max: Tensor | builtins.float) -> Self:
        """Write the result of ``clamp_max`` to this tensor and return it."""
    def clamp_min(self, min: Tensor | builtins.float) -> Tensor:
        """Return the elements, raised to at least ``min`` (a number or a tensor)."""
    def clamp_min_(self, min: Tensor | builtins.float) -> Self:
        """Write the result of ``clamp_min`` to this tensor and return it."""
    def clip(self, min: Bound = None, max: Bound = None) -> Tensor:
        """Clamp all elements to ``[min, max]``; each bound is a number, a tensor or None."""
    def clip_(self, min: Bound = None, max: Bound = None) -> Self:
        """Clamp this tensor to ``[min, max]`` in place and return it."""
    def clone(self, *, memory_format: Any = None) -> Tensor:
        """Return a copy with the same autograd history."""
    def coalesce(self) -> Tensor:
        """Return a sparse tensor that stores each row once, in ascending order."""
    def col_indices(self) -> Tensor:
        """Raise RuntimeError: those with ``layout = sparse_csr`` have them."""
    def conj(self) -> Tensor:
        """Return the complex conjugates of any tensor; a real one itself."""
    def conj_physical(self) -> Tensor:
        """Return the complex conjugates in new memory; of real numbers, a copy."""
    def conj_physical_(self) -> Self:
        """Write the result of ``conj_physical`` to this tensor and return it."""
    def contiguous(self, memory_format: layouts.memory_format = ...) -> Tensor:
        """Return the tensor itself if it is contiguous, otherwise a contiguous copy."""
    def copy_(self, src: Tensor, non_blocking: builtins.bool = False) -> Self:
        """Copy the values of another tensor (broadcast, converted) into this one and return it."""
    def copysign(self, other: Tensor | builtins.float) -> Tensor:
        """Return the absolute value of ``self`` with the sign of ``other`` (-0.0 is negative)."""
    def copysign_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``copysign`` to this tensor and return it."""
    def corrcoef(self) -> Tensor:
        """Return Pearson's correlation coefficients; rows are variables, columns are
        observations."""
    def cos(self) -> Tensor:
        """Return the cosine of angles in radians."""
    def cos_(self) -> Self:
        """Write the result of ``cos`` to this tensor and return it."""
    def cosh(self) -> Tensor:
        """Return the hyperbolic cosine."""
    def cosh_(self) -> Self:
        """Write the result of ``cosh`` to this tensor and return it."""
    def count_nonzero(self, dim: Dims = None) -> Tensor:
        """Count the nonzero elements over the given dimensions; all by default."""
    def cov(
        self,
        *,
        correction: builtins.int = 1,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
    ) -> Tensor:
        """Return the covariance matrix; rows are variables, columns are observations."""
    def cpu(self, memory_format: Any = None) -> Tensor:
        """Return the tensor itself, or a copy in another memory format."""
    def cross(self, other: Tensor, dim: builtins.int | None = None) -> Tensor:
        """Return the cross products of vectors of three elements."""
    def crow_indices(self) -> Tensor:
        """Raise RuntimeError: those with ``layout = sparse_csr`` have them."""
    def cuda(
        self,
        device: DeviceLike = None,
        non_blocking: builtins.bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        """Raise an error: tinynet runs on the CPU only."""
    def cummax(self, dim: builtins.int) -> ValuesAndIndices:
        """Return the cumulative maximum along a dimension, and its indices."""
    def cummin(self, dim: builtins.int) -> ValuesAndIndices:
        """Return the cumulative minimum along a dimension, and its indices."""
    def cumprod(self, dim: builtins.int, *, dtype: DtypeLike = None) -> Tensor:
        """Return the cumulative product along a dimension; integers multiply as int64."""
    def cumprod_(self, dim: builtins.int, *, dtype: DtypeLike = None) -> Self:
        """Write the result of ``cumprod`` to this tensor and return it."""
    def cumsum(self, dim: builtins.int, *, dtype: DtypeLike = None) -> Tensor:
        """Return the cumulative sum along a dimension; integers sum as int64."""
    def cumsum_(self, dim: builtins.int, *, dtype: DtypeLike = None) -> Self:
        """Write the result of ``cumsum`` to this tensor and return it."""
    @property
    def data(self) -> Tensor:
        """Return a tensor with the same memory but its own version counter."""
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def deg2rad(self) -> Tensor:
        """Convert degrees to radians."""
    def deg2rad_(self) -> Self:
        """Write the result of ``deg2rad`` to this tensor and return it."""
    def dense_dim(self) -> builtins.int:
        """Return the number of dimensions of a row, or of a dense tensor."""
    def det(self) -> Tensor:
        """Return the determinants of square matrices; ``linalg.det`` does the same."""
    def detach(self) -> Tensor:
        """Return a tensor with the same memory and version counter, but without history."""
    def detach_(self) -> Self:
        """Detach the tensor from its history in place: make it a leaf that does not require
        grad."""
    def diag(self, diagonal: builtins.int = 0) -> Tensor:
        """Return a diagonal of a matrix as a copy, or a matrix with a vector on a diagonal."""
    def diag_embed(
        self, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1
    ) -> Tensor:
        """Return matrices with the last dimension of a tensor on a diagonal, zeros elsewhere."""
    def diagflat(self, offset: builtins.int = 0) -> Tensor:
        """Return a matrix with the elements of a tensor of any shape, flattened, on a diagonal."""
    def diagonal(
        self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> Tensor:
        """Return a view of a diagonal."""
    def diagonal_scatter(
        self, src: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> Tensor:
        """Return a copy with a diagonal replaced by ``src``."""
    def diff(
        self,
        n: builtins.int = 1,
        dim: builtins.int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
    ) -> Tensor:
        """Return the differences between neighbours along a dimension, taken ``n`` times."""
    def digamma(self) -> Tensor:
        """Return the derivative of ``lgamma``."""
    def digamma_(self) -> Self:
        """Write the result of ``digamma`` to this tensor and return it."""
    def dim_order(self) -> tuple[builtins.int, ...]:
        """Return the dimensions in memory order, from the largest stride to the smallest."""
    def dist(self, other: Tensor, p: builtins.float = 2) -> Tensor:
        """Return the p-norm of the difference of two tensors."""
    def div(self, other: Tensor | builtins.float, *, rounding_mode: str | None = None) -> Tensor:
        """Divide elementwise; optionally round towards zero (``"trunc"``) or down (``"floor"``)."""
    def div_(self, other: Tensor | builtins.float, *, rounding_mode: str | None = None) -> Self:
        """Divide this tensor in place and return it; see ``div`` for the arguments."""
    def divide(self, other: Tensor | builtins.float, *, rounding_mode: str | None = None) -> Tensor:
        """Divide elementwise; optionally round towards zero (``"trunc"``) or down (``"floor"``)."""
    def divide_(self, other: Tensor | builtins.float, *, rounding_mode: str | None = None) -> Self:
        """Divide this tensor in place and return it; see ``div`` for the arguments."""
    def dot(self, tensor: Tensor) -> Tensor:
        """Return the inner product of two vectors."""
    def double(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to float64; return ``self`` if it already is."""
    def dsplit(self, indices_or_sections: Sections) -> tuple[Tensor, ...]:
        """Split into views of equal size, or at the given indices."""
    @property
    def edge(self) -> Edge | None:
        """Return the edge of a tensor, the target of its gradient; None if it requires no grad."""
    def eq(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` equals ``other``."""
    def eq_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``eq`` to this tensor and return it."""
    def equal(self, other: Tensor) -> builtins.bool:
        """Return whether two tensors have the same shape and elements; NaN equals nothing."""
    def erf(self) -> Tensor:
        """Return the error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` to x."""
    def erf_(self) -> Self:
        """Write the result of ``erf`` to this tensor and return it."""
    def erfc(self) -> Tensor:
        """Return ``1 - erf(x)``, accurate even where erf is close to 1."""
    def erfc_(self) -> Self:
        """Write the result of ``erfc`` to this tensor and return it."""
    def erfinv(self) -> Tensor:
        """Return the inverse of the error function; NaN outside [-1, 1]."""
    def erfinv_(self) -> Self:
        """Write the result of ``erfinv`` to this tensor and return it."""
    def exp(self) -> Tensor:
        """Return e to the power of each element."""
    def exp2(self) -> Tensor:
        """Return 2 to the power of each element."""
    def exp2_(self) -> Self:
        """Write the result of ``exp2`` to this tensor and return it."""
    def exp_(self) -> Self:
        """Write the result of ``exp`` to this tensor and return it."""
    def expand(self, *size: Ints, implicit: builtins.bool = False, **named: Ints) -> Tensor:
        """Return a view in which dimensions of length 1 repeat; -1 keeps a size."""
    def expand_as(self, other: Tensor) -> Tensor:
        """Return a view expanded to the shape of another tensor."""
    def expm1(self) -> Tensor:
        """Return ``exp(x) - 1``, accurate for small x."""
    def expm1_(self) -> Self:
        """Write the result of ``expm1`` to this tensor and return it."""
    def exponential_(
        self, lambd: builtins.float = 1.0, *, generator: Generator | None = None
    ) -> Self:
        """Fill this tensor with exponentially distributed numbers and return it."""
    def fill(self, value: builtins.float) -> Tensor:
        """Return a tensor of the same shape and dtype, filled with one value."""
    def fill_(self, value: Tensor | builtins.float) -> Self:
        """Fill this tensor with one value and return it."""
    def fill_diagonal_(self, fill_value: builtins.float, wrap: builtins.bool = False) -> Self:
        """Fill the main diagonal of this tensor with one value and return the tensor."""
    def fix(self) -> Tensor:
        """Return the integer part."""
    def fix_(self) -> Self:
        """Write the result of ``trunc`` to this tensor and return it."""
    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """Flatten a range of dimensions into one."""
    def flip(self, *dims: Ints) -> Tensor:
        """Reverse the order of the elements along the dimensions, in a copy."""
    def fliplr(self) -> Tensor:
        """Reverse the order along the second dimension (left to right), in a copy."""
    def flipud(self) -> Tensor:
        """Reverse the order along the first dimension (upside down), in a copy."""
    def float(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to float32; return ``self`` if it already is."""
    def float_power(self, exponent: Tensor | builtins.float) -> Tensor:
        """Raise ``self`` to the power of ``exponent``, in float64."""
    def float_power_(self, exponent: Tensor | builtins.float) -> Self:
        """Raise this float64 tensor to the power of ``exponent`` in place and return it."""
    def floor(self) -> Tensor:
        """Return the largest integer less than or equal to each element."""
    def floor_(self) -> Self:
        """Write the result of ``floor`` to this tensor and return it."""
    def floor_divide(self, other: Tensor | builtins.float) -> Tensor:
        """Divide and round down; without derivative."""
    def floor_divide_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``floor_divide`` to this tensor and return it."""
    def fmax(self, other: Tensor) -> Tensor:
        """Return the elementwise maximum; NaN only if both are NaN."""
    def fmin(self, other: Tensor) -> Tensor:
        """Return the elementwise minimum; NaN only if both are NaN."""
    def fmod(self, other: Tensor | builtins.float) -> Tensor:
        """Return the remainder, with the sign of ``self``: ``self - other * trunc(self /
        other)``."""
    def fmod_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``fmod`` to this tensor and return it."""
    def frac(self) -> Tensor:
        """Return the fractional part, with the sign of the element."""
    def frac_(self) -> Self:
        """Write the result of ``frac`` to this tensor and return it."""
    def frexp(self) -> Frexp:
        """Return mantissas of sizes in [0.5, 1) and integer exponents of 2."""
    def gather(
        self, dim: builtins.int, index: Tensor, *, sparse_grad: builtins.bool = False
    ) -> Tensor:
        """Return the elements at ``index`` along a dimension."""
    def gcd(self, other: Tensor) -> Tensor:
        """Return the greatest common divisor of integers, at least 0."""
    def gcd_(self, other: Tensor) -> Self:
        """Write the result of ``gcd`` to this tensor and return it."""
    def ge(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is greater than or equal to ``other``."""
    def ge_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``ge`` to this tensor and return it."""
    def geometric_(self, p: builtins.float, *, generator: Generator | None = None) -> Self:
        """Fill this tensor with numbers of attempts until a success of probability ``p``; return
        it."""
    def geqrf(self) -> Any:
        """Return a QR decomposition packed like LAPACK's; without gradient."""
    def ger(self, vec2: Tensor) -> Tensor:
        """Return the outer product of two vectors: the BLAS name of ``outer``."""
    def get_device(self) -> builtins.int:
        """Return -1: all tensors are on the CPU."""
    @property
    def grad(self) -> Tensor | None:
        """Return the gradient; warn if the tensor can never have one."""
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...
    @property
    def grad_fn(self) -> Node | None:
        """Return the node that made the tensor; None for a leaf."""
    def greater(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is greater than ``other``."""
    def greater_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``gt`` to this tensor and return it."""
    def greater_equal(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is greater than or equal to ``other``."""
    def greater_equal_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``ge`` to this tensor and return it."""
    def gt(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is greater than ``other``."""
    def gt_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``gt`` to this tensor and return it."""
    def half(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to float16; return ``self`` if it already is."""
    def hardshrink(self, lambd: builtins.float = 0.5) -> Tensor:
        """Return x outside ``[-lambd, lambd]`` and 0 inside; see ``nn.functional.hardshrink``."""
    def heaviside(self, values: Tensor) -> Tensor:
        """Return 0 below zero, 1 above, and the element of ``values`` at zero; without
        derivative."""
    def heaviside_(self, values: Tensor) -> Self:
        """Write the result of ``heaviside`` to this tensor and return it."""
    def histc(
        self, bins: builtins.int = 100, min: builtins.float = 0, max: builtins.float = 0
    ) -> Tensor:
        """Count the elements in ``bins`` equal bins from ``min`` to ``max``."""
    def histogram(
        self,
        bins: builtins.int | Tensor,
        *,
        range: Sequence[builtins.float] | None = None,
        weight: Tensor | None = None,
        density: builtins.bool = False,
    ) -> Histogram:
        """Count the elements per bin; return the counts and the edges."""
    def hsplit(self, indices_or_sections: Sections) -> tuple[Tensor, ...]:
        """Split into views of equal size, or at the given indices."""
    def hypot(self, other: Tensor) -> Tensor:
        """Return the length of the hypotenuse, ``sqrt(self^2 + other^2)``, without overflow."""
    def hypot_(self, other: Tensor) -> Self:
        """Write the result of ``hypot`` to this tensor and return it."""
    def i0(self) -> Tensor:
        """Return the modified Bessel function of order 0."""
    def i0_(self) -> Self:
        """Write the result of ``i0`` to this tensor and return it."""
    def igamma(self, other: Tensor) -> Tensor:
        """Return the regularized lower incomplete gamma function P(self, other), from 0 to 1."""
    def igamma_(self, other: Tensor) -> Self:
        """Write the result of ``igamma`` to this tensor and return it."""
    def igammac(self, other: Tensor) -> Tensor:
        """Return the regularized upper incomplete gamma function, ``1 - igamma``."""
    def igammac_(self, other: Tensor) -> Self:
        """Write the result of ``igammac`` to this tensor and return it."""
    @property
    def imag(self) -> Tensor:
        """Return a view of the imaginary parts."""
    @imag.setter
    def imag(self, value: Any) -> None: ...
    def index_add(
        self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: builtins.float = 1
    ) -> Tensor:
        """Return a copy with the slices of ``source``, times ``alpha``, added at ``index``."""
    def index_add_(
        self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: builtins.float = 1
    ) -> Self:
        """Add the slices of ``source``, times ``alpha``, at ``index``; return the tensor."""
    def index_copy(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
        """Return a copy with the slices at ``index`` replaced by those of ``source``."""
    def index_copy_(self, dim: builtins.int, index: Tensor, source: Tensor) -> Self:
        """Write slices of ``source`` at ``index``, and return the tensor."""
    def index_fill(
        self, dim: builtins.int, index: Tensor, value: Tensor | builtins.float
    ) -> Tensor:
        """Return a copy with the slices at ``index`` filled with a number or 0-d tensor."""
    def index_fill_(self, dim: builtins.int, index: Tensor, value: Tensor | builtins.float) -> Self:
        """Fill the slices at ``index`` with a number or 0-d tensor, and return the tensor."""
    def index_put(
        self, indices: tuple[Tensor, ...], values: Tensor, accumulate: builtins.bool = False
    ) -> Tensor:
        """Return a copy with values written (or added) at the indices."""
    def index_put_(
        self, indices: tuple[Tensor, ...], values: Tensor, accumulate: builtins.bool = False
    ) -> Self:
        """Write (or add) values at the indices to this tensor and return it."""
    def index_reduce(
        self,
        dim: builtins.int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Tensor:
        """Return a copy with the slices of ``source`` reduced into the slices at ``index``."""
    def index_reduce_(
        self,
        dim: builtins.int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Self:
        """Reduce slices of ``source`` into those at ``index``, and return the tensor."""
    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Return the slices at a vector of indices along a dimension, as a copy."""
    def indices(self) -> Tensor:
        """Return the numbers of the rows of a coalesced tensor, ``[1, n]``."""
    def inner(self, other: Tensor) -> Tensor:
        """Return inner products along the last dimensions; with a scalar, the product."""
    def int(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to int32; return ``self`` if it already is."""
    def inverse(self) -> Tensor:
        """Return the inverses of square matrices; ``linalg.inv`` does the same."""
    def is_coalesced(self) -> builtins.bool:
        """Return True for a sparse tensor that stores each row once."""
    def is_conj(self) -> builtins.bool:
        """Return False: tinynet computes conjugates instead of marking them."""
    @property
    def is_cpu(self) -> builtins.bool:
        """Always True."""
    def is_distributed(self) -> builtins.bool:
        """Return False: a tensor is in one process."""
    def is_inference(self) -> builtins.bool:
        """Return True for a tensor that was made in inference mode."""
    @property
    def is_ipu(self) -> builtins.bool:
        """Always False."""
    @property
    def is_leaf(self) -> builtins.bool:
        """Return True unless a recorded operation made the tensor."""
    @property
    def is_maia(self) -> builtins.bool:
        """Always False."""
    @property
    def is_meta(self) -> builtins.bool:
        """Always False."""
    @property
    def is_mkldnn(self) -> builtins.bool:
        """Always False."""
    @property
    def is_mps(self) -> builtins.bool:
        """Always False."""
    @property
    def is_mtia(self) -> builtins.bool:
        """Always False."""
    def is_neg(self) -> builtins.bool:
        """Return False: tinynet computes negatives instead of marking them."""
    @property
    def is_nested(self) -> builtins.bool:
        """Always False."""
    def is_nonzero(self) -> builtins.bool:
        """Return whether the only element is nonzero."""
    def is_pinned(self, device: DeviceLike = None) -> builtins.bool:
        """Return False: memory is never page-locked."""
    @property
    def is_quantized(self) -> builtins.bool:
        """Always False."""
    def is_same_size(self, other: Tensor) -> builtins.bool:
        """Return whether two tensors have the same shape."""
    def is_set_to(self, tensor: Tensor) -> builtins.bool:
        """Return whether two tensors are the same view of the same memory."""
    def is_shared(self) -> builtins.bool:
        """Return whether forked processes share the memory, see ``share_memory_``."""
    def is_signed(self) -> builtins.bool:
        """Return whether the dtype can represent negative values."""
    @property
    def is_sparse(self) -> builtins.bool:
        """Return True for a tensor that stores only some rows."""
    @property
    def is_sparse_csr(self) -> builtins.bool:
        """Always False."""
    @property
    def is_vulkan(self) -> builtins.bool:
        """Always False."""
    @property
    def is_xla(self) -> builtins.bool:
        """Always False."""
    @property
    def is_xpu(self) -> builtins.bool:
        """Always False."""
    def isclose(
        self,
        other: Tensor,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> Tensor:
        """Return True where ``|self - other| <= atol + rtol * |other|``."""
    def isfinite(self) -> Tensor:
        """Return True where the element is neither infinite nor NaN."""
    def isinf(self) -> Tensor:
        """Return True where the element is infinite."""
    def isnan(self) -> Tensor:
        """Return True where the element is NaN."""
    def isneginf(self) -> Tensor:
        """Return True where the element is negative infinity."""
    def isposinf(self) -> Tensor:
        """Return True where the element is positive infinity."""
    def isreal(self) -> Tensor:
        """Return True where the imaginary part is zero."""
    def istft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        length: builtins.int | None = None,
        return_complex: builtins.bool = False,
    ) -> Tensor:
        """Return the signal of a short-time Fourier transform: the inverse of ``stft``."""
    def kron(self, other: Tensor) -> Tensor:
        """Return the Kronecker product: all of ``other`` times each element of ``self``."""
    def kthvalue(
        self, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False
    ) -> ValuesAndIndices:
        """Return the ``k``-th smallest elements along a dimension (from 1), and their indices."""
    @property
    def layout(self) -> layouts.layout:
        """Return the storage layout: all elements (strided) or some rows (sparse_coo)."""
    def lcm(self, other: Tensor) -> Tensor:
        """Return the least common multiple of integers, at least 0."""
    def lcm_(self, other: Tensor) -> Self:
        """Write the result of ``lcm`` to this tensor and return it."""
    def ldexp(self, other: Tensor) -> Tensor:
        """Return ``self * 2 ** other``."""
    def ldexp_(self, other: Tensor) -> Self:
        """Write the result of ``ldexp`` to this tensor and return it."""
    def le(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is less than or equal to ``other``."""
    def le_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``le`` to this tensor and return it."""
    def lerp(self, end: Tensor, weight: Tensor | builtins.float) -> Tensor:
        """Interpolate linearly between two tensors: ``self + weight * (end - self)``."""
    def lerp_(self, end: Tensor, weight: Tensor | builtins.float) -> Self:
        """Write ``self + weight * (end - self)`` to this tensor and return it."""
    def less(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is less than ``other``."""
    def less_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``lt`` to this tensor and return it."""
    def less_equal(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is less than or equal to ``other``."""
    def less_equal_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``le`` to this tensor and return it."""
    def lgamma(self) -> Tensor:
        """Return the logarithm of the absolute value of the gamma function."""
    def lgamma_(self) -> Self:
        """Write the result of ``lgamma`` to this tensor and return it."""
    def log(self) -> Tensor:
        """Return the natural logarithm."""
    def log10(self) -> Tensor:
        """Return the logarithm to base 10."""
    def log10_(self) -> Self:
        """Write the result of ``log10`` to this tensor and return it."""
    def log1p(self) -> Tensor:
        """Return ``log(1 + x)``, accurate for small x."""
    def log1p_(self) -> Self:
        """Write the result of ``log1p`` to this tensor and return it."""
    def log2(self) -> Tensor:
        """Return the logarithm to base 2."""
    def log2_(self) -> Self:
        """Write the result of ``log2`` to this tensor and return it."""
    def log_(self) -> Self:
        """Write the result of ``log`` to this tensor and return it."""
    def log_normal_(
        self,
        mean: builtins.float = 1.0,
        std: builtins.float = 2.0,
        *,
        generator: Generator | None = None,
    ) -> Self:
        """Fill this tensor with numbers whose logarithms are normally distributed, and return
        it."""
    def log_softmax(self, dim: builtins.int, dtype: DtypeLike = None) -> Tensor:
        """Return the logarithm of softmax, accurate even where softmax is close to 0."""
    def logaddexp(self, other: Tensor) -> Tensor:
        """Return ``log(exp(self) + exp(other))``, without overflow."""
    def logaddexp2(self, other: Tensor) -> Tensor:
        """Return ``log2(2 ** self + 2 ** other)``, without overflow."""
    def logcumsumexp(self, dim: builtins.int) -> Tensor:
        """Return the logarithm of the cumulative sum of exponentials, without overflow."""
    def logdet(self) -> Tensor:
        """Return the logarithms of determinants: ``-inf`` for zero, NaN for negative ones."""
    def logical_and(self, other: Tensor) -> Tensor:
        """Return True where both elements are nonzero."""
    def logical_and_(self, other: Tensor) -> Self:
        """Write the result of ``logical_and`` to this tensor and return it."""
    def logical_not(self) -> Tensor:
        """Return True where the element is zero."""
    def logical_not_(self) -> Self:
        """Write the result of ``logical_not`` to this tensor and return it."""
    def logical_or(self, other: Tensor) -> Tensor:
        """Return True where either element is nonzero."""
    def logical_or_(self, other: Tensor) -> Self:
        """Write the result of ``logical_or`` to this tensor and return it."""
    def logical_xor(self, other: Tensor) -> Tensor:
        """Return True where exactly one element is nonzero."""
    def logical_xor_(self, other: Tensor) -> Self:
        """Write the result of ``logical_xor`` to this tensor and return it."""
    def logit(self, eps: builtins.float | None = None) -> Tensor:
        """Return ``log(x / (1 - x))``, the inverse of sigmoid."""
    def logit_(self, eps: builtins.float | None = None) -> Self:
        """Write the result of ``logit`` to this tensor and return it."""
    def logsumexp(self, dim: Dims, keepdim: builtins.bool = False) -> Tensor:
        """Return the logarithm of the sum of exponentials over the dimensions, without overflow."""
    def long(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to int64; return ``self`` if it already is."""
    def lt(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` is less than ``other``."""
    def lt_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``lt`` to this tensor and return it."""
    def lu(
        self, pivot: builtins.bool = True, get_infos: builtins.bool = False
    ) -> tuple[Tensor, ...]:
        """Return packed LU factors and pivots (and error codes); prefer ``linalg.lu_factor``."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """Solve linear systems with LU factors; prefer ``linalg.lu_solve``."""
    @property
    def mH(self) -> Tensor:
        """The conjugate with the last two dimensions swapped."""
    @property
    def mT(self) -> Tensor:
        """The tensor with its last two dimensions swapped."""
    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Self:
        """Apply a Python function to the elements of this tensor and two others, in place."""
    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Self:
        """Apply a Python function to the elements of this tensor and another one, in place."""
    def masked_fill(self, mask: Tensor, value: Tensor | builtins.float) -> Tensor:
        """Return a copy filled with a number or 0-d tensor where the mask (broadcast) is True."""
    def masked_fill_(self, mask: Tensor, value: Tensor | builtins.float) -> Self:
        """Fill with a number or 0-d tensor where the mask (broadcast) is True; return the
        tensor."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """Return a copy with the elements of ``source``, in order, where the mask is True."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """Write the elements of ``source``, in order, where the mask is True; return the tensor."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """Return the elements where the mask is True, in one dimension; both inputs broadcast."""
    def matmul(self, other: Tensor) -> Tensor:
        """Multiply vectors, matrices, or batches of matrices, like ``a @ b``."""
    def matrix_exp(self) -> Tensor:
        """Return the matrix exponentials of square matrices."""
    def matrix_power(self, n: builtins.int) -> Tensor:
        """Raise square matrices to the n-th power by repeated squaring."""
    def max(self, dim: Any = None, keepdim: builtins.bool = False, *, other: Any = None) -> Any:
        """Return the maximum of all elements, of a dimension, or of two tensors."""
    def maximum(self, other: Tensor) -> Tensor:
        """Return the elementwise maximum; NaN if either is NaN."""
    def mean(
        self, dim: Dims = None, keepdim: builtins.bool = False, *, dtype: DtypeLike = None
    ) -> Tensor:
        """Return the mean over the given dimensions; all by default. NaN for no elements."""
    def median(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Any:
        """Return the median of all elements, or the medians along a dimension and their indices."""
    def min(self, dim: Any = None, keepdim: builtins.bool = False, *, other: Any = None) -> Any:
        """Return the minimum of all elements, of a dimension, or of two tensors."""
    def minimum(self, other: Tensor) -> Tensor:
        """Return the elementwise minimum; NaN if either is NaN."""
    def mm(self, mat2: Tensor) -> Tensor:
        """Multiply two matrices."""
    def mode(self, dim: builtins.int = -1, keepdim: builtins.bool = False) -> ValuesAndIndices:
        """Return the most frequent elements along a dimension, and the index of the last of
        each."""
    def module_load(self, other: Tensor, assign: builtins.bool = False) -> Tensor:
        """Return what becomes of the tensor when ``load_state_dict`` loads another one into it."""
    def moveaxis(self, source: Ints, destination: Ints) -> Tensor:
        """Return a view with one or more dimensions moved to other positions."""
    def movedim(self, source: Ints, destination: Ints) -> Tensor:
        """Return a view with one or more dimensions moved to other positions."""
    def msort(self) -> Tensor:
        """Sort along the first dimension."""
    def mul(self, other: Tensor | builtins.float) -> Tensor:
        """Return the elementwise product."""
    def mul_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``mul`` to this tensor and return it."""
    def multinomial(
        self,
        num_samples: builtins.int,
        replacement: builtins.bool = False,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """Draw indices from each row, with the given weights."""
    def multiply(self, other: Tensor | builtins.float) -> Tensor:
        """Return the elementwise product."""
    def multiply_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``mul`` to this tensor and return it."""
    def mv(self, vec: Tensor) -> Tensor:
        """Multiply a matrix by a vector."""
    def mvlgamma(self, p: builtins.int) -> Tensor:
        """Return the logarithm of the multivariate gamma function of dimension ``p``."""
    def mvlgamma_(self, p: builtins.int) -> Self:
        """Write the result of ``mvlgamma`` to this tensor and return it."""
    @property
    def name(self) -> None:
        """None: only PyTorch's graphs name tensors."""
    def nan_to_num(
        self,
        nan: builtins.float | None = None,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> Tensor:
        """Replace NaN and infinities by finite numbers."""
    def nan_to_num_(
        self,
        nan: builtins.float | None = None,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> Self:
        """Write the result of ``nan_to_num`` to this tensor and return it."""
    def nanmean(
        self, dim: Dims = None, keepdim: builtins.bool = False, *, dtype: DtypeLike = None
    ) -> Tensor:
        """Return the mean, ignoring NaN; see ``mean`` for the arguments."""
    def nanmedian(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Any:
        """Return the median ignoring NaN: of all elements, or along a dimension with its
        indices."""
    def nanquantile(
        self,
        q: builtins.float | Tensor,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        """Return the quantiles, ignoring NaN; see ``quantile`` for the arguments."""
    def nansum(
        self, dim: Dims = None, keepdim: builtins.bool = False, *, dtype: DtypeLike = None
    ) -> Tensor:
        """Return the sum, ignoring NaN; see ``sum`` for the arguments."""
    def narrow(
        self, dim: builtins.int, start: builtins.int | Tensor, length: builtins.int
    ) -> Tensor:
        """Return a view of ``length`` slices of a dimension, beginning at ``start``."""
    def narrow_copy(self, *args: Any, **kwargs: Any) -> Any:
        """Return a copy of what ``narrow`` returns."""
    def ndimension(self) -> builtins.int:
        """Return the number of dimensions."""
    def ne(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` differs from ``other``."""
    def ne_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``ne`` to this tensor and return it."""
    def neg(self) -> Tensor:
        """Return the negative."""
    def neg_(self) -> Self:
        """Write the result of ``neg`` to this tensor and return it."""
    def negative(self) -> Tensor:
        """Return the negative."""
    def negative_(self) -> Self:
        """Write the result of ``neg`` to this tensor and return it."""
    def new(self, *data: Any, **options: Any) -> Tensor:
        """Create a tensor of this dtype from a size (``x.new(2, 3)``; zeros) or from data."""
    def new_empty(
        self,
        *size: Ints,
        dtype: DtypeLike = None,
        device: DeviceLike = None,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Create uninitialized values of the given size in this tensor's dtype."""
    def new_empty_strided(
        self,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        *,
        dtype: DtypeLike = None,
        device: DeviceLike = None,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Create uninitialized values with the given size and strides in this tensor's dtype."""
    def new_full(
        self,
        size: Sequence[builtins.int],
        fill_value: Any,
        *,
        dtype: DtypeLike = None,
        device: DeviceLike = None,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Create a tensor of the given size filled with one value, in this tensor's dtype."""
    def new_ones(
        self,
        *size: Ints,
        dtype: DtypeLike = None,
        device: DeviceLike = None,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Create ones of the given size in this tensor's dtype."""
    def new_tensor(
        self,
        data: Any,
        *,
        dtype: DtypeLike = None,
        device: DeviceLike = None,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Create a tensor from ``data`` in this tensor's dtype."""
    def new_zeros(
        self,
        *size: Ints,
        dtype: DtypeLike = None,
        device: DeviceLike = None,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Create zeros of the given size in this tensor's dtype."""
    def nextafter(self, other: Tensor) -> Tensor:
        """Return the next number of the dtype after ``self`` in the direction of ``other``."""
    def nextafter_(self, other: Tensor) -> Self:
        """Write the result of ``nextafter`` to this tensor and return it."""
    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any:
        """Return the indices of the nonzero elements, as rows or as one tensor per dimension."""
    def nonzero_static(self, *, size: builtins.int, fill_value: builtins.int = -1) -> Tensor:
        """Return the indices of the first ``size`` nonzero elements as rows."""
    def norm(
        self,
        p: Order = "fro",
        dim: Dims = None,
        keepdim: builtins.bool = False,
        *,
        dtype: Any = None,
    ) -> Tensor:
        """Return the p-norm over the given dimensions; all by default."""
    def normal_(
        self,
        mean: builtins.float = 0.0,
        std: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> Self:
        """Fill this tensor with normal numbers and return it."""
    def not_equal(self, other: Tensor | builtins.float) -> Tensor:
        """Return True where ``self`` differs from ``other``."""
    def not_equal_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``ne`` to this tensor and return it."""
    def ormqr(
        self,
        tau: Tensor,
        other: Tensor,
        left: builtins.bool = True,
        transpose: builtins.bool = False,
    ) -> Tensor:
        """Multiply a matrix by the orthogonal matrix of Householder reflections: ``Q @ other``."""
    def outer(self, vec2: Tensor) -> Tensor:
        """Return the outer product of two vectors."""
    @property
    def output_nr(self) -> builtins.int:
        """Return the output number of the tensor at its node."""
    def permute(self, *dims: Ints) -> Tensor:
        """Return a view with the dimensions in another order."""
    def pin_memory(self, device: Any = None) -> Tensor:
        """Raise RuntimeError: memory is pinned for an accelerator, and there is none."""
    def pinverse(self, rcond: builtins.float = 1e-15) -> Tensor:
        """Return the pseudoinverses of matrices."""
    def polygamma(self, n: builtins.int) -> Tensor:
        """Return the ``n``-th derivative of ``digamma``."""
    def polygamma_(self, n: builtins.int) -> Self:
        """Write the ``n``-th derivative of ``digamma`` to this tensor and return it."""
    def positive(self) -> Tensor:
        """Return the tensor itself: ``+x``."""
    def pow(self, exponent: Tensor | builtins.float) -> Tensor:
        """Raise each element of ``self`` to the power of ``exponent`` (a number or a tensor)."""
    def pow_(self, exponent: Tensor | builtins.float) -> Self:
        """Raise each element of this tensor to the power of ``exponent`` in place and return it."""
    def prelu(self, weight: Tensor) -> Tensor:
        """Return x above 0 and ``weight * x`` below; see ``nn.functional.prelu``."""
    def prod(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DtypeLike = None,
    ) -> Tensor:
        """Return the product over a dimension, or of all elements; integers multiply as int64."""
    def put(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """Return a copy with elements of ``source`` written (or added) at flat positions."""
    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Self:
        """Write the result of ``put`` to this tensor and return it."""
    def qr(self, some: builtins.bool = True) -> Any:
        """Return the QR decomposition; prefer ``linalg.qr``."""
    def quantile(
        self,
        q: builtins.float | Tensor,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        """Return the q-th quantiles; NaN if any element is NaN."""
    def rad2deg(self) -> Tensor:
        """Convert radians to degrees."""
    def rad2deg_(self) -> Self:
        """Write the result of ``rad2deg`` to this tensor and return it."""
    def random_(
        self,
        low: builtins.int | None = None,
        high: builtins.int | None = None,
        *,
        generator: Generator | None = None,
    ) -> Self:
        """Fill this tensor with integers from ``[low, high)`` and return it."""
    def ravel(self) -> Tensor:
        """Flatten the tensor into one dimension."""
    @property
    def real(self) -> Tensor:
        """Return a view of the real parts of any tensor; a real one itself."""
    @real.setter
    def real(self, value: Any) -> None: ...
    def reciprocal(self) -> Tensor:
        """Return the reciprocal."""
    def reciprocal_(self) -> Self:
        """Write the result of ``reciprocal`` to this tensor and return it."""
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(grad)`` whenever the gradient of this tensor is computed."""
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(tensor)`` after each update of this leaf's ``.grad``."""
    def relu(self) -> Tensor:
        """Return ``max(x, 0)``."""
    def relu_(self) -> Self:
        """Write the result of ``relu`` to this tensor and return it."""
    def remainder(self, other: Tensor | builtins.float) -> Tensor:
        """Return the remainder, with the sign of the divisor: ``self - other * floor(self /
        other)``."""
    def remainder_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``remainder`` to this tensor and return it."""
    def renorm(self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Tensor:
        """Return a copy whose slices along a dimension have p-norms of at most ``maxnorm``."""
    def renorm_(self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Self:
        """Write the result of ``renorm`` to this tensor and return it."""
    def repeat(self, *repeats: Ints) -> Tensor:
        """Repeat the tensor along each dimension, in a copy."""
    def repeat_interleave(
        self,
        repeats: builtins.int | Tensor | None = None,
        dim: builtins.int | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> Tensor:
        """Repeat each element, or each slice along a dimension."""
    @property
    def requires_grad(self) -> builtins.bool:
        """Return whether operations on the tensor are recorded."""
    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None: ...
    def requires_grad_(self, requires_grad: builtins.bool = True) -> Self:
        """Switch recording of a leaf on or off, and return it."""
    def reshape(self, *shape: Ints, **named: Ints) -> Tensor:
        """Return the tensor with another shape: a view where possible, otherwise a copy."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """Return the tensor with the shape of another one."""
    def resize(self, *sizes: Any) -> Tensor:
        """Deprecated: call ``reshape``, which does the same."""
    def resize_(self, *sizes: Any, memory_format: layouts.memory_format | None = None) -> Self:
        """Change the shape of the tensor, in its own memory if large enough, and return it."""
    def resize_as(self, tensor: Tensor) -> Tensor:
        """Deprecated: call ``reshape_as``, which does the same."""
    def resize_as_(
        self, the_template: Tensor, *, memory_format: layouts.memory_format | None = None
    ) -> Self:
        """Change the shape to that of another tensor, see ``resize_``, and return the tensor."""
    def resolve_conj(self) -> Tensor:
        """Return the tensor itself: tinynet computes conjugates instead of marking them."""
    def resolve_neg(self) -> Tensor:
        """Return the tensor itself: tinynet computes negatives instead of marking them."""
    def retain_grad(self) -> None:
        """Keep the gradient of a non-leaf in ``.grad``; do nothing for a leaf."""
    @property
    def retains_grad(self) -> builtins.bool:
        """Return True for a non-leaf that retains its gradient."""
    def roll(self, shifts: Any, dims: Any = None) -> Tensor:
        """Return a copy with the elements rolled along dimensions: those past the end come
        first."""
    def rot90(self, k: builtins.int = 1, dims: Sequence[builtins.int] = (0, 1)) -> Tensor:
        """Rotate ``k`` times by 90 degrees in the plane of two dimensions, in a copy."""
    def round(self, *, decimals: builtins.int = 0) -> Tensor:
        """Round to the nearest integer (halves to even), or to ``decimals`` places."""
    def round_(self, *, decimals: builtins.int = 0) -> Self:
        """Write the result of ``round`` to this tensor and return it."""
    def row_indices(self) -> Tensor:
        """Raise RuntimeError: those with ``layout = sparse_csc`` have them."""
    def rsqrt(self) -> Tensor:
        """Return the reciprocal of the square root."""
    def rsqrt_(self) -> Self:
        """Write the result of ``rsqrt`` to this tensor and return it."""
    def scatter(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor | builtins.float | None = None,
        *,
        value: builtins.float | None = None,
        reduce: str | None = None,
    ) -> Tensor:
        """Return a copy with elements written at ``index`` along a dimension."""
    def scatter_(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor | builtins.float | None = None,
        *,
        value: builtins.float | None = None,
        reduce: str | None = None,
    ) -> Self:
        """Write elements at ``index`` along a dimension, and return the tensor."""
    def scatter_add(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """Return a copy with elements of ``src`` added at ``index`` along a dimension."""
    def scatter_add_(self, dim: builtins.int, index: Tensor, src: Tensor) -> Self:
        """Add elements of ``src`` at ``index`` along a dimension, and return the tensor."""
    def scatter_reduce(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Tensor:
        """Return a copy with the elements of ``src`` reduced into the positions at ``index``."""
    def scatter_reduce_(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Self:
        """Reduce elements of ``src`` into this tensor at ``index``, and return it."""
    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """Return a view of one slice, without its dimension."""
    def select_scatter(self, src: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
        """Return a copy with one slice replaced by ``src``."""
    def set_(
        self,
        source: Tensor | StorageBase | None = None,
        storage_offset: builtins.int = 0,
        size: Sequence[builtins.int] | None = None,
        stride: Sequence[builtins.int] | None = None,
    ) -> Self:
        """Make the tensor use other memory, and return it."""
    def sgn(self) -> Tensor:
        """Return the sign of real numbers, and ``z / |z|`` of complex ones; 0 for 0."""
    def sgn_(self) -> Self:
        """Write the result of ``sgn`` to this tensor and return it."""
    def share_memory_(self) -> Self:
        """Move the elements to memory shared with processes forked later, and return the tensor."""
    def short(self, memory_format: Any = None) -> Tensor:
        """Convert the tensor to int16; return ``self`` if it already is."""
    def sigmoid(self) -> Tensor:
        """Return the logistic function ``1 / (1 + exp(-x))``."""
    def sigmoid_(self) -> Self:
        """Write the result of ``sigmoid`` to this tensor and return it."""
    def sign(self) -> Tensor:
        """Return the sign of the element, ``(x > 0) - (x < 0)``: 0 for 0 and NaN."""
    def sign_(self) -> Self:
        """Write the result of ``sign`` to this tensor and return it."""
    def signbit(self) -> Tensor:
        """Return True where the sign bit is set: for negative numbers and -0.0."""
    def sin(self) -> Tensor:
        """Return the sine of angles in radians."""
    def sin_(self) -> Self:
        """Write the result of ``sin`` to this tensor and return it."""
    def sinc(self) -> Tensor:
        """Return ``sin(pi x) / (pi x)``, and 1 at 0."""
    def sinc_(self) -> Self:
        """Write the result of ``sinc`` to this tensor and return it."""
    def sinh(self) -> Tensor:
        """Return the hyperbolic sine."""
    def sinh_(self) -> Self:
        """Write the result of ``sinh`` to this tensor and return it."""
    def slice_scatter(
        self,
        src: Tensor,
        dim: builtins.int = 0,
        start: builtins.int | None = None,
        end: builtins.int | None = None,
        step: builtins.int = 1,
    ) -> Tensor:
        """Return a copy with a range of one dimension replaced by ``src``."""
    def slogdet(self) -> Any:
        """Return the signs of determinants and the logarithms of their absolute values."""
    def smm(self, mat2: Tensor) -> Tensor:
        """Return the product of a sparse and a dense matrix as a sparse one: ``input @ mat2``."""
    def softmax(self, dim: builtins.int, dtype: DtypeLike = None) -> Tensor:
        """Return the exponentials divided by their sum along a dimension."""
    def sort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = True,
    ) -> ValuesAndIndices:
        """Sort along a dimension; return the sorted elements and their indices."""
    def sparse_dim(self) -> builtins.int:
        """Return 1 (rows are indexed along the first dimension), or 0 for a dense tensor."""
    def sparse_mask(self, mask: Tensor) -> Tensor:
        """Return a sparse tensor with the elements at the entries of a sparse ``mask``."""
    def split(
        self, split_size: builtins.int | Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Split into views of equal size (the last may be smaller) or of the given sizes."""
    def split_with_sizes(
        self, split_sizes: Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Split a dimension into views of the given sizes."""
    def sqrt(self) -> Tensor:
        """Return the square root; NaN below zero."""
    def sqrt_(self) -> Self:
        """Write the result of ``sqrt`` to this tensor and return it."""
    def square(self) -> Tensor:
        """Return the square; that of booleans is int64."""
    def square_(self) -> Self:
        """Write the result of ``square`` to this tensor and return it."""
    def squeeze(self, dim: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
        """Return a view without dimensions of length 1: all of them, or those given."""
    def squeeze_(self, dim: builtins.int | Ints | None = None) -> Self:
        """Remove dimensions of length 1 from this tensor and return it."""
    def sspaddmm(
        self, mat1: Tensor, mat2: Tensor, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Tensor:
        """Return ``beta * input + alpha * (mat1 @ mat2)`` as a sparse matrix, which is not
        coalesced."""
    def std(
        self,
        dim: Dims = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
    ) -> Tensor:
        """Return the standard deviation over the given dimensions; all by default."""
    def stft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        pad_mode: str = "reflect",
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        return_complex: builtins.bool | None = None,
        align_to_window: builtins.bool | None = None,
    ) -> Tensor:
        """Return the short-time Fourier transform: those of windows along a signal."""
    def storage(self) -> TypedStorage:
        """Return the memory that the tensor is a view of, as numbers."""
    def storage_offset(self) -> builtins.int:
        """Return the position of the first element in the storage, in elements."""
    def sub(self, other: Tensor | builtins.float, *, alpha: builtins.float = 1) -> Tensor:
        """Return ``self - alpha * other``."""
    def sub_(self, other: Tensor | builtins.float, *, alpha: builtins.float = 1) -> Self:
        """Write ``self - alpha * other`` to this tensor and return it."""
    def subtract(self, other: Tensor | builtins.float, *, alpha: builtins.float = 1) -> Tensor:
        """Return ``self - alpha * other``."""
    def subtract_(self, other: Tensor | builtins.float, *, alpha: builtins.float = 1) -> Self:
        """Write ``self - alpha * other`` to this tensor and return it."""
    def sum(
        self, dim: Dims = None, keepdim: builtins.bool = False, *, dtype: DtypeLike = None
    ) -> Tensor:
        """Return the sum over the given dimensions; all by default. Integers sum as int64."""
    def sum_to_size(self, *size: Any) -> Tensor:
        """Sum the tensor to a size that broadcasts to its shape."""
    def svd(self, some: builtins.bool = True, compute_uv: builtins.bool = True) -> Any:
        """Return ``(U, S, V)`` with ``A = U @ diag(S) @ V.mT``; prefer ``linalg.svd``."""
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Return a view with two dimensions swapped: numpy's name of ``transpose``."""
    def swapaxes_(self, dim0: builtins.int, dim1: builtins.int) -> Self:
        """Swap two dimensions of this tensor and return it."""
    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Return a view with two dimensions swapped."""
    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> Self:
        """Swap two dimensions of this tensor and return it."""
    def t(self) -> Tensor:
        """Transpose a matrix; vectors and scalars stay. More dimensions raise RuntimeError."""
    def t_(self) -> Self:
        """Transpose this matrix and return it."""
    def take(self, index: Tensor) -> Tensor:
        """Return the elements at positions in the flattened tensor, in the shape of ``index``."""
    def take_along_dim(self, indices: Tensor, dim: builtins.int | None = None) -> Tensor:
        """Return the elements at ``indices`` along a dimension; the other dimensions broadcast."""
    def tan(self) -> Tensor:
        """Return the tangent of angles in radians."""
    def tan_(self) -> Self:
        """Write the result of ``tan`` to this tensor and return it."""
    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent."""
    def tanh_(self) -> Self:
        """Write the result of ``tanh`` to this tensor and return it."""
    def tensor_split(
        self, indices_or_sections: Sections, dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Split a dimension into views of nearly equal size, or at the given indices."""
    def tile(self, *dims: Ints) -> Tensor:
        """Repeat the tensor along each dimension, in a copy; missing repeats are 1."""
    def to(
        self,
        *args: Any,
        dtype: DtypeLike = None,
        device: DeviceLike = None,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        memory_format: Any = None,
        other: Tensor | None = None,
    ) -> Tensor:
        """Convert to another dtype, or that of another tensor; return ``self`` if nothing
        changes."""
    def to_dense(
        self, dtype: DtypeLike = None, *, masked_grad: builtins.bool | None = None
    ) -> Tensor:
        """Return the tensor as a dense one; itself if it is dense already."""
    def to_sparse(self, sparse_dim: builtins.int | None = None, *, layout: Any = None) -> Tensor:
        """Return a sparse tensor with the nonzero entries."""
    def to_sparse_coo(
        self, sparse_dim: builtins.int | None = None, *, layout: Any = None
    ) -> Tensor:
        """Return a sparse tensor with the nonzero entries."""
    def to_sparse_csr(
        self, sparse_dim: builtins.int | None = None, *, layout: Any = None
    ) -> Tensor:
        """Return a sparse tensor with the nonzero entries."""
    def topk(
        self,
        k: builtins.int,
        dim: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
    ) -> ValuesAndIndices:
        """Return the ``k`` largest (or smallest) elements along a dimension, sorted, and their
        indices."""
    def trace(self) -> Tensor:
        """Return the sum of the diagonal of a matrix; integers sum as int64."""
    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Return a view with two dimensions swapped."""
    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> Self:
        """Swap two dimensions of this tensor and return it."""
    def triangular_solve(
        self,
        A: Tensor,
        upper: builtins.bool = True,
        transpose: builtins.bool = False,
        unitriangular: builtins.bool = False,
    ) -> Any:
        """Solve ``A @ X = B`` with a triangular A; return X and a copy of A."""
    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        """Return the part on and below a diagonal, with zeros elsewhere."""
    def tril_(self, diagonal: builtins.int = 0) -> Self:
        """Write the result of ``tril`` to this tensor and return it."""
    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        """Return the part on and above a diagonal, with zeros elsewhere."""
    def triu_(self, diagonal: builtins.int = 0) -> Self:
        """Write the result of ``triu`` to this tensor and return it."""
    def true_divide(
        self, other: Tensor | builtins.float, *, rounding_mode: str | None = None
    ) -> Tensor:
        """Divide elementwise; optionally round towards zero (``"trunc"``) or down (``"floor"``)."""
    def true_divide_(
        self, other: Tensor | builtins.float, *, rounding_mode: str | None = None
    ) -> Self:
        """Divide this tensor in place and return it; see ``div`` for the arguments."""
    def trunc(self) -> Tensor:
        """Return the integer part."""
    def trunc_(self) -> Self:
        """Write the result of ``trunc`` to this tensor and return it."""
    def type(
        self,
        dtype: dtypes.dtype | TensorKind | str | None = None,
        non_blocking: builtins.bool = False,
    ) -> Any:
        """Return the name of the tensor's type, or convert the tensor to another dtype."""
    def type_as(self, other: Tensor) -> Tensor:
        """Convert the tensor to the dtype of another one."""
    def unbind(self, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Return views of all slices along a dimension, like iteration over the tensor."""
    def unflatten(self, dim: builtins.int, sizes: Sequence[builtins.int]) -> Tensor:
        """Split one dimension into several."""
    def unfold(self, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """Return a view of all windows of ``size`` elements along a dimension, ``step`` apart."""
    def uniform_(
        self,
        from_: builtins.float = 0.0,
        to: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> Self:
        """Fill this tensor with uniform numbers from ``[from_, to)`` and return it."""
    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """Return the unique elements, sorted, or the unique slices along a dimension."""
    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """Replace runs of equal elements, or of equal slices along a dimension, by one of them."""
    def unsafe_chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Split into at most ``chunks`` views of equal size (the last may be smaller)."""
    def unsafe_split(
        self, split_size: builtins.int | Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Split into views of equal size (the last may be smaller) or of the given sizes."""
    def unsafe_split_with_sizes(
        self, split_sizes: Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Split a dimension into views of the given sizes."""
    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """Return a view with a new dimension of length 1 at ``dim``."""
    def unsqueeze_(self, dim: builtins.int) -> Self:
        """Add a dimension of length 1 to this tensor and return it."""
    def untyped_storage(self) -> UntypedStorage:
        """Return the memory that the tensor is a view of, as bytes."""
    def values(self) -> Tensor:
        """Return the rows of a coalesced tensor, ``[n, ...]``."""
    def var(
        self,
        dim: Dims = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
    ) -> Tensor:
        """Return the variance over the given dimensions; all by default."""
    def vdot(self, other: Tensor) -> Tensor:
        """Return the inner product of two vectors, with the conjugate of the first."""
    def view(self, *size: Ints | DtypeLike, dtype: DtypeLike = None, **named: Ints) -> Tensor:
        """Return a view with another shape (one size may be -1), or of the bytes in another
        dtype."""
    def view_as(self, other: Tensor) -> Tensor:
        """Return a view with the shape of another tensor."""
    def vsplit(self, indices_or_sections: Sections) -> tuple[Tensor, ...]:
        """Split into views of equal size, or at the given indices."""
    def where(self, condition: Tensor, other: Tensor | builtins.float) -> Tensor:
        """Return this tensor where the condition is True and ``other`` elsewhere."""
    def xlogy(self, other: Tensor | builtins.float) -> Tensor:
        """Return ``self * log(other)``, or 0 where ``self`` is 0."""
    def xlogy_(self, other: Tensor | builtins.float) -> Self:
        """Write the result of ``xlogy`` to this tensor and return it."""
    def zero_(self) -> Self:
        """Fill this tensor with zeros and return it."""
