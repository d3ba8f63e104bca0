"""``torch.__config__``: what the libraries below were built with."""

from __future__ import annotations

import numpy as np

from tinynet.runtime import get_num_threads


def show() -> str:
    """Return a text on the libraries that compute: numpy's version.

    Example:
        >>> from tinynet.compat import config
        >>> config.show().startswith("tinynet built with:")
        True
    """
    return f"tinynet built with:\n  - numpy {np.__version__}\n"


def parallel_info() -> str:
    """Return a text on the number of threads."""
    return f"ATen/Parallel:\n\tat::get_num_threads() : {get_num_threads()}\n"
