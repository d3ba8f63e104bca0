"""Three small networks, written once for both libraries, and how they are trained.

``make(nn, name)`` and ``train(...)`` run under PyTorch (``record.py``, the oracle tests) and under
tinynet.
"""

import numpy as np

NAMES = ("cnn", "lstm", "transformer")


def make(nn, name):
    """Return a network of the library that ``nn`` belongs to."""
    return {"cnn": _cnn, "lstm": _lstm, "transformer": _transformer}[name](nn)


def _cnn(nn):
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 3, groups=2, bias=False),
        nn.GELU(),
        nn.Flatten(),
        nn.Linear(24, 5),
    )


def _lstm(nn):
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(11, 6)
            self.lstm = nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=True)
            self.norm = nn.LayerNorm(10)
            self.head = nn.Linear(10, 5)

        def forward(self, x):
            return self.head(self.norm(self.lstm(self.embedding(x))[0][:, -1]))

    return Reader()


def _transformer(nn):
    class Writer(nn.Module):
        """Its output layer is its embedding: tied weights."""

        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(11, 8)
            layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(8, 11)
            self.head.weight = self.embedding.weight

        def forward(self, x):
            return self.head(self.encoder(self.embedding(x)).mean(1))

    return Writer()


def batch(name):
    """Return inputs and classes as arrays."""
    random = np.random.default_rng(NAMES.index(name))
    if name == "cnn":
        return random.standard_normal((8, 1, 8, 8)), random.integers(0, 5, 8)
    return random.integers(0, 11, (8, 7)), random.integers(0, 5, 8)


def tensors(lib, name, dtype):
    """Return inputs and classes as tensors of a library."""
    inputs, classes = batch(name)
    x = lib.tensor(inputs)
    return x.to(dtype) if name == "cnn" else x, lib.tensor(classes)


def optimizer_of(lib, net):
    return lib.optim.Adam(net.parameters(), lr=0.01, betas=(0.8, 0.99), weight_decay=0.01)


def train(lib, net, optimizer, x, y, steps):
    """Train some steps; return the losses."""
    loss_of = lib.nn.CrossEntropyLoss()
    losses = []
    net.train()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
