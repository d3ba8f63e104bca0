"""``torch.nn.modules.module``: Module, and global hooks.

The hooks run around every forward, or when a member is registered. They are meant for logging,
profiling and debugging: they apply to every module of the program until their handle is removed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.core.graph.node import RemovableHandle
from tinynet.nn.base.hooks import NONE, ModuleHooks, everywhere, refuse_both_kinds, register
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


# ---- around forward and backward ----------------------------------------------------------------


class _Handle(RemovableHandle):
    """A handle that restores the fast path of modules when the last hook is removed."""

    def remove(self) -> None:
        """Remove the hook; removing it twice is allowed."""
        super().remove()
        if not any(getattr(everywhere, stage) for stage in ModuleHooks.__slots__):
            Module._hooks = None


def _register(stage: str, hook: Callable[..., Any], **how: bool) -> RemovableHandle:
    Module._hooks = NONE  # not None, so that modules without hooks take the slow path
    return register(everywhere, stage, hook, _Handle, **how)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the forward of every module, before its own hooks.

    Args:
        hook: returns None or new positional arguments.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from tinynet.nn.modules.module import register_module_forward_pre_hook
        >>> with register_module_forward_pre_hook(lambda module, args: print(module)):
        ...     out = nn.Sequential(nn.ReLU())(tn.ones(1))
        Sequential(
          (0): ReLU()
        )
        ReLU()
    """
    return _register("before", hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the forward of every module, before its own hooks.

    Args:
        hook: returns None or a new output.
        with_kwargs: call ``hook(module, args, kwargs, output)``.
        always_call: call it even if the forward raises, with None as the output.

    Returns:
        A handle whose ``remove()`` removes the hook.
    """
    return _register("after", hook, after_with_kwargs=with_kwargs, after_always=always_call)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` for every module, before its own such hooks.

    Returns:
        A handle whose ``remove()`` removes the hook.
    """
    return _register("before_backward", hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` for every module, before its own such hooks.

    Returns:
        A handle whose ``remove()`` removes the hook.
    """
    refuse_both_kinds("all Modules", everywhere, "on_node")
    return _register("backward", hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after the last operation of every forward.

    Deprecated: its gradients are those of one node, not of the module. Use
    ``register_module_full_backward_hook``.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Raises:
        RuntimeError: a ``register_module_full_backward_hook`` hook exists.
    """
    refuse_both_kinds("all Modules", everywhere, "backward")
    return _register("on_node", hook)


# ---- when a member is registered ----------------------------------------------------------------


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when a module gets a parameter.

    Args:
        hook: returns None, or the object to register instead.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from tinynet.nn.modules.module import register_module_parameter_registration_hook
        >>> show = lambda module, name, parameter: print(name, parameter.shape)
        >>> with register_module_parameter_registration_hook(show):
        ...     layer = nn.Linear(3, 2)
        weight tinynet.Size([2, 3])
        bias tinynet.Size([2])
    """
    return RemovableHandle(announced[PARAMETERS], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when a module gets a buffer, including None.

    Args:
        hook: returns None, or the object to register instead.

    Returns:
        A handle whose ``remove()`` removes the hook.
    """
    return RemovableHandle(announced[BUFFERS], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when a module gets a submodule, or None.

    Args:
        hook: returns None, or the object to register instead.

    Returns:
        A handle whose ``remove()`` removes the hook.
    """
    return RemovableHandle(announced[MODULES], hook)


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
