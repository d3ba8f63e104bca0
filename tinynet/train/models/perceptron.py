"""Multilayer perceptrons, and layers in sequence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from tinynet import nn

# ---- perceptron ---------------------------------------------------------------------------------
# Multilayer perceptrons.


_ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


def mlp(
    sizes: Sequence[int],
    activation: Literal["relu", "tanh", "sigmoid"] = "relu",
    dropout: float = 0.0,
) -> nn.Sequential:
    """Build a multilayer perceptron: Linear layers with activations between them.

    Args:
        sizes: the widths, from the number of inputs to the number of outputs; at least two.
        activation: the activation between the layers.
        dropout: the dropout probability of each hidden unit.

    Inputs of any shape are flattened first.

    Source: D. E. Rumelhart, G. E. Hinton, R. J. Williams, Learning representations by
    back-propagating errors (Nature 323, 1986), https://doi.org/10.1038/323533a0

    Shape:
        Input: (batch, ...) with ``sizes[0]`` elements per example. Output: (batch, sizes[-1]).

    Raises:
        ValueError: if there are fewer than two sizes, or one is not positive.

    Example:
        >>> mlp([64, 32, 10])(tn.zeros(5, 8, 8)).shape
        tinynet.Size([5, 10])
    """
    if len(sizes) < 2 or min(sizes) < 1:
        raise ValueError(
            "The 'sizes' parameter of mlp must be two or more positive numbers. "
            f"Got {sizes} instead."
        )
    layers: list[nn.Module] = [nn.Flatten()]
    for wide, following in pairwise(sizes[:-1]):
        layers += [nn.Linear(wide, following), _ACTIVATIONS[activation]()]
        if dropout:
            layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


# ---- sequential ---------------------------------------------------------------------------------
# Layers in sequence.


def sequential(layers: list[nn.Module]) -> nn.Sequential:
    """Build a sequence of layers, each a table with a ``type``.

    Args:
        layers: the layers, in order: ``[{type = "Linear", in_features = 64, ...}, ...]``.

    Example:
        >>> sequential([nn.Linear(3, 2), nn.ReLU()])(tn.zeros(1, 3)).shape
        tinynet.Size([1, 2])
    """
    return nn.Sequential(*layers)
