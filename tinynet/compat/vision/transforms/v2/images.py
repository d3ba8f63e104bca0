"""The transforms of version 1, for whole samples."""

from __future__ import annotations

from typing import Any

from tinynet.compat.vision.modes import InterpolationMode
from tinynet.compat.vision.transforms import automatic, colors, crops, geometry
from tinynet.compat.vision.transforms.v2.samples import Transform, of_samples
from tinynet.data.transforms.geometry import Mode, Side, sides

__all__ = [
    "AugMix",
    "AutoAugment",
    "AutoAugmentPolicy",
    "CenterCrop",
    "ColorJitter",
    "ElasticTransform",
    "FiveCrop",
    "GaussianBlur",
    "Grayscale",
    "Pad",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomAutocontrast",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomPerspective",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSolarize",
    "RandomVerticalFlip",
    "Resize",
    "TenCrop",
    "TrivialAugmentWide",
]

AugMix = of_samples(automatic.AugMix)
AutoAugment = of_samples(automatic.AutoAugment)
AutoAugmentPolicy = automatic.AutoAugmentPolicy
CenterCrop = of_samples(crops.CenterCrop)
ColorJitter = of_samples(colors.ColorJitter)
ElasticTransform = of_samples(geometry.ElasticTransform)
FiveCrop = of_samples(crops.FiveCrop)
GaussianBlur = of_samples(geometry.GaussianBlur)
Grayscale = of_samples(colors.Grayscale)
Pad = of_samples(geometry.Pad)
RandAugment = of_samples(automatic.RandAugment)
RandomAdjustSharpness = of_samples(colors.RandomAdjustSharpness)
RandomAffine = of_samples(geometry.RandomAffine)
RandomAutocontrast = of_samples(colors.RandomAutocontrast)
RandomEqualize = of_samples(colors.RandomEqualize)
RandomErasing = of_samples(crops.RandomErasing)
RandomGrayscale = of_samples(colors.RandomGrayscale)
RandomHorizontalFlip = of_samples(geometry.RandomHorizontalFlip)
RandomInvert = of_samples(colors.RandomInvert)
RandomPerspective = of_samples(geometry.RandomPerspective)
RandomPosterize = of_samples(colors.RandomPosterize)
RandomResizedCrop = of_samples(crops.RandomResizedCrop)
RandomRotation = of_samples(geometry.RandomRotation)
RandomSolarize = of_samples(colors.RandomSolarize)
RandomVerticalFlip = of_samples(geometry.RandomVerticalFlip)
TenCrop = of_samples(crops.TenCrop)
TrivialAugmentWide = of_samples(automatic.TrivialAugmentWide)


class Resize(Transform, geometry.Resize):
    """Resizes the images of a sample, as in version 1, with the size as a list."""

    def __init__(
        self,
        size: Side,
        interpolation: InterpolationMode | str | int = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ):
        super().__init__(size, interpolation, max_size, antialias)
        self.size = [size] if isinstance(size, int) else [*size]


class RandomCrop(Transform, crops.RandomCrop):
    """Crops the images of a sample at a random place, as in version 1, with four paddings."""

    def __init__(
        self,
        size: Side,
        padding: Side | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: Mode = "constant",
    ):
        super().__init__(size, padding, pad_if_needed, fill, padding_mode)
        self.padding = None if padding is None else [*sides(padding)]
