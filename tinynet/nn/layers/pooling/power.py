"""Power-average pooling over sliding windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module

__all__ = ["LPPool1d", "LPPool2d", "LPPool3d"]

Size = int | Sequence[int]


class _LPPool(Module):
    """Base class of power-average pooling."""

    def __init__(
        self,
        norm_type: float,
        kernel_size: Size,
        stride: Size | None = None,
        ceil_mode: bool = False,
    ):
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def options(self) -> tuple[Any, ...]:
        """Return the arguments of ``F.lp_pool``."""
        return (float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        """Return the options."""
        names = "norm_type kernel_size stride ceil_mode".split()
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class LPPool1d(_LPPool):
    """``sum(x ** norm_type) ** (1 / norm_type)`` of each window of the last dimension.

    Args:
        norm_type: the power.
        kernel_size: size of the window.
        stride: step between windows; the kernel size unless given.
        ceil_mode: also keep windows that extend past the right edge.

    Shape:
        ``[batch, channels, width]``, or without batch; each spatial n becomes
        ``(n - kernel_size) // stride + 1``.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or a window that does not fit.
        ZeroDivisionError: ``norm_type`` is 0.

    Example:
        >>> nn.LPPool1d(2, 2)(tn.tensor([[3.0, 4.0, 6.0, 8.0]]))
        tensor([[ 5., 10.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the p-norms."""
        return F.lp_pool1d(input, *self.options())


class LPPool2d(_LPPool):
    """``sum(x ** norm_type) ** (1 / norm_type)`` of each window of the last two dimensions.

    Args:
        norm_type: the power.
        kernel_size: size of the window.
        stride: step between windows; the kernel size unless given.
        ceil_mode: also keep windows that extend past the right edge.

    Shape:
        ``[batch, channels, height, width]``, or without batch; each spatial n becomes
        ``(n - kernel_size) // stride + 1``.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or a window that does not fit.
        ZeroDivisionError: ``norm_type`` is 0.

    Example:
        >>> nn.LPPool2d(2, 2)(tn.full((1, 2, 2), 2.0))
        tensor([[[4.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the p-norms."""
        return F.lp_pool2d(input, *self.options())


class LPPool3d(_LPPool):
    """``sum(x ** norm_type) ** (1 / norm_type)`` of each window of the last three dimensions.

    Args:
        norm_type: the power.
        kernel_size: size of the window.
        stride: step between windows; the kernel size unless given.
        ceil_mode: also keep windows that extend past the right edge.

    Shape:
        ``[batch, channels, depth, height, width]``, or without batch; each spatial n becomes
        ``(n - kernel_size) // stride + 1``.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or a window that does not fit.
        ZeroDivisionError: ``norm_type`` is 0.

    Example:
        >>> nn.LPPool3d(1, 2)(tn.ones(1, 2, 2, 2))
        tensor([[[[8.]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the p-norms."""
        return F.lp_pool3d(input, *self.options())
