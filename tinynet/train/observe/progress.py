"""The progress of training: a line with a bar on a terminal, lines elsewhere.

Standard output and error may be closed, full, or know only ASCII.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from tinynet.train.base.problems import TrainError
from tinynet.train.base.terminal import (
    LEAST_BAR,
    Field,
    LiveLine,
    bar,
    fitted,
    is_terminal,
    line_columns,
    width_of,
    wrapped,
)

_REFRESH = 0.1  # seconds between two updates of the line with the bar
_WIDE = 60  # columns from which a bar is worth more than the last figures
_LARGE = 1e12  # from here on an exponent is easier to read
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


def brief_fields(figures: Mapping[str, float], widths: dict[str, int] | None = None) -> list[Field]:
    """Format figures briefly, as fields of a line; the loss and the first metrics rank highest.

    Args:
        figures: the figures by name, such as ``train/loss``.
        widths: the width of each figure on the lines above, which this keeps.

    Example:
        >>> for field in brief_fields({"train/loss": 0.1, "train/accuracy": 0.975, "lr": 0.01}):
        ...     print(field.rank, field.text)
        0 loss 0.1
        3 acc 97.5 %
        6 lr 0.01
        >>> for field in brief_fields({"val/loss": 0.2, "val/accuracy": 0.96, "val/f1": 0.9}):
        ...     print(field.rank, field.text)
        2 val loss 0.2
        1 val acc 96.0 %
        4 val f1 0.9
    """
    fields: list[Field] = []
    with_metric: set[str] = set()
    for name, value in figures.items():
        part, _, figure = name.rpartition("/")
        rank = _rank(part, figure, first=part not in with_metric)
        if not figure.startswith("loss"):
            with_metric.add(part)
        short = name.removeprefix("train/").replace("accuracy", "acc").replace("/", " ")
        text = figure_text(name, value, digits=3)
        if widths is not None:
            widths[name] = max(widths.get(name, 0), len(text))
            text = text.rjust(widths[name])
        fields.append(Field(f"{short} {text}", rank))
    return fields


def _rank(part: str, figure: str, first: bool) -> int:
    """Return the rank of a figure on a line: 0 for the loss of training, the most important."""
    if not part:  # a learning rate
        return 6
    if figure.startswith("loss"):
        return 0 if part == "train" else 2
    return (3 if part == "train" else 1) if first else (5 if part == "train" else 4)


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
    if is_share(name):
        return f"{100 * value:.{digits - 2}f} %"
    return number_text(value, digits)


def is_share(name: str) -> bool:
    """Return whether a figure is shown as a percentage."""
    name = name.partition(" (")[0]  # as in "accuracy (last weights)"
    return name.endswith("accuracy") or name.rpartition("/")[2].startswith("top")


def number_text(value: float, digits: int = 4) -> str:
    """Format a number as people write it, with the most important digits.

    Example:
        >>> number_text(12300.123413), number_text(1234.5), number_text(0.0123456)
        ('12,300', '1,234', '0.01235')
    """
    if 1000 <= abs(value) < _LARGE:
        return f"{float(f'{value:.{digits}g}'):,.0f}"
    return f"{value:.{digits}g}"


def duration_text(seconds: float) -> str:
    """Format a duration: milliseconds, seconds, or hours, minutes and seconds.

    Example:
        >>> duration_text(0.0432), duration_text(1.234), duration_text(3750)
        ('43 ms', '1.2 s', '1:02:30')
    """
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else _duration(seconds)


def _duration(seconds: float) -> str:
    return str(datetime.timedelta(seconds=math.ceil(min(seconds, 1e9))))


class ProgressPrinter:
    """Prints each epoch: as a line with a bar on a terminal, else as a line; as JSON; or not.

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
        self._live = LiveLine(sys.stderr) if show == "text" and is_terminal(sys.stderr) else None
        # With a bar on the screen and stdout in a file, the file still gets its lines.
        both_on_screen = self._live is not None and sys.stdout.isatty()
        self._lines = show == "text" and not both_on_screen
        self._widths: dict[str, int] = {}
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

    def update(self, examples: int, figures: Mapping[str, float]) -> None:
        """Add the examples of a step; the figures cover the epoch so far."""
        self._examples_here += examples
        now = time.perf_counter() if self._live or self._lines else 0.0
        if self._live is not None and now - self._refreshed > _REFRESH:
            self._refreshed = now
            self._live.draw(self._bar_line(self._live.columns, now, figures))
        if self._lines and now - self._reported > _REPORT:
            self._reported = now
            self._report(figures)

    def _bar_line(self, width: int, now: float, figures: Mapping[str, float]) -> str:
        """Return the line on a terminal within an epoch: a bar where the figures leave room."""
        done, speed, left = self._pace(now)
        share = done / max(self.examples, 1)
        head = f"{self._title(self._epoch)} {100 * share:3.0f} %"
        fields = [
            Field(f"{_duration(left)} left", 4),
            *brief_fields(figures),
            Field(f"{speed:,.0f} ex/s", 7),
        ]
        room = width - width_of(f"{head}  ")
        text = fitted("", fields, room - (LEAST_BAR + 1 if width >= _WIDE else 0))
        drawn = bar(share, room - width_of(text) - 1, sys.stderr.encoding)
        return "  ".join(filter(None, (f"{head} {drawn}".rstrip(), text)))

    def _pace(self, now: float) -> tuple[int, float, float]:
        """Return the examples of the epoch so far, those per second, and the seconds left."""
        done = self._examples_before + self._examples_here
        speed = self._examples_here / max(now - self._epoch_start, 1e-9)
        left = ((self.epochs or self._epoch + 1) - self._epoch) * self.examples - done
        return done, speed, left / max(speed, 1e-9)

    def _report(self, figures: Mapping[str, float]) -> None:
        """Print a line within an epoch."""
        done, speed, left = self._pace(self._reported)
        text = f"{100 * done / max(self.examples, 1):.0f} %, {describe_figures(figures)}"
        rate = f"{speed:,.0f} examples/s, {_duration(left)} left"
        print(f"{self._title(self._epoch)}: {text}, {rate}", flush=True)

    def message(self, text: str) -> None:
        """Print a message between the figures."""
        if self._live is not None:
            self._live.print(text)
        if self._lines:
            print(text, flush=True)
        if self._json:
            print(as_json({"message": text}), flush=True)

    def finish_epoch(self, epoch: int, step: int, figures: Mapping[str, float]) -> None:
        """Print the figures of a completed epoch."""
        now = time.perf_counter()
        speed = self._examples_here / max(now - self._epoch_start, 1e-9)
        if self._live is not None:
            self._live.clear()
            duration = Field(f"{now - self._epoch_start:.1f} s", 8)
            rate = Field(f"{speed:,.0f} ex/s", 7)
            fields = [*brief_fields(figures, self._widths), rate, duration]
            self._live.print(fitted(f"{self._title(epoch)}  ", fields, self._live.columns))
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

    def clear(self) -> None:
        """Remove the line with the bar, so that later output starts on a new line."""
        if self._live is not None:
            self._live.clear()

    def _title(self, epoch: int) -> str:
        if self.epochs is None:
            return f"epoch {epoch + 1}"
        return f"epoch {epoch + 1:>{len(str(self.epochs))}}/{self.epochs}"


@contextlib.contextmanager
def showing(progress: ProgressPrinter) -> Iterator[ProgressPrinter]:
    """Remove the bar at the end, also after an error or Ctrl-C, and before each warning."""
    usual = warnings.showwarning

    def show(*arguments: Any, **keywords: Any) -> None:
        progress.clear()
        usual(*arguments, **keywords)

    warnings.showwarning = show
    try:
        yield progress
    finally:
        warnings.showwarning = usual
        progress.clear()


@contextlib.contextmanager
def counted(total: int, unit: str, wanted: bool = True) -> Iterator[Callable[[], object]]:
    """Show a bar on stderr, if it is a terminal; give the function that advances it by one."""
    if not (wanted and is_terminal(sys.stderr)):
        yield bool
        return
    live, done = LiveLine(sys.stderr), 0

    def advance() -> None:
        nonlocal done
        done += 1
        text = f"{done}/{total} {unit}s"
        room = live.columns - width_of(f"{text} ")
        live.draw(f"{text} {bar(done / total, room, sys.stderr.encoding)}".rstrip())

    try:
        yield advance
    finally:
        live.clear()


class OutputError(TrainError):
    """Standard output cannot be written; the message is empty if its reader has gone."""

    def __init__(self, error: OSError) -> None:
        has_no_reader = isinstance(error, BrokenPipeError)  # as in `| head`
        super().__init__("" if has_no_reader else f"cannot write the output: {error.strerror}")


class _Stream(io.TextIOWrapper):
    """A standard stream that drops what cannot be written, and breaks lines between words.

    Attributes:
        raises: whether the first failure raises OutputError.
        warns: whether the first failure is reported on standard error, unless its reader has gone.
    """

    raises = False
    warns = False
    _failed = False

    def write(self, text: str, /) -> int:
        try:
            if (width := line_columns(self)) is not None:
                text = "\n".join(wrapped(line, width) for line in text.split("\n"))
            return super().write(text)
        except OSError as error:
            self._fail(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        first, self._failed = not self._failed, True
        if first and self.raises:
            raise OutputError(error) from None
        if first and self.warns and not isinstance(error, BrokenPipeError):
            text = f"the output cannot be written ({error.strerror}); everything else continues"
            print(f"warning: {text}", file=sys.stderr)


def prepare_streams() -> None:
    """Make failing output raise OutputError, and escape characters that it cannot encode."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next opened file would take its number
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = _stream(sys.stderr, 2)
    sys.stdout = _stream(sys.stdout, 1)
    sys.stdout.raises = True


def survive_closed_output() -> None:
    """From now on, only warn when output fails, so that the command finishes its work."""
    if isinstance(sys.stdout, _Stream):
        sys.stdout.raises, sys.stdout.warns = False, True


def _stream(usual: Any, number: int) -> _Stream:
    """Return our replacement of a standard stream, which is None if it was closed."""
    if usual is None:
        return _Stream(open(number, "wb", closefd=False), encoding="utf-8")
    return _Stream(
        usual.buffer,
        encoding=usual.encoding,
        errors="backslashreplace" if usual.errors == "strict" else usual.errors,
        line_buffering=usual.line_buffering,
        write_through=usual.write_through,
    )
