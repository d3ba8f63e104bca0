"""What has changed since a run: its source files, its data, the files in its folder.

``eval``, ``predict`` and ``export`` warn of it; ``resume`` refuses to go on, unless it is forced.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from tinynet.train.build.build import Parts
from tinynet.train.checkpoint.checksums import damaged, is_sealed
from tinynet.train.checkpoint.fingerprint import differences, fingerprints
from tinynet.train.checkpoint.run_folder import RunFolder, StorageWarning
from tinynet.train.checkpoint.run_record import read_record
from tinynet.train.checkpoint.sources import StandIns, altered, stand_ins
from tinynet.train.config.problems import UsageError
from tinynet.train.config.sections import Config
from tinynet.train.report.progress import describe_figures


class ChangedWarning(UserWarning):
    """A source file or the data of a run is not what it was when the run was trained.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():  # a program that would rather stop
        ...     warnings.simplefilter("error", ChangedWarning)
        ...     # read a run back
    """


def damage(folder: RunFolder, record: Mapping[str, Any]) -> dict[str, str]:
    """Return which files in a run folder were changed or damaged: name -> what is the matter."""
    files = record.get("files", {})
    found = damaged(folder.path, files)
    if files and not is_sealed(record):
        name = folder.record.name
        found[name] = f"{folder.record} was changed or damaged since the run wrote it"
    return found


class Since:
    """What has changed since a run; what an older version has not recorded is not compared.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.record = read_record(folder)
        if not folder.record.exists() and folder.config.exists() and folder.checkpoint.exists():
            text = (
                f"{folder.record} is missing: what has changed since the run began cannot be seen"
            )
            warnings.warn(text, StorageWarning, stacklevel=3)
        self.damage = damaged(folder.path, self.record.get("files", {}))
        self.sources = altered(folder, self.record)
        self.data: dict[str, Any] | None = None
        """What the data is like now, once it is compared."""

        self.data_lines: list[str] = []

    @property
    def changes(self) -> list[str]:
        """What has changed outside of the folder, each in a sentence."""
        return [*self.sources.values(), *self.data_lines]

    @property
    def stand_ins(self) -> StandIns:
        """The copies that are imported where a source file is gone."""
        return stand_ins(self.folder, self.record)

    def compare(self, parts: Parts) -> None:
        """Look at the data, too."""
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

    def warn(self, recorded: Mapping[str, float] | None = None) -> None:
        """Warn of all that has changed.

        Args:
            recorded: the figures of then.
        """
        self.warn_of_damage()
        told = [f"the figures of then: {describe(recorded)}"] if recorded and self.changes else []
        if self.changes:
            warnings.warn("\n  ".join([*self.changes, *told]), ChangedWarning, stacklevel=3)

    def warn_of_damage(self) -> None:
        """Warn of files in the folder that are not as the run wrote them."""
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


def describe(figures: Mapping[str, float]) -> str:
    """The figures of the test set in a line, accuracy before loss."""
    return describe_figures({f"test/{name}": figures[name] for name in sorted(figures)})


def recorded(config: Config, saved: Mapping[str, Any]) -> dict[str, float]:
    """The figures that were measured with the weights in a checkpoint; empty if none were."""
    run, epoch = config.run, saved["epoch"]
    is_measured = epoch == run.epochs or epoch % run.eval_every == 0
    return dict(saved["test"]) if saved.get("epoch_is_complete", True) and is_measured else {}
