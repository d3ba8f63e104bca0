"""Dropout of elements and of channels, and alpha dropout."""

from __future__ import annotations

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.functional.dropouts import check_probability
from tinynet.nn.layers.declaration import complete, options_repr

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    """Base class of dropout layers.

    Args:
        p: probability of dropping an element or a channel.
        inplace: overwrite the input.

    Shape:
        Any; the output has the same shape.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: the input has an integer dtype, in training.
    """

    _options = "p", "inplace"

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        check_probability(p)
        self.p = p
        self.inplace = inplace

    extra_repr = options_repr


class _ChannelDropout(_DropoutNd):
    """Base class of layers that drop channels.

    Source: Tompson et al., "Efficient object localization using convolutional networks", 2015,
    arXiv:1411.4280.
    """


class Dropout(_DropoutNd):
    """Sets each element to zero with probability ``p`` in training, and divides the rest by 1 - p.

    In evaluation mode it returns its input.

    Source: Hinton et al., "Improving neural networks by preventing co-adaptation of feature
    detectors", 2012, arXiv:1207.0580.

    Example:
        >>> nn.Dropout(0.5).eval()(tn.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout to elements."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_ChannelDropout):
    """Sets each channel to zero with probability ``p`` in training, and divides the rest by 1 - p.

    Neighbouring elements of a channel are correlated, so dropping single ones regularises little.
    In evaluation mode it returns its input.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: the input has the wrong number of dimensions; integers, in training.

    Shape:
        ``[batch, channels, length]`` or ``[channels, length]``; the output has the same shape.

    Example:
        >>> nn.Dropout1d(1.0)(tn.ones(1, 2, 3)).sum()
        tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout to channels."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_ChannelDropout):
    """Sets each channel to zero with probability ``p`` in training, and divides the rest by 1 - p.

    Neighbouring elements of a channel are correlated, so dropping single ones regularises little.
    In evaluation mode it returns its input.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: fewer than two dimensions, or an integer dtype in training.

    Shape:
        ``[batch, channels, height, width]``; the output has the same shape. As in PyTorch, three
        dimensions are interpreted as ``[batch, channels, length]``, with a warning.

    Example:
        >>> nn.Dropout2d(1.0)(tn.ones(1, 2, 3, 3)).sum()
        tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout to channels."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_ChannelDropout):
    """Sets each channel to zero with probability ``p`` in training, and divides the rest by 1 - p.

    Neighbouring elements of a channel are correlated, so dropping single ones regularises little.
    In evaluation mode it returns its input.

    Shape:
        ``[batch, channels, depth, height, width]``, or the same without batch; the output has the
        same shape.

    Example:
        >>> nn.Dropout3d(1.0)(tn.ones(1, 2, 3, 3, 3)).sum()
        tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout to channels."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Sets elements to the lower limit of SELU in training, preserving mean 0 and deviation 1.

    Use it with ``SELU``. In evaluation mode it returns its input.

    Args:
        inplace: ignored, as in PyTorch.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017, arXiv:1706.02515.

    Example:
        >>> nn.AlphaDropout(0.5).eval()(tn.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply alpha dropout to elements."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """Sets channels to the lower limit of SELU in training, preserving mean 0 and deviation 1.

    Like ``AlphaDropout``, but drops whole channels. In evaluation mode it returns its input.

    Args:
        inplace: ignored, as in PyTorch.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: fewer than two dimensions, or an integer dtype in training.

    Shape:
        ``[batch, channels, ...]``; the output has the same shape.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017, arXiv:1706.02515.

    Example:
        >>> nn.FeatureAlphaDropout(0.5).eval()(tn.ones(1, 3))
        tensor([[1., 1., 1.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply alpha dropout to channels."""
        return F.feature_alpha_dropout(input, self.p, self.training)


complete(__name__)
