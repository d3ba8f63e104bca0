"""``torch.nn.attention``: selecting an attention backend; tinynet has only one."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from tinynet.compat.refusal import absent, refusal


class SDPBackend(enum.Enum):
    """PyTorch's attention backends.

    Example:
        >>> from tinynet.compat import attention
        >>> attention.SDPBackend.MATH.name
        'MATH'
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Run a block unchanged: there is only one attention backend.

    Args:
        backends: a ``SDPBackend``, or a list of them.
        set_priority: ignored.

    Raises:
        TypeError: ``backends`` is something else.

    Example:
        >>> from tinynet.compat import attention
        >>> with attention.sdpa_kernel(attention.SDPBackend.MATH):
        ...     pass
    """
    chosen = backends if isinstance(backends, list) else [backends]
    if not all(isinstance(backend, SDPBackend) for backend in chosen):
        raise TypeError("Backends must be an instance of SDPBackend or a list of SDPBackend")
    yield


# ---- torch.nn.attention.flex_attention ----------------------------------------------------------

_MASK = "pass a mask, or scores to add, to nn.functional.scaled_dot_product_attention"
BlockMask = absent("nn.attention.flex_attention.BlockMask", _MASK)
AuxRequest = absent("nn.attention.flex_attention.AuxRequest", _MASK)
flex_attention = refusal("nn.attention.flex_attention.flex_attention", _MASK)
create_block_mask = refusal("nn.attention.flex_attention.create_block_mask", _MASK)
create_mask = refusal("nn.attention.flex_attention.create_mask", _MASK)
_DEFAULT_SPARSE_BLOCK_SIZE = 128
