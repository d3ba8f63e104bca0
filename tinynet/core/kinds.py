"""Classes whose instances are tensors of one dtype, or all: ``LongTensor``, ``Variable``."""

from __future__ import annotations

from typing import Any

from tinynet import dtypes
from tinynet.core.tensor import Tensor


class TensorKind(type):
    """The class of such classes: ``isinstance`` looks at the dtype.

    Attributes:
        dtype: that of the instances; None if any will do.
    """

    dtype: dtypes.dtype | None

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and cls.dtype in (None, instance.dtype)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return super().__subclasscheck__(subclass) or (
            cls.dtype is None and issubclass(subclass, Tensor)
        )
