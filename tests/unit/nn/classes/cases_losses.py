"""Every loss: reductions, weights, what is left out, what is refused."""

import numpy as np

from tests.tools.recorded.layers import Table, f, i

TABLE = Table("losses")
layer, fails = TABLE.layer, TABLE.fails
REDUCTIONS = ("mean", "sum", "none")
OTHER_TEXT = ("GaussianNLLLoss", "MultiLabelSoftMarginLoss")  # for an unknown reduction


def loss(name, *inputs, label="", second=True, weight=None, tolerance=None, **options):
    """Rows for each reduction and an unknown one. The library makes a tensor of the weight."""
    for reduction in REDUCTIONS:

        def build(lib, reduction=reduction):
            given = {k: lib.tensor(v) for k, v in (weight or {}).items()}
            return getattr(lib.nn, name)(reduction=reduction, **options, **given)

        row = "-".join(filter(None, [name, label, reduction]))
        layer(row, build, *inputs, second=second, tolerance=tolerance)
    if not (label or name in OTHER_TEXT):
        fails(f"{name}-reduction", lambda lib: getattr(lib.nn, name)(reduction="x")(*tensors(lib)))

    def tensors(lib):
        return [one.build(lib, np.random.RandomState(0)) for one in inputs]


def signs(*shape):
    return f(*shape).of(1, -1, -1, 1, 1).const


# ---- regression ----

for _name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"):
    loss(_name, f(4, 3), f(4, 3))
    loss(_name, f(4, 3), f(3), label="broadcast")
loss("SmoothL1Loss", f(4, 3), f(4, 3).const, label="beta", beta=0.3)
loss("SmoothL1Loss", f(4, 3), f(4, 3).const, label="zero", beta=0.0)
loss("HuberLoss", f(4, 3), f(4, 3).const, label="delta", delta=0.3)
fails("HuberLoss-delta", lambda lib: lib.nn.HuberLoss(delta=0.0)(lib.zeros(2), lib.zeros(2)))
fails("HuberLoss-delta-type", lambda lib: lib.nn.HuberLoss(delta="one"))
fails("SmoothL1Loss-beta", lambda lib: lib.nn.SmoothL1Loss(beta=-1.0)(lib.zeros(2), lib.zeros(2)))
fails("MSELoss-shapes", lambda lib: lib.nn.MSELoss()(lib.zeros(2, 3), lib.zeros(2)))

# ---- probabilities ----

EPSILON = 1e-9  # PyTorch adds 1e-12 to the probabilities in the second derivative
loss("BCELoss", f(4, 3).fraction, f(4, 3).fraction, tolerance=EPSILON)
loss(
    "BCELoss",
    f(2, 3).fraction,
    f(2, 3).fraction,
    label="weight",
    tolerance=EPSILON,
    weight={"weight": [0.5, 2.0, 1.0]},
)
loss("BCEWithLogitsLoss", f(4, 3), f(4, 3).fraction)
loss(
    "BCEWithLogitsLoss",
    f(2, 3),
    f(2, 3).fraction.const,
    label="weights",
    weight={"weight": [0.5, 2.0, 1.0], "pos_weight": [3.0, 0.1, 1.0]},
)
fails("BCELoss-range", lambda lib: lib.nn.BCELoss()(lib.ones(2) * 2, lib.ones(2)))
fails("BCELoss-shapes", lambda lib: lib.nn.BCELoss()(lib.ones(2), lib.ones(3)))
fails("BCEWithLogitsLoss-shapes", lambda lib: lib.nn.BCEWithLogitsLoss()(lib.ones(2), lib.ones(3)))
loss("KLDivLoss", f(4, 3), f(4, 3).fraction)
loss("KLDivLoss", f(4, 3), f(4, 3), label="log", log_target=True)
layer(
    "KLDivLoss-batchmean",
    lambda lib: lib.nn.KLDivLoss(reduction="batchmean"),
    *(f(4, 3), f(4, 3).fraction),
)
loss("PoissonNLLLoss", f(4, 3), f(4, 3).of(0, 1, 2, 5, 9).const)
loss("PoissonNLLLoss", f(4, 3), f(4, 3).of(0, 1, 2, 5, 9).const, label="full", full=True)
loss(
    "PoissonNLLLoss",
    f(4, 3).positive,
    f(4, 3).positive,
    label="expected",
    log_input=False,
    eps=0.01,
)
fails("PoissonNLLLoss-shapes", lambda lib: lib.nn.PoissonNLLLoss()(lib.ones(3), lib.ones(2)))
loss("GaussianNLLLoss", f(4, 3), f(4, 3), f(4, 3).positive)
loss("GaussianNLLLoss", f(4, 3), f(4, 3), f(4).positive, label="per-row", full=True)
loss("GaussianNLLLoss", f(4, 3), f(4, 3), f(4, 1).positive, label="per-row-1")
loss("GaussianNLLLoss", f(4, 3), f(4, 3), 0.7, label="number")
loss("GaussianNLLLoss", f(6), f(6), f(6).of(0.0, 0.1, 0.5), label="tiny", eps=0.2)
fails(
    "GaussianNLLLoss-negative",
    lambda lib: lib.nn.GaussianNLLLoss()(lib.ones(2), lib.ones(2), -lib.ones(2)),
)
fails(
    "GaussianNLLLoss-negative-number",
    lambda lib: lib.nn.GaussianNLLLoss()(lib.ones(2), lib.ones(2), -1.0),
)
fails(
    "GaussianNLLLoss-shape",
    lambda lib: lib.nn.GaussianNLLLoss()(lib.ones(2, 3), lib.ones(2, 3), lib.ones(3)),
)

# ---- classes ----

WEIGHT = {"weight": [0.5, 2.0, 1.0, 0.1]}
loss("CrossEntropyLoss", f(5, 4), i(4, 5))
loss("CrossEntropyLoss", f(5, 4), i(4, 5), label="weight", weight=WEIGHT)
loss("CrossEntropyLoss", f(5, 4), i(4, 5), label="ignored", ignore_index=1)
loss("CrossEntropyLoss", f(5, 4), i(4, 5), label="smooth", label_smoothing=0.2, weight=WEIGHT)
loss("CrossEntropyLoss", f(5, 4), f(5, 4).fraction, label="probabilities", weight=WEIGHT)
loss("CrossEntropyLoss", f(2, 4, 3), i(4, 2, 3), label="places", ignore_index=2)
loss("CrossEntropyLoss", f(4), i(4), label="one")
loss("NLLLoss", f(5, 4), i(4, 5))
loss("NLLLoss", f(5, 4), i(4, 5), label="weight", weight=WEIGHT, ignore_index=3)
loss("NLLLoss", f(2, 4, 3, 2), i(4, 2, 3, 2), label="image")
fails(
    "CrossEntropyLoss-range",
    lambda lib: lib.nn.CrossEntropyLoss()(lib.zeros(2, 3), lib.tensor([0, 3])),
)
fails(
    "CrossEntropyLoss-batch",
    lambda lib: lib.nn.CrossEntropyLoss()(lib.zeros(2, 3), lib.tensor([0, 1, 2])),
)
fails("NLLLoss-float", lambda lib: lib.nn.NLLLoss()(lib.zeros(2, 3), lib.zeros(2)))

loss("MultiMarginLoss", f(5, 4), i(4, 5), second=False)  # PyTorch has no second derivative
loss("MultiMarginLoss", f(5, 4), i(4, 5), label="square", p=2, margin=2.0, second=False)
loss("MultiMarginLoss", f(5, 4), i(4, 5), label="weight", weight=WEIGHT, second=False)
loss("MultiMarginLoss", f(4), i(4), label="one", second=False)
loss("MultiMarginLoss", f(4), i(4, 1), label="one-1", second=False)
fails("MultiMarginLoss-p", lambda lib: lib.nn.MultiMarginLoss(p=3))
fails("MultiMarginLoss-weight", lambda lib: lib.nn.MultiMarginLoss(weight=lib.ones(2, 2)))
fails(
    "MultiMarginLoss-weight-count",
    lambda lib: lib.nn.MultiMarginLoss(weight=lib.ones(2))(lib.zeros(1, 3), lib.tensor([0])),
)
fails(
    "MultiMarginLoss-range",
    lambda lib: lib.nn.MultiMarginLoss()(lib.zeros(2, 3), lib.tensor([0, 3])),
)
fails(
    "MultiMarginLoss-batch",
    lambda lib: lib.nn.MultiMarginLoss()(lib.zeros(2, 3), lib.tensor([0, 1, 2])),
)
fails("MultiMarginLoss-float", lambda lib: lib.nn.MultiMarginLoss()(lib.zeros(2, 3), lib.zeros(2)))
fails(
    "MultiMarginLoss-3d",
    lambda lib: lib.nn.MultiMarginLoss()(lib.zeros(2, 3, 1), lib.tensor([0, 1])),
)
LISTED = i(4, 3, 4).of(3, 0, -1, 1, 2, -1, 0, 0, -1, 0, 0, 0)
loss("MultiLabelMarginLoss", f(3, 4), LISTED, second=False)  # PyTorch has no second derivative
loss("MultiLabelMarginLoss", f(4), i(4, 4).of(1, 3, -1, 0), label="one", second=False)
fails(
    "MultiLabelMarginLoss-shapes",
    lambda lib: lib.nn.MultiLabelMarginLoss()(lib.zeros(2, 3), lib.tensor([0, 1])),
)
fails(
    "MultiLabelMarginLoss-range",
    lambda lib: lib.nn.MultiLabelMarginLoss()(lib.zeros(1, 3), lib.tensor([[0, 3, -1]])),
)
fails(
    "MultiLabelMarginLoss-float",
    lambda lib: lib.nn.MultiLabelMarginLoss()(lib.zeros(1, 3), lib.zeros(1, 3)),
)
loss("MultiLabelSoftMarginLoss", f(3, 4), f(3, 4).of(0, 1, 1).const)
loss("MultiLabelSoftMarginLoss", f(3, 4), f(3, 4).fraction, label="weight", weight=WEIGHT)
loss("MultiLabelSoftMarginLoss", f(4), f(4).fraction, label="one")

# ---- pairs and triplets ----

loss("MarginRankingLoss", f(6), f(6), signs(6))
loss("MarginRankingLoss", f(6), f(6), signs(6), label="margin", margin=0.7)
fails(
    "MarginRankingLoss-dims",
    lambda lib: lib.nn.MarginRankingLoss()(lib.ones(2), lib.ones(2, 1), lib.ones(2)),
)
loss("HingeEmbeddingLoss", f(4, 3), signs(4, 3))
loss("HingeEmbeddingLoss", f(4, 3), signs(3), label="broadcast", margin=0.3)
loss("SoftMarginLoss", f(4, 3), signs(4, 3))
loss("SoftMarginLoss", f(4, 3), signs(3), label="broadcast")
fails("SoftMarginLoss-shapes", lambda lib: lib.nn.SoftMarginLoss()(lib.ones(3), lib.ones(2)))
fails("SoftMarginLoss-int", lambda lib: lib.nn.SoftMarginLoss()(lib.tensor([1]), lib.ones(1)))
loss("CosineEmbeddingLoss", f(4, 3), f(4, 3), signs(4))
loss("CosineEmbeddingLoss", f(4, 3), f(4, 3), signs(4), label="margin", margin=0.4)
loss("CosineEmbeddingLoss", f(3), f(3), signs(), label="one")
fails(
    "CosineEmbeddingLoss-target",
    lambda lib: lib.nn.CosineEmbeddingLoss()(lib.ones(2, 3), lib.ones(2, 3), lib.ones(2, 1)),
)
fails(
    "CosineEmbeddingLoss-dims",
    lambda lib: lib.nn.CosineEmbeddingLoss()(lib.ones(3), lib.ones(3), lib.ones(3)),
)
TRIPLET = (f(4, 3), f(4, 3), f(4, 3))
loss("TripletMarginLoss", *TRIPLET)
loss("TripletMarginLoss", *TRIPLET, label="swap", swap=True, margin=3.0)
loss("TripletMarginLoss", *TRIPLET, label="p", p=3.0, eps=0.01)
loss("TripletMarginLoss", f(3), f(3), f(3), label="one")
fails("TripletMarginLoss-margin", lambda lib: lib.nn.TripletMarginLoss(margin=0.0))
fails(
    "TripletMarginLoss-dims",
    lambda lib: lib.nn.TripletMarginLoss()(lib.ones(2, 3), lib.ones(3), lib.ones(2, 3)),
)


def largest(x, y):
    return (x - y).abs().max(-1)[0]


loss("TripletMarginWithDistanceLoss", *TRIPLET)
loss(
    "TripletMarginWithDistanceLoss",
    *TRIPLET,
    label="largest",
    distance_function=largest,
    swap=True,
    margin=2.0,
)
fails(
    "TripletMarginWithDistanceLoss-margin",
    lambda lib: lib.nn.TripletMarginWithDistanceLoss(margin=-1.0),
)

# ---- sequences ----


def ctc(module, scores, *rest):
    return module(scores.log_softmax(-1), *rest)


def sequences(label, *inputs, call=ctc, **options):
    for reduction in REDUCTIONS:
        layer(
            "-".join(filter(None, ["CTCLoss", label, reduction])),
            lambda lib, r=reduction: lib.nn.CTCLoss(reduction=r, **options),
            *inputs,
            call=call,
            second=False,  # PyTorch has no second derivative
        )


ROWS = i(5, 3, 4).of(1, 2, 2, 3, 4, 1, 3, 3, 2, 2, 2, 1)  # with repetitions
TIMES, LENGTHS = i(0, 3).of(9, 8, 9), i(0, 3).of(4, 2, 3)
sequences("", f(9, 3, 5), ROWS, TIMES, LENGTHS)
sequences("blank", f(9, 3, 5), ROWS, TIMES, LENGTHS, blank=4)
sequences("one-after-the-other", f(9, 3, 5), i(5, 9).of(1, 2, 2, 3, 4, 1, 3), TIMES, LENGTHS)
sequences("tuples", f(9, 3, 5), ROWS, (9, 7, 9), (4, 2, 3))
sequences("empty", f(4, 3, 5), ROWS, (4, 3, 0), (0, 1, 0))
sequences("unbatched", f(6, 5), i(5, 3).of(1, 1, 2), (6,), (3,))
sequences("too-long", f(5, 3, 5), ROWS, (5, 2, 3), (2, 2, 3), zero_infinity=True)
sequences(
    "leaf",  # PyTorch takes the log-probabilities for what log_softmax returned
    f(9, 3, 5),
    *(ROWS, TIMES, LENGTHS),
    call=lambda module, *inputs: module(*inputs),
)
layer(
    "CTCLoss-no-path",
    lambda lib: lib.nn.CTCLoss(reduction="none"),
    f(5, 3, 5).const,
    *(ROWS, (5, 2, 3), (2, 2, 3)),
    call=ctc,
)


def refused(label, *arguments, shape=(5, 2, 4), **options):
    def program(lib):
        targets, times, lengths = (lib.tensor(a) for a in arguments)
        return lib.nn.CTCLoss(**options)(lib.zeros(*shape), targets, times, lengths)

    fails(f"CTCLoss-{label}", program)


refused("blank", [[1], [2]], [5, 5], [1, 1], blank=4)
refused("time", [[1], [2]], [5, 6], [1, 1])
refused("time-negative", [[1], [2]], [5, -1], [1, 1])
refused("length-negative", [[1], [2]], [5, 5], [1, -1])
refused("time-count", [[1], [2]], [5], [1, 1])
refused("length-count", [[1], [2]], [5, 5], [1])
refused("time-float", [[1], [2]], [5.0, 5.0], [1, 1])
refused("rows", [[1]], [5, 5], [1, 1])
refused("row-length", [[1], [2]], [5, 5], [1, 2])
refused("total", [1, 2, 3], [5, 5], [1, 1])
refused("targets-3d", [[[1]]], [5, 5], [1, 1])
refused("empty", [[1], [2]], [0, 0], [1, 1], shape=(0, 2, 4))

# ---- an affine map and its loss ----


def entropy(label, *inputs, weight=None, **options):
    for reduction in REDUCTIONS:

        def build(lib, reduction=reduction):
            given = {} if weight is None else {"weight": lib.tensor(weight)}
            return lib.nn.LinearCrossEntropyLoss(3, 4, reduction=reduction, **given, **options)

        layer("-".join(filter(None, ["LinearCrossEntropyLoss", label, reduction])), build, *inputs)


entropy("", f(5, 3), i(4, 5))
entropy("one", f(3), i(4), bias=True)
entropy("weight", f(5, 3), i(4, 5), weight=WEIGHT["weight"], ignore_index=1, label_smoothing=0.1)
entropy("probabilities", f(5, 3), f(5, 4).fraction, bias=True)
entropy("places", f(5, 3), i(4, 5, 2), out_features=(2,), bias=True)
fails(
    "LinearCrossEntropyLoss-weight",
    lambda lib: lib.nn.LinearCrossEntropyLoss(3, 4, weight=lib.ones(3)),
)
fails(
    "LinearCrossEntropyLoss-smoothing",
    lambda lib: lib.nn.LinearCrossEntropyLoss(3, 4, label_smoothing=2.0),
)
fails(
    "LinearCrossEntropyLoss-features",
    lambda lib: lib.nn.LinearCrossEntropyLoss(3, 4)(lib.ones(2, 2), lib.tensor([0, 1])),
)
fails(
    "LinearCrossEntropyLoss-3d",
    lambda lib: lib.nn.LinearCrossEntropyLoss(3, 4)(lib.ones(2, 2, 3), lib.tensor([0, 1])),
)
fails(
    "LinearCrossEntropyLoss-places",
    lambda lib: lib.nn.LinearCrossEntropyLoss(3, 4, out_features=(2,))(
        lib.ones(3), lib.tensor([0, 1])
    ),
)
