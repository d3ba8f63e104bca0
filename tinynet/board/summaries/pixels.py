"""Converting arrays to images: dimension orders, grids, boxes, scaling."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.board.summaries import checks

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
    array = checks.array(method, "img_tensor", value)
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
    checks.check_shape(method, "img_tensor", array.shape, good, f"{order}, with 1 to 4 channels")
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
