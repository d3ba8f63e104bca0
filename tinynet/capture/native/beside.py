"""Compilation beside the training: another process compiles what a program calls.

The machine code comes through the cache on disk. The other process gets the sources of native
functions, and runs the kernels of ``kernels/native`` on zeros of the shapes that the program has.
"""

from __future__ import annotations

import dataclasses
import os
import pickle
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tinynet.capture.native import cache, forms
from tinynet.capture.program import Call, Value, leaves, rebuilt
from tinynet.core.declaration.operation import REGISTRY
from tinynet.kernels.llvm import store
from tinynet.nn.functional import gated_rnn_ops as gated_rnn_ops  # declares operations

_MAIN = "from tinynet.capture.native.beside import main; main()"


@dataclasses.dataclass(frozen=True)
class _Form:
    """An array of which only the form matters, unless an earlier job makes it.

    Attributes:
        number: the value's.
        shape, dtype: the array's.
    """

    number: int
    shape: Any
    dtype: Any


class Function(NamedTuple):
    """A native function to compile; for the arguments see ``Native``."""

    title: str
    takes: cache.Takes
    lines: list[str]

    def run(self, values: dict[int, Any]) -> None:
        """Compile it."""
        cache.Native(*self).compile()


class Kernel(NamedTuple):
    """A call of an operation's kernel, or of a formula, to run with compiled kernels."""

    op: str
    formula: str
    args: tuple[Any, ...]
    result: Any

    def run(self, values: dict[int, Any]) -> None:
        """Run it on zeros; kernels may return arrays of other shapes than numpy's functions."""

        def array(leaf: Any) -> Any:
            if not isinstance(leaf, _Form):
                return leaf
            found = values.get(leaf.number)
            return np.zeros(leaf.shape, leaf.dtype) if found is None else found

        function = forms.enabled(forms.function_of(REGISTRY[self.op], self.formula))
        with np.errstate(all="ignore"):
            made = function(*rebuilt(self.args, array))
        for form, part in zip(leaves(self.result), leaves(made), strict=True):
            if isinstance(form, _Form):
                values[form.number] = part


def jobs(calls: Iterable[Call]) -> list[Function | Kernel]:
    """Return what LLVM compiles at the first run of calls."""
    found: list[Function | Kernel] = []
    for call in calls:
        natives = getattr(call.function, "natives", tuple)
        found += [Function(n.title, n.takes, [*n.lines]) for n in natives()]
        owner = forms.kernel_of(call)
        if owner is not None and all(v.dtype is not None for v in call.inputs()):
            found.append(Kernel(*owner, *rebuilt((call.args, call.result), _form)))
    return found


def _form(leaf: Any) -> Any:
    return _Form(leaf.number, leaf.shape, leaf.dtype) if isinstance(leaf, Value) else leaf


class Compilation:
    """A process that does jobs. It ends with this object, and with this process.

    Without a folder for machine code there is none, and the first call of a function compiles it.
    """

    def __init__(self, work: list[Function | Kernel]):
        self._process: subprocess.Popen[bytes] | None = None
        if work and store.folder() is not None and sys.executable:
            self._process = self._started(work)
            weakref.finalize(self, _end, self._process, os.getpid())

    @staticmethod
    def _started(work: list[Function | Kernel]) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, sys.path))
        with tempfile.TemporaryFile() as file:  # a pipe would be full until the other side is ready
            pickle.dump(work, file)
            file.seek(0)
            return subprocess.Popen(
                [sys.executable, "-c", _MAIN],
                stdin=file,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": path},
            )

    def is_done(self, wait: bool = False) -> bool:
        """Return whether the process has ended, well or not."""
        if self._process is None:
            return True
        if wait:
            self._process.wait()
        return self._process.poll() is not None


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a process; one that was forked from its owner leaves it alone."""
    if os.getpid() == owner and process.poll() is None:
        process.kill()
        process.wait()


def main() -> None:
    """Do the jobs that come from the standard input; what fails is left to the other process."""
    values: dict[int, Any] = {}
    for job in pickle.load(sys.stdin.buffer):
        try:
            job.run(values)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
