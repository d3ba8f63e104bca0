"""Interpolation of images to another size."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.declaration.operation import Operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import kind_for
from tinynet.nn.functional.checks import Ints, by_rank, not_implemented, spatial, tensor_only
from tinynet.nn.functional.images.separable import LinearMap, SeparableMap
from tinynet.nn.functional.pooling.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)

__all__ = ["interpolate", "upsample", "upsample_nearest", "upsample_bilinear"]


# ---- interpolation ops --------------------------------------------------------------------------
# The operations behind interpolation: a linear map for each dimension, and its transpose.
#
# They are operations for speed: products with small matrices, or a few shifted copies.


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


# ---- interpolation ------------------------------------------------------------------------------


AREA: dict[int, Any] = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}
NEEDS = {"linear": 3, "bilinear": 4, "trilinear": 5}
Scales = tuple[float | None, ...]

# ---- options ------------------------------------------------------------------------------------


def _size_or_factors(shape: Ints, size: Any, scale_factor: Any) -> tuple[Ints | None, Any]:
    """Return the size and the factors per dimension, one of which is None."""
    rank, inner = len(shape) - 2, list(shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if isinstance(size, (list, tuple)):
            if len(size) != rank:
                raise ValueError(
                    "Input and output must have the same number of spatial dimensions, but got "
                    f"input with spatial dimensions of {inner} and output size of {size}. Please "
                    "provide input tensor in (N, C, d1, d2, ...,dK) format and output size in "
                    "(o1, o2, ...,oK) format."
                )
            if not all(map(_is_integer, size)):
                raise TypeError(
                    "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                    f"Tuple[int, int, int], but got size with types {[type(n) for n in size]}"
                )
            return tuple(int(n) for n in size), None
        return (_integer(size),) * rank, None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if isinstance(scale_factor, (list, tuple)):
        if len(scale_factor) != rank:
            raise ValueError(
                "Input and scale_factor must have the same number of spatial dimensions, but got "
                f"input with spatial dimensions of {inner} and scale_factor of shape "
                f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                "scale_factor in (s1, s2, ...,sK) format."
            )
        return None, tuple(_number(x) for x in scale_factor)
    return None, (_number(scale_factor),) * rank


def _is_integer(n: Any) -> bool:
    """Return whether an entry is an integer; PyTorch takes any tensor of integers for one."""
    if isinstance(n, Tensor):
        return n._array.dtype.kind != "f"
    return isinstance(n, (int, np.integer))


def _integer(size: Any) -> int:
    try:
        return operator.index(size)
    except TypeError:
        raise TypeError(
            "The 'size' parameter of interpolate must be an int or a tuple of ints. "
            f"Got {size!r} instead."
        ) from None


def _scaled(n: int, factor: float) -> int:
    size = n * factor
    if not abs(size) < 2.0**63:
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return int(size)


def _number(factor: Any) -> float:
    if isinstance(factor, (int, float, np.number)):
        return float(factor)
    raise TypeError(
        "The 'scale_factor' parameter of interpolate must be a number or a tuple of numbers. "
        f"Got {factor!r} instead."
    )


def _check_sizes(x: Any, sizes: Ints) -> None:
    """Raise PyTorch's error for an empty input or output."""
    shape, rank = x.shape, len(sizes)
    if min(*shape[2:], *sizes) <= 0:
        before, after = (
            ", ".join(f"{c}: {n}" for c, n in zip("DHW"[-rank:], one, strict=True))
            for one in (shape[2:], sizes)
        )
        joined = " and" if rank == 1 else ""
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input "
            f"({before}){joined} output ({after})"
        )
    if shape[1] == 0:
        raise RuntimeError(
            f"Non-empty {rank + 2}D data tensor expected but got a tensor with sizes {list(shape)}"
        )


def _refuse_mode(mode: str, ndim: int, align_corners: bool, antialias: bool) -> None:
    """Raise if the mode does not support the dimensions or options."""
    if mode == "lanczos" and ndim == 4:
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
    needs = NEEDS.get(mode, ndim)
    if needs != ndim and ndim in (3, 4, 5):
        raise NotImplementedError(f"Got {ndim}D input, but {mode} mode needs {needs}D input")
    known = mode == "area" or any(mode == m and ndim - 2 in SAMPLERS[m, a] for m, a in SAMPLERS)
    if not known or ndim not in (3, 4, 5):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: "
            "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact "
            f"(got {mode})"
        )


# ---- the function -------------------------------------------------------------------------------


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Return the input resampled to another size.

    Bilinear, a fraction f between two neighbours: ``x[i] * (1 - f) + x[i + 1] * f`` in each
    dimension; bicubic: Keys, "Cubic convolution interpolation for digital image processing", 1981,
    with a = -0.75 (-0.5 with antialias).

    Args:
        input: ``[batch, channels, ...]`` with one to three spatial dimensions.
        size: the output size; or
        scale_factor: the factor for the input size; the product is rounded down.
        mode: ``"nearest"``, ``"nearest-exact"`` (by the centers of elements, as Pillow does it),
            ``"area"`` (averages), ``"linear"`` in one dimension, ``"bilinear"`` and ``"bicubic"``
            in two, ``"trilinear"`` in three; ``"lanczos"`` with antialias.
        align_corners: for the interpolating modes: align the centers of the corner elements instead
            of their outer edges.
        recompute_scale_factor: recompute the factor from the rounded output size.
        antialias: average over skipped elements when downsampling; for bilinear, bicubic and
            lanczos.

    Raises:
        ValueError: the options exclude each other.
        NotImplementedError: the mode does not support the number of dimensions.
        RuntimeError: the input or the result is empty.

    Example:
        >>> F.interpolate(tn.tensor([[[0.0, 1.0]]]), scale_factor=2)
        tensor([[[0., 0., 1., 1.]]])
        >>> F.interpolate(tn.tensor([[[0.0, 1.0]]]), size=3, mode="linear", align_corners=True)
        tensor([[[0.0000, 0.5000, 1.0000]]])
    """
    tensor_only("interpolate", input=input)
    array = input._array
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear"
        )
    sizes, factors = _size_or_factors(array.shape, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if sizes is None:
        sizes = tuple(_scaled(n, f) for n, f in zip(array.shape[2:], factors, strict=True))
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and array.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    _refuse_mode(mode, array.ndim, bool(align_corners), antialias)
    if mode == "area":
        return AREA[array.ndim - 2](input, sizes)
    _check_sizes(array, sizes)
    if not dtypes.is_floating(array.dtype) and not ("nearest" in mode and array.dtype == np.uint8):
        raise not_implemented(f"upsample_{mode.replace('-', '_')}", array)
    scales: Scales = (None,) * len(sizes) if recompute_scale_factor or not factors else factors
    how = Resampling(mode, sizes, scales, bool(align_corners), antialias)
    return SAMPLERS[mode, antialias][how.rank].function(input, how)


# ---- deprecated names ---------------------------------------------------------------------------


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Deprecated alias of ``interpolate``.

    See ``interpolate``.

    Args:
        input, size, scale_factor, mode, align_corners: as in ``interpolate``.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     F.upsample(tn.tensor([[[1.0, 2.0]]]), scale_factor=2)
        tensor([[[1., 1., 2., 2.]]])
    """
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Deprecated alias of ``interpolate(..., mode="nearest")``.

    Args:
        input, size, scale_factor: as in ``interpolate``.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     F.upsample_nearest(tn.tensor([[[1.0, 2.0]]]), size=4)
        tensor([[[1., 1., 2., 2.]]])
    """
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Deprecated alias of ``interpolate(..., mode="bilinear", align_corners=True)``.

    Args:
        input, size, scale_factor: as in ``interpolate``.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     F.upsample_bilinear(tn.tensor([[[[1.0, 2.0]]]]), size=(1, 3))
        tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _deprecated(name: str) -> None:
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")
