"""Reading pickles with objects of any class, if their names are permitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.exchange.model import own_state
from tinynet.exchange.opcodes import Function, Reader
from tinynet.exchange.python_names import BUILDERS
from tinynet.exchange.pytorch_names import FUNCTIONS, KINDS, VALUES
from tinynet.nn.base.tables import Table


class ObjectReader(Reader):
    """Reads a pickle that may create and call everything that ``find`` returns.

    Args:
        persistent: returns the object for a persistent id.
        find: module and name -> the class or function; raises RefusedError if not permitted.
        trusted: whether everything is permitted, as with ``pickle``. Otherwise, data classes are
            looked up first, and the result may contain only those and what ``find`` returned.
    """

    def __init__(
        self,
        persistent: Callable[[Any], Any],
        find: Callable[[str, str], Any],
        trusted: bool = False,
    ):
        super().__init__(FUNCTIONS, VALUES, persistent, (*KINDS, Table), BUILDERS)
        self._find = find
        self._trusted = trusted
        self._found: dict[int, Any] = {}

    def _name(self, module: str, name: str) -> None:
        if not self._trusted and self._is_listed(f"{module}.{name}"):
            super()._name(module, name)
            return
        found = self._find(module, name)
        self._found[id(found)] = found
        self._stack.append(found)

    def _allows(self, value: Any) -> bool:
        return self._trusted or id(value) in self._found

    def _hashed(self, keys: list[Any]) -> None:
        if not self._trusted:
            super()._hashed(keys)

    def _called(self, function: Any, arguments: Any) -> Any:
        if isinstance(function, Function) or not self._allows(function):
            return super()._called(function, arguments)
        return function(*arguments)

    def _made(self, kind: Any, arguments: Any, named: Any) -> Any:
        if not isinstance(kind, type) or not self._allows(kind):
            return super()._made(kind, arguments, named)
        return kind.__new__(kind, *arguments, **named)

    def _target(self, *kinds: type) -> Any:
        target = self._stack[-1]
        return target if self._allows(type(target)) else super()._target(*kinds)

    def _build(self, _: Any) -> None:
        target = self._stack[-2]
        if not self._allows(type(target)):
            super()._build(_)
            return
        set_state(target, own_state(target, self._stack.pop()))

    def _plain(self, data: Any) -> Any:
        if self._trusted:
            return data
        return super()._plain(data)

    def _is_plain(self, item: Any) -> bool:
        return super()._is_plain(item) or id(type(item)) in self._found

    def _is_named(self, item: Any) -> bool:
        return id(item) in self._found


def set_state(target: Any, state: Any) -> None:
    """Set the state of a new object, as ``pickle`` does."""
    own = getattr(target, "__setstate__", None)
    if own is not None:
        own(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if attributes:
        target.__dict__.update(attributes)
    for name, value in (slots or {}).items():
        setattr(target, name, value)
