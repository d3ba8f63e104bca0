"""``tinynet.onnx.export``."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tinynet.base import invocation
from tinynet.base.atomic_write import write_atomically
from tinynet.capture.program import leaves
from tinynet.core.callsite import warn
from tinynet.core.modes import no_grad
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.onnx import tracing
from tinynet.onnx.errors import OnnxExporterError, UnsupportedOperatorError
from tinynet.onnx.graph import Graph, Ref, Size
from tinynet.onnx.tracing import trace
from tinynet.onnx.translation import Translation

_exporting = False


class TrainingMode:
    """PyTorch's names of the mode in which a model is exported; only ``EVAL`` is accepted.

    Example:
        >>> tn.onnx.TrainingMode.EVAL
        0
    """

    EVAL, PRESERVE, TRAINING = range(3)


class ONNXProgram:
    """An exported model. `export` returns it.

    Args:
        model_proto: the model, as an ``onnx.ModelProto``.

    Attributes:
        model_proto: the model, as an ``onnx.ModelProto``.

    Raises:
        OSError: (by ``save``) the file cannot be written.

    Example:
        >>> program = tn.onnx.export(nn.ReLU(), tn.ones(2))  # doctest: +SKIP
        >>> program.save("relu.onnx")  # doctest: +SKIP
    """

    def __init__(self, model_proto: Any):
        self.model_proto = model_proto

    def save(self, destination: Any) -> None:
        """Write the model to a path or a binary file."""
        data = self.model_proto.SerializeToString()
        if isinstance(destination, (str, os.PathLike)):
            write_atomically(Path(destination), lambda file: file.write(data))
        else:
            destination.write(data)

    def __repr__(self) -> str:
        graph = self.model_proto.graph
        names = ", ".join(value.name for value in (*graph.input, *graph.output))
        return f"ONNXProgram({quantity(len(graph.node), 'node')}; {names})"


def export(
    model: Any,
    args: Any = (),
    f: Any = None,
    *,
    kwargs: dict[str, Any] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamic_axes: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    export_params: bool = True,
    do_constant_folding: bool = True,
    training: Any = TrainingMode.EVAL,
    verbose: bool | None = None,
    dynamo: bool = True,
    external_data: bool = False,
    optimize: bool = False,
) -> ONNXProgram:
    """Export the forward pass of a model to ONNX.

    The model runs on the example in eval mode, at a few sizes of the dynamic dimensions, and what
    it computed becomes the graph. Parameters and buffers keep their names. Python code runs only
    now: branches that it took and numbers that it computed are fixed.

    Args:
        model: a module, or a function of tensors.
        args: an example: a tensor, or a tuple of arguments.
        f: the file to write, a path or a binary file; None writes nothing.
        kwargs: keyword arguments of the example.
        input_names, output_names: by default the names of the arguments, and ``output``.
        opset_version: the version of ONNX's operations, 18 (the default) or newer;
            lower ones are raised to it, with a warning.
        dynamic_axes: input name -> the numbers of dimensions whose length may change, or a dict
            with their names. By default, it is the first dimension of each input; ``{}`` is none.
        dynamic_shapes: the same in PyTorch's newer form: for each argument None, or a dict of
            numbers and names of tracing.
        export_params: store the parameters; if False, they become inputs.
        do_constant_folding: compute now what depends on parameters only.
        training: only ``TrainingMode.EVAL``.
        verbose, dynamo, external_data, optimize: ignored.

    Raises:
        UnsupportedOperatorError: operations have no form in ONNX; the message lists all, with
            their lines.
        OnnxExporterError: the model cannot be captured, or does something else at another size.
        TypeError: the example holds no tensor, or does not fit the model.
        ModuleNotFoundError: the package onnx is missing (``pip install onnx``).
        OSError: the file cannot be written.

    Example:
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        >>> tn.onnx.export(net, tn.ones(1, 2), "net.onnx")  # doctest: +SKIP
        ONNXProgram(3 nodes; input, output)
    """
    graph = Graph(supported(opset_version))
    given = tuple(args) if isinstance(args, (tuple, list)) else (args,), dict(kwargs or {})
    tensors = [x for x in leaves(given) if isinstance(x, Tensor)]
    _check(model, tensors, training)
    function = model.forward if isinstance(model, Module) else model
    parameters = _names(model)
    names = tracing.input_names(function, *given, input_names, parameters.values())
    if dynamic_shapes is not None:
        dynamic = tracing.from_shapes(dynamic_shapes, *given, function, names)
    else:
        dynamic = tracing.from_axes(dynamic_axes, names, output_names or (), tensors)
    with _in_eval_mode(model):
        traced = trace(model, *given, dynamic)
    translation = Translation(traced, parameters, graph, export_params, do_constant_folding)
    results = translation.run(names)
    _add_outputs(graph, results, output_names, {*parameters.values(), *names})
    graph.prune()
    program = ONNXProgram(model_proto(graph, traced.names))
    if f is not None:
        program.save(f)
    return program


def is_in_onnx_export() -> bool:
    """Return whether a model runs in order to be exported.

    Example:
        >>> tn.onnx.is_in_onnx_export()
        False
    """
    return _exporting


def _check(model: Any, tensors: list[Tensor], training: Any) -> None:
    if not callable(model):
        raise TypeError(f"export() expects a module or a function, but got {model!r}")
    if not tensors:
        raise TypeError("the example holds no tensor: export(model, example, file)")
    for t in tensors:
        if t.numel() == 0:
            raise OnnxExporterError(f"a tensor of the example is empty: its shape is {[*t.shape]}")
    if training not in (TrainingMode.EVAL, None):
        raise OnnxExporterError("models are exported in eval mode; training must be EVAL")


@contextlib.contextmanager
def _in_eval_mode(model: Any) -> Iterator[None]:
    """Run a model in eval mode and without gradients; restore the mode of each module."""
    global _exporting
    modules = [*model.modules()] if isinstance(model, Module) else []
    before = [module.training for module in modules]
    try:
        _exporting = True
        for module in modules[:1]:
            module.eval()
        with no_grad():
            yield
    finally:
        _exporting = False
        for module, training in zip(modules, before, strict=True):
            module.training = training


def _names(model: Any) -> dict[int, str]:
    """Return the names of parameters and buffers by id; of several names, the first."""
    found: dict[int, str] = {}
    if isinstance(model, Module):
        for name, t in (*model.named_parameters(), *model.named_buffers()):
            found.setdefault(id(t), name)
    return found


def _add_outputs(
    graph: Graph, results: dict[str, Ref], given: Sequence[str] | None, taken: Collection[str]
) -> None:
    """Name the results and make them outputs."""
    if not results:
        raise OnnxExporterError("the model returns no tensor")
    names = tracing.renamed([*results], given, "output_names", "outputs", taken)
    for ref, name in zip(results.values(), names, strict=True):
        made = graph("Identity", ref)
        graph.nodes[-1].outputs[0] = made.name = name
        made.shape = ref.shape
        graph.outputs.append(made)


# ---- models of the package onnx -----------------------------------------------------------------
# Building and checking them: the one file that imports the package.

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
