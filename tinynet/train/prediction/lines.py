"""The lines of standard input as raw rows."""

from __future__ import annotations

import csv
import json
from typing import Any

from tinynet.core.printing import quantity
from tinynet.data.readers.encoding import TableEncoder
from tinynet.data.texts.tokenizer import TextEncoder
from tinynet.train.prediction.trained import Trained


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
