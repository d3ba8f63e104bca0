"""The base classes of transforms of images, sequences of transforms, and conversions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.compat.vision.pillow import InterpolationMode
from tinynet.compat.vision.transforms import functional as F
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.loading.sampler import random_source
from tinynet.data.transforms import Compose as _Compose
from tinynet.data.transforms import Lambda as Lambda
from tinynet.nn import Module

__all__ = [
    "Compose",
    "Lambda",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "ConvertImageDtype",
    "LinearTransformation",
    "Normalize",
    "PILToTensor",
    "ToPILImage",
    "ToTensor",
]


def generator() -> np.random.Generator:
    """Return the default generator, which a DataLoader seeds for each batch."""
    return random_source(None, "transforms").numpy


def uniform(low: float, high: float) -> float:
    """Return a number from a range, all equally likely."""
    return float(generator().uniform(low, high))


class ImageTransform(Module):
    """Base class: ``params`` draws what is random, ``apply_to`` applies it to an image."""

    shown: Sequence[str] = ()
    """The attributes that the representation shows."""

    def params(self, img: Any) -> tuple[Any, ...] | None:
        """Return the arguments of ``apply_to`` for an image; None leaves it as it is."""
        return ()

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return a transformed image."""
        raise NotImplementedError

    def forward(self, img: Any) -> Any:
        """Return a transformed image."""
        params = self.params(img)
        return img if params is None else self.apply_to(img, *params)

    def __repr__(self) -> str:
        values = [f"{name}={shown(getattr(self, name))}" for name in self.shown]
        return f"{type(self).__name__}({', '.join(values)})"


class Randomly(ImageTransform):
    """Base class of transforms that are applied with a probability: of a `function`, or others."""

    function: Callable[[Any], Any]

    shown: Sequence[str] = ("p",)

    def __init__(self, p: float = 0.5):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        self.p = p

    def params(self, img: Any) -> tuple[Any, ...] | None:
        """Return no arguments, or None with probability ``1 - p``."""
        return () if generator().random() < self.p else None

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return a transformed image."""
        return type(self).function(img)


def shown(value: Any) -> Any:
    """Return a value as representations have it: an interpolation by its name."""
    return value.value if isinstance(value, InterpolationMode) else value


class Compose(_Compose):
    """Several transforms in sequence.

    Args:
        transforms: functions of one argument.

    Example:
        >>> from tinynet.compat.vision import transforms
        >>> transforms.Compose([transforms.ToTensor(), transforms.CenterCrop(3)])
        Compose(
            ToTensor()
            CenterCrop(size=(3, 3))
        )
    """


class RandomApply(Randomly):
    """Applies a sequence of transforms with a given probability: all of them, or none.

    Args:
        transforms: functions of one argument.
        p: the probability.
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]], p: float = 0.5):
        super().__init__(p)
        self.transforms = transforms

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the image after all transforms."""
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        lines = "".join(f"\n    {transform}" for transform in self.transforms)
        return f"RandomApply(\n    p={self.p}{lines}\n)"


class _OneOf:
    """Base class of transforms that choose from a list."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]):
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence")
        self.transforms = transforms

    def __repr__(self) -> str:
        lines = "".join(f"\n    {transform}" for transform in self.transforms)
        return f"{type(self).__name__}({lines}\n)"


class RandomChoice(_OneOf):
    """Applies one transform of a list, chosen at random.

    Args:
        transforms: functions of one argument.
        p: their weights; by default, all are equal.
    """

    def __init__(
        self, transforms: Sequence[Callable[[Any], Any]], p: Sequence[float] | None = None
    ):
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError("Argument p should be a sequence")
        self.p = p

    def __call__(self, *args: Any) -> Any:
        weights = None if self.p is None else np.divide(self.p, np.sum(self.p))
        return self.transforms[int(generator().choice(len(self.transforms), p=weights))](*args)

    def __repr__(self) -> str:
        return f"{super().__repr__()}(p={self.p})"


class RandomOrder(_OneOf):
    """Applies all transforms of a list in random order.

    Args:
        transforms: functions of one argument.
    """

    def __call__(self, img: Any) -> Any:
        for index in generator().permutation(len(self.transforms)).tolist():
            img = self.transforms[index](img)
        return img


# ---- conversions --------------------------------------------------------------------------------
# Transforms of values: conversion to tensors and images, dtypes, normalization.


class ToTensor:
    """Converts a Pillow image or an array to a tensor of shape (channels, height, width).

    Bytes become float32 from 0 to 1; other dtypes are kept.

    Raises:
        TypeError: (when called) the input is neither.
    """

    def __call__(self, pic: Any) -> Tensor:
        return F.to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class PILToTensor:
    """Converts a Pillow image to a tensor of the same values.

    Raises:
        TypeError: (when called) the input is none.
    """

    def __call__(self, pic: Any) -> Tensor:
        return F.pil_to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ToPILImage:
    """Converts a tensor or an array to a Pillow image.

    Args:
        mode: Pillow's mode; by default, it follows from the number of channels and the dtype.
    """

    def __init__(self, mode: str | None = None):
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        return F.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(ImageTransform):
    """Converts a tensor to a dtype, in its range of values.

    Args:
        dtype: the target dtype.
    """

    def __init__(self, dtype: dtypes.dtype):
        super().__init__()
        self.dtype = dtype

    def apply_to(self, img: Any, *params: Any) -> Tensor:
        """Return the tensor in the dtype."""
        return F.convert_image_dtype(img, self.dtype)


class Normalize(ImageTransform):
    """Computes ``(image - mean) / std`` for each channel.

    Args:
        mean, std: one number per channel.
        inplace: write into the given tensor.

    Raises:
        TypeError: (when called) the input is not a tensor of floats.
        ValueError: (when called) a std is 0, or the number of channels differs.

    Example:
        >>> from tinynet.compat.vision import transforms
        >>> transforms.Normalize((0.1307,), (0.3081,))
        Normalize(mean=(0.1307,), std=(0.3081,))
    """

    shown: Sequence[str] = ("mean", "std")

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False):
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def apply_to(self, img: Any, *params: Any) -> Tensor:
        """Return the normalized tensor."""
        return F.normalize(img, self.mean, self.std, self.inplace)


class LinearTransformation(ImageTransform):
    """Multiplies the flattened difference of an image from a mean by a matrix.

    Args:
        transformation_matrix: of shape (D, D), with D = channels * height * width.
        mean_vector: of shape (D,).

    Raises:
        ValueError: the shapes do not fit.
    """

    def __init__(self, transformation_matrix: Tensor, mean_vector: Tensor):
        super().__init__()
        rows, columns = transformation_matrix.shape
        if rows != columns:
            raise ValueError(f"transformation_matrix should be square. Got {[rows, columns]}")
        if mean_vector.shape[0] != rows:
            raise ValueError(
                f"mean_vector should have the same length {mean_vector.shape[0]} as any one of "
                f"the dimensions of the transformation_matrix [{rows, columns}]"
            )
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def apply_to(self, img: Any, *params: Any) -> Tensor:
        """Return the transformed tensor."""
        flat = img.reshape(-1, self.transformation_matrix.shape[0]) - self.mean_vector
        return (flat @ self.transformation_matrix).reshape(img.shape)

    def __repr__(self) -> str:
        matrix, mean = self.transformation_matrix.tolist(), self.mean_vector.tolist()
        return f"LinearTransformation(transformation_matrix={matrix}, mean_vector={mean})"
