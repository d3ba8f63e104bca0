"""Sharing the parts of a kernel among threads: helpers wait in compiled code, without the GIL.

A sleeping thread takes up to 0.1 ms to wake up, longer than most kernels run. A helper therefore
polls the board for about 0.3 ms after the last work, finds new work within a microsecond, and
sleeps only after that. Parts are not assigned: each free thread takes the next one.

Only one thread at a time shares its work; others work alone. All reads and writes are sequentially
consistent, which matters in two places:

- A helper enters, then checks for work; the sharing thread withdraws the work, then checks whether
  a helper is inside. Either it waits for the helper, or the helper finds nothing.
- A helper announces that it sleeps, then checks for work; the sharing thread posts work, then
  checks which helpers sleep. Either the helper finds the work, or it is woken up.
"""

from __future__ import annotations

from typing import Any

from tinynet.numba_kernels.llvm import atomics
from tinynet.numba_kernels.llvm.written import written

board = atomics.lines(24)  # frequently written entries are a cache line apart
LEAST = 0  # minimum work per part, in units of about 0.1 ns
TICKETS = 1  # counts the times that work was shared
# The shared work: its ticket, or 0; the addresses of the part's function and arguments; parts
OPEN, FUNCTION, ARGUMENTS, PARTS = 8, 9, 10, 11
NEXT = 16  # the next part to take
INSIDE = 24  # number of helpers that may be working on a part
# Set before helpers start: their number; the functions that write to a pipe, read from it, and
# yield to another thread; and whether helpers should exit
HELPERS, WRITE, READ, YIELD, END = 40, 41, 42, 43, 44
BUSY = 48  # 1 while work is shared
FAILED = 56  # 1 after a part that raised
NOTE = 64  # the byte written to pipes, followed by the byte read
MOST_HELPERS = 48
ASLEEP = 72  # per helper, 1 while it waits for a byte
BELLS = ASLEEP + MOST_HELPERS  # per helper, the pipe that wakes it

LONG = 512  # pauses between yields
WAKING = 2**18  # minimum work to wake helpers for, which takes 10 µs
MOST = 64  # maximum number of parts
board[LEAST] = 2**16


@written(atomics.load_code, "int64")
def load(place: int) -> Any:
    """Return a number on the board."""
    return board[place]


@written(atomics.swap_code, "int64")
def swap(place: int, number: int) -> Any:
    """Replace a number on the board and return the old one."""
    before, board[place] = board[place], number
    return before


@written(atomics.add_code, "int64")
def add(place: int, number: int) -> Any:
    """Add to a number on the board and return the old one."""
    board[place] += number
    return board[place] - number


@written(atomics.address_code, "int64")
def address(place: int) -> Any:
    """Return the memory address of a number on the board."""
    return board.ctypes.data + 8 * place


@written(atomics.pause_code, "int64")
def pause() -> Any:
    """Wait for a few cycles."""
    return 0


def only_compiled(*arguments: Any) -> Any:
    """Refuse to handle addresses in Python."""
    raise RuntimeError("addresses of functions and tuples exist only in compiled code")


@written(atomics.call_code, "int64")
def call(function: int, first: int, second: int, third: int) -> Any:
    """Call the function at an address with three integers; return its result."""
    return only_compiled()


@written(atomics.tuple_address_code, "int64")
def address_of(arguments: Any) -> Any:
    """Return the address of a tuple, valid until the calling function returns."""
    return only_compiled()


@written(atomics.part_address_code, atomics.part_type)
def part_of(part: Any, arguments: Any) -> Any:
    """Return the address of a part for ``call``: ``part(number, parts, *arguments)``."""
    return only_compiled()


def parts_of(length: int, work: int) -> int:
    """Return the number of parts for work that divides into at most ``length`` parts."""
    return max(1, min(length, min(MOST, work // load(LEAST))))


def take(function: int, arguments: int, parts: int) -> None:
    """Compute parts until all are taken."""
    while True:
        part = add(NEXT, 1)
        if part >= parts:
            return
        if call(function, arguments, part, parts):
            swap(FAILED, 1)


def hands() -> int:
    """Return the number of threads that can share work."""
    return 1 + load(HELPERS)


def share(function: int, arguments: int, parts: int, work: int) -> None:
    """Compute all parts, together with the helpers; return when they are done.

    Args:
        function: from ``part_of``.
        arguments: from ``address_of``.
        parts: the number of parts.
        work: the total amount of work.
    """
    if parts < 2 or load(HELPERS) == 0 or swap(BUSY, 1):
        failed = 0
        for part in range(parts):
            failed |= call(function, arguments, part, parts)
    else:
        swap(FUNCTION, function)
        swap(ARGUMENTS, arguments)
        swap(PARTS, parts)
        swap(NEXT, 0)
        swap(OPEN, add(TICKETS, 1) + 1)
        if work >= WAKING:
            wake()
        take(function, arguments, parts)
        swap(OPEN, 0)
        waited = 0
        while load(INSIDE):
            pause()
            waited += 1
            if waited % LONG == 0:  # the helper may need this core
                call(load(YIELD), 0, 0, 0)
        failed = swap(FAILED, 0)
        swap(BUSY, 0)
    if failed:
        raise MemoryError("no memory left for a kernel")


def wake() -> None:
    """Wake up all sleeping helpers."""
    for helper in range(load(HELPERS)):
        if swap(ASLEEP + helper, 0):
            call(load(WRITE), load(BELLS + helper), address(NOTE), 1)


def help_out(number: int, pipe: int, patience: int) -> None:
    """Take parts of shared work until the board tells helpers to exit.

    Args:
        number: the helper's number, from 0.
        pipe: the helper's pipe; reading from it sleeps until a byte is written.
        patience: number of pauses before sleeping.
    """
    done = 0
    while not load(END):
        waited = 0
        while waited < patience:
            ticket = load(OPEN)
            if ticket != done and ticket != 0:
                add(INSIDE, 1)
                if load(OPEN):
                    take(load(FUNCTION), load(ARGUMENTS), load(PARTS))
                add(INSIDE, -1)
                done = ticket
                waited = 0
            pause()
            waited += 1
        swap(ASLEEP + number, 1)
        ticket = load(OPEN)
        idle = (ticket == 0 or ticket == done) and not load(END)
        # A helper woken up at this moment finds a byte in its pipe.
        if idle or swap(ASLEEP + number, 0) == 0:
            call(load(READ), pipe, address(NOTE + 1), 1)


def wait(pauses: int) -> None:
    """Pause the given number of times."""
    for _ in range(pauses):
        pause()
