"""Optimizers update the real and the imaginary parts of complex parameters each for itself."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import bound
from tinynet import nn

from .trajectories import RUNS, STEPS


def distance(p):
    z = p if p.is_complex() else tn.view_as_complex(p)
    return ((z - 1j).abs() ** 2).sum()


LABELS = [label for label, (name, _, grouped) in RUNS.items() if not grouped]


@pytest.mark.parametrize("label", [label for label in LABELS if "factor" not in label])
def test_optimizers_update_both_parts(label):
    name, options, _ = RUNS[label]
    random = np.random.RandomState(0)
    drawn = random.standard_normal((3, 2)) + 1j * random.standard_normal((3, 2))
    whole = nn.Parameter(tn.tensor(drawn))
    parts = nn.Parameter(tn.view_as_real(whole.detach().clone()))
    for p in (whole, parts):
        optimizer = getattr(tn.optim, name)([p], **options)
        for _ in range(STEPS):
            optimizer.zero_grad()
            distance(p).backward()
            optimizer.step()
        state = [v for v in optimizer.state[p].values() if isinstance(v, tn.Tensor) and v.ndim > 1]
        assert all(v.dtype is p.dtype for v in state)
    assert tn.view_as_real(whole).allclose(parts, rtol=0, atol=bound("float64", 1000))


@pytest.mark.parametrize("label", [label for label in LABELS if "factor" in label][:1])
def test_one_optimizer_takes_none(label):
    p = nn.Parameter(tn.tensor([[1j]]))
    optimizer = getattr(tn.optim, RUNS[label][0])([p])
    distance(p).backward()
    with pytest.raises(RuntimeError, match="does not support complex parameters"):
        optimizer.step()
