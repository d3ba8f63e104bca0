"""Resizing, padding and center cropping."""

from __future__ import annotations  # avoids importing numpy.random, which loads slowly

import functools
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.base import RandomTransform, Transform, check_range, image_array
from tinynet.dtypes import Array
from tinynet.random import Generator

__all__ = ["CenterCrop", "FiveCrop", "Pad", "RandomResizedCrop", "Resize", "TenCrop"]


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
    """The crops of ``FiveCrop``, of the image and of its mirror image.

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


Interpolation = Literal["nearest", "nearest-exact", "bilinear", "bicubic"]


class Resize(Transform):
    """Resizes an image.

    Args:
        size: height and width; or one number, to which the shorter side is resized, with the same
            ratio of the sides.
        interpolation: ``"nearest"``, ``"nearest-exact"``, ``"bilinear"`` or ``"bicubic"``.
        max_size: with one number as ``size``, the maximum of the longer side; the shorter side
            becomes smaller if needed.
        antialias: when shrinking, average over all pixels that become one (with bilinear and
            bicubic interpolation), as Pillow does.

    Values are those of torchvision and PyTorch's ``interpolate`` up to rounding. Images of integers
    are computed in float32 and rounded.

    Source: R. Keys, Cubic convolution interpolation for digital image processing (1981), with the
    parameter -0.5, or -0.75 without antialiasing.

    Raises:
        ValueError: the size is not positive, or does not fit ``max_size``.
        TypeError: (when called) the input is not an image.

    Shape: ``(..., height, width)``.

    Example:
        >>> tn.data.transforms.Resize((1, 2))(tn.tensor([[0.0, 2.0, 4.0, 6.0]] * 3)).shape
        tinynet.Size([1, 2])
        >>> tn.data.transforms.Resize(8)(tn.ones(3, 16, 32)).shape
        tinynet.Size([3, 8, 16])
    """

    batched = True

    def __init__(
        self,
        size: Side,
        interpolation: Interpolation = "bilinear",
        max_size: int | None = None,
        antialias: bool = True,
    ):
        height, width = height_and_width(size, "Resize")
        self._is_exact = not isinstance(size, int) and len(size) == 2
        if max_size is not None and (self._is_exact or max_size <= height):
            raise ValueError(
                f"max_size = {max_size} must be strictly greater than the requested size for the "
                f"smaller edge, which must be one number. Got the size {size!r} instead."
            )
        self.size = (height, width) if self._is_exact else height
        self.interpolation = _checked(interpolation, "Resize")
        self.max_size = max_size
        self.antialias = antialias

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "Resize")
        size = self.size
        if isinstance(size, int):
            size = size_from_shorter(array.shape[-2:], size, self.max_size)
        return wrap(resized(array, size, self.interpolation, self.antialias))


class RandomResizedCrop(RandomTransform):
    """Crops a random part of an image and resizes it.

    Args:
        size: height and width of the result, or one number for both.
        scale: the smallest and largest fraction of the area to crop.
        ratio: the smallest and largest width of the crop, divided by its height.
        interpolation, antialias: as in ``Resize``.
        generator: the source of random numbers (the default generator).

    If no such crop fits after ten trials, it is the largest one in the center with a ratio in the
    range.

    Raises:
        ValueError: the size is not positive, or a range is invalid.
        TypeError: (when called) the input is not an image.

    Source: Szegedy et al., Going Deeper with Convolutions (2014), https://arxiv.org/abs/1409.4842

    Example:
        >>> crop = tn.data.transforms.RandomResizedCrop(8, scale=(0.5, 1))
        >>> crop(tn.ones(3, 20, 30)).shape
        tinynet.Size([3, 8, 8])
    """

    def __init__(
        self,
        size: Side,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: Interpolation = "bilinear",
        antialias: bool = True,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        name = type(self).__name__
        self.size = height_and_width(size, name)
        self.scale = check_range(scale, f"'scale' parameter of {name}", 0, 1)
        self.ratio = check_range(ratio, f"'ratio' parameter of {name}", 0, math.inf)
        if self.ratio[0] == 0:
            raise ValueError(f"The 'ratio' parameter of {name} must not be 0. Got {ratio} instead.")
        self.interpolation = _checked(interpolation, name)
        self.antialias = antialias

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "RandomResizedCrop")
        top, left, height, width = random_crop_box(
            self._numpy, array.shape[-2:], self.scale, self.ratio
        )
        part = array[..., top : top + height, left : left + width]
        return wrap(resized(part, self.size, self.interpolation, self.antialias))


def size_from_shorter(image: Sequence[int], shorter: int, max_size: int | None) -> tuple[int, int]:
    """Return the height and width of an image whose shorter side is resized to ``shorter``.

    Args:
        image: its height and width.
        shorter: the new length of the shorter side.
        max_size: the maximum of the longer side, to which the shorter one yields.
    """
    height, width = image
    longer = int(shorter * max(height, width) / min(height, width))
    if max_size is not None and longer > max_size:
        shorter, longer = int(max_size * shorter / longer), max_size
    return (shorter, longer) if height <= width else (longer, shorter)


def random_crop_box(
    generator: np.random.Generator,
    image: Sequence[int],
    scale: Sequence[float],
    ratio: Sequence[float],
) -> tuple[int, int, int, int]:
    """Return the top, left, height and width of the crop of a ``RandomResizedCrop``."""
    height, width = image
    least, most = (math.log(limit) for limit in ratio)
    for _ in range(10):
        area = height * width * generator.uniform(scale[0], scale[1])
        sides = math.exp(generator.uniform(least, most))
        w, h = round(math.sqrt(area * sides)), round(math.sqrt(area / sides))
        if 0 < w <= width and 0 < h <= height:
            top = int(generator.integers(height - h + 1))
            return top, int(generator.integers(width - w + 1)), h, w
    sides = min(max(width / height, ratio[0]), ratio[1])
    h, w = min(height, round(width / sides)), min(width, round(height * sides))
    h, w = max(h, 1), max(w, 1)
    return (height - h) // 2, (width - w) // 2, h, w


def resized(
    array: Array, size: tuple[int, int], interpolation: Interpolation, antialias: bool = True
) -> Array:
    """Return an array with another height and width (its last two dimensions)."""
    if array.shape[-2:] == size:
        return array.copy()
    if interpolation.startswith("nearest"):
        for axis, target in zip((-1, -2), reversed(size), strict=True):
            places = _nearest(array.shape[axis], target, interpolation == "nearest-exact")
            array = array.take(places, axis)
        return array
    result = array if array.dtype.kind == "f" else array.astype(np.float32)
    for axis, target in zip((-1, -2), reversed(size), strict=True):
        if result.shape[axis] != target:
            result = _filtered(result, axis, target, interpolation, antialias)
    return as_dtype(result, array.dtype)


def as_dtype(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return float values in a dtype; for integers, rounded and clipped to its range."""
    if dtype.kind == "f":
        return values.astype(dtype, copy=False)
    largest = 1 if dtype.kind == "b" else np.iinfo(dtype).max
    least = 0 if dtype.kind == "b" else np.iinfo(dtype).min
    return np.clip(np.rint(values), least, largest).astype(dtype)


def _nearest(size: int, target: int, centered: bool) -> Array:
    steps = 2 * np.arange(target) + centered
    return np.minimum(steps * size // (2 * target), size - 1)


def _filtered(
    array: Array, axis: int, target: int, interpolation: Interpolation, antialias: bool
) -> Array:
    places, weights = _taps(array.shape[axis], target, interpolation, antialias)
    shape = (-1,) + (1,) * (-axis - 1)
    total: Any = 0
    for tap in range(places.shape[1]):
        weight = weights[:, tap].reshape(shape).astype(array.dtype)
        part = array.take(places[:, tap], axis)
        total = total + np.where(weight == 0, array.dtype.type(0), part * weight)
    return total


@functools.lru_cache(256)
def _taps(
    size: int, target: int, interpolation: Interpolation, antialias: bool
) -> tuple[Array, Array]:
    """Return the places from which each new pixel comes, and their weights: (target, taps)."""
    radius, scale = (1 if interpolation == "bilinear" else 2), size / target
    centers = scale * (np.arange(target)[:, None] + 0.5)
    if antialias:
        width = max(scale, 1.0)
        first = np.maximum((centers - radius * width + 0.5).astype(int), 0)
        last = np.minimum((centers + radius * width + 0.5).astype(int), size)
        places = first + np.arange(math.ceil(radius * width) * 2 + 1)
        distances = (places - centers + 0.5) / width
        weights = np.where(places < last, _kernel(distances, interpolation, -0.5), 0)
    else:
        positions = centers - 0.5
        if interpolation == "bilinear":
            positions = np.maximum(positions, 0)
        places = np.floor(positions).astype(int) + np.arange(1 - radius, radius + 1)
        weights = _kernel(places - positions, interpolation, -0.75)
    weights = weights / weights.sum(1, keepdims=True)
    used = weights.any(0)
    return np.clip(places, 0, size - 1)[:, used], weights[:, used]


def _kernel(x: Array, interpolation: Interpolation, a: float) -> Array:
    """Return the weights at distances: a triangle, or Keys' cubic with the parameter a."""
    x = np.abs(x)
    if interpolation == "bilinear":
        return np.maximum(1 - x, 0)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _checked(interpolation: Interpolation, name: str) -> Interpolation:
    known = ("nearest", "nearest-exact", "bilinear", "bicubic")
    if interpolation not in known:
        raise ValueError(
            f"The 'interpolation' parameter of {name} must be one of {', '.join(known)}. "
            f"Got {interpolation!r} instead."
        )
    return interpolation
