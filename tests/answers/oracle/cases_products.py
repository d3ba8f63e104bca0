"""Products beyond matmul: einsum, tensordot, addmm and its family, diagonals, distances."""

import math

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

TABLE = Table("products")
case, fails = TABLE.case, TABLE.fails

# ---- einsum -------------------------------------------------------------------------------------

EQUATIONS = {
    "product": ("ij,jk->ik", f64(2, 3), f64(3, 4)),
    "implicit": ("ij,jk", f64(2, 3), f64(3, 4)),
    "implicit-capitals": ("bA,Ac", f64(2, 3), f64(3, 4)),
    "transposed-operand": ("ji,kj->ik", f64(3, 2).t, f64(4, 3)),
    "swap": ("ij->ji", f64(2, 3)),
    "same": ("ij->ij", f64(2, 3)),
    "trace": ("ii", f64(3, 3)),
    "diagonal": ("ii->i", f64(3, 3)),
    "diagonal-of-three": ("iii->i", f64(2, 2, 2)),
    "diagonals-in-batch": ("bii->b", f64(2, 3, 3)),
    "diagonal-product": ("iij,jk->ik", f64(2, 2, 3), f64(3, 2)),
    "sum": ("ij->", f64(2, 3)),
    "sum-rows": ("ij->j", f64(2, 3).strided),
    "dot": ("i,i", f64(3), f64(3)),
    "dot-arrow": ("i,i->", f64(3), f64(3).expanded),
    "outer": ("i,j->ij", f64(2), f64(3)),
    "outer-swapped": ("i,j->ji", f64(2), f64(3)),
    "elementwise": ("ij,ij->ij", f64(2, 3), f64(2, 3)),
    "elementwise-summed": ("ij,ij->i", f64(2, 3), f64(2, 3)),
    "row-times": ("ij,j->ij", f64(2, 3), f64(3)),
    "batch": ("bij,bjk->bik", f64(2, 2, 3), f64(2, 3, 4)),
    "batch-inside": ("ibj,jbk->kib", f64(2, 3, 4), f64(4, 3, 2)),
    "bilinear": ("bi,oij,bj->bo", f64(2, 3), f64(4, 3, 2), f64(2, 2)),
    "chain": ("ij,jk,kl->il", f64(2, 3), f64(3, 4), f64(4, 2)),
    "four": ("ab,bc,cd,da->", f64(2, 3), f64(3, 2), f64(2, 4), f64(4, 2)),
    "attention": ("bqhd,bkhd->bhqk", f64(2, 3, 2, 4), f64(2, 5, 2, 4)),
    "two-inner": ("ijk,kjl->il", f64(2, 3, 4), f64(4, 3, 2)),
    "lonely-labels": ("ij,kl->i", f64(2, 3), f64(3, 2)),
    "ellipsis": ("...j,jk->...k", f64(2, 2, 3), f64(3, 4)),
    "ellipsis-of-none": ("...j,jk->...k", f64(3), f64(3, 4)),
    "ellipsis-implicit": ("...ij,...jk", f64(2, 2, 3), f64(3, 4)),
    "ellipsis-broadcast": ("...i,...i->...", f64(2, 1, 3), f64(4, 3)),
    "ellipsis-summed": ("...j->j", f64(2, 2, 3)),
    "ellipsis-first-out": ("i...->...i", f64(2, 3, 4)),
    "ellipsis-in-the-middle": ("a...b->b...a", f64(2, 3, 4)),
    "length-one": ("ij,jk->ik", f64(2, 3), f64(1, 4)),
    "length-one-left": ("ij,ij->j", f64(1, 3), f64(2, 3)),
    "length-one-both": ("ij,jk->ijk", f64(2, 1), f64(1, 3)),
    "scalar": (",ij->ij", f64(), f64(2, 3)),
    "scalars": ("", f64()),
    "spaces": (" i j , j k -> i k ", f64(2, 3), f64(3, 4)),
    "empty": ("ij,jk->ik", f64(0, 3), f64(3, 4)),
    "empty-inner": ("ij,jk->ik", f64(2, 0), f64(0, 4)),
    "int64": ("ij,jk->ik", i64(2, 3), i64(3, 4)),
    "float32": ("ij,jk->ik", f32(2, 3), f32(3, 4)),
    "mixed-product": ("ij,ij->ij", f32(2, 3), f64(2, 3)),
}
for _name, (_equation, *_operands) in EQUATIONS.items():
    case(f"einsum-{_name}", lambda tn, *x, e=_equation: tn.einsum(e, *x), *_operands)
case(
    "einsum-empty-mixed",
    lambda tn: each(
        [
            lambda e=e, a=a, b=b, one=one, two=two: tn.einsum(
                e, tn.zeros(a, dtype=getattr(tn, one)), tn.zeros(b, dtype=getattr(tn, two))
            )
            for one, two in (("float32", "float64"), ("float32", "int64"), ("bool", "float32"))
            for e, a, b in (
                ("ij,jk->ik", (2, 0), (0, 3)),
                ("ij,jk->ik", (0, 3), (3, 2)),
                ("ij,kj->ik", (2, 0), (3, 0)),
                ("ij,ij->i", (2, 0), (2, 0)),
                ("bij,bjk->bik", (0, 2, 3), (0, 3, 2)),
                ("i,i->", (0,), (0,)),
                ("i,j->ij", (0,), (2,)),
                ("i,i->", (2,), (2,)),
            )
        ]
    ),
)
case("einsum-twice", lambda tn, x: tn.einsum("ij,ij->i", x, x), f64(2, 3))
case("einsum-list", lambda tn, x, y: tn.einsum("ij,jk", [x, y]), f64(2, 3), f64(3, 4))
case(
    "einsum-sublists",
    lambda tn, x, y: tn.einsum(x, [0, 1], y, [1, 2], [2, 0]),
    f64(2, 3),
    f64(3, 4),
)
case(
    "einsum-sublists-implicit",
    lambda tn, x, y: tn.einsum(x, [5, 1], y, [1, 51]),
    f64(2, 3),
    f64(3, 4),
)
case(
    "einsum-sublists-ellipsis",
    lambda tn, x, y: tn.einsum(x, [..., 1], y, [1, 2], [..., 2]),
    *(f64(2, 2, 3), f64(3, 4)),
)
BAD_EQUATIONS = {
    "too-many": ("ij", f64(2, 3), f64(2, 3)),
    "too-few": ("ij,jk", f64(2, 3)),
    "digit": ("i1->i", f64(2, 3)),
    "digit-in-second": ("ij,j1->i", f64(2, 3), f64(3, 2)),
    "digit-out": ("ij->i1", f64(2, 3)),
    "one-dot": ("i.j->i", f64(2, 3)),
    "two-ellipses": ("......j->j", f64(2, 3)),
    "one-dot-out": ("ij->i.", f64(2, 3)),
    "two-ellipses-out": ("...ij->......i", f64(2, 3)),
    "twice-out": ("ij->ii", f64(2, 3)),
    "unknown-out": ("ij->k", f64(2, 3)),
    "too-long": ("ijk->k", f64(2, 3)),
    "too-short": ("i->i", f64(2, 3)),
    "too-long-with-ellipsis": ("...ijk->k", f64(2, 3)),
    "diagonal-of-no-square": ("ii->i", f64(2, 3)),
    "sizes": ("ij,jk->ik", f64(2, 3), f64(2, 3)),
    "ellipsis-sizes": ("...i,...i->...i", f64(2, 3), f64(4, 3)),
    "half-an-arrow": ("ij-i", f64(2, 3)),
    "dtypes": ("ij,jk->ik", f32(2, 3), f64(3, 4)),
    "bool": ("ij,jk->ik", mask(2, 3), mask(3, 4)),
    "nothing": ("ij",),
}
for _name, (_equation, *_operands) in BAD_EQUATIONS.items():
    fails(f"einsum-{_name}", lambda tn, *x, e=_equation: tn.einsum(e, *x), *_operands)
fails("einsum-number", lambda tn, x: tn.einsum("ij,jk->ik", x, 3.0), f64(2, 3))
fails("einsum-sublist-range", lambda tn, x: tn.einsum(x, [0, 52]), f64(2, 3))

# ---- tensordot, inner, kron ---------------------------------------------------------------------

DIMS = {
    "one": (1, f64(2, 3), f64(3, 4)),
    "two": (2, f64(2, 3, 4), f64(3, 4, 2)),
    "none": (0, f64(2), f64(3)),
    "all": (2, f64(2, 3), f64(2, 3)),
    "lists": (([1, 0], [0, 2]), f64(2, 3, 4), f64(3, 2, 2)),
    "negative": (([-1], [0]), f64(2, 3).t, f64(3, 2).strided),
    "length-one": (1, f64(2, 3), f64(1, 4)),
    "length-one-left": (([0], [0]), f64(1, 2), f64(3, 2)),
    "empty": (1, f64(2, 0), f64(0, 3)),
    "int64": (1, i64(2, 3), i64(3, 2)),
}
for _name, (_dims, *_operands) in DIMS.items():
    case(f"tensordot-{_name}", lambda tn, x, y, d=_dims: tn.tensordot(x, y, d), *_operands)
case(
    "tensordot-tensor",
    lambda tn, x, y: tn.tensordot(x, y, dims=tn.tensor([[0, 1], [1, 0]])),
    *(f64(2, 3), f64(3, 2)),
)
BAD_DIMS = {
    "negative": (-1, f64(2, 3), f64(3, 4)),
    "too-many": (3, f64(2, 3), f64(3, 4)),
    "text": ("a", f64(2, 3), f64(3, 4)),
    "lengths": (([1], [0, 1]), f64(2, 3), f64(3, 4)),
    "sizes": (([1], [1]), f64(2, 3), f64(3, 4)),
    "twice": (([1, 1], [0, 1]), f64(3, 3), f64(3, 3)),
    "range": (([5], [0]), f64(2, 3), f64(3, 4)),
    "dtypes": (1, f32(2, 3), f64(3, 4)),
}
for _name, (_dims, *_operands) in BAD_DIMS.items():
    fails(f"tensordot-{_name}", lambda tn, x, y, d=_dims: tn.tensordot(x, y, d), *_operands)

for _name, _pair in {
    "matrices": (f64(2, 3), f64(4, 3)),
    "vectors": (f64(3), f64(3)),
    "matrix-vector": (f64(2, 3), f64(3)),
    "scalar": (f64(2, 3), f64()),
    "empty": (f64(2, 0), f64(3, 0)),
}.items():
    case(f"inner-{_name}", function("inner"), *_pair)
fails("inner-sizes", method("inner"), f64(2, 3), f64(4))
fails("inner-dtypes", method("inner"), f64(2, 3), f32(3))
for _name, _pair in {
    "matrices": (f64(2, 3), f64(2, 2)),
    "vector": (f64(2, 3).strided, f64(2)),
    "vector-first": (f64(2), f64(2, 3)),
    "scalar": (f64(2, 3), f64()),
    "mixed": (f32(2, 2), i64(1, 2)),
    "empty": (f64(0, 3), f64(2, 2)),
}.items():
    case(f"kron-{_name}", function("kron"), *_pair)
case("ger-vectors", function("ger"), f64(2), f64(3))
fails("ger-matrix", method("ger"), f64(2, 2), f64(3))
case("vdot-vectors", function("vdot"), f64(3), f64(3).strided)
fails("vdot-matrix", method("vdot"), f64(2, 3), f64(3))
fails("vdot-lengths", method("vdot"), f64(2), f64(3))
fails("vdot-dtypes", method("vdot"), f64(3), f32(3))

# ---- beta * self + alpha * product --------------------------------------------------------------

SHAPES = {
    "addmm": ((2, 4), (2, 3), (3, 4)),
    "addmv": ((2,), (2, 3), (3,)),
    "addr": ((2, 3), (2,), (3,)),
    "baddbmm": ((2, 2, 4), (2, 2, 3), (2, 3, 4)),
    "addbmm": ((2, 4), (2, 2, 3), (2, 3, 4)),
}
for _name, (_self, _left, _right) in SHAPES.items():
    _inputs = (f64(*_self), f64(*_left), f64(*_right))
    case(f"{_name}-plain", function(_name), *_inputs)
    case(f"{_name}-method", method(_name, beta=0.5, alpha=2), *_inputs)
    case(f"{_name}-beta-0", function(_name, beta=0), f64(*_self).of(math.nan), *_inputs[1:])
    case(f"{_name}-alpha-0", function(_name, alpha=0), *_inputs)
    case(f"{_name}_-plain", inplace(f"{_name}_", beta=2, alpha=-0.5), *_inputs)
    case(f"{_name}-layouts", function(_name), f64(*_self).strided, f64(*_left).t, f64(*_right).t)
    case(f"{_name}-float32", function(_name, alpha=0.3), *(f32(*x.shape) for x in _inputs))
    case(f"{_name}-int64", function(_name, beta=2, alpha=3), *(i64(*x.shape) for x in _inputs))
    case(f"{_name}-broadcast", function(_name), f64(1), *_inputs[1:])
    fails(f"{_name}-broadcast-wrong", function(_name), f64(7), *_inputs[1:])
    fails(f"{_name}-sizes", function(_name), _inputs[0], f64(*_left), f64(*(9,) * len(_right)))
    fails(f"{_name}-dims", function(_name), _inputs[0], f64(2, 2, 2, 2), f64(*_right))
    fails(f"{_name}-list", lambda tn, x, y, n=_name: getattr(tn, n)([1.0], x, y), *_inputs[1:])
    if _name != "addr":
        fails(f"{_name}-dtypes", function(_name), *_inputs[:2], f32(*_right))
        fails(f"{_name}-dtype-of-self", function(_name), f32(*_self), *_inputs[1:])
        fails(f"{_name}-bool", function(_name), *(mask(*x.shape) for x in _inputs))
case("addbmm_-grows", inplace("addbmm_", beta=2), f64(1), f64(2, 2, 3), f64(2, 3, 4))
case("addr-mixed", function("addr"), f32(2, 3).const, f64(2).const, i64(3))
fails("addr-fraction", function("addr", alpha=1.5), i64(2, 3), i64(2), i64(3))
fails("addmm-3d-self", function("addmm"), f64(1, 2, 4), f64(2, 3), f64(3, 4))

# ---- addcmul, addcdiv, lerp ---------------------------------------------------------------------

for _name in ("addcmul", "addcdiv"):
    for _layout, _spec in layouts(2, 3).items():
        case(f"{_name}-{_layout}", function(_name), _spec, f64(3), f64(3).positive)
    case(f"{_name}-value", method(_name, value=-0.5), f64(2, 3), f64(2, 1), f64(3).positive)
    case(f"{_name}_-plain", inplace(f"{_name}_", value=2), f64(2, 3), f64(2, 3), f64(3).positive)
    case(f"{_name}-mixed", function(_name), f32(2), f64(2), f64(2).positive)
    fails(f"{_name}-bool", function(_name), mask(3), mask(3), mask(3))
    fails(f"{_name}-sizes", function(_name), f64(3), f64(2), f64(3))
    fails(f"{_name}-number", lambda tn, x, n=_name: getattr(tn, n)(x, 2.0, x), f64(3))
    fails(f"{_name}_-broadcast", inplace(f"{_name}_"), f64(3), f64(2, 1), f64(3))
case("addcmul-int64", function("addcmul", value=2), i64(3), i64(3), i64(3))
fails("addcmul_-cast", inplace("addcmul_"), i64(3), f32(3), f32(3))
fails("addcdiv-int64", function("addcdiv"), i64(3), i64(3), i64(3).of(2))
for _layout, _spec in layouts(2, 3).items():
    case(f"lerp-{_layout}", function("lerp", weight=0.3), _spec, f64(3))
    case(f"lerp-tensor-{_layout}", method("lerp"), _spec, f64(3), f64(3))
case("lerp-beyond", method("lerp", 1.7), f64(2, 3), f64(2, 3))
case("lerp-scalar-tensor", method("lerp"), f64(2, 3), f64(3), f64())
case("lerp_-number", inplace("lerp_", weight=0.6), f64(2, 3), f64(3))
case("lerp_-tensor", inplace("lerp_"), f64(2, 3), f64(3), f64(2, 1))
fails("lerp-dtypes", method("lerp", 0.5), f64(3), f32(3))
fails("lerp-weight-dtype", method("lerp"), f32(3), f32(3), f64(3))
fails("lerp-int64", method("lerp", 0.5), i64(3), i64(3))
fails("lerp-sizes", method("lerp", 0.5), f64(3), f64(2))
fails("lerp-end-number", lambda tn, x: x.lerp(2.0, 0.5), f64(3))
fails("lerp_-broadcast", inplace("lerp_", weight=0.5), f64(3), f64(2, 3))

# ---- diagonals ----------------------------------------------------------------------------------

for _layout, _spec in layouts(2, 3).items():
    if _layout != "0d":
        case(f"trace-{_layout}", method("trace"), _spec)
        case(f"diag-{_layout}", method("diag", 1), _spec)
    case(f"diagflat-{_layout}", method("diagflat", -1), _spec)
    if _layout != "0d":
        case(f"diag_embed-{_layout}", method("diag_embed"), _spec)
case("trace-int", method("trace"), i64(3, 3))
fails("trace-1d", method("trace"), f64(3))
fails("trace-bool", method("trace"), mask(3, 3))
case("diag-vector", method("diag"), f64(3))
case("diag-vector-below", method("diag", -2), f64(3))
case("diag-beside", method("diag", 9), f64(2, 3))
case("diag-bool", method("diag"), mask(3))
fails("diag-3d", method("diag"), f64(2, 2, 2))
fails("diag-0d", method("diag"), f64())
case("diag_embed-dims", method("diag_embed", 1, 0, 2), f64(2, 3))
case("diag_embed-dims-swapped", method("diag_embed", -1, 2, 0), f64(2, 3))
fails("diag_embed-same", method("diag_embed", 0, 1, 1), f64(2, 3))
fails("diag_embed-range", method("diag_embed", 0, 1, 5), f64(2, 3))
case("block_diag-mixed-dims", function("block_diag"), f64(2, 3), f64(2), f64())
case("block_diag-dtypes", function("block_diag"), f32(2, 1), f64(1, 2))
case("block_diag-empty", function("block_diag"), f64(0, 2), f64(1, 1))
case("block_diag-none", lambda tn: tn.block_diag())
fails("block_diag-3d", function("block_diag"), f64(1, 1), f64(2, 2, 2))
for _name in ("tril_indices", "triu_indices"):
    case(
        f"{_name}-several",
        lambda tn, n=_name: [
            getattr(tn, n)(*args) for args in ((3, 3), (2, 4, 1), (4, 2, -1), (0, 2), (2, 2, -5))
        ],
    )
    case(f"{_name}-int32", lambda tn, n=_name: getattr(tn, n)(2, 2, dtype=tn.int32))
    fails(f"{_name}-negative", lambda tn, n=_name: getattr(tn, n)(-2, 2))
    fails(f"{_name}-float", lambda tn, n=_name: getattr(tn, n)(2, 2, dtype=tn.float32))
for _name in ("mH", "H"):
    case(f"{_name}-matrix", lambda tn, x, n=_name: getattr(x, n), f64(2, 3))
case("mH-batch", lambda tn, x: (x.mH, x.adjoint(), tn.adjoint(x)), f64(2, 2, 3))
fails("H-batch", lambda tn, x: x.H, f64(2, 2, 3))
fails("H-vector", lambda tn, x: x.H, f64(3))
fails("adjoint-vector", method("adjoint"), f64(3))

# ---- choices of elements ------------------------------------------------------------------------

case("cartesian_prod-two", function("cartesian_prod"), f64(2), f64(3))
case("cartesian_prod-three", function("cartesian_prod"), i64(2), i64(1), i64(3))
case("cartesian_prod-one", lambda tn, x: tn.cartesian_prod(x * 1), f64(3))
fails("cartesian_prod-matrix", function("cartesian_prod"), f64(2, 2))
fails("cartesian_prod-none", lambda tn: tn.cartesian_prod())
fails("cartesian_prod-dtypes", function("cartesian_prod"), f64(2), f32(2))
for _name, _kwargs in {
    "pairs": {},
    "triples": {"r": 3},
    "ones": {"r": 1},
    "none": {"r": 0},
    "too-many": {"r": 9},
    "replaced": {"with_replacement": True},
}.items():
    case(f"combinations-{_name}", function("combinations", **_kwargs), f64(4))
fails("combinations-matrix", function("combinations"), f64(2, 2))
fails("combinations-negative", function("combinations", -1), f64(2))
# PyTorch 2.13 cannot differentiate its own vander: it writes to what it saved.
case("vander-plain", function("vander"), f64(3).const)
case("vander-increasing", lambda tn, x: tn.vander(x, 4, increasing=True) * 1, f64(3).const)
case("vander-none", function("vander", 0), f64(3))
case("vander-int", function("vander"), i64(3))
fails("vander-matrix", function("vander"), f64(2, 2))
fails("vander-negative", function("vander", -2), f64(2))

# ---- distances ----------------------------------------------------------------------------------

for _p in (2.0, 1.0, 3.0, 1.5, 0.0, math.inf):
    case(f"cdist-p-{_p:g}", function("cdist", _p), f64(3, 2), f64(4, 2), second_order=False)
case("cdist-batch", function("cdist"), f64(2, 1, 3, 2), f64(2, 4, 2), second_order=False)
case("cdist-large", function("cdist"), f64(27, 2), f64(3, 2), second_order=False)
case(
    "cdist-direct",
    function("cdist", compute_mode="donot_use_mm_for_euclid_dist"),
    *(f64(27, 2), f64(3, 2)),
    second_order=False,
)
case("cdist-same", lambda tn, x: tn.cdist(x, x), f64(3, 2), second_order=False)
case("cdist-empty", function("cdist"), f64(0, 2), f64(3, 2), second_order=False)
case("cdist-layouts", function("cdist"), f64(3, 2).t, f64(3, 2).expanded, second_order=False)
fails("cdist-1d", function("cdist"), f64(2), f64(3, 2))
fails("cdist-1d-second", function("cdist"), f64(3, 2), f64(2))
fails("cdist-columns", function("cdist"), f64(3, 2), f64(3, 3))
fails("cdist-int", function("cdist"), f64(3, 2), i64(3, 2))
fails("cdist-dtypes", function("cdist"), f64(3, 2), f32(3, 2))
fails("cdist-negative", function("cdist", -1.0), f64(3, 2), f64(3, 2))
fails("cdist-mode", function("cdist", compute_mode="foo"), f64(3, 2), f64(3, 2))
fails("cdist-batches", function("cdist"), f64(2, 3, 2), f64(4, 3, 2))
for _p in (2, 1, 3, math.inf):
    case(f"dist-p-{_p:g}", method("dist", _p), f64(2, 3), f64(3))
case("dist-same", lambda tn, x: tn.dist(x, x), f64(3), second_order=False)
fails("dist-int", method("dist"), i64(3), i64(3))
for _p in (2, 1, 3.0):
    case(f"renorm-p-{_p:g}", method("renorm", _p, 0, 2.0), f64(3, 2))
case("renorm-dim", method("renorm", 2, -1, 1.5), f64(2, 3, 2))
case("renorm_-plain", inplace("renorm_", 2, 1, 1.0), f64(2, 3))
fails("renorm-1d", method("renorm", 2, 0, 1.0), f64(3))
fails("renorm-p-0", method("renorm", 0, 0, 1.0), f64(3, 2))
fails("renorm-maxnorm", method("renorm", 2, 0, -1.0), f64(3, 2))
fails("renorm-dim", method("renorm", 2, 3, 1.0), f64(3, 2))
fails("renorm-int", method("renorm", 2, 0, 1.0), i64(3, 2))

# ---- covariance ---------------------------------------------------------------------------------

WEIGHTS = {
    "plain": lambda tn, x: tn.cov(x),
    "correction-0": lambda tn, x: x.cov(correction=0),
    "fweights": lambda tn, x: x.cov(fweights=tn.tensor([1, 2, 3, 1])),
    "aweights": lambda tn, x: x.cov(aweights=tn.tensor([0.5, 1, 2, 3], dtype=x.dtype)),
    "both": lambda tn, x: x.cov(
        fweights=tn.tensor([1, 2, 3, 1]), aweights=tn.tensor([0.5, 1, 2, 3], dtype=x.dtype)
    ),
}
for _name, _call in WEIGHTS.items():
    case(f"cov-{_name}", _call, f64(3, 4))
    case(f"cov-vector-{_name}", _call, f64(4))
case("cov-int", method("cov"), i64(2, 4))
case("cov-scalar", method("cov"), f64())
case("cov-one-observation", method("cov"), f64(2, 1).const)
fails("cov-3d", method("cov"), f64(2, 2, 2))
fails("cov-bool", method("cov"), mask(2, 3))
BAD_WEIGHTS = {
    "fweights-float": lambda tn, x: x.cov(fweights=tn.tensor([1.0, 2, 3, 1])),
    "fweights-length": lambda tn, x: x.cov(fweights=tn.tensor([1, 2])),
    "fweights-negative": lambda tn, x: x.cov(fweights=tn.tensor([1, -2, 3, 1])),
    "fweights-2d": lambda tn, x: x.cov(fweights=tn.tensor([[1, 2, 3, 1]])),
    "aweights-int": lambda tn, x: x.cov(aweights=tn.tensor([1, 2, 3, 1])),
    "aweights-length": lambda tn, x: x.cov(aweights=tn.tensor([1.0, 2])),
    "aweights-negative": lambda tn, x: x.cov(aweights=tn.tensor([1.0, -2, 3, 1])),
    "aweights-zero": lambda tn, x: x.cov(aweights=tn.zeros(4)),
}
for _name, _call in BAD_WEIGHTS.items():
    fails(f"cov-{_name}", _call, f64(3, 4))
case("corrcoef-plain", method("corrcoef"), f64(3, 4))
case("corrcoef-vector", method("corrcoef"), f64(4))
fails("corrcoef-3d", method("corrcoef"), f64(2, 2, 2))

# ---- integrals ----------------------------------------------------------------------------------

for _name in ("trapezoid", "trapz", "cumulative_trapezoid"):
    case(f"{_name}-plain", function(_name), f64(2, 3))
    case(f"{_name}-dx", function(_name, dx=0.5), f64(2, 3))
    case(f"{_name}-dim", function(_name, dim=0), f64(4, 2).t)
    case(f"{_name}-x", function(_name), f64(2, 3), f64(3))
    case(f"{_name}-x-matrix", function(_name), f64(2, 3), f64(2, 3))
    case(f"{_name}-x-dim", function(_name, dim=0), f64(4, 2), f64(4))
    case(f"{_name}-int", function(_name), i64(2, 3))
    case(f"{_name}-empty", lambda tn, x, n=_name: getattr(tn, n)(x) * 1, f64(2, 0).const)
    fails(f"{_name}-points", function(_name), f64(2, 3), f64(2))
    fails(f"{_name}-bool", function(_name), mask(2, 3))
    fails(f"{_name}-bool-x", function(_name), f64(2, 3), mask(3))
    fails(f"{_name}-0d", function(_name), f64())
case("chain_matmul-two", function("chain_matmul"), f64(2, 3), f64(3, 4))
case("chain_matmul-one", function("chain_matmul"), f64(2, 3))
case(
    "addmm-forms",
    lambda tn, x: each([lambda: tn.addmm(x, x, x), lambda: x.addmm(x, x, beta=3, alpha=2)]),
    f64(2, 2),
)
