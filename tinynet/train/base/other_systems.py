"""The memory of processes and of the machine where there is no ``/proc``: on macOS and Windows."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import subprocess
import sys
from typing import Any

_QUERY_LIMITED_INFORMATION = 0x1000  # the right that GetProcessMemoryInfo needs
_AVAILABLE = ("free", "inactive", "speculative", "purgeable")


class ProcessMemory(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS of Windows."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("page_faults", ctypes.c_uint32),
        ("peak_working_set", ctypes.c_size_t),
        ("working_set", ctypes.c_size_t),
        *((f"other{number}", ctypes.c_size_t) for number in range(6)),
    )


class MachineMemory(ctypes.Structure):
    """MEMORYSTATUSEX of Windows."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        *((f"other{number}", ctypes.c_uint64) for number in range(5)),
    )


def resident(process: str) -> int | None:
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


def peak() -> int | None:
    """Return the largest resident memory of this process on Windows, in bytes; None elsewhere."""
    platform = sys.platform
    found = _process_memory(os.getpid()) if platform == "win32" else None
    return None if found is None else int(found.peak_working_set)


def available() -> int | None:
    """Return the memory that a new process can use without swapping, in bytes; None if unknown."""
    platform = sys.platform
    if platform == "win32":
        memory = MachineMemory(size=ctypes.sizeof(MachineMemory))
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


def _process_memory(number: int) -> ProcessMemory | None:
    kernel, memory = _windows().kernel32, ProcessMemory(size=ctypes.sizeof(ProcessMemory))
    kernel.OpenProcess.restype = ctypes.c_void_p  # a handle has the width of a pointer
    handle = ctypes.c_void_p(kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, number))
    if not handle:
        return None
    try:
        done = kernel.K32GetProcessMemoryInfo(handle, ctypes.byref(memory), memory.size)
        return memory if done else None
    finally:
        kernel.CloseHandle(handle)
