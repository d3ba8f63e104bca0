"""Training and measuring, as a reader can hold them in the head."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from tinynet import nn
from tinynet.core.modes import no_grad
from tinynet.core.tensor import Tensor
from tinynet.nn.utils import clip_grad_norm_
from tinynet.optim import Optimizer
from tinynet.train.problems import TrainError
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
class Step:
    """What one step of training did."""

    number: int
    """Steps since the beginning, from 0."""

    epoch: int
    batch: int
    """The place of the batch in its epoch, from 0."""

    ends_epoch: bool
    inputs: Any
    targets: Any
    outputs: Any
    """What the model said before the weights changed."""

    loss: float
    lr: float
    """The learning rate that the step used (of the first parameter group)."""


class NonFiniteError(TrainError):
    """A loss or gradient is NaN or infinite; the step was not taken."""

    def __init__(self, what: str, epoch: int, number: int, batch: int, batches: int) -> None:
        self.what, self.epoch, self.number, self.batch = what, epoch, number, batch
        super().__init__(
            f"{what} in epoch {epoch + 1}, step {number + 1} (batch {batch + 1} of {batches}); "
            "stopped before the weights were changed.\n"
            "  A smaller learning rate, optimizer.clip_norm, or a look at this batch may help."
        )


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
    first_step: int = 0,
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
        first_step: the number of the first step, when going on.

    Raises:
        NonFiniteError: before the weights are touched by a NaN or infinity.

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
    for epoch in range(epochs) if isinstance(epochs, int) else epochs:
        model.train()
        if schedule is not None and per == "epoch" and number:
            schedule.step()
        for index, batch in enumerate(batches):
            if schedule is not None and per == "step" and number:
                schedule.step()
            where = (epoch, number, index, len(batches))
            inputs, targets = batch
            outputs = model(inputs)
            objective = loss(outputs, targets)
            value = objective.item()
            if not math.isfinite(value):
                raise NonFiniteError(f"the loss is {value}", *where)
            optimizer.zero_grad()
            objective.backward()
            wrong = next(_non_finite(parameters), None)
            if wrong is not None:
                raise NonFiniteError(f"the gradient of {_name(model, wrong)} is not finite", *where)
            if clip_norm is not None:
                clip_grad_norm_(parameters, clip_norm)
            lr = float(optimizer.param_groups[0]["lr"])
            optimizer.step()
            ends = index + 1 == len(batches)
            yield Step(number, epoch, index, ends, inputs, targets, outputs, value, lr)
            number += 1


def evaluate(model: nn.Module, loss: Loss, batches: Iterable[Sequence[Any]]) -> dict[str, float]:
    """The mean loss and, for class indices, the accuracy (0 to 1) of a model in eval mode.

    Neither the modes of the modules nor any random stream is different afterwards, so measuring
    more often does not change how training goes on.

    Args:
        model: is called with the inputs of each batch, in eval mode and without a graph.
        loss: is called with the outputs and targets of each batch.
        batches: pairs (inputs, targets).

    Example:
        >>> always_first = nn.Linear(1, 2)
        >>> with tn.no_grad():
        ...     _ = always_first.weight.zero_(), always_first.bias.copy_(tn.tensor([1.0, 0.0]))
        >>> pairs = [(tn.zeros(4, 1), tn.tensor([0, 0, 0, 1]))]
        >>> evaluate(always_first, nn.CrossEntropyLoss(), pairs)["accuracy"]
        0.75
    """
    totals = Totals()
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with no_grad(), isolated():
            for inputs, targets in batches:
                outputs = model(inputs)
                totals.add(outputs, targets, loss(outputs, targets).item())
    finally:
        for module, training in modes:
            module.training = training
    return totals.figures()


class Totals:
    """Sums over the examples of an epoch, and the means that follow from them."""

    def __init__(self) -> None:
        self.examples = 0
        self._loss = 0.0
        self._correct: int | None = 0

    def add(self, outputs: Any, targets: Any, loss: float) -> None:
        """Count a batch; its loss is the mean over its examples."""
        examples = len(targets)
        self.examples += examples
        self._loss += loss * examples
        correct = count_correct(outputs, targets)
        self._correct = (
            None if correct is None or self._correct is None else self._correct + correct
        )

    def figures(self) -> dict[str, float]:
        """``loss`` and, where there are classes, ``accuracy``; empty before the first batch."""
        if not self.examples:
            return {}
        figures = {"loss": self._loss / self.examples}
        if self._correct is not None:
            figures["accuracy"] = self._correct / self.examples
        return figures


def count_correct(outputs: Any, targets: Any) -> int | None:
    """How often the largest output is that of the target class; None if targets are no classes.

    Args:
        outputs: (batch, classes, ...), floating.
        targets: (batch, ...), integers.

    Example:
        >>> count_correct(tn.tensor([[0.1, 0.9], [0.8, 0.2]]), tn.tensor([1, 1]))
        1
        >>> count_correct(tn.zeros(2, 1), tn.zeros(2, 1)) is None
        True
    """
    if not (isinstance(outputs, Tensor) and isinstance(targets, Tensor)):
        return None
    scores, classes = outputs.detach().numpy(), targets.numpy()
    if classes.dtype.kind not in "iu" or scores.ndim != classes.ndim + 1:
        return None
    return int(np.count_nonzero(scores.argmax(axis=1) == classes))


def _non_finite(parameters: Iterable[Tensor]) -> Iterator[Tensor]:
    """The parameters whose gradient holds a NaN or an infinity."""
    for parameter in parameters:
        if parameter.grad is not None:
            gradient = parameter.grad.numpy().ravel()
            # A dot product is several times faster than isfinite().all(); squares may overflow.
            with np.errstate(over="ignore", invalid="ignore"):
                suspicious = not math.isfinite(np.dot(gradient, gradient))
            if suspicious and not np.isfinite(gradient).all():
                yield parameter


def _name(model: nn.Module, parameter: Tensor) -> str:
    names = [name for name, other in model.named_parameters() if other is parameter]
    return names[0] if names else "a parameter that is not the model's"
