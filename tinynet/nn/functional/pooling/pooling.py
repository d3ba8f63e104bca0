"""Max, average and power-average pooling over sliding windows, and adaptive pooling."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.declaration.composite import called
from tinynet.core.graph.views import requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import (
    Ints,
    not_implemented,
    of_rank,
    per_dim,
    per_shapes,
    require_floating,
    spatial,
    tensor_only,
)
from tinynet.nn.functional.pooling import unpooling
from tinynet.nn.functional.pooling.pooling_ops import (
    adaptive_avg_pools,
    adaptive_max_pools,
    avg_pools,
    is_pool_2x2,
    max_pool_2x2,
    max_pool_values,
    max_pools,
    plane_mean,
)
from tinynet.nn.functional.pooling.windows import (
    Options,
    check_1d,
    check_max1d,
    check_no_empty_dim,
    check_outputs,
    ints,
)
from tinynet.ops.arguments import EXPECTED, name_of
from tinynet.ops.creation.constructors import refuse_huge

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
]


Size = int | tuple[int, ...] | list[int]
OutputSize = int | Sequence[int | None] | None

# ---- options ------------------------------------------------------------------------------------


@per_shapes
def _options(
    title: str, rank: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> Options:
    """Return the options as ints per dimension; the stride is that of the kernel unless given."""
    kernel = ints(title, "kernel_size", kernel_size, rank)
    given = kernel_size if stride is None or (isinstance(stride, tuple) and not stride) else stride
    steps = ints(title, "stride", given, rank)
    pad = ints(title, "padding", padding, rank)
    return Options(kernel, steps, pad, ints(title, "dilation", dilation, rank), bool(ceil))


def _flat(options: Options) -> Options:
    """Return 1d options as 2d options with a first dimension of length 1."""
    (kernel,), (stride,), (padding,), (dilation,), ceil = options
    return Options((1, kernel), (1, stride), (0, padding), (1, dilation), ceil)


# ---- maxima -------------------------------------------------------------------------------------


def max_pool(
    rank: int,
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the maximum of each window of {last}.

    In each dimension, ``result[i] = max of x[stride * i + dilation * k - padding]`` over k below
    the kernel size.

    Args:
        input: ``[batch, channels, {sizes}]``, or without batch.
        kernel_size: size of the window, one number or one for each dimension.
        stride: step between windows; the kernel size unless given.
        padding: implicit minus infinity on each side, at most half the window.
        dilation: distance between the elements of a window.
        ceil_mode: also keep windows that extend past the right edge.
        return_indices: also return the index of each maximum in its channel, counted row by row;
            the first of equal ones.

    Returns:
        ``[..., (n + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1]`` for each
        dimension of n elements; with ``return_indices`` a tuple.

    Raises:
        RuntimeError: the options are invalid or do not fit the input.

    Example:
        >>> F.max_pool1d(tn.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
        tensor([[3., 5.]])
        >>> F.max_pool2d(tn.arange(16.0).view(1, 4, 4), 2)
        tensor([[[ 5.,  7.],
                 [13., 15.]]])
        >>> F.max_pool3d(tn.ones(1, 4, 4, 4), 2).shape
        tinynet.Size([1, 2, 2, 2])
    """
    name = f"max_pool{rank}d"
    tensor_only(name, input=input)
    options = _options(name, rank, kernel_size, stride, padding, dilation, ceil_mode)
    if rank == 1:
        check_max1d(input._array.shape, options, return_indices)
        require_floating(name, input._array)
        if not return_indices and not (mode.grad and requires_grad(input)):
            return max_pool_values.function(input, options)
        found = _max(input.unsqueeze(-2), _flat(options), return_indices)
        return tuple(t.squeeze(-2) for t in found) if return_indices else found.squeeze(-2)
    return _max(input, options, return_indices)


def _max(input: Tensor, options: Options, return_indices: bool) -> Any:
    if return_indices:
        return max_pools[options.rank].function(input, options)
    if mode.grad and requires_grad(input):
        if is_pool_2x2(input._array, options):
            return max_pool_2x2.function(input)[0]
        return max_pools[options.rank].function(input, options)[0]
    return max_pool_values.function(input, options)


max_pool1d = of_rank(1, max_pool)
max_pool2d = of_rank(2, max_pool)
max_pool3d = of_rank(3, max_pool, autocast="float32")

# ---- averages -----------------------------------------------------------------------------------


def _divisor(title: str, value: Any) -> int | None:
    if value is not None and not isinstance(value, int):
        kind = type(value).__name__
        raise TypeError(f"{title}(): argument 'divisor_override' must be int, not {kind}")
    if value == 0:
        raise RuntimeError("divisor must be not zero")
    return value


def avg_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the average of each window along the last dimension.

    See ``avg_pool2d``; the arguments are the same.

    Example:
        >>> F.avg_pool1d(tn.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
        tensor([[2.0000, 3.5000]])
    """
    tensor_only("avg_pool1d", input=input)
    check_1d("avg_pool1d", input._array.shape)
    options = _options("avg_pool1d", 1, kernel_size, stride, padding, 1, ceil_mode)
    wide: Any = input.unsqueeze(-2)
    return avg_pools[2].function(wide, _flat(options), bool(count_include_pad), None).squeeze(-2)


def avg_pool(
    rank: int,
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the average of each window of {last}.

    In each dimension, ``result[i] = sum of x[stride * i + k - padding] / kernel_size`` over k below
    the kernel size.

    Args:
        input: ``[batch, channels, {sizes}]``, or without batch.
        kernel_size: size of the window, one number or one for each dimension.
        stride: step between windows; the kernel size unless given.
        padding: zeros added on each side, at most half the window.
        ceil_mode: also keep windows that extend past the right edge.
        count_include_pad: whether averages include the padding.
        divisor_override: divide the sums by this, not by the number of elements.

    Returns:
        ``[..., (n + 2 * padding - kernel_size) // stride + 1]`` for each dimension of n elements.

    Raises:
        RuntimeError: the options are invalid or do not fit the input.

    Example:
        >>> F.avg_pool2d(tn.arange(16.0).view(1, 4, 4), 2)
        tensor([[[ 2.5000,  4.5000],
                 [10.5000, 12.5000]]])
        >>> F.avg_pool3d(tn.ones(1, 4, 4, 4), 2).shape
        tinynet.Size([1, 2, 2, 2])
    """
    name = f"avg_pool{rank}d"
    tensor_only(name, input=input)
    options = _options(name, rank, kernel_size, stride, padding, 1, ceil_mode)
    divisor = _divisor(name, divisor_override)
    return avg_pools[rank].function(input, options, bool(count_include_pad), divisor)


avg_pool2d = called(of_rank(2, avg_pool), out=EXPECTED)
avg_pool3d = called(of_rank(3, avg_pool, autocast="float32"), out=EXPECTED)


# ---- power averages -----------------------------------------------------------------------------


def lp_pool(
    rank: int,
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return ``(sum of x ** norm_type) ** (1 / norm_type)`` of each window of {last}.

    Args:
        input: ``[batch, channels, {sizes}]``, or without batch.
        norm_type: the power; ``inf`` means the largest absolute value.
        kernel_size: size of the window, one number or one for each dimension.
        stride: step between windows; the kernel size unless given.
        ceil_mode: also keep windows that extend past the right edge: they count as full ones.

    Raises:
        RuntimeError: the options are invalid or do not fit the input.
        ZeroDivisionError: ``norm_type`` is 0.

    Example:
        >>> F.lp_pool1d(tn.tensor([[3.0, 4.0, 6.0, 8.0]]), 2, 2)
        tensor([[ 5., 10.]])
        >>> F.lp_pool2d(tn.full((1, 2, 2), 2.0), 2, 2)
        tensor([[[4.]]])
        >>> F.lp_pool3d(tn.ones(1, 4, 4, 4), 1, 2).shape
        tinynet.Size([1, 2, 2, 2])
    """
    tensor_only(f"lp_pool{rank}d", input=input)
    if abs(norm_type) == math.inf:
        size: Tensor = input.abs()
        if norm_type > 0:
            return MAXIMA[rank](size, kernel_size, stride, 0, 1, ceil_mode)
        return -MAXIMA[rank](-size, kernel_size, stride, 0, 1, ceil_mode)
    root = 1.0 / norm_type
    mean: Any = AVERAGES[rank](input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    count = math.prod(per_dim(kernel_size, rank))
    return (mean.sign() * mean.abs().relu()).mul(count).pow(root)


lp_pool1d = of_rank(1, lp_pool)
lp_pool2d = of_rank(2, lp_pool)
lp_pool3d = of_rank(3, lp_pool)
MAXIMA: dict[int, Any] = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}
AVERAGES: dict[int, Any] = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}


# ---- adaptive pooling: output sizes -------------------------------------------------------------


def _outputs(title: str, shape: Ints, output_size: Any, rank: int) -> Ints:
    """Return the number of windows per dimension; None keeps that of the input."""
    if isinstance(output_size, (int, np.integer)):
        return (int(output_size),) * rank
    if not isinstance(output_size, (tuple, list)) or None not in output_size:
        if isinstance(output_size, (tuple, list)):
            _check_count(title, shape, len(output_size), rank)
        return ints(title, "output_size", output_size, rank)
    _check_count(title, shape, len(output_size), rank)
    pairs = zip(output_size, spatial(shape, rank), strict=True)
    return ints(title, "output_size", tuple(n if m is None else m for m, n in pairs), rank)


def _check_count(title: str, shape: Ints, count: int, rank: int) -> None:
    if len(shape) <= count:
        raise ValueError(f"Input dimension should be at least {count + 1}")
    if count != rank:
        hint = f"(): internal error: output_size.size() must be {rank}"
        raise RuntimeError(title + (hint if "max" in title else f": output_size must be {rank}"))


@errors.allocating
def _check(title: str, x: Any, outputs: Ints, rank: int) -> None:
    """Raise PyTorch's error for an invalid input or output size."""
    shape = x.shape
    average = "avg" in title
    if average and min(outputs) < 0:
        raise RuntimeError(
            f"{title}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{outputs[0]}, {','.join(map(str, outputs[1:]))}}}"
        )
    if len(shape) - rank not in (1, 2):
        colon = "" if average else ":"
        raise RuntimeError(
            f"{title}(): Expected {rank + 1}D or {rank + 2}D tensor, but got{colon} {list(shape)}"
        )
    first = len(shape) - rank if title == "adaptive_avg_pool2d" else 1
    check_no_empty_dim(title, shape, "input has sizes {} with dimension {} being empty", first)
    if not dtypes.is_floating(x.dtype):
        if average and set(outputs) == {1}:
            raise RuntimeError(
                "mean(): could not infer output dtype. Input dtype must be either a floating point "
                f"or complex dtype. Got: {name_of(x)}"
            )
        raise not_implemented(title, x)
    check_outputs((*shape[: len(shape) - rank], *[1] * (rank == 1)), outputs)  # as 2d pooling
    result = (*shape[: len(shape) - rank], *outputs)
    # Refuse sizes that do not fit into memory: counting their windows in Python would fill it.
    refuse_huge(result)
    np.empty(result, x.dtype)


# ---- adaptive pooling: averages -----------------------------------------------------------------


def adaptive_avg_pool(rank: int, input: Tensor, output_size: OutputSize) -> Tensor:
    """Return averages over equal parts of {last}.

    In each dimension, ``result[i] = sum(x[a:b]) / (b - a)``. Of n elements in m parts, part i
    extends from ``a = floor(i n / m)`` to ``b = ceil((i + 1) n / m)``.

    Args:
        input: ``[batch, channels, {sizes}]``, or without batch.
        output_size: number of parts, one int or one for each dimension; None keeps a dimension.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or no elements.

    Example:
        >>> F.adaptive_avg_pool1d(tn.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
        tensor([[2.0000, 3.5000]])
        >>> F.adaptive_avg_pool2d(tn.arange(16.0).view(1, 4, 4), 2)
        tensor([[[ 2.5000,  4.5000],
                 [10.5000, 12.5000]]])
        >>> F.adaptive_avg_pool3d(tn.ones(1, 4, 4, 4), 2).shape
        tinynet.Size([1, 2, 2, 2])
    """
    name = f"adaptive_avg_pool{rank}d"
    tensor_only(name, input=input)
    if rank == 1:
        check_1d(name, input._array.shape)
        (count,) = ints(name, "output_size", output_size, 1)
        return adaptive_avg_pool2d(input.unsqueeze(-2), (1, count)).squeeze(-2)
    array = input._array
    outputs = _outputs(name, array.shape, output_size, rank)
    _check(name, array, outputs, rank)
    if outputs == (1,) * rank:
        return plane_mean.function(input, rank)
    return adaptive_avg_pools[rank].function(input, outputs)


adaptive_avg_pool1d = of_rank(1, adaptive_avg_pool)
adaptive_avg_pool2d = of_rank(2, adaptive_avg_pool)
adaptive_avg_pool3d = of_rank(3, adaptive_avg_pool, autocast="float32")

# ---- adaptive pooling: maxima -------------------------------------------------------------------


def adaptive_max_pool(
    rank: int, input: Tensor, output_size: OutputSize, return_indices: bool = False
) -> Any:
    """Return maxima of equal parts of {last}.

    In each dimension, ``result[i] = max(x[a:b])``; the parts are those of
    ``adaptive_avg_pool{rank}d``.

    Args:
        input: ``[batch, channels, {sizes}]``, or without batch.
        output_size: number of parts, one int or one for each dimension; None keeps a dimension.
        return_indices: also return the index of each maximum in its channel, counted row by row.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or no elements.

    Example:
        >>> F.adaptive_max_pool1d(tn.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
        tensor([[3., 5.]])
        >>> F.adaptive_max_pool2d(tn.arange(16.0).view(1, 4, 4), 2)
        tensor([[[ 5.,  7.],
                 [13., 15.]]])
        >>> F.adaptive_max_pool3d(tn.ones(1, 4, 4, 4), 2).shape
        tinynet.Size([1, 2, 2, 2])
    """
    name = f"adaptive_max_pool{rank}d"
    tensor_only(name, input=input)
    array = input._array
    if rank == 1:
        check_1d(name, array.shape)
        (count,) = ints(name, "output_size", output_size, 1)
        _check(name, array, (count,), 1)
        found = adaptive_max_pool2d(input.unsqueeze(-2), (1, count), return_indices)
        return tuple(t.squeeze(-2) for t in found) if return_indices else found.squeeze(-2)
    outputs = _outputs(name, array.shape, output_size, rank)
    _check(name, array, outputs, rank)
    found = adaptive_max_pools[rank].function(input, outputs)
    return found if return_indices else found[0]


adaptive_max_pool1d = of_rank(1, adaptive_max_pool)
adaptive_max_pool2d = of_rank(2, adaptive_max_pool)
adaptive_max_pool3d = of_rank(3, adaptive_max_pool, autocast="float32")


# ---- with indices -------------------------------------------------------------------------------
# Max pooling functions that always return the indices of the maxima, too.


P = ParamSpec("P")


def _with_indices(pool: Callable[P, Any], arguments: str) -> Callable[P, tuple[Tensor, Tensor]]:
    """Return a function that is ``pool`` with ``return_indices=True``.

    It accepts ``return_indices``, as in PyTorch, and ignores it.

    Args:
        pool: the pooling.
        arguments: those of the example in the docstring.
    """
    signature: Any = inspect.signature(pool)

    def function(*args: P.args, **kwargs: P.kwargs) -> tuple[Tensor, Tensor]:
        given = signature.bind(*args, **kwargs)
        given.arguments["return_indices"] = True
        return pool(*given.args, **given.kwargs)

    name = f"{pool.__name__}_with_indices"
    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]
        return_annotation="tuple[Tensor, Tensor]"
    )
    function.__doc__ = f"""Return ``{pool.__name__}(..., return_indices=True)``.

    The arguments are those of ``{pool.__name__}``.

    Example:
        >>> values, indices = F.{name}({arguments})
        >>> values.shape == indices.shape
        True
    """
    return function


max_pool1d_with_indices = _with_indices(max_pool1d, "tn.rand(1, 4), 2")
max_pool2d_with_indices = _with_indices(max_pool2d, "tn.rand(1, 4, 4), 2")
max_pool3d_with_indices = _with_indices(max_pool3d, "tn.rand(1, 4, 4, 4), 2")
adaptive_max_pool1d_with_indices = _with_indices(adaptive_max_pool1d, "tn.rand(1, 4), 2")
adaptive_max_pool2d_with_indices = _with_indices(adaptive_max_pool2d, "tn.rand(1, 4, 4), 2")
adaptive_max_pool3d_with_indices = _with_indices(adaptive_max_pool3d, "tn.rand(1, 4, 4, 4), 2")
fractional_max_pool2d_with_indices = _with_indices(
    unpooling.fractional_max_pool2d, "tn.rand(1, 6, 6), 2, 3"
)
fractional_max_pool3d_with_indices = _with_indices(
    unpooling.fractional_max_pool3d, "tn.rand(1, 6, 6, 6), 2, 3"
)
