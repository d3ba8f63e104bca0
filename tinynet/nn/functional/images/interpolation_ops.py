"""The operations behind interpolation: a linear map for each dimension, and its transpose.

They are operations for speed: products with small matrices, or a few shifted copies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tinynet.core.declaration.operation import Operation
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import kind_for
from tinynet.nn.functional.dimensions import Ints, by_rank, spatial
from tinynet.nn.functional.images.separable import LinearMap, SeparableMap

# ---- kernels of interpolation -------------------------------------------------------------------


def cubic(a: float) -> Callable[[Array], Array]:
    """Return the cubic convolution kernel (Keys, 1981), which is 0 beyond 2."""

    def kernel(x: Array) -> Array:
        x = np.abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0.0))

    return kernel


def _tent(x: Array) -> Array:
    return np.maximum(0.0, 1 - np.abs(x))


def _lanczos(x: Array) -> Array:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0.0)


class Kernel(NamedTuple):
    """A weight as a function of the distance in elements, 0 beyond ``reach``."""

    weight: Callable[[Array], Array]
    reach: int


KERNELS = {
    "linear": Kernel(_tent, 1),
    "bilinear": Kernel(_tent, 1),
    "trilinear": Kernel(_tent, 1),
    "bicubic": Kernel(cubic(-0.75), 2),
}
SMOOTH_KERNELS = {  # for antialiasing, as in Pillow
    "bilinear": Kernel(_tent, 1),
    "bicubic": Kernel(cubic(-0.5), 2),
    "lanczos": Kernel(_lanczos, 3),
}

# ---- maps of one dimension ----------------------------------------------------------------------


class Resampling(NamedTuple):
    """The options of an interpolation."""

    mode: str
    output_size: Ints
    scales: tuple[float | None, ...]
    align_corners: bool
    antialias: bool

    @property
    def rank(self) -> int:
        """The number of spatial dimensions."""
        return len(self.output_size)


def _step(n: int, m: int, scale: float | None, align_corners: bool) -> float:
    """Return the number of inputs per output."""
    if align_corners:
        return (n - 1) / (m - 1) if m > 1 else 0.0
    return 1 / scale if scale is not None and scale > 0 else n / m


def _line(
    mode: str,
    n: int,
    m: int,
    scale: float | None,
    align_corners: bool,
    antialias: bool,
    kind: np.dtype[Any],
) -> LinearMap | None:
    """Return the map from ``n`` to ``m`` elements, computed in a dtype; None for the identity."""
    if mode.startswith("nearest"):
        return _nearest(n, m, _step(n, m, scale, False), mode == "nearest-exact", kind)
    step = _step(n, m, scale, align_corners)
    if antialias:
        columns, weights = _smooth(n, m, step, SMOOTH_KERNELS[mode])
    elif n == m and mode != "bicubic":
        return None
    else:
        columns, weights = _interpolating(
            n, step * np.arange(m), step, align_corners, KERNELS[mode]
        )
    return LinearMap((m, n), np.broadcast_to(np.arange(m), columns.shape), columns, weights, kind)


def _nearest(n: int, m: int, step: float, exact: bool, kind: np.dtype[Any]) -> LinearMap:
    place = np.arange(m).astype(kind) + kind.type(0.5 if exact else 0)
    nearest = np.floor(place * kind.type(step)).astype(np.int64)
    return LinearMap((m, n), np.arange(m), np.minimum(nearest, n - 1), None, kind)


def _interpolating(
    n: int, place: Array, step: float, align_corners: bool, kernel: Kernel
) -> tuple[Array, Array]:
    """Return the inputs of each output, and their weights by the distance from its position.

    The edge elements extend outwards.
    """
    if not align_corners:
        place = place + (0.5 * step - 0.5)
        place = place if kernel.reach > 1 else np.maximum(place, 0)
    first = np.minimum(np.floor(place).astype(np.int64), n - 1)
    rest = np.clip(place - first, 0, 1)
    offsets = np.arange(1 - kernel.reach, 1 + kernel.reach)[:, None]
    return np.clip(first + offsets, 0, n - 1), kernel.weight(offsets - rest)


def _smooth(n: int, m: int, step: float, kernel: Kernel) -> tuple[Array, Array]:
    """Return the inputs of each output, and the weights of a kernel, widened for downsampling."""
    wide = max(step, 1.0)
    center = step * (np.arange(m) + 0.5)
    first = np.maximum((center - kernel.reach * wide + 0.5).astype(np.int64), 0)
    last = np.minimum((center + kernel.reach * wide + 0.5).astype(np.int64), n)
    columns = first + np.arange(int((last - first).max()))[:, None]
    weights = np.where(columns < last, kernel.weight((columns - center + 0.5) / wide), 0.0)
    total = weights.sum(0)
    return np.minimum(columns, n - 1), weights / np.where(total == 0, 1, total)


@lru_cache(maxsize=256)
def _map(sizes: Ints, how: Resampling, kind: np.dtype[Any]) -> SeparableMap:
    """Return the map of planes of ``sizes``, computed in a dtype."""
    rest = (how.align_corners, how.antialias, kind)
    dims = zip(sizes, how.output_size, how.scales, strict=True)
    return SeparableMap(sizes, [_line(how.mode, n, m, scale, *rest) for n, m, scale in dims])


# ---- the operations -----------------------------------------------------------------------------


def _declare(mode: str, title: str, antialias: bool, ranks: Ints) -> dict[int, Operation]:
    """Declare the operations of one mode, and their transposes."""

    def resample(input: Array, /, how: Resampling) -> Array:
        """Return the resampled input."""
        return _map(spatial(input.shape, how.rank), how, kind_for(input.dtype))(input)

    def spread(self: Array, /, how: Resampling, sizes: Ints) -> Array:
        """Return the sum of the contributions of each element of the input."""
        return _map(sizes, how, kind_for(self.dtype)).transposed(self)

    name = f"{mode.replace('-', '_')}{'_smooth' if antialias else ''}"
    resample.__name__, spread.__name__ = f"upsample_{name}", f"upsample_{name}_back"
    aa = "Aa" if antialias else ""
    forward = by_rank(resample, f"Upsample{title}{{}}D{aa}Backward0", ranks, order="as_image")
    back = by_rank(spread, f"Upsample{title}{{}}D{aa}BackwardBackward0", ranks)
    for rank in ranks:
        forward[rank].grad(
            input=lambda g, input_shape, how: back[how.rank](g, how, spatial(input_shape, how.rank))
        )
        back[rank].grad(self=lambda g, how: forward[how.rank](g, how))
    return forward


SAMPLERS: dict[tuple[str, bool], dict[int, Operation]] = {
    ("nearest", False): _declare("nearest", "Nearest", False, (1, 2, 3)),
    ("nearest-exact", False): _declare("nearest-exact", "NearestExact", False, (1, 2, 3)),
    ("linear", False): _declare("linear", "Linear", False, (1,)),
    ("bilinear", False): _declare("bilinear", "Bilinear", False, (2,)),
    ("trilinear", False): _declare("trilinear", "Trilinear", False, (3,)),
    ("bicubic", False): _declare("bicubic", "Bicubic", False, (2,)),
    ("bilinear", True): _declare("bilinear", "Bilinear", True, (2,)),
    ("bicubic", True): _declare("bicubic", "Bicubic", True, (2,)),
    ("lanczos", True): _declare("lanczos", "Lanczos", True, (2,)),
}
