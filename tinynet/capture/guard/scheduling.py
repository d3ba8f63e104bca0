"""Schedules that a program performs: the same function cannot read what their steps change."""

from __future__ import annotations

import dis
import functools
from types import CodeType
from typing import Any

from tinynet.capture.guard.holdings import is_a
from tinynet.capture.program import CaptureError
from tinynet.core.callsite import Site
from tinynet.optim.lr_scheduler.base import LRScheduler

REMEDY = "read it outside of the function, after the call"
_LOADS = frozenset({"LOAD_ATTR", "LOAD_CONST", "LOAD_METHOD"})
_GROUPS = frozenset({"param_groups", "lr"})


class Scheduling:
    """The schedulers that a function uses.

    Attributes:
        changed: names of what the steps of schedulers have changed so far.
    """

    def __init__(self) -> None:
        self._stepped: dict[int, Any] = {}
        self._called: list[tuple[Any, str, Site | None]] = []
        self.changed: frozenset[str] = frozenset()

    def performed(self, thing: Any) -> None:
        """Note that a program calls a function of an object that changes it."""
        if is_a(thing, LRScheduler):
            self._stepped[id(thing)] = thing
            self.changed |= _GROUPS | vars(thing).keys() - {"optimizer"}

    def called(self, thing: Any, name: str, site: Site | None) -> None:
        """Note a call of a method."""
        if is_a(thing, LRScheduler) and name != "step":
            self._called.append((thing, name, site))

    def reads(self, code: CodeType, at: int) -> str | None:
        """Return what an instruction reads that a step has changed."""
        name = _loads_of(code).get(at)
        return name if name in self.changed else None

    def problem(self) -> CaptureError | None:
        """Return why a program cannot repeat what the function reads of schedulers."""
        for thing, name, site in self._called:
            if id(thing) in self._stepped:
                reason = f"{name}() reads what step() of a {type(thing).__name__} changes"
                return CaptureError(reason, REMEDY, site)
        return None


@functools.lru_cache(1000)
def _loads_of(code: CodeType) -> dict[int, str]:
    """Return the names of attributes, and the strings, that code loads, by offset."""
    found = (i for i in dis.get_instructions(code) if i.opname in _LOADS)
    return {i.offset: i.argval for i in found if type(i.argval) is str}
