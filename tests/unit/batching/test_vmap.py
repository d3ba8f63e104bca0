"""How batches come and go: what runs at once, what example by example, and what is left after."""

import gc
import threading
import warnings

import numpy as np
import pytest

import tinynet as tn
from tinynet.core.trace import observable, observing
from tinynet.func import set_vmap_fallback_warning
from tinynet.ops.batching import dispatch

X = tn.arange(6.0).reshape(2, 3)


def plain():
    """Whether the kernels are the plain ones."""
    return observable.namespace["mul_kernel"] is observable.operations["mul_kernel"].kernel


@pytest.fixture(autouse=True)
def nothing_stays():
    gc.collect()
    assert plain()
    gc.disable()  # no cycle may keep a batch
    yield
    gc.enable()
    gc.collect()


def test_functions_run_once():
    calls = []
    tn.vmap(lambda a: calls.append(a.shape) or a * 2)(X)
    assert calls == [(3,)]
    assert plain()


def test_kernels_are_plain_again_when_the_graph_is_gone():
    w = tn.ones(3, requires_grad=True)
    out = tn.vmap(lambda a: (a * w).sum() ** 2)(X)
    assert not plain()  # the backward pass still needs the batch
    out.sum().backward()
    del out
    assert plain()
    assert w.grad.tolist() == [72.0, 102.0, 132.0]


def test_kernels_are_plain_again_after_an_error():
    with pytest.raises(RuntimeError, match="expected tensor \\[3\\] and src \\[2\\]"):
        tn.vmap(lambda a: a @ tn.ones(2))(X)  # shapes are those of one example
    assert plain()
    with pytest.raises(RuntimeError, match="shape '\\[2\\]' is invalid for input of size 3"):
        tn.vmap(lambda a: a.view(2))(X)
    assert plain()


def test_other_passes_accumulate_in_place_while_a_batch_lives():
    w = tn.ones(3, requires_grad=True)
    kept = tn.vmap(lambda a: (a * w).sum())(X)
    (w * 2).sum().backward()
    first = w.grad
    (w * 3).sum().backward()
    assert w.grad is first
    assert w.grad.tolist() == [5.0, 5.0, 5.0]
    assert kept.requires_grad


def test_what_leaves_for_numpy_runs_example_by_example():
    calls = []

    def f(a):
        calls.append(1)
        return a + tn.from_numpy(np.sort(a.detach().numpy())[::-1].copy())

    assert tn.vmap(f)(X).tolist() == [[2.0, 2.0, 2.0], [8.0, 8.0, 8.0]]
    assert len(calls) == 3  # one attempt, and two examples
    assert plain()


def test_a_batch_of_which_operations_know_nothing():
    lower = tn.vmap(lambda a: tn.trace(a.outer(a)))
    assert lower(X).tolist() == [5.0, 50.0]
    set_vmap_fallback_warning(True)
    try:
        with pytest.warns(UserWarning, match="performance drop .* rule for aten::trace"):
            lower(X)
    finally:
        set_vmap_fallback_warning(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lower(X)


def test_random_numbers():
    ones = tn.ones(50)
    tn.manual_seed(0)
    same = tn.vmap(lambda a: tn.nn.functional.dropout(ones) * a, randomness="same")(tn.ones(3))
    assert (same == same[0]).all()
    different = tn.vmap(lambda a: tn.rand(5) * a, randomness="different")(tn.ones(3))
    assert len(set(different.flatten().tolist())) == 15
    with pytest.raises(RuntimeError, match="randomness error mode"):
        tn.vmap(lambda a: tn.rand(2) + a)(tn.ones(3))
    tn.manual_seed(0)
    whole = tn.vmap(lambda a: tn.rand(2) + a, randomness="same")(tn.zeros(4))
    tn.manual_seed(0)
    parts = tn.vmap(lambda a: tn.rand(2) + a, randomness="same", chunk_size=3)(tn.zeros(4))
    assert (whole == parts).all()


def test_chunks():
    lengths = []

    def f(a, b):
        lengths.append(a.shape)
        return a * b, a.sum()

    x = tn.arange(15.0).reshape(3, 5)
    doubled, sums = tn.vmap(f, (1, None), (1, 0), chunk_size=2)(x, tn.tensor(2.0))
    assert len(lengths) == 3
    assert (doubled == x * 2).all()
    assert (sums == x.sum(0)).all()


class Cube(tn.autograd.Function):
    """A function of the user's whose backward leaves for numpy."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return tn.from_numpy(3 * x.detach().numpy() ** 2 * g.numpy())


def test_functions_of_the_user():
    x = X.clone().requires_grad_()
    y = Cube.apply(x)
    units = tn.eye(6).reshape(6, 2, 3)
    (rows,) = tn.autograd.grad(y, x, units, is_grads_batched=True)
    assert (rows.reshape(6, 6) == tn.diag(3 * X.flatten() ** 2)).all()
    per_sample = tn.vmap(tn.func.grad(lambda a: Cube.apply(a).sum()))(X)
    assert (per_sample == 3 * X**2).all()
    assert plain()


def test_observers_see_what_runs():
    seen = []
    with observing(lambda op, ins, outs, attributes: seen.append((op.name, ins[0].shape))):
        tn.vmap(lambda a: a.exp())(X)
    assert ("exp", (2, 3)) in seen
    assert plain()


def test_threads_do_not_disturb_each_other():
    found = {}

    def run(number):
        x = tn.full((4, 3), float(number))
        for _ in range(20):
            found[number] = tn.vmap(tn.func.grad(lambda a: (a**2).sum()))(x)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all((found[n] == 2 * n).all() for n in range(3))
    assert plain()
    assert dispatch._state.alive == 0


def test_inputs_share_their_memory():
    x = X.clone()
    version = x._version
    tn.vmap(lambda a: a[1:].mul_(10))(x)
    assert x.tolist() == [[0.0, 10.0, 20.0], [3.0, 40.0, 50.0]]
    assert x._version > version


def test_empty_batches():
    assert tn.vmap(lambda a: (a * 2).sum())(tn.zeros(0, 3)).shape == (0,)
    assert tn.func.jacrev(lambda a: a[:0])(X).shape == (0, 3, 2, 3)


def test_new_values_in_the_order_of_a_batch():
    x = tn.arange(24.0).reshape(2, 3, 4)
    made = tn.vmap(lambda a: tn.zeros_like(a).add_(a), in_dims=1)(x)
    assert (made == x.movedim(1, 0)).all()
    assert tn.vmap(lambda a: a.new_ones(2).mul_(a[0, 0]))(x).tolist() == [[0.0, 0.0], [12.0, 12.0]]
