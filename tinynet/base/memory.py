"""Memory of arrays: settings of the allocator that keep freed memory for reuse, and alignment.

Each training step allocates and frees the same arrays. By default glibc returns large ones to the
system at once, so the next step has to request pages again, which the kernel fills with zeros. That
took up to a quarter of the time of a step.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from typing import Any

import numpy as np

_KEPT = 1 << 30  # bytes of freed memory at the end of the heap from which it is given back
_OWN = 1 << 28  # bytes from which an array still gets pages of its own
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of mallopt's parameters, in malloc.h
LINE = 64  # bytes in a line of the cache


def aligned(shape: int | tuple[int, ...], dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """Return a new array whose memory begins where a line of the cache does.

    numpy's begins at any multiple of 16 bytes. Registers as long as a line are then filled from two
    lines each, and kernels that read a matrix once take up to 1.5 times as long.
    """
    size = math.prod(shape) if isinstance(shape, tuple) else shape
    memory: Any = np.empty(np.dtype(dtype).itemsize * size + LINE, np.uint8)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return np.ndarray(shape, dtype, memory, -start % LINE)


def keep_freed() -> bool:
    """Configure the allocator to keep freed memory; return whether it worked.

    Only glibc's supports it. Settings in the environment take precedence.
    """
    environment = " ".join(os.environ)
    is_set = "MALLOC_" in environment or "malloc" in os.environ.get("GLIBC_TUNABLES", "")
    if not sys.platform.startswith("linux") or is_set:
        return False
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018  # other libraries have no such function
        mallopt = library.mallopt
    except (OSError, AttributeError, TypeError):
        return False
    kept = mallopt(_TRIM_THRESHOLD, _KEPT)
    # Some versions refuse more than 32 MB here.
    return bool(kept and (mallopt(_MMAP_THRESHOLD, _OWN) or mallopt(_MMAP_THRESHOLD, 1 << 25)))
