"""Sampling of images at arbitrary positions: grid_sample and affine_grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import Ints, require_floating, tensor_only
from tinynet.nn.functional.images.grid_sampling_ops import POLYNOMIALS, Warp, samplers
from tinynet.ops.arguments import name_of

__all__ = ["grid_sample", "affine_grid"]


# ---- affine grids -------------------------------------------------------------------------------


def _points(sizes: Ints, align_corners: bool, kind: Any) -> Array:
    """Return homogeneous coordinates of all pixels, last dimension first: ``[P, rank + 1]``."""
    lines = []
    for n in sizes:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        lines.append(line if align_corners or n == 0 else line * ((n - 1) / n))
    mesh = np.meshgrid(*lines, indexing="ij")[::-1]
    return np.stack([*mesh, np.ones(sizes)], -1).reshape(-1, len(sizes) + 1).astype(kind)


@operation(node="AffineGridGeneratorBackward0")
def affine_places(theta: Array, /, sizes: Ints, align_corners: bool) -> Array:
    """Return the position of each pixel under affine maps."""
    points = _points(sizes, align_corners, theta.dtype)
    positions = np.matmul(points, np.swapaxes(theta, 1, 2))
    return positions.reshape(theta.shape[0], *sizes, len(sizes))


@operation(node="AffineGridGeneratorBackwardBackward0")
def affine_sums(self: Array, /, sizes: Ints, align_corners: bool) -> Array:
    """Return the sums of positions times points: the transpose of ``affine_places``."""
    flat = self.reshape(self.shape[0], math.prod(sizes), len(sizes))
    return np.matmul(np.swapaxes(flat, 1, 2), _points(sizes, align_corners, self.dtype))


affine_places.grad(theta=lambda g, sizes, align_corners: affine_sums(g, sizes, align_corners))
affine_sums.grad(self=lambda g, sizes, align_corners: affine_places(g, sizes, align_corners))


# ---- grid sampling ------------------------------------------------------------------------------


CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
    "Please specify align_corners=True if the old behavior is desired. See the documentation of "
    "grid_sample for details."
)


@composite(module=True, autocast="float32")
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample the input at the positions of the grid.

    Args:
        input: ``[batch, channels, height, width]``, or with a depth before the height.
        grid: ``[batch, out height, out width, 2]``: x and y of each sample (``[..., 3]``: x, y, z),
            from -1 (left, top) to 1 (right, bottom).
        mode: ``"bilinear"`` (in three dimensions trilinear), ``"nearest"`` or ``"bicubic"``.
        padding_mode: the values outside the image: ``"zeros"``, ``"border"`` or ``"reflection"``.
        align_corners: -1 and 1 are the centers of the corner elements instead of their outer edges.

    Returns:
        ``[batch, channels, out height, out width]``.

    Raises:
        ValueError: the mode is unknown.
        RuntimeError: shapes or dtypes do not match.

    Source: Jaderberg et al., "Spatial transformer networks", 2015.

    Example:
        >>> middle = tn.zeros(1, 1, 1, 2)
        >>> F.grid_sample(tn.tensor([[[[1.0, 3.0]]]]), middle, align_corners=False)
        tensor([[[[2.]]]])
    """
    if mode not in POLYNOMIALS:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        warn(CHANGED)
    tensor_only("grid_sampler", input=input, grid=grid)
    _check(input, grid, mode)
    rank = input.ndim - 2
    how = Warp(mode, padding_mode, bool(align_corners))
    return samplers[rank].function(input, grid, how, (0,) * rank)


def _check(input: Tensor, grid: Tensor, mode: str) -> None:
    x, places = input._array, grid._array
    both = f"but got input with sizes {list(x.shape)} and grid with sizes {list(places.shape)}"
    if x.shape[:1] != places.shape[:1]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, {both}"
        )
    if places.shape[-1] != x.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {x.ndim - 2} in last dimension, but got "
            f"grid with sizes {list(places.shape)}"
        )
    for d in range(2, x.ndim):
        if x.shape[d] == 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input "
                f"has sizes {list(x.shape)} with dimension {d} being empty"
            )
    if x.ndim not in (4, 5) or x.ndim != places.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected {4 if x.ndim == 4 else 5}D input and grid with same number "
            f"of dimensions, {both}"
        )
    if mode == "bicubic" and x.ndim == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    require_floating("grid_sampler", x)
    if x.dtype != places.dtype:
        raise RuntimeError(f"expected scalar type {name_of(x)} but found {name_of(places)}")


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Return the grid with which ``grid_sample`` applies affine maps to images.

    Args:
        theta: ``[batch, 2, 3]``, or ``[batch, 3, 4]`` in three dimensions: a matrix and a shift.
        size: the output size of ``grid_sample``, ``[batch, channels, height, width]``, or with a
            depth before the height.
        align_corners: as in ``grid_sample``.

    Returns:
        ``[batch, height, width, 2]``, or ``[batch, depth, height, width, 3]``.

    Raises:
        ValueError: ``theta`` or ``size`` is invalid.
        NotImplementedError: the input has the wrong number of dimensions.

    Example:
        >>> same = tn.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> F.affine_grid(same, (1, 1, 1, 2), align_corners=False)
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])
    """
    tensor_only("affine_grid", theta=theta)
    if align_corners is None:
        warn(CHANGED)
    if not dtypes.is_floating(theta._array.dtype):
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    rank = len(size) - 2
    if rank not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.ndim != 3 or theta._array.shape[1:] != (rank, rank + 1):
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size "
            f"{size}. Got {theta.shape}."
        )
    sizes = tuple(int(n) for n in size[2:])
    if align_corners and min(sizes) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details."
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if theta.shape[0] != size[0]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{size[0]}, {rank + 1}] but got: [{theta.shape[0]}, {rank + 1}]."
        )
    return affine_places.function(theta, sizes, bool(align_corners))
