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

from tinynet.dtypes import Array
from tinynet.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.numba_kernels import blas as blas
    from tinynet.numba_kernels import compiler as compiler
    from tinynet.numba_kernels import gates as gates
    from tinynet.numba_kernels import images as images
    from tinynet.numba_kernels import images_last as images_last
    from tinynet.numba_kernels import tables as tables
    from tinynet.numba_kernels.compiler import disable as disable
    from tinynet.numba_kernels.compiler import enable as enable
    from tinynet.numba_kernels.compiler import used as used
else:
    __getattr__, __dir__, __all__ = _attach(__name__)

on = False


class _Thread(threading.local):
    on = False  # in this thread


thread = _Thread()


def takes(*arrays: Array) -> bool:
    """Return whether the kernels are enabled, and all arrays are float32."""
    return (on or thread.on) and all(a.dtype == np.float32 for a in arrays)
