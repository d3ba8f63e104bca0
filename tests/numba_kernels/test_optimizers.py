import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_alike
from tinynet import nn, optim

OPTIMIZERS = {
    "adam": lambda p: optim.Adam(p, lr=0.01),
    "adam, L2": lambda p: optim.Adam(p, lr=0.01, weight_decay=0.1),
    "adamw": lambda p: optim.AdamW(p, lr=0.01, weight_decay=0.1),
    "adamw, amsgrad": lambda p: optim.AdamW(p, lr=0.01, amsgrad=True),
    "adam, maximize": lambda p: optim.Adam(p, lr=0.01, maximize=True),
    "sgd": lambda p: optim.SGD(p, lr=0.01),
    "momentum": lambda p: optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=0.1),
    "nesterov": lambda p: optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True),
}


def trained(make, shapes, order="C"):
    """Parameters after five steps: large, small, without dimensions, with gaps."""
    rng = np.random.default_rng(0)
    params = [
        nn.Parameter(tn.from_numpy(np.asarray(rng.standard_normal(s), "f4", order=order)))
        for s in shapes
    ]
    optimizer = make(params)
    for _ in range(5):
        for p in params:
            p.grad = tn.from_numpy(np.asarray(rng.standard_normal(p.shape), "f4"))
        optimizer.step()
    return {str(i): p.detach().numpy().copy() for i, p in enumerate(params)}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(compiled, name, order):
    shapes = [(300, 200), (3, 4), (5,), ()]
    assert_alike(lambda: trained(OPTIMIZERS[name], shapes, order))
