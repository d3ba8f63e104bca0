"""The training loop and the evaluation loop."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol

from tinynet import capture, nn
from tinynet.core.callsite import warn
from tinynet.data.loading.worker import mix
from tinynet.optim import Optimizer
from tinynet.random import default_generator
from tinynet.train.base.problems import TrainError
from tinynet.train.incidents.guard import Guard, Skip
from tinynet.train.incidents.silent import Hints
from tinynet.train.loop.callback import Callbacks
from tinynet.train.loop.splits import Validation, held_out
from tinynet.train.metrics.registry import Own
from tinynet.train.step.epoch import Step as Step
from tinynet.train.step.epoch import Steps as Steps
from tinynet.train.step.epoch import Totals
from tinynet.train.step.method import Batch, Method, Supervised
from tinynet.train.step.ranks import Apart, Ranks, seeds_of
from tinynet.train.step.task import Loss, Place, Schedule, Task, Updater
from tinynet.train.step.task import NonFiniteError as NonFiniteError
from tinynet.train.step.task import as_evaluated as as_evaluated


class Batches(Protocol):
    """Batches to train on: an iterable of pairs with a length, such as a DataLoader."""

    def __iter__(self) -> Iterator[Sequence[Any]]: ...
    def __len__(self) -> int: ...


def fit(
    model: nn.Module,
    loss: Loss,
    optimizer: Optimizer | Mapping[str, Updater],
    batches: Batches,
    epochs: int | Iterable[int],
    *,
    schedule: Schedule | None = None,
    per: Literal["epoch", "step"] = "epoch",
    clip_norm: float | None = None,
    clip_value: float | None = None,
    accumulate: int = 1,
    first_step: int = 0,
    first_batch: int = 0,
    method: Method | None = None,
    skip: Skip | None = None,
    compile: bool | Callable[..., Any] = False,
    callbacks: Callbacks | Sequence[Any] = (),
    ranks: Ranks | None = None,
    validation: Validation = None,
    metrics: Sequence[str | Own] | None = None,
    hints: bool = True,
) -> Steps:
    """Return the steps of a training, which iterating over them takes.

    ``for step in fit(...)`` takes one step per iteration; between steps, the caller can do anything
    else. ``fit(...).run()`` takes all of them at once. ``fit(...)`` alone takes none, and warns.

    Args:
        model: a module; called with the inputs of a batch.
        loss: a function of outputs and targets that returns their mean loss, a 0-d tensor.
        optimizer: an optimizer; or several by name, each an `Updater` with its own schedule and
            clipping instead of the arguments below.
        batches: pairs (inputs, targets); iterated once per epoch.
        epochs: the number of epochs, or their numbers (``range(3, 10)`` continues after the third).
        schedule: a schedule, advanced between two steps or epochs, according to `per`.
        per: ``"epoch"`` or ``"step"``.
        clip_norm: the maximum total 2-norm of the gradients; larger ones are scaled down together.
        clip_value: the maximum absolute value of each element, applied before `clip_norm`.
        accumulate: the number of batches per step, which uses the mean of their gradients; the last
            step of an epoch takes the remaining batches.
        first_step: the number of the first step, when resuming.
        first_batch: the number of completed batches, when resuming within an epoch; `batches` then
            starts with the next one.
        method: the method of training; defaults to `Supervised`.
        skip: a function of a NonFiniteError. If it returns True, the step is skipped, and yields a
            Step without batches.
        compile: capture the steps with `tinynet.compile` and replay them, which gives the same
            figures to the bit; or a function to use in its place, such as one that passes options.
        callbacks: objects with methods of `Callback`; or `Callbacks`, which pass on evaluations.
        ranks: the processes that share the batches of each step; all of them call `fit`.
        validation: what to evaluate after each epoch: batches, a data set, or the share (0.1) of
            the training set to keep for it. The last `Step` of an epoch has the figures, and
            callbacks get them. A share or a data set needs `batches` to be a DataLoader.
        metrics: the metrics of the validation set, as for `evaluate`.
        hints: whether to warn about mistakes that raise no error, such as a softmax before
            cross_entropy: see `tinynet explain silent-mistakes`.

    Raises:
        TypeError, ValueError: the validation set does not fit `batches`.
        NonFiniteError: if a loss, gradient or learning rate is NaN or infinite, before the weights
            change. It names the operation that produced the first such value, its module, the batch
            and the examples.

    Example:
        >>> model, xs = nn.Linear(1, 1), tn.linspace(-1, 1, 8).unsqueeze(1)
        >>> sgd = optim.SGD(model.parameters(), lr=0.5)
        >>> batches = [(xs, 2 * xs + 1)]
        >>> for step in fit(model, nn.MSELoss(), sgd, batches, epochs=50):
        ...     if step.loss < 1e-3:
        ...         break
        >>> losses = fit(model, nn.MSELoss(), sgd, batches, epochs=10).run()
        >>> losses[-1] < losses[0] < 1e-3
        True
    """
    if isinstance(optimizer, Optimizer):
        optimizer = {"": Updater(optimizer, clip_norm, clip_value, schedule, per)}
    everyone = ranks or Ranks()
    batches, validation = held_out(batches, validation)
    measure = partial(evaluate, model, loss, validation or (), metrics=metrics, method=method)
    loop = _Loop(
        _new_task(model, loss, optimizer, everyone, compile),
        method or Supervised(),
        Guard(model, batches, skip),
        callbacks if isinstance(callbacks, Callbacks) else Callbacks(callbacks),
        everyone,
        accumulate,
        hints and everyone.is_first,
        None if validation is None else measure,
    )
    numbers = range(epochs) if isinstance(epochs, int) else epochs
    return Steps(loop.steps(batches, numbers, first_step, first_batch))


@dataclass(frozen=True, eq=False)
class _Loop:
    """The loop of `fit`."""

    task: Task
    method: Method
    guard: Guard
    events: Callbacks
    ranks: Ranks
    accumulate: int
    hints: bool
    measure: Callable[[], dict[str, float]] | None

    def steps(
        self, batches: Batches, epochs: Iterable[int], first_step: int, first_batch: int
    ) -> Generator[Step, None, None]:
        """Yield each step after taking it, with the arguments of `fit`."""
        task, number = self.task, first_step
        model, updaters = task.model, task.updaters
        count = -(-len(batches) // self.accumulate)
        hints = Hints(model, task.loss, updaters, self.method, count) if self.hints else None
        with self.ranks.training(model), self.events.run(model, updaters, first_step):
            for epoch in self.events.epochs(epochs):
                model.train()
                self.guard.begin_epoch()
                _advance(updaters, "epoch", due=number > 0 and not first_batch)
                for first, group in _groups(batches, self.accumulate, first_batch):
                    _advance(updaters, "step", due=number > 0)
                    task.place = Place(epoch, number, first, len(batches))
                    _share(task, self.ranks, group, self.accumulate > 1)
                    step = _take_step(task, self.method, self.guard, number == first_step)
                    if hints is not None:
                        hints.see(step)
                    self.events.end_step(step)
                    if step.ends_epoch and self.measure is not None:
                        step = replace(step, validation=self.measure())
                        self.events.evaluated(step.validation)
                    yield step
                    number += 1
                first_batch = 0


def _new_task(
    model: nn.Module, loss: Loss, updaters: Mapping[str, Updater], ranks: Ranks, compile: Any
) -> Task:
    chosen = capture.compile if compile is True else None if compile is False else compile
    shared = ranks if ranks.size > 1 else None
    return Task(model, loss, updaters, (), ranks=shared, compile=chosen)


def _share(task: Task, ranks: Ranks, group: Sequence[Any], apart: bool) -> None:
    """Give a task this process's share of the batches of a step."""
    places = ranks.places(len(group))
    task.batches, task.count = [group[k] for k in places], len(group)
    task.apart = Apart(task.model, ranks, seeds_of(places)) if apart else None


def _take_step(task: Task, method: Method, guard: Guard, is_first: bool) -> Step:
    """Take the step of a task, and return its result."""
    epoch, number, first, batches = task.place
    rates = {name: updater.lr for name, updater in task.updaters.items()}
    task.check_rates()
    results: list[Batch] = []
    alone = replace(task, dry=True, compile=None, ranks=None)
    repeat = partial(method.step, alone)
    with guard.watch(task.place, task.batches, repeat):
        results = method.step(task)
    if is_first:
        _warn_unless_run(task, method)
    count = len(task)
    own = [(batch.loss, batch.by_name) for batch in results]
    every = task.ranks.in_order(own, count) if own and task.ranks else own
    mean = sum(loss for loss, _ in every) / len(every) if every else math.nan
    names = every[0][1] if every else ()
    losses = {name: sum(by_name[name] for _, by_name in every) / len(every) for name in names}
    index = first + count - 1
    ends_epoch = index + 1 == batches
    return Step(number, epoch, index, ends_epoch, tuple(results), mean, rates, losses, count)


def _warn_unless_run(task: Task, method: Method) -> None:
    """Warn if a compiled step has captured nothing."""
    compiled = task.compiled
    if compiled and isinstance(compiled, capture.Compiled) and not any(compiled.calls()):
        warn(
            f"the steps of the method {type(method).__name__} run eagerly: nothing in them is "
            "compiled.\n  to fix it: hand what computes on tensors to `task.run`, as `Supervised` "
            "does",
            capture.CompileWarning,
        )


def _advance(updaters: Mapping[str, Updater], per: Literal["epoch", "step"], *, due: bool) -> None:
    """Advance the schedules, if it is time."""
    for updater in updaters.values() if due else ():
        updater.advance(per)


def _groups(batches: Batches, size: int, first: int) -> Iterator[tuple[int, list[Sequence[Any]]]]:
    """Yield groups of batches with the index of their first; the last group may be smaller."""
    source = iter(batches)
    for index in itertools.count(first, size):
        group = list(itertools.islice(source, size))
        if not group:
            return
        yield index, group


def evaluate(
    model: nn.Module,
    loss: Loss,
    batches: Iterable[Sequence[Any]],
    *,
    metrics: Sequence[str | Own] | None = None,
    seed: int = 0,
    method: Method | None = None,
) -> dict[str, float]:
    """Return the mean loss and the metrics of a model in eval mode.

    The modes of the modules and all random streams are restored, so evaluating more often does not
    affect training.

    Args:
        model: a module; called with the inputs of each batch, in eval mode and without a graph.
        loss: a function of the outputs and targets of each batch.
        batches: pairs (inputs, targets).
        metrics: names from `tinynet list metrics`, functions of all outputs and targets, or objects
            with ``update`` and ``compute``; defaults to the accuracy (0 to 1) if the targets are
            classes.
        seed: the seed of random numbers drawn during the evaluation.
        method: the method that evaluates a batch; defaults to `Supervised`.

    Raises:
        ValueError: if a metric is unknown.

    Example:
        >>> always_first = nn.Linear(1, 2)
        >>> with tn.no_grad():
        ...     _ = always_first.weight.zero_(), always_first.bias.copy_(tn.tensor([1.0, 0.0]))
        >>> pairs = [(tn.zeros(4, 1), tn.tensor([0, 0, 0, 1]))]
        >>> evaluate(always_first, nn.CrossEntropyLoss(), pairs)["accuracy"]
        0.75
    """
    totals = Totals(metrics)
    evaluate_into(model, loss, batches, totals, seed, method)
    return totals.figures()


def evaluate_into(
    model: nn.Module,
    loss: Loss,
    batches: Iterable[Sequence[Any]],
    totals: Totals,
    seed: int = 0,
    method: Method | None = None,
    ranks: Ranks | None = None,
) -> None:
    """Evaluate all batches as `evaluate` does, and add them to the totals.

    With ``ranks``, each computes its share of them, with random numbers of each batch's own.
    """
    method = Supervised() if method is None else method
    with as_evaluated(model, seed):
        if ranks is None:
            for batch in batches:
                totals.add_batch(method.measure(model, loss, batch))
            return
        own, count = [], 0
        for count, batch in enumerate(batches, 1):
            if (count - 1) % ranks.size == ranks.rank:
                with default_generator.forked(mix(seed, 1, count)):
                    own.append(totals.share_of(method.measure(model, loss, batch)))
        try:
            shares = ranks.in_order(own, count)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            text = "evaluating in several processes, as a metric of yours gets the outputs of all"
            raise TrainError(f"{text}: a batch cannot be pickled: {error}") from error
        for share in shares:
            totals.take(share)
