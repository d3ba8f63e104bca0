"""Methods of training, such as supervised learning: one step, and the evaluation of one batch.

A **new method** is a class with `step` and `measure`, which a config names: ``[method]
type = "./my_method.py:MyMethod"``. A `Task` holds what a step needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.train.step.task import Loss, Task


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

    original: Callable[[Any], Any] = staticmethod(lambda values: values)
    """Returns outputs and targets in the units of the data, where the data set has standardized
    its targets (`CSV`). What `measure` returns has these units; its loss has those of training."""

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
        results = []
        for inputs, targets in task:
            outputs, loss = task.run(self.train_on, inputs, targets)
            results.append(Batch(inputs, targets, outputs, loss.item()))
        return results

    def train_on(self, task: Task, inputs: Any, targets: Any) -> tuple[Any, Tensor]:
        """Add the gradients of a batch, and update after the last; return outputs and loss."""
        outputs = task.model(inputs)
        loss = task.loss(outputs, targets)
        if task.is_first:
            task.zero_grad()
        value = task.add_gradients(loss)
        if task.is_last:
            task.step()
        return outputs, value

    def measure(self, model: nn.Module, loss: Loss, batch: Sequence[Any]) -> Batch:
        """Return the outputs and their loss."""
        inputs, targets = batch
        outputs = model(inputs)
        value = loss(outputs, targets).item()
        return Batch(inputs, self.original(targets), self.original(outputs), value)
