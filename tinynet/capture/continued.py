"""Compiled functions that go on where an earlier process stopped, to the bit.

Native code rounds otherwise than numpy. So a call that would have run natively, had the process not
ended, must do so in the next one, too. There, no program exists yet: the call is captured, what
that did is undone, and then the program runs.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tinynet.capture.compiled import CAPTURES, Calls, Carried, Compiled
from tinynet.capture.entry import NUMPY
from tinynet.capture.record.capturing import Captured
from tinynet.capture.successor import start_of
from tinynet.capture.verify.snapshot import Snapshot
from tinynet.core.tensors.tensor import Tensor
from tinynet.random import default_generator

LEAST = 2  # captures before the first replay


class Past(NamedTuple):
    """The calls of one form so far.

    Attributes:
        captured: those before the first replay.
        replays: those that a program ran, or could have run, by numpy or natively.
        native_from: the number of the first native replay; None: none was.
        backend: the program's; empty: there was none yet.
    """

    captured: int = 0
    replays: int = 0
    native_from: int | None = None
    backend: str = ""

    def after(self, captures: int) -> Past:
        """Return the same after calls that were captured.

        They compute what numpy's program computes. So from the third one on, they are replays; the
        second one makes the program.
        """
        calls = self.captured + self.replays + captures
        if calls < LEAST and not self.backend:
            return self._replace(captured=calls)
        return self._replace(captured=LEAST, replays=calls - LEAST, backend=self.backend or NUMPY)

    def is_native(self, start: float) -> bool:
        """Return whether the next call runs natively.

        Args:
            start: the first native replay of a program that has not been native; 0: any.
        """
        if self.native_from is not None:
            return self.replays + 1 >= self.native_from
        replay = self.replays + 1 if self.backend else self.captured + 1 - LEAST
        return 0 < start <= replay


class Continued(Compiled):
    """A compiled function with a past.

    Args:
        function: the function.
        roots: the objects that it changes, besides its arguments.
        options: of ``Compiled``.
    """

    def __init__(self, function: Any, roots: Sequence[Any], **options: Any):
        super().__init__(function, **options)
        self._roots = roots
        self._earlier: dict[str, Past] = {}
        self._names: dict[str, None] = {}  # of forms, in the order of their first calls
        self._begun: dict[int, Past] = {}  # by program, what was past when it was made
        self._is_undone = False  # the capture that runs

    def state_dict(self) -> dict[str, list[Any]]:
        """Return what another process needs to go on: what is past, by the forms of calls."""
        return {name: [*past] for name, past in self._past().items()}

    def load_state_dict(self, state: Mapping[str, Sequence[Any]]) -> None:
        """Go on where another process stopped."""
        self._earlier = {name: Past(*past) for name, past in state.items()}
        self._names = dict.fromkeys(state)

    def first_native_replays(self) -> list[int | None]:
        """Return ``native_from`` of all programs, also of earlier processes: the next ``wait``."""
        return [past.native_from for past in self._past().values() if past.backend]

    def _past(self) -> dict[str, Past]:
        """Return what is past by the names of forms."""
        found = {**self._earlier}
        for key, captures in self._captured.items():
            found[_name(key)] = found.get(_name(key), Past()).after(len(captures))
        for key, (entry, *_) in self._entries.items():
            number = entry.number
            captured, native_from = self._begun[number].captured, self.native_from[number]
            found[_name(key)] = Past(captured, entry.replays, native_from, entry.backend)
        return {name: found[name] for name in self._names if name in found}

    def calls(self) -> Calls:
        """Return the numbers of calls in this process."""
        calls = super().calls()
        return calls._replace(
            replayed=calls.replayed - sum(p.replays for p in self._begun.values())
        )

    # ---- capturing --------------------------------------------------------------------------

    def _capture(self, key: Any, tensors: list[Tensor], args: Any, kwargs: Any) -> Any:
        name = _name(key)
        self._names.setdefault(name)
        if self._is_undone or name not in self._earlier or not self._is_native(key):
            return super()._capture(key, tensors, args, kwargs)
        self._earlier[name], self._is_undone = self._before(key), True
        try:
            for _ in range(CAPTURES):
                before = Snapshot([*self._roots, args, kwargs, *_owners(args), default_generator])
                key = self._key(args, kwargs, tensors := [])
                try:
                    super()._capture(key, tensors, args, kwargs)
                finally:
                    before.restore()
                if key in self._entries:
                    return self(*args, **kwargs)
        finally:
            self._is_undone = False
        del self._earlier[name]
        return self._run(args, kwargs)

    def _add(
        self, key: Any, captured: Captured, tensors: list[Tensor], args: Any, kwargs: Any
    ) -> None:
        past = self._before(key)
        super()._add(key, captured, tensors, args, kwargs)
        entry = self._entries[key][-1]
        self._begun[entry.number] = past
        if past.backend:
            entry.replays = past.replays
            entry.schedule.begin(past.replays)
        if self._is_undone:
            entry.untried = past.native_from is None
            self.native_from[entry.number] = past.native_from or entry.replays + 1

    def _form(self, key: Any) -> tuple[str, float | None]:
        past = self._before(key)
        if self._is_undone:
            return self._backend if past.native_from is None else past.backend, None
        return self._backend, self._start(key)

    def _before(self, key: Any) -> Past:
        """Return what is past of a form of calls that has no program yet."""
        captures = 0 if self._is_undone else len(self._captured.get(key, ()))
        return self._earlier.get(_name(key), Past()).after(captures)

    def _start(self, key: Any) -> float | None:
        """Return the first native replay, as ``start_of`` does."""
        return start_of(self._wait, [*self._names].index(_name(key)))

    def _is_native(self, key: Any) -> bool:
        start = self._start(key)
        return self._before(key).is_native(1 if start is None else start)


def _owners(args: Any) -> list[Any]:
    """Return the objects whose methods are among arguments."""
    return [a.__self__ for a in args if isinstance(a, types.MethodType)]


def _name(key: Any) -> str:
    """Return the name of a form of calls, which is the same in another process.

    What is carried is not part of it: the first call of a process does not know it yet.
    """
    parts = [part for part in key if not isinstance(part, Carried)]
    return re.sub(r" at 0x\w+", "", repr((*parts,)))
