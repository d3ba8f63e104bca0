"""The version of PyTorch whose names and semantics tinynet follows, and what computes."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.compat.runtime import get_num_threads


def _numbers(version: Any) -> list[int]:
    """Return the numbers of a release, without trailing zeros: "2.13.0+cpu" is [2, 13]."""
    if isinstance(version, str):
        release = re.match(r"v?(\d+(?:\.\d+)*)", version)
        version = release[1].split(".") if release else []
    found = [int(n) for n in getattr(version, "release", version)]
    while found and found[-1] == 0:
        found.pop()
    return found


def _comparison(test: Callable[[list[int], list[int]], bool]) -> Any:
    def compare(self: str, other: Any) -> bool:
        if not isinstance(other, (str, tuple, list)) and not hasattr(other, "release"):
            return NotImplemented
        return test(_numbers(self), _numbers(other))

    return compare


class TorchVersion(str):
    """A version that compares numerically, with strings, tuples and ``packaging.Version``.

    Example:
        >>> from tinynet.compat.version import TorchVersion
        >>> TorchVersion("2.13.0") > "2.2", TorchVersion("2.13.0") >= (2, 13)
        (True, True)
    """

    __slots__ = ()

    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)
    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)

    def __hash__(self) -> int:
        return str.__hash__(self)


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
