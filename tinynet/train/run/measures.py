"""What a run measures besides training, and its result."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import repeated
from tinynet.dtypes import Array
from tinynet.nn.utils import get_total_norm
from tinynet.train.assemble.averages import MovingAverage, WeightAverage, loaded
from tinynet.train.assemble.build import Parts
from tinynet.train.assemble.stopping import Best
from tinynet.train.config.sections import Config
from tinynet.train.loop.fit import evaluate_into
from tinynet.train.step.epoch import Totals
from tinynet.train.step.method import Compilation
from tinynet.train.step.ranks import Ranks
from tinynet.train.step.task import Updater

# ---- norms --------------------------------------------------------------------------------------
# The norms of gradients and weights, for the log.


class Norms:
    """The norms of an optimizer's gradients and weights in its last step.

    Example:
        >>> w = tn.tensor([3.0, 4.0], requires_grad=True)
        >>> w.grad = tn.tensor([0.0, 2.0])
        >>> norms = Norms()
        >>> Updater(optim.SGD([w], lr=1.0), clip_norm=1.0, before=norms.see).step()
        >>> norms.grad, round(norms.weight, 4)
        (2.0, 5.0)
    """

    grad = weight = 0.0

    @repeated
    def see(self, parameters: Sequence[Tensor]) -> None:
        """Measure the parameters before a step, and their gradients before they are clipped."""
        gradients = [p.grad for p in parameters if p.grad is not None]
        self.grad = _norm([g._values() if g.is_sparse else g for g in gradients])
        self.weight = _norm([p.detach() for p in parameters])


def _norm(tensors: Sequence[Tensor]) -> float:
    return float(get_total_norm(tensors).item())


class LoggedNorms:
    """The norms of all optimizers of a run.

    Args:
        updaters: the optimizers by name.
        wanted: whether to measure anything.
    """

    def __init__(self, updaters: Mapping[str, Updater], wanted: bool) -> None:
        self._norms = {name: Norms() for name in updaters} if wanted else {}
        for name, norms in self._norms.items():
            updaters[name].before = norms.see

    def figures(self) -> dict[str, float]:
        """Return the norms of the last step by name."""
        found = {}
        for name, norms in self._norms.items():
            found[f"grad_norm_{name}".rstrip("_")] = norms.grad
            found[f"weight_norm_{name}".rstrip("_")] = norms.weight
        return found


# ---- measures -----------------------------------------------------------------------------------


Figures = dict[str, float]


class Measures:
    """The figures of a run on the sets that it does not train on.

    Args:
        parts: the objects of the config.
        compilation: what the run compiles.
        average: the moving average of the weights, which is measured in their place.
        ranks: the processes that share the batches.
    """

    def __init__(
        self,
        parts: Parts,
        compilation: Compilation,
        average: MovingAverage | WeightAverage | None,
        ranks: Ranks | None,
    ) -> None:
        self._parts = parts
        self._compilation = compilation
        self._average = average
        self._ranks = ranks
        self._totals = Totals()
        self.figures: Figures = {}
        """The last ones of the set that selects."""

        self.tests: dict[str, Figures] = {}
        """Those of the test set with the ``"last"`` and with the ``"best"`` weights; empty before
        the end, and if the test set selects."""

    def weights(self) -> contextlib.AbstractContextManager[None]:
        """Swap in the weights to measure: the moving average, if there is one."""
        if self._average is None:
            return contextlib.nullcontext()
        return self._average.in_place_of_weights()

    def on(self, name: str) -> Totals:
        """Return the totals of a data set: ``"validation"`` or ``"test"``."""
        parts, totals = self._parts, Totals(self._parts.metrics)
        model = self._compilation.to_evaluate(parts.model, parts.method)
        seed = parts.config.run.seed
        batches = parts.batches[name]
        evaluate_into(model, parts.loss, batches, totals, seed, parts.method, self._ranks)
        return totals

    def confusion_matrix(self) -> Array | None:
        """Return the count of the last evaluation on the set that selects, if it has one."""
        return self._totals.confusion_matrix()

    def decide(self) -> Figures:
        """Measure the set that selects; keep and return its figures, equal in all processes."""
        self._totals = self.on(self._parts.selection)
        self.figures = self._totals.figures()
        if self._ranks is not None:  # they decide together
            (self.figures, *_) = self._ranks.in_order([self.figures], self._ranks.size)
        return self.figures

    def test(
        self, epoch: int, best: int, best_weights: Callable[[], Mapping[str, Any] | None]
    ) -> dict[str, Figures]:
        """Measure the test set with the last and the best weights; return the figures of each.

        If the test set selects, it has been measured after each epoch, and nothing is left to do. A
        cross-validation leaves it alone.

        Args:
            epoch: the epoch of the last weights.
            best: the epoch of the best weights; 0 if none are tracked.
            best_weights: returns them; None if they cannot be read.
        """
        if self._parts.selection == "test" or self._parts.config.data.folds:
            return {}
        with self.weights():
            self.tests = {"last": self.on("test").figures()}
        if best == epoch:
            self.tests["best"] = self.tests["last"]
        elif best and (weights := best_weights()) is not None:
            with loaded(self._parts.model, weights):
                self.tests["best"] = self.on("test").figures()
        return self.tests

    def record(self) -> dict[str, Any]:
        """Return the entries of ``run.json``."""
        selection, tests = self._parts.selection, self.tests
        found = {"selected_on": selection, selection: self.figures}
        found |= {"test": tests["last"]} if "last" in tests else {}
        return found | ({"test_best": tests["best"]} if "best" in tests else {})

    def results(self, best: Best) -> tuple[Figures, Figures, Figures]:
        """Return the figures of the test set, with the last and the best weights; of validation."""
        if self._parts.selection == "test":
            return self.figures, dict(best.figures), {}
        return self.tests.get("last", {}), self.tests.get("best", {}), self.figures

    def state_dict(self) -> dict[str, Any]:
        """Return the entries of checkpoints."""
        return {self._parts.selection: self.figures} | ({"tests": self.tests} if self.tests else {})

    def load(self, saved: Mapping[str, Any], *, tests: bool) -> None:
        """Load the entries that `state_dict` returned.

        Args:
            saved: the checkpoint.
            tests: whether to load the test set's: not if the run goes on after its end.
        """
        self.figures = dict(saved[self._parts.selection])
        found = saved.get("tests", {}) if tests else {}
        self.tests = {name: dict(figures) for name, figures in found.items()}


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Example:
        >>> from tinynet.train import run
        >>> few = {"run.epochs": 1, "run.out": str(getfixture("tmp_path"))}
        >>> result = run("configs/digits_mlp.toml", few, quiet=True)
        >>> sorted(result.metrics), result.stopped_by, result.is_complete
        (['accuracy', 'loss'], None, True)
    """

    folder: Path
    """The run folder: config, checkpoint, metrics, TensorBoard events."""

    metrics: dict[str, float]
    """The figures of the test set with the last weights: ``loss`` and the metrics (accuracies from
    0 to 1). They are measured once, at the end; empty if the run was stopped before."""

    model: nn.Module
    """The trained model, with the last weights."""

    config: Config
    """The config of the run."""

    stopped_by: int | str | None = None
    """What ended the run before its last epoch: a signal number, ``"early stopping"``, or the
    reason that a callback gave."""

    best: Best | None = None
    """The best evaluation and its epoch; its weights are in ``best.npz``."""

    is_complete: bool = True
    """Whether the run is complete; otherwise `tinynet.train.resume` continues it."""

    compiled: Mapping[str, Any] | None = None
    """With ``run.compile``: the numbers of programs and calls, and the reasons to run eagerly."""

    validation: dict[str, float] = field(default_factory=dict)
    """The last evaluation on the validation set, which selects the best weights; empty without such
    a set."""

    best_metrics: dict[str, float] = field(default_factory=dict)
    """The figures of the test set with the best weights; empty if none are tracked."""
