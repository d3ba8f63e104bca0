"""The only module that uses tensorboardX: its protocol buffers and its checksum produce bytes here.

The other modules work with `bytes` (a serialised event, a framed record), except the families in
`summaries`, which fill in the messages of their tabs. Nothing is imported before the first writer
is constructed.

Note [tensorboardX without its __init__]
``import tensorboardX`` runs a package ``__init__`` that imports torch if it is installed (a second,
and hundreds of megabytes), hooks for matplotlib and S3, and a writer whose thread dies on a full
disk. We need only its generated messages and its checksum, which import nothing but protobuf.
So the first import happens under an empty package object with the right ``__path__``; afterwards
``sys.modules`` is restored, and a user's own ``import tensorboardX`` runs normally.

Note [Which versions]
tensorboardX 2.6.1 is the first whose messages load with protobuf 4 and newer. Each of 2.6.1,
2.6.2.2, 2.6.4 and 2.6.5, with each of protobuf 3.20.3, 4.21.12, 4.25.9, 5.26.0, 5.29.6, 6.30.0,
6.33.6, 7.34.0 and 7.36.2, gave the same output: every method of the writer and three recorded
steps, read back with TensorBoard's own messages. TensorBoard requires a narrow range of protobuf
versions; we never import it.
"""

from __future__ import annotations

import functools
import importlib.util
import struct
import sys
import warnings
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from tinynet.base import invocation
from tinynet.board.graphs.graph import Graph, Node
from tinynet.board.proto import DATA_TYPES, run_metadata, step_stats

FILE_VERSION = "brain.Event:2"
_PACKAGE = "tensorboardX"
# The GraphDef version that PyTorch writes; TensorBoard accepts no graph without one.
_GRAPH_PRODUCER = 22


# ---- loading ---------------------------------------------------------------------------------


@functools.cache
def load() -> Any:
    """Return the message classes and the checksum of tensorboardX, imported on the first call.

    Raises ImportError with instructions if tensorboardX or protobuf is missing.
    """
    loaded = _PACKAGE in sys.modules
    spec = None if loaded else importlib.util.find_spec(_PACKAGE)
    if not loaded and spec is None:
        raise ImportError(
            "SummaryWriter needs tensorboardX, which is not installed: "
            + invocation.python("-m", "pip", "install", "tensorboardX"),
            name=_PACKAGE,
        )
    if spec is not None:  # see Note [tensorboardX without its __init__]
        sys.modules[_PACKAGE] = importlib.util.module_from_spec(spec)
    try:
        with warnings.catch_warnings():  # some versions of protobuf warn about their own C types
            warnings.simplefilter("ignore", DeprecationWarning)
            return _collect()
    finally:
        if not loaded:
            for name in [name for name in sys.modules if name.split(".")[0] == _PACKAGE]:
                del sys.modules[name]


def _collect() -> SimpleNamespace:
    from google.protobuf import text_format
    from tensorboardX import crc32c
    from tensorboardX.proto import (
        api_pb2,
        attr_value_pb2,
        event_pb2,
        graph_pb2,
        layout_pb2,
        node_def_pb2,
        plugin_hparams_pb2,
        plugin_mesh_pb2,
        plugin_pr_curve_pb2,
        plugin_text_pb2,
        summary_pb2,
        tensor_pb2,
        tensor_shape_pb2,
        versions_pb2,
    )

    found = SimpleNamespace(crc32c=crc32c.crc32c, text_format=text_format)
    for module in (
        *(event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, plugin_text_pb2),
        *(graph_pb2, node_def_pb2, attr_value_pb2, versions_pb2),
        *(api_pb2, plugin_hparams_pb2, plugin_pr_curve_pb2, plugin_mesh_pb2, layout_pb2),
    ):
        for message in module.DESCRIPTOR.message_types_by_name:
            setattr(found, message, getattr(module, message))
    return found


# ---- records ---------------------------------------------------------------------------------


def frame(data: bytes) -> bytes:
    """Return a record of an event file: length, its checksum, data, its checksum.

    All little-endian; the checksum is a masked crc32c (the TFRecord format).
    """
    length = struct.pack("<Q", len(data))
    return b"".join((length, _checksum(length), data, _checksum(data)))


def _checksum(data: bytes) -> bytes:
    crc = load().crc32c(data)
    rotated = (crc >> 15 | crc << 17) & 0xFFFFFFFF
    return struct.pack("<I", (rotated + 0xA282EAD8) & 0xFFFFFFFF)


# ---- events ----------------------------------------------------------------------------------


def version(walltime: float, step: int | None = None) -> bytes:
    """Return the event that every event file starts with."""
    return _event(walltime, step, file_version=FILE_VERSION)


def session_start(walltime: float, step: int) -> bytes:
    """Return the event of a resumed run, which hides all earlier events from `step` on."""
    session = load().SessionLog
    return _event(walltime, step, session_log=session(status=session.START))


def summary(walltime: float, step: int | None, **value: Any) -> bytes:
    """Return the event of one value: fields of the message `Summary.Value`, such as `tag`."""
    messages = load()
    content = messages.Summary(value=[messages.Summary.Value(**value)])
    return _event(walltime, step, summary=content)


def metadata(plugin: str, content: bytes = b"") -> Any:
    """Return the metadata of a value: the tab of TensorBoard that shows it, and its content."""
    message = load().SummaryMetadata
    return message(plugin_data=message.PluginData(plugin_name=plugin, content=content))


def run_graph(graph: Graph, walltime: float) -> bytes:
    """Return the event of a run's graph, which the Graphs tab opens with; the last one counts."""
    return _event(walltime, None, graph_def=graph_def(graph))


def tagged_graph(tag: str, graph: Graph, walltime: float) -> bytes:
    """Return the event of a further graph, selectable by tag in the Graphs tab, with its costs."""
    if any(node.cost is not None for node in graph.nodes):
        content = run_metadata(graph_def(graph), step_stats(graph))
        return _stored("graph_run_metadata", tag, content, walltime)
    return _stored("graph_run_metadata_graph", tag, run_metadata(graph_def(graph)), walltime)


def conceptual_graph(tag: str, keras: str, walltime: float) -> bytes:
    """Return the event of a graph of modules (the JSON of a Keras model), the conceptual graph."""
    return _stored("graph_keras_model", tag, keras.encode(), walltime)


def _stored(plugin: str, tag: str, content: bytes, walltime: float) -> bytes:
    tensor = load().TensorProto(dtype="DT_STRING", string_val=[content])
    return summary(walltime, None, tag=tag, tensor=tensor, metadata=metadata(plugin, b"1"))


def _event(walltime: float, step: int | None, **what: Any) -> bytes:
    if step is not None:
        what["step"] = step
    return load().Event(wall_time=walltime, **what).SerializeToString()


# ---- graphs ----------------------------------------------------------------------------------


def pbtxt(graph: Graph) -> str:
    """Return the GraphDef of a graph in protocol buffers' text format."""
    text: str = load().text_format.MessageToString(graph_message(graph))
    return text


def graph_def(graph: Graph) -> bytes:
    """Return the serialised GraphDef of a graph."""
    serialised: bytes = graph_message(graph).SerializeToString(deterministic=True)
    return serialised


def graph_message(graph: Graph) -> Any:
    """Return the GraphDef message of a graph."""
    messages = load()
    versions = messages.VersionDef(producer=_GRAPH_PRODUCER)
    return messages.GraphDef(node=map(_node_def, graph.nodes), versions=versions)


def _node_def(node: Node) -> Any:
    messages = load()
    attr = {key: _string(value) for key, value in node.attributes.items()}
    if node.outputs:
        shapes = [shape_proto(output.shape) for output in node.outputs]
        shape_list = messages.AttrValue.ListValue(shape=shapes)
        attr["_output_shapes"] = messages.AttrValue(list=shape_list)
        attr["dtype"] = _data_type(node.outputs[0].dtype)
    return messages.NodeDef(
        name=node.name, op=node.op, input=node.inputs, device=node.device, attr=attr
    )


def shape_proto(sizes: Sequence[int]) -> Any:
    """Return the TensorShapeProto of a shape."""
    shape = load().TensorShapeProto
    return shape(dim=[shape.Dim(size=size) for size in sizes])


def _data_type(name: str) -> Any:
    known = DATA_TYPES.get(name)
    return load().AttrValue(type=known) if known else _string(name)


def _string(text: str) -> Any:
    return load().AttrValue(s=text.encode())
