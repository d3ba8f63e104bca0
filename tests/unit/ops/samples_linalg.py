"""The rows of `samples.SAMPLES` for linear algebra.

What reads one triangle of its input, or the symmetric part, is checked behind a map that makes
such matrices; vectors that may as well be their negatives by what does not depend on the sign.
"""

from dataclasses import replace

import numpy as np

import tinynet as tn
from tinynet.core.declaration.operation import REGISTRY

from .samples import custom, f, sample

L = tn.linalg


def invertible(*shape):
    """Matrices with a diagonal that dominates, and singular values that differ."""

    def values(random, shape):
        n, m = shape[-2:]
        return random.uniform(-1, 1, shape) + np.eye(n, m) * np.arange(2, 2 + m)

    return replace(f(*shape), values=values)


def function(name):
    return REGISTRY[name].function


SQUARES = (
    invertible(3, 3),
    invertible(2, 2, 2),
    invertible(3, 3).transposed,
    invertible(2, 2).strided,
    f(1, 1),
    f(0, 0),
)
SHAPES = (invertible(4, 2), invertible(2, 4), invertible(3, 3), invertible(2, 3, 2))

# ---- inverses, equations, determinants ----------------------------------------------------------

for _spec in SQUARES:
    sample(
        "inverse_and_info inverse determinant det sign_and_log slogdet matrix_exponential", _spec
    )
    sample("cofactors", _spec)
    for _n in (0, 1, 3, -2):
        sample("matrix_power", _spec, _n)
custom("logdet", lambda x: tn.logdet(x @ x.mT), invertible(3, 3))
sample("matrix_exponential matrix_exp", f(3, 3))
sample("matrix_exponential", f(2, 2).of(7, -3, 2, 5))
for _left, _right, _vector in (
    (invertible(3, 3), f(3, 2), False),
    (invertible(3, 3), f(3), True),
    (invertible(2, 3, 3), f(2, 3), True),
    (invertible(2, 1, 2, 2), f(3, 2, 1), False),
    (invertible(3, 3).transposed, f(3, 2).strided, False),
):
    sample("solution_and_info", _left, _right, True, _vector)
    custom("solve", L.solve, _left, _right)
sample("solution_and_info", invertible(3, 3), f(2, 3), False, False)
custom("tensorinv", lambda x: L.tensorinv(x.reshape(2, 2, 4)), invertible(4, 4))
custom("tensorsolve", lambda x, y: L.tensorsolve(x.reshape(2, 2, 4), y), invertible(4, 4), f(2, 2))

# ---- triangles and factors ----------------------------------------------------------------------

for _upper in (True, False):
    for _unit in (True, False):
        sample("triangular", invertible(3, 3), f(3, 2), _upper, True, _unit)
        sample("triangular", invertible(3, 3).transposed, f(2, 3), _upper, False, _unit)
sample("triangular", invertible(2, 1, 2, 2), f(2, 2, 1), True, True, False)


def gram(x):
    """A symmetric positive-definite matrix."""
    return x @ x.mT


for _spec in SQUARES:
    for _upper in (False, True):
        custom(
            "cholesky_and_info",
            lambda x, upper: function("cholesky_and_info")(gram(x), upper),
            *(_spec, _upper),
        )
# Their gradients are PyTorch's in the triangle that they do not read, too.
custom("cholesky_solve", lambda b, x: tn.cholesky_solve(b, x.tril()), f(3, 2), invertible(3, 3))
custom("cholesky_inverse", lambda x: tn.cholesky_inverse(x.tril()), invertible(3, 3))
custom(
    "cholesky_inverse of an upper one", lambda x: x.triu().cholesky_inverse(True), invertible(3, 3)
)
for _spec in SHAPES:
    sample("orthogonal_triangular", _spec, "reduced")
    sample("lower_upper packed_factors", _spec)
sample("orthogonal_triangular", invertible(2, 3), "complete")
sample("lower_upper packed_factors", f(3, 3).of(0.1, 2, 3, 4, 0.5, 6, 7, 8, -1))
for _left in (True, False):
    for _adjoint in (True, False):
        custom(
            "lu_solve",
            lambda x, y, left=_left, adjoint=_adjoint: L.lu_solve(
                *L.lu_factor(x), y, left=left, adjoint=adjoint
            ),
            *(invertible(2, 2), f(2, 2)),
        )
custom("lu_unpack", lambda x: tn.lu_unpack(*L.lu_factor(x))[1:], invertible(3, 4))
custom("householder_product", L.householder_product, f(4, 2), f(2))

# ---- eigenvalues and singular values ------------------------------------------------------------

for _spec in SQUARES:
    custom("eigen_system", lambda x, t: function("eigen_system")(x + x.mT, t), _spec, "L")
    custom("eigvalsh", lambda x: L.eigvalsh(x + x.mT, "U"), _spec)
for _spec in SHAPES:
    sample("singular_system", _spec, False)
    custom("svdvals", L.svdvals, _spec)
    sample("pseudoinverse", _spec, None, None, False)
    custom("svd by halves", lambda x: L.svd(x, full_matrices=True).U[..., :2], _spec)
custom(
    "eigvalsh of a multiple", lambda x: L.eigvalsh(x * 0 + tn.eye(2).double() * x[0, 0]), f(2, 2)
)
custom("pinv of symmetric", lambda x: L.pinv(x + x.mT, hermitian=True), invertible(3, 3))
custom("pinv of rank 1", lambda x, y: L.pinv(x[:, None] * y), f(3), f(2))
for _driver in ("gelsy", "gelsd"):
    for _a, _b in ((invertible(4, 2), f(4, 2)), (invertible(2, 4), f(2, 1))):
        sample("least_squares", _a, _b, 1e-12, _driver, False)
    sample("least_squares", invertible(2, 3, 2), f(2, 3), 1e-12, _driver, True)

# ---- norms and products -------------------------------------------------------------------------

for _p in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")):
    custom("matrix_norm", lambda x, p=_p: L.matrix_norm(x, p), invertible(3, 3))
    custom("matrix_norm", lambda x, p=_p: L.matrix_norm(x, p, dim=(2, 0)), f(2, 2, 3))
    custom("cond", lambda x, p=_p: L.cond(x, p), invertible(3, 3))
custom("norm", lambda x: L.norm(x, 3, dim=1), f(2, 3))
for _a, _b in ((f(2, 3), f(2, 3).transposed), (f(1, 3), f(2, 3)), (f(2, 3).strided, f(2, 3))):
    sample("cross_product", _a, _b, 1)
custom("cross", lambda x, y: tn.cross(x, y, dim=0), f(3, 2), f(3, 2))
custom("vecdot", L.vecdot, f(2, 3), f(3))
custom("linalg.vander", lambda x: L.vander(x, N=4), f(2, 2))
