"""From dtype to dtype, to Python, to numpy; clone and contiguous."""

import copy

import numpy as np

from tests.tools.recorded.rows import (
    DTYPES,
    Table,
    each,
    f32,
    f64,
    function,
    i64,
    layouts,
    mask,
    method,
    u8,
)

TABLE = Table("conversion")
case, fails = TABLE.case, TABLE.fails

EDGES = [0.0, -0.0, 0.5, -1.5, 2.9, 255.0]

# ---- clone, contiguous ----

for _layout, _spec in layouts(2, 3).items():
    case(f"clone-{_layout}", method("clone"), _spec)
    case(f"contiguous-{_layout}", method("contiguous"), _spec)
    case(
        f"contiguous-facts-{_layout}",
        lambda tn, x: (x.is_contiguous(), x.contiguous().stride()),
        _spec,
    )
case("clone-function", function("clone"), i64(2))
case("clone-strides", lambda tn, x: (x.clone().is_contiguous(), x.t().clone().stride()), f64(2, 3))
case("contiguous-write", lambda tn, x: (x.contiguous().zero_(), x), f64(2).const)

# ---- to ----

CASTS = ("float", "double", "long", "int", "bool")
for _name in CASTS:
    for _dtype, _make in DTYPES.items():
        case(f"{_name}-from-{_dtype}", method(_name), _make(3))
    case(f"{_name}-edges", method(_name), f64(6).of(EDGES).const)
    case(
        f"{_name}-0d-empty",
        lambda tn, x, y, n=_name: (getattr(x, n)(), getattr(y, n)()),
        f64(),
        f64(0),
    )
    case(f"{_name}-strided", method(_name), f64(2, 3).strided)
    case(f"{_name}-transposed", method(_name), f64(2, 3).t)
    case(f"{_name}-expanded", method(_name), f64(2, 3).expanded)
for _layout, _spec in layouts(2, 3).items():
    case(f"to-layouts-{_layout}", lambda tn, x: (x.to(tn.float32), x.to(tn.int64)), _spec)
    case(f"tolist-{_layout}", method("tolist"), _spec)
    case(f"item-{_layout}", lambda tn, x: x[:1, :1].item() if x.numel() == 6 else x.numel(), _spec)
for _dtype in DTYPES:
    case(f"to-{_dtype}", lambda tn, x, d=_dtype: x.to(getattr(tn, d)), f32(3))
    case(f"to-keyword-{_dtype}", lambda tn, x, d=_dtype: x.to(dtype=getattr(tn, d)), i64(3))
case("to-same", lambda tn, x: x.to(tn.float64), f64(2))
case("to-copy", lambda tn, x: x.to(tn.float64, copy=True), f64(2))
case("to-other-tensor", lambda tn, x, y: x.to(y), f64(2), f32(1).const)
case("to-device", lambda tn, x: (x.to("cpu"), x.to("cpu", tn.float32)), f64(2))
case("to-device-attribute", lambda tn, x: (str(x.device), x.device.type, x.is_cuda), f64(2))
case("to-non-blocking", lambda tn, x: x.to(tn.float32, non_blocking=True), f64(2))
case("cpu-same", lambda tn, x: x.cpu(), f64(2))
case("type_as-other", lambda tn, x, y: x.type_as(y), f64(2), f32(1).const)
case("type-names", lambda tn, *xs: [x.type() for x in xs], *(make(1) for make in DTYPES.values()))
case("to-negative-float-to-bool", lambda tn, x: x.bool(), f64(3).of([-1, 0, float("nan")]).const)
case("to-round-trip-gradient", lambda tn, x: x.float().double() * 2, f64(3))
case("to-uint8-wraps", lambda tn, x: x.to(tn.uint8), i64(3).of([255, 256, 300]))
case("to-int32-wraps", lambda tn, x: x.int(), i64(2).of([2**31, 2**32 + 1]))

# ---- to Python ----

case("item-dtypes", lambda tn, *xs: [x.item() for x in xs], *(make() for make in DTYPES.values()))
case("item-one-element", lambda tn, x: (x.item(), x[0, 0].item()), f64(1, 1))
fails("item-many", method("item"), f64(2))
fails("item-none", method("item"), f64(0))
case(
    "tolist-dtypes",
    lambda tn, *xs: [x.tolist() for x in xs],
    *(make(2) for make in DTYPES.values()),
)
case("tolist-nested", method("tolist"), f64(2, 3).t)
case("tolist-of-nothing", lambda tn, x, y: (x.tolist(), y.tolist()), f64(0), f64(2, 0))
case("float-python", lambda tn, x, y, z: (float(x), float(y), float(z)), f64(1), i64(), mask())
case("int-python", lambda tn, x, y, z: (int(x), int(y), int(z)), f64(1), i64(), mask())
case("index-python", lambda tn, x: ([10, 20, 30][x], list(range(5))[x:]), i64().of(1))
fails("index-python-float", lambda tn, x: [10, 20, 30][x], f64().of(1.0))
fails("float-python-many", lambda tn, x: float(x), f64(2).const)
fails("int-python-many", lambda tn, x: int(x), i64(2))
case("format-0d", lambda tn, x: (f"{x:.3f}", f"{x.sum():.1e}", format(x, "8.2f")), f64().const)
fails("format-many", lambda tn, x: f"{x:.3f}", f64(2).const)
case("len-and-contains", lambda tn, x: (len(x), 2.0 in x, x[1] in x), f64(3).of([1, 2, 3]).const)
case("hash-is-identity", lambda tn, x: (hash(x) == hash(x), len({x, x, x.clone()})), f64(2))
case("deepcopy-leaf", lambda tn, x: facts(x, copy.deepcopy(x)), f64(2))
case("deepcopy-shared", lambda tn, x: deepcopied_pair(x), f64(2))
case("copy-leaf", lambda tn, x: facts(x, copy.copy(x)), f64(2))
fails("deepcopy-non-leaf", lambda tn, x: copy.deepcopy(x * 2), f64(2))


def facts(x, copied):
    """What a copy says of itself, and whether it sees a write to the original.

    Its version is left out: it counts how PyTorch goes about copying.
    """
    before = copied.tolist()
    x.data.zero_()
    return before, copied.tolist(), copied.requires_grad, copied.is_leaf, copied is x


def deepcopied_pair(x):
    """Two names for one tensor are two names for one copy."""
    first, second = copy.deepcopy([x, x])
    return first is second


# ---- to numpy ----

case(
    "numpy-dtypes",
    lambda tn, *xs: [x.numpy() for x in xs],
    *(make(2).const for make in DTYPES.values()),
)
for _layout, _spec in layouts(2, 3).items():
    case(f"numpy-{_layout}", method("numpy"), _spec.const)
case("numpy-of-detached", lambda tn, x: x.detach().numpy(), f64(2))
case("numpy-force", lambda tn, x: x.numpy(force=True), f64(2))
fails("numpy-requires-grad", method("numpy"), f64(2))
case("numpy-asarray", lambda tn, x: (np.asarray(x), np.asarray(x, dtype="float32")), f64(2).const)
case(
    "numpy-functions",
    lambda tn, x: (np.sqrt(x.numpy()), np.asarray(x).sum().item()),
    f64(3).positive.const,
)
fails("numpy-asarray-requires-grad", lambda tn, x: np.asarray(x), f64(2))
case("numpy-stack", lambda tn, x: np.stack([x, x]), f64(2).const)
case("numpy-array-times-tensor", lambda tn, x: x * tn.from_numpy(np.ones(2)), f64(2))

# ---- questions ----

case(
    "is_floating_point-dtypes",
    lambda tn, *xs: [(x.is_floating_point(), x.dtype.is_floating_point) for x in xs],
    *(make(1) for make in DTYPES.values()),
)
case(
    "element_size-dtypes",
    lambda tn, *xs: [(x.element_size(), x.nelement(), x.dtype.itemsize) for x in xs],
    *(make(3) for make in DTYPES.values()),
)
case(
    "dtype-aliases",
    lambda tn: [
        tn.float is tn.float32,
        tn.double is tn.float64,
        tn.long is tn.int64,
        tn.int is tn.int32,
    ],
)
case(
    "is_tensor-question",
    lambda tn, x: (tn.is_tensor(x), tn.is_tensor(1.0), isinstance(x, tn.Tensor)),
    f64(1),
)
case(
    "result_type-pairs",
    lambda tn, *xs: [tn.result_type(x, y) for x in xs for y in xs],
    *(make(1).const for make in DTYPES.values()),
)
case(
    "result_type-0d",
    lambda tn, *xs: [
        tn.result_type(x, y) for x in xs for y in (*[z.sum() for z in xs], True, 1, 1.5)
    ],
    *(make(1).const for make in DTYPES.values()),
)
case(
    "promote_types-pairs",
    lambda tn: [tn.promote_types(getattr(tn, a), getattr(tn, b)) for a in DTYPES for b in DTYPES],
)
case(
    "can_cast-pairs",
    lambda tn: [tn.can_cast(getattr(tn, a), getattr(tn, b)) for a in DTYPES for b in DTYPES],
)
case("numel-of-uint8", lambda tn, x: each([lambda: x.numel(), lambda: tn.numel(x)]), u8(2, 3))

TO = {
    "dtype": lambda tn: (tn.float64,),
    "dtype-flags": lambda tn: (tn.float32, False, True),
    "device": lambda tn: ("cpu",),
    "device-dtype": lambda tn: (tn.device("cpu"), tn.float64, True),
    "device-dtype-flags": lambda tn: ("cpu", tn.float32, True, True),
    "none-dtype": lambda tn: (None, tn.float64),
    "tensor-flags": lambda tn: (tn.ones(1), True, True),
    "device-flag!": lambda tn: ("cpu", True),
    "dtype-device!": lambda tn: (tn.float64, tn.device("cpu")),
    "three-flags!": lambda tn: (tn.float64, True, True, True),
}
for _name, _arguments in TO.items():
    _row = TABLE.fails if _name.endswith("!") else case
    _row(f"to-of-{_name.rstrip('!')}", lambda tn, x, a=_arguments: x.to(*a(tn)), f32(2).const)
