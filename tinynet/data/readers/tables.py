"""Text files with rows and named columns, and their conversion to features and targets."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from tinynet import dtypes
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import FormatError, StrPath, listed, raise_all, text_of
from tinynet.dtypes import Array


@dataclass
class Table:
    """The values of a file, as text without surrounding spaces."""

    path: StrPath
    names: list[str]
    """The names of the columns."""

    rows: list[list[str]]
    lines: list[int]
    """The line in the file where each row begins, from 1."""

    unit: str = "line"
    """What ``lines`` counts."""

    mistakes: list[FormatError] = field(default_factory=list)
    """The mistakes found so far; `check` raises them."""

    def column(self, name: str) -> list[str]:
        """Return the values of a column; FormatError if there is no such column."""
        raise_all(self.unknown([name]))
        index = self.names.index(name)
        return [row[index] for row in self.rows]

    def unknown(self, names: Iterable[str]) -> list[FormatError]:
        """Return the errors for the names that no column has."""
        hint = ""
        if len(self.names) == 1 and (other := [c for c in ",;\t|" if c in self.names[0]]):
            hint = f" (is the delimiter {other[0]!r}?)"
        found = f"the columns {listed(map(repr, self.names))}{hint}"
        wrong = [name for name in dict.fromkeys(names) if name not in self.names]
        return [FormatError(self.path, f"a column {name!r}", found) for name in wrong]

    def error(self, row: int, name: str, expected: str, found: str) -> FormatError:
        """Return the error for one value."""
        where = f"{self.unit} {self.lines[row]}, column {name!r}"
        return FormatError(self.path, expected, found, where)

    def add_mistake(self, row: int, name: str, expected: str, found: str) -> None:
        """Add the error for one value to the mistakes."""
        self.mistakes.append(self.error(row, name, expected, found))

    def check(self) -> None:
        """Raise the mistakes found so far, all at once."""
        raise_all(self.mistakes)

    def only(self, kept: Sequence[int]) -> Table:
        """Return the table with the rows at these indices."""
        rows, lines = [self.rows[i] for i in kept], [self.lines[i] for i in kept]
        return Table(self.path, self.names, rows, lines, self.unit)


def read_table(
    path: StrPath,
    names: Sequence[str] | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> Table:
    """Return the values of a CSV file.

    Args:
        path: the file; decompressed if its name ends in ``.gz``.
        names: the column names, for a file without a header line.
        delimiter: the separator between values.
        encoding: the encoding of the text.

    Raises:
        FormatError: it is not text, a quote is not closed, column names are missing or repeated,
            there are no rows, or a row has a wrong number of values; the message has the line.
    """
    records = _records(path, text_of(path, encoding), delimiter)
    if names is None:
        line, first = next(records, (1, []))
        names = _checked_names(path, first, line)
    rows, lines, mistakes = [], [], []
    for line, row in records:
        if len(row) != len(names):
            expected = f"{quantity(len(names), 'value')}, as there are columns"
            mistakes.append(FormatError(path, expected, str(len(row)), f"line {line}"))
        rows.append(row)
        lines.append(line)
    raise_all(mistakes)
    if not rows:
        raise FormatError(path, "rows of values", "none")
    return Table(path, list(names), rows, lines)


def _records(path: StrPath, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Return the rows that are not empty, and the lines in which they begin."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True
    )
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            where = f"the row that begins in line {line}"
            raise FormatError(path, "comma-separated values", _reason(error), where) from None
        if row:
            yield line, [value.strip() for value in row]


def _reason(error: csv.Error) -> str:
    text = str(error)
    if text == "unexpected end of data":
        return "a quote that is not closed"
    if "expected after" in text:
        return "more text after a closing quote"
    return text


def _checked_names(path: StrPath, names: list[str], line: int) -> list[str]:
    if not names:
        raise FormatError(path, "a line of column names", "an empty file")
    for index, name in enumerate(names):
        if not name:
            raise FormatError(path, f"a name for column {index + 1}", "none", f"line {line}")
        if name in names[:index]:
            raise FormatError(path, "different names", f"{name!r} twice", f"line {line}")
    return names


# ---- columns ------------------------------------------------------------------------------------
# Converting text columns to numbers, with parameters learned from one table and used on others.


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


def _to_numbers(table: Table, column: Column, missing: Collection[str]) -> Array:
    """Return a numeric column as float64, and add values that are not numbers to the mistakes."""
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


def _to_classes(
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


def _to_features(
    table: Table, column: Column, missing: Collection[str], encode: Encode, unknown: Unknown
) -> tuple[Array, list[str]]:
    """Return a column as features (rows x features, float64), and their names.

    The one-hot vector of an unknown category is zero.
    """
    if column.categories is None:
        numbers = (_to_numbers(table, column, missing) - column.mean) / column.std
        return numbers[:, None], column.features
    classes = _to_classes(table, column, missing, unknown)
    if encode == "index":
        return classes[:, None].astype(np.float64), [column.name]
    count = len(column.categories)
    if count > _MOST_CATEGORIES:
        raise ValueError(
            f"{table.path}, column {column.name!r}: {count} different values are too many for "
            "one-hot vectors. Leave the column out of 'columns', or say encode='index'."
        )
    return np.eye(count + 1)[classes, :count], column.features


_LABELS = 2  # a target with as many different numbers is a label, such as 0 or 1


@dataclass(frozen=True)
class Options:
    """The user's options."""

    inputs: list[str]
    target: str | None
    missing: frozenset[str]
    fill: Fill
    encode: Encode
    unknown: Unknown
    standardize: Standardize
    dtype: dtypes.dtype


@dataclass(frozen=True)
class TableEncoder:
    """The user's options, and the categories, fillers, means and deviations of the columns.

    Called with rows, it returns their features.
    """

    options: Options
    inputs: list[Column]
    target: Column | None

    @classmethod
    def learned(
        cls,
        table: Table,
        options: Options,
        classify: bool | None = None,
        categorical: Collection[str] = (),
    ) -> TableEncoder:
        """Return the encoder learned from a table.

        Args:
            table: the rows to learn from.
            options: the user's options.
            classify: whether the target is a class; by default, if its values are not numbers.
            categorical: columns to treat as categories although they hold numbers.
        """
        inputs = [
            learn(table, name, name in categorical, options.missing, options.fill)
            for name in options.inputs
        ]
        target = None
        if options.target is not None and classify is False:
            target = Column(options.target)  # reading it reports the values that are not numbers
        elif options.target is not None:
            target = learn(table, options.target, bool(classify), options.missing, "refuse")
        if table.mistakes:  # all at once
            _report(table, options, [*inputs, target])
        return cls(options, *_scaled(table, options, [one for one in inputs if one], target))

    def fitted(self, table: Table) -> TableEncoder:
        """Return the encoder with fillers, means and categories learned from other rows.

        The kinds of the columns and the classes of the target remain.
        """
        options, inputs = self.options, []
        for column in self.inputs:
            is_categorical = column.categories is not None
            found = learn(table, column.name, is_categorical, options.missing, options.fill)
            if found is None:
                continue
            if MISSING in (column.categories or ()):
                known = [name for name in found.categories or () if name != MISSING]
                found = replace(found, categories=[*known, MISSING])
            inputs.append(found)
        table.check()
        return TableEncoder(options, *_scaled(table, options, inputs, self.target))

    def features(self, table: Table) -> tuple[Array, list[str]]:
        """Return the features of a table, shape (rows, features), and their names."""
        options = self.options
        blocks = [
            _to_features(table, column, options.missing, options.encode, options.unknown)
            for column in self.inputs
        ]
        features = np.concatenate([block for block, _ in blocks], axis=1)
        names = [name for _, names in blocks for name in names]
        return _converted(table, features, options.dtype, names), names

    def targets(self, table: Table) -> Array | None:
        """Return the targets of a table: classes (rows,) or numbers (rows, 1)."""
        if self.target is None:
            return None
        if self.target.categories is not None:
            return _to_classes(table, self.target, self.options.missing)
        numbers = _to_numbers(table, self.target, self.options.missing)
        scaled = (numbers - self.target.mean) / self.target.std
        return _converted(table, scaled[:, None], self.options.dtype, [self.target.name])

    @property
    def scales_target(self) -> bool:
        """Whether targets are standardized."""
        return self.target is not None and (self.target.mean, self.target.std) != (0.0, 1.0)

    def original(self, numbers: Any) -> Any:
        """Return targets, or the outputs for them, in the units of the target's column.

        Args:
            numbers: a tensor of any shape; everything else is returned as it is.

        Example:
            >>> from tinynet.data import CSV
            >>> path = getfixture("tmp_path") / "houses.csv"
            >>> _ = path.write_text("rooms,price\\n2,100\\n3,200\\n7,600\\n")
            >>> houses = CSV(path, "price", standardize=True)
            >>> houses.preprocessing.original(houses.targets)[2].item()
            600.0
        """
        if not self.scales_target or not isinstance(numbers, Tensor) or self.target is None:
            return numbers
        array = numbers.detach().numpy()
        if array.dtype.kind != "f":
            return numbers
        scaled = array.astype(float) * self.target.std + self.target.mean
        return wrap(np.asarray(scaled, array.dtype))

    @property
    def classes(self) -> list[str]:
        """The classes of the target; empty if it is a number."""
        return [] if self.target is None else list(self.target.categories or ())

    def __call__(
        self,
        rows: Sequence[Mapping[str, Any]],
        path: str = "rows",
        lines: Sequence[int] | None = None,
        unit: str = "row",
    ) -> Tensor:
        """Return the features of raw rows.

        Args:
            rows: mappings from column names to values; None is a missing value, and columns that
                the model does not use are ignored.
            path: what messages call the rows.
            lines: the number of each row, for messages (1, 2, ...).
            unit: what ``lines`` counts.

        Raises:
            FormatError: with all columns that are missing, and all values that do not fit.
        """
        names = [column.name for column in self.inputs]
        numbers = list(range(1, len(rows) + 1)) if lines is None else list(lines)
        table = Table(path, names, [], numbers, unit)
        for index, row in enumerate(rows):
            for name in names:
                if name not in row:
                    found = ", ".join(map(repr, row)) or "none"
                    table.add_mistake(index, name, "this column", f"the columns {found}")
            table.rows.append([as_text(row.get(name)) for name in names])
        table.check()
        features, _ = self.features(table)
        table.check()
        return wrap(features)

    def state_dict(self) -> dict[str, Any]:
        """Return the encoder as plain data, for JSON."""
        options = {**vars(self.options), "missing": sorted(self.options.missing)}
        options["dtype"] = self.options.dtype.name
        target = None if self.target is None else asdict(self.target)
        return {"options": options, "inputs": list(map(asdict, self.inputs)), "target": target}

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> TableEncoder:
        """Return the encoder that `state_dict` described."""
        given = dict(state["options"])
        given |= {"missing": frozenset(given["missing"]), "dtype": getattr(dtypes, given["dtype"])}
        target = None if state["target"] is None else Column(**state["target"])
        return cls(Options(**given), [Column(**one) for one in state["inputs"]], target)


def as_text(value: Any) -> str:
    """Return a value as a CSV file has it.

    Example:
        >>> as_text(None), as_text(True), as_text(2.50), as_text(" a ")
        ('', 'true', '2.5', 'a')
    """
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    return str(value).strip()


def complete(table: Table, options: Options) -> Table:
    """Return the table without the rows to drop."""
    if options.fill != "drop":
        return table
    used = options.inputs if options.target is None else [*options.inputs, options.target]
    columns = [table.column(name) for name in used]
    kept = [
        index
        for index, row in enumerate(zip(*columns, strict=True))
        if options.missing.isdisjoint(row)
    ]
    if not kept:
        raise FormatError(table.path, "a row without missing values", "none")
    return table.only(kept)


def _report(table: Table, options: Options, columns: Sequence[Column | None]) -> None:
    """Raise all mistakes, those in the values of these columns included."""
    for column in columns:
        if column is not None:
            read = _to_numbers if column.categories is None else _to_classes
            read(table, column, options.missing)
    table.check()


def _scaled(
    table: Table, options: Options, columns: list[Column], target: Column | None
) -> tuple[list[Column], Column | None]:
    """Return the columns, and the target, with the means and deviations of a table."""
    if options.standardize:
        columns = [_standardized(table, options, column) for column in columns]
    if target is not None and options.standardize is True:
        target = _standardized(table, options, target, least=_LABELS + 1)
    return columns, target


def _standardized(table: Table, options: Options, column: Column, least: int = 1) -> Column:
    """Return a numeric column with its mean and deviation, if it has at least `least` values."""
    if column.categories is not None:
        return column
    numbers = _to_numbers(table, column, options.missing)
    if len(np.unique(numbers)) < least:
        return column
    return replace(column, mean=float(numbers.mean()), std=float(numbers.std()) or 1.0)


def _converted(table: Table, numbers: Array, dtype: dtypes.dtype, names: Sequence[str]) -> Array:
    """Return the numbers in another dtype; those that it cannot represent are mistakes."""
    with np.errstate(over="ignore", invalid="ignore"):
        converted: Array = numbers.astype(dtype.numpy)
    for row, column in np.argwhere(~np.isfinite(converted)).tolist():
        expected = f"a number that {dtype.name} can hold"
        table.add_mistake(row, names[column], expected, f"{numbers[row, column]:g}")
    return converted
