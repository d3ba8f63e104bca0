"""Parquet files as rows of features and targets. Only this module imports pyarrow, on first use."""

from collections.abc import Callable, Sequence
from typing import Any

from tinynet import dtypes
from tinynet.base import invocation
from tinynet.data.readers.files import FormatError, StrPath, open_existing
from tinynet.data.readers.table_rows import MISSING_VALUES, TableRows
from tinynet.data.readers.tables import Encode, Fill, Standardize, Table, Unknown, as_text


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
