"""Dropout: of elements, of channels, and around a mean and deviation that are kept."""

from __future__ import annotations

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.functional.dropouts import check_probability

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    """What all dropouts share: a probability, and whether they write to their input."""

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        check_probability(p)
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Return the probability and whether it writes to its input."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Sets each element to zero with probability ``p`` in training, and divides the rest by 1 - p.

    In evaluation mode it returns its input.

    Args:
        p: probability of zero.
        inplace: write to the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: integers, in training.

    Shape:
        Any, kept.

    Source: Hinton et al., "Improving neural networks by preventing co-adaptation of feature
    detectors", 2012, arXiv:1207.0580.

    Example:
        >>> nn.Dropout(0.5).eval()(tn.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some elements set to zero."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Sets each channel to zero with probability ``p`` in training, and divides the rest by 1 - p.

    Near places of a channel are alike, so that dropping single ones would teach nothing.
    In evaluation mode it returns its input.

    Args:
        p: probability of zero.
        inplace: write to the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: another number of dimensions; integers, in training.

    Shape:
        ``[batch, channels, length]`` or ``[channels, length]``, kept.

    Source: Tompson et al., "Efficient object localization using convolutional networks", 2015,
    arXiv:1411.4280.

    Example:
        >>> nn.Dropout1d(1.0)(tn.ones(1, 2, 3)).sum()
        tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some channels set to zero."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Sets each channel to zero with probability ``p`` in training, and divides the rest by 1 - p.

    Near places of a channel are alike, so that dropping single ones would teach nothing.
    In evaluation mode it returns its input.

    Args:
        p: probability of zero.
        inplace: write to the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: less than two dimensions, or integers, in training.

    Shape:
        ``[batch, channels, height, width]``, kept. As in PyTorch, three dimensions are taken for
        ``[batch, channels, length]``, with a warning.

    Source: Tompson et al., "Efficient object localization using convolutional networks", 2015,
    arXiv:1411.4280.

    Example:
        >>> nn.Dropout2d(1.0)(tn.ones(1, 2, 3, 3)).sum()
        tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some channels set to zero."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Sets each channel to zero with probability ``p`` in training, and divides the rest by 1 - p.

    Near places of a channel are alike, so that dropping single ones would teach nothing.
    In evaluation mode it returns its input.

    Args:
        p: probability of zero.
        inplace: write to the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: integers, in training.

    Shape:
        ``[batch, channels, depth, height, width]``, or the same without batch, kept.

    Source: Tompson et al., "Efficient object localization using convolutional networks", 2015,
    arXiv:1411.4280.

    Example:
        >>> nn.Dropout3d(1.0)(tn.ones(1, 2, 3, 3, 3)).sum()
        tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some channels set to zero."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Sets elements to SELU's floor in training, such that mean 0 and deviation 1 are kept.

    It belongs to networks of ``SELU``. In evaluation mode it returns its input.

    Args:
        p: probability that an element is dropped.
        inplace: write to the input; ignored, as in PyTorch.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: integers, in training.

    Shape:
        Any, kept.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017, arXiv:1706.02515.

    Example:
        >>> nn.AlphaDropout(0.5).eval()(tn.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some elements at SELU's floor."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """Sets channels to SELU's floor in training, such that mean 0 and deviation 1 are kept.

    It is ``AlphaDropout`` with one draw for all places of a channel. In evaluation mode it
    returns its input.

    Args:
        p: probability that a channel is dropped.
        inplace: write to the input; ignored, as in PyTorch.

    Raises:
        ValueError: ``p`` is not in [0, 1].
        RuntimeError: less than two dimensions, or integers, in training.

    Shape:
        ``[batch, channels, ...]``, kept.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017, arXiv:1706.02515.

    Example:
        >>> nn.FeatureAlphaDropout(0.5).eval()(tn.ones(1, 3))
        tensor([[1., 1., 1.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with some channels at SELU's floor."""
        return F.feature_alpha_dropout(input, self.p, self.training)
