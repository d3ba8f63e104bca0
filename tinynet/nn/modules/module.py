"""Module and the global hooks, under PyTorch's path."""

from tinynet.nn.base.global_hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from tinynet.nn.base.hooks import everywhere
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import BUFFERS, MODULES, PARAMETERS, announced
from tinynet.nn.base.state import _IncompatibleKeys

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

_global_forward_pre_hooks = everywhere.before
_global_forward_hooks = everywhere.after
_global_forward_hooks_with_kwargs = everywhere.after_with_kwargs
_global_forward_hooks_always_called = everywhere.after_always
_global_backward_pre_hooks = everywhere.before_backward
_global_backward_hooks = everywhere.backward
_global_parameter_registration_hooks = announced[PARAMETERS]
_global_buffer_registration_hooks = announced[BUFFERS]
_global_module_registration_hooks = announced[MODULES]


def _addindent(s_: str, numSpaces: int) -> str:  # PyTorch's names
    """Indent all lines of a text except the first; used by programs that print models."""
    return s_.replace("\n", "\n" + " " * numSpaces)
