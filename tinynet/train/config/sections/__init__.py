"""The sections of a config: their keys, documentation and defaults.

The string below each field is its documentation; messages and `tinynet explain` quote it. A section
with a ``component`` takes a ``type`` and that type's keyword arguments besides its own keys.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tinynet.kernels.numba import compiler
from tinynet.train.base.problems import Origin
from tinynet.train.config.amounts import AMOUNT, DURATION
from tinynet.train.config.constraints import (
    FIGURE,
    FOLDER_NAME,
    METRIC_LIST,
    NOT_NEGATIVE,
    POSITIVE,
    must,
)
from tinynet.train.config.sections.data import DataSection as DataSection
from tinynet.train.config.sections.documentation import field_docs as field_docs
from tinynet.train.config.sections.log import LogSection as LogSection
from tinynet.train.config.sections.updates import EmaSection as EmaSection
from tinynet.train.config.sections.updates import OptimizerSection as OptimizerSection
from tinynet.train.config.sections.updates import ScheduleSection as ScheduleSection
from tinynet.train.config.sections.updates import SwaSection as SwaSection
from tinynet.train.config.signatures import Component
from tinynet.train.step.method import Supervised


@dataclass(frozen=True)
class RunSection:
    """How long to train, from which seed, and where the results go."""

    name: str = field(default="", metadata=FOLDER_NAME)
    """The folder for this config's runs, inside `out`. Defaults to the name of the config file."""

    seed: int = field(
        default=0, metadata=must("be from 0 to 2**63 - 1", lambda value: 0 <= value < 2**63)
    )
    """The seed of all random numbers. The same config and seed give the same weights."""

    epochs: int = field(default=10, metadata=NOT_NEGATIVE)
    """The number of passes over the training set; 0 leaves it to `max_steps` or `max_time`."""

    max_steps: int | None = field(default=None, metadata=POSITIVE)
    """The maximum number of optimizer steps, counted over the whole run. The run ends after this
    step, within an epoch if need be, with an evaluation and a checkpoint. Without `epochs`, only
    this limit and `max_time` count."""

    max_time: str | float | None = field(default=None, metadata=DURATION)
    """The maximum training time, such as `"90s"`, `"2h"` or `"1d2h"`, or a number of seconds. A
    resumed run continues its count. The run ends after the step that reaches it."""

    limit_batches: int | float | str | None = field(default=None, metadata=AMOUNT)
    """The number of training batches per epoch: a count, or a share such as 0.1 or `"10%"`. With
    `data.shuffle`, each epoch draws others. Evaluations use all examples of their set."""

    overfit_batches: int | float | str | None = field(default=None, metadata=AMOUNT)
    """Train on these batches only, the same in each epoch: a count, or a share. A model that can
    learn reaches a training loss near 0."""

    eval_every: int = field(default=1, metadata=POSITIVE)
    """Evaluate on the test set every this many epochs, and always after the last one."""

    log_every: int = field(default=1, metadata=POSITIVE)
    """Log the loss and the learning rate to TensorBoard every this many steps."""

    non_finite: Literal["stop", "skip"] = "stop"
    """What to do when a loss or gradient is NaN or infinite: stop the run, or skip the step. Either
    way the weights stay unchanged, and `tinynet explain RUN` names the operation at fault."""

    skip_limit: int = field(default=10, metadata=NOT_NEGATIVE)
    """The maximum number of steps to skip in a run. The next one stops the run."""

    save_every_steps: int = field(default=0, metadata=NOT_NEGATIVE)
    """Write a checkpoint every this many steps, besides the one after each epoch. 0 turns this
    off."""

    save_every_seconds: float = field(default=0.0, metadata=NOT_NEGATIVE)
    """Write a checkpoint when the last one is this many seconds old. 0 turns this off."""

    keep_checkpoints: int = field(default=2, metadata=POSITIVE)
    """The number of checkpoints to keep, besides the best weights, in case one gets damaged."""

    out: str = "runs"
    """The folder that holds the run folders, relative to the current directory."""

    path: tuple[str, ...] = ()
    """Extra folders to search for modules that a `type` names."""

    init_from: str = ""
    """A run, a checkpoint, or a file (.safetensors, .pt, .npz) with the initial weights."""

    init_skip: tuple[str, ...] = ()
    """Parameters and buffers that `init_from` does not load: names, or such as `"head.*"`."""

    numba: bool = field(
        default=False,
        metadata=must(
            f"be false: {compiler.missing()}", lambda value: not value or compiler.is_available()
        ),
    )
    """Whether to use kernels compiled by numba: faster, but the last bits differ from numpy's."""

    threads: int | Literal["auto"] = field(
        default="auto",
        metadata=must('be "auto" or from 1 to 1024', lambda n: n == "auto" or 0 < n <= 1024),
    )
    """The number of threads for large products and kernels; `auto`: as many as there are
    processors that nothing else uses. Results do not depend on it."""

    callbacks: tuple[Component, ...] = field(default=(), metadata={"family": "callback"})
    """Callbacks, whose methods are called at events of the run."""

    trackers: tuple[Component, ...] = field(default=(), metadata={"family": "tracker"})
    """Experiment trackers that get the figures of the run, as TensorBoard does: MLflow, Wandb."""

    compile: bool = False
    """Whether to capture the training step and the evaluation with `tinynet.compile`, and replay
    them: faster, and the same to the bit. What cannot be captured runs as always, with a
    warning."""

    hints: bool = True
    """Whether to warn about mistakes that raise no error but keep a model from learning, such as a
    softmax before cross_entropy. `tinynet explain silent-mistakes` lists them."""

    report: bool = True
    """Whether to write `report.html` into the run folder when the run ends."""


@dataclass(frozen=True)
class ModelSection:
    """The model to train."""

    component: Component
    """The model."""

    frozen: tuple[str, ...] = ()
    """The parameters that stay as they are: names, or patterns such as `"features.*"`."""


@dataclass(frozen=True)
class LossSection:
    """The loss that training minimizes: a function of the model's outputs and the targets."""

    component: Component
    """The loss."""

    class_weights: Literal["none", "balanced"] = "none"
    """Whether the loss weighs classes: `balanced` gives a class the weight examples / (classes *
    examples of the class) in the training set, so that rare classes count as much as frequent
    ones. It sets the argument `weight` of CrossEntropyLoss, NLLLoss and MultiMarginLoss, and
    `pos_weight` of BCEWithLogitsLoss: examples of class 0 / examples of class 1. The short form
    `weights = "balanced"` means the same."""


@dataclass(frozen=True)
class MethodSection:
    """What one step of training does. Without this section, it is supervised learning."""

    component: Component
    """The method."""


@dataclass(frozen=True)
class EvaluationSection:
    """What to measure on the test set, and when to stop early."""

    metrics: tuple[str | Component, ...] | None = field(default=None, metadata=METRIC_LIST)
    """The metrics to measure besides the loss. Defaults to the accuracy if the targets are
    classes. A metric of your own is ``"./metrics.py:name"``: a function of outputs and targets, or
    a class with the methods update and compute; ``{type = "./metrics.py:Name", beta = 2}`` passes
    it arguments."""

    monitor: str = field(default="", metadata=FIGURE)
    """The loss or metric that decides which weights are best. Defaults to the first metric, or to
    the loss if there are no metrics. NaN is never better than anything; among equal figures, the
    lower loss is the best."""

    patience: int = field(default=0, metadata=NOT_NEGATIVE)
    """Stop training after this many evaluations without a better figure. 0 turns early stopping
    off."""

    min_delta: float = field(default=0.0, metadata=NOT_NEGATIVE)
    """The minimum improvement over the last best that counts as a new best."""

    samples: int = field(
        default=0, metadata=must("be from 0 to 10000", lambda value: 0 <= value <= 10_000)
    )
    """The number of test examples whose predictions TensorBoard shows after each evaluation."""

    limit_batches: int | float | str | None = field(default=None, metadata=AMOUNT)
    """Evaluate on this part only: the first batches, a count or a share such as `"10%"`. All
    figures are then those of this part."""

    show: tuple[Component, ...] = field(default=(), metadata={"family": "exhibit"})
    """Exhibits for TensorBoard, written after each evaluation."""


@dataclass(frozen=True)
class Config:
    """A checked config: all types exist and accept their arguments.

    Example:
        >>> from tinynet.train import load_config
        >>> config = load_config("configs/digits_mlp.toml")
        >>> config.model.component.type, config.ema
        ('mlp', None)
    """

    run: RunSection
    """The length of the run, its seed, and its output folder."""

    data: DataSection
    """The examples."""

    model: ModelSection
    """The model to train."""

    loss: LossSection
    """The loss to minimize."""

    optimizer: OptimizerSection
    """The optimizer, or several by name."""

    method: MethodSection
    """What one step of training does."""

    schedule: ScheduleSection | None = None
    """How the learning rate changes; None if it is constant."""

    evaluation: EvaluationSection = field(default_factory=EvaluationSection)
    """What to measure on the test set, and when to stop early."""

    ema: EmaSection | None = None
    """The moving average of the weights, or None."""

    swa: SwaSection | None = None
    """The average of the weights after the last epochs, or None."""

    log: LogSection = field(default_factory=LogSection)
    """What to log besides losses and metrics."""

    file: str = ""
    """The file it was read from."""

    sources: tuple[str, ...] = ()
    """The user's Python files that it names, and those that they import."""

    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Where each given value came from, by dotted path; all other values are defaults."""

    def origin(self, path: str) -> Origin:
        """Return where a value came from.

        Args:
            path: ``"optimizer.lr"``.
        """
        return self.origins.get(path, Origin("default"))


SECTIONS: dict[str, type] = {
    "run": RunSection,
    "data": DataSection,
    "model": ModelSection,
    "loss": LossSection,
    "method": MethodSection,
    "optimizer": OptimizerSection,
    "schedule": ScheduleSection,
    "evaluation": EvaluationSection,
    "ema": EmaSection,
    "swa": SwaSection,
    "log": LogSection,
}

_SUPERVISED = Component("method", "supervised", Supervised, written={"type": "supervised"})

LEFT_OUT: dict[str, Callable[[], Any]] = {
    "run": RunSection,
    "method": lambda: MethodSection(_SUPERVISED),
    "schedule": lambda: None,
    "evaluation": EvaluationSection,
    "ema": lambda: None,
    "swa": lambda: None,
    "log": LogSection,
}
"""The optional sections, and their values if left out."""

NAMED = frozenset({"optimizer", "schedule"})
"""The sections that may have a table per optimizer."""


def settings(section: type) -> dict[str, dataclasses.Field[Any]]:
    """Return a section's own keys, without those of its ``type``.

    Example:
        >>> [*settings(RunSection)][:3]
        ['name', 'seed', 'epochs']
    """
    fields = dataclasses.fields(section)
    return {f.name: f for f in fields if f.name not in ("component", "named")}
