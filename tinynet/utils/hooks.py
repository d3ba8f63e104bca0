"""PyTorch's import path of the handle that ``register_hook`` returns."""

from tinynet.core.graph.node import RemovableHandle as RemovableHandle
