"""Conversions between Pillow images, arrays and tensors; dtypes and normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from tinynet import dtypes
from tinynet.compat.vision import pillow
from tinynet.compat.vision.pillow import image_like, image_of, is_image, is_pillow, tensor_of
from tinynet.core.modes import is_grad_enabled
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data import transforms
from tinynet.data.transforms.base import image_array
from tinynet.dtypes import Array

__all__ = ["convert_image_dtype", "normalize", "pil_to_tensor", "to_pil_image", "to_tensor"]


# ---- kinds --------------------------------------------------------------------------------------
# One function for tensors and for Pillow images.


F = TypeVar("F", bound=Callable[..., Any])


def for_images(on_tensor: F) -> F:
    """Make a function of a tensor take Pillow images too, and return the kind that it gets.

    Pillow images go to the function of the same name in ``pillow.py``, if there is one, and
    otherwise through a tensor.
    """
    own = getattr(pillow, on_tensor.__name__, None)

    @wraps(on_tensor)
    def function(img: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(img, Tensor):
            return on_tensor(img, *args, **kwargs)
        if own is not None and is_pillow(img):
            return own(img, *args, **kwargs)
        return image_like(on_tensor(tensor_of(img), *args, **kwargs), img)

    return function  # type: ignore[return-value]  # of the same signature


def on_array(img: Tensor, name: str, function: Callable[[Array], Array]) -> Tensor:
    """Return an image with a function applied to its array.

    Raises:
        NotImplementedError: a gradient would be lost.
    """
    array = image_array(img, name)
    if img.requires_grad and is_grad_enabled():
        raise NotImplementedError(
            f"tinynet's {name} records no gradient: pass img.detach(), or call it under no_grad."
        )
    return wrap(function(array))


def with_colors(img: Tensor, name: str, function: Callable[[Array], Array]) -> Tensor:
    """Apply a function to the array of an image with one channel or three."""
    channels = image_array(img, name).shape[-3] if img.ndim > 2 else None
    if channels not in (1, 3):
        raise TypeError(
            f"Input image tensor permitted channel values are 1 or 3, but found {channels}"
        )
    return on_array(img, name, function)


# ---- conversion ---------------------------------------------------------------------------------


_TO_TENSOR, _TO_IMAGE = transforms.ToTensor(), transforms.ToImage()


def to_tensor(pic: Any) -> Tensor:
    """Return a Pillow image or an array as a tensor of shape (channels, height, width).

    Bytes become float32 from 0 to 1; other dtypes are kept.

    Raises:
        TypeError: it is neither.
        ValueError: the array has neither two nor three dimensions.

    Example:
        >>> from tinynet.compat.vision.functions import conversion
        >>> conversion.to_tensor(np.array([[0, 255]], dtype=np.uint8))
        tensor([[[0., 1.]]])
    """
    if isinstance(pic, Tensor):
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    return _TO_TENSOR(pic)


def pil_to_tensor(pic: Any) -> Tensor:
    """Return a Pillow image as a tensor of shape (channels, height, width) of the same values.

    Raises:
        TypeError: it is none.
    """
    if not is_image(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    return _TO_IMAGE(pic)


def to_image(inpt: Any) -> Tensor:
    """Return a Pillow image, an array or a tensor as a tensor of the same values.

    Raises:
        TypeError: it is none of them.
    """
    return _TO_IMAGE(inpt)


def to_dtype(inpt: Tensor, dtype: dtypes.dtype = dtypes.float32, scale: bool = False) -> Tensor:
    """Return a tensor in another dtype; with ``scale``, in its range of values."""
    return transforms.ToDtype(dtype, scale)(inpt)


def convert_image_dtype(image: Tensor, dtype: dtypes.dtype = dtypes.float32) -> Tensor:
    """Return a tensor in another dtype, in its range of values.

    Raises:
        TypeError: it is not a tensor.
        RuntimeError: the conversion is not exact.
    """
    if not isinstance(image, Tensor):
        raise TypeError("Input img should be Tensor Image")
    return transforms.ConvertImageDtype(dtype)(image)


def normalize(
    tensor: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False
) -> Tensor:
    """Return ``(tensor - mean) / std`` for each channel.

    Raises:
        TypeError: it is not a tensor of floats.
        ValueError: a std is 0, or the number of channels differs.

    Example:
        >>> from tinynet.compat.vision.functions import conversion
        >>> conversion.normalize(tn.tensor([[[0.0, 1.0]]]), [0.5], [0.25])
        tensor([[[-2.,  2.]]])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    if not inplace and tensor.requires_grad and is_grad_enabled():
        tensor, inplace = tensor.clone(), True  # as operations, which autograd tracks
    return transforms.Normalize(mean, std, inplace)(tensor)


_MODES = {"uint8": "L", "int16": "I;16", "uint16": "I;16", "int32": "I", "float32": "F"}


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """Return a tensor (channels, height, width) or an array (height, width, channels) as an image.

    Floats of a tensor are multiplied by 255.

    Args:
        pic: the tensor or array.
        mode: Pillow's mode; by default, it follows from the number of channels and the dtype.

    Raises:
        TypeError: it is neither, or Pillow has no mode for it.
        ValueError: it is not two- or three-dimensional, has more than four channels, or the mode
            does not fit.
    """
    if not isinstance(pic, (Tensor, np.ndarray)):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    array = _channels_last(pic, mode)
    channels = array.shape[2]
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if channels == 1:
        array = array[:, :, 0]
        own = _MODES.get(array.dtype.name)
        if mode is not None and mode != own:
            raise ValueError(
                f"Incorrect mode ({mode}) supplied for input type {array.dtype}. Should be {own}"
            )
        return image_of(_supported(array, own))
    allowed = {2: ["LA"], 3: ["RGB", "YCbCr", "HSV"], 4: ["RGBA", "CMYK", "RGBX"]}[channels]
    if mode is not None and mode not in allowed:
        raise ValueError(f"Only modes {allowed} are supported for {channels}D inputs")
    own = "RGB" if array.dtype == np.uint8 else None
    return image_of(_supported(array, own), mode or allowed[0])


def _channels_last(pic: Any, mode: str | None) -> Array:
    array = pic._array if isinstance(pic, Tensor) else pic
    if array.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {array.ndim} dimensions.")
    if not isinstance(pic, Tensor):
        return array[:, :, None] if array.ndim == 2 else array
    if array.dtype.kind == "f" and mode != "F":
        array = (array * 255).astype(np.uint8)
    return array[:, :, None] if array.ndim == 2 else array.transpose(1, 2, 0)


def _supported(array: Array, mode: str | None) -> Array:
    if mode is None:
        raise TypeError(f"Input type {array.dtype} is not supported")
    return array.astype(np.uint16) if mode == "I;16" else array
