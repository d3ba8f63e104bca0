"""Models whose graphs the tests look at."""

import tinynet as tn
from tinynet import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.act = nn.ReLU()
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


class Reuse(nn.Module):
    """One activation, called three times, twice without anything between the calls."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = nn.Tanh()

    def forward(self, x):
        x = self.act(self.act(x))
        return self.act(self.fc(x))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.ReLU())

    def forward(self, x):
        return x + self.body(x)


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(4), Block(4)])
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 2), "b": nn.Linear(4, 2)})

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return [head(x) for head in self.heads.values()]


class Structured(nn.Module):
    """A dict goes in, with keyword arguments beside it, and a nested structure comes out."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, batch, mask=None, scale=1.0):
        out = self.fc(batch["x"]) + self.fc(batch["more"][1])
        if mask is not None:
            out = out * mask
        return {"out": out * scale, "aux": (None, [out, "done"])}


class Tied(nn.Module):
    """The decoder's weight is the embedding's."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.decode = nn.Linear(4, 7, bias=False)
        self.decode.weight = self.embed.weight

    def forward(self, tokens):
        return self.decode(self.embed(tokens))


class Recurrent(nn.Module):
    """A Python loop over time steps, and a branch that depends on the input."""

    def __init__(self):
        super().__init__()
        self.cell = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        h = tn.zeros(4)
        for step in x:
            h = self.cell(step + h)
        return self.head(h) if h.sum() == h.sum() else h


class Part(nn.Module):
    def __init__(self, shared):
        super().__init__()
        self.shared = shared

    def forward(self, x):
        return self.shared(x)


class Shared(nn.Module):
    """One module that is an attribute of two others."""

    def __init__(self):
        super().__init__()
        shared = nn.Linear(4, 4)
        self.left = Part(shared)
        self.right = Part(shared)

    def forward(self, x):
        return self.left(x) * self.right(x)


class Stateful(nn.Module):
    """Everything that a forward may change."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.5)
        self.embed = nn.Embedding(5, 4, max_norm=0.1)
        self.register_buffer("mean", tn.zeros(4))
        self.register_buffer("count", tn.tensor(0))
        self.calls = 0
        self.history = []
        self.cache = {"last": tn.zeros(4)}
        self.generator = tn.Generator().manual_seed(3)

    def forward(self, x):
        self.calls += 1
        self.history.append(self.calls)
        self.mean.mul_(0.9).add_(x.mean(0))
        self.count = self.count + 1
        self.cache["last"].add_(1)
        self.cache["new"] = x
        self.hidden = x
        self.train(not self.training)
        x.add_(tn.rand(4, generator=self.generator) + tn.rand(4))
        with tn.enable_grad():
            self.fc(x).sum().backward()
        return self.drop(self.fc(x)) + self.embed(tn.tensor([1, 2, 3]))
