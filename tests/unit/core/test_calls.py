"""How many Python functions run for one call of common operations: numbers that only fall.

A process of its own counts, ``python -m tests.unit.core.test_calls``: complex numbers, subclasses
and 16-bit floats, which other tests use, make the calls of a process longer from then on.
"""

import json
import subprocess
import sys
from pathlib import Path

import tinynet as tn
from tinynet import nn
from tinynet.nn import functional as F

X = tn.ones(4, 3)
LEAF = tn.ones(3, requires_grad=True)
IMAGES = tn.ones(2, 3, 8, 8)
CLASSES = tn.tensor([0, 1, 2, 0])
LINEAR, CONV = nn.Linear(3, 2), nn.Conv2d(3, 4, 3)
NORM = nn.BatchNorm2d(3)
LSTM = nn.LSTM(3, 4)
NET = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))
OPTIMIZER = tn.optim.SGD(NET.parameters(), lr=0.1)


def step():
    OPTIMIZER.zero_grad()
    F.cross_entropy(NET(X), CLASSES).backward()
    OPTIMIZER.step()


CALLS = {
    "a * b": (lambda: X * X, 1),
    "x.exp()": (lambda: X.exp(), 1),
    "x.sum()": (lambda: X.sum(), 5),
    "x.sum(dim=1)": (lambda: X.sum(dim=1), 7),
    "tn.sum(x, 1)": (lambda: tn.sum(X, 1), 8),
    "x.mean(1)": (lambda: X.mean(1), 14),
    "x.softmax(1)": (lambda: X.softmax(1), 7),
    "x.view(3, -1)": (lambda: X.view(3, -1), 5),
    "x.reshape": (lambda: X.reshape(3, 4), 6),
    "x.transpose": (lambda: X.transpose(0, 1), 3),
    "x.unbind(1)": (lambda: X.unbind(1), 9),
    "x[0]": (lambda: X[0], 6),
    "tn.cat": (lambda: tn.cat((X, X), 1), 7),
    "tn.where": (lambda: tn.where(X > 0, X, X), 12),
    "tn.zeros(3)": (lambda: tn.zeros(3), 10),
    "tn.rand(3)": (lambda: tn.rand(3), 10),
    "tn.randn(3)": (lambda: tn.randn(3), 12),
    "tn.randint(9, (3,))": (lambda: tn.randint(9, (3,)), 23),
    "F.relu": (lambda: F.relu(X), 4),
    "F.gelu": (lambda: F.gelu(X), 8),
    "F.layer_norm": (lambda: F.layer_norm(X, (3,)), 20),
    "F.layer_norm of one row": (lambda: F.layer_norm(X[:1], (3,)), 26),
    "attention": (lambda: F.scaled_dot_product_attention(X, X, X), 13),
    "F.cross_entropy": (lambda: F.cross_entropy(X, CLASSES), 14),
    "F.mse_loss": (lambda: F.mse_loss(X, X), 15),
    "nn.Linear": (lambda: LINEAR(X), 9),
    "nn.Conv2d": (lambda: CONV(IMAGES), 22),
    "nn.BatchNorm2d": (lambda: NORM(IMAGES), 60),
    "nn.LSTM": (lambda: LSTM(X[None]), 103),
    "backward to a leaf": (lambda: (LEAF * 2).sum().backward(), 48),
    "a step of a perceptron": (step, 166),
}
"""What runs -> the function, and the most calls. The numbers may only fall."""

BESIDE_COMPLEX = {
    "a * b beside complex numbers": (lambda: X * X, 3),
    "backward to a leaf beside complex numbers": (lambda: (LEAF * 2).sum().backward(), 57),
}
"""The same, in a process that has used complex numbers."""


def count(function):
    """Return the number of calls of Python functions below a call, once all is compiled."""
    for _ in range(3):
        function()
    calls = 0

    def profile(_frame, event, _argument):
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return calls - 1  # without the function itself


def test_operations_make_no_more_calls():
    command = [sys.executable, "-m", "tests.unit.core.test_calls"]
    root = Path(__file__).parents[3]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    counts = json.loads(run.stdout)
    limits = {name: most for name, (_, most) in (CALLS | BESIDE_COMPLEX).items()}
    assert counts.keys() == limits.keys()
    more = {name: (counts[name], most) for name, most in limits.items() if counts[name] > most}
    assert not more, f"more calls than before (now, before): {more}"


if __name__ == "__main__":
    found = {name: count(function) for name, (function, _) in CALLS.items()}
    tn.zeros(1, dtype=tn.complex64)
    found |= {name: count(function) for name, (function, _) in BESIDE_COMPLEX.items()}
    print(json.dumps(found))
