"""The switch of the compiled kernels."""

from __future__ import annotations

import os

from tinynet.kernels import native as native_kernels
from tinynet.kernels.native import compiler


class LLVM:
    """Kernels compiled by LLVM (``pip install llvmlite``).

    They replace sequences of numpy operations in float32: the steps of LSTM and GRU layers, and
    the rows of embeddings. Results differ from numpy's in the last bits, but never between runs.
    Each kernel is compiled on its first call and cached on disk.

    Attributes:
        enabled: whether to use the kernels. The environment variable ``TINYNET_LLVM=1`` enables
            them before the first line of a script.

    Raises:
        RuntimeError: the kernels are enabled, but llvmlite is not installed.

    Example:
        >>> tn.backends.llvm.enabled
        False
    """

    @property
    def enabled(self) -> bool:
        return native_kernels.on

    @enabled.setter
    def enabled(self, value: bool) -> None:
        if value:
            native_kernels.enable()
        else:
            native_kernels.disable()

    def is_available(self) -> bool:
        """Return whether llvmlite is installed."""
        return compiler.is_available()

    def version(self) -> str | None:
        """Return the version of llvmlite; None if it is not installed."""
        return compiler.version()


llvm = LLVM()
if os.environ.get("TINYNET_LLVM", "0") not in ("", "0"):
    llvm.enabled = True
