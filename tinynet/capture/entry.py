"""Programs that are ready to run, behind their guards."""

from __future__ import annotations

import collections
import itertools
from typing import Any

import numpy as np

from tinynet.capture import guards
from tinynet.capture.capturing import Captured
from tinynet.capture.node import CompiledFunctionBackward
from tinynet.capture.program import Handle, Program, Value, leaves, rebuilt
from tinynet.capture.source import Source, compiled
from tinynet.core.tensors.tensor import wrap
from tinynet.core.tensors.views import edge_of


class _Stale:
    """What a program returns if its guards do not hold."""


STALE = _Stale()
DIAGNOSED = 100  # failures of guards of which the condition is looked for


class Entry:
    """A program that is ready to run.

    Attributes:
        run: maps the tensors that are passed to the results, or returns ``STALE``.
        backward: maps saved values and gradients of outputs to gradients; None if there are none.
        captured: what it was made from.
        conditions: its guards.
        replays: the number of calls that ran it.
        misses: the number of calls whose arguments fit it, but whose guards failed.
        failed: the conditions that failed at the first of these.
    """

    def __init__(self, title: str, captured: Captured):
        self.captured = captured
        self.backward: Any = None
        program, backward = captured.program, captured.backward
        saved = _saved(program, backward)
        outputs = [v for v in leaves(program.results) if isinstance(v, Value)]
        source = Source(program.calls, [*saved, *outputs])
        states = program.states + (backward.states if backward else [])
        for value in (*program.arguments, *(v for _, v in states), *saved, *outputs):
            source.outside(value)
        tensors = [t for t, _ in states]
        self.conditions = guards.conditions(source, captured.watcher, tensors)
        places = {v.number: place for place, v in reversed([*enumerate(program.arguments)])}
        names = ", ".join(f"A{place}" for place in range(len(program.arguments)))
        for place in places.values():
            value = program.arguments[place]
            source.lines.append(f"{source.define(value)} = A{place}._array")
        for t, value in program.states:
            source.lines.append(f"{source.define(value)} = {source.constant(t._array)}")
        source.namespace.update(wrap=wrap, STALE=STALE, make_node=CompiledFunctionBackward)
        source.write()
        self._results(source, saved, outputs)
        test = " and ".join(condition.text for condition in self.conditions) or "True"
        head = [
            f"def run({names}):",
            f"    try: fits = {test}",
            "    except (KeyError, ValueError): fits = False",
            "    if not fits: return STALE",
        ]
        body = [f"    {line}" for line in source.lines]
        self.run = compiled(title, "run", head + body, source.namespace)
        self.run.overwritten = source.overwritten
        self.namespace = source.namespace
        self.replays = self.misses = 0
        self.failed: collections.Counter[str] = collections.Counter()

    def missed(self) -> None:
        """Note that the guards failed, and which."""
        self.misses += 1
        if self.misses <= DIAGNOSED:
            failing = (c for c in self.conditions if not c.holds(self.namespace))
            self.failed.update(c.words for c in itertools.islice(failing, 1))

    def _results(self, source: Source, saved: list[Value], outputs: list[Value]) -> None:
        captured, lines = self.captured, source.lines
        made: dict[int, str] = {}
        for value in outputs:
            if value.number not in made:
                made[value.number] = f"o{value.number}"
                lines.append(f"o{value.number} = wrap({source.name(value)})")
        for which in ("differentiable", "spent"):
            values: list[Value] = getattr(captured, which)
            if not values:
                continue
            like = tuple(v.shape for v in values), tuple(v.dtype for v in values)
            run, kept, ends, held = "None", "()", "()", "()"
            if which == "differentiable":
                assert captured.backward is not None
                self.backward = _backward(captured.backward, saved)
                run = source.constant(self.backward)
                kept = f"({''.join(source.name(v) + ', ' for v in saved)})"
                ends = f"({''.join(self._end(source, end) + ', ' for end in captured.ends)})"
                held = self._held(source, saved, made)
            lines.append(
                f"node = make_node({run}, {kept}, {ends}, {source.constant(like)}, {held})"
            )
            for i, value in enumerate(values):
                lines.append(f"{made[value.number]}._edge = (node, {i})")
                lines.append(f"{made[value.number]}._requires_grad = True")
        results = rebuilt(captured.program.results, lambda leaf: _Text(leaf, made, source))
        lines.append(f"return {_text(results, source)}")

    def _end(self, source: Source, end: Any) -> str:
        source.namespace["edge_of"] = edge_of
        return f"edge_of(A{end})" if isinstance(end, int) else source.constant((end, 0))

    def _held(self, source: Source, saved: list[Value], made: dict[int, str]) -> str:
        """Return the tensors from outside, and outputs, of which values are saved."""
        program = self.captured.program
        numbers = {v.number for v in saved}
        names = [f"A{i}" for i, v in enumerate(program.arguments) if v.number in numbers]
        names += [source.constant(t) for t, v in program.states if v.number in numbers]
        names += [name for number, name in made.items() if number in numbers]
        return f"({''.join(name + ', ' for name in names)})"


class _Text:
    def __init__(self, leaf: Any, made: dict[int, str], source: Source):
        if isinstance(leaf, Value):
            self.text = made[leaf.number]
        elif isinstance(leaf, Handle):
            self.text = source.text(leaf)
        else:
            self.text = source.constant(leaf)


def _text(structure: Any, source: Source) -> str:
    if isinstance(structure, _Text):
        return structure.text
    kind = type(structure)
    if kind is dict:
        parts = (f"{k!r}: {_text(v, source)}" for k, v in structure.items())
        return f"{{{', '.join(parts)}}}"
    inner = "".join(_text(part, source) + ", " for part in structure)
    if kind is list:
        return f"[{inner}]"
    if kind is tuple:
        return f"({inner})"
    name = source.constant(kind)
    return f"{name}({inner})" if hasattr(structure, "_fields") else f"{name}(({inner}))"


def _saved(program: Program, backward: Program | None) -> list[Value]:
    """Return the values of the forward program that the backward program uses."""
    if backward is None:
        return []
    inside = {v.number for v in backward.arguments}
    inside |= {v.number for call in backward.calls for v in call.outputs()}
    inside |= {v.number for _, v in backward.states}
    used: dict[int, Value] = {}
    for call in backward.calls:
        used.update({v.number: v for v in call.inputs() if v.number not in inside})
    wanted = (v for v in leaves(backward.results) if isinstance(v, Value))
    used.update({v.number: v for v in wanted if v.number not in inside})
    return list(used.values())


def _backward(program: Program, saved: list[Value]) -> Any:
    """Return the function of the saved values and gradients of outputs."""
    wanted = [v for v in program.results if v is not None]
    source = Source(program.calls, wanted)
    for value in (*saved, *program.arguments, *(v for _, v in program.states)):
        source.outside(value)
    names = [source.define(v) for v in (*saved, *program.arguments)]
    for t, value in program.states:
        source.lines.append(f"{source.define(value)} = {source.constant(t._array)}")
    source.write()
    given = {v.memory for v in (*saved, *program.arguments, *(v for _, v in program.states))}
    texts, seen = [], set(given)
    for value in program.results:
        if value is None:
            texts.append("None")
        elif value.dtype is not None and (value.memory in seen or not value.whole):
            texts.append(f"copy({source.name(value)})")  # a leaf keeps what it gets
        else:
            texts.append(source.name(value))
            seen.add(value.memory)
    source.namespace["copy"] = np.array
    source.lines.append(f"return ({''.join(t + ', ' for t in texts)})")
    lines = [f"def run({', '.join(names)}):", *(f"    {line}" for line in source.lines)]
    run = compiled("backward", "run", lines, source.namespace)
    run.overwritten = source.overwritten
    return run
