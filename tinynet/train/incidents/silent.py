"""Mistakes that raise no error, but keep a model from learning, seen in the steps of a training.

`Hints` looks at a few steps of each epoch. Each kind of mistake gives one `TrainingWarning`, with
what was seen, the reason and the remedy. A check waits until what it saw cannot be a bad start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np

from tinynet import nn
from tinynet.core.callsite import warn
from tinynet.core.modes import no_grad
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.errors import TrainingWarning, more
from tinynet.nn import functional as F
from tinynet.train.incidents.culprit import LARGE
from tinynet.train.step.epoch import Step
from tinynet.train.step.method import Batch, Method
from tinynet.train.step.task import Loss, Updater

_LOOKS = 20  # the first steps of a training, and steps of an epoch, to look at
_STRIDE = 10  # at most every tenth step after the first ones: a look takes a part of a small step
_EPOCHS, _STEPS = 5, 50  # without any progress, before it is a hint
_DEAD = 0.75  # of the units of a layer; models that train well have up to 0.6 (digits_vae)
_REGRESSION = (
    (F.mse_loss, nn.MSELoss),
    (F.l1_loss, nn.L1Loss),
    (F.smooth_l1_loss, nn.SmoothL1Loss),
    (F.huber_loss, nn.HuberLoss),
)
_VIEWS = ("Squeeze", "View", "Reshape", "Select", "Unsqueeze", "Transpose")  # nodes to look through


class Hints:
    """Looks for silent mistakes in the steps of a training.

    Args:
        model: the trained model.
        loss: the loss.
        updaters: the optimizers by name.
        method: the method of training; if it compares no targets, some checks are left out.
        steps: the number of steps in an epoch.
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        updaters: Mapping[str, Updater],
        method: Method,
        steps: int,
    ) -> None:
        self._stride = max(_STRIDE, steps // _LOOKS)
        self._seen = 0
        self._checks = [Rate(updaters), Divergence(steps), DeadUnits(model)]
        if method.compares:
            self._checks += [Probabilities(loss), Constant(), Chance(), Scale(loss)]

    def see(self, step: Step) -> None:
        """Look at a step that was just taken, and warn about what it shows."""
        if not step.batches:
            return
        looks = self._seen < _LOOKS or step.number % self._stride == 0
        self._seen += 1
        for check in self._checks:
            found = check.step(step)
            if looks and not found:
                found = check.look(step.batches[-1])
            if step.ends_epoch and not found:
                found = check.epoch(step)
            if found:
                self._checks = [other for other in self._checks if other is not check]
                warn(found + more("silent-mistakes"), TrainingWarning)


class Check:
    """A kind of mistake. Each method returns the text of the warning, or an empty one."""

    def step(self, step: Step) -> str:
        """Look at every step; must take less than a microsecond."""
        return ""

    def look(self, batch: Batch) -> str:
        """Look at the last batch of some steps."""
        return ""

    def epoch(self, step: Step) -> str:
        """Look back at an epoch, after its last step."""
        return ""


class Rate(Check):
    """A learning rate of 0."""

    def __init__(self, updaters: Mapping[str, Updater]) -> None:
        self._updaters = updaters.values()
        self._is_zero = True
        self._steps = 0

    def step(self, step: Step) -> str:
        """Follow the rates until one is not 0."""
        if self._is_zero:
            scheduled = any(updater.schedule is not None for updater in self._updaters)
            groups = (g for updater in self._updaters for g in updater.optimizer.param_groups)
            resumed = scheduled and step.number > self._steps  # a schedule may end at 0
            self._is_zero = not resumed and all(float(group["lr"]) == 0 for group in groups)
            self._steps += 1
        return ""

    def epoch(self, step: Step) -> str:
        """Report an epoch that changed nothing."""
        text = (
            f"The learning rate was 0 in all {quantity(self._steps, 'step')} so far, so none "
            "changed a weight. Set lr above 0; a schedule that begins at 0 must advance after each "
            "step."
        )
        return text if self._is_zero else ""


class Divergence(Check):
    """A loss that is huge, and stays so."""

    def __init__(self, steps: int) -> None:
        self._patience = max(20, min(500, 2 * steps))
        self._limit = 0.0
        self._above = 0

    def step(self, step: Step) -> str:
        """Count the consecutive steps with a huge loss."""
        size = abs(step.loss)
        if not self._limit:
            self._first = step.loss
            self._limit = min(LARGE, 1e6 * max(1.0, size))
        self._above = self._above + 1 if size >= self._limit else 0
        if self._above < self._patience:
            return ""
        return (
            f"The loss has been above {self._limit:.0e} for {self._above} steps (now "
            f"{step.loss:.2g}; at first {self._first:.2g}): the training has diverged, and does "
            "not recover by itself. Start again with a smaller lr, with clip_norm, or with inputs "
            "and targets of mean 0 and deviation 1."
        )


class Probabilities(Check):
    """Softmax before cross_entropy, or sigmoid before binary_cross_entropy_with_logits."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss
        self._is_new = True

    def look(self, batch: Batch) -> str:
        """Look at the outputs of the first step."""
        outputs, targets = batch.outputs, batch.targets
        if not self._is_new or not _are_tensors(outputs, targets):
            return ""
        self._is_new = False
        softmax = F.cross_entropy, nn.CrossEntropyLoss
        if _sums_to_one(outputs) and _computes(self._loss, batch, softmax):
            return (
                "The outputs of the model are probabilities, but cross_entropy expects scores: it "
                "applies softmax itself, and a second one makes the gradients small and keeps the "
                "loss high. Leave out the softmax at the end of the model."
            )
        sigmoid = F.binary_cross_entropy_with_logits, nn.BCEWithLogitsLoss
        if _is_sigmoid(outputs) and _computes(self._loss, batch, sigmoid):
            return (
                "The outputs of the model come from a sigmoid, but "
                "binary_cross_entropy_with_logits applies one itself, so no output can get near a "
                "target. Leave out the sigmoid at the end of the model, or use BCELoss."
            )
        return ""


class Constant(Check):
    """Outputs that do not depend on the inputs."""

    def __init__(self) -> None:
        self._count = 0

    def look(self, batch: Batch) -> str:
        """Count consecutive looks at outputs that are all the same."""
        outputs, targets = batch.outputs, batch.targets
        if not _are_tensors(outputs, targets, batch.inputs) or len(outputs) < 2:
            return ""
        if _vary(batch.inputs) and _vary(targets):
            self._count = 0 if _vary(outputs, 4) else self._count + 1
        if self._count < 10:
            return ""
        return (
            "The outputs of the model are the same for all inputs of a batch, in the last "
            f"{self._count} batches that were looked at: nothing of the input reaches them. All "
            "units of a layer may be dead or saturated (use a smaller lr, or another activation), "
            "or its weights all 0."
        )


class Chance(Check):
    """A classifier that does not get better than guessing the most frequent class."""

    def __init__(self) -> None:
        self._losses: list[float] = []
        self._reset(math.inf)

    def _reset(self, loss: float) -> None:
        """Begin a time without progress at a loss."""
        self._start = loss
        self._epochs = self._steps = self._right = 0
        self._counts = np.zeros(0, np.int64)

    def step(self, step: Step) -> str:
        """Add the loss of a step."""
        self._losses.append(step.loss)
        return ""

    def look(self, batch: Batch) -> str:
        """Count the classes, and the right predictions."""
        outputs, targets = batch.outputs, batch.targets
        if _are_tensors(outputs, targets) and _are_classes(outputs, targets):
            known = targets.numpy() >= 0
            classes = targets.numpy()[known].astype(np.int64)
            found = outputs.detach().numpy().argmax(1)[known]
            counts = np.bincount(classes, minlength=max(len(self._counts), outputs.shape[1]))
            counts[: len(self._counts)] += self._counts
            self._counts = counts
            self._right += int(np.count_nonzero(classes == found))
        return ""

    def epoch(self, step: Step) -> str:
        """Compare the accuracy with guessing, and the loss with earlier epochs."""
        loss, total = fmean(self._losses), max(int(self._counts.sum()), 1)
        share, right = self._counts.max(initial=0) / total, self._right / total
        is_better = right > share + 2 * math.sqrt(share * (1 - share) / total)
        if not 0 < share < 1 or is_better or loss < self._start - 0.01 * abs(loss):
            self._reset(loss)
        self._epochs, self._steps = self._epochs + 1, self._steps + len(self._losses)
        self._losses = []
        if self._epochs < _EPOCHS or self._steps < _STEPS:
            return ""
        return (
            f"The accuracy has stayed at chance for {self._epochs} epochs ({right:.1%} of the "
            f"training examples; guessing the most frequent class gives {share:.1%}), and the loss "
            "does not fall. Check that the labels belong to their inputs and that the inputs have "
            "mean 0 and deviation 1; then try lr ten times smaller and larger."
        )


class Scale(Check):
    """Targets of a regression that are too large to be reached from the initial outputs."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss
        self._seen: list[tuple[Array, Array]] = []
        self._bad = 0

    def look(self, batch: Batch) -> str:
        """Keep some outputs and targets."""
        outputs, targets = batch.outputs, batch.targets
        alike = _are_tensors(outputs, targets) and outputs.shape == targets.shape
        if alike and targets.is_floating_point() and _computes(self._loss, batch, *_REGRESSION):
            pair = (outputs.detach().numpy(), targets.numpy())
            self._seen.append(tuple(array.ravel()[:1000].astype(float) for array in pair))
        return ""

    def epoch(self, step: Step) -> str:
        """Compare the errors with predictions of the mean."""
        if not self._seen:
            return ""
        outputs, targets = map(np.concatenate, zip(*self._seen, strict=True))
        self._seen = []
        mean, spread = targets.mean(), targets.std()
        error = math.sqrt(np.square(outputs - targets).mean())
        is_small = np.abs(outputs).max() < 0.1 * np.abs(targets).max()
        reaches = np.abs(outputs).max() < 3 * np.abs(targets).max()  # else it has diverged
        is_bad = max(abs(mean), spread) > 30 and reaches and (error > 1.02 * spread or is_small)
        self._bad = self._bad + 1 if is_bad else 0
        if self._bad < 2:
            return ""
        return (
            f"The targets have mean {mean:.4g} and deviation {spread:.4g}, and after "
            f"{step.epoch + 1} epochs the outputs are still no better than predicting the mean: "
            "small weights take very long to grow to such numbers. Standardise the targets: "
            "subtract their mean, and divide by their deviation."
        )


class DeadUnits(Check):
    """Units of hidden layers that get no gradient in any batch, such as those behind a ReLU."""

    def __init__(self, model: nn.Module) -> None:
        kinds = nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d
        found = {name: m for name, m in model.named_modules() if isinstance(m, kinds)}
        self._layers = {n: m for n, m in found.items() if "weight" in m._parameters}
        self._dead: list[Array | None] = []
        self._looks = 0

    def look(self, batch: Batch) -> str:
        """Find the units without a gradient in this batch."""
        dead = [_without_gradient(layer) for layer in self._layers.values()]
        if not dead or dead[-1] is None or dead[-1].all() or abs(batch.loss) < 1e-6:
            return ""  # nothing gets a gradient, or there is nothing left to learn
        before = self._dead or dead
        self._dead = [
            None if one is None or other is None else one & other
            for one, other in zip(before, dead, strict=True)
        ]
        self._looks += 1
        return ""

    def epoch(self, step: Step) -> str:
        """Report the last layer of which most units are dead."""
        if self._looks < 16:
            return ""
        dead, self._dead, self._looks = self._dead, [], 0
        hidden = [*zip(self._layers.items(), dead, strict=True)][:-1]
        for (name, layer), units in reversed(hidden):
            if units is not None and len(units) >= 4 and units.mean() >= _DEAD:
                return (
                    f"{np.count_nonzero(units)} of the {len(units)} units of {name} "
                    f"({type(layer).__name__}) are dead: in a whole epoch, no example gave them a "
                    "gradient, so they learn nothing more. A ReLU behind them is 0 for all inputs. "
                    "Start again with a smaller lr, or use LeakyReLU or GELU."
                )
        return ""


# ---- what tensors look like ----


def _are_tensors(*values: Any) -> bool:
    return all(isinstance(value, Tensor) and value.ndim and value.numel() for value in values)


def _are_classes(outputs: Tensor, targets: Tensor) -> bool:
    """Return whether outputs are scores of classes, and targets their indices."""
    whole = not (targets.is_floating_point() or targets.is_complex())
    return whole and outputs.ndim == targets.ndim + 1 and outputs.shape[1] > 1


def _vary(values: Tensor, roundings: int = 0) -> bool:
    """Return whether the rows differ by more than a number of roundings."""
    rows = values.detach().numpy().reshape(len(values), -1)[:64, :4096]
    if not roundings or rows.dtype.kind != "f":
        return bool((rows != rows[0]).any())
    return bool(np.ptp(rows, 0).max() > roundings * np.finfo(rows.dtype).eps * np.abs(rows).max())


def _sums_to_one(outputs: Tensor) -> bool:
    """Return whether each row of outputs is a distribution over at least two classes."""
    array = outputs.detach().numpy()
    if array.ndim < 2 or array.shape[1] < 2 or array.min() < 0:
        return False
    return bool(np.abs(array.sum(1) - 1).max() < 1e-4)


def _is_sigmoid(outputs: Tensor) -> bool:
    """Return whether a sigmoid made the outputs, as far as their graph is known."""
    node: Any = outputs.grad_fn
    while node is not None and node.name().startswith(_VIEWS):
        node = node.next_functions[0][0]
    return node is not None and node.name().startswith("Sigmoid")


def _computes(loss: Loss, batch: Batch, *kinds: tuple[Any, type]) -> bool:
    """Return whether a loss is one of several; the user's own is judged by its value."""
    if type(loss).__module__.startswith("tinynet."):
        return any(isinstance(loss, kind) for _, kind in kinds)
    return any(loss is function or _has_value(function, batch) for function, _ in kinds)


def _has_value(function: Any, batch: Batch) -> bool:
    """Return whether a loss function gives the loss of a batch."""
    try:
        with no_grad():
            value = function(batch.outputs.detach(), batch.targets).item()
    except (RuntimeError, ValueError, TypeError, IndexError):
        return False
    return math.isclose(value, batch.loss, rel_tol=1e-4)


def _without_gradient(layer: nn.Module) -> Array | None:
    """Return which units of a layer got only zeros as their gradient; None if it is unknown."""
    weight, bias = layer._parameters["weight"], layer._parameters.get("bias")
    found = [p.grad for p in (bias, weight) if p is not None and p.requires_grad]
    grads = [grad.numpy() for grad in found if grad is not None and not grad.is_sparse]
    if not grads or len(grads) < len(found):
        return None
    dead: Array = np.ones(len(grads[0]), np.bool_)
    for grad in grads:  # first the bias, which is small
        rows = grad[dead]
        dead[dead] = ~rows.reshape(len(rows), math.prod(rows.shape[1:])).any(1)
    return dead
