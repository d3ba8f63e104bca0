"""Convolution in any number of dimensions: one form of three arguments, and its derivatives.

With input ``x``, weight ``w`` and output ``y``, all of a convolution is in

    form(x, w, y) = sum over n, o, c, p, k of
        y[n, o, p] * w[o, c, k] * x[n, c, stride * p + dilation * k - padding]

which is linear in each argument. So its derivative by one of them is a map of the other two:

    by y   ``convolve(x, w)``    the convolution
    by x   ``spread(y, w)``      the transposed convolution
    by w   ``correlate(x, y)``   the gradient of the weight

and the derivatives of each of these three maps are the other two, to any order. They are operations
of their own for speed: a composite (windows, product, sum) would keep all windows in memory.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.declaration.double_backward import derivative
from tinynet.core.declaration.operation import operation
from tinynet.dtypes import Array
from tinynet.kernels import native as native_kernels
from tinynet.kernels import onednn, threads
from tinynet.nn.functional.convolution import bands, by_rows, depthwise, im2col, pointwise
from tinynet.nn.functional.convolution.im2col import added, per_block
from tinynet.nn.functional.geometry import Geometry
from tinynet.ops.reduction.sums import spread as spread_back
from tinynet.ops.reduction.sums import sum_dims

Ints = tuple[int, ...]
_Algorithms = tuple[Callable[..., Array], Callable[..., Array] | None]
_SHORT = 16  # in shorter rows, the overhead of numpy exceeds the work on the elements

# ---- kernels ------------------------------------------------------------------------------------


def _in_single(kernel: Callable[..., Array]) -> Callable[..., Array]:
    """Return a kernel that computes in float32 if its first array is float16.

    BLAS does not support float16, whose 11 bits are too few for long sums.
    """

    @functools.wraps(kernel)
    def run(first: Array, *rest: Any) -> Array:
        if first.dtype != np.float16:
            return kernel(first, *rest)
        wide = [x.astype(np.float32) if isinstance(x, np.ndarray) else x for x in (first, *rest)]
        return kernel(*wide).astype(np.float16)

    return run


def _by_onednn(x: Array, other: Array, walk: Geometry) -> bool:
    """Return whether oneDNN computes the convolution of two arrays."""
    return native_kernels.takes(x, other) and onednn.convolution.takes(x, other, walk)


def _mirrored(walk: Geometry, size: Ints, few: int, many: int, share: float) -> Geometry | None:
    """Return the walk of the results over the elements, or None if it takes more time.

    ``share``: how many times the channels of the results must be in those of the input.
    """
    if few > 128 or share * few * math.prod(size) >= many * math.prod(walk.out):
        return None
    return walk.mirrored(size)


def _turned(weight: Array, groups: int) -> Array:
    """Return a weight with its channels exchanged within each group, and the kernel reversed."""
    outputs, inputs = len(weight) // groups, weight.shape[1]
    parts = weight.reshape(groups, outputs, *weight.shape[1:]).swapaxes(1, 2)
    backwards: Any = (..., *(slice(None, None, -1),) * (parts.ndim - 3))
    return parts[backwards].reshape(groups * inputs, outputs, *weight.shape[2:])


def _by_images(windows: Array) -> bool:
    """Return whether to multiply the windows of each image separately, as a large matrix.

    One matrix for all images requires a copy of the results.
    """
    return windows.shape[2] == 1 or windows.shape[1] < windows.shape[3]


@_in_single
def _convolved(x: Array, weight: Array, bias: Array | None, walk: Geometry, groups: int) -> Array:
    """Return the product of the weight and the windows of ``x``, plus the bias."""
    if _by_onednn(x, weight, walk):
        return onednn.convolution.convolved(x, weight, bias, walk, groups)
    algorithms = _convolving(x.shape, len(weight), walk, groups)
    return _by_first(algorithms, x, weight, bias, walk, groups)


def _by_first(algorithms: _Algorithms, *args: Any) -> Array:
    """Return the result of the first of two algorithms, or of the second if it is not finite."""
    first, other = algorithms
    result = first(*args)
    if other is None or np.isfinite(result).all():
        return result
    return other(*args)


@functools.lru_cache(maxsize=512)
def _convolving(shape: Ints, channels: int, walk: Geometry, groups: int) -> _Algorithms:
    """Return the fastest algorithm, as measured, and one for results that are not finite.

    Depthwise ones multiply by matrices with zeros, and zeros times infinities give NaN.
    """
    each = shape[1] // groups, channels // groups
    if walk.trivial(shape[2:]):
        return pointwise.convolved, None
    local = _of_rows if len(walk.out) == 1 < groups == shape[1] else _by_columns
    if channels == groups and depthwise.pays(shape, walk, groups):
        return depthwise.convolved, local
    if shape[0] * shape[1] * math.prod(walk.kernel + walk.out) <= im2col.FEW:
        return _by_columns, None
    if local is _of_rows:
        return local, None
    if _mirrored(walk, shape[2:], each[1], each[0], 4):
        return _by_results, None
    if by_rows.pays(shape, each[1], walk, groups):
        return by_rows.convolved, None
    if groups == shape[1] > 1 and bands.pays(shape, each[1], walk):
        return bands.convolved, local
    return local, None


def _of_rows(x: Array, weight: Array, bias: Array | None, walk: Geometry, groups: int) -> Array:
    """Return the convolution of rows of single channels, for which an algorithm has images."""
    return _convolved(x[:, :, None], weight[:, :, None], bias, walk.of_rows, groups)[:, :, 0]


def _by_results(x: Array, weight: Array, bias: Array | None, walk: Geometry, groups: int) -> Array:
    """Return the convolution from windows over its few results."""
    mirrored: Any = walk.mirrored(x.shape[2:])
    return _spread_by_adding(x, _turned(weight, groups), bias, walk.out, mirrored, groups)


def _by_columns(x: Array, weight: Array, bias: Array | None, walk: Geometry, groups: int) -> Array:
    """Return the products of the weight and columns of windows."""
    batch, channels, rows = x.shape[0], weight.shape[0], math.prod(weight.shape[1:])
    result = np.empty((batch, groups, channels // groups, math.prod(walk.out)), x.dtype)
    weight = np.ascontiguousarray(weight)  # BLAS accepts a transposed matrix, not a reversed one
    matrix = weight.reshape(groups, channels // groups, rows)
    offset = None if bias is None else bias.reshape(groups, channels // groups, 1)
    if not matrix.size:
        result[...] = 0 if offset is None else offset

    def work(part: slice, span: slice, block: Array, _: int) -> None:
        windows = block.reshape(groups, rows, *block.shape[1:])
        target = result[part, ..., span]
        if _by_images(windows):
            np.matmul(matrix, windows.transpose(2, 0, 1, 3), out=target)
        else:
            product = np.matmul(matrix, windows.reshape(groups, rows, -1))
            each = product.reshape(groups, -1, *windows.shape[2:])
            np.copyto(target, each.transpose(2, 0, 1, 3))
        if offset is not None:
            target += offset

    im2col.each_block(work, x, walk, weight)
    return result.reshape(batch, channels, *walk.out)


@_in_single
def _spread(
    y: Array, weight: Array, bias: Array | None, size: Ints, walk: Geometry, groups: int
) -> Array:
    """Return the transposed convolution by the algorithm that handles fewer elements."""
    if _by_onednn(y, weight, walk):
        return onednn.convolution.spread(y, weight, bias, size, walk, groups)
    algorithms = _spreading(y.shape, weight.shape[1], size, walk, groups)
    return _by_first(algorithms, y, weight, bias, size, walk, groups)


@functools.lru_cache(maxsize=512)
def _spreading(shape: Ints, outputs: int, size: Ints, walk: Geometry, groups: int) -> _Algorithms:
    """Return the algorithm that handles fewer elements, and one for results that are not finite."""
    if walk.trivial(size):
        return pointwise.spread, None
    columns = outputs * math.prod(walk.out)
    gathered = shape[1] // groups * math.prod(size) / math.prod(walk.stride)
    if 2 * columns < gathered:
        algorithm: Callable[..., Array] = _spread_by_adding
    else:
        algorithm = _spread_by_classes if max(walk.stride) > 1 else _spread_apart
    if shape[0] * shape[1] * math.prod(walk.kernel + size) <= im2col.FEW:
        return _spread_apart, algorithm
    return algorithm, None


def _spread_apart(
    y: Array, weight: Array, bias: Array | None, size: Ints, walk: Geometry, groups: int
) -> Array:
    """Return the convolution of ``y``, with zeros between its elements, and the reverse kernel."""
    padding = [d * (k - 1) - p for k, _, p, d, _ in zip(*walk, strict=True)]
    ones = (1,) * len(size)
    if walk.stride != ones:
        apart = [s * (o - 1) + 1 for s, o in zip(walk.stride, walk.out, strict=True)]
        places: Any = (..., *[slice(None, None, s) for s in walk.stride])
        wide = np.zeros((*y.shape[:2], *apart), y.dtype)
        wide[places] = y
        y = wide
    inner = Geometry(walk.kernel, ones, tuple(padding), walk.dilation, size)
    return _convolved(y, _turned(weight, groups), bias, inner, groups)


def _spread_by_adding(
    y: Array, weight: Array, bias: Array | None, size: Ints, walk: Geometry, groups: int
) -> Array:
    """Return the sum of all windows, each the product of the weight and an element of ``y``."""
    batch, channels = y.shape[0], weight.shape[1] * groups
    rows, length = weight.shape[1] * math.prod(walk.kernel), math.prod(walk.out)
    matrix = weight.reshape(groups, y.shape[1] // groups, rows).swapaxes(1, 2)
    y = y.reshape(batch, groups, y.shape[1] // groups, length)
    result = np.empty((batch, channels, *size), y.dtype)
    images = per_block(groups * rows * length * y.itemsize, weight.nbytes)
    shape = (channels, *walk.kernel, *walk.out)

    def work(part: slice) -> None:
        block = y[part]
        count = len(block)
        if walk.out[-1] < _SHORT:  # with the batch as last dimension, the rows to add are longer
            block = block.transpose(1, 2, 3, 0).reshape(groups, y.shape[2], length * count)
            windows = np.matmul(matrix, block).reshape(*shape, count)
            result[part] = np.moveaxis(added(windows, size, walk, before=1), -1, 0)
        else:
            windows = np.matmul(matrix, block).reshape(count, *shape)
            result[part] = added(windows, size, walk)

    im2col.share(work, threads.slices(batch, images), batch * length * matrix.size)
    if bias is not None:
        result += bias.reshape(-1, *(1,) * len(size))
    return result


def _spread_by_classes(
    y: Array, weight: Array, bias: Array | None, size: Ints, walk: Geometry, groups: int
) -> Array:
    """Return the transposed convolution as convolutions of stride 1.

    The elements of the result form ``prod(stride)`` classes by their position modulo the stride.
    One class uses only every ``stride``-th element of the kernel: it is the convolution of ``y``,
    with stride 1, and these elements in reverse order.
    """
    batch, channels = y.shape[0], weight.shape[1] * groups
    weight = weight.reshape(groups, y.shape[1] // groups, *weight.shape[1:]).swapaxes(1, 2)
    weight = weight.reshape(channels, y.shape[1] // groups, *walk.kernel)
    result = np.zeros((batch, channels, *size), y.dtype)
    if bias is not None:
        result += bias.reshape(-1, *(1,) * len(size))
    for places, inner, chosen in _classes(walk, size):
        if math.prod(inner.kernel):
            result[places] = _convolved(y, weight[chosen], bias, inner, groups)
    return result


@functools.lru_cache(maxsize=512)
def _classes(walk: Geometry, size: Ints) -> list[tuple[Any, Geometry, tuple[Any, ...]]]:
    """Return, for each class of positions, these, its windows and its part of the kernel."""
    found: list[tuple[Any, Geometry, tuple[Any, ...]]] = []
    for rests in itertools.product(*map(range, walk.stride)):
        places = [slice(r, None, s) for r, s in zip(rests, walk.stride, strict=True)]
        found.append(((..., *places), *_class(walk, size, rests)))
    return found


def _class(walk: Geometry, size: Ints, rests: Ints) -> tuple[Geometry, tuple[Any, ...]]:
    """Return the windows over ``y`` for one class of positions, and its part of the kernel.

    The position ``stride * q + rest`` of the result has the terms ``weight[k] * y[i]`` with
    ``stride * i = stride * q + rest + padding - dilation * k``. This has integer solutions for
    every ``step``-th k; from one to the next, i decreases by ``dilation * step / stride``.
    """
    fields = []
    chosen: list[Any] = [...]
    for (kernel, stride, padding, dilation, _), n, rest in zip(
        zip(*walk, strict=True), size, rests, strict=True
    ):
        step = stride // math.gcd(stride, dilation)
        first = next(
            (k for k in range(step) if (rest + padding - dilation * k) % stride == 0), kernel
        )
        count = len(range(first, kernel, step))
        decrease = dilation * step // stride
        start = (rest + padding - dilation * first) // stride  # i of the first k for q = 0
        outputs = len(range(rest, n, stride))
        fields.append((count, 1, decrease * (count - 1) - start, decrease, outputs))
        last = first + step * (count - 1)
        chosen.append(slice(last, first - 1 if first else None, -step) if count else slice(0, 0))
    return Geometry(*zip(*fields, strict=True)), tuple(chosen)


@_in_single
def _correlated(x: Array, y: Array, walk: Geometry, groups: int) -> Array:
    """Return the sum of all windows of ``x``, each times an element of ``y``."""
    if _by_onednn(x, y, walk):
        return onednn.convolution.correlated(x, y, walk, groups)
    if walk.trivial(x.shape[2:]):
        return pointwise.correlated(x, y, groups)
    if y.shape[1] == groups == x.shape[1] > 1 and min(walk.padding) >= 0 < x.size:
        result = depthwise.correlated(x, y, walk)
        if np.isfinite(result).all():
            return result
    if len(walk.out) == 1 < groups == x.shape[1]:
        return _correlated(x[:, :, None], y[:, :, None], walk.of_rows, groups)[:, :, 0]
    each = x.shape[1] // groups, y.shape[1] // groups
    if mirrored := _mirrored(walk, x.shape[2:], each[1], each[0], 1.3):
        return _turned(_correlated(y, x, mirrored, groups), groups)
    if by_rows.pays(x.shape, each[1], walk, groups, turned=True):
        return by_rows.correlated(x, y, walk, groups)
    return _correlated_by_columns(x, y, walk, groups)


def _correlated_by_columns(x: Array, y: Array, walk: Geometry, groups: int) -> Array:
    """Return the sum of the products of columns of windows and elements of ``y``."""
    batch, channels = y.shape[:2]
    each, inner, length = channels // groups, x.shape[1] // groups, math.prod(walk.out)
    made = np.zeros((groups, each, inner * math.prod(walk.kernel)), x.dtype)
    y = np.ascontiguousarray(y).reshape(batch, groups, each, length)
    totals: dict[int, Array] = {}

    def work(part: slice, span: slice, block: Array, number: int) -> None:
        windows, against = block.reshape(groups, -1, *block.shape[1:]), y[part, ..., span]
        if windows.shape[2] > 1 and _by_images(windows):
            products = np.matmul(windows.transpose(2, 0, 1, 3), against.swapaxes(2, 3))
            product = products.sum(axis=0).swapaxes(1, 2)
        else:
            together = against.transpose(1, 2, 0, 3).reshape(groups, each, -1)
            flat = windows.reshape(groups, windows.shape[1], -1)
            if batch * length > windows.shape[1]:  # BLAS is faster with the larger matrix first
                product = np.matmul(flat, together.swapaxes(1, 2)).swapaxes(1, 2)
            else:
                product = np.matmul(together, flat.swapaxes(1, 2))
        total = totals.get(number)
        totals[number] = product if total is None else np.add(total, product, out=total)

    im2col.each_block(work, x, walk, made)
    for number in sorted(totals):
        made += totals[number]
    return made.reshape(channels, inner, *walk.kernel)


# ---- operations ---------------------------------------------------------------------------------


@operation(node="ConvolutionBackward0", order="as_convolved")
def convolve(input: Array, weight: Array, /, walk: Geometry, groups: int) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight.

    The weight is ``[out channels, channels / groups, *kernel]``.
    """
    return _convolved(input, weight, None, walk, groups)


@operation(node="ConvolutionBackward0", order="as_convolved")
def convolve_biased(
    input: Array, weight: Array, bias: Array, /, walk: Geometry, groups: int
) -> Array:
    """Return the convolution plus a number for each channel of the result."""
    return _convolved(input, weight, bias, walk, groups)


@operation(node="ConvolutionBackward0", order="as_spread")
def spread(input: Array, weight: Array, /, size: Ints, walk: Geometry, groups: int) -> Array:
    """Return the transposed convolution of ``[batch, channels, *walk.out]``, of a given size.

    The weight is ``[channels, out channels / groups, *kernel]``.
    """
    return _spread(input, weight, None, size, walk, groups)


@operation(node="ConvolutionBackward0", order="as_spread")
def spread_biased(
    input: Array, weight: Array, bias: Array, /, size: Ints, walk: Geometry, groups: int
) -> Array:
    """Return the transposed convolution plus a number for each channel of the result."""
    return _spread(input, weight, bias, size, walk, groups)


@operation(node="ConvolutionBackwardBackward0")
def correlate(input: Array, output: Array, /, walk: Geometry, groups: int) -> Array:
    """Return the gradient of a weight, from the input and the gradient of the output."""
    return _correlated(input, output, walk, groups)


# ---- derivatives --------------------------------------------------------------------------------


def _of_convolve(g: Any, weight: Any, input_shape: Ints, walk: Geometry, groups: int) -> Any:
    return spread(g, weight, input_shape[2:], walk, groups)


@operation(node="ConvolutionBackwardBackward0", complex=True)
def channel_sums(self: Array, /, dim: Ints) -> Array:
    """Return the gradient of a bias, from that of the output."""
    return sum_dims.kernel(self, dim)


channel_sums.grad(self=lambda g, self_shape, dim: spread_back(g, self_shape, dim, False))


def _by_channel(g: Any) -> Any:
    return channel_sums(g, (0, *range(2, g.ndim)))


_Formulas = dict[str, Callable[..., Any]]
_convolve_grads: _Formulas = {
    "input": _of_convolve,
    "weight": lambda g, input, walk, groups: correlate(input, g, walk, groups),
}
_spread_grads: _Formulas = {
    "input": lambda g, weight, walk, groups: convolve(g, weight, walk, groups),
    "weight": lambda g, input, walk, groups: correlate(g, input, walk, groups),
}
convolve.grad(**_convolve_grads)
convolve_biased.grad(**_convolve_grads, bias=_by_channel)
spread.grad(**_spread_grads)
spread_biased.grad(**_spread_grads, bias=_by_channel)
correlate.grad(
    input=lambda g, output, input_shape, walk, groups: spread(
        output, g, input_shape[2:], walk, groups
    ),
    output=lambda g, input, walk, groups: convolve(input, g, walk, groups),
)
derivative(
    convolve,
    "ConvolutionBackwardBackward0",
    "input",
    grad_output=lambda g, weight, walk, groups: convolve(g, weight, walk, groups),
    weight=lambda g, grad_output, walk, groups: correlate(g, grad_output, walk, groups),
)
derivative(
    spread,
    "ConvolutionBackwardBackward0",
    "input",
    grad_output=lambda g, weight, grad_output_shape, walk, groups: spread(
        g, weight, grad_output_shape[2:], walk, groups
    ),
    weight=lambda g, grad_output, walk, groups: correlate(grad_output, g, walk, groups),
)
convolve_biased.recorded = convolve.recorded
spread_biased.recorded = spread.recorded
