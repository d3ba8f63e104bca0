"""The time and memory of training steps by module and by source line (``tinynet profile``)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tinynet import board, nn
from tinynet.board.graphs.costs import OperationCost, Total, totals
from tinynet.train.build.build import Parts, copied, first_batch
from tinynet.train.build.optimizers import updaters_for
from tinynet.train.build.seeds import isolated
from tinynet.train.build.task import Task, Updater
from tinynet.train.build.trial import recorded_step, trial
from tinynet.train.config.problems import TrainError


@dataclass(frozen=True)
class Profile:
    """The cost of a typical training step."""

    step_seconds: float
    """The time of a step that is not recorded."""

    batch_seconds: float
    """The time to load a batch, without workers."""

    costs: list[OperationCost]
    """The cost of each operation in the median of the recorded steps."""

    classes: Mapping[str, str]
    """The class of each module, by path."""

    @property
    def modules(self) -> dict[str, Total]:
        """The costs of each module's own operations, the slowest module first."""
        return _slowest_first(totals(self.costs, lambda cost: cost.module))

    @property
    def lines(self) -> dict[str, Total]:
        """The costs of each source line, the slowest line first."""
        return _slowest_first(totals(self.costs, _line))


def _line(cost: OperationCost) -> str:
    return cost.line or ("(the optimizer)" if cost.phase == "opt" else "(no line)")


def _slowest_first(found: Mapping[str, Total]) -> dict[str, Total]:
    return dict(sorted(found.items(), key=lambda item: -item[1].time))


def profile(parts: Parts, steps: int) -> Profile:
    """Take training steps on a copy of the model; the model and all random streams stay unchanged.

    Args:
        parts: the objects of a config.
        steps: the number of steps to record, and to take without recording.

    Raises:
        UsageError: if model, loss and data do not fit together.
        TrainError: if no step can be recorded; a warning has the reason.
    """
    config = parts.config
    trial(parts)
    with isolated(config.run.seed, "trial"):
        began = time.perf_counter()
        batch = first_batch(parts, parts.train_set, config.data.batch_size)
        batch_seconds = time.perf_counter() - began
        model = copied(parts)
        updaters = updaters_for(config, model)
        step_seconds = _step_seconds(parts, model, updaters, batch, steps)
        recordings = [recorded_step(parts, model, updaters, batch) for _ in range(steps)]
    found = sorted(filter(None, recordings), key=_time)
    if not found:
        raise TrainError("there is no profile of this step")
    median = found[len(found) // 2]
    return Profile(step_seconds, batch_seconds, median.costs, median.classes)


def _time(recording: board.Recording) -> int:
    return sum(cost.time for cost in recording.costs)


def _step_seconds(
    parts: Parts, model: nn.Module, updaters: Mapping[str, Updater], batch: Any, steps: int
) -> float:
    """Return the median time of a step."""
    seconds = []
    for _ in range(steps):
        began = time.perf_counter()
        parts.method.step(Task(model, parts.loss, updaters, [batch], strict=False))
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)
