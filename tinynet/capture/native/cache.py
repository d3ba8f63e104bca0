"""Native functions on disk: numba keeps the machine code of a source file, this keeps the files.

The name of a file is the digest of its source, and of all that its machine code depends on besides
the processor, which numba checks itself. A folder that others could write to is not used, and files
that are not as they were left are removed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import linecache
import os
import stat
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tinynet.base.atomic_write import write_atomically
from tinynet.capture.native import library
from tinynet.core.callsite import warn
from tinynet.kernels.numba import blas, compiler
from tinynet.kernels.threads import fork_safe_lock

# Forks wait for compilations: a child could not go on with one, nor begin another.
_compiling = fork_safe_lock()
# The arguments of a native function: name -> dtype and rank of an array, or -1 for a number.
Takes = dict[str, tuple[str, int]]
NUMBER = "float64", -1
SLOW = 1.0  # seconds: a compilation that takes longer is announced


def find_folder() -> Path | None:
    """Return the folder of native functions, ``TINYNET_CACHE`` or the user's; None without one."""
    named = os.environ.get("TINYNET_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = Path(named) if named else Path(home, "tinynet")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError:
        return None
    if hasattr(os, "getuid"):
        others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if status.st_uid != os.getuid() or others:
            return None
    return path


folder = functools.cache(find_folder)


@functools.cache
def version() -> str:
    """Return a digest of what native functions are compiled with."""
    compiler.prepare()
    with_library = f"{sys.version} {compiler.version()} {blas.sgemm}"
    found = hashlib.sha256(with_library.encode())
    kernels = Path(compiler.__file__).parent
    for file in sorted([*Path(__file__).parent.glob("*.py"), *kernels.glob("*.py")]):
        found.update(file.read_bytes())
    return found.hexdigest()


class Native:
    """A function compiled by numba, at its first call.

    Args:
        title: its name for people.
        takes: the names of its arguments, and their types.
        lines: the lines of its body, which may use what ``library`` has.

    Attributes:
        function: the compiled function.
        source: the source.
    """

    def __init__(self, title: str, takes: Takes, lines: Sequence[str]):
        self.title, self.takes, self.lines = title, takes, lines
        self.source = source_of(takes, lines)
        digest = hashlib.sha256((version() + self.source).encode()).hexdigest()[:32]
        self._file = None if folder() is None else _stored(digest, self.source)
        filename = str(self._file or f"<tinynet operations> {title} {digest}")
        linecache.cache[filename] = (len(self.source), None, self.source.splitlines(True), filename)
        space = library.namespace() | {"__name__": __name__}  # numba looks for the module
        exec(compile(self.source, filename, "exec"), space)
        self.function = compiler.jit(space["native"], cache=self._file is not None)
        self._compiled = False
        self._places: list[tuple[dict[str, Any], str]] = []

    def put(self, namespace: dict[str, Any], name: str) -> None:
        """Put the function into a namespace; once it is compiled, without this object around it."""
        namespace[name] = self.function if self._compiled else self
        if not self._compiled:
            self._places.append((namespace, name))

    def __call__(self, *args: Any) -> Any:
        """Run the function; the first call compiles it, or reads it from disk."""
        if self._compiled:
            return self.function(*args)
        return self._guarded(lambda: self._first(args))

    def _first(self, args: tuple[Any, ...]) -> Any:
        result = self._compile(args)
        self._compiled = True
        for namespace, name in self._places:
            namespace[name] = self.function
        self._places.clear()
        return result

    def compile(self) -> None:
        """Compile the function without running it, unless it is on disk."""
        self._guarded(lambda: self.function.compile(compiler.types_of(self.takes.values())))

    def _guarded(self, action: Callable[[], Any]) -> Any:
        """Run what compiles the function, or reads it from disk."""
        with _compiling:
            if self._file is not None:
                _remove_changed(self._file)
            with Announced(self.title):
                result = action()
            if self._file is not None:
                _seal(self._file)
        return result

    def _compile(self, args: tuple[Any, ...]) -> Any:
        """Run the function for the first time; warn if numba cannot compile it."""
        try:
            return self.function(*args)
        except compiler.numba().errors.NumbaError as error:
            if not self._places:  # nobody looks at the result
                raise
            reason = str(error).strip().partition("\n")[0]
            warn(f"numba cannot compile {self.title}, which numpy runs instead: {reason}")
            self.function = _refuse
            return True


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
    """Return the source of a native function; numba compiles one function for these types."""
    kinds = ", ".join(f"{name}[{rank}]" for name, rank in takes.values())
    body = [f"    {line}" for line in (f"# {kinds}", *lines)]
    return "\n".join([f"def native({', '.join(takes)}):", *body]) + "\n"


def _refuse(*args: Any) -> bool:
    """Return that the function failed."""
    return True


def _stored(digest: str, source: str) -> Path | None:
    """Return the source file of a native function; write it unless it is there."""
    path = Path(str(folder()), f"native_{digest}.py")
    try:
        if not path.exists() or path.read_text(encoding="utf-8") != source:
            write(path, source)
    except (OSError, UnicodeDecodeError):
        return None
    return path


def write(path: Path, text: str) -> None:
    """Write a file of the folder."""
    write_atomically(path, lambda file: file.write(text.encode()))


def _code(path: Path) -> dict[str, str]:
    """Return the files of machine code of a source file, and their digests."""
    files = sorted(Path(path.parent, "__pycache__").glob(f"{path.stem}.*.nb[ic]"))
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _left(path: Path) -> Any:
    """Return the digests that were noted for a source file; None without any."""
    try:
        return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _seal(path: Path) -> None:
    """Note the digests of the machine code of a source file, if it was compiled."""
    try:
        now = _code(path)
        if now != _left(path):
            write(path.with_suffix(".json"), json.dumps(now))
    except OSError:
        return


def _remove_changed(path: Path) -> None:
    """Remove the machine code of a source file unless it is as it was left."""
    try:
        now = _code(path)
        if now != _left(path):
            for name in now:
                Path(path.parent, "__pycache__", name).unlink()
    except OSError:
        return


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
        print(f"tn.compile: numba compiles {self._title} ...", end="", file=sys.stderr, flush=True)

    def __exit__(self, *exc: object) -> None:
        self._timer.cancel()
        if self._said:
            print(f" {time.monotonic() - self._began:.1f} s", file=sys.stderr)
