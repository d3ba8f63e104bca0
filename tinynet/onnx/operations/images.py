"""Padding and resampling of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.nn.functional.images.interpolation_ops import SAMPLERS
from tinynet.onnx.errors import NoFormError
from tinynet.onnx.graph import Graph, Ref, fixed
from tinynet.onnx.operations.shaping import sliced
from tinynet.onnx.operations.table import form


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
