"""Backends: LLVM, which tinynet can use, and PyTorch's, whose switches have no effect."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

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
numba = llvm  # its name before
if os.environ.get("TINYNET_LLVM", "0") not in ("", "0"):
    llvm.enabled = True


def _is_available() -> bool:
    """Return False.

    Example:
        >>> tn.backends.cudnn.is_available()
        False
    """
    return False


def _is_built() -> bool:
    """Return False.

    Example:
        >>> tn.backends.mps.is_built()
        False
    """
    return False


def _version() -> None:
    """Return None.

    Example:
        >>> tn.backends.cudnn.version()
    """


@contextlib.contextmanager
def _flags(**switches: Any) -> Iterator[None]:
    """Run a block unchanged.

    Args:
        **switches: ignored.

    Example:
        >>> with tn.backends.cudnn.flags(enabled=False):
        ...     tn.ones(1)
        tensor([1.])
    """
    yield


def _ignore(enabled: bool) -> None:
    """Do nothing: there is one implementation of attention."""


def _backend(name: str, doc: str, **names: Any) -> ModuleType:
    """Return a module of ``tinynet.backends``, which can be imported by its path."""
    module = ModuleType(f"tinynet.backends.{name}", doc)
    vars(module).update(names, is_available=_is_available)
    sys.modules[module.__name__] = module
    return module


_ATTENTION = "cudnn_sdp flash_sdp math_sdp mem_efficient_sdp".split()
cuda = _backend(
    "cuda",
    "CUDA's matrix products and attention.",
    is_built=_is_built,
    matmul=SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=False),
    sdp_kernel=_flags,
    **{f"{kind}_enabled": _is_built for kind in _ATTENTION},
    **{f"enable_{kind}": _ignore for kind in _ATTENTION},
)
cudnn = _backend(
    "cudnn",
    "NVIDIA's convolutions.",
    flags=_flags,
    version=_version,
    **dict.fromkeys(("allow_tf32", "benchmark", "enabled"), False),
    deterministic=True,
)
mkl = _backend("mkl", "Intel's matrix products: whether they run depends on numpy's BLAS.")
mkldnn = _backend("mkldnn", "oneDNN.", flags=_flags, enabled=False)
mps = _backend("mps", "Apple's GPU.", is_built=_is_built)
openmp = _backend("openmp", "OpenMP.")
opt_einsum = _backend("opt_einsum", "numpy chooses the path of an einsum.", enabled=False)
