"""Outputs that are computed from each other: their backward passes are nodes of their own."""

import random

import pytest

import tinynet as tn
from tests.unit.capture.pairs import same
from tinynet import nn

STEPS = {
    "times weight": lambda net, a, b: a * net.weight,
    "plus weight": lambda net, a, b: (a + net.weight) * 0.5,
    "product": lambda net, a, b: a @ net.matrix,
    "multiply": lambda net, a, b: a * b,
    "add": lambda net, a, b: a + b * 0.5,
    "sine": lambda net, a, b: a.sin(),
    "exponential": lambda net, a, b: a.tanh().exp(),
    "join": lambda net, a, b: tn.cat([a, b], 1)[:, 1:5],
    "swap": lambda net, a, b: tn.cat([*a.chunk(2, 1)][::-1], 1),
}


class Drawn(nn.Module):
    """A random program of nine steps at most, of which some results are returned."""

    def __init__(self, seed):
        super().__init__()
        draw = random.Random(seed)
        self.weight, self.matrix = nn.Parameter(tn.randn(4)), nn.Parameter(tn.randn(4, 4) * 0.4)
        self.plan = [
            (draw.choice([*STEPS]), draw.randrange(i + 2), draw.randrange(i + 2))
            for i in range(draw.randint(2, 9))
        ]
        places = range(2, len(self.plan) + 2)
        self.returned = draw.sample(places, draw.randint(1, min(len(places), 6)))

    def forward(self, x, z):
        values = [x, z]
        for name, a, b in self.plan:
            values.append(STEPS[name](self, values[a], values[b]))
        return [values[place] for place in self.returned]


def trained(seed, compiling):
    """Return results, gradients and what hooks saw, of six passes from three sets of results."""
    tn.manual_seed(seed)
    net, seen, found = Drawn(seed), [], []
    called = tn.compile(net) if compiling else net
    draw = random.Random(-seed)
    count = len(net.returned)
    sets = [draw.sample(range(count), draw.randint(1, count)) for _ in range(3)]
    for name, p in net.named_parameters():
        p.register_hook(lambda g, name=name: seen.append((name, None if g is None else g.clone())))
    for i in range(6):
        x = (tn.arange(12.0).view(3, 4) + i).sin().requires_grad_()
        results = called(x, (tn.arange(12.0).view(3, 4) * 1.3 + i).cos())
        for j, t in enumerate(results):
            if t.requires_grad:
                t.register_hook(lambda g, j=j: seen.append((f"result {j}", g.clone())))
        loss = sum((results[j] * (j + 0.7)).sin().sum() for j in sets[i % 3])
        if loss.requires_grad:
            loss.backward()
        grads = [None if p.grad is None else p.grad.clone() for p in net.parameters()]
        found += [[t.detach() for t in results], x.grad, grads, sorted(seen, key=lambda s: s[0])]
        seen.clear()
        net.zero_grad()
    return found, called


@pytest.mark.filterwarnings("ignore::tinynet.compiler.CompileWarning")
def test_random_programs():
    eager = 0
    for seed in range(60):
        expected, _ = trained(seed, False)
        found, called = trained(seed, True)
        same(found, expected, f"program {seed}")
        eager += called.explain().calls.eager > 0
    assert eager < 10


def test_hooks_where_a_pass_does_not_go():
    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk, self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 2), nn.Linear(3, 2)

        def forward(self, x):
            x = self.trunk(x).tanh()
            return self.first(x), self.second(x)

    net, seen = Heads(), []
    compiled = tn.compile(net)
    net.second.weight.register_hook(lambda g: seen.append(g * 2))
    net.second.bias.register_post_accumulate_grad_hook(seen.append)
    for _ in range(4):
        first, second = compiled(tn.ones(2, 3))
        second.register_hook(lambda g: seen.append(g * 2))
        first.sum().backward()
    assert not seen and net.second.weight.grad is None
    sum(compiled(tn.ones(2, 3))).sum().backward()
    assert len(seen) == 2
    assert compiled.explain().calls.eager == 0
