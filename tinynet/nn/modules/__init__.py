"""PyTorch's import path of the layers; ``compat/paths.py`` names the files behind its modules."""

from tinynet.base.lazy import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__)
