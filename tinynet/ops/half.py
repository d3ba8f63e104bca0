"""float16 is for storage: what takes several steps computes in float32 and rounds once.

numpy's own functions do that by themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.dtypes import Array

HALF = np.dtype(np.float16)


def in_single(op: Any, *inputs: Any, **options: Any) -> Array:
    """Return what the kernel of ``op`` makes of float16 inputs in float32, rounded to float16."""
    wide = [
        x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype == HALF else x for x in inputs
    ]
    return np.asarray(op.kernel(*wide, **options)).astype(HALF)
