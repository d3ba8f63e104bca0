"""Declaring composites: functions on tensors that are built from operations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tinynet import errors
from tinynet.core.declaration import casting, compiler
from tinynet.core.declaration.out_argument import OutRules, with_out
from tinynet.core.tensors.tensor import ALIASES, FUNCTIONS, Tensor, method

COMPOSITES: dict[str, Any] = {}


def tensor_first(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function that looks at no argument itself refuse a first one that is not a tensor."""

    @functools.wraps(function)
    def looking(*args: Any, **kwargs: Any) -> Any:
        if args and not isinstance(args[0], Tensor):
            raise errors.must_be_tensor(function.__name__, "input", 1, args[0])
        return function(*args, **kwargs)

    return looking


def public(
    declared: Any = None,
    as_method: bool = True,
    function: bool | None = None,
    aliases: Sequence[str] = (),
    out: bool | OutRules = False,
    checks: bool = False,
    autocast: str | None = None,
) -> Callable[..., Any]:
    """Declare a composite: a function on tensors built from operations, and a Tensor method.

    Args:
        declared: the composite.
        as_method: whether it is a Tensor method too.
        function: whether it is a public function; unless given, it is if its name ends in no ``_``.
        aliases: other public names, of the function, the method and ``name_``.
        out: whether the function (not the method) takes ``out=``, or its rules for that.
        checks: whether the function refuses a first argument that is not a tensor.
        autocast: the dtype that autocast casts the arguments to, see core/declaration/casting.py.
    """
    if declared is None:
        options = as_method, function, aliases, out, checks, autocast
        return lambda declared: public(declared, *options)
    compiler.call_input(declared)
    found: Callable[..., Any] = (
        declared if autocast is None else casting.autocast(autocast)(declared)
    )
    name = found.__name__
    COMPOSITES[name] = with_out(out)(found) if out else found
    if function or (function is None and not name.endswith("_")):
        FUNCTIONS[name] = tensor_first(COMPOSITES[name]) if checks else COMPOSITES[name]
    if as_method:
        method(found)
    ALIASES.update(dict.fromkeys(aliases, name))
    return found
