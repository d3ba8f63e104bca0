"""Conversions between Pillow images, arrays and tensors; dtypes, normalization and colors."""

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
from tinynet.data.transforms import RGB, Grayscale
from tinynet.data.transforms import color as arrays
from tinynet.data.transforms.base import image_array
from tinynet.dtypes import Array

__all__ = [
    "convert_image_dtype",
    "normalize",
    "pil_to_tensor",
    "to_pil_image",
    "to_tensor",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "autocontrast",
    "equalize",
    "invert",
    "posterize",
    "rgb_to_grayscale",
    "solarize",
    "to_grayscale",
]


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
        >>> from tinynet.compat.vision.transforms.functional import conversion
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
        >>> from tinynet.compat.vision.transforms.functional import conversion
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


# ---- colors -------------------------------------------------------------------------------------
# Brightness, contrast, saturation, hue, sharpness and others.


def _refuse_negative(name: str, factor: float) -> None:
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")


@for_images
def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """Return an image with its values multiplied by a factor.

    Example:
        >>> from tinynet.compat.vision.transforms.functional import conversion
        >>> conversion.adjust_brightness(tn.full((1, 1, 2), 0.25), 2)
        tensor([[[0.5000, 0.5000]]])
    """
    _refuse_negative("brightness_factor", brightness_factor)
    return with_colors(
        img, "adjust_brightness", lambda a: arrays.with_brightness(a, brightness_factor)
    )


@for_images
def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """Return an image with the distances of its values from the mean gray multiplied."""
    _refuse_negative("contrast_factor", contrast_factor)
    return with_colors(img, "adjust_contrast", lambda a: arrays.with_contrast(a, contrast_factor))


@for_images
def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """Return an image with the distances of its values from gray multiplied."""
    _refuse_negative("saturation_factor", saturation_factor)
    return with_colors(
        img, "adjust_saturation", lambda a: arrays.with_saturation(a, saturation_factor)
    )


@for_images
def shift_hue(img: Any, hue_factor: float) -> Any:
    """Return an image with its hue shifted."""
    return with_colors(img, "adjust_hue", lambda a: arrays.with_hue(a, hue_factor))


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """Return an image with its hue shifted; a full turn is 1.

    Raises:
        ValueError: the shift is not from -0.5 to 0.5.
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    return shift_hue(img, hue_factor)


@for_images
def adjust_gamma(img: Any, gamma: float, gain: float = 1) -> Any:
    """Return an image with the values ``gain * x ** gamma``, for x from 0 to 1."""
    _refuse_negative("gamma", gamma)

    def change(array: Array) -> Array:
        values, bound = arrays.as_floats(array), float(arrays.bound_of(array))
        powered = (gain * (values / bound) ** gamma).clip(0, 1)
        if array.dtype.kind == "f":
            return powered.astype(array.dtype)
        return (powered * (bound + 1 - 1e-3)).astype(array.dtype)

    return on_array(img, "adjust_gamma", change)


@for_images
def adjust_sharpness(img: Any, sharpness_factor: float) -> Any:
    """Return an image with the distances of its values from a blurred copy multiplied."""
    _refuse_negative("sharpness_factor", sharpness_factor)
    return with_colors(
        img, "adjust_sharpness", lambda a: arrays.with_sharpness(a, sharpness_factor)
    )


@for_images
def invert(img: Any) -> Any:
    """Return an image with its values inverted."""
    return with_colors(img, "invert", arrays.inverted)


@for_images
def posterize(img: Any, bits: int) -> Any:
    """Return an image of bytes with the given number of bits per value."""
    _bytes_only(img)
    return with_colors(img, "posterize", lambda a: arrays.posterized(a, bits))


@for_images
def solarize(img: Any, threshold: float) -> Any:
    """Return an image with its values inverted where they reach a threshold."""
    bound = arrays.bound_of(img._array)
    if threshold > bound:
        raise TypeError("Threshold should be less than bound of img.")
    return with_colors(img, "solarize", lambda a: arrays.solarized(a, threshold))


@for_images
def autocontrast(img: Any) -> Any:
    """Return an image with each channel stretched to the full range of values."""
    return with_colors(img, "autocontrast", arrays.with_autocontrast)


@for_images
def equalize(img: Any) -> Any:
    """Return an image of bytes whose channels have flat histograms."""
    _bytes_only(img)

    return with_colors(img, "equalize", arrays.equalized)


def _bytes_only(img: Tensor) -> None:
    if img._array.dtype != np.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")


@for_images
def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """Return the gray values of an image, as one channel or three.

    Example:
        >>> from tinynet.compat.vision.transforms.functional import conversion
        >>> conversion.rgb_to_grayscale(tn.ones(3, 4, 4)).shape
        tinynet.Size([1, 4, 4])
    """
    gray = Grayscale(num_output_channels)
    return with_colors(img, "rgb_to_grayscale", lambda a: gray(wrap(a))._array)


to_grayscale = rgb_to_grayscale


@for_images
def grayscale_to_rgb(img: Any) -> Any:
    """Return a gray image with three equal channels, and one with three as it is."""
    return with_colors(img, "grayscale_to_rgb", lambda a: RGB()(wrap(a))._array)
