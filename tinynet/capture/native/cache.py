"""Native functions: a source for LLVM, and the machine code that comes of it."""

from __future__ import annotations

import ast
import functools
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tinynet.capture.native import library
from tinynet.core.callsite import warn
from tinynet.kernels.llvm import kernel, store
from tinynet.kernels.llvm.values import Form
from tinynet.kernels.native import compiler

# The arguments of a native function: name -> dtype and rank of an array, or -1 for a number.
Takes = dict[str, tuple[str, int]]
NUMBER = "float64", -1
SLOW = 1.0  # seconds: a compilation that takes longer is announced


@functools.cache
def version() -> str:
    """Return a digest of what native functions are compiled with."""
    compiler.prepare()
    texts = [file.read_text("utf-8") for file in sorted(Path(__file__).parent.glob("*.py"))]
    return store.digest(f"{compiler.digest()} {texts}")


class Native:
    """A function in machine code, compiled at its first call or read from disk.

    Args:
        title: its name for people.
        takes: the names of its arguments, and their types.
        lines: the lines of its body, which may use what ``library`` has.

    Attributes:
        function: the compiled function, once it was called.
        source: the source.
    """

    def __init__(self, title: str, takes: Takes, lines: Sequence[str]):
        self.title, self.takes, self.lines = title, takes, lines
        self.source = source_of(takes, lines)
        self.function: Any = None
        self._places: list[tuple[dict[str, Any], str]] = []

    def put(self, namespace: dict[str, Any], name: str) -> None:
        """Put the function into a namespace; once it is compiled, without this object around it."""
        namespace[name] = self.function or self
        if self.function is None:
            self._places.append((namespace, name))

    def __call__(self, *args: Any) -> Any:
        """Run the function; the first call compiles it, or reads it from disk."""
        if self.function is None:
            self.compile()
        return self.function(*args)

    def compile(self) -> None:
        """Compile the function without running it, unless it is on disk."""
        with Announced(self.title):
            self.function = self._compiled()
        for namespace, name in self._places:
            namespace[name] = self.function
        self._places.clear()

    def _compiled(self) -> Any:
        """Return the compiled function; warn if LLVM cannot compile it."""
        forms = tuple(Form(kind, rank) if rank >= 0 else kind for kind, rank in self.takes.values())
        name = f"native_{store.digest(version() + self.source)}"
        try:
            return kernel.compiled(self.title, name, forms, self._parsed)
        except (TypeError, RuntimeError) as error:
            reason = str(error).strip().partition("\n")[0]
            warn(f"LLVM cannot compile {self.title}, which numpy runs instead: {reason}")
            return _refuse

    def _parsed(self) -> tuple[ast.FunctionDef, dict[str, Any]]:
        (tree,) = ast.parse(self.source).body
        assert isinstance(tree, ast.FunctionDef)
        return tree, library.namespace()


_natives: weakref.WeakValueDictionary[str, Native] = weakref.WeakValueDictionary()


def native_of(title: str, takes: Takes, lines: Sequence[str]) -> Native:
    """Return a native function; the same one for the same source while it is in use.

    For the arguments see ``Native``.
    """
    key = source_of(takes, lines)
    found = _natives.get(key)
    if found is None:
        found = _natives[key] = Native(title, takes, lines)
    return found


def source_of(takes: Takes, lines: Sequence[str]) -> str:
    """Return the source of a native function, with the types of its arguments."""
    kinds = ", ".join(f"{name}[{rank}]" for name, rank in takes.values())
    body = [f"    {line}" for line in (f"# {kinds}", *lines)]
    return "\n".join([f"def native({', '.join(takes)}):", *body]) + "\n"


def _refuse(*args: Any) -> bool:
    """Return that the function failed."""
    return True


class Announced:
    """Say what is compiled if the block takes longer than a second and a person looks on."""

    def __init__(self, title: str):
        self._title = title

    def __enter__(self) -> None:
        self._began, self._said = time.monotonic(), False
        self._timer = threading.Timer(SLOW, self._say)
        self._timer.daemon = True
        if sys.stderr is not None and sys.stderr.isatty():
            self._timer.start()

    def _say(self) -> None:
        self._said = True
        print(f"tn.compile: LLVM compiles {self._title} ...", end="", file=sys.stderr, flush=True)

    def __exit__(self, *exc: object) -> None:
        self._timer.cancel()
        if self._said:
            print(f" {time.monotonic() - self._began:.1f} s", file=sys.stderr)
