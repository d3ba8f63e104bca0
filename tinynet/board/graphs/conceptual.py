"""The overview of a graph: one box per module, as Keras draws its models.

A module that calls no other module is one layer; where a module computes something itself (such as
a residual sum), each operation is a separate layer. The edges follow from those of operations.

Source: tensorboard/plugins/graph/keras_util.py, the reader of this format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tinynet.board.graphs.graph import Graph, Node

_KEPT = ("Input", "Output")


def conceptual(graph: Graph, classes: Mapping[str, str], device: str) -> str:
    """Return the JSON of a Keras model that resembles the forward pass of a graph.

    Args:
        graph: the full graph.
        classes: the scope of each call of a module -> the class of the module.
        device: the device of the forward pass.
    """
    inner = {scope.rpartition("/")[0] for scope in classes}  # calls that call modules
    inner |= {"/".join(s.split("/")[:n]) for s in classes for n in range(1, s.count("/") + 1)}
    layer_of: dict[str, str] = {}
    layers: dict[str, dict[str, Any]] = {}
    for node in graph.nodes:
        if node.device != device or (node.op not in _KEPT and not _computes(node)):
            continue
        own = node.scope in classes and node.scope not in inner
        name = node.scope if own else node.name
        layer_of[node.name] = name
        layer = layers.get(name)
        if layer is None:
            kind = classes[node.scope] if own else _kind(node)
            layer = layers[name] = _layer(name, kind, node)
        sources = (layer_of.get(source) for source in node.producers)
        layer["from"] |= dict.fromkeys(s for s in sources if s is not None and s != name)
    made = [_finished(layer) for layer in layers.values()]
    config = {"name": "", "layers": made, "input_layers": [], "output_layers": []}
    return json.dumps({"class_name": "Functional", "config": config})


def _computes(node: Node) -> bool:
    return node.cost is not None or node.op == "Repeated"


def _kind(node: Node) -> str:
    kind = {"Input": "InputLayer", "Output": "Output"}.get(node.op)
    return kind or node.operation


def _layer(name: str, kind: str, node: Node) -> dict[str, Any]:
    config: dict[str, Any] = {"name": name}
    if node.outputs:
        config["dtype"] = node.outputs[0].dtype
    return {"class_name": kind, "config": config, "from": {}}


def _finished(layer: dict[str, Any]) -> dict[str, Any]:
    """Return the layer in Keras 3's form, with the sources of its arguments."""
    history = [{"config": {"keras_history": [name, 0, 0]}} for name in layer.pop("from")]
    return {**layer, "inbound_nodes": [{"args": [history], "kwargs": {}}] if history else []}
