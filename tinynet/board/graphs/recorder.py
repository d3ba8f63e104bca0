"""Recording the graph of a model from one actual forward pass.

There is no tracer: core reports each operation as it runs. The graph therefore shows the branch
taken, and the model may use any Python code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinynet.board.graphs.assemble import Assembly
from tinynet.board.graphs.build import Arguments
from tinynet.board.graphs.graph import Graph
from tinynet.board.graphs.names import clean
from tinynet.board.graphs.snapshot import preserved
from tinynet.board.graphs.watch import Watch
from tinynet.core.modes import no_grad


def record_forward(model: Any, arguments: Arguments, strict: bool = False) -> Graph:
    """Return the graph of one forward pass of `model`, in evaluation mode and under `no_grad`.

    Nodes are named by scope (class name of the model, then class and attribute of each module) and
    operation; parameters and buffers are in the scope of their module, inputs and outputs under
    `input` and `output`. Exceptions of the forward pass are raised with a note; the state is
    restored in any case.

    Args:
        model: a Module.
        arguments: its arguments.
        strict: refuse a dict in the output.

    Raises:
        RuntimeError: the output contains a dict, with ``strict``.
    """
    watch = Watch({type(model).__name__: model})
    modules = watch.calls.roots[0].modules.values()
    leaves = [leaf for _, leaf in arguments.leaves(model)]
    with preserved(modules, leaves):
        try:
            model.train(False)
            with watch.started(), no_grad():
                output = model(*arguments.args, **arguments.kwargs)
        except Exception as error:
            name = clean(type(model).__name__)
            error.add_note(f"This was raised when add_graph ran {name} to record its graph.")
            raise
        if strict and _has_dict(output):
            raise RuntimeError(
                "Encountering a dict at the output of the tracer might cause the trace to be "
                "incorrect, this is only valid if the container structure does not change based on "
                "the module's inputs. Pass use_strict_trace=False to write the graph all the same."
            )
        return Assembly(watch).graph  # before the state is restored, while arrays are unchanged


def _has_dict(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_dict, value))
    return isinstance(value, Mapping)
