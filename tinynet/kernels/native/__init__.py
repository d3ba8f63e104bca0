"""Kernels that numba compiles, if it is installed and the user enables them.

They are loops over float32 arrays, for what takes numpy dozens of calls or passes over memory: the
steps of LSTM and GRU layers, the rows of embeddings, batch norm and max pooling of images. Their
results differ from numpy's in the last bits. Each call site also has numpy's version,
and asks ``takes``:

    if numba_kernels.takes(rows):
        tables.add_rows(table, index, rows)

Users switch with ``tn.backends.numba.enabled = True``, or ``TINYNET_NUMBA=1``.
"""

import threading
from typing import TYPE_CHECKING

import numpy as np

from tinynet.base.lazy import attach as _attach
from tinynet.dtypes import Array

if TYPE_CHECKING:
    from tinynet.kernels.numba import blas as blas
    from tinynet.kernels.numba import compiler as compiler
    from tinynet.kernels.numba import gates as gates
    from tinynet.kernels.numba import images as images
    from tinynet.kernels.numba import images_last as images_last
    from tinynet.kernels.numba import tables as tables
    from tinynet.kernels.numba.compiler import disable as disable
    from tinynet.kernels.numba.compiler import enable as enable
    from tinynet.kernels.numba.compiler import used as used
else:
    __getattr__, __dir__, __all__ = _attach(__name__)

on = False


class _Thread(threading.local):
    on = False  # in this thread


thread = _Thread()


def takes(*arrays: Array) -> bool:
    """Return whether the kernels are enabled, and all arrays are float32."""
    return (on or thread.on) and all(a.dtype == np.float32 for a in arrays)
