"""``compiled.explain()``: what was captured, what was saved, and what runs eagerly and why."""

from __future__ import annotations

import collections
import html
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tinynet.capture.entry import Entry
from tinynet.capture.guard.holdings import is_a, shown, value_of
from tinynet.capture.guard.keys import Identity
from tinynet.capture.program import Call, Program, Value, leaves
from tinynet.core.callsite import locate
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor

if TYPE_CHECKING:
    from tinynet.capture.compiled import Compiled

UNITS = ("bytes", "KiB", "MiB", "GiB")
KINDS = ("compute", "write", "perform", "read")


class Peak(NamedTuple):
    """The largest number of bytes that arrays of a program take at one time."""

    eager: int
    compiled: int


class ProgramReport:
    """What is known about one program.

    Attributes:
        arguments: the forms of the arguments, and of attributes that are read and then set.
        replays: the number of calls that ran it.
        misses: the number of calls whose arguments fit, but whose guards failed.
        failed: the conditions that failed, and how often.
        calls: the number of its calls by kind: ``forward`` and ``backward``.
        overwritten: the number of calls that write their result over an array of no further use.
        native_from: with the LLVM backend, the number of the first replay that was native, if any.
        native: with the LLVM backend, what each of its native functions does.
        outrun: with the LLVM backend, numpy takes less time here for all or parts of it.
        others: with the LLVM backend, the number of calls outside of them, by name.
        peak: bytes of its own arrays, without arguments, parameters and optimizer state.
    """

    def __init__(self, key: Any, entry: Entry, native_from: int | None):
        _, args, kwargs = key[:3]
        self.arguments = [*_forms(args)] + [f"{n}={form}" for n, form in _named_forms(kwargs)]
        for store, place in entry.captured.carried:
            value, owner = entry.captured.program.arguments[place], type(store.module).__name__
            self.arguments.append(f"{owner}.{store.name}={value.dtype} {[*(value.shape or ())]}")
        self.replays, self.misses, self.failed = entry.replays, entry.misses, entry.failed
        self.native_from, self.waits = native_from, entry.successor is not None
        self.outrun = entry.outrun
        program = entry.captured.program
        self.calls = {"forward": _kinds(program)}
        made = [(program, entry.run), *entry.backwards]
        if entry.backwards:
            self.calls["backward"] = _kinds(*(backward for backward, _ in entry.backwards))
        self.overwritten = sum(len(function.overwritten) for _, function in made)
        ran = [part for _, function in made for part in function.parts]
        titles = [getattr(call.function, "native_title", None) for call in ran]
        self.native = [title for title in titles if title is not None]
        self.others = collections.Counter(
            call.title
            for call, title in zip(ran, titles, strict=True)
            if self.native and not title and call.kind in ("compute", "write")
        )
        self.peak = Peak(*map(max, zip(*(peak(*pair) for pair in made), strict=True)))

    def rows(self) -> list[tuple[str, str]]:
        """Return names and what to say about them."""
        rows = [("arguments", ", ".join(self.arguments) or "none")]
        for name, kinds in self.calls.items():
            counts = ", ".join(f"{kind} {n}" for kind, n in kinds.items() if n)
            what = "calls" if len(self.calls) == 1 else f"{name} calls"
            rows.append((what, f"{sum(kinds.values())} ({counts})"))
        rows += [("" if i else "native", title) for i, title in enumerate(self.native)]
        if self.waits:
            rows.append(("native", "LLVM compiles it in another process; numpy runs it until then"))
        elif (self.native_from or 1) > 1:
            rows.append(("", f"from replay {self.native_from:,} on"))
        if self.outrun:
            what = "the others" if self.native else "all calls"
            rows.append(("" if self.native else "native", f"numpy takes less time here for {what}"))
        if self.others:
            names = (f"{name} {n}" for name, n in self.others.most_common())
            count = self.others.total()
            rows.append(("others", f"{quantity(count, 'call')} ({', '.join(names)})"))
        eager, compiled = map(_bytes, self.peak)
        if not self.native:
            count = self.overwritten
            rows.append(("saved", f"{quantity(count, 'array')} overwritten in place"))
        rows.append(("peak memory", compiled + (f", eagerly {eager}" if eager != compiled else "")))
        if self.misses:
            rows.append(("guards failed", f"{quantity(f'{self.misses:,}', 'time')}"))
            rows += [("", f"{words} ({n:,})") for words, n in self.failed.most_common()]
        return rows


class FallBack(NamedTuple):
    """Why calls of a compiled function run eagerly."""

    reason: str
    line: str
    remedy: str

    def rows(self) -> list[tuple[str, str]]:
        """Return names and what to say about them."""
        return [("reason", self.reason), ("line", self.line), ("to fix it", self.remedy)]


class Explanation:
    """What a compiled function has done so far. ``print`` shows it as text.

    Attributes:
        name: the name of the function.
        calls: the numbers of calls: replayed, captured, eager.
        programs: a `ProgramReport` for each program.
        native_from: by program, the number of the first replay that was native; None: none was.
        fall_backs: a `FallBack` for each reason to run eagerly.
    """

    def __init__(self, compiled: Compiled):
        self.name, self.calls = compiled.__name__, compiled.calls()
        self.native_from = [*compiled.native_from]
        self.programs = [
            ProgramReport(key, entry, self.native_from[entry.number])
            for key, entry in compiled.programs()
        ]
        self.fall_backs = []
        for problem in compiled.problems:
            where = locate(problem.site)
            line = "unknown" if where is None else f"{where.place}: {where.text}"
            self.fall_backs.append(FallBack(problem.reason, line, problem.remedy))

        for what, count in compiled.observed.items():
            line = f"any, of {quantity(f'{count:,}', 'call')}"
            self.fall_backs.append(FallBack(what, line, "call the function outside of it"))

    def __str__(self) -> str:
        count, calls = len(self.programs), self.calls
        lines = [
            f"{self.name}: {quantity(count, 'program')}; of {quantity(f'{sum(calls):,}', 'call')}, "
            f"{calls.replayed:,} were replayed, {calls.captured:,} captured, "
            f"{calls.eager:,} ran eagerly"
        ]
        for number, program in enumerate(self.programs, 1):
            lines += [
                "",
                f"program {number}, replayed {quantity(f'{program.replays:,}', 'time')}",
            ]
            lines += _aligned(program.rows())
        for fall_back in self.fall_backs:
            lines += ["", "runs eagerly", *_aligned(fall_back.rows())]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def explain(compiled: Compiled) -> Explanation:
    """Return what a compiled function has done so far."""
    return Explanation(compiled)


def peak(program: Program, function: Any) -> Peak:
    """Return the largest size of the arrays that live at one time, eagerly and in a replay.

    An array lives until its last use. Eagerly it lives longer where the function keeps it in a
    variable, which is not counted.

    Args:
        program: the program.
        function: what the backend made of it.
    """
    over = {*function.overwritten}
    eager = _peak(program, program.calls, lambda at, size: 0)

    def inside(at: int, size: int) -> int:
        body = getattr(function.calls[at].function, "body", None)
        return body.scratch if body else -size * (at in over)

    return Peak(eager, _peak(program, function.calls, inside))


def _peak(program: Program, calls: list[Call], inside: Callable[[int, int], int]) -> int:
    """Return the peak of calls.

    Args:
        program: the program.
        calls: the calls, or native functions in their place.
        inside: returns the bytes that a call takes besides its results, by its number and theirs.
    """
    given = {v.memory for v in (*program.arguments, *(v for _, v in program.states))}
    last: dict[int, int] = {}
    for at, call in enumerate(calls):
        for value in itertools.chain(call.inputs(), call.outputs()):
            last[value.memory] = at
    results = (getattr(leaf, "value", leaf) for leaf in leaves(program.results))
    for leaf in results:
        if isinstance(leaf, Value):
            last[leaf.memory] = len(calls)
    ends = collections.defaultdict(list)
    for memory, at in last.items():
        ends[at].append(memory)
    sizes = dict[int, int]()
    now = found = 0
    for at, call in enumerate(calls):
        new = {v.memory: v.nbytes for v in call.outputs() if v.memory not in given | sizes.keys()}
        size = sum(new.values())
        sizes.update(new)
        now += size
        found = max(found, now + inside(at, size))
        now -= sum(sizes.get(memory, 0) for memory in ends[at])
    return found


def _kinds(*programs: Program) -> dict[str, int]:
    counts = collections.Counter(call.kind for p in programs for call in p.calls)
    return {kind: counts[kind] for kind in KINDS}


def _forms(key: Any) -> list[str]:
    """Return what the key of a call says about its positional arguments."""
    return [_form(part) for part in key[1:]]


def _named_forms(key: Any) -> list[tuple[str, str]]:
    return [] if key is None else [(name, _form(part)) for name, part in key[1:]]


def _form(key: Any) -> str:
    """Return the form of an argument as text."""
    kind, *parts = key
    kind = kind.thing if is_a(kind, Identity) else kind
    if issubclass(kind, Tensor):
        ((shape, dtype, _, requires_grad, *_),) = parts
        return f"{dtype} {list(shape)}{' that requires grad' if requires_grad else ''}"
    if kind is dict:
        names = (name if type(name) is tuple else (str, name) for name, _ in parts)
        items = (f"{_form(n)}: {_form(part)}" for n, (_, part) in zip(names, parts, strict=True))
        return f"{{{', '.join(items)}}}"
    if issubclass(kind, tuple) or kind is list or kind is frozenset:
        inner = ", ".join(map(_form, parts))
        return f"[{inner}]" if kind is list else f"({inner})"
    (value,) = parts
    if type(value) is tuple:  # the fields of a dataclass
        return f"{kind.__name__}({', '.join(map(_form, value))})"
    name = value_of(value, "__qualname__")
    return name if is_a(name, str) else shown(value)


def _bytes(count: int) -> str:
    """Return a number of bytes in a unit that people read."""
    size, unit = float(count), 0
    while size >= 1024 and unit < len(UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:,.{1 if unit else 0}f} {UNITS[unit]}"


def _aligned(rows: list[tuple[str, str]]) -> list[str]:
    return [f"  {name:<15}{text}".rstrip() for name, text in rows]
