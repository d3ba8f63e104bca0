"""Embedding and EmbeddingBag."""

from tests.tools.recorded.layers import Table, f, i

TABLE = Table("embedding")
layer, fails = TABLE.layer, TABLE.fails


def table(label, *inputs, second=True, **options):
    row = f"Embedding-{label}" if label else "Embedding"
    layer(row, lambda lib: lib.nn.Embedding(7, 3, **options), *inputs, second=second)


table("", i(7, 5))
table("2d", i(7, 2, 4))
table("one", i(7))
table("none", i(7, 0), second=False)  # PyTorch: "cannot reshape tensor of 0 elements"
table("padding", i(7, 2, 6), padding_idx=2)
table("padding-last", i(7, 2, 6), padding_idx=-1)
table("frequency", i(4, 2, 6), scale_grad_by_freq=True, second=False)  # bent on purpose
table("everything", i(4, 9), padding_idx=0, max_norm=0.5, scale_grad_by_freq=True, second=False)
# second=False: tinynet's sparse gradients are dense under create_graph
table("sparse", i(7, 2, 6), sparse=True, second=False)
table("sparse-padding-norm", i(7, 9), sparse=True, padding_idx=2, max_norm=0.5, second=False)
for _p in (1.0, 2.0, 3.0, float("inf")):
    table(f"norm-{_p}", i(7, 4), max_norm=0.6, norm_type=_p)
layer(
    "Embedding-pretrained",
    lambda lib: lib.nn.Embedding.from_pretrained(lib.ones(7, 3), freeze=False, padding_idx=1),
    i(7, 5),
    initial=False,  # given
)
layer(
    "Embedding-frozen",
    lambda lib: lib.nn.Embedding.from_pretrained(lib.ones(7, 3)),
    i(7, 5),
    call=lambda module, x: (module(x), module.weight.requires_grad),
    initial=False,  # given
)
fails("Embedding-range", lambda lib: lib.nn.Embedding(3, 2)(lib.tensor([3])))
fails("Embedding-negative", lambda lib: lib.nn.Embedding(3, 2)(lib.tensor([-1])))
fails("Embedding-float", lambda lib: lib.nn.Embedding(3, 2)(lib.tensor([1.0])))
fails("Embedding-padding-range", lambda lib: lib.nn.Embedding(3, 2, padding_idx=3))
fails("Embedding-padding-negative", lambda lib: lib.nn.Embedding(3, 2, padding_idx=-4))
fails("Embedding-weight", lambda lib: lib.nn.Embedding(3, 2, _weight=lib.zeros(2, 2)))
fails("Embedding-pretrained-1d", lambda lib: lib.nn.Embedding.from_pretrained(lib.zeros(2)))

# ---- bags: PyTorch has no second derivative of any ----

OFFSETS = i(0, 4).of(0, 3, 3, 5)
LAST = i(0, 5).of(0, 3, 3, 5, 8)
# Each index equally often: else PyTorch divides by frequencies of other indices.
EVEN = i(4, 8).of(1, 2, 0, 2, 0, 1, 3, 3)


def bags(mode, label, *inputs, call=lambda module, *x: module(*x), **options):
    row = "-".join(filter(None, ["EmbeddingBag", mode, label]))

    def build(lib):
        return lib.nn.EmbeddingBag(7, 3, mode=mode, **options)

    layer(row, build, *inputs, call=call, second=False)


for _mode in ("sum", "mean", "max"):
    bags(_mode, "", i(7, 8), OFFSETS)
    bags(_mode, "2d", i(7, 3, 4))
    bags(_mode, "last", i(7, 8), LAST, include_last_offset=True)
    bags(_mode, "padding", i(4, 8), OFFSETS, padding_idx=1)
    bags(_mode, "padding-2d", i(2, 4, 3), padding_idx=-6)
    bags(_mode, "only-padding", i(7, 2, 3).of(2, 2, 2, 1, 2, 3), padding_idx=2)
    bags(_mode, "norm", i(7, 8), OFFSETS, max_norm=0.7, norm_type=1.0)
    bags(_mode, "empty", i(7, 0), i(0, 2).of(0, 0))
    if _mode != "max":
        bags(_mode, "frequency", EVEN, OFFSETS, scale_grad_by_freq=True)
        bags(_mode, "everything", EVEN, LAST, scale_grad_by_freq=True, padding_idx=0,
             include_last_offset=True, max_norm=0.5)  # fmt: skip


def weighted(module, x, offsets, weights):
    return module(x, offsets, per_sample_weights=weights)


bags("sum", "weights", i(7, 8), OFFSETS, f(8), call=weighted)
bags("sum", "weights-2d", i(7, 2, 4), None, f(2, 4), call=weighted)
bags("sum", "weights-padding", i(3, 8), OFFSETS, f(8), call=weighted, padding_idx=1)
bags("sum", "weights-everything", EVEN, LAST, f(8), call=weighted, padding_idx=1,
     include_last_offset=True, max_norm=0.5, scale_grad_by_freq=True)  # fmt: skip
layer("EmbeddingBag", lambda lib: lib.nn.EmbeddingBag(7, 3), i(7, 2, 4), second=False)
layer(
    "EmbeddingBag-pretrained",
    lambda lib: lib.nn.EmbeddingBag.from_pretrained(
        lib.ones(7, 3), freeze=False, mode="sum", padding_idx=1, norm_type=1.0
    ),
    i(7, 2, 5),
    second=False,
    initial=False,  # given
)
layer(
    "EmbeddingBag-frozen",
    lambda lib: lib.nn.EmbeddingBag.from_pretrained(lib.ones(7, 3)),
    i(7, 2, 5),
    call=lambda module, x: (module(x), module.weight.requires_grad),
    initial=False,  # given
)


def refused(label, *arguments, mode="mean", **options):
    def program(lib):
        given = [a if a is None else lib.tensor(a) for a in arguments]
        return lib.nn.EmbeddingBag(3, 2, mode=mode, **options)(*given)

    fails(f"EmbeddingBag-{label}", program)


refused("mode", [[0]], mode="least")
refused("frequency-of-maximum", [[0]], mode="max", scale_grad_by_freq=True)
refused("sparse-maximum", [[0]], mode="max", sparse=True)
refused("weights-of-mean", [[0]], None, [[1.0]])
refused("weights-shape", [[0, 1]], None, [1.0, 2.0], mode="sum")
refused("range", [[0, 3]])
refused("negative", [[0, -1]])
refused("float", [[0.0]])
refused("no-offsets", [0, 1])
refused("offsets-2d", [0, 1], [[0, 1]])
refused("offsets-of-2d", [[0, 1]], [0])
refused("offsets-first", [0, 1], [1])
refused("offsets-beyond", [0, 1], [0, 3])
refused("offsets-float", [0, 1], [0.0, 1.0])
refused("last-outside", [0, 1], [0, 3], include_last_offset=True)
refused("offsets-none-but-last", [0, 1], [], include_last_offset=True)
refused("3d", [[[0]]])
fails("EmbeddingBag-padding-range", lambda lib: lib.nn.EmbeddingBag(3, 2, padding_idx=3))
fails("EmbeddingBag-weight", lambda lib: lib.nn.EmbeddingBag(3, 2, _weight=lib.zeros(2, 2)))
fails("EmbeddingBag-pretrained-1d", lambda lib: lib.nn.EmbeddingBag.from_pretrained(lib.zeros(2)))
for _mode in ("sum", "mean"):
    layer(
        f"EmbeddingBag-sparse-{_mode}",
        lambda lib, mode=_mode: lib.nn.EmbeddingBag(7, 3, mode=mode, sparse=True, padding_idx=1),
        i(7, 4, 5),
        second=False,  # tinynet's sparse gradients are dense under create_graph
    )
