"""Time and memory of each node, as the StepStats message that TensorBoard's Profile view reads.

Devices are the phases of a step: their names are drawn as the legend, with a box to switch each on
and off. TensorBoard counts in whole microseconds and leaves out what took none, so each node has
taken at least one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from tinynet.board.graph import SOURCES, Graph, Node, Slot
from tinynet.board.proto import field, integer, string

# tensorflow/core/framework/types.proto
DATA_TYPES = {
    **{"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8},
    **{"int64": 9, "bool": 10, "uint16": 17, "complex128": 18, "float16": 19},
}
_ALLOCATOR = "numpy"


def step_stats(graph: Graph) -> bytes:
    """The StepStats message of a graph: all nodes by device.

    Times begin with the first node. What nothing computed (parameters, inputs) took no time, but
    has its memory; without an entry TensorBoard would draw it as unused.
    """
    first = min((node.cost.start for node in graph.nodes if node.cost), default=0)
    devices: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node.cost or node.outputs:
            devices.setdefault(node.device, []).append(node)
    return b"".join(field(1, _device(name, nodes, first)) for name, nodes in devices.items())


def _device(name: str, nodes: Iterable[Node], first: int) -> bytes:
    return string(1, name) + b"".join(field(2, _node(node, first)) for node in nodes)


def _node(node: Node, first: int) -> bytes:
    """NodeExecStats: name, start, end relative to it, memory, outputs."""
    start = took = memory = 0
    if node.cost is not None:
        start, took = (node.cost.start - first) // 1000, max(1, round(node.cost.time / 1000))
        memory = node.cost.memory
    elif node.op in SOURCES:
        memory = sum(_bytes(slot) for slot in node.outputs)
    times = integer(2, start) + integer(3, 0) + integer(4, took) + integer(5, took)
    used = string(1, _ALLOCATOR) + integer(2, memory) + integer(3, memory)
    outputs = b"".join(field(7, _output(i, slot)) for i, slot in enumerate(node.outputs))
    return string(1, node.name) + times + field(6, used) + outputs


def _bytes(slot: Slot) -> int:
    return math.prod(slot.shape) * np.dtype(slot.dtype).itemsize


def _output(number: int, slot: Slot) -> bytes:
    """NodeOutput: slot, and a TensorDescription: dtype and shape."""
    shape = b"".join(field(2, integer(1, size)) for size in slot.shape)
    described = integer(1, DATA_TYPES.get(slot.dtype, 0)) + field(2, shape)
    return integer(1, number) + field(3, described)
