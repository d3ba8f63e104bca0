"""Generative adversarial networks: the steps of their two networks and optimizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinynet import nn
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.creation.like import full_like
from tinynet.ops.shaping.joining import cat
from tinynet.train.step.method import Batch, Method
from tinynet.train.step.task import Loss, Task


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
