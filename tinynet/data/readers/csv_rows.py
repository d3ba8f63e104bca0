"""Rows of CSV files as features and targets."""

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
    """The rows of a CSV file: features from some of its columns, a target from another one.

    Sample ``i`` is ``(features, target)``. Features are one vector: a number for each column of
    numbers, a one-hot vector for each column of anything else. The target is a class (int64 without
    dimensions) or a number (of shape (1,), like the output of a ``Linear``). Without ``target`` it
    is ``(features,)``.

    The first line has the names of the columns. Values may be quoted; spaces around them, and empty
    lines, do not count.

    Args:
        path: the file, or a ``.gz`` of it.
        target: the column to predict.
        columns: the columns for the features (all others).
        classify: whether the target is a class. If left out, it is one if it is no number.
        categorical: columns of numbers that are names all the same, such as postal codes.
        missing: what stands for a missing value.
        fill: what to do with them: ``"refuse"``, ``"drop"`` the row, put the ``"mean"`` or the
            ``"median"`` of the column, or a number. Among categories they become one of their own.
            A missing target is refused, or dropped.
        encode: ``"one_hot"``, or ``"index"``: one number per category.
        standardize: columns of numbers get the mean 0 and the variance 1 (over all rows).
        dtype: of the features, and of targets that are numbers.
        names: the names of the columns, for a file without that line.
        delimiter, encoding: how the file is written.
        like: a ``CSV`` whose categories, means and choice of columns are used again: so the rows of
            a test file become the same numbers. What it says replaces ``target`` to ``dtype``.
        transform, target_transform: functions of the features and of the target.

    Attributes:
        feature_names: what each feature is: ``"age"``, ``"color=red"``.
        classes: the classes of the target, in the order of their numbers; empty for numbers.
        features: all features, shape (rows, features).

    Raises:
        FormatError: the file is not as it should be; with the line and the column.
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
            how = _How(inputs, target, frozenset(missing), fill, encode, dtype)
            table = _complete(table, how)
            self._plan = _learn(table, how, classify, categorical, standardize)
        else:
            self._plan = like._plan
            table = _complete(table, self._plan.how)
        features, self.feature_names = _features(table, self._plan)
        arrays = [features]
        if self._plan.target is not None:
            arrays.append(_targets(table, self._plan, self._plan.target))
        super().__init__(arrays, transform, target_transform)

    @property
    def classes(self) -> list[str]:
        """The classes of the target; none if it is a number."""
        target = self._plan.target
        return [] if target is None or target.categories is None else list(target.categories)

    @property
    def features(self) -> Tensor:
        """The features of all rows."""
        return wrap(self._arrays[0])


@dataclass(frozen=True)
class _How:
    """What the user said."""

    inputs: list[str]
    target: str | None
    missing: frozenset[str]
    fill: Fill
    encode: Encode
    dtype: dtypes.dtype


@dataclass(frozen=True)
class _Plan:
    """What the user said, and what was learnt from the rows."""

    how: _How
    inputs: list[Column]
    target: Column | None


def _chosen(
    table: Table, target: str | None, columns: Sequence[str] | None, categorical: Sequence[str]
) -> list[str]:
    """The columns that the features come from; all names that are given must exist."""
    for name in [*(columns or ()), *categorical, *(() if target is None else [target])]:
        table.column(name)
    chosen = [name for name in table.names if name != target] if columns is None else list(columns)
    if target in chosen:
        raise ValueError(f"CSV: the target {target!r} cannot be among the 'columns' as well.")
    if not chosen:
        raise ValueError(f"CSV: no column of {table.path} is left for the features.")
    return chosen


def _complete(table: Table, how: _How) -> Table:
    """The table without the rows that have to be dropped."""
    if how.fill != "drop":
        return table
    used = how.inputs if how.target is None else [*how.inputs, how.target]
    columns = [table.column(name) for name in used]
    table = table.without([not how.missing.isdisjoint(row) for row in zip(*columns, strict=True)])
    if not table.rows:
        raise FormatError(table.path, "a row without missing values", "none")
    return table


def _learn(
    table: Table, how: _How, classify: bool | None, categorical: Sequence[str], standardize: bool
) -> _Plan:
    inputs = [learn(table, n, n in categorical, how.missing, how.fill) for n in how.inputs]
    if standardize:
        for column in inputs:
            if column.categories is None:
                numbers = to_numbers(table, column, how.missing)
                column.mean = float(numbers.mean())
                column.std = float(numbers.std()) or 1.0
    if how.target is None:
        return _Plan(how, inputs, None)
    target = learn(table, how.target, bool(classify), how.missing, "refuse")
    if classify is False and target.categories is not None:
        target = Column(how.target)  # the first value that is no number will be shown
    return _Plan(how, inputs, target)


def _features(table: Table, plan: _Plan) -> tuple[Array, list[str]]:
    how = plan.how
    blocks = [to_features(table, column, how.missing, how.encode) for column in plan.inputs]
    features = np.concatenate([block for block, _ in blocks], axis=1)
    names = [name for _, names in blocks for name in names]
    return _converted(table, features, how.dtype, names), names


def _targets(table: Table, plan: _Plan, target: Column) -> Array:
    if target.categories is not None:
        return to_classes(table, target, plan.how.missing)
    numbers = to_numbers(table, target, plan.how.missing)
    return _converted(table, numbers[:, None], plan.how.dtype, [target.name])


def _converted(table: Table, numbers: Array, dtype: dtypes.dtype, names: Sequence[str]) -> Array:
    """The numbers in another dtype, if it can hold them."""
    with np.errstate(over="ignore", invalid="ignore"):
        converted = numbers.astype(dtype.numpy)
    wrong = np.argwhere(~np.isfinite(converted))
    if len(wrong):
        row, column = wrong[0].tolist()
        found = f"{numbers[row, column]:g}"
        raise table.error(row, names[column], f"a number that {dtype.name} can hold", found)
    return converted
