"""Reading by index: integers, slices, `...`, None, masks and integer tensors."""

from tests.tools.recorded.rows import Table, f32, f64, i32, i64, mask, u8

TABLE = Table("indexing")
case, fails = TABLE.case, TABLE.fails

# Indices that give views and indices that copy, of a tensor of shape (4, 3, 2).
BASIC = {
    "int": lambda x: x[1],
    "int-negative": lambda x: x[-4],
    "ints": lambda x: x[1, 2],
    "all-ints": lambda x: x[1, -1, 0],
    "slice": lambda x: x[1:3],
    "slice-negative": lambda x: x[-3:-1, :-1],
    "slice-step": lambda x: x[::3, 1::2],
    "slice-out-of-range": lambda x: x[2:100, -50:1],
    "slice-empty": lambda x: x[3:1],
    "slices-all": lambda x: x[:, :, 1:],
    "ellipsis": lambda x: x[..., 1],
    "ellipsis-middle": lambda x: x[0, ..., 1],
    "ellipsis-nothing": lambda x: x[1, 1, ..., 1],
    "ellipsis-only": lambda x: x[...],
    "none": lambda x: x[None],
    "none-last": lambda x: x[..., None],
    "none-between": lambda x: x[:, None, 1],
    "empty-tuple": lambda x: x[()],
    "true": lambda x: x[True],
    "bool-false": lambda x: x[False],
    "mixed": lambda x: x[1:, None, -1, ::2],
    "numpy-int": lambda x: x[x.detach().numpy().argmax() % 4],
    "chained": lambda x: x[1][2][0],
}
ADVANCED = {
    "list": lambda x: x[[0, 2]],
    "list-negative": lambda x: x[[-1, 0, -1]],
    "list-nothing": lambda x: x[[]],
    "list-of-bools": lambda x: x[[True, False, True, True]],
    "two-lists": lambda x: x[[0, 1], [2, 0]],
    "list-and-slice": lambda x: x[:, [0, 2]],
    "list-and-int": lambda x: x[1, :, [1, 0, 0]],
    "lists-apart": lambda x: x[[0, 1], :, [1, 0]],
    "lists-broadcast": lambda x: x[[[0], [3]], [0, 2]],
    "list-and-none": lambda x: x[None, [1, 2], None],
    "list-and-ellipsis": lambda x: x[..., [1, 0, 1]],
    "tuple-of-lists": lambda x: x[([0, 1], [1, 1], [0, 0])],
    "range": lambda x: x[range(2)],
}
LAYOUTS = {
    "plain": f64(4, 3, 2),
    "transposed": f64(4, 3, 2).t,
    "strided": f64(4, 3, 2).strided,
    "expanded": f64(4, 3, 2).expanded,
}
for _layout, _spec in LAYOUTS.items():
    for _name, _index in (BASIC | ADVANCED).items():
        if _layout == "plain" or _name in (
            "ints",
            "slice-step",
            "mixed",
            "two-lists",
            "lists-apart",
        ):
            case(f"getitem-{_name}-{_layout}", lambda tn, x, i=_index: i(x), _spec)
case("getitem-const", lambda tn, x: (x[0], x[[0]], x[..., None]), i64(2, 2))
case("getitem-float32", lambda tn, x: (x[0], x[[1, 1]], x[x.detach() > 0]), f32(2, 2))

# ---- integer tensors and masks ----

case("getitem-index-1d", lambda tn, x, i: x[i], f64(4, 3), i64(5).upto(4, -4))
case("getitem-index-2d", lambda tn, x, i: x[i], f64(4, 3), i64(2, 2).upto(4))
case("getitem-index-0d", lambda tn, x, i: x[i], f64(4, 3), i64().upto(4))
case("getitem-index-0d-of-1d", lambda tn, x, i: x[i], f64(4), i64().of(-1))
case("getitem-index-empty", lambda tn, x, i: x[i], f64(4, 3), i64(0))
case("getitem-index-int32", lambda tn, x, i: x[i], f64(4, 3), i32(3).upto(4))
case("getitem-index-second", lambda tn, x, i: x[:, i], f64(2, 4), i64(3).upto(4))
case("getitem-two-indices", lambda tn, x, i, j: x[i, j], f64(4, 3), i64(5).upto(4), i64(5).upto(3))
case(
    "getitem-indices-outer",
    lambda tn, x, i, j: x[i, j],
    f64(4, 3),
    i64(2, 1).upto(4),
    i64(3).upto(3),
)
case(
    "getitem-indices-apart",
    lambda tn, x, i, j: x[i, :, j],
    f64(4, 2, 3),
    i64(5).upto(4),
    i64(5).upto(3),
)
case(
    "getitem-indices-in-the-middle",
    lambda tn, x, i, j: x[:, i, j],
    f64(2, 4, 3),
    i64(5).upto(4),
    i64(5).upto(3),
)
case("getitem-index-and-0d", lambda tn, x, i, j: x[i, j], f64(4, 3), i64(2).upto(4), i64().upto(3))
case("getitem-index-strided", lambda tn, x, i: x[i], f64(4, 3).t, i64(5).upto(4).strided)
case(
    "getitem-index-expanded", lambda tn, x, i: x[i], f64(4, 3).expanded, i64(3, 2).upto(4).expanded
)
case("getitem-index-repeats", lambda tn, x, i: x[i], f64(3), i64(6).of([0, 0, 1, 0, 1, 0]))
case("getitem-mask", lambda tn, x, m: x[m], f64(3, 2), mask(3, 2))
case("getitem-mask-rows", lambda tn, x, m: x[m], f64(4, 2), mask(4))
case("getitem-mask-columns", lambda tn, x, m: x[:, m], f64(2, 4), mask(4))
case("getitem-mask-and-int", lambda tn, x, m: x[m, 1], f64(4, 2), mask(4))
case("getitem-mask-and-slice", lambda tn, x, m: x[m, :1], f64(4, 2), mask(4))
case(
    "getitem-mask-and-index",
    lambda tn, x, i: x[tn.tensor([True, False, True, True]), i],
    f64(4, 3),
    i64(3).upto(3),
)
case("getitem-mask-nothing", lambda tn, x, m: x[m], f64(3, 2), mask(3, 2).of(False))
case("getitem-mask-empty", lambda tn, x, m: x[m], f64(0, 2), mask(0))
case("getitem-mask-0d", lambda tn, x, m: x[m], f64(3), mask().of(True))
case("getitem-mask-of-0d", lambda tn, x, m: x[m], f64(), mask().of(True))
case("getitem-mask-transposed", lambda tn, x, m: x[m], f64(3, 2).t, mask(3, 2).t)
case("getitem-mask-numpy", lambda tn, x, m: x[m.numpy()], f64(3, 2), mask(3))
case("getitem-index-numpy", lambda tn, x, i: x[i.numpy()], f64(3, 2), i64(4).upto(3))
case("getitem-uint8-mask", lambda tn, x, m: x[m], f64(3), u8(3).upto(2))
case("getitem-none-0d", lambda tn, x: (x[None], x[...], x[()]), f64())
case("getitem-empty", lambda tn, x: (x[:, 1:], x[[]], x[..., None]), f64(0, 3))
case("getitem-float32-index-grad", lambda tn, x, i: (x[i] ** 2).sum(), f32(3, 2), i64(4).upto(3))
case("getitem-copy-is-no-view", lambda tn, x, i: (x[i].zero_(), x), f64(3).const, i64(2).upto(3))
case("getitem-take-twice", lambda tn, x, i: x[i][i], f64(3, 2), i64(3).upto(3))

# ---- wrong indices ----

fails("getitem-range", lambda tn, x: x[3], f64(3, 2))
fails("getitem-range-negative", lambda tn, x: x[-4], f64(3, 2))
fails("getitem-range-second", lambda tn, x: x[0, 2], f64(3, 2))
fails("getitem-too-many", lambda tn, x: x[0, 0, 0], f64(3, 2))
fails("getitem-too-many-slices", lambda tn, x: x[:, :, :], f64(3, 2))
fails("getitem-of-0d", lambda tn, x: x[0], f64())
fails("getitem-slice-of-0d", lambda tn, x: x[:], f64())
fails("getitem-float", lambda tn, x: x[1.0], f64(3))
fails("getitem-step-negative", lambda tn, x: x[::-1], f64(3))
fails("getitem-step-zero", lambda tn, x: x[::0], f64(3))
fails("getitem-slice-float", lambda tn, x: x[1.5:], f64(3))
fails("getitem-index-range", lambda tn, x, i: x[i], f64(3), i64(2).of([0, 3]))
fails("getitem-index-range-negative", lambda tn, x, i: x[i], f64(3), i64(2).of([0, -4]))
fails("getitem-index-range-second", lambda tn, x, i: x[:, i], f64(3, 2), i64(1).of(2))
fails("getitem-index-float", lambda tn, x, i: x[i], f64(3), f64(2).const)
fails("getitem-indices-do-not-broadcast", lambda tn, x: x[[0, 1], [0, 1, 2]], f64(3, 3))
fails("getitem-mask-shape", lambda tn, x, m: x[m], f64(3, 2), mask(2))
fails("getitem-mask-shape-second", lambda tn, x, m: x[m], f64(3, 2), mask(3, 3))
fails("getitem-mask-too-many-dims", lambda tn, x, m: x[m], f64(3), mask(3, 1))
