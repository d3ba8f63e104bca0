"""Lazy modules, which infer their sizes from their first input: the mixin and the layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import BUFFERS, PARAMETERS, members
from tinynet.nn.layers.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    _NormBase,
)
from tinynet.nn.layers.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    Lengths,
    _ConvNd,
)
from tinynet.nn.layers.declaration import complete
from tinynet.nn.layers.linear import Linear
from tinynet.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from tinynet.ops.creation.constructors import empty, tensor

__all__ = [
    "LazyLinear",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


# ---- the mixin ----------------------------------------------------------------------------------


class LazyModuleMixin(Module):
    """A mixin for lazy layers, whose parameters get their shapes from the first input.

    ``class LazyLayer(LazyModuleMixin, Layer)`` registers each ``UninitializedParameter`` and
    ``UninitializedBuffer``, and defines ``initialize_parameters`` to materialise them. The first
    forward turns the module into an ordinary one of the class ``cls_to_become``.

    Create the optimizer after the first forward.

    Raises:
        NotImplementedError: the module is called, but does not define ``initialize_parameters``.
        RuntimeError: ``initialize_parameters`` left some parameters without a shape.
        ValueError: a parameter is used before the first forward.

    Example:
        >>> net = nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(2))
        >>> net
        Sequential(
          (0): LazyLinear(in_features=0, out_features=8, bias=True)
          (1): ReLU()
          (2): LazyLinear(in_features=0, out_features=2, bias=True)
        )
        >>> net(tn.zeros(5, 3)).shape
        tinynet.Size([5, 2])
        >>> net
        Sequential(
          (0): Linear(in_features=3, out_features=8, bias=True)
          (1): ReLU()
          (2): Linear(in_features=8, out_features=2, bias=True)
        )
    """

    cls_to_become: type[Module] | None = None

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(_before_load, with_module=True)
        self._initialize_hook = self.register_forward_pre_hook(_before_forward, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialise the parameters for an input; every lazy module overrides this."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Return whether this module has uninitialised parameters or buffers."""
        return any(is_lazy(t) for _, t in members(self, PARAMETERS, BUFFERS))


def materialize(tensor: Any, shape: Sequence[int]) -> bool:
    """Materialise a parameter or buffer if it is uninitialised, and return whether it was."""
    waiting = is_lazy(tensor)
    if waiting:
        tensor.materialize(shape)
    return waiting


def _before_load(module: Module, state_dict: Any, prefix: str, *rest: Any) -> None:
    """Materialise parameters with the shapes in the state dict."""
    for name, member in members(module, PARAMETERS, BUFFERS):
        given = state_dict.get(prefix + name)
        if given is not None and not is_lazy(given):
            materialize(member, given.shape)


def _before_forward(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Initialise the parameters and change the class of the module."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {type(module).__name__} has not been fully initialized")
    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


# ---- linear maps --------------------------------------------------------------------------------


class LazyLinear(LazyModuleMixin, Linear):
    """``x @ weight.T + bias``: a ``Linear`` that infers ``in_features`` from its first input.

    After that it is a ``Linear``.

    Args:
        out_features: length of the last dimension of the output.
        bias: whether to add a bias.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        ``[..., in_features]`` to ``[..., out_features]``.

    Raises:
        RuntimeError, ValueError: a parameter is used before the first input; later, as for
            ``Linear``.
        TypeError: the first input is not a tensor.
        AssertionError: the loaded weight has another number of features.

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
        """Draw new values for weight and bias once they are initialised."""
        if self.in_features and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Infer the number of features from an input.

        Raises:
            TypeError, RuntimeError: the input is not a tensor, or has no dimensions.
            AssertionError: the loaded weight has another number of features.
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
# They infer the number of channels.


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


# ---- batch and instance norms -------------------------------------------------------------------
# They infer the number of features.


class _LazyNorm(LazyModuleMixin, _NormBase):
    """Base class of lazy batch and instance norms.

    Raises:
        RuntimeError, ValueError: see the class that it becomes; or the module is used before its
            first input.
    """

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
        """Reset the running statistics, and set weight and bias to ones and zeros."""
        if self.num_features and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Infer the number of features from an input."""
        self._check_input_dim(input)
        self.num_features = input.shape[1]
        waiting = self.weight, self.bias, self.running_mean, self.running_var
        if any([materialize(t, (self.num_features,)) for t in waiting]):
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A ``BatchNorm1d`` that takes ``num_features`` from its first input; same arguments.

    Example:
        >>> norm = nn.LazyBatchNorm1d(eps=1e-3)
        >>> norm(tn.ones(4, 3)).shape
        tinynet.Size([4, 3])
        >>> norm.num_features, type(norm).__name__
        (3, 'BatchNorm1d')
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A ``BatchNorm2d`` that takes ``num_features`` from its first input; same arguments.

    Example:
        >>> nn.LazyBatchNorm2d()(tn.rand(2, 3, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4])
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A ``BatchNorm3d`` that takes ``num_features`` from its first input; same arguments.

    Example:
        >>> nn.LazyBatchNorm3d()(tn.rand(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4, 4])
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """An ``InstanceNorm1d`` that takes ``num_features`` from its first input.

    It has weight, bias and running statistics by default; same arguments.

    Example:
        >>> nn.LazyInstanceNorm1d()(tn.rand(2, 3, 4)).shape
        tinynet.Size([2, 3, 4])
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """An ``InstanceNorm2d`` that takes ``num_features`` from its first input.

    It has weight, bias and running statistics by default; same arguments.

    Example:
        >>> nn.LazyInstanceNorm2d()(tn.rand(2, 3, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """An ``InstanceNorm3d`` that takes ``num_features`` from its first input.

    It has weight, bias and running statistics by default; same arguments.

    Example:
        >>> nn.LazyInstanceNorm3d()(tn.rand(2, 3, 4, 4, 4)).shape
        tinynet.Size([2, 3, 4, 4, 4])
    """

    cls_to_become = InstanceNorm3d


complete(__name__)
