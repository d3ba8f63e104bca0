"""Rendering text as pixels; the only module here that imports Pillow, on first use."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.base import invocation

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
