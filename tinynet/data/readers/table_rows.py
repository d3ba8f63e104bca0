"""The base class of readers of tables: CSV and Parquet."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.columns import Encode, Fill, Standardize, Unknown
from tinynet.data.readers.encoding import Options, TableEncoder, complete
from tinynet.data.readers.files import raise_all
from tinynet.data.readers.rows import Rows
from tinynet.data.readers.tables import Table

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
