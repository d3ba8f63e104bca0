"""Sobol sequences: points of PyTorch, counted; scrambled ones fill the cube evenly."""

import numpy as np
import pytest

import tinynet as tn

pytest.importorskip("scipy", reason="SciPy has the sequences")

# torch.quasirandom.SobolEngine(4).draw(6), of PyTorch 2.13.0
POINTS = [
    [0.0, 0.0, 0.0, 0.0],
    [0.5, 0.5, 0.5, 0.5],
    [0.75, 0.25, 0.25, 0.25],
    [0.25, 0.75, 0.75, 0.75],
    [0.375, 0.375, 0.625, 0.875],
    [0.875, 0.875, 0.125, 0.375],
]


@pytest.fixture
def engine():
    from tinynet.compat.utilities.quasirandom import SobolEngine

    return SobolEngine


def test_points_are_those_of_pytorch(engine):
    sobol = engine(4)
    assert sobol.draw(2).tolist() == POINTS[:2]
    assert sobol.draw(2, dtype=tn.float64).tolist() == POINTS[2:4]
    assert sobol.num_generated == 4 and sobol.reset().draw().tolist() == POINTS[:1]
    assert sobol.fast_forward(3).draw(out=tn.empty(0)).tolist() == POINTS[4:5]
    assert sobol.draw().dtype is tn.float32


def test_a_balanced_number_of_points(engine):
    sobol = engine(4)
    assert sobol.draw_base2(2).tolist() == POINTS[:4]
    with pytest.raises(ValueError, match=r"previously generated, then: n=4\+2\*\*1=6"):
        sobol.draw_base2(1)
    with pytest.raises(ValueError, match=r"Supported range of dimensionality .* \[1, 21201\]"):
        engine(21202)


def test_scrambled_points_have_one_in_each_interval(engine):
    first, second = (engine(3, scramble=True, seed=s).draw(64, dtype=tn.float64) for s in (1, 1))
    assert tn.equal(first, second)
    for points in (first, engine(3, scramble=True).draw(64)):
        places = np.sort((points * 64).floor().numpy(), axis=0)
        assert (places == np.arange(64)[:, None]).all()
    assert repr(engine(3, True, 1)) == "SobolEngine(dimension=3, scramble=True, seed=1)"
