"""Whether native code takes less time than numpy's functions here: measured once, then noted.

The two differ in the last bits, so the notes on disk are what makes runs repeat. They do not depend
on the number of threads. Without a folder for notes, nothing is measured, and native code runs.
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

from tinynet.capture.program import Value, rebuilt
from tinynet.kernels.llvm import store
from tinynet.kernels.native import compiler

ROUNDS = 5
ENOUGH = 0.05  # seconds, after which no further round is needed


def is_faster(name: str, kernel: Any, plain: Any, args: Sequence[Any]) -> bool:
    """Return whether a kernel takes less time than numpy's function for such arguments.

    Args:
        name: the operation's, or its formula's.
        kernel, plain: the two functions.
        args: their arguments, with values in place of arrays.
    """
    note = Note(f"{name} {rebuilt(tuple(args), described)}")
    found = note.read()
    if found is None:
        if store.folder() is None:
            return True
        arrays = rebuilt(tuple(args), _sample)
        took = seconds(kernel, arrays), seconds(plain, arrays)
        chosen = "kernel" if took[0] <= took[1] else "plain"
        found = chosen if note.write(chosen, took) else "kernel"
    return found == "kernel"


class Note:
    """What was chosen for something on this machine.

    Args:
        of: what it was chosen for.
    """

    def __init__(self, of: str):
        digest = hashlib.sha256(f"{_machine()} {of}".encode()).hexdigest()[:32]
        folder = store.folder()
        self._of, self._path = of, folder and Path(folder, f"choice_{digest}.json")

    def read(self) -> str | None:
        """Return the choice; None without one."""
        try:
            chosen = self._path and json.loads(self._path.read_text(encoding="utf-8"))["chosen"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return chosen if isinstance(chosen, str) else None

    def write(self, chosen: str, seconds: Sequence[float]) -> bool:
        """Note a choice and the times it rests on; return whether that was possible."""
        note = {"chosen": chosen, "seconds": seconds, "of": self._of[:200]}
        try:
            assert self._path is not None
            store.put(self._path, json.dumps(note).encode())
        except OSError:
            return False
        return True


def described(leaf: Any) -> Any:
    """Return what times depend on in a part of the arguments of a call."""
    return (leaf.shape, str(leaf.dtype)) if isinstance(leaf, Value) else leaf


def _sample(leaf: Any) -> Any:
    """Return an array in place of a value. Integers are 0, a place in any table."""
    if not isinstance(leaf, Value):
        return leaf
    whole = np.zeros if leaf.dtype.kind in "biu" else np.ones
    return whole(leaf.shape, leaf.dtype)


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
