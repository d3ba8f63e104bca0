"""``torch.utils.tensorboard._pytorch_graph``: the graphs of tensorboardX's own writer."""

from __future__ import annotations

from typing import Any

from tinynet.board import tensorboardx
from tinynet.board.graphs.build import Arguments
from tinynet.board.graphs.recorder import record_forward


def graph(
    model: Any, args: Any = None, verbose: bool = False, use_strict_trace: bool = True
) -> tuple[Any, Any]:
    """Return the GraphDef of a model's forward pass, and an empty message for its times.

    Args:
        model: a Module.
        args: its input, or a tuple of inputs.
        verbose: also print the graph.
        use_strict_trace: refuse a dict in the output.

    Raises:
        RuntimeError: the output contains a dict, with ``use_strict_trace``.
    """
    recorded = record_forward(model, Arguments.of(args), use_strict_trace)
    if verbose:
        print(recorded.text())
    times = tensorboardx.load().Summary()  # an empty message has the bytes of an empty RunMetadata
    return tensorboardx.graph_message(recorded), times
