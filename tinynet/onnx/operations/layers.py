"""Layers: convolutions, pooling, norms, images, attention and recurrent sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.nn.functional.geometry import Geometry, array_size, window_count
from tinynet.nn.functional.images.interpolation import SAMPLERS
from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref, Size, Varying, choose, fits, fixed, form, product
from tinynet.onnx.operations.arithmetic import isnan
from tinynet.onnx.operations.reductions import any_of, extremum
from tinynet.onnx.operations.shaping import sliced

# ---- attention ----------------------------------------------------------------------------------
# Scaled dot-product attention.


def _scores(g: Graph, query: Ref, key: Ref, noise: Any, scale: float) -> Any:
    if noise is not None:
        raise NoFormError("with dropout")
    order = [*range(key.rank - 2), key.rank - 1, key.rank - 2]
    return g("MatMul", g("Mul", query, scale), g("Transpose", key, perm=order))


def _weights(g: Graph, scores: Ref, masked: Any) -> Any:
    """Return the softmax of the scores, 0 where they are masked, also if all of a row are."""
    lowest = g.constant(np.finfo(scores.dtype).min, scores.dtype)
    weights = g("Softmax", g("Where", masked, lowest, scores, dtype=scores.dtype), axis=-1)
    return g("Where", masked, g.constant(0, scores.dtype), weights, dtype=scores.dtype)


@form("attend")
def attend(g: Graph, query: Ref, key: Ref, value: Ref, keep: Any, noise: Any, scale: float) -> Any:
    """Return for each query the mean of the values, weighted by softmax of its scores."""
    scores = _scores(g, query, key, noise, scale)
    if keep is None:
        return g("MatMul", g("Softmax", scores, axis=-1), value)
    return g("MatMul", _weights(g, scores, _masked(g, query, key, keep)), value)


def _masked(g: Graph, query: Ref, key: Ref, keep: Any) -> Ref:
    """Return where a mask is 0."""
    if isinstance(keep, Varying):
        if any(not np.array_equal(x, np.tri(*x.shape)) for x in keep.values):
            raise NoFormError("its mask follows a dynamic dimension")
        ones = g.full((query.shape[-2], key.shape[-2]), 1, np.float32)
        keep = g("Trilu", ones, g.constant(0, "int64"), upper=0)
    return g("Not", g.cast(keep if isinstance(keep, Ref) else np.asarray(keep), bool))


@form("attend_with_bias")
def attend_with_bias(
    g: Graph, query: Ref, key: Ref, value: Ref, bias: Ref, noise: Any, scale: float
) -> Any:
    """Return ``attend`` with a bias added to the scores."""
    scores = g("Add", _scores(g, query, key, noise, scale), bias)
    masked = g("Equal", scores, -np.inf, dtype=bool)
    return g("MatMul", _weights(g, scores, masked), value)


# ---- images -------------------------------------------------------------------------------------
# Padding and resampling of images.


def _frames(pad: Sequence[int], rank: int) -> tuple[list[int], list[int]]:
    """Return the lengths before and after each dimension, from PyTorch's order."""
    missing = [0] * (rank - len(pad) // 2)
    return missing + [*pad[-2::-2]], missing + [*pad[::-2]]


@form("constant_pad")
def constant_pad(g: Graph, x: Ref, pad: Sequence[int], value: float) -> Any:
    """Put a number around a value."""
    before, after = _frames(fixed(pad), x.rank)
    return g("Pad", x, g.integers(*before, *after), g.cast(value, x.dtype))


def _mode(mode: str) -> Any:
    def compute(g: Graph, x: Ref, pad: Sequence[int]) -> Any:
        before, after = _frames(fixed(pad), x.rank)
        shape = [*x.shape]
        for axis, ends in enumerate(zip(before, after, strict=True)):
            if min(ends) < 0:  # cut first: runtimes differ in what a negative padding continues
                start, stop = max(-ends[0], 0), fixed(shape[axis]) - max(-ends[1], 0)
                if stop <= start:
                    raise NoFormError("with a negative padding that leaves nothing to continue")
                x, shape[axis] = sliced(g, x, axis, start, stop), stop - start
        return g("Pad", x, g.integers(*(max(n, 0) for n in before + after)), mode=mode)

    return compute


form(*(f"reflect_pad{n}d" for n in (1, 2, 3)))(_mode("reflect"))
form(*(f"replicate_pad{n}d" for n in (1, 2, 3)))(_mode("edge"))


@form(*(f"circular_pad{n}d" for n in (1, 2, 3)))
def circular_pad(g: Graph, x: Ref, pad: Sequence[int]) -> Any:
    """Continue a value with its other end."""
    for axis, (before, after) in enumerate(zip(*_frames(fixed(pad), x.rank), strict=True)):
        if before < 0 or after < 0:
            raise NoFormError("with a negative padding")
        parts = [sliced(g, x, axis, -before, None)] if before else []
        parts += [x, sliced(g, x, axis, 0, after)] if after else [x]
        x = g("Concat", *parts, axis=axis) if len(parts) > 1 else x
    return x


def _nearest(n: int, m: int, how: Any, dim: int, kind: Any) -> Array | None:
    """Return the index of each output of one dimension; None if ONNX's Resize takes the same."""
    if how.scales[dim] in (None, m / n) and m % n == 0:
        return None
    one = how._replace(output_size=(m,), scales=how.scales[dim : dim + 1])
    places = np.arange(n, dtype=np.promote_types(kind, np.float32))
    made: Array = SAMPLERS[how.mode, False][1].kernel(places[None, None], one)
    return made[0, 0].astype(np.int64)


_NAMES = [
    *(f"upsample_nearest{kind}{n}d" for n in (1, 2, 3) for kind in ("", "_exact")),
    "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
]  # fmt: skip


@form(*_NAMES)
def upsample(g: Graph, x: Ref, how: Any) -> Any:
    """Interpolate in another size."""
    sizes = fixed(x.shape[2:])
    if how.mode.startswith("nearest"):
        pairs = enumerate(zip(sizes, how.output_size, strict=True))
        indices = [_nearest(n, m, how, dim, x.dtype) for dim, (n, m) in pairs]
        if any(index is not None for index in indices):
            for dim, (index, n) in enumerate(zip(indices, sizes, strict=True)):
                whole = (
                    np.repeat(np.arange(n), how.output_size[dim] // n) if index is None else index
                )
                x = g("Gather", x, g.constant(whole, np.int64), axis=dim + 2)
            return x
    for n, m, factor in zip(sizes, how.output_size, how.scales, strict=True):
        if factor is not None and m != n * factor:
            raise NoFormError("by a factor that does not give its size")
    mode = {"bicubic": "cubic"}.get(how.mode, "nearest" if "nearest" in how.mode else "linear")
    places = "align_corners" if how.align_corners else "half_pixel"
    return g(
        "Resize",
        x,
        None,
        None,
        g.lengths((*x.shape[:2], *how.output_size)),
        mode=mode,
        coordinate_transformation_mode="asymmetric" if how.mode == "nearest" else places,
        nearest_mode="floor" if how.mode == "nearest" else "round_prefer_ceil",
        cubic_coeff_a=-0.75 if mode == "cubic" else None,
    )


# ---- convolutions -------------------------------------------------------------------------------
# Convolutions and transposed convolutions.


def _after(n: Any, kernel: int, stride: int, padding: int, dilation: int, out: Any) -> int:
    """Return the padding after the last element of one dimension.

    It may differ from that before the first one. What lies between the last window and the end
    does not matter, so that of the first one serves where it gives the same number of windows.
    """
    lengths, windows = (x.values if isinstance(x, Size) else (x,) for x in (n, out))
    fields = kernel, stride, padding, dilation
    if all(window_count(m, *fields) == o for m, o in zip(lengths, windows, strict=True)):
        return padding
    if len(lengths) > 1:
        raise NoFormError("with an uneven padding of a dynamic dimension")
    return int(array_size(*fields, out) + padding - n)


@form("convolve", "convolve_biased")
def convolve(g: Graph, x: Ref, weight: Ref, *rest: Any) -> Any:
    """Return the convolution of ``[batch, channels, *size]`` and a weight."""
    *bias, walk, groups = rest
    after = [_after(*fields) for fields in zip(x.shape[2:], *walk, strict=True)]
    if min(*walk.padding, *after) < 0:
        raise NoFormError("with a negative padding")
    return g(
        "Conv",
        x,
        weight,
        *bias,
        kernel_shape=list(walk.kernel),
        strides=list(walk.stride),
        pads=[*walk.padding, *after],
        dilations=list(walk.dilation),
        group=groups,
    )


def _output_padding(n: Any, kernel: int, stride: int, padding: int, dilation: int, out: Any) -> int:
    """Return the elements of one dimension beyond the smallest size."""
    sizes, inputs = (x.values if isinstance(x, Size) else (x,) for x in (n, out))
    fields = kernel, stride, padding, dilation
    more = {m - array_size(*fields, o) for m, o in zip(sizes, inputs, strict=True)}
    if len(more) > 1:
        raise NoFormError("of a size that follows a dynamic dimension")
    return more.pop()


@form("spread", "spread_biased")
def spread(g: Graph, x: Ref, weight: Ref, *rest: Any) -> Any:
    """Return the transposed convolution of a given size."""
    *bias, size, walk, groups = rest
    after = [
        (padding - _output_padding(n, kernel, stride, padding, dilation, out), stride)
        for n, kernel, stride, padding, dilation, out in zip(size, *walk, strict=True)
    ]
    if any(-rest >= stride for rest, stride in after):
        raise NoFormError("with an output_padding that is not smaller than the stride")
    return g(
        "ConvTranspose",
        x,
        weight,
        *bias,
        kernel_shape=list(walk.kernel),
        strides=list(walk.stride),
        pads=[*walk.padding, *(max(rest, 0) for rest, _ in after)],
        output_padding=[max(-rest, 0) for rest, _ in after],
        dilations=list(walk.dilation),
        group=groups,
    )


# ---- pooling ------------------------------------------------------------------------------------
# Pooling.


def _batched(g: Graph, x: Ref, rank: int) -> Ref:
    """Return images as ``[batch, channels, *size]``."""
    missing = rank + 2 - x.rank
    if missing < 0:
        return g.reshape(x, (-1, *x.shape[-rank - 1 :]))
    return g.reshape(x, (1,) * missing + x.shape) if missing else x


def _ends(options: Any, size: Sequence[Any], out: Sequence[Any]) -> list[int]:
    """Return the elements after each dimension that the windows reach with ceil_mode, or fewer."""
    if not options.ceil_mode:
        return [*options.padding]
    walk = Geometry(*[*options[:4], tuple(map(fixed, out))])
    return [*map(max, walk.after(tuple(map(fixed, size))), options.padding)]


def _framed(g: Graph, x: Ref, before: Sequence[int], after: Sequence[int], value: float) -> Any:
    """Return images with a number around them."""
    outer = [0] * (x.rank - len(before))
    frame = g.integers(*outer, *before, *outer, *after)
    return g("Pad", x, frame, g.constant(value, x.dtype))


def _maxima(g: Graph, x: Ref, sizes: dict[str, Any]) -> Any:
    """Return the maximum of each window; NaN and -inf, too, which onnxruntime's MaxPool skips.

    A mean of positive parts shows NaN, at less cost than the maximum of a mask.
    """
    pads, kernel = sizes["pads"], sizes["kernel_shape"]
    if any(end >= n for end, n in zip(pads, kernel * 2, strict=True)):
        lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        x = _framed(g, x, pads[: len(kernel)], pads[len(kernel) :], lowest)
        sizes = sizes | {"pads": [0] * len(pads)}  # a padding must be shorter than the kernel
    made = g("MaxPool", x, **sizes)
    if x.dtype.kind != "f":
        return made
    if x.dtype == np.float64 or max(sizes["dilations"]) > 1:
        missing = g("MaxPool", g.cast(isnan(g, x), x.dtype), **sizes)
        missing = g("Greater", missing, 0, dtype=bool)
    else:
        means: dict[str, Any] = {key: n for key, n in sizes.items() if key != "dilations"}
        missing = isnan(g, g("AveragePool", g("Relu", x), **means))
    skipped = g("LessOrEqual", made, float(np.finfo(x.dtype).min), dtype=bool)
    return choose(g, missing, np.nan, choose(g, skipped, -np.inf, made, x.dtype), x.dtype)


@form("max_pool_values", "max_pool2d", "max_pool3d")
def max_pool(g: Graph, x: Ref, options: Any) -> Any:
    """Return the maximum of each window."""
    rank = options.rank
    ends = _ends(options, x.shape[-rank:], g.shape[-rank:])
    sizes = {
        "kernel_shape": list(options.kernel_size),
        "strides": list(options.stride),
        "pads": [*options.padding, *ends],
        "dilations": list(options.dilation),
    }
    made = _maxima(g, _batched(g, x, rank), sizes)
    return g.reshape(made, g.shape) if x.rank != rank + 2 else made


@form("max_pool_2x2")
def max_pool_2x2(g: Graph, x: Ref) -> Any:
    """Return the maximum of each window of 2 by 2."""
    twos = dict.fromkeys(("kernel_shape", "strides"), [2, 2])
    made = _maxima(g, _batched(g, x, 2), twos | {"pads": [0] * 4, "dilations": [1, 1]})
    return g.reshape(made, g.shape) if x.rank != 4 else made


@form("avg_pool2d", "avg_pool3d")
def avg_pool(
    g: Graph, x: Ref, options: Any, count_include_pad: bool, divisor_override: int | None
) -> Any:
    """Return the mean of each window.

    A padding that counts is put around the images, as what ceil_mode adds does not count.
    """
    rank = options.rank
    ends = _ends(options, x.shape[-rank:], g.shape[-rank:])
    padding, images = list(options.padding), _batched(g, x, rank)
    if divisor_override and any(padding + ends):
        images = _framed(g, images, padding, ends, 0)
        padding = ends = [0] * rank
    elif count_include_pad and any(padding):
        images = _framed(g, images, padding, padding, 0)
        ends = [end - p for end, p in zip(ends, padding, strict=True)]
        padding = [0] * rank
    made = g(
        "AveragePool",
        images,
        kernel_shape=list(options.kernel_size),
        strides=list(options.stride),
        pads=[*padding, *ends],
        count_include_pad=0,
    )
    if divisor_override:
        made = g("Mul", made, math.prod(options.kernel_size) / divisor_override)
    return g.reshape(made, g.shape) if x.rank != rank + 2 else made


@form("plane_mean")
def plane_mean(g: Graph, x: Ref, rank: int) -> Any:
    """Return the mean of each plane."""
    return g("ReduceMean", x, g.integers(*range(-rank, 0)), keepdims=1)


def _parts(n: int, m: int) -> tuple[Any, Any]:
    """Return the indices of ``m`` parts of ``n`` elements, and which of them repeat the first."""
    starts = np.arange(m) * n // m
    ends = -(-(np.arange(m) + 1) * n // m)
    index = starts[:, None] + np.arange((ends - starts).max(initial=1))
    rest = index >= ends[:, None]
    return np.where(rest, starts[:, None], index), rest


def _of_parts(g: Graph, x: Ref, output_size: Sequence[int], reduce: Any) -> Any:
    """Reduce a given number of parts along each dimension, one after the other."""
    shape = [*x.shape]
    for axis, m in enumerate(output_size, x.rank - len(output_size)):
        index, rest = _parts(fixed(shape[axis]), m)
        shape[axis : axis + 1] = index.shape
        x = g("Gather", x, g.constant(index, np.int64), axis=axis)
        x.shape = tuple(shape)
        x = reduce(x, axis + 1, rest.reshape(*rest.shape, *[1] * (len(shape) - axis - 2)))
        del shape[axis + 1]
    return x


@form("adaptive_avg_pool2d", "adaptive_avg_pool3d")
def adaptive_avg_pool(g: Graph, x: Ref, output_size: Sequence[int]) -> Any:
    """Return the means of a given number of parts."""

    def means(x: Ref, axis: int, rest: Any) -> Any:
        kept = choose(g, g.constant(rest), 0, x, x.dtype) if rest.any() else x
        sums = g("ReduceSum", kept, g.integers(axis), keepdims=0)
        return g("Div", sums, (~rest).sum(1).astype(x.dtype))

    return _of_parts(g, x, output_size, means)


@form("adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(g: Graph, x: Ref, output_size: Sequence[int]) -> Any:
    """Return the maxima of a given number of parts."""
    return _of_parts(g, x, output_size, lambda x, axis, rest: extremum(g, "ReduceMax", x, axis))


# ---- normalization ------------------------------------------------------------------------------
# Batch, group, instance, layer and RMS normalization.


@form("batch_scaled")
def batch_scaled(
    g: Graph, x: Ref, mean: Ref, var: Ref, weight: Ref, bias: Ref, blocks: Any, eps: float
) -> Any:
    """Normalize by given means and variances, one per channel."""
    samples, groups, channels, places, _ = blocks
    if not isinstance(groups, Size) and fits(x, eps):
        vectors = [g.reshape(v, (groups,)) for v in (weight, bias, mean, var)]
        return g("BatchNormalization", x, *vectors, epsilon=float(eps))
    m, v, w, b = (g.reshape(v, (1, groups, channels, 1)) for v in (mean, var, weight, bias))
    scale = g("Div", w, g("Sqrt", g("Add", v, float(eps))))
    apart = g("Sub", g.reshape(x, (samples, groups, channels, places)), m)
    return g.reshape(g("Add", g("Mul", apart, scale), b), g.shape)


@form("batch_normalized", "group_normalized")
def group_normalized(g: Graph, x: Ref, weight: Ref, bias: Ref, blocks: Any, eps: float) -> Any:
    """Normalize by mean and variance of each group, of each sample or of all."""
    samples, groups, channels, places, shared = blocks
    x4 = g.reshape(x, (samples, groups, channels, places))
    made = _normalized(g, x4, [0, 2, 3] if shared else [2, 3], eps)
    for op, vector in (("Mul", weight), ("Add", bias)):
        if 0 not in vector.shape:
            made = g(op, made, g.reshape(vector, (1, groups, channels, 1)))
    return g.reshape(made, g.shape)


def _normalized(g: Graph, x: Ref, axes: list[int], eps: float) -> Any:
    apart = g("Sub", x, g("ReduceMean", x, g.integers(*axes), keepdims=1))
    variance = g("ReduceMean", g("Mul", apart, apart), g.integers(*axes), keepdims=1)
    return g("Div", apart, g("Sqrt", g("Add", variance, float(eps))))


def _rows(x: Ref, length: int) -> int:
    """Return the first of the last dimensions that have a number of elements together."""
    for axis in range(x.rank, -1, -1):
        if product(x.shape[axis:]) == length and (axis < x.rank or length == 1):
            return min(axis, x.rank - 1)
    raise NoFormError("over a dynamic dimension")


@form("layer_normalized")
def layer_normalized(g: Graph, x: Ref, weight: Ref, bias: Ref, length: int, eps: float) -> Any:
    """Normalize rows by their mean and variance."""
    axis = _rows(x, fixed(length))
    shape = x.shape[axis:]
    if not fits(x, eps):
        made = _normalized(g, x, [*range(axis, x.rank)], eps)
        vectors = (("Mul", weight), ("Add", bias))
        for op, vector in vectors:
            made = made if 0 in vector.shape else g(op, made, g.reshape(vector, shape))
        return made
    scale = g.constant(np.ones(shape, x.dtype)) if 0 in weight.shape else g.reshape(weight, shape)
    shift = None if 0 in bias.shape else g.reshape(bias, shape)
    return g("LayerNormalization", x, scale, shift, axis=axis, epsilon=float(eps))


@form("rms_normalized")
def rms_normalized(g: Graph, x: Ref, weight: Ref, length: int, eps: float) -> Any:
    """Divide rows by the root of their mean square."""
    axis = _rows(x, fixed(length))
    axes = g.integers(*range(axis, x.rank))
    mean = g("ReduceMean", g("Mul", x, x), axes, keepdims=1)
    made = g("Div", x, g("Sqrt", g("Add", mean, float(eps))))
    if 0 in weight.shape:
        return made
    return g("Mul", made, g.reshape(weight, x.shape[axis:]))


# ---- recurrent sequences, as ONNX's LSTM, GRU and RNN -------------------------------------------


def _ordered(g: Graph, weight: Ref, gates: Sequence[int]) -> Any:
    """Return the gates of a weight in another order."""
    if len(gates) == 1:
        return weight
    parts = g("Split", weight, outputs=len(gates), axis=0, num_outputs=len(gates))
    return g("Concat", *(parts[i] for i in gates), axis=0)


def _sequence(
    g: Graph,
    op: str,
    gates: Sequence[int],
    x: Ref,
    states: Sequence[Ref],
    weights: Sequence[Ref],
    biases: Sequence[Ref],
    reverse: bool,
    **options: Any,
) -> Any:
    """Add a recurrent node.

    Args:
        gates: the number in PyTorch's order of each gate in ONNX's order.
        x: ``[steps, batch, inputs]``.
        states: ``[batch, size]`` or ``[1, batch, size]``.
        weights: by input and by hidden state, ``[gates * size, ...]``.
        biases: the same, or their sum alone.
    """
    size = weights[1].shape[1]
    first = g.integers(0)
    inner = [g("Unsqueeze", _ordered(g, w, gates), first) for w in weights]
    vectors = [_ordered(g, b, gates) for b in biases]
    if len(vectors) == 1:
        vectors.append(g.constant(np.zeros(len(gates) * size, x.dtype)))
    bias = g("Unsqueeze", g("Concat", *vectors, axis=0), first)
    given = [s if s.rank == 3 else g("Unsqueeze", s, first) for s in states]
    output, *last = g(
        op,
        x,
        *inner,
        bias,
        None,  # the length of each sequence: all are full
        *given,
        outputs=1 + len(states),
        hidden_size=size,
        direction="reverse" if reverse else "forward",
        **options,
    )
    output = g("Squeeze", output, g.integers(1))
    output, last = _with_nan(g, x, states, output, last, reverse)
    if states[0].rank == 2:
        last = [g("Squeeze", s, first) for s in last]
    return output, *last


def _with_nan(
    g: Graph, x: Ref, states: Sequence[Ref], output: Ref, last: Sequence[Ref], reverse: bool
) -> Any:
    """Return the results of sequences, NaN from the first NaN on: gates of onnxruntime clip it."""
    batch = x.shape[1]
    steps = any_of(g, isnan(g, x), -1, True)
    counts = g("CumSum", g.cast(steps, np.int32), g.constant(0, np.int64), reverse=int(reverse))
    missing = g("Greater", counts, 0, dtype=bool)
    steps.shape = (*x.shape[:2], 1)
    some = any_of(g, steps, 0, True)
    for state in states:
        begun = g.reshape(any_of(g, isnan(g, state), -1, True), (1, batch, 1))
        missing, some = g("Or", missing, begun), g("Or", some, begun)
    made = [choose(g, some, np.nan, s, x.dtype) for s in last]
    return choose(g, missing, np.nan, output, x.dtype), made


@form("lstm_sequence")
def lstm(
    g: Graph, x: Ref, h_0: Ref, c_0: Ref, w_ih: Ref, w_hh: Ref, bias: Ref, reverse: bool
) -> Any:
    """Return the hidden states of all steps, and the last states."""
    return _sequence(g, "LSTM", (0, 3, 1, 2), x, [h_0, c_0], [w_ih, w_hh], [bias], reverse)


@form("gru_sequence")
def gru(
    g: Graph, x: Ref, h_0: Ref, w_ih: Ref, w_hh: Ref, b_ih: Ref, b_hh: Ref, reverse: bool
) -> Any:
    """Return the hidden states of all steps, and the last one."""
    weights, biases = [w_ih, w_hh], [b_ih, b_hh]
    return _sequence(g, "GRU", (1, 0, 2), x, [h_0], weights, biases, reverse, linear_before_reset=1)


@form("rnn_sequence")
def rnn(
    g: Graph, x: Ref, h_0: Ref, w_ih: Ref, w_hh: Ref, bias: Ref, relu: bool, reverse: bool
) -> Any:
    """Return the hidden states of all steps, and the last one."""
    activation = ["Relu" if relu else "Tanh"]
    return _sequence(
        g, "RNN", (0,), x, [h_0], [w_ih, w_hh], [bias], reverse, activations=activation
    )
