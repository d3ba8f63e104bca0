"""The sections of a config: their keys, documentation and defaults.

The string below each field is its documentation; messages and `tinynet explain` quote it. A section
with a ``component`` takes a ``type`` and that type's keyword arguments besides its own keys.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tinynet.train.base.problems import Origin
from tinynet.train.config.document import dotted
from tinynet.train.config.rules import (
    AMOUNT,
    DURATION,
    FIGURE,
    FOLDER_NAME,
    LLVM,
    LLVM_OR_BOOL,
    METRIC_LIST,
    NOT_NEGATIVE,
    POSITIVE,
    RATES,
    VALIDATION,
    must,
)
from tinynet.train.config.signatures import Component
from tinynet.train.config.values import DEFAULT, Values, value_of
from tinynet.train.step.method import Supervised

# ---- data ---------------------------------------------------------------------------------------
# The section ``[data]`` of a config.


@dataclass(frozen=True)
class DataSection:
    """The data set, of pairs (input, target), and how it is split into batches.

    A type with a parameter `train` provides its own training and test sets. From any other data
    set, `test_fraction` is split off as `test_split` says, and then `validation` from the training
    set; the splits depend only on the seed. What a table learns from its rows, it learns from the
    training part.
    """

    component: Component
    """The data set."""

    batch_size: int = field(default=32, metadata=POSITIVE)
    """The number of examples in a batch."""

    shuffle: bool = True
    """Whether to shuffle the training set before each epoch."""

    drop_last: bool = False
    """Whether to drop the last training batch if it is smaller than the others."""

    check: bool = True
    """Whether to check the examples before training: for NaN, for classes that the model does not
    have, and for shapes that differ. The check takes at most two seconds, so it covers only a part
    of large or slow data sets."""

    workers: int = field(
        default=0, metadata=must("be from 0 to 1024", lambda value: 0 <= value <= 1024)
    )
    """The number of threads that load batches ahead of training. It does not change the batches."""

    test_fraction: float = field(
        default=0.2, metadata=must("be between 0 and 1", lambda value: 0 < value < 1)
    )
    """The fraction of the examples to use for testing, if the data set has no test set."""

    test_split: Literal["random", "stratified", "grouped", "time"] = "random"
    """How to choose these examples: at random; with the same share of each class as the training
    part; by whole groups, such as patients (`test_by`); or the last ones in time, in the order of
    `test_by` or, without it, of the rows."""

    test_by: str = ""
    """The column of a table to group by, to stratify by (instead of the target), or to sort by."""

    validation: float | Component = field(default=0.1, metadata=VALIDATION)
    """What selects: the best weights, early stopping, ReduceLROnPlateau, searches and sweeps. A
    fraction of the training set, which is not trained on; it is chosen as `test_split` says, but
    with the same share of each class if the targets are classes. Or a data set of its own, as a
    table with a `type`. With 0 the test set selects, and its metrics are too good. The default is 0
    for methods that do not compare outputs with targets, such as `adversarial`."""

    folds: int = field(
        default=0, metadata=must("be 0 or at least 2", lambda value: value == 0 or value >= 2)
    )
    """The number of folds of a cross-validation (`tinynet cross-validate`): equal parts of the
    training set, of which one is the validation set, instead of the fraction `validation`. 0 is no
    cross-validation."""

    fold: int = field(default=1, metadata=POSITIVE)
    """The fold that is the validation set, from 1."""

    mix: tuple[Component, ...] = field(default=(), metadata={"family": "mixture"})
    """Mixtures of the samples of training batches: `["MixUp"]`, `[{type = "CutMix", alpha = 0.5}]`;
    of several, each batch gets one at random. The targets become shares of classes."""

    targets: Literal["own", "inputs"] = "own"
    """The targets: the data set's, or its inputs (for autoencoders)."""

    @property
    def validation_share(self) -> float:
        """The fraction of the training set for validation; 0 with a data set of its own."""
        return 0.0 if isinstance(self.validation, Component) else self.validation

    @property
    def splits_validation(self) -> bool:
        """Whether the validation set is a part of the training set."""
        return self.folds > 0 or self.validation_share > 0


# ---- documentation ------------------------------------------------------------------------------
# The documentation of the fields of dataclasses.


@functools.cache
def field_docs(section: type) -> dict[str, str]:
    """Return the documentation of each field of a section: the string literal below it.

    Example:
        >>> from tinynet.train.config.sections import RunSection
        >>> field_docs(RunSection)["epochs"]
        'The number of passes over the training set; 0 leaves it to `max_steps` or `max_time`.'
    """
    docs: dict[str, str] = {}
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(section))).body
    assert isinstance(definition, ast.ClassDef)
    previous: ast.stmt | None = None
    for statement in definition.body:
        if isinstance(previous, ast.AnnAssign) and isinstance(previous.target, ast.Name):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    docs[previous.target.id] = inspect.cleandoc(text)
        previous = statement
    return docs


# ---- log ----------------------------------------------------------------------------------------
# The section ``[log]``: what a run logs besides losses, metrics and learning rates.


@dataclass(frozen=True)
class LogSection:
    """What to log besides losses, metrics, learning rates and the graph."""

    histograms: int = field(default=0, metadata=NOT_NEGATIVE)
    """Write histograms of the weights and of their gradients every this many epochs (or steps:
    `histograms_per`). Gradients come from the last step, after clipping. 0 turns this off."""

    histograms_per: Literal["epoch", "step"] = "epoch"
    """Whether `histograms` counts epochs or steps."""

    norms: bool = False
    """Whether to log the 2-norms of the gradients, before they are clipped, and of the weights:
    `train/grad_norm` and `train/weight_norm`, per step in TensorBoard and as means of each epoch in
    `metrics.jsonl`. With several optimizers, each has its own: `train/grad_norm_generator`."""

    def is_due(self, step: int, epoch: int, ends_epoch: bool) -> bool:
        """Return whether to write histograms after a step.

        Args:
            step: its number, from 0.
            epoch: the number of its epoch, from 0.
            ends_epoch: whether it is the last step of its epoch.

        Example:
            >>> [LogSection(2).is_due(9, epoch, True) for epoch in range(3)]
            [False, True, False]
            >>> [LogSection(2, "step").is_due(step, 0, False) for step in range(3)]
            [False, True, False]
        """
        if not self.histograms:
            return False
        if self.histograms_per == "step":
            return (step + 1) % self.histograms == 0
        return ends_epoch and (epoch + 1) % self.histograms == 0


# ---- updates ------------------------------------------------------------------------------------
# The sections of a config about the updates of the weights: optimizer, schedule, averages.


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
    is `run.epochs` or `run.max_steps`, whichever ends first; with gradient accumulation,
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

    llvm: bool = field(default=False, metadata=LLVM)
    """Whether to use kernels compiled by LLVM: faster, but the last bits differ from numpy's."""

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

    compile: bool | Literal["llvm"] = field(default=False, metadata=LLVM_OR_BOOL)
    """Whether to capture the training step and the evaluation with `tinynet.compile`, and replay
    them: faster, and the same to the bit. What cannot be captured runs as always, with a warning.
    `"llvm"`: steps are native once another process has compiled them; the last bits differ."""

    native_from: tuple[int, ...] = ()
    """With `compile = "llvm"`, the replays from which each program is native (0: none is), as
    `run.json` notes them: they repeat a run to the bit. Empty: as soon as it is compiled."""

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
        return self.origins.get(path, Origin(DEFAULT))

    def values(self) -> Values:
        """Return all values with their origins, as the folder of a run keeps them.

        Example:
            >>> from tinynet.train import load_config
            >>> load_config("configs/digits_mlp.toml").values()["run", "path"]
            Value(text='[]', origin='default', is_toml=True)
        """
        found: Values = {}
        for name in SECTIONS:
            section = getattr(self, name)
            tables: dict[tuple[str, ...], Any] = {} if section is None else {(name,): section}
            tables |= {(name, key): own for key, own in getattr(section, "named", {}).items()}
            for table, own in tables.items():
                for key, value in _written(own, is_named=len(table) > 1).items():
                    path = (*table, key)
                    found[path] = value_of(value, self._origins_of(dotted(path)))
        return found

    def _origins_of(self, path: str) -> str:
        """Return the origin of a value, and of its overridden parts."""
        own = self.origin(path)
        if own.kind != "file":
            return str(own)
        parts = {o for p, o in self.origins.items() if p.startswith(f"{path}.")}
        return ", ".join([str(own), *sorted(str(o) for o in parts if o.file != own.file)])


def _written(section: Any, *, is_named: bool) -> dict[str, Any]:
    """Return the values of a section for TOML: the type, its arguments, the section's own keys."""
    component = getattr(section, "component", None)
    own = [key for key in settings(type(section)) if not (is_named and key == "accumulate")]
    values = {} if component is None else dict(component.written)
    return values | {key: getattr(section, key) for key in own}


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
    """Return a section's own keys, without the keys of its ``type``.

    Example:
        >>> [*settings(RunSection)][:3]
        ['name', 'seed', 'epochs']
    """
    fields = dataclasses.fields(section)
    return {f.name: f for f in fields if f.name not in ("component", "named")}
