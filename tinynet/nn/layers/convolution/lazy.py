"""Convolutions that infer the number of channels from their first input."""

from __future__ import annotations

from typing import Any

from tinynet.nn.base.lazy import LazyModuleMixin, materialize
from tinynet.nn.layers.convolution.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    Lengths,
    _ConvNd,
)
from tinynet.nn.layers.docstrings import complete
from tinynet.nn.parameter import UninitializedParameter

__all__ = [
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


class _LazyChannels(LazyModuleMixin, _ConvNd):
    """Base class of lazy convolutions.

    Raises:
        RuntimeError, ValueError: see the class that it becomes; or the module is used before its
            first input.
    """

    def _wait(self, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw new values for weight and bias once they are initialised."""
        if self.in_channels and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Infer the number of channels from an input.

        Raises:
            RuntimeError: the input has the wrong number of dimensions.
            ValueError: the groups do not divide the channels.
        """
        if input.ndim not in (self.rank + 1, self.rank + 2):
            raise RuntimeError(
                f"Expected {self.rank + 1}D (unbatched) or {self.rank + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        channels = input.shape[-1 - self.rank]
        if channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        self.in_channels = channels
        sizes = self.out_channels, channels // self.groups
        if self.transposed:
            sizes = channels, self.out_channels // self.groups
        new = materialize(self.weight, (*sizes, *self.kernel_size))
        if materialize(self.bias, (self.out_channels,)) or new:
            self.reset_parameters()


class _LazyConv(_LazyChannels):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Lengths,
        stride: Lengths = 1,
        padding: str | Lengths = 0,
        dilation: Lengths = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ):
        options: Any = stride, padding, dilation, groups, False, padding_mode
        super().__init__(0, out_channels, kernel_size, *options)
        self._wait(bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A ``Conv1d`` that takes ``in_channels`` from its first input; same arguments.

    Example:
        >>> conv = nn.LazyConv1d(33, 3)
        >>> conv(tn.zeros(20, 16, 50)).shape
        tinynet.Size([20, 33, 48])
        >>> conv
        Conv1d(16, 33, kernel_size=(3,), stride=(1,))
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A ``Conv2d`` that takes ``in_channels`` from its first input; same arguments.

    Example:
        >>> nn.LazyConv2d(8, 3)(tn.rand(2, 3, 4, 4)).shape
        tinynet.Size([2, 8, 2, 2])
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A ``Conv3d`` that takes ``in_channels`` from its first input; same arguments.

    Example:
        >>> nn.LazyConv3d(8, 3)(tn.rand(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 8, 2, 2, 2])
    """

    cls_to_become = Conv3d


class _LazyConvTranspose(_LazyChannels):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Lengths,
        stride: Lengths = 1,
        padding: Lengths = 0,
        output_padding: Lengths = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Lengths = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ):
        options: Any = stride, padding, output_padding, groups, False, dilation, padding_mode
        super().__init__(0, out_channels, kernel_size, *options)
        self._wait(bias, device, dtype)


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ``ConvTranspose1d`` that takes ``in_channels`` from its first input; same arguments.

    Example:
        >>> conv = nn.LazyConvTranspose1d(2, 3, stride=2)
        >>> conv(tn.zeros(1, 4, 5)).shape
        tinynet.Size([1, 2, 11])
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ``ConvTranspose2d`` that takes ``in_channels`` from its first input; same arguments.

    Example:
        >>> nn.LazyConvTranspose2d(8, 3)(tn.rand(2, 3, 4, 4)).shape
        tinynet.Size([2, 8, 6, 6])
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ``ConvTranspose3d`` that takes ``in_channels`` from its first input; same arguments.

    Example:
        >>> nn.LazyConvTranspose3d(8, 3)(tn.rand(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 8, 6, 6, 6])
    """

    cls_to_become = ConvTranspose3d


complete(__name__)
