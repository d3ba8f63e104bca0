"""Backward passes that no program computes: the function runs eagerly, and its graph serves.

The backward pass of a program computes on arrays and has no graph. For ``create_graph=True``, and
from a set of many outputs that no program starts from, the function runs once more on the same
arguments, and gradients flow through the graph of that call.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.capture.program import CaptureError, rebuilt
from tinynet.capture.record.capturing import Captured
from tinynet.capture.record.outputs import found_in
from tinynet.capture.record.pieces import Token, Use, standing_in, uses_of
from tinynet.capture.record.probing import Group, edges_at, gradients_at
from tinynet.capture.verify.comparison import World
from tinynet.capture.verify.snapshot import Snapshot
from tinynet.core.graph.node import UNREACHED, Edge
from tinynet.core.graph.views import edge_of
from tinynet.core.modes import enable_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.random import default_generator

CHANGED = (
    "{} a compiled function whose values have changed since, or that draws random numbers from a "
    "generator of its own.\n"
    "  to fix it: compile the whole step, with this backward pass in it, or call the function "
    "without tn.compile"
)
REMEDY = "compile the whole step, with this backward pass in it, or call the function eagerly"
AGAIN = CaptureError("its backward pass is differentiated again (create_graph=True)", REMEDY)
SOME = CaptureError("a backward pass starts from some of many outputs that it returns", REMEDY)


class _Place(int):
    """The number of a tensor that is passed."""


def call_of(args: Any, kwargs: Any, tensors: list[Tensor]) -> tuple[Any, Any]:
    """Return arguments with numbers in place of tensors."""
    numbers = {id(t): _Place(i) for i, t in enumerate(tensors)}
    found: tuple[Any, Any] = rebuilt((args, kwargs), lambda x: numbers.get(id(x), x))
    return found


class Rerun:
    """Calls a function again, for the graph of the call.

    Args:
        function: the function.
        captured: what was captured.
        call: what was passed, with numbers in place of tensors.
        stop: is called with the problem, when a call was needed.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        captured: Captured,
        call: tuple[Any, Any],
        stop: weakref.WeakMethod[Any],
    ):
        self._function, self._captured, self._call, self._stop = function, captured, call, stop

    def gradients(
        self,
        group: Group,
        given: tuple[Tensor, ...],
        position: Any,
        g: Sequence[Tensor | None],
        expected: Sequence[Any],
        create_graph: bool,
    ) -> tuple[Any, ...]:
        """Return the gradients of a backward pass.

        Args:
            group: the outputs.
            given: the tensors that were passed.
            position: where the default generator was before the call.
            g: the gradients of the outputs.
            expected: the gradients that the program computes.
            create_graph: give them a graph.

        Raises:
            RuntimeError: the function no longer computes the same.
        """
        stop = self._stop()
        if stop is not None:
            stop(AGAIN if create_graph else SOME)
        outputs = self._again(given, position)
        ends = edges_at(group.ends, outputs, given)
        with standing_in(_left(group, outputs)):
            starts = [outputs[o.number] for o in group.outputs]
            found = gradients_at(starts, g, ends, [*given], create_graph)
        key = [i for i, x in enumerate(g) if x is not None]
        found, totals = _once(found, expected, ends, group.reached_from(key))
        if not _are_close(found, totals):
            raise RuntimeError(
                CHANGED.format(
                    "create_graph=True cannot differentiate the backward pass of"
                    if create_graph
                    else "A backward pass cannot start from some outputs of"
                )
            )
        for place, end in enumerate(group.ends):
            if isinstance(end, Token):
                found[place] = g[group.outputs.index(end.output)]
        return tuple(group.marked(key, found))

    def _again(self, given: tuple[Tensor, ...], position: Any) -> dict[int, Tensor]:
        """Return the outputs of an eager call, by number; undo what else it does."""
        before = Snapshot(World(self._captured, [*given]).roots())
        try:
            if position:
                default_generator.numpy.bit_generator.state = position
            for store, place in self._captured.carried:
                store.put(given[place])
            args, kwargs = rebuilt(self._call, lambda x: given[x] if type(x) is _Place else x)
            with enable_grad():
                result = self._captured.given(self._function(*args, **kwargs), given)
        finally:
            before.restore()
        return found_in(self._captured.program.results, result)


def _left(group: Group, outputs: dict[int, Tensor]) -> dict[Use, Edge]:
    """Return the uses that passes leave to leads, in the graph of one call."""
    found: dict[Use, Edge] = {}
    for output, goes_to in group.left.items():
        ends = {edge for o in goes_to if (edge := edge_of(outputs[o.number]))}
        start = edge_of(outputs[output.number])
        assert start is not None  # it requires grad
        found |= uses_of(start, ends)
    return found


def _once(
    found: Sequence[Tensor | None], expected: Sequence[Any], ends: Sequence[Any], reached: set[int]
) -> tuple[list[Tensor | None], list[Any]]:
    """Return gradients with one for each end, where a pass goes to it first.

    A program may have several gradients of one end.
    """
    first: dict[Any, int] = {}
    for place, end in enumerate(ends):
        if end and place in reached:
            first.setdefault((id(end[0]), end[1]), place)
    places = [end and first.get((id(end[0]), end[1])) for end in ends]
    once = [x if places[i] == i else None for i, x in enumerate(found)]
    totals: list[Any] = [None] * len(ends)
    for at, x in zip(places, expected, strict=True):
        if at is not None and x is not None and x is not UNREACHED:
            totals[at] = x if totals[at] is None else totals[at] + x
    return once, totals


def _are_close(found: Sequence[Tensor | None], expected: Sequence[Any]) -> bool:
    """Return whether gradients are the same but for rounding: recorded formulas round otherwise.

    Small gradients may be nothing but rounding, so what counts is the largest.
    """
    every = [*zip(found, expected, strict=True)]
    if any(b is None if a is not None else b is not None and np.any(b) for a, b in every):
        return False
    pairs = [(a._array, np.asarray(b)) for a, b in every if a is not None]
    least = 1e-3 * max((float(np.max(np.abs(b), initial=0)) for _, b in pairs), default=0.0)
    return all(np.allclose(a, b, 1e-2, least, equal_nan=True) for a, b in pairs)
