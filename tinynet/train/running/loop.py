"""The training loop and the evaluation loop."""

from __future__ import annotations

import functools
import itertools
import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from tinynet import capture, nn
from tinynet.capture.compiled import Compiled, CompileWarning
from tinynet.core.callsite import warn
from tinynet.data.loading.seeding import mix
from tinynet.optim import Optimizer
from tinynet.random import default_generator
from tinynet.train.build.eval_mode import as_evaluated as as_evaluated
from tinynet.train.build.method import Batch, Method, Supervised
from tinynet.train.build.ranks import Apart, Ranks, seeds_of
from tinynet.train.build.task import Loss, Schedule, Task, Updater
from tinynet.train.callbacks.events import Callbacks
from tinynet.train.config.problems import TrainError
from tinynet.train.incidents.guard import Guard, Skip
from tinynet.train.incidents.nonfinite import NonFiniteError as NonFiniteError
from tinynet.train.incidents.nonfinite import Place
from tinynet.train.metrics.own import Own
from tinynet.train.metrics.totals import Totals
from tinynet.train.running.held_out import Validation, held_out


class Batches(Protocol):
    """Batches to train on: an iterable of pairs with a length, such as a DataLoader."""

    def __iter__(self) -> Iterator[Sequence[Any]]: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one training step.

    Example:
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
) -> Iterator[Step]:
    """Train, one step per iteration; between steps, the caller can do anything else.

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

    Raises:
        TypeError, ValueError: the validation set does not fit `batches`.
        NonFiniteError: if a loss, gradient or learning rate is NaN or infinite, before the weights
            change. It names the operation that produced the first such value, its module, the batch
            and the examples.

    Example:
        >>> model, xs = nn.Linear(1, 1), tn.linspace(-1, 1, 8).unsqueeze(1)
        >>> sgd = optim.SGD(model.parameters(), lr=0.5)
        >>> for step in fit(model, nn.MSELoss(), sgd, [(xs, 2 * xs + 1)], epochs=50):
        ...     pass
        >>> step.number, step.loss < 1e-3
        (49, True)
    """
    if isinstance(optimizer, Optimizer):
        optimizer = {"": Updater(optimizer, clip_norm, clip_value, schedule, per)}
    method, everyone = method or Supervised(), ranks or Ranks()
    batches, validation = held_out(batches, validation)
    number, guard = first_step, Guard(model, batches, skip)
    task = _new_task(model, loss, optimizer, everyone, compile)
    events = callbacks if isinstance(callbacks, Callbacks) else Callbacks(callbacks)
    with everyone.training(model), events.run(model, optimizer, first_step):
        for epoch in events.epochs(range(epochs) if isinstance(epochs, int) else epochs):
            model.train()
            guard.begin_epoch()
            _advance(optimizer, "epoch", due=number > 0 and not first_batch)
            for first, group in _groups(batches, accumulate, first_batch):
                _advance(optimizer, "step", due=number > 0)
                task.place = Place(epoch, number, first, len(batches))
                _share(task, everyone, group, accumulate > 1)
                step = _take_step(task, method, guard, is_first=number == first_step)
                events.end_step(step)
                if step.ends_epoch and validation is not None:
                    found = evaluate(model, loss, validation, metrics=metrics, method=method)
                    step = replace(step, validation=found)
                    events.evaluated(found)
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
    repeat = functools.partial(method.step, alone)
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
    if isinstance(task.compiled, Compiled) and not any(task.compiled.calls()):
        warn(
            f"the steps of the method {type(method).__name__} run eagerly: nothing in them is "
            "compiled.\n  to fix it: hand what computes on tensors to `task.run`, as `Supervised` "
            "does",
            CompileWarning,
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
