"""The tests of every suite: derive a class from ``RecordedAnswers`` and give it a suite."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import tinynet
from tests.tools.grouped import neighbours

from .compare import answer_differences
from .departures import depart, unneeded
from .suite import Entries, Entry, Suite

PYTORCH = "2.13.0"


class RecordedAnswers:
    """tinynet answers as PyTorch did; with ``--oracle``, as it does, and as the record says.

    Attributes:
        together: the number of groups of entries in a test.
    """

    suite: ClassVar[Suite]
    together: ClassVar[int] = 1

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "cases" in metafunc.fixturenames:
            metafunc.parametrize("cases", [*self._parameters()])
        if "family" in metafunc.fixturenames:
            families = self.suite.families
            metafunc.parametrize("family", families.values(), ids=families)

    def _parameters(self) -> Iterator[Any]:
        """Yield the entries by group; one that is pending is alone, for it must fail."""
        found: dict[str, dict[str, dict[str, Entry]]] = {}
        for entry in self.suite.entries:
            reason = self.suite.pending.get(entry.id)
            if reason:
                pending = pytest.mark.xfail(reason=reason, strict=True)
                marks = [pending, *self._skipped(entry.family)]
                yield pytest.param({entry.id: entry}, id=entry.id, marks=marks)
            else:
                found.setdefault(entry.family, {}).setdefault(entry.group, {})[entry.id] = entry
        for family, by_group in found.items():
            marks = self._skipped(family)
            for name, part in neighbours(by_group, self.together).items():
                cases = {key: entry for group in part for key, entry in by_group[group].items()}
                yield pytest.param(cases, id=name, marks=marks)

    def _skipped(self, family: str) -> list[pytest.MarkDecorator]:
        """Return the mark that skips the entries of a family, if they cannot run here."""
        reason = self.suite.families[family].skip
        return [pytest.mark.skip(reason=reason)] if reason else []

    def test_answers_as_pytorch(
        self, cases: dict[str, Entry], request: pytest.FixtureRequest
    ) -> None:
        live = request.config.getoption("--oracle")
        departures = (*self.suite.departures, *self.suite.general)
        found = []
        for entry in cases.values():
            answer = ask_pytorch(entry) if live else self.suite.recorded(entry)
            expected = depart(entry.id, answer, departures)
            lines = entry.differences(expected, answer_of(entry))
            found += [f"{entry.id}: {line}" for line in lines]
        if found:
            pytest.fail("\n".join(found), pytrace=False)

    @pytest.mark.oracle
    def test_record_is_what_pytorch_says(self, family: Entries) -> None:
        if family.skip:
            pytest.skip(family.skip)
        wrong = {
            name: entry.differences(self.suite.recorded(entry), ask_pytorch(entry))
            for name, entry in family.entries.items()
        }
        assert {name: lines for name, lines in wrong.items() if lines} == {}

    def test_record_holds_exactly_the_entries(self) -> None:
        on_disk = {
            f"{path.stem}/{name}"
            for path in self.suite.path.glob("*.npz")
            for name in self.suite.recorded_family(path.stem)
        }
        assert on_disk == {entry.id for entry in self.suite.entries}

    def test_record_says_which_pytorch(self) -> None:
        assert self.suite.version() == PYTORCH

    def test_record_is_small(self) -> None:
        assert sum(path.stat().st_size for path in self.suite.path.iterdir()) < self.suite.most

    def test_entries_end_as_they_say(self) -> None:
        complaints = (e.complaint(self.suite.recorded(e)) for e in self.suite.entries)
        assert [*filter(None, complaints)] == []

    def test_every_departure_is_needed(self) -> None:
        answers = {entry.id: self.suite.recorded(entry) for entry in self.suite.entries}
        assert unneeded(self.suite.departures, answers) == []

    def test_every_pending_entry_exists(self) -> None:
        assert self.suite.pending.keys() <= {entry.id for entry in self.suite.entries}

    def test_comparison_sees_every_single_change(self, family: Entries) -> None:
        for name, found in self.suite.recorded_family(family.name).items():
            assert answer_differences(found, copy.deepcopy(found)) == []
            lines = answer_differences(found, _spoiled(found))
            assert len(lines) == len([*_leaves(found)]), f"{name}: {lines}"


def answer_of(entry: Entry) -> dict[str, Any]:
    """Return tinynet's answer; an error in describing it names the entry."""
    try:
        return entry.answer(tinynet)
    except Exception as error:
        error.add_note(f"entry: {entry.id}")
        raise


def ask_pytorch(entry: Entry) -> dict[str, Any]:
    """Return the answer of the installed PyTorch."""
    live = importlib.import_module(".live", __package__)
    live.prepare()
    return entry.answer(live.torch)


def _leaves(value: Any) -> Iterator[Any]:
    """Yield what is compared by itself: an error is, as a whole."""
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, dict) and "raises" not in value:
        yield from _leaves([*value.values()])
    else:
        yield value


def _spoiled(value: Any) -> Any:
    """Return an answer with something else in place of each leaf."""
    if isinstance(value, list):
        return [_spoiled(part) for part in value]
    if isinstance(value, dict):
        if "raises" in value:
            return value | {"says": "something else"}
        return {key: _spoiled(part) for key, part in value.items()}
    if not isinstance(value, np.ndarray):
        return "something else"
    if not value.size:
        return np.zeros((1, *value.shape), value.dtype)
    if value.dtype.kind in "fc":
        return np.where(np.abs(value) > 1, 0, 3.25).astype(value.dtype)
    return ~value if value.dtype.kind == "b" else value + value.dtype.type(1)
