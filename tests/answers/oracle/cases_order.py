"""Order: sorting, the k-th value, median, mode, quantiles; running products and extrema."""

import math

from tests.tools.recorded.rows import (
    Table,
    each,
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

TABLE = Table("order")
case, fails = TABLE.case, TABLE.fails

NAN, INF = float("nan"), float("inf")
HOLES = [[1.0, NAN, 0.5], [NAN, NAN, NAN], [3.0, 2.0, -1.0]]


def named(pair):
    """The fields of a named result, and its length."""
    return pair.values, pair.indices, len(pair)


def once_more(name, *args, **kwargs):
    """The result times 1: how PyTorch puts it together is its own business."""
    return lambda tn, x: getattr(tn, name)(x, *args, **kwargs) * 1


# ---- sort, topk ----

for _layout, _spec in layouts(2, 3).items():
    _spec = _spec if _layout in ("expanded", "empty") else _spec.distinct
    case(f"sort-{_layout}", function("sort", -1, True), _spec)
    case(f"argsort-{_layout}", function("argsort", 0), _spec)
    case(f"msort-{_layout}", function("msort"), _spec)
    for _name in ("cummax", "cummin", "cumprod", "logcumsumexp"):
        case(f"{_name}-{_layout}", function(_name, 0), _spec)
        case(f"{_name}-last-{_layout}", method(_name, -1), _spec)
    if _layout != "empty":
        for _name in ("kthvalue", "median", "nanmedian", "mode"):
            _args = (1, 0) if _name == "kthvalue" else (0,)
            if _layout != "expanded":  # PyTorch's median reads outside of the tensor
                case(f"{_name}-{_layout}", function(_name, *_args), _spec)
        for _name in ("quantile", "nanquantile"):
            case(f"{_name}-{_layout}", once_more(_name, 0.3), _spec)
case("sort-named", lambda tn, x: named(tn.sort(x, 0)), f64(3, 2).distinct)
case("sort-stable", lambda tn, x: (tn.sort(x, stable=True), x.sort(stable=True)), i64(9).upto(3))
case("sort-kinds", lambda tn, *xs: [x.sort(descending=True).values for x in xs], u8(5), mask(4))
case("topk-many", function("topk", 7), f64(2, 10).distinct)
case("topk-few-of-many", function("topk", 3), f64(2, 40).distinct)
case("topk-few-smallest", function("topk", 3, 0, False), f64(40, 2).distinct)
case("topk-half-of-many", function("topk", 35), f64(2, 100).distinct)
case("topk-half-smallest", function("topk", 35, -1, False), f64(2, 100).distinct)
case("topk-int64", lambda tn, x: x.topk(2, largest=False), i32(9).of([5, 3, 8, 1, 9, 2, 7, 4, 6]))
case("topk-nan", lambda tn, x: tn.topk(x, 2), f64(9).of([1, 2, NAN, 4, 5, 6, 7, 8, 9]).const)
case(
    "topk-smallest-nan",
    lambda tn, x: tn.topk(x, 2, 0, False),
    f64(9).of([3, 2, NAN, 4, 5, 6, 7, 8, 9]).const,
)
case(
    "topk-infinite",
    lambda tn, x: tn.topk(x, 2).values,
    f64(9).of([-INF, -INF, -INF, 4, -INF, -INF, -INF, -INF, -INF]).const,
)
fails("topk-bool", function("topk", 1), mask(3))

# ---- kthvalue, median, mode ----

case("kthvalue-named", lambda tn, x: named(tn.kthvalue(x, 2)), f64(2, 3).distinct)
case("kthvalue-keepdim", function("kthvalue", 2, 1, True), f64(2, 3).distinct)
case("kthvalue-large", function("kthvalue", k=30, dim=0), f64(50, 2).distinct)
case("kthvalue-int32", method("kthvalue", 2), i32(5).of([5, 3, 8, 1, 9]))
case("kthvalue-nan", function("kthvalue", 3), f64(3).of([NAN, 1.0, 2.0]).const)
fails("kthvalue-zero", function("kthvalue", 0), f64(3))
fails("kthvalue-too-large", function("kthvalue", 4), f64(3))
fails("kthvalue-bool", function("kthvalue", 1), mask(3))
fails("kthvalue-empty-dim", function("kthvalue", 1, 0), f64(0, 3))
for _name in ("median", "nanmedian"):
    case(f"{_name}-all", function(_name), f64(2, 3).distinct)
    case(f"{_name}-all-even", method(_name), f64(2, 2).distinct)
    case(f"{_name}-all-ties", function(_name), f64(5).of([1, 2, 2, 2, 3]))
    case(f"{_name}-all-holes", function(_name), f64(3, 3).of(HOLES).const)
    case(f"{_name}-holes", lambda tn, x, n=_name: named(getattr(tn, n)(x, 1)), f64(3, 3).of(HOLES))
    case(f"{_name}-keepdim", function(_name, dim=1, keepdim=True), f64(2, 4).distinct)
    case(f"{_name}-int64", lambda tn, x, n=_name: (getattr(x, n)(), getattr(x, n)(0)), i64(1, 5))
    case(f"{_name}-empty-all", function(_name), f64(0).const)
    case(f"{_name}-0d-all", function(_name), f64())
    fails(f"{_name}-bool", function(_name), mask(3))
    fails(f"{_name}-empty-dim", function(_name, 0), f64(0, 3))
    fails(f"{_name}-dim-too-large", function(_name, 2), f64(2, 3))
case("mode-ties", lambda tn, x: named(tn.mode(x)), i64(3, 5).of([[1, 2, 2, 1, 3]]))
_N = math.nan
for _number, _values in enumerate(
    [
        [_N, _N, 1.0],
        [2.0, 1.0, _N, 1.0],
        [_N, 2.0, 2.0, 3.0, 3.0],
        [1.0, _N, _N, 1.0],
        [3.0, 3.0, _N, 2.0, 2.0, 2.0],
        [_N],
    ]
):
    case(
        f"mode-nan-{_number}",
        lambda tn, x: named(tn.mode(x)),
        f64(len(_values)).of(_values),
    )
case("mode-keepdim", function("mode", 1, True), f64(2, 5).of([[1, 2, 2, 5, 3], [4, 4, 1, 1, 0]]))
case("mode-bool", method("mode"), mask(2, 3))
case("mode-random", lambda tn, x: tn.mode(x, 0).values, i64(20, 4).upto(5))
fails("mode-empty-dim", function("mode", 0), f64(0, 3))

# ---- quantiles ----

for _name in ("quantile", "nanquantile"):
    for _way in ("linear", "lower", "higher", "midpoint", "nearest"):
        case(
            f"{_name}-{_way}",
            lambda tn, x, q, n=_name, w=_way: getattr(tn, n)(x, q, 1, interpolation=w) * 1,
            f64(3, 4).distinct,
            f64(3).of([0.0, 0.4, 0.9]).const,
        )
        case(
            f"{_name}-{_way}-holes",
            lambda tn, x, q, n=_name, w=_way: getattr(x, n)(q, 1, True, interpolation=w) * 1,
            f64(3, 3).of(HOLES).const,
            f64(2).of([0.3, 1.0]).const,
        )
    case(f"{_name}-keepdim", once_more(_name, 0.3, keepdim=True), f64(2, 3).distinct)
    case(f"{_name}-dim-keepdim", once_more(_name, 0.3, 0, True), f64(2, 3).distinct)
    case(f"{_name}-float32", once_more(_name, 0.7, dim=-1), f32(2, 5))
    fails(f"{_name}-out-of-range", function(_name, 1.3), f64(3))
    fails(f"{_name}-tensor-out-of-range", function(_name), f64(3), f64(1).of(-0.5).const)
    fails(f"{_name}-two-dims", function(_name), f64(3), f64(1, 1).of(0.5).const)
    fails(f"{_name}-kinds", function(_name), f64(3), f32(1).of(0.5).const)
    fails(f"{_name}-int64", function(_name, 0.5), i64(3))
    fails(f"{_name}-empty", function(_name, 0.5), f64(0))
    fails(f"{_name}-unknown-way", function(_name, 0.5, interpolation="x"), f64(3))
    fails(f"{_name}-dim-too-large", function(_name, 0.5, 3), f64(3))

# ---- running ----

for _name in ("cummax", "cummin"):
    case(f"{_name}-named", lambda tn, x, n=_name: named(getattr(tn, n)(x, 0)), f64(5))
    case(f"{_name}-ties", method(_name, 0), f64(6).of([1, 2, 2, 1, 2, 1]))
    case(f"{_name}-nan", method(_name, 0), f64(5).of([1, NAN, 0, NAN, 3]).const)
    case(
        f"{_name}-kinds",
        lambda tn, *xs, n=_name: [getattr(x, n)(0) for x in xs],
        *(i64(4), u8(4), mask(4), f32(4).const),
    )
    fails(f"{_name}-dim-too-large", function(_name, 2), f64(2, 3))
for _row in ([2, 0, 3, -1], [0, 2, 3, 4], [1, 2, 0, 0], [0, 0, 0, 1], [1, 2, 3, 0]):
    case(f"cumprod-zeros-{_row}", function("cumprod", 0), f64(4).of(_row))
case("cumprod-dtype", lambda tn, x: x.cumprod(0, dtype=tn.float64), f32(4))
case("cumprod-kinds", lambda tn, *xs: [x.cumprod(0) for x in xs], i64(4), i32(4), u8(4), mask(4))
case("cumprod-three-dims", function("cumprod", 1), f64(2, 3, 2))
case("cumprod_-inplace", inplace("cumprod_", 1), f64(2, 3))
fails("cumprod-dim-too-large", function("cumprod", 2), f64(2, 3))
case("logcumsumexp-large", function("logcumsumexp", 0), f64(4).of([1000, -1000, 1001, 0]))
case("logcumsumexp-float32", function("logcumsumexp", 1), f32(2, 5))
case("logcumsumexp-infinite", function("logcumsumexp", 0), f64(3).of([-INF, -INF, 1.0]).const)
fails("logcumsumexp-int64", function("logcumsumexp", 0), i64(3))

# ---- differences ----

for _layout, _spec in layouts(3, 3).items():
    if _layout != "0d":
        case(f"diff-{_layout}", function("diff"), _spec)
        case(f"diff-twice-{_layout}", function("diff", 2, 0), _spec)
case("diff-ends", lambda tn, x, a, b: x.diff(1, 0, a, b), f64(3, 2), f64(1, 2), f64(2, 2))
case("diff-kinds", lambda tn, *xs: [x.diff() for x in xs], i64(4), u8(4), mask(4))
case("diff-too-often", lambda tn, x: tn.diff(x, n=9), f64(2, 3).const)
case("diff-not-at-all", lambda tn, x: tn.diff(x, n=0).tolist(), f64(2, 3).const)
fails("diff-0d", function("diff"), f64())
fails("diff-negative", function("diff", -1), f64(3))
fails("diff-ends-dims", lambda tn, x, y: tn.diff(x, prepend=y), f64(3), f64())
case("gradient-all", function("gradient"), f64(3, 4))
case("gradient-second-order", function("gradient", edge_order=2), f64(3, 4))
case("gradient-dim", function("gradient", dim=1, spacing=0.5), f64(3, 4))
case("gradient-dims", function("gradient", dim=(1, 0), spacing=[0.5, 2.0]), f64(3, 4))
for _order in (1, 2):
    case(
        f"gradient-places-{_order}",
        lambda tn, x, at, o=_order: tn.gradient(x, spacing=(at,), dim=1, edge_order=o),
        f64(3, 4),
        f64(4).of([0, 1, 4, 6]).const,
    )
case("gradient-int64", function("gradient"), i64(5))
fails("gradient-too-short", function("gradient"), f64(1))
fails("gradient-second-too-short", function("gradient", edge_order=2), f64(2))
case("order-errors", lambda tn, x: each([lambda: tn.sort(x, 2), lambda: tn.mode(x, 5)]), f64(2, 3))
