"""Doors under PyTorch's import paths: re-exports only."""

from tinynet.nn.modules import lazy as lazy
from tinynet.nn.modules import module as module
from tinynet.nn.modules.module import Module as Module
