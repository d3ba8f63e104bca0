"""The rows of `samples.SAMPLES` for products, diagonals, distances and what is made of them."""

import tinynet as tn

from .samples import custom, f, i, sample

INF = float("inf")

# ---- sums of products ---------------------------------------------------------------------------

for _equation, *_operands in (
    ("ij,jk->ik", f(2, 3), f(3, 2).transposed),
    ("bij,bjk->kb", f(2, 1, 3), f(2, 3, 2)),
    ("ij,ij->ij", f(2, 3).expanded, f(2, 3)),
    ("i,j->ji", f(2), f(3).strided),
    ("...ii->...i", f(2, 3, 3)),
    ("iij,j->i", f(2, 2, 3), f(3)),
    ("...i,...i->...", f(2, 1, 3), f(2, 3)),
    ("ij,jk->ik", f(2, 3), f(1, 2)),
    ("ij,jk,kl->il", f(2, 3), f(3, 2), f(2, 2)),
    ("ij->", f(2, 3)),
    (",i->i", f(), f(3)),
    ("ij,jk->ik", f(0, 3), f(3, 2)),
):
    sample("einsum", _equation, *_operands)
custom("einsum of the same twice", lambda x: tn.einsum("ij,kj->ik", x, x), f(2, 3))
sample("tensordot", f(2, 3, 2), f(2, 3), ([2, 1], [0, 1]))
sample("tensordot", f(2, 1), f(3, 2), 1)
sample("tensordot", f(2), f(3), 0)
for _left, _right in ((f(2, 3), f(4, 3)), (f(3), f(3)), (f(2, 2), f())):
    sample("inner", _left, _right)
for _left, _right in ((f(2, 3), f(2, 2)), (f(2), f(2, 2).transposed), (f(), f(3)), (f(0, 2), f(2))):
    sample("kron", _left, _right)
sample("ger", f(2), f(3))
for _left, _right in ((f(3), f(3, 2)), (f(3).strided, f(3, 2).transposed), (f(0), f(0, 2))):
    sample("row_product", _left, _right)
sample("vdot", f(3), f(3).strided)
custom("multi_dot", lambda *x: tn.linalg.multi_dot(x), f(2, 3), f(3, 4), f(4, 2))
custom("multi_dot of vectors", lambda *x: tn.linalg.multi_dot(x), f(2), f(2, 3), f(3))

SHAPES = {
    "addmm": ((2, 4), (2, 3), (3, 4)),
    "addmv": ((2,), (2, 3), (3,)),
    "addr": ((2, 3), (2,), (3,)),
    "baddbmm": ((2, 2, 4), (2, 2, 3), (2, 3, 4)),
    "addbmm": ((2, 4), (2, 2, 3), (2, 3, 4)),
}
for _name, (_self, _left, _right) in SHAPES.items():
    sample(_name, f(*_self), f(*_left), f(*_right))
    sample(_name, f(*_self).transposed, f(*_left).strided, f(*_right).transposed, alpha=-0.5)
    sample(_name, f(*_self), f(*_left).expanded, f(*_right).expanded, beta=0.5, alpha=2)
    sample(_name, f(*_self), f(*_left), f(*_right), beta=0)
    sample(_name, f(1), f(*_left), f(*_right))

# ---- elementwise --------------------------------------------------------------------------------

for _name in ("addcmul", "addcdiv"):
    sample(_name, f(2, 3), f(2, 1), f(3))
    sample(_name, f(2, 3).transposed, f(2, 3).strided, f(2, 3).expanded, value=-0.5)
    sample(_name, f(), f(2), f())
    sample(_name, f(0, 3), f(3), f(3))
for _weight in (0.3, 1.7):
    sample("lerp lerp_number", f(2, 3), f(3), _weight)
    sample("lerp lerp_number", f(2, 3).transposed, f(2, 3).strided, _weight)
    sample("lerp lerp_number", f(), f(2), _weight)
for _weight in (f(3), f(2, 1), f()):
    sample("lerp lerp_tensor", f(2, 3), f(2, 3).transposed, _weight)

# ---- diagonals ----------------------------------------------------------------------------------

for _spec in (f(2, 3), f(3, 3).transposed, f(3, 2).strided, f(2, 3).expanded, f(0, 3)):
    sample("trace", _spec)
    sample("diag diagonal_copy", _spec, 1)
    sample("diag_embed", _spec, -1)
    sample("diag_embed diagonal_matrix", _spec, 0, 2, 0)
    sample("diagflat", _spec)
sample("diag", f(3), -1)
sample("diagflat", f())
sample("blocks", [f(2, 3), f(1, 2).transposed, f(), f(2)])
custom("block_diag", tn.block_diag, f(2, 2).transposed, f(2), f())
custom("mH", lambda x: x.mH * 2, f(2, 2, 3))

# ---- choices ------------------------------------------------------------------------------------

custom("cartesian_prod", tn.cartesian_prod, f(2), f(3))
sample("combinations", f(4), 2)
sample("combinations", f(3).strided, 2, True)
sample("vander", f(3))
sample("vander", f(3), 4, True)
sample("vander", f(2), 1)

# ---- distances ----------------------------------------------------------------------------------

for _dim in (0, 1, -1):
    sample("cosines", f(2, 3), f(2, 3), _dim, 1e-8)
sample("cosines", f(2, 3).transposed, f(2, 3), 1, 1e-8)
sample("cosines", f(3), f(3), 0, 1e-8)
sample("cosines", f(0, 3), f(0, 3), 1, 1e-8)
MODE = "use_mm_for_euclid_dist_if_necessary"
for _p in (2.0, 1.0, 3.0, 2.5, 0.0, INF):
    sample("all_distances", f(3, 2), f(2, 2), _p, MODE)
    sample("distance dist", f(2, 3), f(3), _p)
    sample("pair_distances", f(3, 2).transposed, _p)
sample("cdist", f(2, 1, 2, 2), f(2, 3, 2), 2.0)
sample("cdist", f(2, 2).transposed, f(2, 2).expanded, 2.0)
sample("all_distances", f(3, 2), f(2, 2), 2.0, "use_mm_for_euclid_dist")
sample("all_distances", f(0, 2), f(2, 2), 2.0, MODE)
sample("distance", f(), f(), 2.0)
for _p in (2.0, 1.0, 3.0):
    sample("renorm", f(3, 2).of(0.1, 0.2, 2, -3, -0.2, 5), _p, 0, 1.0)
    sample("renorm", f(2, 3).transposed, _p, -1, 1.5)

# ---- statistics and integrals -------------------------------------------------------------------

sample("cov", f(2, 4))
sample("cov", f(4).strided, correction=0)
sample("cov", f(2, 3), fweights=i(1, 2, 1))
custom("cov with weights", lambda x, w: x.cov(aweights=w), f(2, 3), f(3).positive)
sample("corrcoef", f(2, 4).of(1.0, 2.0, 0.3, -1.4, 0.7, 0.2, -2.0, 1.1))
for _name in ("trapezoid", "cumulative_trapezoid"):
    sample(_name, f(2, 3))
    sample(_name, f(2, 3).transposed, dx=0.5, dim=0)
    sample(_name, f(2, 3), f(3))
    sample(_name, f(2, 3), f(2, 3))
