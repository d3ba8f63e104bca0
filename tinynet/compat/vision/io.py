"""``torchvision.io``: images in files as tensors of bytes."""

from __future__ import annotations

from enum import Enum

from tinynet.compat.vision.functions.conversion import pil_to_tensor
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.readers.files import StrPath
from tinynet.data.readers.pillow import read_pillow, require_pillow


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
