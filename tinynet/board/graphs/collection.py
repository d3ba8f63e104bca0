"""Graphs by name, as text, as pictures, and for TensorBoard."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tinynet.board import tensorboardx
from tinynet.board.graphs.assemble import folded
from tinynet.board.graphs.dot import dot_of_graph
from tinynet.board.graphs.formats import outline
from tinynet.board.graphs.graph import Graph
from tinynet.board.graphs.pictures import picture
from tinynet.board.writer import SummaryWriter
from tinynet.core.printing import quantity

MAX_NODES = 2000  # browsers stay responsive up to about this number


class Graphs:
    """Graphs of one step.

    Args:
        max_nodes: graphs with more nodes are folded.

    Attributes:
        graphs: the graphs by name.
        notes: descriptions of the folded parts.
        conceptual: a graph of the modules, the JSON of a Keras model; empty if there is none.
    """

    def __init__(self, max_nodes: int = MAX_NODES) -> None:
        self.graphs: dict[str, Graph] = {}
        self.notes: list[str] = []
        self.conceptual = ""
        self._max_nodes = max_nodes

    def __repr__(self) -> str:
        sizes = (
            f"{name}: {quantity(len(graph.nodes), 'node')}" for name, graph in self.graphs.items()
        )
        return f"{type(self).__name__}({', '.join(sizes)})"

    def add(self, graphs: Mapping[str, Graph]) -> None:
        """Add graphs by name; fold those that are too large."""
        for name, graph in graphs.items():
            notes: list[str] = []
            if len(graph.nodes) > self._max_nodes:
                graph, notes = folded(graph)
            self.graphs[name] = graph
            self.notes += [note for note in notes if note not in self.notes]

    def text(self, graph: str = "") -> str:
        """Return a graph as indented text: modules, operations, shapes, lines, times.

        Args:
            graph: its name; by default the first one, the whole step.
        """
        return outline(self._graph(graph), self.notes)

    def dot(self, graph: str = "") -> str:
        """Return a graph in Graphviz's DOT language, with a cluster for each module."""
        return dot_of_graph(self._graph(graph))

    def pbtxt(self, graph: str = "") -> str:
        """Return a graph as a text GraphDef, which you can upload to TensorBoard's Graphs tab."""
        return tensorboardx.pbtxt(self._graph(graph))

    def svg(self, graph: str = "", depth: int | None = None) -> str:
        """Return a graph as SVG.

        Args:
            graph: its name; by default the first one.
            depth: the number of scope levels to expand; by default as many as stay readable.
        """
        return picture(self._graph(graph), depth)

    def _repr_svg_(self) -> str:
        return self.svg()

    def write(
        self, writer: SummaryWriter | str | os.PathLike[str], global_step: int | None = None
    ) -> None:
        """Write all graphs, with time and memory, for TensorBoard's Graphs tab.

        They are selected by tag, and so is ``modules`` (a conceptual graph). The tab opens with the
        first of the graphs.

        Args:
            writer: a SummaryWriter, or the folder of the run.
            global_step: added to the tags (``forward, step 100``), so that a run can contain
                several recordings.

        Raises:
            TypeError: ``writer`` is neither.
        """
        if isinstance(writer, (str, os.PathLike)):
            with SummaryWriter(writer) as own:
                self.write(own, global_step)
            return
        if not hasattr(writer, "add_scalar"):
            raise TypeError(
                "The 'writer' parameter of Recording.write must be a SummaryWriter or a folder. "
                f"Got {type(writer).__name__} instead."
            )
        suffix = "" if global_step is None else f", step {global_step}"
        for number, (name, graph) in enumerate(self.graphs.items()):
            if number:
                writer._add_tagged_graph(graph.opened(), f"{name}{suffix}")
            else:  # the tab opens with the first tag in the order of letters, and shows no spaces
                writer._add_tagged_graph(graph, f" {name}{suffix}")
        if self.conceptual:
            writer._add_conceptual_graph(self.conceptual, f"modules{suffix}")
        if self.notes:
            lines = "\n".join(f"- {note}" for note in self.notes)
            writer.add_text("graph/folded", f"Repeats that are drawn once:\n\n{lines}", global_step)

    def _graph(self, name: str) -> Graph:
        name = name or next(iter(self.graphs), "")
        if name not in self.graphs:
            known = ", ".join(map(repr, self.graphs)) or "none: the recording has not ended"
            raise KeyError(f"There is no graph {name!r}. There are: {known}")
        return self.graphs[name]
