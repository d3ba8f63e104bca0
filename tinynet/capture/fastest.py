"""Which form of a program takes the least time on this machine: measured once, then noted.

Native code is not always faster: numpy's functions use instructions that a compiled loop may not.
So before its first native replay, a program runs in both forms, in turns, and what that did is
undone. Unless the native form gains a fifth, there is a third one, in which each native function
was measured.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from tinynet.capture.entry import MEASURED, NATIVE, NUMPY, Entry
from tinynet.capture.guard.holdings import is_simple_kind
from tinynet.capture.guard.keys import STALE
from tinynet.capture.native import cache, choices
from tinynet.capture.program import Handle, Value, rebuilt
from tinynet.capture.record.capturing import Captured
from tinynet.capture.record.outputs import found_in
from tinynet.capture.record.probing import gradients_behind
from tinynet.capture.verify.comparison import World
from tinynet.capture.verify.snapshot import Snapshot
from tinynet.core.tensors.tensor import Tensor
from tinynet.kernels.llvm import store
from tinynet.random import default_generator

ROUNDS, LEAST = 5, 2  # at most and at least
FAR = 0.8  # of numpy's time: with less of a gain, some native function may be slower than numpy's
CLEARLY = 0.97  # of numpy's time: less of a gain may be noise, and numpy's results are eager's
SLICE = 1e-3  # seconds of a turn
ENOUGH = 0.1  # seconds, after which no further round is needed


def fastest(native: Entry, tensors: list[Tensor]) -> Entry:
    """Return the form of a program that takes the least time.

    It is the native one where measuring would leave traces, or cannot be noted.

    Args:
        native: the native form, before its first replay.
        tensors: those that are passed.
    """
    world = World(native.captured, tensors)
    if store.folder() is None or not world.can_be_undone():
        return native
    note = choices.Note(f"{cache.version()} {_described(native.captured)}")
    chosen = note.read()
    if chosen is not None:
        return native.in_form(chosen) if chosen in (NUMPY, MEASURED) else native
    # Other threads may draw random numbers, if the program does not.
    ours = native.captured.draws
    before = Snapshot([root for root in world.roots() if ours or root is not default_generator])
    try:
        name, found, took = _race(native, tensors, before)
    except Exception:  # which the replay will raise, too
        return native
    finally:
        before.restore()
    return found if note.write(name, took) else native


def _race(
    native: Entry, tensors: list[Tensor], before: Snapshot
) -> tuple[str, Entry, Sequence[float]]:
    """Return the fastest form with its name, and the seconds of the forms."""
    plain = native.in_form(NUMPY)
    took = _seconds([native, plain], tensors, before)
    if took[0] <= FAR * took[1]:
        return NATIVE, native, took
    measured = native.in_form(MEASURED)
    took = _seconds([native, plain, measured], tensors, before)
    if min(took[0], took[2]) > CLEARLY * took[1]:
        return NUMPY, plain, took
    return (NATIVE, native, took) if took[0] <= took[2] else (MEASURED, measured, took)


def _seconds(entries: list[Entry], tensors: list[Tensor], before: Snapshot) -> list[float]:
    """Return the processor time of the fastest turn of each form, per run."""
    counts = [1 for _ in entries]
    for i, entry in enumerate(entries):
        _run(entry, tensors)  # compiles it
        before.restore()
        began = time.thread_time()
        _run(entry, tensors)
        counts[i] = max(1, int(SLICE / max(time.thread_time() - began, 1e-6)))
        before.restore()
    took: list[list[float]] = [[] for _ in entries]
    while len(took[0]) < LEAST or (len(took[0]) < ROUNDS and sum(map(sum, took)) < ENOUGH):
        for entry, count, found in zip(entries, counts, took, strict=True):
            began = time.thread_time()
            for _ in range(count):
                _run(entry, tensors)
            found.append((time.thread_time() - began) / count)
            before.restore()
    return [*map(min, took)]


def _run(entry: Entry, tensors: list[Tensor]) -> None:
    """Run a program, and the backward passes behind its results."""
    result = entry.run(*tensors)
    if result is STALE:
        raise RuntimeError("the arguments do not fit")
    captured = entry.captured
    if captured.groups:
        outputs = found_in(captured.program.results, captured.given(result, tensors))
        gradients_behind(captured.groups, outputs, tensors)


def _described(captured: Captured) -> str:
    """Return what the time of a program depends on."""
    calls = [call for program in captured.programs() for call in program.calls]
    parts = [(c.title, c.node, rebuilt((c.args, c.kwargs, c.result), _form)) for c in calls]
    return repr(parts)


def _form(leaf: Any) -> Any:
    if isinstance(leaf, Handle):
        leaf = leaf.value
    if isinstance(leaf, Tensor):
        return tuple(leaf.shape), str(leaf.dtype)
    if isinstance(leaf, Value):
        return choices.described(leaf)
    return leaf if is_simple_kind(type(leaf)) else type(leaf).__name__
