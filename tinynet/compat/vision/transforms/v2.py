"""``torchvision.transforms.v2``: transforms of samples, which may be nested.

Each applies to the images of a sample and keeps the rest. Images are plain tensors or Pillow
images: there are no bounding boxes, masks or videos.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from tinynet import dtypes
from tinynet.compat.pytree import tree_flatten, tree_map, tree_unflatten
from tinynet.compat.vision.pillow import InterpolationMode, is_image
from tinynet.compat.vision.transforms import automatic, base, colors, crops, geometry
from tinynet.compat.vision.transforms.base import ImageTransform, generator, shown
from tinynet.compat.vision.transforms.functional import v2 as functional
from tinynet.core.tensors.tensor import Tensor
from tinynet.data import transforms
from tinynet.data.transforms import mixtures
from tinynet.data.transforms.geometry import Mode, Side, sides
from tinynet.nn import Module

__all__ = [
    "InterpolationMode",
    "Transform",
    "functional",
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
    "Compose",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "CutMix",
    "MixUp",
    "RGB",
    "ConvertImageDtype",
    "GaussianNoise",
    "Identity",
    "Lambda",
    "LinearTransformation",
    "Normalize",
    "PILToTensor",
    "ToDtype",
    "ToImage",
    "ToPILImage",
    "ToPureTensor",
    "ToTensor",
]


# ---- samples ------------------------------------------------------------------------------------
# The base class of transforms of whole samples: images, labels, and what belongs to them.


T = TypeVar("T", bound=ImageTransform)


class Transform(ImageTransform):
    """Base class: applies to the images in nested lists, tuples and dicts, and keeps the rest.

    Images are all Pillow images of a sample; in one without, the first tensor is the image. All
    images get the same random numbers.
    """

    def is_image(self, value: Any) -> bool:
        """Return whether a value, which is not a tensor, is an image."""
        return is_image(value)

    def forward(self, *inputs: Any) -> Any:
        """Return the sample, or the tuple of the inputs, with its images transformed."""
        leaves, spec = tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        chosen = [index for index, leaf in enumerate(leaves) if self.is_image(leaf)]
        tensors = [index for index, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        chosen = chosen or tensors[:1]
        params = self.params(leaves[chosen[0]]) if chosen else None
        if params is not None:
            for index in chosen:
                leaves[index] = self.apply_to(leaves[index], *params)
        return tree_unflatten(leaves, spec)

    def extra_repr(self) -> str:
        """Return the simple values among the attributes."""
        simple = (bool, int, float, str, tuple, list, Enum)
        return ", ".join(
            f"{name}={shown(value)}"
            for name, value in vars(self).items()
            if not name.startswith("_") and name != "training" and isinstance(value, simple)
        )

    __repr__ = Module.__repr__


def of_samples(first: type[T]) -> type[T]:
    """Return the transform of samples for a transform of images."""
    return type(
        first.__name__, (Transform, first), {"__doc__": first.__doc__, "__module__": __name__}
    )


# ---- images -------------------------------------------------------------------------------------
# The transforms of version 1, for whole samples.


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


# ---- sequences ----------------------------------------------------------------------------------
# Sequences of transforms of samples, and random choices of them.


class _Sequence(Transform):
    """Base class of transforms that call others."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]):
        super().__init__()
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence of callables")
        self.transforms = transforms

    def order(self) -> Sequence[int]:
        """Return the indices of the transforms to call, in order."""
        return range(len(self.transforms))

    def forward(self, *inputs: Any) -> Any:
        """Return the sample, or the tuple of the inputs, after the transforms."""
        for index in self.order():
            result = self.transforms[index](*inputs)
            inputs = result if len(inputs) > 1 else (result,)
        return inputs if len(inputs) > 1 else inputs[0]


class Compose(_Sequence):
    """Several transforms in sequence.

    Args:
        transforms: functions of a sample.

    Raises:
        ValueError: the sequence is empty.

    Example:
        >>> from tinynet.compat.vision.transforms import v2
        >>> both = v2.Compose([v2.RandomHorizontalFlip(p=1), v2.CenterCrop(1)])
        >>> both(tn.tensor([[[1, 2, 3]]]), 7)
        (tensor([[[2]]]), 7)
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]):
        super().__init__(transforms)
        if not transforms:
            raise ValueError("Pass at least one transform")

    def extra_repr(self) -> str:
        """Return the transforms, each in a line."""
        return "\n".join(f"    {transform}" for transform in self.transforms)


class RandomApply(_Sequence):
    """Applies a sequence of transforms with a given probability: all of them, or none.

    Args:
        transforms: functions of a sample.
        p: the probability.
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: float = 0.5):
        super().__init__(transforms)
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        self.p = p

    def order(self) -> Sequence[int]:
        """Return all indices, or none."""
        return super().order() if generator().random() < self.p else []


class RandomChoice(_Sequence):
    """Applies one transform of a list, chosen at random.

    Args:
        transforms: functions of a sample.
        p: their weights; by default, all are equal.

    Raises:
        ValueError: there are not as many weights as transforms.
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: Sequence[float] | None = None):
        super().__init__(transforms)
        weights = [1.0] * len(transforms) if p is None else [*p]
        if len(weights) != len(transforms):
            raise ValueError(
                "Length of p doesn't match the number of transforms: "
                f"{len(weights)} != {len(transforms)}"
            )
        self.p = [float(weight) for weight in np.divide(weights, sum(weights))]

    def order(self) -> Sequence[int]:
        """Return one index."""
        return [int(generator().choice(len(self.p), p=self.p))]


class RandomOrder(_Sequence):
    """Applies all transforms of a list in random order.

    Args:
        transforms: functions of a sample.
    """

    def order(self) -> Sequence[int]:
        """Return the indices in random order."""
        return generator().permutation(len(self.transforms)).tolist()


# ---- batches ------------------------------------------------------------------------------------
# Mixtures of the samples of a batch.


class _Mixture(Transform):
    """Base class of mixtures of each sample of a batch with the one before.

    Args:
        alpha: the parameter of the Beta distribution of the shares.
        num_classes: the number of classes; only labels that are class numbers need it.
    """

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None):
        super().__init__()
        self.alpha = float(alpha)
        self.num_classes = num_classes

    def mixed(self, images: Tensor, share: float) -> tuple[Tensor, float]:
        """Return the images with a share of their own, and the exact share."""
        raise NotImplementedError

    def forward(self, *inputs: Any) -> Any:
        """Return the mixed images and labels of a batch.

        Raises:
            ValueError: the inputs are not a batch of images and a batch of labels.
        """
        images, labels = inputs if len(inputs) == 2 else inputs[0]
        if images.ndim != 4:
            raise ValueError(
                f"Expected a batch of images, [N, C, H, W], and one of labels. Got the shapes "
                f"{list(images.shape)} and {list(labels.shape)}."
            )
        labels = mixtures.one_hot_labels(images, labels, self.num_classes)
        images, share = self.mixed(images, float(generator().beta(self.alpha, self.alpha)))
        return images, mixtures.mixed_labels(labels, share)


class MixUp(_Mixture):
    """Averages each sample of a batch with another, with random weights.

    Args:
        alpha: the parameter of the Beta distribution of the weights.
        num_classes: the number of classes; only labels that are class numbers need it.

    Source: Zhang et al., mixup: Beyond Empirical Risk Minimization (2017),
    https://arxiv.org/abs/1710.09412

    Example:
        >>> from tinynet.compat.vision.transforms import v2
        >>> images, labels = v2.MixUp(num_classes=3)(tn.rand(2, 1, 4, 4), tn.tensor([0, 2]))
        >>> labels.sum(1)
        tensor([1., 1.])
    """

    def mixed(self, images: Tensor, share: float) -> tuple[Tensor, float]:
        """Return the weighted means, and the weight."""
        return mixtures.mix_up(images, share), share


class CutMix(_Mixture):
    """Replaces a random rectangle in each image of a batch with the same part of another.

    Args:
        alpha: the parameter of the Beta distribution of the areas.
        num_classes: the number of classes; only labels that are class numbers need it.

    Source: Yun et al., CutMix: Regularization Strategy to Train Strong Classifiers (2019),
    https://arxiv.org/abs/1905.04899
    """

    def mixed(self, images: Tensor, share: float) -> tuple[Tensor, float]:
        """Return the images with their rectangles, and the area of the rest."""
        return mixtures.cut_mix(generator(), images, share)


# ---- conversions --------------------------------------------------------------------------------
# Transforms of values: conversion to tensors and images, dtypes, any function.

Normalize = of_samples(base.Normalize)
LinearTransformation = of_samples(base.LinearTransformation)


class Identity(Transform):
    """Changes nothing."""

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the image."""
        return img


class ToPureTensor(Identity):
    """Changes nothing: all tensors here are plain ones."""


class Lambda(Transform):
    """Calls a function on all leaves of a sample of the given types.

    Args:
        lambd: the function.
        types: the types; by default, all.
    """

    def __init__(self, lambd: Callable[[Any], Any], *types: type):
        super().__init__()
        self.lambd, self.types = lambd, types or (object,)

    def forward(self, *inputs: Any) -> Any:
        """Return the sample with the function called on its leaves."""
        return tree_map(
            lambda leaf: self.lambd(leaf) if isinstance(leaf, self.types) else leaf,
            inputs if len(inputs) > 1 else inputs[0],
        )

    def extra_repr(self) -> str:
        """Return the names of the function and of the types."""
        name = getattr(self.lambd, "__name__", "")
        return ", ".join([*filter(None, [name]), f"types={[kind.__name__ for kind in self.types]}"])


class ToImage(Transform):
    """Converts a Pillow image or an array to a tensor of the same values, channels first.

    Example:
        >>> from tinynet.compat.vision.transforms import v2
        >>> v2.ToImage()((np.zeros((4, 5), np.uint8), 3))[0].shape
        tinynet.Size([1, 4, 5])
    """

    def is_image(self, value: Any) -> bool:
        """Return whether a value is a Pillow image or an array."""
        return is_image(value) or isinstance(value, np.ndarray)

    def apply_to(self, img: Any, *params: Any) -> Tensor:
        """Return the tensor."""
        return functional.to_image(img)


class PILToTensor(Transform):
    """Converts a Pillow image to a tensor of the same values."""

    def apply_to(self, img: Any, *params: Any) -> Tensor:
        """Return the tensor."""
        return img if isinstance(img, Tensor) else functional.pil_to_tensor(img)


class ToTensor(ToImage):
    """Converts a Pillow image or an array of bytes to a tensor of floats from 0 to 1.

    It is deprecated: use ``ToImage`` and ``ToDtype``.
    """

    def __init__(self) -> None:
        warnings.warn(
            "The transform `ToTensor()` is deprecated and will be removed in a future release. "
            "Instead, please use `v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, "
            "scale=True)])`. Output is equivalent up to float precision.",
            UserWarning,
            stacklevel=2,
        )
        super().__init__()

    def apply_to(self, img: Any, *params: Any) -> Tensor:
        """Return the tensor."""
        return img if isinstance(img, Tensor) else functional.to_tensor(img)


class ToPILImage(ToImage):
    """Converts a tensor or an array to a Pillow image.

    Args:
        mode: Pillow's mode; by default, it follows from the number of channels and the dtype.
    """

    def __init__(self, mode: str | None = None):
        super().__init__()
        self.mode = mode

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the image."""
        return functional.to_pil_image(img, self.mode)


class ToDtype(Transform):
    """Converts a tensor to a dtype.

    Args:
        dtype: the target dtype.
        scale: whether the values are scaled to the range of the dtype.

    Raises:
        TypeError: ``dtype`` is not a dtype.

    Example:
        >>> from tinynet.compat.vision.transforms import v2
        >>> v2.ToDtype(tn.float32, scale=True)(tn.tensor([[[0, 255]]], dtype=tn.uint8))
        tensor([[[0., 1.]]])
    """

    def __init__(self, dtype: dtypes.dtype, scale: bool = False):
        super().__init__()
        if not isinstance(dtype, dtypes.dtype):
            raise TypeError(
                "The 'dtype' parameter of ToDtype must be a dtype: tinynet has no other kinds of "
                f"images, whose dtypes a dict could give. Got {dtype!r} instead."
            )
        self.dtype, self.scale = dtype, scale

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the tensor in the dtype; Pillow images keep theirs."""
        return functional.to_dtype(img, self.dtype, self.scale) if isinstance(img, Tensor) else img


class ConvertImageDtype(Transform):
    """Converts a tensor to a dtype, in its range of values.

    Args:
        dtype: the target dtype.
    """

    def __init__(self, dtype: dtypes.dtype = dtypes.float32):
        super().__init__()
        self.dtype = dtype

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the tensor in the dtype."""
        return functional.convert_image_dtype(img, self.dtype)


class RGB(Transform):
    """Converts a gray image to three equal channels; an image with three is unchanged."""

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the image with three channels."""
        return functional.grayscale_to_rgb(img)


class GaussianNoise(Transform):
    """Adds normal noise to a tensor.

    Args:
        mean, sigma: the mean and the standard deviation of the noise.
        clip: whether to clip the result to the range from 0 to 1.
    """

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True):
        super().__init__()
        self._noise = transforms.GaussianNoise(mean, sigma, clip)
        self.mean, self.sigma, self.clip = mean, sigma, clip

    def apply_to(self, img: Any, *params: Any) -> Tensor:
        """Return the tensor with noise."""
        return self._noise(img)
