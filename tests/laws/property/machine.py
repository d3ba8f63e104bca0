"""Runs lines under a library and tells what can be seen of its tensors."""

from __future__ import annotations

import copy
import functools
import math
import warnings
from types import CodeType
from typing import Any, NamedTuple

from .forms import Facts, Known
from .language import REGISTERS

HEADER = """\
import copy
import {library} as tn
seen = []
log = lambda g: seen.append(g.tolist())
own = lambda g: None if g is None else g.clone()"""

NAMES = (*REGISTERS, "i", "m")
TOLERANCE = 1e-9  # of the largest number of a tensor, or of 1


@functools.cache
def compiled(line: str) -> CodeType:
    """The code of a line."""
    return compile(line, "program", "exec")


def builtin_class(error: BaseException) -> str:
    """The name of the class that ``except`` would name."""
    return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


class Machine:
    """The registers of one library, and what its hooks have seen."""

    def __init__(self, library: Any):
        self.seen: list[Any] = []
        seen = self.seen  # a function that knew the machine would keep it alive
        self.names: dict[str, Any] = {"tn": library, "copy": copy, "own": own}
        self.names["log"] = lambda g: seen.append(flat(g.tolist()))
        self.arrived: dict[str, tuple[Any, int]] = {}  # tensors, and their versions then

    def forget(self) -> None:
        """Drop all tensors; hooks know the registers, so they would keep each other alive."""
        self.names.clear()
        self.arrived.clear()

    def run(self, line: str) -> str:
        """Run a line; return its error as "Class: message", or an empty string."""
        error = ""
        try:
            exec(compiled(line), self.names)
        except Exception as raised:
            error = f"{builtin_class(raised)}: {raised}"
        for name in NAMES:
            t = self.names.get(name)
            if t is None:
                self.names.pop(name, None)  # a gradient may be None
                self.arrived.pop(name, None)
            elif name not in self.arrived or self.arrived[name][0] is not t:
                self.arrived[name] = (t, t._version)
        return error

    def tensors(self) -> dict[str, Any]:
        """The tensors in the registers."""
        return {name: self.names[name] for name in NAMES if name in self.names}

    def known(self) -> Known:
        """What the choice of the next line may depend on; finding out disturbs nothing."""
        found = self.tensors()
        bases = [id(t._base) for t in found.values()]
        return {name: facts_of(t, id(t) in bases) for name, t in found.items()}

    def look(self) -> dict[str, Any]:
        """All that is compared after a line."""
        return {name: seen_of(t, self.arrived[name][1]) for name, t in self.tensors().items()}

    def glance(self) -> dict[str, Any]:
        """What can be seen of tensors without asking for their history."""
        return {
            name: (tuple(t.shape), flat(t.tolist()), t._version - self.arrived[name][1])
            for name, t in self.tensors().items()
        }


def own(g: Any) -> Any:
    """Return a copy of what autograd.grad found."""
    return None if g is None else g.clone()


def facts_of(t: Any, viewed: bool) -> Facts:
    """Return what the choice of a line may depend on."""
    shape = tuple(t.shape)
    view = t._is_view()
    return Facts(
        shape,
        flat(t.tolist()),
        t.requires_grad,
        attribute(t, "is_leaf") is True,
        view,
        isinstance(attribute(t, "is_leaf"), str),
        attribute(t, "grad") is not None,
        bool(getattr(t, "_backward_hooks", None)),
        viewed,
        view and t._base.requires_grad,
        any(n > 1 and step == 0 for n, step in zip(shape, t.stride(), strict=True)),
        is_dense(shape, t.stride()),
        t.is_contiguous(),
        memory_of(t),
    )


def is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the elements of a layout fill their memory."""
    expected = 1
    for step, n in sorted((step, n) for step, n in zip(strides, shape, strict=True) if n != 1):
        if step != expected:
            return False
        expected *= n
    return True


def memory_of(t: Any) -> int:
    """Return the address of the memory that a tensor or an array is a part of."""
    if hasattr(t, "untyped_storage"):
        return t.untyped_storage().data_ptr()
    array = t._array
    while array.base is not None:
        array = array.base
    return id(array)


def flat(values: Any) -> list[float]:
    """Return nested lists of numbers as one list."""
    if not isinstance(values, list):
        return [values]
    if values and not isinstance(values[0], list):
        return values
    return [number for part in values for number in flat(part)]


class Seen(NamedTuple):
    """What can be seen of a tensor; an attribute that raises is seen as the error's class."""

    shape: tuple[int, ...]
    values: list[float]
    version: int  # since the tensor came into the register: that of a gradient is arbitrary
    requires_grad: bool
    made: Any  # has a grad_fn; asked before is_leaf, which in PyTorch knows only what was asked
    is_leaf: Any
    is_view: bool
    grad: tuple[tuple[int, ...], list[float], bool] | None


def seen_of(t: Any, arrived: int) -> Seen:
    """Describe a tensor."""
    grad = attribute(t, "grad")
    return Seen(
        tuple(t.shape),
        flat(t.tolist()),
        t._version - arrived,
        t.requires_grad,
        attribute(t, "grad_fn") not in (None, False),
        attribute(t, "is_leaf"),
        t._is_view(),
        grad
        if grad is None or isinstance(grad, str)
        else (tuple(grad.shape), flat(grad.tolist()), grad.requires_grad),
    )


def attribute(t: Any, name: str) -> Any:
    """Return an attribute, or the class of the error that it raises."""
    try:
        return getattr(t, name)
    except Exception as error:
        return builtin_class(error)


def close(a: Any, b: Any) -> bool:
    """Whether two answers are equal; numbers in lists up to rounding."""
    if a == b:
        return True
    if isinstance(a, Seen | tuple) and isinstance(b, Seen | tuple):
        return len(a) == len(b) and all(map(close, a, b))
    if not isinstance(a, list) or not isinstance(b, list) or len(a) != len(b):
        return False
    if a and isinstance(a[0], list):
        return all(map(close, a, b))
    finite = [abs(v) for v in b if math.isfinite(v)]
    tolerance = TOLERANCE * max(1.0, *finite) if finite else TOLERANCE
    return all(
        m == n or abs(m - n) <= tolerance or (m != m and n != n) for m, n in zip(a, b, strict=True)
    )


def difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Say in which register and attribute two looks differ first; empty if nowhere."""
    if ours.keys() != theirs.keys():
        return f"registers: {sorted(ours)} here, {sorted(theirs)} in PyTorch"
    for name, mine in ours.items():
        for field, a, b in zip(Seen._fields, mine, theirs[name], strict=False):
            if not close(a, b):
                return f"{name}.{field}: {a} here, {b} in PyTorch"
    return ""


class Silent(warnings.catch_warnings):
    """No warnings: programs do on purpose what PyTorch warns of."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", SyntaxWarning)  # of generated code
