"""pandas, given tensors."""

from .matrix import ONES, TABLES, VECTORS, Matrix

program = Matrix(__name__, "pandas")
if not program.skip:
    import pandas as pd

program.rows(
    VECTORS,
    series=lambda x: pd.Series(x).to_numpy(),
    series_type=lambda x: str(pd.Series(x).dtype),
    column=lambda x: pd.DataFrame({"a": x})["a"].to_numpy(),
    column_of_numbers=lambda x: pd.DataFrame({"a": x.tolist()})["a"].to_numpy(),
    index=lambda x: len(pd.Index(x)),
    appended=lambda x: pd.concat([pd.Series(x), pd.Series(x)]).to_numpy(),
    dates=lambda x: len(pd.to_datetime(x)),
    isna=lambda x: pd.isna(x),
    unique=lambda x: pd.unique(x),
    cut=lambda x: len(pd.cut(x, 2)),
    put=lambda x: pd.DataFrame({"a": [1.0] * 4}).assign(b=x)["b"].to_numpy(),
    rolled=lambda x: pd.Series(x).rolling(2).mean().to_numpy(),
)
program.rows(
    TABLES,
    frame=lambda x: pd.DataFrame(x).to_numpy(),
    frame_with_columns=lambda x: pd.DataFrame(x, columns=["a", "b", "c"])["b"].to_numpy(),
    records=lambda x: pd.DataFrame.from_records(x).shape,
)
program.rows(
    ONES,
    cell=lambda x: pd.DataFrame([{"loss": x}])["loss"].dtype.kind,
    cells=lambda x: pd.DataFrame({"loss": [x, x]})["loss"].dtype.kind,
    located=lambda x: pd.Series([1.0, 2.0, 3.0, 4.0, 5.0])[x],
    integer_located=lambda x: pd.Series([1.0, 2.0, 3.0, 4.0, 5.0]).iloc[x],
    csv=lambda x: pd.DataFrame([{"loss": x.item()}]).to_csv(),
)
