"""Converting text columns to numbers, with parameters learned from one table and used on others."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tinynet.data.readers.tables import Table
from tinynet.dtypes import Array

Fill = Literal["refuse", "drop", "mean", "median"] | float
Encode = Literal["one_hot", "index"]
Unknown = Literal["refuse", "ignore"]
Standardize = bool | Literal["inputs"]

MISSING = "(missing)"
_MOST_CATEGORIES = 1000


@dataclass
class Column:
    """The conversion of a column to numbers."""

    name: str
    categories: list[str] | None = None
    """The categories, in the order of their numbers; None for a column of numbers."""

    filler: float | None = None
    """The value for missing numbers; None to refuse them."""

    mean: float = 0.0
    std: float = 1.0

    @property
    def features(self) -> list[str]:
        """The names of the one-hot features, or of the single number."""
        if self.categories is None:
            return [self.name]
        return [f"{self.name}={category}" for category in self.categories]


def learn(
    table: Table, name: str, categorical: bool, missing: Collection[str], fill: Fill
) -> Column | None:
    """Return the conversion of a column, learned from its values.

    A column is numeric if all its values are numbers, and categorical if most are not. If it has
    no values, or a few values that are not numbers among many that are, these are mistakes of the
    table, and the result is None.
    """
    values = table.column(name)
    present = [value for value in values if value not in missing]
    if not present:
        table.add_mistake(0, name, "a value in at least one row", "none")
        return None
    numbers = [] if categorical else [n for value in present if (n := number(value)) is not None]
    if len(numbers) == len(present):
        return Column(name, filler=_filler(numbers, fill))
    if 2 * len(numbers) > len(present):
        expected = (
            f"a number, as in {len(numbers)} of {len(present)} rows "
            "(or name the column in 'categorical')"
        )
        for row, value in enumerate(values):
            if value not in missing and number(value) is None:
                table.add_mistake(row, name, expected, repr(value))
        return None
    gap = [MISSING] if len(present) < len(values) and fill != "refuse" else []
    return Column(name, ordered({*present}) + gap)


def number(text: str) -> float | None:
    """Return the number that a text represents; None for other texts and infinite numbers."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def ordered(values: Collection[str]) -> list[str]:
    """Return texts in numeric order, or in alphabetical order if one is not a number."""
    numbers = {value: number(value) for value in values}
    if None in numbers.values():
        return sorted(values)
    return sorted(values, key=lambda value: (numbers[value], value))


def _filler(numbers: Sequence[float], fill: Fill) -> float | None:
    if fill == "mean":
        return float(np.mean(numbers))
    if fill == "median":
        return float(np.median(numbers))
    return None if isinstance(fill, str) else float(fill)


def to_numbers(table: Table, column: Column, missing: Collection[str]) -> Array:
    """Return a numeric column as float64, and add values that are no numbers to the mistakes."""
    result = np.zeros(len(table.rows))
    for row, value in enumerate(table.column(column.name)):
        if value in missing:
            if column.filler is None:
                _add_missing(table, row, column.name)
            else:
                result[row] = column.filler
        elif (found := number(value)) is None:
            table.add_mistake(row, column.name, "a finite number", repr(value))
        else:
            result[row] = found
    return result


def to_classes(
    table: Table, column: Column, missing: Collection[str], unknown: Unknown = "refuse"
) -> Array:
    """Return the category numbers of a column as int64.

    Unknown categories are mistakes of the table, or get the number after the last category.
    """
    categories = column.categories or []
    numbers = {category: index for index, category in enumerate(categories)}
    result = np.zeros(len(table.rows), np.int64)
    for row, value in enumerate(table.column(column.name)):
        is_missing = value in missing
        found = numbers.get(MISSING if is_missing else value)
        if found is not None:
            result[row] = found
        elif unknown == "ignore":
            result[row] = len(categories)
        elif is_missing:
            _add_missing(table, row, column.name)
        else:
            shown = ", ".join(map(repr, categories[:8])) + (", ..." if len(categories) > 8 else "")
            table.add_mistake(row, column.name, f"one of {shown}", repr(value))
    return result


def _add_missing(table: Table, row: int, name: str) -> None:
    table.add_mistake(row, name, "a value ('fill' says what else to do)", "none")


def to_features(
    table: Table, column: Column, missing: Collection[str], encode: Encode, unknown: Unknown
) -> tuple[Array, list[str]]:
    """Return a column as features (rows x features, float64), and their names.

    The one-hot vector of an unknown category is zero.
    """
    if column.categories is None:
        numbers = (to_numbers(table, column, missing) - column.mean) / column.std
        return numbers[:, None], column.features
    classes = to_classes(table, column, missing, unknown)
    if encode == "index":
        return classes[:, None].astype(np.float64), [column.name]
    count = len(column.categories)
    if count > _MOST_CATEGORIES:
        raise ValueError(
            f"{table.path}, column {column.name!r}: {count} different values are too many for "
            "one-hot vectors. Leave the column out of 'columns', or say encode='index'."
        )
    return np.eye(count + 1)[classes, :count], column.features
