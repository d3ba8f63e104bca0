"""Settings of the memory allocator that keep freed memory in the process for reuse.

Each training step allocates and frees the same arrays. By default glibc returns large ones to the
system at once, so the next step has to request pages again, which the kernel fills with zeros. That
took up to a quarter of the time of a step.
"""

from __future__ import annotations

import ctypes
import os
import sys

_KEPT = 1 << 30  # bytes of freed memory at the end of the heap from which it is given back
_OWN = 1 << 28  # bytes from which an array still gets pages of its own
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of mallopt's parameters, in malloc.h


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
