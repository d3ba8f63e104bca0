"""Programs: what a captured function did, as calls of functions on numbered values."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet.capture.guard.holdings import (
    ABSENT,
    contents,
    is_a,
    is_simple_kind,
    module_of,
    of_class,
)
from tinynet.core.callsite import Site
from tinynet.core.tensors.tensor import Tensor


class CaptureError(Exception):
    """A function cannot be captured.

    Attributes:
        reason: why not.
        remedy: the change that would help.
        site: the user's line.
        passing: the next call may be free of it, such as the set-up of a cache.
        disturbed: another thread may have caused it.
    """

    disturbed = False

    def __init__(self, reason: str, remedy: str, site: Site | None = None, passing: bool = True):
        super().__init__(reason)
        self.reason, self.remedy, self.site, self.passing = reason, remedy, site, passing


class Value:
    """An array (or another object, such as rows) that a program passes from call to call.

    Attributes:
        number: its place in the order of definition.
        shape, dtype: the array's; None for other objects.
        size, nbytes: the number of its elements, and of their bytes.
        contiguous: the elements lie in the order of the dimensions, without gaps.
        expanded: several elements share a place in memory.
        memory: identifies the memory; a view has its base's.
        whole: it is contiguous and owns its memory.
    """

    __slots__ = (
        "contiguous", "dtype", "expanded", "memory", "nbytes", "number", "shape", "size", "whole",
    )  # fmt: skip

    def __init__(self, number: int, held: Any, memory: int):
        self.number, self.memory = number, memory
        self.shape: tuple[int, ...] | None = getattr(held, "shape", None)
        self.dtype: Any = getattr(held, "dtype", None)
        self.nbytes = held.nbytes if isinstance(held, np.ndarray) else 0
        self.size = math.prod(self.shape or ())
        self.contiguous = isinstance(held, np.ndarray) and held.flags.c_contiguous
        self.expanded = isinstance(held, np.ndarray) and 0 in held.strides
        self.whole = self.contiguous and root(held) is held

    def __repr__(self) -> str:
        return f"v{self.number}"


class Handle:
    """A tensor as an object, where a call needs more than its array.

    Attributes:
        number: its place in the order of first use.
        value: the array of a tensor that the program makes; None for the argument ``place``.
        requires_grad: whether a tensor that the program makes is a leaf that requires grad.
        place: the number of an argument.
    """

    __slots__ = ("number", "place", "requires_grad", "value")

    def __init__(
        self, number: int, value: Value | None, requires_grad: bool = False, place: int = -1
    ):
        self.number, self.value = number, value
        self.requires_grad, self.place = requires_grad, place

    def __repr__(self) -> str:
        return f"t{self.number}"


class Call:
    """One call of a program.

    Attributes:
        function: what is called.
        args, kwargs: constants, and a ``Value`` or ``Handle`` in place of each array or tensor.
        result: the values that it defines, in the structure that it returns.
        kind: ``"compute"``: gives new arrays or views; ``"write"``: changes its first argument;
            ``"perform"``: changes Python objects; ``"read"``: reads one.
        op: the operation, if the function is its kernel.
        tensor: the function returns tensors where the program expects arrays.
        site: the user's line.
        scope: the modules that were running (in a backward pass: in the forward pass).
        node: in a backward pass, the name of the node that is visited.
        members: the calls that it replaces, if it is a call of a native function.
    """

    __slots__ = (
        "args", "function", "kind", "kwargs", "members", "node", "op", "result", "scope", "site",
        "tensor",
    )  # fmt: skip

    def __init__(
        self, kind: str, function: Callable[..., Any], args: Any, kwargs: Any, site: Site | None
    ):
        self.kind, self.function, self.args, self.kwargs = kind, function, args, kwargs
        self.site = site
        self.op: Any = None
        self.result: Any = None
        self.tensor = False
        self.scope: Any = None
        self.node = ""
        self.members: list[Call] = []

    @property
    def title(self) -> str:
        """The name for people: of the operation, else of the function or the visited node."""
        if self.op is not None:
            return str(self.op.title)
        name = getattr(self.function, "__name__", type(self.function).__name__).strip("_")
        return self.node if self.node and "<" in name else name

    def inputs(self) -> Iterator[Value]:
        """Yield the values that the call uses."""
        for leaf in leaves((self.args, self.kwargs)):
            if is_a(leaf, Value):
                yield leaf
            elif is_a(leaf, Handle) and leaf.value is not None:
                yield leaf.value

    def outputs(self) -> Iterator[Value]:
        """Yield the values that the call defines."""
        return (leaf for leaf in leaves(self.result) if is_a(leaf, Value))


class Program:
    """A straight-line program.

    Attributes:
        arguments: the arrays that are passed to it, in order.
        states: tensors from outside, such as parameters, and the values of their arrays.
        calls: what it does.
        results: what it returns, in any structure, of values, handles and constants. Of a function,
            a pair: its result, and what it leaves in attributes of modules.
        tensors: the number of handles.
        handled: the number of calls until the last one whose error would be handled by the user's
            code; no call among them has an effect.
    """

    def __init__(self) -> None:
        self.arguments: list[Value] = []
        self.states: list[tuple[Any, Value]] = []
        self.calls: list[Call] = []
        self.results: Any = None
        self.tensors = self.handled = 0

    def difference(self, other: Program) -> Call | None | bool:
        """Return the first call that differs in another program; True without one; False: none."""
        for mine, its in zip(self.calls, other.calls, strict=False):
            if not same(signature(mine), signature(its)):
                return its
        if len(self.calls) != len(other.calls):
            longer = max(self.calls, other.calls, key=len)
            return longer[min(len(self.calls), len(other.calls))]
        states = [t for t, _ in self.states], [t for t, _ in other.states]
        return same(*states) and same(self.results, other.results)


def signature(call: Call) -> tuple[Any, ...]:
    """Return what makes a call the same as another."""
    return call.kind, call.function, call.args, call.kwargs, call.result


def root(array: Any) -> Any:
    """Return the object that owns the memory of an array."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array


def leaves(structure: Any) -> Iterator[Any]:
    """Yield what is in nested tuples, lists and dicts."""
    if is_a(structure, (tuple, list)):
        for part in contents(structure):
            yield from leaves(part)
    elif type(structure) is dict:
        for part in structure.values():
            yield from leaves(part)
    else:
        yield structure


def rebuilt(structure: Any, change: Callable[[Any], Any]) -> Any:
    """Return nested tuples, lists and dicts with each leaf replaced by ``change(leaf)``."""
    kind = type(structure)
    if kind is tuple or kind is list:
        return kind(rebuilt(part, change) for part in structure)
    if kind is dict:
        return {key: rebuilt(part, change) for key, part in structure.items()}
    if is_a(structure, tuple):  # a named tuple
        parts = [rebuilt(part, change) for part in contents(structure)]
        return kind(*parts) if of_class(kind, "_fields") is not ABSENT else kind(parts)
    return change(structure)


def as_array(leaf: Any) -> Any:
    """Return a numpy scalar as the array that operations make of it."""
    return np.asarray(leaf) if is_a(leaf, np.generic) else leaf


def same(a: Any, b: Any) -> bool:
    """Return whether two constants or values of two captures are the same."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if is_a(a, Tensor):
        return False
    if is_a(a, Value):
        return a.number == b.number and a.shape == b.shape and a.dtype == b.dtype
    if is_a(a, Handle):
        mine = a.number, a.requires_grad, a.place
        return mine == (b.number, b.requires_grad, b.place) and same(a.value, b.value)
    if is_a(a, (tuple, list)):
        parts = contents(a), contents(b)
        return len(parts[0]) == len(parts[1]) and all(map(same, *parts))
    if type(a) is dict:
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if is_simple_kind(type(a)) or is_a(a, (np.dtype, np.generic)):
        return bool(a == b and repr(a) == repr(b)) or (a != a and b != b)
    if is_a(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if is_a(a, types.FunctionType):
        return a.__code__ is b.__code__ and same(_environment(a), _environment(b))
    if is_a(a, types.MethodType):
        return a.__func__ is b.__func__ and a.__self__ is b.__self__
    return module_of(type(a)).startswith("tinynet.") and same(_state(a), _state(b))


def _environment(function: types.FunctionType) -> Any:
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return cells, function.__defaults__, function.__kwdefaults__


def _state(thing: Any) -> Any:
    slots = [s for c in type(thing).__mro__ for s in getattr(c, "__slots__", ())]
    held = {s: getattr(thing, s, None) for s in slots if s != "__weakref__"}
    return held | getattr(thing, "__dict__", {}) or [thing]
