"""Transforms that cut out or overwrite a part of an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.compat.vision.pillow import InterpolationMode, interpolation_mode
from tinynet.compat.vision.transforms import functional as F
from tinynet.compat.vision.transforms.base import ImageTransform, Randomly, generator
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.transforms.augmentation import random_rectangle
from tinynet.data.transforms.geometry import Mode, Side, height_and_width, random_crop_box, sides
from tinynet.ops.creation.constructors import tensor
from tinynet.ops.creation.random import randn

__all__ = [
    "CenterCrop",
    "FiveCrop",
    "RandomCrop",
    "RandomErasing",
    "RandomResizedCrop",
    "TenCrop",
]

_BILINEAR = InterpolationMode.BILINEAR


class CenterCrop(ImageTransform):
    """Crops an image at the center; a smaller image gets a black border.

    Args:
        size: height and width, or one number for both.
    """

    shown: Sequence[str] = ("size",)

    def __init__(self, size: Side):
        super().__init__()
        self.size = height_and_width(size, type(self).__name__)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the center."""
        return F.center_crop(img, self.size)


class FiveCrop(CenterCrop):
    """Crops an image into its four corners and the center.

    Args:
        size: height and width, or one number for both.
    """

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the five images."""
        return F.five_crop(img, self.size)


class TenCrop(CenterCrop):
    """Crops an image and its mirror image into their corners and centers.

    Args:
        size: height and width, or one number for both.
        vertical_flip: mirror top to bottom.
    """

    shown: Sequence[str] = ("size", "vertical_flip")

    def __init__(self, size: Side, vertical_flip: bool = False):
        super().__init__(size)
        self.vertical_flip = vertical_flip

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the ten images."""
        return F.ten_crop(img, self.size, self.vertical_flip)


class RandomCrop(ImageTransform):
    """Crops an image at a random place.

    Args:
        size: height and width, or one number for both.
        padding: a border that is added first, as in ``Pad``.
        pad_if_needed: pad an image that is smaller than ``size``.
        fill, padding_mode: as in ``Pad``.

    Raises:
        ValueError: (when called) the image is too small.

    Example:
        >>> from tinynet.compat.vision import transforms
        >>> transforms.RandomCrop(28, padding=2)(tn.ones(1, 28, 28)).shape
        tinynet.Size([1, 28, 28])
    """

    shown: Sequence[str] = ("size", "padding")

    def __init__(
        self,
        size: Side,
        padding: Side | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: Mode = "constant",
    ):
        super().__init__()
        self.size = height_and_width(size, "RandomCrop")
        self.padding, self.pad_if_needed = padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    @staticmethod
    def get_params(img: Any, output_size: Sequence[int]) -> tuple[int, int, int, int]:
        """Return the top, left, height and width of a random crop."""
        return _random_box(F.get_dimensions(img)[1:], output_size)

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the border, and the crop in the padded image."""
        _, rows, columns = F.get_dimensions(img)
        left, top, right, bottom = (0, 0, 0, 0) if self.padding is None else sides(self.padding)
        if self.pad_if_needed:
            across = max(0, self.size[1] - columns - left - right)
            down = max(0, self.size[0] - rows - top - bottom)
            left, top, right, bottom = left + across, top + down, right + across, bottom + down
        padded = rows + top + bottom, columns + left + right
        return [left, top, right, bottom], _random_box(padded, self.size)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the crop of the padded image."""
        border, box = params
        if any(border):
            img = F.pad(img, border, self.fill, self.padding_mode)
        return F.crop(img, *box)


def _random_box(image: Sequence[int], size: Sequence[int]) -> tuple[int, int, int, int]:
    (rows, columns), (height, width) = image, size
    if rows < height or columns < width:
        raise ValueError(
            f"Required crop size {(height, width)} is larger than input image size "
            f"{(rows, columns)}"
        )
    top = int(generator().integers(rows - height + 1))
    return top, int(generator().integers(columns - width + 1)), height, width


class RandomResizedCrop(ImageTransform):
    """Crops a random part of an image and resizes it.

    Args:
        size: height and width of the result, or one number for both.
        scale: the smallest and largest fraction of the area to crop.
        ratio: the smallest and largest width of the crop, divided by its height.
        interpolation, antialias: as in ``Resize``.

    Source: Szegedy et al., Going Deeper with Convolutions (2014), https://arxiv.org/abs/1409.4842
    """

    shown: Sequence[str] = ("size", "scale", "ratio", "interpolation", "antialias")

    def __init__(
        self,
        size: Side,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: InterpolationMode | str | int = _BILINEAR,
        antialias: bool | None = True,
    ):
        super().__init__()
        self.size = height_and_width(size, "RandomResizedCrop")
        if not isinstance(scale, Sequence) or not isinstance(ratio, Sequence):
            raise TypeError("Scale and ratio should be sequences")
        self.scale, self.ratio = scale, ratio
        self.interpolation, self.antialias = interpolation_mode(interpolation), antialias

    @staticmethod
    def get_params(
        img: Any, scale: Sequence[float], ratio: Sequence[float]
    ) -> tuple[int, int, int, int]:
        """Return the top, left, height and width of a random crop."""
        return random_crop_box(generator(), F.get_dimensions(img)[1:], scale, ratio)

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the crop."""
        return self.get_params(img, self.scale, self.ratio)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the resized crop."""
        top, left, height, width = params
        options = (self.size, self.interpolation, self.antialias)
        return F.resized_crop(img, top, left, height, width, *options)

    def __repr__(self) -> str:
        scale, ratio = (tuple(round(x, 4) for x in limits) for limits in (self.scale, self.ratio))
        return (
            f"RandomResizedCrop(size={self.size}, scale={scale}, ratio={ratio}, "
            f"interpolation={self.interpolation.value}, antialias={self.antialias})"
        )


class RandomErasing(Randomly):
    """Overwrites a random rectangle of a tensor with a given probability.

    Args:
        p: the probability.
        scale: the smallest and largest fraction of the area to overwrite.
        ratio: the smallest and largest height of the rectangle, divided by its width.
        value: the fill value: a number, one per channel, or ``"random"`` for normal noise.
        inplace: write into the given tensor.

    Source: Zhong et al., Random Erasing Data Augmentation (2017), https://arxiv.org/abs/1708.04896
    """

    shown: Sequence[str] = ("p", "scale", "ratio", "value", "inplace")

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
    ):
        super().__init__(p)
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        if not 0 <= scale[0] <= scale[1] <= 1:
            raise ValueError("Scale should be between 0 and 1")
        if not 0 < ratio[0] <= ratio[1]:
            raise ValueError(f"Ratio should be of kind (min, max). Got {ratio}")
        self.scale, self.ratio, self.value, self.inplace = scale, ratio, value, inplace

    @staticmethod
    def get_params(
        img: Tensor, scale: Sequence[float], ratio: Sequence[float], value: Any = None
    ) -> tuple[int, int, int, int, Any]:
        """Return a rectangle (top, left, height, width) and its values; None is normal noise."""
        channels, rows, columns = F.get_dimensions(img)
        box = random_rectangle(generator(), (rows, columns), scale, ratio)
        if box is None:
            return 0, 0, rows, columns, img
        if value is None:
            return *box, randn(channels, *box[2:], dtype=img.dtype)
        return *box, tensor(value, dtype=img.dtype).reshape(-1, 1, 1)

    def params(self, img: Any) -> tuple[Any, ...] | None:
        """Return the rectangle and its values."""
        if super().params(img) is None:
            return None
        value = None if self.value == "random" else self.value
        return self.get_params(img, self.scale, self.ratio, value)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the image with the rectangle overwritten."""
        top, left, height, width, value = params
        return F.erase(img, top, left, height, width, value, self.inplace)
