"""Changes since a run: to its source files, its data, and the files in its folder.

``eval``, ``predict`` and ``export`` warn of changes; ``resume`` refuses to continue without
``--force``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from tinynet.train.assemble.build import Parts
from tinynet.train.base.checksums import sha256
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.base.reading import read_bytes, read_rows
from tinynet.train.base.run_folder import RunFolder, StorageWarning
from tinynet.train.base.run_record import is_damaged, read_record
from tinynet.train.config.sections import Config
from tinynet.train.config.sources import StandIns, altered, stand_ins
from tinynet.train.diagnose.fingerprint import differences, fingerprints
from tinynet.train.metrics.criterion import is_test
from tinynet.train.observe.progress import describe_figures


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
        rows = read_rows(path, must=True) if expected else []
        good = sum(not is_test(row) for row in rows)
    except TrainError as error:
        return {path.name: str(error)}
    if good >= expected:
        return {}
    return {path.name: f"{path} is damaged: it has {good} good rows of {expected}"}


class Drift:
    """The changes since a run. Anything that an older version did not record is not compared.

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


def recorded_figures(config: Config, saved: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the figures measured with the weights in a checkpoint, by data set."""
    run, epoch = config.run, saved["epoch"]
    is_due = epoch == run.epochs or epoch % run.eval_every == 0
    older = saved.get("epoch_is_complete", True) and is_due  # as versions without "measured" did
    found = {"test": dict(saved["tests"]["last"])} if "tests" in saved else {}
    if saved.get("measured", older):
        found |= {name: dict(saved[name]) for name in ("validation", "test") if name in saved}
    return found
