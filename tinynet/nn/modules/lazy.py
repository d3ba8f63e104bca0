"""LazyModuleMixin, where PyTorch has it."""

from tinynet.nn.lazy import LazyModuleMixin as LazyModuleMixin
