"""Layers and losses of `nn.functional` in all their options: values and gradients."""

import re

from tests.tools.recorded.rows import Table, f64

TABLE = Table("functional", composition=False)


def case(name, call, *shapes, positive=99, **options):
    """Add a call of the library, its `nn.functional` and float64 tensors of these shapes.

    Args:
        name: the function and, after a blank, what is special.
        call: the call.
        shapes: the shapes.
        positive: from which input on all numbers are between 0.05 and 0.95.
        options: those of a row.
    """
    inputs = [f64(*s).fraction if i >= positive else f64(*s) for i, s in enumerate(shapes)]
    name = re.sub(",? ", "-", name, count=1)
    TABLE.case(name, lambda tn, *x: call(tn, tn.nn.functional, *x), *inputs, **options)


# ---- activations: those with weights ------------------------------------------------------------

case("prelu one", lambda t, F, x, w: F.prelu(x, w), (3, 4), (1,))
case("prelu channels", lambda t, F, x, w: F.prelu(x, w), (2, 4, 3), (4,))
case("prelu of a number", lambda t, F, x, w: F.prelu(x, w), (), (1,))

# ---- layers -------------------------------------------------------------------------------------

for _shape in ((4,), (3, 4), (2, 3, 4), (0, 4)):
    case(f"linear {_shape}", lambda t, F, x, w, b: F.linear(x, w, b), _shape, (5, 4), (5,))
    case(f"linear, no bias {_shape}", lambda t, F, x, w: F.linear(x, w), _shape, (5, 4))
case("linear, weight a vector", lambda t, F, x, w: F.linear(x, w), (3, 4), (4,))
case("linear, bias a number", lambda t, F, x, w, b: F.linear(x, w, b), (3, 4), (5, 4), (1,))
case("linear, bias per row", lambda t, F, x, w, b: F.linear(x, w, b), (3, 4), (5, 4), (3, 5))
case("linear, transposed", lambda t, F, x, w, b: F.linear(x.t(), w.t(), b), (4, 3), (4, 5), (5,))
INDICES = [[0, 1, 1], [4, 1, 0]]
for _options in (
    {},
    {"padding_idx": 1},
    {"padding_idx": -1},
    {"scale_grad_by_freq": True},
    {"scale_grad_by_freq": True, "padding_idx": 0},
):
    case(
        f"embedding {_options}",
        lambda t, F, w, options=_options: F.embedding(t.tensor(INDICES), w, **options),
        (5, 3),
        second_order="scale_grad_by_freq" not in _options,  # PyTorch's leaves the scale out
    )
for _p in (1.0, 2.0, 3.0, float("inf")):
    case(
        f"embedding max_norm {_p}",
        lambda t, F, w, p=_p: (
            F.embedding(
                t.tensor(INDICES), (w * 1).detach().requires_grad_(), max_norm=1.0, norm_type=p
            )
            + w.sum() * 0
        ),
        (5, 3),
    )
case("normalize", lambda t, F, x: F.normalize(x), (3, 4))
case("normalize p=3", lambda t, F, x: F.normalize(x, p=3.0, dim=0), (3, 4))
case("cosine_similarity", lambda t, F, x, y: F.cosine_similarity(x, y), (3, 4), (3, 4))
case("cosine_similarity broadcast", lambda t, F, x, y: F.cosine_similarity(x, y), (3, 4), (4,))
case("pad", lambda t, F, x: F.pad(x, (1, 2, 0, 3), value=2.0), (3, 4))
case("pad, cutting", lambda t, F, x: F.pad(x, (-1, -1, 1, -2)), (3, 4))

# ---- classification -----------------------------------------------------------------------------

TARGETS = {(3, 4): [0, 2, 2], (3, 4, 2): [[0, 2], [1, 2], [0, 0]], (4,): 1}
for _reduction in ("mean", "sum", "none"):
    for _shape, _target in TARGETS.items():
        for _more in ({}, {"ignore_index": 2}):
            _classes = {"reduction": _reduction, **_more}
            _end = f"{_shape} {_classes}"
            case(
                f"nll_loss {_end}",
                lambda t, F, x, y=_target, o=_classes: F.nll_loss(x, t.tensor(y), **o),
                _shape,
            )
            case(
                f"nll_loss weight {_end}",
                lambda t, F, x, w, y=_target, o=_classes: F.nll_loss(
                    x, t.tensor(y), weight=w.detach(), **o
                ),
                _shape,
                (4,),
                positive=1,
            )
            for _smoothing in (0.0, 0.2):
                case(
                    f"cross_entropy {_smoothing} {_end}",
                    lambda t, F, x, y=_target, o=_classes, s=_smoothing: F.cross_entropy(
                        x, t.tensor(y), label_smoothing=s, **o
                    ),
                    _shape,
                )
                case(
                    f"cross_entropy {_smoothing} weight {_end}",
                    lambda t, F, x, w, y=_target, o=_classes, s=_smoothing: F.cross_entropy(
                        x, t.tensor(y), weight=w.detach(), label_smoothing=s, **o
                    ),
                    _shape,
                    (4,),
                    positive=1,
                )
        _dim = 0 if _shape == (4,) else 1
        for _smoothing in (0.0, 0.2):
            case(
                f"cross_entropy probabilities {_smoothing} {_shape} {_reduction}",
                lambda t, F, x, y, w, d=_dim, r=_reduction, s=_smoothing: F.cross_entropy(
                    x, y.softmax(d), weight=w.detach(), reduction=r, label_smoothing=s
                ),
                _shape,
                _shape,
                (4,),
                positive=2,
            )

# ---- other losses -------------------------------------------------------------------------------

for _r in ("mean", "sum", "none"):
    for _name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        case(
            f"{_name} {_r}",
            lambda t, F, x, y, n=_name, r=_r: getattr(F, n)(x, y, reduction=r),
            (3, 4),
            (3, 4),
        )
        if _name != "smooth_l1_loss":
            case(
                f"{_name} weight {_r}",
                lambda t, F, x, y, w, n=_name, r=_r: getattr(F, n)(
                    x, y, reduction=r, weight=w.detach()
                ),
                (3, 4),
                (3, 4),
                (3, 4),
                positive=2,
            )
    for _beta in (0.3, 0.0):
        case(
            f"smooth_l1_loss beta {_beta} {_r}",
            lambda t, F, x, y, r=_r, b=_beta: F.smooth_l1_loss(x, y, reduction=r, beta=b),
            (3, 4),
            (3, 4),
        )
    case(
        f"huber_loss delta {_r}",
        lambda t, F, x, y, r=_r: F.huber_loss(x, y, reduction=r, delta=0.3),
        (3, 4),
        (3, 4),
    )
    case(
        f"binary_cross_entropy {_r}",
        lambda t, F, x, y, w, r=_r: F.binary_cross_entropy(x, y, w.detach(), reduction=r),
        (3, 4),
        (3, 4),
        (4,),
        positive=0,
        tolerance=1e-9,  # PyTorch adds 1e-12 to the probabilities
    )
    case(
        f"binary_cross_entropy_with_logits {_r}",
        lambda t, F, x, y, w, p, r=_r: F.binary_cross_entropy_with_logits(
            x, y, weight=w.detach(), pos_weight=p.detach(), reduction=r
        ),
        (3, 4),
        (3, 4),
        (4,),
        (4,),
        positive=1,
    )
    for _log in (False, True):
        case(
            f"kl_div {_r} {_log}",
            lambda t, F, x, y, r=_r, g=_log: F.kl_div(x, y, reduction=r, log_target=g),
            (3, 4),
            (3, 4),
            positive=1,
        )
case(
    "kl_div batchmean",
    lambda t, F, x, y: F.kl_div(x, y, reduction="batchmean"),
    (3, 4),
    (3, 4),
    positive=1,
)
