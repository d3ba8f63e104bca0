"""The operations, magnitudes and random choices of automatic augmentation.

Sources: Cubuk et al., AutoAugment (2018), https://arxiv.org/abs/1805.09501; Cubuk et al.,
RandAugment (2019), https://arxiv.org/abs/1909.13719; Müller and Hutter, TrivialAugment (2021),
https://arxiv.org/abs/2103.10158; Hendrycks et al., AugMix (2019), https://arxiv.org/abs/1912.02781.
The magnitudes are torchvision's, which have the papers' ranges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms import color as colors
from tinynet.data.transforms.base import RandomTransform
from tinynet.data.transforms.color import colored_array
from tinynet.data.transforms.warps import (
    Fill,
    Interpolation,
    checked_interpolation,
    inverse_map,
    linear_map,
    old_places,
    sampled,
)
from tinynet.dtypes import Array
from tinynet.random import Generator

__all__ = ["AugMix", "AutoAugment", "RandAugment", "TrivialAugmentWide"]


Operation = tuple[str, float]
"""The name of an operation, and its magnitude."""

_COLORS = ("Brightness", "Color", "Contrast", "Sharpness")
_WITHOUT = ("AutoContrast", "Equalize")  # any magnitude


class Magnitudes(NamedTuple):
    """The magnitudes of an operation, from weak to strong; none if it has just one form."""

    values: Array
    signed: bool


Space = dict[str, Magnitudes]


def space_of(
    bins: int,
    moves: Sequence[float],
    shear: float = 0.3,
    turn: float = 30.0,
    color: float = 0.9,
    bits: tuple[int, int] = (8, 4),
) -> Space:
    """Return the operations and their magnitudes.

    Args:
        bins: the number of magnitudes of each operation.
        moves: the largest moves across and down, in pixels.
        shear: the largest tangent of a shear.
        turn: the largest angle, in degrees.
        color: the largest change of a factor.
        bits: the most and the fewest bits of ``Posterize``, whose difference is that of its range.

    Example:
        >>> from tinynet.data.transforms.policies import space_of
        >>> space_of(4, (10, 10))["Rotate"].values.tolist()
        [0.0, 10.0, 20.0, 30.0]
    """
    most = {"ShearX": shear, "ShearY": shear, "TranslateX": moves[0], "TranslateY": moves[1]}
    most |= {"Rotate": turn, **dict.fromkeys(_COLORS, color)}
    space = {name: Magnitudes(_steps(0.0, end, bins), True) for name, end in most.items()}
    fewer = np.rint(
        np.arange(bins, dtype=np.float32) / np.float32((bins - 1) / (bits[0] - bits[1]))
    )
    space["Posterize"] = Magnitudes(bits[0] - fewer, False)
    space["Solarize"] = Magnitudes(_steps(255.0, 0.0, bins), False)
    return space | {name: Magnitudes(np.zeros(0), False) for name in _WITHOUT}


def _steps(begin: float, end: float, count: int) -> Array:
    return np.linspace(begin, end, count).astype(np.float32)


IDENTITY = {"Identity": Magnitudes(np.zeros(0), False)}
PARTS = 150.0 / 331.0  # of an image, AutoAugment's largest move


def auto_space(size: Sequence[int]) -> Space:
    """Return AutoAugment's operations for an image of a height and width."""
    space = space_of(10, (PARTS * size[1], PARTS * size[0]))
    return space | {"Invert": Magnitudes(np.zeros(0), False)}


def rand_space(bins: int, size: Sequence[int]) -> Space:
    """Return RandAugment's operations for an image of a height and width."""
    return IDENTITY | space_of(bins, (PARTS * size[1], PARTS * size[0]))


def wide_space(bins: int) -> Space:
    """Return the operations of TrivialAugment (Wide)."""
    return IDENTITY | space_of(bins, (32.0, 32.0), 0.99, 135.0, 0.99, (8, 2))


def mix_space(size: Sequence[int], all_ops: bool) -> Space:
    """Return AugMix's operations for an image of a height and width."""
    space = space_of(10, (size[1] / 3.0, size[0] / 3.0), bits=(4, 0))
    return {name: one for name, one in space.items() if all_ops or name not in _COLORS}


# ---- random choices ----


def _one(rng: np.random.Generator, space: Space, magnitude: int | None, most: int = 0) -> Operation:
    """Return a random operation, with a given magnitude or a random one."""
    name = [*space][int(rng.integers(len(space)))]
    values, signed = space[name]
    if not len(values):
        return name, 0.0
    index = int(rng.integers(most or len(values))) if magnitude is None else magnitude
    sign = -1.0 if signed and rng.integers(2) else 1.0
    return name, sign * float(values[index])


def draw_rand(
    rng: np.random.Generator, size: Sequence[int], count: int, magnitude: int, bins: int
) -> list[Operation]:
    """Return a number of random operations of one magnitude."""
    return [_one(rng, rand_space(bins, size), magnitude) for _ in range(count)]


def draw_trivial(rng: np.random.Generator, bins: int) -> list[Operation]:
    """Return one random operation of a random magnitude."""
    return [_one(rng, wide_space(bins), None)]


def draw_auto(rng: np.random.Generator, size: Sequence[int], policy: str) -> list[Operation]:
    """Return the operations of a random sub-policy, each with its probability."""
    sub_policies = POLICIES[policy]
    chosen = sub_policies[int(rng.integers(len(sub_policies)))]
    space, found = auto_space(size), []
    for name, probability, index in chosen:
        draw, flip = rng.random(), rng.integers(2)
        values, signed = space[name]
        magnitude = float(values[index]) if len(values) else 0.0
        if draw <= probability:
            found.append((name, -magnitude if signed and flip else magnitude))
    return found


class Mixture(NamedTuple):
    """AugMix's draw: the weight of the image, and chains of operations with their weights."""

    own: float
    weights: list[float]
    chains: list[list[Operation]]


def draw_mix(
    rng: np.random.Generator,
    size: Sequence[int],
    severity: int,
    width: int,
    depth: int,
    alpha: float,
    all_ops: bool,
) -> Mixture:
    """Return random chains of operations, and random weights of their results."""
    space = mix_space(size, all_ops)
    own, rest = rng.dirichlet([alpha, alpha])
    weights = (rng.dirichlet([alpha] * width) * rest).tolist()
    lengths = [depth if depth > 0 else int(rng.integers(1, 4)) for _ in range(width)]
    chains = [[_one(rng, space, None, severity) for _ in range(length)] for length in lengths]
    return Mixture(float(own), weights, chains)


# ---- the policies that AutoAugment found (appendix of the paper, tables 7 to 9) ----


def _policy(text: str) -> list[list[tuple[str, float, int]]]:
    """Return the sub-policies in a text: two operations a line, with probability and magnitude."""
    rows = [line.split() for line in text.strip().splitlines()]
    return [[(w[i], float(w[i + 1]), int(w[i + 2])) for i in (0, 3)] for w in rows]


POLICIES = {
    "imagenet": _policy("""
        Posterize 0.4 8  Rotate 0.6 9
        Solarize 0.6 5  AutoContrast 0.6 5
        Equalize 0.8 8  Equalize 0.6 3
        Posterize 0.6 7  Posterize 0.6 6
        Equalize 0.4 7  Solarize 0.2 4
        Equalize 0.4 4  Rotate 0.8 8
        Solarize 0.6 3  Equalize 0.6 7
        Posterize 0.8 5  Equalize 1.0 2
        Rotate 0.2 3  Solarize 0.6 8
        Equalize 0.6 8  Posterize 0.4 6
        Rotate 0.8 8  Color 0.4 0
        Rotate 0.4 9  Equalize 0.6 2
        Equalize 0.0 7  Equalize 0.8 8
        Invert 0.6 4  Equalize 1.0 8
        Color 0.6 4  Contrast 1.0 8
        Rotate 0.8 8  Color 1.0 2
        Color 0.8 8  Solarize 0.8 7
        Sharpness 0.4 7  Invert 0.6 8
        ShearX 0.6 5  Equalize 1.0 9
        Color 0.4 0  Equalize 0.6 3
        Equalize 0.4 7  Solarize 0.2 4
        Solarize 0.6 5  AutoContrast 0.6 5
        Invert 0.6 4  Equalize 1.0 8
        Color 0.6 4  Contrast 1.0 8
        Equalize 0.8 8  Equalize 0.6 3
    """),
    "cifar10": _policy("""
        Invert 0.1 7  Contrast 0.2 6
        Rotate 0.7 2  TranslateX 0.3 9
        Sharpness 0.8 1  Sharpness 0.9 3
        ShearY 0.5 8  TranslateY 0.7 9
        AutoContrast 0.5 8  Equalize 0.9 2
        ShearY 0.2 7  Posterize 0.3 7
        Color 0.4 3  Brightness 0.6 7
        Sharpness 0.3 9  Brightness 0.7 9
        Equalize 0.6 5  Equalize 0.5 1
        Contrast 0.6 7  Sharpness 0.6 5
        Color 0.7 7  TranslateX 0.5 8
        Equalize 0.3 7  AutoContrast 0.4 8
        TranslateY 0.4 3  Sharpness 0.2 6
        Brightness 0.9 6  Color 0.2 8
        Solarize 0.5 2  Invert 0.0 3
        Equalize 0.2 0  AutoContrast 0.6 0
        Equalize 0.2 8  Equalize 0.6 4
        Color 0.9 9  Equalize 0.6 6
        AutoContrast 0.8 4  Solarize 0.2 8
        Brightness 0.1 3  Color 0.7 0
        Solarize 0.4 5  AutoContrast 0.9 3
        TranslateY 0.9 9  TranslateY 0.7 9
        AutoContrast 0.9 2  Solarize 0.8 3
        Equalize 0.8 8  Invert 0.1 3
        TranslateY 0.7 9  AutoContrast 0.9 1
    """),
    "svhn": _policy("""
        ShearX 0.9 4  Invert 0.2 3
        ShearY 0.9 8  Invert 0.7 5
        Equalize 0.6 5  Solarize 0.6 6
        Invert 0.9 3  Equalize 0.6 3
        Equalize 0.6 1  Rotate 0.9 3
        ShearX 0.9 4  AutoContrast 0.8 3
        ShearY 0.9 8  Invert 0.4 5
        ShearY 0.9 5  Solarize 0.2 6
        Invert 0.9 6  AutoContrast 0.8 1
        Equalize 0.6 3  Rotate 0.9 3
        ShearX 0.9 4  Solarize 0.3 3
        ShearY 0.8 8  Invert 0.7 4
        Equalize 0.9 5  TranslateY 0.6 6
        Invert 0.9 4  Equalize 0.6 7
        Contrast 0.3 3  Rotate 0.8 4
        Invert 0.8 5  TranslateY 0.0 2
        ShearY 0.7 6  Solarize 0.4 8
        Invert 0.6 4  Rotate 0.8 4
        ShearY 0.3 7  TranslateX 0.9 3
        ShearX 0.1 6  Invert 0.6 5
        Solarize 0.7 2  TranslateY 0.6 7
        ShearY 0.8 4  Invert 0.8 8
        ShearX 0.7 9  TranslateY 0.8 3
        ShearY 0.8 5  AutoContrast 0.7 3
        ShearX 0.7 2  Invert 0.1 5
    """),
}
"""The sub-policies by data set; operations without a magnitude ignore theirs."""


# ---- automatic ----------------------------------------------------------------------------------
# Automatic augmentation: random operations of random or fixed magnitudes.


class _Automatic(RandomTransform):
    """Base class of transforms that apply random operations."""

    def __init__(self, interpolation: Interpolation, fill: Fill, generator: Generator | None):
        super().__init__(generator)
        self.interpolation = checked_interpolation(interpolation, type(self).__name__)
        self.fill = fill

    def _draw(self, size: Sequence[int]) -> list[Operation]:
        raise NotImplementedError

    def __call__(self, image: Tensor) -> Tensor:
        array = colored_array(image, type(self).__name__)
        return wrap(self._applied(array, self._draw(array.shape[-2:])))

    def _applied(self, array: Array, operations: Sequence[Operation]) -> Array:
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

    def _draw(self, size: Sequence[int]) -> list[Operation]:
        options = self.num_ops, self.magnitude, self.num_magnitude_bins
        return draw_rand(self._numpy, size, *options)


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

    def _draw(self, size: Sequence[int]) -> list[Operation]:
        return draw_trivial(self._numpy, self.num_magnitude_bins)


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
        if policy not in POLICIES:
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.policy = policy

    def _draw(self, size: Sequence[int]) -> list[Operation]:
        return draw_auto(self._numpy, size, self.policy)


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
        drawn = draw_mix(self._numpy, array.shape[-2:], *options)
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
