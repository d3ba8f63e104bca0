"""A suite: the entries of one folder, PyTorch's answers to them, and deliberate differences."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

from . import store
from .departures import Departure, Departures

TESTS = Path(__file__).parents[2]
_load = cache(store.load)


class Entry(Protocol):
    """A row or program that both libraries can answer."""

    family: str
    name: str

    @property
    def id(self) -> str:
        """Return ``family/name``."""

    @property
    def group(self) -> str:
        """Return the name of the test that compares this entry, perhaps with others."""

    def answer(self, library: Any) -> dict[str, Any]:
        """Return the answer of PyTorch or tinynet."""

    def complaint(self, answer: dict[str, Any]) -> str | None:
        """Return what is wrong if PyTorch's answer is not of the kind that the entry expects."""

    def differences(self, expected: dict[str, Any], got: dict[str, Any]) -> list[str]:
        """Return a line for each difference between two answers."""


class Entries:
    """The entries of one file, in order.

    Attributes:
        skip: why they cannot run here, if they cannot.
    """

    def __init__(self, name: str, skip: str = "") -> None:
        self.name, self.skip = name, skip
        self.entries: dict[str, Any] = {}

    def put(self, entry: Entry) -> None:
        """Add an entry.

        Raises:
            ValueError: the family has one of this name.
        """
        if entry.name in self.entries:
            raise ValueError(f"{self.name} has two entries named {entry.name!r}.")
        self.entries[entry.name] = entry


@dataclass(frozen=True)
class Suite:
    """The entries of the files ``cases_*.py`` and ``programs_*.py`` in one folder.

    Attributes:
        folder: the folder, below ``tests/``.
        departures: what tinynet does otherwise.
        general: departures that other suites share.
        pending: what tinynet does not answer yet; id -> what is missing.
        most: the largest size of the record, in bytes.
    """

    folder: str
    departures: Departures = ()
    general: Sequence[Departure] = ()
    pending: Mapping[str, str] = field(default_factory=dict)
    most: int = 1_000_000

    @property
    def name(self) -> str:
        """The name for the command line: its folder below that of its group."""
        return self.folder.partition("/")[2]

    @property
    def path(self) -> Path:
        """Return the folder of PyTorch's answers."""
        return TESTS / self.folder / "answers"

    @cached_property
    def families(self) -> dict[str, Entries]:
        """Return the entries of each file, by the name that the file has after ``cases_``."""
        found = {}
        package = f"tests.{self.folder.replace('/', '.')}"
        for path in sorted((TESTS / self.folder).glob("*_*.py")):
            kind, _, name = path.stem.partition("_")
            if kind in ("cases", "programs"):
                module = importlib.import_module(f"{package}.{path.stem}")
                (entries,) = (v for v in vars(module).values() if isinstance(v, Entries))
                assert entries.name == name, f"{path.name} calls its entries {entries.name!r}"
                found[name] = entries
        return found

    @property
    def entries(self) -> Iterator[Any]:
        """Yield all entries."""
        for family in self.families.values():
            yield from family.entries.values()

    def recorded_family(self, family: str) -> dict[str, Any]:
        """Return PyTorch's recorded answers of one family."""
        return _load(self.path / family)

    def recorded(self, entry: Entry) -> dict[str, Any]:
        """Return PyTorch's recorded answer."""
        answers = self.recorded_family(entry.family)
        command = f"python -m tests.tools.recorded.record {self.name}"
        assert entry.name in answers, f"{entry.id} is not recorded: run `{command}`."
        return answers[entry.name]

    def version(self) -> str:
        """Return the version of the PyTorch that answered."""
        return json.loads((self.path / "version.json").read_text())["torch"]


def suites() -> list[Suite]:
    """Return the suites of all folders that have a ``suite.py``."""
    found = []
    for path in sorted(TESTS.rglob("suite.py")):
        folder = path.parent.relative_to(TESTS).as_posix()
        if path != Path(__file__):
            module = importlib.import_module(f"tests.{folder.replace('/', '.')}.suite")
            assert module.SUITE.folder == folder
            found.append(module.SUITE)
    return found
