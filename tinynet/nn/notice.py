"""Warnings that name the user's line."""

from __future__ import annotations

import sys
import warnings

from tinynet.core.callsite import OUTSIDE


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn; the line that the warning names is the nearest one outside tinynet."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and not OUTSIDE[frame.f_code.co_filename]:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
