"""Building and checking ONNX models: the one file that imports the package onnx."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tinynet.base import invocation
from tinynet.core.callsite import warn
from tinynet.onnx.errors import OnnxExporterError, UnsupportedOperatorError
from tinynet.onnx.graph import Graph, Ref, Size

LOWEST_OPSET = 18  # reductions take their dimensions as an input from here on


def supported(opset: int | None) -> int:
    """Return a version of ONNX's operations; the lowest for None, and with a warning for less.

    Raises:
        ModuleNotFoundError: the package onnx is missing.
        OnnxExporterError: it does not have that version.
    """
    opset = LOWEST_OPSET if opset is None else opset
    try:
        import onnx
    except ModuleNotFoundError:
        install = invocation.installation("onnx")
        raise ModuleNotFoundError(
            f"Models are exported with the package onnx, which is not installed: `{install}`.",
            name="onnx",
        ) from None
    highest = onnx.defs.onnx_opset_version()
    if not 1 <= opset <= highest:
        raise OnnxExporterError(
            f"opset_version must be from {LOWEST_OPSET} to {highest} (that of the installed onnx "
            f"{onnx.__version__}), but got {opset}"
        )
    if opset < LOWEST_OPSET:
        warn(f"opset_version={opset} is too low: the model is exported in version {LOWEST_OPSET}")
    return max(opset, LOWEST_OPSET)


def _refusal(graph: Graph, text: str) -> OnnxExporterError:
    """Return the error for a graph that onnx refuses, with the line of the node it names."""
    node = next((n for n in graph.nodes if f"node name: {n.outputs[0]})" in text), None)
    kind = re.search(r"unsupported type: tensor\((\w+)\)", text)
    if node is None or kind is None:
        return OnnxExporterError(f"onnx finds the model invalid: {text}")
    return UnsupportedOperatorError(
        f"these operations have no form in ONNX:\n  {node.op} of {kind[1]}: convert the tensor to "
        f"another dtype {node.place}".rstrip()
    )


def model_proto(graph: Graph, names: dict[tuple[int, ...], str]) -> Any:
    """Return a graph as a checked ``onnx.ModelProto``.

    Args:
        graph: the graph.
        names: of lengths of dynamic dimensions.

    Raises:
        UnsupportedOperatorError: ONNX's operation does not take the dtype.
        OnnxExporterError: onnx finds it invalid for another reason.
    """
    import onnx
    from onnx import helper, numpy_helper

    def attribute(value: Any) -> Any:
        return helper.np_dtype_to_tensor_dtype(value) if isinstance(value, np.dtype) else value

    def info(ref: Ref) -> Any:
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(ref.dtype))
        lengths = [names.get(n.values) if isinstance(n, Size) else n for n in ref.shape]
        return helper.make_tensor_value_info(ref.name, kind, lengths)

    nodes = [
        helper.make_node(
            node.op,
            node.inputs,
            node.outputs,
            name=node.outputs[0],
            doc_string=node.place,
            **{name: attribute(value) for name, value in node.attributes.items()},
        )
        for node in graph.nodes
    ]
    constants = [numpy_helper.from_array(x, name) for name, x in graph.initializers.items()]
    inputs, outputs = [[info(ref) for ref in refs] for refs in (graph.inputs, graph.outputs)]
    opsets = [helper.make_opsetid("", graph.opset)]
    model = helper.make_model(
        helper.make_graph(nodes, "tinynet", inputs, outputs, constants),
        opset_imports=opsets,
        ir_version=helper.find_min_ir_version_for(opsets),
        producer_name="tinynet",
    )
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise _refusal(graph, str(error)) from error
    except ValueError as error:  # protobuf's limit of 2 GB
        raise OnnxExporterError(f"the model is too large for one file: {error}") from error
    return model
