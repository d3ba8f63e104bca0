"""Transforms of values: conversion to tensors and images, dtypes, normalization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet import dtypes
from tinynet.compat.vision.transforms import functional as F
from tinynet.compat.vision.transforms.base import ImageTransform
from tinynet.core.tensors.tensor import Tensor

__all__ = [
    "ConvertImageDtype",
    "LinearTransformation",
    "Normalize",
    "PILToTensor",
    "ToPILImage",
    "ToTensor",
]


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
