"""Checking the keyword arguments of a config against signatures."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinynet.train.base.problems import has_users_frames, in_users_code, is_from_users_file
from tinynet.train.config.coercion import accepts_paths, declared_type
from tinynet.train.config.document import toml_value

_EMPTY = inspect.Parameter.empty
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Component:
    """A ``type`` with its keyword arguments, before it is built.

    Example:
        >>> from tinynet.train import load_config
        >>> component = load_config("configs/digits_mlp.toml").optimizer.component
        >>> component.path, component.type, component.target is optim.AdamW
        ('optimizer', 'AdamW', True)
    """

    path: str
    """Its path in the config: ``"optimizer"``."""

    type: str
    """The name of the type in the config, with an absolute path if it is in a file."""

    target: Callable[..., Any]
    """The class or function."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The given arguments, converted to the declared types; nested components are not built."""

    written: Mapping[str, Any] = field(default_factory=dict)
    """The given arguments and the defaults of the others, as values for TOML."""

    takes: frozenset[str] = frozenset()
    """The names of all its keywords, including those that the trainer sets."""

    given: str | None = None
    """The parameter that the trainer passes: its name, "" for the first, None for none."""

    is_called: bool = True
    """Whether building calls the target; otherwise the target itself is used."""

    @property
    def inline(self) -> dict[str, Any]:
        """`written` without the values that TOML cannot express, for use inside a line."""
        return {k: value for k, value in self.written.items() if toml_value(value) is not None}


@dataclass(frozen=True)
class Parameter:
    """A keyword of a ``type``."""

    name: str
    declared: Any
    """Its annotation, or the type of its default."""

    default: Any
    """Its default; `inspect.Parameter.empty` if it is required."""

    @property
    def required(self) -> bool:
        """Whether it is required."""
        return self.default is _EMPTY


@dataclass(frozen=True)
class Signature:
    """The keywords that a config can pass to a ``type``."""

    parameters: Mapping[str, Parameter]
    open: bool
    """Whether it accepts any other keyword (``**kwargs``)."""

    def __str__(self) -> str:
        """Return the names, for messages."""
        return ", ".join(self.parameters) or "no arguments"


def signature_of(target: Callable[..., Any], given: str | None = None) -> Signature:
    """Return the keywords of a class or function.

    Args:
        target: any callable.
        given: the parameter that the trainer passes (`Component.given`), excluded from the result.

    Raises:
        ValueError: if Python cannot determine the signature.

    Example:
        >>> print(signature_of(lambda params, lr, momentum=0.0: None, given=""))
        lr, momentum
    """
    parameters = [p for p in inspect.signature(target).parameters.values() if p.name != given]
    if given == "":
        del parameters[:1]
    hints = _hints(target)
    named = {
        p.name: Parameter(
            p.name,
            declared_type(hints.get(p.name, _EMPTY), p.default),
            p.default,
        )
        for p in parameters
        if p.kind in _NAMED
    }
    return Signature(named, any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters))


@functools.cache
def field_types(section: type) -> dict[str, Any]:
    """Return the declared type of each field of a section.

    Example:
        >>> from tinynet.train.config.sections import RunSection
        >>> field_types(RunSection)["epochs"]
        <class 'int'>
    """
    return typing.get_type_hints(section)


def _hints(target: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a signature as types, without those that fail to evaluate."""
    function: Any = target
    if inspect.isclass(target):
        function = target.__init__ if "__init__" in _attributes(target) else target.__new__
    elif not inspect.isroutine(target):
        function = type(target).__call__
    with contextlib.suppress(Exception):
        return typing.get_type_hints(function)
    annotations = getattr(function, "__annotations__", {})
    return {name: a for name, a in annotations.items() if not isinstance(a, str)}


def _attributes(cls: type) -> set[str]:
    return {name for base in cls.__mro__[:-1] for name in vars(base)}


# ---- building ----


def construct(component: Component, *supplied: Any, **hidden: Any) -> Any:
    """Call the target of a component, after building the components among its arguments."""
    if not component.is_called:
        return component.target
    arguments = {key: _inside(value, supplied) for key, value in component.arguments.items()}
    if component.given:
        return component.target(**{component.given: supplied[0]}, **arguments, **hidden)
    return component.target(*supplied, **arguments, **hidden)


def built(component: Component, key: str) -> Any:
    """Return the argument of a component as its target gets it; None if it is not given."""
    return _inside(component.arguments.get(key), ())


def _inside(value: Any, supplied: tuple[Any, ...]) -> Any:
    if isinstance(value, Component):
        return construct(value, *(supplied if value.given is not None else ()))
    if isinstance(value, list):
        return [_inside(item, supplied) for item in value]
    return value


# ---- constructor errors -------------------------------------------------------------------------
# The errors of constructors, and the arguments that they refer to.


def refusal(component: Component, error: BaseException) -> str:
    """Return the error message of a constructor, with the user's lines in its traceback."""
    foreign = ":" in component.type  # not of tinynet
    if is_from_users_file(error) or (foreign and has_users_frames(error)):
        return f"{component.type} failed\n{in_users_code(error)}"
    if isinstance(error, ModuleNotFoundError):
        return f"{component.type} cannot be used: {error}"
    text = f"{component.type} refused its arguments. {type(error).__name__}: {error}"
    if isinstance(error, FileNotFoundError):
        known = signature_of(component.target).parameters
        paths = [
            key
            for key, value in component.arguments.items()
            if isinstance(value, str | os.PathLike)
            and (key not in known or accepts_paths(known[key].declared))
        ]
        text += "".join(f"\n  To use another path: --set {component.path}.{k}=PATH" for k in paths)
    return text


_WORDS = {"lr": "learning rate", "eps": "epsilon", "betas": "beta parameter"}
"""The words for arguments in PyTorch's messages."""


def refused_at(component: Component, error: BaseException) -> str:
    """Return the path of the argument that an error names, or else the component's.

    Example:
        >>> sgd = Component("optimizer", "SGD", optim.SGD, {"lr": -1.0, "momentum": 0.9})
        >>> refused_at(sgd, ValueError("The 'lr' parameter of SGD must be >= 0. Got -1 instead."))
        'optimizer.lr'
    """
    file = getattr(error, "path", None) or getattr(error, "filename", None)
    places = [Path(file), *Path(file).parents] if isinstance(file, str) else []
    for owner, key in _arguments(component):
        value = owner.arguments[key]
        if isinstance(value, str | os.PathLike) and Path(value) in places:
            return f"{owner.path}.{key}"
    text = str(error)
    named = []
    for owner, key in _arguments(component):
        quoted = re.search(rf"['\"`]{re.escape(key)}['\"`]|\b{re.escape(key)} ?=", text, re.I)
        words = _WORDS.get(key, key)
        plain = re.search(rf"\b{re.escape(words)}\b", text, re.I) if len(words) > 2 else None
        found = quoted or plain
        if found:
            rank = (quoted is None, owner.type not in text, found.start())
            named.append((rank, f"{owner.path}.{key}"))
    return min(named)[1] if named else component.path


def _arguments(component: Component) -> Iterator[tuple[Component, str]]:
    """Yield the given arguments, nested components included."""
    for key, value in component.arguments.items():
        yield component, key
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Component):
                yield from _arguments(item)
