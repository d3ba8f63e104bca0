"""Recording a training step: graphs of what actually ran, with time and memory."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from tinynet.board import tensorboardx
from tinynet.board.graphs.assemble import BACKWARD, FORWARD, OPTIMIZER, Assembly, folded
from tinynet.board.graphs.costs import OperationCost, operation_costs
from tinynet.board.graphs.graph import Graph, outline
from tinynet.board.graphs.pictures import conceptual, dot_of_graph, picture
from tinynet.board.graphs.timing import Span, StepTime, repeated, share_medians
from tinynet.board.graphs.watch import Watch
from tinynet.board.storage import BoardWarning
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


class Recording(Graphs):
    """The graphs recorded in a block ``with record(...) as rec:``.

    Args:
        models: the modules by display name.
        max_nodes: graphs with more nodes are folded.

    Attributes:
        graphs: by name: ``"step"`` (everything), ``"forward"``, ``"backward"``, ``"optimizer"``,
            those that ran, and the parts named by the user.
        notes: descriptions of the folded parts.
        costs: time, memory and floating-point operations of each operation, with its module.
        classes: the class of each module that was called, by its path.
        step_time: the time of a step, after `measure`.

    Example:
        >>> with tn.board.record() as rec:
        ...     y = tn.ones(2) * 2
        >>> list(rec.graphs), rec.notes
        (['step', 'forward'], [])
    """

    def __init__(self, models: dict[str, Any], max_nodes: int) -> None:
        super().__init__(max_nodes)
        self.costs: list[OperationCost] = []
        self.classes: dict[str, str] = {}
        self.step_time: StepTime | None = None
        self._recorded: _Recorded | None = None
        self._watch: Watch | None = Watch(models)
        self._context = contextlib.ExitStack()

    def __repr__(self) -> str:
        if self._watch is not None:
            return "Recording(not ended)"
        return super().__repr__()

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
            found = Assembly(watch)
            classes, paths = watch.calls.classes, watch.calls.paths
            self.classes = {paths[scope]: name for scope, name in classes.items()}
            self._recorded = _Recorded(found.graph, found.parts, found.spans, classes, paths)
            self._split(self._recorded)
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

    def measure(self, step: Callable[[], object], steps: int = 9) -> None:
        """Repeat the recorded step, and give each operation its median time in the repeats.

        Time and colours are then those of a warm step instead of the recorded one: the first step
        of a process loads code and asks for memory. Values are not kept. The effects are those of
        ``2 * steps`` more steps, and of one before them.

        Args:
            step: takes a step like the recorded one.
            steps: the number of steps whose operations are timed; as many are timed as a whole.

        Raises:
            RuntimeError: the recording has not ended, or has failed.

        Example:
            >>> from tinynet import board
            >>> model, x = nn.Linear(2, 1), tn.ones(4, 2)
            >>> def step():
            ...     model(x).sum().backward()
            >>> with board.record(model) as rec:
            ...     step()
            >>> rec.measure(step)
            >>> rec.step_time.steps, rec.step_time.operations > 0, rec.step_time.between > 0
            (9, True, True)
        """
        if self._recorded is None:
            raise RuntimeError("measure() belongs after the `with` block of its recording")
        recorded = self._recorded
        self.step_time = share_medians(recorded.spans, repeated(step, steps))
        self._split(recorded)

    def _split(self, recorded: _Recorded) -> None:
        """Split the graph into parts, and fold each part that is too large."""
        whole, parts = recorded.whole, recorded.parts
        self.costs = operation_costs(whole, recorded.paths)
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
        self.add(found)
        forward = self.graphs.get("forward", whole)
        self.conceptual = conceptual(forward, recorded.classes, FORWARD)


@dataclass(frozen=True)
class _Recorded:
    """What remains of a recorded step: no values, but the nodes to give other times."""

    whole: Graph
    parts: dict[str, str]
    spans: list[Span]
    classes: dict[str, str]
    paths: dict[str, str]


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
