"""Slices, views, joining, indexing, writes, and matrix products."""

from functools import partial

import numpy as np

import tinynet as tn
import tinynet.nn.functional as F

from .cases import INF, NAN, Case, normal, of_lengths, with_edges

X = normal(4, 5, 6)
SLICES = [
    slice(0, 2), slice(1, None), slice(None, -1), slice(-2, None), slice(None, None, 2),
    slice(1, None, 3), slice(3, 1), slice(10, 20), slice(-100, 2), slice(-3, -1), slice(2, 100),
    slice(0, 0), slice(-1, None, 2),
]  # fmt: skip
SHAPES = {
    "narrow": lambda x: (x.narrow(1, 1, 2), x.narrow(1, -2, 2)),
    "select": lambda x: (x[:, 0], x[:, -1], x[:, 3], x[1], x[-2], x.select(2, -4)),
    "flip": lambda x: (x.flip(0, 1, 2), x.flip(-1), x.flip(())),
    "roll": lambda x: (x.roll(0, 1), x.roll((7, -8), (1, 2)), x.roll((1, 1), (1, 1))),
    "repeat": lambda x: (x.repeat(0, 1, 1), x.repeat(2, 1, 1, 1), x.tile(2, 1, 3), x.tile(2)),
    "split": lambda x: (*x.chunk(4, 1), *x.chunk(9, 1), *x.split(4, 2), *x.split([0, 2, 4], 2)),
    "tensor_split": lambda x: (*x.tensor_split(4, 1), *x.tensor_split((1, 1, 9), 1), *x.hsplit(5)),
    "unbind": lambda x: (*x.unbind(1), *x.unbind(-1)),
    "cat": lambda x: (tn.cat([x, x], -1), tn.cat([x[:0], x]), tn.cat([tn.zeros(0), x], 1)),
    "cat dtypes": lambda x: (tn.cat([x, x.long()], 1), tn.stack([x, x.long()], -1)),
    "stack": lambda x: (tn.stack([x, x], -1), tn.stack([x, x], 1), tn.hstack([x, x])),
    "tril": lambda x: (x.tril(), x.tril(9), x.tril(-9), x.triu(-2), x.triu(7)),
    "unfold": lambda x: (x.unfold(1, 2, 2), x.unfold(-1, 3, 1), x.unfold(1, 5, 1)),
    "squeeze": lambda x: (x[:, :1].squeeze(1), x[:, :1, :1].squeeze((1, 2)), x.squeeze(1)),
    "expand": lambda x: (x[:, :1].expand(-1, 4, -1), x.expand(2, *x.shape), x[:1].expand(3, 5, 6)),
    "reshape": lambda x: (x.reshape(-1), x.view(x.size(0), -1), x.unflatten(2, (2, -1))),
    "transpose": lambda x: (x.mT, x.permute(-1, 0, 1), x.movedim((0, 1), (2, 0))),
    "copy": lambda x: x.mT.contiguous().view(-1),
    "cumsum": lambda x: (x.cumsum(0), x.cumsum(-1)),
    "arange": lambda x: (tn.arange(x.shape[0]) * x[:, 0, 0], tn.arange(5.0) + x[0, :, 0]),
    "creation": lambda x: (tn.full((len(x), 2), 7), x.new_full((2,), 3), tn.zeros(len(x), 0)),
    "like": lambda x: (tn.full_like(x, 2.7, dtype=tn.int64), tn.ones_like(x), tn.zeros_like(x)),
}  # fmt: skip
SHAPES |= {
    f"{dims} {s}": lambda x, s=s, dims=dims: x[(slice(None),) * dims + (s,)]
    for s in SLICES
    for dims in (0, 1, 2)
}
IMAGES = {
    "pixel_shuffle": lambda x: (F.pixel_shuffle(x, 2), F.channel_shuffle(x, 2)),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 2),
}


def shapes():
    for name, function in SHAPES.items():
        sizes = tuple((x,) for x in of_lengths(X, 1, 2, 7, 0))
        yield Case(name, function, (X,))
        yield Case(f"{name}, dynamic", function, (X,), sizes)
        for kind in ("int64", "bool", "float64", "uint8"):
            yield Case(f"{name} {kind}", function, ((X * 3).astype(kind),))
    for name, function in IMAGES.items():
        yield Case(name, function, (normal(2, 4, 6, 2),))
    yield Case("roll of all", lambda x: (x.roll(3), x.roll(-7)), (X,))


# ---- indexing and writes ------------------------------------------------------------------------


def _written(x, key, value):
    made = x.clone()
    made[key] = value
    return made


BASE = normal(5, 4)
PLACES = np.array([[1, -1, 0], [-5, 4, 2]])
INDICES = {
    "lookup": lambda x, t: (x[t], x[t[0]], x[None, t[0]], x[..., t[0] % 4], x[:, t.clamp(-4, 3)]),
    "points": lambda x, t: x[t, t.clamp(-4, 3)],
    "one": lambda x, t: (x[t[0][:1]], x[:, t[0][:1] % 4], x[t[0], 1:3], x[t[0, 0]]),
    "broadcast": lambda x, t: x[t[:, :1], t[:1].clamp(-4, 3)],
    "gather": lambda x, t: (x.gather(0, t % 5), x.gather(1, t % 4), x.index_select(0, t[0] % 5)),
    "take_along_dim": lambda x, t: (x.take_along_dim(x.argsort(1), 1), tn.argsort(x, 0).float()),
    "embedding": lambda x, t: (F.embedding(t % 5, x), F.one_hot(t % 5, 5), F.one_hot(t % 5, 7)),
    "max_norm": lambda x, t: F.embedding(t % 5, x.clone(), max_norm=1.0),
    "scatter": lambda x, t: (x.scatter(0, t % 5, 9.0), x.scatter(1, t % 4, x[:2, :3])),
    "scatter small": lambda x, t: (x.scatter(0, t[:1, :2] % 5, x), x.scatter_add(0, t[:1] % 5, x)),
    "scatter ties": lambda x, t: (x.scatter(0, t * 0, x[:2]), x.scatter_add(0, t * 0, x[:2])),
    "index_put": lambda x, t: (x.index_put((t[0],), x[:3]), x.index_put((t[0] * 0,), x[:3])),
    "accumulate": lambda x, t: x.index_put((t[0] * 0,), x[:3], accumulate=True),
    "mask": lambda x, t: (x.index_put((x > 0,), tn.tensor(3).to(x.dtype)), _written(x, x > 0, 0)),
    "assign": lambda x, t: (_written(x, t[0], 5), _written(x, (slice(None), t[0] % 4), 5)),
}  # fmt: skip
INDICES |= {
    f"write {key} = {shown}": lambda x, t, key=key, value=value: _written(x, key, value(x))
    for key in (
        0, -1, slice(1, 3), slice(3, 100), slice(2, 2), slice(4, 2), slice(-2, None),
        slice(None, -1), slice(None, None, 2), (slice(None), -1), (slice(1, 3), slice(2, None)),
        (slice(None), 0),
    )
    for shown, value in {"7": lambda x: 7, "row": lambda x: x[:1, :1]}.items()
}  # fmt: skip


def indices():
    for name, function in INDICES.items():
        yield Case(name, function, (BASE, PLACES))
        yield Case(f"{name} int32", function, (BASE, PLACES.astype(np.int32)))
        for kind in ("int64", "bool"):
            yield Case(f"{name} {kind}", function, ((BASE * 5).astype(kind), PLACES))
        yield Case(f"{name} edges", function, (with_edges(BASE, NAN, INF, -INF), PLACES))
    for name in (name for name in INDICES if name.startswith("write")):
        case = partial(INDICES[name], t=None)
        sizes = tuple((x,) for x in of_lengths(BASE, 6, 9))
        yield Case(f"{name}, dynamic", case, (BASE,), sizes)


# ---- products -----------------------------------------------------------------------------------

PRODUCTS = {
    "matmul": lambda a, b: (a @ b, a @ b[:, 0], a[0] @ b, a[0] @ b[:, 0], a[None] @ b),
    "empty": lambda a, b: a[:, :0] @ b[:0],
    "outer": lambda a, b: (tn.outer(a[0], b[0]), tn.addr(a, a[:, 0], b[:, 0])),
    "addr beta 0": lambda a, b: tn.addr(a * INF, a[:, 0], b[:, 0], beta=0),
    "addmm": lambda a, b: tn.addmm(b[:3], a, b, beta=2, alpha=3),
    "addmm beta 0": lambda a, b: tn.addmm(b[:3] * NAN, a, b, beta=0),
    "addmm alpha 0": lambda a, b: tn.addmm(b[:3], a, b, alpha=0),
    "addmv": lambda a, b: tn.addmv(a[:, 0], a, b[:, 0], beta=2),
    "baddbmm": lambda a, b: tn.baddbmm(a[None, :, :1], a[None], b[None], beta=2, alpha=3),
    "baddbmm beta 0": lambda a, b: tn.baddbmm(a[None, :, :1] * NAN, a[None], b[None], beta=0),
    "linear": lambda a, b: (F.linear(a, b.T), F.linear(a[0], b.T), F.linear(a[None], b.T)),
    "affine": lambda a, b: (F.linear(a, b.T, b[0]), F.linear(a[None], b.T, b[0])),
    "einsum": lambda a, b: (tn.einsum("ij,jk->ki", a, b), tn.einsum("ij,ij->i", a, a)),
    "bilinear": lambda a, b: F.bilinear(a, a, tn.ones(2, 4, 4, dtype=a.dtype)),
}  # fmt: skip


def products():
    a, b = normal(3, 4), normal(4, 5)
    for name, function in PRODUCTS.items():
        for kind in ("float32", "float64", "int64", "int32"):
            inputs = tuple((4 * x).astype(kind) for x in (a, b))
            yield Case(f"{name} {kind}", function, inputs, scale=64)
        yield Case(f"{name} edges", function, (with_edges(a, NAN, INF), b), scale=64)
        large = np.full((3, 4), 2**53 + 1), np.ones((4, 5), np.int64)
        yield Case(f"{name} large", function, large)


# ---- others -------------------------------------------------------------------------------------


def others():
    """Yield functions of forms that no other table has."""
    x, square = normal(4, 6), normal(2, 4, 6, 6)
    yield Case("glu", lambda x: (F.glu(x, 1), F.glu(x, 0)), (with_edges(x),))
    yield Case("dot", lambda x: (x[0].dot(x[1]), x[0].vdot(x[1])), (x,))
    yield Case("squeeze", lambda x: (x[:, :1].squeeze(), x[:1, :1].squeeze()), (x,))
    yield Case("detach", lambda x: (x.detach(), x.detach() + 1), (x,))
    yield Case("writes", lambda x: (x.clone().zero_(), x.clone().fill_(3), (x + 1).mul_(2)), (x,))
    yield Case("masked", lambda x: x.clone().masked_fill_(x > 0, NAN), (with_edges(x),))
    yield Case("copy", lambda x: (x.clone().copy_(x[:1]), F.relu(x * 2, inplace=True)), (x,))
    sizes = tuple((x,) for x in of_lengths(x, 1, 5))
    yield Case("lengths", lambda x: (tn.ones(len(x)), tn.tensor(len(x)) * x), (x,), sizes)
    yield Case("max_pool2d", lambda x: F.max_pool2d(x, 2), (square,))
