"""Convolutions and transposed convolutions."""

from __future__ import annotations

from typing import Any

from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.table import form
from tinynet.onnx.sizes import Size


def _after(n: Any, kernel: int, stride: int, padding: int, dilation: int, out: Any) -> int:
    """Return the padding after the last element of one dimension.

    It may differ from that before the first one. What lies between the last window and the end
    does not matter, so that of the first one serves where it gives the same number of windows.
    """
    lengths, windows = (x.values if isinstance(x, Size) else (x,) for x in (n, out))
    reach = dilation * (kernel - 1) + 1
    if all(
        (m + 2 * padding - reach) // stride + 1 == o for m, o in zip(lengths, windows, strict=True)
    ):
        return padding
    if len(lengths) > 1:
        raise NoFormError("with an uneven padding of a dynamic dimension")
    return int((out - 1) * stride + reach - n - padding)


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
    reach = dilation * (kernel - 1) + 1
    more = {
        m - ((o - 1) * stride - 2 * padding + reach) for m, o in zip(sizes, inputs, strict=True)
    }
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
