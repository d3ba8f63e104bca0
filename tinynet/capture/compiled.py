"""``tn.compile``: capture a function while it runs, and replay it afterwards."""

from __future__ import annotations

import copy
import functools
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from tinynet.capture.entry import Entry, HandledError
from tinynet.capture.explain import Explanation, explain
from tinynet.capture.fastest import fastest
from tinynet.capture.guard import guards
from tinynet.capture.guard.events import unwatchable
from tinynet.capture.guard.holdings import ABSENT, is_a, value_of
from tinynet.capture.guard.keys import STALE, key_of, modes, recognizer, sharing_of
from tinynet.capture.program import Call, CaptureError
from tinynet.capture.record.capturing import Captured, Turn, capture
from tinynet.capture.record.stores import CarryError, Data, Store
from tinynet.capture.rerun import Rerun, call_of
from tinynet.capture.successor import Successor, Wait, start_of
from tinynet.capture.verify.schedule import FIRST, Schedule
from tinynet.capture.verify.verification import Outcome, verify
from tinynet.core.callsite import locate, warn
from tinynet.core.explanations.failures import explain as explain_error
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.kernels.threads import count_of_users, fork_safe_lock

CAPTURES = 4  # calls that are compared until two are the same
PROGRAMS = 8  # of one function: for other shapes, modes and Python values
PATIENCE = 50  # captures that fail by what another thread does, before one counts
KEPT = 100  # reasons for eager calls, for ``explain``
capturing = Turn()  # calls of other threads run eagerly meanwhile
_resetting = fork_safe_lock()


class CompileError(RuntimeError):
    """A function cannot be captured, and ``fullgraph=True`` asked for that."""


class CompileWarning(UserWarning):
    """A compiled function runs eagerly."""


class Calls(NamedTuple):
    """The numbers of calls of a compiled function: replayed, captured, and eager."""

    replayed: int
    captured: int
    eager: int


class Carried(tuple[Any, ...]):
    """The forms of what is carried from call to call, in a key."""


class Compiled:
    """A compiled function.

    Args:
        function: the function.
        fullgraph: raise an error where the function cannot be captured.
        verify: the distance between replays that are verified; 0: none are, None: it grows.
        backend, wait: options of ``tn.compile``.

    Attributes:
        native_from: by program, the number of the first replay that was native; None: none was.
        problems: why calls run eagerly, or ran until a later capture succeeded.
        observed: what followed operations, and the number of calls that ran eagerly therefore.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        fullgraph: bool = False,
        verify: int | None = None,
        backend: str = "numpy",
        wait: Wait = True,
    ):
        self._function, self._wait = function, wait
        self._fullgraph, self._verify, self._backend = fullgraph, verify, backend
        self._entries: dict[Any, list[Entry]] = {}
        self._captured: dict[Any, list[Captured | CaptureError]] = {}
        self._eager: set[Any] = set()
        # What its programs get besides the tensors in arguments.
        self._carried: list[Store | Data] = []
        self._recent: Entry | None = None  # that the last call ran
        self._warned = self._full = self._wrong = False
        self._captures = self._eager_calls = self._disturbed = 0
        self.problems: list[CaptureError] = []
        self.observed: Counter[str] = Counter()
        self.native_from: list[int | None] = []
        for name in functools.WRAPPER_ASSIGNMENTS:
            if (value := value_of(function, name)) is not ABSENT:
                setattr(self, name, value)
        self.__wrapped__ = function
        self.__name__ = self.__dict__.get("__name__") or type(_inner(function)).__name__
        every.add(self)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Replay the program for these arguments, or run the function and capture it."""
        try:
            if mode.tracer is not None or guards.is_observed() or state.disabled or self._wrong:
                return self._run(args, kwargs)
            recent = self._recent
            if recent is not None and not kwargs:
                result = recent.recognize(args)
                if result is not STALE:
                    recent.replays += 1
                    if recent.replays + 1 >= recent.schedule.due:
                        self._recent = None
                    return result
            tensors: list[Tensor] = []
            key: Any
            try:
                key = self._key(args, kwargs, tensors)
                entries = self._entries.get(key)
            except TypeError as error:
                return self._fall_back(None, CaptureError(str(error), _PASS_TENSORS), args, kwargs)
            if entries is not None:
                for entry in entries:
                    if entry.successor is not None or entry.untried:
                        entry = self._succeed(entries, entry, tensors, args, kwargs)
                    if entry.replays + 1 >= entry.schedule.due and entry.fits(tensors):
                        outcome = self._verified(entry, tensors, args, kwargs)
                        if outcome is not None:
                            return outcome.give()
                    result = entry.run(*tensors)
                    if result is not STALE:
                        self._replayed(entry)
                        return result
                    entry.missed(tensors)
            elif key in self._eager:
                return self._run(args, kwargs)
            return self._capture(key, tensors, args, kwargs)
        except HandledError:
            return self._run(args, kwargs)
        except Exception as error:
            explain_error(error)
            raise

    def _replayed(self, entry: Entry) -> None:
        entry.replays += 1
        is_next = entry.replays + 1 < entry.schedule.due and entry.successor is None
        self._recent = entry if is_next else None

    def _succeed(
        self, entries: list[Entry], entry: Entry, tensors: list[Tensor], args: Any, kwargs: Any
    ) -> Entry:
        """Return the form of a program that runs from now on.

        It is the native one once it is its turn, unless that turns out to be slower.
        """
        found: Entry = entry if entry.successor is None else entry.successor.take_over(entry)
        if found.untried and found.fits(tensors) and capturing.take():
            found.untried = False
            try:
                found = fastest(found, tensors)
            finally:
                capturing.give_back()
            if found.outrun:
                found.recognize = recognizer(found.run, tensors, args, kwargs)
        if found is not entry:
            entries[:] = [found if other is entry else other for other in entries]
            self.native_from[entry.number] = None if found.is_exact else found.replays + 1
        return found

    def _run(self, args: Any, kwargs: Any) -> Any:
        """Run the function eagerly."""
        if mode.tracer is None:
            self._eager_calls += 1
            if guards.is_observed():
                self.observed[guards.observation()] += 1
        return self._function(*args, **kwargs)

    def _verified(
        self, entry: Entry, tensors: list[Tensor], args: Any, kwargs: Any
    ) -> Outcome | None:
        """Run a program and the function, and compare; None if the program does not fit."""
        if not capturing.take():
            return None
        state.disabled = True
        try:
            outcome, problem = verify(entry, tensors, lambda: self._function(*args, **kwargs))
        finally:
            state.disabled = False
            capturing.give_back()
        if outcome is None:
            return None
        self._replayed(entry)
        if problem is not None:
            self._stop(problem, self._fullgraph or self._verify is not None)
        return outcome

    def reset(self) -> None:
        """Discard all programs, and what is known about calls that run eagerly."""
        with _resetting:
            self._entries.clear()
            self._recent = None
            self._captured.clear()
            self._carried.clear()
            self._eager.clear()
            self.problems.clear()
            self.native_from.clear()
            self._warned = self._wrong = False
            self._captures = self._eager_calls = 0
            self.observed.clear()

    def programs(self) -> list[tuple[Any, Entry]]:
        """Return the programs, each with what distinguishes its calls."""
        return [(key, entry) for key, entries in self._entries.items() for entry in entries]

    def entry_for(self, args: Any, kwargs: Any, tensors: list[Tensor]) -> Entry | None:
        """Return the program that a call would run, if any; collect the tensors."""
        key = self._key(args, kwargs, tensors)
        fitting = (entry for entry in self._entries.get(key, ()) if entry.fits(tensors))
        return next(fitting, None)

    def calls(self) -> Calls:
        """Return the numbers of calls so far."""
        replayed = sum(entry.replays for _, entry in self.programs())
        return Calls(replayed, self._captures, self._eager_calls)

    def explain(self) -> Explanation:
        """Return what was captured, what ran eagerly and why; print it to read it.

        Example:
            >>> double = tn.compile(lambda x: 2 * x)
            >>> for _ in range(5):
            ...     _ = double(tn.ones(3))
            >>> print(double.explain())  # doctest: +ELLIPSIS
            <lambda>: 1 program; of 5 calls, 3 were replayed, 2 captured, 0 ran eagerly
            ...
        """
        return explain(self)

    def __reduce__(self) -> Any:
        return Compiled, (self._function, self._fullgraph, self._verify, self._backend, self._wait)

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        _, (function, *options) = self.__reduce__()
        return Compiled(copy.deepcopy(function, memo), *options)

    # ---- capturing --------------------------------------------------------------------------

    def _key(self, args: Any, kwargs: Any, tensors: list[Tensor]) -> tuple[Any, ...]:
        """Return what distinguishes calls; collect the tensors that a program gets."""
        key: tuple[Any, ...] = modes(), key_of(args, tensors)
        key += (key_of(kwargs, tensors) if kwargs else None,)
        if self._carried:
            held = [store.held() for store in self._carried]
            key += (Carried(key_of(t, tensors) if is_a(t, Tensor) else None for t in held),)
        if len(tensors) > 1 and (sharing := sharing_of(tensors)):
            return *key, sharing
        return key

    def _carry(self, failure: CaptureError) -> bool:
        """Return whether the next call gets what this one could not be captured without."""
        stores = failure.stores if isinstance(failure, CarryError) else []
        known = {store.where() for store in self._carried}
        new = [store for store in stores if store.where() not in known]
        for store in new:
            store.before = ABSENT  # it keeps no tensor alive
        self._carried += new
        return bool(new)

    def _capture(self, key: Any, tensors: list[Tensor], args: Any, kwargs: Any) -> Any:
        if key in self._eager:
            return self._run(args, kwargs)
        problem = unwatchable()
        if problem is not None:
            return self._fall_back(None, problem, args, kwargs)
        if not capturing.take():
            return self._run(args, kwargs)
        try:
            count = sum(map(len, self._entries.values()))
            if count >= PROGRAMS or len(self._captured) >= 4 * PROGRAMS:
                return self._refused(count, args, kwargs)
            self._captures += 1
            carried = [store for store in self._carried if is_a(store.held(), Tensor)]
            found = capture(self._function, tensors, args, kwargs, carried)
            result, captured, failure = found
            earlier = self._captured.setdefault(key, [])
            if captured is None:
                assert failure is not None
                if self._carry(failure) or self._is_disturbed(failure):
                    return result
                earlier.append(failure)
                if len(earlier) >= CAPTURES or not failure.passing or self._fullgraph:
                    self._report(key, failure)
                return result
            last = earlier[-1] if earlier else None
            different = captured.same(last) if isinstance(last, Captured) else False
            earlier.append(captured)
            if different is True:
                assert isinstance(last, Captured)
                captured.fix_arguments(last)
                self._add(key, captured, tensors, args, kwargs)
            elif len(earlier) >= CAPTURES:
                site = different.site if isinstance(different, Call) else None
                reason = "two calls with such arguments do different things"
                remedy = "take what changes between the calls as an argument of the function"
                self._report(key, CaptureError(reason, remedy, site))
            return result
        finally:
            capturing.give_back()

    def _add(
        self, key: Any, captured: Captured, tensors: list[Tensor], args: Any, kwargs: Any
    ) -> None:
        """Add the program of calls that two captures agree on."""
        stop = weakref.WeakMethod(self._stop)
        rerun = Rerun(self._function, captured, call_of(args, kwargs, tensors), stop)
        first = 1 if self._entries else FIRST

        def made(backend: str) -> Entry:
            entry = Entry(self.__name__, captured, backend, Schedule(self._verify, first), rerun)
            entry.recognize = recognizer(entry.run, tensors, args, kwargs)
            entry.number = len(self.native_from)
            return entry

        backend, start = self._form(key)
        entry = made(backend)
        if not entry.is_exact and start is not None:
            entry, native = made("numpy"), entry
            entry.successor = Successor(native, start)
        self.native_from.append(None if entry.is_exact else 1)
        self._entries.setdefault(key, []).append(entry)
        del self._captured[key]

    def _form(self, key: Any) -> tuple[str, float | None]:
        """Return the backend of a new program, and its first native replay as ``start_of`` does."""
        return self._backend, start_of(self._wait, len(self.native_from))

    def _stop(self, problem: CaptureError, fatal: bool | None = None) -> None:
        """Run eagerly from now on."""
        self._wrong = True
        self._recent = None
        self._entries.clear()
        self._report(None, problem, fatal)

    def _is_disturbed(self, failure: CaptureError) -> bool:
        """Return whether a capture may have failed by what another thread did meanwhile."""
        if not failure.disturbed or count_of_users() == 1 or self._fullgraph:
            return False
        self._disturbed += 1
        return self._disturbed <= PATIENCE

    def _refused(self, count: int, args: Any, kwargs: Any) -> Any:
        """Run a function eagerly that has too many programs; warn the first time."""
        has = f"{count} programs" if count >= PROGRAMS else f"captured {len(self._captured)} calls"
        if not self._full or self._fullgraph:
            self._full = True
            failed: Counter[str] = Counter()
            for _, entry in self.programs():
                failed += entry.failed
            such = "".join(f" ({words})" for words, _ in failed.most_common(1))
            problem = CaptureError(
                f"it has {has} already, for other shapes, modes or Python values{such}",
                "pass what changes as a tensor, or pad inputs to a few shapes",
            )
            self._report(None, problem)
        return self._run(args, kwargs)

    def _fall_back(self, key: Any, problem: CaptureError, args: Any, kwargs: Any) -> Any:
        self._report(key, problem)
        return self._run(args, kwargs)

    def _report(self, key: Any, problem: CaptureError, fatal: bool | None = None) -> None:
        """Note that calls with such a key run eagerly; warn once, or raise an error."""
        if key is not None:
            self._eager.add(key)
            self._captured.pop(key, None)
        if len(self.problems) < KEPT:
            self.problems.append(problem)
        if self._fullgraph if fatal is None else fatal:
            raise CompileError(message(self.__name__, problem))
        if not self._warned:
            self._warned = True
            warn(message(self.__name__, problem), CompileWarning)


every: weakref.WeakSet[Compiled] = weakref.WeakSet()


def _inner(function: Any) -> Any:
    return function.args[0] if is_a(function, functools.partial) else function


_PASS_TENSORS = "pass tensors, numbers, strings, and modules"


def message(name: str, problem: CaptureError) -> str:
    """Return why a function runs eagerly, where, and what would help."""
    where = locate(problem.site)
    place = "" if where is None else f"\n  where: {where.place}: {where.text}"
    return (
        f"tn.compile: {name} runs eagerly: {problem.reason}.{place}\n  to fix it: {problem.remedy}"
    )


class _State(threading.local):
    disabled = False


state = _State()
