"""The conversion of table rows to features and targets: learned from some rows, used on all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import FormatError
from tinynet.data.readers.tables import (
    MISSING,
    Column,
    Encode,
    Fill,
    Standardize,
    Table,
    Unknown,
    learn,
    to_classes,
    to_features,
    to_numbers,
)
from tinynet.dtypes import Array

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
            to_features(table, column, options.missing, options.encode, options.unknown)
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
            return to_classes(table, self.target, self.options.missing)
        numbers = to_numbers(table, self.target, self.options.missing)
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
            read = to_numbers if column.categories is None else to_classes
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
    numbers = to_numbers(table, column, options.missing)
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
