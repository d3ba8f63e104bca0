"""What occurs, where and how often; histograms; reductions that skip NaN."""

from tests.tools.recorded.rows import (
    Table,
    f32,
    f64,
    function,
    i32,
    i64,
    inplace,
    layouts,
    mask,
    method,
    u8,
)

TABLE = Table("counting")
case, fails = TABLE.case, TABLE.fails

NAN, INF = float("nan"), float("inf")
HOLES = [[1.0, NAN, 0.5], [NAN, NAN, NAN], [3.0, 2.0, -1.0]]

# ---- unique ----

ALL = {"return_inverse": True, "return_counts": True}
for _layout, _spec in layouts(4, 3).items():
    _spec = _spec.const.upto(3)
    case(f"unique-{_layout}", function("unique"), _spec)
    case(f"unique-all-{_layout}", function("unique", **ALL), _spec)
    case(f"unique_consecutive-{_layout}", function("unique_consecutive", **ALL), _spec)
    case(f"count_nonzero-{_layout}", function("count_nonzero"), _spec)
    case(f"argwhere-{_layout}", function("argwhere"), _spec)
    case(f"nonzero-{_layout}", lambda tn, x: (tn.nonzero(x), x.nonzero(as_tuple=True)), _spec)
    case(
        f"aminmax-{_layout}", function("aminmax", dim=-1), f64(4, 3) if 0 in _spec.shape else _spec
    )
    case(f"nansum-{_layout}", function("nansum"), _spec)
    case(f"nanmean-{_layout}", function("nanmean"), _spec)
for _dim in (0, 1, -1):
    case(f"unique-dim-{_dim}", method("unique", dim=_dim, **ALL), i64(5, 3).upto(2))
    case(
        f"unique_consecutive-dim-{_dim}", method("unique_consecutive", dim=_dim), i64(5, 3).upto(2)
    )
case("unique-three-dims", lambda tn, x: x.unique(dim=1, return_inverse=True), i32(2, 6, 2).upto(2))
case("unique-inverse", lambda tn, x: x.unique(return_inverse=True), u8(6).upto(3))
case("unique-counts", lambda tn, x: x.unique(return_counts=True), mask(5))
case("unique-nan", lambda tn, x: x.unique(), f64(2).of([NAN, 1.0]).const)
case("unique_consecutive-nan", lambda tn, x: x.unique_consecutive(), f64(2).of([NAN, NAN]).const)
case("unique-empty-dim", lambda tn, x: tn.unique(x, dim=0), i64(0, 3))
for _name, _given in {
    "unique": ALL,
    "unique-dim": {"dim": 0},
    "unique_consecutive": ALL,
    "unique_consecutive-dim": {"dim": 1},
}.items():
    TABLE.fails_backward(f"{_name}-gradient", function(_name.split("-")[0], **_given), f64(3, 2))
fails("unique-dim-of-empty", function("unique", dim=1), i64(0, 3))
fails("unique-dim-too-large", function("unique", dim=2), i64(2, 3))

# ---- counts ----

case("count_nonzero-dims", function("count_nonzero", (0, 1)), i64(2, 3))
case("count_nonzero-dim", method("count_nonzero", dim=1), mask(2, 3))
fails("count_nonzero-dim-too-large", function("count_nonzero", 2), i64(2, 3))
case("bincount-plain", function("bincount"), i64(9).upto(5))
case("bincount-minlength", method("bincount", minlength=9), u8(9).upto(5))
case("bincount-weights", function("bincount"), i64(9).upto(5), f64(9).const)
case("bincount-weights-float32", function("bincount"), i64(9).upto(5), f32(9).const)
case("bincount-weights-int64", function("bincount", minlength=8), i64(9).upto(5), i64(9))
case("bincount-empty", function("bincount", minlength=2), i64(0))
fails("bincount-negative", function("bincount"), i64(2).of(-1))
fails("bincount-two-dims", function("bincount"), i64(2, 2).upto(4))
fails("bincount-float", function("bincount"), f64(2).const)
fails("bincount-weights-shape", function("bincount"), i64(2).upto(3), f64(3).const)
fails("bincount-minlength-negative", function("bincount", minlength=-1), i64(2).upto(3))
case("isin-plain", function("isin"), i64(2, 3), i64(3))
case("isin-invert", function("isin", invert=True), f64(2, 3).upto(3).const, f64(2).upto(3).const)
case("isin-numbers", lambda tn, x: (tn.isin(x, 2), tn.isin(2, x)), i64(5))
case("unravel_index-plain", lambda tn, x: tn.unravel_index(x, (3, 4)), i64(5).upto(12))
case("unravel_index-int", lambda tn, x: tn.unravel_index(x, 12), i64(2, 2).upto(12))
fails("unravel_index-float", lambda tn, x: tn.unravel_index(x, (3, 4)), f64(2))

# ---- histograms ----

for _name, _spec in (("float64", f64(50).const), ("float32", f32(5, 10).distinct.const)):
    case(f"histc-{_name}", function("histc", 7), _spec)
    case(f"histc-range-{_name}", method("histc", 4, -1, 2), _spec)
    case(f"histogram-{_name}", function("histogram", 6), _spec)
    case(f"histogram-range-{_name}", function("histogram", 4, range=(-1.0, 2.0)), _spec)
    case(f"histogram-density-{_name}", method("histogram", 5, density=True), _spec)
case("histc-constant", function("histc", 3), f64(3).of(1).const)
case("histc-empty", function("histc", 3), f64(0).const)
case("histc-edges", function("histc", 4, 0, 4), f64(6).of([0, 1, 2, 3, 4, 4]).const)
fails("histc-no-bins", function("histc", 0), f64(3).const)
fails("histc-range", function("histc", 3, 4, 0), f64(3).const)
fails("histc-int64", function("histc"), i64(3))
case("histogram-edges", function("histogram"), f64(9).const, f64(4).of([-1, 0, 0.5, 2]).const)
case(
    "histogram-weight",
    lambda tn, x, w: tn.histogram(x, 3, weight=w),
    f64(2, 4).const,
    f64(2, 4).positive.const,
)
case("histogram-named", lambda tn, x: tn.histogram(x, 3).bin_edges, f64(4).const)
fails("histogram-no-bins", function("histogram", 0), f64(3).const)
fails("histogram-range", function("histogram", 3, range=(1.0, 0.0)), f64(3).const)
fails("histogram-int64", function("histogram", 3), i64(3))
fails("histogram-two-dims", function("histogram"), f64(3).const, f64(2, 2).const)
fails("histogram-weight-shape", lambda tn, x, w: tn.histogram(x, 3, weight=w), f64(3), f64(2))
case("histogramdd-counts", function("histogramdd", [2, 3]), f64(9, 2).const)
case("histogramdd-int", function("histogramdd", 2), f64(9, 2).const)
case(
    "histogramdd-range",
    function("histogramdd", [2, 3], range=[-1.0, 1.0, -2.0, 2.0], density=True),
    f64(9, 2).const,
)
case(
    "histogramdd-edges",
    lambda tn, x, a, b: tn.histogramdd(x, [a, b]),
    f64(9, 2).const,
    f64(3).of([-1, 0, 2]).const,
    f64(2).of([-1, 1]).const,
)

EDGES = f64(4).of([-1.0, 0.0, 0.5, 0.5]).const
for _right in (False, True):
    case(f"searchsorted-{_right}", function("searchsorted", right=_right), EDGES, f64(2, 3).const)
    case(
        f"bucketize-{_right}",
        lambda tn, x, edges, r=_right: tn.bucketize(x, edges, right=r, out_int32=r),
        f64(5).of([-1.0, 0.5, 0.0, 0.2, NAN]).const,
        EDGES,
    )
case(
    "searchsorted-side", function("searchsorted", side="right", out_int32=True), EDGES, f64(3).const
)
case("searchsorted-number", lambda tn, x: (tn.searchsorted(x, 0.2), tn.bucketize(3, x)), EDGES)
case(
    "searchsorted-rows",
    function("searchsorted"),
    i64(2, 3).of([[1, 3, 5], [2, 4, 6]]),
    i64(2, 4).upto(7),
)
case("searchsorted-no-rows", function("searchsorted"), i64(0, 3), i64(0, 2))
case("searchsorted-rows-of-nothing", function("searchsorted"), i64(0, 0), i64(0, 0))
case(
    "searchsorted-sorter",
    lambda tn, x, v, o: tn.searchsorted(x, v, sorter=o),
    i64(3).of([5, 3, 1]),
    i64(4).upto(7),
    i64(3).of([2, 1, 0]),
)
fails("searchsorted-0d", function("searchsorted"), i64(), i64(2))
fails("searchsorted-rows-differ", function("searchsorted"), i64(2, 3), i64(3))
fails("searchsorted-number-in-rows", function("searchsorted", 3), i64(2, 3))
fails("searchsorted-unknown-side", function("searchsorted", side="x"), EDGES, f64(2))
fails(
    "searchsorted-contradiction", function("searchsorted", side="left", right=True), EDGES, f64(2)
)
fails("searchsorted-sorter-short", lambda tn, x, o: tn.searchsorted(x, x, sorter=o), EDGES, i64(2))
fails("bucketize-rows", function("bucketize"), f64(2), f64(2, 2))

# ---- without NaN, both extrema ----

for _name in ("nansum", "nanmean"):
    case(f"{_name}-holes", function(_name), f64(3, 3).of(HOLES))
    case(f"{_name}-holes-dim", function(_name, 1), f64(3, 3).of(HOLES), second_order=False)
    case(f"{_name}-holes-dims", method(_name, dim=(0, 1), keepdim=True), f64(3, 3).of(HOLES))
    case(f"{_name}-dtype", lambda tn, x, n=_name: getattr(tn, n)(x, dtype=tn.float64), f32(3))
    fails(f"{_name}-dim-too-large", function(_name, 2), f64(2, 3))
case("nansum-int64", function("nansum"), i64(3))
fails("nanmean-int64", function("nanmean"), i64(3))
case("aminmax-all", function("aminmax"), f64(2, 3).distinct)
case("aminmax-ties", function("aminmax"), f64(6).of([1, 3, 3, 1, 2, 3]))
case("aminmax-keepdim", method("aminmax", dim=0, keepdim=True), f64(2, 3).distinct)
case("aminmax-one", lambda tn, x: tn.aminmax(x).max, f64(2, 3).distinct)
case("aminmax-kinds", lambda tn, *xs: [tn.aminmax(x) for x in xs], i64(3), u8(3), mask(3))
fails("aminmax-empty", function("aminmax"), f64(0))
fails("aminmax-empty-dim", function("aminmax", dim=0), f64(0, 3))
BAD = [NAN, INF, -INF, 1.5, -2.0]
case("nan_to_num-plain", function("nan_to_num"), f64(5).of(BAD))
case("nan_to_num-numbers", function("nan_to_num", 1.0, 2.0, 3.0), f64(5).of(BAD))
case("nan_to_num-float32", method("nan_to_num"), f32(5).of(BAD).const)
case("nan_to_num-kinds", lambda tn, *xs: [x.nan_to_num(nan=2.0) for x in xs], i64(3), mask(2))
case("nan_to_num_-inplace", inplace("nan_to_num_", posinf=4.0), f64(5).of(BAD))
