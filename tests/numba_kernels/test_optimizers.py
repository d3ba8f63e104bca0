import functools

import numpy as np
import pytest

import tinynet as tn
from tests.numba_kernels.both import assert_alike
from tests.rounding import STEPS
from tinynet import nn, optim

SHAPES = [(300, 200), (3, 4), (5,), ()]
PARAMETERS = len(SHAPES)
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


def trained(make, order, *arrays):
    """Parameters after one step for each gradient: large, small, of no dimension, with gaps."""
    params = [nn.Parameter(tn.from_numpy(a.copy(order))) for a in arrays[:PARAMETERS]]
    optimizer = make(params)
    for step in range(PARAMETERS, len(arrays), PARAMETERS):
        for p, g in zip(params, arrays[step:], strict=False):
            p.grad = tn.from_numpy(g.copy())
        optimizer.step()
    return {str(i): p.detach().numpy().copy() for i, p in enumerate(params)}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(compiled, name, order):
    rng = np.random.default_rng(0)
    arrays = [np.asarray(rng.standard_normal(s), "f4") for s in SHAPES * 6]
    assert_alike(functools.partial(trained, OPTIMIZERS[name], order), *arrays, steps=5 * STEPS)
