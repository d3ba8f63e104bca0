"""nn.functional.pad in all modes."""

from tests.tools.recorded.rows import Table, f32, f64, function, i64, layouts, mask

TABLE = Table("padding")
case, fails = TABLE.case, TABLE.fails


def pad(*args, **options):
    call = function("nn.functional.pad", *args, **options)
    if options.get("mode") != "circular":
        return call
    # In PyTorch a composite of writes, whose node and version show them: what is compared is a copy
    return lambda tn, x: call(tn, x).clone()


# ---- a constant ----

for _layout, _spec in layouts(2, 3).items():
    case(f"pad-constant-{_layout}", pad((1, 2) if _spec.shape else ()), _spec)
case("pad-constant-value", pad((1, 0, 0, 2), value=1.5), f64(2, 3))
case("pad-constant-nothing", pad((0, 0)), f64(2, 3))
case("pad-constant-cutting", pad((-1, 2, 1, -1)), f64(3, 3))
case("pad-constant-all-cut", pad((-2, -1)), f64(2, 3))
case("pad-constant-four-dims", pad((1, 0) * 4, "constant", 2), f64(2, 1, 2, 1))
case("pad-constant-list", pad([1, 1]), f32(2))
case("pad-constant-int64", pad((1, 1), value=1.7), i64(3))
case("pad-constant-bool", pad((1, 1), value=0.5), mask(3))

# ---- the input's own elements ----

for _mode in ("reflect", "replicate", "circular"):
    for _layout in ("plain", "transposed", "strided", "expanded"):
        case(f"pad-{_mode}-{_layout}", pad((2, 1), mode=_mode), layouts(2, 3)[_layout])
    for _name, _shape, _lengths in (
        ("batch", (2, 2, 3), (1, 2)),
        ("2d", (2, 3, 3), (1, 2, 0, 2)),
        ("2d-batch", (2, 1, 3, 3), (1, 2, 0, 2)),
        ("3d", (1, 2, 2, 3), (1, 0, 1, 1, 0, 1)),
        ("3d-batch", (2, 1, 2, 2, 2), (1, 0, 1, 1, 0, 1)),
        ("cutting", (2, 4), (-2, 1)),
        ("cutting-after", (2, 4), (1, -2)),
        ("cutting-2d", (1, 4, 4), (2, -1, -1, 2)),
        ("nothing", (2, 3), (0, 0)),
        ("empty-batch", (0, 2, 3), (1, 1)),
    ):
        case(f"pad-{_mode}-{_name}", pad(_lengths, mode=_mode), f64(*_shape))
    case(f"pad-{_mode}-float32", pad((1, 1), mode=_mode), f32(2, 3))
    case(f"pad-{_mode}-int64", pad((1, 1), mode=_mode), i64(2, 3))
    case(f"pad-{_mode}-value-zero", pad((1, 1), mode=_mode, value=0), f64(2, 3))
    fails(f"pad-{_mode}-value", pad((1, 1), mode=_mode, value=1.0), f64(2, 3))
    fails(f"pad-{_mode}-1d-input", pad((1, 1), mode=_mode), f64(3))
    fails(f"pad-{_mode}-5d-input", pad((1, 1), mode=_mode), f64(1, 1, 1, 1, 3))
    fails(f"pad-{_mode}-no-lengths", pad((), mode=_mode), f64(2, 3))
    fails(f"pad-{_mode}-gone", pad((-2, -2), mode=_mode), f64(2, 3))
    fails(f"pad-{_mode}-empty", pad((1, 1), mode=_mode), f64(2, 2, 0))
for _mode in ("reflect", "replicate"):
    fails(f"pad-{_mode}-no-channels", pad((1, 1), mode=_mode), f64(2, 0, 3))
    fails(f"pad-{_mode}-bool", pad((1, 1), mode=_mode), mask(2, 3))
    fails(f"pad-{_mode}-gone-2d", pad((-2, -2, -2, -2), mode=_mode), f64(2, 3, 3))
case("pad-replicate-wide", pad((4, 5), mode="replicate"), f64(2, 3))
case("pad-circular-widest", pad((3, 3), mode="circular"), f64(2, 3))
case("pad-circular-bool", pad((1, 1), mode="circular"), mask(2, 3))
fails("pad-reflect-wide", pad((3, 0), mode="reflect"), f64(2, 3))
fails("pad-reflect-high", pad((0, 0, 0, 3), mode="reflect"), f64(2, 3, 4))
fails("pad-reflect-deep", pad((0, 0, 0, 0, 2, 0), mode="reflect"), f64(1, 2, 3, 4))
fails("pad-circular-wide", pad((0, 4), mode="circular"), f64(2, 3))

# ---- refusals ----

fails("pad-mode", pad((1, 1), mode="mirror"), f64(2, 3))
fails("pad-odd", pad((1, 1, 1)), f64(2, 3))
fails("pad-many", pad((1,) * 6), f64(2, 3))
fails("pad-cut-too-much", pad((-4, 0)), f64(2, 3))
fails("pad-cut-too-much-on-both-sides", pad((0, 0, -1, -2)), f64(2, 3))
fails("pad-floats", pad((1.5, 1)), f64(2, 3))
fails("pad-int", pad(2), f64(2, 3))
fails("pad-value-text", pad((1, 1), "constant", "a"), f64(2, 3))
fails("pad-list", lambda tn: tn.nn.functional.pad([1.0], (1, 1)))
