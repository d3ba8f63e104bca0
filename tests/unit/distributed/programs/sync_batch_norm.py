"""SyncBatchNorm against batch norm over the joined batch, and against one process, to the bit."""

import copy
import warnings

import numpy as np
import pytest

import tinynet as tn
import tinynet.distributed as dist
import tinynet.nn.functional as F
from tinynet import nn, optim
from tinynet.core.tensors.tensor import wrap
from tinynet.nn.functional import sync_batch_norm as formulas
from tinynet.nn.parallel import DistributedDataParallel

dist.init_process_group("mpi")
rank, n = dist.get_rank(), dist.get_world_size()


def batches(shape, dtype=tn.float32, sizes=None, offset=0.0):
    generator = tn.Generator().manual_seed(len(shape))
    sizes = [5] * n if sizes is None else sizes
    return [tn.randn(k, *shape, generator=generator).to(dtype) + offset for k in sizes]


def test_the_result_is_batch_norm_of_the_joined_batch():
    cases = [((3,), {}), ((4, 5), {}), ((2, 3, 4), {"momentum": None}), ((3,), {"affine": False})]
    uneven = [2, 0, 7, 1][:n]
    for shape, options in cases:
        for sizes in (None, uneven):
            for dtype in (tn.float32, tn.float64):
                parts = batches(shape, dtype, sizes, offset=3.0)
                weights = batches(shape, dtype, sizes)
                sync = nn.SyncBatchNorm(shape[0], dtype=dtype, **options)
                whole = [nn.BatchNorm1d, nn.BatchNorm2d][len(shape) == 3](
                    shape[0], dtype=dtype, **options
                )
                x = tn.cat(parts).requires_grad_()
                expected = whole(x)
                (expected * tn.cat(weights)).sum().backward()
                own = parts[rank].clone().requires_grad_()
                y = sync(own)
                assert y.grad_fn.name() == "SyncBatchNormBackward"
                (y * weights[rank]).sum().backward()
                place = slice(sum(map(len, parts[:rank])), sum(map(len, parts[: rank + 1])))
                near(y, expected[place], x.numel())
                near(own.grad, x.grad[place], x.numel())
                for name, buffer in sync.named_buffers():
                    near(buffer, getattr(whole, name), x.numel())
                for name, p in sync.named_parameters():
                    dist.all_reduce(p.grad)
                    near(p.grad, getattr(whole, name).grad, x.numel())
                sync.eval(), whole.eval()
                near(sync(own), whole(own), 1)


def near(ours, theirs, terms):
    ours, theirs = ours.detach().numpy(), theirs.detach().numpy()
    scale = max(1.0, np.abs(theirs).max(initial=0))
    eps = np.finfo(theirs.dtype).eps if theirs.dtype.kind == "f" else 0
    assert np.abs(ours - theirs).max(initial=0) <= 16 * terms * eps * scale, (ours, theirs)


class Joined(tn.autograd.Function):
    """Batch norm over several batches in one process, in SyncBatchNorm's formulas."""

    @staticmethod
    def forward(ctx, norm, weight, bias, *parts):
        ctx.total = formulas.combined([formulas.moments(x._array) for x in parts])
        unbiased = ctx.total.number / (ctx.total.number - 1)
        formulas.update_running(norm.running_mean, ctx.total.mean, norm.momentum)
        formulas.update_running(norm.running_var, ctx.total.var, norm.momentum, unbiased)
        ctx.eps = norm.eps
        ctx.save_for_backward(weight, *parts)
        given = weight._array, bias._array, ctx.total, norm.eps
        return tuple(wrap(formulas.normalized(x._array, *given)) for x in parts)

    @staticmethod
    def backward(ctx, *grads):
        weight, *parts = ctx.saved_tensors
        pairs = [(g._array, x._array) for g, x in zip(grads, parts, strict=True)]
        sums = [formulas.gradient_sums(g, x, ctx.total) for g, x in pairs]
        total = np.zeros_like(sums[0])
        for row in sums:
            total += row
        given = weight._array, ctx.total, ctx.eps, total
        found = [wrap(formulas.input_gradient(g, x, *given)) for g, x in pairs]
        r = 1 / np.sqrt(ctx.total.var + ctx.eps)
        by_weight = by_bias = np.zeros_like(weight._array)
        for by_g, by_gc in sums:
            by_weight = by_weight + (by_gc * r).astype(by_weight.dtype)
            by_bias = by_bias + by_g.astype(by_bias.dtype)
        return None, wrap(by_weight), wrap(by_bias), *found


def test_weights_are_those_of_one_process_to_the_bit():
    tn.manual_seed(3)
    net = nn.Sequential(nn.Linear(4, 6), nn.SyncBatchNorm(6), nn.Tanh(), nn.Linear(6, 3))
    alone = copy.deepcopy(net)
    wrapped = DistributedDataParallel(net, bucket_cap_mb=1e-4)
    optimizer = optim.Adam(net.parameters())
    of_one = optim.Adam(alone.parameters())
    for step in range(4):
        tn.manual_seed(step)
        parts = [(tn.randn(5, 4), tn.randint(0, 3, (5,))) for _ in range(n)]
        optimizer.zero_grad()
        x, labels = parts[rank]
        F.cross_entropy(wrapped(x), labels).backward()
        optimizer.step()
        of_one.zero_grad()
        hidden = [alone[0](x) for x, _ in reversed(parts)][::-1]  # the newest one is visited first
        norm = alone[1]
        normal = Joined.apply(norm, norm.weight, norm.bias, *hidden)
        losses = [
            F.cross_entropy(alone[3](h.tanh()), labels)
            for h, (_, labels) in zip(normal[::-1], parts[::-1], strict=True)
        ]
        norm.num_batches_tracked += 1
        tn.autograd.backward(losses)
        for p in alone.parameters():
            p.grad /= n
        of_one.step()
        for (name, a), b in zip(net.state_dict().items(), alone.state_dict().values(), strict=True):
            assert a._array.tobytes() == b._array.tobytes(), (step, name, a - b)


def test_groups_and_half_precision():
    single = dist.new_group([0])
    if rank == 0:
        x = tn.randn(4, 2)
        sync, norm = nn.SyncBatchNorm(2, process_group=single), nn.BatchNorm1d(2)
        assert tn.equal(sync(x), norm(x))
    own = batches((3,), tn.float16)[rank].requires_grad_()
    y = nn.SyncBatchNorm(3)(own)
    y.sum().backward()
    assert y.dtype == own.grad.dtype == tn.float16


def test_second_derivatives_are_refused():
    x = tn.randn(3, 2, requires_grad=True)
    (g,) = tn.autograd.grad((nn.SyncBatchNorm(2)(x) ** 2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


warnings.simplefilter("error")
for name, check in [*globals().items()]:
    if name.startswith("test_"):
        check()
dist.destroy_process_group()
print("passed", flush=True)
