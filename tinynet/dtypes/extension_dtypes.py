"""bfloat16, which the package ml_dtypes adds to numpy: the one file that imports it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.base import invocation


def missing() -> str:
    """Return the message about ml_dtypes, if it is not installed."""
    install = invocation.installation("bfloat16")
    return f"tinynet.bfloat16 needs ml_dtypes, which is not installed: {install}"


def bfloat16() -> np.dtype[Any]:
    """Return numpy's dtype of bfloat16.

    Raises:
        ImportError: ml_dtypes is not installed.
    """
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(missing()) from None
    return np.dtype(ml_dtypes.bfloat16)


def installed() -> bool:
    """Return whether ml_dtypes is installed."""
    try:
        bfloat16()
    except ImportError:
        return False
    return True


def finfo(kind: np.dtype[Any]) -> Any:
    """Return the limits of a floating-point dtype, as ``numpy.finfo`` has them."""
    if kind.kind != "V":
        return np.finfo(kind)
    import ml_dtypes

    return ml_dtypes.finfo(kind)
