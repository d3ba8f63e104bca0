"""Options and refusals of DistributedDataParallel."""

import pickle
import warnings

import pytest

import tinynet as tn
import tinynet.distributed as dist
from tinynet import nn
from tinynet.nn.parallel import DistributedDataParallel
from tinynet.utils.checkpoint import checkpoint

dist.init_process_group("mpi")
rank, n = dist.get_rank(), dist.get_world_size()
x = tn.full((1, 2), rank + 1.0)
MEAN = (n + 1) / 2  # of the inputs of all ranks


class Branches(nn.Module):
    """Uses one of two layers, or both."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 1), nn.Linear(2, 1)

    def forward(self, x, which):
        return {name: getattr(self, name)(x) for name in which}


def test_unused_parameters_are_an_error_of_the_next_iteration():
    net = DistributedDataParallel(Branches())
    net(x, ["first"])["first"].sum().backward()
    with pytest.raises(RuntimeError) as caught:
        net(x, ["first"])
    text = str(caught.value)
    assert text.startswith("Expected to have finished reduction in the prior iteration before")
    assert "`find_unused_parameters=True`" in text
    assert f"did not receive grad for rank {rank}: 2 3" in text
    assert "second.weight, second.bias" in text


def test_unused_parameters_can_be_found():
    net = DistributedDataParallel(Branches(), find_unused_parameters=True)
    own = "first" if rank == 0 else "second"
    for used, found in (["first"], [1, None]), ([own], [1 / n, (n - 1) / n]):
        for outputs in used, ["first", "second"]:  # those that forward computes
            net.zero_grad()
            net(x, outputs)[used[0]].sum().backward()
            grads = [layer.bias.grad for layer in net.module.children()]
            assert grads == [None if g is None else tn.tensor([g]) for g in found]


def test_a_static_graph_has_unused_parameters_and_reentrant_checkpoints():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.other = nn.Linear(2, 2, bias=False), nn.Linear(1, 1)

        def forward(self, x):
            for _ in range(2):
                x = checkpoint(self.layer, x, use_reentrant=True)
            return x

    inputs = x.clone().requires_grad_()
    net = DistributedDataParallel(Twice(), static_graph=True)
    weight = net.module.layer.weight
    y = inputs @ weight.T @ weight.T
    (expected,) = tn.autograd.grad(y.sum(), weight)
    dist.all_reduce(expected, dist.ReduceOp.AVG)
    for _ in range(3):
        net.zero_grad()
        net(inputs).sum().backward()
        assert tn.allclose(weight.grad, expected) and net.module.other.weight.grad is None
    net = DistributedDataParallel(Twice())
    with pytest.raises(RuntimeError, match="variable ready only once(.|\n)*0 with name layer.w"):
        net(inputs).sum().backward()
    net = DistributedDataParallel(Branches(), static_graph=True)
    net(x, ["first"])["first"].sum().backward()
    with pytest.raises(RuntimeError, match="Your training graph has changed(.|\n)*second.weight"):
        net(x, ["second"])["second"].sum().backward()


def test_gradients_only_accumulate_without_sync():
    net = DistributedDataParallel(nn.Linear(2, 1, bias=False))
    weight = net.module.weight
    with net.no_sync():
        net(x).sum().backward()
        assert tn.equal(weight.grad, x)
    net(x).sum().backward()
    assert tn.equal(weight.grad, tn.full((1, 2), 2 * MEAN))


def test_gradients_are_views_of_their_bucket():
    net = DistributedDataParallel(nn.Linear(2, 1), gradient_as_bucket_view=True)
    for _ in range(3):
        net.zero_grad(set_to_none=False)
        net(x).sum().backward()
        assert tn.equal(net.module.weight.grad, tn.full((1, 2), MEAN))
    (bucket,) = net.reducer.buckets
    grads = [p.grad._array for p in net.parameters()]
    assert all(grad.base is bucket.flat._array for grad in grads)


def test_buckets_follow_the_order_of_gradients():
    layers = [nn.Linear(2, 2, bias=False) for _ in range(3)]

    class Reversed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(layers)

        def forward(self, x):
            return layers[0](layers[1](layers[2](x)))

    net = DistributedDataParallel(Reversed(), bucket_cap_mb=1e-5)
    for _ in range(2):
        assert len(net.reducer.buckets) == 1
        net(x)  # without backward: nothing is missing
    net(x).sum().backward()
    net(x).sum().backward()
    assert [bucket.indices for bucket in net.reducer.buckets] == [[0], [1], [2]]


def test_buckets_are_reduced_while_backward_still_runs():
    net = DistributedDataParallel(
        nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 1)), bucket_cap_mb=1e-6
    )
    under_way = []

    def look(module, inputs, output):
        output.register_hook(
            lambda grad: under_way.append([b.work is not None for b in net.reducer.buckets])
        )

    net.module[0].register_forward_hook(look)
    for _ in range(2):
        net(x).sum().backward()
    assert len(net.reducer.buckets) == 6
    assert under_way[-1] == [True] * 4 + [False] * 2  # those of the layers behind it


def test_buffers_are_those_of_rank_0():
    for sync in (True, False):
        norm = nn.BatchNorm1d(2)
        norm.running_mean += rank
        net = DistributedDataParallel(norm, forward_sync_buffers=sync)
        assert tn.equal(norm.running_mean, tn.zeros(2))
        for _ in range(2):
            net(tn.full((4, 2), 1.0 + rank)).sum().backward()
        means = [None] * n
        dist.all_gather_object(means, norm.running_mean[0].item())
        assert tn.allclose(
            norm.running_mean,
            tn.tensor(0.09 + 0.1 * (rank + 1)) if sync else tn.tensor(0.19 * (rank + 1)),
        )


def test_a_hook_reduces_gradients():
    def in_half_precision(group, bucket):
        half = bucket.buffer().to(tn.float16)
        future = dist.all_reduce(half, group=group, async_op=True).get_future()
        assert bucket.index() == 0 and bucket.is_last()
        assert [g.shape for g in bucket.gradients()] == [p.shape for p in bucket.parameters()]
        return future.then(lambda done: done.value()[0].to(tn.float32) / n)

    net = DistributedDataParallel(nn.Linear(2, 1))
    net.register_comm_hook(None, in_half_precision)
    for _ in range(2):
        net.zero_grad()
        net(x).sum().backward()
        assert tn.equal(net.module.weight.grad, tn.full((1, 2), MEAN))
    with pytest.raises(RuntimeError, match="can only be called once"):
        net.register_comm_hook(None, in_half_precision)
    net = DistributedDataParallel(nn.Linear(2, 1))
    with pytest.raises(TypeError, match="Communication hook must be callable"):
        net.register_comm_hook(None, 3)
    net.register_comm_hook(None, lambda state, bucket: 3)
    with pytest.raises(RuntimeError, match="must return a tinynet.distributed.Future object, but"):
        net(x).sum().backward()


def test_parameters_may_be_ignored_or_frozen():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 1))
    module[1].weight.requires_grad_(False)
    ignore = DistributedDataParallel._set_params_and_buffers_to_ignore_for_model
    ignore(module, ["0.weight", "0.bias"])
    net = DistributedDataParallel(module)
    assert net.reducer.names == ["1.bias", "2.weight", "2.bias"]
    net(x).sum().backward()
    assert tn.equal(module[2].bias.grad, tn.ones(1)) and module[1].weight.grad is None


def test_different_models_are_refused():
    with pytest.raises(RuntimeError) as caught:
        DistributedDataParallel(nn.Linear(2, 2 + (rank == 1)))
    assert "params[0] (weight) of rank 1 with sizes [3, 2]" in str(caught.value)
    with pytest.raises(RuntimeError, match="Rank 0 has 2 params, while rank 1 has inconsistent 1"):
        DistributedDataParallel(nn.Linear(2, 2, bias=rank != 1))


def test_dense_and_sparse_gradients_do_not_mix():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(3, 2, sparse=True)

        def forward(self, x):
            return self.table(tn.tensor([0])) @ self.table.weight.T

    net = DistributedDataParallel(Tied())
    with pytest.raises(RuntimeError, match="to have sparse gradient: table.weight is the weight"):
        net(x).sum().backward()


def test_copies_and_pickles_are_wrappers():
    net = DistributedDataParallel(nn.Linear(2, 1), find_unused_parameters=True)
    assert list(net.state_dict()) == ["module.weight", "module.bias"]
    copy = pickle.loads(pickle.dumps(net))
    copy(x).sum().backward()
    assert tn.equal(copy.module.weight.grad, tn.full((1, 2), MEAN))
    assert net.module.weight.grad is None
    del net  # its hooks go


def test_ranks_may_have_different_numbers_of_batches():
    for initial in (True, False):
        tn.manual_seed(0)
        net = DistributedDataParallel(
            nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1)), bucket_cap_mb=1e-6
        )
        bias = net.module[1].bias
        start = bias.item()
        with net.join(divide_by_initial_world_size=initial):
            for _ in range(2 * (rank + 1)):  # the gradient of the bias is 2 on each rank
                net.zero_grad()
                net(tn.eye(2)).sum().backward()
                with tn.no_grad():
                    for p in net.parameters():
                        p -= p.grad / 8
        steps = [n - step // 2 for step in range(2 * n)]  # the number of ranks that train
        expected = sum(k / n if initial else 1 for k in steps) / 4
        near = abs(start - expected - bias.item())
        assert near < 2**-18
        assert net.module[0].num_batches_tracked == 2 * n
        net(tn.eye(2)).sum().backward()  # after the block as before
    with pytest.raises(RuntimeError, match=r"exhausted all inputs|one rank that exhausted inputs"):
        with net.join(throw_on_early_termination=True):
            for _ in range(1 + (rank == 0)):
                net(tn.eye(2)).sum().backward()
    with pytest.raises(NotImplementedError, match=r"join\(\) does not work with SyncBatchNorm"):
        with DistributedDataParallel(nn.SyncBatchNorm(2)).join():
            pass


REFUSALS = {
    "nn.ReLU()": (RuntimeError, "is not needed when a module doesn't have any parameter that"),
    "nn.LazyLinear(1)": (RuntimeError, "Modules with uninitialized parameters can't be used"),
    "nn.Linear(1, 1), device_ids=[0]": (ValueError, "device_ids and output_device arguments only"),
    "nn.Linear(1, 1), device_ids=[0, 1]": (ValueError, "contain a single element"),
    "nn.Linear(1, 1), mixed_precision=1": (NotImplementedError, "has no mixed_precision: omit"),
}


def test_refusals():
    for arguments, (kind, text) in REFUSALS.items():
        with pytest.raises(kind, match=text):
            eval(f"DistributedDataParallel({arguments})")
    for options, text in (
        ({"check_reduction": True}, "`check_reduction` argument in"),
        ({"broadcast_buffers": False}, "`broadcast_buffers` is deprecated"),
        ({"broadcast_buffers": False, "forward_sync_buffers": True}, "is ignored when"),
    ):
        with pytest.warns(FutureWarning, match=text):
            DistributedDataParallel(nn.Linear(1, 1), **options)
    with pytest.warns(UserWarning, match="will detect unused parameters automatically"):
        DistributedDataParallel(nn.Linear(1, 1), static_graph=True, find_unused_parameters=True)


warnings.simplefilter("error")
for name, check in [*globals().items()]:
    if name.startswith("test_"):
        check()
dist.destroy_process_group()
with pytest.raises(ValueError, match="Default process group has not been initialized"):
    DistributedDataParallel(nn.Linear(1, 1))
print("passed", flush=True)
