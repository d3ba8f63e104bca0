"""Training steps whose recordings the tests look at: the models that people train."""

import tinynet as tn
from tests.unit.board import models
from tinynet import nn, optim
from tinynet.nn import functional as F


class CNN(nn.Module):
    def __init__(self, width=4, size=8):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3)
        self.norm = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(width * (size // 2 - 1) ** 2, 3)

    def forward(self, x):
        x = self.pool(self.norm(self.stem(x)).relu())
        return self.head(x.flatten(1))


class Loop(nn.Module):
    """An LSTM cell in a Python loop."""

    def __init__(self, width=4):
        super().__init__()
        self.cell = nn.LSTMCell(3, width)
        self.head = nn.Linear(width, 1)

    def forward(self, xs):
        h = c = tn.zeros(xs.shape[1], self.cell.hidden_size)
        for x in xs:
            h, c = self.cell(x, (h, c))
        return self.head(h)


class Language(nn.Module):
    """A transformer whose output weight is that of the embedding."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True) for _ in range(2)
        )
        self.decode = nn.Linear(8, 11, bias=False)
        self.decode.weight = self.embed.weight

    def forward(self, tokens):
        h = self.embed(tokens)
        for layer in self.layers:
            h = layer(h)
        return self.decode(h)


class Renormed(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4, max_norm=0.5)
        self.head = nn.Linear(4, 2)

    def forward(self, tokens):
        return self.head(self.embed(tokens))


class Branching(nn.Module):
    """Dicts in and out, and an `if` on the data."""

    def __init__(self):
        super().__init__()
        self.small = nn.Linear(4, 2)
        self.large = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, batch, *, scale=None):
        chosen = self.large if batch["x"].mean() > 0.5 else self.small
        out = chosen(batch["x"]) + batch["extra"][0]
        return {"out": out if scale is None else out * scale, "aux": [None, batch["x"].sum()]}


def _step(model, loss, kind=optim.Adam):
    """A function that does one training step; the model; nothing else is to be known."""
    optimizer = kind(model.parameters(), lr=0.01)

    def step(rec=None):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value

    return model, step


def mlp():
    model, x, y = models.MLP(), tn.rand(5, 4), tn.rand(5, 3)
    return _step(model, lambda: (model(x) - y).pow(2).mean(), optim.SGD)


def cnn(width=4, size=8):
    model, x, y = CNN(width, size), tn.rand(2, 1, size, size), tn.tensor([0, 2])
    criterion = nn.CrossEntropyLoss()
    return _step(model, lambda: criterion(model(x), y))


def lstm():
    model, xs = Loop(), tn.rand(6, 2, 3)
    return _step(model, lambda: model(xs).pow(2).sum(), optim.RMSprop)


def transformer():
    model, tokens = Language(), tn.tensor([[1, 2, 3, 4], [5, 6, 7, 0]])
    return _step(model, lambda: F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()))


def branching():
    model = Branching()
    batch = {"x": tn.ones(3, 4), "extra": (tn.rand(3, 2), None, "hello")}
    return _step(model, lambda: model(batch, scale=2.0)["out"].mean())


def renormed():
    model, tokens = Renormed(), tn.tensor([1, 3, 3])
    return _step(model, lambda: model(tokens).pow(2).sum(), optim.SGD)


def gan():
    """Two models, two optimizers, two steps: the parts `discriminator` and `generator`."""
    pair = nn.ModuleDict(
        {"G": nn.Linear(2, 4), "D": nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))}
    )
    real, noise = tn.rand(3, 4), tn.rand(3, 2)
    of_d = optim.Adam(pair["D"].parameters())
    of_g = optim.Adam(pair["G"].parameters())

    def discriminate():
        of_d.zero_grad()
        fake = pair["G"](noise).detach()
        loss = F.softplus(-pair["D"](real)).mean() + F.softplus(pair["D"](fake)).mean()
        loss.backward()
        of_d.step()

    def generate():
        of_g.zero_grad()
        loss = F.softplus(-pair["D"](pair["G"](noise))).mean()
        loss.backward()
        of_g.step()

    def step(rec=None):
        for name, part in (("discriminator", discriminate), ("generator", generate)):
            if rec is None:
                part()
            else:
                with rec.part(name):
                    part()

    return pair, step


STEPS = {
    "mlp": mlp,
    "cnn": cnn,
    "lstm": lstm,
    "transformer": transformer,
    "branching": branching,
    "renormed": renormed,
    "gan": gan,
}
