"""CSV files as rows of features and targets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.columns import (
    Column,
    Encode,
    Fill,
    learn,
    to_classes,
    to_features,
    to_numbers,
)
from tinynet.data.readers.files import FormatError, StrPath
from tinynet.data.readers.rows import Rows
from tinynet.data.readers.tables import Table, read_table
from tinynet.dtypes import Array


class CSV(Rows[tuple[Tensor, ...]]):
    """The rows of a CSV file: features from some columns, a target from another.

    Sample ``i`` is ``(features, target)``. Features form one vector: a number for each numeric
    column, a one-hot vector for each categorical column. The target is a class (0-d int64) or a
    number (of shape (1,), like the output of a ``Linear``). Without ``target`` the sample is
    ``(features,)``.

    The first line has the column names. Values may be quoted; surrounding spaces and empty lines
    are ignored.

    Args:
        path: the file, plain or ``.gz``.
        target: the column to predict.
        columns: the columns to use as features (all others).
        classify: whether the target is a class; by default, if its values are not numbers.
        categorical: columns to treat as categories although they hold numbers, such as postal
            codes.
        missing: texts that mark a missing value.
        fill: how to handle missing values: ``"refuse"``; ``"drop"`` the row; insert the ``"mean"``
            or ``"median"`` of the column; or insert a number. Among categories, missing values
            form their own category. A missing target is refused or dropped.
        encode: ``"one_hot"``, or ``"index"`` for one number per category.
        standardize: scale numeric columns to mean 0 and variance 1 (over all rows).
        dtype: the dtype of features and numeric targets.
        names: the column names, for a file without a header line.
        delimiter, encoding: the format of the file.
        like: another ``CSV`` whose categories, means and columns to reuse, so that a test file is
            converted like the training file. It replaces ``target`` to ``dtype``.
        transform, target_transform: functions of the features and of the target.

    Attributes:
        feature_names: the name of each feature: ``"age"``, ``"color=red"``.
        classes: the classes of the target, in the order of their numbers; empty for numbers.
        features: all features, shape (rows, features).

    Raises:
        FormatError: the contents are invalid; the message has the line and the column.
        ValueError: the arguments do not fit together.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "a.csv")
        >>> _ = path.write_text('age,color,kind\\n3,red,a\\n5,"blue",b\\n')
        >>> rows = tn.data.CSV(path, target="kind")
        >>> rows.feature_names, rows.classes
        (['age', 'color=blue', 'color=red'], ['a', 'b'])
        >>> rows[1]
        (tensor([5., 1., 0.]), tensor(1))
    """

    def __init__(
        self,
        path: StrPath,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        classify: bool | None = None,
        categorical: Sequence[str] = (),
        missing: Sequence[str] = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?"),
        fill: Fill = "refuse",
        encode: Encode = "one_hot",
        standardize: bool = False,
        dtype: dtypes.dtype = dtypes.float32,
        names: Sequence[str] | None = None,
        delimiter: str = ",",
        encoding: str = "utf-8",
        like: "CSV | None" = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        table = read_table(path, names, delimiter, encoding)
        if like is None:
            inputs = _chosen(table, target, columns, categorical)
            options = _Options(inputs, target, frozenset(missing), fill, encode, dtype)
            table = _complete(table, options)
            self._plan = _learn(table, options, classify, categorical, standardize)
        else:
            self._plan = like._plan
            table = _complete(table, self._plan.options)
        features, self.feature_names = _features(table, self._plan)
        arrays = [features]
        if self._plan.target is not None:
            arrays.append(_targets(table, self._plan, self._plan.target))
        super().__init__(arrays, transform, target_transform)

    @property
    def classes(self) -> list[str]:
        """The classes of the target; empty if it is a number."""
        target = self._plan.target
        return [] if target is None or target.categories is None else list(target.categories)

    @property
    def features(self) -> Tensor:
        """The features of all rows."""
        return wrap(self._arrays[0])


@dataclass(frozen=True)
class _Options:
    """The user's options."""

    inputs: list[str]
    target: str | None
    missing: frozenset[str]
    fill: Fill
    encode: Encode
    dtype: dtypes.dtype


@dataclass(frozen=True)
class _Plan:
    """The user's options, and the conversions learned from the rows."""

    options: _Options
    inputs: list[Column]
    target: Column | None


def _chosen(
    table: Table, target: str | None, columns: Sequence[str] | None, categorical: Sequence[str]
) -> list[str]:
    """Return the columns to use as features; all given names must exist."""
    for name in [*(columns or ()), *categorical, *(() if target is None else [target])]:
        table.column(name)
    chosen = [name for name in table.names if name != target] if columns is None else list(columns)
    if target in chosen:
        raise ValueError(f"CSV: the target {target!r} cannot be among the 'columns' as well.")
    if not chosen:
        raise ValueError(f"CSV: no column of {table.path} is left for the features.")
    return chosen


def _complete(table: Table, options: _Options) -> Table:
    """Return the table without the rows to drop."""
    if options.fill != "drop":
        return table
    used = options.inputs if options.target is None else [*options.inputs, options.target]
    columns = [table.column(name) for name in used]
    table = table.without(
        [not options.missing.isdisjoint(row) for row in zip(*columns, strict=True)]
    )
    if not table.rows:
        raise FormatError(table.path, "a row without missing values", "none")
    return table


def _learn(
    table: Table,
    options: _Options,
    classify: bool | None,
    categorical: Sequence[str],
    standardize: bool,
) -> _Plan:
    inputs = [
        learn(table, n, n in categorical, options.missing, options.fill) for n in options.inputs
    ]
    if standardize:
        for column in inputs:
            if column.categories is None:
                numbers = to_numbers(table, column, options.missing)
                column.mean = float(numbers.mean())
                column.std = float(numbers.std()) or 1.0
    if options.target is None:
        return _Plan(options, inputs, None)
    target = learn(table, options.target, bool(classify), options.missing, "refuse")
    if classify is False and target.categories is not None:
        target = Column(options.target)  # reading it reports the first value that is not a number
    return _Plan(options, inputs, target)


def _features(table: Table, plan: _Plan) -> tuple[Array, list[str]]:
    options = plan.options
    blocks = [to_features(table, column, options.missing, options.encode) for column in plan.inputs]
    features = np.concatenate([block for block, _ in blocks], axis=1)
    names = [name for _, names in blocks for name in names]
    return _converted(table, features, options.dtype, names), names


def _targets(table: Table, plan: _Plan, target: Column) -> Array:
    if target.categories is not None:
        return to_classes(table, target, plan.options.missing)
    numbers = to_numbers(table, target, plan.options.missing)
    return _converted(table, numbers[:, None], plan.options.dtype, [target.name])


def _converted(table: Table, numbers: Array, dtype: dtypes.dtype, names: Sequence[str]) -> Array:
    """Return the numbers in another dtype; FormatError if it cannot represent them."""
    with np.errstate(over="ignore", invalid="ignore"):
        converted = numbers.astype(dtype.numpy)
    wrong = np.argwhere(~np.isfinite(converted))
    if len(wrong):
        row, column = wrong[0].tolist()
        found = f"{numbers[row, column]:g}"
        raise table.error(row, names[column], f"a number that {dtype.name} can hold", found)
    return converted
