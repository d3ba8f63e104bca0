"""The program that watches a rank, its parent: it reports that the rank was killed or stopped.

A rank that is killed cannot explain anything, and mpirun then ends all others. So this is a process
of its own, which `watchdog.Watchdog` starts; it imports nothing of tinynet. It keeps the descriptor
by which MPICH's mpirun notices the end of a rank, so mpirun acts after the message. It ends with
its rank.

Arguments: the descriptor of the table of ranks (see ``watchdog.py``), the size of the group, the
rank, its process, and the processes of all ranks of this machine.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import subprocess
except ImportError:  # in a browser, where data loaders import this file
    subprocess = None  # type: ignore[assignment]

SLOT = 1024  # bytes of the table for each rank, and for the header
LOOK = 0.2  # seconds between two looks
STOPPED_FOR = 3.0  # seconds
DONE = b"D"  # the first byte of a slot: the rank has left its groups
EXPLAINED = b"E"  # the first byte of the header: a message has been printed


class Table:
    """What ranks leave for the messages about them.

    The first slot has the advice that ends each message, the others the places where ranks are.

    Args:
        descriptor: of the file.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.memory = mmap.mmap(descriptor, 0)

    def flag(self, slot: int) -> bytes:
        """Return the first byte of a slot."""
        return self.memory[slot * SLOT : slot * SLOT + 1]

    def set_flag(self, slot: int, flag: bytes) -> None:
        """Set the first byte of a slot."""
        self.memory[slot * SLOT : slot * SLOT + 1] = flag

    def text(self, slot: int) -> str:
        """Return the text in a slot."""
        content = self.memory[slot * SLOT + 1 : (slot + 1) * SLOT]
        return content.partition(b"\0")[0].decode("utf-8", "replace")

    def set_text(self, slot: int, text: str) -> None:
        """Write a text to a slot."""
        content = text.encode("utf-8", "replace")[: SLOT - 2]
        self.memory[slot * SLOT + 1 : (slot + 1) * SLOT] = content.ljust(SLOT - 1, b"\0")

    def claim(self) -> bool:
        """Return whether no other process of this machine has printed a message yet."""
        with self._locked():
            if self.flag(0) == EXPLAINED:
                return False
            self.set_flag(0, EXPLAINED)
            return True

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if fcntl is None:
            yield
            return
        fcntl.lockf(self.descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self.descriptor, fcntl.LOCK_UN)


def is_stopped(pid: int) -> bool:
    """Return whether a process has been stopped by a signal, such as SIGSTOP."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "T"
    except FileNotFoundError:
        if os.path.exists("/proc/self/stat"):
            return False
    except (OSError, IndexError):
        return False
    shown = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], stdout=subprocess.PIPE)
    return shown.stdout.strip().startswith(b"T")


def watch(table: Table, parent: int, own: int, pids: Sequence[int]) -> str:
    """Watch the parent until it has left or failed.

    Args:
        table: what the ranks have written.
        parent: the process of the rank.
        own: its slot.
        pids: the processes of all ranks of this machine.

    Returns:
        What has happened to it; "" if it has left.
    """
    seconds = 0.0
    while True:
        began = time.monotonic()
        select.select([sys.stdin], [], [], LOOK)  # closed at the end of the parent
        if table.flag(own) == DONE:
            return ""
        if os.getppid() != parent:
            return "has been killed, or has crashed"
        # If all are stopped, the job is suspended.
        is_alone = is_stopped(parent) and not all(map(is_stopped, pids))
        seconds = seconds + LOOK if is_alone else 0.0
        if seconds > STOPPED_FOR:
            return "was stopped by a signal"
        time.sleep(max(0.0, LOOK + began - time.monotonic()))


def main(descriptor: str, size: str, rank: str, parent: str, *local: str) -> None:
    """Watch a rank; report its failure, unless another message has explained the end of the run."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    table, pids = Table(int(descriptor)), [int(pid) for pid in local]
    slot = 1 + local.index(parent)
    event = watch(table, int(parent), slot, pids)
    if event and table.claim():
        place = table.text(slot)
        lines = [f"rank {rank} of {size}: process {parent} {event}"]
        lines += [f"  it was at {place}"] if place else []
        print(*lines, table.text(0), sep="\n", file=sys.stderr, flush=True)
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
