"""Operations that join tensors and take them apart."""

from tests.tools.recorded.rows import DTYPES, Table, each, f32, f64, i64, mask

TABLE = Table("joining")
case, fails = TABLE.case, TABLE.fails

# ---- cat ----

JOINS = {
    "plain": (f64(2, 3), f64(2, 3)),
    "transposed": (f64(2, 3).t, f64(2, 3)),
    "strided": (f64(2, 3).strided, f64(2, 3)),
    "expanded": (f64(2, 3).expanded, f64(2, 3).expanded),
    "const": (f64(2, 3), f64(2, 3).const),
    "float32": (f32(2, 3), f32(2, 3)),
    "int64": (i64(2, 3), i64(2, 3)),
    "bool": (mask(2, 3), mask(2, 3)),
    "empty": (f64(2, 0), f64(2, 0)),
}
for _label, _pair in JOINS.items():
    case(f"cat-{_label}", lambda tn, x, y: tn.cat((x, y)), *_pair)
    case(f"cat-last-{_label}", lambda tn, x, y: tn.cat([x, y], dim=-1), *_pair)
    case(f"stack-{_label}", lambda tn, x, y: tn.stack((x, y)), *_pair)
    case(f"stack-last-{_label}", lambda tn, x, y: tn.stack([x, y], dim=-1), *_pair)
case("stack-middle", lambda tn, x, y: tn.stack((x, y), 1), f64(2, 3), f64(2, 3))
case("stack-0d", lambda tn, x, y: tn.stack((x, y)), f64(), f64())
case("stack-one", lambda tn, x: tn.stack((x,), -2), f64(2))
case("cat-one", lambda tn, x: tn.cat((x,)), f64(2, 2))
case("cat-three", lambda tn, x, y, z: tn.cat((x, y, z), 1), f64(2, 1), f64(2, 3), f64(2, 0))
case("cat-twice-the-same", lambda tn, x: tn.cat((x, x, x)), f64(2))
case("cat-legacy-empty", lambda tn, x, e: tn.cat((x, e), 1), f64(2, 2), f64(0).const)
case("cat-concat-names", lambda tn, x: (tn.concat((x, x)), tn.concatenate((x, x), dim=0)), f64(2))
for _dtype, _make in DTYPES.items():
    case(
        f"cat-promote-{_dtype}",
        lambda tn, x, *others: each([lambda y=y: tn.cat((x, y)) for y in others]),
        *(_make(2).const, *(make(2).const for make in DTYPES.values())),
    )
case("cat-promote-gradients", lambda tn, x, y: tn.cat((x, y)), f32(2), f64(2))
case(
    "stack-promote",
    lambda tn, *xs: each([lambda y=y: tn.stack((xs[0], y)) for y in xs]),
    *(make(2).const for make in DTYPES.values()),
)
fails("cat-nothing", lambda tn: tn.cat(()))
fails("cat-0d", lambda tn, x: tn.cat((x, x)), f64())
fails("cat-sizes", lambda tn, x, y: tn.cat((x, y)), f64(2, 3), f64(2, 4))
fails("cat-sizes-dim", lambda tn, x, y: tn.cat((x, y), 1), f64(2, 3), f64(3, 3))
fails("cat-ndim", lambda tn, x, y: tn.cat((x, y)), f64(2, 3), f64(3))
fails("cat-dim", lambda tn, x: tn.cat((x, x), 2), f64(2, 3))
fails("cat-tensor", lambda tn, x: tn.cat(x), f64(2, 3))
fails("cat-number", lambda tn, x: tn.cat((x, 1.0)), f64(2))
fails("stack-nothing", lambda tn: tn.stack(()))
fails("stack-sizes", lambda tn, x, y: tn.stack((x, y)), f64(2), f64(3))
fails("stack-dim", lambda tn, x: tn.stack((x, x), 2), f64(2))

# ---- split, chunk, unbind ----

APART = {
    "split": lambda tn, x: x.split(2),
    "split-uneven": lambda tn, x: tn.split(x, 3),
    "split-sizes": lambda tn, x: tn.split(x, [1, 3]),
    "split-sizes-zero": lambda tn, x: x.split([4, 0]),
    "split-dim": lambda tn, x: x.split(1, dim=1),
    "split-negative-dim": lambda tn, x: tn.split(x, 2, -1),
    "split-larger": lambda tn, x: x.split(10),
    "chunk": lambda tn, x: x.chunk(2),
    "chunk-uneven": lambda tn, x: tn.chunk(x, 3),
    "chunk-too-many": lambda tn, x: x.chunk(9, dim=1),
    "chunk-negative-dim": lambda tn, x: x.chunk(2, -1),
    "unbind": lambda tn, x: x.unbind(),
    "unbind-dim": lambda tn, x: tn.unbind(x, 1),
    "unbind-negative-dim": lambda tn, x: x.unbind(dim=-1),
}
for _name, _call in APART.items():
    case(f"{_name}-plain", _call, f64(4, 3))
    case(f"{_name}-transposed", _call, f64(4, 3).t)
    case(f"{_name}-strided", _call, f32(4, 3).strided)
    case(f"{_name}-expanded", _call, f64(4, 3).expanded)
    case(f"{_name}-int64", _call, i64(4, 3))
    case(f"{_name}-one-used", lambda tn, x, c=_call: c(tn, x)[0] * 2, f64(4, 3))
    fails(f"{_name}-write", lambda tn, x, c=_call: c(tn, x * 1)[0].mul_(2), f64(4, 3))
    case(f"{_name}-write-const", lambda tn, x, c=_call: (c(tn, x)[0].add_(1), x), i64(4, 3))
    case(f"{_name}-write-base", lambda tn, x, c=_call: write_base(tn, x, c), f64(4, 3))
case("split-empty", lambda tn, x: x.split(2), f64(0, 2))
case("split-empty-zero", lambda tn, x: x.split(0), f64(0, 2))
case("chunk-empty", lambda tn, x: x.chunk(3), f64(0, 2))
case("chunk-back-together", lambda tn, x: tn.cat(x.chunk(2, 1)[::-1], 1), f64(2, 4))
case("unbind-1d", lambda tn, x: x.unbind(), f64(3))
fails("split-zero", lambda tn, x: x.split(0), f64(2, 2))
fails("split-negative", lambda tn, x: x.split(-1), f64(2, 2))
fails("split-sizes-do-not-add-up", lambda tn, x: x.split([1, 2]), f64(4))
fails("split-sizes-negative", lambda tn, x: x.split([5, -1]), f64(4))
fails("split-0d", lambda tn, x: x.split(1), f64())
fails("split-dim-range", lambda tn, x: x.split(1, 2), f64(2, 2))
fails("chunk-zero", lambda tn, x: x.chunk(0), f64(2, 2))
fails("chunk-0d", lambda tn, x: x.chunk(2), f64())
fails("unbind-0d", lambda tn, x: x.unbind(), f64())
fails("unbind-dim-range", lambda tn, x: x.unbind(2), f64(2, 2))


def write_base(tn, x, apart):
    """Writes to what was taken apart: the parts see it."""
    base = x.detach().clone()
    parts = apart(tn, base)
    base.mul_(2)
    return base, parts
