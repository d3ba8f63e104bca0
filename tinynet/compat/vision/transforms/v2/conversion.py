"""Transforms of values: conversion to tensors and images, dtypes, any function."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.compat.pytree import tree_map
from tinynet.compat.vision.images import is_image
from tinynet.compat.vision.transforms import conversion
from tinynet.compat.vision.transforms.v2 import functional as F
from tinynet.compat.vision.transforms.v2.samples import Transform, of_samples
from tinynet.core.tensors.tensor import Tensor
from tinynet.data import transforms

__all__ = [
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

Normalize = of_samples(conversion.Normalize)
LinearTransformation = of_samples(conversion.LinearTransformation)


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
        return F.to_image(img)


class PILToTensor(Transform):
    """Converts a Pillow image to a tensor of the same values."""

    def apply_to(self, img: Any, *params: Any) -> Tensor:
        """Return the tensor."""
        return img if isinstance(img, Tensor) else F.pil_to_tensor(img)


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
        return img if isinstance(img, Tensor) else F.to_tensor(img)


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
        return F.to_pil_image(img, self.mode)


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
        return F.to_dtype(img, self.dtype, self.scale) if isinstance(img, Tensor) else img


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
        return F.convert_image_dtype(img, self.dtype)


class RGB(Transform):
    """Converts a gray image to three equal channels; an image with three is unchanged."""

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the image with three channels."""
        return F.grayscale_to_rgb(img)


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
