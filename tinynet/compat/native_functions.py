"""Functions that ``torch`` exposes in addition to their ``nn.functional`` counterparts."""

from __future__ import annotations

from collections.abc import Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    """Return the input padded with a constant, like ``nn.functional.pad``.

    Args:
        input: any shape.
        pad: the widths before and after the last dimension, then those of the dimension before it.
        value: the constant.

    Raises:
        RuntimeError: the number of widths is odd, or too large.

    Example:
        >>> tn.constant_pad_nd(tn.ones(2), (1, 0), 5.0)
        tensor([5., 1., 1.])
    """
    return F.pad(input, pad, value=value)


def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Tensor:
    """Sample the input at the points of the grid, in two or three dimensions.

    Args:
        input: ``[batch, channels, ...]``.
        grid: ``[batch, ..., 2 or 3]``, as in ``nn.functional.grid_sample``.
        interpolation_mode: 0 for bilinear, 1 for nearest, 2 for bicubic.
        padding_mode: 0 for zeros, 1 for the border, 2 for reflection.
        align_corners: as in ``nn.functional.grid_sample``.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> tn.grid_sampler(tn.ones(1, 1, 2, 2), tn.zeros(1, 1, 1, 2), 0, 0, False).item()
        1.0
    """
    mode, padding = MODES[interpolation_mode], PADDINGS[padding_mode]
    return F.grid_sample(input, grid, mode, padding, align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler
