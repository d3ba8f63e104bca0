"""``torch._utils``: functions named in old pickles and some scripts."""

from __future__ import annotations

from tinynet.exchange.pytorch_names import _parameter as _rebuild_parameter
from tinynet.exchange.pytorch_names import _tensor as _rebuild_tensor_v2

_rebuild_tensor = _rebuild_tensor_v2
__all__ = ["_rebuild_parameter", "_rebuild_tensor", "_rebuild_tensor_v2"]
