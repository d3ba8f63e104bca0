"""Transforms of values: conversion to tensors, dtypes, normalization, one-hot encoding."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.base import Transform, image_array
from tinynet.dtypes import Array

__all__ = ["ConvertImageDtype", "Normalize", "OneHot", "ToDtype", "ToImage", "ToTensor"]


class ToTensor(Transform):
    """Converts an image from height x width (x channels) to channels x height x width.

    ``result[c, y, x] = image[y, x, c] / 255`` for 8-bit images.

    Accepts a numpy array or a Pillow image. 8-bit and bool values become float32 from 0 to 1;
    other dtypes are kept (unsigned 16-bit becomes int32). A tensor keeps its layout, because
    tinynet's readers put channels first; torchvision refuses tensors.

    Raises:
        TypeError: the input has another type.
        ValueError: the array has neither two nor three dimensions.

    Example:
        >>> tn.data.transforms.ToTensor()(np.array([[0, 255]], dtype=np.uint8))
        tensor([[[0., 1.]]])
    """

    def __call__(self, image: Any) -> Tensor:
        return wrap(_unit(_channels_first(image)))


class ToImage(Transform):
    """Converts an image from height x width (x channels) to channels x height x width.

    Values and dtypes are kept (unsigned 16-bit becomes int32); ``ToDtype(tn.float32, scale=True)``
    scales them. Accepts what ``ToTensor`` accepts, and raises its errors.

    Example:
        >>> tn.data.transforms.ToImage()(np.array([[0, 255]], dtype=np.uint8))
        tensor([[[  0, 255]]], dtype=tinynet.uint8)
    """

    def __call__(self, image: Any) -> Tensor:
        return image if isinstance(image, Tensor) else wrap(_channels_first(image))


def _channels_first(image: Any) -> Array:
    """Return a numpy array or a Pillow image as channels x height x width; a tensor as it is."""
    if isinstance(image, Tensor):
        return image._array
    if isinstance(image, (int, float, str, list, tuple)) or image is None:
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(image)}")
    array = np.asarray(image)
    if array.ndim not in (2, 3):
        shape = list(array.shape)
        raise ValueError(f"pic should be 2/3 dimensional. Got the shape {shape} instead.")
    if array.dtype == np.uint16:
        array = array.astype(np.int32)
    array = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
    dtypes.of(array)  # raises TypeError for an unsupported dtype
    return np.array(array, order="C")


def _unit(array: Array) -> Array:
    """Return bytes and bools as float32 from 0 to 1."""
    if array.dtype == np.uint8:
        return np.divide(array, np.float32(255), dtype=np.float32)
    return array.astype(np.float32) if array.dtype == np.bool_ else array


class ConvertImageDtype(Transform):
    """Converts an image to a dtype: integers span the dtype's range, floats 0 to 1.

    With M and m the largest values of the input's and the result's dtype: ``x / M`` to floats,
    ``floor(x * (m + 0.999))`` from floats, otherwise ``x // ((M + 1) // (m + 1))`` or
    ``x * ((m + 1) // (M + 1))``.

    Args:
        dtype: the target dtype.

    From floats to integers, 0 to 1 is divided into equal parts; from more to fewer bits, the low
    bits are dropped.

    Raises:
        RuntimeError: from floats to int64, or from floats below 64 bits to int32: not exact.

    Example:
        >>> tn.data.transforms.ConvertImageDtype(tn.float32)(tn.tensor([0, 255], dtype=tn.uint8))
        tensor([0., 1.])
    """

    batched = True

    def __init__(self, dtype: dtypes.dtype):
        if not isinstance(dtype, dtypes.dtype):
            raise TypeError(f"dtype must be a tinynet.dtype, not {type(dtype).__name__}")
        self.dtype = dtype

    def __call__(self, image: Tensor) -> Tensor:
        array, target = image._array, self.dtype.numpy
        source = array.dtype
        if source == target:
            return wrap(array)
        if source.kind == "f":
            return wrap(_from_floats(array, target))
        if target.kind == "f":
            largest = 1 if source.kind == "b" else np.iinfo(source).max
            exact = np.float64 if source.itemsize > 2 and target.itemsize < 8 else target
            return wrap(np.divide(array, largest, dtype=exact).astype(target, copy=False))
        return wrap(_between_integers(array, target))


def _from_floats(array: Array, target: Any) -> Array:
    if target.kind == "f":
        return array.astype(target)
    if target.kind == "b":
        return array != 0
    if target.itemsize >= 4 and (target.itemsize == 8 or array.dtype.itemsize < 8):
        names = f"tinynet.{array.dtype.name} to tinynet.{target.name}"
        raise RuntimeError(f"The cast from {names} cannot be performed safely.")
    # Just below the next integer, so that 1 becomes the largest value.
    factor = np.iinfo(target).max + 1 - 1e-3
    exact = array.dtype if array.dtype.itemsize > 2 else np.dtype(np.float32)
    return np.multiply(array, exact.type(factor)).astype(target)


def _between_integers(array: Array, target: Any) -> Array:
    largest = [1 if d.kind == "b" else int(np.iinfo(d).max) for d in (array.dtype, target)]
    if largest[0] > largest[1]:
        return (array // ((largest[0] + 1) // (largest[1] + 1))).astype(target)
    return array.astype(target) * target.type((largest[1] + 1) // (largest[0] + 1))


class ToDtype(Transform):
    """Converts values to another dtype.

    Args:
        dtype: the target dtype.
        scale: rescale the values as ``ConvertImageDtype`` does.

    Raises:
        TypeError: ``dtype`` is not a dtype.
        RuntimeError: (when called) ``ConvertImageDtype`` refuses the conversion, with ``scale``.

    Example:
        >>> tn.data.transforms.ToDtype(tn.float32)(tn.tensor([0, 255]))
        tensor([  0., 255.])
    """

    batched = True

    def __init__(self, dtype: dtypes.dtype, scale: bool = False):
        self.dtype = dtype
        self.scale = scale
        self._scaled = ConvertImageDtype(dtype)

    def __call__(self, image: Tensor) -> Tensor:
        if self.scale:
            return self._scaled(image)
        return wrap(image._array.astype(self.dtype.numpy, copy=False))


class Normalize(Transform):
    """Computes ``(image - mean) / std`` for each channel.

    Args:
        mean: one number per channel (or one for all).
        std: likewise, all nonzero.
        inplace: write into the given image.

    Raises:
        TypeError: the image is not a floating-point tensor.
        ValueError: a std is 0, or the number of channels differs.

    Example:
        >>> tn.data.transforms.Normalize([0.5], [0.25])(tn.tensor([[[0.0, 1.0]]]))
        tensor([[[-2.,  2.]]])
    """

    batched = True

    def __init__(
        self, mean: float | Sequence[float], std: float | Sequence[float], inplace: bool = False
    ):
        self.mean = mean
        self.std = std
        self._inplace = inplace
        self._mean, self._std = (_per_channel(value) for value in (mean, std))
        if not self._std.all():
            raise ValueError(f"The 'std' parameter of Normalize must not be 0. Got {std} instead.")

    def __call__(self, image: Tensor) -> Tensor:
        array = image_array(image, "Normalize", 0)
        if array.dtype.kind != "f":
            raise TypeError(
                f"Input tensor should be a float tensor. Got tinynet.{array.dtype.name}."
            )
        channels = max(self._mean.size, self._std.size)
        if channels > 1 and (array.ndim < 3 or array.shape[-3] != channels):
            raise ValueError(
                "Expected tensor to be a tensor image of size (..., C, H, W). "
                f"Got tensor.size() = {list(array.shape)} for {channels} channels."
            )
        # Not (image - mean) * (1 / std): its rounding would differ from torchvision's.
        mean, std = (v.astype(array.dtype) for v in (self._mean, self._std))
        if self._inplace:  # as operations, which autograd tracks
            return image.sub_(wrap(mean)).div_(wrap(std))
        out = np.subtract(array, mean)
        np.divide(out, std, out=out)
        return wrap(out)


def _per_channel(value: float | Sequence[float]) -> Array:
    """Return one value for all channels as a 0-d array, or one per channel."""
    array = np.asarray(value, np.float64)
    return array.reshape(()) if array.size == 1 else array.reshape(-1, 1, 1)


class OneHot(Transform):
    """Converts class numbers to vectors that are 1 at the class and 0 elsewhere.

    ``result[..., c] = 1 if x == c else 0``.

    Args:
        num_classes: the length of the vectors.
        dtype: the dtype of the result.

    Raises:
        ValueError: a class number is not between 0 and ``num_classes - 1``.

    Shape: ``(...)`` becomes ``(..., num_classes)``.

    Example:
        >>> tn.data.transforms.OneHot(3)(tn.tensor(1))
        tensor([0., 1., 0.])
    """

    batched = True

    def __init__(self, num_classes: int, dtype: dtypes.dtype = dtypes.float32):
        if num_classes < 1:
            raise ValueError(
                f"The 'num_classes' parameter of OneHot must be >= 1. Got {num_classes} instead."
            )
        self.num_classes = num_classes
        self.dtype = dtype

    def __call__(self, label: Any) -> Tensor:
        array = label._array if isinstance(label, Tensor) else np.asarray(label)
        if array.dtype.kind not in "iu":
            raise TypeError(f"OneHot needs integers. Got {array.dtype.name} instead.")
        if array.size and not (0 <= array.min() and array.max() < self.num_classes):
            wrong = array.min() if array.min() < 0 else array.max()
            raise ValueError(f"OneHot needs classes below {self.num_classes}. Got {wrong} instead.")
        return wrap((array[..., None] == np.arange(self.num_classes)).astype(self.dtype.numpy))
