"""Linear algebra: `linalg.*`, and its functions and methods outside of it.

Vectors that may as well be their negatives are compared as squares or projections.
"""

import math

import numpy as np

from tests.tools.recorded.rows import Input, Table, f32, f64, function, i64, mask, method

TABLE = Table("linalg")
case, fails = TABLE.case, TABLE.fails
INF = math.inf


def invertible(*shape: int) -> Input:
    """Matrices with a diagonal that dominates, and singular values that differ."""

    def values(random, shape):
        n, m = shape[-2:]
        return np.round(random.uniform(-1, 1, shape), 3) + np.eye(n, m) * np.arange(3, 3 + m)

    return Input(shape, "float64", values, requires_grad=True)


def positive(x):
    """A symmetric positive-definite matrix, from an invertible one."""
    return x @ x.mT / 4


SINGULAR = f64(2, 2).of([[1.0, 2.0], [2.0, 4.0]])
ZERO = f64(2, 2).of(0.0)
ONE_OF_TWO = f64(2, 2, 2).of([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
SQUARES = {
    "plain": invertible(3, 3),
    "batch": invertible(2, 3, 3),
    "batches": invertible(2, 1, 2, 2),
    "transposed": invertible(3, 3).t,
    "strided": invertible(3, 3).strided,
    "one": f64(1, 1).positive,
    "empty": f64(0, 0),
    "empty-batch": f64(0, 3, 3),
    "float32": f32(2, 2).of([[2.0, 0.5], [0.25, 3.0]]),
}
SHAPES = {
    "tall": invertible(4, 3),
    "wide": invertible(3, 4),
    "square": invertible(3, 3),
    "batch": invertible(2, 4, 3),
    "transposed": invertible(4, 2).t,
    "float32": f32(3, 2).of([[2.0, 0.5], [0.25, 3.0], [1.0, 1.0]]),
}


def refusals(name, call):
    """What every function of square matrices refuses."""
    fails(f"{name}-tall", call, f64(4, 3))
    fails(f"{name}-int", call, i64(2, 2))
    fails(f"{name}-vector", call, f64(3))


# ---- inverses, equations, determinants ----------------------------------------------------------

for _label, _spec in SQUARES.items():
    case(f"inv-{_label}", function("linalg.inv"), _spec)
    case(f"det-{_label}", function("linalg.det"), _spec)
    case(f"slogdet-{_label}", lambda tn, x: tn.linalg.slogdet(x)[1], _spec)
    case(f"solve-{_label}", lambda tn, x: tn.linalg.solve(x, x * x + 1), _spec)
    case(f"matrix_exp-{_label}", lambda tn, x: tn.linalg.matrix_exp(x / 4), _spec)
    for _n in (0, 1, 2, 5, -1, -3):
        case(f"matrix_power-{_n}-{_label}", function("linalg.matrix_power", _n), _spec)
case("inverse-faces", lambda tn, x: (tn.inverse(x), x.inverse()), invertible(2, 2))
case("det-faces", lambda tn, x: (tn.det(x), x.det()), invertible(2, 2))
case("slogdet-faces", lambda tn, x: (*tn.slogdet(x), *x.slogdet()), invertible(2, 2))
case("slogdet-singular", lambda tn, x: tn.linalg.slogdet(x), ZERO.const)
case("logdet-positive", lambda tn, x: (tn.logdet(x), x.logdet()), f64(2, 2).of([[2, 1], [1, 2]]))
case("logdet-negative", function("logdet"), f64(2, 2).of([[0.0, 1], [2, 0]]), second_order=False)
case("logdet-zero", function("logdet"), ZERO.const)
for _name in ("inv", "det", "slogdet", "matrix_exp"):
    refusals(_name, function(f"linalg.{_name}"))
refusals("logdet", function("logdet"))
for _spec, _label in ((SINGULAR, "singular"), (ZERO, "zero"), (ONE_OF_TWO, "one-of-two")):
    fails(f"inv-{_label}", function("linalg.inv"), _spec)
    fails(f"inv_ex-checked-{_label}", function("linalg.inv_ex", check_errors=True), _spec)
    fails(f"solve-{_label}", lambda tn, x: tn.linalg.solve(x, x), _spec)
    fails(f"matrix_power-{_label}", function("linalg.matrix_power", -2), _spec)
    case(f"inv_ex-{_label}", lambda tn, x: tn.linalg.inv_ex(x)[1], _spec.const)
    case(f"solve_ex-{_label}", lambda tn, x: tn.linalg.solve_ex(x, x)[1], _spec.const)
case("inv_ex-plain", lambda tn, x: tn.linalg.inv_ex(x), invertible(3, 3))
case("solve_ex-plain", lambda tn, x: tn.linalg.solve_ex(x, x * x), invertible(3, 3))
fails("solve_ex-checked", lambda tn, x: tn.linalg.solve_ex(x, x, check_errors=True), ZERO)
case("inv_ex-repr", lambda tn, x: repr(tn.linalg.inv_ex(x)), f64(1, 1).of(2.0).const)

RIGHT = {
    "vector": (invertible(3, 3), f64(3)),
    "vectors": (invertible(2, 3, 3), f64(2, 3)),
    "matrix": (invertible(3, 3), f64(3, 2)),
    "batch-of-matrices": (invertible(3, 3), f64(2, 3, 2)),
    "matrix-for-batch": (invertible(2, 3, 3), f64(3, 1)),
    "batches": (invertible(2, 1, 3, 3), f64(4, 3, 2)),
    "nothing": (invertible(3, 3), f64(3, 0)),
    "const": (invertible(3, 3).const, f64(3, 2)),
    "const-right": (invertible(3, 3), f64(3, 2).const),
    "layouts": (invertible(3, 3).t, f64(3, 2).strided),
}
for _label, _pair in RIGHT.items():
    case(f"solve-right-{_label}", function("linalg.solve"), *_pair)
case("solve-left-false", function("linalg.solve", left=False), invertible(3, 3), f64(2, 3))
case("solve-left-false-batch", function("linalg.solve", left=False), invertible(2, 3, 3), f64(4, 3))
fails("solve-sizes", function("linalg.solve"), f64(3, 3), f64(4, 3))
fails("solve-sizes-left", function("linalg.solve", left=False), f64(3, 3), f64(3, 2))
fails("solve-left-vector", function("linalg.solve", left=False), f64(3, 3), f64(3))
fails("solve-tall", function("linalg.solve"), f64(4, 3), f64(4, 3))
fails("solve-dtypes", function("linalg.solve"), f64(3, 3), f32(3, 3))
fails("solve-int", function("linalg.solve"), i64(3, 3), i64(3, 3))
fails("solve-1d", function("linalg.solve"), f64(3), f64(3))
fails("solve-0d", function("linalg.solve"), f64(3, 3), f64())
fails("solve-batches", function("linalg.solve"), f64(3, 2, 2), f64(4, 2, 5))
fails("matrix_power-tall", function("matrix_power", 2), f64(4, 3))
fails("matrix_power-vector", function("matrix_power", 2), f64(3))
fails("matrix_power-float", function("matrix_power", 2.5), f64(2, 2))
fails("matrix_power-int-negative", function("matrix_power", -2), i64(2, 2))
case("matrix_power-int", method("matrix_power", 3), i64(2, 2))
case("matrix_exp-large", method("matrix_exp"), f64(3, 3))
case("matrix_exp-tiny", lambda tn, x: tn.matrix_exp(x * 1e-3), f64(3, 3))
case(
    "matrix_exp-mixed-sizes",
    lambda tn, x: tn.matrix_exp(x * tn.tensor([1e-4, 0.1, 1.0, 3.0]).reshape(4, 1, 1).double()),
    f64(4, 2, 2),
)
case("tensorinv-reshaped", lambda tn, x: tn.linalg.tensorinv(x.reshape(2, 3, 6)), invertible(6, 6))
case("tensorinv-one", function("linalg.tensorinv", ind=1), invertible(3, 3))
fails("tensorinv-zero", function("linalg.tensorinv", ind=0), f64(2, 2))
fails("tensorinv-sizes", function("linalg.tensorinv", ind=1), f64(3, 4))
fails("tensorinv-singular", function("linalg.tensorinv", ind=1), ZERO)
case(
    "tensorsolve-plain",
    lambda tn, x, y: tn.linalg.tensorsolve(x.reshape(2, 3, 2, 3), y),
    *(invertible(6, 6), f64(2, 3)),
)
case(
    "tensorsolve-dims",
    lambda tn, x, y: tn.linalg.tensorsolve(x.reshape(2, 3, 3, 2), y, dims=(0, 2)),
    *(f64(6, 6), f64(3, 2)),
)
fails("tensorsolve-sizes", function("linalg.tensorsolve"), f64(2, 3, 4), f64(2))

# ---- triangles ----------------------------------------------------------------------------------

for _upper in (True, False):
    for _left in (True, False):
        for _unit in (True, False):
            _shape = (3, 2) if _left else (2, 3)
            _options = {"upper": _upper, "left": _left, "unitriangular": _unit}
            _name = "-".join(k for k, v in _options.items() if v) or "none"
            case(
                f"solve_triangular-{_name}",
                function("linalg.solve_triangular", **_options),
                *(invertible(3, 3), f64(*_shape)),
            )
case(
    "solve_triangular-batch",
    function("linalg.solve_triangular", upper=True),
    *(invertible(2, 1, 3, 3), f64(4, 3, 2)),
)
case(
    "solve_triangular-zero",
    function("linalg.solve_triangular", upper=True),
    ZERO.const,
    f64(2, 1).const,
)
case(
    "solve_triangular-blocks",
    lambda tn, x, y: tn.linalg.solve_triangular(x + 4 * tn.eye(70).double(), y, upper=False),
    *(f64(70, 70).unit.const, f64(70, 1).const),
)
for _label, _pair in {
    "tall": (f64(4, 3), f64(4, 3)),
    "sizes": (f64(3, 3), f64(4, 3)),
    "vector": (f64(3, 3), f64(3)),
    "batches": (f64(3, 2, 2), f64(4, 2, 5)),
}.items():
    fails(f"solve_triangular-{_label}", function("linalg.solve_triangular", upper=True), *_pair)

# ---- Cholesky -----------------------------------------------------------------------------------

for _label, _spec in SQUARES.items():
    if "empty" not in _label:
        case(f"cholesky-{_label}", lambda tn, x: tn.linalg.cholesky(positive(x)), _spec)
        case(
            f"cholesky-upper-{_label}",
            lambda tn, x: tn.linalg.cholesky(positive(x), upper=True),
            _spec,
        )
case("cholesky-empty", function("linalg.cholesky"), f64(0, 0))
case("cholesky-asymmetric", function("linalg.cholesky"), invertible(3, 3))
case("cholesky_ex-plain", lambda tn, x: tn.linalg.cholesky_ex(positive(x)), invertible(3, 3))
NOT_POSITIVE = {
    "negative": f64(2, 2).of([[-1.0, 0.0], [0.0, 1.0]]),
    "second": f64(3, 3).of([[4.0, 2, 0], [2, -1, 0], [0, 0, 1]]),
    "semidefinite": ZERO,
    "one-of-two": ONE_OF_TWO,
}
for _label, _spec in NOT_POSITIVE.items():
    fails(f"cholesky-{_label}", function("linalg.cholesky"), _spec)
    fails(f"cholesky_ex-{_label}", function("linalg.cholesky_ex", check_errors=True), _spec)
    case(f"cholesky_ex-{_label}", lambda tn, x: tn.linalg.cholesky_ex(x)[1], _spec.const)
refusals("cholesky", function("linalg.cholesky"))
case(
    "cholesky-older",
    lambda tn, x: (tn.cholesky(positive(x)), positive(x).cholesky(True)),
    invertible(3, 3),
)
for _upper in (False, True):
    # PyTorch's derivative is wrong where the other triangle is not zero.
    case(
        f"cholesky_solve-{_upper}",
        lambda tn, y, x, u=_upper: y.cholesky_solve(x.triu() if u else x.tril(), upper=u),
        *(f64(3, 2), invertible(3, 3)),
    )
    case(
        f"cholesky_inverse-{_upper}",
        lambda tn, x, u=_upper: (x.triu() if u else x.tril()).cholesky_inverse(upper=u),
        invertible(3, 3),
    )
case(
    "cholesky_solve-batch",
    lambda tn, y, x: tn.cholesky_solve(y, x.tril()),
    f64(2, 3, 1),
    invertible(2, 3, 3),
)
case("cholesky_inverse-batch", lambda tn, x: tn.cholesky_inverse(x.tril()), invertible(2, 3, 3))
fails("cholesky_solve-sizes", function("cholesky_solve"), f64(4, 2), f64(3, 3))
fails("cholesky_solve-tall", function("cholesky_solve"), f64(4, 2), f64(4, 3))
fails("cholesky_solve-vector", function("cholesky_solve"), f64(3), f64(3, 3))
fails("cholesky_solve-dtypes", function("cholesky_solve"), f32(3, 2), f64(3, 3))
fails("cholesky_inverse-zero", function("cholesky_inverse"), ZERO)
fails("cholesky_inverse-tall", function("cholesky_inverse"), f64(4, 3))
fails("cholesky_inverse-vector", function("cholesky_inverse"), f64(3))

# ---- QR and LU ----------------------------------------------------------------------------------

for _label, _spec in SHAPES.items():
    case(f"qr-{_label}", function("linalg.qr"), _spec)
    case(f"lu-{_label}", function("linalg.lu"), _spec)
    case(f"lu_factor-{_label}", function("linalg.lu_factor"), _spec)
    case(f"lu_factor_ex-{_label}", function("linalg.lu_factor_ex"), _spec)
case("qr-complete", function("linalg.qr", mode="complete"), invertible(3, 4))
case("qr-complete-tall", function("linalg.qr", mode="complete"), invertible(4, 3).const)
case("qr-r", function("linalg.qr", mode="r"), invertible(4, 3).const)
case("qr-only-r", lambda tn, x: tn.linalg.qr(x)[1], invertible(4, 3))
case("qr-older", lambda tn, x: (*tn.qr(x), *x.qr(some=False)), invertible(3, 3))
fails("qr-mode", function("linalg.qr", mode="foo"), f64(3, 3))
fails("qr-int", function("linalg.qr"), i64(3, 3))
fails("qr-vector", function("linalg.qr"), f64(3))
TABLE.fails_backward("qr-r", function("linalg.qr", mode="r"), invertible(4, 3))
TABLE.fails_backward("qr-complete", function("linalg.qr", mode="complete"), invertible(4, 3))
case("lu-singular", function("linalg.lu"), ZERO.const)
fails("lu_factor-singular", function("linalg.lu_factor"), ZERO.const)
case("lu_factor_ex-singular", function("linalg.lu_factor_ex"), ONE_OF_TWO.const)
case("lu-pivots", function("linalg.lu"), f64(4, 4))
case("lu-blocks", lambda tn, x: tn.linalg.lu(x)[2].diagonal().abs().log().sum(), f64(70, 70).const)
fails("lu-unpivoted", function("linalg.lu", pivot=False), f64(3, 3))
fails("lu-vector", function("linalg.lu"), f64(3))
fails("lu_factor-vector", function("linalg.lu_factor"), f64(3))
for _left in (True, False):
    for _adjoint in (True, False):
        _shape = (3, 2) if _left else (2, 3)
        case(
            f"lu_solve-{_left}-{_adjoint}",
            lambda tn, x, y, left=_left, adjoint=_adjoint: tn.linalg.lu_solve(
                *tn.linalg.lu_factor(x), y, left=left, adjoint=adjoint
            ),
            *(f64(3, 3), f64(*_shape)),
        )
case("lu_solve-older", lambda tn, x, y: y.lu_solve(*tn.linalg.lu_factor(x)), f64(3, 3), f64(3, 1))
case("lu-older", lambda tn, x: (*tn.lu(x), *x.lu(get_infos=True)), f64(3, 3))
PIVOTS = {
    "sizes": lambda tn, x: tn.linalg.lu_solve(x, tn.tensor([1, 2, 3], dtype=tn.int32), x[:2]),
    "pivots": lambda tn, x: tn.linalg.lu_solve(x, tn.tensor([1, 2], dtype=tn.int32), x),
    "pivot-dtype": lambda tn, x: tn.linalg.lu_solve(x, tn.tensor([1, 2, 3]), x),
    "vector": lambda tn, x: tn.linalg.lu_solve(x, tn.tensor([1, 2, 3], dtype=tn.int32), x[0]),
    "tall": lambda tn, x: tn.linalg.lu_solve(x[:, :2], tn.tensor([1, 2], dtype=tn.int32), x),
}
for _label, _call in PIVOTS.items():
    fails(f"lu_solve-{_label}", _call, f64(3, 3))
case("lu_unpack-all", lambda tn, x: tn.lu_unpack(*tn.linalg.lu_factor(x)), f64(3, 4))
case(
    "lu_unpack-pivots",
    lambda tn, x: tn.lu_unpack(*tn.linalg.lu_factor(x), unpack_data=False)[0],
    f64(3, 3).const,
)
fails("lu_unpack-dtype", lambda tn, x: tn.lu_unpack(x, tn.tensor([1, 2])), f64(2, 2))
case("householder_product-square", function("linalg.householder_product"), f64(3, 3), f64(3))
case("householder_product-tall", function("linalg.householder_product"), f64(4, 3), f64(2))
case("householder_product-batch", function("linalg.householder_product"), f64(2, 4, 2), f64(2, 2))
fails("householder_product-wide", function("linalg.householder_product"), f64(3, 4), f64(3))
fails("householder_product-tau", function("linalg.householder_product"), f64(4, 3), f64(4))
fails("householder_product-batch", function("linalg.householder_product"), f64(2, 4, 2), f64(3, 2))
fails("householder_product-dtypes", function("linalg.householder_product"), f64(4, 2), f32(2))

# ---- eigenvalues and singular values ------------------------------------------------------------


def spectrum(tn, x, UPLO="L"):
    """Eigenvalues, and what does not depend on the signs of the eigenvectors."""
    values, vectors = tn.linalg.eigh(x + x.mT, UPLO)
    return values, vectors * vectors, vectors[..., :1] @ vectors[..., :1].mT


def singular(tn, x, full_matrices=False):
    """Singular values, and what does not depend on the signs of the vectors."""
    U, S, Vh = tn.linalg.svd(x, full_matrices=full_matrices)
    k = S.shape[-1]
    return S, U[..., :k] * U[..., :k], U[..., :1] @ Vh[..., :1, :], U[..., :k] @ Vh[..., :k, :]


for _label, _spec in SQUARES.items():
    if "empty" not in _label:
        case(f"eigh-{_label}", spectrum, _spec)
        case(f"eigvalsh-{_label}", lambda tn, x: tn.linalg.eigvalsh(x + x.mT), _spec)
case("eigh-empty", function("linalg.eigh"), f64(0, 0).const)
case("eigh-upper", lambda tn, x: spectrum(tn, x, "u"), f64(3, 3))
case("eigh-one-triangle", lambda tn, x: tn.linalg.eigh(x, "U")[0], invertible(3, 3))
case(
    "eigh-repeated",
    lambda tn, x: tn.linalg.eigvalsh(x),
    f64(3, 3).of(np.eye(3)),
    second_order=False,
)
case("eigvalsh-const", function("linalg.eigvalsh"), invertible(3, 3).const)
case("eigh-node", lambda tn, x: type(tn.linalg.eigh(x)[1].grad_fn).__name__, invertible(3, 3))
refusals("eigh", function("linalg.eigh"))
fails("eigh-uplo", function("linalg.eigh", UPLO="X"), f64(2, 2))
for _label, _spec in SHAPES.items():
    case(f"svd-{_label}", singular, _spec)
    case(f"svd-full-{_label}", lambda tn, x: singular(tn, x, True), _spec)
    case(f"svdvals-{_label}", function("linalg.svdvals"), _spec)
    case(f"pinv-{_label}", function("linalg.pinv"), _spec)
    case(f"matrix_rank-{_label}", lambda tn, x: tn.linalg.matrix_rank(x) * 1, _spec)
    case(f"cond-{_label}", function("linalg.cond"), _spec)
case("svdvals-const", function("linalg.svdvals"), invertible(4, 3).const)
case("svdvals-repeated", function("linalg.svdvals"), f64(3, 3).of(np.eye(3)), second_order=False)
case("svd-shapes", lambda tn, x: [tuple(t.shape) for t in tn.linalg.svd(x)], f64(2, 4, 3).const)
case("svd-nodes", lambda tn, x: [type(t.grad_fn).__name__ for t in tn.linalg.svd(x)], f64(4, 3))
case("svd-older", lambda tn, x: [t * t for t in tn.svd(x)], invertible(4, 3))
case("svd-older-all", lambda tn, x: [tuple(t.shape) for t in x.svd(some=False)], f64(4, 3))
case(
    "svd-older-values", lambda tn, x: [t * 1 for t in tn.svd(x, compute_uv=False)], invertible(4, 3)
)
fails("svd-driver", function("linalg.svd", driver="gesvd"), f64(3, 3))
fails("svd-nan", function("linalg.svd"), f64(2, 2).of(math.nan))
fails("svd-vector", function("linalg.svd"), f64(3))
fails("svd-int", function("linalg.svd"), i64(3, 3))
case("pinv-rank-1", function("linalg.pinv"), SINGULAR, second_order=False)
case("pinv-zero", function("linalg.pinv"), ZERO, second_order=False)
case("pinv-empty", function("linalg.pinv"), f64(0, 3).const)
case(
    "pinv-tolerances",
    function("linalg.pinv", atol=3.5, rtol=0.01),
    invertible(3, 3),
    second_order=False,
)
case("pinv-rcond", function("linalg.pinv", 0.9), invertible(3, 3), second_order=False)
case("pinv-hermitian", lambda tn, x: tn.linalg.pinv(x + x.mT, hermitian=True), invertible(3, 3))
case("pinverse-faces", lambda tn, x: (tn.pinverse(x), x.pinverse()), invertible(3, 2))
fails("pinv-hermitian-tall", function("linalg.pinv", hermitian=True), f64(4, 3))
fails("pinv-int", function("linalg.pinv"), i64(3, 3))
fails("pinv-vector", function("linalg.pinv"), f64(3))
case("matrix_rank-tol", lambda tn, x: tn.linalg.matrix_rank(x, 3.5) * 1, invertible(3, 3).const)
case(
    "matrix_rank-tolerances",
    lambda tn, x: tn.linalg.matrix_rank(x, atol=0.1, rtol=0.7) * 1,
    invertible(3, 3).const,
)
case(
    "matrix_rank-hermitian",
    lambda tn, x: tn.linalg.matrix_rank(x + x.mT, hermitian=True) * 1,
    SINGULAR.const,
)
case("matrix_rank-singular", lambda tn, x: tn.linalg.matrix_rank(x) * 1, f64(2, 3, 2).of(1.0).const)
case("matrix_rank-empty", lambda tn, x: tn.linalg.matrix_rank(x) * 1, f64(0, 3).const)

# ---- norms --------------------------------------------------------------------------------------

for _p in (2, 1, 0, 3, 0.5, -1, INF, -INF):
    case(f"vector_norm-{_p:g}", function("linalg.vector_norm", _p), f64(2, 3).distinct)
    case(
        f"vector_norm-dim-{_p:g}",
        function("linalg.vector_norm", _p, dim=-1, keepdim=True),
        f64(2, 3).distinct,
    )
case("vector_norm-dims", function("linalg.vector_norm", dim=(0, 2)), f64(2, 3, 2))
case("vector_norm-dtype", lambda tn, x: tn.linalg.vector_norm(x, dtype=tn.float64), f32(2, 3))
fails("vector_norm-text", function("linalg.vector_norm", "fro"), f64(2, 3))
fails("vector_norm-int", function("linalg.vector_norm"), i64(2, 3))
fails("vector_norm-empty", function("linalg.vector_norm", INF), f64(0))
for _p in ("fro", "nuc", 1, -1, 2, -2, INF, -INF):
    case(f"matrix_norm-{_p}", function("linalg.matrix_norm", _p), invertible(4, 3))
    case(f"matrix_norm-dim-{_p}", function("linalg.matrix_norm", _p, dim=(0, 2)), f64(3, 2, 3))
    case(
        f"matrix_norm-keepdim-{_p}",
        function("linalg.matrix_norm", _p, dim=(2, 0), keepdim=True),
        f64(3, 2, 3),
    )
    case(f"norm-{_p}", function("linalg.norm", _p), invertible(3, 4))
    case(f"norm-older-{_p}", function("norm", _p, dim=(0, 2)), f64(3, 2, 3))
    # PyTorch 2.13 cannot differentiate those by norms: it writes to what it saved.
    case(f"cond-{_p}", lambda tn, x, p=_p: tn.linalg.cond(x, p) * 1, invertible(3, 3).const)
case("cond-none", function("linalg.cond", None), invertible(3, 3))
case("cond-singular", lambda tn, x: tn.linalg.cond(x, 1) * 1, ONE_OF_TWO.const)
fails("cond-3", function("linalg.cond", 3), f64(2, 2))
fails("cond-text", function("linalg.cond", "a"), f64(2, 2))
fails("cond-tall", function("linalg.cond", 1), f64(4, 3))
fails("matrix_norm-3", function("linalg.matrix_norm", 3), f64(2, 2))
fails("matrix_norm-text", function("linalg.matrix_norm", "a"), f64(2, 2))
fails("matrix_norm-vector", function("linalg.matrix_norm"), f64(2))
fails("matrix_norm-one-dim", function("linalg.matrix_norm", dim=(0,)), f64(2, 2))
fails("matrix_norm-same-dim", function("linalg.matrix_norm", dim=(0, 0)), f64(2, 2))
fails("matrix_norm-int", function("linalg.matrix_norm"), i64(2, 2))
case("norm-none", function("linalg.norm"), f64(2, 3, 2))
case("norm-vector", function("linalg.norm", 3), f64(3))
case("norm-dim", function("linalg.norm", 1, dim=1), f64(2, 3))
case("norm-dims", function("linalg.norm", 1, dim=(0, 1), keepdim=True), f64(2, 3))
fails("norm-dims-none", function("linalg.norm", dim=(0, 1, 2)), f64(2, 3, 2))
case("norm-dtype", lambda tn, x: tn.linalg.norm(x, dtype=tn.float64), f32(2, 3))
fails("norm-3d", function("linalg.norm", 2), f64(2, 2, 2))
fails("norm-3d-text", function("linalg.norm", "a"), f64(2, 2, 2))
fails("norm-three-dims", function("linalg.norm", 2, dim=(0, 1, 2)), f64(2, 2, 2))
fails("norm-vector-text", function("linalg.norm", "nuc"), f64(3))
fails("norm-int", function("linalg.norm"), i64(2, 2))

# ---- least squares ------------------------------------------------------------------------------

PROBLEMS = {
    "tall": (invertible(4, 3), f64(4, 2)),
    "wide": (invertible(3, 4), f64(3, 2)),
    "square": (invertible(3, 3), f64(3, 1)),
    "vector": (invertible(4, 3), f64(4)),
    "vectors": (invertible(2, 4, 3), f64(2, 4)),
    "batch": (invertible(2, 4, 3), f64(2, 4, 1)),
}
for _label, _pair in PROBLEMS.items():
    case(f"lstsq-{_label}", lambda tn, x, y: tn.linalg.lstsq(x, y)[0], *_pair)
    for _driver in ("gels", "gelsy", "gelsd", "gelss"):
        case(
            f"lstsq-{_driver}-{_label}",
            lambda tn, x, y, d=_driver: tn.linalg.lstsq(x, y, driver=d),
            *(spec.const for spec in _pair),
        )
case(
    "lstsq-residuals",
    lambda tn, x, y: tn.linalg.lstsq(x, y, driver="gelsd")[1],
    invertible(4, 3),
    f64(4, 2),
)
case("lstsq-rank-1", function("linalg.lstsq"), f64(4, 2).of(1.0).const, f64(4, 2).const)
fails("lstsq-driver", function("linalg.lstsq", driver="foo"), f64(4, 3), f64(4, 2))
fails("lstsq-sizes", function("linalg.lstsq"), f64(4, 3), f64(3, 2))
fails("lstsq-1d", function("linalg.lstsq"), f64(4), f64(4, 3))
fails("lstsq-dtypes", function("linalg.lstsq"), f64(4, 3), f32(4, 3))
fails("lstsq-int", function("linalg.lstsq"), i64(4, 3), i64(4, 3))

# ---- products -----------------------------------------------------------------------------------

case("cross-dim", function("cross", dim=1), f64(2, 3), f64(2, 3))
case("cross-first-dim", method("cross"), f64(3, 4), f64(3, 4))
case("cross-linalg", function("linalg.cross"), f64(2, 3).t, f64(2, 3).strided)
case("cross-broadcast", function("linalg.cross"), f64(1, 3), f64(2, 3))
case("cross-dim-0", function("linalg.cross", dim=0), f64(3, 2), f64(3, 2))
case("cross-int", function("linalg.cross"), i64(2, 3), i64(2, 3))
fails("cross-no-3", function("cross"), f64(2, 2), f64(2, 2))
fails("cross-length", function("linalg.cross"), f64(3, 2), f64(3, 2))
fails("cross-ndim", function("linalg.cross"), f64(2, 3), f64(3))
fails("cross-range", function("linalg.cross", dim=4), f64(2, 3), f64(2, 3))
fails("cross-shapes", function("linalg.cross"), f64(4, 3), f64(2, 3))
fails("cross-dtypes", function("linalg.cross"), f64(2, 3), f32(2, 3))
case("vecdot-plain", function("linalg.vecdot"), f64(2, 3), f64(2, 3))
case("vecdot-vectors", function("linalg.vecdot"), f64(3), f64(3))
case("vecdot-dim", function("linalg.vecdot", dim=0), f64(2, 3), f64(2, 3))
case("vecdot-broadcast", function("linalg.vecdot"), f64(2, 3), f64(3))
fails("vecdot-shapes", function("linalg.vecdot"), f64(2, 3), f64(2, 4))
fails("vecdot-dtypes", function("linalg.vecdot"), f64(2, 3), f32(2, 3))
fails("vecdot-int", function("linalg.vecdot"), i64(2, 3), i64(2, 3))
case("multi_dot-three", lambda tn, *x: tn.linalg.multi_dot(x), f64(2, 3), f64(3, 4), f64(4, 2))
case(
    "multi_dot-order",
    lambda tn, *x: tn.linalg.multi_dot(x),
    f64(9, 2),
    f64(2, 8),
    f64(8, 1),
    f64(1, 5),
)
case("multi_dot-vectors", lambda tn, *x: tn.linalg.multi_dot(x), f64(2), f64(2, 3), f64(3))
case("multi_dot-first", lambda tn, *x: tn.linalg.multi_dot(x), f64(2), f64(2, 3), f64(3, 2))
for _label, _operands in {
    "one": (f64(2, 3),),
    "vector-inside": (f64(2, 3), f64(3), f64(3, 2)),
    "3d-first": (f64(2, 2, 2), f64(2, 2), f64(2, 2)),
    "3d-last": (f64(2, 2), f64(2, 2), f64(2, 2, 2)),
    "dtypes": (f64(2, 3), f32(3, 2)),
    "sizes": (f64(2, 3), f64(3, 4), f64(3, 4)),
}.items():
    fails(f"multi_dot-{_label}", lambda tn, *x: tn.linalg.multi_dot(x), *_operands)
case("vander-batch", function("linalg.vander"), f64(2, 3))
case("vander-n", function("linalg.vander", N=4), f64(3))
case("vander-int", function("linalg.vander", N=3), i64(3))
fails("vander-one", function("linalg.vander", N=1), f64(3))
case("diagonal-batch", function("linalg.diagonal", offset=1), f64(2, 3, 4))
case("matmul-linalg", function("linalg.matmul"), f64(2, 3), f64(3, 2))
fails("det-bool", function("linalg.det"), mask(2, 2))
