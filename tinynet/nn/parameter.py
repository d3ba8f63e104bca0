"""Parameter: a tensor that a module trains. Buffer: one that it keeps but does not train."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from tinynet import dtypes
from tinynet.core.tensor import Tensor, counter_of, dense_copy, wrap
from tinynet.core.views import set_requires_grad

T = TypeVar("T", bound=Tensor)


class Parameter(Tensor):
    """A tensor that a module trains: as an attribute of a module it joins its ``parameters()``.

    Args:
        data: the values; the parameter shares their memory and version. Empty unless given.
        requires_grad: whether gradients are computed for it; ``no_grad`` does not change this.

    Raises:
        TypeError: ``data`` is not a tensor.
        RuntimeError: gradients are asked for, and ``data`` is not floating-point.

    Example:
        >>> nn.Parameter(tn.ones(2))
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        """Make a leaf that shares the memory of ``data``."""
        p = _alias(cls, data)
        if requires_grad and p._array.dtype.kind != "f":
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        set_requires_grad(p, requires_grad)
        return p

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """Return a leaf with a copy of the values, without the gradient."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(wrap(dense_copy(self._array)), self._requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _parameter, (type(self), self._array, self._requires_grad, self.__dict__)


class Buffer(Tensor):
    """A tensor that a module keeps but does not train, such as a running mean.

    Args:
        data: the values; the buffer shares their memory and version. Empty unless given.
        persistent: whether it is part of the module's ``state_dict``.

    Example:
        >>> module = nn.Module()
        >>> module.mean = nn.Buffer(tn.zeros(2))
        >>> module.state_dict()
        OrderedDict([('mean', tensor([0., 0.]))])
    """

    __slots__ = ()
    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        """Make a leaf that shares the memory of ``data``, and requires grad if ``data`` does."""
        b = _alias(cls, data)
        b.persistent = persistent
        if data is not None and data.requires_grad:
            set_requires_grad(b, True)
        return b

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        """Return a buffer with a copy of the values."""
        if id(self) not in memo:
            copied = wrap(dense_copy(self._array))
            memo[id(self)] = type(self)(copied, persistent=self.persistent)
            set_requires_grad(memo[id(self)], self._requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _buffer, (type(self), self._array, self._requires_grad, self.__dict__)


def _alias(cls: type[T], data: Tensor | None) -> T:
    """Return a leaf of type ``cls`` that shares memory and version with ``data``."""
    if data is None:
        data = wrap(np.empty(0, dtypes.default_float()))
    if not isinstance(data, Tensor):
        raise TypeError(
            f"The 'data' parameter of {cls.__name__} must be a Tensor. "
            f"Got {type(data).__name__} instead."
        )
    t = object.__new__(cls)
    t._array = data._array
    t._counter = counter_of(data)
    t._edge = t._grad = t._view = t._hooks = None
    t._requires_grad = False
    return t


def _parameter(
    cls: type[Parameter], array: Any, requires_grad: bool, attributes: dict[str, Any]
) -> Parameter:
    """Return an unpickled parameter."""
    p = cls(wrap(array), requires_grad)
    p.__dict__.update(attributes)
    return p


def _buffer(
    cls: type[Buffer], array: Any, requires_grad: bool, attributes: dict[str, Any]
) -> Buffer:
    """Return an unpickled buffer."""
    b = cls(wrap(array))
    set_requires_grad(b, requires_grad)
    b.__dict__.update(attributes)
    return b
