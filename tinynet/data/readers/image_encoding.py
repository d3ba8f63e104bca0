"""The conversion of images to inputs: read, transformed, and normalized as learned."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import FormatError, StrPath, raise_all
from tinynet.data.readers.framing import Framing
from tinynet.data.readers.pillow import (
    CHANNELS,
    convert_image,
    image_from_bytes,
    opaque_image,
    read_image,
    require_pillow,
)
from tinynet.data.transforms.conversion import Normalize
from tinynet.data.transforms.resizing import resized
from tinynet.dtypes import Array

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class ImageEncoder:
    """The user's options, and the mean and deviation of each channel.

    Called with images, it returns a batch of inputs.
    """

    classes: list[str]
    mode: str = "RGB"
    size: tuple[int, int] | None = None
    """The height and width to resize images to, or None."""

    mean: list[float] | None = None
    """The mean of each channel, which is subtracted; None to leave the values as they are."""

    std: list[float] | None = None
    """The standard deviation of each channel."""

    transform: Function | None = None
    loader: Callable[[str], Any] | None = None
    """The user's function that reads a file; None for Pillow."""

    framing: Framing | None = None
    """The framing of the training images; None if it is unknown."""

    def __call__(self, images: Iterable[Any]) -> Tensor:
        """Return images as a batch of inputs.

        Args:
            images: paths; Pillow images; arrays of (height, width, channels) or (height, width);
                arrays or tensors of (channels, height, width). Bytes are from 0 to 255, floats
                from 0 to 1.

        Raises:
            FormatError: with all images that are damaged, or whose shapes differ.
            OSError: a file cannot be opened.
        """
        inputs: list[Array] = []
        mistakes = []
        for number, image in enumerate(images, 1):
            try:
                array = _array(self.input_of(image, f"image {number}"))
            except FormatError as error:
                mistakes.append(error)
                continue
            if inputs and array.shape != inputs[0].shape:
                expected = f"the shape {[*inputs[0].shape]} of the first one"
                name = image if isinstance(image, str | os.PathLike) else f"image {number}"
                mistakes.append(FormatError(name, expected, str([*array.shape])))
            inputs.append(array)
        raise_all(mistakes)
        return wrap(np.stack(inputs))

    def input_of(self, image: Any, name: str = "image") -> Any:
        """Return one image as an input; arguments and errors are those of a call."""
        image = self.read(image, name)
        for step in self.steps(self.transform):
            image = step(image)
        return image

    def framed(self, path: StrPath) -> tuple[Any, str, list[str]]:
        """Return an image that a call takes, framed like the training images.

        Returns:
            the image (an image like those of the training set is the file itself); what it was,
            such as ``"120 x 90 color"``; and what was done to it, as for `conversion`.

        Raises:
            FormatError: the file is damaged.
            OSError: it cannot be opened.
        """
        if self.framing is None or self.loader is not None or self.mode == "RGBA":
            return path, "", []
        require_pillow()
        array, kind, transparent = opaque_image(path, self.mode)
        size = self.size or (self.framing.size if self.transform is None else None)
        image, done = self.framing.framed(array, size)
        if transparent and not self.framing.transparent:
            done.insert(0, "transparency removed")
        same = not done and (self.size is not None or image.shape == array.shape)
        return path if same else wrap(image), kind, done

    def steps(self, *transforms: Function | None) -> list[Function]:
        """Return the transforms that are given, followed by the normalization."""
        known = [step for step in transforms if step is not None]
        if self.mean is None or self.std is None:
            return known
        return [*known, Normalize(self.mean, self.std)]

    def read(self, image: Any, name: str) -> Any:
        """Return a file or an array as the transforms get it."""
        if isinstance(image, str | os.PathLike):
            path = os.fspath(image)
            if self.loader is not None:
                return self.loader(path)
            require_pillow()
            return read_image(path, self.mode, self.size)
        if self.loader is not None:
            return image  # only the user's transforms know it
        if hasattr(image, "convert") and hasattr(image, "mode"):
            return convert_image(image, self.mode, self.size)
        return self._from_array(np.asarray(_array(image)), name)

    def _from_array(self, array: Array, name: str) -> Tensor:
        if array.ndim == 3 and array.shape[2] not in (1, 3, 4) and array.shape[0] in (1, 3, 4):
            array = np.moveaxis(array, 0, 2)
        if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)):
            expected = "a shape (height, width), with 1, 3 or 4 channels before or after it"
            raise FormatError(name, expected, str([*array.shape]))
        if array.dtype.kind not in "biuf":
            raise FormatError(name, "numbers", str(array.dtype))
        if array.dtype.kind in "iu" and array.dtype != np.uint8:
            if array.size and not 0 <= array.min() <= array.max() <= 255:
                found = f"{array.min()} to {array.max()}"
                raise FormatError(name, "integers from 0 to 255, or floats from 0 to 1", found)
            array = array.astype(np.uint8)
        if array.dtype == np.uint8:
            require_pillow()
            return image_from_bytes(array, self.mode, self.size)
        values = np.moveaxis(np.atleast_3d(array.astype(np.float32)), 2, 0)
        if len(values) == 1 and self.mode == "RGB":
            values = np.repeat(values, 3, axis=0)
        if len(values) != CHANNELS[self.mode]:
            expected = (
                f"{quantity(CHANNELS[self.mode], 'channel')}, because the mode is {self.mode}"
            )
            raise FormatError(name, expected, str(len(values)))
        return wrap(values if self.size is None else resized(values, self.size, "bilinear"))

    def fitted(self, paths: Sequence[StrPath]) -> ImageEncoder:
        """Return the encoder with the mean and deviation of each channel of some images.

        Raises:
            FormatError: with all images that cannot be read, or whose channels differ in number.
        """
        moments, mistakes = _Moments(), []
        plain = replace(self, mean=None, std=None)
        for path in paths:
            try:
                array = _array(plain.input_of(path))
                moments.add(path, array if array.ndim > 2 else array.reshape(1, 1, -1))
            except FormatError as error:
                mistakes.append(error)
            except (ValueError, TypeError) as error:
                found = f"{type(error).__name__}: {error}"
                mistakes.append(FormatError(path, "an image that can be transformed", found))
        raise_all(mistakes)
        return replace(self, mean=moments.mean.tolist(), std=moments.std().tolist())

    def state_dict(self) -> dict[str, Any]:
        """Return the encoder as plain data, for JSON; the functions are in the config."""
        size = None if self.size is None else [*self.size]
        kept = {"classes": self.classes, "mode": self.mode, "mean": self.mean, "std": self.std}
        framing = None if self.framing is None else self.framing.state_dict()
        return {"kind": "images", **kept, "size": size, "framing": framing}

    @classmethod
    def from_state_dict(
        cls,
        state: Mapping[str, Any],
        transform: Function | None = None,
        loader: Callable[[str], Any] | None = None,
    ) -> ImageEncoder:
        """Return the encoder that `state_dict` described, with its functions."""
        size = None if state["size"] is None else tuple(state["size"])
        given = {key: state[key] for key in ("classes", "mode", "mean", "std")}
        found = state.get("framing")
        framing = None if found is None else Framing.from_state_dict(found)
        return cls(**given, size=size, transform=transform, loader=loader, framing=framing)


class _Moments:
    """The mean and variance of each channel, one image at a time (Chan et al., 1979)."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = np.zeros(0)
        self.squares = np.zeros(0)

    def add(self, path: StrPath, array: Array) -> None:
        """Add an image, (channels, height, width)."""
        values = array.reshape(len(array), -1).astype(np.float64)
        if not self.count:
            self.mean, self.squares = np.zeros(len(values)), np.zeros(len(values))
        if len(values) != len(self.mean):
            expected = f"{quantity(len(self.mean), 'channel')}, as the first image has"
            raise FormatError(path, expected, str(len(values)))
        mean, count = values.mean(1), values.shape[1]
        delta, total = mean - self.mean, self.count + count
        self.squares += ((values - mean[:, None]) ** 2).sum(1)
        self.squares += delta**2 * self.count * count / total
        self.mean = self.mean + delta * count / total
        self.count = total

    def std(self) -> Array:
        """Return the standard deviations; 1 where all values are equal."""
        deviations = np.sqrt(self.squares / max(self.count, 1))
        return np.where(deviations > 0, deviations, 1.0)


def _array(image: Any) -> Array:
    array: Array = image.numpy() if isinstance(image, Tensor) else np.asarray(image)
    return array
