"""Encoding PNG files, with zlib only.

Source: Portable Network Graphics (PNG) Specification (Third Edition), W3C 2025, which includes
    animated pictures (APNG).
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # gray, gray and alpha, RGB, RGBA
_UP = 2  # the filter that stores differences to the row above: smaller for most images


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """Return the PNG file of an image.

    Shapes: `pixels` is uint8 [H, W, C], where C is 1 (gray), 2 (gray, alpha), 3 or 4 (RGB, alpha).

    Example:
        >>> import numpy as np
        >>> from tinynet.board.summaries.png import png
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
