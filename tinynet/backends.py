"""Back ends: numba, which tinynet can use, and those of PyTorch, whose switches change nothing."""

from __future__ import annotations

import os

from tinynet import numba_kernels
from tinynet.numba_kernels import compiler


class _Absent:
    """A back end that is not there. Its switches can be set, and change nothing.

    Attributes:
        enabled, benchmark, deterministic, allow_tf32: as scripts set them.
    """

    enabled = False
    benchmark = False
    deterministic = True
    allow_tf32 = False

    def is_available(self) -> bool:
        """Return False."""
        return False

    def is_built(self) -> bool:
        """Return False."""
        return False

    def version(self) -> None:
        """Return None."""
        return None


class _Cuda(_Absent):
    matmul = _Absent()


class _Numba:
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


cudnn = _Absent()
mps = _Absent()
mkldnn = _Absent()
cuda = _Cuda()
numba = _Numba()
if os.environ.get("TINYNET_NUMBA", "0") not in ("", "0"):
    numba.enabled = True
