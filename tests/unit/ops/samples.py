"""Inputs for every operation: what it means to be differentiable, in one table.

A row is an operation's name and its arguments; `F(2, 3)` among them stands for a tensor of floats
that requires grad. Layouts (transposed, strided, expanded) are made by view operations inside the
checked function, so that finite differences move the elements of a contiguous leaf.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import tinynet as tn
from tinynet.core.declaration.operation import COMPOSITES, REGISTRY

from .elementwise import ELEMENTARY

INF = float("inf")


_RANDOM = np.random.RandomState()


def seeded(number):
    """The numbers of a seed, until those of another are asked for: to seed takes 2 µs, not 100."""
    _RANDOM.seed(number)
    return _RANDOM


@dataclass(frozen=True)
class F:
    """A float64 tensor that requires grad: shape, range of values, layout."""

    shape: tuple[int, ...]
    values: Callable[..., Any]
    layout: str = "plain"

    def leaf(self, random):
        shape = {
            "plain": self.shape,
            "transposed": self.shape[::-1],
            "strided": (*self.shape[:-1], 2 * self.shape[-1]) if self.shape else (),
            "expanded": (1, *self.shape[1:]),
        }[self.layout]
        array = np.array(self.values(random, shape), dtype=np.float64).reshape(shape)
        return tn.tensor(array).requires_grad_()

    def laid_out(self, leaf):
        if self.layout == "transposed":
            return leaf.permute(tuple(range(leaf.ndim))[::-1])
        if self.layout == "strided":
            return leaf[..., ::2]
        return leaf.expand(self.shape) if self.layout == "expanded" else leaf

    def of(self, *values):
        """Exactly these numbers."""
        return replace(self, values=lambda random, shape: np.resize(values, shape))

    @property
    def transposed(self):
        return replace(self, layout="transposed")

    @property
    def strided(self):
        return replace(self, layout="strided")

    @property
    def expanded(self):
        return replace(self, layout="expanded")

    @property
    def positive(self):
        return replace(self, values=lambda random, shape: random.uniform(0.3, 2, shape))

    @property
    def unit(self):
        return replace(self, values=lambda random, shape: random.uniform(-0.8, 0.8, shape))

    @property
    def off_integers(self):
        return replace(self, values=_off_integers)

    @property
    def distinct(self):
        return replace(self, values=_distinct)


def _away_from_zero(random, shape):
    return random.uniform(0.3, 2, shape) * random.choice([-1, 1], shape)


def _off_integers(random, shape):
    return random.randint(-3, 3, shape) + random.uniform(0.1, 0.4, shape)


def _distinct(random, shape):
    count = int(np.prod(shape))
    return (random.permutation(count) - count / 2) * 0.7 + 0.1


def f(*shape):
    return F(shape, _away_from_zero)


def i(*values):
    """A constant tensor of int64."""
    return tn.tensor(np.array(values[0] if len(values) == 1 else values, dtype=np.int64))


def b(*values):
    """A constant tensor of booleans."""
    return tn.tensor(np.array(values[0] if len(values) == 1 else values, dtype=bool))


@dataclass(frozen=True)
class Sample:
    """One call: a function and its arguments, in which each `F` becomes a tensor."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def leaves(self):
        random = seeded(7)
        return [spec.leaf(random) for spec in self.specs()]

    def specs(self):
        found = []
        for a in self.args:
            found += [x for x in a if isinstance(x, F)] if isinstance(a, list) else [a]
        return [x for x in found if isinstance(x, F)]

    def arguments(self, leaves):
        """The arguments, with tensors made from the leaves in the place of each `F`."""
        rest = iter(leaves)

        def fill(a):
            if isinstance(a, list):
                return [fill(x) for x in a]
            return a.laid_out(next(rest)) if isinstance(a, F) else a

        return [fill(a) for a in self.args]

    def __call__(self, *leaves):
        return self.function(*self.arguments(leaves), **self.kwargs)


SAMPLES: dict[str, list[Sample]] = {}


def sample(names, *args, **kwargs):
    """Adds a row to each of the operations or composites `names`."""
    for name in names.split():
        op = REGISTRY.get(name)
        function = COMPOSITES[name] if op is None else op.function
        rows = SAMPLES.setdefault(name, [])
        rows.append(Sample(name, function, args, kwargs))


def custom(name, function, *args):
    """Adds a row for something that has no name in the registry: an operator, an assignment."""
    SAMPLES.setdefault(name, []).append(Sample(name, function, args, {}))


def layouts(spec, *rest):
    """Rows of arguments: `spec` in every layout, 0-d and empty; `rest` follows each."""
    shapes = [spec, replace(spec, shape=()), replace(spec, shape=(0, 3))]
    return [(x, *rest) for x in (*shapes, spec.transposed, spec.strided, spec.expanded)]


# ---- elementwise, one tensor --------------------------------------------------------------------

DOMAINS = {
    "normal": f(2, 3),
    "positive": f(2, 3).positive,
    "unit": f(2, 3).unit,
    "off_integers": f(2, 3).off_integers,
    "above": f(2, 3).of(1.2, 1.7, 2.5, 3.0, 4.5, 6.0),
    "part": f(2, 3).of(0.1, 0.3, 0.45, 0.55, 0.7, 0.9),
}


def elementwise(names, domain, *rest):
    """Adds rows to each of the operations `names`: inputs of a domain in every layout."""
    for args in layouts(DOMAINS[domain], *rest):
        sample(names, *args)


for _name, _domain in ELEMENTARY.items():
    elementwise(_name, _domain)
elementwise("square reciprocal clone contiguous_copy alias kept zeroed", "normal")
elementwise("log2 log10", "positive")
elementwise("ceil trunc", "off_integers")
elementwise("cast", "normal", np.dtype("float64"))
elementwise("filled", "normal", 2.5)
sample("round", f(4).of(0.123, -1.377, 2.02, 0.7), decimals=1)
sample("scaled", f(2, 3), alpha=2.5)
sample("relu_backward", f(2, 3), f(2, 3))
for _bounds in ({"min": -0.5, "max": 1.0}, {"min": -0.1}, {"max": 0.1}):
    sample("clamp clamp_numbers", f(2, 3), **_bounds)
    sample("clamp", f(0), **_bounds)
sample("clamp_min clamp_max", f(2, 3).transposed, 0.1)
sample("clamp clamp_tensors", f(4).of(-2, 0.3, 0.8, 3), f(4).of(-1, -1, 1, 1.2), f(1).of(2))
sample(
    "normal_values uniform_values random_values exponential_values cauchy_values log_normal_values "
    "geometric_values bernoulli_values poisson_values binomial_values normal_around normal_spread",
    f(2, 3),
    np.full((2, 3), 0.5),
)
sample("normal_placed", f(2, 3), f(3), np.full((2, 3), 0.5))

# ---- elementwise, two tensors -------------------------------------------------------------------

PAIRS = [
    (f(2, 3), f(2, 3)),
    (f(2, 3), f(3)),
    (f(2, 1), f(1, 3)),
    (f(), f(2, 3)),
    (f(2, 3), f()),
    (f(), f()),
    (f(0, 3), f(3)),
    (f(2, 3).transposed, f(2, 3).strided),
    (f(2, 3).expanded, f(2, 3)),
    (f(2, 3), 2.5),
]
for _a, _b in PAIRS:
    sample("add sub mul div", _a, _b)
    sample("power pow", _a.positive, _b)
    if isinstance(_b, F):
        sample("maximum minimum", _a, _b)
        sample("where", b(True, False, True), _a, _b)
        custom("lerp by hand", lambda x, y: x + 0.3 * (y - x), _a, _b)
custom("add with alpha", lambda x, y: x.add(y, alpha=3), f(2, 3), f(3))
custom("sub with alpha", lambda x, y: tn.sub(x, y, alpha=-2), f(2, 3), f(3))
sample("where", b(True), f(3), 0.5)
sample("where", b([[True], [False]]), 0.5, f(3))
for _a, _b in (
    (f(3).of(2.3, -1.7, 0.4), f(3).of(0.9, 1.3, -0.7)),
    (f(2, 1).of(2.3, -1.7), f(3).of(0.9, 1.3, -0.7)),
    (f(0), f(0)),
    (f().of(2.3), f(2).of(0.9, -0.7)),
    (f(3).of(2.3, -1.7, 0.4), 0.7),
):
    sample("remainder", _a, _b)
    sample("quotient_rounded", _a, _b, rounding="trunc")
    sample("quotient_rounded", _a, _b, rounding="floor")
sample("power_number pow", f(2, 3), 2)
sample("power_number pow", f(2, 3).transposed, 3)
sample("power_number pow", f(2, 3).positive, -0.5)
sample("power_number pow", f(), 0)
sample("power_number pow", f(0, 3), 2.0)
sample("power_of_number", f(2, 3), 1.7)
sample("power_of_number", f(), 2)
sample("rsub_scalar", f(2, 3).strided, 1.5)
sample("filled_with", f(2, 3), f())
for _args in ((f(2, 3), f(3)), (f(2, 3), f(2, 3).transposed), (f(), f()), (f(0, 3), f(3))):
    sample("copy", *_args)
OPERATORS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x / y": lambda x, y: x / y,
    "x ** 2": lambda x, y: x**2 + y**3,
    "-x": lambda x, y: -x * y,
    "numbers on the left": lambda x, y: (2 + x) * (3 - x) / (2 / y) + 1.5 * y + 2**y,
    "the same twice": lambda x, y: x * x + y / y + x - x,
}
for _name, _function in OPERATORS.items():
    custom(_name, _function, f(2, 3), f(3))
    custom(_name, _function, f(), f(2))

# ---- shape --------------------------------------------------------------------------------------

sample("select_backward", f(2), (2, 3), 1, -1)
sample("cut_backward", f(2, 2), (2, 3), 1, slice(0, 2))
for _spec in (f(2, 3), f(2, 3).transposed, f(2, 3).strided, f(2, 3).expanded, f(0, 3)):
    sample("transpose", _spec, 0, -1)
    sample("t", _spec)
    sample("permute_dims", _spec, (1, 0))
    sample("unsqueeze", _spec, -1)
    sample("select", _spec, 1, -1)
    sample("cut", _spec, 1, slice(0, 2))
    sample("cut", _spec, 0, slice(0, None, 2))
    sample("narrow", _spec, 1, 1, 2)
    sample("reshape reshape_copy", _spec, (3, _spec.shape[0]))
    sample("flatten ravel contiguous", _spec)
    sample("diagonal_view", _spec, 1, 0, 1)
    sample("diagonal", _spec)
    sample("unbind", _spec, 1)
    sample("split_at split_in_sizes", _spec, (0, 1, 3), 1)
    sample("split", _spec, 2, 1)
    sample("chunk", _spec, 2, 1)
    sample("flip_dims", _spec, (0, 1))
    sample("flip", _spec, 1)
    sample("roll_dims", _spec, (1, -1), (0, 1))
    sample("roll", _spec, 2)
    sample("repeat_dims", _spec, (2, 1, 2))
    sample("repeat tile", _spec, 2, 2)
    sample("tril triu", _spec, 0)
    sample("tril triu", _spec, -1)
    sample("expand_to", _spec, (2, *_spec.shape))
    sample("squeeze", _spec)
    sample("movedim", _spec, 0, 1)
for _name in ("view_as_shape", "unsafe_view", "view"):
    sample(_name, f(2, 3), (6,))
    sample(_name, f(2, 3), (1, 3, 2))
    sample(_name, f(), (1, 1))
    sample(_name, f(0, 3), (3, 0))
sample("view_as reshape_as", f(2, 3), f(3, 2))
sample("expand expand_to broadcast_to", f(2, 1), (2, 3))
sample("expand expand_to", f(), (2, 2))
sample("expand_as", f(3), f(2, 3))
sample("unflatten", f(4, 2), 0, (2, 2))
sample("permute", f(2, 1, 3), (2, 0, 1))
for _spec in (f(1, 3, 1), f(1), f(), f(1, 0)):
    sample("squeeze_all squeezed squeeze", _spec)
    sample("squeeze_dim squeezed_dim squeeze", _spec, 0)
sample("squeeze_dims", f(1, 3, 1), (0, 2))
sample("transpose", f(), 0, -1)
sample("t", f())
sample("t", f(3))
sample("unsqueeze", f(), 0)
sample("diagonal_view", f(2, 3, 3), 0, 1, 2)
sample("diagonal_embed", f(2), (2, 3), 1, 0, 1)
sample("diagonal_embed", f(2, 3), (2, 3, 3), 0, 1, 2)
sample("roll_dims", f(2, 3), (4,), None)
sample("embed", f(2), (2, 3), (slice(None), 1))
sample("embed", f(), (2,), (0, ...))
custom("T", lambda x: x.T * 2, f(2, 3))
custom("mT", lambda x: x.mT * 2, f(2, 2, 3))

# ---- joining ------------------------------------------------------------------------------------

for _parts in (
    [f(2, 3), f(2, 3).transposed],
    [f(2, 3).strided, f(2, 3).expanded, f(2, 3)],
    [f(0, 3), f(2, 3)],
    [f(2, 3)],
):
    sample("cat", _parts)
    if _parts[0].shape == (2, 3):
        sample("stack", _parts)
        sample("stack", _parts, -1)
        sample("cat", [*_parts, f(2, 1)], 1)
sample("cat", [f(0), f(2, 3)], 1)
sample("stack", [f(), f()])

# ---- indexing -----------------------------------------------------------------------------------

MASK = b([[True, False, True], [False, False, True]])
KEYS = {
    "int": 1,
    "slice": slice(0, None, 2),
    "ellipsis": (..., 1),
    "none": (None, slice(None), None),
    "mask": MASK,
    "row mask": b(True, False),
    "indices": i(1, 0, 1),
    "index pair": (i(1, 0, 1), i(2, 2, 0)),
    "mixed": (slice(None), i([[0, 2], [2, 1]])),
    "int and indices": (0, i(2, 2)),
    "nothing": i([]),
}
for _name, _key in KEYS.items():
    for _spec in (f(2, 3), f(2, 3).transposed, f(2, 3).expanded):
        custom(f"x[{_name}]", lambda x, key=_key: x[key], _spec)


def _assigned(x, value, key):
    y = x * 1
    y[key] = value
    return y


for _name, _key in KEYS.items():
    if _name in ("indices", "mixed", "int and indices"):
        continue  # they name an element twice: which write stays is not promised
    custom(f"x[{_name}] = y", lambda x, y, key=_key: _assigned(x, y, key), f(2, 3), f())
custom("x[indices once] = y", lambda x, y: _assigned(x, y, i(1, 0)), f(2, 3), f(3))
custom("x[pairs once] = y", lambda x, y: _assigned(x, y, (i(1, 0), i(2, 2))), f(2, 3), f(2))
custom("x[0] = y", lambda x, y: _assigned(x, y, 0), f(2, 3), f(3))
custom("x[:, 1:] = y", lambda x, y: _assigned(x, y, (slice(None), slice(1, 3))), f(2, 3), f(2, 1))
INDICES = (np.array([1, 0, 1]),)
sample("index", f(2, 3), INDICES)
sample("index", f(2, 3).transposed, (None, np.array([[0, 2]])))
sample("index", f(2, 3), (MASK.numpy(),))
sample("index_sum", f(3, 3), (2, 3), INDICES)
sample("index_sum", f(3), (2, 3), (MASK.numpy(),))
sample("index_set", f(2, 3), f(3), (np.array([1, 0]),), False)
sample("index_set", f(2, 3), f(3, 3), INDICES, True)
sample("cleared", f(2, 3), INDICES)
custom(
    "index_put that adds", lambda x, v: x.index_put((i(1, 1),), v, accumulate=True), f(2, 3), f(3)
)

# ---- gathering and selecting --------------------------------------------------------------------

AT = i([[0, 1, 1], [1, 0, 0]])
for _spec in (f(2, 3), f(2, 3).transposed, f(2, 3).strided, f(2, 3).expanded):
    sample("gather", _spec, 0, AT)
    sample("gather", _spec, -1, i([[2, 2, 0, 1]]))
    sample("take_along_dim", _spec, i([[0], [2]]), 1)
    sample("take_along_dim", _spec, i(5, 0, 5))
    sample("scatter", _spec, 1, i([[0, 2], [2, 1]]), f(2, 2))
    sample("scatter", _spec, 1, i([[0, 2]]), f(2, 3))
    sample("scatter", _spec, 1, i([[0, 2]]), 2.5)
    sample("scatter_add", _spec, 0, AT, f(2, 3).transposed)
    sample("scatter_add", _spec, 0, AT, f(3, 4))
    sample("index_select", _spec, 1, i(2, 0, 2))
    sample("index_add", _spec, 1, i(2, 0), f(2, 2), alpha=1.5)
    sample("index_add", _spec, 0, i(1, 1, 0), f(3, 3).expanded)
    sample("index_fill", _spec, 1, i(2, 0, 2), 0.5)
    sample("index_fill", _spec, 0, i(1), f())
    sample("masked_fill", _spec, MASK, 0.5)
    sample("masked_fill", _spec, b(True, False, True), f())
    sample("masked_select", _spec, MASK)
    sample("masked_select", _spec, b(True, False, True))
sample("masked_fill", f(3), MASK, 0.5)
sample("masked_select", f(3), MASK)
for _name in ("gather", "index_select"):
    sample(_name, f(), 0, i(0))
    sample(_name, f(0, 3), 1, i([]).reshape(0, 0) if _name == "gather" else i([]))
sample("gather", f(3), 0, i(2))
sample("scatter scatter_add", f(), 0, i(0), f())
sample("scatter scatter_add", f(3), 0, i([]), f(2))
sample("index_add", f(), 0, i(0), f())
sample("masked_fill", f(), b(True), f())
sample("masked_select", f(), b(True))
sample("gather_along", f(2, 3), AT, 0)
sample("gather_sum", f(2, 3), AT, (3, 3), 0)
sample("gather_sum", f(), i(0), (), 0)
sample("scatter_source", f(2, 3), i([[0, 2]]), f(1, 2), 1)
sample("scatter_number", f(2, 3), i([[0, 2]]), 1, 2.5)
sample("scatter_sum", f(2, 3), AT, f(2, 3), 0)
sample("select_slices", f(2, 3), i(1, 1), 0)
sample("select_sum", f(2, 3), i(1, 1), (3, 3), 0)
sample("slices_added", f(2, 3), i(1), f(1, 3), 0, 2)
sample("slices_filled", f(2, 3), i(1), 0, 2)
sample("slices_filled_by", f(2, 3), i(1), f(), 0)
sample("masked_number", f(2, 3), MASK, 1)
sample("masked_by", f(2, 3), MASK, f())
sample("masked_spread", f(3), MASK, (2, 3))

# ---- reductions ---------------------------------------------------------------------------------

DIMS = ({"dim": 1}, {"dim": -1, "keepdim": True}, {"dim": 0})
for _spec in (f(2, 3), f(2, 3).transposed, f(2, 3).strided, f(2, 3).expanded):
    _apart = _spec if _spec.layout == "expanded" else _spec.distinct
    sample("sum mean prod var std norm", _spec)
    sample("max min", _apart)
    for _dims in DIMS:
        sample("sum mean prod var norm", _spec, **_dims)
        if _spec.layout != "expanded" or _dims["dim"] != 0:  # no derivative where all are equal
            sample("std", _spec, **_dims)
            sample("max min amax amin", _apart, **_dims)
        sample("logsumexp", _spec, **_dims)
    for _dim in (0, -1):
        sample("cumsum softmax log_softmax", _spec, _dim)
    sample("logsumexp", _spec, (0, 1))
    sample("sort", _apart, dim=1)
sample("sum mean amax amin", f(2, 3, 2).distinct, dim=(0, -1))
sample("sum mean", f(2, 3), dim=(0, 1), keepdim=True)
sample("var std norm", f(2, 3, 2), dim=(0, 2), keepdim=True)
sample("amax amin", f(2, 3).distinct)
sample("sum mean prod max min amax amin norm", f())
sample("sum mean prod norm", f(), dim=0)
sample("logsumexp softmax log_softmax cumsum", f(), 0)
sample("max min", f(), 0)
sample("var", f(2), correction=0)
sample("std var", f(2, 3), 1, False, True)
sample("std var", f(4), correction=1.5)
sample("sum prod", f(0, 3))
sample("sum prod", f(0, 3), dim=0)
sample("sum mean prod max min norm", f(0, 3).distinct, dim=-1)
sample("cumsum softmax log_softmax logsumexp", f(0, 3), 1)
sample("cumsum softmax log_softmax", f(0, 3), 0)
sample("prod", f(5).of(2, 0, 3, -1, 0.5))
sample("prod", f(4).of(2, 0, 0, -1))
sample("prod", f(5, 2), 0)
for _p in (0.5, 1, 1.5, 2, 3, -1, INF, -INF, "fro"):
    sample("norm", f(4).distinct, _p)
    sample("norm", f(2, 3).distinct, _p, 1)
sample("topk", f(2, 4).distinct, 2)
sample("topk", f(4, 2).distinct, 3, 0, False)
sample("topk", f(), 1)
sample("sort", f(4, 2).distinct, 0, True)
sample("sort", f())
custom("max of two", lambda x, y: x.max(y), f(2, 3), f(3))
custom("min of two", lambda x, y: tn.min(x, y), f(2, 3), f(3))
custom("var_mean", lambda x: tn.var_mean(x, 1), f(2, 3))
custom("std_mean", lambda x: tn.std_mean(x, 1), f(2, 3))
sample("sum_all mean_all prod_all", f(2, 3))
sample("sum_dims mean_dims prod_dim", f(2, 3), 1)
sample("variance_mean deviation_mean", f(2, 3), 1, 1, False)
sample("variance_mean deviation_mean", f(2, 3), None, 0, True)
sample("max_all min_all", f(2, 3).distinct)
sample("max_dim min_dim", f(2, 3).distinct, 1)
sample("max_dim min_dim", f(2, 3).distinct, 0, True)
sample("variance deviation", f(2, 3), 1, 1, False)
sample("vector_norm", f(2, 3), 2.0, 1, False)

# ---- products -----------------------------------------------------------------------------------

for _left, _right in (
    (f(2, 3), f(3, 2)),
    (f(2, 3).transposed, f(3, 2).strided),
    (f(2, 3).expanded, f(3, 2).expanded),
    (f(0, 3), f(3, 2)),
    (f(2, 0), f(0, 2)),
):
    sample("mm matmul", _left, _right)
sample("mv matmul", f(2, 3), f(3))
sample("mv matmul", f(2, 3).expanded, f(3).strided)
sample("mv", f(0, 3), f(3))
sample("dot matmul", f(3), f(3).strided)
sample("dot", f(0), f(0))
sample("outer", f(2), f(3))
sample("bmm matmul", f(2, 2, 3), f(2, 3, 1))
sample("bmm matmul", f(2, 2, 3).expanded, f(2, 3, 1).strided)
sample("bmm matmul", f(0, 2, 3), f(0, 3, 1))
sample("bmm", f(2, 2, 0), f(2, 0, 1))
for _left, _right in (
    (f(3), f(3, 2)),
    (f(2, 2, 3), f(3)),
    (f(3), f(2, 3, 2)),
    (f(2, 2, 3), f(3, 2)),
    (f(2, 3), f(2, 3, 2)),
    (f(1, 2, 3), f(2, 3, 2)),
    (f(2, 2, 3), f(1, 3, 2)),
    (f(2, 1, 1, 3), f(3, 3, 1)),
    (f(2, 2, 3).transposed, f(3, 2)),
):
    sample("matmul", _left, _right)
custom("x @ x", lambda x: x @ x, f(2, 2))
custom("x @ x.T", lambda x: x @ x.T, f(2, 3))
custom("a constant matrix", lambda x: tn.ones(3, 2, dtype=tn.float64) @ x, f(2, 2, 3))
