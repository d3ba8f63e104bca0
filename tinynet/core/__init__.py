"""Tensors, versions, views, the graph and its engine. Knows no operation by name."""

from tinynet.base.memory import keep_freed as _keep_freed
from tinynet.core.graph import gradients as gradients  # gives Tensor backward, grad and hooks
from tinynet.core.graph import inplace as inplace
from tinynet.core.graph import views as views

_keep_freed()
