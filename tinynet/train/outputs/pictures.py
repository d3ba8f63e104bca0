"""Small images for TensorBoard, as arrays (height, width, 3) of bytes."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array

_PAPER, _INK = np.array([255.0, 255.0, 255.0]), np.array([8.0, 48.0, 107.0])
_GRID_GREY = 200


def are_images(inputs: Any) -> TypeGuard[Tensor]:
    """Return whether a batch holds images: (batch, 1 or 3 channels, height, width), floating.

    Example:
        >>> are_images(tn.zeros(2, 1, 8, 8)), are_images(tn.zeros(2, 64))
        (True, False)
    """
    return (
        isinstance(inputs, Tensor)
        and inputs.ndim == 4
        and inputs.shape[1] in (1, 3)
        and min(inputs.shape) > 0
        and inputs.is_floating_point()
    )


def grid(images: Tensor, least: int = 32, columns: int = 0) -> Array:
    """Arrange images in a grid with lines between them.

    Args:
        images: a batch as for `are_images`; its range of values becomes black to white.
        least: the minimum number of pixels per side; smaller images are enlarged.
        columns: the number of columns; 0 for about as many as rows.

    Example:
        >>> grid(tn.zeros(4, 1, 8, 8)).shape
        (67, 67, 3)
    """
    array = images.detach().numpy().astype(float)
    low, high = float(array.min()), float(array.max())
    array = (array - low) / (high - low or 1.0) * 255
    factor = max(1, math.ceil(least / max(array.shape[2:])))
    array = array.repeat(factor, axis=2).repeat(factor, axis=3)
    count, channels, height, width = array.shape
    columns = columns or math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    canvas = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1, 3), _GRID_GREY, np.uint8)
    for place, image in enumerate(array):
        top = place // columns * (height + 1) + 1
        left = place % columns * (width + 1) + 1
        pixels = image.transpose(1, 2, 0).round().astype(np.uint8)
        canvas[top : top + height, left : left + width] = pixels  # one channel becomes grey
    return canvas


def heat_map(counts: Array, least: int = 320) -> Array:
    """Draw a confusion matrix: rows are true classes, columns predictions, shades shares of a row.

    Args:
        counts: (classes, classes).
        least: the approximate minimum number of pixels per side.

    Example:
        >>> picture = heat_map(np.array([[5, 0], [0, 5]]), least=20)
        >>> picture.shape, picture[5, 5].tolist(), picture[5, 15].tolist()
        ((23, 23, 3), [8, 48, 107], [255, 255, 255])
    """
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ink = np.sqrt(share)[..., None]  # makes a few mistakes among many right answers visible
    cells = (_PAPER * (1 - ink) + _INK * ink).round().astype(np.uint8)
    size = max(2, math.ceil(least / len(counts)))
    side = len(counts) * (size + 1) + 1
    canvas = np.full((side, side, 3), _GRID_GREY, np.uint8)
    for (row, column), _ in np.ndenumerate(counts):
        top, left = row * (size + 1) + 1, column * (size + 1) + 1
        canvas[top : top + size, left : left + size] = cells[row, column]
    return canvas
