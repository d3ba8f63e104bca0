"""Fusion: replace runs of calls that have native forms by calls of one native function each."""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.capture.native import choices
from tinynet.capture.native import forms as forms  # declares forms
from tinynet.capture.native import images as images  # declares forms
from tinynet.capture.native.cache import Native, Takes, native_of
from tinynet.capture.native.channels_last import with_channels_last
from tinynet.capture.native.forms import ALONE, MIXED, find, is_reshape, with_kernels
from tinynet.capture.native.images import with_relu_in_norms
from tinynet.capture.native.optimizers import stepping
from tinynet.capture.native.writer import Writer, last_uses
from tinynet.capture.program import Call, Value, rebuilt
from tinynet.capture.source import LARGE, Source, compiled
from tinynet.core.graph.engine import store

LEAST = 2  # calls: fewer are not worth a native function for small arrays
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def fused(calls: list[Call], kept: list[Value], measured: bool = False) -> list[Call]:
    """Return a program with runs of calls replaced by calls of native functions.

    Args:
        calls: the program.
        kept: values that are needed after it.
        measured: replace only what takes longer by numpy, each by itself.
    """
    calls = delayed(calls)
    if not measured:
        calls = with_relu_in_norms(with_channels_last(calls, kept), kept)
    replaced = _fastest if measured else _replaced
    last = {v.number: at for at, call in enumerate(calls) for v in call.inputs()}
    last |= {v.number: len(calls) for v in kept}
    made: list[Call] = []
    run: list[Call] = []
    for at, call in enumerate([*calls, None]):
        if call is not None and is_native(call):
            run.append(call)
            continue
        later = {number for number, use in last.items() if use >= at}
        made += replaced(run, later)
        run = []
        if call is not None:
            made.append(with_kernels(stepping(call), measured))
    return made


def _replaced(run: list[Call], later: set[int]) -> list[Call]:
    """Return the calls that replace a run.

    Args:
        run: calls with native forms.
        later: the numbers of the values that are needed after them.
    """
    return _native(run, later) if _is_worth_it(run) else [*map(with_kernels, run)]


def _fastest(run: list[Call], later: set[int]) -> list[Call]:
    """Do the same, with native functions only for parts that take longer by numpy.

    A run that takes longer natively is divided.
    """
    made = _native(run, later) if _is_worth_it(run) else run
    if made is run:
        return [with_kernels(call, measured=True) for call in run]
    call = made[0]
    source, plain = call.function.native.source, call.function.by_numpy()  # type: ignore[attr-defined]
    if choices.is_faster(source, call.function, plain, call.args):
        return made
    if len(run) == 1:
        return run
    first, second = run[: len(run) // 2], run[len(run) // 2 :]
    needed = later | {v.number for call in second for v in call.inputs()}
    return _fastest(first, needed) + _fastest(second, later)


def delayed(calls: list[Call]) -> list[Call]:
    """Return the calls with gradients stored as late as possible: nothing computed reads them.

    They are stored before an operation of the forward pass, which may fail.
    """
    made: list[Call] = []
    waiting: list[Call] = []
    for call in calls:
        if call.function is store:
            waiting.append(call)
            continue
        may_fail = not call.node and not isinstance(call.function, np.ufunc)
        if call.kind in ("perform", "read") or may_fail:
            made, waiting = made + waiting, []
        made.append(call)
    return made + waiting


def kind_of(call: Call) -> np.dtype[Any] | None:
    """Return the dtype of a call's floating-point values; None if there are several."""
    kinds = {v.dtype for v in (*call.inputs(), *call.outputs()) if v.dtype and v.dtype.kind == "f"}
    if find(call) in MIXED:
        kinds.discard(FLOAT64)
    return kinds.pop() if len(kinds) == 1 and kinds <= {FLOAT32, FLOAT64} else None


def is_native(call: Call) -> bool:
    """Return whether a call has a native form."""
    form, kind = find(call), kind_of(call)
    if form is None or kind is None or not all(v.contiguous for v in call.outputs()):
        return False
    values = [*call.inputs(), *call.outputs()]
    if any(v.shape is None or v.dtype.kind not in "fibu" for v in values):
        return False
    if any(v.expanded and not v.contiguous for v in values):  # a copy would take more memory
        return False
    trial = Writer(kind, set(), last_uses([call]))
    return form(trial, call)


def _is_worth_it(run: list[Call]) -> bool:
    """Return whether a native function takes less time: one call does for large arrays."""
    if len(run) >= LEAST or any(find(call) in ALONE for call in run):
        return True
    return any(v.nbytes >= LARGE for call in run for v in (*call.inputs(), *call.outputs()))


def _native(run: list[Call], later: set[int]) -> list[Call]:
    """Return a call of a native function for a run of calls."""
    kinds = [kind_of(call) for call in run]
    views: list[Call] = []  # that are needed: made from what the native function returns
    for call in reversed(run):
        if is_reshape(call) and call.result.number in later:
            views.insert(0, call)
            later = later - {call.result.number} | {call.args[0].number}
    outputs = [v for call in run for v in call.outputs() if v.number in later]
    kind = kinds[0]
    if len({*kinds}) != 1 or not outputs or kind is None:
        return run
    return [Body(run, outputs, kind).call(), *views]


def _renumbered(run: list[Call]) -> tuple[list[Call], list[Value]]:
    """Return a run with its values numbered in their order, and the values that it had.

    Equal runs, such as the ones of equal layers, then have equal sources.
    """
    made: dict[int, Value] = {}
    originals: list[Value] = []

    def own(leaf: Any) -> Any:
        if not isinstance(leaf, Value):
            return leaf
        if leaf.number not in made:
            made[leaf.number] = copy.copy(leaf)
            made[leaf.number].number = len(originals)
            originals.append(leaf)
        return made[leaf.number]

    calls = [copy.copy(call) for call in run]
    for call in calls:
        call.args, call.kwargs = rebuilt(call.args, own), rebuilt(call.kwargs, own)
        call.result = rebuilt(call.result, own)
    return calls, originals


class Body:
    """A run of calls, written for a native function.

    Attributes:
        run: the calls.
        inputs, outputs: the values that the calls use, and those that they make for others.
        scratch: bytes of the arrays that only the native function sees.
        title: what it does, for people.
    """

    def __init__(self, run: list[Call], outputs: list[Value], kind: np.dtype[Any]):
        self.run, self.outputs, self._kind = run, outputs, kind
        self.title = f"{len(run)} calls from {run[0].title} to {run[-1].title}"
        calls, originals = _renumbered(run)
        self._numbers = {v.number: own for own, v in enumerate(originals)}
        writer = Writer(kind, {self._numbers[v.number] for v in outputs}, last_uses(calls))
        for at, call in enumerate(calls):
            writer.at = at
            form = find(call)
            assert form is not None
            form(writer, call)
        writer.at = len(calls)
        writer.flush()
        self._given, self.scratch = [originals[n] for n in writer.inputs], writer.scratch
        given = list(writer.inputs.values())
        self._takes: Takes = {
            self.name_of(v): (v.dtype.name, len(v.shape or ())) for v in (*self._given, *outputs)
        }
        # Only numpy may use an input, such as the logits for a gradient of cross-entropy.
        made = {v.number for call in run for v in call.outputs()}
        used = [v for call in run for v in call.inputs() if v.number not in made]
        self.inputs = [*{v.number: v for v in (*self._given, *used)}.values()]
        self._lines = [f"{name} = {text}" for text, name in writer.constants.items()]
        self._lines.append(f"one, zero = {kind.name}(1), {kind.name}(0)")
        self._lines += [f"s{v.number} = v{v.number}[()]" for v in given if v.shape == ()]
        self._lines += writer.lines

    def name_of(self, value: Value) -> str:
        """Return the name of a value in the native function."""
        return f"v{self._numbers[value.number]}"

    def native(
        self, takes: Takes | None = None, lines: Sequence[str] = (), title: str = ""
    ) -> Native:
        """Return the native function: it returns 0, or 1 if it does not take the data.

        Args:
            takes, lines: more arguments, and lines.
            title: what it does with these lines.
        """
        lines = [*self._lines, *lines, "return 0"]
        return native_of(title or self.title, self._takes | (takes or {}), lines)

    def allocate(self, space: dict[str, Any]) -> list[str]:
        """Return the lines that make the memory of the outputs; add the globals of the call."""
        space.update(empty=np.empty, contiguous=np.ascontiguousarray)
        for v in self.outputs:
            space[f"dtype{v.number}"] = v.dtype
        return [f"v{v.number} = empty({v.shape!r}, dtype{v.number})" for v in self.outputs]

    def given(self) -> str:
        """Return the arguments of the native function."""
        inputs = (
            f"v{v.number}" if v.contiguous else f"contiguous(v{v.number})" for v in self._given
        )
        return ", ".join([*inputs, *(f"v{v.number}" for v in self.outputs)])

    def call(self) -> Call:
        """Return the call of the Python function around the native function."""
        inputs = [f"v{v.number}" for v in self.inputs]
        given = ", ".join(inputs)
        made = [f"v{v.number}" for v in self.outputs]
        by_numpy = functools.cache(lambda: function_of(self.run, self.inputs, self.outputs))
        space: dict[str, Any] = {"by_numpy": by_numpy}  # written when it is needed
        lines = [*self.allocate(space), f"if native({self.given()}): return by_numpy()({given})"]
        lines.append(f"return {', '.join(made)}")
        native = self.native()
        native.put(space, "native")
        head = f"def fused({given}):"
        function = compiled("fused", "fused", [head, *(f"    {x}" for x in lines)], space)
        function.native, function.native_title = native, native.title
        function.natives, function.by_numpy = lambda: [native], by_numpy
        call = Call("compute", function, tuple(self.inputs), {}, self.run[0].site)
        function.body, call.members = self, self.run
        call.result = self.outputs[0] if len(made) == 1 else tuple(self.outputs)
        return call


def function_of(calls: list[Call], inputs: list[Value], outputs: list[Value]) -> Any:
    """Return the Python function of calls: by numpy, it takes all data, and may raise."""
    source = Source(calls, outputs)
    for value in inputs:
        source.outside(value)
    names = [source.define(v) for v in inputs]
    source.write()
    source.lines.append(f"return {', '.join(map(source.name, outputs)) or None}")
    lines = [f"def run({', '.join(names)}):", *(f"    {line}" for line in source.lines)]
    return compiled("fused, by numpy", "run", lines, source.namespace)
