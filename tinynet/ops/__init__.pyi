"""The public functions on tensors. Written by ``python -m docs.stubs``."""

from collections.abc import Sequence
from typing import Any

from tinynet import dtypes
from tinynet.core import layouts
from tinynet.core.devices import DeviceLike
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes.kinds import Array, DtypeLike
from tinynet.ops.linalg.norms import Order
from tinynet.ops.pointwise.clamp import Bound
from tinynet.ops.pointwise.powers import Frexp
from tinynet.ops.reduction.extrema import MinAndMax, ValuesAndIndices
from tinynet.ops.reduction.histograms import Histogram
from tinynet.ops.reduction.sums import Dims
from tinynet.ops.shaping.splitting import Sections
from tinynet.ops.shaping.views import Ints
from tinynet.random import Generator

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "_dirichlet_grad",
    "_sample_dirichlet",
    "_standard_gamma",
    "_standard_gamma_grad",
    "abs",
    "abs_",
    "absolute",
    "acos",
    "acos_",
    "acosh",
    "acosh_",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "addmv_",
    "addr",
    "adjoint",
    "alias_copy",
    "all",
    "allclose",
    "amax",
    "amin",
    "aminmax",
    "angle",
    "any",
    "arange",
    "arccos",
    "arccos_",
    "arccosh",
    "arccosh_",
    "arcsin",
    "arcsin_",
    "arcsinh",
    "arcsinh_",
    "arctan",
    "arctan2",
    "arctan_",
    "arctanh",
    "arctanh_",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "as_strided",
    "as_strided_",
    "as_strided_copy",
    "as_strided_scatter",
    "as_tensor",
    "asarray",
    "asin",
    "asin_",
    "asinh",
    "asinh_",
    "atan",
    "atan2",
    "atan_",
    "atanh",
    "atanh_",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "baddbmm",
    "bernoulli",
    "bincount",
    "binomial",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "block_diag",
    "bmm",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "cartesian_prod",
    "cat",
    "cdist",
    "ceil",
    "ceil_",
    "chain_matmul",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "chunk",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_max_",
    "clamp_min",
    "clamp_min_",
    "clip",
    "clip_",
    "clone",
    "column_stack",
    "combinations",
    "complex",
    "concat",
    "concatenate",
    "conj",
    "conj_physical",
    "conj_physical_",
    "copysign",
    "corrcoef",
    "cos",
    "cos_",
    "cosh",
    "cosh_",
    "count_nonzero",
    "cov",
    "cross",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "deg2rad",
    "deg2rad_",
    "det",
    "detach",
    "detach_",
    "detach_copy",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_copy",
    "diagonal_scatter",
    "diff",
    "digamma",
    "dist",
    "div",
    "divide",
    "dot",
    "dsplit",
    "dstack",
    "einsum",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "eq",
    "equal",
    "erf",
    "erf_",
    "erfc",
    "erfc_",
    "erfinv",
    "exp",
    "exp2",
    "exp2_",
    "exp_",
    "expand_copy",
    "expm1",
    "expm1_",
    "eye",
    "fill",
    "fill_",
    "fix",
    "fix_",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float_power",
    "floor",
    "floor_",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "frac_",
    "frexp",
    "from_numpy",
    "frombuffer",
    "full",
    "full_like",
    "gather",
    "gcd",
    "gcd_",
    "ge",
    "geqrf",
    "ger",
    "get_device",
    "gradient",
    "greater",
    "greater_equal",
    "gt",
    "heaviside",
    "histc",
    "histogram",
    "histogramdd",
    "hsplit",
    "hstack",
    "hypot",
    "i0",
    "i0_",
    "igamma",
    "igammac",
    "imag",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_put_",
    "index_reduce",
    "index_select",
    "inner",
    "inverse",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "istft",
    "kron",
    "kthvalue",
    "lcm",
    "lcm_",
    "ldexp",
    "ldexp_",
    "le",
    "lerp",
    "less",
    "less_equal",
    "lgamma",
    "linspace",
    "log",
    "log10",
    "log10_",
    "log1p",
    "log1p_",
    "log2",
    "log2_",
    "log_",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "logdet",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logit_",
    "logspace",
    "logsumexp",
    "lt",
    "lu",
    "lu_solve",
    "lu_unpack",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "max",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "min",
    "minimum",
    "mm",
    "mode",
    "moveaxis",
    "movedim",
    "msort",
    "mul",
    "multinomial",
    "multiply",
    "mv",
    "mvlgamma",
    "nan_to_num",
    "nan_to_num_",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow",
    "narrow_copy",
    "ne",
    "neg",
    "neg_",
    "negative",
    "negative_",
    "nextafter",
    "nonzero",
    "nonzero_static",
    "norm",
    "normal",
    "not_equal",
    "numel",
    "ones",
    "ones_like",
    "ormqr",
    "outer",
    "pca_lowrank",
    "permute",
    "permute_copy",
    "pinverse",
    "poisson",
    "polar",
    "polygamma",
    "positive",
    "pow",
    "prod",
    "put",
    "qr",
    "quantile",
    "rad2deg",
    "rad2deg_",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "range",
    "ravel",
    "real",
    "reciprocal",
    "reciprocal_",
    "relu",
    "relu_",
    "remainder",
    "renorm",
    "repeat_interleave",
    "reshape",
    "resize_as_",
    "resolve_conj",
    "resolve_neg",
    "result_type",
    "roll",
    "rot90",
    "round",
    "round_",
    "row_stack",
    "rsqrt",
    "rsqrt_",
    "rsub",
    "scalar_tensor",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "segment_reduce",
    "select",
    "select_copy",
    "select_scatter",
    "set_default_tensor_type",
    "sgn",
    "sigmoid",
    "sigmoid_",
    "sign",
    "signbit",
    "sin",
    "sin_",
    "sinc",
    "sinc_",
    "sinh",
    "sinh_",
    "slice_copy",
    "slice_scatter",
    "slogdet",
    "softmax",
    "sort",
    "split",
    "split_copy",
    "split_with_sizes",
    "split_with_sizes_copy",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
    "squeeze",
    "squeeze_copy",
    "stack",
    "std",
    "std_mean",
    "stft",
    "sub",
    "subtract",
    "sum",
    "svd",
    "svd_lowrank",
    "swapaxes",
    "swapdims",
    "t",
    "t_copy",
    "take",
    "take_along_dim",
    "tan",
    "tan_",
    "tanh",
    "tanh_",
    "tensor",
    "tensor_split",
    "tensordot",
    "tile",
    "topk",
    "trace",
    "transpose",
    "transpose_copy",
    "trapezoid",
    "trapz",
    "triangular_solve",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "trunc_",
    "unbind",
    "unbind_copy",
    "unflatten",
    "unfold",
    "unfold_copy",
    "unique",
    "unique_consecutive",
    "unravel_index",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze",
    "unsqueeze_copy",
    "vander",
    "var",
    "var_mean",
    "vdot",
    "view_as_complex",
    "view_as_complex_copy",
    "view_as_real",
    "view_as_real_copy",
    "view_copy",
    "vsplit",
    "vstack",
    "where",
    "xlogy",
    "xlogy_",
    "zero_",
    "zeros",
    "zeros_like",
]

class BFloat16Tensor(Tensor):
    """Create a bfloat16 tensor from a size (zeros) or from data."""

class BoolTensor(Tensor):
    """Create a bool tensor from a size (zeros) or from data."""

class ByteTensor(Tensor):
    """Create a uint8 tensor from a size (zeros) or from data."""

class CharTensor(Tensor):
    """Create a int8 tensor from a size (zeros) or from data."""

class DoubleTensor(Tensor):
    """Create a float64 tensor from a size (zeros) or from data."""

class FloatTensor(Tensor):
    """Create a float32 tensor from a size (zeros) or from data."""

class HalfTensor(Tensor):
    """Create a float16 tensor from a size (zeros) or from data."""

class IntTensor(Tensor):
    """Create a int32 tensor from a size (zeros) or from data."""

class LongTensor(Tensor):
    """Create a int64 tensor from a size (zeros) or from data."""

class ShortTensor(Tensor):
    """Create a int16 tensor from a size (zeros) or from data."""

def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """Return the derivative of samples by their own parameter: ``-(dF/da) / f / (1 - x)``."""

def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw samples from Dirichlet distributions with their parameters in the last dimension."""

def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw samples from gamma distributions with the given shapes and rate 1."""

def _standard_gamma_grad(self: Tensor, output: Tensor) -> Tensor:
    """Return the derivative of a gamma sample with respect to its shape."""

def abs(self: Tensor) -> Tensor:
    """Return the absolute value."""

def abs_(input: Tensor) -> Tensor:
    """Write the absolute values to this tensor and return it."""

def absolute(self: Tensor) -> Tensor:
    """Return the absolute value."""

def acos(self: Tensor) -> Tensor:
    """Return the angle in [0, pi] whose cosine is the element; NaN outside [-1, 1]."""

def acos_(self: Tensor) -> Tensor:
    """Write the result of ``acos`` to this tensor and return it."""

def acosh(self: Tensor) -> Tensor:
    """Return the inverse of the hyperbolic cosine, at least 0; NaN below 1."""

def acosh_(self: Tensor) -> Tensor:
    """Write the result of ``acosh`` to this tensor and return it."""

def add(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return ``self + alpha * other``."""

def addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """Return ``beta * self`` plus ``alpha`` times the sum of the products of a batch."""

def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """Return ``self + value * tensor1 / tensor2``."""

def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """Return ``self + value * tensor1 * tensor2``."""

def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return ``beta * self + alpha * (mat1 @ mat2)``."""

def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return ``beta * self + alpha * (mat @ vec)``."""

def addmv_(self: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Write the result of ``addmv`` to this tensor and return it."""

def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return ``beta * self + alpha * outer(vec1, vec2)``, in the promoted dtype."""

def adjoint(input: Tensor) -> Tensor:
    """Return the conjugate with the last two dimensions swapped; of real numbers, a view."""

def alias_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``alias`` returns."""

def all(self: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return True where all elements are nonzero, over the given dimensions or all."""

def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements are close to each other; see ``isclose`` for the arguments."""

def amax(self: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """Return the maximum over the given dimensions; all by default."""

def amin(self: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """Return the minimum over the given dimensions; all by default."""

def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> MinAndMax:
    """Return the minimum and the maximum of all elements or along a dimension."""

def angle(self: Tensor) -> Tensor:
    """Return the angle in the complex plane, in radians; pi for negative real numbers."""

def any(self: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return True where any element is nonzero, over the given dimensions or all."""

def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the values from ``start`` (0) up to but excluding ``end``, in steps of ``step``
    (1)."""

def arccos(self: Tensor) -> Tensor:
    """Return the angle in [0, pi] whose cosine is the element; NaN outside [-1, 1]."""

def arccos_(self: Tensor) -> Tensor:
    """Write the result of ``acos`` to this tensor and return it."""

def arccosh(self: Tensor) -> Tensor:
    """Return the inverse of the hyperbolic cosine, at least 0; NaN below 1."""

def arccosh_(self: Tensor) -> Tensor:
    """Write the result of ``acosh`` to this tensor and return it."""

def arcsin(self: Tensor) -> Tensor:
    """Return the angle in [-pi/2, pi/2] whose sine is the element; NaN outside [-1, 1]."""

def arcsin_(self: Tensor) -> Tensor:
    """Write the result of ``asin`` to this tensor and return it."""

def arcsinh(self: Tensor) -> Tensor:
    """Return the inverse of the hyperbolic sine."""

def arcsinh_(self: Tensor) -> Tensor:
    """Write the result of ``asinh`` to this tensor and return it."""

def arctan(self: Tensor) -> Tensor:
    """Return the angle in [-pi/2, pi/2] whose tangent is the element."""

def arctan2(self: Tensor, other: Tensor) -> Tensor:
    """Return the angle in [-pi, pi] of the point with x ``other`` and y ``self``."""

def arctan_(self: Tensor) -> Tensor:
    """Write the result of ``atan`` to this tensor and return it."""

def arctanh(self: Tensor) -> Tensor:
    """Return the inverse of the hyperbolic tangent; NaN outside [-1, 1]."""

def arctanh_(self: Tensor) -> Tensor:
    """Write the result of ``atanh`` to this tensor and return it."""

def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the first maximum, along a dimension or in the flattened tensor."""

def argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the first minimum, along a dimension or in the flattened tensor."""

def argsort(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the indices that sort the elements along a dimension."""

def argwhere(input: Tensor) -> Tensor:
    """Return the indices of the nonzero elements as rows."""

def as_strided(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Return a view of the tensor's memory with the given size and strides, in elements."""

def as_strided_(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Make this tensor a view of its memory with the given strides, and return it."""

def as_strided_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``as_strided`` returns."""

def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return a copy with the elements of ``as_strided`` replaced by ``src``."""

def as_tensor(data: Any, dtype: DtypeLike = None, device: DeviceLike = None) -> Tensor:
    """Convert ``data`` to a tensor, sharing memory with a tensor or array where possible."""

def asarray(
    obj: Any,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Convert data to a tensor, sharing memory with a tensor or array where possible."""

def asin(self: Tensor) -> Tensor:
    """Return the angle in [-pi/2, pi/2] whose sine is the element; NaN outside [-1, 1]."""

def asin_(self: Tensor) -> Tensor:
    """Write the result of ``asin`` to this tensor and return it."""

def asinh(self: Tensor) -> Tensor:
    """Return the inverse of the hyperbolic sine."""

def asinh_(self: Tensor) -> Tensor:
    """Write the result of ``asinh`` to this tensor and return it."""

def atan(self: Tensor) -> Tensor:
    """Return the angle in [-pi/2, pi/2] whose tangent is the element."""

def atan2(self: Tensor, other: Tensor) -> Tensor:
    """Return the angle in [-pi, pi] of the point with x ``other`` and y ``self``."""

def atan_(self: Tensor) -> Tensor:
    """Write the result of ``atan`` to this tensor and return it."""

def atanh(self: Tensor) -> Tensor:
    """Return the inverse of the hyperbolic tangent; NaN outside [-1, 1]."""

def atanh_(self: Tensor) -> Tensor:
    """Write the result of ``atanh`` to this tensor and return it."""

def atleast_1d(*tensors: Any) -> Any:
    """Add dimensions of length 1 until the tensor is at least 1-d."""

def atleast_2d(*tensors: Any) -> Any:
    """Add dimensions of length 1 until the tensor is at least 2-d."""

def atleast_3d(*tensors: Any) -> Any:
    """Add dimensions of length 1 until the tensor is at least 3-d."""

def baddbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """Return ``beta * self + alpha * (batch1 @ batch2)``, matrix by matrix."""

def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Draw ones with the given probabilities (or with ``p``), zeros otherwise."""

def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count the occurrences of 0, 1, 2, ... in a vector of integers."""

def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw the number of successes among ``count`` attempts, each with probability ``prob``."""

def bitwise_and(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the bitwise AND; the logical one for booleans."""

def bitwise_left_shift(self: Tensor, other: Tensor | float) -> Tensor:
    """Shift the bits of integers to the left: multiply by ``2 ** other``."""

def bitwise_not(self: Tensor) -> Tensor:
    """Return the bitwise NOT; the logical one for booleans."""

def bitwise_or(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the bitwise OR; the logical one for booleans."""

def bitwise_right_shift(self: Tensor, other: Tensor | float) -> Tensor:
    """Shift the bits of integers to the right; the sign stays."""

def bitwise_xor(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the bitwise XOR; the logical one for booleans."""

def block_diag(*tensors: Tensor) -> Tensor:
    """Return the block-diagonal matrix of the given matrices."""

def bmm(self: Tensor, mat2: Tensor) -> Tensor:
    """Multiply two batches of matrices."""

def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """Return the shape that tensors of these shapes broadcast to."""

def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Broadcast tensors to each other; return views of the common shape."""

def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """Return a view broadcast to a shape."""

def bucketize(
    input: Tensor | float, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return the index of the bucket between ``boundaries`` that contains each value."""

def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return the Cartesian product of vectors, one combination per row."""

def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension."""

def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """Return the pairwise distances between the rows of two matrices."""

def ceil(self: Tensor) -> Tensor:
    """Return the smallest integer greater than or equal to each element."""

def ceil_(self: Tensor) -> Tensor:
    """Write the result of ``ceil`` to this tensor and return it."""

def chain_matmul(*matrices: Tensor) -> Tensor:
    """Multiply a chain of matrices; prefer ``linalg.multi_dot``, which takes a list."""

def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """Return Cholesky factors; prefer ``linalg.cholesky``."""

def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """Return the inverses of matrices, given their Cholesky factors."""

def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solve ``A X = B``, given the Cholesky factor of A."""

def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Split into at most ``chunks`` views of equal size (the last may be smaller)."""

def clamp(input: Tensor, min: Bound = None, max: Bound = None) -> Tensor:
    """Clamp all elements to ``[min, max]``; each bound is a number, a tensor or None."""

def clamp_(input: Tensor, min: Bound = None, max: Bound = None) -> Tensor:
    """Clamp this tensor to ``[min, max]`` in place and return it."""

def clamp_max(self: Tensor, max: Tensor | float) -> Tensor:
    """Return the elements, lowered to at most ``max`` (a number or a tensor)."""

def clamp_max_(self: Tensor, max: Tensor | float) -> Tensor:
    """Write the result of ``clamp_max`` to this tensor and return it."""

def clamp_min(self: Tensor, min: Tensor | float) -> Tensor:
    """Return the elements, raised to at least ``min`` (a number or a tensor)."""

def clamp_min_(self: Tensor, min: Tensor | float) -> Tensor:
    """Write the result of ``clamp_min`` to this tensor and return it."""

def clip(input: Tensor, min: Bound = None, max: Bound = None) -> Tensor:
    """Clamp all elements to ``[min, max]``; each bound is a number, a tensor or None."""

def clip_(input: Tensor, min: Bound = None, max: Bound = None) -> Tensor:
    """Clamp this tensor to ``[min, max]`` in place and return it."""

def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return a copy with the same autograd history."""

def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors horizontally, vectors as columns."""

def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all combinations of ``r`` elements of a vector, one per row."""

def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Return complex numbers of given real and imaginary parts."""

def concat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension."""

def concatenate(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension."""

def conj(input: Tensor) -> Tensor:
    """Return the complex conjugates of any tensor; a real one itself."""

def conj_physical(self: Tensor) -> Tensor:
    """Return the complex conjugates in new memory; of real numbers, a copy."""

def conj_physical_(self: Tensor) -> Tensor:
    """Write the result of ``conj_physical`` to this tensor and return it."""

def copysign(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the absolute value of ``self`` with the sign of ``other`` (-0.0 is negative)."""

def corrcoef(input: Tensor) -> Tensor:
    """Return Pearson's correlation coefficients; rows are variables, columns are observations."""

def cos(self: Tensor) -> Tensor:
    """Return the cosine of angles in radians."""

def cos_(self: Tensor) -> Tensor:
    """Write the result of ``cos`` to this tensor and return it."""

def cosh(self: Tensor) -> Tensor:
    """Return the hyperbolic cosine."""

def cosh_(self: Tensor) -> Tensor:
    """Write the result of ``cosh`` to this tensor and return it."""

def count_nonzero(self: Tensor, dim: Dims = None) -> Tensor:
    """Count the nonzero elements over the given dimensions; all by default."""

def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Return the covariance matrix; rows are variables, columns are observations."""

def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Return the cross products of vectors of three elements."""

def cummax(self: Tensor, dim: int) -> ValuesAndIndices:
    """Return the cumulative maximum along a dimension, and its indices."""

def cummin(self: Tensor, dim: int) -> ValuesAndIndices:
    """Return the cumulative minimum along a dimension, and its indices."""

def cumprod(self: Tensor, dim: int, *, dtype: DtypeLike = None) -> Tensor:
    """Return the cumulative product along a dimension; integers multiply as int64."""

def cumsum(self: Tensor, dim: int, *, dtype: DtypeLike = None) -> Tensor:
    """Return the cumulative sum along a dimension; integers sum as int64."""

def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Integrate cumulatively along a dimension by the trapezoidal rule."""

def deg2rad(self: Tensor) -> Tensor:
    """Convert degrees to radians."""

def deg2rad_(self: Tensor) -> Tensor:
    """Write the result of ``deg2rad`` to this tensor and return it."""

def det(input: Tensor) -> Tensor:
    """Return the determinants of square matrices; ``linalg.det`` does the same."""

def detach(input: Tensor) -> Tensor:
    """Return a tensor with the same memory and version counter, but without history."""

def detach_(input: Tensor) -> Tensor:
    """Detach the tensor from its history in place: make it a leaf that does not require grad."""

def detach_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``detach`` returns."""

def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return a diagonal of a matrix as a copy, or a matrix with a vector on a diagonal."""

def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return matrices with the last dimension of a tensor on a diagonal, zeros elsewhere."""

def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return a matrix with the elements of a tensor of any shape, flattened, on a diagonal."""

def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return a view of a diagonal."""

def diagonal_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``diagonal`` returns."""

def diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Return a copy with a diagonal replaced by ``src``."""

def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Return the differences between neighbours along a dimension, taken ``n`` times."""

def digamma(self: Tensor) -> Tensor:
    """Return the derivative of ``lgamma``."""

def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the p-norm of the difference of two tensors."""

def div(input: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Divide elementwise; optionally round towards zero (``"trunc"``) or down (``"floor"``)."""

def divide(input: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Divide elementwise; optionally round towards zero (``"trunc"``) or down (``"floor"``)."""

def dot(self: Tensor, tensor: Tensor) -> Tensor:
    """Return the inner product of two vectors."""

def dsplit(input: Tensor, indices_or_sections: Sections) -> tuple[Tensor, ...]:
    """Split into views of equal size, or at the given indices."""

def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors in depth: along the third dimension."""

def einsum(*args: Any) -> Tensor:
    """Return sums of products of tensors by Einstein's summation convention."""

def empty(
    *size: Ints,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    memory_format: layouts.memory_format = ...,
) -> Tensor:
    """Create a tensor with uninitialized values."""

def empty_like(
    input: Tensor,
    *,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
    device: DeviceLike = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    """Create uninitialized values with the shape and dtype of a tensor."""

def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a tensor with uninitialized values and the given order of dimensions in memory."""

def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a tensor with uninitialized values and the given strides, in elements."""

def eq(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` equals ``other``."""

def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements; NaN equals nothing."""

def erf(self: Tensor) -> Tensor:
    """Return the error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` to x."""

def erf_(self: Tensor) -> Tensor:
    """Write the result of ``erf`` to this tensor and return it."""

def erfc(self: Tensor) -> Tensor:
    """Return ``1 - erf(x)``, accurate even where erf is close to 1."""

def erfc_(self: Tensor) -> Tensor:
    """Write the result of ``erfc`` to this tensor and return it."""

def erfinv(self: Tensor) -> Tensor:
    """Return the inverse of the error function; NaN outside [-1, 1]."""

def exp(self: Tensor) -> Tensor:
    """Return e to the power of each element."""

def exp2(self: Tensor) -> Tensor:
    """Return 2 to the power of each element."""

def exp2_(self: Tensor) -> Tensor:
    """Write the result of ``exp2`` to this tensor and return it."""

def exp_(self: Tensor) -> Tensor:
    """Write the result of ``exp`` to this tensor and return it."""

def expand_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``expand`` returns."""

def expm1(self: Tensor) -> Tensor:
    """Return ``exp(x) - 1``, accurate for small x."""

def expm1_(self: Tensor) -> Tensor:
    """Write the result of ``expm1`` to this tensor and return it."""

def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a matrix with ones on the diagonal and zeros elsewhere."""

def fill(self: Tensor, value: float) -> Tensor:
    """Return a tensor of the same shape and dtype, filled with one value."""

def fill_(input: Tensor, value: Tensor | float) -> Tensor:
    """Fill this tensor with one value and return it."""

def fix(self: Tensor) -> Tensor:
    """Return the integer part."""

def fix_(self: Tensor) -> Tensor:
    """Write the result of ``trunc`` to this tensor and return it."""

def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Flatten a range of dimensions into one."""

def flip(input: Tensor, *dims: Ints) -> Tensor:
    """Reverse the order of the elements along the dimensions, in a copy."""

def fliplr(input: Tensor) -> Tensor:
    """Reverse the order along the second dimension (left to right), in a copy."""

def flipud(input: Tensor) -> Tensor:
    """Reverse the order along the first dimension (upside down), in a copy."""

def float_power(input: Tensor | float, exponent: Tensor | float) -> Tensor:
    """Raise ``self`` to the power of ``exponent``, in float64."""

def floor(self: Tensor) -> Tensor:
    """Return the largest integer less than or equal to each element."""

def floor_(self: Tensor) -> Tensor:
    """Write the result of ``floor`` to this tensor and return it."""

def floor_divide(self: Tensor, other: Tensor | float) -> Tensor:
    """Divide and round down; without derivative."""

def fmax(self: Tensor, other: Tensor) -> Tensor:
    """Return the elementwise maximum; NaN only if both are NaN."""

def fmin(self: Tensor, other: Tensor) -> Tensor:
    """Return the elementwise minimum; NaN only if both are NaN."""

def fmod(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the remainder, with the sign of ``self``: ``self - other * trunc(self / other)``."""

def frac(self: Tensor) -> Tensor:
    """Return the fractional part, with the sign of the element."""

def frac_(self: Tensor) -> Tensor:
    """Write the result of ``frac`` to this tensor and return it."""

def frexp(self: Tensor) -> Frexp:
    """Return mantissas of sizes in [0.5, 1) and integer exponents of 2."""

def from_numpy(array: Array) -> Tensor:
    """Create a tensor that shares the memory of a numpy array."""

def frombuffer(
    buffer: Any,
    *,
    dtype: dtypes.dtype,
    count: int = -1,
    offset: int = 0,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a 1-d tensor that shares the memory of a buffer, such as a bytearray."""

def full(
    size: Sequence[int],
    fill_value: Any,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a tensor filled with one value, by default in that value's dtype."""

def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
    device: DeviceLike = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    """Create a tensor filled with one value, with the shape and dtype of a tensor."""

def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Return the elements at ``index`` along a dimension."""

def gcd(self: Tensor, other: Tensor) -> Tensor:
    """Return the greatest common divisor of integers, at least 0."""

def gcd_(self: Tensor, other: Tensor) -> Tensor:
    """Write the result of ``gcd`` to this tensor and return it."""

def ge(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is greater than or equal to ``other``."""

def geqrf(input: Tensor) -> Any:
    """Return a QR decomposition packed like LAPACK's; without gradient."""

def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """Return the outer product of two vectors: the BLAS name of ``outer``."""

def get_device(self: Tensor) -> int:
    """Return -1: all tensors are on the CPU."""

def gradient(
    input: Tensor,
    *,
    spacing: float | Sequence[float] | Sequence[Tensor] | None = None,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """Return the slopes of sampled values along each dimension, by central differences."""

def greater(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is greater than ``other``."""

def greater_equal(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is greater than or equal to ``other``."""

def gt(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is greater than ``other``."""

def heaviside(self: Tensor, values: Tensor) -> Tensor:
    """Return 0 below zero, 1 above, and the element of ``values`` at zero; without derivative."""

def histc(self: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Count the elements in ``bins`` equal bins from ``min`` to ``max``."""

def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """Count the elements per bin; return the counts and the edges."""

def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """Count points (in the last dimension) in a grid of bins; return the counts and the edges."""

def hsplit(input: Tensor, indices_or_sections: Sections) -> tuple[Tensor, ...]:
    """Split into views of equal size, or at the given indices."""

def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors horizontally: along the second dimension, vectors along the first."""

def hypot(self: Tensor, other: Tensor) -> Tensor:
    """Return the length of the hypotenuse, ``sqrt(self^2 + other^2)``, without overflow."""

def i0(self: Tensor) -> Tensor:
    """Return the modified Bessel function of order 0."""

def i0_(self: Tensor) -> Tensor:
    """Write the result of ``i0`` to this tensor and return it."""

def igamma(self: Tensor, other: Tensor) -> Tensor:
    """Return the regularized lower incomplete gamma function P(self, other), from 0 to 1."""

def igammac(self: Tensor, other: Tensor) -> Tensor:
    """Return the regularized upper incomplete gamma function, ``1 - igamma``."""

def imag(input: Tensor) -> Tensor:
    """Return a view of the imaginary parts."""

def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1
) -> Tensor:
    """Return a copy with the slices of ``source``, times ``alpha``, added at ``index``."""

def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return a copy with the slices at ``index`` replaced by those of ``source``."""

def index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor | float) -> Tensor:
    """Return a copy with the slices at ``index`` filled with a number or 0-d tensor."""

def index_put(
    input: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Return a copy with values written (or added) at the indices."""

def index_put_(
    input: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Write (or add) values at the indices to this tensor and return it."""

def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Return a copy with the slices of ``source`` reduced into the slices at ``index``."""

def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices at a vector of indices along a dimension, as a copy."""

def inner(input: Tensor, other: Tensor) -> Tensor:
    """Return inner products along the last dimensions; with a scalar, the product."""

def inverse(input: Tensor) -> Tensor:
    """Return the inverses of square matrices; ``linalg.inv`` does the same."""

def is_complex(input: Tensor) -> bool:
    """Return whether the dtype is complex."""

def is_conj(input: Tensor) -> bool:
    """Return False: tinynet computes conjugates instead of marking them."""

def is_floating_point(input: Tensor) -> bool:
    """Return True if the dtype is a floating-point one."""

def is_neg(input: Tensor) -> bool:
    """Return False: tinynet computes negatives instead of marking them."""

def is_nonzero(input: Tensor) -> bool:
    """Return whether the only element is nonzero."""

def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape."""

def is_signed(input: Tensor) -> bool:
    """Return whether the dtype can represent negative values."""

def is_tensor(obj: Any) -> bool:
    """Return True if ``obj`` is a tensor."""

def isclose(
    self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Return True where ``|self - other| <= atol + rtol * |other|``."""

def isfinite(self: Tensor) -> Tensor:
    """Return True where the element is neither infinite nor NaN."""

def isin(
    elements: Tensor | float,
    test_elements: Tensor | float,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Return True for the elements that are in ``test_elements``; either may be a number."""

def isinf(self: Tensor) -> Tensor:
    """Return True where the element is infinite."""

def isnan(self: Tensor) -> Tensor:
    """Return True where the element is NaN."""

def isneginf(self: Tensor) -> Tensor:
    """Return True where the element is negative infinity."""

def isposinf(self: Tensor) -> Tensor:
    """Return True where the element is positive infinity."""

def isreal(self: Tensor) -> Tensor:
    """Return True where the imaginary part is zero."""

def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Return the signal of a short-time Fourier transform: the inverse of ``stft``."""

def kron(input: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product: all of ``other`` times each element of ``self``."""

def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """Return the ``k``-th smallest elements along a dimension (from 1), and their indices."""

def lcm(self: Tensor, other: Tensor) -> Tensor:
    """Return the least common multiple of integers, at least 0."""

def lcm_(self: Tensor, other: Tensor) -> Tensor:
    """Write the result of ``lcm`` to this tensor and return it."""

def ldexp(self: Tensor, other: Tensor) -> Tensor:
    """Return ``self * 2 ** other``."""

def ldexp_(self: Tensor, other: Tensor) -> Tensor:
    """Write the result of ``ldexp`` to this tensor and return it."""

def le(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is less than or equal to ``other``."""

def lerp(input: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """Interpolate linearly between two tensors: ``self + weight * (end - self)``."""

def less(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is less than ``other``."""

def less_equal(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is less than or equal to ``other``."""

def lgamma(self: Tensor) -> Tensor:
    """Return the logarithm of the absolute value of the gamma function."""

def linspace(
    start: Tensor | float,
    end: Tensor | float,
    steps: int,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ``steps`` evenly spaced values from ``start`` to ``end``, both included."""

def log(self: Tensor) -> Tensor:
    """Return the natural logarithm."""

def log10(self: Tensor) -> Tensor:
    """Return the logarithm to base 10."""

def log10_(self: Tensor) -> Tensor:
    """Write the result of ``log10`` to this tensor and return it."""

def log1p(self: Tensor) -> Tensor:
    """Return ``log(1 + x)``, accurate for small x."""

def log1p_(self: Tensor) -> Tensor:
    """Write the result of ``log1p`` to this tensor and return it."""

def log2(self: Tensor) -> Tensor:
    """Return the logarithm to base 2."""

def log2_(self: Tensor) -> Tensor:
    """Write the result of ``log2`` to this tensor and return it."""

def log_(self: Tensor) -> Tensor:
    """Write the result of ``log`` to this tensor and return it."""

def log_softmax(self: Tensor, dim: int, dtype: DtypeLike = None) -> Tensor:
    """Return the logarithm of softmax, accurate even where softmax is close to 0."""

def logaddexp(self: Tensor, other: Tensor) -> Tensor:
    """Return ``log(exp(self) + exp(other))``, without overflow."""

def logaddexp2(self: Tensor, other: Tensor) -> Tensor:
    """Return ``log2(2 ** self + 2 ** other)``, without overflow."""

def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """Return the logarithm of the cumulative sum of exponentials, without overflow."""

def logdet(input: Tensor) -> Tensor:
    """Return the logarithms of determinants: ``-inf`` for zero, NaN for negative ones."""

def logical_and(self: Tensor, other: Tensor) -> Tensor:
    """Return True where both elements are nonzero."""

def logical_not(self: Tensor) -> Tensor:
    """Return True where the element is zero."""

def logical_or(self: Tensor, other: Tensor) -> Tensor:
    """Return True where either element is nonzero."""

def logical_xor(self: Tensor, other: Tensor) -> Tensor:
    """Return True where exactly one element is nonzero."""

def logit(self: Tensor, eps: float | None = None) -> Tensor:
    """Return ``log(x / (1 - x))``, the inverse of sigmoid."""

def logit_(self: Tensor, eps: float | None = None) -> Tensor:
    """Write the result of ``logit`` to this tensor and return it."""

def logspace(
    start: Tensor | float,
    end: Tensor | float,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ``steps`` powers of ``base`` with evenly spaced exponents."""

def logsumexp(self: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """Return the logarithm of the sum of exponentials over the dimensions, without overflow."""

def lt(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` is less than ``other``."""

def lu(input: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """Return packed LU factors and pivots (and error codes); prefer ``linalg.lu_factor``."""

def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Solve linear systems with LU factors; prefer ``linalg.lu_solve``."""

def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """Unpack the result of ``lu_factor`` into P, L and U."""

def masked_fill(input: Tensor, mask: Tensor, value: Tensor | float) -> Tensor:
    """Return a copy filled with a number or 0-d tensor where the mask (broadcast) is True."""

def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return a copy with the elements of ``source``, in order, where the mask is True."""

def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """Return the elements where the mask is True, in one dimension; both inputs broadcast."""

def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Multiply vectors, matrices, or batches of matrices, like ``a @ b``."""

def matrix_exp(input: Tensor) -> Tensor:
    """Return the matrix exponentials of square matrices."""

def matrix_power(input: Tensor, n: int) -> Tensor:
    """Raise square matrices to the n-th power by repeated squaring."""

def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the maximum of all elements, of a dimension, or of two tensors."""

def maximum(self: Tensor, other: Tensor) -> Tensor:
    """Return the elementwise maximum; NaN if either is NaN."""

def mean(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the mean over the given dimensions; all by default. NaN for no elements."""

def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median of all elements, or the medians along a dimension and their indices."""

def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return coordinate grids: one tensor per vector, all of the same shape."""

def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the minimum of all elements, of a dimension, or of two tensors."""

def minimum(self: Tensor, other: Tensor) -> Tensor:
    """Return the elementwise minimum; NaN if either is NaN."""

def mm(self: Tensor, mat2: Tensor) -> Tensor:
    """Multiply two matrices."""

def mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """Return the most frequent elements along a dimension, and the index of the last of each."""

def moveaxis(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Return a view with one or more dimensions moved to other positions."""

def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Return a view with one or more dimensions moved to other positions."""

def msort(input: Tensor) -> Tensor:
    """Sort along the first dimension."""

def mul(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the elementwise product."""

def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Draw indices from each row, with the given weights."""

def multiply(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the elementwise product."""

def mv(self: Tensor, vec: Tensor) -> Tensor:
    """Multiply a matrix by a vector."""

def mvlgamma(self: Tensor, p: int) -> Tensor:
    """Return the logarithm of the multivariate gamma function of dimension ``p``."""

def nan_to_num(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Replace NaN and infinities by finite numbers."""

def nan_to_num_(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Write the result of ``nan_to_num`` to this tensor and return it."""

def nanmean(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the mean, ignoring NaN; see ``mean`` for the arguments."""

def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median ignoring NaN: of all elements, or along a dimension with its indices."""

def nanquantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return the quantiles, ignoring NaN; see ``quantile`` for the arguments."""

def nansum(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the sum, ignoring NaN; see ``sum`` for the arguments."""

def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """Return a view of ``length`` slices of a dimension, beginning at ``start``."""

def narrow_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``narrow`` returns."""

def ne(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` differs from ``other``."""

def neg(self: Tensor) -> Tensor:
    """Return the negative."""

def neg_(self: Tensor) -> Tensor:
    """Write the result of ``neg`` to this tensor and return it."""

def negative(self: Tensor) -> Tensor:
    """Return the negative."""

def negative_(self: Tensor) -> Tensor:
    """Write the result of ``neg`` to this tensor and return it."""

def nextafter(self: Tensor, other: Tensor) -> Tensor:
    """Return the next number of the dtype after ``self`` in the direction of ``other``."""

def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the indices of the nonzero elements, as rows or as one tensor per dimension."""

def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """Return the indices of the first ``size`` nonzero elements as rows."""

def norm(
    input: Tensor, p: Order = "fro", dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the p-norm over the given dimensions; all by default."""

def normal(
    mean: Tensor | float = 0.0,
    std: Tensor | float = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw normal numbers with given means and standard deviations (numbers or tensors)."""

def not_equal(self: Tensor, other: Tensor | float) -> Tensor:
    """Return True where ``self`` differs from ``other``."""

def numel(input: Tensor) -> int:
    """Return the number of elements."""

def ones(
    *size: Ints, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Create a tensor of ones."""

def ones_like(
    input: Tensor,
    *,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
    device: DeviceLike = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    """Create ones with the shape and dtype of a tensor."""

def ormqr(
    input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """Multiply a matrix by the orthogonal matrix of Householder reflections: ``Q @ other``."""

def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Return the outer product of two vectors."""

def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the principal components of the rows of ``A``, by ``svd_lowrank``."""

def permute(input: Tensor, *dims: Ints) -> Tensor:
    """Return a view with the dimensions in another order."""

def permute_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``permute`` returns."""

def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Return the pseudoinverses of matrices."""

def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw numbers from Poisson distributions with the given rates."""

def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Return complex numbers of given absolute values and angles."""

def polygamma(n: int, input: Tensor) -> Tensor:
    """Return the ``n``-th derivative of ``digamma``."""

def positive(input: Tensor) -> Tensor:
    """Return the tensor itself: ``+x``."""

def pow(input: Tensor | float, exponent: Tensor | float) -> Tensor:
    """Raise each element of ``self`` to the power of ``exponent`` (a number or a tensor)."""

def prod(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the product over a dimension, or of all elements; integers multiply as int64."""

def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Return a copy with elements of ``source`` written (or added) at flat positions."""

def qr(input: Tensor, some: bool = True) -> Any:
    """Return the QR decomposition; prefer ``linalg.qr``."""

def quantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return the q-th quantiles; NaN if any element is NaN."""

def rad2deg(self: Tensor) -> Tensor:
    """Convert radians to degrees."""

def rad2deg_(self: Tensor) -> Tensor:
    """Write the result of ``rad2deg`` to this tensor and return it."""

def rand(
    *size: Ints,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw numbers uniformly from [0, 1)."""

def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
    device: DeviceLike = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    """Draw uniform random numbers, with the shape and dtype of a tensor."""

def randint(
    low: int = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw integers uniformly from ``[low, high)``; ``low`` is 0 by default."""

def randint_like(
    input: Tensor,
    low: int | None = None,
    high: int | None = None,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
    device: DeviceLike = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    """Draw random integers, with the shape and dtype of a tensor."""

def randn(
    *size: Ints,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw numbers from the normal distribution with mean 0 and variance 1."""

def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
    device: DeviceLike = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    """Draw normal random numbers, with the shape and dtype of a tensor."""

def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the integers 0 to n - 1 in random order."""

def range(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the values from ``start`` to ``end``, ``step`` apart: ``arange`` with its end."""

def ravel(input: Tensor) -> Tensor:
    """Flatten the tensor into one dimension."""

def real(input: Tensor) -> Tensor:
    """Return a view of the real parts of any tensor; a real one itself."""

def reciprocal(self: Tensor) -> Tensor:
    """Return the reciprocal."""

def reciprocal_(self: Tensor) -> Tensor:
    """Write the result of ``reciprocal`` to this tensor and return it."""

def relu(self: Tensor) -> Tensor:
    """Return ``max(x, 0)``."""

def relu_(self: Tensor) -> Tensor:
    """Write the result of ``relu`` to this tensor and return it."""

def remainder(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the remainder, with the sign of the divisor: ``self - other * floor(self /
    other)``."""

def renorm(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Return a copy whose slices along a dimension have p-norms of at most ``maxnorm``."""

def repeat_interleave(
    input: Tensor,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Repeat each element, or each slice along a dimension."""

def reshape(input: Tensor, *shape: Ints, **named: Ints) -> Tensor:
    """Return the tensor with another shape: a view where possible, otherwise a copy."""

def resize_as_(
    input: Tensor, the_template: Tensor, *, memory_format: layouts.memory_format | None = None
) -> Tensor:
    """Change the shape to that of another tensor, see ``resize_``, and return the tensor."""

def resolve_conj(input: Tensor) -> Tensor:
    """Return the tensor itself: tinynet computes conjugates instead of marking them."""

def resolve_neg(input: Tensor) -> Tensor:
    """Return the tensor itself: tinynet computes negatives instead of marking them."""

def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """Return the dtype that an operation on two tensors or numbers would give."""

def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Return a copy with the elements rolled along dimensions: those past the end come first."""

def rot90(self: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Rotate ``k`` times by 90 degrees in the plane of two dimensions, in a copy."""

def round(self: Tensor, *, decimals: int = 0) -> Tensor:
    """Round to the nearest integer (halves to even), or to ``decimals`` places."""

def round_(self: Tensor, *, decimals: int = 0) -> Tensor:
    """Write the result of ``round`` to this tensor and return it."""

def row_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors vertically: another name of ``vstack``."""

def rsqrt(self: Tensor) -> Tensor:
    """Return the reciprocal of the square root."""

def rsqrt_(self: Tensor) -> Tensor:
    """Write the result of ``rsqrt`` to this tensor and return it."""

def rsub(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return ``other - alpha * self``."""

def scalar_tensor(
    s: float, *, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Create a 0-d tensor from a number."""

def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | float | None = None,
    *,
    value: float | None = None,
    reduce: str | None = None,
) -> Tensor:
    """Return a copy with elements written at ``index`` along a dimension."""

def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return a copy with elements of ``src`` added at ``index`` along a dimension."""

def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return a copy with the elements of ``src`` reduced into the positions at ``index``."""

def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return the indices at which to insert values into a sorted sequence to keep its order."""

def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Reduce each segment along a dimension to one element."""

def select(self: Tensor, dim: int, index: int) -> Tensor:
    """Return a view of one slice, without its dimension."""

def select_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``select`` returns."""

def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Return a copy with one slice replaced by ``src``."""

def set_default_tensor_type(t: Any) -> None:
    """Set the default floating-point dtype by tensor type; prefer ``set_default_dtype``."""

def sgn(self: Tensor) -> Tensor:
    """Return the sign of real numbers, and ``z / |z|`` of complex ones; 0 for 0."""

def sigmoid(self: Tensor) -> Tensor:
    """Return the logistic function ``1 / (1 + exp(-x))``."""

def sigmoid_(self: Tensor) -> Tensor:
    """Write the result of ``sigmoid`` to this tensor and return it."""

def sign(self: Tensor) -> Tensor:
    """Return the sign of the element, ``(x > 0) - (x < 0)``: 0 for 0 and NaN."""

def signbit(self: Tensor) -> Tensor:
    """Return True where the sign bit is set: for negative numbers and -0.0."""

def sin(self: Tensor) -> Tensor:
    """Return the sine of angles in radians."""

def sin_(self: Tensor) -> Tensor:
    """Write the result of ``sin`` to this tensor and return it."""

def sinc(self: Tensor) -> Tensor:
    """Return ``sin(pi x) / (pi x)``, and 1 at 0."""

def sinc_(self: Tensor) -> Tensor:
    """Write the result of ``sinc`` to this tensor and return it."""

def sinh(self: Tensor) -> Tensor:
    """Return the hyperbolic sine."""

def sinh_(self: Tensor) -> Tensor:
    """Write the result of ``sinh`` to this tensor and return it."""

def slice_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``slice`` returns."""

def slice_scatter(
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """Return a copy with a range of one dimension replaced by ``src``."""

def slogdet(input: Tensor) -> Any:
    """Return the signs of determinants and the logarithms of their absolute values."""

def softmax(self: Tensor, dim: int, dtype: DtypeLike = None) -> Tensor:
    """Return the exponentials divided by their sum along a dimension."""

def sort(
    self: Tensor, dim: int = -1, descending: bool = False, stable: bool = True
) -> ValuesAndIndices:
    """Sort along a dimension; return the sorted elements and their indices."""

def split(input: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Split into views of equal size (the last may be smaller) or of the given sizes."""

def split_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``split`` returns."""

def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Split a dimension into views of the given sizes."""

def split_with_sizes_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``split_with_sizes`` returns."""

def sqrt(self: Tensor) -> Tensor:
    """Return the square root; NaN below zero."""

def sqrt_(self: Tensor) -> Tensor:
    """Write the result of ``sqrt`` to this tensor and return it."""

def square(self: Tensor) -> Tensor:
    """Return the square; that of booleans is int64."""

def square_(self: Tensor) -> Tensor:
    """Write the result of ``square`` to this tensor and return it."""

def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return a view without dimensions of length 1: all of them, or those given."""

def squeeze_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``squeeze`` returns."""

def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along a new dimension."""

def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return the standard deviation over the given dimensions; all by default."""

def std_mean(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean; see ``var`` for the arguments."""

def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Return the short-time Fourier transform: those of windows along a signal."""

def sub(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return ``self - alpha * other``."""

def subtract(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return ``self - alpha * other``."""

def sum(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the sum over the given dimensions; all by default. Integers sum as int64."""

def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """Return ``(U, S, V)`` with ``A = U @ diag(S) @ V.mT``; prefer ``linalg.svd``."""

def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return ``U``, ``S`` and ``V`` with ``A`` close to ``U @ diag(S) @ V.T``, of rank ``q``."""

def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Return a view with two dimensions swapped: numpy's name of ``transpose``."""

def swapdims(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions swapped."""

def t(self: Tensor) -> Tensor:
    """Transpose a matrix; vectors and scalars stay. More dimensions raise RuntimeError."""

def t_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``t`` returns."""

def take(self: Tensor, index: Tensor) -> Tensor:
    """Return the elements at positions in the flattened tensor, in the shape of ``index``."""

def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Return the elements at ``indices`` along a dimension; the other dimensions broadcast."""

def tan(self: Tensor) -> Tensor:
    """Return the tangent of angles in radians."""

def tan_(self: Tensor) -> Tensor:
    """Write the result of ``tan`` to this tensor and return it."""

def tanh(self: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""

def tanh_(self: Tensor) -> Tensor:
    """Write the result of ``tanh`` to this tensor and return it."""

def tensor(
    data: Any, *, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Create a leaf tensor with a copy of ``data``."""

def tensor_split(input: Tensor, indices_or_sections: Sections, dim: int = 0) -> tuple[Tensor, ...]:
    """Split a dimension into views of nearly equal size, or at the given indices."""

def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Contract two tensors: sum their products over the given dimensions."""

def tile(input: Tensor, *dims: Ints) -> Tensor:
    """Repeat the tensor along each dimension, in a copy; missing repeats are 1."""

def topk(
    self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> ValuesAndIndices:
    """Return the ``k`` largest (or smallest) elements along a dimension, sorted, and their
    indices."""

def trace(self: Tensor) -> Tensor:
    """Return the sum of the diagonal of a matrix; integers sum as int64."""

def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions swapped."""

def transpose_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``transpose`` returns."""

def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Integrate along a dimension by the trapezoidal rule."""

def trapz(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """Integrate by the trapezoidal rule, like ``trapezoid``; arguments are those of
    ``trapezoid``."""

def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Any:
    """Solve ``A @ X = B`` with a triangular A; return X and a copy of A."""

def tril(self: Tensor, diagonal: int = 0) -> Tensor:
    """Return the part on and below a diagonal, with zeros elsewhere."""

def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: DtypeLike = None, device: DeviceLike = None
) -> Tensor:
    """Return the indices of the elements on and below a diagonal."""

def triu(self: Tensor, diagonal: int = 0) -> Tensor:
    """Return the part on and above a diagonal, with zeros elsewhere."""

def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: DtypeLike = None, device: DeviceLike = None
) -> Tensor:
    """Return the indices of the elements on and above a diagonal."""

def true_divide(
    input: Tensor, other: Tensor | float, *, rounding_mode: str | None = None
) -> Tensor:
    """Divide elementwise; optionally round towards zero (``"trunc"``) or down (``"floor"``)."""

def trunc(self: Tensor) -> Tensor:
    """Return the integer part."""

def trunc_(self: Tensor) -> Tensor:
    """Write the result of ``trunc`` to this tensor and return it."""

def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of all slices along a dimension, like iteration over the tensor."""

def unbind_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``unbind`` returns."""

def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Split one dimension into several."""

def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return a view of all windows of ``size`` elements along a dimension, ``step`` apart."""

def unfold_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``unfold`` returns."""

def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the unique elements, sorted, or the unique slices along a dimension."""

def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Replace runs of equal elements, or of equal slices along a dimension, by one of them."""

def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Convert positions in a flattened tensor to indices along each dimension of a shape."""

def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Split into at most ``chunks`` views of equal size (the last may be smaller)."""

def unsafe_split(
    input: Tensor, split_size: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Split into views of equal size (the last may be smaller) or of the given sizes."""

def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Split a dimension into views of the given sizes."""

def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """Return a view with a new dimension of length 1 at ``dim``."""

def unsqueeze_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``unsqueeze`` returns."""

def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the Vandermonde matrix of a vector, whose columns are powers of its elements."""

def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return the variance over the given dimensions; all by default."""

def var_mean(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean; see ``var`` for the arguments."""

def vdot(self: Tensor, other: Tensor) -> Tensor:
    """Return the inner product of two vectors, with the conjugate of the first."""

def view_as_complex(self: Tensor) -> Tensor:
    """Return a view of pairs of real and imaginary parts, ``[..., 2]``, as complex numbers."""

def view_as_complex_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``view_as_complex`` returns."""

def view_as_real(self: Tensor) -> Tensor:
    """Return a view of complex numbers as pairs of real and imaginary parts, ``[..., 2]``."""

def view_as_real_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``view_as_real`` returns."""

def view_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a copy of what ``view`` returns."""

def vsplit(input: Tensor, indices_or_sections: Sections) -> tuple[Tensor, ...]:
    """Split into views of equal size, or at the given indices."""

def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors vertically: along the first dimension, vectors as rows."""

def where(condition: Tensor, input: Any = ..., other: Any = ...) -> Any:
    """Return ``input`` where the condition is True and ``other`` elsewhere."""

def xlogy(self: Tensor, other: Tensor | float) -> Tensor:
    """Return ``self * log(other)``, or 0 where ``self`` is 0."""

def xlogy_(self: Tensor, other: Tensor | float) -> Tensor:
    """Write the result of ``xlogy`` to this tensor and return it."""

def zero_(input: Tensor) -> Tensor:
    """Fill this tensor with zeros and return it."""

def zeros(
    *size: Ints, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Create a tensor of zeros."""

def zeros_like(
    input: Tensor,
    *,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
    device: DeviceLike = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    """Create zeros with the shape and dtype of a tensor."""
