"""CSV files as rows of features and targets."""

from collections.abc import Callable, Sequence
from typing import Any

from tinynet import dtypes
from tinynet.data.readers.columns import Encode, Fill, Standardize, Unknown
from tinynet.data.readers.files import StrPath
from tinynet.data.readers.table_rows import MISSING_VALUES, TableRows
from tinynet.data.readers.tables import read_table


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
