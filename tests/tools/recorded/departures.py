"""Deliberate differences from PyTorch, each with its reason.

A departure is written into PyTorch's answer, so that what tinynet must show instead is checked.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any


@dataclass(frozen=True)
class Departure:
    """Wherever PyTorch's answer has a text that ``said`` matches entirely, tinynet's must have one
    that matches the pattern made from it by ``ours``."""

    reason: str
    said: str
    ours: Callable[[re.Match[str]], str]
    cases: str = "*"


@dataclass(frozen=True)
class Instead:
    """In one entry, what tinynet shows at some places (dotted paths into the answer); None where
    it shows None, or nothing."""

    reason: str
    case: str
    shows: Mapping[str, Any]


@dataclass(frozen=True)
class Unsaid:
    """A warning of PyTorch's that tinynet does not give."""

    reason: str
    said: str


@dataclass(frozen=True)
class Matching:
    """Stands in PyTorch's answer for a text: tinynet's must match it entirely."""

    pattern: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.fullmatch(self.pattern, other, re.S) is not None

    def __hash__(self) -> int:
        return hash(self.pattern)

    def __repr__(self) -> str:
        return f"a match of {self.pattern!r}"


Departures = Iterable[Departure | Instead | Unsaid]


def depart(case: str, answer: dict[str, Any], departures: Departures) -> dict[str, Any]:
    """Return PyTorch's answer to a case with tinynet's departures written into it."""
    texts = []
    for d in departures:
        if isinstance(d, Unsaid):
            answer = _silenced(answer, d)
        elif isinstance(d, Departure):
            texts += [d] if fnmatchcase(case, d.cases) else []
        elif d.case == case:
            answer = replaced(answer, d)
    rewritten: dict[str, Any] = _rewritten(answer, texts)
    return rewritten


def _silenced(answer: dict[str, Any], departure: Unsaid) -> dict[str, Any]:
    heard = [text for text in answer.get("warns", ()) if not re.fullmatch(departure.said, text)]
    rest = {key: value for key, value in answer.items() if key != "warns"}
    return rest | {"warns": heard} if heard else rest


def replaced(answer: dict[str, Any], departure: Instead) -> dict[str, Any]:
    """Return the answer with other values at the places that a departure names."""
    answer = copy.deepcopy(answer)
    for path, value in departure.shows.items():
        *outer, last = path.split(".")
        place = answer
        for key in outer:
            place = place[int(key)] if isinstance(place, list) else place[key]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return answer


def _rewritten(value: Any, departures: list[Departure]) -> Any:
    if isinstance(value, str):
        for departure in departures:
            if said := re.fullmatch(departure.said, value, re.S):
                return Matching(departure.ours(said))
    if isinstance(value, list):
        return [_rewritten(part, departures) for part in value]
    if isinstance(value, dict):
        return {key: _rewritten(part, departures) for key, part in value.items()}
    return value


def unneeded(departures: Departures, answers: Mapping[str, dict[str, Any]]) -> list[str]:
    """Return the reasons of the departures that change none of PyTorch's answers."""
    cases_of: dict[str, set[str]] = {}  # each text in the record -> where it is
    for case, answer in answers.items():
        for text in set(_texts_in(answer)):
            cases_of.setdefault(text, set()).add(case)

    def is_needed(d: Departure | Instead | Unsaid) -> bool:
        if isinstance(d, Instead):
            return repr(replaced(answers[d.case], d)) != repr(answers[d.case])
        if isinstance(d, Unsaid):
            return any(re.fullmatch(d.said, text) for text in cases_of)
        return any(
            (said := re.fullmatch(d.said, text, re.S))
            and d.ours(said) != text
            and any(fnmatchcase(case, d.cases) for case in cases)
            for text, cases in cases_of.items()
        )

    return [d.reason for d in departures if not is_needed(d)]


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(part)
