"""Indices and class targets of each dtype, and class probabilities as targets."""

from tests.tools.recorded.rows import Table, each, f32, f64, i64

TABLE = Table("index_dtypes")
case = TABLE.case

KINDS = ("uint8", "int8", "int16", "int32", "int64", "bool", "float32")


def of_each_dtype(call):
    """Return a program that calls ``call(tn, x, indices)`` with indices of each dtype."""

    def program(tn, x, indices):
        return each([lambda k=k: plain(call(tn, x, indices.to(getattr(tn, k)))) for k in KINDS])

    return program


def plain(result):
    """Return tensors whose last operation is a product: how losses are composed may differ."""
    return [plain(r) for r in result] if isinstance(result, (tuple, list)) else result * 1


INDICES = {
    "index_select": lambda tn, x, i: tn.index_select(x, 0, i),
    "gather": lambda tn, x, i: tn.gather(x, 0, i[:, None]),
    "take": lambda tn, x, i: tn.take(x, i),
    "take_along_dim": lambda tn, x, i: tn.take_along_dim(x, i[:, None], 0),
    "scatter": lambda tn, x, i: tn.scatter(x, 0, i[:, None], x[:2, :1]),
    "scatter_add": lambda tn, x, i: tn.scatter_add(x, 0, i[:, None], x[:2, :1]),
    "scatter_reduce": lambda tn, x, i: tn.scatter_reduce(x, 0, i[:, None], x[:2, :1], "sum"),
    "index_add": lambda tn, x, i: tn.index_add(x, 0, i, x[:2]),
    "index_copy": lambda tn, x, i: tn.index_copy(x, 0, i, x[:2]),
    "index_fill": lambda tn, x, i: tn.index_fill(x, 0, i, 2.0),
    "index_put": lambda tn, x, i: tn.index_put(x, (i,), x[0]),
    "put": lambda tn, x, i: x.put(i, x[0, :2]),
    "getitem": lambda tn, x, i: x[:, i] if i.numel() == x.shape[1] else x[i],
    "embedding_bag": lambda tn, x, i: tn.nn.functional.embedding_bag(i, x, tn.tensor([0])),
    "one_hot": lambda tn, x, i: tn.nn.functional.one_hot(i, 4),
    "bincount": lambda tn, x, i: tn.bincount(i),
    "repeat_interleave": lambda tn, x, i: tn.repeat_interleave(x[:2], i, dim=0),
    "tensor_split": lambda tn, x, i: tn.tensor_split(x, i),
    "unravel_index": lambda tn, x, i: tn.unravel_index(i, (2, 2)),
    "searchsorted": lambda tn, x, i: tn.searchsorted(x[0, :2], x[1], sorter=i),
    "bucketize": lambda tn, x, i: tn.bucketize(i, x[0]),
}
CLASSES = {
    "cross_entropy": lambda tn, x, i: tn.nn.functional.cross_entropy(x[:2], i),
    "cross_entropy-spatial": lambda tn, x, i: tn.nn.functional.cross_entropy(
        x[:2, :, None], i[:, None]
    ),
    "cross_entropy-weight": lambda tn, x, i: tn.nn.functional.cross_entropy(
        x[:2], i, weight=x[0].detach()
    ),
    "cross_entropy-smoothed": lambda tn, x, i: tn.nn.functional.cross_entropy(
        x[:2], i, label_smoothing=0.1
    ),
    "cross_entropy-unbatched": lambda tn, x, i: tn.nn.functional.cross_entropy(x[0], i[0]),
    "nll_loss": lambda tn, x, i: tn.nn.functional.nll_loss(x[:2], i),
    "nll_loss-spatial": lambda tn, x, i: tn.nn.functional.nll_loss(
        x[:2, :, None, None], i[:, None, None]
    ),
    "multi_margin_loss": lambda tn, x, i: tn.nn.functional.multi_margin_loss(x[:2], i),
    "multilabel_margin_loss": lambda tn, x, i: tn.nn.functional.multilabel_margin_loss(
        x[:2, :2], tn.stack([i, i])
    ),
    "binary_cross_entropy_with_logits": lambda tn, x, i: (
        tn.nn.functional.binary_cross_entropy_with_logits(x[0, :2], i) if i.dtype != tn.bool else x
    ),
}
for _name, _call in INDICES.items():
    case(f"{_name}-index-dtypes", of_each_dtype(_call), f64(3, 4), i64(2).of([0, 1]),
         second_order=False)  # fmt: skip
for _name, _call in CLASSES.items():
    _op, _, _what = _name.partition("-")
    case(f"{_op}-class-dtypes-{_what}", of_each_dtype(_call), f64(3, 4), i64(2).of([0, 1]),
         second_order=False)  # fmt: skip

# ---- class probabilities ----

OPTIONS = (
    {},
    {"reduction": "none"},
    {"reduction": "sum"},
    {"label_smoothing": 0.2},
    {"weight": 3},
    {"weight": 4},
    {"ignore_index": 1},
    {"ignore_index": -1},
    {"weight": 3, "label_smoothing": 0.1, "reduction": "none"},
)


def probabilities(tn, x, target):
    """Return the cross-entropy of a target that has the shape of the input, or does not."""

    def loss(options):
        options = dict(options)
        if "weight" in options:
            options["weight"] = tn.arange(options["weight"], dtype=x.dtype)
        return plain(tn.nn.functional.cross_entropy(x, target, **options))

    return each([lambda o=o: loss(o) for o in OPTIONS])


for _shape in ((2, 3), (3,), (2, 3, 2), (0, 3), (2, 0), ()):
    _target = f64(*_shape).positive
    case(f"cross_entropy-probabilities-{'x'.join(map(str, _shape))}", probabilities, f64(*_shape),
         _target, second_order=False)  # fmt: skip
case(
    "cross_entropy-probabilities-mixed",
    lambda tn, x, y: [loss.float() for loss in probabilities(tn, x, y) if hasattr(loss, "float")],
    f32(2, 3),
    f64(2, 3).positive.const,
)
case("cross_entropy-probabilities-narrow", probabilities, f64(2, 3), f32(2, 3).positive)
case("cross_entropy-probabilities-whole", probabilities, f64(2, 3), i64(2, 3).upto(2))
case("cross_entropy-probabilities-wide", probabilities, f64(2, 3), f64(2, 4).positive)
case("cross_entropy-probabilities-few", probabilities, f64(2, 3), f64(2).positive)
case(
    "cross_entropy-ignored-all",
    lambda tn, x, i: plain(
        [
            tn.nn.functional.cross_entropy(x, i, ignore_index=1),
            tn.nn.functional.cross_entropy(x, i, ignore_index=1, reduction="none"),
            tn.nn.functional.nll_loss(x, i, ignore_index=1),
        ]
    ),
    f64(2, 3),
    i64(2).of(1),
    second_order=False,
)
