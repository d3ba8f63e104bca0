"""Random modules that set and read attributes, eager and compiled: to the bit the same.

Between calls, attributes are replaced, get other data, or become the same tensor; what is passed
may share memory with them. Values, versions and requirements of all tensors are compared after
each.
"""

import linecache
import warnings
from random import Random

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.compiler import CompileWarning

NAMES = "pqr"
QUICK, FULL, PARTS = 50, 3000, 20


class Base(nn.Module):
    """A layer, and tensors in attributes of its own and of a part."""

    def __init__(self):
        super().__init__()
        self.layer, self.part = nn.Linear(3, 3), nn.Module()
        for i, name in enumerate(NAMES):
            setattr(self, name, tn.full((3,), 0.3 + i))
            setattr(self.part, name, tn.zeros(3))


def expression(draw: Random, depth: int = 0) -> str:
    name = f"self.{draw.choice(NAMES)}"
    plain = [name, name, name, "hidden", "x.mean(0)", f"{name}.detach()", f"{name}.data"]
    plain.append(f"self.layer.weight[{draw.randrange(3)}]")
    choice = draw.randrange(12)
    if choice < len(plain) or depth > 2:
        return plain[choice % len(plain)]
    form = draw.choice(["({} + {})", "({} * 0.5)", "tn.tanh({})", "({} - {}).sin()"])
    return form.format(*(expression(draw, depth + 1) for _ in range(form.count("{}"))))


def statement(draw: Random) -> str:
    a, b, c = (draw.choice(NAMES) for _ in range(3))
    value = expression(draw)
    return draw.choice([
        f"self.{a} = {value}",
        f"self.{a} = {value}",
        f"self.{a} = ({value}).detach()",
        f"self.{a}.data = ({value}).detach().clone()",
        f"self.{a}.data = ({value}).data",
        f"with tn.no_grad(): self.{a}.mul_(0.9)",
        f"self.{a} += ({value}).detach()",
        f"setattr(self, '{a}', ({value}).detach())",
        f"hidden = {value} + hidden",
        f"hidden = hidden * {value}",
        f"self.part.{a} = ({value}).detach(); hidden = hidden + self.part.{a}",
        f"self.{a}, self.{b} = self.{c}, ({value}).detach()",
    ])  # fmt: skip


def module(draw: Random, seed: int) -> tuple[type[Base], str]:
    """Return a random class and its source."""
    result = "hidden * 1.0" if draw.random() < 0.7 else f"hidden * 1.0, {expression(draw)}"
    body = [statement(draw) for _ in range(draw.randrange(1, 6))]
    lines = ["class Net(Base):", "    def forward(self, x):"]
    lines += [f"        {line}" for line in ["hidden = self.layer(x).sum(0)", *body]]
    source = "\n".join([*lines, f"        return {result}"])
    file = f"<module {seed}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    namespace = {"Base": Base, "tn": tn}
    exec(compile(source, file, "exec"), namespace)
    return namespace["Net"], source


def appearance(net: Base, result) -> list:
    found = list(result) if isinstance(result, tuple) else [result]
    found += [getattr(owner, name) for owner in (net, net.part) for name in NAMES]
    return [
        (t.detach().numpy().tobytes(), tuple(t.shape), t.requires_grad, t.is_leaf, t._version)
        for t in found
    ]


def between(net: Base, what: int, name: str, i: int) -> None:
    """Change attributes as a user would between two calls."""
    held = getattr(net, name)
    if what == 0:
        setattr(net, name, tn.ones(3) * i)
    elif what == 1:
        held.data.mul_(0.5)
    elif what == 2:
        held.data = tn.ones(3)
    elif what == 3:
        net.p = net.q


def called(net: Base, x, what: int, name: str, i: int, detaches: bool, backward: bool):
    """Return what can be seen of a call, or its error."""
    try:
        for each in NAMES if detaches else "":
            if getattr(net, each).requires_grad:
                setattr(net, each, getattr(net, each).detach())
        between(net, what, name, i)
        if what == 4:
            x = getattr(net, name).detach().expand(2, 3)
        net.zero_grad()
        result = net(x)
        seen = appearance(net, result)
        first = result[0] if isinstance(result, tuple) else result
        if backward and first.requires_grad:
            first.sum().backward()
        return seen, [p.grad for p in net.parameters()]
    except RuntimeError as error:
        return type(error), []


def run(seed: int) -> int:
    """Compare ten calls; return the number of replays."""
    draw = Random(seed)
    kind, source = module(draw, seed)
    sides = []
    for _ in range(2):
        tn.manual_seed(seed)
        sides.append(kind())
    sides[1].compile(verify=0)
    options = draw.random() < 0.7, draw.random() < 0.7
    for i in range(10):
        what, name = draw.randrange(16), draw.choice(NAMES)
        x = tn.randn(2, 3)
        mine, its = (called(net, x, what, name, i, *options) for net in sides)
        assert mine[0] == its[0], f"call {i} of\n{source}"
        if not isinstance(mine[0], list):
            break
        for a, b in zip(mine[1], its[1], strict=True):  # uses outside are added up otherwise
            assert (a is None) == (b is None), source
            assert a is None or tn.allclose(a, b, 1e-4, 1e-4, equal_nan=True), source
    return sides[1].forward.calls().replayed


@pytest.mark.parametrize("part", range(PARTS))
def test_random_modules(part, request):
    count = FULL if request.config.getoption("--full") else QUICK
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # numbers may overflow
        replayed = [run(seed) for seed in range(part, count, PARTS)]
    assert sum(replayed) > len(replayed)
