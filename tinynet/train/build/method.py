"""Methods of training: what one step does, and what is measured. Supervised learning is one.

A **new method** is a class with `step` and `measure`; the config names it: ``[method]
type = "./my_method.py:MyMethod"``. What it needs for a step is in a `Task`.
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
    """What changes the learning rate, such as the schedulers in `tinynet.optim.lr_scheduler`."""

    def step(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Batch:
    """What happened to one batch, in a step or a measurement.

    Example:
        >>> batch = Batch(tn.ones(4, 1), tn.zeros(4, 1), tn.ones(4, 1), loss=1.0)
        >>> batch.examples, batch.by_name
        (4, {'loss': 1.0})
    """

    inputs: Any
    """What the model got."""

    targets: Any
    """What the outputs should be."""

    outputs: Any
    """What the model said before the weights changed."""

    loss: float
    """The loss; of several, their sum."""

    losses: Mapping[str, float] = field(default_factory=dict)
    """Of a method with several losses, each by its name (``"loss_generator"``)."""

    count: int | None = None
    """How many examples it has, if there are not as many as targets."""

    @property
    def examples(self) -> int:
        """How many examples it has."""
        return len(self.targets) if self.count is None else self.count

    @property
    def by_name(self) -> Mapping[str, float]:
        """The losses by name, also where there is only one: ``{"loss": ...}``."""
        return self.losses or {"loss": self.loss}


@dataclass
class Updater:
    """An optimizer with all that belongs to its steps.

    Example:
        >>> w = tn.zeros(2, requires_grad=True)
        >>> w.grad = tn.tensor([3.0, 4.0])
        >>> Updater(optim.SGD([w], lr=1.0), clip_norm=0.5).step()
        >>> w
        tensor([-0.3000, -0.4000], requires_grad=True)
    """

    optimizer: Optimizer
    """What changes the parameters."""

    clip_norm: float | None = None
    """Gradients are scaled down together when their total 2-norm is above this."""

    clip_value: float | None = None
    """No element of a gradient may be further from 0 than this."""

    schedule: Schedule | None = None
    """What changes the learning rate."""

    per: Literal["epoch", "step"] = "epoch"
    """When the schedule advances: after each epoch, or after each step."""

    def __post_init__(self) -> None:
        groups = self.optimizer.param_groups
        self.parameters = [p for group in groups for p in group["params"]]

    @property
    def lr(self) -> float:
        """The learning rate (of the first parameter group)."""
        return float(self.optimizer.param_groups[0]["lr"])

    @property
    def wrong_rate(self) -> float | None:
        """A learning rate of any parameter group that is NaN or infinite; None if there is none."""
        rates = (float(group["lr"]) for group in self.optimizer.param_groups)
        return next((rate for rate in rates if not math.isfinite(rate)), None)

    def advance(self, per: Literal["epoch", "step"]) -> None:
        """Let the schedule advance, if this is when it does."""
        if self.schedule is not None and self.per == per:
            self.schedule.step()

    def step(self) -> None:
        """Clip the gradients and change the parameters."""
        if self.clip_value is not None:
            clip_grad_value_(self.parameters, self.clip_value)
        if self.clip_norm is not None:
            clip_grad_norm_(self.parameters, self.clip_norm)
        self.optimizer.step()


@dataclass
class Task:
    """One step to be done. Iterating over it gives its batches, as often as is wanted.

    Example:
        >>> model, xs = nn.Linear(1, 1), tn.ones(4, 1)
        >>> sgd = Updater(optim.SGD(model.parameters(), lr=0.1))
        >>> task = Task(model, nn.MSELoss(), {"": sgd}, [(xs, 2 * xs)])
        >>> (batch,) = Supervised().step(task)
        >>> batch.loss > task.loss(model(xs), 2 * xs).item()
        True
    """

    model: nn.Module
    """What is trained."""

    loss: Loss
    """A function of outputs and targets; its value has one element."""

    updaters: Mapping[str, Updater]
    """The optimizers by name; the only one of a config has the name ``""``."""

    batches: Sequence[Sequence[Any]]
    """One, unless gradients are accumulated."""

    place: Place = Place(0, 0, 0, 1)
    """Where the first of its batches is."""

    strict: bool = True
    """Whether losses and gradients must be finite; a trial goes on with whatever comes."""

    dry: bool = False
    """Whether `step` only checks: to see a step that failed once more, which changes nothing."""

    part: Callable[[str], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    """``with task.part("generator"):`` makes a graph of its own of what runs inside."""

    def __post_init__(self) -> None:
        self._at = 0

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Sequence[Any]]:
        for index, batch in enumerate(self.batches):
            self._at = index
            yield batch

    def check_rates(self) -> None:
        """Refuse to begin with a learning rate that would make NaN of every weight.

        Raises:
            NonFiniteError: with the rate; nothing has been changed.
        """
        for name, updater in self.updaters.items():
            rate = updater.wrong_rate
            if rate is not None:
                whose = f" of the optimizer {name!r}" if name else ""
                advice = "Look at the numbers of the schedule, or at what else sets the rate"
                raise NonFiniteError(
                    f"the learning rate{whose} is {rate}", self.place, advice=advice
                )

    def zero_grad(self, *names: str) -> None:
        """Forget the gradients of these optimizers; of all if none is named."""
        for updater in self._named(names):
            updater.optimizer.zero_grad()

    def backward(self, loss: Tensor, name: str = "loss") -> float:
        """Add the gradients of a batch's loss, which count as a share of the step; its value.

        Raises:
            NonFiniteError: it is NaN or infinite; nothing has been added.
        """
        value = loss.item()
        if self.strict and not math.isfinite(value):
            place = self.place._replace(batch=self.place.batch + self._at)
            what = f"the {name.replace('_', ' of the ', 1)} is {value}"
            raise NonFiniteError(what, place, loss.detach().numpy())
        (loss if len(self) == 1 else loss / len(self)).backward()
        return float(value)

    def step(self, *names: str) -> None:
        """Change the parameters of these optimizers; of all if none is named.

        Raises:
            NonFiniteError: a gradient is NaN or infinite; no parameter has been changed.
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
    """What one step does, and what is measured. Subclasses say both.

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
    """The names of the optimizers that it needs; empty if it takes whatever there is."""

    compares = True
    """Whether outputs are compared with the targets of the data; if not, no figure says by itself
    which weights are best (``evaluation.monitor`` may)."""

    def step(self, task: Task) -> list[Batch]:
        """Change the parameters; the result says what happened to each batch of the task."""
        raise NotImplementedError

    def measure(self, model: nn.Module, loss: Loss, batch: Sequence[Any]) -> Batch:
        """What there is to be said about a batch of the test set; the model is in eval mode."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """What the method itself learns or counts, for checkpoints."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` returned."""


class Supervised(Method):
    """Outputs are compared with targets: one loss, one backward, and a step of all optimizers."""

    def step(self, task: Task) -> list[Batch]:
        """Forward and backward of each batch: the gradient is that of their mean loss."""
        done: list[Batch] = []
        for inputs, targets in task:
            outputs = task.model(inputs)
            loss = task.loss(outputs, targets)
            if not done:
                task.zero_grad()
            done.append(Batch(inputs, targets, outputs, task.backward(loss)))
        task.step()
        return done

    def measure(self, model: nn.Module, loss: Loss, batch: Sequence[Any]) -> Batch:
        """The outputs and their loss."""
        inputs, targets = batch
        outputs = model(inputs)
        return Batch(inputs, targets, outputs, loss(outputs, targets).item())


def check_weights(model: nn.Module, updaters: Mapping[str, Updater], where: Place) -> None:
    """Refuse weights that a step has made NaN or infinite.

    Args:
        model: has their names.
        updaters: have the weights that are trained.
        where: the step.

    Raises:
        NonFiniteError: with the name of the first one.
    """
    trained = (p for u in updaters.values() for p in u.parameters if p.requires_grad)
    for parameter in trained:
        if not _is_finite(parameter.detach().numpy()):
            what = f"{_name(model, parameter)} is not finite after the update"
            raise NonFiniteError(what, where, ended="stopped without saving it")


def _non_finite(parameters: Iterable[Tensor]) -> Iterator[Tensor]:
    """The parameters whose gradient holds a NaN or an infinity."""
    for parameter in parameters:
        if parameter.grad is not None:
            grad = parameter.grad
            if not _is_finite((grad._values() if grad.is_sparse else grad).numpy()):
                yield parameter


def _is_finite(array: Array) -> bool:
    """Whether no element is NaN or infinite."""
    flat = array.ravel()
    # A dot product is several times faster than isfinite().all(); squares may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        if math.isfinite(abs(np.dot(flat, flat))):
            return True
    return bool(np.isfinite(flat).all())


def _name(model: nn.Module, parameter: Tensor) -> str:
    names = [name for name, other in model.named_parameters() if other is parameter]
    return names[0] if names else "a parameter that is not the model's"
