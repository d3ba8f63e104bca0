"""Lazy layers: they take the number of features or channels from their first input.

Each is an ordinary layer after its first forward; see ``LazyModuleMixin``.
"""

from __future__ import annotations

from typing import Any

from tinynet.core.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    _NormBase,
)
from tinynet.nn.conv import Conv1d, Conv2d, Conv3d, Lengths, _ConvNd
from tinynet.nn.conv_transpose import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from tinynet.nn.lazy import LazyModuleMixin, materialize
from tinynet.nn.linear import Linear
from tinynet.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from tinynet.ops.creation import empty, tensor

# ---- linear -------------------------------------------------------------------------------------


class LazyLinear(LazyModuleMixin, Linear):
    """A ``Linear`` that takes ``in_features`` from its first input, and is a ``Linear`` then.

    Args:
        out_features: length of the last dimension of the output.
        bias: whether there is a bias.
        device: only the cpu.
        dtype: of the parameters; the default dtype unless given.

    Shape:
        ``[..., in_features]`` to ``[..., out_features]``.

    Raises:
        RuntimeError, ValueError: the shape or the values of a parameter are needed before the
            first input; then what ``Linear`` raises.
        TypeError: the first input is no tensor.
        AssertionError: the weight was loaded, and is for another number of features.

    Example:
        >>> fc = nn.LazyLinear(30)
        >>> fc(tn.zeros(128, 20)).shape
        tinynet.Size([128, 30])
        >>> fc
        Linear(in_features=20, out_features=30, bias=True)
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__(0, 0, False)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw new values for weight and bias, once there are any."""
        if self.in_features and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Take the number of features from an input.

        Raises:
            TypeError, RuntimeError: it is no tensor, or has no dimensions.
            AssertionError: the weight was loaded, and is for another number.
        """
        if not isinstance(input, Tensor) or not input.ndim:
            F.linear(input, empty(self.out_features, 0))  # raises what ``Linear`` would
        features = input.shape[-1]
        if not is_lazy(self.weight) and features != self.weight.shape[1]:
            raise AssertionError(
                f"The in_features inferred from input: {features} is not equal to in_features from "
                f"self.weight: {self.weight.shape[1]}"
            )
        self.in_features = features
        new = materialize(self.weight, (self.out_features, self.in_features))
        if materialize(self.bias, (self.out_features,)) or new:
            self.reset_parameters()


# ---- convolutions -------------------------------------------------------------------------------


class _LazyChannels(LazyModuleMixin, _ConvNd):
    """What lazy convolutions share: parameters that wait for the number of channels."""

    def _wait(self, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw new values for weight and bias, once there are any."""
        if self.in_channels and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Take the number of channels from an input.

        Raises:
            RuntimeError: the input has another number of dimensions.
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
    """A ``Conv1d`` that takes ``in_channels`` from its first input; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``Conv1d``; or used before the first input.

    Example:
        >>> conv = nn.LazyConv1d(33, 3)
        >>> conv(tn.zeros(20, 16, 50)).shape
        tinynet.Size([20, 33, 48])
        >>> conv
        Conv1d(16, 33, kernel_size=(3,), stride=(1,))
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A ``Conv2d`` that takes ``in_channels`` from its first input; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``Conv2d``; or used before the first input.

    Example:
        >>> nn.LazyConv2d(8, 3)(tn.rand(2, 3, 4, 4)).shape
        tinynet.Size([2, 8, 2, 2])
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A ``Conv3d`` that takes ``in_channels`` from its first input; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``Conv3d``; or used before the first input.

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
    """A ``ConvTranspose1d`` that takes ``in_channels`` from its first input; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``ConvTranspose1d``; or used before the first input.

    Example:
        >>> conv = nn.LazyConvTranspose1d(2, 3, stride=2)
        >>> conv(tn.zeros(1, 4, 5)).shape
        tinynet.Size([1, 2, 11])
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ``ConvTranspose2d`` that takes ``in_channels`` from its first input; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``ConvTranspose2d``; or used before the first input.

    Example:
        >>> nn.LazyConvTranspose2d(8, 3)(tn.rand(2, 3, 4, 4)).shape
        tinynet.Size([2, 8, 6, 6])
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ``ConvTranspose3d`` that takes ``in_channels`` from its first input; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``ConvTranspose3d``; or used before the first input.

    Example:
        >>> nn.LazyConvTranspose3d(8, 3)(tn.rand(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 8, 6, 6, 6])
    """

    cls_to_become = ConvTranspose3d


# ---- norms --------------------------------------------------------------------------------------


class _LazyNorm(LazyModuleMixin, _NormBase):
    """What lazy batch and instance norms share."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__(0, eps, momentum, False, False, device)
        self.affine = affine
        self.track_running_stats = track_running_stats
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**made)
            if bias:
                self.bias = UninitializedParameter(**made)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**made)
            self.running_var = UninitializedBuffer(**made)
            self.num_batches_tracked = tensor(0)

    def reset_parameters(self) -> None:
        """Forget the running statistics, and set weight and bias to ones and zeros."""
        if self.num_features and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Take the number of features from an input."""
        self._check_input_dim(input)
        self.num_features = input.shape[1]
        waiting = self.weight, self.bias, self.running_mean, self.running_var
        if any([materialize(t, (self.num_features,)) for t in waiting]):
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A ``BatchNorm1d`` that takes ``num_features`` from its first input; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``BatchNorm1d``; or used before the first input.

    Example:
        >>> norm = nn.LazyBatchNorm1d(eps=1e-3)
        >>> norm(tn.ones(4, 3)).shape
        tinynet.Size([4, 3])
        >>> norm.num_features, type(norm).__name__
        (3, 'BatchNorm1d')
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A ``BatchNorm2d`` that takes ``num_features`` from its first input; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``BatchNorm2d``; or used before the first input.

    Example:
        >>> nn.LazyBatchNorm2d()(tn.rand(2, 3, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4])
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A ``BatchNorm3d`` that takes ``num_features`` from its first input; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``BatchNorm3d``; or used before the first input.

    Example:
        >>> nn.LazyBatchNorm3d()(tn.rand(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4, 4])
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """An ``InstanceNorm1d`` that takes ``num_features`` from its first input.

    It has weight, bias and running statistics unless told otherwise; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``InstanceNorm1d``; or used before the first input.

    Example:
        >>> nn.LazyInstanceNorm1d()(tn.rand(2, 3, 4)).shape
        tinynet.Size([2, 3, 4])
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """An ``InstanceNorm2d`` that takes ``num_features`` from its first input.

    It has weight, bias and running statistics unless told otherwise; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``InstanceNorm2d``; or used before the first input.

    Example:
        >>> nn.LazyInstanceNorm2d()(tn.rand(2, 3, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """An ``InstanceNorm3d`` that takes ``num_features`` from its first input.

    It has weight, bias and running statistics unless told otherwise; arguments as there.

    Raises:
        RuntimeError, ValueError: see ``InstanceNorm3d``; or used before the first input.

    Example:
        >>> nn.LazyInstanceNorm3d()(tn.rand(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4, 4])
    """

    cls_to_become = InstanceNorm3d
