"""What a person sees while training goes on: bars on a terminal, lines anywhere else."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Literal

_FORMAT = "{desc} {percentage:3.0f}%|{bar}| {remaining}, {rate_fmt}{postfix}"
_REFRESH = 0.1  # seconds between two updates of the figures beside a bar
_REPORT = 30.0  # seconds between two lines about an epoch that takes long


def describe_figures(figures: Mapping[str, float]) -> str:
    """The figures in a line, accuracies as percentages.

    Example:
        >>> describe_figures({"train/loss": 0.12345, "train/accuracy": 0.975})
        'train loss 0.1235, train accuracy 97.50 %'
    """
    return ", ".join(
        f"{name.replace('/', ' ')} {_number(name, value)}" for name, value in figures.items()
    )


def brief_figures(figures: Mapping[str, float]) -> str:
    """The figures as there is room for beside a bar.

    Example:
        >>> brief_figures({"train/loss": 0.1, "train/accuracy": 0.975, "lr": 0.01})
        'loss 0.1, acc 97.5 %, lr 0.01'
        >>> brief_figures({"test/loss": 0.2, "test/accuracy": 0.96})
        'test acc 96.0 %'
    """
    shown = {
        name.removeprefix("train/").replace("accuracy", "acc").replace("/", " "): (name, value)
        for name, value in figures.items()
        if not (name == "test/loss" and "test/accuracy" in figures)
    }
    return ", ".join(f"{short} {_number(*pair, digits=3)}" for short, pair in shown.items())


def as_json(content: Mapping[str, Any]) -> str:
    """One line of JSON, in ASCII for any output; NaN and infinity become null.

    Example:
        >>> as_json({"epoch": 1, "test": {"loss": float("nan")}})
        '{"epoch": 1, "test": {"loss": null}}'
        >>> as_json({"folder": "runs/caf\\N{LATIN SMALL LETTER E WITH ACUTE}"}).isascii()
        True
    """
    return json.dumps(_finite(content))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(name: str, value: float, digits: int = 4) -> str:
    if name.endswith("accuracy") or name.rpartition("/")[2].startswith("top"):
        return f"{100 * value:.{digits - 2}f} %"
    return f"{value:.{digits}g}"


def _duration(seconds: float) -> str:
    return str(datetime.timedelta(seconds=math.ceil(min(seconds, 1e9))))


class Progress:
    """Shows each epoch: a bar on a terminal, else one plain line; or JSON; or nothing.

    Bars go to stderr and lines to stdout, so a log file of either never holds control characters.

    Args:
        epochs: how many there will be.
        examples: how many examples an epoch has.
        show: ``"text"``, ``"json"`` (one object per epoch) or ``"nothing"``.
    """

    def __init__(
        self, epochs: int, examples: int, show: Literal["text", "json", "nothing"] = "text"
    ) -> None:
        self.epochs = epochs
        self.examples = examples
        self._json = show == "json"
        self._make_bar = _tqdm() if show == "text" and sys.stderr.isatty() else None
        # With a bar on the screen and the output in a file, the file gets its lines all the same.
        both_on_screen = self._make_bar is not None and sys.stdout.isatty()
        self._lines = show == "text" and not both_on_screen
        self._bar: Any = None
        self._began = self._started = self._shown = self._reported = 0.0
        self._first = self._epoch = 0
        self._seen = self._begun = 0

    def start(self, epoch: int, done: int = 0) -> None:
        """An epoch (from 0) begins, or goes on after so many examples."""
        self._started = self._reported = time.perf_counter()
        self._epoch, self._begun = epoch, done
        self._shown, self._seen = 0.0, 0
        if not self._began:
            self._began, self._first = self._started, epoch
        if self._make_bar is not None:
            self._bar = self._make_bar(
                total=self.examples,
                initial=done,
                desc=self._title(epoch),
                unit=" ex",
                unit_scale=True,
                dynamic_ncols=True,
                bar_format=_FORMAT,
            )

    def step(self, examples: int, figures: Mapping[str, float]) -> None:
        """A step was taken with so many examples; the figures are those of the epoch so far."""
        self._seen += examples
        if self._bar is not None:
            self._bar.update(examples)
            if time.perf_counter() - self._shown > _REFRESH:
                self._bar.set_postfix_str(brief_figures(figures), refresh=False)
                self._shown = time.perf_counter()
        if self._lines and (now := time.perf_counter()) - self._reported > _REPORT:
            self._reported = now
            self._report(figures)

    def _report(self, figures: Mapping[str, float]) -> None:
        """A line in the middle of an epoch."""
        done = self._begun + self._seen
        speed = self._seen / max(self._reported - self._started, 1e-9)
        left = (self.epochs - self._epoch) * self.examples - done
        text = f"{100 * done / max(self.examples, 1):.0f} %, {describe_figures(figures)}"
        rate = f"{speed:,.0f} examples/s, {_duration(left / max(speed, 1e-9))} left"
        print(f"{self._title(self._epoch)}: {text}, {rate}", flush=True)

    def say(self, text: str) -> None:
        """Tell something in between, beside the figures."""
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        if self._lines:
            print(text, flush=True)
        if self._json:
            print(as_json({"message": text}), flush=True)

    def finish(self, epoch: int, step: int, figures: Mapping[str, float]) -> None:
        """An epoch is over, and measured."""
        now = time.perf_counter()
        speed = self._seen / max(now - self._started, 1e-9)
        if self._bar is not None:
            self._bar.set_postfix_str(brief_figures(figures), refresh=False)
            self.close()
        if self._json:
            row = {"epoch": epoch + 1, "step": step, **figures, "examples/s": round(speed, 1)}
            print(as_json(row), flush=True)
        if self._lines:
            text = f"{describe_figures(figures)}, {speed:,.0f} examples/s"
            print(f"{self._title(epoch)}: {text}{self._time_left(epoch, now)}", flush=True)

    def _time_left(self, epoch: int, now: float) -> str:
        left = self.epochs - epoch - 1
        per_epoch = (now - self._began) / (epoch + 1 - self._first)
        return f", {_duration(left * per_epoch)} left" if left else ""

    def close(self) -> None:
        """Leave the screen tidy; what comes next starts on a line of its own."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _title(self, epoch: int) -> str:
        return f"epoch {epoch + 1:>{len(str(self.epochs))}}/{self.epochs}"


@contextlib.contextmanager
def showing(progress: Progress) -> Iterator[Progress]:
    """Closes a bar that an error or Ctrl-C leaves open."""
    try:
        yield progress
    finally:
        progress.close()


def _tqdm() -> Any:
    """tqdm's bar, which only a terminal needs; without the package there are lines."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm
