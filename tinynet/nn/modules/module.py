"""Module and the hooks of all modules, where PyTorch has them."""

from tinynet.nn.global_hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from tinynet.nn.module import Module
from tinynet.nn.state import _IncompatibleKeys

__all__ = [
    "Module",
    "_IncompatibleKeys",
    "_addindent",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


def _addindent(s_: str, numSpaces: int) -> str:  # PyTorch's names
    """Return the text with all lines but the first indented: programs that print models use it."""
    return s_.replace("\n", "\n" + " " * numSpaces)
