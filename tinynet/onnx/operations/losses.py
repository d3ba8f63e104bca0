"""Losses, for models that return one."""

from __future__ import annotations

from typing import Any

from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.activations import log_sigmoid
from tinynet.onnx.operations.table import form


def _reduced(g: Graph, losses: Ref, reduction: str) -> Any:
    if reduction == "none":
        return losses
    return g("ReduceMean" if reduction == "mean" else "ReduceSum", losses, keepdims=0)


@form("squared_error")
def squared_error(g: Graph, x: Ref, target: Ref, reduction: str) -> Any:
    """Return the squared difference."""
    apart = g("Sub", x, target)
    return _reduced(g, g("Mul", apart, apart), reduction)


@form("entropy_of_logits")
def entropy_of_logits(g: Graph, x: Ref, target: Ref, reduction: str) -> Any:
    """Return the cross-entropy of ``sigmoid(x)``."""
    other = g("Mul", g("Sub", g.constant(1, x.dtype), target), x)
    return _reduced(g, g("Sub", other, log_sigmoid(g, x)), reduction)


@form("binary_entropy")
def binary_entropy(g: Graph, x: Ref, target: Ref, reduction: str) -> Any:
    """Return ``-y log(x) - (1 - y) log(1 - x)``, at most 100."""
    one = g.constant(1, x.dtype)
    yes, no = g("Max", g("Log", x), -100), g("Max", g("Log", g("Sub", one, x)), -100)
    losses = g("Sub", g("Mul", g("Sub", target, 1), no), g("Mul", target, yes))
    return _reduced(g, losses, reduction)


@form("indexed_cross_entropy")
def cross_entropy(g: Graph, x: Ref, target: Ref, ignore_index: int, reduction: str) -> Any:
    """Return ``-log softmax(x)[target]``."""
    options: dict[str, Any] = {"ignore_index": ignore_index, "reduction": reduction}
    return g("SoftmaxCrossEntropyLoss", x, target, **options)


@form("likelihood", "likelihood_of_places")
def likelihood(g: Graph, x: Ref, target: Ref, ignore_index: int, reduction: str) -> Any:
    """Return ``-x[target]``."""
    options: dict[str, Any] = {"ignore_index": ignore_index, "reduction": reduction}
    return g("NegativeLogLikelihoodLoss", x, target, **options)
