"""The switch of the compiled kernels."""

from __future__ import annotations

import os

from tinynet import numba_kernels
from tinynet.numba_kernels import compiler


class Numba:
    """Kernels of one pass, compiled by numba (``pip install numba``).

    They stand in for numpy's dozen passes in float32: GELU, normalisations, recurrent layers,
    convolutions, optimizers. Results differ from numpy's in the last bits, never from run to run.
    Each kernel is compiled at its first call and kept on disk. Meanwhile numpy's BLAS has one
    thread: large products are shared by tinynet's own.

    Attributes:
        enabled: whether they are used. The environment variable ``TINYNET_NUMBA=1`` sets it before
            the first line of a script.

    Raises:
        RuntimeError: numba is to be used, and not installed.

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
