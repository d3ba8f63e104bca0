"""Functions of sparse tensors: values, and gradients with respect to the values of the entries."""

from tests.tools.recorded.rows import Table, f64, i64

TABLE = Table("sparse", composition=False)
fails = TABLE.fails

INDEX = [[0, 0, 1, 1, 0], [0, 2, 1, 2, 0]]  # the first entry twice


def case(name, call, *inputs):
    """Add a row; PyTorch has no second derivatives of these."""
    TABLE.case(name, call, *inputs, second_order=False)


def matrix(tn, values, size=(3, 4), index=INDEX):
    return tn.sparse_coo_tensor(tn.tensor(index), values, size, check_invariants=True)


def entries(result):
    """The indices and values, as they are stored."""
    return result._indices(), result._values()


for _dim in (None, 0, 1, -1, (0, 1), [1], ()):
    case(
        f"sparse_sum-{_dim}",
        lambda tn, v, dim=_dim: [
            s.to_dense() if s.is_sparse else s for s in [tn.sparse.sum(matrix(tn, v), dim)]
        ],
        f64(5),
    )
for _name in ("softmax", "log_softmax"):
    for _dim in (0, 1, -2):  # PyTorch's gradient takes a negative one for another dimension
        case(
            f"sparse_{_name}-{_dim}",
            lambda tn, v, f=_name, dim=_dim: getattr(tn.sparse, f)(matrix(tn, v), dim).to_dense(),
            f64(5) if _dim >= 0 else f64(5).const,
        )
    case(
        f"sparse_{_name}-of-three-dimensions",
        lambda tn, v, f=_name: getattr(tn.sparse, f)(
            matrix(tn, v, (3, 4, 2), [*INDEX, [1, 1, 0, 0, 1]]), 1
        ).to_dense(),
        f64(5),
    )
    case(
        f"sparse_{_name}-large",
        lambda tn, v, f=_name: getattr(tn.sparse, f)(matrix(tn, v * 1000), 1).to_dense(),
        f64(5).const,
    )
    case(
        f"sparse_{_name}-dtype",
        lambda tn, v, f=_name: entries(getattr(tn.sparse, f)(matrix(tn, v), 1, dtype=tn.float64)),
        i64(5),
    )
    fails(
        f"sparse_{_name}-dim",
        lambda tn, v, f=_name: getattr(tn.sparse, f)(matrix(tn, v), 2),
        f64(5).const,
    )
    fails(
        f"sparse_{_name}-integers",
        lambda tn, v, f=_name: getattr(tn.sparse, f)(matrix(tn, v), 1),
        i64(5),
    )
fails("sparse_sum-dim", lambda tn, v: tn.sparse.sum(matrix(tn, v), 2), f64(5).const)
fails("sparse_sum-twice", lambda tn, v: tn.sparse.sum(matrix(tn, v), (0, 0)), f64(5).const)
fails("sparse_sum-dense", lambda tn, v: tn.sparse.sum(v), f64(5).const)

_dense, _other = f64(3, 2), f64(4, 2)
case(
    "sparse_addmm",
    lambda tn, v, m, d: tn.sparse.addmm(m, matrix(tn, v), d, beta=2.0, alpha=-3.0),
    *(f64(5), _dense, _other),
)
case(
    "sparse_addmm-of-a-row",
    lambda tn, v, m, d: tn.sparse.addmm(m, matrix(tn, v), d),
    *(f64(5), f64(2), _other),
)
fails(
    "sparse_addmm-rows",
    lambda tn, v, m: tn.sparse.addmm(m, matrix(tn, v), m),
    *(f64(5).const, _dense.const),
)
fails(
    "sparse_addmm-layouts",
    lambda tn, v, m: tn.sparse.addmm(m, m, matrix(tn, v)),
    *(f64(5).const, f64(3, 4).const),
)
case("smm", lambda tn, v, d: entries(tn.smm(matrix(tn, v), d)), f64(5).const, _other.const)
case(
    "sspaddmm",
    lambda tn, v, d: entries(tn.sspaddmm(matrix(tn, v, (3, 2 + 2)), matrix(tn, v), d, beta=2)),
    *(f64(5).const, f64(4, 4).const),
)
case(
    "sparse_mask",
    lambda tn, x, v: x.sparse_mask(matrix(tn, v)).to_dense(),
    *(f64(3, 4), f64(5).const),
)
case(
    "sparse_mask-coalesced",
    lambda tn, x, v: entries(x.sparse_mask(matrix(tn, v).coalesce())),
    *(f64(3, 4).const, f64(5).const),
)
fails(
    "sparse_mask-shape",
    lambda tn, x, v: x.sparse_mask(matrix(tn, v)),
    f64(3, 3).const,
    f64(5).const,
)

for _offsets in ([0, -1, 2], [3, -2, 0], [-1, 0, 1]):
    case(
        f"spdiags-{_offsets}",
        lambda tn, d, offsets=_offsets: tn.sparse.spdiags(d, tn.tensor(offsets), (3, 5)).to_dense(),
        f64(3, 4).const,
    )
case(
    "spdiags-of-a-vector",
    lambda tn, d: entries(tn.sparse.spdiags(d, tn.tensor(1), (3, 3))),
    f64(3).const,
)
for _name, _offsets, _shape in (
    ("twice", [0, 0, 2], (3, 3)),
    ("too-few", [0, 1], (3, 3)),
    ("three-dimensions", [0, 1, 2], (3, 3, 1)),
    ("floats", [0.0, 1.0, 2.0], (3, 3)),
):
    fails(
        f"spdiags-{_name}",
        lambda tn, d, offsets=_offsets, shape=_shape: tn.sparse.spdiags(
            d, tn.tensor(offsets), shape
        ),
        f64(3, 3).const,
    )
for _name in ("crow_indices", "col_indices", "ccol_indices", "row_indices"):
    fails(f"{_name}-dense", lambda tn, x, name=_name: getattr(x, name)(), f64(2, 2).const)

# ---- dense dimensions ----


def hybrid(tn, values, dense=(2,)):
    return matrix(tn, values, (3, 4, *dense))


def whole(result):
    return result.to_dense() if result.is_sparse else result


for _dim in (None, 0, 1, 2, -1, (0, 1), (0, 2), [0, 1, 2]):
    case(
        f"sparse_sum-of-dense-dimensions-{_dim}",
        lambda tn, v, dim=_dim: whole(tn.sparse.sum(hybrid(tn, v), dim)),
        f64(5, 2),
    )
case(
    "sparse_sum-of-two-dense-dimensions",
    lambda tn, v: whole(tn.sparse.sum(hybrid(tn, v, (2, 3)), (1, 3))),
    f64(5, 2, 3),
)
for _name in ("softmax", "log_softmax"):
    for _dim in (0, 1, 2):
        case(
            f"sparse_{_name}-of-dense-dimensions-{_dim}",
            lambda tn, v, f=_name, dim=_dim: getattr(tn.sparse, f)(hybrid(tn, v), dim).to_dense(),
            f64(5, 2),
        )
case("to_dense-of-dense-dimensions", lambda tn, v: hybrid(tn, v).to_dense(), f64(5, 2))
case("coalesce-of-dense-dimensions", lambda tn, v: hybrid(tn, v).coalesce().to_dense(), f64(5, 2))
case(
    "transpose-of-dense-dimensions",
    lambda tn, v: hybrid(tn, v).transpose(0, 1).to_dense(),
    f64(5, 2),
)
case(
    "sparse_coo_tensor-of-dense-dimensions",
    lambda tn, v: (
        *entries(hybrid(tn, v).coalesce()),
        hybrid(tn, v).shape,
        (hybrid(tn, v).sparse_dim(), hybrid(tn, v).dense_dim(), hybrid(tn, v)._nnz()),
    ),
    f64(5, 2).const,
)
case(
    "to_sparse-of-some-dimensions",
    lambda tn, v: [entries(t.to_sparse(n)) for t in (v, v * (v > 0)) for n in (1, 2)],
    f64(3, 4, 2).const,
)
case(
    "sparse_mask-of-dense-dimensions",
    lambda tn, v, m: entries(v.sparse_mask(hybrid(tn, m).coalesce())),
    f64(3, 4, 2).const,
    f64(5, 2).const,
)
for _name, _call in {
    "t": lambda tn, v: hybrid(tn, v).t(),
    "transpose": lambda tn, v: hybrid(tn, v).transpose(0, 2),
    "number-of-dimensions": lambda tn, v: matrix(tn, v, (3, 4)),
    "number-of-entries": lambda tn, v: matrix(tn, v[:3], (3, 4, 2)),
    "number": lambda tn, v: matrix(tn, v[0, 0], (3, 4)),
    "flat-indices": lambda tn, v: matrix(tn, v, (3, 2), [0, 1, 2, 0, 1]),
}.items():
    fails(f"sparse_coo_tensor-of-dense-dimensions-{_name}", _call, f64(5, 2).const)


for _name, _call in {
    "unsqueeze": lambda s, *at: s.unsqueeze(*at),
    "select": lambda s, *at: s.select(*at),
}.items():
    for _at in (0, 1, 2, -1) if _name == "unsqueeze" else ((0, 1), (1, -1), (2, 1)):
        case(
            f"sparse_coo_tensor-{_name}-{_at}",
            lambda tn, v, call=_call, at=_at: entries(
                call(hybrid(tn, v), *(at if isinstance(at, tuple) else (at,))).coalesce()
            ),
            f64(5, 2).const,
        )
fails("sparse_coo_tensor-select-beyond", lambda tn, v: hybrid(tn, v).select(1, 9), f64(5, 2).const)


def written(tn, v):
    """What a graph attention layer does with the sums of its rows."""

    class Sums(tn.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            return whole(tn.sparse.sum(hybrid(tn, v), 1))

        @staticmethod
        def backward(ctx, g):
            return g[tn.tensor(INDEX[0])]

    sums = Sums.apply(v)
    sums[sums == 0] = 1.0
    return sums, hybrid(tn, v).to_dense()._is_view()


case("sparse_sum-written-to", written, f64(5, 2))
