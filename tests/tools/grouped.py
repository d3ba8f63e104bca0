"""Tests of large tables: one test for all cases of a group, which reports each case that fails.

pytest takes 3 ms for a test that it gives to another process, several times what most cases of
these tables take. ``-k`` finds a group by the name of each of its cases.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest


def groups(cases: Mapping[str, Any], group: Callable[[Any], str]) -> dict[str, dict[str, Any]]:
    """Return the named cases by the name of their group, in order."""
    found: dict[str, dict[str, Any]] = {}
    for name, case in cases.items():
        found.setdefault(group(case), {})[name] = case
    return found


def neighbours(names: Iterable[Any], count: int) -> dict[str, list[Any]]:
    """Return lists of ``count`` neighbours, by the names of the first and the last one."""
    left = [*names]
    parts = [left[start : start + count] for start in range(0, len(left), count)]
    return {f"{part[0]} to {part[-1]}" if part[1:] else str(part[0]): part for part in parts}


def in_parts(cases: Mapping[str, Any] | Iterable[str], count: int) -> dict[str, dict[str, Any]]:
    """Return the named cases in groups of ``count``, in order. Names alone are the cases, too."""
    named = cases if isinstance(cases, Mapping) else {name: name for name in cases}
    parts = neighbours(named, count)
    return {name: {key: named[key] for key in part} for name, part in parts.items()}


def for_each(grouped: Mapping[str, Mapping[str, Any]]) -> Callable[[Any], Any]:
    """Turn a check of one case into a test for each group.

    Raises:
        ExceptionGroup: in the test, with the error of each case that fails; a note names the case.
    """

    def decorate(check: Callable[[Any], None]) -> Any:
        @pytest.mark.parametrize("cases", [*grouped.values()], ids=[*grouped])
        def test(cases: Mapping[str, Any]) -> None:
            errors = []
            for name, case in cases.items():
                try:
                    check(case)
                except Exception as error:
                    error.add_note(f"case: {name}")
                    errors.append(error)
            if errors:
                raise ExceptionGroup(f"{len(errors)} of {len(cases)} cases fail", errors)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorate
