"""What the sections of a report show: what a run left behind, and what its model does.

The model answers for the test set, and trains for one more step.
"""

from __future__ import annotations

import copy
import functools
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tinynet import data, nn
from tinynet.board.graphs.graph import Node
from tinynet.board.graphs.recording import Graphs
from tinynet.board.storage import Logged, read_events
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.train.assemble.build import Parts, first_batch
from tinynet.train.assemble.trial import Rehearsal, rehearsal
from tinynet.train.base.files import read_rows, read_text
from tinynet.train.base.problems import TrainError
from tinynet.train.base.run_folder import RunFolder, no_run, parse_record
from tinynet.train.config.values import Values, read_values
from tinynet.train.diagnose.changes import run_damage
from tinynet.train.loop.splits import dataset_attribute
from tinynet.train.metrics.criterion import SETS, is_test, selection_of
from tinynet.train.metrics.metric import UnsuitableError
from tinynet.train.step.epoch import Totals
from tinynet.train.step.task import as_evaluated
from tinynet.train.store.storage import weights_of


@dataclass(frozen=True)
class RunData:
    """Everything that a report shows of a run, which comes from its folder."""

    folder: RunFolder
    """The paths of its files."""

    record: Mapping[str, Any]
    """The content of ``run.json``: status, figures, versions, platform."""

    rows: list[dict[str, Any]]
    """The figures of each epoch, from ``metrics.jsonl``; without the rows of the tests at the end.
    """

    config: Values
    """The values of ``config.toml``, with their origins."""

    damage: Mapping[str, str]
    """The files of the folder that have changed: name -> problem."""

    model: _Examination | None = None
    """What the trained model does; None if it cannot be loaded."""

    missing: str = ""
    """Why it cannot be loaded."""

    @functools.cached_property
    def logged(self) -> Logged:
        """The curves, images and texts that the run wrote for TensorBoard."""
        return read_events(self.folder.path)

    @property
    def selection(self) -> str:
        """The set on which the run selected: ``"validation"`` or ``"test"``."""
        return selection_of(self.record)

    def figures_on(self, name: str) -> dict[str, float]:
        """Return the last figures of a data set, with the last weights."""
        found: dict[str, float] = dict(self.record.get(name) or {})
        start = f"{SETS[name]}/"
        for row in self.rows if not found else ():  # it is still running
            found |= {k.removeprefix(start): v for k, v in row.items() if k.startswith(start)}
        return finite(found)

    @property
    def best_test(self) -> dict[str, float]:
        """The figures of the test set with the best weights."""
        key = "best" if self.selection == "test" else "test_best"
        return finite({k: v for k, v in (self.record.get(key) or {}).items() if k != "epoch"})

    @property
    def name(self) -> str:
        """The run's name: CONFIG/RUN, its folder inside the config's folder."""
        path = self.folder.path.absolute()
        return f"{path.parent.name}/{path.name}"


def finite(figures: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures that are finite numbers."""
    return {k: v for k, v in figures.items() if isinstance(v, int | float) and math.isfinite(v)}


def read_run(path: Path, model: _Examination | None = None, missing: str = "") -> RunData:
    """Read the folder of a run.

    Args:
        path: the folder.
        model: what the trained model does.
        missing: why that is unknown.

    Raises:
        UsageError: if it is not a run folder.
        TrainError: if a file in it cannot be read.
    """
    folder = RunFolder(path)
    try:
        record = parse_record(folder)
        if "status" not in record:
            raise TrainError(f"{folder.record} is damaged: it has no status")
        config = read_values(read_text(folder.config))
    except FileNotFoundError as error:
        raise no_run(path, Path(error.filename).name) from None
    damage = run_damage(folder, record)
    rows = [row for row in read_rows(folder.metrics) if not is_test(row)]
    return RunData(folder, record, rows, config, damage, model, missing)


_MOST_CLASSES = 200  # of a confusion matrix
_MOST_RANKED = 2000  # examples whose own loss is computed
_MOST_NUMBERS = 4  # of a target whose predictions are plotted
_SHOWN = 6


@dataclass(frozen=True)
class Answer:
    """An example of the test set, and what the model predicts for it."""

    index: int
    """Its place in the test set."""

    inputs: Any
    target: Any
    output: Any

    loss: float | None
    """Its own loss; None if single examples have no loss."""


@dataclass
class _Examination:
    """What a trained model does."""

    parts: Parts
    confusion: Array | None = None
    """Counts of true class i taken for j, (classes, classes)."""

    predictions: tuple[Array, Array] | None = None
    """The outputs for numeric targets and these, (examples, numbers), in the units of the data."""

    worst: list[Answer] = field(default_factory=list)
    """The examples with the largest losses, the worst first."""

    typical: list[Answer] = field(default_factory=list)
    """The examples with losses around the median; the first ones if losses are unknown."""

    ranked: int = 0
    """The number of examples that these were chosen from: the first ones of the test set."""

    weights: Mapping[str, Array] = field(default_factory=dict)
    """The parameters by name."""

    gradients: Mapping[str, Array] = field(default_factory=dict)
    """Their gradients for the first training batch, as the optimizer gets them."""

    graph: Graphs | None = None
    """The graphs of the step that has these gradients, without times."""

    def about(self, name: str) -> Any:
        """Return an attribute of the data set, such as ``"classes"``; None if it has none."""
        return dataset_attribute(self.parts.test_set, name)


def examine(parts: Parts, saved: Mapping[str, Any]) -> _Examination:
    """Try the model of a checkpoint on the test set; all random streams stay unchanged.

    Args:
        parts: the objects of the config; their model may have any weights, and keeps them.
        saved: the checkpoint.
    """
    with warnings.catch_warnings(), rehearsal(parts, "report") as tried:
        warnings.simplefilter("ignore")  # training has given them
        model = tried.model
        model.load_state_dict(weights_of(saved))
        found = _Examination(parts)
        found.weights = {n: p.detach().numpy().copy() for n, p in model.named_parameters()}
        with as_evaluated(model, parts.config.run.seed):
            if parts.method.compares:
                _answer(found, model)
        _take_step(found, tried)
    return found


def _answer(found: _Examination, model: nn.Module) -> None:
    """Find the confusion matrix, and the worst and typical examples."""
    parts = found.parts
    totals: Totals | None = Totals(["confusion_matrix"])
    losses: list[float] = []
    numbers: list[tuple[Array, Array]] | None = []
    start, answers = 0, {}
    method, original = copy.copy(parts.method), parts.method.original
    vars(method).pop("original", None)  # losses are of standardized targets, as in training
    for batch in parts.test_batches:
        result = method.measure(model, parts.loss, batch)
        totals = _counted(totals, result.outputs, result.targets)
        numbers = _collected(numbers, original(result.outputs), original(result.targets))
        if start == len(losses) < _MOST_RANKED:
            losses += _losses(parts, result.outputs, result.targets)
        start += result.examples
    found.confusion = totals.confusion_matrix() if totals else None
    if numbers and len(targets := np.concatenate([own for _, own in numbers])):
        outputs = np.concatenate([own for own, _ in numbers])
        labels = np.isin(targets, (0, 1)).all()
        found.predictions = None if labels else (outputs, targets)
    found.ranked = len(losses)
    order = sorted(range(len(losses)), key=lambda index: -losses[index])
    middle = max(0, len(order) // 2 - _SHOWN // 2)
    chosen = order[:_SHOWN], order[middle : middle + _SHOWN]
    if not losses:
        chosen = [], [*range(min(_SHOWN, len(parts.test_set)))]
    for index in {*chosen[0], *chosen[1]}:
        own = losses[index] if losses else None
        answers[index] = _answer_of(parts, model, index, own)
    found.worst, found.typical = ([answers[index] for index in one] for one in chosen)


def _counted(totals: Totals | None, outputs: Any, targets: Any) -> Totals | None:
    """Add a batch to a confusion matrix; return None if there is none of such outputs."""
    if totals is None or not isinstance(outputs, Tensor) or outputs.ndim < 2:
        return None
    if outputs.shape[1] > _MOST_CLASSES:
        return None
    try:
        totals.add(outputs, targets, 0.0)
    except UnsuitableError:
        return None
    return totals


def _collected(
    numbers: list[tuple[Array, Array]] | None, outputs: Any, targets: Any
) -> list[tuple[Array, Array]] | None:
    """Add the numbers of a batch, (examples, numbers); return None if it has none, or many."""
    if numbers is None or not all(isinstance(one, Tensor) for one in (outputs, targets)):
        return None
    pair = [one.detach().numpy().astype(float) for one in (outputs, targets)]
    if outputs.shape != targets.shape or not targets.dtype.is_floating_point or not targets.ndim:
        return None
    if np.prod(targets.shape[1:]) > _MOST_NUMBERS or not np.isfinite(pair).all():
        return None
    found, true = (one.reshape(len(one), -1) for one in pair)
    return [*numbers, (found, true)]


def _losses(parts: Parts, outputs: Any, targets: Any) -> list[float]:
    """Return the loss of each example of a batch; [] if it cannot be computed."""
    try:
        pairs = [(_row(outputs, i), _row(targets, i)) for i in range(len(targets))]
        losses = [float(parts.loss(*pair)) for pair in pairs]
    except Exception:  # a loss, outputs or targets of the user's that exist only in batches
        return []
    return losses if np.isfinite(losses).all() else []


def _row(value: Any, index: int) -> Any:
    """Return an example of a batch, as a batch of one."""
    if isinstance(value, Tensor):
        return value[index : index + 1]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_row(item, index) for item in value))
    if isinstance(value, Mapping):
        return {key: _row(item, index) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return type(value)([_row(item, index) for item in value])  # type: ignore[call-arg]  # a list's
    raise TypeError(type(value).__name__)


def _answer_of(parts: Parts, model: nn.Module, index: int, loss: float | None) -> Answer:
    inputs, target = first_batch(parts, data.Subset(parts.test_set, [index]), 1)
    original = parts.method.original
    return Answer(index, inputs, original(target), original(model(inputs)), loss)


def _take_step(found: _Examination, tried: Rehearsal) -> None:
    """Take one more training step of the model, for its gradients and its graph."""
    recording = tried.record()
    found.gradients = {
        name: (grad._values() if grad.is_sparse else grad).detach().numpy().copy()
        for name, parameter in tried.model.named_parameters()
        if (grad := parameter.grad) is not None
    }
    if recording is not None:
        for graph in recording.graphs.values():
            graph.nodes[:] = map(_without_place, graph.nodes)
        found.graph = recording


def _without_place(node: Node) -> Node:
    """Return a node without its time, and without the line that called this program."""
    facts = {key: value for key, value in node.attributes.items() if key != "source"}
    return replace(node, cost=None, attributes=facts)
