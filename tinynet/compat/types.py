"""Type aliases: ``torch.types``, ``torch.nn.common_types``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from tinynet.core.tensors.size import Size as Size
from tinynet.core.tensors.tensor import Tensor as Tensor
from tinynet.devices import device
from tinynet.dtypes import dtype

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
