"""Runs oneDNN's primitives for the parts of a batch, which OpenMP's threads share.

Compiled code does, so no thread waits for Python's.
"""

from __future__ import annotations

from typing import Any

from numpy import int32

from tinynet.dtypes import Array
from tinynet.kernels.llvm.memory import shared

set_address: Any = None  # functions of oneDNN, once ``native.compiler.prepare`` has found them
execute: Any = None


def run(places: Array, steps: Array, streams: Array, failed: Array, work: int) -> None:
    """Run the steps of each part.

    Args:
        places: the memory objects of each part, and their addresses, ``[parts, places, 2]``; 0 for
            no object.
        steps: the primitives of each part, and the numbers and addresses of their arguments,
            ``[parts, steps, 3]``; 0 for no primitive.
        streams: that of each part.
        failed: where to write the status of each part: 0 unless one of its steps failed.
        work: the number of multiply-adds.
    """
    for part in shared(len(streams), work):
        status = int32(0)
        for i in range(places.shape[1]):
            if places[part, i, 0] != 0:
                set_address(places[part, i, 0], places[part, i, 1])
        for i in range(steps.shape[1]):
            if steps[part, i, 0] != 0 and status == 0:
                status = execute(
                    steps[part, i, 0], streams[part], int32(steps[part, i, 1]), steps[part, i, 2]
                )
        failed[part] = status
