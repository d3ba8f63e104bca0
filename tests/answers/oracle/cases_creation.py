"""Making tensors: from data, filled, ranges, `*_like`, `new_*`, the legacy constructors."""

import numpy as np

from tests.tools.recorded.rows import DTYPES, Table, each, f32, f64, i64, mask

TABLE = Table("creation")
case, fails = TABLE.case, TABLE.fails

# ---- from data ----

LITERALS = {
    "float": 1.5,
    "int": 3,
    "bool": True,
    "negative": -2,
    "nan": float("nan"),
    "list": [1, 2, 3],
    "floats": [1.0, 2.5],
    "mixed": [1, 2.5],
    "bools": [True, False],
    "bools-and-ints": [True, 2],
    "nested": [[1.0, 2.0], [3.0, 4.0]],
    "tuples": ((1, 2), (3, 4)),
    "empty": [],
    "empty-nested": [[], []],
    "range": range(3),
    "large-int": 2**40,
    "deep": [[[1]]],
}
for _name, _data in LITERALS.items():
    case(f"tensor-{_name}", lambda tn, d=_data: tn.tensor(d))
    case(f"as_tensor-{_name}", lambda tn, d=_data: tn.as_tensor(d))
case("tensor-dtype", lambda tn: [tn.tensor([0, 1.7], dtype=getattr(tn, d)) for d in DTYPES])
case("tensor-dtype-bool-to-float", lambda tn: tn.tensor(True, dtype=tn.float32))
case("tensor-requires-grad", lambda tn: tn.tensor([1.0], requires_grad=True))
case("tensor-of-numpy-scalar", lambda tn: (tn.tensor(np.float64(2)), tn.tensor(np.int32(2))))
case("tensor-of-tensors", lambda tn, x: tn.tensor([x.sum().item(), tn.tensor(2.0)]), f64(2).const)
NUMPY = {
    "float64": np.arange(3.0),
    "float32": np.arange(3, dtype=np.float32),
    "int64": np.arange(4).reshape(2, 2),
    "int32": np.arange(3, dtype=np.int32),
    "uint8": np.arange(3, dtype=np.uint8),
    "bool": np.array([True, False]),
    "0d": np.array(1.5),
    "empty": np.zeros((0, 2)),
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "step": np.arange(6.0)[::2],
}
for _name, _array in NUMPY.items():
    case(f"tensor-numpy-{_name}", lambda tn, a=_array: tn.tensor(a))
    case(f"as_tensor-numpy-{_name}", lambda tn, a=_array: tn.as_tensor(a))
    case(f"from_numpy-{_name}", lambda tn, a=_array: tn.from_numpy(a))


def shared(make):
    """Writes on either side and looks on the other."""

    def call(tn):
        array = np.zeros(3)
        made = make(tn, array)
        array[0] = 5.0
        made[1] = 7.0
        return made, array

    return call


case("tensor-copies", shared(lambda tn, a: tn.tensor(a)))
case("from_numpy-shares", shared(lambda tn, a: tn.from_numpy(a)))
case("as_tensor-shares", shared(lambda tn, a: tn.as_tensor(a)))
case("as_tensor-other-dtype-copies", shared(lambda tn, a: tn.as_tensor(a, dtype=tn.float32)))
case("numpy-shares", shared(lambda tn, a: tn.as_tensor(tn.from_numpy(a).numpy())))
case("as_tensor-of-tensor", lambda tn, x: tn.as_tensor(x), f64(2))
case("as_tensor-of-tensor-dtype", lambda tn, x: tn.as_tensor(x, dtype=tn.float32), f64(2))
case("tensor-of-tensor", lambda tn, x: tn.tensor(x), f64(2).const)
fails("tensor-ragged", lambda tn: tn.tensor([[1, 2], [3]]))
fails("tensor-ragged-depth", lambda tn: tn.tensor([1, [2]]))
fails("tensor-string", lambda tn: tn.tensor("a"))
fails("tensor-list-of-strings", lambda tn: tn.tensor(["a"]))
fails("tensor-none", lambda tn: tn.tensor(None))
for _name, _data in {
    "set": {1, 2},
    "empty-set": set(),
    "dict": {1: 2},
    "set-in-list": [{1}],
    "object": [...],
    "string-after-number": [1, "a"],
    "bytes": b"ab",
    "strings-of-strings": [["a"], [1]],
}.items():
    fails(f"tensor-{_name}", lambda tn, data=_data: tn.tensor(data))
    fails(f"as_tensor-{_name}", lambda tn, data=_data: tn.as_tensor(data))
    fails(f"tensor-{_name}-float", lambda tn, data=_data: tn.tensor(data, dtype=tn.float64))
    fails(f"tensor-{_name}-int", lambda tn, data=_data: tn.tensor(data, dtype=tn.int64))
fails("FloatTensor-set", lambda tn: tn.FloatTensor({1}))
for _name, _call in {
    "zeros-bool": lambda tn: tn.zeros(True),
    "ones-bools": lambda tn: tn.ones((True, 2)),
    "full-bool": lambda tn: tn.full((True,), 1.0),
    "randn-bool": lambda tn: tn.randn(True),
}.items():
    fails(_name, _call)
case("ones-bool-after-int", lambda tn: tn.ones(2, True))
case("view-bool-after-int", lambda tn, x: x.view(2, True), f64(2))
case("linspace-bools", lambda tn: (tn.linspace(False, True, 3), tn.logspace(False, True, 3)))
case("arange-bools", lambda tn: (tn.arange(True), tn.arange(True, 5), tn.arange(0, 5, True)))
case("full-of-bool", lambda tn: (tn.full((2,), True), tn.full((2,), True, dtype=tn.float32)))
fails("tensor-requires-grad-of-ints", lambda tn: tn.tensor([1], requires_grad=True))
fails("from_numpy-list", lambda tn: tn.from_numpy([1.0]))
fails("from_numpy-negative-strides", lambda tn: tn.from_numpy(np.arange(3.0)[::-1]))
fails("from_numpy-strings", lambda tn: tn.from_numpy(np.array(["a"])))
fails("from_numpy-objects", lambda tn: tn.from_numpy(np.array([None])))

# ---- filled ----

for _name in ("zeros", "ones"):
    case(f"{_name}-sizes", lambda tn, n=_name: getattr(tn, n)(2, 3))
    case(f"{_name}-tuple", lambda tn, n=_name: getattr(tn, n)((2, 3)))
    case(f"{_name}-list", lambda tn, n=_name: getattr(tn, n)([2]))
    case(f"{_name}-size", lambda tn, x, n=_name: getattr(tn, n)(x.size()), f64(2, 1))
    case(f"{_name}-0d", lambda tn, n=_name: getattr(tn, n)(()))
    case(f"{_name}-empty", lambda tn, n=_name: getattr(tn, n)(0, 3))
    case(
        f"{_name}-dtypes",
        lambda tn, n=_name: [getattr(tn, n)(2, dtype=getattr(tn, d)) for d in DTYPES],
    )
    case(f"{_name}-requires-grad", lambda tn, n=_name: getattr(tn, n)(2, requires_grad=True))
    fails(f"{_name}-negative", lambda tn, n=_name: getattr(tn, n)(-1))
    fails(f"{_name}-float", lambda tn, n=_name: getattr(tn, n)(1.5))
    fails(
        f"{_name}-requires-grad-of-ints",
        lambda tn, n=_name: getattr(tn, n)(2, dtype=tn.int64, requires_grad=True),
    )
for _value in (2.5, 3, True, float("inf")):
    case(f"full-{_value}", lambda tn, v=_value: tn.full((2, 2), v))
case("full-dtypes", lambda tn: [tn.full((2,), 1, dtype=getattr(tn, d)) for d in DTYPES])
case("full-0d", lambda tn: tn.full((), 2.5, requires_grad=True))
case("full-list", lambda tn: tn.full([2], 1))
fails("full-int-size", lambda tn: tn.full(2, 1.0))
fails("full-negative", lambda tn: tn.full((-2,), 1.0))
case(
    "empty-shape-and-dtype",
    lambda tn: facts(tn.empty(2, 3), tn.empty((0,)), tn.empty(2, dtype=tn.int64)),
)
case("empty-requires-grad", lambda tn: facts(tn.empty(2, requires_grad=True)))
fails("empty-negative", lambda tn: tn.empty(-1))


def facts(*tensors):
    """What can be said of uninitialised tensors."""
    return [(x.shape, x.dtype, x.requires_grad, x.is_leaf, x.is_contiguous()) for x in tensors]


case("eye-square", lambda tn: tn.eye(3))
case("eye-rectangle", lambda tn: (tn.eye(2, 3), tn.eye(3, 1), tn.eye(0), tn.eye(2, m=0)))
case("eye-dtypes", lambda tn: [tn.eye(2, dtype=getattr(tn, d)) for d in DTYPES])
case("eye-requires-grad", lambda tn: tn.eye(2, requires_grad=True))
fails("eye-negative", lambda tn: tn.eye(-1))

# ---- ranges ----

ARANGES = {
    "end": (5,),
    "end-float": (2.5,),
    "start-end": (2, 6),
    "step": (1, 8, 3),
    "step-float": (0, 1, 0.25),
    "downwards": (5, 0, -2),
    "negative": (-3, 1),
    "nothing": (3, 3),
    "zero": (0,),
    "mixed": (1, 3.0),
    "rounding": (0, 0.3, 0.1),
}
for _name, _args in ARANGES.items():
    case(f"arange-{_name}", lambda tn, a=_args: tn.arange(*a))
case(
    "arange-keywords",
    lambda tn: (tn.arange(end=3), tn.arange(start=1, end=4), tn.arange(1, 4, step=2)),
)
case(
    "arange-dtypes", lambda tn: [tn.arange(3, dtype=getattr(tn, d)) for d in DTYPES if d != "bool"]
)
case("arange-requires-grad", lambda tn: tn.arange(3.0, requires_grad=True))
fails("arange-step-zero", lambda tn: tn.arange(0, 3, 0))
fails("arange-wrong-direction", lambda tn: tn.arange(0, 3, -1))
fails("arange-wrong-direction-end", lambda tn: tn.arange(-1))
fails("arange-infinite", lambda tn: tn.arange(0, float("inf")))
LINSPACES = {
    "plain": (0, 1, 5),
    "floats": (-1.5, 2.5, 4),
    "downwards": (3, -3, 7),
    "one": (2, 5, 1),
    "none": (0, 1, 0),
    "two": (0, 10, 2),
    "same": (1, 1, 3),
}
for _name, _args in LINSPACES.items():
    case(f"linspace-{_name}", lambda tn, a=_args: tn.linspace(*a))
case("linspace-float64", lambda tn: tn.linspace(0, 1, 11, dtype=tn.float64))
case("linspace-int64", lambda tn: tn.linspace(0, 10, 5, dtype=tn.int64))
case("linspace-keywords", lambda tn: tn.linspace(start=0, end=1, steps=3, requires_grad=True))
fails("linspace-negative", lambda tn: tn.linspace(0, 1, -1))
fails("linspace-no-steps", lambda tn: tn.linspace(0, 1))

# ---- *_like and new_* ----

LIKE = {
    "plain": f64(2, 3),
    "0d": f64(),
    "empty": f64(0, 3),
    "transposed": f64(2, 3).t,
    "strided": f64(2, 3).strided,
    "expanded": f64(2, 3).expanded,
    "float32": f32(2),
    "int64": i64(2),
    "bool": mask(2),
}
for _name, _spec in LIKE.items():
    case(f"zeros_like-{_name}", lambda tn, x: tn.zeros_like(x), _spec)
    case(f"ones_like-{_name}", lambda tn, x: tn.ones_like(x), _spec)
    case(f"full_like-{_name}", lambda tn, x: tn.full_like(x, 1), _spec)
    case(
        f"empty_like-{_name}", lambda tn, x: [tn.empty_like(x).shape, tn.empty_like(x).dtype], _spec
    )
    case(f"new_zeros-{_name}", lambda tn, x: (x.new_zeros(2, 1), x.new_zeros((2,))), _spec)
    case(f"new_ones-{_name}", lambda tn, x: (x.new_ones(2, 1), x.new_ones((0,))), _spec)
    case(f"new_full-{_name}", lambda tn, x: x.new_full((2, 1), 1), _spec)
    case(f"new_empty-{_name}", lambda tn, x: facts(x.new_empty(2, 1), x.new_empty(())), _spec)
    case(f"new_tensor-{_name}", lambda tn, x: (x.new_tensor([1, 0]), x.new_tensor(1)), _spec)
case(
    "zeros_like-dtype", lambda tn, x: tn.zeros_like(x, dtype=tn.int32, requires_grad=False), f64(2)
)
case("ones_like-requires-grad", lambda tn, x: tn.ones_like(x, requires_grad=True), f64(2))
case("full_like-dtype", lambda tn, x: tn.full_like(x, 2.5, dtype=tn.float32), i64(2))
case("full_like-into-int", lambda tn, x: tn.full_like(x, 2.5), i64(2))
case("new_zeros-dtype", lambda tn, x: x.new_zeros(2, dtype=tn.bool), f64(2))
case("new_ones-requires-grad", lambda tn, x: x.new_ones(2, requires_grad=True), f64(2))
case(
    "new_tensor-dtype",
    lambda tn, x: x.new_tensor([1.5], dtype=tn.float32, requires_grad=True),
    i64(1),
)
fails("zeros_like-list", lambda tn: tn.zeros_like([1.0]))
fails("new_zeros-negative", lambda tn, x: x.new_zeros(-1), f64(1))

# ---- the legacy constructors ----

LEGACY = {"FloatTensor": f32, "DoubleTensor": f64, "LongTensor": i64, "IntTensor": None}
for _name in (*LEGACY, "ByteTensor", "BoolTensor"):
    case(f"{_name}-sizes", lambda tn, n=_name: facts(getattr(tn, n)(4), getattr(tn, n)(2, 3)))
    case(f"{_name}-list", lambda tn, n=_name: getattr(tn, n)([1, 0, 2]))
    case(f"{_name}-nested", lambda tn, n=_name: getattr(tn, n)([[2], [1]]))
    case(f"{_name}-nothing", lambda tn, n=_name: getattr(tn, n)())
    case(f"{_name}-empty-list", lambda tn, n=_name: getattr(tn, n)([]))
    case(f"{_name}-tuple", lambda tn, n=_name: getattr(tn, n)((1, 2)))
case("FloatTensor-floats", lambda tn: tn.FloatTensor([1.5, 2.0]))
case("FloatTensor-numpy", lambda tn: tn.FloatTensor(np.arange(3, dtype=np.float32)))
case("FloatTensor-zero", lambda tn: facts(tn.FloatTensor(0), tn.FloatTensor(0, 2)))
case("FloatTensor-requires-grad", lambda tn: tn.FloatTensor([1.0]).requires_grad_())
case("Tensor-sizes", lambda tn: facts(tn.Tensor(2), tn.Tensor(2, 3)))
case("Tensor-list", lambda tn: tn.Tensor([1, 2]))
fails("FloatTensor-string", lambda tn: tn.FloatTensor("a"))
fails("FloatTensor-negative", lambda tn: tn.FloatTensor(-1))
case("LongTensor-floats", lambda tn: each([lambda: tn.LongTensor([1.5])]))

case("FloatTensor-tensor", lambda tn, x: tn.FloatTensor(x), f32(3))
case("LongTensor-tensor", lambda tn, x: tn.LongTensor(x), i64(3))
case("Tensor-tensor", lambda tn, x: tn.Tensor(x), f32(2, 3))
case("Tensor-tensor-other-dtype", lambda tn, x: tn.Tensor(x), i64(3))
case("new-tensor", lambda tn, x: x.new(x), f64(3))
fails("FloatTensor-tensor-other-dtype", lambda tn, x: tn.FloatTensor(x), i64(3))
fails("new-tensor-other-dtype", lambda tn, x, y: x.new(y), f64(3), f32(3))
for _name in ("Tensor", "FloatTensor", "LongTensor"):
    case(
        f"{_name}-by-name",
        lambda tn, n=_name: facts(
            getattr(tn, n)(size=(2, 3)), getattr(tn, n)(data=[1, 2]), getattr(tn, n)(device="cpu")
        ),
    )
case("new-by-name", lambda tn, x: facts(x.new(size=(2, 0)), x.new(data=[1]), x.new()), f64(1))


def written_array(tn, create):
    """Write into the tensor of an array; return the array."""
    array = np.zeros(2, dtype=np.float32)
    create(tn)(array)[0] = 1
    return tn.tensor(array)


case("Tensor-shares-array", lambda tn: written_array(tn, lambda tn: tn.Tensor))
case("DoubleTensor-copies-array", lambda tn: written_array(tn, lambda tn: tn.DoubleTensor))

# ---- the default dtype ----


def with_default(call, dtype="float64"):
    """`call` under another default dtype, which is put back."""

    def run(tn, *inputs):
        before = tn.get_default_dtype()
        tn.set_default_dtype(getattr(tn, dtype))
        try:
            return call(tn, *inputs)
        finally:
            tn.set_default_dtype(before)

    return run


case(
    "set_default_dtype-creation",
    with_default(
        lambda tn: (tn.tensor(1.5), tn.zeros(1), tn.arange(1.0), tn.full((1,), 2.5), tn.eye(1))
    ),
)
case(
    "set_default_dtype-promotion",
    with_default(lambda tn, x: (x / 2, x * 1.5, x.sqrt(), x + 1)),
    i64(2).upto(5),
)
case("get_default_dtype-is-float32", lambda tn: tn.get_default_dtype())
fails("set_default_dtype-int", lambda tn: tn.set_default_dtype(tn.int64))
