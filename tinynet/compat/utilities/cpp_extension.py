"""``torch.utils.cpp_extension``: names that build scripts import; nothing is compiled."""

from __future__ import annotations

from tinynet.compat.refusal import refusal

CUDA_HOME = ROCM_HOME = CUDNN_HOME = SYCL_HOME = None
IS_HIP_EXTENSION = False

_INSTEAD = "extensions are linked with PyTorch's library; write an autograd.Function on arrays"
load = refusal("utils.cpp_extension.load", _INSTEAD)
load_inline = refusal("utils.cpp_extension.load_inline", _INSTEAD)
CppExtension = refusal("utils.cpp_extension.CppExtension", _INSTEAD)
CUDAExtension = refusal("utils.cpp_extension.CUDAExtension", _INSTEAD)
BuildExtension = refusal("utils.cpp_extension.BuildExtension", _INSTEAD)
include_paths = refusal("utils.cpp_extension.include_paths", _INSTEAD)
library_paths = refusal("utils.cpp_extension.library_paths", _INSTEAD)


def is_ninja_available() -> bool:
    """Return False: nothing is compiled.

    Example:
        >>> from tinynet.compat.utilities import cpp_extension
        >>> cpp_extension.is_ninja_available()
        False
    """
    return False
