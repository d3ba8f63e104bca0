"""Recording a training step: graphs of what actually ran, with time and memory."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from tinynet.board import tensorboardx
from tinynet.board.graphs.assemble import BACKWARD, FORWARD, OPTIMIZER, Assembly
from tinynet.board.graphs.conceptual import conceptual
from tinynet.board.graphs.dot import dot_of_graph
from tinynet.board.graphs.fold import folded
from tinynet.board.graphs.formats import outline
from tinynet.board.graphs.graph import Graph
from tinynet.board.graphs.picture import picture
from tinynet.board.graphs.watch import Watch
from tinynet.board.storage import BoardWarning
from tinynet.board.writer import SummaryWriter

MAX_NODES = 2000  # browsers stay responsive up to about this number


class Recording:
    """The graphs recorded in a block ``with record(...) as rec:``.

    Args:
        models: the modules by display name.
        max_nodes: graphs with more nodes are folded.

    Attributes:
        graphs: by name: ``"step"`` (everything), ``"forward"``, ``"backward"``, ``"optimizer"``,
            those that ran, and the parts named by the user.
        notes: descriptions of the folded parts.

    Example:
        >>> with tn.board.record() as rec:
        ...     y = tn.ones(2) * 2
        >>> list(rec.graphs), rec.notes
        (['step', 'forward'], [])
    """

    def __init__(self, models: dict[str, Any], max_nodes: int) -> None:
        self.graphs: dict[str, Graph] = {}
        self.notes: list[str] = []
        self.conceptual = ""
        self._max_nodes = max_nodes
        self._watch: Watch | None = Watch(models)
        self._context = contextlib.ExitStack()

    def __repr__(self) -> str:
        if self._watch is not None:
            return "Recording(not ended)"
        sizes = (f"{name}: {len(graph.nodes)} nodes" for name, graph in self.graphs.items())
        return f"Recording({', '.join(sizes)})"

    # ---- recording ----------------------------------------------------------------------------

    def __enter__(self) -> Recording:
        if self._watch is None:
            raise RuntimeError("This recording has ended. Begin another one: board.record(...)")
        self._context.enter_context(self._watch.started())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._context.close()
        assert self._watch is not None
        watch, self._watch = self._watch, None  # release all arrays, whatever happens
        try:
            self._build(Assembly(watch), watch.calls.classes)
        except Exception as problem:  # a bug in tinynet must not end a training run
            text = f"There is no graph of what was recorded. {type(problem).__name__}: {problem}"
            warnings.warn(text, BoardWarning, stacklevel=2)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Return a context whose operations also form a separate graph with this name.

        Args:
            name: a name such as ``"generator"``; it may be used several times.

        Raises:
            RuntimeError: no recording is active.
        """
        if self._watch is None:
            raise RuntimeError("part() belongs inside of the `with` block of its recording")
        before, self._watch.part = self._watch.part, name
        try:
            yield
        finally:
            if self._watch is not None:
                self._watch.part = before

    def _build(self, assembly: Assembly, classes: Mapping[str, str]) -> None:
        """Split the graph into parts, and fold each part that is too large."""
        whole, parts = assembly.graph, assembly.parts
        found = {"step": whole}
        for name, device in (
            ("forward", FORWARD),
            ("backward", BACKWARD),
            ("optimizer", OPTIMIZER),
        ):
            names = {node.name for node in whole.nodes if node.device == device}
            # Backward nodes have the source of saved values as attributes: edges would add the
            # whole forward graph here.
            part = whole.part(names, surroundings=name != "backward")
            if any(node.cost for node in part.nodes):
                found[name] = part
        for name in dict.fromkeys(parts.values()):
            found[name] = whole.part({node for node, part in parts.items() if part == name})
        for name, graph in found.items():
            notes: list[str] = []
            if len(graph.nodes) > self._max_nodes:
                graph, notes = folded(graph)
            self.graphs[name] = graph
            self.notes += [note for note in notes if note not in self.notes]
        self.conceptual = conceptual(self.graphs.get("forward", whole), classes, FORWARD)

    # ---- looking ------------------------------------------------------------------------------

    def text(self, graph: str = "step") -> str:
        """Return a graph as indented text: modules, operations, shapes, lines, times."""
        return outline(self._graph(graph), self.notes)

    def dot(self, graph: str = "step") -> str:
        """Return a graph in Graphviz's DOT language, with a cluster for each module."""
        return dot_of_graph(self._graph(graph))

    def pbtxt(self, graph: str = "step") -> str:
        """Return a graph as a text GraphDef, which you can upload to TensorBoard's Graphs tab."""
        return tensorboardx.pbtxt(self._graph(graph))

    def svg(self, graph: str = "step", depth: int | None = None) -> str:
        """Return a graph as SVG.

        Args:
            graph: its name.
            depth: the number of scope levels to expand; by default as many as stay readable.
        """
        return picture(self._graph(graph), depth)

    def _repr_svg_(self) -> str:
        return self.svg()

    def write(
        self, writer: SummaryWriter | str | os.PathLike[str], global_step: int | None = None
    ) -> None:
        """Write all graphs, with time and memory, for TensorBoard's Graphs tab.

        The whole step becomes the graph of the run, if it has none yet; the others are selected by
        tag: ``step``, ``forward``, ``backward``, ``optimizer``, the named parts, and ``modules`` (a
        conceptual graph).

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
        for name, graph in self.graphs.items():
            writer._add_graph(graph, f"{name}{suffix}", global_step, profile=True)
        if self.conceptual:
            writer._add_conceptual_graph(self.conceptual, f"modules{suffix}")
        if self.notes:
            lines = "\n".join(f"- {note}" for note in self.notes)
            writer.add_text("graph/folded", f"Repeats that are drawn once:\n\n{lines}", global_step)

    def _graph(self, name: str) -> Graph:
        if name not in self.graphs:
            known = ", ".join(map(repr, self.graphs)) or "none: the recording has not ended"
            raise KeyError(f"There is no graph {name!r}. There are: {known}")
        return self.graphs[name]


def record(*models: Any, max_nodes: int = MAX_NODES, **named: Any) -> Recording:
    """Record what runs in a ``with`` block as graphs: forward, backward and updates.

    Nothing is traced or run twice: core reports each operation. Until the block ends, the results
    of all operations are kept in memory; results are bit-identical to those without recording.

    Args:
        *models: modules, shown under their class names. Other modules that are called are
            found automatically.
        max_nodes: graphs with more nodes are folded: repeats become one node that says so.
        **named: modules, shown under these names.

    Raises:
        TypeError: an argument is not a module.

    Example:
        >>> from tinynet import board
        >>> model, x = nn.Linear(2, 1), tn.ones(4, 2)
        >>> sgd = optim.SGD(model.parameters(), lr=0.1)
        >>> with board.record(model) as rec:
        ...     loss = model(x).pow(2).mean()
        ...     loss.backward()
        ...     sgd.step()
        >>> list(rec.graphs)
        ['step', 'forward', 'backward', 'optimizer']
        >>> [node.name for node in rec.graphs["backward"].nodes if node.op == "AddmmBackward0"]
        ['backward/Linear/AddmmBackward0']
    """
    labelled: dict[str, Any] = {}
    for model in models:
        label, number = type(model).__name__, 1
        while label in labelled or label in named:
            number += 1
            label = f"{type(model).__name__}{number}"
        labelled[label] = model
    for name, model in {**labelled, **named}.items():
        if not callable(getattr(model, "named_modules", None)):
            raise TypeError(
                f"record() takes modules. Got {type(model).__name__} for {name!r} instead."
            )
    return Recording({**labelled, **named}, max_nodes)
