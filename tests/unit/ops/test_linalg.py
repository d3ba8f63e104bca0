"""Linear algebra that tables do not show: sizes of several blocks, singular input, accuracy."""

import math

import numpy as np
import pytest

import tinynet as tn
from tinynet import linalg as L
from tinynet.core.trace import observing


def matrix(*shape, seed=0):
    return tn.tensor(np.random.RandomState(seed).standard_normal(shape))


def close(a, b, tolerance=1e-12):
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(150, 150), (150, 100), (100, 150), (2, 70, 65), (3, 0, 4)])
def test_lu_of_several_blocks(shape):
    a = matrix(*shape)
    P, lower, upper = L.lu(a)
    close(P @ lower @ upper, a)
    k = min(shape[-2:])
    assert (lower.abs() <= 1).all()
    close(lower[..., :k, :].tril(), lower[..., :k, :])
    close(upper[..., :k].triu(), upper[..., :k])
    close(P.sum(-1), tn.ones(*shape[:-1]).double())


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("left", [True, False])
def test_substitution_in_several_blocks(upper, left):
    a, b = matrix(2, 150, 150) / 20 + 3 * tn.eye(150).double(), matrix(150, 150, seed=1)
    x = L.solve_triangular(a, b, upper=upper, left=left)
    triangle = a.triu() if upper else a.tril()
    close(triangle @ x if left else x @ triangle, b.expand(2, 150, 150), 1e-10)


def test_a_zero_on_the_diagonal_gives_infinities_not_errors():
    a = tn.eye(70)
    a[5, 5] = 0
    x = L.solve_triangular(a, tn.ones(70, 1), upper=False)
    assert math.isinf(x[5].item())
    assert (x[:5] == 1).all()


@pytest.mark.parametrize("values", [[1, 2, 2, 4], range(9), np.zeros(4), [0] * 8 + [1]])
def test_the_derivative_of_the_determinant_holds_for_singular_matrices(values):
    n = math.isqrt(len(values))
    a = tn.tensor(np.array(values, float).reshape(n, n)).requires_grad_()
    assert abs(tn.det(a).item()) < 1e-12
    (gradient,) = tn.autograd.grad(tn.det(a), a)
    step = 1e-6
    for i in range(n):
        for j in range(n):
            moved = [a.detach().numpy() + s * step * np.eye(n)[i][:, None] * np.eye(n)[j]
                     for s in (1, -1)]  # fmt: skip
            slope = (np.linalg.det(moved[0]) - np.linalg.det(moved[1])) / (2 * step)
            assert gradient[i, j].item() == pytest.approx(slope, abs=1e-6)


def test_infos_of_a_batch_tell_which_matrix_failed():
    good, bad = np.eye(3), np.diag([1.0, 0.0, 1.0])
    batch = tn.tensor(np.stack([good, bad, 2 * good]))
    inverse, info = L.inv_ex(batch)
    assert info.tolist() == [0, 2, 0]
    close(inverse[2], tn.eye(3).double() / 2)
    assert np.isnan(inverse[1].numpy()).all()
    assert L.solve_ex(batch, tn.ones(3, 3, 1).double()).info.tolist() == [0, 2, 0]
    assert L.cholesky_ex(batch).info.tolist() == [0, 2, 0]
    assert L.lu_factor_ex(batch).info.tolist() == [0, 2, 0]
    for call in (L.inv, L.cholesky, L.lu_factor, lambda a: L.solve(a, a)):
        with pytest.raises(L.LinAlgError, match=r"\(Batch element 1\)"):
            call(batch)


def test_the_exponential_of_rotations_and_large_matrices():
    angle = 2.5
    a = tn.tensor([[0.0, -angle], [angle, 0.0]]).double()
    expected = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    close(tn.matrix_exp(a), tn.tensor(expected, dtype=tn.float64))
    close(tn.matrix_exp(a * 100) @ tn.matrix_exp(-a * 100), tn.eye(2).double(), 1e-10)
    diagonal = tn.diag(tn.tensor([-700.0, 0.0, 1e-9, 700.0]).double())
    close(tn.matrix_exp(diagonal).diagonal().log(), diagonal.diagonal(), 1e-9)


def test_repeated_values_do_not_spoil_what_does_not_depend_on_vectors():
    for function in (L.eigvalsh, L.svdvals, lambda a: L.matrix_norm(a, "nuc")):
        a = tn.eye(3).double().requires_grad_()
        (gradient,) = tn.autograd.grad(function(a).sum(), a)
        close(gradient, tn.eye(3).double())


def test_einsum_multiplies_the_cheapest_pair_first():
    shapes = []
    wide, tall = tn.ones(2, 50), tn.ones(50, 2)
    with observing(lambda op, ins, outs, _: shapes.append(op.name == "mm" and outs[0].size)):
        from_einsum = tn.einsum("ij,jk,kl->il", tall, wide, tall)
    close(from_einsum, tn.full((50, 2), 100.0))
    assert max(shapes) == 100  # never ij,jk, which has 2500 elements


def test_multi_dot_needs_few_multiplications():
    column, row = matrix(400, 1), matrix(1, 400)
    sizes = []
    with observing(lambda op, ins, outs, _: sizes.append(op.name == "mm" and outs[0].size)):
        product = L.multi_dot([column, row, column, row])
    assert sorted(filter(None, sizes))[:-1] in ([1, 400], [1, 1], [400, 1])  # one large product
    close(product, column @ (row @ column) @ row, 1e-10)


def test_matrix_power_takes_out():
    out = tn.empty(2, 2)
    assert tn.linalg.matrix_power(2 * tn.eye(2), 3, out=out) is out
    assert out.tolist() == [[8, 0], [0, 8]]
