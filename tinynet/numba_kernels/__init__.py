"""Fused kernels compiled with numba, if it is installed and the user enables them.

In numpy, each pass over an array is a separate call, and a GELU or an Adam update takes a dozen.
Here they are loops: functions over float32 arrays, written in the subset of Python that numba
compiles; without numba they run as plain Python. They compute the same as the numpy kernels, in
float32, with results that differ in the last bits. Every call site also has a numpy kernel, and
checks ``on``:

    if numba_kernels.on:
        activations.gelu(x, out, below)

Users switch with ``tn.backends.numba.enabled = True``, or ``TINYNET_NUMBA=1``. Large tasks are
divided among the package's own threads, see ``sharing``.
"""

from typing import TYPE_CHECKING

import numpy as np

from tinynet.dtypes import Array
from tinynet.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.numba_kernels import activations as activations
    from tinynet.numba_kernels import blas as blas
    from tinynet.numba_kernels import compiler as compiler
    from tinynet.numba_kernels import matrices as matrices
    from tinynet.numba_kernels import optimizers as optimizers
    from tinynet.numba_kernels import powers as powers
    from tinynet.numba_kernels import tables as tables
    from tinynet.numba_kernels import transposes as transposes
    from tinynet.numba_kernels.compiler import disable as disable
    from tinynet.numba_kernels.compiler import enable as enable
    from tinynet.numba_kernels.compiler import used as used
    from tinynet.numba_kernels.llvm import blas_code as blas_code
    from tinynet.numba_kernels.llvm import vectors as vectors
else:
    __getattr__, __dir__, __all__ = _attach(__name__)

on = False


def takes(*arrays: Array) -> bool:
    """Return whether the kernels are enabled, and all arrays are float32."""
    return on and all(a.dtype == np.float32 for a in arrays)
