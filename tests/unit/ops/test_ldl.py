"""``linalg.ldl_factor`` and ``ldl_solve``: factors of symmetric matrices that are not definite."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near


def symmetric(*shape):
    A = tn.randn(*shape, dtype=tn.float64, generator=tn.Generator().manual_seed(0))
    return A + A.mT


@pytest.mark.parametrize("n", [1, 2, 3, 8, 20])
def test_solutions(n):
    A, B = symmetric(4, n, n), tn.ones(4, n, 2, dtype=tn.float64)
    A[0].diagonal().zero_()  # needs blocks of two rows
    if n == 1:
        A[0] = 1
    X = tn.linalg.ldl_solve(*tn.linalg.ldl_factor(A), B)
    np.testing.assert_allclose((A @ X).numpy(), B.numpy(), atol=1e-9)


def test_the_upper_triangle_is_not_read():
    A = symmetric(5, 5)
    full, low = tn.linalg.ldl_factor(A), tn.linalg.ldl_factor(A.tril())
    assert tn.equal(full.LD, low.LD) and tn.equal(full.pivots, low.pivots)
    assert tn.equal(full.LD, full.LD.tril())


def test_pivots_of_blocks():
    A = tn.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    found = tn.linalg.ldl_factor_ex(A)  # as LAPACK's sytrf has them
    assert found.pivots.tolist() == [-3, -3, 3] and found.info.item() == 0
    assert found.LD.numpy() == near([[0, 0, 0], [2, 0, 0], [1.5, 0.5, -3]])


def test_batches_broadcast_and_may_be_empty():
    LD, pivots = tn.linalg.ldl_factor(tn.eye(3))
    assert tn.linalg.ldl_solve(LD, pivots, tn.ones(2, 3, 1)).shape == (2, 3, 1)
    assert tn.linalg.ldl_factor_ex(tn.zeros(2, 0, 0)).info.tolist() == [0, 0]
    LD, pivots = tn.linalg.ldl_factor(tn.zeros(0, 0))
    assert tn.linalg.ldl_solve(LD, pivots, tn.zeros(0, 2)).shape == (0, 2)


def test_what_is_refused():
    with pytest.raises(tn.linalg.LinAlgError, match="Batch element 1.*block 1 of D is zero"):
        tn.linalg.ldl_factor(tn.stack([tn.eye(2), tn.zeros(2, 2)]))
    with pytest.raises(RuntimeError, match="3 by 2 matrices"):
        tn.linalg.ldl_factor(tn.ones(3, 2))
    with pytest.raises(RuntimeError, match="Got Long"):
        tn.linalg.ldl_factor(tn.ones(2, 2, dtype=tn.int64))
    LD, pivots = tn.linalg.ldl_factor(tn.eye(3))
    for broken in ((LD, pivots[:2], tn.ones(3, 1)), (LD, pivots.float(), tn.ones(3, 1))):
        with pytest.raises(RuntimeError, match="pivots"):
            tn.linalg.ldl_solve(*broken)
    with pytest.raises(RuntimeError, match="Incompatible matrix sizes"):
        tn.linalg.ldl_solve(LD, pivots, tn.ones(2, 1))
    with pytest.raises(RuntimeError, match="same dtype"):
        tn.linalg.ldl_solve(LD, pivots, tn.ones(3, 1, dtype=tn.float64))
    B = tn.ones(3, 1).requires_grad_()
    with pytest.raises(RuntimeError, match="linalg_ldl_solve is not implemented"):
        tn.linalg.ldl_solve(LD, pivots, B).sum().backward()


def test_vander_of_a_number_and_no_reflections():
    assert tn.linalg.vander(tn.tensor(2.0), N=3).tolist() == [[1, 2, 4]]
    A = tn.ones(3, 2).requires_grad_()
    Q = tn.linalg.householder_product(A, tn.zeros(0))
    Q.sum().backward()
    assert tn.equal(Q, tn.eye(3, 2)) and not A.grad.any()
