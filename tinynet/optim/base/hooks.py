"""Hooks that run before and after the steps of optimizers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from tinynet.core.explanations.failures import explain
from tinynet.core.graph.node import RemovableHandle
from tinynet.core.modes import mode

Hooks = dict[int, Callable[..., Any]]
F = TypeVar("F", bound=Callable[..., Any])

everywhere: tuple[Hooks, Hooks] = ({}, {})  # before and after the steps of every optimizer


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimizer.

    Args:
        hook: if it returns a value other than None, that replaces ``(args, kwargs)``; the first
            of ``args`` is the optimizer.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from tinynet.optim.optimizer import register_optimizer_step_pre_hook
        >>> x = tn.ones(1, requires_grad=True)
        >>> x.grad = tn.ones(1)
        >>> with register_optimizer_step_pre_hook(lambda o, args, kwargs: print("before")):
        ...     optim.SGD([x]).step()
        before
    """
    return RemovableHandle(everywhere[0], hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimizer.

    Returns:
        A handle whose ``remove()`` removes the hook.
    """
    return RemovableHandle(everywhere[1], hook)


def added(hooks: Hooks, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    """Add a hook at the end of a registry (or at its start); return its handle."""
    later = dict(hooks)
    handle = RemovableHandle(hooks, hook)
    if prepend:
        for key, other in later.items():  # remove and reinsert them after the new hook
            del hooks[key]
            hooks[key] = other
    return handle


def hooked(step: F) -> F:
    """Return ``step`` with hooks around it; nested calls of steps run the hooks once."""

    @functools.wraps(step)
    def run(*args: Any, **kwargs: Any) -> Any:
        optimizer = args[0]
        if mode.tracer is not None:
            return mode.tracer.perform(run, args, kwargs)
        if optimizer._running:
            return step(*args, **kwargs)
        optimizer._running = True
        try:
            own = optimizer._optimizer_step_pre_hooks
            for hook in [*everywhere[0].values(), *own.values()] if own or everywhere[0] else ():
                result = hook(optimizer, args, kwargs)
                if result is not None:
                    if not (isinstance(result, tuple) and len(result) == 2):
                        raise RuntimeError(
                            f"{step} must return None or a tuple of (new_args, new_kwargs), but "
                            f"got {result}."
                        )
                    args, kwargs = result
            out = step(*args, **kwargs)
            optimizer.stepped = True
            own = optimizer._optimizer_step_post_hooks
            for hook in [*own.values(), *everywhere[1].values()] if own or everywhere[1] else ():
                hook(optimizer, args, kwargs)
        except Exception as error:
            explain(error)
            raise
        finally:
            optimizer._running = False
        return out

    return run  # type: ignore[return-value]


def has_step_hooks(optimizer: Any) -> bool:
    """Return whether hooks run before or after the steps of an optimizer."""
    own = optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks
    return bool(own or everywhere[0] or everywhere[1])


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Any]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """Return the tensors by device and dtype of those in the first list.

    Args:
        tensorlistlist: lists of one length; those after the first may be empty.
        with_indices: return the indices of the tensors, too.
    """
    groups: dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]] = {}
    for i, t in enumerate(tensorlistlist[0]):
        fresh: tuple[list[list[Any]], list[int]] = ([[] for _ in tensorlistlist], [])
        lists, indices = groups.setdefault((t.device, t.dtype), fresh)
        for found, given in zip(lists, tensorlistlist, strict=True):
            found += given[i : i + 1]
        indices += [i] * with_indices
    return groups


class Hooked:
    """The hooks of an optimizer, by PyTorch's names: programs read and set these attributes.

    An optimizer whose constructor does not call its base class's has no hooks, and steps all
    the same.
    """

    _optimizer_step_pre_hooks: Any = MappingProxyType({})
    _optimizer_step_post_hooks: Any = _optimizer_step_pre_hooks
    _optimizer_state_dict_pre_hooks: Any = _optimizer_step_pre_hooks
    _optimizer_state_dict_post_hooks: Any = _optimizer_step_pre_hooks
    _optimizer_load_state_dict_pre_hooks: Any = _optimizer_step_pre_hooks
    _optimizer_load_state_dict_post_hooks: Any = _optimizer_step_pre_hooks
    _running = False
    stepped = False

    def _set_up_hooks(self) -> None:
        """Give the optimizer tables of hooks, unless it has them; no step has run."""
        for name in vars(Hooked):
            if name.startswith("_optimizer_"):
                vars(self).setdefault(name, {})
        self._running = self.stepped = False

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step.

        If it returns a value other than None, that replaces ``(args, kwargs)``; the first of
        ``args`` is the optimizer.
        """
        return added(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return added(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before each ``state_dict()``; ``prepend`` puts it first."""
        return added(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after each; a dict it returns is the result."""
        return added(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before each load; it may return a replacement."""
        return added(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after each ``load_state_dict()``."""
        return added(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def _patch_step_function(self) -> None:
        """Do nothing: steps have their hooks already. Programs for PyTorch call it."""

    def _cuda_graph_capture_health_check(self) -> None:
        """Do nothing: there is no GPU. Programs with a copy of PyTorch's steps call it."""

    profile_hook_step = staticmethod(hooked)
    _group_tensors_by_device_and_dtype = staticmethod(_group_tensors_by_device_and_dtype)
