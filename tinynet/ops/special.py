"""``tinynet.special``: special functions under PyTorch's names.

The declarations of ``ops`` add them (``special_functions.py``); ``special.pyi`` is generated.
"""

from tinynet.base.lazy import attach as _attach
from tinynet.ops import loading as _loading

__getattr__, __dir__, __all__ = _attach(__name__, _loading.special)
