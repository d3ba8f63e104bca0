"""Random transforms for data augmentation. They draw from their generator or the default one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.base import (
    Compose,
    RandomTransform,
    Range,
    WithProbability,
    check_range,
    image_array,
)
from tinynet.data.transforms.geometry import Mode, Side, as_dtype, height_and_width, padded, sides
from tinynet.dtypes import Array
from tinynet.random import Generator

__all__ = [
    "GaussianBlur",
    "GaussianNoise",
    "RandomApply",
    "RandomChoice",
    "RandomCrop",
    "RandomErasing",
    "RandomHorizontalFlip",
    "RandomOrder",
    "RandomRotation90",
    "RandomVerticalFlip",
]


# ---- noise --------------------------------------------------------------------------------------
# Blurring and noise.


class GaussianBlur(RandomTransform):
    """Blurs an image with a Gaussian kernel of random width.

    The weight of a pixel at distance d is proportional to ``exp(-d**2 / (2 * sigma**2))``; the
    image is mirrored at its borders.

    Args:
        kernel_size: the width and height of the kernel in pixels, odd; or one number for both.
        sigma: the range of the standard deviation in pixels, or a fixed one.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: an argument is invalid; or (when called) the image is smaller than half the
            kernel.
        TypeError: (when called) the input is not an image.

    Example:
        >>> tn.data.transforms.GaussianBlur(3)(tn.ones(1, 8, 8)).shape
        tinynet.Size([1, 8, 8])
    """

    def __init__(
        self, kernel_size: Side, sigma: Range = (0.1, 2.0), *, generator: Generator | None = None
    ):
        super().__init__(generator)
        self.kernel_size = height_and_width(kernel_size, "GaussianBlur")
        if any(size % 2 == 0 for size in self.kernel_size):
            raise ValueError(
                "Kernel size value should be an odd and positive number. "
                f"Got {kernel_size!r} instead."
            )
        given = [sigma, sigma] if isinstance(sigma, float | int) else sigma
        self.sigma = check_range(given, "'sigma' parameter of GaussianBlur", 0, math.inf)
        if self.sigma[0] == 0:
            raise ValueError(f"sigma should be positive. Got {sigma!r} instead.")

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "GaussianBlur")
        sigma = self._uniform(self.sigma)
        return wrap(blurred(array, self.kernel_size, (sigma, sigma)))


class GaussianNoise(RandomTransform):
    """Adds normal noise to an image.

    ``x + mean + sigma * randn()``

    Args:
        mean, sigma: the mean and the standard deviation of the noise.
        clip: whether to clip the result to the range from 0 to 1.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``sigma`` is negative, or (when called) the image has no floats.
        TypeError: (when called) the input is not an image.

    Example:
        >>> noisy = tn.data.transforms.GaussianNoise(sigma=0.1)(tn.zeros(1, 8, 8))
        >>> bool(noisy.min() >= 0), bool(noisy.max() > 0)
        (True, True)
    """

    def __init__(
        self,
        mean: float = 0.0,
        sigma: float = 0.1,
        clip: bool = True,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        if sigma < 0:
            raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
        self.mean = mean
        self.sigma = sigma
        self.clip = clip

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "GaussianNoise")
        if array.dtype.kind != "f":
            raise ValueError(f"Input tensor is expected to be float dtype, got {array.dtype}.")
        noise = self._numpy.standard_normal(array.shape) * self.sigma + self.mean
        noisy = array + np.asarray(noise, array.dtype)
        return wrap(noisy.clip(0, 1) if self.clip else noisy)


def blurred(array: Array, kernel_size: Sequence[int], sigma: Sequence[float]) -> Array:
    """Return an image convolved with a Gaussian; sizes and deviations are across, then down."""
    width, height = kernel_size
    border = (width // 2, height // 2, width // 2, height // 2)
    values = array if array.dtype.kind == "f" else array.astype(np.float32)
    values = padded(values, border, 0, "reflect")
    for axis, size, deviation in ((-1, width, sigma[0]), (-2, height, sigma[1])):
        weights = _gaussian(size, deviation).astype(values.dtype)
        count = values.shape[axis] - size + 1
        parts = [values.take(range(first, first + count), axis) for first in range(size)]
        values = np.sum([p * w for p, w in zip(parts, weights, strict=True)], axis=0)
    return as_dtype(values, array.dtype)


def _gaussian(size: int, sigma: float) -> Array:
    places = np.arange(size) - size // 2
    weights = np.exp(-((places / sigma) ** 2) / 2)
    return weights / weights.sum()


# ---- augmentation -------------------------------------------------------------------------------


class _RandomFlip(WithProbability):
    """Base class of transforms that reverse a dimension with a probability."""

    _dim: int

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, type(self).__name__)
        return wrap(np.flip(array, self._dim).copy()) if self._is_applied() else image


class RandomCrop(RandomTransform):
    """Crops an image at a random position.

    Args:
        size: height and width, or one number for both.
        padding: a border added around the image first, as in ``Pad``.
        pad_if_needed: pad an image that is smaller than ``size``.
        fill, padding_mode: the contents of the border, as in ``Pad``.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: if the image is too small.

    Example:
        >>> crop = tn.data.transforms.RandomCrop(28, padding=2)
        >>> crop(tn.ones(1, 28, 28)).shape
        tinynet.Size([1, 28, 28])
    """

    def __init__(
        self,
        size: Side,
        padding: Side | None = None,
        pad_if_needed: bool = False,
        fill: float = 0,
        padding_mode: Mode = "constant",
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        self.size = height_and_width(size, "RandomCrop")
        self.padding = padding
        self._border = None if padding is None else sides(padding)
        self._pad_if_needed = pad_if_needed
        self._fill, self._mode = fill, padding_mode

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "RandomCrop")
        if self._border is not None:
            array = padded(array, self._border, self._fill, self._mode)
        height, width = self.size
        if self._pad_if_needed:
            down, across = (max(0, n - m) for n, m in zip(self.size, array.shape[-2:], strict=True))
            array = padded(array, (across, down, across, down), self._fill, self._mode)
        rows, columns = array.shape[-2:]
        if rows < height or columns < width:
            raise ValueError(
                f"Required crop size {self.size} is larger than input image size {(rows, columns)}"
            )
        top = int(self._numpy.integers(rows - height + 1))
        left = int(self._numpy.integers(columns - width + 1))
        return wrap(array[..., top : top + height, left : left + width])


class RandomHorizontalFlip(_RandomFlip):
    """Mirrors an image left to right with a given probability.

    Args:
        p: the probability.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: if ``p`` is not between 0 and 1.
        TypeError: (when called) if the input is not an image.

    Example:
        >>> tn.data.transforms.RandomHorizontalFlip(p=1)(tn.tensor([[1, 2]]))
        tensor([[2, 1]])
    """

    _dim = -1


class RandomVerticalFlip(_RandomFlip):
    """Mirrors an image top to bottom with a given probability.

    Args:
        p: the probability.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: if ``p`` is not between 0 and 1.
        TypeError: (when called) if the input is not an image.

    Example:
        >>> tn.data.transforms.RandomVerticalFlip(p=1)(tn.tensor([[1], [2]]))
        tensor([[2],
                [1]])
    """

    _dim = -2


class RandomRotation90(RandomTransform):
    """Rotates an image by 0, 90, 180 or 270 degrees with equal probability.

    Images should be square: rotation by 90 degrees changes the shape of others.

    Args:
        generator: the source of random numbers (the default generator).

    Raises:
        TypeError: (when called) the input is not an image.

    Example:
        >>> tn.data.transforms.RandomRotation90()(tn.ones(3, 8, 8)).shape
        tinynet.Size([3, 8, 8])
    """

    def __init__(self, *, generator: Generator | None = None):
        super().__init__(generator)

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "RandomRotation90")
        return wrap(np.rot90(array, int(self._numpy.integers(4)), (-2, -1)).copy())


class RandomErasing(WithProbability):
    """Overwrites a random rectangle of an image with a given probability.

    Args:
        p: the probability.
        scale: the smallest and largest fraction of the area to overwrite.
        ratio: the smallest and largest height of the rectangle, divided by its width.
        value: the fill value: a number, one per channel, or ``"random"`` for normal noise.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: an argument is out of range.
        TypeError: (when called) the input is not an image.

    Source: Zhong et al., Random Erasing Data Augmentation (2017), https://arxiv.org/abs/1708.04896

    Example:
        >>> _ = tn.manual_seed(0)
        >>> erased = tn.data.transforms.RandomErasing(p=1)(tn.ones(1, 8, 8))
        >>> bool(erased.min() == 0), bool(erased.max() == 1)
        (True, True)
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: tuple[float, float] = (0.02, 0.33),
        ratio: tuple[float, float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(p, generator=generator)
        if not 0 <= scale[0] <= scale[1] <= 1:
            raise ValueError(f"Scale should be between 0 and 1. Got {scale} instead.")
        if not 0 < ratio[0] <= ratio[1]:
            raise ValueError(f"Ratio should be of kind (min, max). Got {ratio} instead.")
        if isinstance(value, str) and value != "random":
            raise ValueError(f"If value is str, it should be 'random'. Got {value!r} instead.")
        self.scale = scale
        self.ratio = ratio
        self.value = value

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "RandomErasing")
        if not self._is_applied():
            return image
        box = random_rectangle(self._numpy, array.shape[-2:], self.scale, self.ratio)
        if box is None:
            return image
        top, left, h, w = box
        array = array.copy()
        part = array[..., top : top + h, left : left + w]
        if self.value == "random":
            part[...] = self._numpy.standard_normal(part.shape)
        else:
            part[...] = np.asarray(self.value).reshape(-1, 1, 1)
        return wrap(array)


def random_rectangle(
    generator: np.random.Generator,
    image: Sequence[int],
    scale: Sequence[float],
    ratio: Sequence[float],
) -> tuple[int, int, int, int] | None:
    """Return the top, left, height and width of what ``RandomErasing`` overwrites, if any fits."""
    height, width = image
    least, most = (math.log(limit) for limit in ratio)
    for _ in range(10):
        area = height * width * generator.uniform(scale[0], scale[1])
        sides = math.exp(generator.uniform(least, most))
        h, w = round(math.sqrt(area * sides)), round(math.sqrt(area / sides))
        if h < height and w < width:
            top = int(generator.integers(height - h + 1))
            return top, int(generator.integers(width - w + 1)), h, w
    return None


class RandomApply(WithProbability):
    """Applies a sequence of transforms with a given probability: all of them, or none.

    Args:
        transforms: functions of one argument.
        p: the probability.
        generator: the source of this decision (the default generator).

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> T = tn.data.transforms
        >>> T.RandomApply([T.Pad(1), T.Pad(1)], p=1)(tn.ones(1, 1)).shape
        tinynet.Size([5, 5])
    """

    def __init__(
        self,
        transforms: Sequence[Callable[[Any], Any]],
        p: float = 0.5,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(p, generator=generator)
        self._compose = Compose(transforms)

    @property
    def transforms(self) -> list[Callable[[Any], Any]]:
        """The transforms."""
        return self._compose.transforms

    def __repr__(self) -> str:
        lines = "".join(f"\n    {transform!r}" for transform in self.transforms)
        return f"RandomApply(\n    p={self.p}{lines}\n)"

    def __call__(self, image: Any) -> Any:
        return self._compose(image) if self._is_applied() else image


class RandomChoice(RandomTransform):
    """Applies one transform of a list, chosen at random.

    Args:
        transforms: functions of one argument.
        p: their probabilities, in any scale (by default, all are equal).
        generator: the source of this decision (the default generator).

    Raises:
        ValueError: there are no transforms, or not as many as ``p`` has numbers.

    Example:
        >>> T = tn.data.transforms
        >>> T.RandomChoice([T.Pad(1), T.Pad(2)], p=[0, 1])(tn.ones(1, 1)).shape
        tinynet.Size([5, 5])
    """

    def __init__(
        self,
        transforms: Sequence[Callable[[Any], Any]],
        p: Sequence[float] | None = None,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        self.transforms = Compose(transforms).transforms
        weights = [1.0] * len(self.transforms) if p is None else [float(weight) for weight in p]
        if len(weights) != len(self.transforms):
            raise ValueError(
                "Length of p doesn't match the number of transforms: "
                f"{len(weights)} != {len(self.transforms)}"
            )
        if not weights or min(weights) < 0 or not 0 < sum(weights) < math.inf:
            raise ValueError(
                "The 'p' parameter of RandomChoice must hold probabilities of its transforms. "
                f"Got {weights} instead."
            )
        self.p = [weight / sum(weights) for weight in weights]

    def __call__(self, image: Any) -> Any:
        return self.transforms[int(self._numpy.choice(len(self.p), p=self.p))](image)


class RandomOrder(RandomTransform):
    """Applies all transforms of a list in random order.

    Args:
        transforms: functions of one argument.
        generator: the source of the order (the default generator).

    Raises:
        TypeError: an element is not callable.

    Example:
        >>> T = tn.data.transforms
        >>> T.RandomOrder([T.Pad(1), T.Pad(2)])(tn.ones(1, 1)).shape
        tinynet.Size([7, 7])
    """

    def __init__(
        self,
        transforms: Sequence[Callable[[Any], Any]],
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        self.transforms = Compose(transforms).transforms

    def __call__(self, image: Any) -> Any:
        for index in self._numpy.permutation(len(self.transforms)).tolist():
            image = self.transforms[index](image)
        return image
