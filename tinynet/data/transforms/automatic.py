"""Automatic augmentation: random operations of random or fixed magnitudes."""

from __future__ import annotations  # avoids importing numpy.random, which loads slowly

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms import adjustments as colors
from tinynet.data.transforms import policies
from tinynet.data.transforms.affine import (
    Fill,
    Interpolation,
    checked_interpolation,
    inverse_map,
    linear_map,
    old_places,
    sampled,
)
from tinynet.data.transforms.color import colored_array
from tinynet.data.transforms.random_base import RandomTransform
from tinynet.dtypes import Array
from tinynet.random import Generator

__all__ = ["AugMix", "AutoAugment", "RandAugment", "TrivialAugmentWide"]


class _Automatic(RandomTransform):
    """Base class of transforms that apply random operations."""

    def __init__(self, interpolation: Interpolation, fill: Fill, generator: Generator | None):
        super().__init__(generator)
        self.interpolation = checked_interpolation(interpolation, type(self).__name__)
        self.fill = fill

    def _draw(self, size: Sequence[int]) -> list[policies.Operation]:
        raise NotImplementedError

    def __call__(self, image: Tensor) -> Tensor:
        array = colored_array(image, type(self).__name__)
        return wrap(self._applied(array, self._draw(array.shape[-2:])))

    def _applied(self, array: Array, operations: Sequence[policies.Operation]) -> Array:
        for name, magnitude in operations:
            array = self._apply(array, name, magnitude)
        return array

    def _apply(self, array: Array, name: str, magnitude: float) -> Array:
        if name in _PLACES:
            options: Any = _PLACES[name](magnitude)
            return _warped(array, self.interpolation, self.fill, **options)
        return _VALUES[name](array, magnitude)


class RandAugment(_Automatic):
    """Applies random operations of one magnitude.

    The operations are rotations, shears, moves, brightness, color, contrast, sharpness, fewer bits,
    solarization, stretched and flat histograms, and none.

    Args:
        num_ops: the number of operations.
        magnitude: their strength, from 0 to ``num_magnitude_bins - 1``.
        num_magnitude_bins: the number of strengths.
        interpolation: ``"nearest"`` or ``"bilinear"``.
        fill: the value outside the image, or one per channel.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: an argument is out of range.
        TypeError: (when called) the input is not an image with one or three channels.

    Source: Cubuk et al., RandAugment (2019), https://arxiv.org/abs/1909.13719

    Example:
        >>> tn.data.transforms.RandAugment()(tn.ones(3, 8, 8)).shape
        tinynet.Size([3, 8, 8])
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Interpolation = "nearest",
        fill: Fill = 0,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(interpolation, fill, generator)
        if num_magnitude_bins < 2 or not 0 <= magnitude < num_magnitude_bins:
            raise ValueError(
                "The 'magnitude' parameter of RandAugment must be from 0 to num_magnitude_bins - 1."
                f" Got {magnitude} instead, with {num_magnitude_bins} bins."
            )
        self.num_ops, self.magnitude = num_ops, magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def _draw(self, size: Sequence[int]) -> list[policies.Operation]:
        options = self.num_ops, self.magnitude, self.num_magnitude_bins
        return policies.draw_rand(self._numpy, size, *options)


class TrivialAugmentWide(_Automatic):
    """Applies one random operation of a random magnitude.

    Args:
        num_magnitude_bins: the number of magnitudes.
        interpolation: ``"nearest"`` or ``"bilinear"``.
        fill: the value outside the image, or one per channel.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: there are fewer than two magnitudes.
        TypeError: (when called) the input is not an image with one or three channels.

    Source: Müller and Hutter, TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation
    (2021), https://arxiv.org/abs/2103.10158

    Example:
        >>> tn.data.transforms.TrivialAugmentWide()(tn.ones(1, 8, 8)).shape
        tinynet.Size([1, 8, 8])
    """

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: Interpolation = "nearest",
        fill: Fill = 0,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(interpolation, fill, generator)
        if num_magnitude_bins < 2:
            raise ValueError(
                "The 'num_magnitude_bins' parameter of TrivialAugmentWide must be at least 2. "
                f"Got {num_magnitude_bins} instead."
            )
        self.num_magnitude_bins = num_magnitude_bins

    def _draw(self, size: Sequence[int]) -> list[policies.Operation]:
        return policies.draw_trivial(self._numpy, self.num_magnitude_bins)


class AutoAugment(_Automatic):
    """Applies two operations of a random sub-policy, which was found for a data set.

    Args:
        policy: ``"imagenet"``, ``"cifar10"`` or ``"svhn"``.
        interpolation: ``"nearest"`` or ``"bilinear"``.
        fill: the value outside the image, or one per channel.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: there is no such policy.
        TypeError: (when called) the input is not an image with one or three channels.

    Source: Cubuk et al., AutoAugment: Learning Augmentation Policies from Data (2018),
    https://arxiv.org/abs/1805.09501

    Example:
        >>> tn.data.transforms.AutoAugment("cifar10")(tn.ones(3, 8, 8)).shape
        tinynet.Size([3, 8, 8])
    """

    def __init__(
        self,
        policy: Literal["imagenet", "cifar10", "svhn"] = "imagenet",
        interpolation: Interpolation = "nearest",
        fill: Fill = 0,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(interpolation, fill, generator)
        if policy not in policies.POLICIES:
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.policy = policy

    def _draw(self, size: Sequence[int]) -> list[policies.Operation]:
        return policies.draw_auto(self._numpy, size, self.policy)


class AugMix(_Automatic):
    """Averages an image with results of random chains of operations, with random weights.

    Args:
        severity: the strongest magnitude, from 1 to 10.
        mixture_width: the number of chains.
        chain_depth: the number of operations of a chain; -1 draws it from 1 to 3.
        alpha: the parameter of the distributions of the weights.
        all_ops: whether brightness, color, contrast and sharpness are among the operations.
        interpolation: ``"nearest"`` or ``"bilinear"``.
        fill: the value outside the image, or one per channel.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``severity`` is out of range.
        TypeError: (when called) the input is not an image with one or three channels.

    Source: Hendrycks et al., AugMix (2019), https://arxiv.org/abs/1912.02781

    Example:
        >>> tn.data.transforms.AugMix()(tn.ones(3, 8, 8)).shape
        tinynet.Size([3, 8, 8])
    """

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: Interpolation = "bilinear",
        fill: Fill = 0,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(interpolation, fill, generator)
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth = severity, mixture_width, chain_depth
        self.alpha, self.all_ops = alpha, all_ops

    def __call__(self, image: Tensor) -> Tensor:
        array = colored_array(image, "AugMix")
        options = self.severity, self.mixture_width, self.chain_depth, self.alpha, self.all_ops
        drawn = policies.draw_mix(self._numpy, array.shape[-2:], *options)
        total: Array = colors.as_floats(array) * np.float32(drawn.own)
        for weight, chain in zip(drawn.weights, drawn.chains, strict=True):
            total = total + self._applied(array, chain) * np.float32(weight)
        return wrap(total.astype(array.dtype))


# ---- the operations ----

_PLACES: dict[str, Callable[[float], dict[str, Any]]] = {
    "ShearX": lambda x: {"shear": (math.degrees(math.atan(x)), 0.0), "center": (0, 0)},
    "ShearY": lambda x: {"shear": (0.0, math.degrees(math.atan(x))), "center": (0, 0)},
    "TranslateX": lambda x: {"moved": (int(x), 0)},
    "TranslateY": lambda x: {"moved": (0, int(x))},
    "Rotate": lambda x: {"angle": -x},
}

_VALUES: dict[str, Callable[[Array, float], Array]] = {
    "Identity": lambda array, _: array,
    "Brightness": lambda array, x: colors.with_brightness(array, 1.0 + x),
    "Color": lambda array, x: colors.with_saturation(array, 1.0 + x),
    "Contrast": lambda array, x: colors.with_contrast(array, 1.0 + x),
    "Sharpness": lambda array, x: colors.with_sharpness(array, 1.0 + x),
    "Posterize": lambda array, x: colors.posterized(array, int(x)),
    "Solarize": lambda array, x: colors.solarized(array, x / 255 * colors.bound_of(array)),
    "AutoContrast": lambda array, _: colors.with_autocontrast(array),
    "Equalize": lambda array, _: colors.equalized(array),
    "Invert": lambda array, _: colors.inverted(array),
}


def _warped(
    array: Array,
    interpolation: Interpolation,
    fill: Fill,
    angle: float = 0.0,
    moved: Sequence[float] = (0, 0),
    shear: Sequence[float] = (0.0, 0.0),
    center: Sequence[float] | None = None,
) -> Array:
    size = array.shape[-2:]
    inverse = inverse_map(linear_map(angle, 1.0, shear), size, center, moved)
    return sampled(array, old_places(inverse, size, size), interpolation, fill)
