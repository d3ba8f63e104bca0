"""An epoch: its steps, and the sums over its examples."""

from __future__ import annotations

import math
import weakref
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from tinynet.core.callsite import Site, here, warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.errors import TrainingWarning
from tinynet.train.metrics.metric import Metric, UnsuitableError
from tinynet.train.metrics.registry import METRICS, Own, find_metric, name_of, of_user
from tinynet.train.step.method import Batch


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one training step.

    Example:
        >>> from tinynet.train import fit
        >>> model, xs = nn.Linear(1, 1), tn.ones(4, 1)
        >>> sgd = optim.SGD(model.parameters(), lr=0.1)
        >>> steps = [*fit(model, nn.MSELoss(), sgd, [(xs, 2 * xs)], epochs=2)]
        >>> [(step.number, step.epoch, step.batch, step.lr) for step in steps]
        [(0, 0, 0, 0.1), (1, 1, 0, 0.1)]
    """

    number: int
    """The number of the step, from 0."""

    epoch: int
    """The epoch, from 0."""

    batch: int
    """The index of its last batch in the epoch, from 0."""

    ends_epoch: bool
    """Whether it is the last step of its epoch."""

    batches: tuple[Batch, ...]
    """Its batches in this process: one, unless gradients are accumulated; none if the step was
    skipped."""

    loss: float
    """The mean loss of its batches; NaN if the step was skipped."""

    rates: Mapping[str, float]
    """The learning rate of each optimizer (of its first parameter group) in this step."""

    losses: Mapping[str, float]
    """The mean losses by name: ``{"loss": ...}`` if there is only one."""

    count: int
    """The number of its batches in all processes."""

    validation: Mapping[str, float] = field(default_factory=dict)
    """The figures of the validation set of `fit` after the last step of an epoch."""

    @property
    def lr(self) -> float:
        """The learning rate of the first optimizer in this step."""
        return next(iter(self.rates.values()))

    @property
    def inputs(self) -> Any:
        """The inputs of its last batch."""
        return self.batches[-1].inputs

    @property
    def targets(self) -> Any:
        """The targets of its last batch."""
        return self.batches[-1].targets

    @property
    def outputs(self) -> Any:
        """The outputs for its last batch."""
        return self.batches[-1].outputs


class Steps(Iterator[Step]):
    """The steps of a training: iterating over them takes them, and so does `run`.

    If neither happens, nothing is trained; a warning then names the line that made them.

    Args:
        steps: takes and yields each step.

    Example:
        >>> from tinynet.train import fit
        >>> model, xs = nn.Linear(1, 1), tn.linspace(-1, 1, 8).unsqueeze(1)
        >>> sgd = optim.SGD(model.parameters(), lr=0.5)
        >>> steps = fit(model, nn.MSELoss(), sgd, [(xs, 2 * xs)], epochs=3)
        >>> steps
        Steps(none taken yet: iterate over them, or call run())
        >>> next(steps).number
        0
        >>> len(steps.run())  # the rest
        2
    """

    def __init__(self, steps: Generator[Step, None, None]) -> None:
        self._steps = steps
        self._unused: weakref.finalize[..., Any] | None
        self._unused = weakref.finalize(self, _warn_unused, here())

    def __next__(self) -> Step:
        self._use()
        return next(self._steps)

    def run(self) -> list[float]:
        """Take all steps that are left; return the mean loss of each epoch.

        Raises:
            NonFiniteError: if a loss, gradient or learning rate is NaN or infinite.
        """
        losses: dict[int, list[float]] = {}
        for step in self:
            losses.setdefault(step.epoch, []).extend([step.loss] if step.batches else [])
        return [fmean(found) if found else math.nan for found in losses.values()]

    def close(self) -> None:
        """End the training; callbacks learn of it."""
        self._use()
        self._steps.close()

    def _use(self) -> None:
        if self._unused is not None:
            self._unused.detach()
            self._unused = None

    def __repr__(self) -> str:
        taken = "not all taken" if self._unused is None else "none taken yet"
        return f"Steps({taken}: iterate over them, or call run())"


def _warn_unused(site: Site | None) -> None:
    """Warn about steps that were dropped before the first was taken."""
    warn(
        "fit() trained nothing: its steps are taken only when they are iterated over. To train, "
        "write `for step in fit(...)`, or `fit(...).run()`.",
        TrainingWarning,
        site,
    )


class Share(NamedTuple):
    """What a batch adds to the totals: examples, the mean of each loss, and terms of metrics."""

    examples: int
    losses: Mapping[str, float]
    sums: Mapping[str, Any]


class Totals:
    """Sums over the examples of an epoch, and the resulting figures.

    Args:
        metrics: names, functions of all outputs and targets, or objects with ``update`` and
            ``compute``; None for the accuracy if the targets are classes.

    Example:
        >>> totals = Totals(["top2", "perplexity"])
        >>> totals.add(tn.tensor([[0.1, 0.9, 0.5], [0.8, 0.2, 0.3]]), tn.tensor([2, 1]), loss=0.0)
        >>> totals.figures()
        {'loss': 0.0, 'top2': 0.5, 'perplexity': 1.0}
    """

    def __init__(self, metrics: Sequence[str | Own] | None = None) -> None:
        self._optional = metrics is None
        names = ["accuracy"] if metrics is None else metrics
        self._all = {name_of(metric): _known(metric) for metric in names}
        self.clear()

    def clear(self) -> None:
        """Begin again with no examples."""
        self.examples = 0
        self._losses: dict[str, float] = {}
        self._metrics = dict(self._all)
        self._sums: dict[str, Any] = dict.fromkeys(self._metrics, 0)

    def add(
        self,
        outputs: Any,
        targets: Any,
        loss: float | Mapping[str, float],
        examples: int | None = None,
    ) -> None:
        """Add a batch. Its loss is the mean over its examples, or several losses by name.

        Raises:
            UnsuitableError: if outputs and targets do not suit a metric.
        """
        self.take(self._share(outputs, targets, loss, examples))

    def _share(
        self, outputs: Any, targets: Any, loss: float | Mapping[str, float], examples: int | None
    ) -> Share:
        losses = loss if isinstance(loss, Mapping) else {"loss": loss}
        sums = {}
        try:
            for name, metric in self._metrics.items():
                if metric.of_loss is not None and "loss" not in losses:
                    raise UnsuitableError("needs a method with one loss")
                pair = outputs, targets
                if metric.takes_arrays:
                    pair = _array(outputs), _array(targets)
                sums[name] = metric.of_batch(*pair)
        except UnsuitableError as error:
            if not self._optional:
                raise UnsuitableError(f"{name} {error}") from None
            sums = {}
        return Share(len(targets) if examples is None else examples, losses, sums)

    def add_batch(self, batch: Batch) -> None:
        """Add a batch; raises the errors of `add`."""
        self.take(self.share_of(batch))

    def share_of(self, batch: Batch) -> Share:
        """Return what a batch adds; raises the errors of `add`."""
        return self._share(batch.outputs, batch.targets, batch.by_name, batch.examples)

    def take(self, share: Share) -> None:
        """Add the share of a batch."""
        self.examples += share.examples
        for name, value in share.losses.items():
            self._losses[name] = self._losses.get(name, 0.0) + value * share.examples
        self._metrics = {name: m for name, m in self._metrics.items() if name in share.sums}
        for name, metric in self._metrics.items():
            self._sums[name] = metric.add(self._sums[name], share.sums[name])

    def figures(self) -> dict[str, float]:
        """Return the losses (``loss``) and the metrics; an empty dict before the first batch."""
        if not self.examples:
            return {}
        figures = {name: value / self.examples for name, value in self._losses.items()}
        for name, metric in self._metrics.items():
            if metric.of_loss is not None:
                figures[name] = metric.of_loss(figures["loss"])
            else:
                figures |= _figures(name, metric, self._sums[name])
        return figures

    def state_dict(self) -> dict[str, Any]:
        """Return the sums so far."""
        return {
            "examples": self.examples,
            "losses": dict(self._losses),
            "sums": {name: self._sums[name] for name in self._metrics},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the state that `state_dict` returned."""
        self.examples, self._losses = state["examples"], dict(state["losses"])
        self._metrics = {n: m for n, m in self._metrics.items() if n in state["sums"]}
        self._sums |= state["sums"]

    def confusion_matrix(self) -> Array | None:
        """Return the counts of true class i predicted as j, (classes, classes); or None."""
        counts: Array | None = self._sums.get("confusion_matrix")
        return counts if isinstance(counts, np.ndarray) else None


def _figures(name: str, metric: Metric, sums: Any) -> dict[str, float]:
    """Return the figures of a metric: none, one, or several that begin with its name."""
    try:
        figure = metric.finish(sums)
    except UnsuitableError as error:
        raise UnsuitableError(f"{name} {error}") from None
    if isinstance(figure, Mapping):
        short = name.removesuffix("_per_class")
        return {f"{short}_{inside}": value for inside, value in figure.items()}
    return {} if figure is None else {name: figure}


def _known(metric: str | Own) -> Metric:
    if not isinstance(metric, str):
        return of_user(metric)
    found = find_metric(metric)
    if found is None:
        raise ValueError(f"There is no metric {metric!r}. There are: {', '.join(METRICS)}")
    return found


def _array(value: Any) -> Array:
    if not isinstance(value, Tensor):
        raise UnsuitableError("needs outputs and targets that are tensors")
    return value.detach().numpy()
