"""The few protocol buffer messages that tensorboardX does not ship, encoded by hand.

A message is a sequence of fields; a field is a key (number and wire type, as a varint) and a
payload. Two kinds are needed here: numbers, and the length-delimited kind (sub-messages, strings
and bytes look alike on the wire).
Source: https://protobuf.dev/programming-guides/encoding/; field numbers from TensorFlow's
    config.proto, step_stats.proto, tensor_description.proto, allocation_description.proto.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from tinynet.board.graphs.graph import SOURCES, Cost, Graph, Node, Slot

_LENGTH_DELIMITED = 2
DATA_TYPES = {
    **{"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8},
    **{"int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19},
}
"""The name of a dtype -> its number in TensorFlow's types.proto."""


def varint(number: int) -> bytes:
    """Return the variable-length encoding of a number >= 0: seven bits per byte, lowest first.

    Example:
        >>> from tinynet.board.proto import varint
        >>> varint(300)
        b'\\xac\\x02'
    """
    if number < 0:
        raise ValueError(f"The 'number' parameter of varint must be >= 0. Got {number} instead.")
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def field(number: int, payload: bytes) -> bytes:
    """Return a length-delimited field: a sub-message, a string or bytes.

    Example:
        >>> from tinynet.board.proto import field
        >>> field(1, b"ab")
        b'\\n\\x02ab'
    """
    return varint(number << 3 | _LENGTH_DELIMITED) + varint(len(payload)) + payload


def integer(number: int, value: int) -> bytes:
    """Return a field that holds a number >= 0.

    Example:
        >>> from tinynet.board.proto import integer
        >>> integer(2, 300)
        b'\\x10\\xac\\x02'
    """
    return varint(number << 3) + varint(value)


def string(number: int, value: str) -> bytes:
    """Return a field that holds a text."""
    return field(number, value.encode())


def run_metadata(graph_def: bytes | None, step_stats: bytes | None = None) -> bytes:
    """Return the RunMetadata message with one serialised GraphDef, and the times of its nodes.

    A message has one function graph: with several, TensorBoard prefixes the names of their nodes,
    which breaks control inputs (``graph_1/^x``).
    """
    step_stats_field, pre_optimization_graph, function_graphs = 1, 2, 4
    message = b"" if step_stats is None else field(step_stats_field, step_stats)
    if graph_def is not None:
        message += field(function_graphs, field(pre_optimization_graph, graph_def))
    return message


# ---- profile ------------------------------------------------------------------------------------
# Time and memory of each node, as the StepStats message of TensorBoard's Profile view.
#
# Devices are the phases of a step: TensorBoard lists them in the legend, with a checkbox for
# each.
# It counts in whole microseconds and omits nodes that took none, so each node takes at least one.


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
