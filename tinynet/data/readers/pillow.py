"""Reading images with Pillow, which only this module imports, on first use."""

import warnings
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import FormatError, kind_of

_CHANNELS = {"L": 1, "RGB": 3, "RGBA": 4}


def require_pillow() -> None:
    """Raise ModuleNotFoundError with installation instructions if Pillow is missing."""
    try:
        import PIL.Image  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Images are read with Pillow, which is not installed: `pip install tinynet[images]`, "
            "or pass a 'loader' that reads them in another way.",
            name="PIL",
        ) from None


def read_image(path: str, mode: str = "RGB", size: tuple[int, int] | None = None) -> Tensor:
    """Return an image as float32 from 0 to 1, of shape (channels, height, width).

    Args:
        path: the file, in any format that Pillow knows.
        mode: ``"RGB"``, ``"RGBA"`` or ``"L"`` (gray).
        size: resize the image to this height and width.

    Raises:
        FormatError: the file is damaged or not an image.
    """
    import PIL.Image

    with open(path, "rb") as file:
        start = file.read(8)
        file.seek(0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
                return _decoded(PIL.Image.open(file), mode, size)
        except Exception as error:  # a damaged image may raise anything: SyntaxError, zlib.error
            if isinstance(error, OSError) and error.errno is not None:
                raise  # not about the contents
            known = "" if isinstance(error, PIL.UnidentifiedImageError) else f" ({error})"
            found = f"{kind_of(start)}{known}"
            raise FormatError(path, "a complete image that Pillow can read", found) from None


def _decoded(image: Any, mode: str, size: tuple[int, int] | None) -> Tensor:
    deep = image.mode.startswith("I")  # 16-bit gray, which Pillow would clip at 255
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")  # Pillow requires it between a palette and other modes
    image = image.convert("F" if deep else mode)
    if size is not None:
        import PIL.Image

        image = image.resize(size[::-1], PIL.Image.Resampling.BILINEAR)
    array = np.asarray(image, np.float32) / np.float32(65535 if deep else 255)
    if deep and mode != "L":
        array = np.repeat(array[..., None], _CHANNELS[mode], axis=2)
        array[..., 3:] = 1  # opaque
    return wrap(np.ascontiguousarray(np.moveaxis(np.atleast_3d(array), 2, 0)))
