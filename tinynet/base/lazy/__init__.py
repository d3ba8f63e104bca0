"""Packages whose names load when they are first used (PEP 562).

The ``__init__.py`` of such a package imports its names for type checkers only:

    if TYPE_CHECKING:
        from tinynet.nn.layers.linear import *
    else:
        __getattr__, __dir__, __all__ = _attach(__name__)

``table.py`` contains the module of each name. ``python -m tinynet.base.lazy`` writes it, and
``operations.py``: the modules of operations, whose functions and methods load in the same way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from tinynet.base.lazy.operations import OPERATIONS
from tinynet.base.lazy.table import MODULES


def _homes(modules: Mapping[str, str]) -> dict[str, str]:
    """Return the module of each name, followed by ``:attribute`` unless it is the module itself."""
    homes = {}
    for module, names in modules.items():
        for name, has_other, other in (entry.partition("=") for entry in names.split()):
            attribute = other if has_other else name
            homes[name] = f"{module}:{attribute}" if attribute else module
    return homes


HOMES = {package: _homes(modules) for package, modules in (MODULES | OPERATIONS).items()}
"""The homes of the names of each lazy package."""
METHODS = HOMES.pop("tinynet.Tensor")
"""The homes of the methods of Tensor that load when they are first used."""
_FINISHED: dict[str, Callable[[str], Any]] = {}
"""Of some packages, what a name stands for when its module is loaded."""
_ALIASES = "tinynet.compat.paths"  # what PyTorch has elsewhere; loaded when it is asked for


class AliasFinder:
    """Finds PyTorch's paths that are not files of tinynet: ``import tinynet.jit``.

    One stands last, for what no other finder finds; one first, for what is inside of an alias: the
    files there have been loaded under their own path.

    Args:
        inside: whether to look for what is inside of an alias only.
    """

    def __init__(self, inside: bool) -> None:
        self.inside = inside

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of such a path, None for all others."""
        if not name.startswith("tinynet."):
            return None
        parent = name.rpartition(".")[0]
        if self.inside and sys.modules[parent].__name__ == parent:
            return None
        spec: ModuleSpec | None = import_module(_ALIASES).spec_of(name)
        return spec


sys.meta_path.insert(0, AliasFinder(inside=True))
sys.meta_path.append(AliasFinder(inside=False))


def attach(
    package: str, find: Callable[[str], Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Args:
        package: its dotted name.
        find: returns what a name stands for when its module is loaded; its attribute unless given.
    """
    if find is not None:
        _FINISHED[package] = find
    public = [name for name in names(package) if not name.startswith("_")]
    return partial(load, package), partial(names, package), public


def load(package: str, name: str) -> Any:
    """Return a name of a package from its module, and keep it in the package.

    A name that is not in the table is a module of the package, or what PyTorch has there and
    tinynet elsewhere.

    Raises:
        AttributeError: the package has no such name.
    """
    if name not in HOMES.get(package, ()):
        if name.startswith("__"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if _is_file(package, name):  # `from package import module` asks here first
            return import_module(f"{package}.{name}")
        return import_module(_ALIASES).find(package, name)
    home, _, attribute = HOMES[package][name].partition(":")
    loaded = _imported(home)
    if package in _FINISHED:
        value = _FINISHED[package](name)
    else:
        value = getattr(loaded, attribute) if attribute else loaded
    setattr(sys.modules[package], name, value)
    return value


def _imported(module: str) -> ModuleType:
    """Import a module, and before it the packages around it.

    Python imports them while it holds the module's lock; another thread that runs a package which
    imports the module would wait for that.
    """
    parts = module.split(".")
    *_, found = (import_module(".".join(parts[:count])) for count in range(1, len(parts) + 1))
    return found


def _is_file(package: str, name: str) -> bool:
    """Return whether a package has a module of this name, loaded or not."""
    path = vars(sys.modules[package]).get("__path__", ())
    return PathFinder.find_spec(f"{package}.{name}", path) is not None


def names(package: str) -> list[str]:
    """Return all names of a package, loaded or not."""
    homes = HOMES.get(package, {})  # empty until ``python -m tinynet.base.lazy`` has run
    return sorted({*homes, *vars(sys.modules[package])} - {"TYPE_CHECKING"})


def find(module: ModuleType, name: str) -> Any:
    """Return what ``vars(module).get(name)`` would return if all names were loaded."""
    if name in HOMES.get(module.__name__, ()):
        return load(module.__name__, name)
    return vars(module).get(name)


def members(module: ModuleType) -> dict[str, Any]:
    """Return what ``vars(module)`` would contain if all names were loaded."""
    homes = HOMES.get(module.__name__, {})
    eager = {name: value for name, value in vars(module).items() if name not in homes}
    return eager | {name: getattr(module, name) for name in homes}


class Later:
    """Stands on a class for a method whose module loads when the method is first used.

    Attributes:
        name: the name of the method.
        module: the module that declares it.
        found: the method, once it is loaded.

    Args:
        name, module: see above.
        finish: called when the module is loaded; finds the methods of all objects that it is given.
    """

    __slots__ = ("finish", "found", "module", "name")

    def __init__(self, name: str, module: str, finish: Callable[[str], None]) -> None:
        self.name, self.module, self.finish = name, module, finish
        self.found: Any = None

    def load(self) -> Any:
        """Return the method."""
        if self.found is None:
            _imported(self.module)  # waits for another thread that loads it
            self.finish(self.module)
        return self.found

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.load().__get__(instance, owner)


class LaterProperty(Later):
    """The same for a property: setting it must not make an attribute of its name."""

    __slots__ = ()

    def __set__(self, instance: Any, value: Any) -> None:
        self.load().__set__(instance, value)

    def __delete__(self, instance: Any) -> None:
        self.load().__delete__(instance)


def later(finish: Callable[[str], None]) -> dict[str, list[Later]]:
    """Return what stands for the methods of Tensor, for each module that declares some."""
    found: dict[str, list[Later]] = {}
    for name, home in METHODS.items():
        module, _, kind = home.partition(":")
        make = LaterProperty if kind == "property" else Later
        found.setdefault(module, []).append(make(name, module, finish))
    return found
