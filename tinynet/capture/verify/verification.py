"""Verification: a compiled function runs eagerly now and then, and compares its replay with that.

Guards are the first line: they compare what the code reads. This is the second, for what no guard
can see. The replay comes first, and what it did is undone before the function runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tinynet.capture.entry import Entry, HandledError
from tinynet.capture.guard.keys import STALE
from tinynet.capture.program import CaptureError
from tinynet.capture.record.outputs import found_in
from tinynet.capture.record.probing import gradients_behind
from tinynet.capture.verify.comparison import (
    OF_GRADIENT,
    OF_RESULT,
    OF_TENSOR,
    Appearance,
    Closeness,
    Copied,
    Form,
    Sight,
    World,
    flat,
    is_same,
)
from tinynet.capture.verify.snapshot import Snapshot
from tinynet.core.tensors.tensor import Tensor

REMEDY = "nothing: eager results were kept. Please report this, with the function and its explain()"


class Outcome(NamedTuple):
    """The result of a call, or its error."""

    result: Any
    error: BaseException | None

    def give(self) -> Any:
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.result


def verify(
    entry: Entry, tensors: list[Tensor], eagerly: Callable[[], Any]
) -> tuple[Outcome | None, CaptureError | None]:
    """Run a program and the function; return an outcome, or None, and how they differ.

    The outcome of the function stays. With native functions, whose results are rounded otherwise,
    the program's stays if it is close enough: a run repeats to the bit wherever it is
    verified.

    Args:
        entry: the program.
        tensors: those that are passed to the function.
        eagerly: calls the function.
    """
    schedule = entry.schedule
    if not schedule.is_affordable():
        schedule.postpone()
        return None, None
    began = time.perf_counter()
    world = World(entry.captured, tensors)
    if not world.can_be_undone():
        schedule.postpone()
        return None, None
    outcome, found, replay = _compared(world, entry, tensors, eagerly)
    if outcome is not None:
        schedule.verified(time.perf_counter() - began - replay)
    return outcome, found


class _Replay(NamedTuple):
    """A replay that was undone.

    Attributes:
        outcome: its result; ``STALE`` if the program does not fit.
        took: its seconds.
        start, seen: what could be seen before it (unless it is exact) and after it.
        redo: repeats what it did; None if it is exact.
    """

    outcome: Outcome
    took: float
    start: Appearance
    seen: Appearance
    redo: Callable[[], None] | None


def _compared(
    world: World, entry: Entry, tensors: list[Tensor], eagerly: Callable[[], Any]
) -> tuple[Outcome | None, CaptureError | None, float]:
    """Return an outcome, how the two differ, and the seconds of the replay."""
    replay = _replayed(world, entry, tensors)
    if replay.outcome.result is STALE:
        return None, None, replay.took
    outcome = _outcome(eagerly)
    if isinstance(replay.outcome.error, HandledError):
        return outcome, None, replay.took
    mine = _look(world, entry, tensors, outcome, np.asarray)
    close = Closeness(replay.start, replay.seen, mine).accepts if replay.redo else is_same
    found = _difference(world, replay.seen, mine, close)
    if found is not None or replay.redo is None:
        return outcome, found, replay.took
    replay.redo()
    return replay.outcome, None, replay.took


def _replayed(world: World, entry: Entry, tensors: list[Tensor]) -> _Replay:
    """Run a program, and undo what it does. The snapshots that nothing needs end here."""
    exact = entry.is_exact
    before = after = Snapshot(world.roots())
    start = {} if exact else world.look(copied=before.copied)
    try:
        began = time.perf_counter()
        outcome = _outcome(lambda: entry.run(*tensors))
        took = time.perf_counter() - began
        if outcome.result is STALE:
            return _Replay(outcome, took, {}, {}, None)
        if not exact:
            after = Snapshot(world.roots())
        copied = before.uncopied if exact else after.copied
        seen = _look(world, entry, tensors, outcome, copied)
    finally:
        before.exchange(keep=exact)
    if exact:
        seen = {sight: before.content(value) for sight, value in seen.items()}
    return _Replay(outcome, took, start, seen, None if exact else after.restore)


def _outcome(call: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(call(), None)
    except Exception as error:
        return Outcome(None, error)


def _look(
    world: World, entry: Entry, tensors: list[Tensor], outcome: Outcome, copied: Copied
) -> Appearance:
    """Return what can be seen of a call."""
    if outcome.error is not None:
        seen = world.look(copied=copied)
        words = f"{type(outcome.error).__name__}: {outcome.error}".partition("\n")[0]
        return seen | {Sight(OF_RESULT, 0, "the error"): words}
    captured = entry.captured
    given = captured.given(outcome.result, tensors)
    try:
        outputs = found_in(captured.program.results, given)
        gradients = gradients_behind(captured.groups, outputs, tensors)
    except Exception as error:  # the function returned something else, or cannot be differentiated
        gradients = [f"{type(error).__name__}: {error}".partition("\n")[0]]
    return world.look(flat(*given), gradients, copied)


def _difference(
    world: World, seen: Appearance, mine: Appearance, accepts: Callable[[Sight, Any, Any], bool]
) -> CaptureError | None:
    """Return the first thing that a replay did otherwise, in the order of the program."""
    different = [s for s in seen if s not in mine or not accepts(s, seen[s], mine[s])]
    different += [s for s in mine if s not in seen]
    if not different:
        return None
    roles = (OF_RESULT, OF_GRADIENT, OF_TENSOR)
    first = min(
        different,
        key=lambda s: (world.position(s)[0], s.role not in roles, s.number, s.what),
    )
    was, now = (side.get(first, "missing") for side in (mine, seen))
    reason = f"the function no longer does what its program does: {first.what} {_values(was, now)}"
    return CaptureError(reason, REMEDY, world.position(first)[1])


def _values(was: Any, now: Any) -> str:
    """Return two values in words: of arrays, the first number that differs."""
    place = ""
    if isinstance(was, np.ndarray) and isinstance(now, np.ndarray) and was.shape == now.shape:
        unlike = np.argwhere(~((was == now) | ((was != was) & (now != now))))
        at = tuple(unlike[0].tolist()) if len(unlike) else (0,) * was.ndim
        place = f" at {list(at)}" if at else ""
        was, now = was[at], now[at]
    elif isinstance(was, Form) and isinstance(now, Form):
        name = next(n for n in Form._fields if getattr(was, n) != getattr(now, n))
        was, now, place = getattr(was, name), getattr(now, name), f": its {name}"
    return f"was {now!s:.60} instead of {was!s:.60}{place}"
