"""The sections of a config about the updates of the weights: optimizer, schedule, averages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tinynet.train.config.amounts import AMOUNT
from tinynet.train.config.constraints import FIGURE, POSITIVE, RATES, must
from tinynet.train.config.signatures import Component


@dataclass(frozen=True)
class OptimizerSection:
    """How the gradients update the weights.

    If the parts of a model have their own optimizers, each has a table named after the module whose
    parameters it updates: ``[optimizer.generator]``. clip_norm and clip_value in ``[optimizer]``
    are then the defaults for these tables.
    """

    component: Component | None
    """The optimizer, without its parameters; None if there are several."""

    clip_norm: float | None = field(
        default=None, metadata=must("be greater than 0", lambda value: value > 0)
    )
    """The maximum total 2-norm of the gradients. Larger gradients are scaled down together."""

    clip_value: float | None = field(
        default=None, metadata=must("be greater than 0", lambda value: value > 0)
    )
    """Clip every element of the gradients to the range from -clip_value to clip_value."""

    accumulate: int = field(default=1, metadata=POSITIVE)
    """The number of batches per step, which uses the mean of their gradients. All optimizers share
    it."""

    layer_lr: Mapping[str, float] = field(default_factory=dict, metadata=RATES)
    """Learning rates of their own for some parameters: `{"features.*" = 1e-4}`. The first pattern
    that fits applies; all other parameters have the rate `lr`."""

    named: Mapping[str, OptimizerSection] = field(default_factory=dict)
    """The sections of several optimizers, by name."""

    def each(self) -> Mapping[str, OptimizerSection]:
        """Return all optimizers by name; a single one has the name ``""``."""
        return self.named or {"": self}


@dataclass(frozen=True)
class ScheduleSection:
    """How the learning rate changes. Without this section it stays constant.

    With several optimizers, each gets this schedule. Alternatively, ``[schedule.generator]``
    applies to the optimizer of that name only, and optimizers without a table have no schedule.

    ``T_max``, ``total_steps``, ``max_epochs`` and ``total_iters`` default to the length of the run,
    in epochs, or in steps with ``per = "step"``. These and all other numbers of epochs or steps can
    be shares of that length: ``total_iters = "50%"``, ``milestones = ["60%", "80%"]``. The length
    is that of `run.epochs` or `run.max_steps`, whichever ends first; with gradient accumulation,
    fewer steps make an epoch. A resumed run with another length gives its schedule the new one;
    milestones that have been reached stay.
    """

    component: Component | None
    """The schedule, without its optimizer; None if there are several."""

    per: Literal["epoch", "step"] = "epoch"
    """Whether the schedule advances after each epoch or after each step."""

    warmup: int | float | str | None = field(default=None, metadata=AMOUNT)
    """Let the learning rate rise linearly before the schedule begins: for a number of epochs or
    steps, or a share of the run, such as 0.05 or `"5%"`. The schedule has the rest of the run."""

    monitor: str = field(default="loss", metadata=FIGURE)
    """The test loss or metric that ReduceLROnPlateau watches. Its ``mode`` defaults to ``"max"`` if
    a higher figure is better."""

    named: Mapping[str, ScheduleSection] = field(default_factory=dict)
    """The sections of several schedules, by the name of the optimizer."""

    def of(self, optimizer: str) -> ScheduleSection | None:
        """Return the schedule of an optimizer."""
        return self.named.get(optimizer) if self.named else self


@dataclass(frozen=True)
class SwaSection:
    """The average of the weights after the last epochs, used for evaluation (stochastic weight
    averaging). Without this section there is none.

    From its start on, each epoch adds its weights; then the statistics of BatchNorm layers are
    those of the averaged model on the training set. A schedule of ``SWALR`` in ``SequentialLR``
    keeps the learning rate high: ``{type = "SWALR", swa_lr = 0.05, anneal_epochs = "5%"}``.

    Source: Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization
    (2018), https://arxiv.org/abs/1803.05407
    """

    start: int | float | str = field(default="75%", metadata=AMOUNT)
    """The number of epochs before the first one that is averaged, or their share of the run."""


@dataclass(frozen=True)
class EmaSection:
    """A moving average of the weights, used for evaluation. Without this section there is none."""

    decay: float = field(
        default=0.999, metadata=must("be between 0 and 1", lambda value: 0 < value < 1)
    )
    """The fraction of the average that is kept at each step."""
