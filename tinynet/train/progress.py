"""What a person sees while training goes on: bars on a terminal, lines anywhere else."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

_FORMAT = "{desc} {percentage:3.0f}%|{bar}| {remaining}, {rate_fmt}{postfix}"
_REFRESH = 0.1  # seconds between two updates of the figures beside a bar


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


def _number(name: str, value: float, digits: int = 4) -> str:
    if name.endswith("accuracy"):
        return f"{100 * value:.{digits - 2}f} %"
    return f"{value:.{digits}g}"


class Progress:
    """Shows each epoch: nothing at all if quiet, else a bar on a terminal, else one plain line.

    Bars go to stderr and lines to stdout, so a log file of either never holds control characters.

    Args:
        epochs: how many there will be.
        examples: how many examples an epoch has.
        quiet: show nothing.
    """

    def __init__(self, epochs: int, examples: int, *, quiet: bool = False) -> None:
        self.epochs = epochs
        self.examples = examples
        self._make_bar = None if quiet or not sys.stderr.isatty() else _tqdm()
        # With a bar on the screen and the output in a file, the file gets its lines all the same.
        self._lines = not quiet and not (self._make_bar is not None and sys.stdout.isatty())
        self._bar: Any = None
        self._started = self._shown = 0.0
        self._seen = 0

    def start(self, epoch: int) -> None:
        """An epoch (from 0) begins."""
        self._started, self._shown, self._seen = time.perf_counter(), 0.0, 0
        if self._make_bar is not None:
            self._bar = self._make_bar(
                total=self.examples,
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

    def finish(self, epoch: int, figures: Mapping[str, float]) -> None:
        """An epoch is over, and measured."""
        seconds = max(time.perf_counter() - self._started, 1e-9)
        if self._bar is not None:
            self._bar.set_postfix_str(brief_figures(figures), refresh=False)
            self.close()
        if self._lines:
            speed = f"{self._seen / seconds:,.0f} examples/s"
            print(f"{self._title(epoch)}: {describe_figures(figures)}, {speed}", flush=True)

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
