"""Padding and center cropping."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.base import Transform, image_array
from tinynet.dtypes import Array

__all__ = ["CenterCrop", "FiveCrop", "Pad", "TenCrop"]

Side = int | Sequence[int]
Mode = Literal["constant", "edge", "reflect", "symmetric"]


class Pad(Transform):
    """Adds a border around an image.

    Args:
        padding: one width for all sides; two for left and right, top and bottom; or four for left,
            top, right and bottom. A negative width crops.
        fill: the value of a constant border.
        padding_mode: ``"constant"``, ``"edge"`` (repeats the outermost values), ``"reflect"``
            (mirrors without the outermost values) or ``"symmetric"`` (mirrors with them).

    Raises:
        ValueError: the padding is invalid, or wider than the image can be mirrored.

    Example:
        >>> tn.data.transforms.Pad((1, 0))(tn.ones(1, 1, 2))
        tensor([[[0., 1., 1., 0.]]])
    """

    batched = True

    def __init__(self, padding: Side, fill: float = 0, padding_mode: Mode = "constant"):
        sides(padding)
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError(
                "Padding mode should be either constant, edge, reflect or symmetric. "
                f"Got {padding_mode!r} instead."
            )
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "Pad")
        return wrap(padded(array, sides(self.padding), self.fill, self.padding_mode))


class CenterCrop(Transform):
    """Crops an image at the center; a smaller image is padded with zeros.

    Args:
        size: height and width, or one number for both.

    Raises:
        ValueError: the size is not positive.
        TypeError: (when called) the input is not an image.

    Example:
        >>> tn.data.transforms.CenterCrop(1)(tn.arange(9).reshape(1, 3, 3))
        tensor([[[4]]])
        >>> tn.data.transforms.CenterCrop((1, 5))(tn.ones(1, 1, 2))
        tensor([[[0., 1., 1., 0., 0.]]])
    """

    batched = True

    def __init__(self, size: Side):
        self.size = height_and_width(size, "CenterCrop")

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "CenterCrop")
        missing = [
            max(0, want - have) for want, have in zip(self.size, array.shape[-2:], strict=True)
        ]
        if any(missing):
            down, across = missing
            # torchvision's rounding: the smaller half comes first here, ...
            border = (across // 2, down // 2, (across + 1) // 2, (down + 1) // 2)
            array = padded(array, border, 0, "constant")
        # ... and an odd rest is rounded to even there.
        top, left = (
            round((have - want) / 2) for want, have in zip(self.size, array.shape[-2:], strict=True)
        )
        height, width = self.size
        return wrap(array[..., top : top + height, left : left + width])


class FiveCrop(CenterCrop):
    """Crops an image into its four corners and the center, stacked in a new first dimension.

    Args:
        size: height and width, or one number for both.

    Raises:
        ValueError: (when called) the image is smaller.

    Example:
        >>> crops = tn.data.transforms.FiveCrop(1)(tn.tensor([[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]))
        >>> crops.flatten()
        tensor([1, 3, 7, 9, 5])
    """

    batched = False

    def __call__(self, image: Tensor) -> Tensor:
        """Return top left, top right, bottom left, bottom right and center."""
        array = image_array(image, type(self).__name__)
        return wrap(np.stack(self._crops(array)))

    def _crops(self, array: Array) -> list[Array]:
        (height, width), (rows, columns) = self.size, array.shape[-2:]
        if width > columns or height > rows:
            raise ValueError(
                f"Requested crop size {self.size} is bigger than input size {(rows, columns)}"
            )
        middle = round((rows - height) / 2), round((columns - width) / 2)
        ends = [(0, 0), (0, columns - width), (rows - height, 0), (rows - height, columns - width)]
        return [array[..., y : y + height, x : x + width] for y, x in (*ends, middle)]


class TenCrop(FiveCrop):
    """The crops of ``FiveCrop``, and those of the mirror image.

    Args:
        size: height and width, or one number for both.
        vertical_flip: mirror top to bottom.

    Raises:
        ValueError: (when called) the image is smaller.

    Example:
        >>> tn.data.transforms.TenCrop(4)(tn.ones(3, 6, 6)).shape
        tinynet.Size([10, 3, 4, 4])
    """

    def __init__(self, size: Side, vertical_flip: bool = False):
        super().__init__(size)
        self.vertical_flip = vertical_flip

    def _crops(self, array: Array) -> list[Array]:
        mirrored = np.flip(array, -2 if self.vertical_flip else -1)
        return [*super()._crops(array), *super()._crops(mirrored)]


def padded(array: Array, border: Sequence[int], fill: float, mode: Mode) -> Array:
    """Return an array with a border of left, top, right, bottom on its last two dimensions."""
    if min(border) < 0:
        cut = [max(0, -side) for side in border]
        height, width = array.shape[-2:]
        array = array[..., cut[1] : height - cut[3], cut[0] : width - cut[2]]
    if mode in ("reflect", "symmetric"):
        height, width = (size - (mode == "reflect") for size in array.shape[-2:])
        if max(border[1::2]) > height or max(border[::2]) > width:
            raise ValueError(
                f"Padding with the mode {mode} cannot be wider than the image. "
                f"Got {list(border)} for the shape {list(array.shape)} instead."
            )
    left, top, right, bottom = (max(0, side) for side in border)
    if mode == "constant":
        height, width = array.shape[-2:]
        shape = (*array.shape[:-2], top + height + bottom, left + width + right)
        out = np.full(shape, fill, array.dtype)
        out[..., top : top + height, left : left + width] = array
        return out
    pairs = [(0, 0)] * (array.ndim - 2) + [(top, bottom), (left, right)]
    return np.pad(array, pairs, mode=mode)


def sides(padding: Side) -> tuple[int, int, int, int]:
    """Return the left, top, right and bottom widths of a ``padding`` argument."""
    widths = [padding] if isinstance(padding, int) else list(padding)
    if len(widths) not in (1, 2, 4) or not all(isinstance(width, int) for width in widths):
        raise ValueError(
            f"Padding must be an int or a 1, 2, or 4 element tuple of ints, not {padding!r}."
        )
    left, top, right, bottom = (widths * 4)[:4]
    return left, top, right, bottom


def height_and_width(size: Side, name: str) -> tuple[int, int]:
    """Return the height and width of a ``size`` argument."""
    numbers = [size] if isinstance(size, int) else list(size)
    if len(numbers) not in (1, 2) or not all(isinstance(n, int) and n > 0 for n in numbers):
        raise ValueError(
            f"The 'size' parameter of {name} must be a positive integer or two of them (h, w). "
            f"Got {size!r} instead."
        )
    return numbers[0], numbers[-1]
