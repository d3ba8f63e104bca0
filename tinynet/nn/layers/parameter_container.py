"""Containers of parameters: ParameterList, ParameterDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.layers.container import pairs_of
from tinynet.nn.parameter import Parameter

__all__ = ["ParameterList", "ParameterDict"]


def _as_parameter(value: Any) -> Any:
    """Return a tensor as a parameter; return anything else unchanged."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _line(name: Any, value: Any, kind: str) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    what = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(n) for n in value.shape)
    return f"  ({name}): {what} containing: [{kind} of size {size}]"


class ParameterList(Module):
    """A list of parameters; tensors become parameters when added.

    Args:
        values: the initial values; objects that are not tensors are stored unchanged.

    Raises:
        TypeError: ``values`` is not iterable.
        IndexError: the index is out of range.
        RuntimeError: an integer tensor is added, or the list is called.

    Example:
        >>> params = nn.ParameterList([tn.zeros(2), tn.zeros(3)])
        >>> [name for name, _ in params.named_parameters()]
        ['0', '1']
    """

    def __init__(self, values: Iterable[Any] | None = None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _name_at(self, index: Any) -> str:
        index = operator.index(index)
        if not -self._size <= index < self._size:
            raise IndexError(f"index {index} is out of range")
        return str(index % self._size)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)([*self][index])
        return getattr(self, self._name_at(index))

    def __setitem__(self, index: int, param: Any) -> None:
        setattr(self, self._name_at(index), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(i)) for i in range(self._size)])

    def __iadd__(self, parameters: Iterable[Any]) -> ParameterList:
        return self.extend(parameters)

    def append(self, value: Any) -> ParameterList:
        """Append a value and return self."""
        setattr(self, str(self._size), _as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Append values from an iterable and return self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in [*values]:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """Return one line per value."""
        kinds = [str(v.dtype) if isinstance(v, Tensor) else "" for v in self]
        return "\n".join(_line(i, v, kinds[i]) for i, v in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary of parameters; tensors become parameters when added.

    Args:
        parameters: the initial values: a mapping, or (name, value) pairs; objects that are not
            tensors are stored unchanged.

    Raises:
        AttributeError: the name is missing.
        KeyError: a new name is empty, contains a ".", or is an attribute of the class.
        TypeError, ValueError: a name is not a string; the argument is neither a mapping nor pairs.
        RuntimeError: an integer tensor is added, or the dictionary is called.

    Example:
        >>> params = nn.ParameterDict({"left": tn.zeros(2), "right": tn.zeros(3)})
        >>> list(params.keys())
        ['left', 'right']
    """

    def __init__(self, parameters: Any = None):
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _name(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, _name(key), _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed([*self._keys])

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return the (name, value) pairs."""
        return [(key, self[key]) for key in self._keys]

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return [self[key] for key in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value for a name, or the default."""
        return self[key] if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value for a name, setting it to the default if missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Remove and return a value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last (name, value) pair."""
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        """Remove all values."""
        for key in [*self]:
            del self[key]

    def copy(self) -> ParameterDict:
        """Return a dictionary of the same parameters."""
        return ParameterDict(self.items())

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a dictionary that maps each name to the same value."""
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters: Any) -> None:
        """Add values from a mapping or pairs, replacing those of the same name.

        As in PyTorch, plain dictionaries are added in sorted order, so the state of an optimizer
        can be exchanged.
        """
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())
        for key, value in pairs_of(parameters, "ParameterDict"):
            self[key] = value

    def extra_repr(self) -> str:
        """Return one line per value."""
        return "\n".join(
            _line(k, v, f"tinynet.{v.dtype.tensor_name}" if isinstance(v, Tensor) else "")
            for k, v in self.items()
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        return ParameterDict([*self.items(), *other.items()])

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self


def _name(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string "
            f"(type is '{type(key).__name__}')."
        )
    return key
