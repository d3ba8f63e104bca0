"""Threads that share the parts of a kernel: helpers wait in compiled code, without Python's lock.

A thread that sleeps takes up to 0.1 ms to wake up, which is longer than most kernels run. So a
helper looks at the board again and again for some 0.3 ms after the last work, and finds new work
within a microsecond; only then it sleeps. Nobody gives it a part: whoever is free takes the next.

Only one thread shares its work at a time; others do theirs alone. All reads and writes are in one
order for all threads (sequentially consistent), on which two places depend:

- a helper enters, then looks whether there is work; who shares takes the work away, then looks
  whether somebody is inside. Either it waits for the helper, or the helper finds nothing.
- a helper says that it sleeps, then looks whether there is work; who shares puts work on the board,
  then looks who sleeps. Either the helper finds the work, or it is woken up.
"""

from __future__ import annotations

from typing import Any

from tinynet.numba_kernels.llvm import atomics
from tinynet.numba_kernels.llvm.written import written

board = atomics.lines(24)  # places that are often written are a line of the cache apart
LEAST = 0  # work of a part, in about 0.1 ns
TICKETS = 1  # how often work was shared
# What is shared: its ticket, or 0; the address of a part's function, of its arguments; parts
OPEN, FUNCTION, ARGUMENTS, PARTS = 8, 9, 10, 11
NEXT = 16  # part that nobody has taken
INSIDE = 24  # helpers that may be at a part
# Set before there are helpers: how many, the functions that write to a pipe, read from it, and let
# another thread run, and whether helpers are to end
HELPERS, WRITE, READ, YIELD, END = 40, 41, 42, 43, 44
BUSY = 48  # 1 while work is shared
FAILED = 56  # 1 after a part that raised
NOTE = 64  # what is written to pipes, and after it what is read
MOST_HELPERS = 48
ASLEEP = 72  # of each helper, 1 while it waits for a byte
BELLS = ASLEEP + MOST_HELPERS  # of each helper, the pipe that it waits at

LONG = 512  # pauses
WAKING = 2**18  # work from which it pays to wake a helper up: that takes 10 µs
MOST = 64  # parts
board[LEAST] = 2**16


@written(atomics.load_code, "int64")
def load(place: int) -> Any:
    """Return a number on the board."""
    return board[place]


@written(atomics.swap_code, "int64")
def swap(place: int, number: int) -> Any:
    """Replace a number on the board and return what was there."""
    before, board[place] = board[place], number
    return before


@written(atomics.add_code, "int64")
def add(place: int, number: int) -> Any:
    """Add to a number on the board and return what was there."""
    board[place] += number
    return board[place] - number


@written(atomics.address_code, "int64")
def address(place: int) -> Any:
    """Return where in memory a number on the board stands."""
    return board.ctypes.data + 8 * place


@written(atomics.pause_code, "int64")
def pause() -> Any:
    """Wait for a moment."""
    return 0


def only_compiled(*arguments: Any) -> Any:
    """Refuse to handle addresses in Python."""
    raise RuntimeError("addresses of functions and tuples exist only in compiled code")


@written(atomics.call_code, "int64")
def call(function: int, first: int, second: int, third: int) -> Any:
    """Call the function at an address with three whole numbers; return what it does."""
    return only_compiled()


@written(atomics.tuple_address_code, "int64")
def address_of(arguments: Any) -> Any:
    """Return where a tuple is kept until the function that calls this one returns."""
    return only_compiled()


@written(atomics.part_address_code, atomics.part_type)
def part_of(part: Any, arguments: Any) -> Any:
    """Return the address of a function that ``call`` takes: ``part(number, parts, *arguments)``."""
    return only_compiled()


def parts_of(length: int, work: int) -> int:
    """Return into how many parts to cut so many places, which are so much work together."""
    return max(1, min(length, min(MOST, work // load(LEAST))))


def take(function: int, arguments: int, parts: int) -> None:
    """Do parts until all are taken."""
    while True:
        part = add(NEXT, 1)
        if part >= parts:
            return
        if call(function, arguments, part, parts):
            swap(FAILED, 1)


def hands() -> int:
    """Return how many threads may share work."""
    return 1 + load(HELPERS)


def share(function: int, arguments: int, parts: int, work: int) -> None:
    """Do all parts, with the helpers; return when they are done.

    Args:
        function: from ``part_of``.
        arguments: from ``address_of``.
        parts: how many there are.
        work: how much work they are together.
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
    """Wake all helpers up that sleep."""
    for helper in range(load(HELPERS)):
        if swap(ASLEEP + helper, 0):
            call(load(WRITE), load(BELLS + helper), address(NOTE), 1)


def help_out(number: int, pipe: int, patience: int) -> None:
    """Take parts of all work that is shared, until the board says that helpers are to end.

    Args:
        number: of the helper, from 0 on.
        pipe: its own, to read from, asleep until somebody writes to it.
        patience: pauses before falling asleep.
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
        # A helper that has been called in this moment finds a byte in its pipe.
        if idle or swap(ASLEEP + number, 0) == 0:
            call(load(READ), pipe, address(NOTE + 1), 1)


def wait(pauses: int) -> None:
    """Pause so many times."""
    for _ in range(pauses):
        pause()
