"""Whether a replay gave what the function gave, to the bit or but for rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tinynet import distributed
from tinynet.capture.guard.holdings import contents, is_a, is_simple_kind
from tinynet.capture.program import Call, Handle, Program, Value, leaves
from tinynet.capture.record.capturing import Captured
from tinynet.core.callsite import Site
from tinynet.core.graph.views import requires_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import INFERENCE
from tinynet.dtypes import Array
from tinynet.kernels.threads import count_of_users
from tinynet.nn.base.module import Module
from tinynet.optim.base.hooks import has_step_hooks
from tinynet.optim.optimizer import Optimizer
from tinynet.random import Generator, default_generator

# ---- appearance ---------------------------------------------------------------------------------
# What can be seen of a call: results, gradients, and what it left in tensors and optimizers.


OF_RESULT, OF_TENSOR, OF_GRADIENT, OF_OBJECT = "result", "tensor", "gradient", "object"


class Sight(NamedTuple):
    """Something that can be seen, and where.

    Attributes:
        role: what it belongs to: a result, tensor, its gradient, or another object.
        number: the number of the result, tensor or object.
        what: its name, for people.
    """

    role: str
    number: int
    what: str


class Form(NamedTuple):
    """What can be seen of a tensor besides its values."""

    dtype: np.dtype[Any]
    strides: tuple[int, ...] | None
    requires_grad: bool
    is_leaf: bool
    version: int | None


Appearance = dict[Sight, Any]  # arrays are copies, as a rule
Copied = Callable[[Any], Any]  # returns a copy of an array, or the array itself


class World:
    """The tensors and objects that calls of a compiled function may change.

    Args:
        captured: what was captured.
        arguments: the tensors that are passed.

    Attributes:
        tensors: those that existed before the call, with names for people.
        objects: optimizers, schedulers, generators.
    """

    def __init__(self, captured: Captured, arguments: list[Tensor]):
        self._captured = captured
        self.tensors: list[tuple[str, Tensor]] = []
        self.objects: list[Any] = []
        self._seen: set[int] = set()
        for i, t in enumerate(arguments):
            self._add(t, f"argument {i}")
        for t, _ in captured.states():
            self._add(t)
        for program in captured.programs():
            for call in program.calls:
                for leaf in leaves((call.args, call.kwargs)):
                    self._add_leaf(leaf)
        self._add_leaf(default_generator)

    def _add(self, t: Tensor, name: str = "") -> None:
        if id(t) not in self._seen:
            self._seen.add(id(t))
            self.tensors.append((name or self._captured.name_of(t), t))

    def _add_leaf(self, leaf: Any) -> None:
        if is_a(leaf, Tensor):
            self._add(leaf)
        elif is_a(leaf, (Value, Handle, np.ndarray, np.dtype, np.generic, type)) or is_simple_kind(
            type(leaf)
        ):
            return
        elif is_a(leaf, Module):
            for t in (*leaf.parameters(), *leaf.buffers()):
                self._add(t)
        elif id(leaf) not in self._seen and not callable(leaf):
            self._seen.add(id(leaf))
            self.objects.append(leaf)
            if is_a(leaf, Optimizer):
                for t in (t for group in leaf.param_groups for t in group["params"]):
                    self._add(t)

    def can_be_undone(self) -> bool:
        """Return whether a replay leaves nothing that a snapshot of this world does not undo.

        Hooks of the user must run once, other threads may draw the same random numbers, and other
        ranks would wait.
        """
        shares = self._captured.draws and count_of_users() > 1
        return not (shares or self._has_hooks() or distributed.is_initialized())

    def _has_hooks(self) -> bool:
        optimizers = (thing for thing in self.objects if is_a(thing, Optimizer))
        return any(t._hooks is not None for _, t in self.tensors) or any(
            map(has_step_hooks, optimizers)
        )

    def roots(self) -> list[Any]:
        """Return what a snapshot begins with."""
        return [*(t for _, t in self.tensors), *self.objects, *self._captured.stores]

    def look(self, result: Any = (), gradients: Any = (), copied: Copied = np.array) -> Appearance:
        """Return what can be seen now.

        Args:
            result: what the function returned, as ``flat`` gives it.
            gradients: of the leaves behind the result.
            copied: copies arrays.
        """
        seen: Appearance = {}
        for i, leaf in enumerate(result):
            for what, value in _aspects(leaf, copied):
                seen[Sight(OF_RESULT, i, what)] = value
        for i, g in enumerate(gradients):
            seen[Sight(OF_GRADIENT, -1 - i, "the gradient behind a result")] = g
        for i, (name, t) in enumerate(self.tensors):
            for what, value in _aspects(t, copied):
                seen[Sight(OF_TENSOR, i, f"{what} of {name}")] = value
            g = t._grad
            if g is not None:
                for what, value in _aspects(g, copied):
                    seen[Sight(OF_GRADIENT, i, f"{what} of the gradient of {name}")] = value
        for i, thing in enumerate(self.objects):
            for what, value in _state_of(thing, copied):
                name = f"{what} of the {type(thing).__name__.strip('_')}"
                seen[Sight(OF_OBJECT, i, name)] = value
        return seen

    # ---- where something was computed -------------------------------------------------------

    def position(self, sight: Sight) -> tuple[int, Site | None]:
        """Return the number of the call that made what is seen, and the user's line."""
        program = self._captured.program
        if sight.role == OF_RESULT:
            found = flat(*program.results)
            leaf = found[sight.number] if sight.number < len(found) else None
            return _last(program, lambda call: leaf_value(leaf) in {*call.outputs()})
        if sight.number < 0:
            return len(program.calls), None
        if sight.role == OF_OBJECT:
            thing = self.objects[sight.number]
            return _last(program, lambda call: any(a is thing for a in call.args))
        t = self.tensors[sight.number][1]
        memories = {v.memory for s, v in program.states if s is t}
        return _last(program, lambda call: _changes(call, t, memories))


def leaf_value(leaf: Any) -> Value | None:
    """Return the value of an output; None for others."""
    return getattr(leaf, "value", None)


def _last(program: Program, made: Any) -> tuple[int, Site | None]:
    for at in range(len(program.calls) - 1, -1, -1):
        if made(program.calls[at]):
            return at, program.calls[at].site
    return len(program.calls), None


def _changes(call: Call, t: Tensor, memories: set[int]) -> bool:
    """Return whether a call changes a tensor."""
    if call.kind == "write":
        return isinstance(call.args[0], Value) and call.args[0].memory in memories
    if call.kind != "perform":
        return False
    for leaf in leaves(call.args):
        groups = leaf.param_groups if is_a(leaf, Optimizer) else ()
        if leaf is t or any(p is t for group in groups for p in group["params"]):
            return True
    return False


def flat(structure: Any, stored: list[Any] | None = None) -> list[Any]:
    """Return what is in nested tuples, lists and dictionaries, with the classes of these.

    Args:
        structure: a result.
        stored: what the call left in attributes, which comes last.
    """
    if stored:
        return [*flat(structure), *stored]
    if is_a(structure, tuple | list):
        return [type(structure), *(x for part in contents(structure) for x in flat(part))]
    if type(structure) is dict:
        return [dict, *structure, *(x for part in structure.values() for x in flat(part))]
    return [structure]


def _aspects(leaf: Any, copied: Copied) -> Iterator[tuple[str, Any]]:
    """Yield what can be seen of a tensor, or of another part of a result."""
    if type(leaf) is float:  # may be read from a tensor, which native functions round
        yield "a number in the result", np.array(leaf)
        return
    if not is_a(leaf, Tensor):
        yield "a part of the result", leaf if is_simple_kind(type(leaf)) else id(leaf)
        return
    array, counter = leaf._array, leaf._counter
    dense = type(array) is np.ndarray
    yield "the values", copied(array) if dense else np.array(array.dense())
    strides = array.strides if dense else None
    version = None if counter is INFERENCE else counter.count if counter else 0
    yield "the form", Form(array.dtype, strides, requires_grad(leaf), leaf.is_leaf, version)


def _state_of(thing: Any, copied: Copied) -> Iterator[tuple[str, Any]]:
    """Yield what can be seen of the state of an optimizer, a generator or another object."""
    if is_a(thing, Generator):
        yield "the state", repr(thing.state_dict())
    elif is_a(thing, Optimizer):
        yield from _parts({"state": [*thing.state.values()]}, copied)
        groups = [{k: v for k, v in g.items() if k != "params"} for g in thing.param_groups]
        yield from _parts({"param_groups": groups}, copied)
    else:
        own = getattr(thing, "__dict__", {})
        yield from _parts({k: v for k, v in own.items() if k[0] != "_"}, copied)


def _parts(held: Any, copied: Copied, name: str = "") -> Iterator[tuple[str, Any]]:
    if is_a(held, dict):
        for i, (key, value) in enumerate(held.items()):
            shown = key if type(key) is str else i
            yield from _parts(value, copied, f"{name}[{shown!r}]" if name else str(shown))
    elif type(held) in (list, tuple):
        for i, value in enumerate(held):
            yield from _parts(value, copied, f"{name}[{i}]")
    elif is_a(held, Tensor):
        yield name, copied(held._array)
    elif is_simple_kind(type(held)):
        yield name, held


# ---- closeness ----------------------------------------------------------------------------------
# Whether a replay gave what the function gave: to the bit, or but for rounding.
#
# Native functions take sums in another order. So their results, gradients and updates are accepted
# if they differ by at most 1 % (updates: 10 %) in the Euclidean norm. Values below a thousandth of
# the largest of their kind may be nothing but rounding, and so may be what optimizers make of them.


CLOSE, CLOSE_UPDATE = 1e-2, 1e-1  # of the norm of a result or gradient, and of an update
NOISE = 1e-3  # of the largest value of a kind


def is_same(sight: Sight, a: Any, b: Any) -> bool:
    """Return whether two values are the same to the bit."""
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return type(a) is type(b) and bool(a == b or (a != a and b != b))
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if np.array_equal(_bytes_of(a), _bytes_of(b)):
        return True
    if a.dtype.kind not in "fcV":
        return False
    both = np.isnan(a) & np.isnan(b)
    same = (a == b) & (np.signbit(a.real) == np.signbit(b.real))
    return bool(np.all(same | both))


def _bytes_of(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class Closeness:
    """Whether values of a replay are close to the function's.

    Args:
        before: what could be seen before the call.
        replayed: what can be seen after the replay.
        eager: what can be seen after the function.
    """

    def __init__(self, before: Appearance, replayed: Appearance, eager: Appearance):
        self._before = before
        self._largest: dict[tuple[str, str], float] = {}
        for sight, value in eager.items():
            key = _kin(sight)
            self._largest[key] = max(self._largest.get(key, 0.0), _largest(value))
        self._gradients = [
            {s.number: v for s, v in side.items() if s.role == OF_GRADIENT and "values" in s.what}
            for side in (replayed, eager)
        ]

    def accepts(self, sight: Sight, a: Any, b: Any) -> bool:
        """Return whether a value of a replay is close to the function's."""
        if is_same(sight, a, b):
            return True
        if isinstance(a, Form) and isinstance(b, Form):
            return a._replace(strides=None) == b._replace(strides=None)
        a, b = _real_and_imaginary(a), _real_and_imaginary(b)
        if not _are_floats(a, b):
            return sight.role == OF_RESULT and _mostly_equal(a, b)
        noise = NOISE * self._largest[_kin(sight)] * float(np.sqrt(a.size))
        with np.errstate(all="ignore"):
            if _norm(a - b) <= noise / 2:  # the usual case; not so with NaN
                return True
            a, b = (np.atleast_1d(x).astype(np.float64) for x in (a, b))
            compared = np.isfinite(a) & np.isfinite(b)
            if not _mostly_equal(np.isfinite(a), np.isfinite(b)):
                return False
            if sight.role in (OF_RESULT, OF_GRADIENT):
                bound = CLOSE * _norm(b[compared]) + noise
            else:
                compared &= self._are_sure(sight, a.shape)
                before = _real_and_imaginary(self._before.get(sight))
                update = b - before if _are_floats(before, before) else b
                bound = CLOSE_UPDATE * _norm(update[compared]) + noise
            return _norm((a - b)[compared]) <= bound

    def _are_sure(self, sight: Sight, shape: tuple[int, ...]) -> Array:
        """Return where the gradient of a tensor is known well enough to know its update."""
        a, b = (_real_and_imaginary(side.get(sight.number)) for side in self._gradients)
        if sight.role != OF_TENSOR or a is None or b is None or not _are_floats(a, b):
            return np.ones(shape, bool)
        a, b = a.astype(np.float64), b.astype(np.float64)
        return np.abs(a - b) <= CLOSE * np.abs(b)


def _real_and_imaginary(value: Any) -> Any:
    """Return the real and imaginary parts of complex arrays as one; others as they are."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "c":
        return value
    return np.stack((value.real, value.imag))


def _kin(sight: Sight) -> tuple[str, str]:
    """Return what values of one magnitude have in common, such as the second moments of Adam."""
    return sight.role, sight.what.rpartition("[")[2] if sight.role == OF_OBJECT else ""


def _are_floats(a: Any, b: Any) -> bool:
    arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return arrays and a.shape == b.shape and a.dtype == b.dtype and a.dtype.kind in "fV"


def _mostly_equal(a: Any, b: Any) -> bool:
    """Return whether 99 % of two arrays are equal: a comparison may turn on rounding."""
    arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape
    return arrays and bool(np.mean(a != b) <= CLOSE if a.size else True)


def _norm(x: Array) -> float:
    return float(np.sqrt(np.sum(np.square(x))))


def _largest(value: Any) -> float:
    value = _real_and_imaginary(value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fV" or not value.size:
        return 0.0
    finite = np.isfinite(value)
    sizes = np.abs(value) if finite.all() else np.abs(value[finite])
    return float(np.max(sizes, initial=0))
