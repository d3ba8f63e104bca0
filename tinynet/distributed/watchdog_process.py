"""The program that watches a rank, its parent: it reports that the rank was killed or stopped.

A rank that is killed cannot explain anything, and mpirun then ends all others. So this is a process
of its own, which `watchdog.Watchdog` starts; it imports nothing of tinynet. It keeps the descriptor
by which MPICH's mpirun notices the end of a rank, so mpirun acts after the message. It ends with
its rank.

It is started in one of two ways: when the ranks join, or when a rank starts (`early_watch`). Then
it watches all ranks of this machine, because MPICH ends them together, until they have joined.

Arguments: the descriptor of the table of ranks (see ``watchdog.py``), the size of the group, the
rank, its process, and the processes of all ranks of this machine. An early process reads them from
its standard input; its arguments are ``early``, the size, the rank, and its process.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence

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
JOINS = "joins"  # what an early process reads when its rank begins to wait for the others
_IGNORED = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
_FORWARDING = 1.0  # seconds for the launcher to print the message before it acts
_AGAIN = "all processes end; start the same command again"
_MEMORY = "  if nothing else has killed it, memory has run out: the system's log (dmesg) names it"
_GRACE = 3.0  # seconds for a rank to end by itself after another one
_SCANS = 10  # looks for other ranks of this machine that start
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


# ---- before the ranks have joined ----


def fields_of(pid: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` from the state on; [] if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def beside(pid: int) -> list[int]:
    """Return the living processes that the launcher of a rank has started on this machine."""
    launcher = fields_of(pid)[1:2]
    every = {int(other): fields_of(int(other)) for other in os.listdir("/proc") if other.isdigit()}
    return [
        other for other, own in every.items() if launcher and own[1:2] == launcher and own[0] != "Z"
    ]


def rank_of(pid: int) -> str:
    """Return the rank of a process; "" if it has none yet."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        for entry in file.read().split(b"\0"):
            if entry.startswith(b"PMI_RANK="):
                return entry.partition(b"=")[2].decode()
    return ""


def status_of(pid: int) -> int:
    """Return how a process has ended, as ``os.wait`` would; 0 if that is not known any more."""
    fields = fields_of(pid)
    return int(fields[49]) if fields[:1] == ["Z"] else 0


class Start:
    """The ranks of this machine, until one of them is killed or the own one has joined the others.

    Args:
        parent: the process of the own rank.
        rank: the own rank.
        size: the number of ranks.
    """

    def __init__(self, parent: int, rank: str, size: str) -> None:
        self.parent, self.size, self.poll = parent, size, select.poll()
        self.local = int(os.environ.get("MPI_LOCALNRANKS", "0"))  # the ranks of this machine
        self.poll.register(0, select.POLLIN)
        self.ranks: dict[int, tuple[int, str]] = {}  # by descriptor of the process
        self._add(parent, rank)

    def _add(self, pid: int, rank: str) -> None:
        """Watch a rank, if it is not watched yet."""
        if rank and (pid, rank) not in self.ranks.values():
            with contextlib.suppress(OSError):  # it has ended
                descriptor = os.pidfd_open(pid)
                self.ranks[descriptor] = pid, rank
                self.poll.register(descriptor, select.POLLIN)

    def _ended(self, ready: Iterable[int]) -> dict[tuple[int, str], int]:
        """Return the ranks that have ended, with their statuses; stop watching them."""
        ended = {}
        for descriptor in ready:
            self.poll.unregister(descriptor)
            os.close(descriptor)
            rank = self.ranks.pop(descriptor)
            ended[rank] = status_of(rank[0])
        return ended

    def watch(self) -> tuple[str, str]:
        """Watch the ranks.

        Returns:
            A message about a rank that was killed, or that has ended while the own one waits for
            it; and what the own rank has written when it joined; "" for what has not happened.
        """
        exits: dict[tuple[int, str], int] = {}
        scans, joins = _SCANS, False
        while True:
            for pid in beside(self.parent) if scans else ():
                self._add(pid, rank_of(pid))
            scans = max(scans - 1, 0)
            ready = {descriptor for descriptor, _ in self.poll.poll(1000 * LOOK)}
            ended = self._ended(ready - {0})
            exits |= ended
            for one, status in ended.items():
                if os.WIFSIGNALED(status):
                    return self._described(one, status), ""
            if self.parent in [pid for pid, _ in ended] or os.getppid() != self.parent:
                return "", ""
            if joins and len(beside(self.parent)) < self.local and self._outlives(_GRACE):
                return self._described(*(exits or {(0, ""): 0}).popitem()), ""
            if 0 in ready:
                lines = os.read(0, 4096).decode().splitlines()
                joins = joins or JOINS in lines
                if not lines:
                    self.poll.unregister(0)  # the rank ends, which its descriptor tells
                elif lines[-1] != JOINS:
                    return "", lines[-1]

    def _outlives(self, seconds: float) -> bool:
        """Return whether the own rank still lives after some time, which others take to explain."""
        until = time.monotonic() + seconds
        while os.getppid() == self.parent and time.monotonic() < until:
            time.sleep(LOOK)
        return os.getppid() == self.parent

    def _described(self, rank: tuple[int, str], status: int) -> str:
        """Return how a rank has ended, and what to do."""
        # If it is not the only one, the launcher has killed it, because of another one.
        is_known = rank[1] and len(beside(self.parent)) == self.local - 1
        who = f"rank {rank[1]} of {self.size}: process {rank[0]}"
        how, code = "has ended", os.WEXITSTATUS(status)
        if number := os.WTERMSIG(status):
            how, code = f"was killed by {signal.Signals(number).name}", 128 + number
        how += f" (exit code {code})" if rank[1] else ""
        who = who if is_known else f"a rank of {self.size}"
        lines = [f"{who} {how} before all ranks had joined", _AGAIN]
        return "\n".join([*lines, _MEMORY] if number == signal.SIGKILL else lines)


@contextlib.contextmanager
def only_one(path: str) -> Iterator[bool]:
    """Yield whether this is the only process inside, of those that use a file for it."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
        return
    yield True
    os.unlink(path)


def begin(size: str, rank: str, parent: str) -> None:
    """Watch the ranks of this machine while they start, and the own one after it has joined."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    launcher = "".join(fields_of(int(parent))[1:2])
    message, numbers = Start(int(parent), rank, size).watch()
    if numbers:
        descriptor, *others = numbers.split()
        table = os.open(f"/proc/{parent}/fd/{descriptor}", os.O_RDWR)
        main(str(table), *others)
    elif message:
        # The ranks end together, so their processes get here together; one of them prints.
        with only_one(f"{tempfile.gettempdir()}/tinynet-ranks-{launcher}") as is_only_one:
            if is_only_one:
                print(message, file=sys.stderr, flush=True)
            time.sleep(_FORWARDING)
            if os.getppid() == int(parent):
                os.kill(int(parent), signal.SIGKILL)


# ---- all of it ----


def main(descriptor: str, size: str, rank: str, parent: str, *local: str) -> None:
    """Watch a rank; report its failure, unless another message has explained the end of the run."""
    for number in _IGNORED:
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
    begin(*sys.argv[2:]) if sys.argv[1] == "early" else main(*sys.argv[1:])
