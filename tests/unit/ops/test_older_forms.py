"""Functions and arguments that PyTorch keeps for older programs."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near


def test_triangular_solve():
    A, B = tn.tensor([[2.0, 1.0], [7.0, 4.0]]), tn.tensor([[4.0], [8.0]])
    with pytest.warns(UserWarning, match="deprecated"):
        X, copy = tn.triangular_solve(B, A, transpose=True)
    assert (A.triu().mT @ X).numpy() == near(B.numpy())
    assert tn.equal(copy, A) and copy.data_ptr() != A.data_ptr()
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="2 by 2 but each b matrix"):
        tn.triangular_solve(tn.ones(3, 1), A)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_ormqr_multiplies_by_householder_product(left, transpose):
    tn.manual_seed(0)
    a, tau = tn.rand(4, 4, dtype=tn.float64), tn.rand(4, dtype=tn.float64)
    other = tn.rand(4, 4, dtype=tn.float64)
    Q = tn.linalg.householder_product(a, tau)
    Q = Q.mT if transpose else Q
    expected = Q @ other if left else other @ Q
    found = tn.ormqr(a, tau, other, left, transpose)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=0, atol=1e-13)
    with pytest.raises(RuntimeError, match="must be equal to input.shape"):
        tn.ormqr(a, tau, tn.ones(5, 5), left)


def test_forms_of_indexing_and_shaping():
    x = tn.tensor([[1.0, 2.0, 3.0]])
    assert tn.take_along_dim(x, tn.tensor([[-1, 0]]), 1).tolist() == [[3, 1]]
    assert tn.ones(1, 2, 1).squeeze_((0, 2)).shape == (2,)
    assert tn.resize_as_(tn.arange(4), tn.zeros(2, 2)).tolist() == [[0, 1], [2, 3]]
    assert [p.tolist() for p in tn.unsafe_split(tn.arange(3), 2)] == [[0, 1], [2]]
    with pytest.raises(RuntimeError, match="`shifts` required"):
        x.roll(())
    with pytest.raises(IndexError, match="tensor has no dimensions"):
        tn.tensor(1.0).roll(1, 0)
