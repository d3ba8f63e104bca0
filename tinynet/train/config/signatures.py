"""Keyword arguments of a config checked against the signature that they are meant for."""

from __future__ import annotations

import contextlib
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tinynet.train.config.coercion import declared_type
from tinynet.train.config.toml_text import toml_value

_EMPTY = inspect.Parameter.empty
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Component:
    """A ``type`` and the keyword arguments that it will be called with; not built yet.

    Example:
        >>> from tinynet.train import load_config
        >>> component = load_config("configs/digits_mlp.toml").optimizer.component
        >>> component.path, component.type, component.target is optim.AdamW
        ('optimizer', 'AdamW', True)
    """

    path: str
    """Its place in the config: ``"optimizer"``."""

    type: str
    """The type as the config says it, with an absolute path if it is in a file."""

    target: Callable[..., Any]
    """The class or function that the type means."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What was given, as the signature declares it; components inside are not built yet."""

    written: Mapping[str, Any] = field(default_factory=dict)
    """The same as TOML can say it, and the defaults of what was left out."""

    takes: frozenset[str] = frozenset()
    """The names of all its keywords, those that the trainer sets included."""

    given: str | None = None
    """The parameter that the trainer gives: its name, "" for the first, None if there is none."""

    @property
    def inline(self) -> dict[str, Any]:
        """`written` for one line, where is no room for comments: without what TOML cannot say."""
        return {k: value for k, value in self.written.items() if toml_value(value) is not None}


@dataclass(frozen=True)
class Parameter:
    """One keyword that a ``type`` takes."""

    name: str
    declared: Any
    """Its annotation, or what its default suggests."""

    default: Any
    """`inspect.Parameter.empty` if it must be given."""

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is _EMPTY


@dataclass(frozen=True)
class Signature:
    """What a ``type`` can be called with from a config."""

    parameters: Mapping[str, Parameter]
    open: bool
    """Whether it takes any other keyword, too (``**kwargs``)."""

    def __str__(self) -> str:
        """The names, as a reader of a message wants them."""
        return ", ".join(self.parameters) or "no arguments"


def signature_of(target: Callable[..., Any], given: str | None = None) -> Signature:
    """The keywords that a class or function takes.

    Args:
        target: any callable.
        given: the parameter that the trainer gives (`Component.given`), no part of the result.

    Raises:
        ValueError: Python does not know the signature.

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


def _hints(target: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a signature, as types; those that cannot be evaluated are left out."""
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
    arguments = {key: _inside(value, supplied) for key, value in component.arguments.items()}
    if component.given:
        return component.target(**{component.given: supplied[0]}, **arguments, **hidden)
    return component.target(*supplied, **arguments, **hidden)


def _inside(value: Any, supplied: tuple[Any, ...]) -> Any:
    if isinstance(value, Component):
        return construct(value, *(supplied if value.given is not None else ()))
    if isinstance(value, list):
        return [_inside(item, supplied) for item in value]
    return value
