"""Declaring composites: functions on tensors that are built from operations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast, overload

from tinynet import errors
from tinynet.core.declaration import compiler
from tinynet.core.declaration.out_argument import ANY, OutRules, written
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import ALIASES, FUNCTIONS, Tensor
from tinynet.core.tensors.tensor import method as add_method

F = TypeVar("F", bound=Callable[..., Any])
COMPOSITES: dict[str, Any] = {}


@overload
def composite(declared: F, **options: Any) -> F: ...
@overload
def composite(
    *,
    method: bool = ...,
    function: bool | None = ...,
    module: bool = ...,
    aliases: Sequence[str] = ...,
    names: Mapping[str, str] = ...,
    out: bool | OutRules = ...,
    checks: bool = ...,
    autocast: str | None = ...,
) -> Callable[[F], F]: ...
def composite(declared: Any = None, **options: Any) -> Any:
    """Declare a composite: a function on tensors built from operations, and a Tensor method.

    Args:
        declared: the composite.
        method: whether it is a Tensor method too.
        function: whether it is a public function; unless given, it is if its name ends in no ``_``.
        module: whether it belongs to its module only, as the functions of ``linalg`` do.
        aliases: other public names, of the function, the method and ``name_``.
        names: those that further signatures of PyTorch give to its parameters.
        out: whether the function (not the method) takes ``out=``, or its rules for that.
        checks: whether the function refuses a first argument that is not a tensor.
        autocast: the dtype that autocast casts the arguments to, see core/declaration/casting.py.
    """
    if declared is None:
        return lambda declared: _declare(declared, **options)
    return _declare(declared, **options)


def _declare(
    declared: Any,
    method: bool = True,
    function: bool | None = None,
    module: bool = False,
    aliases: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    out: bool | OutRules = False,
    checks: bool = False,
    autocast: str | None = None,
) -> Any:
    if names is not None:
        declared.other_names = names
    if module:
        return called(declared, out, autocast)
    compiler.call_input(declared)
    name = declared.__name__
    found = COMPOSITES[name] = called(declared, out, autocast)
    if function or (function is None and not name.endswith("_")):
        FUNCTIONS[name] = called(declared, out, autocast, checks)
    if method:
        found = add_method(called(declared, autocast=autocast))
    ALIASES.update(dict.fromkeys(aliases, name))
    return found


def called(
    function: F,
    out: bool | OutRules = False,
    autocast: str | None = None,
    checks: bool = False,
) -> F:
    """Return a function that also does what ``composite`` describes for these options."""
    if not (out or checks or autocast):
        return function
    rules = out if isinstance(out, OutRules) else ANY

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if checks and args and not isinstance(args[0], Tensor):
            raise errors.must_be_tensor(function.__name__, "input", 1, args[0])
        try:
            target = kwargs.pop("out", None) if out and kwargs else None
            if target is not None:
                return written(function, args, kwargs, target, rules)
            if autocast is not None and mode.autocast is not None:
                return mode.autocast(autocast, function, args, kwargs)
            return function(*args, **kwargs)
        except (MemoryError, ValueError) as error:
            errors.refuse_unallocated(error)
            raise

    return cast(F, call)
