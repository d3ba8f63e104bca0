"""Methods of training: one step, and the evaluation of one batch. Supervised and adversarial ones.

A **new method** is a class with `step` and `measure`, which a config names: ``[method]
type = "./my_method.py:MyMethod"``. A `Task` holds what a step needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tinynet import capture, distributed, nn
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.creation.like import full_like
from tinynet.ops.shaping.joining import cat
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
    its targets (`CSV`). What `measure` returns has these units; its loss has training's."""

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


class Adversarial(Method):
    """A generator makes examples from noise; a discriminator distinguishes them from real ones.

    Each step first trains the discriminator to output 1 for real examples and 0 for generated ones.
    Then it trains the generator to make examples with output 1 (the "non-saturating" form of
    Goodfellow et al., Generative Adversarial Nets, 2014). ``[loss]`` compares the outputs of the
    discriminator with these numbers: BCEWithLogitsLoss for that paper's GAN, MSELoss for least
    squares (Mao et al., 2017).

    The model needs two modules, ``generator`` and ``discriminator``, each with its optimizer
    (``[optimizer.generator]`` and ``[optimizer.discriminator]``), and a method ``samples(count)``
    that returns that many generated examples, as ``type = "GAN"`` has. The evaluation computes both
    losses, and the metrics of the discriminator on equally many real and generated examples
    (``binary_accuracy`` is 0.5 if it cannot distinguish them). The best weights are tracked only if
    ``evaluation.monitor`` names a figure.

    Args:
        real: the target of real examples; 0.9 keeps the discriminator from becoming too confident.
    """

    optimizers = frozenset({"generator", "discriminator"})
    compares = False

    def __init__(self, real: float = 1.0) -> None:
        if not 0 < real <= 1:
            raise ValueError(
                f"The 'real' parameter of adversarial must be > 0 and <= 1. Got {real} instead."
            )
        self.real = real

    def step(self, task: Task) -> list[Batch]:
        """Take the discriminator's step, then the generator's."""
        with task.part("discriminator"):
            discriminated = self._discriminator(task)
        with task.part("generator"):
            generator_losses = self._generator(task)
        return [
            Batch(
                inputs,
                targets,
                outputs,
                loss + generated,
                {"loss_discriminator": loss, "loss_generator": generated},
                count=len(inputs),
            )
            for (inputs, _), (outputs, targets, loss), generated in zip(
                task.batches, discriminated, generator_losses, strict=True
            )
        ]

    def _discriminator(self, task: Task) -> list[tuple[Tensor, Tensor, float]]:
        """Train the discriminator; return its outputs, targets and loss for each batch."""
        results = []
        for inputs, _ in task:
            outputs, targets, loss = task.run(self.train_discriminator, inputs)
            results.append((outputs, targets, loss.item()))
        return results

    def train_discriminator(self, task: Task, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Train the discriminator on a batch; return its outputs, targets and loss."""
        discriminator, samples = _networks(task.model)
        if task.is_first:
            task.zero_grad("discriminator")
        with no_grad():  # no gradients for the generator
            generated = samples(len(inputs))
        outputs = [discriminator(inputs), discriminator(generated)]
        targets = [full_like(outputs[0], self.real), full_like(outputs[1], 0.0)]
        loss = task.loss(outputs[0], targets[0]) + task.loss(outputs[1], targets[1])
        value = task.add_gradients(loss, "loss_discriminator")
        results = cat(outputs), cat(targets), value
        if task.is_last:
            task.step("discriminator")
        return results

    def _generator(self, task: Task) -> list[float]:
        """Train the generator; return its loss for each batch."""
        return [task.run(self.train_generator, inputs).item() for inputs, _ in task]

    def train_generator(self, task: Task, inputs: Tensor) -> Tensor:
        """Train the generator on as many examples as there are inputs; return its loss."""
        discriminator, samples = _networks(task.model)
        if task.is_first:
            task.zero_grad("generator")
        outputs = discriminator(samples(len(inputs)))
        loss = task.loss(outputs, full_like(outputs, 1.0))
        value = task.add_gradients(loss, "loss_generator")
        if task.is_last:
            task.step("generator")
        return value

    def measure(self, model: nn.Module, loss: Loss, batch: Sequence[Any]) -> Batch:
        """Return both losses, and the discriminator's outputs for real and generated examples."""
        discriminator, samples = _networks(model)
        inputs = batch[0]
        real, generated = discriminator(inputs), discriminator(samples(len(inputs)))
        ones, zeros = full_like(real, 1.0), full_like(generated, 0.0)
        losses = {
            "loss_discriminator": (loss(real, ones) + loss(generated, zeros)).item(),
            "loss_generator": loss(generated, full_like(generated, 1.0)).item(),
        }
        return Batch(
            inputs,
            cat([ones, zeros]),
            cat([real, generated]),
            sum(losses.values()),
            losses,
            count=len(inputs),
        )


def _networks(model: nn.Module) -> tuple[nn.Module, Callable[[int], Tensor]]:
    """Return the discriminator of a model, and its method ``samples``.

    Raises:
        TypeError: if it lacks one of them.
    """
    discriminator, samples = (getattr(model, name, None) for name in ("discriminator", "samples"))
    if not isinstance(discriminator, nn.Module) or not callable(samples):
        raise TypeError(
            'the method "adversarial" needs a model with the modules generator and discriminator '
            f"and a method samples(count), such as GAN. Got {type(model).__name__} instead."
        )
    return discriminator, samples


# ---- compilation --------------------------------------------------------------------------------
# What a run compiles: its training steps, and the forward pass of its evaluations.


class Compilation:
    """The compiled functions of a run.

    Evaluations run by numpy's programs.

    Args:
        compile: the key ``run.compile``.
        native_from: the first native replays; empty: as soon as each program is compiled.
    """

    def __init__(
        self, compile: bool | Literal["llvm"] = True, native_from: Sequence[int] = ()
    ) -> None:
        self._steps: list[capture.Continued] = []  # by LLVM
        self._functions: list[capture.Compiled] = []
        self._states: list[Mapping[str, Any]] = []
        self._model: nn.Module | None = None
        self._is_native = compile == "llvm"
        self._native_from = [n or None for n in native_from]

    def function(self, function: Callable[..., Any]) -> capture.Compiled:
        """Return a compiled function, of which all that it changes is in its closure."""
        compiled: capture.Compiled = (
            self._native(function) if self._is_native else capture.compile(function)
        )
        self._functions.append(compiled)
        return compiled

    def _native(self, function: Callable[..., Any]) -> capture.Continued:
        # Other processes would not all become native at the same step.
        wait = self._native_from or distributed.is_initialized()
        roots = [cell.cell_contents for cell in function.__closure__ or ()]
        compiled = capture.Continued(function, roots, backend="llvm", wait=wait)
        if len(self._steps) < len(self._states):
            compiled.load_state_dict(self._states[len(self._steps)])
        self._steps.append(compiled)
        return compiled

    def state_dict(self) -> list[Mapping[str, Any]] | None:
        """Return what a resumed run needs, to run the same steps natively."""
        return [step.state_dict() for step in self._steps] or None

    def load_state_dict(self, state: list[Mapping[str, Any]]) -> None:
        """Go on where the run stopped."""
        self._states = state

    def to_evaluate(self, model: nn.Module, method: Method) -> nn.Module:
        """Return the model to evaluate.

        It is compiled if the training steps are, and if the method's evaluation only calls it.
        """
        if type(method).measure is not Supervised.measure:
            return model
        if not any(function.programs() for function in self._functions):
            return model
        if self._model is None:
            self._model = capture.compile(model)
            self._functions.append(self._model.__dict__["forward"])
        return self._model

    def summary(self) -> dict[str, Any] | None:
        """Return the numbers of programs and calls, and the reasons to run eagerly."""
        functions = self._functions
        if not functions:
            return None
        calls = [function.calls() for function in functions]
        problems = (problem for function in functions for problem in function.problems)
        return {
            "programs": sum(len(function.programs()) for function in functions),
            **{name: sum(getattr(one, name) for one in calls) for name in capture.Calls._fields},
            "eager_because": [problem.reason for problem in problems],
            **({"native_from": self._first_native_replays()} if self._is_native else {}),
        }

    def _first_native_replays(self) -> list[int]:
        """Return the key ``run.native_from`` of a run with the same results."""
        return [n or 0 for step in self._steps for n in step.first_native_replays()]
