"""``torch.overrides.TorchFunctionMode``: contexts that see all calls of tinynet's functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from tinynet.compat.fx import interception

__all__ = ["BaseTorchFunctionMode", "TorchFunctionMode"]


class TorchFunctionMode:
    """A context in which ``__torch_function__`` gets the calls of functions and methods.

    It sees the calls of its thread. While it handles one, it does not see those that it makes: the
    mode around it does. Attributes of tensors, such as ``x.shape``, are read without it.

    Example:
        >>> from tinynet.compat.fx.function_modes import TorchFunctionMode
        >>> class Named(TorchFunctionMode):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         print(func.__name__)
        ...         return func(*args, **(kwargs or {}))
        >>> with Named():
        ...     x = tn.relu(tn.ones(2))
        ones
        relu
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the result of a call; subclasses implement it.

        Args:
            func: the function or method.
            types: the classes of the tensors among its arguments, but for Tensor.
            args, kwargs: its arguments.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError

    def __enter__(self) -> Self:
        interception.enter_mode(self)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        interception.leave_mode()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls the function.

    Example:
        >>> from tinynet.compat.fx.function_modes import BaseTorchFunctionMode
        >>> with BaseTorchFunctionMode():
        ...     tn.ones(2) + 1
        tensor([2., 2.])
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return ``func(*args, **kwargs)``."""
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> TorchFunctionMode | None:
    """Return the mode that sees the next call of this thread, if any."""
    stack = interception.modes.stack
    return stack[-1] if stack else None


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    """Return the modes of this thread, the last one last."""
    return list(interception.modes.stack)
