"""The time and memory of training steps by module and by source line (``tinynet profile``)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from tinynet.board.graphs.costs import OperationCost, Total, totals
from tinynet.board.graphs.timing import StepTime
from tinynet.train.assemble.build import Parts, first_batch
from tinynet.train.assemble.trial import trial
from tinynet.train.base.problems import TrainError
from tinynet.train.step.seeds import isolated


@dataclass(frozen=True)
class Profile:
    """The cost of a typical training step."""

    step: StepTime
    """The time of a step."""

    batch_seconds: float
    """The time to load a batch, without workers."""

    costs: list[OperationCost]
    """The cost of each operation, the median over the steps."""

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
        steps: the number of steps whose operations are timed, and of those timed as a whole.

    Raises:
        UsageError: if model, loss and data do not fit together.
        TrainError: if no step can be recorded and repeated; a warning has the reason.
    """
    config = parts.config
    recording = trial(parts, steps)
    if recording is None or recording.step_time is None:
        raise TrainError("there is no profile of this step")
    with isolated(config.run.seed, "trial"):
        began = time.perf_counter()
        first_batch(parts, parts.train_set, config.data.batch_size)
        batch_seconds = time.perf_counter() - began
    return Profile(recording.step_time, batch_seconds, recording.costs, recording.classes)
