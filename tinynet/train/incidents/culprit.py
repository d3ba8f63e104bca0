"""The search for the operation that produced the first NaN or infinity of a repeated step.

Core reports each operation and each node of a backward pass to the search, as to the recorder of
graphs. The search keeps those whose results are not finite, and traces them back from the loss to
an operation with finite inputs. An intended infinity, such as the -inf of an attention mask, is not
the culprit until an operation turns it into NaN. The results form the messages.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np

from tinynet import dtypes, nn
from tinynet.autograd.anomaly import INCOMING, hint_of, values_at
from tinynet.board.graphs.watch import arrays_of, arrived_at, saved_values
from tinynet.core.callsite import Location, Site, here, is_outside, locate
from tinynet.core.declaration.operation import REGISTRY
from tinynet.core.graph.engine import BackwardObserver, observing_backward
from tinynet.core.graph.node import Node
from tinynet.core.messages import row
from tinynet.core.modes import mode
from tinynet.core.trace import observing, path_of
from tinynet.dtypes import Array

# ---- hints --------------------------------------------------------------------------------------
# Advice on operations that produce NaN or infinity from finite numbers.


LARGE = 1e15  # larger than any number in a network that learns
_LOGARITHMS = {"log", "log2", "log10", "xlogy"}
_DIVISIONS = {"div", "truediv", "reciprocal", "rsqrt", "floor_divide", "remainder", "fmod"}
_ROOTS = {"sqrt", "rsqrt"}
_EXPONENTIALS = {"exp", "exp2", "expm1", "sinh", "cosh"}
_NORMALISED = {"softmax", "log_softmax", "logsumexp", "_softmax", "_log_softmax"}


def hint_for(
    name: str, inputs: Mapping[str, Array], output: Array, values: Mapping[str, float]
) -> str:
    """Return advice as a clause; "" if there is none.

    Args:
        name: the name of the operation.
        inputs: the inputs by name.
        output: the output.
        values: the known input values at the first element that is not finite.
    """
    if name in _NORMALISED and any(np.isneginf(array).any() for array in inputs.values()):
        return (
            "a row of only -inf (fully masked) has no softmax: keep one element of each row, "
            "or use a large negative number in place of -inf"
        )
    if _largest(inputs) > LARGE:
        return (
            "the numbers had already become huge: try a smaller optimizer.lr, optimizer.clip_norm, "
            "a warm-up, or inputs with a mean near 0 and a spread near 1"
        )
    given = next(iter(values.values()), 1.0)
    if name in _LOGARITHMS:
        return "log of 0 is -inf, of less NaN: use `x.clamp(min=1e-12).log()`, or log_softmax"
    if name in _ROOTS and given < 0:
        return "a negative number has no square root: use `x.clamp(min=0).sqrt()`"
    if name in _DIVISIONS:
        return "a division by 0: add a small number to the divisor, or `clamp` it away from 0"
    if name in _EXPONENTIALS:
        most = np.log(np.finfo(output.dtype).max)
        return (
            f"{name} of more than {most:.4g} is too large for {output.dtype}: log_softmax, "
            "logsumexp and the losses that take logits do not overflow"
        )
    return ""


def _largest(inputs: Mapping[str, Array]) -> float:
    with np.errstate(invalid="ignore"):
        return max(
            (float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in inputs.values()), default=0.0
        )


# ---- suspects -----------------------------------------------------------------------------------


FINITE, INFINITE, NAN = 0, 1, 2


def _badness(array: Array) -> int:
    """Return FINITE, INFINITE or NAN: the worst value in an array."""
    if array.dtype.kind not in "fc" or np.isfinite(array).all():
        return FINITE
    return NAN if np.isnan(array).any() else INFINITE


@dataclass(frozen=True)
class Values:
    """A summary of the values of an array."""

    name: str
    dtype: str
    shape: list[int]
    low: float | None
    """The smallest finite value; None if there is none."""

    high: float | None
    nans: int = 0
    infinities: int = 0

    @classmethod
    def of(cls, name: str, array: Array) -> Values:
        """Return the summary of an array."""
        finite = array[np.isfinite(array)] if dtypes.is_floating(array.dtype) else array
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (None, None)
        nans = int(np.isnan(array).sum()) if dtypes.is_floating(array.dtype) else 0
        infinities = array.size - finite.size - nans
        return cls(name, str(array.dtype), [*array.shape], low, high, nans, infinities)

    def __str__(self) -> str:
        """Such as ``x float32 [2, 3] from 0 to 1, with 2 NaN``."""
        text = f"{self.name} {self.dtype} {self.shape}".strip()
        if self.low is not None and self.high is not None:
            text += f" from {self.low:.6g} to {self.high:.6g}"
        counts = [f"{n} {what}" for n, what in ((self.nans, "NaN"), (self.infinities, "inf")) if n]
        return f"{text}, with {' and '.join(counts)}" if counts else text


@dataclass(frozen=True)
class Suspect:
    """An operation that produced a value that is not finite, or a tensor that held it."""

    kind: str
    """``"forward"`` and ``"backward"``: an operation; ``"constant"``: an operation that was passed
    the value; ``"batch"``, ``"weights"``: a tensor that held the value before the step;
    ``"elsewhere"``: a tensor that no operation produced."""

    name: str
    """The name of the operation or the tensor."""

    module: str = ""
    """The path of its module, starting with the class of the model."""

    line: Location | None = None
    """The line of the user's code, if known."""

    inputs: list[Values] = field(default_factory=list)
    output: Values | None = None
    place: list[int] = field(default_factory=list)
    """The index of the first element of the output that is not finite."""

    values: dict[str, str] = field(default_factory=dict)
    """The values of the inputs at that index, if known."""

    rows: list[int] = field(default_factory=list)
    """The first affected rows of the batch, if known."""

    count: int = 0
    """The number of affected rows."""

    hint: str = ""
    role: str = "made"
    """``"made"`` for the first suspect; ``"then"`` or ``"from"`` for a later or earlier one."""

    def lines(self) -> list[str]:
        """Return the lines of the message."""
        if self.kind in ("batch", "weights", "elsewhere"):
            return self._lines_of_tensor()
        what = f"by {self.name}{f' in {self.module}' if self.module else ''}"
        if self.kind == "backward" and self.line is not None:
            what += ", the derivative of this line"
        lines = row(self.role, self.line, what)
        lines += [f"  {'inputs' * (not i):<8} {values}" for i, values in enumerate(self.inputs)]
        lines.append(f"  {'output':<8} {self.output}; the first at {self.place}{self._from()}")
        return lines

    @property
    def brief(self) -> str:
        """A clause, such as ``made by log in Net.head``."""
        if self.kind in ("batch", "weights", "elsewhere"):
            of = {"batch": "of the batch", "weights": "of the model", "elsewhere": "a tensor"}
            return f"it was in {self.name} {of[self.kind]}".replace("  ", " ")
        return f"made by {self.name}{f' in {self.module}' if self.module else ''}"

    def _from(self) -> str:
        if not self.values:
            return ""
        return ", from " + ", ".join(f"{name} = {value}" for name, value in self.values.items())

    def _lines_of_tensor(self) -> list[str]:
        label = "origin" if self.role == "made" else self.role
        what = {
            "batch": f"the batch: {self.name} had it already, the first at {self.place}",
            "weights": f"the model: {self.name} had it before the step",
            "elsewhere": "a tensor created outside the step (for example from numpy)",
        }[self.kind]
        lines = [f"  {label:<8} {what}"]
        if self.kind != "batch":  # always shown
            lines.append(f"  {'values':<8} {self.output}; the first at {self.place}")
        return lines

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> Suspect:
        """Return the suspect of a dict from `dataclasses.asdict`."""
        line, output = saved["line"], saved["output"]
        inputs = [Values(**values) for values in saved["inputs"]]
        return cls(
            **{
                **saved,
                "line": None if line is None else Location(*line),
                "inputs": inputs,
                "output": None if output is None else Values(**output),
            }
        )


def _first_bad(array: Array) -> tuple[int, ...]:
    """Return the index of the first element that is not finite."""
    return tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])


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
        worst = max(map(_badness, made), default=FINITE)
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
        worst_input = max([constants, *map(_badness, given)])
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
        bad = next(array for array in outputs if _badness(array))
        place = _first_bad(bad)
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
        """Return the names of the inputs, parameters and buffers."""
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
        """Return the rows that are not finite, if the first dimension is the batch."""
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
            worst = max(map(_badness, ran.inputs), default=FINITE)
            if ran.badness == NAN and max(worst, ran.constants) != NAN:
                turned = ran.suspect
            if worst == FINITE or ran.constants > worst:
                return self._operation_suspects(ran, turned)
            array = next(a for a in ran.inputs if _badness(a) == worst)

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
                        place=[*_first_bad(known)],
                        rows=rows,
                        count=count,
                    )
                    is_intended = kind == "weights" and not values.nans
                    if turned is None:
                        return [found]
                    if is_intended:
                        return [turned, replace(found, role="from")]
                    return [found, replace(turned, role="then")]
        found = Suspect("elsewhere", "", output=Values.of("", array), place=[*_first_bad(array)])
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
                if not _badness(left):
                    continue
                self._backward = self._by_node(node, number, incoming, saved, left)
                return

    def _by_node(
        self, node: Node, number: int, incoming: list[Array], saved: dict[str, Array], left: Array
    ) -> list[Suspect]:
        """Return the suspects of a backward node: it, and the origin of a bad saved value."""
        names = [INCOMING, *(f"{INCOMING} {i}" for i in range(1, len(incoming)))]
        sources = {**dict(zip(names, incoming, strict=False)), **saved}
        place = _first_bad(left)
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
        bad = next((array for array in saved.values() if _badness(array)), None)
        if bad is None:
            return [suspect]
        return [suspect, *(replace(s, role="from") for s in self._trace_back(bad)[:1])]


def _gradients(values: Iterable[Any]) -> list[Array]:
    """Return gradients as arrays; a 0-d one may be a numpy scalar."""
    return arrays_of(np.asarray(v) if isinstance(v, np.generic) else v for v in values)


def _pointwise() -> set[str]:
    """Return the names of the nodes of pointwise operations."""
    return {op.node_name for op in [*REGISTRY.values()] if op.kind == "pointwise"}


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
