"""What a trained model does: its answers for the test set, its weights, one more step."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tinynet import data, nn
from tinynet.board.graphs.collection import Graphs
from tinynet.board.graphs.graph import Node
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.train.assemble.build import Parts, first_batch
from tinynet.train.assemble.rehearsal import Rehearsal, rehearsal
from tinynet.train.loop.source import dataset_attribute
from tinynet.train.metrics.metric import UnsuitableError
from tinynet.train.step.epoch import Totals
from tinynet.train.step.task import as_evaluated
from tinynet.train.store.state import weights_of

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
    """Its own loss; None if that of single examples cannot be computed."""


@dataclass
class Examination:
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


def examine(parts: Parts, saved: Mapping[str, Any]) -> Examination:
    """Try the model of a checkpoint on the test set; all random streams stay unchanged.

    Args:
        parts: the objects of the config; their model may have any weights, and keeps them.
        saved: the checkpoint.
    """
    with warnings.catch_warnings(), rehearsal(parts, "report") as tried:
        warnings.simplefilter("ignore")  # training has given them
        model = tried.model
        model.load_state_dict(weights_of(saved))
        found = Examination(parts)
        found.weights = {n: p.detach().numpy().copy() for n, p in model.named_parameters()}
        with as_evaluated(model, parts.config.run.seed):
            if parts.method.compares:
                _answer(found, model)
        _take_step(found, tried)
    return found


def _answer(found: Examination, model: nn.Module) -> None:
    """Find the confusion matrix, and the worst and typical examples."""
    parts = found.parts
    totals: Totals | None = Totals(["confusion_matrix"])
    losses: list[float] = []
    numbers: list[tuple[Array, Array]] | None = []
    start, answers = 0, {}
    method, original = copy.copy(parts.method), parts.method.original
    vars(method).pop("original", None)  # losses are those of training, of standardized targets
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


def _take_step(found: Examination, tried: Rehearsal) -> None:
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
