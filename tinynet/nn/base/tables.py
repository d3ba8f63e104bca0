"""Where a module keeps its attributes and members.

Its members (parameters, buffers and submodules) stand in the tables ``_parameters``, ``_buffers``
and ``_modules``, in order of registration, and ``module.__dict__`` shows the other attributes only,
as in PyTorch. There, ``__getattr__`` looks members up in the tables; written in Python, that took a
third of the time of a small layer. So the dictionary that Python reads, ``attributes(module)``, has
the members too. A table writes to the dictionaries of all modules that hold it.

``Module.__getattr__`` serves what this leaves out: a member with the name of a class attribute, and
all members of a class with a base before ``Module`` that brings a ``__dict__`` of its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tinynet.core.explanations.arguments import ChecksArguments

if TYPE_CHECKING:
    from tinynet.nn.base.module import Module

PARAMETERS, BUFFERS, MODULES = TABLES = ("_parameters", "_buffers", "_modules")

# The dictionary that Python reads: the attributes of a module, members included.
attributes: Callable[[Module], dict[str, Any]] = vars(ChecksArguments)["__dict__"].__get__
_ABSENT = object()


class _Written(dict[str, Any]):
    """A dictionary that passes on what is written to it, in whatever way."""

    __slots__ = ()

    def update(self, *given: Any, **named: Any) -> None:
        """Set names from a mapping or pairs, and from keyword arguments."""
        for name, value in dict(*given, **named).items():
            self[name] = value

    def __ior__(self, given: Any) -> _Written:  # type: ignore[misc, override]
        self.update(given)
        return self

    def setdefault(self, name: str, default: Any = None) -> Any:
        """Return a value, setting it first if it is missing."""
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, *default: Any) -> Any:
        """Remove and return a value, or return the default."""
        if name not in self and default:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last (name, value) pair."""
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        """Remove everything."""
        for name in [*self]:
            del self[name]

    def __reduce__(self) -> Any:
        """Copy and pickle as a plain dictionary, detached from the module."""
        return dict, (dict(self),)


class Table(_Written):
    """The members of one kind: name -> value, in order.

    The references to the modules that hold it are weak: a cycle would leave freeing them to the
    garbage collector.
    """

    __slots__ = ("_holders",)

    def __init__(self, *holders: weakref.ref[Module]):
        self._holders = holders

    def join(self, module: Module) -> None:
        """Make a module one of the holders."""
        self._holders = (*(r for r in self._holders if r() is not None), weakref.ref(module))
        for name, value in self.items():
            _show(module, name, value)

    def leave(self, module: Module) -> None:
        """Let a module hold the table no longer."""
        self._holders = tuple(r for r in self._holders if r() is not module)
        for name, value in self.items():
            _hide(module, name, value)

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        for reference in self._holders:
            if (module := reference()) is not None:
                _show(module, name, value)

    def __delitem__(self, name: str) -> None:
        value = self[name]
        super().__delitem__(name)
        for reference in self._holders:
            if (module := reference()) is not None:
                _hide(module, name, value)


def _show(module: Module, name: str, value: Any) -> None:
    """Set a member in the dictionary that Python reads, unless the class has something else."""
    namespace = None
    for base in type(module).__mro__:
        own = vars(base)
        if name in own:
            return
        namespace = namespace or own.get("__dict__")
    if namespace is NAMESPACE:
        attributes(module)[name] = value


def _hide(module: Module, name: str, value: Any) -> None:
    own = attributes(module)
    if own.get(name, _ABSENT) is value:
        del own[name]


class Attributes(_Written):
    """The attributes of a module but for its members, when it is made; it writes to the module."""

    __slots__ = ("_module",)

    def __init__(self, module: Module):
        self._module = module
        own = attributes(module)
        members = {n: value for t in TABLES for n, value in own.get(t, {}).items()}
        super().__init__({n: v for n, v in own.items() if members.get(n, _ABSENT) is not v})

    def __missing__(self, name: str) -> Any:
        if name[-6:] == "_hooks" and isinstance(found := getattr(self._module, name, None), dict):
            return found
        raise KeyError(name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name in TABLES:
            value = set_table(self._module, name, value)
        else:
            attributes(self._module)[name] = value
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        own = attributes(self._module)
        if name in TABLES:
            own[name].leave(self._module)
        del own[name]
        table = table_of(self._module, name)
        if table is not None:
            _show(self._module, name, own[table][name])


def _replace(module: Module, given: dict[str, Any]) -> None:
    shown, given = Attributes(module), {**given}
    shown.clear()
    shown.update(given)


NAMESPACE = property(Attributes, _replace)


def set_table(module: Module, name: str, values: Any) -> Table:
    """Set a table of a module; one that another module holds is shared."""
    own = attributes(module)
    if isinstance(old := own.get(name), Table):
        old.leave(module)
    table = own[name] = values if isinstance(values, Table) else Table()
    table.join(module)
    if table is not values:
        table.update(values or {})
    return table


def table_of(module: Module, name: str) -> str | None:
    """Return the table that holds a name, if any."""
    own = attributes(module)
    for table in TABLES:
        if name in own.get(table, ()):
            return table
    return None
