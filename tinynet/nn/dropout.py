"""Dropout."""

from __future__ import annotations

from typing import Any

from tinynet.nn import functional as F
from tinynet.nn.functional.noise import check_probability
from tinynet.nn.module import Module


class Dropout(Module):
    """Sets each element to zero with probability ``p`` in training, and divides the rest by 1 - p.

    In evaluation mode it returns its input.

    Args:
        p: probability of zero.
        inplace: write to the input.

    Raises:
        ValueError: ``p`` is not in [0, 1].

    Shape:
        Any, kept.

    Source: Hinton et al., "Improving neural networks by preventing co-adaptation of feature
    detectors", 2012.

    Example:
        >>> nn.Dropout(0.5).eval()(tn.ones(3))
        tensor([1., 1., 1.])
    """

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        check_probability(p)
        self.p = p
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        """Return the input with some elements set to zero."""
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return the probability and whether it writes to its input."""
        return f"p={self.p}, inplace={self.inplace}"
