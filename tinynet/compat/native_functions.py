"""Functions that ``torch`` shows besides those of ``nn.functional`` which they serve."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    """Return the input with a frame of one number around it: ``nn.functional.pad``.

    Args:
        input: any shape.
        pad: for the last dimension the lengths before and after it, then for the one before it.
        value: the number.

    Raises:
        RuntimeError: the lengths are no pairs, or too many.

    Example:
        >>> tn.constant_pad_nd(tn.ones(2), (1, 0), 5.0)
        tensor([5., 1., 1.])
    """
    return F.pad(input, pad, value=value)


def _sampler(rank: int) -> Callable[..., Tensor]:
    def grid_sampler(
        input: Tensor,
        grid: Tensor,
        interpolation_mode: int,
        padding_mode: int,
        align_corners: bool,
    ) -> Tensor:
        mode, padding = MODES[interpolation_mode], PADDINGS[padding_mode]
        return F.grid_sample(input, grid, mode, padding, align_corners)

    grid_sampler.__name__ = grid_sampler.__qualname__ = f"grid_sampler_{rank}d"
    grid_sampler.__doc__ = f"""Return the input at the places of the grid, in {rank} dimensions.

    Args:
        input: ``[batch, channels, ...]``.
        grid: ``[batch, ..., {rank}]``, as in ``nn.functional.grid_sample``.
        interpolation_mode: 0 for bilinear, 1 for nearest, 2 for bicubic.
        padding_mode: 0 for zeros, 1 for the border, 2 for reflection.
        align_corners: as in ``nn.functional.grid_sample``.

    Raises:
        RuntimeError: shapes or dtypes do not fit.

    Example:
        >>> places = tn.zeros(*[1] * {rank + 1}, {rank})
        >>> tn.grid_sampler_{rank}d(tn.ones(*[1] * {rank + 2}), places, 1, 0, True).item()
        1.0
    """
    return grid_sampler


grid_sampler_2d = _sampler(2)
grid_sampler_3d = _sampler(3)


def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Tensor:
    """Return the input at the places of the grid, in two or three dimensions.

    Args:
        input: ``[batch, channels, ...]``.
        grid: ``[batch, ..., 2 or 3]``, as in ``nn.functional.grid_sample``.
        interpolation_mode: 0 for bilinear, 1 for nearest, 2 for bicubic.
        padding_mode: 0 for zeros, 1 for the border, 2 for reflection.
        align_corners: as in ``nn.functional.grid_sample``.

    Raises:
        RuntimeError: shapes or dtypes do not fit.

    Example:
        >>> tn.grid_sampler(tn.ones(1, 1, 2, 2), tn.zeros(1, 1, 1, 2), 0, 0, False).item()
        1.0
    """
    mode, padding = MODES[interpolation_mode], PADDINGS[padding_mode]
    return F.grid_sample(input, grid, mode, padding, align_corners)
