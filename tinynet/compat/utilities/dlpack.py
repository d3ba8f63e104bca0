"""``torch.utils.dlpack``: tensors from and to other libraries, without copying; numpy converts."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from tinynet import ops
from tinynet.core.tensors.tensor import Tensor

CPU = (1, 0)


class DLDeviceType(enum.IntEnum):
    """The kinds of devices that DLPack knows."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


class _Capsule:
    """A capsule as numpy takes it: an object that returns it."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


def to_dlpack(tensor: Tensor) -> Any:
    """Return a DLPack capsule over the memory of a tensor; it can be read once.

    Args:
        tensor: a tensor that requires no gradient.

    Raises:
        RuntimeError: the tensor requires a gradient.
        BufferError: DLPack has no such dtype.

    Example:
        >>> from tinynet.compat.utilities import dlpack
        >>> dlpack.from_dlpack(dlpack.to_dlpack(tn.ones(2)))
        tensor([1., 1.])
    """
    return tensor.numpy().__dlpack__(max_version=(1, 0))  # older ones do not say what is writable


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a tensor over the memory of an object with ``__dlpack__``, or of a capsule.

    Args:
        ext_tensor: a tensor of another library, or a capsule of ``to_dlpack``.
        device: None or ``"cpu"``.
        copy: whether to copy; None only where the memory can be read only.

    Example:
        >>> import numpy as np
        >>> from tinynet.compat.utilities import dlpack
        >>> a = np.zeros(2, np.float32)
        >>> t = dlpack.from_dlpack(a)
        >>> a[0] = 1
        >>> t
        tensor([1., 0.])
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        ext_tensor = _Capsule(ext_tensor)
    array = np.from_dlpack(ext_tensor)
    made = ops.from_numpy(array if array.flags.writeable else array.copy())
    return made.clone() if copy else made.to(device or "cpu")
