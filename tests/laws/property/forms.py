"""The lines that programs are made of: each is a form, and when it can be filled in.

In a form, ``{c}`` is the register that is written, ``{x}`` and ``{y}`` are registers that are read,
and the rest are numbers that fit the shape of ``{x}`` (see ``language.Blanks``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple


class Facts(NamedTuple):
    """What the choice of a line may depend on."""

    shape: tuple[int, ...]
    values: list[float]
    wants: bool  # requires grad
    leaf: bool
    view: bool
    broken: bool  # a view that has lost its history
    graded: bool  # has a gradient
    hooked: bool
    viewed: bool  # a register holds a view of it
    base_wants: bool  # the base of the view requires grad
    expanded: bool  # elements share memory
    dense: bool  # fills its memory without holes and overlaps
    contiguous: bool
    memory: int

    @property
    def biggest(self) -> float:
        """The largest absolute value."""
        return max(map(abs, self.values), default=0.0)


Known = Mapping[str, Facts]


@dataclass(frozen=True)
class Form:
    """One kind of line.

    Attributes:
        text: the line, with blanks.
        family: ``view``, ``write``, ...
        need: which registers can be ``{x}``.
        fit: which can be ``{y}``, given the known registers and ``{x}``.
        limit: the largest value that ``{x}`` and ``{y}`` may hold, so that numbers stay small.
    """

    text: str
    family: str
    need: Callable[[Facts], bool]
    fit: Callable[[Known, Facts, Facts], bool]
    limit: float


# ---- what a line needs -------------------------------------------------------------------------


def anything(x):
    return True


def nonempty(x):
    return 0 not in x.shape


def scalar(x):
    return x.shape == ()


def one(x):
    return len(x.values) == 1


def dimensional(x):
    return len(x.shape) > 0


def indexable(x):
    return len(x.shape) > 0 and nonempty(x)


def matrix(x):
    return len(x.shape) == 2


def square(x):
    return len(x.shape) >= 2


def wants(x):
    return x.wants


def smooth(x):
    """No value so close to a kink at zero that rounding decides on which side it is."""
    return all(v == 0 or abs(v) > 1e-6 for v in x.values)


def smooth_at_one(x):
    return all(abs(abs(v) - 1) > 1e-6 or abs(v) == 1 for v in x.values)


def joined(a, b):
    """The shape that two shapes broadcast to; None if they do not."""
    a, b = (1,) * (len(b) - len(a)) + a, (1,) * (len(a) - len(b)) + b
    if all(m == n or 1 in (m, n) for m, n in zip(a, b, strict=True)):
        return tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))
    return None


def any_y(known, x, y):
    return True


def joins(known, x, y):
    return joined(x.shape, y.shape) is not None


def into(known, x, y):
    return joined(x.shape, y.shape) == x.shape


def into_row(known, x, y):
    return joined(x.shape[1:], y.shape) == x.shape[1:]


def into_rows(known, x, y):
    """Fits each row that the index tensor chooses; no row may be chosen twice."""
    chosen = known["i"].values if "i" in known else [0, 0]
    return indexes(known, x, y) and into_row(known, x, y) and len({*chosen}) == len(chosen)


def same(known, x, y):
    return x.shape == y.shape


def multiplies(known, x, y):
    a, b = x.shape, y.shape
    return bool(a and b) and a[-1] == b[-2 if len(b) > 1 else 0] and max(len(a), len(b)) <= 2


def continues(known, x, y):
    if (0,) in (x.shape, y.shape):
        return False  # PyTorch leaves such tensors out, and their gradients without a graph
    return len(x.shape) == len(y.shape) > 0 and x.shape[1:] == y.shape[1:]


def wanted(known, x, y):
    return y.wants


def masks(known, x, y):
    return "m" in known and known["m"].shape == x.shape[: len(known["m"].shape)]


def masks_whole(known, x, y):
    return "m" in known and known["m"].shape == x.shape


def chooses(known, x, y):
    return masks_whole(known, x, y) and joins(known, x, y)


def indexes(known, x, y):
    return "i" in known and bool(x.shape) and all(v < x.shape[0] for v in known["i"].values)


def indexes_flat(known, x, y):
    return indexes(known, x, y) and len(known["i"].shape) == 1


# ---- the table ---------------------------------------------------------------------------------

NEW, VIEW, OP, WRITE, INTO = "new", "view", "op", "write", "write through"
CUT, DATA, FLAG, HOOK, BACKWARD, GRAD = "detach", "data", "flag", "hook", "backward", "grad"
RESHAPE = "write of a shape"


def _table() -> Iterator[tuple[Form, int]]:
    """Yield the forms with their weights."""

    def form(text, family, need=anything, fit=any_y, limit=1e5, weight=1):
        return Form(text, family, need, fit, limit), weight

    yield form("{c} = {leaf}", NEW, weight=14)
    yield form("{c} = {constant}", NEW, weight=7)
    yield form("i = {index}", NEW, indexable, weight=2)
    yield form("m = {mask}", NEW, dimensional, weight=2)
    yield form("{c} = {x}", NEW)
    yield form("{c} = copy.deepcopy({x})", NEW)

    yield form("{c} = {x}[{f}]", VIEW, indexable, weight=4)
    yield form("{c} = {x}.select({d}, {k})", VIEW, indexable, weight=2)
    yield form("{c} = {x}[{f}:]", VIEW, dimensional, weight=3)
    yield form("{c} = {x}[..., ::2]", VIEW, dimensional)
    yield form("{c} = {x}[:{f}]", VIEW, dimensional)
    yield form("{c} = {x}.narrow({d}, {k}, 1)", VIEW, indexable)
    yield form("{c} = {x}[...]", VIEW)
    yield form("{c} = {x}[None]", VIEW)
    yield form("{c} = {x}.t()", VIEW, lambda x: len(x.shape) <= 2, weight=2)
    yield form("{c} = {x}.transpose({d}, {e})", VIEW, dimensional, weight=2)
    yield form("{c} = {x}.permute({backwards})", VIEW)
    yield form("{c} = {x}.view(-1)", VIEW, nonempty, weight=2)
    yield form("{c} = {x}.view({backwards})", VIEW, weight=2)
    yield form("{c} = {x}.view_as({x})", VIEW)
    yield form("{c} = {x}.view_as({y})", VIEW, fit=same)
    yield form("{c} = {x}.reshape({backwards})", VIEW, weight=2)
    yield form("{c} = {x}.flatten()", VIEW)
    yield form("{c} = {x}.expand(2, {shape})", VIEW, lambda x: len(x.shape) < 3, weight=2)
    yield form("{c} = {x}.expand({stretched})", VIEW, lambda x: 1 in x.shape, weight=2)
    yield form("{c} = {x}.unsqueeze({d})", VIEW, weight=2)
    yield form("{c} = {x}.squeeze()", VIEW)
    yield form("{c} = {x}.squeeze({d})", VIEW)
    yield form("{c} = {x}.unbind({d})[{k}]", VIEW, indexable, weight=2)
    yield form("{c} = {x}.split(1, {d})[{k}]", VIEW, indexable, weight=2)
    yield form("{c} = {x}.chunk(2, {d})[0]", VIEW, dimensional)
    yield form("{c} = {x}.diagonal()", VIEW, square, weight=2)
    yield form("{c} = {x}.swapaxes({d}, {e})", VIEW, dimensional)
    yield form("{c} = {x}.movedim({d}, {e})", VIEW, dimensional)

    yield form("{c} = {x} + {y}", OP, fit=joins, weight=4)
    yield form("{c} = {x} * {y}", OP, fit=joins, limit=100, weight=6)
    yield form("{c} = {x} - {y}", OP, fit=joins)
    yield form("{c} = {x} / (1 + {y} * {y})", OP, fit=joins, limit=100, weight=2)
    yield form("{c} = {x} * {v}", OP, weight=4)
    yield form("{c} = {x} + {v}", OP)
    yield form("{c} = {v} - {x}", OP)
    yield form("{c} = -{x}", OP)
    yield form("{c} = {x}.exp()", OP, limit=4, weight=2)
    yield form("{c} = {x}.sigmoid()", OP, limit=inf, weight=2)
    yield form("{c} = {x}.tanh()", OP, limit=inf, weight=2)
    yield form("{c} = {x}.relu()", OP, smooth, weight=2)
    yield form("{c} = {x} ** 2", OP, limit=100, weight=2)
    yield form("{c} = {x}.clamp(-1, 1)", OP, smooth_at_one)
    yield form("{c} = {x}.softmax(-1)", OP, limit=10)
    yield form("{c} = {x}.sum()", OP, weight=3)
    yield form("{c} = {x}.sum({d})", OP, weight=2)
    yield form("{c} = {x}.sum({d}, keepdim=True)", OP)
    yield form("{c} = {x}.mean()", OP, nonempty, weight=2)
    yield form("{c} = {x}.cumsum({d})", OP)
    yield form("{c} = {x} @ {y}", OP, fit=multiplies, limit=100, weight=3)
    yield form("{c} = tn.cat([{x}, {y}])", OP, fit=continues, weight=3)
    yield form("{c} = tn.stack([{x}, {y}])", OP, lambda x: len(x.shape) < 3, same)
    yield form("{c} = tn.maximum({x}, {v} * {x})", OP, smooth)
    yield form("{c} = {x}[{fs}]", OP, indexable, weight=2)
    yield form("{c} = {x}[i]", OP, fit=indexes, weight=3)
    yield form("{c} = {x}.index_select(0, i)", OP, fit=indexes_flat)
    yield form("{c} = {x}[m]", OP, fit=masks, weight=2)
    yield form("{c} = tn.where(m, {x}, {y})", OP, fit=chooses, weight=3)
    yield form("{c} = {x}.masked_fill(m, {v})", OP, fit=masks_whole)
    yield form("{c} = {x}.clone()", OP, weight=2)
    yield form("{c} = {x}.contiguous()", OP)

    yield form("{x}.add_({y})", WRITE, fit=into, weight=3)
    yield form("{x}.mul_({y})", WRITE, fit=into, limit=100, weight=6)
    yield form("{x}.mul_({v})", WRITE, weight=4)
    yield form("{x} += {y}", WRITE, fit=into, weight=2)
    yield form("{x}.sub_({y}, alpha=2)", WRITE, fit=into)
    yield form("{x}.div_(1 + {y} * {y})", WRITE, fit=into, limit=100)
    yield form("{x}.exp_()", WRITE, limit=4)
    yield form("{x}.sigmoid_()", WRITE, limit=inf, weight=2)
    yield form("{x}.tanh_()", WRITE, limit=inf)
    yield form("{x}.relu_()", WRITE, smooth)
    yield form("{x}.pow_(2)", WRITE, limit=100)
    yield form("{x}.clamp_(-1, 1)", WRITE, smooth_at_one)
    yield form("{x}.neg_()", WRITE)
    yield form("{x}.zero_()", WRITE, limit=inf, weight=3)
    yield form("{x}.fill_({v})", WRITE, limit=inf)
    yield form("{x}.fill_({y})", WRITE, fit=lambda known, x, y: scalar(y))
    yield form("{x}.copy_({y})", WRITE, fit=into, weight=4)
    yield form("{x}.masked_fill_(m, {v})", WRITE, fit=masks_whole)
    yield form("{x}[{f}] = {v}", WRITE, indexable, weight=3)
    yield form("{x}[{f}] = {y}", WRITE, indexable, into_row, weight=4)
    yield form("{x}[{f}:] = {v}", WRITE, dimensional, weight=2)
    yield form("{x}[:] = {y}", WRITE, dimensional, into, weight=2)
    yield form("{x}[...] = {y}", WRITE, fit=into, weight=2)
    yield form("{x}[..., {l}] = {v}", WRITE, indexable)
    yield form("{x}[m] = {v}", WRITE, fit=masks, weight=2)
    yield form("{x}[m] = {y}", WRITE, fit=lambda k, x, y: masks(k, x, y) and scalar(y), weight=2)
    yield form("{x}[i] = {v}", WRITE, fit=indexes, weight=2)
    yield form("{x}[i] = {y}", WRITE, fit=into_rows, weight=2)
    yield form("{x}.index_put_((i,), {y}, accumulate=True)", WRITE, fit=into_rows)
    yield form("{x}[{f}] += {v}", WRITE, indexable)
    yield form("{x}[{f}] *= {y}", WRITE, indexable, into_row, 100, weight=2)
    yield form("{x}[{f}].mul_({v})", WRITE, indexable, weight=2)
    yield form("{x}[i] *= {v}", WRITE, fit=indexes)
    yield form("{x}.view(-1)[{l}:].sigmoid_()", WRITE, indexable)
    yield form("tn.mul({x}, {y}, out={x})", WRITE, fit=into, limit=100)
    yield form("m.zero_()", INTO)
    yield form("m[...] = True", INTO)
    yield form("i.zero_()", INTO, weight=2)
    yield form("{x}.unsqueeze_({d})", RESHAPE)
    yield form("{x}.squeeze_({d})", RESHAPE)
    yield form("{x}.t_()", RESHAPE, matrix)
    yield form("{x}.transpose_({d}, {e})", RESHAPE, dimensional)

    yield form("{c} = {x}.detach()", CUT, weight=5)
    yield form("{x}.detach_()", CUT, weight=3)
    yield form("{c} = {x}.data", DATA, weight=2)
    yield form("{x}.data.mul_({v})", DATA, weight=2)
    yield form("{x}.data[{f}] = {v}", DATA, indexable, weight=2)
    moved = "{c} = tn.zeros_like({x}).requires_grad_(); {c}.data = {x}"  # before anybody saved it
    yield form(moved, DATA, lambda x: not x.expanded, weight=2)
    yield form("{x}.requires_grad_()", FLAG, weight=3)
    yield form("{x}.requires_grad_(False)", FLAG, weight=2)
    yield form("{x}.requires_grad = True", FLAG)

    yield form("{x}.register_hook(log)", HOOK, wants, weight=2)
    yield form("{x}.register_hook(lambda g: {v} * g)", HOOK, wants, weight=3)
    yield form("h = {x}.register_hook(lambda g: g + 1)", HOOK, wants, weight=2)
    yield form("h.remove()", HOOK)
    yield form("{x}.retain_grad()", HOOK, wants, weight=4)
    each = "{x}.register_post_accumulate_grad_hook(lambda t: log(t.grad))"
    yield form("" + each, HOOK, wants)

    yield form("{x}.backward()", BACKWARD, one, weight=2)
    yield form("{x}.sum().backward()", BACKWARD, wants, weight=6)
    yield form("{x}.sum().backward(retain_graph=True)", BACKWARD, wants, weight=5)
    yield form("({x} * {x}).sum().backward()", BACKWARD, wants, limit=100, weight=2)
    yield form("{x}.backward({y}.detach().clone())", BACKWARD, wants, same)
    yield form("{x}.backward(tn.ones_like({x}), retain_graph=True)", BACKWARD, wants)
    yield form("{x}.sum().backward(create_graph=True)", BACKWARD, wants)
    yield form("{x}.sum().backward(inputs=[{y}])", BACKWARD, wants, wanted, weight=2)
    yield form("tn.autograd.backward([{x}.sum(), {y}.sum()])", BACKWARD, wants, wanted)
    yield form("{c} = {x}.grad", GRAD, weight=2)
    yield form("{x}.grad = None", GRAD)
    yield form("{x}.grad = {y}.detach()", GRAD, fit=same)
    yield form("{x}.grad.zero_()", GRAD)
    asked = "{c} = own(tn.autograd.grad({x}.sum(), [{y}], "
    yield form(asked + "retain_graph=True)[0])", GRAD, wants, wanted)
    yield form(asked + "allow_unused=True)[0])", GRAD, wants, wanted, weight=2)
    yield form(asked + "create_graph=True)[0])", GRAD, wants, wanted, weight=4)
    yield form(asked + "create_graph=True, allow_unused=True)[0])", GRAD, wants, wanted)


FORMS = [form for form, _ in _table()]
CHOICES = [form for form, weight in _table() for _ in range(weight)]
