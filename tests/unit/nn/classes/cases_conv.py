"""Convolutions, transposed convolutions, Fold and Unfold."""

from tests.tools.recorded.layers import Table, f

TABLE = Table("conv")

SIZES = {1: (7,), 2: (6, 5), 3: (4, 5, 3)}


def layer(name, kind, rank, *args, shape=None, call=None, **options):
    shape = shape or (2, args[0], *SIZES[rank])
    extra = {} if call is None else {"call": call}
    extra["initial"] = name == "wide"  # the others have too few numbers for a statistic
    TABLE.layer(
        f"{kind}{rank}d-{name}",
        lambda lib: getattr(lib.nn, f"{kind}{rank}d")(*args, **options),
        f(*shape),
        **extra,
    )


for _rank, _size in SIZES.items():
    for _kind in ("Conv", "ConvTranspose"):
        layer("wide", _kind, _rank, 40, 40, 2, groups=2)
        layer("plain", _kind, _rank, 2, 3, 3)
        layer("no-batch", _kind, _rank, 2, 3, 2, shape=(2, *_size))
        layer("pointwise", _kind, _rank, 4, 3, 1)
        layer("each", _kind, _rank, 2, 3, (3, 2, 1)[:_rank], stride=(2, 1, 2)[:_rank])
        layer("padding", _kind, _rank, 2, 3, 3, padding=1)
        layer("padded", _kind, _rank, 2, 3, 3, 1, (2, 0, 1)[:_rank])
        layer("stride", _kind, _rank, 2, 3, 3, stride=2, padding=1)
        layer("stride-wide", _kind, _rank, 2, 3, 2, stride=3)
        layer("dilation", _kind, _rank, 2, 3, 2, dilation=2, bias=False)
        layer("groups", _kind, _rank, 4, 6, 3, padding=1, groups=2)
        layer("depthwise", _kind, _rank, 3, 3, 3, padding=1, groups=3)
        layer("multiplier", _kind, _rank, 2, 4, 3, padding=1, groups=2)
        layer("everything", _kind, _rank, 4, 2, 2, stride=2, padding=1, dilation=2, groups=2)
    for _mode in ("reflect", "replicate", "circular"):
        layer(f"{_mode}", "Conv", _rank, 2, 3, 3, padding=1, padding_mode=_mode)
        layer(f"{_mode}-same", "Conv", _rank, 2, 3, 2, padding="same", padding_mode=_mode)
        layer(f"{_mode}-valid", "Conv", _rank, 2, 3, 2, padding="valid", padding_mode=_mode)
    layer("same", "Conv", _rank, 2, 3, 3, padding="same")
    layer("same-even", "Conv", _rank, 2, 3, 2, padding="same")
    layer("same-dilation", "Conv", _rank, 2, 3, (3, 2, 2)[:_rank], padding="same", dilation=2)
    layer("valid", "Conv", _rank, 2, 3, 2, padding="valid")
    layer("output-padding", "ConvTranspose", _rank, 2, 3, 3, 2, 1, 1)
    layer("output-padding-each", "ConvTranspose", _rank, 2, 3, 3, 3, 0, (2, 0, 1)[:_rank])
    layer("output-padding-dilated", "ConvTranspose", _rank, 2, 3, 2, 2, 1, 1, dilation=3)
    layer(
        *("output-size", "ConvTranspose", _rank, 2, 3, 3, 2, 1),
        call=lambda module, x, n=_size: module(x, output_size=[2 * s for s in n]),
    )
    layer(
        *("output-size-whole", "ConvTranspose", _rank, 2, 3, 3, 2, 1),
        call=lambda module, x, n=_size: module(x, output_size=[2, 3, *(2 * s for s in n)]),
    )
    TABLE.fails(
        f"Conv{_rank}d-channels",
        lambda lib, r=_rank: getattr(lib.nn, f"Conv{r}d")(2, 3, 3)(lib.zeros(1, 3, *SIZES[r])),
    )
    TABLE.fails(
        f"ConvTranspose{_rank}d-channels",
        lambda lib, r=_rank: getattr(lib.nn, f"ConvTranspose{r}d")(2, 3, 3)(
            lib.zeros(1, 3, *SIZES[r])
        ),
    )
    TABLE.fails(
        f"Conv{_rank}d-rank",
        lambda lib, r=_rank: getattr(lib.nn, f"Conv{r}d")(2, 3, 3)(lib.zeros(2)),
    )
    TABLE.fails(
        f"ConvTranspose{_rank}d-rank",
        lambda lib, r=_rank: getattr(lib.nn, f"ConvTranspose{r}d")(2, 3, 3)(lib.zeros(2)),
    )

OPTIONS = {
    "groups-zero": (3, 4, 3, {"groups": 0}),
    "groups-in": (3, 4, 3, {"groups": 2}),
    "groups-out": (4, 3, 3, {"groups": 2}),
    "stride-zero": (3, 4, 3, {"stride": 0}),
    "stride-many": (3, 4, 3, {"stride": (1, 1, 1)}),
    "padding-negative": (3, 4, 3, {"padding": -1}),
    "padding-many": (3, 4, 3, {"padding": (1, 1, 1)}),
    "dilation-negative": (3, 4, 3, {"dilation": -1}),
    "dilation-zero": (3, 4, 3, {"dilation": 0}),
}
for _name, (_in, _out, _kernel, _more) in OPTIONS.items():
    for _kind in ("Conv2d", "ConvTranspose2d"):
        TABLE.fails(
            f"{_kind}-{_name}",
            lambda lib, k=_kind, a=_in, b=_out, n=_kernel, o=_more: getattr(lib.nn, k)(
                a, b, n, **o
            )(lib.zeros(1, a, 5, 5)),
        )
TABLE.fails("Conv2d-same-stride", lambda lib: lib.nn.Conv2d(3, 4, 3, padding="same", stride=2))
TABLE.fails("Conv2d-small", lambda lib: lib.nn.Conv2d(3, 4, 3)(lib.zeros(1, 3, 2, 5)))
TABLE.fails(
    "Conv2d-dtype", lambda lib: lib.nn.Conv2d(3, 4, 3)(lib.zeros(1, 3, 5, 5, dtype=lib.float64))
)
TABLE.fails("Conv2d-negative", lambda lib: lib.nn.Conv2d(3, -4, 3))
for _mode in ("reflect", "replicate", "circular"):
    TABLE.fails(
        f"ConvTranspose2d-{_mode}",
        lambda lib, m=_mode: lib.nn.ConvTranspose2d(3, 4, 3, padding_mode=m),
    )
for _name, _size in {"large": [20, 20], "small": [7, 6], "few": [8], "many": [1, 8, 8]}.items():
    TABLE.fails(
        f"ConvTranspose2d-output-size-{_name}",
        lambda lib, s=_size: lib.nn.ConvTranspose2d(1, 1, 3, stride=2)(
            lib.zeros(1, 1, 3, 3), output_size=s
        ),
    )
TABLE.fails(
    "ConvTranspose2d-output-padding",
    lambda lib: lib.nn.ConvTranspose2d(1, 1, 3, output_padding=1)(lib.zeros(1, 1, 3, 3)),
)
TABLE.fails(
    "ConvTranspose2d-too-small",
    lambda lib: lib.nn.ConvTranspose2d(1, 1, 3, padding=2)(lib.zeros(1, 1, 1, 1)),
)

for _name, _options in {
    "plain": {},
    "each": {"stride": (2, 1), "padding": (0, 1)},
    "dilation": {"dilation": 2, "padding": 2, "stride": 2},
}.items():
    _columns = {"plain": 12, "each": 10, "dilation": 12}[_name]
    TABLE.layer(
        f"Unfold-{_name}", lambda lib, o=_options: lib.nn.Unfold((2, 3), **o), f(2, 3, 5, 5)
    )
    TABLE.layer(
        f"Unfold-no-batch-{_name}", lambda lib, o=_options: lib.nn.Unfold(2, **o), f(3, 5, 5)
    )
    TABLE.layer(
        f"Fold-{_name}",
        lambda lib, o=_options: lib.nn.Fold((5, 5), (2, 3), **o),
        f(2, 12, _columns),
    )
    TABLE.layer(
        f"Fold-no-batch-{_name}",
        lambda lib, o=_options: lib.nn.Fold(5, (2, 3), **o),
        f(12, _columns),
    )
TABLE.fails("Unfold-rank", lambda lib: lib.nn.Unfold(2)(lib.zeros(1, 1, 1, 4, 5)))
TABLE.fails("Unfold-large", lambda lib: lib.nn.Unfold(6)(lib.zeros(1, 2, 4, 5)))
TABLE.fails("Fold-columns", lambda lib: lib.nn.Fold((4, 5), 2)(lib.zeros(1, 8, 11)))
TABLE.fails("Fold-channels", lambda lib: lib.nn.Fold((4, 5), 2)(lib.zeros(1, 7, 12)))
