"""The inputs of predictions: numbers, tables, images and texts, in files or in lines."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import listed, text_of
from tinynet.data.readers.image_encoding import ImageEncoder, conversion
from tinynet.data.readers.image_folder import EXTENSIONS
from tinynet.data.readers.table_rows import read_parquet
from tinynet.data.readers.tables import Table, TableEncoder, read_table
from tinynet.data.texts.tokenizer import TextEncoder
from tinynet.dtypes import Array
from tinynet.train.base.problems import UsageError
from tinynet.train.config.sections import Config
from tinynet.train.outputs import Row
from tinynet.train.prediction.trained import Trained

_PACKED = (".npy", ".npz")
ARRAYS = (*_PACKED, ".csv")
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


def _table_in(path: Path, encoder: TableEncoder, config: Config) -> Tensor:
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


class _LineReader:
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
        """The columns of a CSV line: the header's, or else the model's."""

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

    def fits(self, line: str) -> bool:
        """Return whether a line has a value for each column."""
        return len(self._values(line)) == len(self.columns)

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
                f"expected {quantity(len(self.columns), 'value')} ({', '.join(self.columns)}), "
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


class Kind:
    """What a model takes: files, lines of standard input, and arguments that are not files.

    Args:
        trained: the run.
    """

    accepts = ""
    """What the model takes, for messages."""

    noun = ""
    """One of it."""

    endings: tuple[str, ...] = ()
    """The ends of the names of files that are one example each, to look for in folders."""

    def __init__(self, trained: Trained) -> None:
        self.trained = trained
        self.reader = _LineReader(trained)

    def is_example(self, path: Path) -> bool:
        """Return whether a file is one example."""
        return False

    def takes(self, word: str) -> bool:
        """Return whether an argument that names no file is an example itself."""
        return False

    def example(self, path: Path) -> tuple[Tensor, str]:
        """Return a file as a batch of one input, and its conversion in words."""
        raise NotImplementedError

    def inputs(self, path: Path) -> Tensor:
        """Return the inputs in a file that is not one example."""
        return self.trained.shaped(read_array(path), str(path))

    def rows(self, path: Path) -> Iterator[Row]:
        """Yield the predictions for a file that is not one example."""
        inputs, size = self.inputs(path), self.trained.config.data.batch_size
        for start in range(0, len(inputs), size):
            yield from self.trained.rows_for(inputs[start : start + size], str(path))

    def line(self, line: str) -> Row:
        """Return the prediction for a line of standard input, or for an argument."""
        (row,) = self.trained.predict([self.reader.row(line)])
        return row

    def joined(self, words: Sequence[str]) -> Sequence[str]:
        """Return arguments as examples: those that are one example together as one."""
        return words


class Numbers(Kind):
    """Vectors, and arrays of other shapes."""

    noun = "array of numbers"

    def __init__(self, trained: Trained) -> None:
        super().__init__(trained)
        shape = trained.example[0].shape[1:]
        self.count = math.prod(shape)
        point = ",".join([["0.5"], ["0.5", "-1.25"]][self.count == 2] + ["..."] * (self.count > 2))
        what = (
            quantity(self.count, "number") if len(shape) == 1 else f"arrays of the shape {[*shape]}"
        )
        self.accepts = (
            f"{what} per example, as an argument such as {point}, or {listed(ARRAYS)} files"
        )

    def takes(self, word: str) -> bool:
        """Return whether it consists of numbers."""
        return _are_numbers(word.split(","))

    def joined(self, words: Sequence[str]) -> Sequence[str]:
        """Join the numbers of a vector that were given as separate arguments."""
        is_vector = len(words) == self.count and _are_numbers(words)
        return [",".join(words)] if is_vector else words

    def line(self, line: str) -> Row:
        """Return the prediction for a vector."""
        values = self.reader.row(line)
        if isinstance(values, str):
            raise ValueError(f"{line!r} is not numbers")
        if isinstance(values, list) and _are_flat(values) and len(values) != self.count:
            raise ValueError(
                f"{line} has {quantity(len(values), 'number')}, and the model takes {self.count}"
            )
        (row,) = self.trained.predict([values])
        return row


class Tables(Kind):
    """Rows of a table, with the columns of the training data."""

    noun = "table with the columns of the training data"

    def __init__(self, trained: Trained, encoder: TableEncoder) -> None:
        super().__init__(trained)
        self.encoder = encoder
        names = listed([column.name for column in encoder.inputs], 4)
        self.accepts = (
            f".csv or .parquet files, and rows of JSON or CSV, with the columns {names}; or "
            f"{listed(_PACKED)} files of the encoded numbers"
        )

    def takes(self, word: str) -> bool:
        """Return whether it is JSON, or has as many values as there are columns."""
        return word.lstrip()[:1] in ("{", "[") or self.reader.fits(word)

    def inputs(self, path: Path) -> Tensor:
        """Return the rows of a table as inputs."""
        if path.suffix in _PACKED:
            return super().inputs(path)
        return _table_in(path, self.encoder, self.trained.config)


class Images(Kind):
    """Images, in files of one each, or in arrays."""

    endings = EXTENSIONS
    noun = "image"

    def __init__(self, trained: Trained) -> None:
        super().__init__(trained)
        encoder = trained.preprocessing
        self.encoder = encoder if isinstance(encoder, ImageEncoder) else None
        self.arrays = ARRAYS if self.encoder is None else _PACKED
        self.accepts = (
            f"images of any size ({listed(EXTENSIONS, 4)}), folders of them, or arrays "
            f"({listed(self.arrays)})"
        )

    def is_example(self, path: Path) -> bool:
        """Return whether it is an image."""
        return path.suffix.lower() not in self.arrays

    def takes(self, word: str) -> bool:
        """Return whether it is an image as JSON."""
        return word.startswith("[")

    def inputs(self, path: Path) -> Tensor:
        """Return the images in an array."""
        return super().inputs(path) if self.encoder is None else self.encoder(read_array(path))

    def example(self, path: Path) -> tuple[Tensor, str]:
        """Return an image as an input."""
        if self.encoder is not None:
            image, kind, done = self.encoder.framed(path)
            inputs = self.encoder([image])
            return inputs, conversion(kind, inputs.shape[1:], done) if kind else ""
        if self.trained.images is None:  # the data set has a loader
            return self.trained.inputs_of([path]), ""
        array, text = self.trained.images(path)
        return wrap(array[None]), text

    def line(self, line: str) -> Row:
        """Return the prediction for the path of an image, or for an array as JSON."""
        if line[0] in "[{":
            return super().line(line)
        inputs, text = self.example(Path(line.strip('"')))
        (row,) = self.trained.rows_for(inputs, line)
        return {**row, **({"conversion": text} if text else {})}


class LabelledTexts(Kind):
    """Texts, in files of one each."""

    endings = (".txt",)
    noun = "text"
    accepts = "texts: .txt files, folders of them, or arguments in quotes"

    def __init__(self, trained: Trained, encoder: TextEncoder) -> None:
        super().__init__(trained)
        self.encoder = encoder

    def is_example(self, path: Path) -> bool:
        """Return True: each file is one text."""
        return True

    def takes(self, word: str) -> bool:
        """Return whether it is a text, and not the name of a missing file."""
        return is_text(word)

    def example(self, path: Path) -> tuple[Tensor, str]:
        """Return the text of a file as an input."""
        return self.encoder([text_of(path)]), ""


def is_text(word: str) -> bool:
    """Return whether an argument is a text, and not the name of a missing file.

    Example:
        >>> is_text("What a great film!"), is_text("dull"), is_text("reviews/1.txt")
        (True, True, False)
    """
    name = Path(word)
    has_ending = name.suffix[1:].isalnum() and len(name.suffix) <= 6
    return " " in word.strip() or not (has_ending or os.sep in word)


def _are_numbers(words: Sequence[Any]) -> bool:
    try:
        return bool([float(word) for word in words])
    except ValueError:
        return False


def _are_flat(values: Sequence[Any]) -> bool:
    return not any(isinstance(value, list) for value in values)
