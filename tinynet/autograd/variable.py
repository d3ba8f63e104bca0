"""``Variable``, PyTorch's former class for tensors with a history."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.creation.tensor_types import TensorKind


def is_checkpoint_valid() -> bool:
    """Return whether the running backward pass reaches all leaves.

    False in passes that compute only the gradients of some tensors, which leave out the
    parameters of checkpointed functions, and in passes inside of those.
    """
    running = mode.backward_pass
    return running is None or running.reaches_all


class Engine:
    """The part of PyTorch's engine that programs use."""

    @staticmethod
    def queue_callback(callback: Callable[[], Any]) -> None:
        """Call a function at the end of the running backward pass.

        Raises:
            RuntimeError: no backward pass is running.
        """
        if mode.backward_pass is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        mode.backward_pass.callbacks.append(callback)

    is_checkpoint_valid = staticmethod(is_checkpoint_valid)


class Variable(metaclass=TensorKind):
    """Return a leaf that shares the memory of ``data``; every tensor is an instance.

    Args:
        data: a tensor, whose history is dropped; by default an empty tensor.
        requires_grad: whether operations on it are recorded.
        volatile: no effect except a warning: use ``no_grad`` instead.

    Raises:
        TypeError: ``data`` is not a tensor.
        RuntimeError: ``requires_grad`` of a tensor that is not floating-point.

    Example:
        >>> tn.autograd.Variable(tn.tensor([1, 2]))
        tensor([1, 2])
    """

    dtype = None
    _execution_engine = Engine

    def __new__(  # type: ignore[misc]  # every tensor is a Variable
        cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False
    ) -> Tensor:
        """Make the leaf."""
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. "
                "Use `with tinynet.no_grad():` instead.",
                stacklevel=2,
            )
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
