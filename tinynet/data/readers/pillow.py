"""Reading images with Pillow, which only this module imports, on first use."""

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from tinynet.base import invocation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import FormatError, StrPath, kind_of, open_existing
from tinynet.dtypes import Array

CHANNELS = {"L": 1, "RGB": 3, "RGBA": 4}
"""The number of channels of each mode."""


def require_pillow() -> None:
    """Raise ModuleNotFoundError with installation instructions if Pillow is missing."""
    try:
        import PIL.Image  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Images are read with Pillow, which is not installed: "
            f"`{invocation.installation('images')}`, "
            "or pass a 'loader' that reads them in another way.",
            name="PIL",
        ) from None


def read_image(path: StrPath, mode: str = "RGB", size: tuple[int, int] | None = None) -> Tensor:
    """Return an image as float32 from 0 to 1, of shape (channels, height, width).

    Args:
        path: the file, in any format that Pillow knows.
        mode: ``"RGB"``, ``"RGBA"`` or ``"L"`` (gray).
        size: resize the image to this height and width.

    Raises:
        FormatError: the file is damaged or not an image.
    """
    with _opened(path) as image:
        return convert_image(image, mode, size)


def read_pillow(path: StrPath, mode: str | None = "RGB") -> Any:
    """Return an image as Pillow's, in one of its modes, or for None in the file's.

    Raises:
        FormatError: the file is damaged or not an image.
    """
    with _opened(path) as image:
        return image.copy() if mode is None else image.convert(mode)


def size_of_image(path: StrPath) -> tuple[int, int]:
    """Return the height and width of an image, from the first bytes of its file.

    Raises:
        FormatError: the file is not an image.
    """
    with _opened(path) as image:
        width, height = image.size
        return height, width


def image_from_bytes(array: Array, mode: str, size: tuple[int, int] | None) -> Tensor:
    """Return bytes as `read_image` returns a file of them.

    Args:
        array: uint8, shape (height, width), or (height, width, channels) with 1, 3 or 4 channels.
        mode, size: as in `read_image`.
    """
    import PIL.Image

    flat = array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array
    return convert_image(PIL.Image.fromarray(np.ascontiguousarray(flat)), mode, size)


def opaque_image(path: StrPath, mode: str) -> tuple[Array, str, bool]:
    """Return an image without transparency, what it was, and whether it had transparency.

    Args:
        path: the file.
        mode: ``"RGB"`` or ``"L"`` (gray).

    Returns:
        float32 from 0 to 1, of shape (channels, height, width); ``"120 x 90 color"``. Transparent
        parts become white, or black if what is on them is light.

    Raises:
        FormatError: the file is damaged or not an image.
    """
    with _opened(path) as image:
        array = convert_image(image, mode, None).numpy()
        has_colors = image.mode not in ("1", "L", "LA", "La", "F") and image.mode[0] != "I"
        kind = f"{image.width} x {image.height} {'color' if has_colors else 'gray'}"
        if "A" not in image.getbands() and "transparency" not in image.info:
            return array, kind, False
        alpha = np.asarray(image.convert("RGBA").getchannel("A"), np.float32) / np.float32(255)
    opaque = float((array.mean(0) * alpha).sum() / max(float(alpha.sum()), 1.0))
    paper = np.float32(opaque < 0.5)
    return paper + alpha * (array - paper), kind, bool(alpha.min() < 1)


@contextlib.contextmanager
def _opened(path: StrPath) -> Iterator[Any]:
    """Open an image; errors about its contents become a FormatError."""
    import PIL.Image

    with open_existing(path) as file:
        start = file.read(8)
        file.seek(0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
                yield PIL.Image.open(file)
        except Exception as error:  # a damaged image may raise anything: SyntaxError, zlib.error
            if isinstance(error, OSError) and error.errno is not None:
                raise  # not about the contents
            known = "" if isinstance(error, PIL.UnidentifiedImageError) else f" ({error})"
            found = f"{kind_of(start)}{known}"
            raise FormatError(path, "a complete image that Pillow can read", found) from None


def convert_image(image: Any, mode: str, size: tuple[int, int] | None) -> Tensor:
    """Return a Pillow image as `read_image` does."""
    deep = image.mode.startswith("I")  # 16-bit gray, which Pillow would clip at 255
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")  # Pillow requires it between a palette and other modes
    image = image.convert("F" if deep else mode)
    if size is not None:
        import PIL.Image

        image = image.resize(size[::-1], PIL.Image.Resampling.BILINEAR)
    array = np.asarray(image, np.float32) / np.float32(65535 if deep else 255)
    if deep and mode != "L":
        array = np.repeat(array[..., None], CHANNELS[mode], axis=2)
        array[..., 3:] = 1  # opaque
    return wrap(np.ascontiguousarray(np.moveaxis(np.atleast_3d(array), 2, 0)))
