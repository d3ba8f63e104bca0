"""The framing of a data set's images, and other images framed like them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tinynet.data.transforms.resizing import resized
from tinynet.dtypes import Array

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

        A drawing is inverted if its background is that of none of the images, gets a frame as wide
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
