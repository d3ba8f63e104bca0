"""oneDNN, an optional library of kernels, called through ctypes.

It computes convolutions and products where the kernels of ``kernels/native`` are enabled.
"""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.kernels.onednn import convolution as convolution
    from tinynet.kernels.onednn import library as library
    from tinynet.kernels.onednn import parts as parts
    from tinynet.kernels.onednn.library import is_available as is_available
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
