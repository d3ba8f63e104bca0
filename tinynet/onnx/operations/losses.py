"""Losses, for models that return one."""

from __future__ import annotations

from typing import Any

from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.activations import log_sigmoid
from tinynet.onnx.operations.reductions import mean
from tinynet.onnx.operations.table import form


def _reduced(g: Graph, losses: Ref, reduction: str, shape: Any) -> Any:
    if reduction == "none":
        return losses
    if reduction == "sum":
        return g("ReduceSum", losses, keepdims=0)
    losses.shape = shape
    return mean(g, losses)


@form("squared_error")
def squared_error(g: Graph, x: Ref, target: Ref, reduction: str) -> Any:
    """Return the squared difference."""
    apart = g("Sub", x, target)
    return _reduced(g, g("Mul", apart, apart), reduction, x.shape)


@form("entropy_of_logits")
def entropy_of_logits(g: Graph, x: Ref, target: Ref, reduction: str) -> Any:
    """Return the cross-entropy of ``sigmoid(x)``."""
    other = g("Mul", g("Sub", g.constant(1, x.dtype), target), x)
    return _reduced(g, g("Sub", other, log_sigmoid(g, x)), reduction, x.shape)


@form("binary_entropy")
def binary_entropy(g: Graph, x: Ref, target: Ref, reduction: str) -> Any:
    """Return ``-y log(x) - (1 - y) log(1 - x)``, at most 100."""
    one = g.constant(1, x.dtype)
    yes, no = g("Max", g("Log", x), -100), g("Max", g("Log", g("Sub", one, x)), -100)
    losses = g("Sub", g("Mul", g("Sub", target, 1), no), g("Mul", target, yes))
    return _reduced(g, losses, reduction, x.shape)


def _of_class(g: Graph, op: str, x: Ref, target: Ref, ignore_index: int, reduction: str) -> Any:
    """Return a loss of a batch, or of one example."""
    if x.rank == 1:
        x, target = g.reshape(x, (1, *x.shape)), g.reshape(target, (1,))
    made = g(op, x, target, ignore_index=ignore_index, reduction=reduction)
    return g.reshape(made, g.shape) if reduction == "none" else made


@form("indexed_cross_entropy")
def cross_entropy(g: Graph, x: Ref, target: Ref, ignore_index: int, reduction: str) -> Any:
    """Return ``-log softmax(x)[target]``."""
    return _of_class(g, "SoftmaxCrossEntropyLoss", x, target, ignore_index, reduction)


@form("likelihood", "likelihood_of_places")
def likelihood(g: Graph, x: Ref, target: Ref, ignore_index: int, reduction: str) -> Any:
    """Return ``-x[target]``."""
    return _of_class(g, "NegativeLogLikelihoodLoss", x, target, ignore_index, reduction)
