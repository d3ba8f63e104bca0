"""The progress of training: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

_FORMAT = "{desc} {percentage:3.0f}%|{bar}| {remaining}, {rate_fmt}{postfix}"
_REFRESH = 0.1  # seconds between two updates of the figures beside a bar
_REPORT = 30.0  # seconds between two lines within a long epoch


def describe_figures(figures: Mapping[str, float]) -> str:
    """Format figures in a line, accuracies as percentages.

    Example:
        >>> describe_figures({"train/loss": 0.12345, "train/accuracy": 0.975})
        'train loss 0.1235, train accuracy 97.50 %'
    """
    return ", ".join(
        f"{name.replace('/', ' ')} {figure_text(name, value)}" for name, value in figures.items()
    )


def brief_figures(figures: Mapping[str, float]) -> str:
    """Format figures briefly, to fit beside a bar.

    Example:
        >>> brief_figures({"train/loss": 0.1, "train/accuracy": 0.975, "lr": 0.01})
        'loss 0.1, acc 97.5 %, lr 0.01'
        >>> brief_figures({"val/loss": 0.2, "val/accuracy": 0.96})
        'val acc 96.0 %'
    """
    shown = {
        name.removeprefix("train/").replace("accuracy", "acc").replace("/", " "): (name, value)
        for name, value in figures.items()
        if name not in ("val/loss", "test/loss") or name.replace("loss", "accuracy") not in figures
    }
    return ", ".join(f"{short} {figure_text(*pair, digits=3)}" for short, pair in shown.items())


def as_json(content: Mapping[str, Any]) -> str:
    """Format a dict as a line of JSON, in ASCII; NaN and infinity become null.

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


def figure_text(name: str, value: float, digits: int = 4) -> str:
    """Format a figure: accuracies as percentages.

    Example:
        >>> figure_text("loss", 0.12345), figure_text("accuracy", 0.975)
        ('0.1235', '97.50 %')
    """
    if name.endswith("accuracy") or name.rpartition("/")[2].startswith("top"):
        return f"{100 * value:.{digits - 2}f} %"
    return f"{value:.{digits}g}"


def _duration(seconds: float) -> str:
    return str(datetime.timedelta(seconds=math.ceil(min(seconds, 1e9))))


class ProgressPrinter:
    """Prints each epoch: as a bar on a terminal, else as a line; or as JSON; or not at all.

    Bars go to stderr and lines to stdout, so a log file of either never holds control characters.

    Args:
        epochs: the number of epochs; None if that is unknown.
        examples: the number of examples per epoch.
        show: ``"text"``, ``"json"`` (one object per epoch) or ``"nothing"``.
    """

    def __init__(
        self, epochs: int | None, examples: int, show: Literal["text", "json", "nothing"] = "text"
    ) -> None:
        self.epochs = epochs
        self.examples = examples
        self._json = show == "json"
        self._make_bar = _tqdm() if show == "text" and sys.stderr.isatty() else None
        # With a bar on the screen and stdout in a file, the file still gets its lines.
        both_on_screen = self._make_bar is not None and sys.stdout.isatty()
        self._lines = show == "text" and not both_on_screen
        self._bar: Any = None
        self._run_start = self._epoch_start = self._refreshed = self._reported = 0.0
        self._first = self._epoch = 0
        self._examples_here = self._examples_before = 0

    def start_epoch(self, epoch: int, done: int = 0) -> None:
        """Start an epoch (from 0), or resume it after a number of examples."""
        self._epoch_start = self._reported = time.perf_counter()
        self._epoch, self._examples_before = epoch, done
        self._refreshed, self._examples_here = 0.0, 0
        if not self._run_start:
            self._run_start, self._first = self._epoch_start, epoch
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

    def update(self, examples: int, figures: Mapping[str, float]) -> None:
        """Add the examples of a step; the figures are those of the epoch so far."""
        self._examples_here += examples
        if self._bar is not None:
            self._bar.update(examples)
            if time.perf_counter() - self._refreshed > _REFRESH:
                self._bar.set_postfix_str(brief_figures(figures), refresh=False)
                self._refreshed = time.perf_counter()
        if self._lines and (now := time.perf_counter()) - self._reported > _REPORT:
            self._reported = now
            self._report(figures)

    def _report(self, figures: Mapping[str, float]) -> None:
        """Print a line within an epoch."""
        done = self._examples_before + self._examples_here
        speed = self._examples_here / max(self._reported - self._epoch_start, 1e-9)
        left = ((self.epochs or self._epoch + 1) - self._epoch) * self.examples - done
        text = f"{100 * done / max(self.examples, 1):.0f} %, {describe_figures(figures)}"
        rate = f"{speed:,.0f} examples/s, {_duration(left / max(speed, 1e-9))} left"
        print(f"{self._title(self._epoch)}: {text}, {rate}", flush=True)

    def message(self, text: str) -> None:
        """Print a message between the figures."""
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        if self._lines:
            print(text, flush=True)
        if self._json:
            print(as_json({"message": text}), flush=True)

    def finish_epoch(self, epoch: int, step: int, figures: Mapping[str, float]) -> None:
        """Print the figures of a completed epoch."""
        now = time.perf_counter()
        speed = self._examples_here / max(now - self._epoch_start, 1e-9)
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
        left = 0 if self.epochs is None else self.epochs - epoch - 1
        per_epoch = (now - self._run_start) / (epoch + 1 - self._first)
        return f", {_duration(left * per_epoch)} left" if left else ""

    def close(self) -> None:
        """Close the bar, so that later output starts on a new line."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _title(self, epoch: int) -> str:
        if self.epochs is None:
            return f"epoch {epoch + 1}"
        return f"epoch {epoch + 1:>{len(str(self.epochs))}}/{self.epochs}"


@contextlib.contextmanager
def showing(progress: ProgressPrinter) -> Iterator[ProgressPrinter]:
    """Close the bar at the end, also after an error or Ctrl-C."""
    try:
        yield progress
    finally:
        progress.close()


@contextlib.contextmanager
def counted(total: int, unit: str, wanted: bool = True) -> Iterator[Callable[[], object]]:
    """Show a bar on stderr, if it is a terminal; give the function that advances it by one."""
    make_bar = _tqdm() if wanted and sys.stderr.isatty() else None
    if make_bar is None:
        yield bool
        return
    with make_bar(total=total, unit=f" {unit}", dynamic_ncols=True, leave=False) as bar:
        yield bar.update


def _tqdm() -> Any:
    """Return tqdm's bar; None without the package."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm
