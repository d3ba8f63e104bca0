"""The study of a search: Optuna, with all trials in one SQLite file."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any

from tinynet.base import invocation
from tinynet.data.loading.worker import mix
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.metrics.criterion import Criterion
from tinynet.train.study.space import Dimension, Point, number_text

SAMPLERS = ("tpe", "random", "grid")
PRUNERS = ("median", "hyperband", "none")
LEAST = 5
"""The number of finished trials that importances need."""

_NAME = "search"
_STATUS = {"COMPLETE": "finished", "PRUNED": "pruned", "FAIL": "failed"}


@dataclass(frozen=True)
class Plan:
    """How a search chooses and compares its trials."""

    space: tuple[Dimension, ...]
    metric: str
    """The figure to compare trials by."""

    higher_is_better: bool
    trials: int
    sampler: str = "tpe"
    pruner: str = "median"
    seed: int = 0
    epochs: int = 1
    """The largest number of epochs of a run."""

    eval_every: int = 1
    """The number of epochs from one evaluation to the next."""

    selected_on: str = "test"
    """The data set of the figure: ``"validation"`` or ``"test"``."""

    @property
    def criterion(self) -> Criterion:
        """What decides between trials."""
        return Criterion(self.metric, self.higher_is_better)

    @property
    def varying(self) -> tuple[str, ...]:
        """The keys that have several values."""
        return tuple(one.key for one in self.space if len(one.ends) > 1)


@dataclass(frozen=True)
class TrialRecord:
    """A trial, as the study has it."""

    point: Point
    status: str
    """``"finished"``, ``"pruned"``, ``"failed"`` or ``"running"``."""

    figures: Mapping[int, float]
    """The reported figures by epoch."""

    message: str = ""
    """Why it failed."""


def require_optuna() -> None:
    """Raise a `UsageError` if Optuna is not installed."""
    if util.find_spec("optuna") is None:
        raise UsageError(f"a search needs Optuna: {invocation.installation('search')}")


class Study:
    """Optuna's study of a search.

    Args:
        path: the SQLite file.
        plan: how to choose trials.
        jobs: the number of trials at once.

    Raises:
        TrainError: if the file cannot be read or written.
    """

    def __init__(self, path: Path, plan: Plan, jobs: int = 1) -> None:
        import sqlite3

        self._path, self._plan, self._jobs = path, plan, jobs
        self._trials: dict[int, Any] = {}
        with self._quietly() as optuna:
            storage = optuna.storages.RDBStorage(
                "sqlite://",  # a URL could not hold every path
                engine_kwargs={"creator": lambda: sqlite3.connect(path, check_same_thread=False)},
            )
            self._study = optuna.create_study(
                storage=storage,
                study_name=_NAME,
                direction="maximize" if plan.higher_is_better else "minimize",
                pruner=self._pruner(optuna),
                load_if_exists=True,
            )

    @contextlib.contextmanager
    def _quietly(self) -> Iterator[Any]:
        """Yield Optuna, without its warnings and its log."""
        import sqlite3

        import optuna

        optuna.logging.disable_default_handler()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield optuna
            except Exception as error:
                reason: BaseException | None = error
                while reason is not None and not isinstance(reason, sqlite3.Error):
                    reason = reason.__cause__
                if reason is None:
                    raise
                raise TrainError(f"{self._path} cannot be used: {reason}") from error

    def _pruner(self, optuna: Any) -> Any:
        if self._plan.pruner == "median":
            return optuna.pruners.MedianPruner()
        if self._plan.pruner == "hyperband":
            first = min(self._plan.eval_every, self._plan.epochs)
            return optuna.pruners.HyperbandPruner(first, self._plan.epochs)
        return optuna.pruners.NopPruner()

    def _sampler(self, optuna: Any, number: int) -> Any:
        """Return the sampler of a trial."""
        seed = mix(self._plan.seed, 0, number) % 2**32
        if self._plan.sampler == "grid":
            grid = {one.key: grid_of(one) for one in self._plan.space}
            return optuna.samplers.GridSampler(grid, self._plan.seed)
        if self._plan.sampler == "random":
            return optuna.samplers.RandomSampler(seed)
        return optuna.samplers.TPESampler(seed=seed, constant_liar=self._jobs > 1)

    def ask(self) -> Point:
        """Begin a trial."""
        with self._quietly() as optuna:
            number = len(self._study.get_trials(deepcopy=False))
            self._study.sampler = self._sampler(optuna, number)
            return self._point(self._study.ask())

    def unfinished(self) -> list[Point]:
        """Return the trials that had begun when the search was stopped, to continue them."""
        with self._quietly() as optuna:
            points = []
            for trial in self._study.get_trials(deepcopy=False):
                if trial.state == optuna.trial.TrialState.RUNNING:
                    self._study.sampler = self._sampler(optuna, trial.number)
                    points.append(self._point(optuna.trial.Trial(self._study, trial._trial_id)))
            return points

    def _point(self, trial: Any) -> Point:
        """Return the values of a trial; draw those that it does not have yet."""
        values = {one.key: _suggested(trial, one) for one in self._plan.space}
        self._trials[trial.number] = trial
        return Point(trial.number, values, self._plan.varying)

    def report(self, number: int, epoch: int, figure: float) -> bool:
        """Report an evaluation of a trial; return whether to prune it."""
        with self._quietly():
            trial = self._trials[number]
            trial.report(figure, epoch)  # a resumed run may repeat one: Optuna keeps the first
            return bool(trial.should_prune())

    def tell(self, number: int, status: str, figure: float | None, message: str = "") -> None:
        """End a trial.

        Args:
            number: its number.
            status: ``"finished"``, ``"pruned"`` or ``"failed"``.
            figure: the best figure of a finished one.
            message: why it failed.
        """
        with self._quietly() as optuna:
            if message:
                self._trials[number].set_user_attr("message", message)
            # A GridSampler would stop a loop of Optuna's, which there is not.
            self._study.sampler = optuna.samplers.RandomSampler(0)
            states = {name: state for state, name in _STATUS.items()}
            state = optuna.trial.TrialState[states[status]]
            self._study.tell(number, figure if status == "finished" else None, state)

    def trials(self) -> list[TrialRecord]:
        """Return all trials, in order."""
        with self._quietly():
            return [self._record(trial) for trial in self._study.get_trials(deepcopy=False)]

    def _record(self, trial: Any) -> TrialRecord:
        values = {
            one.key: _text(trial.params[one.key])
            for one in self._plan.space
            if one.key in trial.params
        }
        return TrialRecord(
            Point(trial.number, values, self._plan.varying),
            _STATUS.get(trial.state.name, "running"),
            dict(sorted(trial.intermediate_values.items())),
            trial.user_attrs.get("message", ""),
        )

    def importances(self) -> dict[str, float]:
        """Return the share of each key in the figures of the trials, the largest first.

        They come from PED-ANOVA (Watanabe, Bansal and Hutter, "PED-ANOVA: efficiently quantifying
        hyperparameter importance in arbitrary subspaces", 2023).

        Returns:
            An empty dict if fewer than `LEAST` trials have finished.
        """
        if sum(trial.status == "finished" for trial in self.trials()) < LEAST:
            return {}
        with self._quietly() as optuna:
            evaluator = optuna.importance.PedAnovaImportanceEvaluator()
            shares = optuna.importance.get_param_importances(self._study, evaluator=evaluator)
            return {key: float(share) for key, share in shares.items() if math.isfinite(share)}


def grid_of(one: Dimension) -> list[Any] | None:
    """Return all values of a dimension; None if there are too many to list."""
    return [*one.values] if one.interval is None else one.interval.grid


def _suggested(trial: Any, one: Dimension) -> str:
    interval = one.interval
    if interval is None:
        return str(trial.suggest_categorical(one.key, [*one.values]))
    own: dict[str, Any]
    if interval.is_integer:
        own = {"step": int(interval.step or 1), "log": interval.is_log}
        return _text(trial.suggest_int(one.key, interval.low, interval.high, **own))
    own = {"step": interval.step, "log": interval.is_log}
    return _text(trial.suggest_float(one.key, interval.low, interval.high, **own))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else number_text(value)
