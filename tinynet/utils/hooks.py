"""The door under PyTorch's import path: the handle that ``register_hook`` returns."""

from tinynet.core.graph.node import RemovableHandle as RemovableHandle
