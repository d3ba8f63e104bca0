"""Programs that are ready to run, behind their guards."""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet.capture import native
from tinynet.capture.guard import guards
from tinynet.capture.guard.guards import Condition
from tinynet.capture.guard.handlers import drawn
from tinynet.capture.guard.holdings import ABSENT, contents, is_a, of_class
from tinynet.capture.guard.keys import STALE, recognize_nothing
from tinynet.capture.node import CompiledFunctionBackward, CompiledOutputBackward, Passes
from tinynet.capture.program import Call, Handle, Program, Value, leaves
from tinynet.capture.record.capturing import Captured
from tinynet.capture.record.outputs import Output, Reading, rewritten
from tinynet.capture.record.pieces import Token
from tinynet.capture.record.probing import Group
from tinynet.capture.record.stores import Data
from tinynet.capture.rerun import Rerun
from tinynet.capture.source import Source, compiled
from tinynet.capture.verify.schedule import Schedule
from tinynet.core.explanations.failures import CALLS
from tinynet.core.graph.node import UNREACHED
from tinynet.core.graph.views import edge_of, set_data
from tinynet.core.tensors.tensor import Tensor, counter_of, wrap


class HandledError(Exception):
    """A replay failed where the user's code handles errors, before it changed anything."""


_NAMES = {
    "HandledError": HandledError,
    "STALE": STALE,
    "counter_of": counter_of,
    "drawn": drawn,
    "edge_of": edge_of,
    "make_node": CompiledFunctionBackward,
    "make_output": CompiledOutputBackward,
    "rewritten": rewritten,
    "set_data": set_data,
    "wrap": wrap,
}
NUMPY, NATIVE, MEASURED = "numpy", "llvm", "LLVM, where it is faster"  # backends
DIAGNOSED = 100  # failures of guards of which the condition is looked for


class Entry:
    """A program that is ready to run.

    Attributes:
        run: maps the tensors that are passed to the results, or returns ``STALE``.
        backend: what runs it: ``NUMPY``, ``NATIVE`` or ``MEASURED``.
        schedule: when it is verified.
        is_exact: its results are eager's to the bit.
        recognize: does it for all arguments, if they are like the capture's.
        backwards: backward passes from outputs that meet, each as a program and its function.
        captured: what it was made from.
        conditions: its guards.
        replays: the number of calls that ran it.
        successor: the native form that will take its place.
        untried: it is native, and whether numpy takes less time is to be found before it runs.
        outrun: its native form takes more time on this machine.
        number: counts the programs of the function from 0.
        misses: the number of calls whose arguments fit it, but whose guards failed.
        failed: the conditions that failed at the first of these.
    """

    def __init__(
        self, title: str, captured: Captured, backend: str, schedule: Schedule, rerun: Rerun
    ):
        # A native function could not stop between a call that fails and one that has effects.
        backend = NUMPY if captured.program.handled else backend
        self.captured, self.backend = captured, backend
        self.schedule, self.is_exact = schedule, backend == NUMPY
        self.successor: Any = None
        self.untried, self.outrun, self.number = backend == NATIVE, False, 0
        self.backwards: list[tuple[Program, Any]] = []
        self.recognize: Callable[[Any], Any] = recognize_nothing
        program = captured.program
        self._title, self._rerun = title, rerun
        draws = captured.draws and any(group.programs for group in captured.groups)
        self._position = "position" if draws else "None"
        self._saved = [_saved(program, group) for group in captured.groups]
        self._stored = program.results[1]
        self._given = [o.value for o in captured.outputs if o.value is not None]
        kept = [*self._given, *(value for saved in self._saved for value in saved)]
        calls = self._calls(program.calls, kept)
        source = Source(calls if self.is_exact else native.joined(calls, kept), kept)
        self._states = {v.number: (t, v) for p in captured.programs() for t, v in p.states}
        for value in (*program.arguments, *(v for _, v in self._states.values()), *kept):
            source.outside(value)
        tensors = [*{id(t): t for t, _ in self._states.values()}.values()]
        self._later = guards.later_conditions(source, captured)
        self.conditions = guards.conditions(source, captured, tensors) + self._later
        self._inputs(source)
        if draws:
            source.lines.append("position = drawn()")
        source.write(program.handled)
        self._results(source)
        self.run = self._function(title, source, calls)
        self.namespace = source.namespace
        self.replays = self.misses = 0
        self.failed: collections.Counter[str] = collections.Counter()

    def _inputs(self, source: Source) -> None:
        """Write what arguments and tensors from outside hold."""
        program = self.captured.program
        places = {v.number: place for place, v in reversed([*enumerate(program.arguments)])}
        for place in places.values():
            value = program.arguments[place]
            source.lines.append(f"{source.define(value)} = A{place}._array")
        for t, value in program.states:
            source.lines.append(f"{source.define(value)} = {source.constant(t._array)}")
        source.namespace.update(_NAMES)

    def _function(self, title: str, source: Source, calls: list[Call]) -> Any:
        """Return the function of the tensors that are passed, behind its guards."""
        count = len(self.captured.program.arguments)
        names = ", ".join([*(f"A{place}" for place in range(count)), "asked=False"])
        test = " and ".join(condition.text for condition in self.conditions) or "True"
        head = [
            f"def run({names}):",
            f"    try: fits = {test}",
            "    except Exception: fits = False",
            "    if asked or not fits: return None if fits else STALE",
        ]
        body = [f"    {line}" for line in _surrounded(source.lines, source.handled)]
        run = compiled(title, "run", head + body, source.namespace)
        run.overwritten = source.overwritten if self.is_exact else []
        run.calls, run.parts = calls, source.calls
        source.namespace[CALLS] = calls
        return run

    def _changed(self, source: Source) -> Callable[[], str | None]:
        """Return a function that says what the backward pass would read otherwise now, if any."""
        later = self._later
        test = " and ".join(condition.text for condition in later)
        lines = ["def holds():", f"    try: return {test}", "    except Exception: return False"]
        holds = compiled("backward", "holds", lines, source.namespace) if later else None

        def changed() -> str | None:
            if holds is None or holds():
                return None
            failing = (c.words for c in later if not c.holds(source.namespace))
            return next(failing, "a value")

        return changed

    def in_form(self, backend: str) -> Entry:
        """Return the same program as another backend runs it."""
        made = Entry(self._title, self.captured, backend, self.schedule, self._rerun)
        made.number, made.replays = self.number, self.replays
        made.misses, made.failed = self.misses, self.failed
        made.outrun = True
        return made

    def fits(self, tensors: list[Tensor]) -> bool:
        """Return whether the guards hold."""
        return self.run(*tensors, asked=True) is not STALE

    def missed(self, tensors: list[Tensor]) -> None:
        """Note that the guards failed, and which."""
        self.misses += 1
        if self.misses <= DIAGNOSED:
            self.failed.update(c.words for c in itertools.islice(self._failing(tensors), 1))

    def _failing(self, tensors: list[Tensor]) -> Iterator[Condition]:
        names = self.namespace | {f"A{i}": t for i, t in enumerate(tensors)}
        return (condition for condition in self.conditions if not condition.holds(names))

    def _calls(self, calls: list[Call], kept: list[Value]) -> list[Call]:
        """Return calls as the backend runs them."""
        if self.is_exact:
            return calls
        return native.fused(calls, kept, measured=self.backend == MEASURED)

    def _results(self, source: Source) -> None:
        captured, lines = self.captured, source.lines
        for output in captured.outputs:
            if output.value is not None:
                lines.append(f"o{output.number} = wrap({source.name(output.value)})")
        for output in captured.outputs:
            if output.counter is not None:
                shared = _tensor(output.counter, source)
                lines.append(f"o{output.number}._counter = counter_of({shared})")
            elif output.writes:
                writes = source.constant(output.writes)
                lines.append(f"o{output.number}._counter = rewritten({writes})")
        for place, value in self._new_data():
            lines.append(f"set_data(A{place}, wrap({source.name(value)}))")
        views = [o for o in captured.outputs if o.value is None]
        for group, saved in zip(captured.groups, self._saved, strict=True):
            for end in group.ends:
                if end in views:
                    self._view(source, views.pop(views.index(end)))
            kept = f"({''.join(source.name(v) + ', ' for v in saved)})"
            ends = f"({''.join(self._end(source, end) + ', ' for end in group.ends)})"
            held, places = self._held(source, group, saved)
            passes = None  # the function has freed what they need
            if group.programs:
                again = functools.partial(self._rerun.gradients, group)
                functions = self._backward(group, saved)
                passes = Passes(functions, group.frees, places, again, self._changed(source))
            self._node(source, group, source.constant(passes), kept, ends, held)
        for output in views:
            self._view(source, output)
        for store, part in zip(captured.stores, self._stored, strict=True):
            text = _text(part, source)
            if not is_a(store, Data):
                lines.append(f"{source.constant(store.module)}.{store.name} = {text}")
        lines.append(f"return {_text(captured.program.results[0], source)}")

    def _new_data(self) -> Iterator[tuple[int, Value]]:
        """Yield the arguments whose data is replaced, and by what; nodes must see that."""
        for store, part in zip(self.captured.stores, self._stored, strict=True):
            if is_a(store, Data):
                yield store.place, part.value

    def _view(self, source: Source, output: Output) -> None:
        """Make a view by its operations, once its base has its node."""
        text = _tensor(output.base, source)
        for op, args in output.steps:
            function, rest = source.constant(op.function), args[1:] if op.many else args
            text = f"{function}({', '.join([text, *map(source.constant, rest)])})"
            text += f"[{args[0]}]" if op.many else ""
        source.lines.append(f"o{output.number} = {text}")
        if output.behind:
            source.lines.append(f"o{output.number}._view.at -= {output.behind}")

    def _node(self, source: Source, group: Group, passes: str, *rest: str) -> None:
        """Write the node of outputs."""
        outputs = group.outputs
        values = [o.value for o in outputs if o.value is not None]
        like = tuple(v.shape for v in values), tuple(v.dtype for v in values)
        count = len(self.captured.program.arguments)
        call = f"(({''.join(f'A{i}, ' for i in range(count))}), {self._position})"
        arguments = passes, *rest, source.constant(like), call
        source.lines.append(f"node = make_node({', '.join(arguments)})")
        for i, output in enumerate(outputs):
            edge = f"(make_output(node, {i}), 0)" if len(outputs) > 1 else "(node, 0)"
            if output in group.left:
                source.lines.append(f"token{output.number} = {edge}")
                continue
            source.lines.append(f"o{output.number}._edge = {edge}")
            source.lines.append(f"o{output.number}._requires_grad = True")

    def _end(self, source: Source, end: Any) -> str:
        if isinstance(end, Token):
            return f"token{end.output.number}"
        if isinstance(end, Output):
            return f"o{end.number}._edge"
        return f"edge_of(A{end})" if isinstance(end, int) else source.constant((end, 0))

    def _held(self, source: Source, group: Group, saved: list[Value]) -> tuple[str, Any]:
        """Return the visible tensors that saved values are in; by saved value, the place of its
        tensor among them, and whether it follows what replaces the data of that."""
        program = self.captured.program
        found = {value.memory: f"A{place}" for place, value in self._new_data()}
        for i, v in enumerate(program.arguments):
            found.setdefault(v.memory, f"A{i}")
        for t, v in self._states.values():
            found.setdefault(v.memory, source.constant(t))
        for output in self.captured.outputs:
            if output.value is not None:
                found.setdefault(output.value.memory, f"o{output.number}")
        names = list(dict.fromkeys(found[v.memory] for v in saved if v.memory in found))
        places = [
            [(names.index(found[v.memory]), v.memory in group.followed)]
            if v.memory in found
            else []
            for v in saved
        ]
        return f"({''.join(name + ', ' for name in names)})", places

    def _backward(self, group: Group, saved: list[Value]) -> Any:
        """Return the functions of the saved values and gradients, by the outputs that get one."""
        functions = {
            key: self._pass(program, group.marked(key, program.results), saved)
            for key, program in group.programs.items()
        }
        every = max(functions, key=len)
        self.backwards.append((group.programs[every], functions[every][0]))
        return functions

    def _pass(self, program: Program, results: list[Any], saved: list[Value]) -> Any:
        """Return the function of the saved values and gradients, and which values it uses.

        Args:
            program: the backward pass.
            results: its results, or UNREACHED.
            saved: the values of the forward program that the backward programs use.
        """
        wanted = [v for v in program.results if v is not None]
        source = Source(self._calls(program.calls, wanted), wanted)
        used = {v.number: v for v in _used(program)}
        outside = [*saved, *program.arguments, *(v for _, v in program.states)]
        for value in outside:
            source.outside(value)
        names = [source.define(v) for v in (*saved, *program.arguments)]
        if not self.is_exact:  # gradients may be broadcast: the layout is not guarded
            source.namespace["dense"] = _dense
            for name in map(source.name, program.arguments):
                source.lines.append(f"{name} = dense({name})")
        for t, value in program.states:
            source.lines.append(f"{source.define(value)} = {source.constant(t._array)}")
        source.write()
        texts, seen = [], {v.memory for v in outside}
        for value in results:
            if value is None or value is UNREACHED:
                texts.append(source.constant(value))
            elif value.dtype is not None and (value.memory in seen or not value.whole):
                texts.append(f"copy({source.name(value)})")  # a leaf keeps what it gets
            else:
                texts.append(source.name(value))
                seen.add(value.memory)
        source.namespace["copy"] = np.array
        source.lines.append(f"return ({''.join(t + ', ' for t in texts)})")
        lines = [f"def run({', '.join(names)}):", *(f"    {line}" for line in source.lines)]
        function = compiled("backward", "run", lines, source.namespace)
        function.overwritten = source.overwritten if self.is_exact else []
        function.calls = function.parts = source.calls
        return function, [i for i, v in enumerate(saved) if v.number in used]


def _surrounded(lines: list[str], count: int) -> list[str]:
    """Return lines, the first of which raise HandledError if they fail."""
    if not count:
        return lines
    tried = ["try:", *(f"    {line}" for line in lines[:count])]
    return [*tried, "except Exception as error: raise HandledError from error", *lines[count:]]


def _tensor(holder: Any, source: Source) -> str:
    """Return text for a tensor from outside or an output."""
    if is_a(holder, Output):
        return f"o{holder.number}"
    return source.text(holder) if is_a(holder, Handle) else source.constant(holder)


def _text(structure: Any, source: Source) -> str:
    """Return text for results."""
    kind = type(structure)
    if kind is dict:
        parts = (f"{source.constant(k)}: {_text(v, source)}" for k, v in structure.items())
        return f"{{{', '.join(parts)}}}"
    if is_a(structure, Reading):
        return f"{_tensor(structure.output, source)}.{structure.method}()"
    if not is_a(structure, (tuple, list)):
        return _tensor(structure, source)
    if kind is not list and _is_constant(structure):
        return source.constant(structure)
    inner = "".join(_text(part, source) + ", " for part in contents(structure))
    if kind is list:
        return f"[{inner}]"
    if kind is tuple:
        return f"({inner})"
    name = source.constant(kind)
    return f"{name}({inner})" if of_class(kind, "_fields") is not ABSENT else f"{name}(({inner}))"


def _is_constant(structure: Any) -> bool:
    """Return whether each replay may return one and the same object."""
    if is_a(structure, tuple):
        return all(map(_is_constant, contents(structure)))
    return not is_a(structure, (Output, Handle, Reading, list, dict))


def _saved(program: Program, group: Group) -> list[Value]:
    """Return the values of the forward program that the backward programs use."""
    known = {v.number for v in program.arguments} | {v.number for _, v in program.states}
    known |= {v.number for call in program.calls for v in call.outputs()}
    used = (v for backward in group.programs.values() for v in _used(backward))
    return list({v.number: v for v in used if v.number in known}.values())


def _used(program: Program) -> Iterator[Value]:
    for call in program.calls:
        yield from call.inputs()
    yield from (v for v in leaves(program.results) if is_a(v, Value))


def _dense(g: Any) -> Any:
    return g if g.flags.carray else g.copy()
