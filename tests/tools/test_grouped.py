"""One test for a group of cases finds each that fails."""

import pytest

from tests.tools.grouped import for_each, groups, in_parts

BY_SIGN = groups({"one": 1, "minus two": -2, "three": 3}, lambda n: "plus" if n > 0 else "minus")


def test_parts_have_neighbours_and_the_names_of_their_ends():
    assert in_parts({"a": 1, "b": 2, "c": 3}, 2) == {"a to b": {"a": 1, "b": 2}, "c": {"c": 3}}
    assert in_parts(iter("ab"), 3) == {"a to b": {"a": "a", "b": "b"}}


@for_each(BY_SIGN)
def test_all_pass(n):
    assert n


@for_each(BY_SIGN)
def finds_odd(n):
    """Numbers are even."""
    assert n % 2 == 0


def test_each_failure_is_reported():
    assert BY_SIGN == {"plus": {"one": 1, "three": 3}, "minus": {"minus two": -2}}
    finds_odd(BY_SIGN["minus"])
    with pytest.raises(ExceptionGroup, match="2 of 2 cases fail") as caught:
        finds_odd(BY_SIGN["plus"])
    assert [error.__notes__ for error in caught.value.exceptions] == [
        ["case: one"],
        ["case: three"],
    ]
    assert (finds_odd.__name__, finds_odd.__doc__) == ("finds_odd", "Numbers are even.")
    (mark,) = finds_odd.pytestmark
    assert mark.kwargs["ids"] == ["plus", "minus"]
