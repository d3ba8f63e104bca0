"""Activations, and layers that are softmax or made of it."""

from tests.tools.recorded.layers import Table, f, i

TABLE = Table("activations")
layer, fails = TABLE.layer, TABLE.fails

PIECES = (-4.3, -1.2, -0.3, 0.2, 0.7, 3.4, 6.9, -2.9)  # away from where straight pieces meet
SHAPE = (2, 4, 3)
FLAT = ("Hardsigmoid",)  # PyTorch's derivative is 1 / 6 in float32, and has none of its own


def activation(name, *args, label="", shape=SHAPE, **kwargs):
    """Two rows: with numbers on every piece, and at zero and far out."""
    row = f"{name}-{label}" if label else name

    def build(lib):
        return getattr(lib.nn, name)(*args, **kwargs)

    pieces = f(*shape).of(*PIECES)
    layer(row, build, pieces.const if name in FLAT else pieces)
    if not label:
        layer(f"{name}-far", build, f(4, 2).of(-90.0, 0.0, 90.0, 30.0, -30.0, 1e-9).const)


# ---- elementwise ----

PLAIN = """
    ReLU LeakyReLU Hardtanh ReLU6 Hardsigmoid Hardswish Hardshrink Softshrink ELU CELU SELU GELU
    SiLU Mish Sigmoid Tanh Tanhshrink Softplus LogSigmoid
""".split()
for _name in PLAIN:
    activation(_name)
activation("Softsign")
fails("Softsign-bool", lambda lib: lib.nn.Softsign()(lib.tensor([True])))
activation("LeakyReLU", 0.3, label="slope")
activation("Hardtanh", -2.0, 0.5, label="bounds")
activation("Threshold", 0.1, 20.0)
activation("Hardshrink", 1.0, label="wide")
activation("Softshrink", 1.0, label="wide")
activation("Softshrink", 0.0, label="none")
activation("ELU", 0.4, label="alpha")
activation("CELU", 0.5, label="alpha")  # PyTorch's derivative has alpha in float32
activation("GELU", "tanh", label="tanh")
activation("Softplus", 2.0, 1.0, label="threshold")
activation("PReLU")
activation("PReLU", 4, 0.1, label="channels")
layer("RReLU-eval", lambda lib: lib.nn.RReLU(0.1, 0.3), f(*SHAPE).of(*PIECES), train=False)
layer("RReLU-fixed", lambda lib: lib.nn.RReLU(0.2, 0.2), f(*SHAPE).of(*PIECES))

IN_PLACE = "ReLU LeakyReLU RReLU Hardtanh ReLU6 Hardsigmoid Hardswish ELU CELU SELU SiLU Mish"
for _name in IN_PLACE.split():
    _pieces = f(*SHAPE).of(*PIECES)
    layer(
        f"{_name}-inplace",
        lambda lib, n=_name: getattr(lib.nn, n)(inplace=True),
        _pieces.const if _name in FLAT else _pieces,
        call=lambda module, x: module(x * 1),
        train=False,
    )
layer(
    "Threshold-inplace",
    lambda lib: lib.nn.Threshold(0.1, 20.0, inplace=True),
    f(*SHAPE).of(*PIECES),
    call=lambda module, x: module(x * 1),
)
fails("Hardtanh-bounds", lambda lib: lib.nn.Hardtanh(1.0, -1.0))
fails("PReLU-channels", lambda lib: lib.nn.PReLU(3)(lib.zeros(2, 4)))
fails("Softshrink-negative", lambda lib: lib.nn.Softshrink(-1.0)(lib.zeros(2)))
fails("Hardshrink-int", lambda lib: lib.nn.Hardshrink()(lib.tensor([1])))
fails("RReLU-bounds", lambda lib: lib.nn.RReLU(0.5, 0.1)(lib.zeros(2)))
fails("RReLU-int", lambda lib: lib.nn.RReLU()(lib.tensor([1])))
fails("RReLU-infinite", lambda lib: lib.nn.RReLU(0.1, float("inf"))(lib.zeros(2)))
fails("GELU-approximate", lambda lib: lib.nn.GELU("erf")(lib.zeros(2)))
fails("CELU-zero", lambda lib: lib.nn.CELU(0.0)(lib.zeros(2)))
fails(
    "ReLU-leaf",
    lambda lib: lib.nn.ReLU(inplace=True)(lib.zeros(2, requires_grad=True)),
)

# ---- gated ----

layer("GLU", lambda lib: lib.nn.GLU(), f(3, 4))
layer("GLU-dim", lambda lib: lib.nn.GLU(1), f(2, 6, 3))
layer("GLU-vector", lambda lib: lib.nn.GLU(0), f(6))
fails("GLU-odd", lambda lib: lib.nn.GLU()(lib.zeros(2, 3)))
fails("GLU-dim-range", lambda lib: lib.nn.GLU(2)(lib.zeros(2, 4)))
fails("GLU-number", lambda lib: lib.nn.GLU()(lib.tensor(1.0)))
fails("GLU-int", lambda lib: lib.nn.GLU()(lib.tensor([1, 2])))

# ---- softmax ----

for _name in ("Softmax", "LogSoftmax", "Softmin"):
    layer(_name, lambda lib, n=_name: getattr(lib.nn, n)(dim=1), f(3, 4))
    layer(f"{_name}-first", lambda lib, n=_name: getattr(lib.nn, n)(dim=0), f(3, 4, 2))
    layer(f"{_name}-implicit", lambda lib, n=_name: getattr(lib.nn, n)(), f(2, 3, 2))
    fails(f"{_name}-dim", lambda lib, n=_name: getattr(lib.nn, n)(dim=2)(lib.zeros(2, 3)))
layer("Softmax2d", lambda lib: lib.nn.Softmax2d(), f(2, 3, 2, 2))
layer("Softmax2d-unbatched", lambda lib: lib.nn.Softmax2d(), f(3, 2, 2))
fails("Softmax2d-matrix", lambda lib: lib.nn.Softmax2d()(lib.zeros(2, 3)))


def adaptive(**options):
    return lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0, **options)


layer("AdaptiveLogSoftmaxWithLoss", adaptive(), f(12, 8), i(20, 12))
layer("AdaptiveLogSoftmaxWithLoss-bias", adaptive(head_bias=True), f(6, 8), i(20, 6))
layer("AdaptiveLogSoftmaxWithLoss-shortlist", adaptive(), f(4, 8), i(5, 4))
layer("AdaptiveLogSoftmaxWithLoss-one", adaptive(), f(8), i(20))
layer(
    "AdaptiveLogSoftmaxWithLoss-log_prob",
    adaptive(),
    f(4, 8),
    call=lambda module, x: module.log_prob(x),
)
layer(
    "AdaptiveLogSoftmaxWithLoss-predict",
    adaptive(),
    f(30, 8),
    call=lambda module, x: module.predict(x * 3),
    steps=False,  # classes have no gradient
)
layer(
    "AdaptiveLogSoftmaxWithLoss-reset",
    adaptive(head_bias=True),
    f(6, 8),
    i(20, 6),
    call=lambda module, x, y: (module.shortlist_size, module.cutoffs, module(x, y)),
)
fails(
    "AdaptiveLogSoftmaxWithLoss-no-cutoffs",
    lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(8, 20, []),
)
fails(
    "AdaptiveLogSoftmaxWithLoss-order",
    lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [10, 5]),
)
fails(
    "AdaptiveLogSoftmaxWithLoss-beyond",
    lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 20]),
)
fails(
    "AdaptiveLogSoftmaxWithLoss-target",
    lambda lib: adaptive()(lib)(lib.zeros(2, 8), lib.tensor([0, 20])),
)
fails(
    "AdaptiveLogSoftmaxWithLoss-batch",
    lambda lib: adaptive()(lib)(lib.zeros(2, 8), lib.tensor([0, 2, 3])),
)
fails(
    "AdaptiveLogSoftmaxWithLoss-2d",
    lambda lib: adaptive()(lib)(lib.zeros(2, 8), lib.tensor([[0], [2]])),
)
fails(
    "AdaptiveLogSoftmaxWithLoss-3d",
    lambda lib: adaptive()(lib)(lib.zeros(2, 8, 1), lib.tensor([0, 2])),
)
fails(
    "AdaptiveLogSoftmaxWithLoss-0d",
    lambda lib: adaptive()(lib)(lib.zeros(2, 8), lib.tensor(0)),
)
