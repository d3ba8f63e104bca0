"""Padding layers."""

from tests.tools.recorded.layers import Table, f

TABLE = Table("padding")

SHAPES = {1: (2, 3, 4), 2: (2, 3, 4, 5), 3: (2, 2, 3, 4, 5)}
LENGTHS = {1: (2, 1), 2: (2, 1, 0, 3), 3: (2, 1, 0, 2, 1, 1)}
CUTTING = {1: (-1, 2), 2: (2, -1, -2, 1), 3: (1, -1, -2, 1, 0, 1)}

for _rank, _shape in SHAPES.items():
    for _family in ("Reflection", "Replication", "Circular", "Zero"):
        _name = f"{_family}Pad{_rank}d"
        for _case, _padding in (
            ("one", 1),
            ("each", LENGTHS[_rank]),
            ("cutting", CUTTING[_rank]),
            ("list", list(LENGTHS[_rank])),
        ):
            TABLE.layer(
                f"{_name}-{_case}",
                lambda lib, n=_name, p=_padding: getattr(lib.nn, n)(p),
                f(*_shape),
            )
        TABLE.layer(f"{_name}-no-batch", lambda lib, n=_name: getattr(lib.nn, n)(1), f(*_shape[1:]))
    for _case, _padding in (("one", 1), ("each", LENGTHS[_rank]), ("cutting", CUTTING[_rank])):
        TABLE.layer(
            f"ConstantPad{_rank}d-{_case}",
            lambda lib, n=_rank, p=_padding: getattr(lib.nn, f"ConstantPad{n}d")(p, 1.5),
            f(*_shape),
        )
    TABLE.layer(
        f"ConstantPad{_rank}d-whole",
        lambda lib, n=_rank: getattr(lib.nn, f"ConstantPad{n}d")(1, 3),
        f(*_shape),
    )
    for _family in ("Reflection", "Replication", "Circular"):
        TABLE.fails(
            f"{_family}Pad{_rank}d-rank",
            lambda lib, n=f"{_family}Pad{_rank}d": getattr(lib.nn, n)(1)(lib.zeros(3)),
        )
TABLE.fails("ReflectionPad1d-wide", lambda lib: lib.nn.ReflectionPad1d(4)(lib.zeros(2, 4)))
TABLE.fails("CircularPad1d-wide", lambda lib: lib.nn.CircularPad1d(5)(lib.zeros(2, 4)))
TABLE.fails("ReplicationPad1d-gone", lambda lib: lib.nn.ReplicationPad1d(-2)(lib.zeros(2, 4)))
