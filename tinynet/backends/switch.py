"""The switch of the compiled kernels."""

from __future__ import annotations

import os

from tinynet.kernels import numba as numba_kernels
from tinynet.kernels.numba import compiler


class Numba:
    """Kernels compiled with numba (``pip install numba``).

    They replace sequences of numpy operations in float32: the steps of LSTM and GRU layers, and
    the rows of embeddings. Results differ from numpy's in the last bits, but never between runs.
    Each kernel is compiled on its first call and cached on disk.

    Attributes:
        enabled: whether to use the kernels. The environment variable ``TINYNET_NUMBA=1`` enables
            them before the first line of a script.

    Raises:
        RuntimeError: the kernels are enabled, but numba is not installed.

    Example:
        >>> tn.backends.numba.enabled
        False
    """

    @property
    def enabled(self) -> bool:
        return numba_kernels.on

    @enabled.setter
    def enabled(self, value: bool) -> None:
        if value:
            numba_kernels.enable()
        else:
            numba_kernels.disable()

    def is_available(self) -> bool:
        """Return whether numba is installed."""
        return compiler.is_available()

    def version(self) -> str | None:
        """Return the version of numba; None if it is not installed."""
        return compiler.version()


numba = Numba()
if os.environ.get("TINYNET_NUMBA", "0") not in ("", "0"):
    numba.enabled = True
