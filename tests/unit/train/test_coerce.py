"""Values from TOML made into what a parameter declares."""

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor
from tinynet.train.config.coercion import MismatchError, coerce, declared_type, describe_type


@pytest.mark.parametrize(
    "value, declared, expected",
    [
        (3, int, 3),
        (1e3, int, 1000),
        (3, float, 3.0),
        (0.5, float, 0.5),
        (True, bool, True),
        ("x", str, "x"),
        ("a/b", Path, Path("a/b")),
        ([1, 2.0], list[int], [1, 2]),
        ([1, 2], Sequence[float], [1.0, 2.0]),
        ([0.9, 1], tuple[float, float], (0.9, 1.0)),
        ([1, 2, 3], tuple[int, ...], (1, 2, 3)),
        ([], tuple[int, ...], ()),
        ([[1], [2]], list[list[float]], [[1.0], [2.0]]),
        ([1, "x"], list, [1, "x"]),
        ({"a": 1}, dict[str, float], {"a": 1.0}),
        ({"a": 1}, Mapping, {"a": 1}),
        ("b", Literal["a", "b"], "b"),
        (2, Literal[1, 2], 2),
        (3, float | int, 3),
        (3, float | None, 3.0),
        (0.5, typing.Optional[float], 0.5),  # noqa: UP045
        ([1], int | list[int], [1]),
        ("x", Any, "x"),
        ("x", inspect.Parameter.empty, "x"),
        (3, typing.Annotated[float, "metres"], 3.0),
        (3, "an annotation that could not be evaluated", 3),
    ],
    ids=str,
)
def test_accepted(value, declared, expected):
    result = coerce(value, declared)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    "value, declared, message",
    [
        ("ten", int, "must be an integer, got the string 'ten'"),
        ("10", int, "must be an integer, got the string '10' (write it without quotes)"),
        (1.5, int, "must be an integer, got 1.5"),
        (True, int, "must be an integer, got true"),
        (float("inf"), int, "must be an integer, got inf"),
        ("1e-3", float, "must be a number, got the string '1e-3' (write it without quotes)"),
        (False, float, "must be a number, got false"),
        (10**400, float, "(too large)"),
        (1, bool, "must be true or false, got 1"),
        ("true", bool, "must be true or false, got the string 'true' (write it without quotes)"),
        (5, str, "must be a string, got 5"),
        ([1, "x"], list[int], "element 1 must be an integer, got the string 'x'"),
        ([[1], ["x"]], list[list[int]], "element 1 element 0 must be an integer"),
        (5, list[int], "must be a list (each element an integer), got 5"),
        ("abc", list[str], "must be a list (each element a string), got the string 'abc'"),
        ([1.0], tuple[float, float], "must be a list (a number and a number), got the list [1.0]"),
        ([1], dict[str, int], "must be a table, got the list [1]"),
        ("rleu", Literal["relu"], "must be one of 'relu', got the string 'rleu'; did you mean"),
        (1.0, Literal[1], "must be one of 1, got 1.0"),
        ("x", float | None, "must be a number, got the string 'x'"),
        ("x", float | list[int], "must be a number or a list (each element an integer)"),
        ("flaot32", dtypes.dtype, "got the string 'flaot32'; did you mean 'float32'?"),
        ("x", Tensor, "must be a number or a list of numbers, got the string 'x'"),
        ([[1], [1, 2]], Tensor, "(rows of different lengths)"),
        (3, Callable[[int], int], "(give a table with a type)"),
        (3, np.random.Generator, "must be Generator, got 3 (give a table with a type)"),
        (list(range(100)), int, "..."),
    ],
    ids=str,
)
def test_refused(value, declared, message):
    with pytest.raises(MismatchError) as caught:
        coerce(value, declared)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_dtype_by_name():
    assert coerce("float64", dtypes.dtype) is dtypes.float64
    assert coerce("tinynet.int64", dtypes.dtype | None) is dtypes.int64


def test_a_tensor_from_numbers():
    weight = coerce([0.5, 1], Tensor | None)
    assert isinstance(weight, Tensor)
    assert weight.dtype is dtypes.float32
    assert weight.numpy().tolist() == [0.5, 1.0]
    assert coerce([[1, 2]], Tensor).dtype is dtypes.int64
    assert coerce([1, 2], np.ndarray).tolist() == [1, 2]


@pytest.mark.parametrize(
    "value, text, declared, expected",
    [(5, "5", str, "5"), (True, "true", str, "true"), (1, "1", Literal["1"], "1")],
)
def test_on_the_command_line_text_is_what_was_typed(value, text, declared, expected):
    assert coerce(value, declared, text) == expected


def test_what_an_unannotated_default_suggests():
    empty = inspect.Parameter.empty
    assert declared_type(empty, 0.5) is float
    assert declared_type(empty, True) is bool
    assert declared_type(empty, 0) is empty  # dampening=0 takes 0.5
    assert declared_type(empty, None) is empty
    assert declared_type(int, 0.5) is int


def test_descriptions():
    assert describe_type(int | str | None) == "an integer or a string"
    assert describe_type(dict[str, int]) == "a table"
    assert describe_type(inspect.Parameter.empty) == "anything"
