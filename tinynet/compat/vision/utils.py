"""``torchvision.io`` and ``torchvision.utils``: images in files, and grids of images."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from enum import Enum
from typing import IO, Any

import numpy as np

from tinynet.board.summaries.pixels import png
from tinynet.compat.vision.pillow import image_of, pillow
from tinynet.compat.vision.transforms.functional.conversion import pil_to_tensor
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.readers.files import StrPath
from tinynet.data.readers.pillow import read_pillow, require_pillow
from tinynet.ops import cat, full, stack


class ImageReadMode(Enum):
    """The channels of an image that is read; UNCHANGED keeps the file's."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def read_image(path: StrPath, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> Tensor:
    """Return the image in a file: uint8, shape (channels, height, width).

    Args:
        path: the file, in a format that Pillow knows.
        mode: the channels.

    Raises:
        FormatError: the file is damaged or not an image.
        ModuleNotFoundError: Pillow is not installed.
    """
    require_pillow()
    wanted = ImageReadMode[mode.upper()] if isinstance(mode, str) else mode
    image = read_pillow(path, _MODES.get(wanted.value))
    return pil_to_tensor(image.convert("RGB") if image.mode == "P" else image)


@no_grad()
def make_grid(
    tensor: Tensor | Sequence[Tensor],
    nrow: int = 8,
    padding: int = 2,
    normalize: bool = False,
    value_range: tuple[float, float] | None = None,
    scale_each: bool = False,
    pad_value: float = 0.0,
) -> Tensor:
    """Return a grid of images, each with three channels if they have one.

    Args:
        tensor: [N, C, H, W], [C, H, W], [H, W], or a list of images of one shape.
        nrow: the number of images in a row.
        padding: the width of the lines between images.
        normalize: scale the values to 0 to 1, from
        value_range: the smallest and largest value; by default, the images'.
        scale_each: scale each image by itself.
        pad_value: the value of the lines.

    Raises:
        TypeError: it is neither a tensor nor a list of tensors; or ``value_range`` is not a tuple.

    Example:
        >>> from tinynet.compat.vision.utils import make_grid
        >>> make_grid(tn.rand(10, 1, 28, 28)).shape
        tinynet.Size([3, 62, 242])
    """
    images = _batch(tensor)
    if normalize:
        if value_range is not None and not isinstance(value_range, tuple):
            raise TypeError(
                "value_range has to be a tuple (min, max) if specified. min and max are numbers"
            )
        parts = list(images) if scale_each else [images]
        scaled = [_scaled(part, value_range) for part in parts]
        images = stack(scaled) if scale_each else scaled[0]
    count, channels, height, width = images.shape
    if count == 1:
        return images[0]
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    height, width = height + padding, width + padding
    size = (channels, height * rows + padding, width * columns + padding)
    grid = full(size, pad_value, dtype=images.dtype)
    for index in range(count):
        top, left = index // columns * height + padding, index % columns * width + padding
        grid[:, top : top + height - padding, left : left + width - padding] = images[index]
    return grid


def _batch(tensor: Any) -> Tensor:
    """Return images as [N, C, H, W]; one channel becomes three."""
    if isinstance(tensor, list | tuple):
        for part in tensor:
            if not isinstance(part, Tensor):
                raise TypeError(
                    f"tensor or list of tensors expected, got a list containing {type(part)}"
                )
        tensor = stack(list(tensor))
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
    if tensor.ndim == 2:
        tensor = tensor.unsqueeze(0)
    if tensor.ndim == 3:
        tensor = tensor.unsqueeze(0)
    return cat([tensor] * 3, 1) if tensor.shape[1] == 1 else tensor


def _scaled(image: Tensor, limits: tuple[float, float] | None) -> Tensor:
    low, high = limits or (float(image.min()), float(image.max()))
    return (image.clamp(low, high) - low) / max(high - low, 1e-5)


@no_grad()
def save_image(
    tensor: Tensor | Sequence[Tensor],
    fp: str | os.PathLike[str] | IO[bytes],
    format: str | None = None,
    **kwargs: Any,
) -> None:
    """Write a grid of images to a file. PNG needs no other package; other formats need Pillow.

    Args:
        tensor: the images, of values from 0 to 1, as for ``make_grid``.
        fp: the path, or an open file.
        format: the format; by default, it follows from the path.
        **kwargs: the options of ``make_grid``.

    Raises:
        ModuleNotFoundError: Pillow is not installed, and the format is not PNG.

    Example:
        >>> from tinynet.compat.vision.utils import save_image
        >>> file = getfixture("tmp_path") / "grid.png"
        >>> save_image(tn.rand(4, 1, 8, 8), file)
        >>> file.read_bytes()[1:4]
        b'PNG'
    """
    grid = make_grid(tensor, **kwargs)
    values = grid.mul(255).add(0.5).clamp(0, 255).permute(1, 2, 0).numpy()
    pixels: Any = np.ascontiguousarray(values.astype(np.uint8))
    name = "" if hasattr(fp, "write") else os.fspath(fp)
    kind = (format or os.path.splitext(name)[1].lstrip(".")).lower()
    if pillow() is None and kind == "png":
        _write(fp, png(pixels))
        return
    require_pillow()
    image_of(pixels).save(fp, format=format)


def _write(fp: Any, content: bytes) -> None:
    if hasattr(fp, "write"):
        fp.write(content)
        return
    with open(fp, "wb") as file:
        file.write(content)
