"""Loops of native functions that threads share, in steps large enough for it."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import assert_near
from tinynet import nn, optim
from tinynet.kernels import onednn, threads
from tinynet.kernels.llvm import sharing
from tinynet.nn import functional as F

pytest.importorskip("llvmlite")


class Perceptron(nn.Module):
    """Rows of 512 through a norm, GELU and 700 classes."""

    def __init__(self):
        super().__init__()
        self.grow, self.norm = nn.Linear(40, 512), nn.LayerNorm(512)
        self.head = nn.Linear(512, 700)

    def forward(self, x):
        return self.head(F.gelu(self.norm(self.grow(x))).tanh())


class Images(nn.Module):
    """32 channels of 24x24, with batch norm, a short cut and pooling."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 32, 3, padding=1), nn.Conv2d(32, 32, 3, padding=1)
        self.norm, self.other, self.head = nn.BatchNorm2d(32), nn.BatchNorm2d(32), nn.Linear(32, 5)

    def forward(self, x):
        y = F.relu(self.norm(self.first(x)))
        y = F.max_pool2d(F.relu(y + self.other(self.second(y))), 2)
        return self.head(F.adaptive_avg_pool2d(y, 1).flatten(1))


class Text(nn.Module):
    """Attention of four heads over 100 places."""

    def __init__(self):
        super().__init__()
        self.qkv, self.head = nn.Linear(64, 192), nn.Linear(64, 9)

    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, 4, 16).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.head(y.transpose(1, 2).flatten(2)).flatten(0, 1)


# The model, the shape of its input, and the length of the longest sum.
STEPS = {
    "perceptron": (Perceptron, (600, 40), 512),
    "images": (Images, (16, 1, 24, 24), 16 * 24 * 24),
    "text": (Text, (20, 100, 64), 20 * 100),
}


def trained(name, dtype, **options):
    """The loss, and the parameters and their gradients, of a third step."""
    model, shape, _ = STEPS[name]
    tn.manual_seed(0)
    net = model().to(tn.float32).to(dtype)
    optimizer = optim.SGD(net.parameters(), lr=1e-3, momentum=0.5)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    step = tn.compile(step, **options) if options else step
    rng = np.random.default_rng(0)
    for _ in range(3):
        x = tn.from_numpy(rng.standard_normal(shape).astype("f4")).to(dtype)
        loss = step(x, tn.from_numpy(rng.integers(0, 5, net(x[:1]).shape[0] * shape[0])))
    named = dict(net.named_parameters())
    found = {n: p.detach().numpy() for n, p in named.items()}
    found |= {f"{n}.grad": p.grad.numpy() for n, p in named.items()}
    return found | {"loss": loss.detach().numpy()}


def natively(name, count):
    with threads.used(count):
        return trained(name, tn.float32, backend="llvm", fullgraph=True)


@pytest.mark.parametrize("name", STEPS)
def test_results_do_not_depend_on_the_number_of_threads(name):
    once = natively(name, 1)
    for count in (2, 3):
        np.testing.assert_equal(natively(name, count), once)


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_those_of_float64(name):
    exact, found, longest = trained(name, tn.float64), natively(name, 2), STEPS[name][2]
    scale = max(np.abs(value).max() for key, value in exact.items() if key.endswith("grad"))
    for key, value in exact.items():
        least = scale if key.endswith("grad") else 1.0
        size = max(np.abs(value).max(), least)
        assert_near(np.asarray(found[key]), value, 16 * longest, size, key)


def test_threads_share_the_loops(monkeypatch):
    """Programs with loops that are large enough call OpenMP."""
    if not onednn.is_available():
        pytest.skip("needs onednn-cpu-gomp")
    written = []

    def runner(module, body, is_flat, write=sharing.runner):
        written.append(write(module, body, is_flat))
        return written[-1]

    monkeypatch.setattr(sharing, "runner", runner)
    monkeypatch.setattr("tinynet.kernels.llvm.store.read", lambda name: None)
    function = tn.compile(lambda x: x.tanh() * 3, backend="llvm")
    for _ in range(3):
        function(tn.ones(sharing.LARGE))
    assert any(sharing.TEAM in text for text in written)
