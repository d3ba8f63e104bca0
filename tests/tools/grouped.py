"""Tests of large tables: one test for all cases of a group, which reports each case that fails.

In two processes pytest takes 2 ms for a test, several times what most cases of these tables take.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest


def groups(cases: Mapping[str, Any], group: Callable[[Any], str]) -> dict[str, dict[str, Any]]:
    """Return the named cases by the name of their group, in order."""
    found: dict[str, dict[str, Any]] = {}
    for name, case in cases.items():
        found.setdefault(group(case), {})[name] = case
    return found


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
