"""What a study tries, and the study of a search: Optuna, with all trials in one SQLite file.

The space of a search is a text: ``optimizer.lr=log(1e-4,1e-1) optimizer.type=SGD,Adam``.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any

from tinynet.base import invocation
from tinynet.core.printing import quantity
from tinynet.data.loading.worker import mix
from tinynet.train.base.problems import (
    Origin,
    Problems,
    TrainError,
    UsageError,
    did_you_mean,
    one_of,
)
from tinynet.train.base.terminal import brief
from tinynet.train.metrics.criterion import Criterion

# ---- grid ---------------------------------------------------------------------------------------
# The points of a sweep: ``optimizer.lr=1e-3,1e-2 run.seed=0..4`` are ten configs.


MOST = 10_000

_RANGE = re.compile(r"(-?\d{1,18})\.\.(-?\d{1,18})")
_OPENING, _CLOSING = "[{(", "]})"


@dataclass(frozen=True)
class Point:
    """One config of a sweep."""

    number: int
    values: Mapping[str, str]
    """The values of the axes, by key."""

    varying: tuple[str, ...]
    """The keys that have several values; if none has, all."""

    @property
    def name(self) -> str:
        """The name of its folder: ``003_lr=0.01,seed=2``."""
        parts = [f"{key.rpartition('.')[2]}={brief(self.values[key])}" for key in self.varying]
        return re.sub(r"[^\w.,=+-]", "_", f"{self.number:03}_{','.join(parts)}")[:100]

    @property
    def assignments(self) -> list[str]:
        """Its values as assignments for ``--set``."""
        return [f"{key}={value}" for key, value in self.values.items()]


def short_keys(keys: Sequence[str]) -> list[str]:
    """Return the last parts of keys, or the whole keys where these are ambiguous.

    Example:
        >>> short_keys(["optimizer.lr", "run.seed", "data.seed"])
        ['lr', 'run.seed', 'data.seed']
    """
    last = [key.rpartition(".")[2] for key in keys]
    return [s if last.count(s) == 1 else k for s, k in zip(last, keys, strict=True)]


def axis(assignment: str, option: str = "--set") -> Dimension:
    """Parse an assignment with values separated by commas; ``0..4`` means 0, 1, 2, 3, 4.

    Commas inside brackets or quotes do not separate values.

    Args:
        assignment: the assignment.
        option: the option that it was given with, for messages.

    Raises:
        ValueError: if it is not an assignment, or a range is empty or too long.

    Example:
        >>> axis("run.seed=0..2,7").values
        ('0', '1', '2', '7')
        >>> axis("model.sizes=[64, 10],[64, 32, 10]").values
        ('[64, 10]', '[64, 32, 10]')
    """
    key, equals, text = assignment.partition("=")
    if not equals or not key.strip():
        raise ValueError(f"{option} needs KEY=VALUE, got {assignment!r}")
    values = [value for part in _split(text) for value in _expanded(part.strip(), assignment)]
    return Dimension(key.strip(), text, tuple(dict.fromkeys(values)))


def points(axes: Sequence[Dimension]) -> list[Point]:
    """Return all combinations of the values; the last axis changes fastest.

    Raises:
        ValueError: if there are too many, or a key has two axes.

    Example:
        >>> [point.name for point in points([axis("optimizer.lr=1,2"), axis("run.seed=0..1")])]
        ['000_lr=1,seed=0', '001_lr=1,seed=1', '002_lr=2,seed=0', '003_lr=2,seed=1']
        >>> [point.name for point in points([axis("optimizer.lr=0.1")])]
        ['000_lr=0.1']
    """
    keys = [one.key for one in axes]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"{key} is given twice")
    count = 1
    for one in axes:
        count *= len(one.values)
    if count > MOST:
        raise ValueError(f"these are {count:,} runs, and at most {MOST:,} are possible")
    varying = tuple(one.key for one in axes if len(one.values) > 1) or tuple(keys)
    combinations = itertools.product(*(one.values for one in axes))
    return [
        Point(number, dict(zip(keys, values, strict=True)), varying)
        for number, values in enumerate(combinations)
    ]


def _split(text: str) -> Iterator[str]:
    depth, quote, start = 0, "", 0
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _expanded(value: str, assignment: str) -> Iterable[str]:
    found = _RANGE.fullmatch(value)
    if found is None:
        return [value]
    first, last = int(found[1]), int(found[2])
    if not 0 <= last - first < MOST:
        raise ValueError(f"the range {value} in {assignment!r} is empty, or too long")
    return map(str, range(first, last + 1))


# ---- space --------------------------------------------------------------------------------------


_CALL = re.compile(r"([^\W\d]\w*)\s*\((.*)\)", re.DOTALL)
_KINDS = {  # whether the numbers are integers, and whether their scale is logarithmic
    "float": (False, False),
    "int": (True, False),
    "log": (False, True),
    "logint": (True, True),
}
_EXACT = 2**53


@dataclass(frozen=True)
class Interval:
    """The numbers between two bounds, which are included."""

    low: float
    high: float
    step: float | None
    """The distance of two neighbours; None means 1 for integers, and any number otherwise."""

    is_integer: bool
    is_log: bool

    @property
    def grid(self) -> list[float] | None:
        """All numbers; None if these are too many to list."""
        step = self.step or (1 if self.is_integer and not self.is_log else None)
        if step is None:
            return None
        count = math.floor((self.high - self.low) / step + 1e-9) + 1
        numbers = [self.low + number * step for number in range(count)]
        return numbers if self.is_integer else [float(f"{x:.12g}") for x in numbers]


@dataclass(frozen=True)
class Dimension:
    """A key, and its values: some texts, as after ``--set``, or an interval."""

    key: str
    text: str
    """The values as written."""

    values: tuple[str, ...] = ()
    interval: Interval | None = None

    @property
    def ends(self) -> tuple[str, ...]:
        """The listed values, or the bounds."""
        if self.interval is None:
            return self.values
        return number_text(self.interval.low), number_text(self.interval.high)


def number_text(number: float) -> str:
    """Return a number as after ``--set``.

    Example:
        >>> number_text(3), number_text(0.1)
        ('3', '0.1')
    """
    return repr(number)


def dimension(assignment: str) -> Dimension:
    """Parse an assignment of values to a key.

    The values are ``float(LOW,HIGH)`` or ``float(LOW,HIGH,STEP)``, the same with ``int``,
    ``log(LOW,HIGH)`` and ``logint(LOW,HIGH)`` with a logarithmic scale, or a list as in a sweep:
    ``SGD,Adam``, ``0..4``.

    Raises:
        ValueError: if it is none of these.

    Example:
        >>> dimension("optimizer.lr=log(1e-4, 0.1)").interval
        Interval(low=0.0001, high=0.1, step=None, is_integer=False, is_log=True)
        >>> dimension("model.hidden=int(32,256,32)").interval.grid
        [32, 64, 96, 128, 160, 192, 224, 256]
        >>> dimension("optimizer.type=SGD,Adam").values
        ('SGD', 'Adam')
    """
    key, _, text = (part.strip() for part in assignment.partition("="))
    found = _CALL.fullmatch(text)
    if found is not None:
        if found[1] not in _KINDS:
            hint = did_you_mean(found[1], _KINDS) or "."
            raise ValueError(f"there is no {found[1]}(){hint} There are: {one_of(_KINDS)}")
        return Dimension(key, text, interval=_interval(found[1], found[2].split(",")))
    listed = axis(assignment, "--space")
    for value in listed.values:
        if _CALL.fullmatch(value):
            raise ValueError(f"{value} cannot be one of several values")
    return Dimension(key, text, listed.values)


def _interval(kind: str, texts: Sequence[str]) -> Interval:
    is_integer, is_log = _KINDS[kind]
    most = 2 if is_log else 3
    if not 2 <= len(texts) <= most:
        form = f"{kind}(LOW,HIGH)" if is_log else f"{kind}(LOW,HIGH) or {kind}(LOW,HIGH,STEP)"
        raise ValueError(f"must be {form}, got {quantity(len(texts), 'number')}")
    numbers = [_number(text.strip(), is_integer) for text in texts]
    low, high, step = numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else None
    if not low < high:
        raise ValueError(f"the lower bound {texts[0].strip()} must be below {texts[1].strip()}")
    if is_log and low <= 0:
        raise ValueError(f"a logarithmic scale needs bounds above 0, got {texts[0].strip()}")
    if step is not None and not 0 < step <= high - low:
        raise ValueError(f"the step {texts[2].strip()} must be above 0 and fit into the bounds")
    return Interval(low, high, step, is_integer, is_log)


def _number(text: str, is_integer: bool) -> float:
    try:
        number = int(text) if is_integer else float(text)
    except ValueError:
        kind = "an integer" if is_integer else "a number"
        raise ValueError(f"{text!r} is not {kind}") from None
    if not abs(number) <= (_EXACT if is_integer else math.inf) or math.isinf(number):
        raise ValueError(f"{text} is too large" if number == number else "NaN is not a bound")
    return number


_RESERVED = {
    "run.out": "use --out",
    "run.name": "each run gets its own name",
    "evaluation.monitor": "it decides which trial is best; use --metric",
}


def space_of(
    assignments: Iterable[str], fixed: Iterable[str], problems: Problems
) -> list[Dimension]:
    """Parse a space.

    Args:
        assignments: the values of each key.
        fixed: keys that have one value in all trials.
        problems: collects the mistakes.
    """
    space: list[Dimension] = []
    origin, fixed, given = Origin("command line"), [*fixed], [*assignments]
    for assignment in given:
        key = assignment.partition("=")[0].strip()
        try:
            one = dimension(assignment)
        except ValueError as error:
            problems.add(origin, key if "=" in assignment else "", str(error))
            continue
        if key in _RESERVED:
            problems.add(origin, key, f"cannot be searched: {_RESERVED[key]}")
        elif key in fixed:
            problems.add(origin, key, "is given with --set, too")
        elif key in [other.key for other in space]:
            problems.add(origin, key, "is given twice")
        else:
            space.append(one)
    return space


def probes(space: Sequence[Dimension]) -> list[Point]:
    """Return points that have each listed value and each bound at least once.

    Example:
        >>> [p.values for p in probes([dimension("a.b=1,2"), dimension("a.c=int(3,9)")])]
        [{'a.b': '1', 'a.c': '3'}, {'a.b': '2', 'a.c': '3'}, {'a.b': '1', 'a.c': '9'}]
    """
    first = {one.key: one.ends[0] for one in space}
    others = [{**first, one.key: end} for one in space for end in one.ends[1:]]
    keys = tuple(first)
    return [Point(number, values, keys) for number, values in enumerate([first, *others])]


SAMPLERS = ("tpe", "random", "grid")
PRUNERS = ("median", "hyperband", "none")
LEAST = 5
"""The number of finished trials that importances need."""

# ---- study --------------------------------------------------------------------------------------

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
