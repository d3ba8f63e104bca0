"""The public functions on tensors. Written by ``python -m tinynet.ops.stubs``."""

from collections.abc import Callable, Sequence
from typing import Any

from tinynet import dtypes
from tinynet.core.device import DeviceLike
from tinynet.core.generator import Generator
from tinynet.core.tensor import Tensor
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.arithmetic import Bound
from tinynet.ops.extrema import ValuesAndIndices
from tinynet.ops.reduction import Dims
from tinynet.ops.shape import Ints

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "abs",
    "absolute",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "addr",
    "adjoint",
    "all",
    "amax",
    "amin",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "as_tensor",
    "baddbmm",
    "bernoulli",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "block_diag",
    "bmm",
    "broadcast_to",
    "cartesian_prod",
    "cat",
    "cdist",
    "ceil",
    "chain_matmul",
    "chunk",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "clone",
    "combinations",
    "concat",
    "concatenate",
    "corrcoef",
    "cos",
    "cov",
    "cumsum",
    "cumulative_trapezoid",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "dist",
    "div",
    "divide",
    "dot",
    "einsum",
    "empty",
    "empty_like",
    "eq",
    "erf",
    "exp",
    "expm1",
    "eye",
    "flatten",
    "flip",
    "floor",
    "floor_divide",
    "from_numpy",
    "full",
    "full_like",
    "gather",
    "ge",
    "ger",
    "gt",
    "index_add",
    "index_fill",
    "index_put",
    "index_select",
    "inner",
    "is_floating_point",
    "is_tensor",
    "isfinite",
    "isinf",
    "isnan",
    "kron",
    "le",
    "lerp",
    "linspace",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "lt",
    "masked_fill",
    "masked_select",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mm",
    "movedim",
    "mul",
    "multinomial",
    "multiply",
    "mv",
    "narrow",
    "ne",
    "neg",
    "negative",
    "nonzero",
    "norm",
    "normal",
    "numel",
    "ones",
    "ones_like",
    "outer",
    "permute",
    "pow",
    "prod",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "ravel",
    "reciprocal",
    "relu",
    "remainder",
    "renorm",
    "reshape",
    "result_type",
    "roll",
    "round",
    "rsqrt",
    "scatter",
    "scatter_add",
    "select",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "std_mean",
    "sub",
    "subtract",
    "sum",
    "swapaxes",
    "t",
    "take_along_dim",
    "tan",
    "tanh",
    "tensor",
    "tensordot",
    "tile",
    "topk",
    "trace",
    "transpose",
    "trapezoid",
    "trapz",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "unbind",
    "unflatten",
    "unsqueeze",
    "vander",
    "var",
    "var_mean",
    "vdot",
    "where",
    "zeros",
    "zeros_like",
]

functions: dict[str, Callable[..., Any]]

def BoolTensor(*data: Any) -> Tensor:
    """Return a bool tensor of a size (``BoolTensor(10)``; zeros) or of data (``BoolTensor([1,
    2])``)."""

def ByteTensor(*data: Any) -> Tensor:
    """Return a uint8 tensor of a size (``ByteTensor(10)``; zeros) or of data (``ByteTensor([1,
    2])``)."""

def CharTensor(*data: Any) -> Tensor:
    """Return a int8 tensor of a size (``CharTensor(10)``; zeros) or of data (``CharTensor([1,
    2])``)."""

def DoubleTensor(*data: Any) -> Tensor:
    """Return a float64 tensor of a size (``DoubleTensor(10)``; zeros) or of data
    (``DoubleTensor([1, 2])``)."""

def FloatTensor(*data: Any) -> Tensor:
    """Return a float32 tensor of a size (``FloatTensor(10)``; zeros) or of data
    (``FloatTensor([1, 2])``)."""

def HalfTensor(*data: Any) -> Tensor:
    """Return a float16 tensor of a size (``HalfTensor(10)``; zeros) or of data (``HalfTensor([1,
    2])``)."""

def IntTensor(*data: Any) -> Tensor:
    """Return a int32 tensor of a size (``IntTensor(10)``; zeros) or of data (``IntTensor([1,
    2])``)."""

def LongTensor(*data: Any) -> Tensor:
    """Return a int64 tensor of a size (``LongTensor(10)``; zeros) or of data (``LongTensor([1,
    2])``)."""

def ShortTensor(*data: Any) -> Tensor:
    """Return a int16 tensor of a size (``ShortTensor(10)``; zeros) or of data (``ShortTensor([1,
    2])``)."""

def abs(self: Tensor) -> Tensor:
    """Return the absolute value."""

def absolute(self: Tensor) -> Tensor:
    """Return the absolute value."""

def add(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return ``self + alpha * other``."""

def addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """Return ``beta * self`` plus ``alpha`` times the sum of all products of a batch."""

def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """Return ``self + value * tensor1 / tensor2``."""

def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """Return ``self + value * tensor1 * tensor2``."""

def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return ``beta * self + alpha * (mat1 @ mat2)``."""

def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return ``beta * self + alpha * (mat @ vec)``."""

def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return ``beta * self + alpha * outer(vec1, vec2)``, in the dtype that all three fit in."""

def adjoint(self: Tensor) -> Tensor:
    """Return a view with the last two dimensions swapped; for real numbers that is ``mT``."""

def all(self: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return True where all elements along the dimensions (all unless given) are nonzero."""

def amax(self: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """Return the maximum over the dimensions (all unless given)."""

def amin(self: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """Return the minimum over the dimensions (all unless given)."""

def any(self: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return True where any element along the dimensions (all unless given) is nonzero."""

def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the values from ``start`` (0) to before ``end``, ``step`` (1) apart."""

def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the first maximum along a dimension, or among all elements."""

def argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the first minimum along a dimension, or among all elements."""

def argsort(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the indices that put the elements in order along a dimension."""

def as_tensor(data: Any, dtype: DtypeLike = None, device: DeviceLike = None) -> Tensor:
    """Return ``data`` as a tensor, sharing memory with a tensor or array where it can."""

def baddbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """Return ``beta * self + alpha * (batch1 @ batch2)``, matrix by matrix."""

def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Return ones with the given probabilities, zeros otherwise."""

def bitwise_and(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the bitwise (for booleans: logical) and."""

def bitwise_not(self: Tensor) -> Tensor:
    """Return the bitwise (for booleans: logical) complement."""

def bitwise_or(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the bitwise (for booleans: logical) or."""

def bitwise_xor(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the bitwise (for booleans: logical) exclusive or."""

def block_diag(*tensors: Tensor) -> Tensor:
    """Return the matrix that has matrices along its diagonal, and zeros elsewhere."""

def bmm(self: Tensor, mat2: Tensor) -> Tensor:
    """Return the products of two batches of matrices."""

def broadcast_to(self: Tensor, size: Sequence[int]) -> Tensor:
    """Return a view expanded to a shape."""

def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all ways to take one element of each vector, one per row."""

def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the tensors joined along an existing dimension."""

def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """Return the distances between all rows of one matrix and all rows of another."""

def ceil(self: Tensor) -> Tensor:
    """Return the smallest whole number above or equal."""

def chain_matmul(*matrices: Tensor) -> Tensor:
    """Return the product of matrices; ``linalg.multi_dot`` under its older name."""

def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return at most ``chunks`` views of equal size (the last may be smaller)."""

def clamp(self: Tensor, min: Bound = None, max: Bound = None) -> Tensor:
    """Return the elements moved into ``[min, max]``; either bound may be left out, or a tensor."""

def clamp_max(self: Tensor, max: Tensor | float) -> Tensor:
    """Return the elements, at most ``max``."""

def clamp_min(self: Tensor, min: Tensor | float) -> Tensor:
    """Return the elements, at least ``min``."""

def clip(self: Tensor, min: Bound = None, max: Bound = None) -> Tensor:
    """Return the elements moved into ``[min, max]``; either bound may be left out, or a tensor."""

def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return a copy with the same history."""

def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all ways to choose ``r`` elements of a vector, one per row, in their order."""

def concat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the tensors joined along an existing dimension."""

def concatenate(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the tensors joined along an existing dimension."""

def corrcoef(self: Tensor) -> Tensor:
    """Return Pearson's correlation coefficients of the rows (variables), from -1 to 1."""

def cos(self: Tensor) -> Tensor:
    """Return the cosine of angles in radians."""

def cov(
    self: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Return the covariances of the rows (variables) over the columns (observations)."""

def cumsum(self: Tensor, dim: int, *, dtype: DtypeLike = None) -> Tensor:
    """Return the running sum along a dimension; of integers as int64."""

def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Return the integrals up to each point but the first, by the trapezoidal rule."""

def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """Return a copy of a diagonal of a matrix, or the matrix that has a vector on a diagonal."""

def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return matrices of zeros with the last dimension of a tensor on a diagonal."""

def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    """Return the matrix that has all elements of a tensor on a diagonal."""

def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return a view of a diagonal."""

def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the p-norm of the difference of two tensors."""

def div(self: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Return the quotient, rounded towards zero (``"trunc"``) or down (``"floor"``) if asked."""

def divide(self: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Return the quotient, rounded towards zero (``"trunc"``) or down (``"floor"``) if asked."""

def dot(self: Tensor, tensor: Tensor) -> Tensor:
    """Return the inner product of two vectors."""

def einsum(*args: Any) -> Tensor:
    """Return sums of products of tensors whose dimensions an equation names."""

def empty(
    *size: Ints, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor with unspecified values."""

def empty_like(
    input: Tensor, *, dtype: DtypeLike = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """Return unspecified values in the shape and dtype of a tensor."""

def eq(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where the elements are equal."""

def erf(self: Tensor) -> Tensor:
    """Return the error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` to x."""

def exp(self: Tensor) -> Tensor:
    """Return e to the power of each element."""

def expm1(self: Tensor) -> Tensor:
    """Return ``exp(x) - 1``, exact for small x."""

def eye(
    n: int, m: int | None = None, *, dtype: DtypeLike = None, requires_grad: bool = False
) -> Tensor:
    """Return a matrix with ones on the diagonal."""

def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return the tensor with a range of dimensions made into one."""

def flip(self: Tensor, *dims: Ints) -> Tensor:
    """Return a copy with the order along the dimensions reversed."""

def floor(self: Tensor) -> Tensor:
    """Return the largest whole number below or equal."""

def floor_divide(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the quotient rounded down; it has no derivative."""

def from_numpy(array: Array) -> Tensor:
    """Return a tensor that shares the memory of a numpy array."""

def full(
    size: Sequence[int],
    fill_value: Any,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of one value; its dtype is that of the value unless given."""

def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
    **_: Any,
) -> Tensor:
    """Return one value in the shape and dtype of a tensor."""

def gather(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Return the elements that ``index`` chooses along a dimension."""

def ge(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is greater or equal."""

def ger(self: Tensor, vec2: Tensor) -> Tensor:
    """Return the outer product of two vectors; ``outer`` under the name that BLAS has for it."""

def gt(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is greater."""

def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """Return a copy with slices of ``source``, times ``alpha``, added where ``index`` names
    them."""

def index_fill(self: Tensor, dim: int, index: Tensor, value: Tensor | float) -> Tensor:
    """Return a copy with a number, or a 0-d tensor, in the slices that ``index`` names."""

def index_put(
    self: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Return a copy with values written (or added) at the indices."""

def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices along a dimension that a vector of indices names, as a copy."""

def inner(self: Tensor, other: Tensor) -> Tensor:
    """Return the sums of products over the last dimensions; with a scalar, the product."""

def is_floating_point(input: Tensor) -> bool:
    """Return True if the elements are floating-point numbers."""

def is_tensor(obj: Any) -> bool:
    """Return True if ``obj`` is a tensor."""

def isfinite(self: Tensor) -> Tensor:
    """Return True where the element is neither infinite nor NaN."""

def isinf(self: Tensor) -> Tensor:
    """Return True where the element is infinite."""

def isnan(self: Tensor) -> Tensor:
    """Return True where the element is NaN."""

def kron(self: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product: each element of ``self`` times all of ``other``."""

def le(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is less or equal."""

def lerp(self: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """Return ``self + weight * (end - self)``: the points between two tensors."""

def linspace(
    start: float, end: float, steps: int, *, dtype: DtypeLike = None, requires_grad: bool = False
) -> Tensor:
    """Return ``steps`` values, evenly spaced from ``start`` to ``end`` inclusive."""

def log(self: Tensor) -> Tensor:
    """Return the natural logarithm."""

def log10(self: Tensor) -> Tensor:
    """Return the logarithm to base 10."""

def log1p(self: Tensor) -> Tensor:
    """Return ``log(1 + x)``, exact for small x."""

def log2(self: Tensor) -> Tensor:
    """Return the logarithm to base 2."""

def log_softmax(self: Tensor, dim: int, dtype: DtypeLike = None) -> Tensor:
    """Return the logarithm of softmax, exact also where softmax is close to 0."""

def logical_and(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where both are nonzero."""

def logical_not(self: Tensor) -> Tensor:
    """Return True where the element is zero."""

def logical_or(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where either is nonzero."""

def logical_xor(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where exactly one is nonzero."""

def logsumexp(self: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """Return the logarithm of the sum of the exponentials over the dimensions, without overflow."""

def lt(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is less."""

def masked_fill(self: Tensor, mask: Tensor, value: Tensor | float) -> Tensor:
    """Return a copy with a number, or a 0-d tensor, where the mask (broadcast) is True."""

def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """Return the elements where the mask is True, in one dimension; the two are broadcast."""

def matmul(self: Tensor, other: Tensor) -> Tensor:
    """Return the product of vectors, matrices, or batches of matrices; ``a @ b`` does the same."""

def max(self: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the maximum of all elements, along a dimension, or of tensors."""

def maximum(self: Tensor, other: Tensor) -> Tensor:
    """Return the elementwise maximum; NaN where either is NaN."""

def mean(
    self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the mean over the given dimensions (all unless given); NaN of no elements."""

def min(self: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the minimum of all elements, along a dimension, or of tensors."""

def minimum(self: Tensor, other: Tensor) -> Tensor:
    """Return the elementwise minimum; NaN where either is NaN."""

def mm(self: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices."""

def movedim(self: Tensor, source: int, destination: int) -> Tensor:
    """Return a view with one dimension moved to another place."""

def mul(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the elementwise product."""

def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Return indices drawn with the given weights, from each row."""

def multiply(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the elementwise product."""

def mv(self: Tensor, vec: Tensor) -> Tensor:
    """Return the product of a matrix and a vector."""

def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a view of ``length`` slices of a dimension, from ``start`` on."""

def ne(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where the elements differ."""

def neg(self: Tensor) -> Tensor:
    """Return the negative."""

def negative(self: Tensor) -> Tensor:
    """Return the negative."""

def nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the indices of the nonzero elements, one row each, or one tensor per dimension."""

def norm(
    self: Tensor,
    p: float | str | None = "fro",
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DtypeLike = None,
) -> Tensor:
    """Return the p-norm of the elements over the given dimensions (all unless given)."""

def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None
) -> Tensor:
    """Return normal numbers with given means and standard deviations (numbers or tensors)."""

def numel(input: Tensor) -> int:
    """Return the number of elements."""

def ones(
    *size: Ints, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor of ones."""

def ones_like(
    input: Tensor, *, dtype: DtypeLike = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """Return ones in the shape and dtype of a tensor."""

def outer(self: Tensor, vec2: Tensor) -> Tensor:
    """Return the matrix of the products of all pairs of elements of two vectors."""

def permute(self: Tensor, *dims: Ints) -> Tensor:
    """Return a view with the dimensions in another order."""

def pow(self: Tensor | float, exponent: Tensor | float) -> Tensor:
    """Return each element of ``self`` to the power of ``exponent`` (a number or a tensor)."""

def prod(
    self: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the product over one dimension (all elements unless given); of integers as int64."""

def rand(
    *size: Ints,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers drawn uniformly from [0, 1)."""

def rand_like(input: Tensor, *, dtype: DtypeLike = None, requires_grad: bool = False) -> Tensor:
    """Return uniform numbers in the shape and dtype of a tensor."""

def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return whole numbers drawn uniformly from ``low`` (0) to before ``high``."""

def randint_like(
    input: Tensor, low: int, high: int | None = None, *, dtype: DtypeLike = None
) -> Tensor:
    """Return whole numbers in the shape and dtype of a tensor."""

def randn(
    *size: Ints,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers drawn from the normal distribution with mean 0 and variance 1."""

def randn_like(input: Tensor, *, dtype: DtypeLike = None, requires_grad: bool = False) -> Tensor:
    """Return normal numbers in the shape and dtype of a tensor."""

def randperm(n: int, *, generator: Generator | None = None, dtype: DtypeLike = None) -> Tensor:
    """Return the numbers 0 to n - 1 in random order."""

def ravel(self: Tensor) -> Tensor:
    """Return the elements in one dimension."""

def reciprocal(self: Tensor) -> Tensor:
    """Return one over each element."""

def relu(self: Tensor) -> Tensor:
    """Return ``max(x, 0)``."""

def remainder(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the remainder with the sign of the divisor: ``self - other * floor(self / other)``."""

def renorm(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Return a copy whose slices along a dimension have p-norms of at most ``maxnorm``."""

def reshape(self: Tensor, *size: Ints) -> Tensor:
    """Return the tensor in another shape: a view where possible, else a copy."""

def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """Return the dtype of an operation on two tensors or numbers."""

def roll(self: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Return a copy with the elements moved along the dimensions; what leaves enters again."""

def round(self: Tensor, *, decimals: int = 0) -> Tensor:
    """Return the nearest whole number (halves to even), or round to ``decimals`` places."""

def rsqrt(self: Tensor) -> Tensor:
    """Return one over the square root."""

def scatter(
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | float | None = None,
    *,
    value: float | None = None,
    reduce: str | None = None,
) -> Tensor:
    """Return a copy with elements written where ``index`` points to along a dimension."""

def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return a copy with elements of ``src`` added where ``index`` points to along a dimension."""

def select(self: Tensor, dim: int, index: int) -> Tensor:
    """Return a view of one slice, without the dimension."""

def sigmoid(self: Tensor) -> Tensor:
    """Return ``1 / (1 + exp(-x))``."""

def sign(self: Tensor) -> Tensor:
    """Return -1, 0 or 1 with the sign of the element."""

def sin(self: Tensor) -> Tensor:
    """Return the sine of angles in radians."""

def softmax(self: Tensor, dim: int, dtype: DtypeLike = None) -> Tensor:
    """Return the exponentials, divided by their sum along a dimension: positive, with sum 1."""

def sort(
    self: Tensor, dim: int = -1, descending: bool = False, stable: bool = True
) -> ValuesAndIndices:
    """Return the elements in order along a dimension, and the indices they come from."""

def split(self: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of consecutive parts: of one size (the last may be smaller), or of given
    sizes."""

def sqrt(self: Tensor) -> Tensor:
    """Return the square root; NaN below zero."""

def square(self: Tensor) -> Tensor:
    """Return the square."""

def squeeze(self: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return a view without dimensions of length 1: all, or those given."""

def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the tensors joined along a new dimension."""

def std(
    self: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return the standard deviation over the given dimensions (all unless given)."""

def std_mean(
    self: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean; arguments are those of ``var``."""

def sub(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return ``self - alpha * other``."""

def subtract(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return ``self - alpha * other``."""

def sum(
    self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the sum over the given dimensions (all unless given); integers sum as int64."""

def swapaxes(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions swapped."""

def t(self: Tensor) -> Tensor:
    """Return a matrix transposed; vectors and scalars as they are."""

def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Return the elements that ``indices`` chooses along a dimension, the others broadcast."""

def tan(self: Tensor) -> Tensor:
    """Return the tangent of angles in radians."""

def tanh(self: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""

def tensor(
    data: Any, *, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Return a new leaf tensor with a copy of ``data``."""

def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Return the sums of products over dimensions of two tensors."""

def tile(self: Tensor, *dims: Ints) -> Tensor:
    """Return a copy, repeated; missing repeats are 1."""

def topk(
    self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> ValuesAndIndices:
    """Return the ``k`` largest (or smallest) elements along a dimension, in order; their
    indices."""

def trace(self: Tensor) -> Tensor:
    """Return the sum of the elements on the diagonal of a matrix; of whole numbers as int64."""

def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions swapped."""

def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Return the integral along a dimension by the trapezoidal rule."""

def trapz(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """Return ``trapezoid`` of the same arguments."""

def tril(self: Tensor, diagonal: int = 0) -> Tensor:
    """Return the part on and below a diagonal; zeros elsewhere."""

def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DtypeLike = None) -> Tensor:
    """Return where the elements on and below a diagonal stand: ``[2, count]``, rows and columns."""

def triu(self: Tensor, diagonal: int = 0) -> Tensor:
    """Return the part on and above a diagonal; zeros elsewhere."""

def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DtypeLike = None) -> Tensor:
    """Return where the elements on and above a diagonal stand: ``[2, count]``, rows and columns."""

def true_divide(self: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Return the quotient, rounded towards zero (``"trunc"``) or down (``"floor"``) if asked."""

def trunc(self: Tensor) -> Tensor:
    """Return the whole part."""

def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of all slices along a dimension; iterating over a tensor does the same."""

def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return the tensor with one dimension made into several."""

def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """Return a view with a new dimension of length 1 at ``dim``."""

def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the Vandermonde matrix of a vector: the powers of each element in a row."""

def var(
    self: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return the variance over the given dimensions (all unless given)."""

def var_mean(
    self: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean; arguments are those of ``var``."""

def vdot(self: Tensor, other: Tensor) -> Tensor:
    """Return the inner product of two vectors; of real numbers it is ``dot``."""

def where(condition: Tensor, self: Any = ..., other: Any = ...) -> Any:
    """Return ``self`` where the condition holds and ``other`` elsewhere."""

def zeros(
    *size: Ints, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor of zeros."""

def zeros_like(
    input: Tensor, *, dtype: DtypeLike = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """Return zeros in the shape and dtype of a tensor."""
