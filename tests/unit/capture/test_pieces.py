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
    assert eager < 6


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


# ---- loops over steps, which return their outputs and their last state --------------------------


class Loop(nn.Module):
    """A recurrent cell, step by step."""

    def __init__(self, name):
        super().__init__()
        self.kind = name
        cells = {"lstm": nn.LSTMCell, "gru": nn.GRUCell, "rnn": nn.RNNCell}
        self.cell = cells[name](4, 5) if name in cells else nn.Linear(9, 5)
        self.second = nn.GRUCell(5, 5) if name == "two layers" else None
        self.head = nn.Linear(5, 3)

    def step(self, x, h):
        if self.kind == "by hand":  # uses the state several times
            gate = self.cell(tn.cat([x, h], 1)).sigmoid()
            return gate * h + (1 - gate) * (h * 0.5).tanh()
        if self.kind == "two layers":
            first = self.cell(tn.cat([x, h[0]], 1)).tanh()
            return first, self.second(first, h[1])
        return self.cell(x, h)

    def forward(self, x, h):
        outputs, states = [], []
        for part in x:
            h = self.step(part, h)
            top = h[-1 if self.kind == "two layers" else 0] if isinstance(h, tuple) else h
            outputs.append(self.head(top * top) + top.sum(1, keepdim=True))
            states.append(top)
        return tn.stack(outputs), tn.stack(states), h


LOOPS = "lstm", "gru", "rnn", "by hand", "two layers"


def passes_of_a_loop(name, compiling):
    """What hooks and gradients get in passes from several sets of results."""
    tn.manual_seed(3)
    net = Loop(name)
    called = tn.compile(net) if compiling else net
    seen, found = [], []
    pair = name in ("lstm", "two layers")
    for i, kind in enumerate([*[0, 1, 2, 3] * 2, "state only", "ends", "kept", "twice"]):
        h = tuple(tn.full((2, 5), 0.1 * k).requires_grad_() for k in range(1, 3))
        x = (tn.arange(32.0).view(4, 2, 4) + i).sin()
        outputs, states, last = called(x, h if pair else h[0])
        last = last if pair else (last,)
        for j, t in enumerate((outputs, *last)):
            t.register_hook(lambda g, j=j: seen.append((j, g.clone())) if g is not None else None)
        loss = outputs.square().sum()
        if kind in (1, 3):
            loss = loss + (last[0] * 3).sin().sum() + last[0].sum()
        if kind in (2, 3):
            loss = loss + states.exp().sum() + last[-1].cos().sum()
        if kind == "state only":
            loss = last[-1].square().sum()
        if kind == "ends":
            found.append(tn.autograd.grad(loss, [*last[:1], net.head.weight]))
            continue
        if kind == "kept":
            last[0].retain_grad()
        if kind == "twice":
            loss.backward(retain_graph=True)
        loss.backward()
        found.append([last[0].grad if kind == "kept" else None, *(t.grad for t in h)])
        found.append([p.grad for p in net.parameters()])
        net.zero_grad()
    return found, sorted(seen, key=lambda s: s[0]), called


@pytest.mark.filterwarnings("ignore::tinynet.compiler.CompileWarning")
@pytest.mark.parametrize("name", LOOPS)
def test_loops_that_return_their_last_state(name):
    *found, called = passes_of_a_loop(name, True)
    *expected, _ = passes_of_a_loop(name, False)
    same(found, expected)
    assert called.explain().calls.eager == 0


@pytest.mark.sampled(2)  # each of five loops in three or four of the ways, each way by two or more
@pytest.mark.filterwarnings("ignore::tinynet.compiler.CompileWarning")
@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("used", [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]])
def test_second_derivatives_of_loops(name, used):
    found = []
    for compiling in (False, True):
        tn.manual_seed(3)
        net = Loop(name).double()
        called = tn.compile(net) if compiling else net
        for i in range(4):
            h = tuple(tn.full((2, 5), 0.1 * k, dtype=tn.float64).requires_grad_() for k in (1, 2))
            x = (tn.arange(32.0, dtype=tn.float64).view(4, 2, 4) + i).sin()
            results = called(x, h if name in ("lstm", "two layers") else h[0])
            last = results[2][0] if isinstance(results[2], tuple) else results[2]
            loss = sum([*results[:2], last][j].square().sum() for j in used)
            (first,) = tn.autograd.grad(loss, h[:1], create_graph=i == 3)
        first.square().sum().backward()
        found.append([first.detach(), h[0].grad, *(p.grad for p in net.parameters())])
    for one, other in zip(*found, strict=True):
        assert one is None if other is None else tn.allclose(one, other, 1e-9, 1e-12)


def test_truncated_backpropagation_through_time():
    def trained(compiling):
        tn.manual_seed(0)
        net = Loop("lstm")
        called = tn.compile(net) if compiling else net
        optimizer = tn.optim.SGD(net.parameters(), 0.1)
        state, losses = (tn.zeros(2, 5), tn.zeros(2, 5)), []
        for i in range(8):
            outputs, _, state = called((tn.arange(48.0).view(6, 2, 4) + i).sin(), state)
            state = tuple(part.detach() for part in state)
            loss = (outputs - 0.3).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, called

    losses, called = trained(True)
    assert losses == trained(False)[0] and called.explain().calls.eager == 0


class Layers(nn.Module):
    """A recurrent layer, whose outputs are read in some way, and its last state."""

    def __init__(self, kind, read):
        super().__init__()
        self.layer, self.head, self.read = kind(4, 5, 2), nn.Linear(5, 3), read

    def forward(self, x, state):
        y, state = self.layer(x, state)
        return self.read(self.head, y, state), state


def plus_top(head, y, state):
    return head(y) + (state[0] if isinstance(state, tuple) else state)[-1].sum()


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize(
    "read",
    [
        lambda head, y, state: head(y),
        lambda head, y, state: tn.stack([head(part) for part in y]),
        lambda head, y, state: head(y[-1]),
        plus_top,
    ],
    ids=["outputs", "one by one", "last", "with the state"],
)
@pytest.mark.parametrize("used", ["outputs", "state", "both"])
def test_recurrent_layers_whose_outputs_are_read(kind, read, used):
    def passes(compiling):
        tn.manual_seed(0)
        net = Layers(kind, read)
        called = tn.compile(net) if compiling else net
        state, seen, found = None, [], []
        for i in range(6):
            x = (tn.arange(24.0).view(3, 2, 4) + i).sin().requires_grad_()
            y, last = called(x, state)
            parts = last if isinstance(last, tuple) else (last,)
            for j, t in enumerate(parts):
                t.register_hook(lambda g, j=j: seen.append((j, g.clone())) if g is not None else g)
            loss = y.square().sum() if used != "state" else 0
            if used != "outputs":
                loss = loss + sum((t * (k + 1)).sin().sum() for k, t in enumerate(parts))
            loss.backward()
            found.append([x.grad, *(p.grad for p in net.parameters())])
            net.zero_grad()
            state = tuple(t.detach() for t in parts)
            state = state if isinstance(last, tuple) else state[0]
        return found, seen, called

    *found, called = passes(True)
    *expected, _ = passes(False)
    same(found, expected)
    assert called.explain().calls.eager == 0


@pytest.mark.filterwarnings("ignore::tinynet.compiler.CompileWarning")
def test_two_layers_by_hand_whose_gates_are_on_both_ways():
    """The last state of the upper layer leads to the lower one's by its output and by its cell."""

    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.x, self.h = nn.Linear(5, 20), nn.Linear(5, 20, bias=False)

        def forward(self, x, h, c):
            i, f, g, o = (self.x(x) + self.h(h)).chunk(4, 1)
            c = f.exp() * c + i.exp() * g.tanh()
            return o.sigmoid() * c.tanh(), c

    def trained(compiling):
        tn.manual_seed(0)
        cells = nn.ModuleList([Cell(), Cell()])

        def run(x):
            states, outputs = [(tn.zeros(2, 5), tn.zeros(2, 5))] * 2, []
            for part in x:
                for k, cell in enumerate(cells):
                    states[k] = cell(part, *states[k])
                    part = states[k][0]
                outputs.append(part)
            return tn.stack(outputs), states

        called, found = tn.compile(run) if compiling else run, []
        for i in range(5):
            outputs, _ = called((tn.arange(40.0).view(4, 2, 5) + i).sin())
            outputs.square().sum().backward()
            found.append([p.grad for p in cells.parameters()])
            cells.zero_grad()
        return found

    same(trained(True), trained(False))
