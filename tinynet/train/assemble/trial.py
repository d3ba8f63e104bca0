"""Rehearsals: steps and evaluations on a copy of the model, which a run never notices.

The trial of a config is one: what does not fit fails before training.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tinynet import board, capture, nn
from tinynet.board.graphs.recorder import preserved
from tinynet.board.graphs.recording import Graphs
from tinynet.train.assemble.build import Parts, first_batch, refusal_to_show
from tinynet.train.assemble.optimizers import PlateauSchedule, rehearse, updaters_for
from tinynet.train.assemble.sets import MixedBatches
from tinynet.train.base.problems import (
    ConfigError,
    Problem,
    UsageError,
    did_you_mean,
    in_users_code,
    one_of,
)
from tinynet.train.config.signatures import construct
from tinynet.train.loop.fit import Batches, Steps, evaluate, fit
from tinynet.train.metrics.metric import UnsuitableError
from tinynet.train.step.epoch import Totals
from tinynet.train.step.method import Batch
from tinynet.train.step.seeds import undisturbed
from tinynet.train.step.task import Task, Updater, as_evaluated, shape_of

_REPEATS = 9
_SPARE = 0.25e9
"""The nanoseconds for repeats of the recorded step before a run; a long run spares 0.5 %."""

_PER_OPERATION = 10_000
"""The nanoseconds of a small operation; a large one takes one per byte and ten operations."""


def trial(parts: Parts, repeats: int | None = 0) -> board.Recording | None:
    """Try an evaluation and a training step on a copy of the model, before anything is written.

    The model, the states of loss and method, and all random streams stay unchanged.

    Args:
        parts: the objects of a config.
        repeats: the number of further steps that give the operations of the recorded step their
            median times; None for a number that the run can spare.

    Returns:
        The recorded step, for the graphs in TensorBoard; None if recording failed.

    Raises:
        UsageError: if model, loss and data do not fit together; the message has the shapes.
    """
    with rehearsal(parts) as tried:
        batch = tried.batch
        with tried.fitting(batch):
            # First the evaluation: it compiles the operations, so the recorded times are typical.
            evaluated = tried.measure(seed=parts.config.run.seed)
            collate = parts.train_batches.collate_fn
            if isinstance(collate, MixedBatches):
                batch = collate.mixed(batch)
            recording = tried.record(batch)
        if recording is not None:
            _measure(recording, parts, tried.task(batches=[batch]), repeats)
        _try_metrics(parts, evaluated)
        try_schedules(parts)
    _try_exhibits(parts, tried.model)
    return recording


def _measure(recording: board.Recording, parts: Parts, task: Task, repeats: int | None) -> None:
    """Give the operations of a recorded step their median times in repeats of it."""
    count = _spare(recording, parts) if repeats is None else repeats
    if count:
        with contextlib.suppress(Exception):  # a step that cannot be repeated has been recorded
            recording.measure(lambda: parts.method.step(task), count)


def _spare(recording: board.Recording, parts: Parts) -> int:
    """Return the number of repeats that a run does not notice.

    It depends on the graph and the config, but on no measured time: code of the user's with a state
    of its own runs equally often before each training.
    """
    costs = recording.costs
    work = sum(cost.flops / 10 + cost.memory + _PER_OPERATION for cost in costs)
    steps = len(parts.train_batches) * parts.config.run.epochs / parts.config.optimizer.accumulate
    affordable = max(_SPARE, steps * work / 200)
    return max(1, min(_REPEATS, int(affordable / work - 1) // 2))


def try_schedules(parts: Parts) -> None:
    """Advance each schedule as often as the run will, without the model.

    Raises:
        ConfigError: if one fails, or reaches a learning rate that is NaN or infinite.
    """
    config = parts.config
    problems = []
    for name, updater in parts.updaters.items():
        section = config.schedule and config.schedule.of(name)
        if not section or isinstance(updater.schedule, PlateauSchedule):
            continue
        text = rehearse(config, name, parts.length.of(section))
        if text:
            path = f"schedule.{name}" if config.schedule and config.schedule.named else "schedule"
            origin = config.origins.get(f"{path}.type") or config.origin(path)
            problems.append(Problem(origin, path, text))
    if problems:
        raise ConfigError(problems)


def _try_metrics(parts: Parts, evaluated: Batch) -> None:
    """Compute the metrics of a batch, and look for the monitored ones among them."""
    config = parts.config
    place = config.origin("evaluation.metrics")
    try:
        totals = Totals(parts.metrics)
        totals.add_batch(evaluated)
        figures = totals.figures()
    except UnsuitableError as error:
        found = f"outputs are {shape_of(evaluated.outputs)}, targets {shape_of(evaluated.targets)}"
        raise UsageError(f"{place}: evaluation.metrics: {error}; {found}") from None
    except Exception as error:  # of a metric of the user
        text = f"{place}: evaluation.metrics: a metric failed\n{in_users_code(error)}"
        raise UsageError(text) from error
    watched = [("evaluation.monitor", config.evaluation.monitor)]
    watched += [("schedule.monitor", schedule.monitor) for schedule in parts.plateau_schedules()]
    for key, name in watched:
        if name and name not in figures:
            listed, hint = one_of(figures), did_you_mean(name, figures)
            raise UsageError(
                f"{config.origin(key)}: {key}: {name!r} is not among the metrics: {listed} "
                f"(evaluation.metrics adds to it){hint}"
            )


def _try_exhibits(parts: Parts, model: nn.Module) -> None:
    """Show all exhibits once, to a temporary folder."""
    config = parts.config
    if not config.evaluation.show:
        return
    with tempfile.TemporaryDirectory() as folder, board.SummaryWriter(folder) as writer:
        at = parts.moment(writer, model=model)
        for component in config.evaluation.show:
            exhibit = construct(component)  # the one of the run stays unused
            try:
                with as_evaluated(model, config.run.seed):
                    exhibit.show(at)
            except Exception as error:
                place = config.origin(f"{component.path}.type")
                text = f"{place}: {component.path}: {refusal_to_show(component, error)}"
                raise UsageError(text) from error


@dataclass
class Rehearsal:
    """A copy of the model of a config, and what can be tried with it."""

    parts: Parts
    """The objects of the config, which stay as they are."""

    model: nn.Module
    """The copy of their model."""

    @functools.cached_property
    def updaters(self) -> dict[str, Updater]:
        """New optimizers of the copy, without schedules."""
        return updaters_for(self.parts.config, self.model)

    @functools.cached_property
    def batch(self) -> Sequence[Any]:
        """The first examples of the training set."""
        return self.first_of(self.parts.train_set)

    def first_of(self, examples: Any, count: int | None = None) -> Sequence[Any]:
        """Return the first examples of a data set as a batch; by default a whole one."""
        return first_batch(self.parts, examples, count or self.parts.config.data.batch_size)

    def task(self, **options: Any) -> Task:
        """Return the task of a step on the batch, with other fields of `Task`."""
        batches = options.pop("batches") if "batches" in options else [self.batch]
        own = {"strict": False} | options
        return Task(self.model, self.parts.loss, self.updaters, batches, **own)

    def measure(self, batch: Sequence[Any] | None = None, *, seed: int = 0) -> Batch:
        """Evaluate a batch, by default of the training set."""
        batch = self.batch if batch is None else batch
        with as_evaluated(self.model, seed):
            return self.parts.method.measure(self.model, self.parts.loss, batch)

    def figures(self, examples: Any) -> dict[str, float]:
        """Return the figures of the first batch of a data set."""
        parts = self.parts
        return evaluate(
            *(self.model, parts.loss, [self.first_of(examples)]),
            metrics=parts.metrics,
            seed=parts.config.run.seed,
            method=parts.method,
        )

    def record(self, batch: Sequence[Any] | None = None) -> board.Recording | None:
        """Take a training step and record it; return None, with a warning, if recording failed."""
        task = self.task(batches=[self.batch if batch is None else batch])
        recording = board.record(self.model)
        try:
            with recording:
                self.parts.method.step(replace(task, part=recording.part))
        except Exception as error:
            self.parts.method.step(task)  # raises, unless only the recorder failed
            text = f"the graph of the model is not written. {type(error).__name__}: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
            return None
        return recording

    def fit(self, batches: Batches, epochs: int | Iterable[int], **options: Any) -> Steps:
        """Train the copy as a run does, with other arguments of `fit`."""
        own: dict[str, Any] = {"accumulate": self.parts.config.optimizer.accumulate}
        own |= {"method": self.parts.method, "hints": False}
        options = own | options
        return fit(self.model, self.parts.loss, self.updaters, batches, epochs, **options)

    @contextlib.contextmanager
    def fitting(self, batch: Sequence[Any]) -> Iterator[None]:
        """Turn an error into a `UsageError` with the shapes of a batch: the parts do not fit."""
        try:
            yield
        except capture.CompileError:  # the step ran
            raise
        except Exception as error:
            inputs, targets = map(shape_of, batch)
            raise UsageError(
                f"{self.parts.config.origin('model.type')}: the model, the loss and the data do "
                f"not fit together: inputs are {inputs}, targets {targets}\n{in_users_code(error)}"
            ) from error


@contextlib.contextmanager
def rehearsal(parts: Parts, purpose: str = "trial") -> Iterator[Rehearsal]:
    """Copy the model, to try something with it.

    At the end, all random streams are as they were, also those that the data sets hold, and so are
    the states of the loss and the method.

    Args:
        parts: the objects of a config.
        purpose: what the random numbers are for: each purpose has its own.

    Raises:
        UsageError: if the model cannot be copied.

    Example:
        >>> from tinynet.train import load_config
        >>> from tinynet.train.assemble.build import build
        >>> parts = build(load_config("configs/digits_mlp.toml"))
        >>> with rehearsal(parts) as tried:
        ...     print(*tried.figures(parts.test_set))
        loss accuracy
    """
    seed, sets = parts.config.run.seed, [*parts.sets.values()]
    with undisturbed(sets, seed, purpose), preserved(_stateful(parts), ()):
        yield Rehearsal(parts, copy_of_model(parts))


def copy_of_model(parts: Parts) -> nn.Module:
    """Return a copy of the model.

    Raises:
        UsageError: if it cannot be copied.
    """
    try:
        return copy.deepcopy(parts.model)
    except Exception as error:
        place = parts.config.origin("model.type")
        raise UsageError(
            f"{place}: the model cannot be copied, which is needed to try it\n"
            f"{in_users_code(error)}"
        ) from error


def _stateful(parts: Parts) -> Iterator[Any]:
    """Yield the loss, the method, and all modules in them."""
    for owner in (parts.loss, parts.method):
        if hasattr(owner, "__dict__"):
            yield owner
            held = [owner, *vars(owner).values()]
            yield from (m for one in held if isinstance(one, nn.Module) for m in one.modules())


def compiled_trial(parts: Parts) -> Graphs:
    """Capture the training step of a copy of the model; return the graphs of its programs.

    Raises:
        UsageError: if the step fails, or cannot be captured; the message has the reason.
    """
    config = parts.config
    calls: dict[str, tuple[Any, tuple[Any, ...]]] = {}

    def compiler(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = capture.compile(function, fullgraph=True)

        def run(function: Callable[..., Any], *args: Any) -> Any:
            calls[function.__name__] = compiled, (function, *args)
            return compiled(function, *args)

        return run

    with rehearsal(parts) as tried:
        task = tried.task(strict=True, compile=compiler)
        try:
            with tried.fitting(tried.batch):
                for _ in range(capture.CAPTURES):
                    parts.method.step(task)
        except capture.CompileError as error:
            raise UsageError(f"{config.origin('model.type')}: {error}") from None
        programs = {
            name: capture.program_graph(compiled, args, {}, [tried.model])
            for name, (compiled, args) in calls.items()
        }
    if not programs:
        place = config.origin("method.type")
        raise UsageError(f"{place}: nothing in a step of this method is compiled")
    graphs = Graphs()
    graphs.add(programs if len(programs) > 1 else {"program": [*programs.values()][0]})
    return graphs
