"""Kernels that LLVM compiles, if llvmlite is installed and the user enables them.

They are loops over float32 arrays, for what takes numpy dozens of calls or passes over memory: the
steps of LSTM and GRU layers, attention, the rows of embeddings, batch norm and max pooling of
images. Their results differ from numpy's in the last bits. Each call site also has numpy's version,
and asks ``takes``:

    if native_kernels.takes(rows):
        tables.add_rows(table, index, rows)

Users switch with ``tn.backends.llvm.enabled = True``, or ``TINYNET_LLVM=1``.
"""

import threading
from typing import TYPE_CHECKING

import numpy as np

from tinynet.base.lazy import attach as _attach
from tinynet.dtypes import Array

if TYPE_CHECKING:
    from tinynet.kernels.native import attention as attention
    from tinynet.kernels.native import blas as blas
    from tinynet.kernels.native import compiler as compiler
    from tinynet.kernels.native import gates as gates
    from tinynet.kernels.native import images as images
    from tinynet.kernels.native import images_last as images_last
    from tinynet.kernels.native import tables as tables
    from tinynet.kernels.native.compiler import disable as disable
    from tinynet.kernels.native.compiler import enable as enable
    from tinynet.kernels.native.compiler import used as used
else:
    __getattr__, __dir__, __all__ = _attach(__name__)

on = False


class _Thread(threading.local):
    on = False  # in this thread


thread = _Thread()


def takes(*arrays: Array) -> bool:
    """Return whether the kernels are enabled, and all arrays are float32."""
    return (on or thread.on) and all(a.dtype == np.float32 for a in arrays)
