"""Converting the values of a config to the declared types, by these rules.

============  =======================================================================
declared      accepted from a config
============  =======================================================================
``int``       integers; a number without a fraction (``1e3`` is a float in TOML)
``float``     numbers, also integers
``bool``      ``true`` and ``false`` only, not 0 and 1
``str``       strings; on the command line any text
``list[T]``   arrays whose elements are accepted for ``T``; likewise tuples, sequences
``dict``      tables
``Literal``   one of the values
``Path``      strings, relative to the folder of the config; ``PathLike`` too
``dtype``     names such as ``"float64"``
``Tensor``    numbers and (nested) arrays of numbers; likewise ``np.ndarray``
``Callable``  functions of the user: ``"./file.py:name"`` or ``"package.module:name"``
``X | Y``     values for ``X`` or ``Y``; leave the key out for None
============  =======================================================================

A number in quotes is a string, so ``lr = "1e-3"`` is a mistake.
"""

from __future__ import annotations

import collections.abc
import contextlib
import inspect
import os
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.train.base.problems import did_you_mean, one_of
from tinynet.train.config.rules import Share, share_of

_SEQUENCES = (
    collections.abc.Sequence,
    collections.abc.Iterable,
    collections.abc.Collection,
    collections.abc.MutableSequence,
)
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class MismatchError(Exception):
    """A value does not fit the declared type."""


def coerce(value: Any, declared: Any, text: str | None = None) -> Any:
    """Convert a value to the declared type.

    Args:
        value: a number, string, bool, list, dict, date or time, as read from TOML.
        declared: an annotation; `inspect.Parameter.empty` and unknown annotations accept anything.
        text: the text on the command line, for parameters that are strings.

    Raises:
        MismatchError: if no rule above converts the value.

    Example:
        >>> coerce(3, float), coerce([64, 1e1], list[int])
        (3.0, [64, 10])
        >>> coerce("1e-3", float)
        Traceback (most recent call last):
        ...
        tinynet.train.config.coercion.MismatchError: must be a number, got the string '1e-3' ...
    """
    origin = typing.get_origin(declared)
    if origin is typing.Annotated:
        return coerce(value, typing.get_args(declared)[0], text)
    if origin in (typing.Union, types.UnionType):
        return _union(value, declared, text)
    if origin is typing.Literal:
        return _literal(value, declared, text)
    container = origin or declared
    if container in (list, tuple) or container in _SEQUENCES:
        return _sequence(value, declared, container)
    if container in _MAPPINGS:
        return _mapping(value, declared)
    rule = _RULES.get(declared) if isinstance(declared, collections.abc.Hashable) else None
    return rule(value, text) if rule else _instance(value, declared)


def is_mapping(declared: Any) -> bool:
    """Return whether a parameter takes a table unchanged."""
    return (typing.get_origin(declared) or declared) in _MAPPINGS


def accepts_paths(declared: Any) -> bool:
    """Return whether a parameter takes paths: its annotation has ``Path`` or ``os.PathLike``.

    Example:
        >>> accepts_paths(str | os.PathLike[str]), accepts_paths(list[Path]), accepts_paths(str)
        (True, True, False)
    """
    kind = typing.get_origin(declared) or declared
    if inspect.isclass(kind) and kind in (Path, os.PathLike):
        return True
    return any(accepts_paths(argument) for argument in typing.get_args(declared))


def accepts_functions(declared: Any) -> bool:
    """Return whether a parameter takes a function, or a list of functions.

    Example:
        >>> from collections.abc import Callable
        >>> accepts_functions(Callable[[int], float]), accepts_functions(str)
        (True, False)
    """
    kind = typing.get_origin(declared) or declared
    return kind is Callable or any(accepts_functions(a) for a in typing.get_args(declared))


def takes_one_function(declared: Any) -> bool:
    """Return whether a parameter takes a function, but no list.

    Example:
        >>> from collections.abc import Callable
        >>> takes_one_function(Callable | None), takes_one_function(list[Callable])
        (True, False)
    """
    if typing.get_origin(declared) in (typing.Union, types.UnionType):
        return any(takes_one_function(member) for member in typing.get_args(declared))
    return (typing.get_origin(declared) or declared) is Callable


def anchored(value: Any, folder: Path) -> Any:
    """Make a path (or each in a list) absolute, relative to ``folder``; expand ``~``.

    Example:
        >>> anchored("../x.csv", Path("/data/configs"))
        '/data/x.csv'
    """
    if isinstance(value, list | tuple):
        return type(value)(anchored(item, folder) for item in value)
    if not isinstance(value, str | Path):
        return value
    return type(value)(os.path.abspath(folder / os.path.expanduser(value)))


def declared_type(annotation: Any, default: Any) -> Any:
    """Return the annotation of a parameter or, without one, the type of its default.

    Example:
        >>> declared_type(inspect.Parameter.empty, 0.9)
        <class 'float'>
    """
    if annotation is not inspect.Parameter.empty:
        return annotation
    # An unannotated 0 may stand for any number (dampening=0).
    return type(default) if type(default) in (bool, float, str) else inspect.Parameter.empty


def describe_type(declared: Any) -> str:
    """Describe a declared type in words.

    Example:
        >>> describe_type(list[int]), describe_type(float | None)
        ('a list (each element an integer)', 'a number')
    """
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    if origin is typing.Annotated:
        return describe_type(arguments[0])
    if origin in (typing.Union, types.UnionType):
        words = [describe_type(a) for a in arguments if a is not type(None)]
        return " or ".join(w for w in words if w != "a string" or "a path" not in words)
    if origin is typing.Literal:
        return f"one of {one_of(map(repr, arguments))}"
    if (origin or declared) in _MAPPINGS:
        return "a table"
    if origin in (list, tuple, *_SEQUENCES) and arguments:
        return f"a list ({_elements(origin, arguments)})"
    return _WORDS.get(origin or declared) or str(getattr(declared, "__name__", declared))


def _elements(origin: Any, arguments: tuple[Any, ...]) -> str:
    if origin is tuple and arguments[-1] is not Ellipsis:
        return " and ".join(describe_type(argument) for argument in arguments)
    return f"each element {describe_type(arguments[0])}"


def _mismatch(value: Any, declared: Any, hint: str = "") -> MismatchError:
    return MismatchError(f"must be {describe_type(declared)}, got {_seen(value)}{hint}")


def _seen(value: Any) -> str:
    kinds = {bool: "", int: "", float: "", str: "the string ", list: "the list ", dict: "a table "}
    shown = repr(value).lower() if isinstance(value, bool) else repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return kinds.get(type(value), "") + shown


# ---- one rule per type ------------------------------------------------------------------------


def _int(value: Any, text: str | None) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _mismatch(value, int, _quotes(value, int))
    return value


def _float(value: Any, text: str | None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _mismatch(value, float, _quotes(value, float))
    try:
        return float(value)
    except OverflowError:
        raise _mismatch(value, float, " (too large)") from None


def _quotes(value: Any, kind: Callable[[str], object]) -> str:
    """Return a hint for numbers in quotes."""
    if not isinstance(value, str):
        return ""
    try:
        kind(value)
    except ValueError:
        return ""
    return " (write it without quotes)"


def _bool(value: Any, text: str | None) -> bool:
    if not isinstance(value, bool):
        hint = " (write it without quotes)" if value in ("true", "false") else ""
        raise _mismatch(value, bool, hint)
    return value


def _str(value: Any, text: str | None) -> str:
    if isinstance(value, str):
        return value
    if text is not None:
        return text
    raise _mismatch(value, str)


def _share(value: Any, text: str | None) -> Share:
    if not isinstance(value, str) or not share_of(value):
        raise _mismatch(value, Share)
    return Share(value)


def _path(value: Any, text: str | None) -> Path:
    return Path(_str(value, text))


def _dtype(value: Any, text: str | None) -> dtypes.dtype:
    by_name = {n: d for n, d in vars(dtypes).items() if isinstance(d, dtypes.dtype)}
    if isinstance(value, str) and value.rpartition(".")[2] in by_name:
        return by_name[value.rpartition(".")[2]]
    raise _mismatch(value, dtypes.dtype, did_you_mean(str(value), by_name))


def _tensor(value: Any, text: str | None) -> Tensor:
    array = _array(value, text)
    return wrap(array.astype(dtypes.default_float()) if dtypes.is_floating(array.dtype) else array)


def _array(value: Any, text: str | None) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:
        raise _mismatch(value, np.ndarray, " (rows of different lengths)") from None
    if array.dtype.kind not in "biuf":
        raise _mismatch(value, np.ndarray)
    return array


def _none(value: Any, text: str | None) -> None:
    if value is not None:
        raise _mismatch(value, type(None))


def _instance(value: Any, declared: Any) -> Any:
    """Accept only instances of a class; TOML has none, so they need a ``type``."""
    kind = typing.get_origin(declared) or declared
    if not inspect.isclass(kind) or kind is inspect.Parameter.empty:
        return value  # Any, a TypeVar, an unknown forward reference, ...
    with contextlib.suppress(TypeError):  # a Protocol that does not support isinstance
        if not isinstance(value, kind):
            raise _mismatch(value, declared, " (give a table with a type)")
    return value


def _sequence(value: Any, declared: Any, container: Any) -> Any:
    arguments = typing.get_args(declared)
    if not isinstance(value, list | tuple):
        raise _mismatch(value, declared)
    fixed = container is tuple and arguments and arguments[-1] is not Ellipsis
    if fixed and len(value) != len(arguments):
        raise _mismatch(value, declared)
    declared_types = arguments if fixed else [*arguments[:1]] * len(value)
    if declared_types:
        pairs = zip(value, declared_types, strict=True)
        value = [_element(index, *pair) for index, pair in enumerate(pairs)]
    return tuple(value) if container is tuple else list(value)


def _element(index: int, value: Any, declared: Any) -> Any:
    try:
        return coerce(value, declared)
    except MismatchError as mismatch:
        raise MismatchError(f"element {index} {mismatch}") from None


def _mapping(value: Any, declared: Any) -> dict[str, Any]:
    arguments = typing.get_args(declared)
    if not isinstance(value, dict):
        raise _mismatch(value, declared)
    return {k: coerce(v, arguments[1]) for k, v in value.items()} if arguments else value


def _literal(value: Any, declared: Any, text: str | None) -> Any:
    choices = typing.get_args(declared)
    for choice in choices:
        for candidate in (value, text):
            if type(candidate) is type(choice) and candidate == choice:
                return choice
    raise _mismatch(value, declared, did_you_mean(str(value), map(str, choices)))


def _union(value: Any, declared: Any, text: str | None) -> Any:
    members = typing.get_args(declared)
    if type(value) in members:  # an int stays one for `float | int`
        return value
    for member in members:
        try:
            return coerce(value, member, text)
        except MismatchError:
            pass
    only = [member for member in members if member is not type(None)]
    if len(only) == 1:
        coerce(value, only[0], text)  # raises the more specific message
    number = next((kind for kind in (float, int) if kind in members), None)
    raise _mismatch(value, declared, _quotes(value, number) if number else "")


_RULES: dict[Any, Callable[[Any, str | None], Any]] = {
    int: _int,
    float: _float,
    bool: _bool,
    str: _str,
    Share: _share,
    Path: _path,
    dtypes.dtype: _dtype,
    Tensor: _tensor,
    np.ndarray: _array,
    type(None): _none,
}

_WORDS: dict[Any, str] = {
    int: "an integer",
    float: "a number",
    bool: "true or false",
    str: "a string",
    Share: "a share of the run, such as '5%'",
    list: "a list",
    tuple: "a list",
    Callable: "a function (./file.py:name, or package.module:name)",
    Path: "a path",
    os.PathLike: "a path",
    dtypes.dtype: "the name of a dtype",
    Tensor: "a number or a list of numbers",
    np.ndarray: "a number or a list of numbers",
    type(None): "left out",
    inspect.Parameter.empty: "anything",
}
