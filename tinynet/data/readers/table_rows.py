"""Readers of tables: their base class, CSV, Parquet. Only this module imports pyarrow, on use."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from tinynet import dtypes
from tinynet.base import invocation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.dataset import Dataset, Samples
from tinynet.data.readers.files import FormatError, StrPath, open_existing, raise_all
from tinynet.data.readers.tables import (
    Encode,
    Fill,
    Options,
    Standardize,
    Table,
    TableEncoder,
    Unknown,
    as_text,
    complete,
    read_table,
)
from tinynet.data.splits import Subset
from tinynet.data.transforms.base import apply_to_batch
from tinynet.dtypes import Array

# ---- rows ---------------------------------------------------------------------------------------
# The base class of readers whose samples are rows of arrays, in memory or memory-mapped.


T_co = TypeVar("T_co", covariant=True)


class Rows(Dataset[T_co]):
    """The rows of arrays: sample ``i`` is row ``i`` of each, as tensors.

    Args:
        arrays: arrays of the same length; they may be memory-mapped, read-only, or in another
            byte order, because a sample is always a copy.
        transform: a function of the first tensor.
        target_transform: a function of the second.

    A batch is gathered with one indexing per array, and ``batched`` transforms are applied to the
    whole batch.

    Example:
        >>> from tinynet.data.readers.table_rows import Rows
        >>> rows = Rows([np.array([1, 2]), np.array([0, 1])], transform=lambda x: x * 10)
        >>> rows[1]
        (tensor(20), tensor(1))
    """

    def __init__(
        self,
        arrays: Sequence[Array],
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        self._arrays = [np.asarray(array) for array in arrays]
        self.transform = self._plain = transform  # the latter is without augmentation
        self.target_transform = target_transform

    def __len__(self) -> int:
        return len(self._arrays[0])

    def divided(
        self, train: Sequence[int], test: Sequence[int], state: Mapping[str, Any] | None = None
    ) -> tuple[Any, Any]:
        """Return the training part, and another part without augmentation.

        Args:
            train: the indices of the rows for training.
            test: those of the rows to measure on.
            state: not used: nothing is learned from the rows.
        """
        measured = copy.copy(self)
        measured.transform = self._plain
        return Subset(self, train), Subset(measured, test)

    def __getitem__(self, index: Any) -> Any:
        sample: list[Any] = [
            wrap(np.array(array[index], dtype=array.dtype.newbyteorder("=")))
            for array in self._arrays
        ]
        for position, function in enumerate((self.transform, self.target_transform)):
            if function is not None and position < len(sample):
                sample[position] = function(sample[position])
        return tuple(sample)

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """Return the samples at ``indices``, gathered and transformed together where possible."""
        if type(self).__getitem__ is not Rows.__getitem__ or not len(indices):
            return [self[index] for index in indices]  # a subclass overrides __getitem__
        if not {*map(type, indices)} <= {int, np.int64}:
            return [self[index] for index in indices]
        columns: list[Any] = [_gathered(array, indices) for array in self._arrays]
        for position, function in enumerate((self.transform, self.target_transform)):
            if function is not None and position < len(columns):
                columns[position] = apply_to_batch(function, columns[position])
        if all(isinstance(column, Tensor) for column in columns):
            return Samples(tuple(columns))
        return list(zip(*columns, strict=True))


def _gathered(array: Array, indices: Sequence[int]) -> Tensor:
    rows = array.take(indices, axis=0)
    return wrap(rows.astype(rows.dtype.newbyteorder("="), copy=False))


# ---- table rows ---------------------------------------------------------------------------------


MISSING_VALUES = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?")


class TableRows(Rows[tuple[Tensor, ...]]):
    """The rows of a table, converted by an encoder that is learned from them.

    The arguments are those of `CSV`, except the table.
    """

    def __init__(
        self,
        table: Table,
        target: str | None,
        columns: Sequence[str] | None,
        *,
        ignore: Sequence[str],
        classify: bool | None,
        categorical: Sequence[str],
        missing: Sequence[str],
        fill: Fill,
        encode: Encode,
        unknown: Unknown,
        standardize: Standardize,
        dtype: dtypes.dtype,
        like: "TableRows | None",
        transform: Callable[[Any], Any] | None,
        target_transform: Callable[[Any], Any] | None,
    ):
        self.transform, self.target_transform = transform, target_transform
        if like is None:
            named = [*(columns or ()), *ignore, *categorical, *(() if target is None else [target])]
            raise_all(table.unknown(named))
            inputs = self._chosen(table, target, columns, ignore)
            options = Options(
                inputs, target, frozenset(missing), fill, encode, unknown, standardize, dtype
            )
            table = complete(table, options)
            encoder = TableEncoder.learned(table, options, classify, categorical)
        else:
            encoder = like.preprocessing
            table = complete(table, encoder.options)
        self._encode(table, encoder)

    def _chosen(
        self,
        table: Table,
        target: str | None,
        columns: Sequence[str] | None,
        ignore: Sequence[str],
    ) -> list[str]:
        """Return the columns to use as features."""
        name = type(self).__name__
        left_out = {target, *ignore}
        chosen = [n for n in table.names if n not in left_out] if columns is None else [*columns]
        for column in left_out.intersection(chosen):
            role = "target" if column == target else "ignored column"
            raise ValueError(
                f"{name}: the {role} {column!r} cannot be among the 'columns' as well."
            )
        if not chosen:
            raise ValueError(f"{name}: no column of {table.path} is left for the features.")
        return chosen

    def _encode(self, table: Table, encoder: TableEncoder) -> None:
        table.mistakes.clear()
        features, self.feature_names = encoder.features(table)
        targets = encoder.targets(table)
        table.check()
        self._table = table
        self.preprocessing = encoder
        self._arrays = [features] if targets is None else [features, targets]

    @property
    def classes(self) -> list[str]:
        """The classes of the target; empty if it is a number."""
        return self.preprocessing.classes

    @property
    def features(self) -> Tensor:
        """The features of all rows."""
        return wrap(self._arrays[0])

    @property
    def targets(self) -> Tensor | None:
        """The targets of all rows; None without a target."""
        return wrap(self._arrays[1]) if len(self._arrays) > 1 else None

    def row(self, index: int) -> dict[str, str]:
        """Return the values of a row that are features, by column, as the file has them."""
        return {
            column.name: self.column(column.name)[index] for column in self.preprocessing.inputs
        }

    def column(self, name: str) -> list[str]:
        """Return the values of a column as text, such as those to split the rows by."""
        return self._table.column(name)

    def divided(
        self,
        train: Sequence[int],
        test: Sequence[int],
        state: Mapping[str, Any] | None = None,
    ) -> tuple[Self, Self]:
        """Return the training part and the test part of the rows.

        Args:
            train: the indices of the rows for training, from which everything is learned.
            test: those of the rows for testing.
            state: the ``preprocessing.state_dict()`` to use, instead of learning it.

        Raises:
            FormatError: the test part has categories that the training part does not have, and
                ``unknown`` is ``"refuse"``.
        """
        if state is None:
            encoder = self.preprocessing.fitted(self._table.only(train))
        else:
            encoder = TableEncoder.from_state_dict(state)
        return self._part(train, encoder), self._part(test, encoder)

    def _part(self, rows: Sequence[int], encoder: TableEncoder) -> Self:
        part = copy.copy(self)
        part._encode(self._table.only(rows), encoder)
        return part


# ---- csv rows -----------------------------------------------------------------------------------
# CSV files as rows of features and targets.


class CSV(TableRows):
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
        ignore: columns that are not features, such as the number of a patient.
        classify: whether the target is a class; by default, if its values are not numbers.
        categorical: columns to treat as categories although they hold numbers, such as postal
            codes.
        missing: texts that mark a missing value.
        fill: how to handle missing values: ``"refuse"``; ``"drop"`` the row; insert the ``"mean"``
            or ``"median"`` of the column; or insert a number. Among categories, missing values
            form their own category. A missing target is refused or dropped.
        encode: ``"one_hot"``, or ``"index"`` for one number per category.
        unknown: how to handle categories that were not among the rows learned from:
            ``"refuse"``, or ``"ignore"`` (a one-hot vector of zeros, or a number of its own).
        standardize: scale numeric columns to mean 0 and variance 1, the target included (but not
            one of two numbers, a label); ``"inputs"`` leaves the target as it is.
            ``preprocessing.original`` undoes it. In a config, means, fillers and categories come
            from the training part alone.
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
        FormatError: the contents are invalid; the message has the line and the column of each
            mistake.
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
        ignore: Sequence[str] = (),
        classify: bool | None = None,
        categorical: Sequence[str] = (),
        missing: Sequence[str] = MISSING_VALUES,
        fill: Fill = "refuse",
        encode: Encode = "one_hot",
        unknown: Unknown = "refuse",
        standardize: Standardize = False,
        dtype: dtypes.dtype = dtypes.float32,
        names: Sequence[str] | None = None,
        delimiter: str = ",",
        encoding: str = "utf-8",
        like: "CSV | None" = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        super().__init__(
            read_table(path, names, delimiter, encoding),
            target,
            columns,
            ignore=ignore,
            classify=classify,
            categorical=categorical,
            missing=missing,
            fill=fill,
            encode=encode,
            unknown=unknown,
            standardize=standardize,
            dtype=dtype,
            like=like,
            transform=transform,
            target_transform=target_transform,
        )


# ---- parquet ------------------------------------------------------------------------------------
# Rows of features and targets.


class Parquet(TableRows):
    """The rows of a Parquet file: features from some columns, a target from another.

    Samples, attributes and the arguments that are not listed here are those of `CSV`. Null and NaN
    are missing values. Columns of texts, booleans and dates are categories. Requires pyarrow
    (``pip install pyarrow``).

    Args:
        path: the file.
        target: the column to predict.
        columns: the columns to use as features (all others).
        ignore: columns that are not features.

    Source: the Apache Parquet format, https://parquet.apache.org/docs/file-format/

    Raises:
        FormatError: the contents are invalid; the message has the row, from 1, and the column of
            each mistake.
        ModuleNotFoundError: pyarrow is not installed.
        ValueError: the arguments do not fit together.

    Example:
        >>> import pathlib, tempfile
        >>> from pyarrow import parquet, table
        >>> path = pathlib.Path(tempfile.mkdtemp(), "a.parquet")
        >>> parquet.write_table(table({"age": [3, 5], "kind": ["a", "b"]}), path)
        >>> rows = tn.data.Parquet(path, target="kind")
        >>> rows[1]
        (tensor([5.]), tensor(1))
    """

    def __init__(
        self,
        path: StrPath,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        ignore: Sequence[str] = (),
        classify: bool | None = None,
        categorical: Sequence[str] = (),
        missing: Sequence[str] = MISSING_VALUES,
        fill: Fill = "refuse",
        encode: Encode = "one_hot",
        unknown: Unknown = "refuse",
        standardize: Standardize = False,
        dtype: dtypes.dtype = dtypes.float32,
        like: "TableRows | None" = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        super().__init__(
            read_parquet(path),
            target,
            columns,
            ignore=ignore,
            classify=classify,
            categorical=categorical,
            missing=missing,
            fill=fill,
            encode=encode,
            unknown=unknown,
            standardize=standardize,
            dtype=dtype,
            like=like,
            transform=transform,
            target_transform=target_transform,
        )


def read_parquet(path: StrPath) -> Table:
    """Return the values of a Parquet file.

    Raises:
        FormatError: the file is damaged or no Parquet file, or it has no rows, repeated names, or
            columns of lists or structures.
        ModuleNotFoundError: pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Parquet files are read with pyarrow, which is not installed: "
            f"`{invocation.installation('parquet')}`.",
            name="pyarrow",
        ) from None
    with open_existing(path) as file:
        try:
            table = parquet.ParquetFile(file).read()
        except (pyarrow.ArrowException, OSError) as error:
            found = str(error).splitlines()[0]
            raise FormatError(path, "a complete Parquet file", found) from None
    names = table.column_names
    for name, kind in zip(names, table.schema.types, strict=True):
        if names.count(name) > 1:
            raise FormatError(path, "different names", f"{name!r} twice")
        if pyarrow.types.is_nested(kind):
            raise FormatError(path, "single values", str(kind), f"column {name!r}")
    if not table.num_rows:
        raise FormatError(path, "rows of values", "none")
    columns = [map(as_text, column.to_pylist()) for column in table.columns]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Table(path, names, rows, list(range(1, len(rows) + 1)), "row")
