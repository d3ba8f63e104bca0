"""One message, and the end of all ranks, where one of them fails.

An exception that no one catches ends all ranks, after its traceback. A rank that is killed or
stopped is reported by a process that watches it, ``watchdog_process.py``. For its message each rank
keeps the line that it runs in a table in shared memory.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import Any

from tinynet.base.startup import early_watch
from tinynet.core.callsite import Site, locate, outward
from tinynet.distributed import watchdog_process
from tinynet.distributed.channel import Channel, Patience, pickled, unpickled
from tinynet.distributed.mpi import Host
from tinynet.distributed.watchdog_process import DONE, LOOK, SLOT, Table

try:
    import subprocess
except ImportError:  # in a browser, where data loaders import this file
    subprocess = None  # type: ignore[assignment]

FORWARDING = 0.5  # seconds for mpirun to print what a rank has written
_GRACE = 60.0  # seconds for the rank that explains the end of the run to end all others
_END = "all processes end"


class Watchdog:
    """What a rank does to be watched, and to end all ranks.

    Args:
        channel: the communicator of all ranks.
        ranks: where each rank runs.
        patience: how long to wait for the other ranks.
    """

    def __init__(self, channel: Channel, ranks: Sequence[Host], patience: Patience):
        self.channel, self.thread = channel, threading.get_ident()
        self._ended, self._own = threading.Event(), os.getpid()
        self.local = [r for r, host in enumerate(ranks) if host[0] == ranks[channel.rank][0]]
        self.slot = 1 + self.local.index(channel.rank)
        self._make_table(patience)
        if channel.rank == self.local[0]:
            self.advise("")
        self._process = self._start_process([ranks[rank][1] for rank in self.local])
        self._hook, sys.excepthook = sys.excepthook, self._explain
        threading.Thread(target=self._note_places, name="tinynet-watchdog", daemon=True).start()

    def _make_table(self, patience: Patience) -> None:
        """Share a file with the ranks of this machine; it has no name once all have opened it."""
        first, path = self.local[0], ""
        if self.channel.rank == first:
            descriptor, path = tempfile.mkstemp(prefix="tinynet-ranks-")
            os.truncate(descriptor, SLOT * (1 + len(self.local)))
        exchange = self.channel.exchange_any
        others = [rank for rank in self.local if rank != first]
        if self.channel.rank == first:
            exchange([(rank, pickled(path)) for rank in others], [], patience)
            exchange([], others, patience)
            with contextlib.suppress(OSError):  # Windows: it is open
                os.unlink(path)
        else:
            (found,) = exchange([], [first], patience)
            descriptor = os.open(unpickled(found), os.O_RDWR)
            exchange([(first, pickled(None))], [], patience)
        self.table = Table(descriptor)

    def _start_process(self, pids: Sequence[int]) -> Any:
        numbers = [self.table.descriptor, self.channel.size, self.channel.rank, os.getpid(), *pids]
        if os.name == "nt" or subprocess is None or early_watch.send(*numbers):
            return None
        program = [sys.executable, "-I", "-S", watchdog_process.__file__]
        kept = [self.table.descriptor]
        if os.environ.get("PMI_FD", "").isdigit():
            kept.append(int(os.environ["PMI_FD"]))
        try:
            return subprocess.Popen(
                [*program, *map(str, numbers)],
                stdin=subprocess.PIPE,
                pass_fds=kept,
                start_new_session=True,
            )
        except OSError:  # no more processes are allowed
            return None

    def _note_places(self) -> None:
        """Keep the line of the program in the table."""
        noted: Site | None = None
        while not self._ended.wait(LOOK):
            frame = sys._current_frames().get(self.thread)
            site = outward(frame) or (frame and (frame.f_code, frame.f_lasti))
            del frame  # it keeps locals alive
            if site != noted:
                where = locate(site)
                text = "" if where is None else f"{where.place}   {where.text}".rstrip()
                self.table.set_text(self.slot, text)
                noted = site

    def advise(self, text: str) -> None:
        """Set the last lines of each message, such as the command that resumes the run."""
        self.table.set_text(0, f"{_END}; {text}" if text else _END)

    @property
    def advice(self) -> str:
        """The last lines of each message."""
        return self.table.text(0)

    def claim(self) -> bool:
        """Return whether this rank is to explain the end of the run: the first one that asks."""
        return self.table.claim()

    def abort(self, code: int) -> None:
        """End all ranks at once, after what this one has printed."""
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(FORWARDING)
        self.channel.MPI.COMM_WORLD.Abort(code)

    def give_way(self, code: int) -> None:
        """Wait to be ended by the rank that explains the end of the run."""
        time.sleep(_GRACE)
        self.abort(code)

    def _explain(self, kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        """Print an error that no one has caught, and end all ranks."""
        if os.getpid() != self._own:  # a fork
            self._hook(kind, error, traceback)
            return
        code = 130 if issubclass(kind, KeyboardInterrupt) else 1
        if not self.claim():
            self.give_way(code)
        rank, size = self.channel.rank, self.channel.size
        print(f"rank {rank} of {size}:", file=sys.stderr, flush=True)
        self._hook(kind, error, traceback)
        print(self.advice, file=sys.stderr, flush=True)
        self.abort(code)

    def end(self) -> None:
        """End the watch: this rank leaves its groups."""
        self._ended.set()
        self.table.set_flag(self.slot, DONE)
        early_watch.end()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()
        if sys.excepthook == self._explain:
            sys.excepthook = self._hook
