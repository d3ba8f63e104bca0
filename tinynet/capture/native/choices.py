"""Whether a kernel takes less time than numpy's function here: measured once, then noted.

The two differ in the last bits, so the notes on disk are what makes runs repeat. They do not depend
on the number of threads. Without a folder for notes, nothing is measured, and the kernel runs.
"""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tinynet.capture.native import cache
from tinynet.capture.program import Value, rebuilt
from tinynet.kernels.numba import compiler

ROUNDS = 5
ENOUGH = 0.05  # seconds, after which no further round is needed


def is_faster(name: str, kernel: Any, plain: Any, args: Sequence[Any]) -> bool:
    """Return whether a kernel takes less time than numpy's function for such arguments.

    Args:
        name: that of the operation, or of its formula.
        kernel, plain: the two functions.
        args: their arguments, with values in place of arrays.
    """
    folder = cache.folder()
    if folder is None:
        return True
    forms = rebuilt(tuple(args), lambda x: (x.shape, str(x.dtype)) if isinstance(x, Value) else x)
    key = hashlib.sha256(f"{_machine()} {name} {forms}".encode()).hexdigest()[:32]
    path = Path(folder, f"choice_{key}.json")
    try:
        return bool(json.loads(path.read_text(encoding="utf-8"))["kernel"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    arrays = rebuilt(tuple(args), lambda x: np.ones(x.shape, x.dtype) if _is(x) else x)
    took = seconds(kernel, arrays), seconds(plain, arrays)
    note = {"kernel": took[0] <= took[1], "seconds": took, "of": f"{name} {forms}"}
    try:
        cache.write(path, json.dumps(note))
    except OSError:
        return True
    return bool(note["kernel"])


def _is(leaf: Any) -> bool:
    return isinstance(leaf, Value)


def seconds(function: Callable[..., Any], arrays: Sequence[Any]) -> float:
    """Return the processor time of the fastest of some calls, in this thread."""
    function(*arrays)
    found: list[float] = []
    while len(found) < ROUNDS and sum(found) < ENOUGH:
        began = time.thread_time()
        function(*arrays)
        found.append(time.thread_time() - began)
    return min(found)


@functools.cache
def _machine() -> str:
    """Return what times depend on besides the work."""
    return f"{platform.node()} {compiler.processor()} {compiler.version()} {np.__version__}"
