"""Operations that look at the same numbers in another shape: results, gradients, aliasing.

Every view is written through in both directions: the write to the view must show in its base and
in the gradients of both, and a write to the base in the view and in its regenerated history.
"""

from tests.tools.recorded.rows import Table, f32, f64, i64, layouts, mask

TABLE = Table("views")
case, fails = TABLE.case, TABLE.fails

# name-variant: (shape of the input, the view). A "+" after the name: not applicable to 0-d.
VIEWS = {
    "transpose": ((2, 3), lambda tn, x: x.transpose(0, 1)),
    "transpose-negative": ((2, 3, 2), lambda tn, x: tn.transpose(x, -1, 0)),
    "transpose-same": ((2, 3), lambda tn, x: x.transpose(1, 1)),
    "permute": ((2, 3, 2), lambda tn, x: x.permute(2, 0, 1)),
    "permute-tuple": ((2, 3, 2), lambda tn, x: tn.permute(x, (1, -1, 0))),
    "t": ((2, 3), lambda tn, x: x.t()),
    "T": ((2, 3), lambda tn, x: x.T),
    "view": ((2, 3), lambda tn, x: x.view(3, 2)),
    "view-minus-one": ((2, 3), lambda tn, x: x.view(-1)),
    "view-tuple": ((2, 3), lambda tn, x: x.view((1, 6))),
    "view-same": ((2, 3), lambda tn, x: x.view(2, 3)),
    "view-size": ((2, 3), lambda tn, x: x.view(x.shape)),
    "view_as": ((2, 3), lambda tn, x: x.view_as(tn.zeros(3, 2))),
    "reshape": ((2, 3), lambda tn, x: x.reshape(3, 2)),
    "reshape-minus-one": ((2, 4), lambda tn, x: tn.reshape(x, (4, -1))),
    "flatten": ((2, 3, 2), lambda tn, x: x.flatten()),
    "flatten-from-one": ((2, 3, 2), lambda tn, x: tn.flatten(x, 1)),
    "flatten-range": ((2, 3, 2), lambda tn, x: x.flatten(start_dim=0, end_dim=-2)),
    "squeeze": ((1, 2, 1, 3), lambda tn, x: x.squeeze()),
    "squeeze-dim": ((1, 2, 1), lambda tn, x: x.squeeze(-1)),
    "squeeze-dim-not-one": ((2, 1), lambda tn, x: tn.squeeze(x, 0)),
    "squeeze-tuple": ((1, 2, 1), lambda tn, x: x.squeeze((0, 1))),
    "unsqueeze": ((2, 3), lambda tn, x: x.unsqueeze(1)),
    "unsqueeze-negative": ((2, 3), lambda tn, x: tn.unsqueeze(x, -1)),
    "select": ((2, 3), lambda tn, x: x.select(0, 1)),
    "select-negative": ((2, 3), lambda tn, x: tn.select(x, -1, -1)),
    "narrow": ((2, 4), lambda tn, x: x.narrow(1, 1, 2)),
    "narrow-negative": ((2, 4), lambda tn, x: tn.narrow(x, -1, -3, 2)),
    "narrow-to-nothing": ((2, 4), lambda tn, x: x.narrow(0, 1, 0)),
    "diagonal": ((3, 3), lambda tn, x: x.diagonal()),
    "diagonal-offset": ((3, 4), lambda tn, x: x.diagonal(1)),
    "diagonal-below": ((3, 4), lambda tn, x: tn.diagonal(x, -1)),
    "diagonal-dims": ((2, 3, 3), lambda tn, x: x.diagonal(0, 1, 2)),
    "expand": ((2, 1), lambda tn, x: x.expand(2, 3)),
    "expand-minus-one": ((2, 1), lambda tn, x: x.expand(4, -1, 3)),
    "expand-same": ((2, 3), lambda tn, x: x.expand(2, 3)),
    "expand_as": ((3,), lambda tn, x: x.expand_as(tn.zeros(2, 3))),
    "getitem-int": ((3, 2), lambda tn, x: x[1]),
    "getitem-slice": ((4, 2), lambda tn, x: x[1:3]),
    "getitem-step": ((4, 3), lambda tn, x: x[::2, 1:]),
    "getitem-none": ((2, 3), lambda tn, x: x[:, None]),
    "getitem-ellipsis": ((2, 3), lambda tn, x: x[..., 0]),
    "getitem-everything": ((2, 3), lambda tn, x: x[...]),
    "detach": ((2, 3), lambda tn, x: x.detach()),
    "view-of-view": ((2, 3, 2), lambda tn, x: x.transpose(0, 1)[1].t()),
    "view-of-a-copy": ((2, 3), lambda tn, x: x.t().reshape(6)),
    "unbind": ((2, 3), lambda tn, x: x.unbind(1)[0]),
    "split": ((4, 2), lambda tn, x: x.split(2)[1]),
    "chunk": ((4, 2), lambda tn, x: tn.chunk(x, 2, dim=-1)[1]),
}
ZERO_D = {
    "view": lambda tn, x: (x.view(1), x.view(()), x.view(-1)),
    "reshape": lambda tn, x: (x.reshape(1, 1), tn.reshape(x, ())),
    "flatten": lambda tn, x: x.flatten(),
    "squeeze": lambda tn, x: (x.squeeze(), x.squeeze(0), x.squeeze(-1)),
    "unsqueeze": lambda tn, x: (x.unsqueeze(0), x.unsqueeze(-1)),
    "expand": lambda tn, x: (x.expand(()), x.expand(2, 2)),
    "permute": lambda tn, x: x.permute(()),
    "transpose": lambda tn, x: (x.transpose(0, 0), x.transpose(-1, 0)),
    "view_as": lambda tn, x: x.view_as(tn.zeros(1)),
    "expand_as": lambda tn, x: x.expand_as(tn.zeros(2)),
    "roll": lambda tn, x: (x.roll(1), x.roll(3)),
}
MULTIPLE = ("unbind", "split", "chunk")
OVERLAPPING = ("expand", "expand-minus-one", "expand_as")


def write_view(view):
    """Writes to the view of a copy: base and view after it, both with their histories."""

    def call(tn, x):
        base = x * 1
        seen = view(tn, base)
        seen.mul_(3)
        return base, seen

    return call


def write_base(view):
    """Writes to the base after the view was taken."""

    def call(tn, x):
        base = x * 1
        seen = view(tn, base)
        base.mul_(3)
        return base, seen

    return call


for _name, (_shape, _view) in VIEWS.items():
    case(f"{_name}-of-plain" if "-" in _name else f"{_name}-plain", _view, f64(*_shape))
    if not _name.startswith("view"):  # not every layout can be viewed: rows of their own below
        case(f"{_name}-of-transposed", _view, f64(*_shape).t)
        case(f"{_name}-of-expanded", _view, f64(*_shape).expanded)
    case(f"{_name}-of-strided", _view, f32(*_shape).strided) if not _name.startswith(
        "view"
    ) else None
    case(f"{_name}-const", _view, i64(*_shape))
    if _name.split("-")[0] in MULTIPLE or _name in OVERLAPPING:
        fails(f"{_name}-write-view", write_view(_view), f64(*_shape))
    else:
        case(f"{_name}-write-view", write_view(_view), f64(*_shape))
    if _name.split("-")[0] in MULTIPLE:
        continue
    case(f"{_name}-write-base", write_base(_view), f64(*_shape))
for _name, _view in ZERO_D.items():
    case(f"{_name}-0d", _view, f64())

# ---- empty tensors ----

EMPTY = {
    "transpose": lambda tn, x: x.transpose(0, 1),
    "permute": lambda tn, x: x.permute(1, 0),
    "view": lambda tn, x: (x.view(3, 0), x.view(2, 0, 5)),
    "reshape": lambda tn, x: (x.reshape(-1), x.reshape(0)),
    "flatten": lambda tn, x: x.flatten(),
    "squeeze": lambda tn, x: x.squeeze(),
    "unsqueeze": lambda tn, x: x.unsqueeze(1),
    "expand": lambda tn, x: x.expand(2, 0, 3),
    "expand_as": lambda tn, x: x.expand_as(tn.zeros(2, 0, 3)),
    "view_as": lambda tn, x: x.view_as(tn.zeros(0)),
    "diagonal": lambda tn, x: x.diagonal(),
    "select": lambda tn, x: x.select(1, 2),
    "narrow": lambda tn, x: x.narrow(0, 0, 0),
    "unbind": lambda tn, x: (x.unbind(0), x.unbind(1)),
    "getitem": lambda tn, x: (x[:, 1], x[0:0], x[5:]),
    "flip": lambda tn, x: x.flip(0),
    "roll": lambda tn, x: x.roll(1, 0),
    "repeat": lambda tn, x: x.repeat(2, 2),
    "tril": lambda tn, x: x.tril(),
    "triu": lambda tn, x: x.triu(),
}
for _name, _view in EMPTY.items():
    case(f"{_name}-empty", _view, f64(0, 3))

# ---- what cannot be viewed, and what is copied ----

for _layout in ("t", "strided"):
    fails(f"view-of-{_layout}", lambda tn, x: x.view(6), getattr(f64(2, 3), _layout))
    case(f"reshape-copies-{_layout}", lambda tn, x: x.reshape(6), getattr(f64(2, 3), _layout))
    case(f"flatten-copies-{_layout}", lambda tn, x: x.flatten(), getattr(f64(2, 3), _layout))
fails("view-of-expanded", lambda tn, x: x.view(6), f64(2, 3).expanded)
case("view-splits-strided", lambda tn, x: x.view(2, 2, 1), f64(2, 2).strided)
case("view-of-expanded-in-front", lambda tn, x: x.view(2, 3, 1), f64(2, 3).expanded)
case("view_as-transposed", lambda tn, x: x.view_as(tn.zeros(3, 2, 1)), f64(3, 2).t)
case("view_as-strided", lambda tn, x: x.view_as(tn.zeros(2, 2, 1)), f64(2, 2).strided)
case("view_as-expanded", lambda tn, x: x.view_as(tn.zeros(2, 1, 3)), f64(2, 3).expanded)
fails("view-wrong-size", lambda tn, x: x.view(4), f64(2, 3))
fails("view-two-minus-ones", lambda tn, x: x.view(-1, -1), f64(2, 3))
fails("view-minus-two", lambda tn, x: x.view(-2, 3), f64(2, 3))
fails("view-minus-one-indivisible", lambda tn, x: x.view(-1, 4), f64(2, 3))
fails("view-minus-one-of-empty", lambda tn, x: x.view(-1, 0), f64(0, 3))
fails("view-float", lambda tn, x: x.view(2.0, 3), f64(2, 3))
fails("reshape-wrong-size", lambda tn, x: x.reshape(4), f64(2, 3))
fails("reshape-minus-one-indivisible", lambda tn, x: x.reshape(-1, 4), f64(2, 3))
fails("transpose-dim", lambda tn, x: x.transpose(0, 2), f64(2, 3))
fails("permute-too-few", lambda tn, x: x.permute(0), f64(2, 3))
fails("permute-twice", lambda tn, x: x.permute(0, 0), f64(2, 3))
fails("permute-dim", lambda tn, x: x.permute(0, 2), f64(2, 3))
fails("flatten-dims-crossed", lambda tn, x: x.flatten(1, 0), f64(2, 3))
fails("flatten-dim", lambda tn, x: x.flatten(0, 2), f64(2, 3))
fails("squeeze-dim-range", lambda tn, x: x.squeeze(2), f64(2, 3))
fails("unsqueeze-dim-range", lambda tn, x: x.unsqueeze(3), f64(2, 3))
fails("expand-mismatch", lambda tn, x: x.expand(2, 4), f64(2, 3))
fails("expand-too-few", lambda tn, x: x.expand(3), f64(2, 3))
fails("expand-new-minus-one", lambda tn, x: x.expand(-1, 2, 3), f64(2, 3))
fails("expand_as-mismatch", lambda tn, x: x.expand_as(tn.zeros(2)), f64(3))
fails("select-index", lambda tn, x: x.select(0, 2), f64(2, 3))
fails("select-0d", lambda tn, x: x.select(0, 0), f64())
fails("narrow-start", lambda tn, x: x.narrow(0, 3, 1), f64(2, 3))
fails("narrow-length", lambda tn, x: x.narrow(0, 1, 2), f64(2, 3))
fails("narrow-negative-length", lambda tn, x: x.narrow(0, 1, -1), f64(2, 3))
fails("narrow-0d", lambda tn, x: x.narrow(0, 0, 1), f64())
fails("diagonal-same-dims", lambda tn, x: x.diagonal(0, 1, 1), f64(2, 3))
fails("diagonal-0d", lambda tn, x: x.diagonal(), f64())
fails("diagonal-1d", lambda tn, x: x.diagonal(), f64(3))

# ---- repeat, flip, roll, tril, triu: copies ----

COPIES = {
    "repeat": ((2, 3), lambda tn, x: x.repeat(2, 1)),
    "repeat-more-dims": ((2,), lambda tn, x: x.repeat(2, 1, 3)),
    "repeat-tuple": ((2,), lambda tn, x: x.repeat((2, 2))),
    "repeat-zero": ((2, 3), lambda tn, x: x.repeat(0, 1)),
    "flip": ((2, 3), lambda tn, x: x.flip(0)),
    "flip-dims": ((2, 3), lambda tn, x: tn.flip(x, (0, -1))),
    "flip-no-dims": ((2, 3), lambda tn, x: x.flip(())),
    "roll": ((2, 3), lambda tn, x: x.roll(1, 1)),
    "roll-flat": ((2, 3), lambda tn, x: tn.roll(x, 2)),
    "roll-dims": ((2, 3), lambda tn, x: x.roll((1, -1), (0, 1))),
    "roll-far": ((2, 3), lambda tn, x: x.roll(shifts=-7, dims=-1)),
    "tril": ((3, 3), lambda tn, x: x.tril()),
    "tril-diagonal": ((2, 3), lambda tn, x: tn.tril(x, 1)),
    "tril-batch": ((2, 2, 2), lambda tn, x: x.tril(diagonal=-1)),
    "triu": ((3, 3), lambda tn, x: x.triu()),
    "triu-diagonal": ((3, 2), lambda tn, x: tn.triu(x, -1)),
}
for _name, (_shape, _copy) in COPIES.items():
    case(f"{_name}-copy", _copy, f64(*_shape))
    case(f"{_name}-copy-of-transposed", _copy, f64(*_shape).t)
    case(f"{_name}-copy-of-strided", _copy, f32(*_shape).strided)
    case(f"{_name}-copy-of-expanded", _copy, f64(*_shape).expanded)
    case(
        f"{_name}-copy-dtypes",
        lambda tn, *xs, c=_copy: [c(tn, x) for x in xs],
        i64(*_shape),
        mask(*_shape),
    )
case("repeat-0d", lambda tn, x: (x.repeat(2), x.repeat(2, 2), x.repeat(())), f64())
case("flip-0d", lambda tn, x: x.flip(()), f64())
case("tril_-inplace", lambda tn, x: (x.clone().tril_(), x.clone().triu_(1)), f64(3, 3))
fails("repeat-too-few", lambda tn, x: x.repeat(2), f64(2, 3))
fails("repeat-negative", lambda tn, x: x.repeat(-1), f64(2))
fails("flip-twice", lambda tn, x: x.flip(0, 0), f64(2, 3))
fails("flip-dim", lambda tn, x: x.flip(2), f64(2, 3))
fails("roll-dims-missing", lambda tn, x: x.roll((1, 2), (0,)), f64(2, 3))
fails("roll-dim", lambda tn, x: x.roll(1, 2), f64(2, 3))
fails("tril-1d", lambda tn, x: x.tril(), f64(3))
fails("tril-0d", lambda tn, x: x.tril(), f64())
fails("triu-0d", lambda tn, x: x.triu(), f64())

# ---- no_grad views, leaves, sizes ----

for _name in ("transpose", "view", "select", "getitem-slice", "diagonal"):
    _view = VIEWS[_name][1]
    fails(f"{_name}-of-leaf-write", lambda tn, x, v=_view: v(tn, x).mul_(2), f64(2, 3))


def no_grad_view(tn, x):
    base = x * 1
    with tn.no_grad():
        seen = base[0]
    seen.mul_(2)


fails("getitem-no-grad-view-write", no_grad_view, f64(2, 3))
fails("unbind-iteration-write", lambda tn, x: [row.mul_(2) for row in x * 1], f64(2, 3))
case("unbind-iteration", lambda tn, x: [row * 2 for row in x], f64(2, 3))
fails("unbind-iteration-0d", lambda tn, x: list(x), f64())
for _layout, _spec in layouts(2, 3).items():
    case(
        f"size-{_layout}",
        lambda tn, x: (x.size(), x.shape, x.dim(), x.ndim, x.numel(), x.is_contiguous()),
        _spec,
    )
case("size-dim", lambda tn, x: (x.size(0), x.size(-1), x.shape[1], len(x)), f64(2, 3))
case(
    "size-strides",
    lambda tn, x: (x.stride(), x.t().stride(), x.expand(2, 2, 3).stride()),
    f64(2, 3),
)
fails("size-dim-range", lambda tn, x: x.size(2), f64(2, 3))
fails("size-len-of-0d", lambda tn, x: len(x), f64())
