"""Fusion: replace runs of calls that have native forms by calls of one native function each."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.capture.native import layers as layers  # declares forms
from tinynet.capture.native import library
from tinynet.capture.native.cache import Native
from tinynet.capture.native.eager_kernels import with_kernels
from tinynet.capture.native.forms import find, is_reshape
from tinynet.capture.native.optimizers import stepping
from tinynet.capture.native.writer import Writer, last_uses
from tinynet.capture.program import Call, Value
from tinynet.capture.source import Source, compiled
from tinynet.core.graph.engine import store

LEAST = 2  # calls: fewer are not worth a native function


def fused(calls: list[Call], kept: list[Value]) -> list[Call]:
    """Return a program with runs of calls replaced by calls of native functions.

    Args:
        calls: the program.
        kept: values that are needed after it.
    """
    calls = [with_kernels(stepping(call)) for call in delayed(calls)]
    needed = {v.number for v in kept}
    made: list[Call] = []
    run: list[Call] = []
    for at, call in enumerate([*calls, None]):
        if call is not None and is_native(call):
            run.append(call)
            continue
        later = needed | {v.number for c in calls[at:] for v in c.inputs()}
        made += _native(run, later) if len(run) >= LEAST else run
        run = []
        if call is not None:
            made.append(call)
    return made


def delayed(calls: list[Call]) -> list[Call]:
    """Return the calls with gradients stored as late as possible: nothing computed reads them."""
    made: list[Call] = []
    waiting: list[Call] = []
    for call in calls:
        if call.function is store:
            waiting.append(call)
            continue
        if call.kind in ("perform", "read"):
            made, waiting = made + waiting, []
        made.append(call)
    return made + waiting


def is_native(call: Call) -> bool:
    """Return whether a call has a native form."""
    form = find(call)
    values = [*call.inputs(), *call.outputs()]
    kinds = {v.dtype for v in values if v.dtype is not None and v.dtype.kind == "f"}
    if form is None or len(kinds) != 1 or not kinds <= {np.dtype("f4"), np.dtype("f8")}:
        return False
    if any(v.shape is None or not v.contiguous or v.dtype.kind not in "fib" for v in values):
        return False
    kind = kinds.pop()
    trial = Writer(kind, set(), last_uses([call]))
    return form(trial, call)


def _native(run: list[Call], later: set[int]) -> list[Call]:
    """Return a call of a native function for a run of calls."""
    kinds = [v.dtype for c in run for v in c.inputs() if v.dtype.kind == "f"]
    views: list[Call] = []  # that are needed: made from what the native function returns
    for call in reversed(run):
        if is_reshape(call) and call.result.number in later:
            views.insert(0, call)
            later = later - {call.result.number} | {call.args[0].number}
    outputs = [v for call in run for v in call.outputs() if v.number in later]
    if len(set(kinds)) != 1 or not outputs:
        return run
    writer = Writer(kinds[0], {v.number for v in outputs}, last_uses(run))
    for at, call in enumerate(run):
        writer.at = at
        form = find(call)
        assert form is not None
        form(writer, call)
    writer.at = len(run)
    writer.flush()
    inputs = list(writer.inputs.values())
    names = [f"v{v.number}" for v in (*inputs, *outputs)]
    kind = writer.kind.name
    lines = [f"def native({', '.join(names)}):"]
    lines += [f"    {name} = {text}" for text, name in writer.constants.items()]
    lines += [f"    one, zero = {kind}(1), {kind}(0)"]
    lines += [f"    s{v.number} = v{v.number}[()]" for v in inputs if v.shape == ()]
    lines += [f"    {line}" for line in writer.lines]
    lines.append("    return 0")
    space = {**library.namespace(), kind: np.dtype(kind).type}
    title = f"{len(run)} calls from {run[0].title} to {run[-1].title}"
    return [_call(run, Native(title, "native", lines, space), inputs, outputs), *views]


def _call(run: list[Call], native: Native, inputs: list[Value], outputs: list[Value]) -> Call:
    """Return the call of the Python function around a native function."""
    given = ", ".join(f"v{v.number}" for v in inputs)
    made = "".join(f"v{v.number}, " for v in outputs)
    space: dict[str, Any] = {
        "empty": np.empty,
        "otherwise": _otherwise(run, inputs, outputs),
    }
    lines = [f"def fused({given}):"]
    for i, v in enumerate(outputs):
        space[f"k{i}"] = v.dtype
        lines.append(f"    v{v.number} = empty({v.shape!r}, k{i})")
    lines.append(f"    failed = native({', '.join(f'v{v.number}' for v in (*inputs, *outputs))})")
    lines.append(f"    if failed: return otherwise({given})")
    lines.append(f"    return {made.rstrip(', ') if len(outputs) == 1 else f'({made})'}")
    native.put(space, "native")
    function = compiled("fused", "fused", lines, space)
    function.native_source = native.source
    call = Call("compute", function, tuple(inputs), {}, run[0].site)
    call.result = outputs[0] if len(outputs) == 1 else tuple(outputs)
    return call


def _otherwise(run: list[Call], inputs: list[Value], outputs: list[Value]) -> Any:
    """Return the function of numpy, for data that the native one does not take: it may raise."""
    source = Source(run, outputs)
    for value in inputs:
        source.outside(value)
    names = [source.define(v) for v in inputs]
    source.write()
    found = ", ".join(map(source.name, outputs))
    source.lines.append(f"return {found}" if len(outputs) == 1 else f"return ({found},)")
    lines = [f"def run({', '.join(names)}):", *(f"    {line}" for line in source.lines)]
    return compiled("fused, by numpy", "run", lines, source.namespace)
