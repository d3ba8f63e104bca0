"""Transposed convolutions over one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.functional.convolution.convolution_checks import lengths
from tinynet.nn.functional.dimensions import per_dim
from tinynet.nn.layers.convolution.conv import Lengths, _ConvNd
from tinynet.nn.layers.docstrings import complete

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _ConvTranspose(_ConvNd):
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

    transposed = True

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
        options = stride, padding, dilation, groups, bias, padding_mode, device, dtype
        super().__init__(in_channels, out_channels, kernel_size, *options)
        self.output_padding = per_dim(output_padding, self.rank)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Apply the transposed convolution.

        Args:
            input: see the class.
            output_size: the size of the result, used instead of ``output_padding``.

        Raises:
            ValueError: the size is impossible.
        """
        spread: Any = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.rank - 1]
        extra = self.output_padding
        if output_size is not None:
            extra = self._missing(input, list(output_size))
        options = self.stride, self.padding, extra, self.groups, self.dilation
        return spread(input, self.weight, self.bias, *options)

    def _missing(self, input: Tensor, wanted: list[int]) -> tuple[int, ...]:
        """Return the ``output_padding`` that yields the requested size."""
        others = input.ndim - self.rank
        if len(wanted) == input.ndim:
            wanted = wanted[others:]
        if len(wanted) != self.rank:
            raise ValueError(
                f"ConvTranspose{self.rank}D: for {input.ndim}D input, output_size must have "
                f"{self.rank} or {input.ndim} elements (got {len(wanted)})"
            )
        names = ("kernel_size", "stride", "padding", "dilation")
        given = ((name, getattr(self, name)) for name in names)
        options = [lengths("conv_transpose", name, n, self.rank, self.rank) for name, n in given]
        sizes = zip(input.shape[others:], *options, strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, k, s, p, d in sizes]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if any(not a <= n <= b for n, a, b in zip(wanted, least, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to "
                f"{most} (for an input of {input.shape[2:]})"
            )
        return tuple(n - a for n, a in zip(wanted, least, strict=True))


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
