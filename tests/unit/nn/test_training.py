"""A model of many layers takes three steps of gradient descent, as PyTorch's does."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, near
from tinynet import nn


def model_of(library, nn):
    """The model in either library."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = nn.Embedding(7, 4, padding_idx=0)
            self.body = nn.Sequential(
                nn.Flatten(),
                nn.Linear(12, 8),
                nn.GELU(),
                nn.Dropout(0.0),
                nn.Linear(8, 8, bias=False),
                nn.PReLU(),
                nn.LeakyReLU(0.1, inplace=True),
            )
            self.heads = nn.ModuleDict({"a": nn.Linear(8, 5)})
            self.scale = nn.Parameter(library.ones(1))
            self.register_buffer("shift", library.zeros(5))

        def forward(self, x):
            return self.heads["a"](self.body(self.emb(x))) * self.scale + self.shift

    return Model()


def values(state):
    """Numbers that depend on nothing but the shapes, for each entry of a state_dict."""
    random = np.random.RandomState(0)
    return {name: 0.5 * random.standard_normal(tuple(t.shape)) for name, t in state.items()}


def train(library, nn, kind):
    model = model_of(library, nn).to(kind)
    numbers = values(model.state_dict())
    model.load_state_dict({n: library.tensor(a.tolist(), dtype=kind) for n, a in numbers.items()})
    random = np.random.RandomState(1)
    x = library.tensor(random.randint(0, 7, (6, 3)).tolist())
    y = library.tensor([0, 1, 2, 3, 4, 0])
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.1)
    seen = []
    for _ in range(3):
        model.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        seen += [loss.item(), norm.item()]
        with library.no_grad():
            for p in model.parameters():
                p -= 0.5 * p.grad
    return [*seen, sum(p.abs().sum().item() for p in model.parameters())]


# losses and norms of the three steps, and the sum of all absolute weights after them
EXPECTED = [
    1.7795076652331279,
    1.2801973391015362,
    1.5386478223896454,
    0.761849843611359,
    1.3839061431148727,
    0.5964657785115681,
    98.02172806659533,
]


@pytest.mark.parametrize("kind", [tn.float64, tn.float32])
def test_three_steps(kind):
    roundings = 3 * 2 * (12 + 8 + 8 + 5 + 6 + 8 * STEPS)  # sums of layers and batch, both ways
    for found, exact in zip(train(tn, nn, kind), EXPECTED, strict=True):
        assert found == near(exact, roundings, dtype=kind.numpy)


@pytest.mark.oracle
def test_three_steps_of_pytorch():
    torch = pytest.importorskip("torch")
    found = train(torch, torch.nn, torch.float64)
    assert found == pytest.approx(EXPECTED, rel=1e-9)
