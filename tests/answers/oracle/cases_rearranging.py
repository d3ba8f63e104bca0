"""Tensors side by side, in parts, turned, repeated, on grids; windows and views by strides."""

from tests.tools.recorded.rows import Table, f32, f64, function, i64, layouts, mask, method

TABLE = Table("rearranging")
case, fails = TABLE.case, TABLE.fails

# ---- side by side ----

for _name in ("hstack", "vstack", "dstack", "column_stack", "row_stack"):
    for _shape in ((3,), (2, 3), (2, 1, 3), ()):
        case(
            f"{_name}-{len(_shape)}d",
            lambda tn, x, y, n=_name: getattr(tn, n)((x, y)),
            f64(*_shape),
            f64(*_shape),
        )
    case(f"{_name}-empty", lambda tn, x, n=_name: getattr(tn, n)([x, x]), f64(0, 3))
    case(f"{_name}-kinds", lambda tn, x, y, n=_name: getattr(tn, n)([x, y]), f64(3), i64(3))
    fails(f"{_name}-shapes", lambda tn, x, y, n=_name: getattr(tn, n)([x, y]), f64(2, 3), f64(4, 5))
    fails(f"{_name}-tensor", function(_name), f64(2, 3))
case("column_stack-mixed", lambda tn, x, y: tn.column_stack((x, y)), f64(3), f64(3, 2))
fails("hstack-nothing", lambda tn: tn.hstack([]))
for _n in (1, 2, 3):
    for _shape in ((), (3,), (2, 3), (1, 2, 3, 1)):
        case(f"atleast_{_n}d-{len(_shape)}d", function(f"atleast_{_n}d"), f64(*_shape))
case(
    "atleast_2d-several", lambda tn, x, y: (tn.atleast_2d(x, y), tn.atleast_2d([x])), f64(), f64(3)
)

# ---- in parts ----

for _layout, _spec in layouts(6, 4).items():
    if _layout not in ("0d", "empty"):
        case(f"tensor_split-{_layout}", function("tensor_split", 4), _spec)
        case(f"vsplit-{_layout}", function("vsplit", 3), _spec)
        case(f"hsplit-{_layout}", method("hsplit", [1, 2]), _spec)
        case(f"rot90-{_layout}", function("rot90"), _spec)
        case(f"fliplr-{_layout}", function("fliplr"), _spec)
        case(f"flipud-{_layout}", method("flipud"), _spec)
        case(f"unfold-{_layout}", method("unfold", 0, 3, 2), _spec)
        case(f"unfold-last-{_layout}", method("unfold", -1, 2, 1), _spec)
        case(f"repeat_interleave-{_layout}", function("repeat_interleave", 2, dim=0), _spec)
        case(f"slice_scatter-{_layout}", method("slice_scatter"), _spec, f64(6, 4))
case("tensor_split-indices", method("tensor_split", (1, -1), dim=1), f64(2, 4))
case("tensor_split-tensor", lambda tn, x, i: tn.tensor_split(x, i), f64(5), i64(2).of([1, 3]))
case("tensor_split-tensor-0d", lambda tn, x, i: tn.tensor_split(x, i), f64(5), i64().of(3))
case("tensor_split-more-than-there-are", function("tensor_split", 5), f64(3))
case("hsplit-vector", function("hsplit", 2), f64(4))
case("dsplit-plain", function("dsplit", 2), f64(1, 2, 4))
case("split_with_sizes-plain", method("split_with_sizes", [1, 2], 1), f64(2, 3))
fails("tensor_split-zero", function("tensor_split", 0), f64(3))
fails("tensor_split-0d", function("tensor_split", 2), f64())
fails("hsplit-not-divisible", function("hsplit", 2), f64(2, 3))
fails("hsplit-0d", function("hsplit", 2), f64())
fails("vsplit-vector", function("vsplit", 2), f64(4))
fails("vsplit-not-divisible", function("vsplit", 3), f64(4, 2))
fails("dsplit-matrix", function("dsplit", 2), f64(4, 2))

# ---- turned, moved, repeated ----

for _k in (-1, 0, 2, 3, 5):
    case(f"rot90-{_k}", function("rot90", _k, (0, 2)), f64(2, 1, 3))
case("rot90-other-way", method("rot90", 1, [1, 0]), f64(2, 3))
fails("rot90-vector", function("rot90"), f64(3))
fails("rot90-one-dim-twice", function("rot90", 1, (0, 0)), f64(2, 3))
fails("rot90-three-dims", function("rot90", 1, (0, 1, 2)), f64(2, 3, 4))
fails("rot90-dim-too-large", function("rot90", 1, (0, 5)), f64(2, 3))
fails("fliplr-vector", function("fliplr"), f64(3))
fails("flipud-0d", function("flipud"), f64())
case("movedim-several", function("movedim", (0, 1), (2, 0)), f64(2, 3, 4))
case("movedim-negative", method("movedim", -1, 0), f64(2, 3, 4))
case("moveaxis-alias", function("moveaxis", 0, 2), f64(2, 3, 4))
fails("movedim-counts", function("movedim", (0, 1), (2,)), f64(2, 3, 4))
fails("movedim-source-twice", function("movedim", (0, 0), (2, 1)), f64(2, 3, 4))
fails("movedim-destination-twice", function("movedim", (0, 1), (2, 2)), f64(2, 3, 4))
fails("movedim-dim-too-large", function("movedim", 0, 5), f64(2, 3, 4))
case("repeat_interleave-flat", function("repeat_interleave", 2), f64(2, 3))
case("repeat_interleave-none", function("repeat_interleave", 0), f64(2, 3))
case(
    "repeat_interleave-counts",
    lambda tn, x, n: x.repeat_interleave(n, 1),
    f64(2, 3),
    i64(3).upto(4),
)
case(
    "repeat_interleave-one-count",
    lambda tn, x, n: x.repeat_interleave(n, 1),
    f64(2, 3),
    i64(1).of(2),
)
case("repeat_interleave-of-counts", function("repeat_interleave"), i64(4).upto(4))
fails("repeat_interleave-negative", function("repeat_interleave", -1), f64(3))
fails(
    "repeat_interleave-negative-count",
    lambda tn, x, n: tn.repeat_interleave(x, n),
    f64(2),
    i64(2).of(-1),
)
fails("repeat_interleave-float-count", lambda tn, x, n: tn.repeat_interleave(x, n), f64(2), f64(2))
fails(
    "repeat_interleave-counts-differ",
    lambda tn, x, n: tn.repeat_interleave(x, n),
    f64(2),
    i64(3).upto(3),
)
fails(
    "repeat_interleave-output-size",
    lambda tn, x, n: tn.repeat_interleave(x, n, 0, output_size=9),
    f64(2),
    i64(2).upto(3),
)

# ---- grids ----

for _way in ("ij", "xy"):
    case(f"meshgrid-{_way}", lambda tn, x, y, w=_way: tn.meshgrid(x, y, indexing=w), f64(2), f64(3))
    case(
        f"meshgrid-three-{_way}",
        lambda tn, x, y, z, w=_way: tn.meshgrid([x, y, z], indexing=w),
        f64(2),
        f64(),
        f64(3),
    )
case("meshgrid-unsaid", lambda tn, x: tn.meshgrid(x, x), f64(2))
case("meshgrid-one", lambda tn, x: tn.meshgrid(x, indexing="xy"), f64(2))
fails("meshgrid-unknown", lambda tn, x: tn.meshgrid(x, indexing="z"), f64(2))
fails("meshgrid-kinds", lambda tn, x, y: tn.meshgrid(x, y, indexing="ij"), f64(2), f32(2))
fails("meshgrid-nothing", lambda tn: tn.meshgrid(indexing="ij"))
case("broadcast_tensors-two", function("broadcast_tensors"), f64(2, 1), f64(3))
case(
    "broadcast_tensors-one-fits", lambda tn, x, y: tn.broadcast_tensors(x, y)[1], f64(2, 3), f64(3)
)
fails("broadcast_tensors-shapes", function("broadcast_tensors"), f64(2, 3), f64(2))
case("broadcast_shapes-several", lambda tn: list(tn.broadcast_shapes((2, 1), (3,), 1, ())))
fails("broadcast_shapes-differ", lambda tn: tn.broadcast_shapes((2, 1), (3, 3)))

# ---- windows, strides, dtypes ----

case("unfold-whole", method("unfold", 0, 4, 1), f64(4))
case("unfold-0d", method("unfold", 0, 1, 1), f64())
case("unfold-nothing", method("unfold", 0, 0, 1), f64(3).const)
case("unfold-twice", lambda tn, x: x.unfold(0, 2, 1).unfold(1, 2, 2), f64(3, 4))
fails("unfold-too-long", method("unfold", 1, 4, 1), f64(2, 3))
fails("unfold-no-step", method("unfold", 1, 2, 0), f64(2, 3))
fails("unfold-negative", method("unfold", 1, -1, 1), f64(2, 3))
fails("unfold-dim-too-large", method("unfold", 2, 1, 1), f64(2, 3))
case("unfold-written", lambda tn, x: written(x, lambda y: y.unfold(0, 2, 2)), f64(6))
case("as_strided-plain", function("as_strided", (2, 2), (1, 2)), f64(2, 3))
case("as_strided-offset", method("as_strided", (2, 2), (2, 1), 1), f64(6))
case("as_strided-overlapping", function("as_strided", (4, 3), (1, 1)), f64(6))
case("as_strided-of-transposed", function("as_strided", (2, 2), (1, 3)), f64(2, 3).t)
case("as_strided-of-view", lambda tn, x: (x * 1)[1:].as_strided((2, 2), (2, 1)), f64(6))
case("as_strided-of-view-offset", lambda tn, x: x.clone()[2:].as_strided((2,), (1,), 3), f64(6))
case("as_strided-of-expanded", lambda tn, x: x.expand(2, 3).as_strided((2, 2), (0, 1)), f64(3))
case("as_strided-stride", lambda tn, x: x.as_strided((2, 2), (1, 2)).stride(), f64(6))
case(
    "as_strided-written",
    lambda tn, x: written(x, lambda y: y.as_strided((2, 2), (2, 1), 1)),
    f64(6),
)
fails("as_strided-outside", function("as_strided", (2, 9), (1, 2)), f64(2, 3))
fails("as_strided-counts", function("as_strided", (2, 2), (1,)), f64(2, 3))
fails("as_strided-negative", function("as_strided", (2, 2), (1, -1)), f64(2, 3))
fails("as_strided-negative-offset", function("as_strided", (2, 2), (1, 1), -1), f64(2, 3))
case(
    "view-dtype",
    lambda tn, x: (x.view(tn.int64), x.view(tn.int32), x.view(dtype=tn.uint8)),
    f64(2, 3),
)
case("view-wider", lambda tn, x: x.view(tn.float64), f32(2, 4).of(0).const)
case("view-dtype-0d", lambda tn, x: x.view(tn.int64), f64())
fails("view-dtype-0d-narrower", lambda tn, x: x.view(tn.int32), f64())
fails("view-dtype-not-divisible", lambda tn, x: x.view(tn.float64), f32(2, 3))
case("view-dtype-empty", lambda tn, x: [x.view(tn.int64), x.view(tn.int16)], f32(0, 5, 4).const)
fails(
    "view-dtype-outer-stride",
    lambda tn, x: x.as_strided((4, 4, 2), (2, 1, 1)).view(tn.float64),
    f32(4, 4, 2).const,
)
fails("view-dtype-strides", lambda tn, x: x.view(tn.float64), f32(2, 4).t)


def written(x, view):
    """A copy of x of which a view is written to."""
    whole = x * 1
    view(whole).mul_(3)
    return whole


# ---- one part replaced ----

case("select_scatter-plain", function("select_scatter", 0, 1), f64(2, 3), f64(3))
case("select_scatter-negative", method("select_scatter", -1, -2), f64(2, 3), f64(2))
fails("select_scatter-shape", function("select_scatter", 0, 1), f64(2, 3), f64(2))
fails("select_scatter-outside", function("select_scatter", 0, 5), f64(2, 3), f64(3))
case("slice_scatter-step", function("slice_scatter", 1, 0, 3, 2), f64(2, 3), f64(2, 2))
case("slice_scatter-negative", method("slice_scatter", -1, start=-2), f64(2, 3), f64(2, 2))
fails("slice_scatter-shape", function("slice_scatter", 1, 0, 2), f64(2, 3), f64(2, 3))
case("diagonal_scatter-plain", function("diagonal_scatter"), f64(2, 3), f64(2))
case("diagonal_scatter-offset", method("diagonal_scatter", 1, -1, -2), f64(2, 3), f64(1))
fails("diagonal_scatter-shape", function("diagonal_scatter", 1), f64(2, 3), f64(3))
case("select_scatter-bool", function("select_scatter", 0, 0), mask(2, 2), mask(2))
