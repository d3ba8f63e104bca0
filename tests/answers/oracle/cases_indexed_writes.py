"""Indexed assignment: what is written, what is recorded (CopySlices), what is refused."""

from tests.tools.recorded.rows import DTYPES, Table, each, f32, f64, i64, mask

TABLE = Table("indexed_writes")
case, fails = TABLE.case, TABLE.fails

# Keys for a tensor of shape (3, 4).
KEYS = {
    "int": 1,
    "ints": (1, 2),
    "slice": slice(1, None),
    "slices": (slice(None, 2), slice(None, None, 2)),
    "everything": slice(None),
    "ellipsis": (..., 0),
    "none": (None, 0),
    "empty-tuple": (),
    "list": [0, 2],
    "list-repeats": [2, 2],
    "lists": ([0, 1], [3, 0]),
    "lists-apart": (slice(None), [1, 3]),
    "list-of-bools": [True, False, True],
    "nothing": slice(3, 1),
}


def assign(key):
    """`y = x * 1; y[key] = value`, so that x and the value both get gradients."""

    def call(tn, x, value):
        written = x * 1
        written[key] = value
        return written

    return call


def assign_number(key, number):
    def call(tn, x):
        written = x * 1
        written[key] = number
        return written

    return call


for _name, _key in KEYS.items():
    case(f"setitem-{_name}-number", assign_number(_key, 2.5), f64(3, 4))
    case(f"setitem-{_name}-0d", assign(_key), f64(3, 4), f64())
    case(f"setitem-{_name}-const", lambda tn, x, k=_key: (set_in(x, k, 7), x)[1], i64(3, 4))
    case(
        f"setitem-{_name}-transposed",
        lambda tn, x, k=_key: set_in(x.t(), k, 2.0).t(),
        f64(4, 3).const,
    )
    case(f"setitem-{_name}-add", lambda tn, x, k=_key: add_in(x * 1, k, 1.5), f64(3, 4))


def set_in(x, key, value):
    x[key] = value
    return x


def add_in(x, key, value):
    x[key] += value
    return x


VALUES = {
    "row": (1, f64(4)),
    "row-broadcast": (1, f64(1)),
    "row-leading-ones": (1, f64(1, 1, 4)),
    "rows": (slice(0, 2), f64(2, 4)),
    "rows-broadcast": (slice(0, 2), f64(4)),
    "column": ((slice(None), 0), f64(3)),
    "columns-outer": ((slice(None), slice(1, 3)), f64(3, 1)),
    "value-transposed": (slice(None), f64(3, 4).t),
    "value-strided": (0, f64(4).strided),
    "value-expanded": (slice(None), f64(3, 4).expanded),
    "value-const": (0, f64(4).const),
    "value-float32": (0, f32(4)),
    "value-int64": (0, i64(4)),
    "list": ([0, 2], f64(2, 4)),
    "list-broadcast": ([0, 2], f64(4)),
    "lists": (([0, 1, 2], [1, 0, 3]), f64(3)),
    "lists-number-like": (([0, 1, 2], [1, 0, 3]), f64(1)),
    "empty": (slice(0, 0), f64(0, 4)),
    "one-element": ((1, 1), f64(1)),
}
for _name, (_key, _value) in VALUES.items():
    case(f"setitem-value-{_name}", assign(_key), f64(3, 4), _value)
    case(f"setitem-value-into-const-{_name}", assign(_key), f64(3, 4).const, _value)


def with_tensor_key(number=None):
    """The second input is the key; a third is the value."""

    def call(tn, x, key, *value):
        written = x * 1
        written[key] = value[0] if value else number
        return written

    return call


case("setitem-index", with_tensor_key(), f64(4, 2), i64(2).of([0, 3]), f64(2, 2))
case("setitem-index-number", with_tensor_key(1.5), f64(4, 2), i64(2).of([0, 0]))
case("setitem-index-0d", with_tensor_key(), f64(4, 2), i64().of(2), f64(2))
case("setitem-index-empty", with_tensor_key(1.5), f64(4, 2), i64(0))
case("setitem-mask", with_tensor_key(), f64(6), mask(6).of([1, 0, 0, 1, 1, 0]), f64(3))
case("setitem-mask-number", with_tensor_key(0.0), f64(3, 2), mask(3, 2))
case("setitem-mask-0d-value", with_tensor_key(), f64(3, 2), mask(3, 2), f64())
case("setitem-mask-rows", with_tensor_key(), f64(3, 2), mask(3).of([1, 0, 1]), f64(2))
case("setitem-mask-nothing", with_tensor_key(1.0), f64(3, 2), mask(3, 2).of(False))
case("setitem-mask-0d", with_tensor_key(1.0), f64(2), mask().of(True))
case("setitem-mask-of-0d", with_tensor_key(1.0), f64(), mask().of(True))
case("setitem-0d", lambda tn, x, v: set_in(x * 1, (), v), f64(), f64())
case("setitem-0d-ellipsis", lambda tn, x: set_in(x * 1, ..., 3), f64())
case(
    "setitem-dtypes",
    lambda tn, *xs: each(
        [lambda x=x, v=v: set_in(x.clone(), 0, v) for x in xs for v in (True, 2, 1.7)]
    ),
    *(make(2).const for make in DTYPES.values()),
)
case(
    "setitem-dtypes-of-values",
    lambda tn, *xs: each([lambda x=x, v=v: set_in(x.clone(), 0, v) for x in xs for v in xs]),
    *(make(1).const for make in DTYPES.values()),
)
case("setitem-numpy-value", lambda tn, x: set_in(x * 1, 0, x.detach().numpy()[1].sum()), f64(2, 2))
case(
    "setitem-list-repeats-last-wins",
    lambda tn, x: set_in(x, [0, 0], tn.ones(2, dtype=tn.float64)),
    f64(2).const,
)

# ---- graphs with writes in them ----

case(
    "setitem-after-use", lambda tn, x: (lambda y: (y.sum(), set_in(y, 0, 9.0).sum()))(x + 1), f64(3)
)
case("setitem-of-a-view", lambda tn, x: (lambda y: (set_in(y[1:], 0, 0.0), y))(x * 2), f64(3))
case(
    "setitem-of-a-view-of-a-view",
    lambda tn, x, v: (lambda y: (set_in(y.t()[1:], 0, v), y))(x * 2),
    f64(2, 3),
    f64(2),
)
case("setitem-self", lambda tn, x: (lambda y: set_in(y, 0, y[1]))(x * 1), f64(2, 2))
case("setitem-loop", lambda tn, x: loop(tn, x), f64(3))
case("setitem-twice", lambda tn, x, v: set_in(set_in(x * 1, 0, v), 0, 3.0), f64(2), f64())
case(
    "setitem-into-zeros",
    lambda tn, x: set_in(set_in(tn.zeros(2, 3, dtype=tn.float64), 0, x), 1, x * x),
    f64(3),
)
case("setitem-no-grad-leaf", lambda tn, x: no_grad(tn, lambda: set_in(x, 0, 5.0)), f64(3))
case("setitem-data", lambda tn, x: (set_in(x.data, 0, 5.0), x), f64(3))
case("setitem-detached", lambda tn, x: (set_in(x.detach(), 0, 5.0), x), f64(3))
case(
    "setitem-requires-grad-into-buffer",
    lambda tn, x: set_in(tn.zeros(3, dtype=tn.float64), slice(1, None), x),
    f64(2),
)
TABLE.fails_backward(
    "setitem-of-saved", lambda tn, x: (lambda y: (y * y, set_in(y, 0, 9.0)))(x + 1), f64(2)
)
TABLE.fails_backward(
    "setitem-of-saved-output", lambda tn, x: (lambda y: (y, set_in(y, 1, 2.0)))(x.sigmoid()), f64(3)
)
TABLE.fails_backward(
    "setitem-of-disjoint-part", lambda tn, x: (lambda y: set_in(y, 0, y[1].sin()))(x * 1), f64(2)
)


def loop(tn, x):
    """A recurrence in a buffer."""
    out = tn.zeros(3, dtype=tn.float64)
    state = x.sum()
    for step in range(3):
        state = state * x[step]
        out[step] = state
    return out


def no_grad(tn, call):
    with tn.no_grad():
        return call()


# ---- refused ----

fails("setitem-range", lambda tn, x: set_in(x, 3, 1.0), f64(3).const)
fails("setitem-too-many", lambda tn, x: set_in(x, (0, 0), 1.0), f64(3).const)
fails("setitem-of-0d", lambda tn, x: set_in(x, 0, 1.0), f64().const)
fails("setitem-shape-and-dtype", lambda tn, x, v: set_in(x, x > 0, v), i64(4).const, f64(3).const)
fails("setitem-value-shape", lambda tn, x, v: set_in(x, 0, v), f64(2, 3).const, f64(2).const)
fails(
    "setitem-value-too-many-dims",
    lambda tn, x, v: set_in(x, 0, v),
    f64(2, 3).const,
    f64(2, 3).const,
)
fails(
    "setitem-index-value-shape",
    lambda tn, x, v: set_in(x, [0, 1], v),
    f64(3, 2).const,
    f64(3).const,
)
fails("setitem-index-range", lambda tn, x, i: set_in(x, i, 1.0), f64(3).const, i64(1).of(3))
fails("setitem-mask-shape", lambda tn, x, m: set_in(x, m, 1.0), f64(3).const, mask(2))
fails(
    "setitem-mask-value-count",
    lambda tn, x, m, v: set_in(x, m, v),
    f64(3).const,
    mask(3).of(True),
    f64(2).const,
)
fails("setitem-step-negative", lambda tn, x: set_in(x, slice(None, None, -1), 1.0), f64(3).const)
fails("setitem-key-float", lambda tn, x: set_in(x, 1.0, 1.0), f64(3).const)
fails("setitem-string", lambda tn, x: set_in(x, 0, "a"), f64(3).const)
fails("setitem-value-list", lambda tn, x: set_in(x, 0, [1.0, 2.0]), f64(3, 2).const)
case("setitem-grad-into-int", lambda tn, x, v: set_in(x, 0, v), i64(2), f64())
case("setitem-expanded-row", lambda tn, x: set_in(x.clone().expand(3, 2), 0, 1.0), f64(2).const)
fails(
    "setitem-expanded", lambda tn, x: set_in(x.clone().expand(3, 2), slice(None), 1.0), f64(2).const
)
