"""The learning-rate range test (`tinynet find-lr`)."""

from __future__ import annotations

import contextlib
import itertools
import math
import statistics
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tinynet.train.assemble.build import computing
from tinynet.train.assemble.optimizers import component_of
from tinynet.train.assemble.trial import Rehearsal, rehearsal, trial
from tinynet.train.base.problems import UsageError, did_you_mean, one_of
from tinynet.train.config.document import dotted, toml_value
from tinynet.train.config.reference import to_toml
from tinynet.train.config.resolve import load_config
from tinynet.train.config.sections import Config
from tinynet.train.diagnose.data_check import check_data
from tinynet.train.loop.fit import Step
from tinynet.train.observe.progress import counted
from tinynet.train.run.runner import prepare
from tinynet.train.show.page import Html, Section, cards, element, folded, joined, page, table
from tinynet.train.show.plots import GREY, Curve, lines
from tinynet.train.step.method import Compilation
from tinynet.train.step.task import NonFiniteError, Updater
from tinynet.train.study.curve import Divergence, Suggestions, grid, smoothed, suggestions

# ---- settings -----------------------------------------------------------------------------------
# The settings of the user, with those that a finder suggests.


def merged(given: Sequence[str], suggested: Sequence[str]) -> list[str]:
    """Return the given settings with the suggested ones in place of their keys.

    Example:
        >>> merged(["run.seed=1", "optimizer.lr=1"], ["optimizer.lr=0.01"])
        ['run.seed=1', 'optimizer.lr=0.01']
    """
    keys = {setting.partition("=")[0] for setting in suggested}
    return [*(one for one in given if one.partition("=")[0] not in keys), *suggested]


# ---- rates --------------------------------------------------------------------------------------
# The learning rates that a range test varies, and the settings that train with a rate.


@dataclass(frozen=True)
class _Varied:
    """A parameter group, and its rate as a multiple of the first one's."""

    group: dict[str, Any]
    ratio: float


class Rates:
    """The rates of the optimizers of a config. They vary together, with their ratios unchanged.

    Args:
        config: the config.
        updaters: its optimizers, without schedules.
        name: the optimizer to vary; None for all of them.

    Attributes:
        key: the key of the config that has the first rate.
        configured: its value there.

    Raises:
        UsageError: if there is no such optimizer, or a rate cannot be varied.
    """

    def __init__(
        self, config: Config, updaters: Mapping[str, Updater], name: str | None = None
    ) -> None:
        self.names = _chosen(config, name)
        self._config = config
        given = {one: _given(config, updaters, one) for one in self.names}
        self.key, self.configured = given[self.names[0]]
        if not self.configured > 0:
            text = f"{self.key} is {self.configured:g}; the range test needs a rate above 0"
            raise UsageError(f"{config.origin(self.key)}: {text}")
        self._keys = {key: rate / self.configured for key, rate in given.values()}
        self._varied = [
            _Varied(group, _rate(given[one], group) / self.configured)
            for one in self.names
            for group in updaters[one].optimizer.param_groups
        ]

    def set(self, rate: float) -> None:
        """Set the rates: the first one to this rate, the others in proportion."""
        for varied in self._varied:
            varied.group["lr"] = rate * varied.ratio

    def settings(self, rate: float) -> list[str]:
        """Return the settings of a config that trains with a rate: ``["optimizer.lr=0.01"]``."""
        found = [f"{key}={_short(rate * ratio)}" for key, ratio in self._keys.items()]
        for name in self.names:
            section = self._config.optimizer.each()[name]
            path = component_of(section).path
            if section.layer_lr:
                scaled = {
                    pattern: _short(rate * own / self.configured)
                    for pattern, own in section.layer_lr.items()
                }
                found.append(f"{path}.layer_lr={toml_value(scaled)}")
        return found


def _chosen(config: Config, name: str | None) -> list[str]:
    """Return the names of the optimizers to vary."""
    known = [*config.optimizer.each()]
    if name is None:
        return known
    if not config.optimizer.named:
        raise UsageError(f"the config has one optimizer, without a name: there is no {name!r}")
    if name not in known:
        hint = did_you_mean(name, known) or "."
        raise UsageError(f"there is no optimizer {name!r}{hint} There are: {one_of(known)}")
    return [name]


def _given(config: Config, updaters: Mapping[str, Updater], name: str) -> tuple[str, float]:
    """Return the key of the config that decides on the rate of an optimizer, and its value.

    A schedule with a ``max_lr`` ignores the rates of the optimizer.
    """
    section = config.optimizer.each()[name]
    schedule = config.schedule and config.schedule.of(name)
    if schedule and "max_lr" in component_of(schedule).takes:
        component = component_of(schedule)
        key, rate = f"{component.path}.max_lr", component.arguments.get("max_lr")
        what = f"{component.type} sets the learning rates"
        if not isinstance(rate, int | float):
            problem = f"{what} of the parameter groups, each to another one"
        elif section.layer_lr:
            problem = f"{what} of all layers, so layer_lr has no effect"
        else:
            return key, float(rate)
        raise UsageError(f"{config.origin(key)}: {key}: {problem}; the range test varies one rate")
    optimizer = updaters[name].optimizer
    key = dotted([*filter(None, ("optimizer", name)), "lr"])
    if not isinstance(optimizer.defaults.get("lr"), int | float):
        kind = type(optimizer).__name__
        raise UsageError(f"{config.origin(key)}: {kind} has no learning rate to vary")
    return key, float(optimizer.defaults["lr"])


def _rate(given: tuple[str, float], group: Mapping[str, Any]) -> float:
    """Return the rate of a parameter group in a run."""
    key, rate = given
    return rate if key.endswith(".max_lr") else float(group["lr"])


def _short(rate: float) -> float:
    """Return a rate with two digits, as people write them."""
    return float(f"{rate:.2g}")


# ---- learning rate ------------------------------------------------------------------------------


LOWEST, HIGHEST, STEPS = 1e-6, 10.0, 100
_WINDOW, _LEAST = 20, 3  # the smoothing reaches over a 20th of the steps to each side, or over 3
_MOST_STEPS = 1_000_000

End = Literal["range", "diverged", "not finite"]


@dataclass(frozen=True)
class RangeTest:
    """The result of `find_lr`.

    Example:
        >>> from tinynet.train import find_lr
        >>> found = find_lr("configs/spiral.toml", steps=60)
        >>> found.key, found.configured, found.rates[0]
        ('optimizer.lr', 0.01, 1e-06)
        >>> found.suggestions.steepest < found.suggestions.minimum
        True
    """

    key: str
    """The key of the config that has the learning rate: ``"optimizer.lr"``."""

    configured: float
    """Its value in the config."""

    rates: list[float]
    """The rate of each step, ascending."""

    losses: list[float]
    """The loss of each step."""

    smoothed: list[float]
    """The means of the losses of neighbouring steps."""

    ended: End
    """What ended the test: the end of the range, or a loss that diverged or is not finite."""

    suggestions: Suggestions | None
    """What the rules suggest; None if the loss did not fall."""

    suggestion: float | None
    """The suggested rate, with two digits."""

    settings: list[str]
    """The settings that train with it: ``["optimizer.lr=0.01"]``."""


def find_lr(
    config_path: str | Path,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    *,
    lowest: float = LOWEST,
    highest: float = HIGHEST,
    steps: int = STEPS,
    optimizer: str | None = None,
) -> RangeTest:
    """Find a learning rate: train a copy of the model while the rate grows exponentially.

    The range test of L. N. Smith, "Cyclical Learning Rates for Training Neural Networks", 2017. It
    stops when the loss diverges or is not finite. The same config and seed give the same curve.
    Nothing is written. Schedules and callbacks do not take part.

    Args:
        config_path: the TOML file.
        overrides: ``["model.dropout=0.1"]`` or ``{"model.dropout": 0.1}``; override the file.
        lowest: the first learning rate.
        highest: the last one.
        steps: the number of training steps.
        optimizer: of several optimizers, the one whose rate to find; the others keep theirs.

    Raises:
        ConfigError: if the config has mistakes; lists all of them.
        UsageError: if the range is not valid, or there is no one rate to vary.

    Example:
        >>> found = find_lr("configs/digits_mlp.toml", steps=60)
        >>> len(found.rates) == len(found.losses), found.settings == [
        ...     f"optimizer.lr={found.suggestion}"
        ... ]
        (True, True)
    """
    if problems := mistakes(lowest, highest, steps):
        raise UsageError("\n".join(problems))
    return range_test(load_config(config_path, overrides), grid(lowest, highest, steps), optimizer)


def mistakes(lowest: float, highest: float, steps: int) -> list[str]:
    """Return what is wrong with the range of a test."""
    problems = [
        f"{name} must be a finite number above 0, got {value:g}"
        for name, value in (("the lowest rate", lowest), ("the highest rate", highest))
        if not (math.isfinite(value) and value > 0)
    ]
    if not problems and lowest >= highest:
        problems.append(
            f"the lowest rate must be below the highest, got {lowest:g} and {highest:g}"
        )
    if not 2 <= steps <= _MOST_STEPS:
        problems.append(f"the number of steps must be from 2 to {_MOST_STEPS:,}, got {steps}")
    return problems


def range_test(
    config: Config, rates: list[float], name: str | None = None, *, bar: bool = False
) -> RangeTest:
    """Take a training step at each rate, on a copy of the model.

    Args:
        config: the config.
        rates: the learning rates, ascending.
        name: the optimizer to vary; None for all.
        bar: whether to show a bar on a terminal.
    """
    with computing(config.run), rehearsal(prepare(config), "training") as tried:
        varied = Rates(config, tried.updaters, name)  # refuses before anything takes time
        check_data(tried.parts)
        trial(tried.parts)
        steps = _steps(tried, varied, rates)
        with contextlib.closing(steps), counted(len(rates), "step", bar) as count:
            losses, ended = _losses(steps, name, count)
    reach = max(_LEAST, len(rates) // _WINDOW)
    means = smoothed(losses, reach)
    found = suggestions(rates, losses, means, reach)
    settings = varied.settings(found.steepest) if found else []
    return RangeTest(
        varied.key,
        varied.configured,
        rates[: len(losses)],
        losses,
        means,
        ended,
        found,
        float(settings[0].partition("=")[2]) if settings else None,
        settings,
    )


def _steps(tried: Rehearsal, varied: Rates, rates: list[float]) -> Generator[Step, None, None]:
    """Yield a training step at each rate."""
    parts = tried.parts
    compiler = parts.config.run.compile and Compilation().function
    following = iter(rates)
    varied.set(next(following))
    for step in tried.fit(parts.train_batches, itertools.count(), compile=compiler):
        yield step
        rate = next(following, None)
        if rate is None:
            return
        varied.set(rate)


def _losses(
    steps: Iterable[Step], name: str | None, count: Callable[[], object]
) -> tuple[list[float], End]:
    """Return the losses of steps until they diverge or are not finite, and what ended them."""
    losses: list[float] = []
    divergence = Divergence()
    try:
        for step in steps:
            loss = _loss_of(step, name)
            if not math.isfinite(loss):  # of a method of the user's, which does not check it
                return losses, "not finite"
            losses.append(loss)
            count()
            if divergence.see(loss):
                return losses, "diverged"
    except NonFiniteError:
        if not losses:  # not the rate's fault
            raise
        return losses, "not finite"
    return losses, "range"


def _loss_of(step: Step, name: str | None) -> float:
    """Return the loss that the varied optimizer minimizes.

    Raises:
        UsageError: if each optimizer has its own loss, and none was chosen.
    """
    own = [one for one in step.rates if f"loss_{one}" in step.losses]
    if name is None and own:
        raise UsageError(
            "each optimizer minimizes a loss of its own, so there is no one curve: choose the "
            f"optimizer whose rate to find: {one_of(own)}"
        )
    return step.losses[f"loss_{name}"] if name in own else step.loss


# ---- wording ------------------------------------------------------------------------------------
# Sentences about a range test, for the terminal and the page.


ENDS: dict[End, str] = {
    "range": "The test ended at the largest rate.",
    "diverged": "The test ended when the loss diverged.",
    "not finite": "The test ended when the loss or a gradient was not finite.",
}
"""What ended the test."""

FLAT = "There is no suggestion: the loss does not fall clearly, compared with its noise."


def advice(test: RangeTest) -> Iterator[str]:
    """Yield what to change about a test whose curve does not show enough."""
    found = test.suggestions
    if found is None:
        rises = test.ended != "range" or test.smoothed[-1] > test.smoothed[0]
        bound = "smaller minimum" if rises else "larger maximum"
        yield f"Try a {bound}, more steps, or a larger batch size."
    elif test.ended == "range" and found.still_falls:
        yield "The loss still falls at the largest rate: try a larger maximum."


def shown_top(test: RangeTest) -> float:
    """Return the largest loss that a plot shows; a diverging one would hide the rest."""
    start = statistics.fmean(test.losses[:5])
    return max(test.smoothed[0], start + 0.5 * (start - min(test.smoothed)))


@dataclass(frozen=True)
class _Subject:
    test: RangeTest
    config: Config
    command: str


def page_of(test: RangeTest, config: Config, command: str) -> str:
    """Return the page about a range test, as an HTML document.

    Args:
        test: the result.
        config: the config of the test.
        command: the command that trains with the suggestion.
    """
    return page(f"{config.run.name}: learning rate", _Subject(test, config, command), _SECTIONS)


def _suggestion(subject: _Subject) -> Html:
    test = subject.test
    figures = {"in the config": f"{test.configured:g}"}
    text = [element("p", FLAT, class_="bad")]
    if test.suggestions is not None:
        figures = {
            "steepest descent (suggested)": f"{test.suggestion:g}",
            "minimum / 10": f"{test.suggestions.tenth_of_minimum:.2g}",
            "minimum": f"{test.suggestions.minimum:.2g}",
        } | figures
        text = [element("pre", subject.command)]
    notes = [element("p", note, class_="soft") for note in advice(test)]
    return joined([cards(figures), *text, *notes])


def _curve(subject: _Subject) -> Html:
    test = subject.test
    top = shown_top(test)
    curves = [
        Curve("each step", test.rates, [min(y, top) for y in test.losses], GREY, thin=True),
        Curve("smoothed", test.rates, [min(y, top) for y in test.smoothed]),
    ]
    ends = [min(test.smoothed), min(top, max(test.smoothed))]
    places = {}
    if test.suggestions is not None and test.suggestion is not None:
        places = {"suggestion": test.suggestion, "minimum": test.suggestions.minimum}
    for colour, (name, rate) in enumerate(places.items(), 1):
        curves.append(Curve(name, [rate, rate], ends, colour, thin=True))
    plot = lines("training loss", curves, test.key, log_x=True)
    end = element("p", ENDS[test.ended], class_="soft")
    rows = [
        [f"{rate:.4g}", f"{loss:.5g}", f"{mean:.5g}"]
        for rate, loss, mean in zip(test.rates, test.losses, test.smoothed, strict=True)
    ]
    points = folded("All steps", table([test.key, "loss", "smoothed"], rows))
    return joined([element("div", plot, class_="plots large"), end, points])


def _config(subject: _Subject) -> Html:
    return folded("The config of the test", element("pre", to_toml(subject.config)))


_SECTIONS: tuple[Section[_Subject], ...] = (
    Section("Suggestion", _suggestion),
    Section("Curve", _curve),
    Section("Config", _config),
)
