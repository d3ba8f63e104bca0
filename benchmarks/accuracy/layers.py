"""Losses, sums over broadcast and indexed elements, products and layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.accuracy.spec import Cases, Inputs, Run, classes, functional, numbers, together

CASES = Cases()
add, each = CASES.add, CASES.each

# ---- losses -------------------------------------------------------------------------------------


def loss(name: str, first: str, second: str, *shape: int, **options: Any) -> None:
    """Add a loss of two arrays of the same shape, with mean and sum."""
    inputs = together(numbers(first, *shape), numbers(second, *shape))
    for reduction in ("mean", "sum"):
        add(
            f"{name}, {reduction}, {first}",
            lambda tn, x, y, r=reduction: functional(name)(tn, x, y, reduction=r, **options),
            inputs,
        )


_PLACES = 2**16
for _first in ("around 0", "scaled"):
    loss("mse_loss", _first, "around 0", _PLACES)
    loss("l1_loss", _first, "around 0", _PLACES)
    loss("smooth_l1_loss", _first, "around 0", _PLACES)
    loss("huber_loss", _first, "around 0", _PLACES, delta=0.5)
loss("binary_cross_entropy", "probabilities", "probabilities", _PLACES)
loss("binary_cross_entropy_with_logits", "around 0, wide", "probabilities", _PLACES)
loss("binary_cross_entropy_with_logits", "around 100", "probabilities", _PLACES)
add(
    "kl_div",
    lambda tn, x, y: functional("kl_div")(tn, x, y, reduction="batchmean"),
    together(numbers("logarithms", 2**8, 2**8), numbers("probabilities", 2**8, 2**8)),
)
loss("poisson_nll_loss", "around 0", "uniform", _PLACES)
add(
    "soft_margin_loss",
    lambda tn, x, y: tn.nn.functional.soft_margin_loss(x, y.detach()),
    together(numbers("around 0, wide", _PLACES), numbers("signs", _PLACES)),
)
loss("hinge_embedding_loss", "around 0", "signs", _PLACES)
loss("multilabel_soft_margin_loss", "around 0, wide", "uniform", 2**10, 2**8)
add(
    "gaussian_nll_loss",
    functional("gaussian_nll_loss"),
    together(*(numbers(k, _PLACES) for k in ("around 0", "around 0", "probabilities"))),
)
for _kind in ("around 0, wide", "around 100"):
    for _reduction in ("mean", "sum"):
        for _name, _logits, _targets in (
            ("rows", (4096, 64), (4096,)),
            ("a vocabulary", (16, 2**15), (16,)),
            ("images", (4, 16, 64, 64), (4, 64, 64)),
        ):
            add(
                f"cross_entropy, {_reduction}, {_name}, {_kind}",
                lambda tn, x, y, r=_reduction: tn.nn.functional.cross_entropy(x, y, reduction=r),
                together(numbers(_kind, *_logits), classes(_logits[1], *_targets)),
            )
add(
    "cross_entropy, label_smoothing",
    lambda tn, x, y: tn.nn.functional.cross_entropy(x, y, label_smoothing=0.1),
    together(numbers("around 0, wide", 4096, 64), classes(64, 4096)),
)
add(
    "nll_loss",
    functional("nll_loss"),
    together(numbers("logarithms", 2**15, 8), classes(8, 2**15)),
)
add(
    "multi_margin_loss",
    functional("multi_margin_loss"),
    together(numbers("around 0", 2**12, 32), classes(32, 2**12)),
)
add(
    "cosine_embedding_loss",
    lambda tn, x, y, s: tn.nn.functional.cosine_embedding_loss(x, y, s.detach()),
    together(
        numbers("around 100", 64, 2**12), numbers("around 0", 64, 2**12), numbers("signs", 64)
    ),
)
add(
    "cosine_similarity",
    lambda tn, x, y: tn.nn.functional.cosine_similarity(x, y),
    together(numbers("scaled", 16, 2**14), numbers("around 0", 16, 2**14)),
)
add(
    "triplet_margin_loss",
    functional("triplet_margin_loss"),
    together(*(numbers("around 0", 64, 2**12) for _ in range(3))),
)
add(
    "ctc_loss",
    lambda tn, x, y: tn.nn.functional.ctc_loss(
        tn.log_softmax(x, 2), y, tn.tensor([400] * 4), tn.tensor([40] * 4)
    ),
    together(numbers("around 0", 400, 4, 20), lambda rng: [rng.integers(1, 20, (4, 40))]),
)

# ---- sums by broadcasting and by index ----------------------------------------------------------

for _kind in ("uniform", "around 0"):
    for _name, _size in (("long", (2**17, 4)), ("wide", (2**11, 256))):
        add(
            f"gradient of a broadcast row, {_name}, {_kind}",
            lambda tn, x, b: x + b,
            together(numbers(_kind, *_size), numbers(_kind, _size[1])),
        )
add(
    "gradient of a broadcast number",
    lambda tn, x, b: x * b,
    together(numbers("uniform", 2**10, 2**8), numbers("uniform", 1, 1)),
)
add(
    "gradient of a broadcast channel",
    lambda tn, x, b: x * b,
    together(numbers("uniform", 64, 16, 16, 16), numbers("uniform", 16, 1, 1)),
)
for _width in (1, 4, 64):
    _rows = 2**18 // _width
    add(
        f"embedding, equal indices, width {_width}",
        lambda tn, w, i: tn.nn.functional.embedding(i, w),
        together(numbers("around 0", 4, _width), classes(4, _rows)),
    )
    add(
        f"index_add, equal indices, width {_width}",
        lambda tn, w, i, x: w.index_add(0, i, x),
        together(
            numbers("uniform", 4, _width), classes(4, _rows), numbers("uniform", _rows, _width)
        ),
    )
add(
    "scatter_add, equal indices",
    lambda tn, w, i, x: w.scatter_add(0, i, x),
    together(numbers("uniform", 4), classes(4, 2**18), numbers("uniform", 2**18)),
)
add(
    "gather, equal indices",
    lambda tn, w, i: w.gather(0, i),
    together(numbers("uniform", 4), classes(4, 2**18)),
)

# ---- products and layers ------------------------------------------------------------------------


def layered(make: Callable[[Any], Any]) -> Run:
    """Return a function that runs a layer whose parameters are the last inputs."""

    def run(tn: Any, x: Any, *values: Any) -> Any:
        layer = make(tn.nn)
        names = [name for name, _ in layer.named_parameters()]
        found = tn.func.functional_call(layer, dict(zip(names, values, strict=True)), (x,))
        return found[0] if isinstance(found, tuple) else found

    return run


def weights(*shapes: tuple[int, ...]) -> Inputs:
    """Return a function that creates parameters of given shapes, as layers initialize them."""
    return lambda rng: [rng.standard_normal(s) / np.sqrt(s[-1] * 1.0) for s in shapes]


def layer(
    name: str, make: Run, shape: Any, shapes: Any, terms: tuple[int, int], kinds: str
) -> None:
    """Add a layer."""
    for kind in kinds.split("|"):
        add(
            f"{name}, {kind}",
            layered(make),
            together(numbers(kind, *shape), weights(*shapes)),
            terms,
        )


_BOTH = "around 0|around 100"
layer("Linear", lambda nn: nn.Linear(256, 64), (4096, 256), [(64, 256), (64,)], (256, 4096), _BOTH)
layer(
    "Linear, GELU, Linear",
    lambda nn: nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64)),
    (512, 64), [(64, 64), (64,), (64, 64), (64,)], (64, 512), "around 0",
)  # fmt: skip
layer(
    "Conv1d",
    lambda nn: nn.Conv1d(8, 16, 5),
    (16, 8, 512), [(16, 8, 5), (16,)], (40, 8192), _BOTH,
)  # fmt: skip
for _name, _channels, _side, _stride in (
    ("Conv2d", (8, 16), 32, 1),
    ("Conv2d, 32 channels", (32, 32), 16, 1),
    ("Conv2d, 64 channels", (64, 64), 16, 1),
    ("Conv2d, stride 2", (16, 32), 32, 2),
):
    _few, _many = _channels
    layer(
        _name,
        lambda nn, c=_channels, s=_stride: nn.Conv2d(*c, 3, s, 1),
        (8, _few, _side, _side), [(_many, _few, 3, 3), (_many,)],
        (9 * _few, 8 * (_side // _stride) ** 2), _BOTH,
    )  # fmt: skip
layer(
    "ConvTranspose2d",
    lambda nn: nn.ConvTranspose2d(8, 8, 3, 2),
    (8, 8, 16, 16), [(8, 8, 3, 3), (8,)], (72, 2048), _BOTH,
)  # fmt: skip
for _name, _gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
    layer(
        _name,
        lambda nn, n=_name: getattr(nn, n)(32, 32),
        (64, 16, 32), [*((_gates * 32, 32),) * 2, *((_gates * 32,),) * 2], (64, 1024), "around 0",
    )  # fmt: skip
for _name, _options in (("attention", {}), ("attention, causal", {"is_causal": True})):
    add(
        _name,
        lambda tn, *qkv, o=_options: functional("scaled_dot_product_attention")(tn, *qkv, **o),
        together(*(numbers("around 0", 2, 2, 256, 32) for _ in range(3))),
        (256, 256),
    )
add(
    "attention, 8192 keys",
    functional("scaled_dot_product_attention"),
    together(*(numbers("around 0", 1, 1, n, 16) for n in (8, 2**13, 2**13))),
    (2**13, 2**13),
)
each(
    "adaptive_avg_pool2d",
    lambda tn, x: tn.nn.functional.adaptive_avg_pool2d(x, 1),
    "uniform|around 100", 2, 8, 256, 256,
)  # fmt: skip
each(
    "adaptive_avg_pool2d, small",
    lambda tn, x: tn.nn.functional.adaptive_avg_pool2d(x, 1),
    "around 0|uniform", 8, 16, 32, 32,
)  # fmt: skip
each(
    "avg_pool2d",
    lambda tn, x: tn.nn.functional.avg_pool2d(x, 64),
    "uniform|around 100", 2, 8, 256, 256,
)  # fmt: skip
each("gelu", functional("gelu"), "around 0", 2**14)
each("softplus", functional("softplus"), "around 0, wide", 2**14)
each("logsigmoid", functional("logsigmoid"), "around 0, wide", 2**14)
