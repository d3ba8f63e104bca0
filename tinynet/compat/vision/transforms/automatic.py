"""Automatic augmentation: random operations of random or fixed magnitudes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import Any

from tinynet.compat.vision.pillow import (
    InterpolationMode,
    image_like,
    interpolation_mode,
    tensor_of,
)
from tinynet.compat.vision.transforms import functional as F
from tinynet.compat.vision.transforms.base import ImageTransform, generator
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.transforms import policies

__all__ = ["AugMix", "AutoAugment", "AutoAugmentPolicy", "RandAugment", "TrivialAugmentWide"]

_NEAREST, _BILINEAR = InterpolationMode.NEAREST, InterpolationMode.BILINEAR


class AutoAugmentPolicy(Enum):
    """A policy that AutoAugment found for a data set."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


def apply_operation(
    img: Any, name: str, magnitude: float, interpolation: InterpolationMode, fill: Any
) -> Any:
    """Return an image after an operation of a policy.

    Args:
        img: the image.
        name: the name of the operation, such as ``"ShearX"``.
        magnitude: its magnitude; operations without one ignore it.
        interpolation, fill: as in ``rotate``.
    """
    if name in ("ShearX", "ShearY"):
        angle = math.degrees(math.atan(magnitude))
        shear = [angle, 0.0] if name == "ShearX" else [0.0, angle]
        return F.affine(img, 0.0, [0, 0], 1.0, shear, interpolation, fill, [0, 0])
    if name in ("TranslateX", "TranslateY"):
        moved = [int(magnitude), 0] if name == "TranslateX" else [0, int(magnitude)]
        return F.affine(img, 0.0, moved, 1.0, [0.0, 0.0], interpolation, fill)
    if name == "Rotate":
        return F.rotate(img, magnitude, interpolation, fill=fill)
    if name in _FACTORS:
        return _FACTORS[name](img, 1.0 + magnitude)
    if name == "Posterize":
        return F.posterize(img, int(magnitude))
    if name == "Solarize":
        return F.solarize(img, magnitude)
    return _PLAIN[name](img)


_FACTORS: dict[str, Any] = {
    "Brightness": F.adjust_brightness,
    "Color": F.adjust_saturation,
    "Contrast": F.adjust_contrast,
    "Sharpness": F.adjust_sharpness,
}
_PLAIN: dict[str, Any] = {
    "AutoContrast": F.autocontrast,
    "Equalize": F.equalize,
    "Invert": F.invert,
    "Identity": lambda img: img,
}


class _Automatic(ImageTransform):
    """Base class: ``params`` draws the operations."""

    interpolation: InterpolationMode
    fill: Any

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the image after the operations."""
        for name, magnitude in params:
            img = apply_operation(img, name, magnitude, self.interpolation, self.fill)
        return img

    def __repr__(self) -> str:
        values = [f"{name}={getattr(self, name)}" for name in self.shown]
        return f"{type(self).__name__}({', '.join(values)})"


class AutoAugment(_Automatic):
    """Applies two operations of a random sub-policy, which was found for a data set.

    Args:
        policy: an ``AutoAugmentPolicy``.
        interpolation: tensors have nearest and bilinear.
        fill: the value outside the image, or one per channel.

    Raises:
        ValueError: there is no such policy.

    Source: Cubuk et al., AutoAugment: Learning Augmentation Policies from Data (2018),
    https://arxiv.org/abs/1805.09501

    Example:
        >>> from tinynet.compat.vision import transforms as T
        >>> T.AutoAugment(T.AutoAugmentPolicy.SVHN)
        AutoAugment(policy=AutoAugmentPolicy.SVHN, fill=None)
    """

    shown: Sequence[str] = ("policy", "fill")

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: InterpolationMode = _NEAREST,
        fill: Any = None,
    ):
        super().__init__()
        if not isinstance(policy, AutoAugmentPolicy):
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.interpolation, self.fill = interpolation_mode(interpolation), fill
        self.policy = policy

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the operations."""
        return (*policies.draw_auto(generator(), F.get_size(img), self.policy.value),)


class RandAugment(_Automatic):
    """Applies random operations of one magnitude.

    Args:
        num_ops: the number of operations.
        magnitude: their strength, from 0 to ``num_magnitude_bins - 1``.
        num_magnitude_bins: the number of strengths.
        interpolation, fill: as in ``AutoAugment``.

    Source: Cubuk et al., RandAugment (2019), https://arxiv.org/abs/1909.13719

    Example:
        >>> from tinynet.compat.vision import transforms as T
        >>> T.RandAugment(magnitude=5)(tn.ones(3, 8, 8, dtype=tn.uint8)).shape
        tinynet.Size([3, 8, 8])
    """

    shown: Sequence[str] = ("num_ops", "magnitude", "num_magnitude_bins", "interpolation", "fill")

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: InterpolationMode = _NEAREST,
        fill: Any = None,
    ):
        super().__init__()
        self.interpolation, self.fill = interpolation_mode(interpolation), fill
        self.num_ops, self.magnitude = num_ops, magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the operations."""
        options = self.num_ops, self.magnitude, self.num_magnitude_bins
        return (*policies.draw_rand(generator(), F.get_size(img), *options),)


class TrivialAugmentWide(_Automatic):
    """Applies one random operation of a random magnitude.

    Args:
        num_magnitude_bins: the number of magnitudes.
        interpolation, fill: as in ``AutoAugment``.

    Source: Müller and Hutter, TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation
    (2021), https://arxiv.org/abs/2103.10158

    Example:
        >>> from tinynet.compat.vision import transforms as T
        >>> T.TrivialAugmentWide()(tn.ones(3, 8, 8, dtype=tn.uint8)).shape
        tinynet.Size([3, 8, 8])
    """

    shown: Sequence[str] = ("num_magnitude_bins", "interpolation", "fill")

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: InterpolationMode = _NEAREST,
        fill: Any = None,
    ):
        super().__init__()
        self.interpolation, self.fill = interpolation_mode(interpolation), fill
        self.num_magnitude_bins = num_magnitude_bins

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the operation."""
        return (*policies.draw_trivial(generator(), self.num_magnitude_bins),)


class AugMix(_Automatic):
    """Averages an image with results of random chains of operations, with random weights.

    Args:
        severity: the strongest magnitude, from 1 to 10.
        mixture_width: the number of chains.
        chain_depth: the number of operations of a chain; -1 draws it from 1 to 3.
        alpha: the parameter of the distributions of the weights.
        all_ops: whether brightness, color, contrast and sharpness are among the operations.
        interpolation, fill: as in ``AutoAugment``.

    Raises:
        ValueError: ``severity`` is out of range.

    Source: Hendrycks et al., AugMix (2019), https://arxiv.org/abs/1912.02781

    Example:
        >>> from tinynet.compat.vision import transforms as T
        >>> T.AugMix()(tn.ones(3, 8, 8, dtype=tn.uint8)).shape
        tinynet.Size([3, 8, 8])
    """

    shown: Sequence[str] = (
        *("severity", "mixture_width", "chain_depth", "alpha", "all_ops"),
        *("interpolation", "fill"),
    )

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: InterpolationMode = _BILINEAR,
        fill: Any = None,
    ):
        super().__init__()
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.interpolation, self.fill = interpolation_mode(interpolation), fill
        self.severity, self.mixture_width, self.chain_depth = severity, mixture_width, chain_depth
        self.alpha, self.all_ops = alpha, all_ops

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the weight of the image, and the chains with theirs."""
        options = self.severity, self.mixture_width, self.chain_depth, self.alpha, self.all_ops
        return tuple(policies.draw_mix(generator(), F.get_size(img), *options))

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the weighted mean, rounded down."""
        own, weights, chains = params
        tensor = img if isinstance(img, Tensor) else tensor_of(img)
        total = tensor.float() * own
        for weight, chain in zip(weights, chains, strict=True):
            total = total + super().apply_to(tensor, *chain).float() * weight
        mixed = total.to(tensor.dtype)
        return mixed if tensor is img else image_like(mixed, img)
