"""Creation forms, questions about tensors and memory."""

from tests.tools.recorded.rows import (
    Input,
    Table,
    f32,
    f64,
    function,
    i64,
    inplace,
    layouts,
    mask,
    method,
)

TABLE = Table("memory")
case, fails = TABLE.case, TABLE.fails


def f16(*shape: int) -> Input:
    spec = f32(*shape)
    return Input(spec.shape, "float16", spec.values, requires_grad=True)


# ---- ranges and other forms of creation ----

for _args in ((0, 1, 5), (-2.5, 3, 8), (3, -1, 4), (0, 10, 1), (0, 10, 0), (1, 1, 3)):
    case(f"linspace-{_args}", lambda tn, a=_args: tn.linspace(*a))
    case(f"linspace-double-{_args}", lambda tn, a=_args: tn.linspace(*a, dtype=tn.float64))
    case(f"linspace-int-{_args}", lambda tn, a=_args: tn.linspace(*a, dtype=tn.int64))
    case(f"logspace-{_args}", lambda tn, a=_args: tn.logspace(*a, base=2))
case("linspace-tensors", lambda tn: tn.linspace(tn.tensor(0.0), tn.tensor(2), 4))
case("logspace-default", lambda tn: (tn.logspace(0, 2, 3), tn.logspace(0, 2, 3, dtype=tn.int32)))
fails("logspace-negative", lambda tn: tn.logspace(0, 1, -1))
case("arange-tensor", lambda tn: tn.arange(tn.tensor(3)))
case("scalar_tensor-int", lambda tn: (tn.scalar_tensor(3), tn.scalar_tensor(2.5, dtype=tn.float64)))
case("asarray-shared", lambda tn, x: (tn.asarray(x), tn.asarray(x, copy=True)), f64(3).const)
case("asarray-list", lambda tn: tn.asarray([1, 2], dtype=tn.float64))
case("frombuffer-plain", lambda tn: tn.frombuffer(bytearray(range(8)), dtype=tn.int16))
case(
    "frombuffer-part",
    lambda tn: tn.frombuffer(bytearray(range(8)), dtype=tn.uint8, count=2, offset=4),
)
fails("frombuffer-empty", lambda tn: tn.frombuffer(bytearray(), dtype=tn.int32))
fails("frombuffer-rest", lambda tn: tn.frombuffer(bytearray(7), dtype=tn.int32))
fails("frombuffer-offset", lambda tn: tn.frombuffer(bytearray(4), dtype=tn.int32, offset=9))
fails("frombuffer-count", lambda tn: tn.frombuffer(bytearray(4), dtype=tn.int32, count=2))
case("empty_strided-stride", lambda tn: tn.empty_strided((2, 3), (1, 2)).stride())
fails("empty_strided-counts", lambda tn: tn.empty_strided((2, 2), (2,)))
case("full-wraps", lambda tn: tn.full((2,), -1, dtype=tn.uint8))
case("full-cuts", lambda tn: tn.full((2,), 1.5, dtype=tn.int32))
case("full-infinite", lambda tn: tn.full((2,), float("inf"), dtype=tn.float16))
for _kind, _value in (("int8", 300), ("float32", 1e300), ("int32", 2**40), ("float16", 7e4)):
    fails(f"full-{_kind}", lambda tn, k=_kind, v=_value: tn.full((2,), v, dtype=getattr(tn, k)))
fails("full-nan-int", lambda tn: tn.full((2,), float("nan"), dtype=tn.int32))
fails("full_like-overflow", lambda tn, x: tn.full_like(x, 1e6), f16(2))
case("fill-plain", function("fill", 2.5), f64(2, 3))
case("fill_diagonal_-matrix", lambda tn, x: x.clone().fill_diagonal_(5.0) * 1, f64(3, 4))
case("fill_diagonal_-tall", lambda tn, x: x.clone().fill_diagonal_(5.0, wrap=True) * 1, f64(7, 3))
case("fill_diagonal_-cube", lambda tn, x: x.fill_diagonal_(0) * 1, i64(2, 2, 2))
fails("fill_diagonal_-vector", inplace("fill_diagonal_", 0), f64(3))
fails("fill_diagonal_-lengths", inplace("fill_diagonal_", 0), f64(2, 3, 2))
case("rsub-number", lambda tn, x: (tn.rsub(x, 2), tn.rsub(x, 2.0, alpha=3)), f64(3))
case("new-forms", lambda tn, x: (tn.ones(2).new([1, 2]), list(x.new(2, 3).shape)), f64(2))
case("new_empty_strided-stride", lambda tn, x: x.new_empty_strided((2, 2), (1, 2)).stride(), f64(2))

# ---- questions ----

FLAGS = "is_cpu is_cuda is_sparse is_quantized is_meta".split()
case("flags-all", lambda tn, x: [getattr(x, f) for f in FLAGS], f64(2))
for _layout, _spec in layouts(2, 3).items():
    case(
        f"dim_order-{_layout}",
        lambda tn, x: [x.ndimension(), x.get_device(), x.stride(), x.is_contiguous()],
        _spec,
    )
case("dim_order-permuted", lambda tn, x: x.permute(2, 0, 1).dim_order(), f64(2, 3, 4))
case(
    "storage_offset-views",
    lambda tn, x: [x[1].storage_offset(), x[:, 1:].storage_offset()],
    f64(3, 4),
)
case(
    "untyped_storage-view",
    lambda tn, x: [
        x[1].untyped_storage().nbytes(),
        len(x.untyped_storage()),
        x[1].untyped_storage().data_ptr() == x.data_ptr(),
    ],
    f64(3, 4),
)
case("is_nonzero-values", lambda tn, x: [tn.is_nonzero(x), (x * 0).is_nonzero()], f64(1).of(2))
fails("is_nonzero-several", function("is_nonzero"), f64(2))
fails("is_nonzero-none", function("is_nonzero"), f64(0))
case(
    "is_same_size-pairs",
    lambda tn, x, y: [tn.is_same_size(x, y), x.is_same_size(x)],
    f64(2),
    f64(3),
)
case("is_signed-kinds", lambda tn, *xs: [x.is_signed() for x in xs], f64(2), i64(2), mask(2))
case("is_set_to-views", lambda tn, x: [x.is_set_to(x.detach()), x.is_set_to(x[:1])], f64(2))
case("real-itself", lambda tn, x: [x.real is x, x.conj() is x, tn.real(x) is x], f64(2).const)
case("sum_to_size-plain", method("sum_to_size", 1, 3), f64(2, 3))
case("sum_to_size-fewer", lambda tn, x: x.sum_to_size((3,)) * 1, f64(2, 3))
fails("sum_to_size-other", method("sum_to_size", 2, 2), f64(2, 3))

# ---- Python functions ----

case("apply_-plain", lambda tn, x: x.clone().apply_(lambda v: v * 2 + 1).tolist(), f64(2, 3).const)
case("apply_-int64", lambda tn, x: x.clone().apply_(lambda v: v * 2).tolist(), i64(3))
case(
    "map_-plain",
    lambda tn, x, y: x.clone().map_(y, lambda a, b: a * b).tolist(),
    f64(3).const,
    f64(3).const,
)
case(
    "map2_-plain",
    lambda tn, x, y: x.clone().map2_(y, y, lambda a, b, c: a * b + c).tolist(),
    f64(3).const,
    f64(3).const,
)
fails("apply_-leaf", lambda tn, x: x.apply_(abs), f64(2))
fails("map_-kinds", lambda tn, x, y: x.map_(y, max), f64(2).const, f32(2).const)
