"""Functions of all elements along dimensions, and sorting."""

import numpy as np

import tinynet as tn
import tinynet.nn.functional as F
from tinynet.capture.program import leaves

from .cases import INF, NAN, Case, integers, normal, of_lengths, values

EDGES = np.array([
    [1, NAN, 3, -INF], [2, 2, 1, 2], [-0.0, 0.0, -1, -1], [INF, 1, INF, 2], [NAN, NAN, NAN, NAN],
    [-INF, -INF, -INF, -INF], [INF, -INF, 0, 1], [1e15, 1, 1, 0],
], np.float32)  # fmt: skip
TIES = integers(3, 5, 4).astype(np.float32)
PLAIN = normal(5, 4)
WIDE = np.stack([values("int64"), 2**53 + np.arange(17), np.full(17, -3)], 1)
DYNAMIC = integers(3, 3, 4).astype(np.float32)
INPUTS = {
    "edges": EDGES,
    "ties": TIES,
    "plain": PLAIN,
    "one": PLAIN[:1, :1],
    "0-d": np.array(PLAIN[0, 0]),
}
INPUTS |= {kind: integers(4, 5, 4).astype(kind) for kind in ("int64", "int32", "bool", "uint8")}
INPUTS |= {"wide": WIDE, "float64": PLAIN.astype(np.float64)}
INPUTS |= {"float64 edges": EDGES.astype(np.float64)}

NAMES = [
    "sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "var", "std", "logsumexp", "any",
    "all", "norm", "max", "min", "cumsum", "count_nonzero",
]  # fmt: skip


def _over(name, dim, options):
    def reduce(x):
        if dim is None:
            return tuple(leaves(getattr(x, name)()))
        if name == "norm":
            return x.norm(dim=dim, **options)
        return tuple(leaves(getattr(x, name)(dim, **options)))

    return reduce


FUNCTIONS = {
    f"{name} {dim} {options}": _over(name, dim, options)
    for name in NAMES
    for dim in (None, 0, 1, -1, (0, 1), ())
    for options in ({}, {"keepdim": True})
    if not options or (dim is not None and name not in ("cumsum", "count_nonzero"))
}
FUNCTIONS |= {
    f"norm p={p}": lambda x, p=p: x.norm(p, dim=-1) for p in (0, 0.5, 1, 2.5, 3, INF, -INF, -1)
}
FUNCTIONS |= {
    f"{name} {n}": lambda x, name=name, n=n: getattr(x, name)(-1, correction=n)
    for name in ("var", "std")
    for n in (0, 2, 4, 5)
}
FUNCTIONS |= {
    "var_mean": lambda x: tn.var_mean(x, -1),
    "std_mean": lambda x: tn.std_mean(x, -1),
    "softmax": lambda x: (x.softmax(-1), x.softmax(0)),
    "log_softmax": lambda x: x.log_softmax(-1),
    "normalize": lambda x: F.normalize(x, dim=-1),
    "sum float64": lambda x: (x.sum(-1, dtype=tn.float64), x.cumsum(-1, dtype=tn.float64)),
    "sum int32": lambda x: x.clamp(-9, 9).nan_to_num().int().sum(-1, dtype=tn.int32),
    "prod float64": lambda x: (x.prod(-1, dtype=tn.float64), x.softmax(-1, dtype=tn.float64)),
}
FUNCTIONS |= {
    f"{name} {down} {stable}": lambda x, name=name, down=down, stable=stable: tuple(
        leaves(getattr(x, name)(dim=-1, descending=down, stable=stable))
    )
    for name in ("sort", "argsort")
    for down in (False, True)
    for stable in (False, True)
}
FUNCTIONS |= {
    f"topk {k} {largest}": lambda x, k=k, largest=largest: tuple(x.topk(k, -1, largest=largest))
    for k in (0, 1, 2, 4)
    for largest in (True, False)
}
FUNCTIONS |= {f"kthvalue {k}": lambda x, k=k: tuple(x.kthvalue(k, -1)) for k in (1, 2, 4)}


def far(x):
    """Return standard deviations of numbers whose squares leave the range, near 1 again."""
    return tuple((x[i] * f).std() / f for i, f in enumerate((1e-24, 1e-38, 1e20, 5e37)))


def reductions():
    yield Case("std of far numbers", far, (PLAIN,))
    for name, function in FUNCTIONS.items():
        for label, x in INPUTS.items():
            yield Case(f"{name}: {label}", function, (x,))
        sizes = tuple((x,) for x in of_lengths(DYNAMIC, 1, 2, 5, 0))
        yield Case(f"{name}: dynamic", function, (DYNAMIC,), sizes)
