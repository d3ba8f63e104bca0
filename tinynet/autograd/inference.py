"""Inference mode: no recording, and no version counters for new tensors."""

from __future__ import annotations

from typing import Any

from tinynet.core.modes import GradMode, inference, mode
from tinynet.core.tensors.tensor import Tensor


class inference_mode(GradMode):
    """Disable recording and version counting, in a ``with`` block or as a decorator.

    Tensors created inside cannot be saved for backward, or be written in place outside.

    Args:
        mode: True, or False to return to normal mode inside an inference mode.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> with tn.inference_mode():
        ...     y = x * 2
        >>> y.requires_grad, y.is_inference()
        (False, True)
    """

    def __new__(cls, mode: Any = True) -> Any:
        """Decorate at once when used without parentheses."""
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True):
        super().__init__(not mode)
        self._outside: list[tuple[Any, Any, bool]] = []

    def __enter__(self) -> None:
        self._outside.append((mode.grad, mode.on, mode.inference))
        mode.inference = not self._value
        mode.on = self._value and (mode.on or True)
        mode.grad = mode.on
        if not self._value:
            inference.tally.begin()

    def __exit__(self, *exc: object) -> None:
        if not self._value:
            inference.tally.end()
        mode.grad, mode.on, mode.inference = self._outside.pop()

    def clone(self) -> GradMode:
        """Return another one."""
        made: GradMode = inference_mode(not self._value)
        return made


def is_inference_mode_enabled() -> bool:
    """Return True in inference mode.

    Example:
        >>> with tn.inference_mode():
        ...     tn.is_inference_mode_enabled()
        True
    """
    return mode.inference


def is_inference(input: Tensor) -> bool:
    """Return True for a tensor that was made in inference mode.

    Example:
        >>> with tn.inference_mode():
        ...     x = tn.ones(2)
        >>> tn.is_inference(x)
        True
    """
    return input.is_inference()
