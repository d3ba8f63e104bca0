"""What a step of training needs: the model, its optimizers, the batches and their targets.

A loss, gradient, learning rate or weight that is NaN or infinite raises `NonFiniteError`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from tinynet import nn
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import repeated
from tinynet.data.dataset import Dataset, Samples, fetch
from tinynet.dtypes import Array
from tinynet.nn.utils import clip_grad_norm_, clip_grad_value_
from tinynet.optim import Optimizer
from tinynet.train.base.problems import TrainError
from tinynet.train.step.ranks import Apart, Ranks
from tinynet.train.step.seeds import isolated


class Place(NamedTuple):
    """A place in the training; all numbers are from 0."""

    epoch: int
    number: int
    batch: int
    batches: int


class Diagnosis(Protocol):
    """What was found out about a failed step."""

    @property
    def report(self) -> Any:
        """The cause; its ``lines()`` are a part of the message."""

    def save(self, folder: str | Path) -> None:
        """Store the inputs of the step and the report in a folder."""


class NonFiniteError(TrainError):
    """A loss, a gradient, a learning rate or a weight is NaN or infinite.

    Args:
        what: what is not finite, as a clause.
        where: the place of the step.
        loss: the array of the loss, if the loss is not finite.
        ended: the consequence for the weights, as a clause.
        advice: advice, shown if there is no post-mortem.

    Attributes:
        post_mortem: the inputs of the step and the cause of the failure, once they are known. Its
            ``save(folder)`` stores them.
    """

    def __init__(
        self,
        what: str,
        where: Place,
        loss: Array | None = None,
        *,
        ended: str = "stopped before the weights were changed",
        advice: str = "A smaller learning rate or optimizer.clip_norm may help; look at this batch",
    ) -> None:
        super().__init__(what)
        self.what = what
        self.ended = ended
        self.advice = advice
        self.epoch, self.number, self.batch, self.batches = where
        self.loss = loss
        self.post_mortem: Diagnosis | None = None
        self.remarks: list[str] = []
        """Additional lines of the message."""

    @property
    def headline(self) -> str:
        """What is not finite, and its place in the training."""
        return (
            f"{self.what} in epoch {self.epoch + 1}, step {self.number + 1} "
            f"(batch {self.batch + 1} of {self.batches})"
        )

    def __str__(self) -> str:
        lines = [f"{self.headline}; {self.ended}."]
        if self.post_mortem is None:
            lines.append(f"  {self.advice}.")
        else:
            lines += self.post_mortem.report.lines()
        return "\n".join(lines + self.remarks)


class RankError(NonFiniteError):
    """Another process of the run has found NaN or infinity, and explains it."""


# ---- eval mode ----------------------------------------------------------------------------------
# Evaluating a model in the middle of its training.


@contextlib.contextmanager
def as_evaluated(model: nn.Module, seed: int = 0) -> Iterator[None]:
    """Enter eval mode and `no_grad`; restore the modes and all random streams at the end."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with no_grad(), isolated(seed):
            yield
    finally:
        for module, training in modes:
            module.training = training


# ---- task ---------------------------------------------------------------------------------------


Loss = Callable[[Any, Any], Tensor]


class Schedule(Protocol):
    """A schedule of the learning rate, such as those in `tinynet.optim.lr_scheduler`."""

    def step(self) -> None: ...


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

    before: Callable[[Sequence[Tensor]], None] | None = None
    """Called with the parameters before each step, and before clipping."""

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
        if self.before is not None:
            self.before(self.parameters)
        if self.clip_value is not None:
            clip_grad_value_(self.parameters, self.clip_value)
        if self.clip_norm is not None:
            clip_grad_norm_(self.parameters, self.clip_norm)
        self.optimizer.step()


@dataclass(eq=False)
class Task:
    """What a step needs. It can be iterated over several times, and yields its batches.

    Example:
        >>> model, xs = nn.Linear(1, 1), tn.ones(4, 1)
        >>> sgd = Updater(optim.SGD(model.parameters(), lr=0.1))
        >>> task = Task(model, nn.MSELoss(), {"": sgd}, [(xs, 2 * xs)])
        >>> from tinynet.train.step.method import Supervised
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

    count: int = 0
    """The number of batches of the step in all processes; 0 if it has just ``batches``."""

    ranks: Ranks | None = None
    """The processes that share the batches of the step; None if there is one."""

    apart: Apart | None = None
    """What each batch of the step starts from, if there may be several."""

    dry: bool = False
    """Whether `step` only checks and updates nothing, for repeating a failed step."""

    part: Callable[[str], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    """``with task.part("generator"):`` records the operations inside as a separate graph."""

    compile: Callable[..., Any] | None = None
    """Compiles the functions that `run` gets, such as `tinynet.compile`; None runs eagerly."""

    def __post_init__(self) -> None:
        self._at = 0
        self.compiled = self.compile and self.compile(self._compilable())

    def _compilable(self) -> Callable[..., Any]:
        def training_step(
            function: Callable[..., Any],
            count: int,
            first: bool,
            last: bool,
            counts: bool,
            *args: Any,
        ) -> Any:
            return function(self, *args)

        return training_step

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(task, *args)``, which a compiled run captures as a program.

        The function may call the methods of the task, except `backward`, which returns a number. It
        returns tensors, and depends on nothing else that changes from step to step.

        Args:
            function: a function, or a method of the training method.
            args: tensors, or lists of tensors.
        """
        if self.compiled is None:
            return function(self, *args)
        counts = self.ranks is None or self.ranks.counts(self._at, len(self))
        return self.compiled(function, len(self), self.is_first, self.is_last, counts, *args)

    @property
    def is_first(self) -> bool:
        """Whether the current batch is the first of the step in this process."""
        return self._at == 0

    @property
    def is_last(self) -> bool:
        """Whether the current batch is the last of the step in this process."""
        return self._at == len(self.batches) - 1

    def __len__(self) -> int:
        return self.count or len(self.batches)

    def __iter__(self) -> Iterator[Sequence[Any]]:
        apart, ranks = self.apart, self.ranks
        with contextlib.ExitStack() as step:
            if apart is not None:
                step.enter_context(apart.all(shared=ranks is not None))
            for turn, batch in enumerate(self.batches):
                self._at = turn
                with contextlib.ExitStack() as one:
                    if apart is not None:
                        one.enter_context(apart.batch(turn))
                    if ranks is not None:
                        one.enter_context(ranks.scaling())
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
        return float(self.add_gradients(loss, name).item())

    def add_gradients(self, loss: Tensor, name: str = "loss") -> Tensor:
        """Do the same, but return the loss as a tensor without a graph."""
        value = loss.detach()
        if self.strict:
            self._check_loss(value, name)
        if self.ranks is not None:
            self._before_backward()
        (loss if len(self) == 1 else loss / len(self)).backward()
        if self.ranks is not None:
            self._add_up()
        return value

    @repeated
    def _before_backward(self) -> None:
        assert self.ranks is not None
        self.ranks.before_backward(self._parameters(), self._at)

    @repeated
    def _add_up(self) -> None:
        assert self.ranks is not None
        self.ranks.add_up(self._parameters(), self.ranks.counts(self._at, len(self)))
        self.ranks.complete_scaling()

    def _parameters(self) -> list[Tensor]:
        return [p for updater in self.updaters.values() for p in updater.parameters]

    @property
    def _number(self) -> int:
        """The number of the current batch in the step."""
        if self.ranks is None:
            return self._at
        return self.ranks.places(len(self))[self._at]

    @repeated
    def _check_loss(self, loss: Tensor, name: str) -> None:
        value = loss.item()
        fails = not math.isfinite(value)
        place = self.place._replace(batch=self.place.batch + self._number)
        if self.ranks is not None and self.ranks.largest(fails) and not fails:
            raise RankError("the loss of another process is not finite", place)
        if fails:
            what = f"the {name.replace('_', ' of the ', 1)} is {value}"
            raise NonFiniteError(what, place, loss.numpy())

    def step(self, *names: str) -> None:
        """Update the parameters of the named optimizers, or of all.

        Raises:
            NonFiniteError: if a gradient is NaN or infinite; no parameter has changed.
        """
        updaters = self._named(names)
        if self.strict:
            self._check_gradients([p for updater in updaters for p in updater.parameters])
        for updater in () if self.dry else updaters:
            updater.step()

    @repeated
    def _check_gradients(self, parameters: Sequence[Tensor]) -> None:
        wrong = next(_non_finite(parameters), None)
        if wrong is not None:
            name = _name(self.model, wrong)
            raise NonFiniteError(f"the gradient of {name} is not finite", self.place)

    def _named(self, names: Sequence[str]) -> list[Updater]:
        return [self.updaters[name] for name in names or self.updaters]


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


# ---- shapes -------------------------------------------------------------------------------------
# Shapes and dtypes in messages.


def shape_of(value: Any) -> str:
    """Return the shape and dtype of a tensor, or of each element of a list or dict.

    Example:
        >>> shape_of((tn.zeros(2, 3), {"name": "x"}))
        "([2, 3] tinynet.float32, {'name': str})"
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {shape_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return _listed(value)
    shape = getattr(value, "shape", None)
    if shape is None:
        return type(value).__name__
    return f"{[*shape]} {getattr(value, 'dtype', '')}".strip()


def _listed(values: Iterable[Any]) -> str:
    return "(" + ", ".join(shape_of(value) for value in values) + ")"


# ---- targets ------------------------------------------------------------------------------------


class InputsAsTargets(Dataset[tuple[Any, Any]]):
    """A data set with its inputs as targets, for autoencoders.

    Args:
        dataset: its samples are inputs, or tuples that begin with them.

    Example:
        >>> InputsAsTargets([("a", 1), ("b", 2)])[1]
        ('b', 'b')
    """

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> tuple[Any, Any]:
        return _twice(self.dataset[index])

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """Return the samples at ``indices``, in one call if the data set supports it."""
        samples = fetch(self.dataset, indices)
        if isinstance(samples, Samples):
            inputs = samples.columns[0]
            return Samples((inputs, inputs.clone()))  # a model may write to its inputs
        return [_twice(sample) for sample in samples]


def _twice(sample: Any) -> tuple[Any, Any]:
    inputs = sample[0] if isinstance(sample, tuple | list) else sample
    return inputs, inputs
