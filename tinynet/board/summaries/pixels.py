"""Images as arrays: conversion, captions in them, and PNG files."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from tinynet.base import invocation
from tinynet.board.summaries.family import as_array, check_shape

# ---- png ----------------------------------------------------------------------------------------
# Encoding PNG files, with zlib only.
#
# Source: Portable Network Graphics (PNG) Specification (Third Edition), W3C 2025, which includes
#     animated pictures (APNG).


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # gray, gray and alpha, RGB, RGBA
_UP = 2  # the filter that stores differences to the row above: smaller for most images


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """Return the PNG file of an image.

    Shapes: `pixels` is uint8 [H, W, C], where C is 1 (gray), 2 (gray, alpha), 3 or 4 (RGB, alpha).

    Example:
        >>> import numpy as np
        >>> from tinynet.board.summaries.pixels import png
        >>> png(np.zeros((2, 3, 1), np.uint8))[:8]
        b'\\x89PNG\\r\\n\\x1a\\n'
    """
    return b"".join(
        [_SIGNATURE, _header(pixels), _chunk(b"IDAT", _compressed(pixels)), _chunk(b"IEND", b"")]
    )


def animated_png(frames: np.ndarray[Any, Any], fps: float) -> bytes:
    """Return an animated PNG that loops; other viewers show the first frame.

    Shapes: `frames` is uint8 [T, H, W, C], as in `png`.
    """
    height, width = frames.shape[1:3]
    duration = max(1, round(1000 / fps)), 1000  # as a fraction of a second
    chunks = [_SIGNATURE, _header(frames[0])]
    chunks.append(_chunk(b"acTL", struct.pack(">II", len(frames), 0)))
    number = 0  # counts fcTL and fdAT chunks together
    for index, frame in enumerate(frames):
        control = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, *duration, 0, 0)
        chunks.append(_chunk(b"fcTL", control))
        number += 1
        if index == 0:
            chunks.append(_chunk(b"IDAT", _compressed(frame)))
        else:
            chunks.append(_chunk(b"fdAT", struct.pack(">I", number) + _compressed(frame)))
            number += 1
    return b"".join([*chunks, _chunk(b"IEND", b"")])


def _header(pixels: np.ndarray[Any, Any]) -> bytes:
    height, width, channels = pixels.shape
    bits, rest = 8, (0, 0, 0)  # deflate, adaptive filters, not interlaced
    data = struct.pack(">IIBBBBB", width, height, bits, _COLOUR_TYPES[channels], *rest)
    return _chunk(b"IHDR", data)


def _compressed(pixels: np.ndarray[Any, Any]) -> bytes:
    rows = pixels.reshape(len(pixels), -1)
    lines = np.empty((len(rows), 1 + rows.shape[1]), np.uint8)
    lines[:, 0] = _UP
    lines[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=lines[1:, 1:])  # modulo 256, as the filter requires
    return zlib.compress(lines.data)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


# ---- pixels -------------------------------------------------------------------------------------
# Converting arrays to images: dimension orders, grids, boxes, scaling.


_RED = (255, 0, 0)
_ORDERS = ("HW", "HWC", "NHWC")


def picture(
    method: str, value: Any, dataformats: str, columns: int = 8
) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the image of a parameter `img_tensor`, as uint8 [H, W, C]; a batch becomes a grid.

    Args:
        method: the name of the method, for messages.
        value: a tensor or array; uint8 is unchanged, other dtypes are multiplied by 255, clipped
            and truncated.
        dataformats: the meaning of each dimension: N (batch), C (channels), H (height), W (width).
        columns: the number of images per row of a grid.
    """
    array = as_array(method, "img_tensor", value)
    order = dataformats.upper() if isinstance(dataformats, str) else ""
    if len(set(order)) < len(order):
        raise AssertionError(
            "You can not use the same dimension shorthand twice. "
            f"The 'dataformats' parameter of {method} is {dataformats!r}."
        )
    if order and array.ndim != len(order):
        raise AssertionError(
            "size of input tensor and input format are different. "
            f"tensor shape: {array.shape}, input_format: {dataformats}"
        )
    wanted = next((known for known in _ORDERS if sorted(known) == sorted(order)), None)
    if wanted is None:
        raise ValueError(
            f"The 'dataformats' parameter of {method} must order the letters of one of HW, CHW, "
            f"NCHW. Got {dataformats!r} instead."
        )
    good = array.size > 0
    if good and "C" in order:
        good = array.shape[order.index("C")] in (1, 2, 3, 4)
    check_shape(method, "img_tensor", array.shape, good, f"{order}, with 1 to 4 channels")
    array = in_bytes(array).transpose([order.index(letter) for letter in wanted])
    if wanted == "HW":
        return array[:, :, None]
    return grid(array, columns) if wanted == "NHWC" else array


def in_bytes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return colors as uint8: unchanged, or scaled from 0...1; NaN is black."""
    if array.dtype == np.uint8:
        return array
    with np.errstate(over="ignore"):
        scaled = array.astype(np.float32) * 255
    return np.nan_to_num(np.clip(scaled, 0, 255), copy=False).astype(np.uint8)


def grid(images: np.ndarray[Any, Any], columns: int) -> np.ndarray[Any, Any]:
    """Return a grid of images: [N, H, W, C] -> [rows * H, columns * W, C], padded with black."""
    count, height, width, channels = images.shape
    columns = min(count, columns)
    rows = -(-count // columns)
    places = np.zeros((rows * columns, height, width, channels), images.dtype)
    places[:count] = images
    tiled = places.reshape(rows, columns, height, width, channels).swapaxes(1, 2)
    return tiled.reshape(rows * height, columns * width, channels)


def with_boxes(image: np.ndarray[Any, Any], boxes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a copy of an image with red boxes, two pixels wide: [K, 4] of x0, y0, x1, y1."""
    height, width, channels = image.shape
    image = np.concatenate([image[..., :1]] * 2 + [image], axis=2) if channels < 3 else image.copy()
    for corners in np.nan_to_num(boxes):
        left, right = np.clip(corners[[0, 2]], -2, width + 1).astype(int)
        top, bottom = np.clip(corners[[1, 3]], -2, height + 1).astype(int)
        frame = np.zeros((height, width), bool)
        frame[max(top, 0) : max(bottom + 1, 0), max(left, 0) : max(right + 1, 0)] = True
        frame[max(top + 2, 0) : max(bottom - 1, 0), max(left + 2, 0) : max(right - 1, 0)] = False
        image[frame, :3], image[frame, 3:] = _RED, 255
    return image


def with_label(
    image: np.ndarray[Any, Any], ink: np.ndarray[Any, Any], left: float, bottom: float
) -> None:
    """Draw a label into an image, black on red, with its lower left corner moved inside if needed.

    Args:
        image: the image, [H, W, C] with at least three channels; it is modified.
        ink: the letters, [H, W]: 255 is black.
        left: the column of the corner.
        bottom: the row below the corner.
    """
    height, width = (min(*sizes) for sizes in zip(ink.shape, image.shape[:2], strict=True))
    x = int(np.clip(left, 0, image.shape[1] - width))
    y = int(np.clip(bottom - height, 0, image.shape[0] - height))
    paper = 1 - ink[:height, :width, None] / 255
    place = image[y : y + height, x : x + width]
    place[..., :3] = paper * _RED
    place[..., 3:] = 255


def resized(image: np.ndarray[Any, Any], factor: float) -> np.ndarray[Any, Any]:
    """Resize an image; each pixel takes the color of the nearest one."""
    sizes = [max(1, int(size * factor)) for size in image.shape[:2]]
    rows, columns = (
        np.arange(new) * old // new for new, old in zip(sizes, image.shape[:2], strict=True)
    )
    return image[rows][:, columns]


_MARGIN = 2  # pixels around the letters


def lettered(text: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Render a line of text as [H, W]: 255 for ink, 0 for background, in between at the edges.

    Raises:
        ModuleNotFoundError: Pillow is not installed; the message has instructions.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Labels are drawn with Pillow's font, and Pillow is not installed: "
            f"`{invocation.installation('images')}`, "
            "or leave out 'labels'.",
            name="PIL",
        ) from None
    font = ImageFont.load_default()
    text = " ".join(text.split())
    left, top, right, bottom = font.getbbox(text)
    size = int(right - left) + 2 * _MARGIN, int(bottom - top) + 2 * _MARGIN
    image = Image.new("L", size)
    ImageDraw.Draw(image).text((_MARGIN - left, _MARGIN - top), text, fill=255, font=font)
    return np.asarray(image)
