"""The few protocol buffer messages that tensorboardX does not ship, encoded by hand.

A message is a sequence of fields; a field is a key (number and wire type, as a varint) and a
payload. Two kinds are needed here: numbers, and the length-delimited kind (sub-messages, strings
and bytes look alike on the wire).
Source: https://protobuf.dev/programming-guides/encoding/; field numbers from TensorFlow's
    config.proto, step_stats.proto, tensor_description.proto, allocation_description.proto.
"""

from __future__ import annotations

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
