"""The version of PyTorch whose names and semantics tinynet follows, and what computes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tinynet.runtime import get_num_threads


class TorchVersion(str):
    """A version that compares numerically, with strings and with tuples.

    Example:
        >>> from tinynet.compat.version import TorchVersion
        >>> TorchVersion("2.13.0") > "2.2", TorchVersion("2.13.0") >= (2, 13)
        (True, True)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return _compared(self, other) == 0

    def __ne__(self, other: object) -> bool:
        return _compared(self, other) != 0

    def __lt__(self, other: Any) -> bool:
        return _compared(self, other) < 0

    def __le__(self, other: Any) -> bool:
        return _compared(self, other) <= 0

    def __gt__(self, other: Any) -> bool:
        return _compared(self, other) > 0

    def __ge__(self, other: Any) -> bool:
        return _compared(self, other) >= 0

    def __hash__(self) -> int:
        return str.__hash__(self)


def _numbers(version: Any) -> list[int]:
    """Return the numbers of a release, without trailing zeros: "2.13.0+cpu" is [2, 13]."""
    if not isinstance(version, str):
        found = [int(n) for n in version]
    else:
        release = re.match(r"v?(\d+(?:\.\d+)*)", version)
        found = [int(n) for n in release[1].split(".")] if release else []
    while found and found[-1] == 0:
        found.pop()
    return found


def _compared(version: str, other: Any) -> int:
    mine, theirs = _numbers(version), _numbers(other)
    return (mine > theirs) - (mine < theirs)


def show() -> str:
    """Return a text on the libraries that compute: numpy's version.

    Example:
        >>> from tinynet.compat import version
        >>> version.show().startswith("tinynet built with:")
        True
    """
    return f"tinynet built with:\n  - numpy {np.__version__}\n"


def parallel_info() -> str:
    """Return a text on the number of threads."""
    return f"ATen/Parallel:\n\tat::get_num_threads() : {get_num_threads()}\n"


__version__ = TorchVersion("2.13.0+tinynet")
debug = False
cuda = hip = xpu = git_version = None
