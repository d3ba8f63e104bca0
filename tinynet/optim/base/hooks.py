"""Hooks that run before and after the steps of optimizers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from tinynet.core.graph.node import RemovableHandle
from tinynet.core.modes import mode
from tinynet.explanations.failures import explain

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
            before = everywhere[0] or optimizer._before
            for hook in [*everywhere[0].values(), *optimizer._before.values()] if before else ():
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
            after = everywhere[1] or optimizer._after
            for hook in [*optimizer._after.values(), *everywhere[1].values()] if after else ():
                hook(optimizer, args, kwargs)
        except Exception as error:
            explain(error)
            raise
        finally:
            optimizer._running = False
        return out

    return run  # type: ignore[return-value]
