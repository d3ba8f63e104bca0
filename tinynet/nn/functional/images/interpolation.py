"""Interpolation of images to another size."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.checks import not_implemented, tensor_only
from tinynet.nn.functional.dimensions import Ints
from tinynet.nn.functional.images.interpolation_ops import SAMPLERS, Resampling
from tinynet.nn.functional.pooling.adaptive_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)

__all__ = ["interpolate", "upsample", "upsample_nearest", "upsample_bilinear"]

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
            if not all(isinstance(n, (int, np.integer)) for n in size):
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
