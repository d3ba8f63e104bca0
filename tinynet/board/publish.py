"""Writing graphs to an event file."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence

from tinynet.board import tensorboardx
from tinynet.board.graphs.graph import Graph, problems
from tinynet.board.storage import BoardWarning
from tinynet.board.writer import SummaryWriter


def publish(
    writer: SummaryWriter,
    graphs: Mapping[str, Graph],
    conceptual: str,
    notes: Sequence[str],
    global_step: int | None,
) -> None:
    """Write graphs by tag; the Graphs tab opens with the first graph of a run.

    Args:
        writer: the writer.
        graphs: name -> graph, the full graph first.
        conceptual: the overview, as the JSON of a Keras model.
        notes: descriptions of the folded parts.
        global_step: appears in the tags.
    """
    when = time.time()
    events = []
    for name, graph in graphs.items():
        tag = _free(writer, name, global_step)
        wrong = problems(graph)
        if wrong:  # a bug in tinynet must not end a training run
            warnings.warn(
                f"The graph of {tag} was not written: {'; '.join(wrong[:3])}.",
                BoardWarning,
                stacklevel=3,
            )
        elif not writer._graphs:
            events += [tensorboardx.run_graph(graph, when)]
            events += [tensorboardx.profile(tag, graph, when, global_step)]
            writer._graphs.add(tag)
        else:
            events.append(tensorboardx.tagged_graph(tag, graph, when))
            writer._graphs.add(tag)
    if conceptual:
        tag = _free(writer, "modules", global_step)
        events.append(tensorboardx.conceptual_graph(tag, conceptual, when))
        writer._graphs.add(tag)
    for event in events:
        writer._main_file().add(tensorboardx.frame(event))
    if notes:
        lines = "\n".join(f"- {note}" for note in notes)
        writer.add_text("graph/folded", f"Repeats that are drawn once:\n\n{lines}", global_step)


def _free(writer: SummaryWriter, name: str, step: int | None) -> str:
    tag = wanted = name if step is None else f"{name}, step {step}"
    number = 0
    while tag in writer._graphs:
        number += 1
        tag = f"{wanted}_{number}"
    return tag
