"""Lazy layers after their first forward; before it: machinery/programs_lazy.py."""

from tests.tools.recorded.layers import Table, f

TABLE = Table("lazy")


def first(module, x):
    """The module after a forward."""
    module(x)
    return module


TABLE.layer("LazyLinear", lambda lib: first(lib.nn.LazyLinear(4), lib.zeros(1, 3)), f(2, 3))
TABLE.layer(
    "LazyLinear-no-bias",
    lambda lib: first(lib.nn.LazyLinear(4, bias=False), lib.zeros(3)),
    f(2, 3),
)
for _n in (1, 2, 3):
    _sizes = (5, 4, 6)[:_n]
    for _kind in ("Conv", "ConvTranspose"):
        TABLE.layer(
            f"Lazy{_kind}{_n}d",
            lambda lib, name=f"Lazy{_kind}{_n}d", sizes=_sizes: first(
                getattr(lib.nn, name)(4, 3, stride=2, groups=2), lib.zeros(1, 6, *sizes)
            ),
            f(2, 6, *_sizes),
        )
    TABLE.layer(
        f"LazyConv{_n}d-unbatched",
        lambda lib, name=f"LazyConv{_n}d", sizes=_sizes: first(
            getattr(lib.nn, name)(4, 3, padding="same", padding_mode="circular", bias=False),
            lib.zeros(2, *sizes),
        ),
        f(2, *_sizes),
    )
    TABLE.fails(
        f"LazyConv{_n}d-rank",
        lambda lib, name=f"LazyConv{_n}d": getattr(lib.nn, name)(4, 3)(lib.zeros(2)),
    )
    TABLE.fails(
        f"LazyConv{_n}d-groups",
        lambda lib, name=f"LazyConv{_n}d", sizes=_sizes: getattr(lib.nn, name)(4, 3, groups=2)(
            lib.zeros(3, *sizes)
        ),
    )
    for _kind in ("BatchNorm", "InstanceNorm"):
        _shape = (4, 3, 5) if _n == 1 else (2, 3, *_sizes)
        TABLE.layer(
            f"Lazy{_kind}{_n}d",
            lambda lib, name=f"Lazy{_kind}{_n}d", shape=_shape: first(
                getattr(lib.nn, name)(eps=1e-3), lib.zeros(*shape)
            ),
            f(*_shape),
        )
        TABLE.layer(
            f"Lazy{_kind}{_n}d-no-bias",
            lambda lib, name=f"Lazy{_kind}{_n}d", shape=_shape: first(
                getattr(lib.nn, name)(track_running_stats=False, bias=False), lib.zeros(*shape)
            ),
            f(*_shape),
        )
TABLE.fails("LazyBatchNorm1d-rank", lambda lib: lib.nn.LazyBatchNorm1d()(lib.zeros(2, 3, 4, 5)))
