"""PyTorch's backends that tinynet lacks: modules whose switches have no effect."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any


def is_available() -> bool:
    """Return False.

    Example:
        >>> tn.backends.cudnn.is_available()
        False
    """
    return False


def is_built() -> bool:
    """Return False.

    Example:
        >>> tn.backends.mps.is_built()
        False
    """
    return False


def version() -> None:
    """Return None.

    Example:
        >>> tn.backends.cudnn.version()
    """


@contextlib.contextmanager
def flags(**switches: Any) -> Iterator[None]:
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
    vars(module).update(names, is_available=is_available)
    sys.modules[module.__name__] = module
    return module


_ATTENTION = "cudnn_sdp flash_sdp math_sdp mem_efficient_sdp".split()
cuda = _backend(
    "cuda",
    "CUDA's matrix products and attention.",
    is_built=is_built,
    matmul=SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=False),
    sdp_kernel=flags,
    **{f"{kind}_enabled": is_built for kind in _ATTENTION},
    **{f"enable_{kind}": _ignore for kind in _ATTENTION},
)
cudnn = _backend(
    "cudnn",
    "NVIDIA's convolutions.",
    flags=flags,
    version=version,
    **dict.fromkeys(("allow_tf32", "benchmark", "enabled"), False),
    deterministic=True,
)
mkl = _backend("mkl", "Intel's matrix products: whether they run depends on numpy's BLAS.")
mkldnn = _backend("mkldnn", "oneDNN.", flags=flags, enabled=False)
mps = _backend("mps", "Apple's GPU.", is_built=is_built)
openmp = _backend("openmp", "OpenMP.")
opt_einsum = _backend("opt_einsum", "numpy chooses the path of an einsum.", enabled=False)
