"""The family of gather and scatter, index_*, masked_*, take_along_dim."""

from tests.tools.recorded.rows import Table, each, f32, f64, i32, i64, mask

TABLE = Table("gathering")
case, fails = TABLE.case, TABLE.fails

DATA = {
    "plain": f64(3, 4),
    "transposed": f64(3, 4).t,
    "strided": f64(3, 4).strided,
    "expanded": f64(3, 4).expanded,
    "float32": f32(3, 4),
    "int64": i64(3, 4),
    "bool": mask(3, 4),
}
INDEX = i64(2, 3).upto(3)
SOURCE = f64(2, 3)

# ---- gather, take_along_dim ----

for _label, _spec in DATA.items():
    case(f"gather-{_label}", lambda tn, x, i: tn.gather(x, 0, i), _spec, INDEX)
    case(f"gather-last-{_label}", lambda tn, x, i: x.gather(-1, i), _spec, INDEX)
    case(
        f"take_along_dim-{_label}",
        lambda tn, x, i: tn.take_along_dim(x, i, 1),
        _spec,
        i64(3, 2).upto(4),
    )
    case(f"index_select-{_label}", lambda tn, x, i: tn.index_select(x, 1, i), _spec, i64(5).upto(4))
    case(f"masked_select-{_label}", lambda tn, x, m: tn.masked_select(x, m), _spec, mask(3, 4))
case("gather-empty-index", lambda tn, x, i: x.gather(0, i), f64(3, 4), i64(0, 4))
case("gather-empty-1d-index", lambda tn, x, i: x.gather(0, i), f64(3, 4), i64(0))
case("gather-empty-input", lambda tn, x, i: x.gather(1, i), f64(0, 3), i64(0, 2))
case("gather-0d", lambda tn, x, i: x.gather(0, i), f64(), i64().of(0))
case("gather-0d-index-1d", lambda tn, x, i: x.gather(0, i), f64(), i64(2).of(0))
case("gather-1d-index-0d", lambda tn, x, i: x.gather(0, i), f64(3), i64().of(2))
case("gather-smaller-index", lambda tn, x, i: x.gather(1, i), f64(3, 4), i64(2, 5).upto(4))
case(
    "gather-index-expanded", lambda tn, x, i: x.gather(0, i), f64(3, 4), i64(3, 4).upto(3).expanded
)
case("gather-index-transposed", lambda tn, x, i: x.gather(0, i), f64(3, 4), i64(3, 4).upto(3).t)
case("gather-index-int32", lambda tn, x, i: x.gather(0, i), f64(3, 4), i32(3, 4).upto(3))
case("gather-3d", lambda tn, x, i: x.gather(dim=1, index=i), f64(2, 3, 2), i64(2, 4, 1).upto(3))
fails("gather-index-float", lambda tn, x, i: x.gather(0, i), f64(3), f64(3).const)
fails("gather-index-range", lambda tn, x, i: x.gather(0, i), f64(3), i64(2).of([0, 3]))
fails("gather-index-negative", lambda tn, x, i: x.gather(0, i), f64(3), i64(2).of([0, -1]))
fails("gather-ndim", lambda tn, x, i: x.gather(0, i), f64(3, 4), i64(2).upto(3))
fails("gather-index-too-large", lambda tn, x, i: x.gather(0, i), f64(3, 4), i64(2, 5).upto(3))
fails("gather-dim", lambda tn, x, i: x.gather(2, i), f64(3, 4), INDEX)
case("take_along_dim-flat", lambda tn, x, i: x.take_along_dim(i), f64(3, 4), i64(5).upto(12))
case(
    "take_along_dim-broadcast",
    lambda tn, x, i: x.take_along_dim(i, dim=0),
    f64(3, 4),
    i64(2, 1).upto(3),
)
case(
    "take_along_dim-argsort-like",
    lambda tn, x: x.take_along_dim(x.argmax(1, keepdim=True), 1),
    f64(3, 4),
)
fails("take_along_dim-0d", lambda tn, x, i: x.take_along_dim(i, 0), f64(), i64().of(0))
case("take_along_dim-empty", lambda tn, x, i: x.take_along_dim(i, 1), f64(3, 4), i64(3, 0))
fails("take_along_dim-index-float", lambda tn, x, i: x.take_along_dim(i, 0), f64(3), f64(3).const)
fails("take_along_dim-ndim", lambda tn, x, i: x.take_along_dim(i, 0), f64(3, 4), i64(2).upto(3))

# ---- scatter, scatter_add ----

for _name in ("scatter", "scatter_add"):
    for _label, _spec in DATA.items():
        if _label in ("plain", "transposed", "strided", "expanded"):
            case(
                f"{_name}-{_label}",
                lambda tn, x, i, s, n=_name: getattr(tn, n)(x, 1, i, s),
                *(_spec, i64(2, 3).of([[0, 3, 1], [2, 0, 3]]), SOURCE),
            )
    case(
        f"{_name}-float32",
        lambda tn, x, i, s, n=_name: getattr(x, n)(0, i, s),
        *(f32(3, 4), i64(1, 4).upto(3), f32(1, 4)),
    )
    case(
        f"{_name}-int64",
        lambda tn, x, i, s, n=_name: getattr(x, n)(0, i, s),
        *(i64(3, 4), i64(1, 4).upto(3), i64(1, 4)),
    )
    case(
        f"{_name}-source-larger",
        lambda tn, x, i, s, n=_name: getattr(x, n)(-1, i, s),
        *(f64(3, 4), i64(2, 2).of([[0, 3], [2, 1]]), f64(3, 4).const),
    )
    case(
        f"{_name}-const-source",
        lambda tn, x, i, s, n=_name: getattr(x, n)(0, i, s),
        *(f64(3), i64(2).of([0, 2]), f64(2).const),
    )
    case(
        f"{_name}-const-input",
        lambda tn, x, i, s, n=_name: getattr(x, n)(0, i, s),
        *(f64(3).const, i64(2).of([0, 2]), f64(2)),
    )
    case(
        f"{_name}-source-expanded",
        lambda tn, x, i, s, n=_name: getattr(x, n)(1, i, s),
        *(f64(3, 4), i64(2, 2).of([[0, 3], [2, 1]]).t, f64(2, 2).expanded),
    )
    case(
        f"{_name}-empty-index",
        lambda tn, x, i, s, n=_name: getattr(x, n)(0, i, s),
        *(f64(3, 4), i64(0, 4), f64(2, 4).const),
    )
    case(
        f"{_name}-0d",
        lambda tn, x, i, s, n=_name: getattr(x, n)(0, i, s),
        *(f64(), i64().of(0), f64()),
    )
    case(
        f"{_name}_-inplace",
        lambda tn, x, i, s, n=_name: getattr(x * 1, f"{n}_")(0, i, s),
        *(f64(3), i64(2).of([0, 2]), f64(2)),
    )
    for _label, _dim, _index, _source in (
        ("index-range", 0, i64(2).of([0, 3]), f64(2).const),
        ("index-negative", 0, i64(2).of([0, -1]), f64(2).const),
        ("index-float", 0, f64(2).const, f64(2).const),
        ("index-ndim", 0, i64(2, 1).upto(3), f64(2).const),
        ("source-too-small", 0, i64(3).upto(3), f64(2).const),
        ("source-dtype", 0, i64(2).upto(3), f32(2).const),
        ("dim", 1, i64(2).upto(3), f64(2).const),
    ):
        fails(
            f"{_name}-{_label}",
            lambda tn, x, i, s, n=_name, d=_dim: getattr(x, n)(d, i, s),
            *(f64(3).const, _index, _source),
        )
    fails(
        f"{_name}_-leaf",
        lambda tn, x, i, n=_name: getattr(x, f"{n}_")(0, i, x),
        f64(3),
        i64(2).upto(3),
    )
case("scatter-number", lambda tn, x, i: x.scatter(1, i, 2.5), f64(3, 4), i64(3, 2).upto(4))
case(
    "scatter-number-function", lambda tn, x, i: tn.scatter(x, 0, i, 7), i64(3, 4), i64(1, 4).upto(3)
)
case(
    "scatter_-number",
    lambda tn, x, i: (x * 1).scatter_(1, i, value=0.5),
    f64(3, 4),
    i64(3, 2).upto(4),
)
case("scatter_-one-hot", lambda tn, i: tn.zeros(3, 4).scatter_(1, i[:, None], 1.0), i64(3).upto(4))
case(
    "scatter_add-repeats",
    lambda tn, x, i, s: x.scatter_add(0, i, s),
    f64(2),
    i64(5).upto(2),
    f64(5),
)

# ---- index_select, index_add ----

case("index_select-method", lambda tn, x, i: x.index_select(0, i), f64(3, 2), i64(4).upto(3))
case("index_select-empty-index", lambda tn, x, i: x.index_select(0, i), f64(3, 2), i64(0))
case("index_select-0d-index", lambda tn, x, i: x.index_select(0, i), f64(3, 2), i64().of(1))
case("index_select-int32", lambda tn, x, i: x.index_select(-1, i), f64(3, 2), i32(3).upto(2))
case("index_select-0d", lambda tn, x, i: x.index_select(0, i), f64(), i64(1).of(0))
case(
    "index_select-strided-index",
    lambda tn, x, i: x.index_select(0, i),
    f64(3, 2),
    i64(4).upto(3).strided,
)
fails("index_select-range", lambda tn, x, i: x.index_select(0, i), f64(3), i64(1).of(3))
fails("index_select-negative", lambda tn, x, i: x.index_select(0, i), f64(3), i64(1).of(-1))
fails("index_select-2d-index", lambda tn, x, i: x.index_select(0, i), f64(3), i64(2, 1).of(0))
fails("index_select-float-index", lambda tn, x, i: x.index_select(0, i), f64(3), f64(2).const)
fails("index_select-dim", lambda tn, x, i: x.index_select(2, i), f64(3, 2), i64(1).of(0))
INDEX_ADD = {
    "plain": (f64(3, 2), i64(4).upto(3), f64(4, 2)),
    "transposed": (f64(3, 2).t, i64(4).upto(3), f64(4, 2).t),
    "strided": (f64(3, 2).strided, i64(4).upto(3).strided, f64(4, 2).strided),
    "expanded": (f64(3, 2).expanded, i64(4).upto(3), f64(4, 2).expanded),
    "float32": (f32(3, 2), i64(4).upto(3), f32(4, 2)),
    "int64": (i64(3, 2), i64(4).upto(3), i64(4, 2)),
    "int32-index": (f64(3, 2), i32(2).upto(3), f64(2, 2)),
    "empty": (f64(3, 2), i64(0), f64(0, 2)),
    "const": (f64(3, 2), i64(2).upto(3), f64(2, 2).const),
    "1d": (f64(3), i64(5).upto(3), f64(5)),
}
for _label, _specs in INDEX_ADD.items():
    case(f"index_add-{_label}", lambda tn, x, i, s: tn.index_add(x, 0, i, s), *_specs)
case("index_add-0d", lambda tn, x, i, s: x.index_add(0, i, s), f64(), i64(1).of(0), f64())
case("index_add-alpha", lambda tn, x, i, s: x.index_add(0, i, s, alpha=-2), *INDEX_ADD["plain"])
case(
    "index_add-last",
    lambda tn, x, i, s: x.index_add(-1, i, s),
    f64(2, 3),
    i64(2).upto(3),
    f64(2, 2),
)
case("index_add_-inplace", lambda tn, x, i, s: (x * 1).index_add_(0, i, s), *INDEX_ADD["plain"])
fails("index_add-range", lambda tn, x, i, s: x.index_add(0, i, s), f64(3), i64(1).of(3), f64(1))
fails(
    "index_add-source-count", lambda tn, x, i, s: x.index_add(0, i, s), f64(3), i64(1).of(0), f64(2)
)
fails(
    "index_add-source-shape",
    lambda tn, x, i, s: x.index_add(0, i, s),
    f64(3, 2),
    i64(1).of(0),
    f64(1, 3),
)
fails(
    "index_add-source-dtype", lambda tn, x, i, s: x.index_add(0, i, s), f64(3), i64(1).of(0), f32(1)
)
fails(
    "index_add-index-float", lambda tn, x, i, s: x.index_add(0, i, s), f64(3), f64(1).const, f64(1)
)
fails(
    "index_add-index-2d", lambda tn, x, i, s: x.index_add(0, i, s), f64(3), i64(1, 1).of(0), f64(1)
)

# ---- masked_fill, masked_select ----

for _label, _spec in DATA.items():
    if _label not in ("bool",):
        case(f"masked_fill-{_label}", lambda tn, x, m: tn.masked_fill(x, m, 2), _spec, mask(3, 4))
case("masked_fill-broadcast", lambda tn, x, m: x.masked_fill(m, -1.5), f64(3, 4), mask(3, 1))
case("masked_fill-mask-larger", lambda tn, x, m: x.masked_fill(m, -1.5), f64(4), mask(3, 4))
case("masked_fill-0d", lambda tn, x, m: x.masked_fill(m, 2.0), f64(), mask().of(True))
case("masked_fill-0d-mask", lambda tn, x, m: x.masked_fill(m, 2.0), f64(3), mask().of(True))
case("masked_fill-empty", lambda tn, x, m: x.masked_fill(m, 2.0), f64(0, 3), mask(3))
case("masked_fill-0d-value", lambda tn, x, m, v: x.masked_fill(m, v), f64(3, 4), mask(3, 4), f64())
case(
    "masked_fill-minus-infinity",
    lambda tn, x, m: x.masked_fill(m, float("-inf")).softmax(-1),
    f64(2, 3),
    mask(2, 3).of([[0, 1, 0], [0, 0, 1]]),
)
case("masked_fill_-inplace", lambda tn, x, m: (x * 1).masked_fill_(m, 0), f64(3, 4), mask(4))
case("masked_fill-bool", lambda tn, x, m: x.masked_fill(m, True), mask(3), mask(3))
fails("masked_fill-int-mask", lambda tn, x, m: x.masked_fill(m, 0.0), f64(3), i64(3))
case("masked_fill-float-into-int", lambda tn, x, m: x.masked_fill(m, 0.5), i64(3), mask(3))
fails("masked_fill-shape", lambda tn, x, m: x.masked_fill(m, 0.0), f64(3), mask(2))
fails("masked_fill-value-1d", lambda tn, x, m, v: x.masked_fill(m, v), f64(3), mask(3), f64(3))
FILLERS = {
    "masked_fill": lambda x, value: x.masked_fill(x == 0, value),
    "masked_fill_": lambda x, value: x.masked_fill_(x == 0, value),
    "index_fill": lambda x, value: x.index_fill(0, (x != 0).long(), value),
    "fill_": lambda x, value: x.fill_(value),
}
for _name, _fill in FILLERS.items():
    for _kind in ("bool", "uint8", "int64", "float16", "float32", "complex64"):
        case(
            f"{_name}-values-{_kind}",
            lambda tn, k=_kind, f=_fill: each(
                [
                    lambda v=v, make=make: f(tn.zeros(2, dtype=getattr(tn, k)), make(v))
                    for v in (1j, 1 + 0j, 1.5, 1e300, 300, -1, True)
                    for make in (lambda v: v, tn.tensor)
                ]
            ),
        )
case("masked_scatter_-wide", lambda tn, x, y: x.clone().masked_scatter_(y > 9, y), f64(3), f64(3))
fails(
    "masked_scatter_-mask-of-more", lambda tn, x, y: x.masked_scatter_(y > 0, y), i64(3), i64(2, 3)
)
fails("masked_scatter_-mask-wider", lambda tn, x, y: x.masked_scatter_(y > 0, y), i64(1), i64(3))
fails("masked_fill_-leaf", lambda tn, x, m: x.masked_fill_(m, 0.0), f64(3), mask(3))
case("masked_select-broadcast", lambda tn, x, m: x.masked_select(m), f64(3), mask(2, 3))
case("masked_select-nothing", lambda tn, x, m: x.masked_select(m), f64(3), mask(3).of(False))
case("masked_select-0d", lambda tn, x, m: x.masked_select(m), f64(), mask().of(True))
case("masked_select-empty", lambda tn, x, m: x.masked_select(m), f64(0), mask(0))
fails("masked_select-int-mask", lambda tn, x, m: x.masked_select(m), f64(3), i64(3))
fails("masked_select-shape", lambda tn, x, m: x.masked_select(m), f64(3), mask(2))
