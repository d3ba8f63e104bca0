"""The memory that a process has used, and what the machine has left.

Linux keeps both in ``/proc``; macOS and Windows have calls of their own.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # not on Windows

_UNITS = {
    "B": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)},
    **{f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", 1)},
}
_SIZE = re.compile(r"(\d+\.?\d*|\.\d+) *([KMGT]?I?B)", re.IGNORECASE)
_PROC, _CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_FILES = {  # of the two versions of cgroups: the limit, the use, and what of it are cached files
    2: ("memory.max", "memory.current", "inactive_file"),
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def parse_size(text: str) -> int:
    """Return the number of bytes in a text such as ``2GB`` or ``512MiB``.

    Raises:
        ValueError: if it is no such size.

    Example:
        >>> parse_size("2GB"), parse_size("1.5 KiB")
        (2000000000, 1536)
    """
    found = _SIZE.fullmatch(text.strip())
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if size < 1:
        raise ValueError(f"must be a size such as 2GB or 512MiB, got {text!r}")
    return size


def peak() -> int | None:
    """Return the largest resident memory that this process has had, in bytes; None if unknown."""
    # The maximum of getrusage includes the program before exec.
    found = _status("self", "VmHWM")
    if found is None and resource is not None:
        unit = 1 if sys.platform == "darwin" else 1024
        found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return found if found is not None or _PROC.exists() else _peak_elsewhere()


def resident(process: int | str = "self") -> int | None:
    """Return the resident memory of a process in bytes; None if unknown."""
    if not _PROC.exists():
        return _resident_elsewhere(str(process))
    return _status(str(process), "VmRSS")


def available() -> int | None:
    """Return the memory that a new process can use without swapping, in bytes; None if unknown.

    That is what the kernel estimates (MemAvailable), or what the limits of the control groups
    around this process leave, whichever is less.
    """
    if not _PROC.exists():
        return _available_elsewhere()
    found = _kilobytes(_PROC / "meminfo", "MemAvailable")
    if found is None:
        return None
    return max(0, min([found, *_left_by_groups()]))


def _status(process: str, key: str) -> int | None:
    return _kilobytes(_PROC / process / "status", key)


def _kilobytes(file: Path, key: str) -> int | None:
    """Return the value of a line such as ``VmRSS:  1234 kB`` in bytes."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in file.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024
    return None


def _left_by_groups() -> Iterator[int]:
    """Yield what each limit on the memory of a control group leaves."""
    with contextlib.suppress(OSError):
        for line in (_PROC / "self" / "cgroup").read_text(encoding="utf-8").splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds and "memory" not in kinds.split(","):
                continue
            root = _CGROUPS / "memory" if kinds else _CGROUPS
            folder = root / path.strip("/")
            for place in [folder, *folder.parents]:
                if place.is_relative_to(root):
                    yield from _left_in(place, *_FILES[1 if kinds else 2])


def _left_in(folder: Path, limit: str, use: str, cached: str) -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError, KeyError):  # no file, or no limit ("max")
        rows = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
        statistics = dict(row.split() for row in rows)
        used = int((folder / use).read_text(encoding="ascii")) - int(statistics[cached])
        yield int((folder / limit).read_text(encoding="ascii")) - used


_QUERY_LIMITED_INFORMATION = 0x1000  # the right that GetProcessMemoryInfo needs
_AVAILABLE = ("free", "inactive", "speculative", "purgeable")


class _ProcessMemory(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS of Windows."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("page_faults", ctypes.c_uint32),
        ("peak_working_set", ctypes.c_size_t),
        ("working_set", ctypes.c_size_t),
        *((f"other{number}", ctypes.c_size_t) for number in range(6)),
    )


class _MachineMemory(ctypes.Structure):
    """MEMORYSTATUSEX of Windows."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        *((f"other{number}", ctypes.c_uint64) for number in range(5)),
    )


def _resident_elsewhere(process: str) -> int | None:
    """Return the resident memory of a process in bytes; None if unknown.

    Args:
        process: its number, or ``"self"``.
    """
    number = os.getpid() if process == "self" else int(process)
    platform = sys.platform
    if platform == "win32":
        found = _process_memory(number)
        return None if found is None else int(found.working_set)
    output = _output("ps", "-o", "rss=", "-p", str(number)).strip()
    return int(output) * 1024 if output.isdecimal() else None


def _peak_elsewhere() -> int | None:
    """Return the largest resident memory of this process on Windows, in bytes; None elsewhere."""
    platform = sys.platform
    found = _process_memory(os.getpid()) if platform == "win32" else None
    return None if found is None else int(found.peak_working_set)


def _available_elsewhere() -> int | None:
    """Return the memory that a new process can use without swapping, in bytes; None if unknown."""
    platform = sys.platform
    if platform == "win32":
        memory = _MachineMemory(size=ctypes.sizeof(_MachineMemory))
        done = _windows().kernel32.GlobalMemoryStatusEx(ctypes.byref(memory))
        return int(memory.available) if done else None
    output = _output("vm_stat")
    size = re.search(r"page size of (\d+) bytes", output)
    pages = dict(re.findall(r"^Pages (\w+): +(\d+)\.$", output, re.M))
    if size is None or not pages:
        return None
    return int(size[1]) * sum(int(pages.get(name, 0)) for name in _AVAILABLE)


def _output(*command: str) -> str:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        return done.stdout
    return ""


def _windows() -> Any:
    return ctypes.windll  # type: ignore[attr-defined, unused-ignore]  # of Windows only


def _process_memory(number: int) -> _ProcessMemory | None:
    kernel, memory = _windows().kernel32, _ProcessMemory(size=ctypes.sizeof(_ProcessMemory))
    kernel.OpenProcess.restype = ctypes.c_void_p  # a handle has the width of a pointer
    handle = ctypes.c_void_p(kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, number))
    if not handle:
        return None
    try:
        done = kernel.K32GetProcessMemoryInfo(handle, ctypes.byref(memory), memory.size)
        return memory if done else None
    finally:
        kernel.CloseHandle(handle)
