"""ZeroRedundancyOptimizer against the optimizer that it wraps, to the bit."""

import copy
import warnings

import pytest

import tinynet as tn
import tinynet.distributed as dist
from tinynet import nn, optim
from tinynet.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer

dist.init_process_group("mpi")
rank, n = dist.get_rank(), dist.get_world_size()


def model():
    tn.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 3), nn.Tanh(), nn.Linear(3, 1))


def groups_of(net):
    return [{"params": net[0].parameters(), "lr": 0.05}, {"params": net[2:].parameters()}]


def train(net, optimizer, steps, schedule=None):
    for step in range(steps):
        optimizer.zero_grad()
        net(tn.full((2, 6), step + 1.0)).sum().backward()
        optimizer.step()
        if schedule is not None:
            schedule.step()


def same(a, b):
    for x, y in zip(a.parameters(), b.parameters(), strict=True):
        assert x._array.tobytes() == y._array.tobytes()


def same_state(a, b):
    assert a["param_groups"] == b["param_groups"]
    assert list(a["state"]) == list(b["state"])
    for number, state in a["state"].items():
        for name, value in state.items():
            assert tn.equal(value, b["state"][number][name]), (number, name)


OPTIMIZERS = [
    (optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    (optim.Adam, {"lr": 0.01}),
    (optim.AdamW, {"lr": 0.01, "amsgrad": True}),
]


def test_weights_and_state_are_those_of_the_wrapped_optimizer():
    for kind, options in OPTIMIZERS:
        net, alone = model(), model()
        ours = ZeroRedundancyOptimizer(groups_of(net), kind, **options)
        theirs = kind(groups_of(alone), **options)
        schedules = [optim.lr_scheduler.StepLR(o, 2, 0.5) for o in (ours, theirs)]
        train(net, ours, 4, schedules[0])
        train(alone, theirs, 4, schedules[1])
        same(net, alone)
        sizes = [sum(p.numel() for p in ours.state), sum(p.numel() for p in net.parameters())]
        assert sizes[0] < sizes[1]
        ours.consolidate_state_dict(to=n - 1)
        if rank < n - 1:
            with pytest.raises(RuntimeError, match="Optimizer state has not been consolidated on"):
                ours.state_dict()
        ours.consolidate_state_dict()
        saved = [copy.deepcopy(ours.state_dict()) if rank == 0 else None]
        if rank == 0:
            same_state(saved[0], theirs.state_dict())
        dist.broadcast_object_list(saved, 0)
        resumed = ZeroRedundancyOptimizer(groups_of(net), kind, **options)
        resumed.load_state_dict(saved[0])
        train(net, resumed, 2)
        train(alone, theirs, 2)
        same(net, alone)


def test_groups_can_be_added():
    net, alone = model(), model()
    ours = ZeroRedundancyOptimizer(net[0].parameters(), optim.Adam)
    theirs = optim.Adam(alone[0].parameters())
    for optimizer, of in ((ours, net), (theirs, alone)):
        optimizer.add_param_group({"params": of[2:].parameters(), "lr": 0.5})
        train(of, optimizer, 2)
    same(net, alone)


def test_refusals():
    net = nn.Linear(1, 1, bias=False)  # a single parameter: most ranks have none
    optimizer = ZeroRedundancyOptimizer(net.parameters(), optim.SGD, lr=1.0)
    net(tn.ones(1, 1)).sum().backward()
    before = net.weight.item()
    assert optimizer.step(lambda: 3) == 3 and net.weight.item() == before - 1
    with pytest.raises(NotImplementedError, match="has no overlap_with_ddp"):
        ZeroRedundancyOptimizer(net.parameters(), optim.SGD, overlap_with_ddp=True)
    with pytest.raises(ValueError, match="optimizer got an empty parameter list"):
        ZeroRedundancyOptimizer([], optim.SGD)
    with pytest.raises(ValueError, match="Invalid learning rate: -1.0"):
        ZeroRedundancyOptimizer(net.parameters(), optim.SGD, lr=-1.0)
    with pytest.raises(RuntimeError, match="cannot be pickled"):
        copy.deepcopy(optimizer)
    del optimizer.param_groups[0]
    with pytest.raises(RuntimeError, match="no longer has the groups that ZeroRedundancyOptimizer"):
        optimizer.step()


warnings.simplefilter("error")
for name, check in [*globals().items()]:
    if name.startswith("test_"):
        check()
dist.destroy_process_group()
print("passed", flush=True)
