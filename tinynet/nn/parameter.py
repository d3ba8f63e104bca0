"""Parameter, a trainable tensor of a module, and Buffer, one that is not trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from tinynet import dtypes
from tinynet.core.graph.views import set_requires_grad
from tinynet.core.tensors.subclasses import plain
from tinynet.core.tensors.tensor import Tensor, counter_of, dense_copy, wrap
from tinynet.ops.creation.constructors import empty

T = TypeVar("T", bound=Tensor)


class Parameter(Tensor):
    """A trainable tensor: as an attribute of a module, it is one of its ``parameters()``.

    Args:
        data: the values; the parameter shares their memory and version. Empty unless given.
        requires_grad: whether gradients are computed for it; ``no_grad`` does not change this.

    Raises:
        TypeError: ``data`` is not a tensor.
        RuntimeError: ``requires_grad`` is set, and ``data`` is not floating-point.

    Example:
        >>> nn.Parameter(tn.ones(2))
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()
    __torch_function__ = classmethod(plain)

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        """Create a leaf that shares memory with ``data``."""
        p = _alias(cls, data)
        if requires_grad and not dtypes.is_inexact(p._array.dtype):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        set_requires_grad(p, requires_grad)
        return p

    @property
    def _post_accumulate_grad_hooks(self) -> dict[int, Any] | None:  # optimizers read it
        return self._hooks.accumulated or None if self._hooks else None

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
    """A tensor of a module that is not trained, such as a running mean.

    Args:
        data: the values; the buffer shares their memory and version. Empty unless given.
        persistent: whether it is part of the module's ``state_dict``.

    Raises:
        TypeError: ``data`` is not a tensor.

    Example:
        >>> module = nn.Module()
        >>> module.mean = nn.Buffer(tn.zeros(2))
        >>> dict(module.state_dict())
        {'mean': tensor([0., 0.])}
    """

    __slots__ = ()
    __torch_function__ = classmethod(plain)
    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        """Create a leaf that shares memory with ``data`` and requires grad if ``data`` does."""
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


# ---- uninitialised parameters of lazy modules ---------------------------------------------------


class Uninitialized:
    """Base class of uninitialised parameters and buffers: a dtype, but no shape or values.

    Operations that need values read ``_array``, which raises.
    """

    __slots__ = ()
    _becomes: type
    _requires_grad: bool

    def share_memory_(self) -> Any:
        """Raise: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    @property
    def _array(self) -> Any:
        raise ValueError(
            "Attempted to use an uninitialized parameter. This error happens when you are using a "
            f"`LazyModule` or explicitly manipulating `tinynet.nn.parameter.{type(self).__name__}` "
            "objects. When using LazyModules Call `forward` with a dummy batch to initialize the "
            "parameters before calling tinynet functions"
        )

    @property
    def shape(self) -> Any:
        """Raise: the shape is not known yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    @property
    def dtype(self) -> dtypes.dtype:
        """The dtype of the future values."""
        return self.__dict__["dtype"]

    @property
    def data(self) -> Any:
        """The tensor itself: it has no history."""
        return self

    @data.setter
    def data(self, other: Any) -> None:
        self.__dict__["dtype"] = other.dtype

    def is_floating_point(self) -> bool:
        """Return whether its dtype is floating-point."""
        return self.dtype.is_floating_point

    def to(self, dtype: dtypes.dtype) -> Any:
        """Return an uninitialised tensor of another dtype."""
        return self._again(dtype)

    def detach(self) -> Any:
        """Return self: a ``state_dict`` shows that it is not initialised."""
        return self

    def materialize(
        self, shape: int | Sequence[int], device: Any = None, dtype: Any = None
    ) -> None:
        """Convert to an ordinary parameter or buffer with arbitrary values.

        Args:
            shape: the shape.
            device: must be the CPU.
            dtype: its own unless given.
        """
        kind = self.dtype if dtype is None else dtype
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        made = empty(sizes, dtype=kind, device=device)
        del self.__dict__["dtype"]
        self.__class__ = self._becomes
        self._array = made._array  # type: ignore[misc]  # no longer Uninitialized

    def _again(self, dtype: dtypes.dtype) -> Any:
        make: Any = type(self)
        return make(self._requires_grad, dtype=dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Return an uninitialised tensor of the same class."""
        return memo.setdefault(id(self), self._again(self.dtype))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self._requires_grad, None, self.dtype)


def _blank(cls: Any, requires_grad: bool, device: Any, dtype: Any) -> Any:
    """Return a tensor of an uninitialised class, complete except for its values."""
    model = Parameter(empty(0, dtype=dtype, device=device), requires_grad)
    t = object.__new__(cls)
    t._counter = t._edge = t._grad = t._view = t._hooks = None
    t._requires_grad = model._requires_grad
    t.__dict__["dtype"] = model.dtype
    return t


class UninitializedParameter(Uninitialized, Parameter):  # type: ignore[misc, override]
    """A parameter whose shape is not known yet.

    It can be saved, copied and converted to another dtype. Anything else raises an error until
    ``materialize(shape)`` turns it into a ``Parameter``.

    Args:
        requires_grad: whether gradients are computed for it.
        device: must be the CPU.
        dtype: the default dtype unless given.

    Raises:
        ValueError: its values are used before ``materialize``.
        RuntimeError: its shape is used before ``materialize``; or ``requires_grad`` is set, and the
            dtype is not floating-point.

    Example:
        >>> p = nn.UninitializedParameter()
        >>> p
        <UninitializedParameter>
        >>> p.materialize((2, 3))
        >>> type(p).__name__, p.shape
        ('Parameter', tinynet.Size([2, 3]))
    """

    __slots__ = ()
    _becomes = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> UninitializedParameter:
        """Make a parameter without values."""
        return _blank(cls, requires_grad, device, dtype)


class UninitializedBuffer(Uninitialized, Buffer):  # type: ignore[misc, override]
    """A buffer whose shape is not known yet; see ``UninitializedParameter``.

    Args:
        requires_grad: whether gradients are computed for it.
        device: must be the CPU.
        dtype: the default dtype unless given.
        persistent: whether it is part of the module's ``state_dict``.

    Raises:
        ValueError: its values are used before ``materialize``.
        RuntimeError: its shape is used before ``materialize``.

    Example:
        >>> nn.UninitializedBuffer()
        <UninitializedBuffer>
    """

    __slots__ = ()
    _becomes = Buffer

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        """Make a buffer without values."""
        b = _blank(cls, requires_grad, device, dtype)
        b.persistent = persistent
        return b

    def _again(self, dtype: dtypes.dtype) -> Any:
        return type(self)(self._requires_grad, None, dtype, self.persistent)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self._requires_grad, None, self.dtype, self.persistent)


def is_lazy(value: Any) -> bool:
    """Return whether a parameter or buffer is not initialised yet."""
    return isinstance(value, Uninitialized)
