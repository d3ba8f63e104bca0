"""Type aliases: ``torch.types``, ``torch.nn.common_types``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.devices import device
from tinynet.core.tensors.size import Size as Size
from tinynet.core.tensors.tensor import Tensor as Tensor
from tinynet.dtypes import DtypeLike, dtype, type_info

# Of torch.utils.data.dataloader.
_collate_fn_t = Callable[[list[Any]], Any]
_worker_init_fn_t = Callable[[int], None]


class _Named(dtype):
    """A dtype that programs may name, and ask for its limits; there are no tensors of it."""

    __slots__ = ("eps", "instead", "max", "smallest_normal")

    def __init__(self, name: str, scalar_name: str, itemsize: int, instead: str, *limits: float):
        self.name, self.scalar_name, self.tensor_name = name, scalar_name, f"{scalar_name}Tensor"
        self.is_complex, self.is_floating_point = name.startswith("complex"), bool(limits)
        self.itemsize, self.instead = itemsize, instead
        if limits:
            self.max, self.eps, self.smallest_normal = limits

    @property
    def numpy(self) -> np.dtype[Any]:
        """Raise TypeError."""
        raise TypeError(f"tinynet has no tensors of {self.name}: use {self.instead}")


def _float8(layout: str, *limits: float) -> _Named:
    names = f"float8_{layout}", f"Float8_{layout}"
    return _Named(*names, 1, "float16 or bfloat16", *limits)


complex32 = chalf = _Named("complex32", "ComplexHalf", 4, "complex64")
float8_e4m3fn = _float8("e4m3fn", 448.0, 2.0**-3, 2.0**-6)
float8_e5m2 = _float8("e5m2", 57344.0, 2.0**-2, 2.0**-14)
float8_e4m3fnuz = _float8("e4m3fnuz", 240.0, 2.0**-3, 2.0**-7)
float8_e5m2fnuz = _float8("e5m2fnuz", 57344.0, 2.0**-3, 2.0**-15)
int1, int2, int3, int4, int5, int6, int7 = (
    _Named(f"int{bits}", f"Int{bits}", 1, "int8") for bits in range(1, 8)
)
uint1, uint2, uint3, uint4, uint5, uint6, uint7 = (
    _Named(f"uint{bits}", f"UInt{bits}", 1, "uint8") for bits in range(1, 8)
)


class finfo(type_info.finfo):
    """``tinynet.finfo``, which also knows the limits of numbers of 8 bits.

    Example:
        >>> from tinynet.compat import types
        >>> types.finfo(types.float8_e4m3fn).max
        448.0
    """

    def __init__(self, type: DtypeLike = None):
        if not isinstance(type, _Named) or not type.is_floating_point:
            super().__init__(type)
            return
        self.bits, self.max, self.min = 8, type.max, -type.max
        self.eps, self.resolution = type.eps, 1.0
        self.smallest_normal = self.tiny = type.smallest_normal
        self.dtype = type.name


Number = int | float | bool
Device = device | str | int | None
FileLike = str | os.PathLike[str]
MAP_LOCATION = Callable[[Any, str], Any] | device | str | dict[str, str] | None
_TensorOrTensors = Tensor | Sequence[Tensor]
_dtype, _device, _size = dtype, device, Sequence[int]
_int, _float, _bool = int, float, bool

_scalar_or_tuple_any_t = Any
_size_any_t = int | tuple[int, ...]
_size_1_t = int | tuple[int]
_size_2_t = int | tuple[int, int]
_size_3_t = int | tuple[int, int, int]
_size_2_opt_t = tuple[int | None, int | None]
_size_3_opt_t = tuple[int | None, int | None, int | None]
_ratio_any_t = float | tuple[float, ...]
_ratio_2_t = float | tuple[float, float]
_ratio_3_t = float | tuple[float, float, float]
_tensor_list_t = list[Tensor] | tuple[Tensor, ...]
