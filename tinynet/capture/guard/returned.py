"""Numbers that a function reads only to return them: ``return loss.item()``.

A program can read them, too, at its end. What the function does with a number is read from its
bytecode: from the call, each instruction up to the return must leave the number on the stack, put
it into a tuple, list or dict, or into a variable for which the same is true.
"""

from __future__ import annotations

import dis
import functools
import inspect
import re
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

Path = tuple[int, ...]
"""Where a part of a result is: its place in the result, its place in that part, and so on."""

_INSPECT = {"locals", "vars", "eval", "exec", "dir"}  # see variables without loading them
_IDLE = {"NOP", "CACHE", "RESUME", "PRECALL", "EXTENDED_ARG", "KW_NAMES"}
_GLOBAL = "global "
_RETURNS = {"RETURN_VALUE", "RETURN_CONST"}
_GIVES = {"LOAD_CONST", "LOAD_SMALL_INT", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLOSURE", "PUSH_NULL"}
_TAKES_TWO = {"BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP"}


class _Step(NamedTuple):
    """What an instruction does to the stack.

    Attributes:
        name: the instruction.
        offset: its place in the bytecode.
        variable: the variable that it loads or stores; of a global one, after ``global``.
        pops, pushes: the numbers of objects that it takes from the stack and puts on it; pops are
            -1 if unknown.
        target: the offset to which it may jump, or -1.
    """

    name: str
    offset: int
    variable: str
    pops: int
    pushes: int
    target: int


@functools.lru_cache(1000)
def paths(code: CodeType, at: int) -> list[Path] | None:
    """Return where the result of a call stands in what the function returns.

    Args:
        code: the function's.
        at: the offset of the call, or of its cache, which follows it.

    Returns:
        The places; none if it is dropped; None if the function may use it otherwise.
        Generators and coroutines return nothing to their callers.

    Example:
        >>> def step(loss, count):
        ...     return {"loss": loss.item(), "count": count}
        >>> call = next(i for i in dis.get_instructions(step) if i.opname == "CALL")
        >>> paths(step.__code__, call.offset)
        [(0,)]
    """
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    steps, place = _at(code, at)
    if not steps[place].name.startswith("CALL"):
        return None
    found = _followed(steps, place + 1)
    if not isinstance(found, int):
        return found
    return None if _INSPECT & {*code.co_names} else _from_variable(steps, found)


def called_global(code: CodeType, at: int) -> str:
    """Return the global name whose object a call calls, or an empty text.

    Args:
        code: the function's.
        at: the offset of the call, or of its cache.
    """
    steps, place = _at(code, at)
    if steps[place].name != "CALL":
        return ""
    arguments = steps[place].pops - 2
    for step in steps[:place][::-1]:
        if step.pops < 0 or step.name == "SWAP":
            return ""
        if not arguments and step.pushes:
            return step.variable.removeprefix(_GLOBAL) if step.variable.startswith(_GLOBAL) else ""
        arguments += step.pops - step.pushes
    return ""


def _from_variable(steps: Sequence[_Step], stored: int) -> list[Path] | None:
    """Return where a variable stands in the result that the step at a place has stored."""
    name, later = steps[stored].variable, steps[stored + 1 :]
    if sum(step.name in _RETURNS for step in later) != 1:
        return None
    if any(step.target != -1 and step.target <= steps[stored].offset for step in later):
        return None  # a loop: it may be loaded before
    found: list[Path] = []
    for place, step in enumerate(later):
        if step.variable == name:
            part = _followed(later, place + 1) if step.name.startswith("LOAD") else None
            if not isinstance(part, list):
                return None
            found += part
    return found


def _followed(steps: Sequence[_Step], place: int) -> list[Path] | int | None:
    """Follow the object on the top of the stack.

    Returns:
        Where it stands in the result, or the place of the step that stores it; None: it is used.
    """
    above, path = 0, Path()
    for at, step in enumerate(steps[place:], place):
        if step.pops < 0:
            return None
        if step.name == "SWAP":  # of the top and the last that it takes
            above = step.pops - 1 - above if above in (0, step.pops - 1) else above
            continue
        if step.pops <= above:
            above += step.pushes - step.pops
            continue
        number = step.pops - 1 - above  # among what the instruction takes
        if step.name == "RETURN_VALUE":
            return [path]
        if step.name == "POP_TOP":
            return []
        if step.name == "STORE_FAST" and not path:
            return at
        if step.name == "BUILD_MAP" and number % 2:
            number //= 2
        elif step.name not in ("BUILD_TUPLE", "BUILD_LIST", "BUILD_CONST_KEY_MAP"):
            return None
        above, path = 0, (number, *path)
    return None


def _at(code: CodeType, at: int) -> tuple[list[_Step], int]:
    """Return the steps of a function, and the number of the one at an offset."""
    steps = [step for instruction in dis.get_instructions(code) for step in _steps(instruction)]
    return steps, max(i for i, step in enumerate(steps) if step.offset <= at)


def _steps(instruction: Any) -> Iterator[_Step]:
    """Yield what an instruction does, which may load or store two variables."""
    name, argument, at = instruction.opname, instruction.arg or 0, instruction.offset
    parts = re.findall("LOAD_FAST|STORE_FAST", name)
    if parts:
        value = instruction.argval
        variables = value if isinstance(value, tuple) else (value,)
        for part, variable in zip(parts, variables, strict=True):
            stores = part == "STORE_FAST"
            yield _Step(part, at, variable, int(stores), int(not stores), -1)
        return
    pops, pushes = _effect(name, argument, dis.stack_effect(instruction.opcode, instruction.arg))
    loaded = f"{_GLOBAL}{instruction.argval}" if name == "LOAD_GLOBAL" else ""
    jumps = "JUMP" in name or name in ("FOR_ITER", "SEND")
    target = instruction.argval if jumps and isinstance(instruction.argval, int) else -1
    yield _Step(name, at, loaded, pops, pushes, target)


def _effect(name: str, argument: int, more: int) -> tuple[int, int]:
    """Return the numbers of objects that an instruction takes and gives; -1 if unknown.

    Args:
        name, argument: the instruction.
        more: the change of the height of the stack.
    """
    if name in _IDLE:
        return 0, 0
    if name in ("LOAD_ATTR", "LOAD_METHOD"):
        return 1, 1 + more
    if name in _GIVES:
        return 0, more
    if name in _TAKES_TWO:
        return 2, 1
    if name in ("CALL", "CALL_KW"):  # the function, what it is bound to, and names of arguments
        return argument + 2 + (name == "CALL_KW"), 1
    if name == "SWAP":
        return argument, argument
    if name in ("BUILD_TUPLE", "BUILD_LIST"):
        return argument, 1
    if name in ("BUILD_MAP", "BUILD_CONST_KEY_MAP"):
        return (2 * argument if name == "BUILD_MAP" else argument + 1), 1
    return (1, 0) if name in ("RETURN_VALUE", "POP_TOP") else (-1, 0)
