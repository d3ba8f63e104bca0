"""The tensors that a captured function made and returned: what a replay has to make again."""

from __future__ import annotations

import itertools
from typing import Any

from tinynet.capture.guard.holdings import contents, is_a
from tinynet.capture.guard.returned import Path
from tinynet.capture.program import CaptureError, Value, rebuilt, same
from tinynet.capture.record.recorder import Recorder
from tinynet.core.graph.node import Node
from tinynet.core.graph.views import MULTIPLE, requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import INFERENCE, Version

READ_OUTSIDE = "return the tensor, and read it outside of the function"


class Output:
    """A tensor that a program makes and returns, or the base of one.

    Attributes:
        number: its place in the order in which they are made.
        value: its array; None for a view, which its view operations make.
        base, steps: of a view, the tensor that it is a view of, and the view operations.
        behind: of a view, the number of writes since it was made.
        counter: the tensor from outside, or the output, whose versions it shares.
        writes: of its own versions: line, name and number of each.
        tensor: the tensor itself, until the program is ready.
    """

    __slots__ = ("base", "behind", "counter", "number", "steps", "tensor", "value", "writes")

    def __init__(self, number: int, t: Tensor):
        self.number = number
        self.tensor: Tensor | None = t
        self.value: Value | None = None
        self.base: Any = None
        self.steps: Any = ()
        self.behind = 0
        self.counter: Any = None
        self.writes: list[tuple[Any, ...]] = []


class Reading:
    """What a method of an output gives, a number or lists of numbers, and the function returns."""

    def __init__(self, output: Any, method: str):
        self.output, self.method = output, method

    @property
    def value(self) -> Value | None:
        """The array of the output."""
        value: Value | None = self.output.value
        return value


def with_readings(result: Any, readings: list[tuple[Path, Reading]]) -> Any:
    """Return a result with readings where they stand.

    Raises:
        CaptureError: something else stands there.
    """
    for path, reading in readings:
        result = _replaced(result, path, reading)
    return result


def _replaced(part: Any, path: Path, reading: Reading) -> Any:
    if not path:
        number = getattr(reading.output, reading.method)()
        if type(part) is type(number) and repr(part) == repr(number):
            return reading
        raise CaptureError(f"{reading.method}() reads values of a tensor", READ_OUTSIDE)
    parts = [*part.values()] if type(part) is dict else [*part]
    parts[path[0]] = _replaced(parts[path[0]], path[1:], reading)
    return dict(zip(part, parts, strict=True)) if type(part) is dict else type(part)(parts)


class Results:
    """The results of one capture.

    Args:
        recorder: what recorded the function.
        result: what the function returned.

    Attributes:
        structure: the result with an ``Output`` in place of each tensor that the function made,
            and the ``Handle`` of each argument.
        outputs: in the order in which a replay makes them.
    """

    def __init__(self, recorder: Recorder, result: Any):
        self.recorder = recorder
        self.outputs: list[Output] = []
        self._found: dict[int, Output] = {}
        self._counters: dict[int, Any] = {}
        existing = zip(recorder.outside.tensors, recorder.outside.tensors, strict=True)
        for holder, t in itertools.chain(recorder.arguments(), existing):
            if t._counter is not None:
                self._counters.setdefault(id(t._counter), holder)
        self.structure = rebuilt(result, self._of)

    def _of(self, leaf: Any) -> Any:
        if is_a(leaf, Reading):
            return Reading(self._of(leaf.output), leaf.method)
        if not is_a(leaf, Tensor):
            return self.recorder.constant(leaf)
        outside = self.recorder.outside_form(leaf)
        if outside is not None:
            return outside
        if id(leaf) not in self._found:
            self._found[id(leaf)] = self._described(leaf)
        return self._found[id(leaf)]

    def _described(self, t: Tensor) -> Output:
        if type(t) is not Tensor:
            raise CaptureError(
                f"the function returns a {type(t).__name__}, a subclass of Tensor",
                "return a plain tensor: `x.as_subclass(tn.Tensor)`",
            )
        if t._hooks is not None or t._grad is not None or t.__dict__:
            raise CaptureError(
                "the function returns a tensor that has hooks, a gradient or attributes",
                "return its gradient instead, or set hooks and attributes outside",
            )
        view = t._view
        if view is not None and t._counter is not INFERENCE:
            steps = view.steps()
            _check_view(t, steps)
            base, done = self._nearest(view.base, steps)
            output = self._add(t)
            output.base, output.steps = base, steps[done:]
            output.behind = t._counter.count - int(view.at) if t._counter is not None else 0
            return output
        if t._counter is INFERENCE and not mode.inference:
            raise CaptureError(
                "the function returns a tensor that it made in inference mode",
                "call it in inference mode, or use tn.no_grad() inside",
            )
        value = self.recorder.value(t._array)
        if self.recorder.is_passed(t._array):
            raise CaptureError(
                "the function returns a tensor that shares the memory of an array of numpy",
                "return a copy: `tn.tensor(array)`",
            )
        output = self._add(t)
        output.value = value
        if view is not None:
            raise CaptureError("the function returns a view", "return a copy: `x.clone()`")
        if t.requires_grad and t._edge is None:
            raise CaptureError("the function returns a new leaf", "make it outside")
        if t._counter is not None and t._counter is not INFERENCE:
            self._count(output, t._counter)
        return output

    def _count(self, output: Output, counter: Version) -> None:
        """Note whose versions an output shares, or the writes to it."""
        output.counter = self._counters.setdefault(id(counter), output)
        if output.counter is not output:
            return
        output.counter = None
        output.writes = [write[:4] for write in getattr(counter, "writes", ())]
        if len(output.writes) != counter.count or hasattr(counter, "reshaped"):
            raise CaptureError(
                "the function returns a tensor that it wrote to many times",
                "return a copy: `x.clone()`",
            )

    def _nearest(self, base: Tensor, steps: Any) -> tuple[Any, int]:
        """Return the base of a view, or an argument that is a view of it on the way there, and
        the number of steps to it."""
        found = 0, self._of(base)
        for holder, t in self.recorder.arguments():
            if t._view is not None and t._view.base is base:
                taken = t._view.steps()
                inside = found[0] < len(taken) < len(steps)
                if inside and same(taken, steps[: len(taken)]):
                    found = len(taken), holder
        return found[1], found[0]

    def _add(self, t: Tensor) -> Output:
        output = Output(len(self.outputs), t)
        self.outputs.append(output)
        return output


def _check_view(t: Tensor, steps: Any) -> None:
    """Refuse a view that its view operations on its base would not make again."""
    view = t._view
    origin = view.origin
    repeated = (
        origin is None
        or (origin == MULTIPLE and bool(mode.grad) and steps[-1][0].many)
        or (not mode.grad and origin == "no_grad")
    )
    made, before = view.base, (mode.grad, mode.tracer)
    mode.grad, mode.tracer = False, None
    try:
        for op, args in steps:
            made = op.function(made, *args[1:])[args[0]] if op.many else op.function(made, *args)
    except Exception:
        repeated = False
    finally:
        mode.grad, mode.tracer = before
    alike = _layout(made) == _layout(t) and requires_grad(t) == requires_grad(view.base)
    counter: Any = t._counter  # a view has one
    invalid = origin is not None and int(view.at) != counter.count
    if not repeated or invalid or view.leaf or not alike or _is_hooked(t, len(steps)):
        raise CaptureError(
            "the function returns a view with hooks, made without recording, or changed since",
            "return a copy: `x.clone()`",
        )


def _is_hooked(t: Tensor, steps: int) -> bool:
    """Return whether a view, or one that it was made of, has hooks."""
    edge = t._edge
    for _ in range(steps):
        if not edge or not isinstance(edge[0], Node):
            return False
        if edge[0].hooks is not None:
            return True
        edge = edge[0].edges[0] if edge[0].edges else None
    return False


def _layout(t: Tensor) -> tuple[Any, ...]:
    array = t._array
    return array.shape, array.strides, array.dtype, array.ctypes.data


def found_in(structure: Any, result: Any) -> dict[int, Tensor]:
    """Return the outputs in the result of a call by their number.

    Args:
        structure: the result of the program, with outputs in place of tensors.
        result: what the call returned.
    """
    if is_a(structure, Output):
        if structure.value is not None:
            return {structure.number: result}
        return found_in(structure.base, result._view.base)
    if not is_a(structure, tuple | list | dict):
        return {}
    parts = zip(contents(structure), contents(result), strict=True)
    return {number: t for part in parts for number, t in found_in(*part).items()}


def rewritten(writes: Any) -> Version:
    """Return a counter of writes that happened."""
    version = Version()
    version.n = 0
    for site, what, _, producer in writes:
        version.bump(site, what, producer)
    return version
