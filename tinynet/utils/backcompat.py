"""PyTorch's import path of two switches: ``torch.utils.backcompat``."""

from tinynet.backends.runtime import broadcast_warning as broadcast_warning
from tinynet.backends.runtime import keepdim_warning as keepdim_warning
