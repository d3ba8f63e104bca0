"""Tensor types: ``FloatTensor(2, 3)``, ``isinstance(x, LongTensor)``, ``x.type(LongTensor)``."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core import seams
from tinynet.core.devices import require_cpu
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.subclasses import shared
from tinynet.core.tensors.tensor import Tensor, counter_of, method, public_function, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.ops.arguments import c_name
from tinynet.ops.creation.constructors import plain_values
from tinynet.ops.shaping.views import alias

# ---- arguments ----------------------------------------------------------------------------------
# What the legacy constructors make of theirs: ``Tensor``, ``FloatTensor``, ``new``.


_TYPES: dict[str, Any] = {"size": Sequence, "data": (Sequence, np.ndarray), "other": Tensor}


def _construct(cls: type[Tensor], args: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
    source = _source(args, options)
    of = isinstance(source, Tensor)
    made = alias.function(source) if of else wrap(_array(source, dtypes.default_float()))
    return made if cls is Tensor else shared(made, cls)


seams.construct.append(_construct)


def legacy_tensor(args: tuple[Any, ...], options: dict[str, Any], dtype: np.dtype[Any]) -> Tensor:
    """Return what ``FloatTensor`` or ``x.new`` makes of its arguments; of a tensor, a view."""
    source = _source(args, options)
    if not isinstance(source, Tensor):
        return wrap(_array(source, dtype))
    if source._array.dtype != dtype:
        wanted, found = (
            f"TensorOptions(dtype={c_name(of)}, device=cpu, layout=Strided, requires_grad=false "
            "(default), pinned_memory=false (default), memory_format=(nullopt))"
            for of in (np.empty(0, dtype), source._array)
        )
        raise TypeError(f"expected {wanted} (got {found})")
    return alias.function(source)


def _source(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what to make a tensor of: a size, a sequence, an array or a tensor."""
    if options:
        require_cpu(options.get("device") or "cpu")
        named = [(name, value) for name, value in options.items() if name != "device"]
        if any(not isinstance(value, _TYPES.get(name, ())) for name, value in named) or (
            named and len(named) + len(args) > 1
        ):
            given = [type(a).__name__ for a in args]
            given += [f"{name}={type(value).__name__}" for name, value in options.items()]
            raise TypeError(
                "new() received an invalid combination of arguments - got "
                f"({', '.join(given)}{', ' if len(given) == 1 else ''}), but expected sizes or one "
                "sequence, array or tensor. For another dtype use tensor(data, dtype=...)."
            )
        for name, value in named:
            return Size(value) if name == "size" else value
    first: Any = args[0] if len(args) == 1 else None
    is_size = isinstance(first, np.ndarray) and not first.ndim and first.dtype.kind in "iu"
    if isinstance(first, (Sequence, Tensor, np.ndarray)) and not is_size:
        return first
    lengths: list[Any] = [_length(n) for n in args]
    if None in lengths:
        wrong = type(args[lengths.index(None)]).__name__
        raise TypeError(f"new(): data must be a sequence (got {wrong})")
    return Size(lengths or (0,))


def _length(n: Any) -> int | None:
    """Return an integer of Python, numpy or a tensor as one of Python; None for anything else."""
    try:
        return None if isinstance(n, (bool, np.bool_)) else index(n)
    except TypeError:
        return None


@traced
def _array(source: Any, dtype: np.dtype[Any]) -> Array:
    """Return zeros of a size (unspecified in PyTorch), or data; an array of the dtype is shared."""
    if isinstance(source, Size):
        for n in source:
            if n < 0:
                size = [*source]
                raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {size}")
        return np.zeros(source, dtype=dtype)
    if isinstance(source, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(source, np.ndarray) and any(stride < 0 for stride in source.strides):
        raise dtypes.negative_stride()
    values = plain_values(source) if isinstance(source, (list, tuple)) else source
    try:
        return np.array(values, dtype=dtype, copy=None)
    except ValueError:
        raise dtypes.ragged(source) from None


# ---- types --------------------------------------------------------------------------------------


class TensorKind(type):
    """The metaclass of tensor types: ``isinstance`` checks the dtype.

    Attributes:
        dtype: the dtype of the instances; None accepts any.
    """

    dtype: dtypes.dtype | None

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and cls.dtype in (None, x.is_sparse or x.dtype)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return super().__subclasscheck__(subclass) or (
            cls.dtype is None and issubclass(subclass, Tensor)
        )


@method
def as_subclass(self: Tensor, cls: type[Tensor]) -> Tensor:
    """Return a view of the tensor as an instance of a subclass of Tensor.

    Raises:
        TypeError: ``cls`` is not a subclass of Tensor.

    Example:
        >>> class Marked(tn.Tensor):
        ...     pass
        >>> type(tn.ones(2).as_subclass(Marked) * 2).__name__
        'Marked'
    """
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"as_subclass(): cls must be a class derived from Tensor. Got {cls!r}.")
    return shared(self.view(self.shape), cls)


def _make_subclass(cls: type[Tensor], data: Tensor, require_grad: bool = False) -> Tensor:
    """Create a leaf of a subclass of Tensor that shares the memory of ``data``."""
    made = wrap(data._array)
    made._counter = counter_of(data)
    return shared(made, cls).requires_grad_(require_grad)


Tensor._make_subclass = staticmethod(_make_subclass)  # type: ignore[attr-defined]


def _legacy(dtype: dtypes.dtype) -> Any:
    def make(cls: Any, *data: Any, **options: Any) -> Tensor:
        return legacy_tensor(data, options, dtype.numpy)

    number = float if dtype.is_floating_point else bool if dtype is dtypes.bool else int
    doc = f"""Create a {dtype.name} tensor from a size (zeros) or from data.

    Args:
        *data: one or more sizes, one sequence of values, an array (shared if it has the dtype), or
            a tensor of the dtype (the result is a view of it).
        **options: ``size`` or ``data`` by name; ``device``, which must be the CPU.

    Raises:
        RuntimeError: a size is negative.
        TypeError: the data are not numbers, or a tensor of another dtype.

    Example:
        >>> tn.{dtype.tensor_name}(2, 3).shape, tn.{dtype.tensor_name}([1, 0]).tolist()
        (tinynet.Size([2, 3]), {[number(1), number(0)]})
    """
    members = {"__new__": make, "__doc__": doc, "dtype": dtype}
    return public_function(TensorKind(dtype.tensor_name, (), members))


FloatTensor = _legacy(dtypes.float32)
DoubleTensor = _legacy(dtypes.float64)
HalfTensor = _legacy(dtypes.float16)
BFloat16Tensor = _legacy(dtypes.bfloat16)
LongTensor = _legacy(dtypes.int64)
IntTensor = _legacy(dtypes.int32)
ShortTensor = _legacy(dtypes.int16)
CharTensor = _legacy(dtypes.int8)
ByteTensor = _legacy(dtypes.uint8)
BoolTensor = _legacy(dtypes.bool)
