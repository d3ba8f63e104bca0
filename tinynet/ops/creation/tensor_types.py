"""Tensor types: ``FloatTensor(2, 3)``, ``isinstance(x, LongTensor)``, ``x.type(LongTensor)``."""

from __future__ import annotations

from typing import Any

from tinynet import dtypes
from tinynet.core.tensors.subclasses import shared
from tinynet.core.tensors.tensor import (
    Tensor,
    counter_of,
    method,
    public_function,
    wrap,
)
from tinynet.ops.creation.legacy import legacy_tensor


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
