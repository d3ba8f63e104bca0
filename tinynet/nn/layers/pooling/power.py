"""Power-average pooling over sliding windows."""

from __future__ import annotations

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.options import options_repr, with_options
from tinynet.nn.base.spatial import Spatial
from tinynet.nn.functional.dimensions import BATCHED_OR_NOT
from tinynet.nn.functional.pooling import pooling
from tinynet.nn.layers.docstrings import complete

__all__ = ["LPPool1d", "LPPool2d", "LPPool3d"]

Size = int | tuple[int, ...] | list[int]

_LP_POOL = {1: pooling.lp_pool1d, 2: pooling.lp_pool2d, 3: pooling.lp_pool3d}


@with_options
class _LPPool(Spatial):
    """Base class of power-average pooling.

    Args:
        norm_type: the power.
        kernel_size: size of the window.
        stride: step between windows; the kernel size unless given.
        ceil_mode: also keep windows that extend past the right edge.

    Shape:
        ``[batch, channels, {sizes}]``, or without batch; each spatial n becomes
        ``(n - kernel_size) // stride + 1``.

    Raises:
        RuntimeError: the input has the wrong number of dimensions, or a window that does not fit.
        ZeroDivisionError: ``norm_type`` is 0.
    """

    norm_type: float
    kernel_size: Size
    stride: Size | None = None
    ceil_mode: bool = False

    _expected_shapes = BATCHED_OR_NOT

    def forward(self, input: Tensor) -> Tensor:
        """Return the p-norms."""
        pool, power = _LP_POOL[self.rank], float(self.norm_type)
        return pool(input, power, self.kernel_size, self.stride, self.ceil_mode)

    extra_repr = options_repr


class LPPool1d(_LPPool):
    """``sum(x ** norm_type) ** (1 / norm_type)`` of each window of the last dimension.

    Example:
        >>> nn.LPPool1d(2, 2)(tn.tensor([[3.0, 4.0, 6.0, 8.0]]))
        tensor([[ 5., 10.]])
    """

    rank = 1


class LPPool2d(_LPPool):
    """``sum(x ** norm_type) ** (1 / norm_type)`` of each window of the last two dimensions.

    Example:
        >>> nn.LPPool2d(2, 2)(tn.full((1, 2, 2), 2.0))
        tensor([[[4.]]])
    """

    rank = 2


class LPPool3d(_LPPool):
    """``sum(x ** norm_type) ** (1 / norm_type)`` of each window of the last three dimensions.

    Example:
        >>> nn.LPPool3d(1, 2)(tn.ones(1, 2, 2, 2))
        tensor([[[[8.]]]])
    """

    rank = 3


complete(__name__)
