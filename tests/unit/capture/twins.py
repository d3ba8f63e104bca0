"""Random programs, a part of which is a function: eager and compiled, they must do the same.

A program is cut twice. The lines before the first cut make tensors and give them a history; those
between are the body of a function, which gets the registers as arguments or, if they hold leaves
that are kept from call to call, reads them as globals, as a training step reads its parameters; the
lines after the second cut use what it returned. All of it runs several times, with other numbers.
"""

from __future__ import annotations

import copy
import linecache
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from tests.laws.property.forms import DATA, FLAG, GRAD, HOOK, RESHAPE
from tests.laws.property.language import Step, line_of
from tests.laws.property.machine import NAMES, Machine, Silent, attribute, builtin_class, flat, own
from tinynet.core.tensors.tensor import Tensor

CALLS = 4
QUIET = "with tn.no_grad(): "
CLOSING = "{}.sum().backward(retain_graph=True)"
NOT_CAPTURED = DATA, FLAG, HOOK, GRAD, RESHAPE
# A compiled function raises this error before it computes anything; eager code has some gradients.
CHANGED = "modified by an inplace operation"


class PartedError(AssertionError):
    """Eager and compiled code did different things."""

    def __init__(self, what: str, program: Program):
        super().__init__(f"{what}\n\n{program.text()}")
        self.kind = "".join(c for c in what.partition(":")[0] if not c.isdigit())


class Program:
    """The lines of a program.

    Attributes:
        before, body, after: its three parts.
        kept: registers that the function reads as globals, which hold the same tensor at each call.
        passed: registers that are arguments.
        returned: registers that hold something at the end of the function.
    """

    def __init__(self, steps: Sequence[Step], seed: int, library: Any):
        random = Random(seed)
        machine = Machine(library)
        first = random.randrange(8)
        cuts = first, first + random.randrange(2, 12)
        plain = random.random() < 0.75  # only what can be captured
        errors = random.choice(["dropped", "dropped", "caught", "raised"])
        self.parts: list[list[str]] = [[], [], []]
        self.kept: list[str] = []
        self.passed: list[str] = []
        hooks, over, entered = 0, False, False
        with Silent():
            for step in steps:
                part = sum(sum(map(len, self.parts)) >= cut for cut in cuts)
                line = line_of(step, machine.known())
                if line is None or (over and part == 1):
                    continue
                if plain and part == 1 and step.form.family in NOT_CAPTURED:
                    continue
                if "h.remove" in line and hooks != part + 1:
                    continue
                if line.startswith("h ="):
                    hooks = part + 1
                if part == 1 and not entered:
                    entered = True
                    self._enter(machine, random)
                error = machine.run(line)
                if error and part == 1:
                    if errors == "dropped":
                        continue
                    if errors == "caught":
                        line = f"try:\n        {line}\n    except Exception:\n        pass"
                    over = errors == "raised"
                if part == 1 and fresh(line) and random.random() < 0.9:
                    line = self._from_outside(line, random)
                self.parts[part].append(line)
                if part == 1:
                    self.returned = [*machine.tensors()]
        self.before, self.body, self.after = self.parts

    def _enter(self, machine: Machine, random: Random) -> None:
        """Choose how the function gets each register."""
        for name in machine.tensors():
            made = [line for line in self.parts[0] if line.startswith(f"{name} =")]
            t = machine.names[name]
            made_once = len(made) == 1 and "tn.tensor" in made[0] and not t._is_view()
            alone = t is not None and sum(x is t for x in machine.tensors().values()) == 1
            keep = made_once and alone and random.random() < 0.5
            (self.kept if keep else self.passed).append(name)

    def _from_outside(self, line: str, random: Random) -> str:
        """Make a new tensor of the function before it: return the line that takes its place."""
        name, _, made = line.removeprefix(QUIET).partition(" = ")
        place = f"p{len(self.parts[0])}"
        self.parts[0].append(f"{place} = {made}")
        (self.kept if random.random() < 0.4 else self.passed).append(place)
        return f"{name} = {place}"

    def text(self) -> str:
        """Return the source of the whole program."""
        kept = f"kept: {', '.join(self.kept)}\n" if self.kept else ""
        before, after = "\n".join(self.before), "\n".join(self.after)
        return f"{kept}{before}\n{self.source()}\n... = f({', '.join(self.passed)})\n{after}\n"

    def source(self) -> str:
        """Return the source of the function."""
        lines = [f"    {name} = kept_{name}" for name in self.kept]
        lines += [f"    {line}" for line in self.body]
        lines += [f"    return {{{', '.join(f'{name!r}: {name}' for name in self.returned)}}}"]
        return "\n".join([f"def f({', '.join(self.passed)}):", *lines]) + "\n"


class Twin:
    """One of the two ways to run a program."""

    def __init__(self, program: Program, library: Any, wrap: Callable[[Any], Any]):
        self.program, self.library = program, library
        self.kept: dict[str, Any] = {}
        self.seen: list[Any] = []
        source = program.source()
        filename = "random program"
        linecache.cache[filename] = len(source), None, source.splitlines(True), filename
        seen = self.seen
        self.names = {"tn": library, "copy": copy, "own": own}
        self.names["log"] = lambda g: seen.append(flat(g.tolist()))
        exec(compile(source, filename, "exec"), self.names)
        self.function = wrap(self.names["f"])

    def begin(self, number: int) -> None:
        """Run the part before the function."""
        self.machine = Machine(self.library)
        self.machine.names["log"] = self.names["log"]
        names = self.machine.names
        for line in self.program.before:
            name = line.removeprefix(QUIET).partition(" ")[0]
            if name in self.kept and fresh(line):
                names[name] = self.kept[name]
                continue
            self.machine.run(line)
            if fresh(line):
                vary(names[name]._array, number)
                if name in self.program.kept:
                    self.kept[name] = names[name]

    def call(self) -> str:
        """Call the function; return its error."""
        program, names = self.program, self.machine.names
        self.names.update({f"kept_{name}": self.kept[name] for name in program.kept})
        given = [names[name] for name in program.passed]
        names.update({name.upper(): names[name] for name in program.passed})
        try:
            returned = self.function(*given)
        except Exception as error:
            return f"{builtin_class(error)}: {error}".partition("\n")[0]  # lines and layers follow
        for name in NAMES:
            names.pop(name, None)
        names.update(returned)
        return ""

    def look(self) -> dict[str, Any]:
        """Return all that can be seen of all tensors."""
        kept = {f"kept {name}": t for name, t in self.kept.items()}
        mine = {k: t for k, t in self.machine.names.items() if isinstance(t, Tensor)}
        tensors = {**kept, **mine}
        found = {name: seen_of(t) for name, t in tensors.items()}
        found["aliases"] = aliases(tensors)
        found["seen"] = [*self.seen]
        return found


def fresh(line: str) -> bool:
    """Return whether a line makes a tensor of numbers."""
    return "= tn.tensor" in line or "= tn.zeros(" in line


def vary(array: Any, number: int) -> None:
    """Change the numbers of a tensor for a call, without the tensor's knowledge."""
    if array.dtype == bool:
        array ^= np.array([(number + i) % 3 == 2 for i in range(array.size)], bool).reshape(
            array.shape
        )
    elif array.dtype.kind == "i" and array.size:
        array[...] = np.roll(array, number)
    else:
        np.multiply(array, 1 + 0.25 * number, out=array, casting="unsafe")


def seen_of(t: Any) -> dict[str, Any]:
    """Return what can be seen of a tensor."""
    grad = attribute(t, "grad")
    array = t._array
    return {
        "shape": array.shape,
        "dtype": array.dtype,
        "values": exact(array),
        "strides": array.strides if array.size > 1 else (),
        "version": t._version,
        "requires_grad": t.requires_grad,
        "made": attribute(t, "grad_fn") not in (None, False),
        "is_leaf": attribute(t, "is_leaf"),
        "view": t._is_view(),
        "grad": (exact(grad._array), grad.requires_grad, grad._version)
        if isinstance(grad, Tensor)
        else grad,
    }


def exact(array: Any) -> Any:
    """Return the values of an array so that equal means equal to the bit, NaN included."""
    return array.shape, str(array.dtype), np.where(array == array, array, np.nan).tobytes()


def aliases(tensors: dict[str, Any]) -> dict[str, Any]:
    """Return for each tensor the first one that it is, shares memory with, shares versions with."""
    found = {}
    for name, t in tensors.items():
        row = []
        for same in (lambda a, b: a is b, shares, lambda a, b: counter(a) is counter(b)):
            row.append(next(other for other, u in tensors.items() if u is t or same(u, t)))
        found[name] = row
    return found


def shares(a: Any, b: Any) -> bool:
    return bool(a._array.size and np.shares_memory(a._array, b._array))


def counter(t: Any) -> Any:
    t._version  # noqa: B018 - makes the counter
    return t._counter or t


def difference(mine: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Return the first difference of the twins; "" if they are equal."""
    if mine.keys() != theirs.keys():
        return f"registers: {[*mine]} eager, {[*theirs]} compiled"
    for name, eager in mine.items():
        if eager == theirs[name]:
            continue
        other = theirs[name]
        if isinstance(eager, dict):
            field = next(key for key in eager if eager[key] != other[key])
            eager, other = eager[field], other[field]
            name = f"{name}.{field}"
        return f"{name}: {shown(eager)} eager, {shown(other)} compiled"
    return ""


def compare(mine: dict[str, Any], theirs: dict[str, Any], when: str, program: Program) -> None:
    """Fail if the twins differ."""
    if found := difference(mine, theirs):
        raise PartedError(f"{when}, {found}", program)


def shown(value: Any) -> str:
    if isinstance(value, tuple) and value and isinstance(value[-1], bytes):
        return str(np.frombuffer(value[2], value[1]))
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return ", ".join(map(shown, value))
    return str(value)


def run(steps: Sequence[Step], seed: int, library: Any) -> tuple[Program, Any]:
    """Run a program in both ways; return it and the compiled function."""
    program = Program(steps, seed, library)
    if not program.body:
        return program, None
    eager, compiled = Twin(program, library, lambda f: f), Twin(program, library, library.compile)
    twins = eager, compiled
    with Silent():
        for number in range(CALLS):
            when = f"call {number}"
            for twin in twins:
                twin.begin(number)
            if not {*program.passed} <= eager.machine.names.keys():
                break  # with these numbers, a line before the function failed
            mine, theirs = (t.call() for t in twins)
            if mine != theirs:
                raise PartedError(f"{when}, error: {mine!r} eager, {theirs!r} compiled", program)
            compare(eager.look(), compiled.look(), f"after {when}", program)
            if mine:
                continue
            closing = [
                CLOSING.format(name)
                for name, t in eager.machine.tensors().items()
                if t.requires_grad
            ]
            for line in [*program.after, *closing]:
                mine, theirs = (t.machine.run(line) for t in twins)
                if mine.partition(":")[0] != theirs.partition(":")[0]:
                    what = f"{when}, error of `{line}`: {mine!r} eager, {theirs!r} compiled"
                    raise PartedError(what, program)
                seen = eager.look(), compiled.look()
                if CHANGED in theirs and ".grad:" in difference(*seen):
                    return program, compiled.function
                compare(*seen, f"{when}, after `{line}`", program)
    return program, compiled.function
