"""Writing: fills and copies, versions, histories, and what the laws of writing refuse."""

from tests.tools.recorded.rows import DTYPES, Table, each, f32, f64, i64, inplace, mask, method

TABLE = Table("in_place")
case, fails = TABLE.case, TABLE.fails

# ---- fills and copies ----

for _name, _args in {"zero_": (), "fill_": (2.5,)}.items():
    for _label, _spec in {
        "plain": f64(2, 3),
        "0d": f64(),
        "empty": f64(0, 3),
        "transposed": f64(2, 3).t,
        "strided": f64(2, 3).strided,
        "from-expanded": f64(2, 3).expanded,
        "float32": f32(3),
    }.items():
        case(f"{_name}-{_label}", inplace(_name, *_args), _spec)
    case(f"{_name}-of-view", lambda tn, x, n=_name, a=_args: view_written(x, n, a), f64(3, 2))
    case(
        f"{_name}-dtypes",
        lambda tn, *xs, n=_name, a=_args: each([lambda x=x: getattr(x, n)(*a) for x in xs]),
        *(make(2).const for make in DTYPES.values()),
    )
    fails(f"{_name}-leaf", method(_name, *_args), f64(2))
    case(
        f"{_name}-leaf-no-grad",
        lambda tn, x, n=_name, a=_args: no_grad(tn, lambda: getattr(x, n)(*a)),
        f64(2),
    )
case("fill_-0d-tensor", lambda tn, x, v: (x * 1).fill_(v), f64(3), f64())
fails("fill_-1d-tensor", lambda tn, x, v: (x * 1).fill_(v), f64(3), f64(1))
fails("fill_-string", lambda tn, x: x.fill_("a"), f64(3).const)
case("fill_-expanded", lambda tn, x: x.clone().expand(2, 3).fill_(1), f64(3).const)
case("zero_-expanded", lambda tn, x: x.clone().expand(2, 3).zero_(), f64(3).const)


def view_written(x, name, args):
    base = x * 1
    getattr(base[1:], name)(*args)
    return base


def no_grad(tn, call):
    with tn.no_grad():
        return call()


COPIES = {
    "plain": (f64(2, 3), f64(2, 3)),
    "broadcast": (f64(2, 3), f64(3)),
    "0d": (f64(2, 3), f64()),
    "0d-into-0d": (f64(), f64()),
    "one-into-0d": (f64(), f64(1).const),
    "empty": (f64(0, 3), f64(3)),
    "transposed": (f64(2, 3).t, f64(2, 3)),
    "from-strided": (f64(2, 3), f64(2, 3).strided),
    "from-expanded": (f64(2, 3), f64(2, 3).expanded),
    "const-source": (f64(2, 3), f64(2, 3).const),
    "const-target": (f64(2, 3).const, f64(2, 3)),
    "from-float32": (f64(3), f32(3)),
    "from-int64": (f64(3), i64(3)),
    "into-float32": (f32(3), f64(3)),
}
for _label, _pair in COPIES.items():
    if _label == "one-into-0d":
        fails(f"copy_-{_label}", inplace("copy_"), f64(), f64(2).const)
    else:
        case(f"copy_-{_label}", inplace("copy_"), *_pair)
case(
    "copy_-dtypes",
    lambda tn, *xs: each([lambda x=x, y=y: x.clone().copy_(y) for x in xs for y in xs]),
    *(make(2).const for make in DTYPES.values()),
)
for _kind in ("int8", "int64", "bool"):
    case(
        f"copy_-into-{_kind}",
        lambda tn, x, k=_kind: (
            tn.zeros(2, dtype=getattr(tn, k)).copy_(x),
            (lambda y: (y[:1].copy_(x[:1]), y))(tn.ones(2, dtype=getattr(tn, k))),
        ),
        f64(2).of([1.5, 2.5]),
    )
case("copy_-of-view", lambda tn, x, v: (lambda y: (y[:, 0].copy_(v), y))(x * 1), f64(3, 2), f64(3))
case("copy_-overlapping-self", lambda tn, x: (x[1:].copy_(x[:-1].clone()), x), f64(4).const)
case(
    "copy_-non-blocking", lambda tn, x, v: x.copy_(v, non_blocking=True), f64(2).const, f64(2).const
)
fails("copy_-shape", lambda tn, x, v: x.copy_(v), f64(2, 3).const, f64(2).const)
fails("copy_-more-dims", lambda tn, x, v: x.copy_(v), f64(3).const, f64(2, 3).const)
fails("copy_-leaf", lambda tn, x, v: x.copy_(v), f64(2), f64(2))
fails("copy_-list", lambda tn, x: x.copy_([1.0, 2.0]), f64(2).const)
fails(
    "copy_-expanded",
    lambda tn, x, v: x.clone().expand(2, 3).copy_(v),
    f64(3).const,
    f64(2, 3).const,
)

# ---- operators ----


def iadd(x, y):
    x += y
    return x


def imul(x, y):
    x *= y
    return x


case("add_-operator-same-object", lambda tn, x: (lambda y: iadd(y, 1) is y)(x * 1), f64(2))
case("add_-operator-history", lambda tn, x, y: iadd(x * 1, y), f64(2, 3), f64(3))
case("mul_-operator-history", lambda tn, x, y: imul(x * 1, y), f64(2, 3), f64(3))
TABLE.fails_backward("mul_-with-itself", lambda tn, x: (lambda y: y.mul_(y))(x * 1), f64(3))
case("add_-with-itself", lambda tn, x: (lambda y: y.add_(y))(x * 1), f64(3))
case("mul_-own-transpose-copy", lambda tn, x: (lambda y: y.mul_(y.t().clone()))(x * 1), f64(2, 2))
case("add_-own-part", lambda tn, x: (lambda y: (y[0].add_(y[1]), y))(x * 1), f64(2, 3))
case("add_-const-becomes-differentiable", lambda tn, x, y: x.add_(y), f64(3).const, f64(3))
case(
    "mul_-const-becomes-differentiable",
    lambda tn, x, y: (x.mul_(y), x.mul_(2)),
    f64(3).const,
    f64(3),
)
case(
    "add_-view-of-const-becomes-differentiable",
    lambda tn, x, y: (x[0].add_(y), x),
    f64(2, 3).const,
    f64(3),
)
case("add_-int64-number", lambda tn, x: iadd(x, 2), i64(3))
case("and_-operator", lambda tn, x, y: (x.__iand__(y), x.__ior__(y), x), mask(3), mask(3))
fails("add_-operator-leaf", lambda tn, x: iadd(x, 1), f64(2))
fails("add_-operator-float-into-int", lambda tn, x: iadd(x, 1.5), i64(2))
fails("add_-operator-view-of-leaf", lambda tn, x: iadd(x[0], 1), f64(2, 2))
fails("add_-transposed-leaf", lambda tn, x: x.t().add_(1), f64(2, 2))
case("add_-shifted-overlap", lambda tn, x: (x[1:].add_(x[:-1].clone()), x), f64(4).const)

# ---- versions ----


def versions(steps):
    """The version before and after each step."""

    def call(tn, x):
        y = x.detach().clone()
        seen = [y._version]
        for step in steps:
            step(tn, y)
            seen.append(y._version)
        return seen

    return call


STEPS = {
    "mul_": lambda tn, y: y.mul_(2),
    "two-writes": lambda tn, y: y.add_(1).mul_(2),
    "setitem": lambda tn, y: y.__setitem__(0, 1.0),
    "setitem-mask": lambda tn, y: y.__setitem__(y > 0, 1.0),
    "setitem-list": lambda tn, y: y.__setitem__([0, 1], 1.0),
    "view-write": lambda tn, y: y[0].mul_(2),
    "view-of-view-write": lambda tn, y: y.t()[0].mul_(2),
    "detached-write": lambda tn, y: y.detach().mul_(2),
    "data-write": lambda tn, y: y.data.mul_(2),
    "clone-write": lambda tn, y: y.clone().mul_(2),
    "no-grad-write": lambda tn, y: no_grad(tn, lambda: y.mul_(2)),
    "requires_grad_": lambda tn, y: y.detach().requires_grad_(),
    "out-of-place": lambda tn, y: y.mul(2),
    "read": lambda tn, y: (y.sum(), y[0], y.t(), repr(y)),
    "operator": lambda tn, y: iadd(y, 1),
    "part-operator": lambda tn, y: part_operator(y),
    "zero_": lambda tn, y: y.zero_(),
    "copy_": lambda tn, y: y.copy_(y + 1),
    "normal_": lambda tn, y: y.normal_(),
    "masked_fill_": lambda tn, y: y.masked_fill_(y > 0, 0),
    "empty-slice-write": lambda tn, y: y[:0].mul_(2),
    "relu_": lambda tn, y: y.relu_(),
    "clamp_": lambda tn, y: y.clamp_(0, 1),
}


def part_operator(y):
    """`y[0] += 1` reads, writes the part, and assigns it back."""
    y[0] += 1


for _name, _step in STEPS.items():
    case(f"versions-{_name}", versions([_step, _step]), f64(2, 2))
case("versions-shared", lambda tn, x: shared_versions(x), f64(2, 2))


def shared_versions(x):
    base = x.detach().clone()
    view, detached, data = base[0], base.detach(), base.data
    base.add_(1)
    first = [t._version for t in (base, view, detached, data)]
    view.add_(1)
    second = [t._version for t in (base, view, detached, data)]
    data.add_(1)
    return first, second, [t._version for t in (base, view, detached, data)], base


def matmul_version(tn, x, w):
    product = tn.matmul(x, w)
    before = product._version
    product[:] = 0
    return before, product._version


case("versions-of-matmul-1d-2d", matmul_version, f64(2).const, f64(2, 1))
case("versions-of-matmul-2d-2d", matmul_version, f64(2, 2).const, f64(2, 1))
case("versions-of-sum", lambda tn, x: x.sum()._version, f64(2))

# ---- leaves, detach_, requires_grad_ ----

case(
    "requires_grad_-flags",
    lambda tn, x: (x.requires_grad_(), x.requires_grad_(False)),
    f64(2).const,
)
fails("requires_grad_-int", lambda tn, x: x.requires_grad_(), i64(2))
fails("requires_grad_-off-non-leaf", lambda tn, x: (x * 1).requires_grad_(False), f64(2))
fails("requires_grad-assign-non-leaf", lambda tn, x: setattr(x * 1, "requires_grad", False), f64(2))
fails("requires_grad-assign-int", lambda tn, x: setattr(x, "requires_grad", True), i64(2))
case("detach_-result", lambda tn, x: (x * 2).detach_(), f64(2))
fails("detach_-of-view", lambda tn, x: (x * 2)[0].detach_(), f64(2))
case("data-of-non-leaf", lambda tn, x: (x * 2).data, f64(2))
case("clone-of-leaf", lambda tn, x: x.clone(), f64(2, 3).t)
fails("grad-assign-shape", lambda tn, x: setattr(x, "grad", tn.zeros(3, dtype=tn.float64)), f64(2))
fails("grad-assign-dtype", lambda tn, x: setattr(x, "grad", tn.zeros(2)), f64(2))
fails("grad-assign-list", lambda tn, x: setattr(x, "grad", [1.0, 2.0]), f64(2))
