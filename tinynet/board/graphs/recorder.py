"""The graph of a model, recorded from one forward that really runs.

There is no tracer: core reports each operation as it runs. So control flow shows the branch that
was taken, and any Python is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinynet.board.graphs.assemble import Assembly
from tinynet.board.graphs.graph import Graph
from tinynet.board.graphs.names import clean
from tinynet.board.graphs.snapshot import preserved
from tinynet.board.graphs.structures import Arguments as Arguments
from tinynet.board.graphs.structures import flatten as flatten
from tinynet.board.graphs.watch import Watch
from tinynet.core.modes import no_grad


def record_forward(model: Any, arguments: Arguments, strict: bool = False) -> Graph:
    """The graph of one forward of `model`, in evaluation mode and under `no_grad`.

    Nodes are named by scope (class name of the model, then class and attribute of each module) and
    operation; parameters and buffers stand in the scope of their module, inputs and outputs under
    `input` and `output`. What the forward raises is raised, with a note; the state is put back
    then too, as it is in the end.

    Args:
        model: a Module.
        arguments: what to call it with.
        strict: refuse a dict in the output.

    Raises:
        RuntimeError: ``strict``, and there is one.
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
        return Assembly(watch).graph  # before the state is put back: arrays are what they were


def _has_dict(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_dict, value))
    return isinstance(value, Mapping)
