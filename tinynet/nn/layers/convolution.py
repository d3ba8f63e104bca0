"""Convolutions over one, two or three dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn import init
from tinynet.nn.functional.checks import per_dim
from tinynet.nn.functional.convolution.convolution import lengths
from tinynet.nn.functional.geometry import Geometry
from tinynet.nn.layers.declaration import Spatial, complete
from tinynet.nn.parameter import Parameter
from tinynet.ops.creation.constructors import empty

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]


Lengths = int | Sequence[int]
_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Spatial):
    """Base class of convolutions: options, parameters and their initialisation.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the result.
        kernel_size: size of the window; it and the next ones are one number, or one for each
            dimension.
        stride: step between windows.
        dilation: distance between the elements of a window.
        groups: number of groups that the channels are split into, each convolved separately.
        bias: whether to add a bias.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.
    """

    weight: Parameter
    bias: Parameter | None

    _expected_shapes = ("[N, {in_channels}, {sizes}]", "[{in_channels}, {sizes}]")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        _check(in_channels, out_channels, groups, stride, padding, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        channels = out_channels, in_channels // groups
        if transposed:
            channels = in_channels, out_channels // groups
        self.weight = Parameter(empty(*channels, *self.kernel_size, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_channels, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values for weight and bias, both from U(-k, k) with ``k = 1 / sqrt(fan in)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            connected = math.prod(self.weight.shape[1:])
            bound = 1 / math.sqrt(connected) if connected else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """Return the channels, kernel and stride, and options that differ from their defaults."""
        none = (0,) * len(self.kernel_size)
        parts = [f"{self.in_channels}, {self.out_channels}"]
        parts += [f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        if self.padding != none:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * len(none):
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != none:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    @property
    def _reversed_padding_repeated_twice(self) -> list[int]:
        return both_sides(self)


def both_sides(layer: Any) -> list[int]:
    """Return a layer's padding in the order of ``F.pad``: last dimension first, before and after.

    Args:
        layer: a convolution, or another object with its options.
    """
    if isinstance(layer.padding, str):
        reach = zip(layer.dilation, layer.kernel_size, strict=True)
        total = [d * (k - 1) if layer.padding == "same" else 0 for d, k in reach]
        sides = [(n // 2, n - n // 2) for n in total]
    else:
        sides = [(n, n) for n in layer.padding]
    return [n for pair in reversed(sides) for n in pair]


def _check(
    in_channels: int, out_channels: int, groups: int, stride: Any, padding: Any, padding_mode: str
) -> None:
    """Raise ValueError for inconsistent options."""
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}"
            )
        if padding == "same" and {*per_dim(stride, 1)} != {1}:
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _MODES:
        shown = ", ".join(map(repr, _MODES))
        raise ValueError(
            f"padding_mode must be one of {{{shown}}}, but got padding_mode={padding_mode!r}"
        )


class _Convolution(_ConvNd):
    """Base class of convolutions that are not transposed.

    ``result[n, o] = bias[o] + sum of weight[o, c] * input[n, c]`` over the channels c, where ``*``
    slides the weight over the input without flipping it (cross-correlation).

    Args:
        padding: number of elements added on each side; ``"valid"`` adds none, ``"same"`` makes the
            result as long as the input.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``; see ``F.pad``.

    Shape:
        ``[batch, in_channels, {sizes}]`` to ``[batch, out_channels, ...]``, or both without batch;
        each spatial n becomes
        ``floor((n + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``.

    Attributes:
        weight: ``[out_channels, in_channels / groups, *kernel_size]``.
        bias: ``[out_channels]``, or None.

    Raises:
        ValueError: ``groups`` does not divide the channels, the padding is unknown, or ``"same"``
            is combined with a stride.
        RuntimeError: the input has the wrong number of dimensions or channels, another dtype, or is
            smaller than the window.
    """

    def __init__(
        self,
        in_channels: int,
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
        size, step, spread = (per_dim(n, self.rank) for n in (kernel_size, stride, dilation))
        added = padding if isinstance(padding, str) else per_dim(padding, self.rank)
        rest: Any = False, (0,) * self.rank, groups, bias, padding_mode, device, dtype
        super().__init__(in_channels, out_channels, size, step, added, spread, *rest)

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Convolve with the given weight and bias; subclasses may call or override it."""
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self.rank - 1]
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, both_sides(self), mode=self.padding_mode)
            padding = 0
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Convolution):
    """A convolution over one dimension, such as text, sound or time.

    Example:
        >>> nn.Conv1d(16, 33, 3, stride=2)(tn.zeros(20, 16, 50)).shape
        tinynet.Size([20, 33, 24])
    """

    rank = 1


class Conv2d(_Convolution):
    """A convolution over two dimensions, such as images.

    Example:
        >>> nn.Conv2d(3, 16, 3, padding="same")(tn.zeros(2, 3, 32, 32)).shape
        tinynet.Size([2, 16, 32, 32])
    """

    rank = 2


class Conv3d(_Convolution):
    """A convolution over three dimensions, such as volumes or video.

    Example:
        >>> nn.Conv3d(1, 2, (3, 5, 2), padding=(0, 2, 0))(tn.zeros(4, 1, 8, 8, 8)).shape
        tinynet.Size([4, 2, 6, 8, 7])
    """

    rank = 3


# ---- conv transpose -----------------------------------------------------------------------------
# Transposed convolutions over one, two or three dimensions.


class _ConvTransposeNd(_ConvNd):
    """The class that transposed convolutions are instances of, as PyTorch's are."""

    def _output_padding(
        self,
        input: Tensor,
        output_size: list[int] | None,
        stride: Sequence[int],
        padding: Sequence[int],
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> Sequence[int]:
        """Return the ``output_padding`` that yields a size. Layers of other libraries call it."""
        rank = num_spatial_dims
        if output_size is None:
            return per_dim(self.output_padding, rank)
        others = input.ndim - rank
        wanted = output_size[others:] if len(output_size) == input.ndim else output_size
        if len(wanted) != rank:
            raise ValueError(
                f"ConvTranspose{rank}D: for {input.ndim}D input, output_size must have "
                f"{rank} or {input.ndim} elements (got {len(wanted)})"
            )
        names = ("kernel_size", "stride", "padding", "dilation")
        given = zip(names, (kernel_size, stride, padding, dilation or 1), strict=True)
        options = [lengths("conv_transpose", name, n, rank, rank) for name, n in given]
        least = [*Geometry(*[*options, input.shape[others:]]).least]
        most = [n + s - 1 for n, s in zip(least, options[1], strict=True)]
        if any(not a <= n <= b for n, a, b in zip(wanted, least, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to "
                f"{most} (for an input of {input.shape[2:]})"
            )
        return [n - a for n, a in zip(wanted, least, strict=True)]


class _ConvTranspose(_ConvTransposeNd):
    """Base class of transposed convolutions.

    Each element of the input, times the weight, is added to a window of the result; the windows are
    those of a ``Conv{rank}d`` with the same options.

    Args:
        padding: number of elements cropped from each side of the result.
        output_padding: number of elements added at the end of the result.
        padding_mode: only ``"zeros"``.

    Shape:
        ``[batch, in_channels, {sizes}]`` to ``[batch, out_channels, ...]``, or both without batch;
        each spatial n becomes
        ``(n - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1``.

    Attributes:
        weight: ``[in_channels, out_channels / groups, *kernel_size]``.
        bias: ``[out_channels]``, or None.

    Raises:
        ValueError: ``groups`` does not divide the channels, another padding mode, or an impossible
            ``output_size`` (in the call).
        RuntimeError: the input has the wrong number of dimensions or channels, or another dtype;
            ``output_padding`` is not less than stride or dilation.

    Source: the sum of all ``weight[c, o, j] * input[n, c, i]`` at
    ``result[n, o, i * stride + j * dilation - padding]``.
    """

    def __init__(
        self,
        in_channels: int,
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
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        given = kernel_size, stride, padding, dilation, output_padding
        size, step, cut, spread, extra = (per_dim(n, self.rank) for n in given)
        rest: Any = True, extra, groups, bias, padding_mode, device, dtype
        super().__init__(in_channels, out_channels, size, step, cut, spread, *rest)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Apply the transposed convolution.

        Args:
            input: see the class.
            output_size: the size of the result, used instead of ``output_padding``.

        Raises:
            ValueError: the size is impossible.
        """
        spread: Any = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.rank - 1]
        wanted = output_size if output_size is None else list(output_size)
        given: Any = self.stride, self.padding, self.kernel_size, self.rank, self.dilation
        extra: Any = self._output_padding(input, wanted, *given)
        options = self.stride, self.padding, extra, self.groups, self.dilation
        return spread(input, self.weight, self.bias, *options)


class ConvTranspose1d(_ConvTranspose):
    """A transposed convolution over one dimension: the gradient of ``Conv1d`` for its input.

    Example:
        >>> nn.ConvTranspose1d(4, 2, 3, stride=2)(tn.zeros(1, 4, 5)).shape
        tinynet.Size([1, 2, 11])
    """

    rank = 1


class ConvTranspose2d(_ConvTranspose):
    """A transposed convolution over two dimensions: the gradient of ``Conv2d`` for its input.

    Example:
        >>> up = nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1)
        >>> up(tn.zeros(1, 4, 6, 6), output_size=[12, 12]).shape
        tinynet.Size([1, 2, 12, 12])
    """

    rank = 2


class ConvTranspose3d(_ConvTranspose):
    """A transposed convolution over three dimensions: the gradient of ``Conv3d`` for its input.

    Example:
        >>> nn.ConvTranspose3d(4, 2, 2, stride=2)(tn.zeros(1, 4, 3, 3, 3)).shape
        tinynet.Size([1, 2, 6, 6, 6])
    """

    rank = 3


complete(__name__)
