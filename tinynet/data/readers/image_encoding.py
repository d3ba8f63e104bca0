"""The conversion of images to inputs: read, framed, transformed, normalized."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import FormatError, StrPath, raise_all
from tinynet.data.readers.pillow import (
    CHANNELS,
    convert_image,
    image_from_bytes,
    opaque_image,
    read_image,
    require_pillow,
)
from tinynet.data.transforms.conversion import Normalize
from tinynet.data.transforms.geometry import resized
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


_SURE = 0.25  # a background is at most this far from black or white
_MOST = 0.9  # the share of the images with such a background
_INK = 0.25  # of the largest distance from the background: what stands on it
_BLANK = 0.1  # an image without such a distance is blank
_SIMILAR = 0.8, 1.25  # ratios of extents that need no other frame


@dataclass(frozen=True)
class Framing:
    """The common size of images, and for drawings in gray, their background and extent.

    Example:
        >>> digits = tn.data.Digits(train=False).images.numpy()
        >>> Framing.of(digits[:100])
        Framing(size=(8, 8), background=0.0, extent=1.0, transparent=False)
    """

    size: tuple[int, int] | None = None
    """Their height and width; None if these differ."""

    background: float | None = None
    """0 if they are light on dark, 1 if they are dark on light, None for colors and photographs."""

    extent: float = 1.0
    """The part of the frame's height or width, whichever is more, that the drawing covers."""

    transparent: bool = False
    """Whether some have transparent parts."""

    @classmethod
    def of(cls, images: Iterable[Array]) -> Framing:
        """Return the framing of images from 0 to 1, each (channels, height, width)."""
        listed = [*images]
        sizes = {(image.shape[1], image.shape[2]) for image in listed}
        size = sizes.pop() if len(sizes) == 1 else None
        borders = np.array([border_of(image) for image in listed if len(image) == 1])
        for background in (0.0, 1.0) if len(borders) == len(listed) and listed else ():
            if np.mean(np.abs(borders - background) <= _SURE) >= _MOST:
                boxes = [(image, box_of(image, background)) for image in listed]
                extents = [_extent(image, box) for image, box in boxes if box is not None]
                extent = round(float(np.median(extents)), 4) if extents else 1.0
                return cls(size, background, extent)
        return cls(size)

    def framed(self, image: Array, size: tuple[int, int] | None) -> tuple[Array, list[str]]:
        """Return an image framed like the others, and what was done to it beside resizing.

        Args:
            image: (channels, height, width), from 0 to 1.
            size: the height and width to resize to, or None.

        A drawing is inverted if no image has its background, gets a frame as wide
        as theirs if its own is much wider or narrower, and is never distorted. Thin lines, which
        fade when an image shrinks, get their contrast back.
        """
        if self.background is None or len(image) != 1:
            return image if size is None else _resized(image, size), []
        drawing, done = self._drawing(image)
        if size is None:
            return drawing, done
        small = _resized(drawing, size)
        before, after = (float(np.abs(x - border_of(drawing)).max()) for x in (drawing, small))
        if before > _BLANK and 0 < after < before * _SIMILAR[0]:
            border = np.float32(border_of(drawing))
            small = (border + (small - border) * np.float32(before / after)).clip(0, 1)
        return small, done

    def _drawing(self, image: Array) -> tuple[Array, list[str]]:
        assert self.background is not None
        done = []
        border = border_of(image)
        if abs(border - self.background) > 0.5:
            image, border = 1 - image, 1 - border
            kind = "light on dark" if self.background == 0 else "dark on light"
            done.append(f"inverted (the training images are {kind})")
        ratio = (
            image.shape[2] / image.shape[1] if self.size is None else self.size[1] / self.size[0]
        )
        box = box_of(image, border)
        padded = _placed(image, ratio, 1.0, border)
        if box is None:
            return padded, done
        now = _extent(padded, box)
        if not _SIMILAR[0] <= now / self.extent <= _SIMILAR[1]:
            cut = image[:, box[0] : box[1], box[2] : box[3]]
            padded = _placed(cut, ratio, self.extent, border)
            done.append("cut to the drawing" if now < self.extent else "with a wider margin")
        return padded, done

    def state_dict(self) -> dict[str, Any]:
        """Return the framing as plain data, for JSON."""
        return asdict(self)

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> Framing:
        """Return the framing that `state_dict` described."""
        size = None if state["size"] is None else tuple(state["size"])
        return cls(**{**state, "size": size})


def conversion(kind: str, shape: Sequence[int], done: Sequence[str]) -> str:
    """Return in words what was done to an image.

    Args:
        kind: what it was, such as ``"120 x 90 color"``.
        shape: what it is: channels, height and width.
        done: the other changes.

    Example:
        >>> conversion("120 x 90 color", (1, 8, 8), ["transparency removed"])
        '120 x 90 color, made 8 x 8 gray, transparency removed'
        >>> conversion("8 x 8 gray", (1, 8, 8), [])
        ''
    """
    channels, height, width = shape
    target = f"{width} x {height} {'gray' if channels == 1 else 'color'}"
    made = [*([] if target == kind else [f"made {target}"]), *done]
    return ", ".join([kind, *made]) if made else ""


def border_of(image: Array) -> float:
    """Return the median of the outermost pixels of an image, (channels, height, width)."""
    rows, columns = image[:, [0, -1], :], image[:, 1:-1, [0, -1]]
    return float(np.median(np.concatenate([rows.ravel(), columns.ravel()])))


def box_of(image: Array, background: float) -> tuple[int, int, int, int] | None:
    """Return the top, bottom, left and right of what stands on a background; None if nothing."""
    distance = np.abs(image - background).max(0)
    if distance.max() < _BLANK:
        return None
    rows, columns = (
        np.flatnonzero((distance > _INK * distance.max()).any(axis)) for axis in (1, 0)
    )
    return int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1


def _extent(image: Array, box: Sequence[int]) -> float:
    return max((box[1] - box[0]) / image.shape[1], (box[3] - box[2]) / image.shape[2])


def _placed(image: Array, ratio: float, extent: float, background: float) -> Array:
    """Place an image in the middle of a frame of some width / height, of which it covers a part."""
    height, width = image.shape[1:]
    tall = max(height, math.ceil(width / ratio))
    frame = round(tall / extent), round(tall * ratio / extent)
    result = np.full((len(image), max(frame[0], height), max(frame[1], width)), background)
    top, left = (
        (have - need) // 2 for have, need in zip(result.shape[1:], (height, width), strict=True)
    )
    result[:, top : top + height, left : left + width] = image
    return result.astype(image.dtype)


def _resized(image: Array, size: tuple[int, int]) -> Array:
    """Return an image of another size: means over areas to shrink it, bilinear to enlarge it."""
    for axis, target in zip((1, 2), size, strict=True):
        if target < image.shape[axis]:
            image = np.moveaxis(
                np.moveaxis(image, axis, -1) @ _areas(image.shape[axis], target), -1, axis
            )
    return resized(np.ascontiguousarray(image, np.float32), size, "bilinear")


def _areas(size: int, target: int) -> Array:
    """Return the share of each pixel in each of fewer and larger pixels: (size, target)."""
    edges = np.linspace(0, size, target + 1)
    pixels = np.arange(size)[:, None]
    covered = np.minimum(pixels + 1, edges[1:]) - np.maximum(pixels, edges[:-1])
    return covered.clip(0) * (target / size)
