"""Memory that is freed stays with the process, for the next array of that size.

A training step makes and frees the same arrays again and again. As glibc is set, larger ones go
back to the system at once, and their pages have to be asked for, and filled with zeros, at the next
step: that took up to a quarter of the time of a step.
"""

from __future__ import annotations

import ctypes
import os
import sys

_KEPT = 1 << 30  # bytes of freed memory at the end of the heap from which it is given back
_OWN = 1 << 28  # bytes from which an array still gets pages of its own
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of mallopt's parameters, in malloc.h


def keep_freed() -> bool:
    """Tell the allocator to keep what is freed; return whether it was told.

    Only glibc's can be told, and it is not where the environment has settings for it.
    """
    told = "MALLOC_" in " ".join(os.environ) or "malloc" in os.environ.get("GLIBC_TUNABLES", "")
    if not sys.platform.startswith("linux") or told:
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
