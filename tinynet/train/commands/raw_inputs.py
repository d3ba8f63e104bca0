"""Raw inputs for ``tinynet predict``: files, and lines of standard input."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.data.readers.encoding import TableEncoder
from tinynet.data.readers.files import text_of
from tinynet.data.readers.folder import files_in
from tinynet.data.readers.image_encoding import ImageEncoder
from tinynet.data.readers.image_folder import EXTENSIONS
from tinynet.data.readers.parquet import read_parquet
from tinynet.data.readers.tables import Table, read_table
from tinynet.data.texts.encoding import TextEncoder
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
        self.is_table = isinstance(encoder, TableEncoder)
        self.is_text = isinstance(encoder, TextEncoder)
        self.inputs = (
            [column.name for column in encoder.inputs] if isinstance(encoder, TableEncoder) else []
        )
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
        if self.is_text:
            return _text(line)
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


def _text(line: str) -> str:
    """Return the text of a line: as it is, or from a JSON string (which may have line breaks)."""
    try:
        decoded = json.loads(line) if line[0] == '"' else None
    except ValueError:
        decoded = None
    return decoded if isinstance(decoded, str) else line


def endings_of(trained: Trained) -> tuple[str, ...]:
    """Return the extensions of files that are one example each."""
    if isinstance(trained.preprocessing, TextEncoder):
        return (".txt",)
    return () if isinstance(trained.preprocessing, TableEncoder) else EXTENSIONS


def is_example(trained: Trained, path: Path) -> bool:
    """Return whether a file is one example of a model of images or texts."""
    if isinstance(trained.preprocessing, TextEncoder):
        return True
    return isinstance(trained.preprocessing, ImageEncoder) and path.suffix not in (".npy", ".npz")


def files_of(trained: Trained, names: Iterable[str]) -> Iterator[Path]:
    """Yield the files with these names; for a folder, the images or texts in it.

    Raises:
        UsageError: a folder has none.
    """
    endings = endings_of(trained)
    for name in names:
        if not Path(name).is_dir():
            yield Path(name)
            continue
        found = [path for path in files_in(name) if path.lower().endswith(endings)]
        if not endings or not found:
            what = f" with no file that ends in {', '.join(endings)}" if endings else ""
            raise UsageError(f"{name} is a folder{what}")
        yield from map(Path, found)


def read_inputs(trained: Trained, paths: Sequence[Path]) -> Tensor:
    """Return the inputs in a file, or in several that are one example each (`is_example`).

    Raises:
        UsageError: if one cannot be read, or does not hold inputs of the data set.
    """
    encoder, path = trained.preprocessing, paths[0]
    try:
        if isinstance(encoder, TextEncoder):
            return encoder([text_of(path) for path in paths])
        if path.suffix in (".npy", ".npz"):
            array = read_array(path)
            if isinstance(encoder, ImageEncoder):
                return encoder(array)
            return trained.shaped(array, str(path))
        if isinstance(encoder, TableEncoder):
            return _of_table(_table(trained, path), encoder)
        if isinstance(encoder, ImageEncoder) or path.suffix.lower() in EXTENSIONS:
            return trained.inputs_of(paths)
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
