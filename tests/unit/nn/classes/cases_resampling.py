"""Upsampling layers, and shuffles of pixels and channels."""

from tests.tools.recorded.layers import Table, f

TABLE = Table("resampling")

SHAPES = {1: (2, 3, 5), 2: (2, 3, 5, 4), 3: (1, 2, 3, 4, 5)}
LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}


def add(case, shape, **options):
    TABLE.layer(f"Upsample-{case}", lambda lib: lib.nn.Upsample(**options), f(*shape))


for _rank, _shape in SHAPES.items():
    for _mode in ("nearest", "nearest-exact", LINEAR[_rank], *(["bicubic"] if _rank == 2 else [])):
        _more = [{}] if "nearest" in _mode else [{}, {"align_corners": True}]
        for _number, _options in enumerate(_more):
            _case = f"{_mode}-{_rank}d-{_number}"
            add(f"{_case}-twice", _shape, scale_factor=2, mode=_mode, **_options)
            add(f"{_case}-size", _shape, size=7, mode=_mode, **_options)
            add(f"{_case}-sizes", _shape, size=(3, 9, 5)[:_rank], mode=_mode, **_options)
            add(f"{_case}-factor", _shape, scale_factor=1.7, mode=_mode, **_options)
            add(
                f"{_case}-again",
                _shape,
                scale_factor=(1.7, 0.7, 2.0)[:_rank],
                mode=_mode,
                recompute_scale_factor=True,
                **_options,
            )
    add(f"area-{_rank}d", _shape, size=3, mode="area")
    add(f"area-{_rank}d-factor", _shape, scale_factor=0.7, mode="area")
add("bicubic-wide", (1, 1, 3, 90), scale_factor=(2, 1.5), mode="bicubic")
add("bilinear-wide", (1, 1, 90, 60), size=(70, 95), mode="bilinear")

for _name in ("UpsamplingNearest2d", "UpsamplingBilinear2d"):
    for _case, _options in (
        ("size", {"size": 6}),
        ("sizes", {"size": (3, 8)}),
        ("twice", {"scale_factor": 2}),
        ("factors", {"scale_factor": (2.5, 1.5)}),
    ):
        TABLE.layer(
            f"{_name}-{_case}",
            lambda lib, n=_name, o=_options: getattr(lib.nn, n)(**o),
            f(*SHAPES[2]),
        )

TABLE.layer("PixelShuffle", lambda lib: lib.nn.PixelShuffle(2), f(2, 8, 3, 4))
TABLE.layer("PixelShuffle-no-batch", lambda lib: lib.nn.PixelShuffle(3), f(9, 2, 2))
TABLE.layer("PixelShuffle-more", lambda lib: lib.nn.PixelShuffle(2), f(2, 2, 4, 3, 2))
TABLE.layer("PixelUnshuffle", lambda lib: lib.nn.PixelUnshuffle(2), f(2, 3, 4, 6))
TABLE.layer("PixelUnshuffle-no-batch", lambda lib: lib.nn.PixelUnshuffle(3), f(2, 3, 6))
TABLE.layer("ChannelShuffle", lambda lib: lib.nn.ChannelShuffle(2), f(2, 6, 3, 2))
TABLE.layer("ChannelShuffle-3", lambda lib: lib.nn.ChannelShuffle(3), f(2, 6, 4))

TABLE.fails("Upsample-nothing", lambda lib: lib.nn.Upsample()(lib.zeros(1, 1, 2)))
TABLE.fails("Upsample-both", lambda lib: lib.nn.Upsample(2, 2)(lib.zeros(1, 1, 2)))
TABLE.fails("Upsample-rank", lambda lib: lib.nn.Upsample((2, 2))(lib.zeros(1, 1, 2)))
TABLE.fails("Upsample-mode", lambda lib: lib.nn.Upsample(2, mode="cubic")(lib.zeros(1, 1, 2)))
TABLE.fails("Upsample-linear", lambda lib: lib.nn.Upsample(2, mode="linear")(lib.zeros(1, 1, 2, 2)))
TABLE.fails("Upsample-corners", lambda lib: lib.nn.Upsample(2, None, "nearest", True)(lib.zeros(3)))
TABLE.fails("PixelShuffle-channels", lambda lib: lib.nn.PixelShuffle(2)(lib.zeros(1, 3, 2, 2)))
TABLE.fails("PixelShuffle-factor", lambda lib: lib.nn.PixelShuffle(0)(lib.zeros(1, 4, 2, 2)))
TABLE.fails("PixelUnshuffle-height", lambda lib: lib.nn.PixelUnshuffle(2)(lib.zeros(1, 1, 3, 2)))
TABLE.fails("ChannelShuffle-groups", lambda lib: lib.nn.ChannelShuffle(4)(lib.zeros(1, 6, 2)))
