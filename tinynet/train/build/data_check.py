"""A look at the examples before training: rows that cannot be trained on are named.

All examples are looked at as long as that takes no more than about `SECONDS`; of larger or slower
data sets so many, evenly spread, as there is time for. Random numbers that data sets draw meanwhile
leave no trace.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinynet.board.graphs.structures import flatten
from tinynet.board.graphs.watch import array_of
from tinynet.core.tensors.tensor import Tensor
from tinynet.data import IterableDataset
from tinynet.data.dataset import Samples, fetch
from tinynet.dtypes import Array
from tinynet.random import Generator
from tinynet.train.build.build import Parts, copied, first_batch
from tinynet.train.build.data_rules import Rule, finite, for_loss
from tinynet.train.build.seeds import isolated
from tinynet.train.build.shapes import shape_of
from tinynet.train.config.problems import ConfigError, Problem, in_users_code
from tinynet.train.incidents.post_mortem import original
from tinynet.train.running.loop import as_evaluated

SECONDS = 2.0
"""How long a look at one data set may take."""

_CHUNK = 512
_PROBE = 16  # examples that show how long one takes
_SHOWN = 3  # rows with the same mistake
_KEPT = 1000
_NUMBERS = (int, float, np.generic)


@dataclass
class Mistake:
    """What is wrong with some rows."""

    part: str
    expected: str
    rows: list[tuple[int, str]] = field(default_factory=list)
    """Of some rows, what was found there."""

    count: int = 0

    def add(self, row: int, found: str) -> None:
        """One more row."""
        self.count += 1
        if len(self.rows) < _KEPT:
            self.rows.append((row, found))

    @property
    def shown(self) -> list[tuple[int, str]]:
        """A few of the rows, of different kinds if there are any."""
        rows = sorted(self.rows)
        kinds = {found: (row, found) for row, found in reversed(rows)}
        first = sorted(kinds.values())[:_SHOWN]
        more = [pair for pair in rows if pair not in first]
        return sorted([*first, *more[: _SHOWN - len(first)]])


@dataclass
class Look:
    """What was seen of a data set."""

    examples: int
    """How many it has."""

    seen: int = 0
    """How many were looked at."""

    mistakes: dict[tuple[str, str], Mistake] = field(default_factory=dict)

    def add(self, row: int, part: str, expected: str, found: str) -> None:
        """A row that is wrong."""
        self.mistakes.setdefault((part, expected), Mistake(part, expected)).add(row, found)

    @property
    def extent(self) -> str:
        """Such as ``all 1,433``, or ``2,000 of 1,000,000``."""
        if self.seen == self.examples:
            return f"all {self.examples:,}"
        return f"{self.seen:,} of {self.examples:,}, evenly spread,"


def check_data(parts: Parts) -> dict[str, Look]:
    """Look at the training set and the test set; what was seen, by name.

    Raises:
        ConfigError: there are examples that cannot be trained on, with their rows.
    """
    config = parts.config
    if not config.data.check:
        return {}
    looks, problems = {}, []
    for name, examples in (("training", parts.train_set), ("test", parts.test_set)):
        if isinstance(examples, IterableDataset):
            continue
        with undisturbed(examples, config.run.seed):
            look = looks[name] = look_at(examples, _rules(parts, examples))
        if look.mistakes:
            origin = config.origin("data.type")
            problems.append(Problem(origin, "data", _message(name, examples, look)))
    if problems:
        raise ConfigError(problems)
    return looks


def _rules(parts: Parts, examples: Any) -> list[Rule]:
    """What the targets must be for the loss, as far as the model can be asked for outputs."""
    try:
        inputs, targets = first_batch(parts, examples, 2)
        model = copied(parts)
        with as_evaluated(model, parts.config.run.seed):
            outputs = model(inputs)
        return for_loss(parts.loss, outputs, np.asarray(array_of(targets))[0])
    except Exception:  # the trial, or the look at each row, says it better
        return []


def look_at(examples: Any, rules: Sequence[Rule] = (), seconds: float = SECONDS) -> Look:
    """Look at as many examples of a data set as there is time for.

    Args:
        examples: with a length; samples are ``(inputs, targets)``.
        rules: what they must be like, beyond finite, and of the same shapes and dtypes.
        seconds: how long that may take.
    """
    look = Look(len(examples))
    began = time.perf_counter()
    probe = range(0, look.examples, -(-look.examples // _PROBE) or 1)
    _Scan(examples, Look(look.examples), ()).look(probe)
    each = (time.perf_counter() - began) / max(len(probe), 1)
    chunk = min(_CHUNK, max(_PROBE, int(seconds / 4 / max(each, 1e-9))))
    scan, stride = _Scan(examples, look, rules), -(-look.examples // chunk)
    for start in range(stride):  # each chunk is spread over the whole set
        if start and time.perf_counter() - began > seconds:
            break
        scan.look(range(start, look.examples, stride))
    return look


class _Scan:
    """Looks at rows, a chunk at a time."""

    def __init__(self, examples: Any, look: Look, rules: Sequence[Rule]) -> None:
        self.examples, self.into, self.rules = examples, look, rules
        self.usual: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] | None = None
        """Of each part of an example, the shape and dtype that most have."""

    def look(self, rows: Sequence[int]) -> None:
        """Look at some rows."""
        self.into.seen += len(rows)
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
        """Look at rows that cannot be looked at together."""
        taken = []
        for position, row in enumerate(rows):
            try:
                sample = self.examples[row] if found is None else found[position]
            except Exception as error:
                text = in_users_code(error).strip().splitlines()
                self.into.add(row, "", "an example", " ... ".join(map(str.strip, text[-1:])))
                continue
            if isinstance(sample, Sequence) and len(sample) == 2 and not isinstance(sample, str):
                taken.append((row, _parts(sample)))
            else:
                self.into.add(row, "", "a pair (input, target)", shape_of(sample))
        if self.usual is None and taken:
            self.usual = _most_common([parts for _, parts in taken])
        for name, (shape, dtype) in (self.usual or {}).items():
            self._part(name, shape, dtype, taken)

    def _part(self, name: str, shape: Any, dtype: Any, taken: list[tuple[int, Any]]) -> None:
        """Look at one part of some examples."""
        alike: list[tuple[int, Array]] = []
        for row, parts in taken:
            array = parts.get(name)
            if array is not None and (array.shape, array.dtype) == (shape, dtype):
                alike.append((row, array))
            else:
                expected = f"{[*shape]} {dtype}, as most have"
                found = "nothing" if array is None else f"{[*array.shape]} {array.dtype}"
                self.into.add(row, name, expected, found)
        if alike:
            self._values(name, [row for row, _ in alike], np.stack([array for _, array in alike]))

    def _values(self, name: str, rows: Sequence[int], stack: Array) -> None:
        """Look at the values of a part of rows that are alike."""
        for rule in [finite(name), *(rule for rule in self.rules if rule.part == name)]:
            for position in np.flatnonzero(rule.bad(stack)).tolist():
                found = rule.found(stack[position])
                self.into.add(rows[position], name, rule.expected, found)


def _parts(sample: Sequence[Any]) -> dict[str, Array]:
    """The arrays and numbers of an example by name."""
    pairs = zip(("inputs", "targets"), sample, strict=True)
    leaves = [leaf for name, part in pairs for leaf in flatten(part, name)]
    known = {
        name: np.asarray(value) if isinstance(value, _NUMBERS) else array_of(value)
        for name, value in leaves
    }
    return {name: array for name, array in known.items() if array is not None}


def _most_common(samples: Sequence[dict[str, Array]]) -> dict[str, Any]:
    """Of each part the shape and dtype that most of these examples have."""
    kinds: dict[str, Counter[Any]] = {}
    for parts in samples:
        for name, array in parts.items():
            kinds.setdefault(name, Counter())[array.shape, array.dtype] += 1
    return {name: counts.most_common(1)[0][0] for name, counts in kinds.items()}


# ---- what is said ----


def _message(name: str, examples: Any, look: Look) -> str:
    """All mistakes of a data set."""
    lines = [f"the {name} set has examples that cannot be trained on"]
    for mistake in look.mistakes.values():
        for row, found in mistake.shown:
            number = original(examples, row)
            of_all = "" if number is None else f" (number {number} of all)"
            what = f"{mistake.part}: " if mistake.part else ""
            lines.append(f"  example {row}{of_all}: {what}{found}")
        if mistake.count > _SHOWN:
            lines.append(f"  ... and {mistake.count - _SHOWN:,} more")
        lines.append(f"    expected: {mistake.expected}")
    lines.append(f"  looked at {look.extent} examples; data.check = false trains without looking")
    return "\n".join(lines)


# ---- random numbers ----


@contextlib.contextmanager
def undisturbed(examples: Any, seed: int) -> Iterator[None]:
    """A context that leaves no trace in random streams, nor in those that a data set holds."""
    found = [*_generators(examples, set())]
    ours = [(g, g.get_state()) for g in found if isinstance(g, Generator)]
    numpys = [
        (g.bit_generator, g.bit_generator.state)
        for g in found
        if isinstance(g, np.random.Generator)
    ]
    legacy = [(g, g.get_state()) for g in found if isinstance(g, np.random.RandomState)]
    pythons = [(g, g.getstate()) for g in found if isinstance(g, random.Random)]
    try:
        with isolated(seed, "check"):
            yield
    finally:
        for own, state in ours:
            own.set_state(state)
        for bits, numbers in numpys:
            bits.state = numbers
        for old, before in legacy:
            old.set_state(before)
        for python, was in pythons:
            python.setstate(was)


def _generators(value: Any, seen: set[int]) -> Iterator[Any]:
    """The generators in the attributes of a thing, and in theirs."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (Generator, np.random.Generator, np.random.RandomState, random.Random)):
        yield value
        return
    if isinstance(value, (Tensor, np.ndarray, str, bytes, type, int, float)):
        return
    inside: Iterable[Any] = ()
    if isinstance(value, Mapping):
        inside = value.values() if len(value) <= _KEPT else ()
    elif isinstance(value, (list, tuple, set)):
        inside = value if len(value) <= _KEPT else ()  # indices and samples hold none
    for member in [*inside, *getattr(value, "__dict__", {}).values()]:
        yield from _generators(member, seen)
