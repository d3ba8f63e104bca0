"""Weight averaging during training: ``AveragedModel``, averaging functions, and learning rates."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from tinynet.core.devices import require_cpu
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import repeated
from tinynet.nn.base.module import Module
from tinynet.nn.layers.batchnorm import _BatchNorm
from tinynet.ops.creation.constructors import tensor
from tinynet.optim.lr_scheduler.base import LRScheduler, per_group, refuse_strategy, values_of
from tinynet.optim.optimizer import Optimizer

AverageOne = Callable[[Tensor, Tensor, Any], Tensor]
AverageAll = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def _paired(averages: Iterable[Tensor], values: Iterable[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Return averages with their values; raise RuntimeError if the numbers of them differ."""
    mine, theirs = list(averages), list(values)
    if len(mine) != len(theirs):
        raise RuntimeError(
            "Tensor lists must have the same number of tensors, got "
            f"{len(mine)} and {len(theirs)}: the model and its average differ in structure."
        )
    return list(zip(mine, theirs, strict=True))


def _refuse_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageAll:
    """Return ``f(averages, values, count)``, which updates exponential moving averages.

    ``average = decay * average + (1 - decay) * value``.

    Raises:
        ValueError: decay is not in [0, 1].

    Example:
        >>> from tinynet.optim.swa_utils import get_ema_multi_avg_fn
        >>> average = tn.ones(1)
        >>> get_ema_multi_avg_fn(0.75)([average], [tn.zeros(1)], 1)
        >>> average
        tensor([0.7500])
    """
    _refuse_decay(decay)

    @no_grad()
    def ema_update(averages: Sequence[Tensor], values: Sequence[Tensor], count: Any) -> None:
        for average, value in _paired(averages, values):
            if average.is_floating_point():
                average.lerp_(value, 1 - decay)
            else:
                average.copy_(average * decay + value * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> AverageAll:
    """Return ``f(averages, values, count)``, which adds a value to each running mean.

    ``average = average + (value - average) / (count + 1)``.

    Example:
        >>> from tinynet.optim.swa_utils import get_swa_multi_avg_fn
        >>> average = tn.ones(1)
        >>> get_swa_multi_avg_fn()([average], [tn.zeros(1)], 3)
        >>> average
        tensor([0.7500])
    """

    @no_grad()
    def swa_update(averages: Sequence[Tensor], values: Sequence[Tensor], count: Any) -> None:
        share = float(1 / (count + 1))
        for average, value in _paired(averages, values):
            if average.is_floating_point():
                average.lerp_(value, share)
            else:
                average.copy_(average + (value - average) * share)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> AverageOne:
    """Return ``f(average, value, count)``, which updates an exponential moving average.

    It returns ``decay * average + (1 - decay) * value``.

    Raises:
        ValueError: decay is not in [0, 1].

    Example:
        >>> average = optim.swa_utils.get_ema_avg_fn(decay=0.9)
        >>> average(tn.tensor(1.0), tn.tensor(2.0), 1)
        tensor(1.1000)
    """
    _refuse_decay(decay)

    @no_grad()
    def ema_update(average: Tensor, value: Tensor, count: Any) -> Tensor:
        return decay * average + (1 - decay) * value

    return ema_update


def get_swa_avg_fn() -> AverageOne:
    """Return ``f(average, value, count)``, which adds a value to a running mean.

    It returns ``average + (value - average) / (count + 1)``.

    Example:
        >>> average = optim.swa_utils.get_swa_avg_fn()
        >>> average(tn.tensor(1.0), tn.tensor(2.0), tn.tensor(1))
        tensor(1.5000)
    """

    @no_grad()
    def swa_update(average: Tensor, value: Tensor, count: Any) -> Tensor:
        return average + (value - average) / (count + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model that averages the model's weights over time.

    The first ``update_parameters`` copies the weights, later calls average them. Izmailov et al.
    (2018), "Averaging Weights Leads to Wider Optima and Better Generalization"; exponential
    averages: Polyak and Juditsky (1992), "Acceleration of Stochastic Approximation by Averaging".

    Args:
        model: the model to copy.
        device: must be the CPU.
        avg_fn: ``f(average, value, count)`` returns the new average of one parameter.
        multi_avg_fn: ``f(averages, values, count)`` changes the averages in place.
        use_buffers: average the buffers, too; otherwise they are copied.

    Attributes:
        module: the copy.
        n_averaged: the number of averaged values.

    Raises:
        AssertionError: both functions are given.

    Example:
        >>> from tinynet.optim.swa_utils import AveragedModel
        >>> model = nn.Linear(1, 1, bias=False)
        >>> average = AveragedModel(model)
        >>> for value in (1.0, 2.0, 6.0):
        ...     _ = model.weight.detach().fill_(value)
        ...     average.update_parameters(model)
        >>> average(tn.ones(1))
        tensor([3.], grad_fn=<SqueezeBackward4>)
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: AverageOne | None = None,
        multi_avg_fn: AverageAll | None = None,
        use_buffers: bool = False,
    ):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the copy."""
        return self.module(*args, **kwargs)

    @repeated
    def update_parameters(self, model: Module) -> None:
        """Update the averages with the parameters of ``model``.

        Raises:
            RuntimeError: the model does not have the parameters and buffers of the copy.
        """
        pairs = [
            (mine.detach(), theirs.detach())
            for mine, theirs in _paired(self._averaged(self.module), self._averaged(model))
        ]
        copied = [] if self.use_buffers else _paired(self.module.buffers(), model.buffers())
        with no_grad():
            if self.n_averaged == 0:
                for average, value in pairs:
                    average.copy_(value)
            elif self.multi_avg_fn is not None:
                for dtype in dict.fromkeys(average.dtype for average, _ in pairs):
                    some = [pair for pair in pairs if pair[0].dtype == dtype]
                    self.multi_avg_fn([a for a, _ in some], [v for _, v in some], self.n_averaged)
            else:
                update = self.avg_fn or get_swa_avg_fn()
                for average, value in pairs:
                    average.copy_(update(average, value, self.n_averaged))
            for mine, theirs in copied:
                mine.detach().copy_(theirs.detach())
            self.n_averaged += 1

    def _averaged(self, module: Module) -> Iterable[Tensor]:
        """Return the averaged tensors."""
        parameters: Iterable[Tensor] = module.parameters()
        return itertools.chain(parameters, module.buffers()) if self.use_buffers else parameters


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Recompute the running statistics of all batch norms from a data set.

    Each running mean is ``sum(mean of a batch) / number of batches``, and likewise each variance.

    Runs the model over all batches in training mode, then restores its mode.

    Args:
        loader: an iterable of batches; the model gets the first element of a list or tuple.
        model: the model, such as an ``AveragedModel``, with outdated statistics.
        device: must be the CPU.

    Raises:
        TypeError: ``loader`` cannot be iterated.

    Example:
        >>> from tinynet.optim.swa_utils import update_bn
        >>> model = nn.BatchNorm1d(1)
        >>> update_bn([tn.tensor([[1.0], [3.0]]), tn.tensor([[5.0], [7.0]])], model)
        >>> model.running_mean
        tensor([4.])
    """
    if device is not None:
        require_cpu(device)
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    training = model.training
    model.train()
    for module in momenta:
        module.momentum = None  # the average of all batches
    for batch in loader:
        inputs = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(inputs if device is None else inputs.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Anneals the learning rate to a constant, for averaging weights afterwards.

    ``lr = swa_lr * a + initial_lr * (1 - a)`` with ``t = min(epoch / anneal_epochs, 1)``, and ``a =
    t`` or ``a = (1 - cos(pi * t)) / 2``.

    Args:
        optimizer: the optimizer.
        swa_lr: the constant learning rate, or one for each group.
        anneal_epochs: number of epochs until the constant is reached.
        anneal_strategy: ``"cos"`` or ``"linear"``.
        last_epoch: see ``LRScheduler``.

    Raises:
        ValueError: an argument is out of range.

    Source: Izmailov et al., "Averaging weights leads to wider optima and better generalization",
    2018, arXiv 1803.05407.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> lrs = []
        >>> for epoch in range(4):
        ...     lrs += schedule.get_last_lr()
        ...     schedule.step()
        >>> lrs
        [1.0, 0.75, 0.5, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ):
        rates = per_group("swa_lr", optimizer, swa_lr)
        refuse_strategy(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the learning rates for the epoch, from the current ones."""
        self._asked()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        values = []
        ends = values_of(self.optimizer, "swa_lr")
        for lr, end in zip(self._current(), ends, strict=True):
            start = end if before == 1 else (lr - before * end) / (1 - before)
            values.append(end * now + start * (1 - now))
        return values

    def _share(self, step: int) -> float:
        """Return the completed fraction of the annealing at a step."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2
