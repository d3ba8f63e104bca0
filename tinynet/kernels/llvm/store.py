"""Machine code on disk, in a folder of the user's.

The name of a file is the digest of all that its code depends on. A folder that others could write
to is not used, and a file that is not as it was left is not believed.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
from pathlib import Path

from tinynet.base.atomic_write import write_atomically

_DIGEST = hashlib.sha256().digest_size


def find_folder() -> Path | None:
    """Return the folder of machine code, ``TINYNET_CACHE`` or the user's; None without one."""
    named = os.environ.get("TINYNET_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = Path(named) if named else Path(home, "tinynet")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError:
        return None
    if hasattr(os, "getuid"):
        others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if status.st_uid != os.getuid() or others:
            return None
    return path


folder = functools.cache(find_folder)


def digest(text: str) -> str:
    """Return the name of what depends on a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read(name: str) -> bytes | None:
    """Return machine code; None if there is none, or not as it was left."""
    place = folder()
    try:
        found = Path(place, f"{name}.o").read_bytes() if place else b""
    except OSError:
        return None
    code = found[_DIGEST:]
    return code if code and hashlib.sha256(code).digest() == found[:_DIGEST] else None


def write(name: str, code: bytes) -> None:
    """Keep machine code, if that is possible."""
    place = folder()
    if place is not None:
        try:
            put(Path(place, f"{name}.o"), hashlib.sha256(code).digest() + code)
        except OSError:
            return


def put(path: Path, content: bytes) -> None:
    """Write a file of the folder."""
    write_atomically(path, lambda file: file.write(content))
