"""Names and arguments that PyTorch programs use, in the forms that PyTorch takes."""

import os
from collections import namedtuple

import numpy as np
import pytest
from packaging.version import Version
from tinynet.utils.hooks import RemovableHandle

import tinynet as tn
from tinynet import nn, sparse
from tinynet.as_torch import processes
from tinynet.autograd import Variable
from tinynet.compat import hub, jit, pytree, refusal
from tinynet.compat.parallel import distributed
from tinynet.compat.version import TorchVersion
from tinynet.utils import backcompat

A = tn.arange(6.0).view(2, 3)


def same(one, other):
    return tn.equal(one, other) and one.dtype == other.dtype


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (A.sum(axis=0, keepdims=True), A.sum(0, True)),
        (tn.sum(input=A, axis=1), A.sum(1)),
        (tn.mean(A, dim=0, keepdims=True), A.mean(0, True)),
        (tn.cat([A, A], axis=1), tn.cat([A, A], 1)),
        (tn.softmax(input=A, axis=0), A.softmax(0)),
        (A.argmax(axis=1), A.argmax(1)),
        (A.std(axis=0), A.std(0)),
        (tn.exp(input=A), A.exp()),
        (tn.mul(input=A, other=A), A * A),
        (tn.flatten(input=A, start_dim=0), A.flatten()),
        (tn.permute(input=A, dims=(1, 0)), A.t()),
        (tn.reshape(input=A, shape=(3, 2)), A.view(3, 2)),
        (A.flip(dims=[0]), A.flip(0)),
        (tn.zeros(size=(2,)), tn.zeros(2)),
        (tn.zeros(2, layout=tn.strided, pin_memory=False), tn.zeros(2)),
        (tn.ones_like(A, memory_format=tn.preserve_format), tn.ones(2, 3)),
        (A.clone(memory_format=tn.contiguous_format), A),
        (A.float(memory_format=tn.preserve_format), A),
        (A.clamp(np.float32(1), np.float64(3)), A.clamp(1, 3)),
        (tn.LongTensor(range(3)), tn.arange(3)),
        (A.type(tn.LongTensor), A.long()),
    ],
)
def test_other_names_of_arguments(one, other):
    assert same(one, other)


def test_random_numbers_of_a_size_by_name():
    for make in (tn.randn, tn.rand):
        assert make(size=(2, 3)).shape == (2, 3)
    for made in (tn.randint(5, size=(9,)), tn.randint(high=5, size=(9,))):
        assert made.shape == (9,) and 0 <= made.min() and made.max() < 5


def test_unknown_names_are_still_refused():
    for wrong in (
        lambda: A.sum(axes=0),
        lambda: A.sum(dim=0, axis=0),
        lambda: tn.exp(self=A),
        lambda: tn.zeros(2, axis=0),
    ):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            wrong()
    with pytest.raises(RuntimeError, match="dense tensors only"):
        tn.zeros(2, layout=tn.sparse_coo)


def test_memory_formats():
    x = tn.ones(2, 3, 4, 4)
    assert tn.equal(x.contiguous(memory_format=tn.channels_last), x)
    assert x.is_contiguous(memory_format=tn.contiguous_format)
    assert not x.is_contiguous(memory_format=tn.channels_last)
    assert x.permute(0, 3, 1, 2).is_contiguous(memory_format=tn.channels_last)
    assert nn.Conv2d(1, 1, 1).to(memory_format=tn.channels_last).weight.shape == (1, 1, 1, 1)
    assert (repr(tn.channels_last), repr(A.layout)) == ("tinynet.channels_last", "tinynet.strided")


def test_tensors_of_one_element_are_numbers_in_lists():
    one = tn.tensor([1.5])
    assert tn.tensor([one, one]).tolist() == [1.5, 1.5]
    assert tn.tensor([[one], [one]]).shape == (2, 1)


def test_variables():
    x = tn.tensor([1, 2])
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        v = Variable(x, volatile=True)
    assert same(v, x) and v.data_ptr() == x.data_ptr() and not v.requires_grad
    assert Variable(A, requires_grad=True).requires_grad and isinstance(A, Variable)
    w = tn.ones(1, requires_grad=True)
    assert Variable(w * 2).grad_fn is None and issubclass(nn.Parameter, Variable)
    with pytest.raises(TypeError, match="has to be a tensor, but got list"):
        Variable([1])
    with pytest.raises(RuntimeError, match="(?i)only Tensors of floating point"):
        Variable(x, requires_grad=True)


def test_tensor_types():
    assert isinstance(A, tn.FloatTensor) and not isinstance(A, tn.LongTensor)
    assert not isinstance(A, tn.cuda.FloatTensor) and tn.FloatTensor.dtype is tn.float32
    with pytest.raises(TypeError, match="cuda.FloatTensor not available"):
        tn.cuda.FloatTensor(2)
    for kind in ("FloatTensor", "HalfTensor", "BFloat16Tensor"):
        sparse = getattr(tn.cuda.sparse, kind)
        assert not isinstance(A, sparse) and sparse is not getattr(tn.cuda, kind)
    with pytest.raises(TypeError, match="type tinynet.cuda.sparse.FloatTensor not available"):
        tn.cuda.sparse.FloatTensor(2)
    entries = A.to_sparse()
    assert isinstance(entries, tn.sparse.FloatTensor) and not isinstance(entries, tn.FloatTensor)
    assert not isinstance(A, tn.sparse.FloatTensor) and isinstance(entries, tn.Tensor)
    assert not isinstance(entries, tn.sparse.DoubleTensor)
    try:
        tn.set_default_tensor_type("torch.DoubleTensor")
        assert tn.ones(1).dtype is tn.float64
    finally:
        tn.set_default_tensor_type(tn.FloatTensor)
    for wrong in ("torch.Nothing", tn.LongTensor):
        with pytest.raises(TypeError, match="only floating-point types"):
            tn.set_default_tensor_type(wrong)


def test_switches_of_the_first_versions():
    for switch in (backcompat.broadcast_warning, backcompat.keepdim_warning):
        assert switch.enabled is False
        switch.enabled = True
        assert switch.get_enabled() is True
        switch.set_enabled(False)
        assert switch.enabled is False


def test_a_gradient_with_the_arguments_of_pytorch():
    x = tn.tensor(2.0, requires_grad=True)
    assert tn.autograd.grad(x * x, x, None, None, False, True, True)[0] == 4
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        tn.autograd.grad(x * x, x, only_inputs=False)


# ---- sparse -------------------------------------------------------------------------------------

INDEX = [[0, 1, 1, 0], [2, 0, 2, 2]]


def parts():
    values = tn.tensor([3.0, 4.0, 5.0, 1.0], dtype=tn.float64, requires_grad=True)
    dense = tn.arange(6.0).view(3, 2).double().requires_grad_()
    return values, dense


def test_a_sparse_matrix_is_the_dense_one():
    values, _ = parts()
    made = tn.sparse_coo_tensor(INDEX, values, (2, 3))
    whole = tn.tensor([[0.0, 0, 4], [4, 0, 5]], dtype=tn.float64)
    assert made.is_sparse and made.layout is tn.sparse_coo and made.shape == (2, 3)
    assert tn.equal(made.to_dense(), whole) and tn.equal(made.t().to_dense(), whole.t())
    assert tn.equal((made + 1).detach(), whole + 1) and tn.equal(
        made.float().to_dense(), whole.float()
    )
    united = made.coalesce()
    assert united.values().tolist() == [4, 4, 5] and united.is_coalesced()
    assert not made.is_coalesced() and made._nnz() == 4 and "sparse_coo" in repr(made)
    assert tn.equal(whole.to_sparse().to_dense(), whole)
    csr = tn.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [4.0, 4.0, 5.0])
    assert tn.equal(csr.to_dense(), whole.float())
    assert csr.crow_indices().tolist() == [0, 1, 3] and csr.col_indices().tolist() == [2, 0, 2]


def test_products_and_their_gradients():
    def product(values, dense):
        return sparse.mm(tn.sparse_coo_tensor(INDEX, values, (2, 3)), dense)

    values, dense = parts()
    whole = tn.sparse_coo_tensor(INDEX, values, (2, 3)).to_dense()
    assert tn.equal(product(values, dense), whole @ dense)
    assert tn.autograd.gradcheck(product, (values, dense))
    assert tn.autograd.gradgradcheck(product, (values, dense))
    made = tn.sparse_coo_tensor(INDEX, values, (2, 3))
    for other in (made @ dense, made.mm(dense), tn.spmm(made, dense)):
        assert tn.equal(other, whole @ dense)
    assert tn.equal(made @ dense[:, 0], whole @ dense[:, 0])


def test_a_function_that_saves_a_sparse_matrix():
    class Product(tn.autograd.Function):
        @staticmethod
        def forward(ctx, values, dense):
            made = tn.sparse_coo_tensor(INDEX, values, (2, 3))
            ctx.save_for_backward(made, dense)
            return tn.matmul(made, dense)

        @staticmethod
        def backward(ctx, g):
            made, dense = ctx.saved_tensors
            return (g @ dense.t())[tuple(made._indices())], made.t().matmul(g)

    assert tn.autograd.gradcheck(Product.apply, parts())


def test_entries_that_do_not_fit():
    for index, values, size in (
        ([[0, 5], [0, 0]], [1.0, 1.0], (2, 2)),
        ([[0], [-1]], [1.0], None),
        ([[0], [0]], [1.0, 2.0], None),
    ):
        with pytest.raises(RuntimeError, match="inconsistent|must have same nnz"):
            tn.sparse_coo_tensor(index, values, size)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        tn.sparse_coo_tensor(INDEX, [1.0] * 4) @ tn.ones(2, 2)


# ---- other packages -----------------------------------------------------------------------------


def test_the_memory_of_a_tensor():
    x = tn.arange(6.0).view(2, 3)
    memory = x.t()[1:].storage()
    assert memory.tolist() == [0, 1, 2, 3, 4, 5] and memory.size() == len(memory) == 6
    memory[0] = 9
    assert x[0, 0] == 9 and memory[1:3].tolist() == [1, 2] and memory.data_ptr() == x.data_ptr()
    assert repr(memory[:1]).startswith(
        " 9.0\n[tinynet.storage.TypedStorage(dtype=tinynet.float32, "
    )


def test_the_reduction_of_a_loss_under_its_old_names():
    x, y = tn.tensor([1.0, 3.0]), tn.zeros(2)
    for given, reduction in (
        ({"size_average": False}, "sum"),
        ({"size_average": True}, "mean"),
        ({"reduce": False}, "none"),
        ({"reduce": True, "size_average": False}, "sum"),
    ):
        with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
            loss = nn.functional.mse_loss(x, y, **given)
        assert tn.equal(loss, nn.functional.mse_loss(x, y, reduction=reduction))
        with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
            assert nn.CrossEntropyLoss(**given).reduction == reduction
    assert nn.functional.mse_loss(x, y, size_average=None) == 5
    with pytest.raises(TypeError, match="size_average"):
        nn.functional.huber_loss(x, y, size_average=True)


def test_trees():
    tree = {"a": [1, (2, 3)], "b": 4}
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2, 3, 4] and pytree.tree_unflatten(leaves, spec) == tree
    assert pytree.tree_map(lambda x: -x, tree) == {"a": [-1, (-2, -3)], "b": -4}
    shape = pytree.tree_map(lambda x: x, tn.ones(2).max(0))
    assert type(shape) is type(tn.ones(2).max(0))
    with pytest.raises(ValueError, match="holds 4 items"):
        pytree.tree_unflatten([1], spec)


def test_trees_of_named_tuples():
    Pair = namedtuple("Pair", "a b")
    pytree.register_pytree_node(Pair, pytree._namedtuple_flatten, pytree._namedtuple_unflatten)
    leaves, spec = pytree.tree_flatten(Pair(1, [2, 3]))
    assert leaves == [1, 2, 3] and pytree.tree_unflatten(leaves, spec) == Pair(1, [2, 3])
    assert pytree._broadcast_to_and_flatten(Pair(4, 5), spec) == [4, 5, 5]
    assert pytree._get_node_type(Pair(1, 2)) is namedtuple and pytree.tree_is_leaf("a")
    assert pytree.SUPPORTED_NODES[dict].flatten_fn({"a": 1}) == ([1], ["a"])


def test_versions_compare_by_their_numbers():
    version = TorchVersion("2.13.0+tinynet")
    assert version > "2.2" and version >= (2, 13) and version == "2.13" and version < "10"
    assert version > Version("2.2") and version != "a" and not version == 2
    with pytest.raises(TypeError, match="'<' not supported between instances of 'TorchVersion'"):
        assert version < 5
    assert version != "2.12" and not version <= "2.9.1" and version.split(".")[0] == "2"


def test_scripting_and_a_model_in_parallel_change_nothing():
    net = nn.Linear(2, 1)
    traced = ("trace", (net, tn.ones(1, 2))), ("trace_module", (net, {"forward": tn.ones(1, 2)}))
    for name, given in (("script", (net,)), *traced):
        with pytest.warns(DeprecationWarning, match=f"`torch.jit.{name}` is deprecated"):
            assert getattr(jit, name)(*given) is net
    assert issubclass(jit.TracerWarning, Warning)  # scripts silence it
    for name in ("save", "load"):
        with pytest.raises(NotImplementedError, match="weights_only=False"):
            getattr(jit, name)(net, "net.pt")
    wrapped = nn.DataParallel(net)
    assert tn.equal(wrapped(tn.ones(3, 2)), net(tn.ones(3, 2)))
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    assert tn.equal(nn.parallel.data_parallel(net, tn.ones(3, 2)), net(tn.ones(3, 2)))


def test_other_processes_are_refused_or_python_s_own():
    assert processes.spawn(print, nprocs=0) is None
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        nn.parallel.DistributedDataParallel(nn.Linear(1, 1))
    name = "FullyShardedDataParallel"
    with pytest.raises(NotImplementedError, match=f"no {name}: every process has"):
        getattr(distributed, name)(nn.Linear(1, 1), None)
    with pytest.raises(NotImplementedError, match=r"no distributed\.tensor\.zeros: every process"):
        distributed.zeros(2)


def test_options_of_sharding_are_set_and_read():
    assert [one.name for one in distributed.ShardingStrategy][:2] == ["FULL_SHARD", "SHARD_GRAD_OP"]
    assert distributed.FullStateDictConfig(rank0_only=True) == distributed.FullStateDictConfig(
        False, True
    )
    assert distributed.ShardedOptimStateDictConfig().offload_to_cpu
    assert distributed.MixedPrecision(param_dtype=tn.bfloat16).cast_root_forward_inputs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (lambda: tn.add(A, 2, A), A + 2 * A),
        (lambda: A.clone().add_(2, A), A + 2 * A),
        (lambda: A.sub(-0.5, A), A * 1.5),
        (lambda: A.clone().addcmul_(2, A, A), A + 2 * A * A),
        (lambda: tn.addcdiv(A, -1, A, A + 1), A - A / (A + 1)),
        (lambda: tn.addmm(2, A, 3, A, tn.eye(3)), 2 * A + 3 * A),
        (lambda: A.addmm(2, A, tn.eye(3)), 2 * A + A),
        (lambda: A.clone().addmm_(2, 3, A, tn.eye(3)), 2 * A + 3 * A),
        (lambda: A[0].addmv(2, 3, tn.eye(3), A[0]), 5 * A[0]),
        (lambda: A.clone().add_(tn.tensor(2), A), A + 2 * A),
        (lambda: A.addcdiv(-tn.tensor(0.5), A, A + 1), A - 0.5 * A / (A + 1)),
        (lambda: tn.addmm(tn.tensor(2.0), A, np.int64(3), A, tn.eye(3)), 2 * A + 3 * A),
        (lambda: tn.sub(A, np.float32(0.5), A), A * 0.5),
        (lambda: tn.range(0, 1, 0.5), tn.tensor([0.0, 0.5, 1.0])),
        (lambda: tn.range(3, 0, -1, dtype=tn.int64), tn.tensor([3, 2, 1, 0])),
    ],
)
def test_deprecated_orders_of_arguments(old, new):
    with pytest.warns(UserWarning, match="is deprecated"):
        assert same(old(), new)


def test_orders_of_arguments_that_never_were():
    number = tn.tensor(2.0, requires_grad=True)
    for wrong in (
        lambda: A.add_(A, A),
        lambda: A.add_(1, 2, 3),
        lambda: A.clone().addcmul_(A, A, A),
        lambda: tn.addcmul(A, number, A, A),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_numpy_s_axis_and_keepdims_in_linalg_special_and_functional():
    assert same(tn.linalg.norm(A, axis=1, keepdims=True), A.norm(dim=1, keepdim=True))
    assert same(tn.linalg.vecdot(A, A, axis=0), (A * A).sum(0))
    assert same(tn.special.logsumexp(A, axis=1), A.logsumexp(1))
    assert same(
        nn.functional.cosine_similarity(A, A, axis=1), nn.functional.cosine_similarity(A, A)
    )
    assert same(A.swapaxes(axis0=0, axis1=1), A.t())


def test_views_and_types_by_python_s_types():
    x = tn.ones(2)
    assert x.view(int).dtype == tn.int64 and x.view(float).shape == (1,)
    for kind in (int, float, bool):
        with pytest.raises(ValueError, match=f"^invalid type: '{kind.__name__}'"):
            x.type(kind)
    for kind in (tn.cuda.FloatTensor, "torch.cuda.FloatTensor"):
        with pytest.raises(RuntimeError, match="runs on the cpu only"):
            x.type(kind)
    assert tn.float32.to_real() is tn.float32


def test_numbers_like_a_tensor():
    for made in (tn.randint_like(A, 1), tn.randint_like(A, high=1), tn.randint_like(A, 0, 1)):
        assert same(made, tn.zeros(2, 3))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'high'"):
        tn.randint_like(A)


def test_handles_and_marks():
    registry = {}
    handle = RemovableHandle(registry)
    registry[handle.id] = print
    handle.remove()
    assert not registry
    assert (
        jit.ignore(drop=True)(len) is jit.ignore(len) is jit.unused(len) is jit.export(len) is len
    )
    with jit.optimized_execution(True), refusal.sdpa_kernel([refusal.SDPBackend.MATH]):
        assert jit.Attribute(3, int) == (3, int)
    with pytest.raises(TypeError, match="Backends must be an instance of SDPBackend"):
        refusal.sdpa_kernel("math").__enter__()


def test_weights_that_were_downloaded_before(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"https://example.org/a.pth to .*hub/checkpoints/a"
    ):
        hub.load_state_dict_from_url("https://example.org/a.pth")
    (tmp_path / "hub" / "checkpoints").mkdir(parents=True)
    tn.save({"w": A}, tmp_path / "hub" / "checkpoints" / "a.pth")
    assert same(hub.load_url("https://example.org/a.pth?x=1")["w"], A)


def test_processes_behind_the_door_are_forked():
    for asked in ("spawn", "forkserver", "fork"):
        found = processes.get_context(asked).get_start_method()
        assert found == ("fork" if hasattr(os, "fork") else asked)
