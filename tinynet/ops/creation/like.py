"""Tensors with the shape or dtype of other tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import layouts
from tinynet.core.declaration.composite import called
from tinynet.core.declaration.operation import composite
from tinynet.core.devices import DeviceLike, require_cpu
from tinynet.core.tensors.subclasses import alike
from tinynet.core.tensors.tensor import Tensor, method, public_function
from tinynet.core.trace import run_traced, traced
from tinynet.dtypes import DtypeLike
from tinynet.ops.arguments import as_declared
from tinynet.ops.creation.constructors import (
    finish,
    full,
    shape_of,
    tensor,
)
from tinynet.ops.creation.random import rand, randint, randn
from tinynet.ops.shaping.views import Ints
from tinynet.random import Generator


def _kind_like(name: str, t: Tensor, dtype: Any) -> Any:
    if not isinstance(t, Tensor):
        raise errors.must_be_tensor(name, "input", 1, t)
    return t._array.dtype if dtype is None else dtypes.as_numpy(dtype)


@traced
def _array_like(make: Any, like: Any, *options: Any) -> Any:
    """Return ``make(shape, *options)`` in the shape and memory format of an array."""
    *given, memory_format = options
    return layouts.like(make(like.shape, *given), like, memory_format)


_laid_out = traced(layouts.like)


def _for_each(like: Tensor, made: Tensor) -> Tensor:
    """Create new values, one set per example where ``like`` is a batch under vmap."""
    if type(like._array) is not np.ndarray and hasattr(like._array, "for_each"):
        made._array = like._array.for_each(made._array)
    return alike(made, like)


# ---- in the shape of a tensor -------------------------------------------------------------------


def _filled_like(make: Any) -> Callable[[Any], Any]:
    """Declare a function that fills a tensor with the shape and dtype of another.

    Args:
        make: numpy's function of a shape and a dtype.
    """

    def declare(declared: Any) -> Any:
        def function(
            input: Tensor,
            *,
            dtype: DtypeLike = None,
            requires_grad: bool = False,
            device: DeviceLike = None,
            layout: Any = None,
            memory_format: Any = None,
        ) -> Tensor:
            require_cpu(device)
            kind = _kind_like(declared.__name__, input, dtype)
            made = _array_like(make, input._array, kind, memory_format)
            return _for_each(input, finish(made, requires_grad))

        return public_function(as_declared(function, declared))

    return declare


@_filled_like(np.zeros)
def zeros_like() -> Tensor:
    """Create zeros with the shape and dtype of a tensor.

    Example:
        >>> tn.zeros_like(tn.tensor([1, 2]))
        tensor([0, 0])
    """


@_filled_like(np.ones)
def ones_like() -> Tensor:
    """Create ones with the shape and dtype of a tensor.

    Example:
        >>> tn.ones_like(tn.tensor([1, 2]))
        tensor([1, 1])
    """


@_filled_like(np.empty)
def empty_like() -> Tensor:
    """Create uninitialized values with the shape and dtype of a tensor.

    Example:
        >>> tn.empty_like(tn.zeros(2, 3)).shape
        tinynet.Size([2, 3])
    """


@public_function
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
    device: DeviceLike = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    """Create a tensor filled with one value, with the shape and dtype of a tensor.

    Example:
        >>> tn.full_like(tn.tensor([1, 2]), 7)
        tensor([7, 7])
    """
    require_cpu(device)
    kind = _kind_like("full_like", input, dtype)
    value = dtypes.representable(dtypes.number_of(fill_value, "full_like", "fill_value", 2), kind)
    made = _array_like(np.full, input._array, value, kind, memory_format)
    return _for_each(input, finish(made, requires_grad))


def _drawn_like(draw: Any) -> Callable[[Any], Any]:
    """Declare a function that draws random numbers in the shape and dtype of a tensor.

    Args:
        draw: the function that draws numbers of a given size.
    """

    def declare(declared: Any) -> Any:
        def function(
            input: Tensor,
            *,
            generator: Generator | None = None,
            dtype: DtypeLike = None,
            requires_grad: bool = False,
            device: DeviceLike = None,
            layout: Any = None,
            memory_format: Any = None,
        ) -> Tensor:
            require_cpu(device)
            kind = input.dtype if dtype is None else dtype
            made = draw(*input.shape, generator=generator, dtype=kind, requires_grad=requires_grad)
            made._array = _laid_out(made._array, input._array, memory_format)
            return made

        return public_function(called(as_declared(function, declared), checks=True))

    return declare


@_drawn_like(rand)
def rand_like() -> Tensor:
    """Draw uniform random numbers, with the shape and dtype of a tensor.

    The density is that of ``rand``.

    Raises:
        NotImplementedError: the dtype is not floating-point.

    Example:
        >>> tn.rand_like(tn.zeros(2, 3)).shape
        tinynet.Size([2, 3])
    """


@_drawn_like(randn)
def randn_like() -> Tensor:
    """Draw normal random numbers, with the shape and dtype of a tensor.

    The density is that of ``randn``.

    Raises:
        NotImplementedError: the dtype is not floating-point.

    Example:
        >>> tn.randn_like(tn.zeros(2, 3)).shape
        tinynet.Size([2, 3])
    """


@composite(method=False, checks=True)
def randint_like(
    input: Tensor,
    low: int | None = None,
    high: int | None = None,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
    device: DeviceLike = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    """Draw random integers, with the shape and dtype of a tensor.

    Each integer in ``[low, high)`` (``low`` is 0 by default) has probability ``1 / (high - low)``.

    Raises:
        RuntimeError: ``low`` is not below ``high``, or the dtype cannot represent a bound.

    Example:
        >>> tn.randint_like(tn.zeros(2, 3), 6).shape
        tinynet.Size([2, 3])
    """
    require_cpu(device)
    if high is None:
        low, high = None, low
    if high is None:
        raise TypeError("randint_like() missing 1 required positional argument: 'high'")
    kind = input.dtype if dtype is None else dtype
    made = randint(
        low or 0, high, input.shape, generator=generator, dtype=kind, requires_grad=requires_grad
    )
    made._array = layouts.like(made._array, input._array, memory_format)
    return made


# ---- in the dtype of a tensor -------------------------------------------------------------------


@method
def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a tensor from ``data`` in this tensor's dtype.

    Raises:
        ValueError: nested sequences of unequal length.
        TypeError: an element is not a number.

    Example:
        >>> tn.tensor([1, 2]).new_tensor([3.7])
        tensor([3])
    """
    kind = self.dtype if dtype is None else dtype
    return tensor(data, dtype=kind, device=device, requires_grad=requires_grad)


def _filled_new(make: Any) -> Callable[[Any], Any]:
    """Declare a method that fills a tensor of a given size, in the dtype of this tensor.

    Args:
        make: numpy's function of a shape and a dtype.
    """

    def declare(declared: Any) -> Any:
        def function(
            self: Tensor,
            *size: Ints,
            dtype: DtypeLike = None,
            device: DeviceLike = None,
            requires_grad: bool = False,
        ) -> Tensor:
            require_cpu(device)
            kind = self._array.dtype if dtype is None else dtypes.as_numpy(dtype)
            made = run_traced(make, shape_of(size, declared.__name__), kind)
            return _for_each(self, finish(made, requires_grad))

        return method(as_declared(function, declared))

    return declare


@_filled_new(np.zeros)
def new_zeros() -> Tensor:
    """Create zeros of the given size in this tensor's dtype.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> tn.tensor([1, 2]).new_zeros(3)
        tensor([0, 0, 0])
    """


@_filled_new(np.ones)
def new_ones() -> Tensor:
    """Create ones of the given size in this tensor's dtype.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> tn.tensor([1, 2]).new_ones(3)
        tensor([1, 1, 1])
    """


@_filled_new(np.empty)
def new_empty() -> Tensor:
    """Create uninitialized values of the given size in this tensor's dtype.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> tn.tensor([1, 2]).new_empty(3).dtype
        tinynet.int64
    """


@method
def new_full(
    self: Tensor,
    size: Sequence[int],
    fill_value: Any,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a tensor of the given size filled with one value, in this tensor's dtype.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> tn.tensor([1, 2]).new_full((2,), 7)
        tensor([7, 7])
    """
    kind = self.dtype if dtype is None else dtype
    made = full(size, fill_value, dtype=kind, device=device, requires_grad=requires_grad)
    return _for_each(self, made)
