"""Files of arrays and tables as inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.readers.encoding import TableEncoder
from tinynet.data.readers.parquet import read_parquet
from tinynet.data.readers.tables import Table, read_table
from tinynet.dtypes import Array
from tinynet.train.base.problems import UsageError
from tinynet.train.config.sections import Config

PACKED = (".npy", ".npz")
ARRAYS = (*PACKED, ".csv")
_POINTER = b"version https://git-lfs.github.com/spec/"


def check_content(path: Path) -> None:
    """Check that a file is not empty, and not a pointer of Git LFS to the file itself.

    Raises:
        UsageError: it is.
        OSError: it cannot be opened.
    """
    with open(path, "rb") as file:
        start = file.read(len(_POINTER))
    if not start:
        raise UsageError(f"{path} is empty")
    if start == _POINTER:
        raise UsageError(f"{path} is a Git LFS pointer: `git lfs pull` downloads the file itself")


def table_in(path: Path, encoder: TableEncoder, config: Config) -> Tensor:
    """Return the rows of a table as inputs.

    Raises:
        UsageError: a column is missing.
        FormatError: values do not fit.
    """
    table = _table(path, config)
    rows = [dict(zip(table.names, row, strict=True)) for row in table.rows]
    names = [column.name for column in encoder.inputs]
    absent = table.unknown(names)
    if len(absent) == len(names):
        raise UsageError(f"{path} has none of the columns of the training data")
    if absent:
        raise UsageError("\n".join(map(str, absent)))
    return encoder(rows, str(table.path), table.lines, table.unit)


def _table(path: Path, config: Config) -> Table:
    if path.suffix == ".parquet":
        return read_parquet(path)
    given = config.data.component.arguments
    known = {key: given[key] for key in ("names", "delimiter", "encoding") if key in given}
    return read_table(path, **known)


def read_array(path: Path) -> Array:
    """Return the array in a file.

    Raises:
        UsageError: if it cannot be read, or does not hold exactly one array of numbers.
    """
    if path.suffix not in ARRAYS:
        raise UsageError(f"{path} is not an array of numbers")
    try:
        if path.suffix == ".csv":
            array = np.loadtxt(path, delimiter=",", ndmin=2)
        else:
            with open(path, "rb") as file:
                loaded = np.load(file, allow_pickle=False)
                array = loaded if isinstance(loaded, np.ndarray) else _only(loaded)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # a damaged file can raise anything
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"{path} cannot be read: {text}") from None
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{path} holds {array.dtype}, not numbers")
    return array


def _only(archive: Any) -> Array:
    if len(archive.files) != 1:
        raise ValueError(f"it holds {quantity(len(archive.files), 'array')} instead of one")
    array: Array = archive[archive.files[0]]
    return array
