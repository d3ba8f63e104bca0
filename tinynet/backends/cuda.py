"""CUDA matrix products and attention, unavailable: their switches have no effect."""

from types import SimpleNamespace

from tinynet.backends.absent import flags as sdp_kernel
from tinynet.backends.absent import is_built as cudnn_sdp_enabled
from tinynet.backends.absent import is_built as flash_sdp_enabled
from tinynet.backends.absent import is_built as is_built
from tinynet.backends.absent import is_built as math_sdp_enabled
from tinynet.backends.absent import is_built as mem_efficient_sdp_enabled


def _ignore(enabled: bool) -> None:
    """Do nothing: there is one implementation of attention."""


enable_flash_sdp = enable_mem_efficient_sdp = enable_math_sdp = enable_cudnn_sdp = _ignore
matmul = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=False)

__all__ = [
    "cudnn_sdp_enabled",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "is_built",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "sdp_kernel",
]
