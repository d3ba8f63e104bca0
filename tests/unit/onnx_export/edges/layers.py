"""Norms, attention, losses and recurrent layers."""

from functools import partial

import numpy as np

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn

from .cases import FLOATS, INF, Case, integers, normal, of_lengths, with_edges

X = normal(4, 6, 5)


def norms():
    tn.manual_seed(0)
    makes = {
        "LayerNorm": lambda: nn.LayerNorm(5), "LayerNorm 2": lambda: nn.LayerNorm((6, 5)),
        "LayerNorm bias": lambda: nn.LayerNorm(5, bias=False),
        "LayerNorm plain": lambda: nn.LayerNorm(5, elementwise_affine=False),
        "LayerNorm eps": lambda: nn.LayerNorm(5, eps=0.0), "RMSNorm": lambda: nn.RMSNorm(5),
        "RMSNorm 2": lambda: nn.RMSNorm((6, 5), eps=1e-3), "BatchNorm": lambda: nn.BatchNorm1d(6),
        "BatchNorm plain": lambda: nn.BatchNorm1d(6, affine=False),
        "BatchNorm batch": lambda: nn.BatchNorm1d(6, track_running_stats=False),
        "GroupNorm": lambda: nn.GroupNorm(3, 6), "GroupNorm 6": lambda: nn.GroupNorm(6, 6),
        "GroupNorm plain": lambda: nn.GroupNorm(2, 6, affine=False),
        "InstanceNorm": lambda: nn.InstanceNorm1d(6, affine=True),
        "InstanceNorm tracked": lambda: nn.InstanceNorm1d(6, track_running_stats=True),
        "LocalResponseNorm": lambda: nn.LocalResponseNorm(3),
    }  # fmt: skip
    inputs = {"plain": X, "edges": with_edges(X), "constant": np.full_like(X, 3)}
    for name, make in makes.items():
        layer, wide = make().eval(), make().double().eval()
        for p in layer.parameters():
            p.data.normal_()
        for label, x in inputs.items():
            yield Case(f"{name} {label}", layer, (x,), roundings=512, scale=8)
        lengths = (1, 3) if "batch" in name else (1, 3, 0)
        sizes = tuple((x,) for x in of_lengths(X, *lengths))
        yield Case(f"{name}, dynamic", layer, (X,), sizes, roundings=512, scale=8)
        yield Case(f"{name} float64", wide, (X.astype(np.float64),), roundings=4096)


QUERY, KEY, VALUE = normal(2, 3, 4), normal(2, 5, 4, seed=1), normal(2, 5, 6, seed=2)
ATTEND = F.scaled_dot_product_attention


def attentions():
    """Return the ways to attend; masks are made now, as captures look for tensors."""
    below = tn.ones(3, 5).tril().bool()
    minus, none = tn.zeros(3, 5).masked_fill(~below, -INF), tn.zeros(3, 5).bool()
    return {
        "plain": ATTEND,
        "mask": lambda q, k, v: ATTEND(q, k, v, below),
        "nothing": lambda q, k, v: ATTEND(q, k, v, none),
        "bias": lambda q, k, v: ATTEND(q, k, v, q[0, :, :1].expand(3, 5)),
        "-inf": lambda q, k, v: ATTEND(q, k, v, minus),
        "all -inf": lambda q, k, v: ATTEND(q, k, v, tn.full((3, 5), -INF)),
        "inf": lambda q, k, v: ATTEND(
            q, k, v, tn.zeros(3, 5).masked_fill(tn.eye(3, 5).bool(), INF)
        ),
        "scale": lambda q, k, v: ATTEND(q, k, v, scale=2.0),
        "causal": lambda q, k, v: ATTEND(q, k, v, is_causal=True),
        "of scores": lambda q, k, v: ATTEND(q, k, v, (q @ k.mT) > 0),
    }


def attention():
    for name, function in attentions().items():
        for label, inputs in {
            "plain": (QUERY, KEY, VALUE),
            "query": (with_edges(QUERY), KEY, VALUE),
            "key": (QUERY, with_edges(KEY), VALUE),
            "value": (QUERY, KEY, with_edges(VALUE)),
            "huge": (QUERY * np.float32(1e30), KEY * np.float32(1e5), VALUE),
        }.items():
            yield Case(f"{name} {label}", function, inputs)
        sizes = tuple(zip(*(of_lengths(x, 1, 3, 0) for x in (QUERY, KEY, VALUE)), strict=True))
        yield Case(f"{name}, dynamic", function, (QUERY, KEY, VALUE), sizes)
    tn.manual_seed(0)
    heads = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    some = np.array([[False, True, False, True, True], [False] * 5])
    for label, mask in {"some": some, "all": some | [[True], [False]]}.items():
        yield Case(f"heads {label}", lambda q, k, m: heads(q, k, k, m), (QUERY, KEY, mask))
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    yield Case("encoder edges", layer, (with_edges(QUERY),))


CLASSES = integers(4, 2, 8)
SCORES = normal(2, 4, 8)
MODEST = FLOATS[(np.abs(FLOATS) < 1e11) | ~np.isfinite(FLOATS)].astype(np.float32)
TARGETS = np.tile(np.array([0, 0.25, 0.5, 1], np.float32), (len(MODEST), 1))
CHANCES = np.array([0, 1e-40, 1e-30, 0.3, 0.5, 1 - 1e-7, 1], np.float32)
ELEMENTS = {
    "mse_loss": F.mse_loss, "l1_loss": F.l1_loss, "smooth_l1_loss": F.smooth_l1_loss,
    "logits": F.binary_cross_entropy_with_logits,
}  # fmt: skip


def losses():
    ignored, all_ignored = CLASSES.copy(), np.full_like(CLASSES, -100)
    ignored[0, 0] = -100
    edges = np.resize(MODEST, (2, 4, 8))
    for reduction in ("none", "mean", "sum"):
        for name in ("cross_entropy", "nll_loss"):
            function = partial(getattr(F, name), reduction=reduction)
            for label, classes in {"": CLASSES, "some": ignored, "all": all_ignored}.items():
                yield Case(f"{name} {reduction} {label}", function, (SCORES, classes))
            yield Case(f"{name} {reduction} edges", function, (edges, CLASSES))
            one = SCORES[0, :, 0], np.array(CLASSES[0, 0])
            yield Case(f"{name} {reduction} one", function, one)
            yield Case(f"{name} {reduction} flat", function, (SCORES[:, :, 0], CLASSES[:, 0]))
            sizes = tuple(zip(of_lengths(SCORES, 1, 3), of_lengths(CLASSES, 1, 3), strict=True))
            yield Case(f"{name} {reduction}, dynamic", function, (SCORES, CLASSES), sizes)
        for name, loss in ELEMENTS.items():
            function = partial(loss, reduction=reduction)
            x = np.broadcast_to(MODEST[:, None], TARGETS.shape).copy()
            if reduction == "none":
                yield Case(f"{name} edges", function, (x, TARGETS))
            pair = SCORES[0], (SCORES[1] > 0).astype(np.float32)
            sizes = tuple(zip(*(of_lengths(x, 1, 3, 0) for x in pair), strict=True))
            yield Case(f"{name} {reduction}, dynamic", function, pair, sizes)
        chances = np.broadcast_to(CHANCES[:, None], (7, 4)).copy()
        function = partial(F.binary_cross_entropy, reduction=reduction)
        yield Case(f"chances {reduction}", function, (chances, TARGETS[:7]))


def recurrent():
    tn.manual_seed(0)
    x = normal(3, 2, 4)
    for layer in (
        nn.LSTM(4, 5), nn.LSTM(4, 5, 2, bidirectional=True), nn.LSTM(4, 5, proj_size=2),
        nn.LSTM(4, 5, bias=False), nn.GRU(4, 5), nn.GRU(4, 5, 2, bidirectional=True, bias=False),
        nn.RNN(4, 5), nn.RNN(4, 5, nonlinearity="relu"), nn.RNN(4, 5, bidirectional=True),
        nn.LSTM(4, 5, batch_first=True), nn.GRU(4, 5, batch_first=True),
    ):  # fmt: skip
        name = str(layer)
        yield Case(name, layer, (x,))
        yield Case(f"{name} edges", layer, (with_edges(x),))
        yield Case(f"{name} large", layer, (x * 100,))
        yield Case(f"{name} of one", layer, (x[:, 0],))
        if not layer.proj_size and not layer.batch_first:
            state = normal(layer.num_layers * (1 + layer.bidirectional), 2, 5)
            state = with_edges(state, np.nan)
            both = (lambda x, h, m=layer: m(x, (h, h))) if "LSTM" in name else layer
            yield Case(f"{name} states", both, (x, state))
    for cell in (nn.GRUCell(4, 5), nn.RNNCell(4, 5), nn.LSTMCell(4, 5)):
        yield Case(f"{cell} edges", cell, (with_edges(x[0]),))
