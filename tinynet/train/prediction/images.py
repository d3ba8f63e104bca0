"""Files of images for a data set that is not a folder of them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.framing import Framing, conversion
from tinynet.data.readers.pillow import opaque_image, require_pillow
from tinynet.dtypes import Array
from tinynet.train.loop.source import dataset_attribute
from tinynet.train.outputs.pictures import are_images

MEASURED = 500
"""The number of examples whose range, background and extent are measured."""


def shape_of_images(dataset: Any, inputs: Any) -> tuple[int, int, int] | None:
    """Return channels, height and width of a data set's images; None if it has none.

    Args:
        dataset: the data set, perhaps with an attribute ``image_shape`` for flat inputs.
        inputs: a batch of its inputs.
    """
    if are_images(inputs):
        return inputs.shape[1], inputs.shape[2], inputs.shape[3]
    shape = dataset_attribute(dataset, "image_shape")
    if shape is None or not isinstance(inputs, Tensor) or not inputs.is_floating_point():
        return None
    is_image = len(shape) == 3 and shape[0] in (1, 3)
    return tuple(shape) if is_image and math.prod(shape) == inputs[0].numel() else None


class ImageReader:
    """Reads files as inputs like those of a data set, from their range, size and background.

    Args:
        inputs: inputs of the data set, (examples, ...).
        shape: channels, height and width of its images.

    Example:
        >>> digits = tn.data.Digits(train=False)
        >>> reader = ImageReader(digits.images[:100], digits.image_shape)
        >>> reader.framing.size, reader.framing.background
        ((8, 8), 0.0)
    """

    def __init__(self, inputs: Tensor, shape: tuple[int, int, int]) -> None:
        self.shape, self.input_shape = shape, tuple(inputs.shape[1:])
        array = inputs.numpy().reshape(-1, *shape)
        self.dtype = array.dtype
        self.low = array.min(axis=(0, 2, 3))[:, None, None]
        reach = array.max(axis=(0, 2, 3))[:, None, None] - self.low
        self.reach = np.where(reach > 0, reach, 1)
        self.framing = Framing.of((array - self.low) / self.reach)

    def __call__(self, path: str | os.PathLike[str]) -> tuple[Array, str]:
        """Return a file as an input, and its conversion in words.

        Raises:
            FormatError: it is not an image.
            ModuleNotFoundError: Pillow is not installed.
            OSError: it cannot be opened.
        """
        require_pillow()
        image, kind, transparent = opaque_image(path, "L" if self.shape[0] == 1 else "RGB")
        image, done = self.framing.framed(image, self.shape[1:])
        if transparent:
            done.insert(0, "transparency removed")
        values = (self.low + image * self.reach).astype(self.dtype)
        return values.reshape(self.input_shape), conversion(kind, self.shape, done)

    def batch(self, paths: Iterable[str | os.PathLike[str]]) -> Tensor:
        """Return files as a batch of inputs; raises the errors of a call."""
        return wrap(np.stack([self(path)[0] for path in paths]))
