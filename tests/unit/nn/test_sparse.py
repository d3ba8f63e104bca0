"""Sparse gradients of look-ups: what PyTorch shows of them, and that nothing is lost with them."""

import copy
import pickle

import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn

INDICES = [[1, 3], [3, 0]]


def table(**options):
    made = nn.Embedding(5, 2, sparse=True, **options)
    made.weight.data = tn.arange(10.0).reshape(5, 2)
    return made


def gradient(**options):
    made = table(**options)
    made(tn.tensor(INDICES)).sum().backward()
    return made.weight.grad


def test_what_is_kept():
    grad = gradient(padding_idx=0)
    assert grad.is_sparse and not grad.is_coalesced() and grad.layout is tn.sparse_coo
    assert (grad._nnz(), grad.sparse_dim(), grad.dense_dim()) == (3, 1, 1)
    assert grad.shape == (5, 2) and grad.dtype is tn.float32 and not grad.requires_grad
    assert grad._indices().tolist() == [[1, 3, 3]] and grad._values().tolist() == [[1.0, 1.0]] * 3
    once = grad.coalesce()
    assert once.indices().tolist() == [[1, 3]]
    assert once.values().tolist() == [[1.0, 1.0], [2.0, 2.0]]
    dense = [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [2.0, 2.0], [0.0, 0.0]]
    assert grad.to_dense().tolist() == dense and not grad.to_dense().is_sparse


def test_how_it_prints():
    assert repr(gradient(padding_idx=0)) == (
        "tensor(indices=tensor([[1, 3, 3]]),\n"
        "       values=tensor([[1., 1.],\n"
        "                      [1., 1.],\n"
        "                      [1., 1.]]),\n"
        "       size=(5, 2), nnz=3, layout=tinynet.sparse_coo)"
    )


def test_refusals():
    grad = gradient()
    for name in ("indices", "values"):
        with pytest.raises(RuntimeError, match=f"Cannot get {name} on an uncoalesced tensor"):
            getattr(grad, name)()
    with pytest.raises(TypeError, match="can't convert Sparse layout tensor to numpy"):
        grad.numpy()
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse"):
        gradient(scale_grad_by_freq=True)
    with pytest.raises(RuntimeError, match="expected sparse coordinate tensor layout but got Str"):
        tn.ones(2).coalesce()
    with pytest.raises(RuntimeError, match="cannot be changed in place by add"):
        grad.add_(tn.ones(5, 2))
    with pytest.raises(RuntimeError, match="a sparse gradient can only be set to zero as a whole"):
        grad.fill_(1.0)
    assert grad._nnz() == 4


def test_gradients_accumulate():
    made = table()
    x = tn.tensor(INDICES)
    made(x).sum().backward()
    first = made.weight.grad
    made(x).sum().backward()
    assert made.weight.grad is first and first._version == 1 and first._nnz() == 8
    made.weight.sum().backward()  # a dense one joins
    dense = made.weight.grad
    assert not dense.is_sparse and dense[:, 0].tolist() == [3.0, 3.0, 1.0, 5.0, 1.0]
    made(x).sum().backward()  # a sparse one joins a dense one
    assert made.weight.grad is dense and dense[:, 0].tolist() == [4.0, 4.0, 1.0, 7.0, 1.0]
    made.weight.grad = None
    (made(x).sum() + made.weight.sum()).backward()
    assert made.weight.grad[:, 0].tolist() == [2.0, 2.0, 1.0, 3.0, 1.0]
    made.weight.grad = None
    (made(x).sum() + made(x).sum()).backward()
    assert made.weight.grad.is_sparse and made.weight.grad._nnz() == 8


def test_it_holds_no_memory_of_others():
    made = table()
    out = made(tn.tensor([1]))
    given = tn.ones(1, 2)
    out.backward(given)
    given.zero_()
    assert made.weight.grad._values().tolist() == [[1.0, 1.0]]


def test_hooks_and_grad_see_it():
    made = table()
    seen = []
    made.weight.register_hook(lambda g: seen.append(g.is_sparse))
    made(tn.tensor([2])).sum().backward()
    (g,) = tn.autograd.grad(made(tn.tensor([2, 2])).sum(), made.weight)
    assert seen == [True, True] and g.is_sparse and g.coalesce().values().tolist() == [[2.0, 2.0]]


def test_every_other_operation_makes_it_dense():
    grad = gradient()
    dense = grad.to_dense()
    for run in (
        lambda g: g * 2,
        lambda g: g + dense,
        lambda g: dense + g,
        lambda g: -g,
        lambda g: g.sum(0),
        lambda g: g @ tn.ones(2, 3),
        lambda g: g.norm(),
        lambda g: g[3],
        lambda g: tn.cat([g, g]),
        lambda g: g.clone(),
    ):
        assert run(grad).tolist() == run(dense).tolist()
        assert not run(grad).is_sparse
    assert tn.zeros(5, 2).copy_(grad).tolist() == dense.tolist()


def test_in_place_by_a_number_and_zeroing():
    grad = gradient()
    grad.mul_(3).div_(tn.tensor(2.0))
    assert grad.is_sparse and grad._values().tolist() == [[1.5, 1.5]] * 4
    grad.zero_()
    assert grad.is_sparse and grad._nnz() == 0 and grad.to_dense().sum() == 0


def test_clipping():
    made = table()
    made(tn.tensor(INDICES)).sum().backward()
    norm = nn.utils.clip_grad_norm_([made.weight], 1.0)
    assert norm.item() == near(12**0.5)
    assert made.weight.grad.is_sparse
    assert made.weight.grad.to_dense().norm().item() == near(1)


def test_copies():
    grad = gradient()
    for made in (copy.deepcopy(grad), pickle.loads(pickle.dumps(grad)), grad.detach()):
        assert made.is_sparse and made.to_dense().tolist() == grad.to_dense().tolist()


def test_double_backward_goes_through_dense_gradients():
    made = nn.Embedding(4, 2, sparse=True).to(tn.float64)
    x = tn.tensor([0, 3, 3])

    def squares(weight):
        return (nn.functional.embedding(x, weight, sparse=True) ** 3).sum()

    weight = made.weight.detach().requires_grad_()
    (g,) = tn.autograd.grad(squares(weight), weight, create_graph=True)
    assert not g.is_sparse
    assert tn.autograd.gradgradcheck(squares, (weight,))


def test_bags():
    for mode, factor in (("sum", 1.0), ("mean", 0.5)):
        bag = nn.EmbeddingBag(5, 2, mode=mode, sparse=True)
        bag(tn.tensor(INDICES)).sum().backward()
        assert bag.weight.grad.is_sparse
        assert bag.weight.grad.to_dense()[:, 0].tolist() == [factor, factor, 0.0, 2 * factor, 0.0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("SGD", [1.2, 1.5]), ("Adagrad", [1.4, 1.5]), ("SparseAdam", [1.4, 1.5])],
)
def test_an_assigned_sparse_gradient_is_a_gradient(name, expected):
    param = nn.Parameter(tn.tensor([1.5, 1.5], dtype=tn.float64))
    param.grad = tn.sparse_coo_tensor([[0, 0]], tn.tensor([1.0, 2.0], dtype=tn.float64), (2,))
    getattr(tn.optim, name)([param], lr=0.1).step()
    assert param.tolist() == pytest.approx(expected)


def test_entries_of_a_matrix_are_rows_to_an_optimizer():
    param = nn.Parameter(tn.zeros(3, 2))
    param.grad = tn.sparse_coo_tensor([[2, 2, 0], [1, 1, 0]], [1.0, 2.0, 4.0], (3, 2))
    tn.optim.SGD([param], lr=1.0).step()
    assert param.tolist() == [[-4.0, 0.0], [0.0, 0.0], [0.0, -3.0]]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", [nn.Embedding, nn.EmbeddingBag])
def test_indices_may_be_written_to_between_backward_and_step(sparse, kind):
    layer, indices = kind(6, 2, sparse=sparse), tn.tensor([[1, 2]])
    layer.weight.data.zero_()
    optimizer = tn.optim.SGD(layer.parameters(), lr=1.0)
    layer(indices).sum().backward()
    indices[0, 0] = 5
    optimizer.step()
    moved = layer.weight.detach().sum(1) != 0
    assert moved.tolist() == [False, True, True, False, False, False]


def test_a_table_of_nothing():
    layer = nn.Embedding(0, 0, sparse=True)
    layer(tn.tensor([], dtype=tn.int64)).sum().backward()
    assert layer.weight.grad.shape == (0, 0)


@pytest.mark.parametrize("number, entries", [(3.0, [3.0]), (0.0, [])])
def test_a_number_has_at_most_one_entry_and_no_indices(number, entries):
    made = tn.tensor(number, dtype=tn.float64, requires_grad=True)
    sparse = made.to_sparse()
    assert sparse.shape == () and sparse.sparse_dim() == sparse.dense_dim() == 0
    assert sparse.indices().shape == (0, len(entries)) and sparse.values().tolist() == entries
    assert sparse.is_coalesced() and sparse.coalesce().values().tolist() == entries
    (sparse.to_dense() * 2).backward()
    assert sparse.to_dense() == number and made.grad.item() == 2.0 * len(entries)
    values = "[], size=(0,)" if not entries else "[3.]"
    assert repr(sparse) == (
        f"tensor(indices=tensor([], size=(0, {len(entries)})),\n"
        f"       values=tensor({values}),\n"
        f"       size=(), nnz={len(entries)}, dtype=tinynet.float64, layout=tinynet.sparse_coo)"
    )


def test_the_number_of_sparse_dimensions_is_checked():
    with pytest.raises(RuntimeError, match=r"must be in \[0,0\] range, but 1 is given"):
        tn.tensor(1.0).to_sparse(1)
    with pytest.raises(RuntimeError, match="must be in >0 when self.dim"):
        tn.ones(2).to_sparse(0)


def test_the_data_of_a_sparse_tensor_are_sparse():
    values = tn.tensor([1.0, 2.0], requires_grad=True)
    matrix = tn.sparse_coo_tensor([[0, 1], [1, 0]], values, (2, 2))
    assert matrix.data.is_sparse and not matrix.data.requires_grad
    assert matrix.data.coalesce().indices().tolist() == [[0, 1], [1, 0]]
    matrix.data = tn.sparse_coo_tensor([[0], [0]], [3.0], (2, 2))
    assert matrix.to_dense().tolist() == [[3.0, 0.0], [0.0, 0.0]]


# ---- operations that see the dense array --------------------------------------------------------

ON_DENSE = {
    "mm": lambda w, d: tn.mm(w, d),
    "mm of both": lambda w, d: tn.mm(d, w),
    "matmul": lambda w, d: tn.matmul(w, d),
    "addmm": lambda w, d: tn.addmm(d, w, d),
    "mv": lambda w, d: tn.mv(w, d[:, 0]),
    "a number": lambda w, d: w * 2 - w / 4,
    "itself": lambda w, d: w * w + w,
    "a dense tensor": lambda w, d: d + w * d,
    "power": lambda w, d: w**3,
    "functions": lambda w, d: (-w).abs() + w.exp() + tn.relu(w),
    "transposed": lambda w, d: tn.mm(w.t(), d),
    "joined": lambda w, d: tn.cat([w, d, w]),
    "part": lambda w, d: w.sum(0) * w[1],
}


@pytest.mark.parametrize("name", ON_DENSE)
def test_operations_are_recorded_to_the_values(name):
    def gradients(make):
        values = tn.tensor([1.0, -2.0, 3.0], dtype=tn.float64, requires_grad=True)
        dense = tn.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=tn.float64, requires_grad=True)
        result = ON_DENSE[name](make(values * 2), dense)
        assert result.requires_grad
        (first,) = tn.autograd.grad((result * result).sum(), values, create_graph=True)
        return [first, *tn.autograd.grad(first.square().sum(), [values, dense], allow_unused=True)]

    def sparse(values):
        made = tn.sparse_coo_tensor([[0, 1, 1], [1, 0, 0]], values, (2, 2))
        assert made.requires_grad and not made.is_leaf
        return made

    def full(values):
        return tn.stack([tn.zeros_like(values[0]), values[0], values[1] + values[2],
                         tn.zeros_like(values[0])]).reshape(2, 2)  # fmt: skip

    for found, expected in zip(gradients(sparse), gradients(full), strict=True):
        assert (found is None) == (expected is None)
        assert found is None or tn.allclose(found, expected)


def test_without_history_nothing_is_recorded():
    values = tn.ones(2, requires_grad=True)
    with tn.no_grad():
        made = tn.sparse_coo_tensor([[0, 1]], values * 2)
    assert not made.requires_grad and not (made * 2).requires_grad
    assert not tn.sparse_coo_tensor([[0, 1]], values).detach().requires_grad
