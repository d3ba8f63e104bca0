"""LazyModuleMixin, under PyTorch's path."""

from tinynet.nn.base.lazy import LazyModuleMixin as LazyModuleMixin
