"""One function for tensors and for Pillow images."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from tinynet.compat.vision.functions import on_pillow
from tinynet.compat.vision.images import image_like, is_pillow, tensor_of
from tinynet.core.modes import is_grad_enabled
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.base import image_array
from tinynet.dtypes import Array

F = TypeVar("F", bound=Callable[..., Any])


def for_images(on_tensor: F) -> F:
    """Make a function of a tensor take Pillow images too, and return the kind that it gets.

    Pillow images go to the function of the same name in ``on_pillow.py``, if there is one, and
    otherwise through a tensor.
    """
    own = getattr(on_pillow, on_tensor.__name__, None)

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
