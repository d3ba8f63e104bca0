"""Padding and resampling of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
        return g("Pad", x, g.integers(*before, *after), mode=mode)

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


_MODES = {"nearest": "nearest", "nearest-exact": "nearest", "bicubic": "cubic"}
_NAMES = [
    *(f"upsample_nearest{kind}{n}d" for n in (1, 2, 3) for kind in ("", "_exact")),
    "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
]  # fmt: skip


@form(*_NAMES)
def upsample(g: Graph, x: Ref, how: Any) -> Any:
    """Interpolate in another size."""
    mode = _MODES.get(how.mode, "linear")
    places = "align_corners" if how.align_corners else "half_pixel"
    if how.mode == "nearest":
        places = "asymmetric"
    for n, m, factor in zip(fixed(x.shape[2:]), how.output_size, how.scales, strict=True):
        if factor is not None and m != n * factor:
            raise NoFormError("by a factor that does not give its size")
    return g(
        "Resize",
        x,
        None,
        None,
        g.lengths((*x.shape[:2], *how.output_size)),
        mode=mode,
        coordinate_transformation_mode=places,
        nearest_mode="floor",
        cubic_coeff_a=-0.75 if mode == "cubic" else None,
    )
