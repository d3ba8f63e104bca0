"""Handlers of the user's code: what would run if an operation failed.

A program has no handlers. So where an operation fails inside of ``try`` or ``with``, the function
runs again, eagerly; a program that has changed something by then cannot be made.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import os
import sys
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from tinynet.capture.guard.holdings import is_a
from tinynet.capture.program import CaptureError, Program
from tinynet.core.callsite import Site, is_outside
from tinynet.random import default_generator

_CLEANING = frozenset(
    "CALL_INTRINSIC_1 COPY DELETE_DEREF DELETE_FAST DELETE_GLOBAL DELETE_NAME LOAD_CONST "
    "POP_EXCEPT POP_TOP STORE_DEREF STORE_FAST STORE_GLOBAL STORE_NAME SWAP".split()
)
# Errors of Python code, which no operation raises because of the values that it gets.
_OF_CODE = frozenset(
    "AttributeError ImportError KeyError ModuleNotFoundError NameError NotImplementedError "
    "StopIteration TypeError".split()
)
# Notebooks, the prompt and `python -c` have names such as "<string>".
_PYTHON = (os.path.dirname(os.__file__) + os.sep, "<frozen ")
INTERNAL = (os.path.dirname(np.__file__) + os.sep, "<frozen importlib")
# Kinds of operations, and reductions, that fail by shapes only, which are guarded.
_MOVES = "view", "sequence"
_REDUCTIONS = frozenset(
    "all amax amin any mean_all mean_dims prod_all prod_dim sum_all sum_dims".split()
)
_NEAR = 16  # bytes of code between the call of ``__enter__`` and the block


@functools.lru_cache(1000)
def in_library(filename: str) -> bool:
    """Return whether code is Python's own or numpy's, which caches what it is asked for."""
    if filename.startswith(INTERNAL):
        return True
    return filename.startswith(_PYTHON) and "-packages" not in filename


def fails_by_shape(op: Any) -> bool:
    """Return whether an operation raises errors for shapes and dtypes only, if for any."""
    return op is not None and (op.kind in _MOVES or op.name in _REDUCTIONS)


class _Block(NamedTuple):
    """Code that a handler surrounds.

    Attributes:
        start, end: its offsets.
        opened: where the ``with`` statement that handles errors begins; -1 for other handlers.
    """

    start: int
    end: int
    opened: int


class Handlers:
    """The blocks that surround what a function does, and the context managers that it entered.

    Args:
        boundary: the code that calls the function.

    Attributes:
        random: the position of the default generator before the call.
    """

    def __init__(self, boundary: CodeType):
        self._outermost = boundary
        self.random = drawn()
        self._own: dict[tuple[int, CodeType], dict[int, bool]] = {}  # by frame and offset

    def entered(self, frame: Any) -> None:
        """Note a context manager whose ``__enter__`` begins; tinynet's handle no errors."""
        back = frame.f_back
        if back is not None and is_outside(back.f_code.co_filename):
            self._own.setdefault((id(back), back.f_code), {})[back.f_lasti] = _is_own(frame)

    def check(self, program: Program) -> None:
        """Note whether the user's code would handle an error of the coming call.

        Raises:
            CaptureError: it would, and the function has changed something by then.
        """
        site = self.around()
        if site is None:
            return
        if self.has_drawn() or any(call.kind in ("write", "perform") for call in program.calls):
            raise CaptureError(
                "it computes in a `try` or `with` block, after it has changed something",
                "move what may fail before the changes, or out of the block",
                site,
            )
        program.handled = len(program.calls) + 1

    def has_drawn(self) -> bool:
        """Return whether random numbers were drawn since the call began."""
        return bool(self.random != drawn())

    def around(self) -> Site | None:
        """Return the line in a block whose handler would see an error of the running operation."""
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code is not self._outermost:
            code, at = frame.f_code, frame.f_lasti
            if is_outside(code.co_filename) and not in_library(code.co_filename):
                for block in _blocks(code):
                    if block.start <= at < block.end and not self._is_harmless(frame, block):
                        return code, at
            frame = frame.f_back
        return None

    def _is_harmless(self, frame: Any, block: _Block) -> bool:
        managers = self._own.get((id(frame), frame.f_code), {})
        near = [own for at, own in managers.items() if 0 < block.opened - at <= _NEAR]
        return near != [] and all(near)


def drawn() -> Any:
    """Return what changes when the default generator draws a number."""
    numbers = default_generator._stream.numpy
    return 0 if numbers is None else numbers.bit_generator.state


def _is_own(frame: Any) -> bool:
    """Return whether a context manager that is entered is one of tinynet."""
    thing: Any = frame.f_locals.get("self")
    if is_a(thing, contextlib._GeneratorContextManager):
        generator: Any = thing.gen
        return not is_outside(generator.gi_code.co_filename)
    return is_a(thing, contextlib.nullcontext) or not is_outside(frame.f_code.co_filename)


@functools.lru_cache(1000)
def _blocks(code: CodeType) -> tuple[_Block, ...]:
    """Return the blocks of some code whose handlers do more than clean up."""
    entries = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    if not entries:
        return ()
    instructions = [*dis.get_instructions(code)]
    numbers = {instruction.offset: i for i, instruction in enumerate(instructions)}
    found = []
    for entry in entries:
        handler = instructions[numbers[entry.target] :]
        names = [instruction.opname for instruction in handler[:4]]
        if "WITH_EXCEPT_START" in names:
            opened = min(e.start for e in entries if e.target == entry.target)
            found.append(_Block(entry.start, entry.end, opened))
        elif not _cleans_up(handler) and not _is_of_code(handler):
            found.append(_Block(entry.start, entry.end, -1))
    return tuple(found)


def _cleans_up(handler: list[dis.Instruction]) -> bool:
    """Return whether a handler raises the error again, and forgets variables at most."""
    for instruction in handler:
        if instruction.opname == "RERAISE":
            return True
        if instruction.opname not in _CLEANING:
            return False
    return False


def _is_of_code(handler: list[dis.Instruction]) -> bool:
    """Return whether a handler has one clause, for errors of Python code only."""
    names = []
    for at, instruction in enumerate(handler):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.append(instruction.argval)
        elif instruction.opname == "CHECK_EXC_MATCH":
            jump = handler[at + 1]
            rest = [i for i in handler if i.offset >= int(jump.argval or 0)]
            last = jump.opname.startswith("POP_JUMP") and rest[:1] and rest[0].opname == "RERAISE"
            return bool(last) and {*names} <= _OF_CODE
        elif instruction.opname not in ("PUSH_EXC_INFO", "BUILD_TUPLE", "CACHE"):
            return False
    return False
