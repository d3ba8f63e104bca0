"""Containers of modules: Sequential, ModuleList, ModuleDict, and the deprecated Container."""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import forget, not_a_module

__all__ = ["Container", "Sequential", "ModuleList", "ModuleDict"]

# ---- what they share ----------------------------------------------------------------------------


def _put(module: Module, children: Iterable[tuple[str, Module | None]]) -> None:
    """Replace all children."""
    new = dict(children)
    module._modules.clear()
    for name, child in new.items():
        module.add_module(name, child)


def _numbered(children: Iterable[Module | None]) -> Iterator[tuple[str, Module | None]]:
    return ((str(i), child) for i, child in enumerate(children))


def _name_at(module: Module, index: Any) -> str:
    """Return the name of the child at an index.

    Raises:
        IndexError: the index is out of range.
    """
    names = [*module._modules]
    index = operator.index(index)
    if not -len(names) <= index < len(names):
        raise IndexError(f"index {index} is out of range")
    return names[index]


def _get(module: Module, index: Any) -> Any:
    if isinstance(index, slice):
        base = Sequential if isinstance(module, Sequential) else ModuleList
        same = type(module).__init__ is base.__init__  # else it needs arguments that we do not know
        part = type(module)() if same else base()
        named = [*module._modules.items()][index]
        _put(part, named if base is Sequential else _numbered(child for _, child in named))
        return part
    return module._modules[_name_at(module, index)]


def _set(module: Module, index: int, child: Module) -> None:
    setattr(module, _name_at(module, index), child)


def _delete(module: Module, index: int | slice) -> None:
    children = [*module._modules.values()]
    if not isinstance(index, slice):
        _name_at(module, index)
    del children[index]
    _put(module, _numbered(children))


def _check(module: Any) -> None:
    if module is not None and not isinstance(module, Module):
        raise not_a_module(module)


def _insert(module: Module, index: int, child: Module) -> None:
    """Insert a child and renumber those after it; other names stay."""
    _check(child)
    named = [*module._modules.items()]
    named.insert(index, (str(len(named)), child))
    if all(name.isdigit() for name, _ in named):
        named = [*_numbered(c for _, c in named)]
    _put(module, named)


# ---- containers ---------------------------------------------------------------------------------


class Sequential(Module):
    """A chain of modules: the output of each is the input of the next.

    Args:
        args: the modules, or a dictionary of them.

    Shape:
        The input shape of the first module to the output shape of the last.

    Raises:
        TypeError: an item is not a Module.
        IndexError: the index is out of range.
        KeyError: a name is taken, empty, or contains a ".".

    Example:
        >>> net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
        >>> net(tn.zeros(5, 4)).shape
        tinynet.Size([5, 2])
        >>> net[1]
        ReLU()
    """

    def __init__(self, *args: Any):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for name, module in _numbered(args):
                self.add_module(name, module)

    def forward(self, input: Any) -> Tensor:
        """Run all modules in order."""
        for module in self:
            input = module(input)
        return input

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: int | slice) -> Any:
        return _get(self, index)

    __setitem__ = _set
    __delitem__ = _delete

    def append(self, module: Module) -> Sequential:
        """Append a module and return self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        """Insert a module before the one at ``index`` and return self.

        Raises:
            AssertionError: ``module`` is not a Module.
            IndexError: ``index`` is out of range.
        """
        if not isinstance(module, Module):
            sentence = f"module should be of type: {Module}"
            raise AssertionError("\n".join([sentence, *str(not_a_module(module)).split("\n")[1:]]))
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        _insert(self, index, module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Append modules from an iterable and return self."""
        for module in list(sequential):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove and return the module at an index."""
        module = self[key]
        del self[key]
        return module

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *_sequential(other))

    def __iadd__(self, other: Sequential) -> Sequential:
        return self.extend(_sequential(other))

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*[*self] * _factor(self, other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        return self.extend([*self] * (_factor(self, other) - 1))


def _sequential(other: Any) -> Sequential:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )
    return other


def _factor(module: Sequential, other: Any) -> int:
    if not isinstance(other, int):
        raise TypeError(f"unsupported operand type(s) for *: {type(module)} and {type(other)}")
    if other <= 0:
        raise ValueError(f"Non-positive multiplication factor {other} for {type(module)}")
    return other


class ModuleList(Module):
    """A list of submodules, without a ``forward``.

    Args:
        modules: the initial modules.

    Raises:
        TypeError: an item is not a Module, or ``modules`` is not iterable.
        IndexError: the index is out of range.
        NotImplementedError: the container is called.

    Example:
        >>> layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
        >>> layers.append(nn.ReLU())
        ModuleList(
          (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
          (3): ReLU()
        )
    """

    def __init__(self, modules: Iterable[Module] | None = None):
        super().__init__()
        if modules is not None:
            self += modules

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: int | slice) -> Any:
        return _get(self, index)

    __setitem__ = _set
    __delitem__ = _delete

    def append(self, module: Module) -> ModuleList:
        """Append a module and return self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Insert a module before the one at ``index``."""
        _insert(self, index, module)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Append modules from an iterable and return self."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in [*modules]:
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove and return the module at an index."""
        module = self[key]
        del self[key]
        return module

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __repr__(self) -> str:
        """Return the printed form, with runs of equal modules collapsed."""
        runs: list[tuple[str, int]] = []
        for module in self:
            text = repr(module)
            count = runs.pop()[1] if runs and runs[-1][0] == text else 0
            runs.append((text, count + 1))
        lines, first = [], 0
        for text, count in runs:
            last = first + count - 1
            number = f"({first})" if count == 1 else f"({first}-{last})"
            times = "" if count == 1 else f"{count} x "
            lines.append(f"{number}: {times}{text}".replace("\n", "\n  "))
            first = last + 1
        inside = "\n  ".join(["", *lines]) + "\n" if lines else ""
        return f"{self._get_name()}({inside})"


class ModuleDict(Module):
    """A dictionary of submodules, without a ``forward``.

    Args:
        modules: the initial modules: a mapping, or (name, module) pairs.

    Raises:
        KeyError: the name is missing; or a new name is empty, contains a ".", or is an attribute of
            the class, such as ``"keys"``.
        TypeError: a value is not a Module, or a name is not a string.
        ValueError: an item is not a pair.
        NotImplementedError: the container is called.

    Example:
        >>> heads = nn.ModuleDict({"cat": nn.Linear(4, 2), "dog": nn.Linear(4, 3)})
        >>> heads["dog"](tn.zeros(1, 4)).shape
        tinynet.Size([1, 3])
    """

    def __init__(self, modules: Any = None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        if key not in self:
            raise KeyError(key)
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        self.pop(key)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        _put(self, ())

    def pop(self, key: str) -> Any:
        """Remove and return a module."""
        module = self[key]
        forget(self, key)
        return module

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Any]:
        """Return the (name, module) pairs."""
        return self._modules.items()

    def values(self) -> ValuesView[Any]:
        """Return the modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or pairs, replacing those of the same name."""
        for key, module in pairs_of(modules, "ModuleDict"):
            self[key] = module


def pairs_of(given: Any, owner: str) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of a mapping, or of an iterable of pairs.

    Raises:
        TypeError, ValueError: the argument is neither.
    """
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, but got "
            f"{type(given).__name__}"
        )
    pairs: Any = given
    if isinstance(given, (Mapping, Module)):  # a ModuleDict or ParameterDict
        yield from pairs.items()
        return
    for number, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{owner} update sequence element #{number} should be Iterable; is "
                f"{type(pair).__name__}"
            )
        both = [*pair]
        if len(both) != 2:
            raise ValueError(
                f"{owner} update sequence element #{number} has length {len(both)}; 2 is required"
            )
        yield both[0], both[1]


class Container(Module):
    """Deprecated: a module with submodules given by keyword; use ``Module``.

    Args:
        **modules: the children.

    Raises:
        TypeError: a child is not a module.

    Source: https://docs.pytorch.org/docs/stable/nn.html, where it is deprecated.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     held = nn.Container(last=nn.Identity())
        >>> held.last
        Identity()
    """

    def __init__(self, **modules: Any):
        warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in "
            "`nn.Module`. Subclass that instead.",
            FutureWarning,
        )
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)
