"""A disk that fails at a given call: every call of the file system on a folder is counted."""

import builtins
import contextlib
import errno
import io
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

ERRORS = {
    "open": ("EACCES", "EIO", "ENOSPC"),
    "read": ("EIO",),
    "write": ("EIO", "ENOSPC", "short", "torn"),
    "fsync": ("EIO", "ENOSPC"),
    "close": ("EIO",),
    "truncate": ("EIO", "EACCES"),
    "flock": ("ENOLCK",),
}
"""The faults of a call; of those that are not listed, `OTHERS`."""

OTHERS = ("EIO", "EACCES")
FULL = "full"
"""From this call on, the disk has no room for anything."""

NEEDS_ROOM = ("open to write", "write", "fsync", "mkdir", "link", "replace")


class Disk:
    """Calls of the file system on the files of a folder, one of which fails.

    Args:
        root: the folder.
        at: the number of the call that fails, from 0; none by default.
        fault: the name of an error, ``"short"`` (half of the bytes are written), ``"torn"`` (half
            of the bytes are written, then the disk is full), or ``FULL``.
    """

    def __init__(self, root, at=-1, fault=""):
        self.root, self.at, self.fault = os.path.realpath(root), at, fault
        self.calls = []
        """What was called: (the kind of call, the name of the file)."""

        self._handles = {}
        self._usual = {}

    def __enter__(self):
        self._patch(builtins, "open", self._open)
        self._patch(io, "open", self._open)
        self._patch(os, "open", self._open_handle)
        for name in ("close", "fsync", "ftruncate"):
            self._patch(os, name, self._on_handle(name))
        for name in ("replace", "rename", "link", "unlink", "remove", "truncate", "mkdir", "rmdir"):
            self._patch(os, name, self._on_path(name))
        if fcntl is not None:
            self._patch(fcntl, "flock", self._on_handle("flock", fcntl))
        return self

    def __exit__(self, *error):
        for (module, name), usual in self._usual.items():
            setattr(module, name, usual)

    def _patch(self, module, name, function):
        self._usual[module, name] = getattr(module, name)
        setattr(module, name, function)

    def has(self, path):
        if not isinstance(path, str | os.PathLike):
            return False
        return os.path.abspath(path).startswith(self.root)

    def fails(self, call, path):
        """Count a call; return its fault, if it has one; raise it if it is an error."""
        number = len(self.calls)
        self.calls.append((call, str(path)))
        if self.fault == FULL:
            fault = "ENOSPC" if number >= self.at and call in NEEDS_ROOM else ""
        else:
            fault = self.fault if number == self.at else ""
        if fault.startswith("E"):
            raise OSError(getattr(errno, fault), os.strerror(getattr(errno, fault)), str(path))
        return fault

    # ---- the functions of `os` ----

    def _on_path(self, name):
        usual = getattr(os, name)

        def call(path, *arguments, **keywords):
            if self.has(path):
                self.fails({"remove": "unlink", "rename": "replace"}.get(name, name), path)
            return usual(path, *arguments, **keywords)

        return call

    def _on_handle(self, name, module=os):
        usual = getattr(module, name)

        def call(handle, *arguments):
            path = self._handles.get(handle)
            if name == "close":
                self._handles.pop(handle, None)
                usual(handle)  # a handle is closed even if that fails
            if path is not None:
                self.fails({"ftruncate": "truncate"}.get(name, name), path)
            return None if name == "close" else usual(handle, *arguments)

        return call

    def _open_handle(self, path, flags, *arguments, **keywords):
        if self.has(path):
            self.fails("open", path)
        handle = self._usual[os, "open"](path, flags, *arguments, **keywords)
        if self.has(path):
            self._handles[handle] = path
        return handle

    # ---- files ----

    def _open(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, **more):
        if not self.has(file):
            usual = self._usual[builtins, "open"]
            return usual(file, mode, buffering, encoding, errors, newline, **more)
        self.fails("open" if set(mode) <= set("rbt") else "open to write", file)
        raw = _File(file, mode.replace("b", "").replace("t", ""), self)
        if buffering == 0:
            return raw
        if raw.readable() and raw.writable():
            buffered = io.BufferedRandom(raw)
        else:
            buffered = io.BufferedWriter(raw) if raw.writable() else io.BufferedReader(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)


class _File(io.FileIO):
    """A file without a buffer; its methods are the calls of the file system."""

    def __init__(self, path, mode, disk):
        super().__init__(path, mode)
        self._disk, self._path = disk, path
        disk._handles[self.fileno()] = path

    def write(self, data):
        data = memoryview(data).cast("B")
        try:
            fault = self._disk.fails("write", self._path)
        except OSError:
            if self._disk.fault == FULL and self._disk.at == len(self._disk.calls) - 1:
                super().write(data[: len(data) // 2])  # the last bytes that there was room for
            raise
        if fault in ("short", "torn"):
            written = super().write(data[: max(1, len(data) // 2)])
            if fault == "torn":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
            return written
        return super().write(data)

    def readinto(self, buffer):
        self._disk.fails("read", self._path)
        return super().readinto(buffer)

    def readall(self):
        self._disk.fails("read", self._path)
        return super().readall()

    def truncate(self, size=None):
        self._disk.fails("truncate", self._path)
        return super().truncate(size)

    def close(self):
        if self.closed:
            return
        self._disk._handles.pop(self.fileno(), None)
        super().close()
        self._disk.fails("close", self._path)


def faults_of(calls):
    """All (number, fault) for the calls of an undisturbed run."""
    for number, (call, _) in enumerate(calls):
        for fault in ERRORS.get(call.removesuffix(" to write"), OTHERS):
            yield number, fault
        if call in NEEDS_ROOM:
            yield number, FULL


@contextlib.contextmanager
def counted(root):
    """The calls on the files of a folder."""
    with Disk(Path(root)) as disk:
        yield disk.calls
