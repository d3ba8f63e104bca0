"""A check of the examples before training, which names the rows that cannot be trained on.

The check covers all examples if that takes at most about `SECONDS`, else as many evenly spread
examples as fit into that time. It leaves all random streams unchanged.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinynet.board.graphs.build import flatten
from tinynet.board.graphs.watch import array_of
from tinynet.data import IterableDataset
from tinynet.data.dataset import Samples, fetch
from tinynet.dtypes import Array
from tinynet.train.assemble.build import Parts, first_batch
from tinynet.train.assemble.sets import Rule, finite, for_loss
from tinynet.train.assemble.trial import rehearsal
from tinynet.train.base.problems import ConfigError, Problem, in_users_code
from tinynet.train.incidents.guard import original
from tinynet.train.loop.fit import as_evaluated
from tinynet.train.loop.splits import dataset_attribute
from tinynet.train.step.seeds import undisturbed
from tinynet.train.step.task import shape_of

SECONDS = 2.0
"""The time limit for one data set."""

_CHUNK = 512
_PROBE = 16  # examples to estimate the time per example from
_SHOWN = 3  # rows per mistake in a message
_SHOWN_FILES = 20  # if each row is a file
_KEPT = 1000
_NUMBERS = (int, float, np.generic)


@dataclass
class Mistake:
    """A mistake that some rows share."""

    part: str
    expected: str
    rows: list[tuple[int, str]] = field(default_factory=list)
    """The first such rows, and their values."""

    count: int = 0

    def add(self, row: int, found: str) -> None:
        """Add a row."""
        self.count += 1
        if len(self.rows) < _KEPT:
            self.rows.append((row, found))

    def shown(self, most: int) -> list[tuple[int, str]]:
        """Return a few of the rows, with different values if possible."""
        rows = sorted(self.rows)
        kinds = {found: (row, found) for row, found in reversed(rows)}
        first = sorted(kinds.values())[:most]
        more = [pair for pair in rows if pair not in first]
        return sorted([*first, *more[: most - len(first)]])


@dataclass
class DataReport:
    """The result of checking a data set."""

    examples: int
    """The number of examples in the data set."""

    checked: int = 0
    """The number of examples that were checked."""

    mistakes: dict[tuple[str, str], Mistake] = field(default_factory=dict)

    def add(self, row: int, part: str, expected: str, found: str) -> None:
        """Add a row with a mistake."""
        self.mistakes.setdefault((part, expected), Mistake(part, expected)).add(row, found)

    @property
    def extent(self) -> str:
        """``all 1,433``, or ``2,000 of 1,000,000, evenly spread,``."""
        if self.checked == self.examples:
            return f"all {self.examples:,}"
        return f"{self.checked:,} of {self.examples:,}, evenly spread,"


def check_data(parts: Parts) -> dict[str, DataReport]:
    """Check the training, validation and test set, and return their reports by name.

    Raises:
        ConfigError: if examples cannot be trained on; the message names their rows.
    """
    config = parts.config
    if not config.data.check:
        return {}
    reports, problems = {}, []
    outputs = _outputs(parts)
    for name, examples in parts.sets.items():
        if isinstance(examples, IterableDataset):
            continue
        with undisturbed(examples, config.run.seed):
            report = reports[name] = check_examples(examples, _rules(parts, examples, outputs))
        if report.mistakes:
            origin = config.origin("data.type")
            problems.append(Problem(origin, "data", _message(name, examples, report)))
    if problems:
        raise ConfigError(problems)
    return reports


def _outputs(parts: Parts) -> Any:
    """Return the model's outputs for two examples; None if it fails, which the trial reports."""
    with contextlib.suppress(Exception), rehearsal(parts, "check") as tried:
        inputs, _ = tried.first_of(parts.train_set, 2)
        with as_evaluated(tried.model, parts.config.run.seed):
            return tried.model(inputs)
    return None


def _rules(parts: Parts, examples: Any, outputs: Any) -> list[Rule]:
    """Return the rules for the targets; none if there are no outputs, or no usable targets."""
    with contextlib.suppress(Exception):  # the trial and the check of each row report more
        _, targets = first_batch(parts, examples, 2)
        return for_loss(parts.loss, outputs, np.asarray(array_of(targets))[0])
    return []


def check_examples(
    examples: Any, rules: Sequence[Rule] = (), seconds: float = SECONDS
) -> DataReport:
    """Check as many examples of a data set as the time allows.

    Args:
        examples: a data set with a length; samples are ``(inputs, targets)``.
        rules: conditions besides finite values and equal shapes and dtypes.
        seconds: the time limit.
    """
    report = DataReport(len(examples))
    began = time.perf_counter()
    probe = range(0, report.examples, -(-report.examples // _PROBE) or 1)
    _Checker(examples, DataReport(report.examples), ()).check(probe)
    each = (time.perf_counter() - began) / max(len(probe), 1)
    chunk = min(_CHUNK, max(_PROBE, int(seconds / 4 / max(each, 1e-9))))
    checker, stride = _Checker(examples, report, rules), -(-report.examples // chunk)
    for start in range(stride):  # each chunk is spread over the whole set
        if start and time.perf_counter() - began > seconds:
            break
        checker.check(range(start, report.examples, stride))
    return report


class _Checker:
    """Checks rows, a chunk at a time."""

    def __init__(self, examples: Any, report: DataReport, rules: Sequence[Rule]) -> None:
        self.examples, self.report, self.rules = examples, report, rules
        self.usual: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] | None = None
        """For each part of an example, the most common shape and dtype."""

    def check(self, rows: Sequence[int]) -> None:
        """Check some rows."""
        self.report.checked += len(rows)
        try:
            found = fetch(self.examples, list(rows))
        except Exception:
            found = None
        if isinstance(found, Samples) and len(found.columns) == 2:
            columns = zip(("inputs", "targets"), found.columns, strict=True)
            stacks = {name: np.asarray(array_of(column)) for name, column in columns}
            usual = {name: (stack.shape[1:], stack.dtype) for name, stack in stacks.items()}
            if self.usual is None or self.usual == usual:
                self.usual = usual
                for name, stack in stacks.items():
                    self._values(name, rows, stack)
                return
        self._one_by_one(rows, found)

    def _one_by_one(self, rows: Sequence[int], found: Sequence[Any] | None) -> None:
        """Check rows that cannot be stacked."""
        samples = []
        for position, row in enumerate(rows):
            try:
                sample = self.examples[row] if found is None else found[position]
            except Exception as error:
                text = in_users_code(error).strip().splitlines()
                self.report.add(row, "", "an example", " ... ".join(map(str.strip, text[-1:])))
                continue
            if isinstance(sample, Sequence) and len(sample) == 2 and not isinstance(sample, str):
                samples.append((row, _parts(sample)))
            else:
                self.report.add(row, "", "a pair (input, target)", shape_of(sample))
        if self.usual is None and samples:
            self.usual = _most_common([parts for _, parts in samples])
        for name, (shape, dtype) in (self.usual or {}).items():
            self._part(name, shape, dtype, samples)

    def _part(self, name: str, shape: Any, dtype: Any, samples: list[tuple[int, Any]]) -> None:
        """Check one part of some examples."""
        usual: list[tuple[int, Array]] = []
        for row, parts in samples:
            array = parts.get(name)
            if array is not None and (array.shape, array.dtype) == (shape, dtype):
                usual.append((row, array))
            else:
                expected = f"{[*shape]} {dtype}, as most have"
                found = "nothing" if array is None else f"{[*array.shape]} {array.dtype}"
                self.report.add(row, name, expected, found)
        if usual:
            self._values(name, [row for row, _ in usual], np.stack([array for _, array in usual]))

    def _values(self, name: str, rows: Sequence[int], stack: Array) -> None:
        """Check the values of a part, for rows of equal shape and dtype."""
        for rule in [finite(name), *(rule for rule in self.rules if rule.part == name)]:
            for position in np.flatnonzero(rule.bad(stack)).tolist():
                found = rule.found(stack[position])
                self.report.add(rows[position], name, rule.expected, found)


def _parts(sample: Sequence[Any]) -> dict[str, Array]:
    """Return the arrays and numbers of an example by name."""
    pairs = zip(("inputs", "targets"), sample, strict=True)
    leaves = [leaf for name, part in pairs for leaf in flatten(part, name)]
    known = {
        name: np.asarray(value) if isinstance(value, _NUMBERS) else array_of(value)
        for name, value in leaves
    }
    return {name: array for name, array in known.items() if array is not None}


def _most_common(samples: Sequence[dict[str, Array]]) -> dict[str, Any]:
    """Return the most common shape and dtype of each part."""
    kinds: dict[str, Counter[Any]] = {}
    for parts in samples:
        for name, array in parts.items():
            kinds.setdefault(name, Counter())[array.shape, array.dtype] += 1
    return {name: counts.most_common(1)[0][0] for name, counts in kinds.items()}


# ---- messages ----


def _message(name: str, examples: Any, report: DataReport) -> str:
    """Return the message about all mistakes of a data set."""
    lines = [f"the {name} set has examples that cannot be trained on"]
    location = dataset_attribute(examples, "location")
    most = _SHOWN if location is None else _SHOWN_FILES
    for mistake in report.mistakes.values():
        for row, found in mistake.shown(most):
            number = original(examples, row)
            of_all = "" if number is None else f" (number {number} of all)"
            if location is not None:
                of_all = f" ({location(row if number is None else number)})"
            what = f"{mistake.part}: " if mistake.part else ""
            lines.append(f"  example {row}{of_all}: {what}{found}")
        if mistake.count > most:
            lines.append(f"  ... and {mistake.count - most:,} more")
        lines.append(f"    expected: {mistake.expected}")
    lines.append(f"  checked {report.extent} examples; data.check = false skips this check")
    return "\n".join(lines)
