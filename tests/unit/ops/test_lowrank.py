"""svd_lowrank and pca_lowrank: what must be true of random decompositions."""

import numpy as np
import pytest

import tinynet as tn


def low_rank(*shape, rank=2):
    generator = np.random.default_rng(0)
    *batch, m, n = shape
    left, right = (generator.standard_normal((*batch, k, rank)) for k in (m, n))
    return tn.from_numpy(left @ right.swapaxes(-1, -2))


@pytest.fixture(autouse=True)
def seeded():
    tn.manual_seed(0)


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (3, 6, 4)])
@pytest.mark.parametrize("niter", [0, 2])
def test_a_matrix_of_low_rank_comes_back(shape, niter):
    A = low_rank(*shape)
    U, S, V = tn.svd_lowrank(A, 3, niter)
    assert (U.shape, S.shape, V.shape) == (
        (*shape[:-1], 3),
        (*shape[:-2], 3),
        (*shape[:-2], shape[-1], 3),
    )
    scale = float(S.max())
    np.testing.assert_allclose((U * S[..., None, :]) @ V.mT, A, rtol=0, atol=1e-12 * scale)
    exact = np.linalg.svd(A.numpy(), compute_uv=False)[..., :3]
    np.testing.assert_allclose(S, exact, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(
        V.mT @ V, np.broadcast_to(np.eye(3), (*shape[:-2], 3, 3)), atol=1e-12
    )


def test_what_is_subtracted():
    A, M = low_rank(6, 4), tn.ones(4, dtype=tn.float64)
    U, S, V = tn.svd_lowrank(A, 4, M=M)
    np.testing.assert_allclose((U * S) @ V.T, A - M, rtol=0, atol=1e-12)


def test_the_gradient_of_the_singular_values():
    A = low_rank(6, 4, rank=4).requires_grad_()
    tn.svd_lowrank(A, 4)[1].sum().backward()
    U, _, Vh = np.linalg.svd(A.detach().numpy(), full_matrices=False)
    np.testing.assert_allclose(A.grad, U @ Vh, rtol=0, atol=1e-9)


def test_principal_components():
    A = low_rank(9, 4, rank=4)
    centred = A.numpy() - A.numpy().mean(0)
    _, S, V = tn.pca_lowrank(A)
    np.testing.assert_allclose(S, np.linalg.svd(centred, compute_uv=False), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        (centred @ V.numpy()).var(0, ddof=1), S.numpy() ** 2 / 8, rtol=0, atol=1e-11
    )
    _, S, _ = tn.pca_lowrank(A, 2, center=False, niter=40)
    exact = np.linalg.svd(A.numpy(), compute_uv=False)[:2]
    np.testing.assert_allclose(S, exact, rtol=1e-9)


def test_refusals():
    A = low_rank(5, 4)
    with pytest.raises(ValueError, match=r"q\(=5\) must be non-negative integer and not greater"):
        tn.pca_lowrank(A, 5)
    with pytest.raises(ValueError, match=r"niter\(=-1\) must be non-negative integer"):
        tn.pca_lowrank(A, 2, niter=-1)
    with pytest.raises(ValueError, match="not enough values to unpack"):
        tn.svd_lowrank(A[0])
