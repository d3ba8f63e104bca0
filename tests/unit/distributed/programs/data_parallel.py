"""DistributedDataParallel against one process that accumulates the batches of all ranks."""

import contextlib
import copy
import gc
import warnings

import pytest

import tinynet as tn
import tinynet.distributed as dist
import tinynet.nn.functional as F
from tinynet import nn, optim
from tinynet.capture.compiled import CompileWarning
from tinynet.nn.parallel import DistributedDataParallel

dist.init_process_group("mpi")
rank, n = dist.get_rank(), dist.get_world_size()
STEPS = 4
gc.freeze()  # a capture looks at all objects that are alive: not at those of the libraries


class Words(nn.Module):
    """A model of rows of a table."""

    def __init__(self, **options):
        super().__init__()
        self.table = nn.Embedding(12, 6, **options)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        numbers = (x[:, :5].abs() * 7).long() % 12
        return self.head(self.table(numbers).tanh().mean(1))


def perceptron():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))


def convolutions():
    first = nn.Conv2d(1, 4, 3, padding=1)
    head = nn.Linear(32, 3)
    return nn.Sequential(nn.Unflatten(1, (1, 8, 1)), first, nn.GELU(), nn.Flatten(), head)


def batch(step, number):
    generator = tn.Generator().manual_seed(1000 * step + number)
    inputs = tn.randn(5, 8, generator=generator)
    return inputs, tn.randint(0, 3, (5,), generator=generator)


def loss_of(net, step, number):
    tn.manual_seed(1000 * step + number)  # the same noise, wherever the batch is computed
    inputs, labels = batch(step, number)
    return F.cross_entropy(net(inputs), labels)


def accumulated(net, optimizer, microbatches=1, set_to_none=True):
    """Train in one process on the batches of all ranks."""
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none)
        total = None
        for number in range(n):
            for part in range(microbatches):
                loss_of(net, step, number + n * part).backward()
            if microbatches > 1:  # each rank adds its own gradients first
                own = [p.grad for p in net.parameters()]
                total = own if total is None else [a + b for a, b in zip(total, own, strict=True)]
                for p in net.parameters():
                    p.grad = None
        for p, g in zip(net.parameters(), total or net.parameters(), strict=True):
            if total is not None:
                p.grad = g
            p.grad /= n
        optimizer.step()
    return net


def distributed(net, optimizer, microbatches=1, set_to_none=True):
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none)
        for part in range(microbatches - 1):
            with net.no_sync():
                loss_of(net, step, rank + n * part).backward()
        loss_of(net, step, rank + n * (microbatches - 1)).backward()
        optimizer.step()
    return net.module


def same(a, b, what):
    for (name, x), (_, y) in zip(a.state_dict().items(), b.state_dict().items(), strict=True):
        assert x._array.tobytes() == y._array.tobytes(), (what, name, (x - y).abs().max())


def compare(make, optimizer, options=None, **training):
    tn.manual_seed(rank)  # other weights on each rank: the wrapper copies those of rank 0
    net = make()
    wrapped = DistributedDataParallel(net, **(options or {}))
    alone = copy.deepcopy(net)
    ours = distributed(wrapped, optimizer(net.parameters()), **training)
    theirs = accumulated(alone, optimizer(alone.parameters()), **training)
    same(ours, theirs, (make.__name__, options, training))
    everywhere_equal(net)


def everywhere_equal(net):
    states = [None] * n
    dist.all_gather_object(states, [p._array.tobytes() for p in net.parameters()])
    assert all(state == states[0] for state in states)


def momentum(parameters):
    return optim.SGD(parameters, lr=0.1, momentum=0.9)


def weights_are_those_of_one_process():
    for make in (perceptron, convolutions, Words):
        for optimizer in (momentum, optim.Adam):
            compare(make, optimizer)
    compare(perceptron, momentum, {"bucket_cap_mb": 1e-4})
    compare(perceptron, momentum, {"bucket_cap_mb": 1e-4, "gradient_as_bucket_view": True})
    compare(perceptron, momentum, {"gradient_as_bucket_view": True}, set_to_none=False)
    compare(perceptron, optim.Adam, {"static_graph": True, "bucket_cap_mb": 1e-4})
    compare(perceptron, momentum, {"find_unused_parameters": True, "bucket_cap_mb": 1e-4})
    compare(perceptron, momentum, microbatches=3)


def short_words():
    return Words(max_norm=1.0)


def bags_of_short_words():
    class Bags(Words):
        def __init__(self):
            super().__init__()
            self.table = nn.EmbeddingBag(12, 6, max_norm=0.7, norm_type=1.0)

        def forward(self, x):
            return self.head(self.table((x[:, :5].abs() * 7).long() % 12))

    return Bags()


def tied_words():
    class Tied(Words):
        def __init__(self):
            super().__init__(max_norm=1.0)
            del self.head

        def forward(self, x):
            numbers = (x[:, :5].abs() * 7).long() % 12
            return (self.table(numbers).mean(1) @ self.table.weight.T)[:, :3]

    return Tied()


def renormalized_rows():
    """A lookup scales rows, and each rank looks up others."""
    for make in (short_words, bags_of_short_words, tied_words):
        compare(make, momentum)
    compare(short_words, optim.Adam, {"bucket_cap_mb": 1e-4})
    net = DistributedDataParallel(short_words())
    with tn.no_grad():
        net.module.table.weight *= 3
        if rank == 0:
            net(tn.linspace(0, 1, 8)[None])  # rank 0 evaluates alone
    loss_of(net, 0, rank).backward()
    everywhere_equal(net)


def compiled_steps():
    """A compiled module is trained as any other."""

    def compiled():
        return tn.compile(perceptron())

    compare(compiled, momentum)
    with warnings.catch_warnings():  # where llvmlite is not installed
        warnings.simplefilter("ignore", CompileWarning)
        native = tn.compile(perceptron(), backend="llvm")  # rounds otherwise than eager code
        distributed(DistributedDataParallel(native), optim.Adam(native.parameters()))
    everywhere_equal(native)

    def compiled_words():
        return tn.compile(short_words())

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare(compiled_words, momentum)
    assert all(one.category is CompileWarning for one in caught)


def normalized():
    return nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 3))


def compiled_around_the_wrapper():
    """Compiled functions that contain the wrapper exchange what eager ones do, to the bit."""
    for options in ({}, {"gradient_as_bucket_view": True}, {"bucket_cap_mb": 0.0001}):
        eagerly, _ = trained_around(lambda function: function, options)
        for backward_inside in (True, False):
            net, calls = trained_around(tn.compile, options, backward_inside)
            same(net, eagerly, (options, backward_inside))
            assert calls.replayed > 2 and not calls.eager, (options, backward_inside, calls)


def trained_around(compiled, options, backward_inside=True):
    """Train with a function around the wrapper; each rank takes the sixth step alone."""
    tn.manual_seed(rank)
    net = normalized()
    wrapped = DistributedDataParallel(net, **options)
    optimizer = momentum(net.parameters())

    def loss_of_batch(inputs, labels):
        return F.cross_entropy(wrapped(inputs), labels)

    def step(inputs, labels):
        optimizer.zero_grad()
        loss_of_batch(inputs, labels).backward()
        optimizer.step()

    step, loss_of_batch = (
        compiled(step),
        loss_of_batch if backward_inside else compiled(loss_of_batch),
    )
    for number in range(9):
        with wrapped.no_sync() if number == 5 else contextlib.nullcontext():
            if backward_inside:
                step(*batch(number, rank))
                continue
            optimizer.zero_grad()
            loss_of_batch(*batch(number, rank)).backward()
            optimizer.step()
    function = step if backward_inside else loss_of_batch
    return net, function.calls() if compiled is tn.compile else None


def wrappers_that_run_eagerly():
    for options, make in (({"find_unused_parameters": True}, perceptron), ({}, sparse_words)):
        net = DistributedDataParallel(make().eval(), **options)

        @tn.compile
        def step(inputs, labels, net=net):
            F.cross_entropy(net(inputs), labels).backward()

        with pytest.warns(
            CompileWarning, match="DistributedDataParallel (searches|exchanges spar)"
        ):
            for number in range(5):
                net.zero_grad()
                step(*batch(number, rank))
        everywhere_equal(net)


def sparse_words():
    return Words(sparse=True)


def sparse_gradients():
    def sgd(parameters):
        return optim.SGD(parameters, lr=0.1)

    compare(sparse_words, sgd)
    compare(sparse_words, sgd, {"bucket_cap_mb": 1e-4}, set_to_none=False)


warnings.simplefilter("error")
for check in (
    weights_are_those_of_one_process,
    renormalized_rows,
    compiled_steps,
    compiled_around_the_wrapper,
    wrappers_that_run_eagerly,
    sparse_gradients,
):
    check()
dist.destroy_process_group()
print("passed", flush=True)
