"""Subclasses of Tensor: operations on them return results of the same class.

As in PyTorch, an operation passes itself to ``__torch_function__`` of its inputs' classes. Tensor's
implementation runs it and converts the results to the class. The first declaration of a subclass
recompiles all operations; before that, they do not check for subclasses.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tinynet.base.lazy import METHODS as LATER
from tinynet.core import seams
from tinynet.core.callsite import COMPILED
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import METHODS, Tensor, _new

SUBCLASSES: set[type] = set()  # those with an active __torch_function__
_KEPT = frozenset(
    "grad _grad _base grad_fn requires_grad is_leaf output_nr _version backward".split()
)


def _run(
    cls: type[Tensor],
    func: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """Call a function and convert its plain tensors to the class.

    Args:
        cls: the class.
        func: the function.
        types: the classes of the arguments; for unrelated ones return NotImplemented.
        args, kwargs: the arguments.

    Example:
        >>> class Marked(tn.Tensor):
        ...     pass
        >>> type(tn.ones(2).as_subclass(Marked) * 2).__name__
        'Marked'
    """
    if mode.plain or not all(issubclass(cls, t) for t in types):
        return NotImplemented
    before, mode.plain = mode.plain, True
    try:
        result = func(*args, **(kwargs or {}))
    finally:
        mode.plain = before
    return _of_class(result, cls, args)


def plain(
    cls: type[Tensor],
    func: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """Call a function without converting its results (``__torch_function__`` of parameters)."""
    return func(*args, **(kwargs or {}))


def _of_class(result: Any, cls: type[Tensor], args: tuple[Any, ...]) -> Any:
    if isinstance(result, Tensor):
        if isinstance(result, cls) or any(result is a for a in args):
            return result
        return shared(result, cls)
    if type(result) in (tuple, list):
        return type(result)(_of_class(x, cls, args) for x in result)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(_of_class(x, cls, args) for x in result))
    return result


def shared(t: Tensor, cls: type[Tensor]) -> Tensor:
    """Return a tensor of a class with the values and the history of ``t``."""
    made = _new(cls)
    for slot in ("_array", "_counter", "_edge", "_grad", "_hooks", "_requires_grad", "_view"):
        setattr(made, slot, getattr(t, slot))
    return made


def alike(made: Tensor, like: Tensor) -> Tensor:
    """Return ``made`` converted to the class of ``like``, if that is a subclass."""
    kind = type(like)
    return shared(made, kind) if kind in SUBCLASSES and not mode.plain else made


def dispatched(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ``__torch_function__`` of the classes of tensors among the arguments."""
    flat = [x for a in args for x in (a if isinstance(a, (list, tuple)) else (a,))]
    return handled(func, [type(x) for x in flat if type(x) in SUBCLASSES], args, kwargs)


def handled(func: Any, kinds: Iterable[type], args: Any, kwargs: dict[str, Any]) -> Any:
    """Call ``__torch_function__`` of classes, subclasses first, or raise TypeError."""
    types: list[Any] = []
    for kind in dict.fromkeys(kinds):
        before = [i for i, other in enumerate(types) if issubclass(kind, other)]
        types.insert(before[0] if before else len(types), kind)
    for kind in types:
        result = kind.__torch_function__(func, tuple(types), args, kwargs)
        if result is not NotImplemented:
            return result
    missing = f"no implementation found for {func.__name__!r} on types that implement"
    raise TypeError(f"{missing} __torch_function__: {types}")


def lines(op: Any, function: str) -> list[str]:
    """Return the lines of a compiled operation that check for subclasses, if there are any.

    Args:
        op: the operation.
        function: the source text of the compiled function.
    """
    if not SUBCLASSES:
        return []
    if op.kind == "sequence":
        (t,) = op.tensors
        found = f"isinstance({t}, (list, tuple)) and any(x.__class__ in SUBCLASSES for x in {t})"
    else:
        found = " or ".join(f"{t}.__class__ in SUBCLASSES" for t in op.tensors)
    rest = "{" + ", ".join(f"{a!r}: {a}" for a in op.attributes) + "}"
    call = f"dispatched({function}, ({', '.join(op.tensors)},), {rest})"
    return [f"    if ({found}) and not mode.plain:", f"        return {call}"]


def _declared(cls: type[Tensor], **options: Any) -> None:
    super(Tensor, cls).__init_subclass__(**options)
    function: Any = cls.__torch_function__  # type: ignore[attr-defined]
    if getattr(function, "__func__", None) is not plain:
        if cls.__repr__ is Tensor.__repr__:
            cls.__repr__ = _subclass_repr  # type: ignore[method-assign]  # it has none of its own
        _dispatch_methods(cls)
        SUBCLASSES.add(cls)
        if len(SUBCLASSES) == 1:
            for switch_on in seams.subclassed:
                switch_on()


def _subclass_repr(t: Tensor) -> str:
    """Return the text of a plain tensor with the name of the subclass."""
    name = type(t).__name__
    text = Tensor.__repr__(t).removeprefix("tensor")
    return name + text.replace("\n" + " " * len("tensor"), "\n" + " " * len(name))


def _dispatch_methods(cls: type[Tensor]) -> None:
    """Make inherited methods and properties that are not compiled call ``__torch_function__``."""
    for name in LATER:
        getattr(Tensor, name)  # loads it
    for name, found in METHODS.items():
        own = inspect.getattr_static(cls, name) is not inspect.getattr_static(Tensor, name)
        if own or name in _KEPT or name.startswith("__") or _compiled(found):
            continue
        if isinstance(found, property):
            setattr(cls, name, property(_dispatching(found.__get__), found.fset, found.fdel))
        elif inspect.isfunction(found):
            setattr(cls, name, _dispatching(found))


def _compiled(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(COMPILED)


def _dispatching(function: Any) -> Any:
    @functools.wraps(function)
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if self.__class__ in SUBCLASSES and not mode.plain:
            return dispatched(function, (self, *args), kwargs)
        return function(self, *args, **kwargs)

    return method


Tensor.__torch_function__ = classmethod(_run)  # type: ignore[attr-defined]
Tensor.__init_subclass__ = classmethod(_declared)  # type: ignore[assignment,arg-type]
