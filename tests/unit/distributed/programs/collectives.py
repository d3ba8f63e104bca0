"""Every collective, against what one process computes from the tensors of all ranks."""

import warnings

import numpy as np
import pytest

import tinynet as tn
import tinynet.distributed as dist
from tinynet.core.tensors.tensor import wrap
from tinynet.distributed import ReduceOp

dist.init_process_group("mpi")
rank, n = dist.get_rank(), dist.get_world_size()
FLOATS = [tn.float16, tn.float32, tn.float64]
try:
    FLOATS.append(tn.ones(1, dtype=tn.bfloat16).dtype)
except ImportError:
    pass
INTS = [tn.uint8, tn.int8, tn.int16, tn.int32, tn.int64]
UFUNCS = {
    ReduceOp.SUM: np.add,
    ReduceOp.PRODUCT: np.multiply,
    ReduceOp.MIN: np.minimum,
    ReduceOp.MAX: np.maximum,
    ReduceOp.BAND: np.bitwise_and,
    ReduceOp.BOR: np.bitwise_or,
    ReduceOp.BXOR: np.bitwise_xor,
}


def of_all(shape, dtype=tn.float32, seed=0):
    """The tensors of all ranks, the same on all of them."""
    generator = tn.Generator().manual_seed(seed)
    if dtype == tn.bool:
        return [tn.rand(shape, generator=generator) > 0.5 for _ in range(n)]
    if not dtype.is_floating_point:
        return [tn.randint(0, 5, shape, generator=generator).to(dtype) for _ in range(n)]
    return [tn.randn(shape, generator=generator).to(dtype) for _ in range(n)]


def in_order(tensors, op):
    arrays = [t.clone() for t in tensors]
    result = arrays[0]
    for other in arrays[1:]:
        with np.errstate(all="ignore"):
            result = wrap(UFUNCS[op](result._array, other._array))
    return result


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape, (a, b)
    assert a._array.tobytes() == b._array.tobytes(), (a, b)


def reductions():
    for op in UFUNCS:
        bits = op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)
        for dtype in [*INTS, tn.bool] if bits else [*FLOATS, *INTS, tn.bool]:
            tensors = of_all((2, 3), dtype)
            mine = tensors[rank].clone()
            assert dist.all_reduce(mine, op) is None
            same(mine, in_order(tensors, op))
    for size in (0, 1, 4095, 4097, 100_003):  # small ones, and those cut into parts
        tensors = of_all((size,), seed=size)
        mine = tensors[rank].clone()
        work = dist.all_reduce(mine, async_op=True)
        assert work.wait() is True
        assert work.is_completed() and work.is_success() and work.exception() is None
        same(mine, in_order(tensors, ReduceOp.SUM))
        assert work.result()[0] is mine
    tensors = of_all((5,))
    mine = tensors[rank].clone()
    dist.all_reduce(mine, dist.ReduceOp.AVG)
    same(mine, in_order(tensors, ReduceOp.SUM) / n)
    mine = tensors[rank].clone()
    dist.reduce(mine, dst=n - 1)
    same(mine, in_order(tensors, ReduceOp.SUM) if rank == n - 1 else tensors[rank])
    rows = of_all((n, 3))
    own = tn.zeros(3)
    dist.reduce_scatter(own, list(rows[rank]))
    same(own, in_order([t[rank] for t in rows], ReduceOp.SUM))
    dist.reduce_scatter_tensor(own, rows[rank].reshape(-1), ReduceOp.MAX)
    same(own, in_order([t[rank] for t in rows], ReduceOp.MAX))
    pair = [tensors[rank].clone(), tn.ones(2) * rank]
    dist.all_reduce_coalesced(pair)
    same(pair[0], in_order(tensors, ReduceOp.SUM))
    same(pair[1], tn.ones(2) * sum(range(n)))


def copies():
    tensors = of_all((2, 3))
    mine = tensors[rank].clone()
    dist.broadcast(mine, src=n - 1)
    same(mine, tensors[n - 1])
    listed = [tn.zeros(2, 3) for _ in range(n)]
    dist.all_gather(listed, tensors[rank])
    for a, b in zip(listed, tensors, strict=True):
        same(a, b)
    joined = tn.zeros(2 * n, 3)
    dist.all_gather_into_tensor(joined, tensors[rank])
    same(joined, tn.cat(tensors))
    stacked = tn.zeros(n, 2, 3)
    dist.all_gather_into_tensor(stacked, tensors[rank])
    same(stacked, tn.stack(tensors))
    listed = [tn.zeros(2, 3) for _ in range(n)] if rank == 0 else None
    dist.gather(tensors[rank], listed, dst=0)
    for a, b in zip(listed or [], tensors if rank == 0 else [], strict=True):
        same(a, b)
    own = tn.zeros(2, 3)
    dist.scatter(own, tensors if rank == n - 1 else None, src=n - 1)
    same(own, tensors[rank])
    out = [tn.zeros(2) for _ in range(n)]
    dist.all_to_all(out, [tn.ones(2) * (10 * rank + k) for k in range(n)])
    assert [t[0].item() for t in out] == [10 * k + rank for k in range(n)]
    single = tn.zeros(2 * n)
    dist.all_to_all_single(single, tn.arange(2.0 * n) + 100 * rank)
    assert single.tolist() == [100.0 * k + 2 * rank + i for k in range(n) for i in range(2)]
    rows = tn.zeros((rank + 1) * n, 2)  # rank r gets r + 1 rows from each
    dist.all_to_all_single(
        rows,
        tn.arange(n * (n + 1) / 2).reshape(-1, 1).expand(-1, 2),
        [rank + 1] * n,
        list(range(1, n + 1)),
    )
    first = rank * (rank + 1) / 2
    assert rows[:, 1].tolist() == [first + i for _ in range(n) for i in range(rank + 1)]


def memory():
    """Contiguous tensors are used in place; others are copied; all writes are counted."""
    base = tn.arange(6.0).reshape(2, 3) * (rank + 1)
    transposed = base.t()
    dist.all_reduce(transposed)
    total = n * (n + 1) / 2
    same(base, tn.arange(6.0).reshape(2, 3) * total)
    assert base._version == 1
    dist.all_reduce(base[:, 1])
    assert base[:, 1].tolist() == [1 * total * n, 4 * total * n] and base._version == 2
    before = base.data_ptr()
    dist.broadcast(base, 0)
    assert base.data_ptr() == before
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        dist.all_reduce(tn.ones(1).expand(3))
    leaf = tn.ones(2, requires_grad=True)  # as under no_grad: programs broadcast parameters
    dist.broadcast(leaf, 0)
    assert leaf.is_leaf and leaf._version == (rank != 0)
    x = tn.ones(2, requires_grad=True)
    y = x.exp()
    dist.all_reduce(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        y.sum().backward()
    assert "dist.all_reduce(y)" in str(caught.value) and "y.clone()" not in str(caught.value)
    work = dist.all_reduce(z := tn.ones(2), async_op=True)
    assert z._version == 1
    work.wait()
    work.wait()
    assert z._version == 2


def background():
    """Operations run in the order of their calls, also where a waiting one follows."""
    tensors = [tn.ones(3000) * (rank + k) for k in range(30)]
    works = [dist.all_reduce(t, async_op=True) for t in tensors]
    last = tn.ones(1)
    dist.all_reduce(last)
    assert last.item() == n
    for k, work in enumerate(works):
        work.wait()
        assert tensors[k][7].item() == sum(r + k for r in range(n))
    future = dist.all_reduce(tn.ones(2), async_op=True).get_future()
    assert future.then(lambda f: f.value()[0] / n).wait().tolist() == [1, 1]


def rows(numbers):
    """A sparse gradient."""
    table = tn.nn.Embedding(5, 2, sparse=True)
    table(tn.tensor(numbers)).sum().backward()
    return table.weight.grad


def sparse():
    for asynchronous in (False, True):
        grad = rows([rank % 3, 4])
        work = dist.all_reduce(grad, async_op=asynchronous)
        if asynchronous:
            work.wait()
        assert grad.is_sparse
        expected = [[sum(r % 3 == k for r in range(n)) + n * (k == 4)] * 2 for k in range(5)]
        assert grad.to_dense().tolist() == expected


def messages():
    after, before = (rank + 1) % n, (rank - 1) % n
    into = tn.zeros(2)
    ops = [
        dist.P2POp(dist.isend, tn.ones(2) * rank, after),
        dist.P2POp(dist.irecv, into, before),
    ]
    for work in dist.batch_isend_irecv(ops):
        assert work.wait()
    assert into.tolist() == [before, before]
    if rank == 0:
        for _ in range(n - 1):
            source = dist.recv(into)
            assert into.tolist() == [source, source]
    else:
        dist.send(tn.ones(2) * rank, 0)
    dist.barrier()
    if rank == 0:
        dist.send(tn.ones(1), 1, tag=5)
        dist.send(tn.zeros(1), 1, tag=4)
        dist.send(tn.zeros(3), 1)
        dist.send_object_list([{"a": tn.ones(2)}, 3], dst=1)
    if rank == 1:
        one = tn.zeros(1)
        dist.recv(one, 0, tag=4)
        assert one.item() == 0
        work = dist.irecv(one, 0, tag=5)
        work.wait()
        assert one.item() == 1 and work.source_rank() == 0
        with pytest.raises(RuntimeError, match="differ between the ranks: 12 bytes|truncated"):
            dist.recv(tn.zeros(4), 0)
        listed = [None, None]
        assert dist.recv_object_list(listed, src=0) == 0
        assert listed[1] == 3 and listed[0]["a"].tolist() == [1, 1]
    dist.monitored_barrier()


def objects():
    listed = [None] * n
    dist.all_gather_object(listed, {"rank": rank, "text": "x" * 1000 * rank})
    assert [o["rank"] for o in listed] == list(range(n)) and len(listed[-1]["text"]) == 1000 * (
        n - 1
    )
    shared = [rank, "a"] if rank == 0 else [None, None]
    dist.broadcast_object_list(shared, src=0)
    assert shared == [0, "a"]
    gathered = [None] * n if rank == 1 else None
    dist.gather_object(f"g{rank}", gathered, dst=1)
    assert gathered == ([f"g{r}" for r in range(n)] if rank == 1 else None)
    own = [None]
    dist.scatter_object_list(own, [f"s{r}" for r in range(n)] if rank == 0 else None, src=0)
    assert own == [f"s{rank}"]


def groups():
    assert dist.get_process_group_ranks(None) == list(range(n))
    assert dist.group.WORLD is not None and dist.get_backend() == "mpi"
    ends = dist.new_group([n - 1, 0])
    if rank in (0, n - 1):
        assert dist.get_process_group_ranks(ends) == [0, n - 1]
        assert dist.get_group_rank(ends, n - 1) == 1 and dist.get_global_rank(ends, 1) == n - 1
        t = tn.ones(2) * rank
        dist.broadcast(t, src=n - 1, group=ends)
        assert t.tolist() == [n - 1, n - 1]
        t = tn.ones(2) * rank
        dist.broadcast(t, group_src=0, group=ends)
        assert t.tolist() == [0, 0]
        with pytest.raises(ValueError, match=f"Global rank {n} is not part of group"):
            dist.broadcast(t, src=n, group=ends)
        dist.destroy_process_group(ends)
        with pytest.raises(ValueError, match="Invalid process group specified"):
            dist.all_reduce(t, group=ends)
    else:
        assert ends == dist.GroupMember.NON_GROUP_MEMBER
        assert dist.get_rank(ends) == dist.get_world_size(ends) == -1
        with pytest.warns(UserWarning, match=f"Running all_reduce on global rank {rank} which"):
            assert dist.all_reduce(tn.ones(1), group=ends) is None
    own, pairs = dist.new_subgroups(2)
    t = tn.ones(1) * rank
    dist.all_reduce(t, group=own)
    assert t.item() == 2 * (rank // 2 * 2) + 1 and len(pairs) == n // 2
    # Two groups whose operations start in another order on each rank.
    a, b = dist.new_group(), dist.new_group()
    first, second = (a, b) if rank % 2 else (b, a)
    works = [dist.all_reduce(tn.ones(2), group=g, async_op=True) for g in (first, second)]
    for work in works:
        work.wait()


REFUSALS = {
    "all_reduce([1])": (TypeError, "Expected parameter `tensor` of type tinynet.Tensor"),
    "all_gather(x, x)": (TypeError, "Expected parameter `tensor_list` of type List"),
    "all_reduce(x, ReduceOp.BAND)": (RuntimeError, "Cannot use ReduceOp.BAND with non-integral"),
    "all_reduce(i, ReduceOp.AVG)": (RuntimeError, "can't be cast to the desired output type Long"),
    "all_reduce(x, 'sum')": (TypeError, "op must be a tinynet.distributed.ReduceOp"),
    "all_gather([x], x)": (RuntimeError, "invalid output tensor list at index 0 (expected length"),
    "all_gather([i] * n, x)": (ValueError, "Invalid usage of tensors with different dtypes"),
    "all_gather([x] * (n - 1) + [y], x)": (RuntimeError, "invalid tensor size at index"),
    "all_gather_into_tensor(y, x)": (RuntimeError, "must have"),
    "broadcast(x)": (ValueError, "Must specify global_rank or group_rank"),
    "broadcast(x, 0, group_src=0)": (ValueError, "Can't specify both group_rank and global_rank"),
    "broadcast(x, 9)": (RuntimeError, "invalid root rank: 9"),
    "reduce_scatter(x, [x])": (RuntimeError, "invalid input tensor list size, must be world size"),
    "reduce_scatter_tensor(x, y)": (RuntimeError, "The input tensor must have"),
    "scatter(x, None, src=rank)": (ValueError, "``scatter_list`` must be specified on source rank"),
    "scatter(x, [x], src=rank)": (RuntimeError, "Incorrect input list size 1"),
    "scatter(x, [x], src=1 - rank)": (ValueError, "must NOT be specified on non-source ranks"),
    "gather(x, None, dst=rank)": (ValueError, "must be specified on destination rank"),
    "gather(x, [x], dst=1 - rank)": (ValueError, "must NOT be specified on non-destination ranks"),
    "all_to_all_single(y, y, [9] * n, [9] * n)": (
        RuntimeError,
        "Split sizes doesn't match total dim 0",
    ),
    "all_to_all_single(y, y)": (RuntimeError, "does not divide equally across group size"),
    "send(x, rank)": (ValueError, "destination rank should not be the same as the rank of the"),
    "recv(x, rank)": (ValueError, "source rank should not be the same as the rank of the"),
    "send(x, 9)": (RuntimeError, "invalid root rank: 9"),
    "send(x, 1 - rank, tag=-1)": (ValueError, "The tag of a message must be at least 0"),
    "P2POp(all_reduce, x)": (ValueError, "Invalid ``op``. Expected ``op`` to be of type"),
    "batch_isend_irecv([])": (ValueError, "Invalid ``p2p_op_list``"),
    "new_group([0, 0])": (ValueError, "ranks list must not contain duplicate entries, got [0, 0]"),
    "new_group([0, 9])": (ValueError, "Rank 9 is out of range. Valid ranks are 0 to"),
    "get_group_rank(group.WORLD, 9)": (ValueError, "Global rank 9 is not part of group"),
    "get_global_rank(group.WORLD, 9)": (ValueError, "Group rank 9 is not part of group"),
    "init_process_group('mpi')": (ValueError, "trying to initialize the default process group twi"),
    "all_reduce(x, group=3)": (ValueError, "Process group 3 is not initialized in the world group"),
    "recv_object_list([None], rank)": (ValueError, "Invalid source rank: source rank should not"),
    "all_to_all([x], [x])": (RuntimeError, "input tensor list size 1 does not match world size"),
    "all_reduce_coalesced([x, i])": (ValueError, "Invalid usage of tensors with different dtypes"),
    "scatter_object_list([0], None, rank)": (ValueError, "source rank must provide non-None scatt"),
    "broadcast(s, 0)": (RuntimeError, "Of a sparse tensor there is only the sum"),
    "all_reduce(s, ReduceOp.MAX)": (RuntimeError, "all_reduce of sparse tensors only sums"),
    "scatter_object_list([], [])": (ValueError, "to be a list of size at least 1"),
}


def refusals():
    if rank > 1:
        return
    names = {name: getattr(dist, name) for name in dir(dist)} | {
        "x": tn.ones(2),
        "y": tn.ones(2 * n + 1),
        "i": tn.ones(2).long(),
        "s": rows([0]),
    }
    for call, (kind, text) in REFUSALS.items():
        with pytest.raises(kind) as caught:
            eval(call, names, {"rank": rank, "n": n})
        assert text in str(caught.value), (call, caught.value)


warnings.simplefilter("error")
for check in (
    reductions,
    copies,
    memory,
    background,
    sparse,
    messages,
    objects,
    groups,
    refusals,
):
    check()
dist.destroy_process_group()
assert not dist.is_initialized() and dist.group.WORLD is None
dist.init_process_group("gloo", rank=rank, world_size=n)  # once more, as tests of users do
assert dist.get_backend() == "gloo"
dist.barrier()
dist.destroy_process_group()
print("passed", flush=True)
