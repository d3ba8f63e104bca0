"""The sections of a config: what can be set, what it means, what it is if left out.

The string below each field is its documentation: messages quote it. A section that has a
``component`` takes, beside its own keys, a ``type`` and the keyword arguments of that type.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tinynet.numba_kernels import compiler
from tinynet.train.build.method import Supervised
from tinynet.train.build.metrics import METRICS, find
from tinynet.train.config.problems import Origin
from tinynet.train.config.signatures import Component


def _must(be: str, holds: Callable[[Any], bool], names: Iterable[str] = ()) -> Mapping[str, Any]:
    """What a value must be beyond its type, in words and as a test; which names it can be."""
    return {"must": be, "holds": holds, "names": names}


_POSITIVE = _must("be at least 1", lambda value: value >= 1)
_FIGURE = _must(
    f"be loss or a metric ({', '.join(METRICS)})",
    lambda name: name in ("", "loss") or name.startswith("loss_") or find(name) is not None,
    ["loss", *METRICS],
)
_NOT_NEGATIVE = _must("not be negative", lambda value: value >= 0)
_FOLDER_NAME = _must(
    "be a name for a folder, without slashes or control characters",
    lambda name: (
        name not in (".", "..")
        and not set(name) & set('/\\:*?"<>|')
        and (name == "" or name.isprintable())
    ),
)


@dataclass(frozen=True)
class RunSection:
    """How long to train, from which seed, and where the results go."""

    name: str = field(default="", metadata=_FOLDER_NAME)
    """The folder of this config's runs inside `out`; if left out, the name of the config file."""

    seed: int = field(
        default=0, metadata=_must("be from 0 to 2**63 - 1", lambda value: 0 <= value < 2**63)
    )
    """What all random numbers follow from. The same config and seed give the same weights."""

    epochs: int = field(default=10, metadata=_POSITIVE)
    """How many times the training set is seen."""

    eval_every: int = field(default=1, metadata=_POSITIVE)
    """Every how many epochs the test set is measured; the last epoch always is."""

    log_every: int = field(default=1, metadata=_POSITIVE)
    """Every how many steps the loss and the learning rate go to TensorBoard."""

    non_finite: Literal["stop", "skip"] = "stop"
    """What a loss or gradient that is NaN or infinite does: it ends the run, or its step is left
    out. Either way the weights stay as they were, and `tinynet explain RUN` says what made it."""

    skip_limit: int = field(default=10, metadata=_NOT_NEGATIVE)
    """So many steps of a run are left out at most; one more ends it."""

    save_every_steps: int = field(default=0, metadata=_NOT_NEGATIVE)
    """A checkpoint is written after each epoch and, unless this is 0, after so many steps."""

    save_every_seconds: float = field(default=0.0, metadata=_NOT_NEGATIVE)
    """Unless this is 0, a checkpoint is also written when the last one is that old."""

    keep_checkpoints: int = field(default=2, metadata=_POSITIVE)
    """So many checkpoints are kept, beside the best weights, in case that one gets damaged."""

    out: str = "runs"
    """The folder for the folders of runs, relative to where the command is started."""

    path: tuple[str, ...] = ()
    """More folders in which modules named by a `type` are searched."""

    init_from: str = ""
    """A run folder, or a checkpoint in one, whose weights the model begins with."""

    numba: bool = field(
        default=False,
        metadata=_must(
            f"be false: {compiler.MISSING}", lambda value: not value or compiler.is_available()
        ),
    )
    """Whether kernels that numba compiles are used: faster, with other last bits than numpy's."""


@dataclass(frozen=True)
class DataSection:
    """The examples: a data set of pairs (input, target), and how batches are made of it.

    A type that has a parameter `train` is asked for its training and its test set with it.
    Of any other, `test_fraction` is split off at random (the split follows from the seed).
    """

    component: Component
    """The data set."""

    batch_size: int = field(default=32, metadata=_POSITIVE)
    """How many examples a step sees."""

    shuffle: bool = True
    """Whether each epoch has the training set in a new order."""

    drop_last: bool = False
    """Whether a last batch that is smaller than the others is left out of training."""

    check: bool = True
    """Whether the examples are looked at before training: for NaN, for classes that the model does
    not have, for other shapes than the rest. Of large or slow data sets, as many as two seconds
    allow."""

    workers: int = field(
        default=0, metadata=_must("be from 0 to 1024", lambda value: 0 <= value <= 1024)
    )
    """So many threads make batches ahead of training; the batches are the same for any number."""

    test_fraction: float = field(
        default=0.2, metadata=_must("be between 0 and 1", lambda value: 0 < value < 1)
    )
    """How much of a data set that has no test set of its own becomes one."""

    targets: Literal["own", "inputs"] = "own"
    """What the model should give: what the data set says, or the inputs (for autoencoders)."""


@dataclass(frozen=True)
class ModelSection:
    """What is trained."""

    component: Component
    """The model."""


@dataclass(frozen=True)
class LossSection:
    """What training makes small: a function of the model's outputs and the targets."""

    component: Component
    """The loss."""


@dataclass(frozen=True)
class OptimizerSection:
    """How the weights follow from the gradients.

    A model whose parts have optimizers of their own has a table for each, named by the module whose
    parameters it gets: ``[optimizer.generator]``. What stands in ``[optimizer]`` beside such tables
    (clip_norm, clip_value) holds for those that do not say otherwise.
    """

    component: Component | None
    """The optimizer, without its parameters; None if there are several."""

    clip_norm: float | None = field(
        default=None, metadata=_must("be greater than 0", lambda value: value > 0)
    )
    """Gradients are scaled down together when their total 2-norm is above this."""

    clip_value: float | None = field(
        default=None, metadata=_must("be greater than 0", lambda value: value > 0)
    )
    """No element of a gradient may be further from 0 than this."""

    accumulate: int = field(default=1, metadata=_POSITIVE)
    """So many batches make one step, with the mean of their gradients; the same for all."""

    named: Mapping[str, OptimizerSection] = field(default_factory=dict)
    """The tables of several optimizers, by name."""

    def each(self) -> Mapping[str, OptimizerSection]:
        """All optimizers by name; one alone has the name ``""``."""
        return self.named or {"": self}


@dataclass(frozen=True)
class ScheduleSection:
    """How the learning rate changes; left out, it does not.

    Where there are several optimizers, each has this schedule; or ``[schedule.generator]`` is for
    the one of that name, and those without a table have none.

    ``T_max``, ``total_steps`` and ``max_epochs`` are the length of the run where they are left out:
    its epochs, or its steps with ``per = "step"``.
    """

    component: Component | None
    """The schedule, without its optimizer; None if there are several."""

    per: Literal["epoch", "step"] = "epoch"
    """Whether it advances after each epoch or after each step."""

    monitor: str = field(default="loss", metadata=_FIGURE)
    """The figure of the test set that a schedule which waits for one (ReduceLROnPlateau) sees."""

    named: Mapping[str, ScheduleSection] = field(default_factory=dict)
    """The tables of several schedules, by the name of the optimizer."""

    def of(self, optimizer: str) -> ScheduleSection | None:
        """The schedule of the optimizer of a name."""
        return self.named.get(optimizer) if self.named else self


@dataclass(frozen=True)
class MethodSection:
    """What one step of training does; left out, it is supervised learning."""

    component: Component
    """The method."""


@dataclass(frozen=True)
class EvaluationSection:
    """What is measured on the test set, and what follows from it."""

    metrics: tuple[str, ...] | None = field(
        default=None,
        metadata=_must(
            f"be a list of metrics ({', '.join(METRICS)})",
            lambda names: all(find(name) is not None for name in names),
            METRICS,
        ),
    )
    """What is measured beside the loss; if left out, the accuracy if the targets are classes."""

    monitor: str = field(default="", metadata=_FIGURE)
    """The figure that says which weights are best; if left out, the first metric, else the loss."""

    patience: int = field(default=0, metadata=_NOT_NEGATIVE)
    """Training stops after so many measurements without a new best; 0 means that it goes on."""

    min_delta: float = field(default=0.0, metadata=_NOT_NEGATIVE)
    """A new best is better than the one before by more than this."""

    samples: int = field(
        default=0, metadata=_must("be from 0 to 10000", lambda value: 0 <= value <= 10_000)
    )
    """For so many test examples, TensorBoard shows what the model says at each measurement."""

    show: tuple[Component, ...] = field(default=(), metadata={"family": "exhibit"})
    """More that TensorBoard is shown at each measurement: a list of tables, each with a type."""


@dataclass(frozen=True)
class EmaSection:
    """A moving average of the weights, which is what is then measured; left out, there is none."""

    decay: float = field(
        default=0.999, metadata=_must("be between 0 and 1", lambda value: 0 < value < 1)
    )
    """How much of the average stays at each step."""


@dataclass(frozen=True)
class Config:
    """A checked config: everything in it exists and can be called as it says.

    Example:
        >>> from tinynet.train import load_config
        >>> config = load_config("configs/digits_mlp.toml")
        >>> config.model.component.type, config.ema
        ('mlp', None)
    """

    run: RunSection
    """How long, with what seed, and where to."""

    data: DataSection
    """What is learned from."""

    model: ModelSection
    """What is trained."""

    loss: LossSection
    """What is made small."""

    optimizer: OptimizerSection
    """What changes the weights; or several by name."""

    method: MethodSection
    """What one step does."""

    schedule: ScheduleSection | None = None
    """How the learning rate changes; None: it does not."""

    evaluation: EvaluationSection = field(default_factory=EvaluationSection)
    """What is measured on the test set, and when."""

    ema: EmaSection | None = None
    """The moving average of the weights; None: there is none."""

    file: str = ""
    """The file it was read from."""

    sources: tuple[str, ...] = ()
    """The user's own Python files that it is made of: those it names, and what they import."""

    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Where each given value came from, by dotted path; what is not in it is a default."""

    def origin(self, path: str) -> Origin:
        """Where a value came from.

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
}

_SUPERVISED = Component("method", "supervised", Supervised, written={"type": "supervised"})

LEFT_OUT: dict[str, Callable[[], Any]] = {
    "run": RunSection,
    "method": lambda: MethodSection(_SUPERVISED),
    "schedule": lambda: None,
    "evaluation": EvaluationSection,
    "ema": lambda: None,
}
"""The sections that a config can do without, and what stands in their place."""

NAMED = frozenset({"optimizer", "schedule"})
"""The sections that may have a table per optimizer."""


def settings(section: type) -> dict[str, dataclasses.Field[Any]]:
    """The keys that a section has of its own, without those of its ``type``.

    Example:
        >>> [*settings(RunSection)][:3]
        ['name', 'seed', 'epochs']
    """
    fields = dataclasses.fields(section)
    return {f.name: f for f in fields if f.name not in ("component", "named")}


@functools.cache
def field_docs(section: type) -> dict[str, str]:
    """The documentation of each field of a section: the string literal below it.

    Example:
        >>> field_docs(RunSection)["epochs"]
        'How many times the training set is seen.'
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
