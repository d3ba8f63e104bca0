"""Training and measuring, as a reader can hold them in the head."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from tinynet import nn
from tinynet.core.modes import no_grad
from tinynet.core.tensor import Tensor
from tinynet.nn.utils import clip_grad_norm_, clip_grad_value_
from tinynet.optim import Optimizer
from tinynet.train.guard import Guard, Skip
from tinynet.train.metrics import Totals
from tinynet.train.nonfinite import NonFiniteError as NonFiniteError
from tinynet.train.nonfinite import Place
from tinynet.train.seeds import isolated

Loss = Callable[[Any, Any], Tensor]


class Batches(Protocol):
    """What can be trained on: anything that yields pairs and knows how many, such as DataLoader."""

    def __iter__(self) -> Iterator[Sequence[Any]]: ...
    def __len__(self) -> int: ...


class Schedule(Protocol):
    """What changes the learning rate, such as the schedulers in `tinynet.optim.lr_scheduler`."""

    def step(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Batch:
    """What happened to one batch of a step."""

    inputs: Any
    targets: Any
    outputs: Any
    """What the model said before the weights changed."""

    loss: float


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of training did."""

    number: int
    """Steps since the beginning, from 0."""

    epoch: int
    batch: int
    """The place of its last batch in the epoch, from 0."""

    ends_epoch: bool
    batches: tuple[Batch, ...]
    """Its batches: one, unless gradients are accumulated; none if the step was skipped."""

    loss: float
    """The mean of the losses of its batches; NaN if the step was skipped."""

    lr: float
    """The learning rate that the step used (of the first parameter group)."""

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
    optimizer: Optimizer,
    batches: Batches,
    epochs: int | Iterable[int],
    *,
    schedule: Schedule | None = None,
    per: Literal["epoch", "step"] = "epoch",
    clip_norm: float | None = None,
    clip_value: float | None = None,
    accumulate: int = 1,
    first_step: int = 0,
    skip: Skip | None = None,
) -> Iterator[Step]:
    """Train, one step per iteration: what else is to be done between steps is up to the caller.

    Args:
        model: is called with the inputs of a batch.
        loss: is called with the model's outputs and the targets; its mean over the batch is 0-d.
        optimizer: changes the parameters.
        batches: pairs (inputs, targets); iterated once per epoch.
        epochs: how many, or their numbers (``range(3, 10)`` goes on after the third).
        schedule: advances between two steps or epochs, according to `per`.
        per: ``"epoch"`` or ``"step"``.
        clip_norm: gradients are scaled down together when their total 2-norm is above this.
        clip_value: before that, no element of a gradient may be further from 0 than this.
        accumulate: so many batches make one step, with the mean of their gradients; the last step
            of an epoch takes what is left.
        first_step: the number of the first step, when going on.
        skip: is told of a NonFiniteError; if it returns True, the step is left out instead (a Step
            without batches stands for it).

    Raises:
        NonFiniteError: before the weights are touched by a NaN or infinity. It names the operation
            that made the first one, its module, the batch and the examples.

    Example:
        >>> model, xs = nn.Linear(1, 1), tn.linspace(-1, 1, 8).unsqueeze(1)
        >>> sgd = optim.SGD(model.parameters(), lr=0.5)
        >>> for step in fit(model, nn.MSELoss(), sgd, [(xs, 2 * xs + 1)], epochs=50):
        ...     pass
        >>> step.number, step.loss < 1e-3
        (49, True)
    """
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    number = first_step
    guard = Guard(model, batches, skip)
    for epoch in range(epochs) if isinstance(epochs, int) else epochs:
        model.train()
        guard.begin_epoch()
        if schedule is not None and per == "epoch" and number:
            schedule.step()
        for first, group in _groups(batches, accumulate):
            if schedule is not None and per == "step" and number:
                schedule.step()
            where = Place(epoch, number, first, len(batches))
            gradients = functools.partial(_gradients, model, loss, optimizer, group, where)
            lr = float(optimizer.param_groups[0]["lr"])
            done: list[Batch] = []
            with guard.step(where, group, gradients):
                done = gradients()
                _clip(parameters, clip_value, clip_norm)
                optimizer.step()
            mean = sum(batch.loss for batch in done) / len(done) if done else math.nan
            index = first + len(group) - 1
            yield Step(number, epoch, index, index + 1 == len(batches), tuple(done), mean, lr)
            number += 1


def _gradients(
    model: nn.Module, loss: Loss, optimizer: Optimizer, group: list[Sequence[Any]], where: Place
) -> list[Batch]:
    """Forward and backward of the batches of one step: the gradient is that of their mean loss.

    Raises:
        NonFiniteError: a loss or a gradient is not finite.
    """
    done: list[Batch] = []
    for inputs, targets in group:
        outputs = model(inputs)
        objective = loss(outputs, targets)
        value = objective.item()
        if not math.isfinite(value):
            where = where._replace(batch=where.batch + len(done))
            raise NonFiniteError(f"the loss is {value}", where, objective.detach().numpy())
        if not done:
            optimizer.zero_grad()
        (objective if len(group) == 1 else objective / len(group)).backward()
        done.append(Batch(inputs, targets, outputs, value))
    wrong = next(_non_finite(p for g in optimizer.param_groups for p in g["params"]), None)
    if wrong is not None:
        raise NonFiniteError(f"the gradient of {_name(model, wrong)} is not finite", where)
    return done


def _groups(batches: Batches, size: int) -> Iterator[tuple[int, list[Sequence[Any]]]]:
    """So many batches at a time, with the place of the first; the last group may be smaller."""
    source = iter(batches)
    for first in itertools.count(0, size):
        group = list(itertools.islice(source, size))
        if not group:
            return
        yield first, group


def _clip(parameters: list[Tensor], value: float | None, norm: float | None) -> None:
    if value is not None:
        clip_grad_value_(parameters, value)
    if norm is not None:
        clip_grad_norm_(parameters, norm)


def evaluate(
    model: nn.Module,
    loss: Loss,
    batches: Iterable[Sequence[Any]],
    *,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """The mean loss and the metrics of a model in eval mode.

    Neither the modes of the modules nor any random stream is different afterwards, so measuring
    more often does not change how training goes on.

    Args:
        model: is called with the inputs of each batch, in eval mode and without a graph.
        loss: is called with the outputs and targets of each batch.
        batches: pairs (inputs, targets).
        metrics: names from `tinynet.train.metrics`; left out, the accuracy (0 to 1) if the targets
            are classes.
        seed: what random numbers drawn meanwhile follow from.

    Example:
        >>> always_first = nn.Linear(1, 2)
        >>> with tn.no_grad():
        ...     _ = always_first.weight.zero_(), always_first.bias.copy_(tn.tensor([1.0, 0.0]))
        >>> pairs = [(tn.zeros(4, 1), tn.tensor([0, 0, 0, 1]))]
        >>> evaluate(always_first, nn.CrossEntropyLoss(), pairs)["accuracy"]
        0.75
    """
    totals = Totals(metrics)
    measure(model, loss, batches, totals, seed)
    return totals.figures()


def measure(
    model: nn.Module, loss: Loss, batches: Iterable[Sequence[Any]], totals: Totals, seed: int = 0
) -> None:
    """Add all batches to the totals, as `evaluate` does."""
    with as_evaluated(model, seed):
        for inputs, targets in batches:
            outputs = model(inputs)
            totals.add(outputs, targets, loss(outputs, targets).item())


@contextlib.contextmanager
def as_evaluated(model: nn.Module, seed: int = 0) -> Iterator[None]:
    """In eval mode, without a graph, and without a trace in any random stream."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with no_grad(), isolated(seed):
            yield
    finally:
        for module, training in modes:
            module.training = training


def _non_finite(parameters: Iterable[Tensor]) -> Iterator[Tensor]:
    """The parameters whose gradient holds a NaN or an infinity."""
    for parameter in parameters:
        if parameter.grad is not None:
            grad = parameter.grad
            gradient = (grad._values() if grad.is_sparse else grad).numpy().ravel()
            # A dot product is several times faster than isfinite().all(); squares may overflow.
            with np.errstate(over="ignore", invalid="ignore"):
                suspicious = not math.isfinite(np.dot(gradient, gradient))
            if suspicious and not np.isfinite(gradient).all():
                yield parameter


def _name(model: nn.Module, parameter: Tensor) -> str:
    names = [name for name, other in model.named_parameters() if other is parameter]
    return names[0] if names else "a parameter that is not the model's"
