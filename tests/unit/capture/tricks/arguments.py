"""Tricks about what is passed: each reads a property of the argument's place."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import types
from typing import Any

import numpy as np

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn

from .table import ones, outcome, trick, value, with_each


def leaf() -> Any:
    """Return a leaf."""
    return tn.ones(2, requires_grad=True)


def with_gradient() -> Any:
    """Return a leaf with a gradient."""
    t = leaf()
    t.grad = tn.ones(2) * 3
    return t


def derived() -> Any:
    """Return a result that requires grad."""
    return leaf() * 2


def retained() -> Any:
    """Return a result that keeps its gradient."""
    t = leaf() * 2
    t.retain_grad()
    return t


def part() -> Any:
    """Return a view into a larger tensor."""
    return tn.arange(6.0)[3:5]


def other_part() -> Any:
    """Return another view of the same form."""
    return tn.arange(6.0)[1:3]


def written() -> Any:
    """Return a tensor that was written to."""
    return tn.ones(2).add_(1).sub_(1)


FORMS = leaf, with_gradient, derived, retained, ones, part, other_part, written

READS = {
    "grad_is_none": lambda p: p * 1 if p.grad is None else p * 2,
    "no_grad_and_grad_is_none": lambda p: p.detach() * (2 if p.grad is None else 3),
    "grad_truthiness": lambda p: p * (2 if p.grad is not None else 3),
    "grad_by_getattr": lambda p: p * (2 if getattr(p, "grad", None) is None else 3),
    "grad_value": lambda p: p + (0 if p.grad is None else p.grad),
    "grad_fn": lambda p: p * (2 if p.grad_fn is None else 3),
    "grad_fn_name": lambda p: p * (2 if p.grad_fn is None else len(p.grad_fn.name())),
    "retains_grad": lambda p: p * (2 if p.retains_grad else 3),
    "is_leaf": lambda p: p * (2 if p.is_leaf else 3),
    "requires_grad": lambda p: p * (2 if p.requires_grad else 3),
    "base": lambda p: p * (2 if p._base is None else 3),
    "base_shape": lambda p: p * (2 if p._base is None else len(p._base)),
    "base_sum": lambda p: p + (0 if p._base is None else p._base.detach().sum()),
    "storage_offset": lambda p: p * (1 + p.storage_offset()),
    "storage_size": lambda p: p * (1 + p.untyped_storage().nbytes()),
    "storage_length": lambda p: p * len(p.untyped_storage()),
    "as_strided": lambda p: p.detach().as_strided((1,), (1,), 0) + p,
    "as_strided_at_one": lambda p: p.detach().as_strided((1,), (1,), 1) * p,
    "as_strided_default": lambda p: p.detach().as_strided((2,), (0,)) * p,
    "version": lambda p: p * (1 + p._version),
    "is_view": lambda p: p * (2 if p._is_view() else 3),
    "kind": lambda p: p * (2 if isinstance(p, nn.Parameter) else 3),
    "contiguous_is_same": lambda p: p * (2 if p.contiguous() is p else 3),
    "stride": lambda p: p * (1 + p.stride(0)),
    "set_": lambda p: tn.zeros(1).set_(p.detach().untyped_storage(), 0, (1,)) + p,
    "hash_in_a_set": lambda p: p * (2 if p in {p} else 3),
    "identity_in_a_list": lambda p: p * (2 if any(t is p for t in HELD) else 3),
    "identity_in_a_dict": lambda p: p * (2 if id(p) in {id(t) for t in HELD} else 3),
    "attribute": lambda p: p * (2 if hasattr(p, "tag") else 3),
    "resizes": lambda p: p.detach().clone().resize_(1) + p,
    "inference": lambda p: p * (2 if p.is_inference() else 3),
    "output_nr": lambda p: p * (2 + p.output_nr),
    "next_functions": lambda p: p * (2 if p.grad_fn is None else 2 + len(p.grad_fn.next_functions)),
    "length": lambda p: p * len(p) * p.numel() * p.nbytes,
    "itself_among_defaults": lambda p, held=[]: p * (2 if held and held[0] is p else 3),
}  # fmt: skip
HELD = [tn.ones(2)]


def _held() -> Any:
    return HELD[0]


def _tagged() -> Any:
    t = tn.ones(2)
    t.tag = 1
    return t


def _inference() -> Any:
    with tn.inference_mode():
        return tn.ones(2)


def _parameter() -> Any:
    return nn.Parameter(tn.ones(2))


def _expanded() -> Any:
    return tn.ones(1).expand(2)


def _second_output() -> Any:
    return (leaf() * 2).split(1)[1].expand(2)


MORE = {
    "identity_in_a_list": _held, "identity_in_a_dict": _held, "attribute": _tagged,
    "inference": _inference, "kind": _parameter, "stride": _expanded, "output_nr": _second_output,
}  # fmt: skip


def _of_form(read: Any, name: str) -> Any:
    forms = (*FORMS, MORE[name]) if name in MORE else FORMS

    def run(C: Any) -> Any:
        one_by_one = [with_each(C, read, forms[0], form) for form in forms[1:]]
        return [*one_by_one, with_each(C, read, *forms[4:], *forms[:4])]

    run.__name__ = f"argument_{name}"
    return run


for _name, _read in READS.items():
    trick(_of_form(_read, _name))


# ---- several arguments --------------------------------------------------------------------------


def _storage(t: Any) -> int:
    return t.untyped_storage().data_ptr()


def pairs(C: Any, function: Any) -> Any:
    """Call with pairs of tensors that overlap in several ways."""

    def apart() -> Any:
        return tn.ones(2, 2), tn.arange(4.0).view(2, 2)

    def same() -> Any:
        t = tn.arange(4.0).view(2, 2)
        return t, t

    def turned() -> Any:
        t = tn.arange(4.0).view(2, 2)
        return t, t.t()

    def shifted() -> Any:
        t = tn.arange(6.0)
        return t[:4].view(2, 2), t[2:].view(2, 2)

    def viewed() -> Any:
        t = tn.arange(4.0).view(2, 2)
        return t, t[:]

    def detached() -> Any:
        t = tn.arange(4.0).view(2, 2)
        return t, t.detach()

    def data() -> Any:
        t = tn.arange(4.0).view(2, 2)
        return t, t.data

    def apart_turned() -> Any:
        return tn.ones(2, 2), tn.arange(4.0).view(2, 2).t()

    def expanded() -> Any:
        return tn.ones(1, 1).expand(2, 2), tn.arange(4.0).view(2, 2)

    kinds = (same, turned, shifted, viewed, detached, data, apart_turned, expanded)
    found = [with_each(C, function, apart, kind) for kind in kinds]
    return [*found, with_each(C, function, apart_turned, turned, shifted)]


PAIRS = {
    "add_": lambda x, y: x.add_(y).clone().sum(),
    "copy_": lambda x, y: x.copy_(y).sum(),
    "mul_then_read": lambda x, y: (x.mul_(2), y * 1)[1],
    "write_one_read_other": lambda x, y: (x.zero_(), (x + y).sum())[1],
    "row_from_other": lambda x, y: (x[0].copy_(y[1]), x + y)[1],
    "is_same": lambda x, y: x * (2 if x is y else 3),
    "same_pointer": lambda x, y: x * (2 if x.data_ptr() == y.data_ptr() else 3),
    "same_storage": lambda x, y: x * (2 if _storage(x) == _storage(y) else 3),
    "is_set_to": lambda x, y: x * (2 if x.is_set_to(y) else 3),
    "base_is": lambda x, y: x * (2 if y._base is x else 3),
    "out": lambda x, y: tn.mul(x, 2, out=y).sum() + x,
    "out_matmul": lambda x, y: tn.matmul(x, y, out=x).sum(),
    "same_version": lambda x, y: (x.add_(1), y * (1 + y._version))[1],
    "addmm_": lambda x, y: x.addmm_(y, y).sum(),
    "swap": lambda x, y: (x.copy_(y + 1), y.copy_(x * 2), x + y)[2],
    "cumsum_into": lambda x, y: tn.cumsum(x, 0, out=y) + x,
    "where_into": lambda x, y: x.masked_fill_(y > 1, 5.0) + y,
    "index_put_": lambda x, y: x.index_put_((tn.tensor([0]),), y[1]) + y,
    "returns_both": lambda x, y: (x, y, x + y),
    "as_strided_": lambda x, y: y.as_strided((2,), (1,), 0) + x,
    "transposed_write": lambda x, y: (x.t().add_(y), x.clone())[1],
    "data_assigned": lambda x, y: (x.data.copy_(y.data), x * 1)[1],
    "equal_storages": lambda x, y: x * (2 if x.storage_offset() == y.storage_offset() else 3),
}  # fmt: skip


def _of_pairs(function: Any, name: str) -> Any:
    def run(C: Any) -> Any:
        return pairs(C, function)

    run.__name__ = f"pair_{name}"
    return run


for _name, _function in PAIRS.items():
    trick(_of_pairs(_function, _name))


# ---- objects ------------------------------------------------------------------------------------


class Options:
    """An object that is passed."""

    def __init__(self, scale: float = 2.0):
        self.scale = scale


@trick
def passed_object_changes(C: Any) -> Any:
    options = Options()
    g, found = C(lambda x, o: x * o.scale), []
    for scale in (2.0, 2.0, 2.0, 3.0, 3.0, 4.0):
        options.scale = scale
        found.append(outcome(g, ones(), options))
    return found


@trick
def passed_namespace(C: Any) -> Any:
    g = C(lambda x, o: x * o.scale)
    return [outcome(g, ones(), types.SimpleNamespace(scale=s)) for s in (1, 1, 1, 2, 2, 3)]


@trick
def passed_list_of_numbers(C: Any) -> Any:
    row = [1.0, 2.0]
    g, found = C(lambda x, r: x * r[0] * len(r)), []
    for i in range(7):
        if i == 4:
            row.append(3.0)
        if i == 5:
            row[0] = 5.0
        found.append(outcome(g, ones(), row))
    return found


@trick
def passed_dict_order(C: Any) -> Any:
    g = C(lambda x, d: x * next(iter(d.values())))
    rows = [{"a": 1.0, "b": 2.0}] * 4 + [{"b": 2.0, "a": 1.0}] * 2
    return [outcome(g, ones(), dict(row)) for row in rows]


@trick
def passed_ordered_dict(C: Any) -> Any:
    d = collections.OrderedDict(a=1.0, b=2.0)
    g, found = C(lambda x, d: x * next(iter(d.values()))), []
    for i in range(7):
        if i == 4:
            d.move_to_end("a")
        found.append(outcome(g, ones(), d))
    return found


@trick
def passed_range(C: Any) -> Any:
    g = C(lambda x, r: x * r.stop)
    return [outcome(g, ones(), r) for r in [range(0, 3, 2)] * 4 + [range(0, 4, 2)] * 2]


@trick
def passed_slice(C: Any) -> Any:
    g = C(lambda x, s: x[s] * 2)
    return [outcome(g, tn.arange(4.0), s) for s in [slice(0, 2)] * 4 + [slice(1, 3)] * 2]


@trick
def passed_tuple_subclass(C: Any) -> Any:
    class Pair(tuple):
        scale = 1.0

    g, found = C(lambda x, p: x * p.scale), []
    for scale in (1.0,) * 4 + (2.0, 2.0):
        pair = Pair((1, 2))
        pair.scale = scale
        found.append(outcome(g, ones(), pair))
    return found


@trick
def passed_frozen_dataclass(C: Any) -> Any:
    @dataclasses.dataclass(frozen=True)
    class Config:
        scale: float = 1.0

    config = Config()
    g, found = C(lambda x, c: x * c.scale), []
    for scale in (1.0,) * 4 + (2.0, 2.0):
        object.__setattr__(config, "scale", scale)
        found.append(outcome(g, ones(), config))
    return found


@trick
def passed_dataclass_with_more(C: Any) -> Any:
    @dataclasses.dataclass(frozen=True)
    class Config:
        scale: float = 1.0

        def __post_init__(self) -> None:
            object.__setattr__(self, "cached", self.scale * 2)

    config = Config()
    g, found = C(lambda x, c: x * c.cached), []
    for cached in (1.0,) * 4 + (2.0, 2.0):
        object.__setattr__(config, "cached", cached)
        found.append(outcome(g, ones(), config))
    return found


@trick
def passed_dataclass_with_a_hidden_field(C: Any) -> Any:
    @dataclasses.dataclass(frozen=True)
    class Config:
        scale: float = 1.0
        extra: float = dataclasses.field(default=1.0, compare=False)

    g = C(lambda x, c: x * c.extra)
    return [outcome(g, ones(), Config(1.0, e)) for e in (1.0,) * 4 + (2.0, 2.0)]


@trick
def passed_enum_members(C: Any) -> Any:
    class Mode(enum.IntFlag):
        A = 1
        B = 2

    g = C(lambda x, m: x * (2 if Mode.B in m else 3))
    return [outcome(g, ones(), m) for m in [Mode.A] * 4 + [Mode.A | Mode.B] * 2 + [1, 3]]


@trick
def passed_equal_numbers(C: Any) -> Any:
    g = C(lambda x, n: x * n)
    numbers = [1, 1, 1, 1.0, 1.0, True, True, np.float32(1), np.int64(1), 1 + 0j, -0.0, 0.0]
    return [outcome(g, tn.ones(2, dtype=tn.int64), n) for n in numbers]


@trick
def passed_nan(C: Any) -> Any:
    g, nan = C(lambda x, n: x * (2 if n != n else n)), float("nan")
    return [outcome(g, ones(), n) for n in (nan, nan, nan, float("nan"), 3.0, nan)]


@trick
def passed_function(C: Any) -> Any:
    def scaled(t: Any) -> Any:
        return t * scaled.scale

    scaled.scale = 1.0
    g, found = C(lambda x, f: f(x)), []
    for scale in (1.0,) * 4 + (2.0, 2.0):
        scaled.scale = scale
        found.append(outcome(g, ones(), scaled))
    return found


@trick
def passed_partial(C: Any) -> Any:
    partial = functools.partial(lambda t, scale: t * scale, scale=1.0)
    g, found = C(lambda x, f: f(x)), []
    for scale in (1.0,) * 4 + (2.0, 2.0):
        partial.keywords["scale"] = scale
        found.append(outcome(g, ones(), partial))
    return found


@trick
def passed_class(C: Any) -> Any:
    g, found = C(lambda x, c: x * getattr(c, "scale", 1.0)), []
    kind = type("Kind", (), {})
    for i in range(7):
        if i == 4:
            kind.scale = 5.0
        found.append(outcome(g, ones(), kind))
    return found


@trick
def passed_module(C: Any) -> Any:
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.load_state_dict({k: v * 2 for k, v in a.state_dict().items()})
    g = C(lambda x, m: m(x))
    return [outcome(g, ones(), m) for m in [a] * 4 + [b] * 3 + [a]]


@trick
def passed_array(C: Any) -> Any:
    array = np.ones(2, np.float32)
    g, found = C(lambda x, n: x + tn.from_numpy(n)), []
    for i in range(7):
        array[0] = i // 4
        found.append(outcome(g, ones(), array))
    return found


@trick
def passed_tensor_in_a_dict_with_a_gradient(C: Any) -> Any:
    g, found = C(lambda d: d["p"] * (2 if d["p"].grad is None else 3)), []
    for i in range(8):
        p = with_gradient() if i >= 4 else leaf()
        found.append(outcome(g, {"p": p}))
    return found


@trick
def keyword_order(C: Any) -> Any:
    g = C(lambda x, **k: x * next(iter(k.values())))
    return [
        outcome(g, ones(), **k) for k in [{"a": 1.0, "b": 2.0}] * 4 + [{"b": 2.0, "a": 1.0}] * 2
    ]


@trick
def positional_or_keyword(C: Any) -> Any:
    g = C(lambda *a, **k: a[0] * len(a) + len(k))
    return [
        outcome(g, ones(), *a, **k)
        for a, k in [((1,), {})] * 4 + [((), {"s": 1})] * 4 + [((1,), {})]
    ]


@trick
def optional_argument(C: Any) -> Any:
    g = C(lambda x, mask=None: x * 2 if mask is None else x * mask)
    calls = [()] * 4 + [(tn.zeros(2),)] * 4 + [(None,)] * 2 + [()]
    return [outcome(g, ones(), *a) for a in calls]


@trick
def update_of_each_parameter(C: Any) -> Any:
    @tn.no_grad()
    def update(p: Any, lr: float) -> Any:
        if p.grad is not None:
            p.sub_(lr * p.grad)
        return p.detach().clone()

    g, ps = C(update), [nn.Parameter(tn.zeros(2)) for _ in range(10)]
    for p in ps[4:7]:
        p.grad = tn.ones(2)
    return [outcome(g, p, 1.0) for p in ps], value(ps)


@trick
def zero_the_gradient_of_an_argument(C: Any) -> Any:
    def clear(p: Any) -> Any:
        p.grad = None
        return p.detach() * 2

    g, ps = C(clear), [with_gradient() for _ in range(6)]
    return [outcome(g, p) for p in ps], [p.grad is None for p in ps]


@trick
def accumulate_into_an_argument(C: Any) -> Any:
    def step(p: Any) -> Any:
        (p * 3).sum().backward()
        return p.grad.clone()

    g, found = C(step), []
    p = leaf()
    for i in range(9):
        if i in (3, 6):
            p.grad = None if i == 3 else tn.ones(2) * 7
        found.append((outcome(g, p), value(p.grad), p.grad._version))
    return found


@trick
def gradient_tensor_is_the_same(C: Any) -> Any:
    p, found = leaf(), []
    g = C(lambda x: ((p * x).sum().backward(), x * 1)[1])
    for i in range(8):
        before = p.grad
        g(ones())
        found.append((before is p.grad, value(p.grad), p.grad._version, p.grad.is_leaf))
        if i == 5:
            p.grad = p.grad.clone()
    return found


@trick
def gradient_of_another_layout(C: Any) -> Any:
    p = tn.ones(2, 3, requires_grad=True)
    g, found = C(lambda x: ((p * x).sum().backward(), x * 1)[1]), []
    for i in range(8):
        if i == 4:
            p.grad = tn.ones(3, 2).t()
        g(tn.arange(6.0).view(2, 3))
        found.append((value(p.grad), p.grad.stride()))
    return found


@trick
def gradient_that_is_shared(C: Any) -> Any:
    p, q = leaf(), leaf()
    g, found = C(lambda x: ((p * q * x).sum().backward(), x * 1)[1]), []
    for i in range(8):
        if i == 4:
            p.grad = q.grad = tn.ones(2)
        g(ones())
        found.append((value(p.grad), value(q.grad), p.grad is q.grad))
    return found


@trick
def gradient_that_is_the_parameter(C: Any) -> Any:
    p = leaf()
    g, found = C(lambda x: ((p * x).sum().backward(), x * 1)[1]), []
    for i in range(7):
        if i == 4:
            p.grad = p.detach()
        found.append((outcome(g, ones()), value(p), value(p.grad)))
    return found


@trick
def cross_entropy_targets(C: Any) -> Any:
    g = C(lambda x, t: F.cross_entropy(x, t))
    rows = [tn.tensor([0, 1])] * 4 + [tn.tensor([0, 9]), tn.tensor([1, -100]), tn.tensor([0, -1])]
    return [outcome(g, tn.arange(6.0).view(2, 3), t) for t in rows]
