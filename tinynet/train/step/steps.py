"""The steps of a training: the result of one, and all that are still to be taken."""

from __future__ import annotations

import math
import weakref
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from tinynet.core.callsite import Site, here, warn
from tinynet.errors import TrainingWarning
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
