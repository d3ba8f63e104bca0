"""The graph of a model, recorded from one forward that really runs.

There is no tracer: core reports each operation as it runs. So control flow shows the branch that
was taken, and any Python is allowed.
"""

from __future__ import annotations

from typing import Any

from tinynet.board.assemble import Assembly
from tinynet.board.graph import Graph
from tinynet.board.names import clean
from tinynet.board.snapshot import preserved
from tinynet.board.structures import Arguments as Arguments
from tinynet.board.structures import flatten as flatten
from tinynet.board.watch import Watch
from tinynet.core.modes import no_grad


def record_forward(model: Any, arguments: Arguments) -> Graph:
    """The graph of one forward of `model`, which it runs under `no_grad` and leaves no trace of.

    Nodes are named by scope (class name of the model, then attribute path of the module) and
    operation; parameters and buffers stand in the scope of their module, inputs and outputs under
    `input` and `output`. What the forward raises is raised, with a note; the state is put back
    then too.

    Args:
        model: a Module.
        arguments: what to call it with.
    """
    watch = Watch({type(model).__name__: model})
    modules = watch.calls.roots[0].modules.values()
    leaves = [leaf for _, leaf in arguments.leaves()]
    with preserved(modules, leaves):
        try:
            with watch.started(), no_grad():
                model(*arguments.args, **arguments.kwargs)
        except Exception as error:
            name = clean(type(model).__name__)
            error.add_note(f"This was raised when add_graph ran {name} to record its graph.")
            raise
        return Assembly(watch).graph  # before the state is put back: arrays are what they were
