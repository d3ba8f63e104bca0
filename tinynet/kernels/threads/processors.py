"""The processors that this process may use, and those that nothing else uses.

A thread on a processor that is busy with something else costs more than it gives: the others wait
for it, for whole time slices.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterator
from typing import NamedTuple

ENOUGH = 0.1  # seconds: processors count their idle time in steps of 0.01
GROUPS, LIMITS = "/proc/self/cgroup", "/sys/fs/cgroup"
SPARE = 0.25  # of a processor: what small programs of the system take


@functools.cache
def usable() -> int:
    """Return the number of processors that this process may use: by affinity, and by its cgroup.

    Example:
        >>> usable() >= 1
        True
    """
    return max(1, min([len(_own()), *map(int, _quotas())]))


def free() -> int:
    """Return the number of usable processors that nothing else has used since the last look.

    The first time, since the import. It is at least 1. Where the system does not tell, all of them
    count as free.

    Example:
        >>> 1 <= free() <= usable()
        True
    """
    global _last
    count = usable()
    if count == 1 or _last.idle is None:
        return count
    time.sleep(max(0.0, ENOUGH - (time.perf_counter() - _last.clock)))
    before, now = _last, _Sample.take()
    _last = now
    if now.idle is None or before.idle is None:
        return count
    found = (now.idle - before.idle + now.own - before.own) / (now.clock - before.clock)
    return max(1, min(count, int(found + SPARE)))


def _own() -> set[int]:
    """Return the processors that the scheduler may give to this process."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return {*range(os.cpu_count() or 1)}


def _quotas() -> Iterator[float]:
    """Yield the limits of this process's cgroup and of those around it, in processors."""
    try:
        with open(GROUPS, encoding="utf-8") as file:
            groups = [line.rstrip("\n").split(":", 2) for line in file]
    except (OSError, ValueError):
        return
    for _, controllers, path in groups:
        parts = [part for part in path.split("/") if part]
        for end in range(len(parts) + 1):
            yield from _quota(controllers, "/".join(parts[:end]))


def _quota(controllers: str, path: str) -> Iterator[float]:
    """Yield the limit of one cgroup, of version 2 or 1; nothing if there is none."""
    try:
        if not controllers:
            with open(f"{LIMITS}/{path}/cpu.max", encoding="ascii") as file:
                quota, period = file.read().split()
        elif "cpu" in controllers.split(","):
            with open(f"{LIMITS}/cpu/{path}/cpu.cfs_quota_us", encoding="ascii") as file:
                quota = file.read()
            with open(f"{LIMITS}/cpu/{path}/cpu.cfs_period_us", encoding="ascii") as file:
                period = file.read()
        else:
            return
        if quota != "max" and int(quota) > 0:
            yield int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return


class _Sample(NamedTuple):
    """Times in seconds: of a clock, idle ones of the usable processors, and those of this process.

    ``idle`` is None where the system does not tell.
    """

    clock: float
    idle: float | None
    own: float

    @classmethod
    def take(cls) -> _Sample:
        """Return the times of now."""
        return cls(time.perf_counter(), _idle(), time.process_time())


def _idle() -> float | None:
    names = {f"cpu{number}" for number in _own()}
    try:
        tick = 1 / os.sysconf("SC_CLK_TCK")
        with open("/proc/stat", encoding="ascii") as file:
            lines = [line.split() for line in file if line.startswith("cpu")]
    except (OSError, ValueError, AttributeError):  # another system than Linux
        return None
    # The fourth number is idle time, the fifth is idle time while something waits for a disk.
    idle = [int(fields[4]) + int(fields[5]) for fields in lines if fields[0] in names]
    return tick * sum(idle) if len(idle) == len(names) and any(idle) else None


_last = _Sample.take()
