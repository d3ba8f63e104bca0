"""PyTorch's import paths for objects defined elsewhere.

Import ``tinynet.utils.tensorboard`` explicitly: it may need tensorboardX.
"""

from tinynet.base.lazy import attach as _attach
from tinynet.ops.creation.memory import swap_tensors as swap_tensors
from tinynet.utils import checkpoint as checkpoint
from tinynet.utils import data as data

__getattr__, __dir__, __all__ = _attach(__name__)
