"""Transforms of colors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.compat.vision.transforms import functional as F
from tinynet.compat.vision.transforms.base import ImageTransform, Randomly, generator, uniform

__all__ = [
    "ColorJitter",
    "Grayscale",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomEqualize",
    "RandomGrayscale",
    "RandomInvert",
    "RandomPosterize",
    "RandomSolarize",
]

_ADJUST = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)


class ColorJitter(ImageTransform):
    """Changes brightness, contrast, saturation and hue at random, in random order.

    Args:
        brightness, contrast, saturation: the range of the factor; a number x means from
            max(0, 1 - x) to 1 + x.
        hue: the range of the shift of the hue, within -0.5 to 0.5; a number x means from -x to x.

    Raises:
        ValueError: a range is invalid.

    Example:
        >>> from tinynet.compat.vision import transforms
        >>> transforms.ColorJitter(brightness=0.5)
        ColorJitter(brightness=(0.5, 1.5), contrast=None, saturation=None, hue=None)
    """

    shown: Sequence[str] = ("brightness", "contrast", "saturation", "hue")

    def __init__(
        self,
        brightness: float | Sequence[float] | None = 0,
        contrast: float | Sequence[float] | None = 0,
        saturation: float | Sequence[float] | None = 0,
        hue: float | Sequence[float] | None = 0,
    ):
        super().__init__()
        self.brightness = _range(brightness, "brightness", 1.0, (0.0, float("inf")))
        self.contrast = _range(contrast, "contrast", 1.0, (0.0, float("inf")))
        self.saturation = _range(saturation, "saturation", 1.0, (0.0, float("inf")))
        self.hue = _range(hue, "hue", 0.0, (-0.5, 0.5))

    @staticmethod
    def get_params(
        brightness: Sequence[float] | None,
        contrast: Sequence[float] | None,
        saturation: Sequence[float] | None,
        hue: Sequence[float] | None,
    ) -> tuple[Any, ...]:
        """Return a random order of the four changes, and their factors."""
        order = generator().permutation(4)
        limits = (brightness, contrast, saturation, hue)
        return order, *(None if limit is None else uniform(*limit) for limit in limits)

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the order and the factors."""
        return self.get_params(self.brightness, self.contrast, self.saturation, self.hue)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the changed image."""
        order, *factors = params
        for index in order.tolist():
            if factors[index] is not None:
                img = _ADJUST[index](img, factors[index])
        return img


def _range(
    value: float | Sequence[float] | None, name: str, center: float, bounds: tuple[float, float]
) -> tuple[float, float] | None:
    """Return a range of factors; None if it changes nothing."""
    if value is None:
        return None
    if isinstance(value, int | float):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be non negative.")
        value = [center - value, center + value]
        value[0] = max(value[0], bounds[0]) if center == 1 else value[0]
    elif len(value) != 2:
        raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
    low, high = float(value[0]), float(value[1])
    if not bounds[0] <= low <= high <= bounds[1]:
        raise ValueError(f"{name} values should be between {bounds}, but got {[low, high]}.")
    return None if low == high == center else (low, high)


class Grayscale(ImageTransform):
    """Converts an image to gray.

    Args:
        num_output_channels: 1, or 3 equal ones.
    """

    shown: Sequence[str] = ("num_output_channels",)

    def __init__(self, num_output_channels: int = 1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the gray image."""
        return F.rgb_to_grayscale(img, self.num_output_channels)


class RandomGrayscale(Randomly):
    """Converts an image to gray with a given probability; it keeps its number of channels.

    Args:
        p: the probability.
    """

    def __init__(self, p: float = 0.1):
        super().__init__(p)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the gray image."""
        return F.rgb_to_grayscale(img, F.get_image_num_channels(img))


class RandomInvert(Randomly):
    """Inverts the colors of an image with a given probability.

    Args:
        p: the probability.
    """

    function = staticmethod(F.invert)


class RandomAutocontrast(Randomly):
    """Stretches each channel to the full range of values, with a given probability.

    Args:
        p: the probability.
    """

    function = staticmethod(F.autocontrast)


class RandomEqualize(Randomly):
    """Gives each channel a flat histogram, with a given probability.

    Args:
        p: the probability.
    """

    function = staticmethod(F.equalize)


class _WithNumber(Randomly):
    """Base class of random transforms with one number."""

    def __repr__(self) -> str:
        (name,) = self.shown
        return f"{type(self).__name__}({name}={getattr(self, name)},p={self.p})"


class RandomPosterize(_WithNumber):
    """Keeps the first bits of each value with a given probability.

    Args:
        bits: their number.
        p: the probability.
    """

    shown: Sequence[str] = ("bits",)

    def __init__(self, bits: int, p: float = 0.5):
        super().__init__(p)
        self.bits = bits

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the image with fewer bits."""
        return F.posterize(img, self.bits)


class RandomSolarize(_WithNumber):
    """Inverts the values that reach a threshold with a given probability.

    Args:
        threshold: the threshold.
        p: the probability.
    """

    shown: Sequence[str] = ("threshold",)

    def __init__(self, threshold: float, p: float = 0.5):
        super().__init__(p)
        self.threshold = threshold

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the solarized image."""
        return F.solarize(img, self.threshold)


class RandomAdjustSharpness(_WithNumber):
    """Sharpens or blurs an image with a given probability.

    Args:
        sharpness_factor: 0 blurs, 1 changes nothing, 2 sharpens.
        p: the probability.
    """

    shown: Sequence[str] = ("sharpness_factor",)

    def __init__(self, sharpness_factor: float, p: float = 0.5):
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the sharpened or blurred image."""
        return F.adjust_sharpness(img, self.sharpness_factor)
