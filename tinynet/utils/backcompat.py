"""PyTorch's import path of two switches: ``torch.utils.backcompat``."""

from tinynet.runtime import broadcast_warning as broadcast_warning
from tinynet.runtime import keepdim_warning as keepdim_warning
