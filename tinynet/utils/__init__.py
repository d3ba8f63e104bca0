"""Doors under PyTorch's import paths: what stands elsewhere, re-exported.

``tinynet.utils.tensorboard`` has to be imported by its own name: it may need tensorboardX.
"""

from tinynet.core.tensors.storage import swap_tensors as swap_tensors
from tinynet.utils import checkpoint as checkpoint
from tinynet.utils import data as data
