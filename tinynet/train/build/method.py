"""Methods of training, such as supervised learning: one step, and the evaluation of one batch.

A **new method** is a class with `step` and `measure`, which a config names: ``[method]
type = "./my_method.py:MyMethod"``. A `Task` holds what a step needs.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.nn.utils import clip_grad_norm_, clip_grad_value_
from tinynet.optim import Optimizer
from tinynet.train.incidents.nonfinite import NonFiniteError as NonFiniteError
from tinynet.train.incidents.nonfinite import Place

Loss = Callable[[Any, Any], Tensor]


class Schedule(Protocol):
    """A schedule of the learning rate, such as those in `tinynet.optim.lr_scheduler`."""

    def step(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Batch:
    """The result of one batch, in a step or an evaluation.

    Example:
        >>> batch = Batch(tn.ones(4, 1), tn.zeros(4, 1), tn.ones(4, 1), loss=1.0)
        >>> batch.examples, batch.by_name
        (4, {'loss': 1.0})
    """

    inputs: Any
    """The inputs of the model."""

    targets: Any
    """The desired outputs."""

    outputs: Any
    """The outputs of the model, before the weights changed."""

    loss: float
    """The loss, or the sum of several losses."""

    losses: Mapping[str, float] = field(default_factory=dict)
    """The losses by name (``"loss_generator"``), if the method has several."""

    count: int | None = None
    """The number of examples, if it differs from the number of targets."""

    @property
    def examples(self) -> int:
        """The number of examples."""
        return len(self.targets) if self.count is None else self.count

    @property
    def by_name(self) -> Mapping[str, float]:
        """The losses by name; a single one as ``{"loss": ...}``."""
        return self.losses or {"loss": self.loss}


@dataclass
class Updater:
    """An optimizer with its schedule and the clipping of its gradients.

    Example:
        >>> w = tn.zeros(2, requires_grad=True)
        >>> w.grad = tn.tensor([3.0, 4.0])
        >>> Updater(optim.SGD([w], lr=1.0), clip_norm=0.5).step()
        >>> w
        tensor([-0.3000, -0.4000], requires_grad=True)
    """

    optimizer: Optimizer
    """The optimizer."""

    clip_norm: float | None = None
    """The maximum total 2-norm of the gradients; larger ones are scaled down together."""

    clip_value: float | None = None
    """The maximum absolute value of each element of the gradients."""

    schedule: Schedule | None = None
    """The schedule of the learning rate."""

    per: Literal["epoch", "step"] = "epoch"
    """Whether the schedule advances after each epoch or after each step."""

    def __post_init__(self) -> None:
        groups = self.optimizer.param_groups
        self.parameters = [p for group in groups for p in group["params"]]

    @property
    def lr(self) -> float:
        """The learning rate (of the first parameter group)."""
        return float(self.optimizer.param_groups[0]["lr"])

    @property
    def wrong_rate(self) -> float | None:
        """The first learning rate of a parameter group that is NaN or infinite, or None."""
        rates = (float(group["lr"]) for group in self.optimizer.param_groups)
        return next((rate for rate in rates if not math.isfinite(rate)), None)

    def advance(self, per: Literal["epoch", "step"]) -> None:
        """Advance the schedule if it advances per ``per``."""
        if self.schedule is not None and self.per == per:
            self.schedule.step()

    def step(self) -> None:
        """Clip the gradients and update the parameters."""
        if self.clip_value is not None:
            clip_grad_value_(self.parameters, self.clip_value)
        if self.clip_norm is not None:
            clip_grad_norm_(self.parameters, self.clip_norm)
        self.optimizer.step()


@dataclass
class Task:
    """The inputs of one step. It can be iterated over several times, and yields its batches.

    Example:
        >>> model, xs = nn.Linear(1, 1), tn.ones(4, 1)
        >>> sgd = Updater(optim.SGD(model.parameters(), lr=0.1))
        >>> task = Task(model, nn.MSELoss(), {"": sgd}, [(xs, 2 * xs)])
        >>> (batch,) = Supervised().step(task)
        >>> batch.loss > task.loss(model(xs), 2 * xs).item()
        True
    """

    model: nn.Module
    """The model to train."""

    loss: Loss
    """A function of outputs and targets that returns a tensor with one element."""

    updaters: Mapping[str, Updater]
    """The optimizers by name; a single one has the name ``""``."""

    batches: Sequence[Sequence[Any]]
    """The batches: one, unless gradients are accumulated."""

    place: Place = Place(0, 0, 0, 1)
    """The place of its first batch in the training."""

    strict: bool = True
    """Whether to raise if losses or gradients are not finite; False in a trial."""

    dry: bool = False
    """Whether `step` only checks and updates nothing, for repeating a failed step."""

    part: Callable[[str], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    """``with task.part("generator"):`` records the operations inside as a separate graph."""

    def __post_init__(self) -> None:
        self._at = 0

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Sequence[Any]]:
        for index, batch in enumerate(self.batches):
            self._at = index
            yield batch

    def check_rates(self) -> None:
        """Check the learning rates before they can turn the weights into NaN.

        Raises:
            NonFiniteError: if a learning rate is NaN or infinite.
        """
        for name, updater in self.updaters.items():
            rate = updater.wrong_rate
            if rate is not None:
                whose = f" of the optimizer {name!r}" if name else ""
                advice = (
                    "Check the arguments of the schedule, and any code that sets the learning rate"
                )
                raise NonFiniteError(
                    f"the learning rate{whose} is {rate}", self.place, advice=advice
                )

    def zero_grad(self, *names: str) -> None:
        """Reset the gradients of the named optimizers, or of all."""
        for updater in self._named(names):
            updater.optimizer.zero_grad()

    def backward(self, loss: Tensor, name: str = "loss") -> float:
        """Add the gradients of a batch's loss, divided by the number of batches.

        Returns:
            The loss as a number.

        Raises:
            NonFiniteError: if the loss is NaN or infinite; no gradient has changed.
        """
        value = loss.item()
        if self.strict and not math.isfinite(value):
            place = self.place._replace(batch=self.place.batch + self._at)
            what = f"the {name.replace('_', ' of the ', 1)} is {value}"
            raise NonFiniteError(what, place, loss.detach().numpy())
        (loss if len(self) == 1 else loss / len(self)).backward()
        return float(value)

    def step(self, *names: str) -> None:
        """Update the parameters of the named optimizers, or of all.

        Raises:
            NonFiniteError: if a gradient is NaN or infinite; no parameter has changed.
        """
        updaters = self._named(names)
        if self.strict:
            parameters = (p for updater in updaters for p in updater.parameters)
            wrong = next(_non_finite(parameters), None)
            if wrong is not None:
                name = _name(self.model, wrong)
                raise NonFiniteError(f"the gradient of {name} is not finite", self.place)
        for updater in () if self.dry else updaters:
            updater.step()

    def _named(self, names: Sequence[str]) -> list[Updater]:
        return [self.updaters[name] for name in names or self.updaters]


class Method:
    """The base class of methods, which define a step and the evaluation of a batch.

    Example:
        >>> class Halved(Supervised):  # one that divides the loss before its gradients
        ...     def step(self, task):
        ...         ((inputs, targets),) = task
        ...         outputs = task.model(inputs)
        ...         task.zero_grad()
        ...         value = task.backward(task.loss(outputs, targets) / 2)
        ...         task.step()
        ...         return [Batch(inputs, targets, outputs, value)]
        >>> from tinynet.train import fit
        >>> model, xs = nn.Linear(1, 1), tn.ones(4, 1)
        >>> sgd = optim.SGD(model.parameters(), lr=0.1)
        >>> steps = [*fit(model, nn.MSELoss(), sgd, [(xs, 2 * xs)], epochs=2, method=Halved())]
        >>> steps[1].loss < steps[0].loss
        True
    """

    optimizers: frozenset[str] = frozenset()
    """The names of the required optimizers; empty if the method works with any."""

    compares = True
    """Whether the method compares outputs with the targets of the data. If not, the best weights
    are tracked only if ``evaluation.monitor`` names a figure."""

    def step(self, task: Task) -> list[Batch]:
        """Update the parameters, and return the result of each batch of the task."""
        raise NotImplementedError

    def measure(self, model: nn.Module, loss: Loss, batch: Sequence[Any]) -> Batch:
        """Return the result of a batch of the test set; the model is in eval mode."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the method itself, for checkpoints."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the state that `state_dict` returned."""


class Supervised(Method):
    """Supervised learning: one loss, one backward per batch, a step of all optimizers."""

    def step(self, task: Task) -> list[Batch]:
        """Run forward and backward on each batch; update with the gradient of the mean loss."""
        results: list[Batch] = []
        for inputs, targets in task:
            outputs = task.model(inputs)
            loss = task.loss(outputs, targets)
            if not results:
                task.zero_grad()
            results.append(Batch(inputs, targets, outputs, task.backward(loss)))
        task.step()
        return results

    def measure(self, model: nn.Module, loss: Loss, batch: Sequence[Any]) -> Batch:
        """Return the outputs and their loss."""
        inputs, targets = batch
        outputs = model(inputs)
        return Batch(inputs, targets, outputs, loss(outputs, targets).item())


def check_weights(model: nn.Module, updaters: Mapping[str, Updater], where: Place) -> None:
    """Check that a step has left all trained weights finite.

    Args:
        model: the model, which has the names of the weights.
        updaters: the optimizers of the weights.
        where: the place of the step.

    Raises:
        NonFiniteError: if a weight is NaN or infinite; names the first one.
    """
    trained = (p for u in updaters.values() for p in u.parameters if p.requires_grad)
    for parameter in trained:
        if not _is_finite(parameter.detach().numpy()):
            what = f"{_name(model, parameter)} is not finite after the update"
            raise NonFiniteError(what, where, ended="stopped without saving it")


def _non_finite(parameters: Iterable[Tensor]) -> Iterator[Tensor]:
    """Yield the parameters whose gradients contain NaN or infinity."""
    for parameter in parameters:
        if parameter.grad is not None:
            grad = parameter.grad
            if not _is_finite((grad._values() if grad.is_sparse else grad).numpy()):
                yield parameter


def _is_finite(array: Array) -> bool:
    """Return whether no element is NaN or infinite."""
    flat = array.ravel()
    # A dot product is several times faster than isfinite().all(); squares may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        if math.isfinite(abs(np.dot(flat, flat))):
            return True
    return bool(np.isfinite(flat).all())


def _name(model: nn.Module, parameter: Tensor) -> str:
    names = [name for name, other in model.named_parameters() if other is parameter]
    return names[0] if names else "a parameter that is not the model's"
