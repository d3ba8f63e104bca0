"""The search for the operation that produced the first NaN or infinity of a repeated step.

Core reports each operation and each node of a backward pass to the search, as to the recorder of
graphs. The search keeps those whose results are not finite, and traces them back from the loss to
an operation with finite inputs. An intended infinity, such as the -inf of an attention mask, is not
the culprit until an operation turns it into NaN.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import numpy as np

from tinynet import nn
from tinynet.autograd.anomaly import INCOMING, hint_of, values_at
from tinynet.board.graphs.watch import arrays_of, arrived_at, saved_values
from tinynet.core.callsite import Site, here, is_outside, locate
from tinynet.core.declaration.operation import REGISTRY
from tinynet.core.graph.engine import BackwardObserver, observing_backward
from tinynet.core.graph.node import Node
from tinynet.core.modes import mode
from tinynet.core.trace import observing, path_of
from tinynet.dtypes import Array
from tinynet.train.incidents.suspects import (
    FINITE,
    INFINITE,
    NAN,
    Suspect,
    Values,
    badness,
    first_bad,
    hint_for,
)

_ROWS = 10  # rows of a batch to name


@dataclass(frozen=True, eq=False)
class _Ran:
    """An operation with a result that is not finite."""

    when: int
    inputs: list[Array]
    constants: int
    worst_input: int
    outputs: list[Array]
    badness: int
    suspect: Suspect


class Search(BackwardObserver):
    """Observes one step.

    Args:
        model: the model, for the names of parameters and buffers.
        batch: the arrays of the batch by name.
        rows: the number of examples in each batch of the step.
    """

    def __init__(self, model: nn.Module, batch: Mapping[str, Array], rows: Sequence[int]) -> None:
        self._rows = rows
        named = [*model.named_parameters(), *model.named_buffers()]
        self._weights = {id(t._array): (name, t._array) for name, t in named}
        self._batch = {id(array): (name, array) for name, array in batch.items()}
        self._made: dict[int, list[_Ran]] = {}  # by the id of an output
        self._count = 0
        self._kept: list[_Ran] = []  # keeps the arrays alive, so that no id is reused
        self._backward: list[Suspect] | None = None
        self._depth = 0  # of backward passes
        self.batches = 0
        """The number of batches whose backward pass has begun."""

        self._outer: Site | None = None

    @contextlib.contextmanager
    def started(self) -> Iterator[None]:
        """Return a context that observes everything inside."""
        self._outer = here()
        with observing(self._ran), observing_backward(self):
            yield

    def suspects(self, loss: Array | None) -> list[Suspect]:
        """Return the culprit and related operations; an empty list if none was found.

        Args:
            loss: the loss if it is not finite; None to search the backward pass.
        """
        if loss is None:
            return self._backward or []
        return self._trace_back(loss)

    # ---- forward --------------------------------------------------------------------------------

    def _ran(self, op: Any, inputs: Sequence[Array], outputs: Sequence[Array], rest: Any) -> None:
        """Record an operation; see `core.declaration.observers.observing`."""
        if self._depth:
            return
        made = arrays_of(outputs)
        worst = max(map(badness, made), default=FINITE)
        self._count += 1
        if not worst:
            return
        given = [*arrays_of(inputs)]
        if op.writes:  # the first input is the written array, in its later state
            before = self._maker(given[0], self._count)
            known = id(given[0]) in self._batch or id(given[0]) in self._weights
            given = given[1:]
            if before is not None or known:
                given += before.outputs if before is not None else [made[0]]
        constants = _worst_constant(rest)
        worst_input = max([constants, *map(badness, given)])
        suspect = self._suspect(op, given, made, rest, constants)
        ran = _Ran(self._count, given, constants, worst_input, made, worst, suspect)
        self._kept.append(ran)
        for array in made:
            self._made.setdefault(id(array), []).append(ran)

    def _suspect(
        self, op: Any, inputs: list[Array], outputs: list[Array], rest: Any, constants: int
    ) -> Suspect:
        """Describe an operation, while its arrays are unchanged."""
        named = dict(zip(self._names(op, inputs, rest), inputs, strict=True))
        bad = next(array for array in outputs if badness(array))
        place = first_bad(bad)
        pointwise = getattr(op, "kind", "") == "pointwise"
        values = values_at(named, bad.shape, place) if pointwise else {}
        values |= {name: rest[name] for name in getattr(op, "tensors", ()) if name in rest}
        rows, count = self._rows_of(bad)
        return Suspect(
            "constant" if constants else "forward",
            op.title,
            path_of(mode.scope),
            locate(self._line()),
            [Values.of(name, array) for name, array in named.items()],
            Values.of("", bad),
            [*place],
            {name: f"{value:.6g}" for name, value in values.items()},
            rows,
            count,
            hint_for(op.title, named, bad, values),
        )

    def _names(self, op: Any, inputs: list[Array], rest: Mapping[str, Any]) -> list[str]:
        """Return the names of the inputs, with those of parameters and buffers."""
        names = [name for name in getattr(op, "tensors", ()) if name not in rest]
        if len(names) != len(inputs):
            names = [f"input {number}" for number in range(len(inputs))]
        return [
            f"{name} ({known})" if (known := self._weight(array)) else name
            for name, array in zip(names, inputs, strict=True)
        ]

    def _weight(self, array: Array) -> str:
        """Return the name of the parameter or buffer that an array is, or views; "" if none."""
        for found in (array, array.base):
            name, own = self._weights.get(id(found), ("", None))
            if own is found and own is not None:
                return name
        return ""

    def _line(self) -> Site | None:
        """Return the innermost line of the user's code in this step, or None."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not repeat_step.__code__:
            if is_outside(frame.f_code.co_filename):
                return frame.f_code, frame.f_lasti
            frame = frame.f_back
        return None

    def _rows_of(self, array: Array) -> tuple[list[int], int]:
        """Return the rows that are not finite, if the first dimension is that of the batch."""
        batch = min(self.batches - (self._depth > 0), len(self._rows) - 1)
        if array.ndim == 0 or len(array) != self._rows[batch]:
            return [], 0
        bad = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(1))
        return bad[:_ROWS].tolist(), len(bad)

    # ---- tracing back ---------------------------------------------------------------------------

    def _maker(self, array: Array, before: int) -> _Ran | None:
        """Return the last operation or write before a time that produced an array, or None."""
        found = [ran for ran in self._made.get(id(array), ()) if ran.when < before]
        if found or array.base is None:
            return found[-1] if found else None
        sharing = [  # writes to other views of the same memory
            ran
            for ran in self._kept
            if ran.when < before and any(np.may_share_memory(array, a) for a in ran.outputs)
        ]
        return sharing[-1] if sharing else None

    def _trace_back(self, array: Array) -> list[Suspect]:
        """Trace an array back to its first non-finite origin, and what turned that into NaN."""
        before, turned = self._count + 1, None
        while True:
            ran = self._maker(array, before)
            if ran is None:
                return self._input_suspects(array, turned)
            before = ran.when
            worst = max(map(badness, ran.inputs), default=FINITE)
            if ran.badness == NAN and max(worst, ran.constants) != NAN:
                turned = ran.suspect
            if worst == FINITE or ran.constants > worst:
                return self._operation_suspects(ran, turned)
            array = next(a for a in ran.inputs if badness(a) == worst)

    def _operation_suspects(self, ran: _Ran, turned: Suspect | None) -> list[Suspect]:
        """Return the suspects if the trace ends at an operation with finite inputs."""
        if turned is None or turned is ran.suspect:
            return [ran.suspect]
        if ran.constants:  # an intended infinity: first what turned it into NaN
            return [turned, replace(ran.suspect, role="from")]
        return [ran.suspect, replace(turned, role="then")]

    def _input_suspects(self, array: Array, turned: Suspect | None) -> list[Suspect]:
        """Return the suspects if the trace ends at an array that no operation produced."""
        for kind, arrays in (("batch", self._batch), ("weights", self._weights)):
            for name, known in arrays.values():
                if known is array or (array.base is not None and np.may_share_memory(known, array)):
                    rows, count = self._rows_of(known) if kind == "batch" else ([], 0)
                    values = Values.of(name, known)
                    found = Suspect(
                        kind,
                        name,
                        output=values,
                        place=[*first_bad(known)],
                        rows=rows,
                        count=count,
                    )
                    is_intended = kind == "weights" and not values.nans
                    if turned is None:
                        return [found]
                    if is_intended:
                        return [turned, replace(found, role="from")]
                    return [found, replace(turned, role="then")]
        found = Suspect("elsewhere", "", output=Values.of("", array), place=[*first_bad(array)])
        user = next((r.suspect for r in self._kept if any(a is array for a in r.inputs)), None)
        later = turned or user
        return [found] if later is None else [found, replace(later, role="then")]

    # ---- backward -------------------------------------------------------------------------------

    def began(self, backward_pass: Any) -> None:
        """Implement `BackwardObserver`."""
        self.batches += self._depth == 0 and self._backward is None
        self._depth += 1

    def ended(self, backward_pass: Any) -> None:
        """Implement `BackwardObserver`."""
        self._depth -= 1

    def visit(self, backward_pass: Any, node: Node, go: Callable[[Node], None]) -> None:
        """Implement `BackwardObserver`."""
        if self._backward is not None:
            go(node)
            return
        pending = backward_pass.pending.get(node)
        incoming = _gradients(pending if isinstance(pending, list) else [pending])
        saved = {name: a for name, v in saved_values(node).items() for a in arrays_of([v])}
        go(node)
        for number, edge in enumerate(node.edges):
            for left in _gradients([None if edge is None else arrived_at(backward_pass, edge)]):
                if not badness(left):
                    continue
                self._backward = self._by_node(node, number, incoming, saved, left)
                return

    def _by_node(
        self, node: Node, number: int, incoming: list[Array], saved: dict[str, Array], left: Array
    ) -> list[Suspect]:
        """Return the suspects of a backward node: it, and the origin of a bad saved value."""
        names = [INCOMING, *(f"{INCOMING} {i}" for i in range(1, len(incoming)))]
        sources = {**dict(zip(names, incoming, strict=False)), **saved}
        place = first_bad(left)
        values = (
            values_at(sources, left.shape, place) if type(node).__name__ in _pointwise() else {}
        )
        rows, count = self._rows_of(left)
        of = node.inputs[number] if number < len(node.inputs) else f"input {number}"
        site = node.site if node.site != self._outer else None
        suspect = Suspect(
            "backward",
            node.name(),
            path_of(getattr(node, "scope", None)),
            locate(site),
            [Values.of(name, array) for name, array in sources.items()],
            Values.of(f"the gradient of {of}", left),
            [*place],
            {name: f"{value:.6g}" for name, value in values.items()},
            rows,
            count,
            hint_of(sources, values),
        )
        bad = next((array for array in saved.values() if badness(array)), None)
        if bad is None:
            return [suspect]
        return [suspect, *(replace(s, role="from") for s in self._trace_back(bad)[:1])]


def _gradients(values: Iterable[Any]) -> list[Array]:
    """Return gradients as arrays; a 0-d one may be a numpy scalar."""
    return arrays_of(np.asarray(v) if isinstance(v, np.generic) else v for v in values)


def _pointwise() -> set[str]:
    """Return the names of the nodes of pointwise operations."""
    return {op.node_name for op in REGISTRY.values() if op.kind == "pointwise"}


def _worst_constant(attributes: Mapping[str, Any]) -> int:
    """Return the worst badness among the numeric arguments of an operation."""
    numbers = [v for value in attributes.values() for v in _numbers(value)]
    return max((NAN if math.isnan(n) else INFINITE for n in numbers), default=FINITE)


def _numbers(value: Any) -> Iterable[float]:
    if isinstance(value, float) and not math.isfinite(value):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item)


def repeat_step(step: Callable[[], Array | None]) -> Array | None:
    """Run a step. `Search` recognizes the frames of the step by this function."""
    return step()
