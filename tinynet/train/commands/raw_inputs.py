"""Raw inputs for ``tinynet predict``: files, and lines of standard input."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.data.readers.encoding import TableEncoder
from tinynet.data.readers.image_folder import EXTENSIONS
from tinynet.data.readers.parquet import read_parquet
from tinynet.data.readers.tables import Table, read_table
from tinynet.dtypes import Array
from tinynet.train.config.problems import UsageError
from tinynet.train.running.trained import Trained


class LineReader:
    """The lines of standard input as raw rows.

    Args:
        trained: the run.
    """

    def __init__(self, trained: Trained) -> None:
        encoder = trained.preprocessing
        self.delimiter = trained.config.data.component.arguments.get("delimiter", ",")
        self.is_table = encoder is not None
        self.inputs = [column.name for column in encoder.inputs] if encoder else []
        self.columns = self.inputs
        """The columns of a CSV line: those of the header, or else those of the model."""

        self.is_first = True

    def is_header(self, line: str) -> bool:
        """Return whether a line is the header of CSV lines, and use it."""
        first, self.is_first = self.is_first, False
        if not first or not self.is_table or line[0] in "{[":
            return False
        values = self._values(line)
        if not {*self.inputs} <= {*values}:
            return False
        self.columns = values
        return True

    def row(self, line: str) -> Any:
        """Return the raw row of a line.

        Raises:
            ValueError: it is neither JSON nor CSV, or its number of values is wrong.
        """
        if line[0] in '{["' and not (self.is_table and line[0] == '"'):
            try:
                return json.loads(line)
            except ValueError as error:
                raise ValueError(f"the line is no JSON: {error}") from None
        if not self.is_table:
            return self._numbers(line)
        values = self._values(line)
        if len(values) != len(self.columns):
            raise ValueError(
                f"expected {len(self.columns)} values ({', '.join(self.columns)}), "
                f"found {len(values)}"
            )
        return dict(zip(self.columns, values, strict=True))

    def _numbers(self, line: str) -> Any:
        """Return a line of numbers as a list, and any other as it is: the path of an image."""
        try:
            return [float(value) for value in self._values(line)]
        except ValueError:
            return line

    def _values(self, line: str) -> list[str]:
        (values,) = csv.reader([line], delimiter=self.delimiter, skipinitialspace=True)
        return [value.strip() for value in values]


def read_inputs(trained: Trained, path: Path) -> Tensor:
    """Return the inputs in a file.

    Raises:
        UsageError: if it cannot be read, or does not hold inputs of the data set.
    """
    try:
        if trained.preprocessing is not None and path.suffix not in (".npy", ".npz"):
            return _of_table(_table(trained, path), trained.preprocessing)
        if path.suffix.lower() in EXTENSIONS:
            return trained.inputs_of([path])
        return trained.shaped(read_array(path), str(path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, ModuleNotFoundError) as error:  # FormatError is one
        raise UsageError(str(error)) from None


def _table(trained: Trained, path: Path) -> Table:
    if path.suffix == ".parquet":
        return read_parquet(path)
    given = trained.config.data.component.arguments
    known = {key: given[key] for key in ("names", "delimiter", "encoding") if key in given}
    return read_table(path, **known)


def _of_table(table: Table, encoder: TableEncoder) -> Tensor:
    rows = [dict(zip(table.names, row, strict=True)) for row in table.rows]
    absent = table.unknown(column.name for column in encoder.inputs)
    if absent:
        raise UsageError("\n".join(map(str, absent)))
    return encoder(rows, str(table.path), table.lines, table.unit)


def read_array(path: Path) -> Array:
    """Return the array in a file.

    Raises:
        UsageError: if it cannot be read, or does not hold exactly one array of numbers.
    """
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
        raise ValueError(f"it holds {len(archive.files)} arrays instead of one")
    array: Array = archive[archive.files[0]]
    return array
