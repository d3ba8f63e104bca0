"""Layers in sequence."""

from __future__ import annotations

from tinynet import nn


def sequential(layers: list[nn.Module]) -> nn.Sequential:
    """Build a sequence of layers, each a table with a ``type``.

    Args:
        layers: the layers, in order: ``[{type = "Linear", in_features = 64, ...}, ...]``.

    Example:
        >>> sequential([nn.Linear(3, 2), nn.ReLU()])(tn.zeros(1, 3)).shape
        tinynet.Size([1, 2])
    """
    return nn.Sequential(*layers)
