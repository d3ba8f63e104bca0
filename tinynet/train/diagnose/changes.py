"""Changes since a run: to its sources, its data and its files; fingerprints of data sets."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.board.graphs.build import flatten
from tinynet.board.graphs.watch import array_of
from tinynet.core.printing import quantity
from tinynet.data import IterableDataset
from tinynet.data.dataset import Samples, fetch
from tinynet.train.assemble.build import Parts
from tinynet.train.base.files import read_bytes, read_rows, sha256
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.base.run_folder import RunFolder, StorageWarning, is_damaged, read_record
from tinynet.train.config.user_code import StandIns, altered, source_copies, stand_ins
from tinynet.train.loop.splits import dataset_attribute
from tinynet.train.metrics.criterion import is_test
from tinynet.train.observe.progress import describe_figures
from tinynet.train.step.seeds import undisturbed
from tinynet.train.store.provenance import vocabulary_files

# ---- inputs -------------------------------------------------------------------------------------
# The files of a run that repeating it and detecting later changes need.


def input_files(
    parts: Parts,
    folder: RunFolder,
    config_text: str,
    preprocessing: Mapping[str, Any] | None,
    record: dict[str, Any],
) -> dict[str, bytes]:
    """Return the files of a run that do not change while it trains: name -> content.

    Args:
        parts: the objects of the run.
        folder: the run folder.
        config_text: the config to store.
        preprocessing: what the data set learned from its training part.
        record: the content of ``run.json``, which gets the origins of the copies of source files,
            the fingerprints of the data, and the checksums of other files.

    Raises:
        TrainError: if a file of the folder cannot be read.
    """
    copies, record["sources"] = source_copies(parts.config.sources, folder, record)
    checksums = record.get("files", {})
    for path in folder.path.glob("changes*.diff"):
        record["files"] = checksums = {path.name: sha256(read_bytes(path)), **checksums}
    record["data"] = record.get("data") or fingerprints(parts)
    text = config_text.encode("utf-8", "backslashreplace")
    files = {folder.config.name: text, **vocabulary_files(parts.train_set, folder), **copies}
    if preprocessing:
        learned = json.dumps(preprocessing, ensure_ascii=False, indent=1) + "\n"
        files[folder.preprocessing.name] = learned.encode("utf-8", "backslashreplace")
    return files


# ---- fingerprint --------------------------------------------------------------------------------
# Fingerprints of data sets: the number of examples, shapes, dtypes, and a hash of some examples.
#
# The attribute ``fingerprint`` (a string) of a data set takes precedence over hashing. Otherwise
# the hash covers examples that are evenly spread over the data set.


_MOST = 256
_SECONDS = 0.3
_BLOCK = 2**20
"""Bytes of examples that are looked at together."""

Fingerprint = dict[str, Any]


def fingerprints(parts: Parts, like: Mapping[str, Any] | None = None) -> dict[str, Fingerprint]:
    """Return the fingerprints of the training, validation and test set.

    Args:
        parts: the objects of a run.
        like: earlier fingerprints, whose numbers of examples are used again.
    """
    found = {}
    for name, examples in parts.sets.items():
        if not isinstance(examples, IterableDataset):
            then = (like or {}).get(name, {})
            found[name] = fingerprint(examples, then.get("looked_at"), parts.config.run.seed)
    return found


def fingerprint(examples: Any, count: int | None = None, seed: int = 0) -> Fingerprint:
    """Return the fingerprint of a data set, as plain data for JSON.

    Args:
        examples: a data set with a length.
        count: the number of examples to hash; by default as many as 0.3 seconds allow, at most 256.
        seed: the seed of random numbers that the data set draws.
    """
    text = dataset_attribute(examples, "fingerprint")
    if isinstance(text, str):
        return {"examples": len(examples), "says": text}
    if count is None:
        began = time.perf_counter()
        _hash_examples(examples, 1, seed)
        each = max(time.perf_counter() - began, 1e-9)
        count = int(min(len(examples), _MOST, max(1, _SECONDS / each)))
    parts, again = (_hash_examples(examples, count, seed) for _ in range(2))
    for name, part in parts.items():
        if again.get(name) != part:  # random examples have no stable hash
            part.update(sha256=None, sketch=None)
    return {"examples": len(examples), "looked_at": count, **parts}


def _hash_examples(examples: Any, count: int, seed: int) -> dict[str, dict[str, Any]]:
    """Return the parts of some examples by name; an empty dict if one cannot be loaded."""
    rows = [len(examples) * number // count for number in range(min(count, len(examples)))]
    hashers: defaultdict[str, _Hasher] = defaultdict(_Hasher)
    try:
        with undisturbed(examples, seed):
            found = fetch(examples, rows)
            if isinstance(found, Samples):
                columns = tuple(np.asarray(array_of(column)) for column in found.columns)
                for name, stack in _leaves(columns):
                    hashers[name].update_rows(stack)
            else:
                for sample in found:
                    for name, leaf in _leaves(sample):
                        hashers[name].update(leaf)
    except Exception:  # the check of the data reports a broken example
        return {}
    return {name: hasher.summary() for name, hasher in hashers.items()}


def _leaves(sample: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values in an example with their names."""
    is_pair = isinstance(sample, list | tuple) and len(sample) == 2
    named = zip(("inputs", "targets"), sample, strict=True) if is_pair else [("example", sample)]
    for name, part in named:
        yield from flatten(part, name)


class _Hasher:
    """A hash of values, and weighted sums that are robust to rounding."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.kind: tuple[list[int], str] | None = None
        self.sums = np.zeros(2)
        self.count = 0

    def update(self, leaf: Any) -> None:
        """Add a value."""
        array = np.asarray(leaf) if isinstance(leaf, int | float | np.generic) else array_of(leaf)
        if array is None:
            self.digest.update(repr(leaf).encode() if isinstance(leaf, str | bytes) else b"?")
            return
        self.update_rows(array[None])

    def update_rows(self, rows: np.ndarray) -> None:
        """Add arrays that are stacked: as many values as there are rows."""
        kind = [*rows.shape[1:]], str(rows.dtype)
        self.kind = self.kind or kind
        head = repr(kind).encode()
        is_floating = dtypes.is_floating(rows.dtype)
        for block in np.array_split(rows, rows.nbytes // _BLOCK + 1):
            self.digest.update(b"".join(head + row.tobytes() for row in block))
            if is_floating:
                values = block.ravel().astype(np.float64)
                weights = np.cos(np.arange(self.count, self.count + values.size))
                self.sums += values @ weights, np.abs(values).sum()
            self.count += block.size

    def summary(self) -> dict[str, Any]:
        """Return the recorded data."""
        shape, dtype = self.kind or (None, "")
        sketch = self.sums.tolist() if "float" in dtype and np.isfinite(self.sums).all() else None
        return {
            "shape": shape,
            "dtype": dtype,
            "sha256": self.digest.hexdigest(),
            "sketch": sketch,
        }


# ---- comparing ----


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield the differences between two fingerprints of a data set, as clauses."""
    if then["examples"] != now["examples"]:
        count = quantity(f"{now['examples']:,}", "example")
        yield f"it has {count}, and had {then['examples']:,}"
    if then.get("says") != now.get("says"):
        yield f"its fingerprint is {now.get('says')!r}, and was {then.get('says')!r}"
    if "says" in then or then.get("looked_at") != now.get("looked_at"):
        return
    names = [name for name, part in then.items() if isinstance(part, dict)]
    for name in names:
        if name not in now:
            yield f"it has no {name}"
            continue
        one, other = then[name], now[name]
        if (one["shape"], one["dtype"]) != (other["shape"], other["dtype"]):
            was, is_now = (f"{part['dtype']} {part['shape']}" for part in (one, other))
            yield f"its {name} are {is_now}, and were {was}"
        elif None not in (one["sha256"], other["sha256"]) and not _same_values(one, other):
            yield f"its {name} are others (among those compared: {now['looked_at']:,})"


def _same_values(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether values are equal up to rounding differences between machines."""
    if one["sha256"] == other["sha256"]:
        return True
    first, second = one["sketch"], other["sketch"]
    if first is None or second is None:
        return False
    allowed = 4 * np.finfo(one["dtype"]).eps * max(first[1], second[1])
    return bool(np.abs(np.subtract(first, second)).max() <= allowed)


# ---- drift --------------------------------------------------------------------------------------
# Changes since a run: to its source files, its data, and the files in its folder.
#
# ``eval``, ``predict`` and ``export`` warn of changes; ``resume`` refuses to continue without
# ``--force``.


class ChangedWarning(UserWarning):
    """A source file or the data has changed since the run was trained.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():  # stop instead
        ...     warnings.simplefilter("error", ChangedWarning)
        ...     # load a run
    """


def run_damage(folder: RunFolder, record: Mapping[str, Any]) -> dict[str, str]:
    """Return the files in a run folder that were changed or damaged: name -> problem."""
    found = damaged_files(folder, record)
    if is_damaged(record):
        name = folder.record.name
        found[name] = f"{folder.record} was changed or damaged since the run wrote it"
    return found


def damaged_files(folder: RunFolder, record: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that have changed since the run wrote them: name -> problem.

    Args:
        folder: the run folder.
        record: the content of ``run.json``, with the checksums by file name.
    """
    found = _damaged_rows(folder, record.get("epochs", 0))
    for name, digest in record.get("files", {}).items():
        path = folder.path / name
        try:
            data = read_bytes(path)
        except FileNotFoundError:
            found[name] = f"{path} is missing"
        except TrainError as error:
            found[name] = str(error)
        else:
            if sha256(data) not in [digest, *record.get("replacing", {}).get(name, [])]:
                found[name] = f"{path} was changed or damaged since the run wrote it"
    return found


def _damaged_rows(folder: RunFolder, expected: int) -> dict[str, str]:
    """Return the same for ``metrics.jsonl``, which had a row for each epoch when the run ended."""
    path = folder.metrics
    try:
        rows = read_rows(path) if expected else []
        good = sum(not is_test(row) for row in rows)
    except TrainError as error:
        return {path.name: str(error)}
    if good >= expected:
        return {}
    return {path.name: f"{path} is damaged: it has {good} good rows of {expected}"}


class Drift:
    """The changes since a run.

    Args:
        folder: the run folder.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.record = read_record(folder)
        if not folder.record.exists() and folder.config.exists() and folder.checkpoint.exists():
            text = f"{folder.record} is missing: changes since the run began cannot be detected"
            warnings.warn(text, StorageWarning, stacklevel=3)
        self.damage = damaged_files(folder, self.record)
        self.sources = altered(folder, self.record)
        self.data: dict[str, Any] | None = None
        """The current fingerprints of the data, after `compare`."""

        self.data_lines: list[str] = []

    @property
    def changes(self) -> list[str]:
        """The changes outside the folder, one sentence each."""
        return [*self.sources.values(), *self.data_lines]

    @property
    def stand_ins(self) -> StandIns:
        """The copies to import in place of missing source files."""
        return stand_ins(self.folder, self.record)

    def compare(self, parts: Parts) -> None:
        """Compare the data with its recorded fingerprints."""
        then = self.record.get("data")
        if not then:
            return
        self.data = fingerprints(parts, then)
        type_ = parts.config.data.component.type
        for name, one in then.items():
            if name in self.data:
                self.data_lines += [
                    f"the {name} set of {type_} has changed since the run: {difference}"
                    for difference in differences(one, self.data[name])
                ]

    def warn(self, recorded: Mapping[str, Mapping[str, float]] | None = None) -> None:
        """Warn of all changes.

        Args:
            recorded: the figures recorded in training, by data set.
        """
        self.warn_of_damage()
        lines = self.changes
        if lines and recorded:
            listed = (describe_set(name, figures) for name, figures in recorded.items())
            lines.append(f"the recorded metrics: {'; '.join(listed)}")
        if lines:
            warnings.warn("\n  ".join(lines), ChangedWarning, stacklevel=3)

    def warn_of_damage(self) -> None:
        """Warn of files in the folder that have changed since the run wrote them."""
        for text in self.damage.values():
            warnings.warn(text, StorageWarning, stacklevel=4)

    def refuse_changes(self, force: bool) -> None:
        """Refuse to resume with changed files or data, or only warn of them if `force` is true.

        Raises:
            UsageError: with all changes.
        """
        serious = [text for text in self.changes if " is gone; " not in text]
        if serious and not force:
            last = "the resumed run would not match its beginning; --force resumes it anyway"
            raise UsageError("\n".join([*serious, last]))
        self.warn()


def describe_set(name: str, figures: Mapping[str, float]) -> str:
    """Format the figures of a data set in a line, accuracy before loss.

    Example:
        >>> describe_set("validation", {"loss": 0.5, "accuracy": 0.9})
        'validation accuracy 90.00 %, validation loss 0.5'
    """
    return describe_figures({f"{name}/{figure}": figures[figure] for figure in sorted(figures)})


def recorded_figures(saved: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the figures measured with the weights in a checkpoint, by data set."""
    found = {"test": dict(saved["tests"]["last"])} if "tests" in saved else {}
    if saved["measured"]:
        found |= {name: dict(saved[name]) for name in ("validation", "test") if name in saved}
    return found
