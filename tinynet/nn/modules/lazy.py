"""LazyModuleMixin, where PyTorch has it."""

from tinynet.nn.base.lazy import LazyModuleMixin as LazyModuleMixin
