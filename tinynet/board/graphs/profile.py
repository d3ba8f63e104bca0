"""Time and memory of each node, as the StepStats message of TensorBoard's Profile view.

Devices are the phases of a step: TensorBoard lists them in the legend, with a checkbox for each.
It counts in whole microseconds and omits nodes that took none, so each node takes at least one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from tinynet.board.graphs.graph import SOURCES, Cost, Graph, Node, Slot
from tinynet.board.proto import DATA_TYPES, field, integer, string

_ALLOCATOR = "numpy"


def step_stats(graph: Graph) -> bytes:
    """Return the StepStats message of a graph: all nodes by device.

    Operations follow one another without gaps, in execution order: TensorBoard measures a scope
    from its first start to its last end, which would include the Python code between operations.
    Nodes that are not computed (parameters, inputs, outputs) have no time, but memory: otherwise
    TensorBoard would draw their scopes as unused.
    """
    timed = [(node, node.cost) for node in graph.nodes if node.cost is not None]
    starts: dict[str, int] = {}
    clock = 1  # TensorBoard reads 0 as "unknown"
    for node, cost in sorted(timed, key=lambda pair: pair[1].start):
        starts[node.name] = clock
        clock += _micros(cost)
    devices: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node.cost or node.outputs:
            devices.setdefault(node.device, []).append(node)
    return b"".join(field(1, _device(name, nodes, starts)) for name, nodes in devices.items())


def _device(name: str, nodes: Iterable[Node], starts: Mapping[str, int]) -> bytes:
    entries = [field(2, _node(node, starts.get(node.name, 0))) for node in nodes]
    return string(1, name) + b"".join(entries)


def _micros(cost: Cost) -> int:
    return max(1, round(cost.time / 1000))


def _node(node: Node, start: int) -> bytes:
    """Return NodeExecStats: name, start, relative end, memory, outputs."""
    took = memory = 0
    if node.cost is not None:
        took, memory = _micros(node.cost), node.cost.memory
    elif node.op in (*SOURCES, "Output"):
        memory = sum(_bytes(slot) for slot in node.outputs)
    times = integer(2, start) + integer(3, 0) + integer(4, took) + integer(5, took)
    used = string(1, _ALLOCATOR) + integer(2, memory) + integer(3, memory)
    outputs = b"".join(field(7, _output(i, slot)) for i, slot in enumerate(node.outputs))
    return string(1, node.name) + times + field(6, used) + outputs


def _bytes(slot: Slot) -> int:
    return math.prod(slot.shape) * np.dtype(slot.dtype).itemsize


def _output(number: int, slot: Slot) -> bytes:
    """Return NodeOutput: slot, and a TensorDescription: dtype and shape."""
    shape = b"".join(field(2, integer(1, size)) for size in slot.shape)
    described = integer(1, DATA_TYPES.get(slot.dtype, 0)) + field(2, shape)
    return integer(1, number) + field(3, described)
