"""Taking and putting by places, copying slices, reducing into places."""

import warnings

from tests.tools.recorded.rows import (
    Table,
    each,
    f32,
    f64,
    function,
    i64,
    inplace,
    layouts,
    mask,
    method,
)

TABLE = Table("putting")
case, fails = TABLE.case, TABLE.fails

AT = [[0, 0, 1], [0, 1, 1], [0, 0, 0]]

for _layout, _spec in layouts(2, 3).items():
    if _layout not in ("0d", "empty"):
        case(f"take-{_layout}", function("take"), _spec, i64(2, 2).of([[0, 5], [-1, 0]]))
        case(f"put-{_layout}", method("put"), _spec, i64(2).of([5, 0]), f64(2))
        case(
            f"index_copy-{_layout}",
            lambda tn, x, at, src: x.index_copy(1, at, src),
            _spec,
            i64(2).of([2, 0]),
            f64(2, 2),
        )
        case(f"masked_scatter-{_layout}", method("masked_scatter"), _spec, mask(2, 3), f64(6))
case("take-0d-index", function("take"), f64(2, 3), i64().of(4))
case("take-nothing", function("take"), f64(2, 3), i64(0))
case("take-of-0d", function("take"), f64(), i64(2).of(0))
fails("take-outside", function("take"), f64(2, 3), i64(1).of(9))
fails("take-float-index", function("take"), f64(2, 3), f64(1))
fails("take-of-empty", function("take"), f64(0), i64(1).of(0))
case("put-accumulate", lambda tn, x, i, s: tn.put(x, i, s, True), f64(2, 3), i64(2).of(1), f64(2))
case("put-shapes", function("put"), f64(2, 3), i64(2, 1).of([[0], [-1]]), f64(1, 2))
case("put_-inplace", inplace("put_"), f64(2, 3), i64(2).of([1, 4]), f64(2))
case("put_-accumulate", inplace("put_", accumulate=True), f64(2, 3), i64(2).of(1), f64(2))
fails("put-outside", function("put"), f64(2, 3), i64(1).of(9), f64(1))
fails("put-count", function("put"), f64(2, 3), i64(2).of(0), f64(1))
fails("put-kinds", function("put"), f64(2, 3), i64(1).of(0), f32(1))
fails("put-float-index", function("put"), f64(2, 3), f64(1), f64(1))


def along(name, dim, *args, **kwargs):
    """`x.name(dim, index, source, ...)`, the way both functions of indices are called."""
    return lambda tn, x, at, src: quietly(getattr(x, name), dim, at, src, *args, **kwargs)


def along_inplace(name, dim, *args, **kwargs):
    return lambda tn, x, at, src: quietly(getattr(x.clone(), name), dim, at, src, *args, **kwargs)


def quietly(function, *args, **kwargs):
    """The result, without PyTorch's warning that index_reduce may change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


case("index_copy-0d", along("index_copy", 0), f64(), i64().of(0), f64())
case(
    "index_copy_-inplace", along_inplace("index_copy_", 0), f64(3, 2), i64(2).of([2, 0]), f64(2, 2)
)
fails("index_copy-outside", along("index_copy", 0), f64(2, 3), i64(1).of(5), f64(1, 3))
fails("index_copy-negative", along("index_copy", 0), f64(2, 3), i64(1).of(-1), f64(1, 3))
fails("index_copy-count", along("index_copy", 0), f64(2, 3), i64(2).of(0), f64(1, 3))
fails("index_copy-shape", along("index_copy", 0), f64(2, 3), i64(1).of(0), f64(1, 2))
fails("index_copy-kinds", along("index_copy", 0), f64(2, 3), i64(1).of(0), f32(1, 3))
fails("index_copy-float-index", along("index_copy", 0), f64(2, 3), f64(1), f64(1, 3))
fails("index_copy-index-dims", along("index_copy", 0), f64(2, 3), i64(1, 1).of(0), f64(1, 3))
case("masked_scatter-wide-mask", method("masked_scatter"), f64(2, 3), mask(3), f64(9))
case("masked_scatter_-inplace", inplace("masked_scatter_"), f64(2, 3), mask(2, 3), f64(7))
fails("masked_scatter-too-few", method("masked_scatter"), f64(2, 3), mask(2, 3).of(True), f64(5))
fails("masked_scatter-no-mask", method("masked_scatter"), f64(2, 3), i64(2, 3), f64(6))
fails("masked_scatter-kinds", method("masked_scatter"), f64(2, 3), mask(2, 3), f32(6))

for _way in ("sum", "mean", "prod", "amax", "amin"):
    for _include in (True, False):
        case(
            f"scatter_reduce-{_way}-{_include}",
            along("scatter_reduce", 0, _way, include_self=_include),
            f64(2, 3),
            i64(3, 3).of(AT),
            f64(3, 3),
        )
        if _way != "sum":
            _spec = f64(3, 3).const if _way == "prod" else f64(3, 3)  # its backward warns
            case(
                f"index_reduce-{_way}-{_include}",
                along("index_reduce", 0, _way, include_self=_include),
                _spec,
                i64(3).of([1, 1, 0]),
                _spec,
            )
    case(
        f"scatter_reduce-{_way}-last",
        along("scatter_reduce", -1, _way),
        f64(2, 3).const,
        i64(2, 2).upto(3),
        f64(2, 4).const,  # PyTorch's backward wants the size of the index
    )
    case(
        f"scatter_reduce-{_way}-int64",
        along("scatter_reduce", 0, _way, include_self=False),
        i64(4),
        i64(6).upto(3),
        i64(6),
    )
    case(
        f"scatter_reduce_-{_way}-inplace",
        along_inplace("scatter_reduce_", 0, _way),
        f64(2, 3),
        i64(3, 3).of(AT),
        f64(3, 3),
    )
case(
    "scatter_reduce-zeros",
    along("scatter_reduce", 0, "prod"),
    f64(2).of([0, 2]),
    i64(3).of([0, 1, 1]),
    f64(3).of([3, 0, 4]),
)
case(
    "scatter_reduce-ties",
    along("scatter_reduce", 0, "amax"),
    f64(2).of(2),
    i64(3).of([0, 0, 1]),
    f64(3).of([2, 2, 1]),
)
case(
    "index_reduce_-inplace",
    along_inplace("index_reduce_", 1, "amin"),
    f64(2, 3),
    i64(2).of(1),
    f64(2, 2),
)
fails("scatter_reduce-unknown", along("scatter_reduce", 0, "foo"), f64(2), i64(1).of(0), f64(1))
fails("scatter_reduce-outside", along("scatter_reduce", 0, "sum"), f64(2), i64(1).of(7), f64(1))
fails("scatter_reduce-kinds", along("scatter_reduce", 0, "sum"), f64(2), i64(1).of(0), f32(1))
fails("index_reduce-unknown", along("index_reduce", 0, "sum"), f64(2), i64(1).of(0), f64(1))
fails("index_reduce-outside", along("index_reduce", 0, "prod"), f64(2), i64(1).of(7), f64(1))
fails("index_reduce-kinds", along("index_reduce", 0, "prod"), f64(2), i64(1).of(0), f32(1))
fails("index_reduce-count", along("index_reduce", 0, "prod"), f64(2), i64(2).of(0), f64(1))
fails("index_reduce-shape", along("index_reduce", 0, "prod"), f64(2, 3), i64(1).of(0), f64(1, 2))
fails("index_reduce-index-dims", along("index_reduce", 0, "prod"), f64(2), i64(1, 1).of(0), f64(1))
fails("index_reduce-float-index", along("index_reduce", 0, "prod"), f64(2), f64(1), f64(1))

# ---- broadcasting of values ----

SHAPES = ((), (1,), (4,), (2, 1), (2, 4), (1, 4), (1, 1, 4), (1, 2, 4), (3,), (2, 4, 1))
case(
    "index_put-shapes",
    lambda tn, x: each(
        [
            lambda s=shape, m=masked: tn.index_put(
                x.detach(),
                (tn.tensor([True, False, True]) if m else tn.tensor([0, 2]),),
                tn.ones(s, dtype=tn.float64),
            )
            for shape in SHAPES
            for masked in (False, True)
        ]
    ),
    f64(3, 4),
)


def _written(tn, x, values):
    y = x.clone()
    y[tn.tensor([0, 2])] = values
    return y


for _shape in ((1, 1, 4), (1, 2, 4), (1, 2, 1)):
    case(f"setitem-leading-ones-{_shape[1]}-{_shape[2]}", _written, f64(3, 4), f64(*_shape))
