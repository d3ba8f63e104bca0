"""Layers under their names in ``torch``, and the gradients of convolutions as functions."""

from tests.tools.recorded.rows import Table, f64

TABLE = Table("native_layers", composition=False)
case, fails = TABLE.case, TABLE.fails

# ---- nn.grad ------------------------------------------------------------------------------------

SIZES, KERNELS = {1: (7,), 2: (6, 5), 3: (4, 3, 5)}, {1: (3,), 2: (3, 2), 3: (2, 3, 1)}
for _rank, _size in SIZES.items():
    for _name, _options in {
        "plain": (1, 0, 1, 1),
        "stride": (2, 1, 1, 1),
        "dilation": ((1,) * _rank, (1,) * _rank, (2,) * _rank, 1),
        "groups": (1, 1, 1, 2),
    }.items():
        _stride, _pad, _gap, _groups = (o[0] if isinstance(o, tuple) else o for o in _options)
        _out = [
            (n + 2 * _pad - _gap * (k - 1) - 1) // _stride + 1
            for n, k in zip(_size, KERNELS[_rank], strict=True)
        ]
        _shape, _kernel = (2, 4, *_size), (6, 4 // _groups, *KERNELS[_rank])
        case(
            f"conv{_rank}d_input-{_name}",
            lambda tn, w, g, rank=_rank, s=_shape, o=_options: getattr(
                tn.nn.grad, f"conv{rank}d_input"
            )(s, w, g, *o),
            *(f64(*_kernel), f64(2, 6, *_out)),
        )
        case(
            f"conv{_rank}d_weight-{_name}",
            lambda tn, x, g, rank=_rank, s=_kernel, o=_options: getattr(
                tn.nn.functional.grad, f"conv{rank}d_weight"
            )(x, s, g, *o),
            *(f64(*_shape), f64(2, 6, *_out)),
        )
_w, _g = f64(4, 3, 3).const, f64(2, 4, 5).const
for _name, _shape, _options in (
    ("channels", (2, 2, 7), ()),
    ("too-short", (2, 3, 2), ()),
    ("no-batch", (3, 7), ()),
    ("stride", (2, 3, 7), (0,)),
):
    fails(
        f"conv1d_input-{_name}",
        lambda tn, w, g, s=_shape, o=_options: tn.nn.grad.conv1d_input(s, w, g, *o),
        *(_w, _g),
    )

# ---- embeddings ---------------------------------------------------------------------------------

INDEX, STARTS = [0, 1, 2, 2, 3], [0, 2, 2]


def bags(mode, **options):
    return lambda tn, w, *factors: tn.embedding_bag(
        w, tn.tensor(INDEX), tn.tensor(STARTS), False, mode, False, *factors, **options
    )


for _mode in range(3):
    _table = f64(4, 3).distinct
    case(f"embedding_bag-{_mode}", bags(_mode), _table, second_order=False)
    _options = {"per_sample_weights": None, "include_last_offset": False, "padding_idx": 2}
    case(f"embedding_bag-padding-{_mode}", bags(_mode, **_options), _table, second_order=False)
case("embedding_bag-weights", bags(0), f64(4, 3), f64(5), second_order=False)
fails("embedding_bag-mode", bags(3), f64(4, 3).const)
fails("embedding_bag-weights", bags(1), f64(4, 3).const, f64(5).const)
case(
    "embedding_renorm_",
    lambda tn, w: tn.embedding_renorm_(w, tn.tensor([0, 2, 2]), 1.0, 2.0),
    f64(4, 3).const,
)

# ---- dropout that drops nothing, norms, windows --------------------------------------------------

for _name in ("alpha_dropout_", "feature_dropout", "feature_dropout_", "feature_alpha_dropout"):
    case(f"{_name}-evaluation", lambda tn, x, f=_name: getattr(tn, f)(x * 1, 0.5, False), f64(2, 3))
    fails(f"{_name}-p", lambda tn, x, f=_name: getattr(tn, f)(x, 1.5, True), f64(2, 3).const)
for _name in ("feature_dropout", "feature_alpha_dropout", "feature_alpha_dropout_"):
    fails(f"{_name}-dims", lambda tn, x, f=_name: getattr(tn, f)(x, 0.5, True), f64(3).const)
for _dim in ((0, 1), 1, (), (2,)):
    case(
        f"frobenius_norm-{_dim}",
        lambda tn, x, dim=_dim: tn.frobenius_norm(x, dim, keepdim=dim == 1),
        f64(2, 3, 4),
    )
fails("frobenius_norm-dims", lambda tn, x: tn.frobenius_norm(x, (0, 1, 2)), f64(2, 3, 4).const)
case("nuclear_norm", lambda tn, x: tn.nuclear_norm(x), f64(3, 3))
case("nuclear_norm-keepdim", lambda tn, x: tn.nuclear_norm(x, True), f64(2, 3))
case("nuclear_norm-dim", lambda tn, x: tn.nuclear_norm(x, (0, 2), keepdim=True), f64(2, 3, 3))
case("adaptive_max_pool1d", lambda tn, x: tn.adaptive_max_pool1d(x, 3), f64(2, 3, 7).distinct)
fails(
    "adaptive_max_pool1d-size", lambda tn, x: tn.adaptive_max_pool1d(x, (2, 3)), f64(1, 2, 6).const
)
case(
    "max_pool1d_with_indices", lambda tn, x: tn.max_pool1d_with_indices(x, 2), f64(2, 3, 7).distinct
)
case(
    "max_pool1d_with_indices-options",
    lambda tn, x: tn.max_pool1d_with_indices(x, 3, 2, 1, 1, True),
    f64(2, 3, 8).distinct,
)
for _rank, _size in SIZES.items():
    _each = [[n] * _rank for n in (2, 1, 1, 1)]
    for _transposed in (False, True):
        case(
            f"convolution-{_rank}-{'transposed' if _transposed else 'plain'}",
            lambda tn, x, w, b, o=_each, t=_transposed: tn.convolution(
                x, w, b, *o[:3], t, o[3] if t else [0] * len(o[3]), 1
            ),
            *(f64(2, 4, *_size), f64(4, 4, *KERNELS[_rank]), f64(4)),
        )
fails(
    "convolution-dims",
    lambda tn, x, w: tn.convolution(x, w, None, [1], [0], [1], False, [0], 1),
    *(f64(2, 4).const, f64(4, 4, 2).const),
)
case("conv_tbc", lambda tn, x, w, b: tn.conv_tbc(x, w, b, 1), f64(5, 2, 3), f64(2, 3, 4), f64(4))
for _name, _x, _w, _b in (
    ("input", (5, 2), (2, 3, 4), (4,)),
    ("weight", (5, 2, 3), (3, 4), (4,)),
    ("channels", (5, 2, 3), (2, 2, 4), (4,)),
    ("bias", (5, 2, 3), (2, 3, 4), (3,)),
):
    fails(
        f"conv_tbc-{_name}",
        lambda tn, x, w, b: tn.conv_tbc(x, w, b),
        *(f64(*_x).const, f64(*_w).const, f64(*_b).const),
    )
case(
    "affine_grid_generator",
    lambda tn, t: tn.affine_grid_generator(t, (2, 1, 2, 3), True),
    f64(2, 2, 3),
)

# ---- methods ------------------------------------------------------------------------------------

case("prelu-method", lambda tn, x, w: x.prelu(w), f64(3, 4), f64(1))
case("hardshrink-method", lambda tn, x: x.hardshrink(), f64(3, 4))
case("hardshrink-method-bound", lambda tn, x: x.hardshrink(1.0), f64(3, 4))
fails("pin_memory", lambda tn, x: x.pin_memory(), f64(2).const)
case("is_distributed", lambda tn, x: (x.is_distributed(), x.name), f64(2).const)
case("module_load", lambda tn, x, y: x.module_load(y), f64(2).const, f64(2))
case("module_load-assign", lambda tn, x, y: x.module_load(y, assign=True), f64(2).const, f64(2))
case("fork", lambda tn, x: tn.jit.wait(tn.jit.fork(lambda a, b=1: a * b, x, b=x)), f64(2))
