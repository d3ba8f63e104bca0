"""Rehearsals: steps and evaluations on a copy of the model, which a run never notices."""

from __future__ import annotations

import contextlib
import copy
import functools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tinynet import board, capture, nn
from tinynet.board.graphs.snapshot import preserved
from tinynet.train.assemble.build import Parts, first_batch
from tinynet.train.assemble.optimizers import updaters_for
from tinynet.train.base.problems import UsageError, in_users_code
from tinynet.train.loop.fit import Batches, Steps, evaluate, fit
from tinynet.train.step.method import Batch
from tinynet.train.step.seeds import undisturbed
from tinynet.train.step.task import Task, Updater, as_evaluated, shape_of


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
        """Evaluate a batch; by default that of the training set."""
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
