"""Inference mode: what it makes, what it refuses, and that other threads do not notice."""

import copy
import pickle
import threading

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn

SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a clone "
    "to get a normal tensor and use it in autograd, or use `tinynet.no_grad()` instead of "
    "`tinynet.inference_mode()`."
)
WRITTEN = "Inplace update to inference tensor outside InferenceMode is not allowed."


def refused(run):
    with pytest.raises(RuntimeError) as caught:
        run()
    return str(caught.value)


@pytest.fixture
def x():
    return tn.ones(2, requires_grad=True)


@pytest.fixture
def made(x):
    with tn.inference_mode():
        return x * 2


def test_what_is_made_inside(x):
    plain = tn.ones(2)
    with tn.inference_mode():
        assert tn.is_inference_mode_enabled() and not tn.is_grad_enabled()
        y = x * 2
        made = [y, y[:1], y.detach(), y.data, y.clone(), plain + 1, x.sum(), tn.cat([x, y])]
        made += [tn.zeros(2), tn.tensor([1.0]), tn.rand(2), tn.tensor(np.ones(2))]
        made += [tn.ones(2, requires_grad=True), *y.unbind(), *x.max(0)]
        assert all(t.is_inference() for t in made)
        assert not any(t.is_inference() for t in (x[:1], plain.view(2, 1), x.detach(), plain.data))
        assert not y.requires_grad and y.is_leaf and not y[:1]._is_view()
        assert x[:1].requires_grad and x[:1].is_leaf and x[:1]._is_view()
    assert not tn.is_inference_mode_enabled() and tn.is_grad_enabled()
    assert y.is_inference() and y[:1].is_inference() and y.detach().is_inference()
    assert y.data.is_inference() and y.view(2, 1).is_inference() and y[None].T.is_inference()


def test_writes_inside_are_free(x):
    plain = tn.ones(2)
    with tn.inference_mode():
        y = x * 2
        y.add_(1)
        y[0] = 7
        y[:1].mul_(2)
        x.add_(1)
        plain[:1].add_(5)
        assert y.tolist() == [14.0, 3.0] and plain.tolist() == [6.0, 1.0]
        assert not plain.is_inference() and not x.is_inference()
    assert (x._version, plain._version) == (1, 1)


def test_versions_are_not_tracked(made):
    assert refused(lambda: made._version) == "Inference tensors do not track version counter."


@pytest.mark.parametrize(
    "run",
    [
        lambda x, t: x * t,
        lambda x, t: (x * 1).mul_(t),
        lambda x, t: x @ t,
        lambda x, t: t[:1] * x[:1],
        lambda x, t: Kept.apply(x, t),
    ],
)
def test_saving_for_backward_is_refused(x, made, run):
    assert refused(lambda: run(x, made)) == SAVED
    with tn.no_grad():
        run(x, made)
    run(x, made.clone()).sum().backward()


class Kept(tn.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        return g, None


def test_operations_that_save_nothing_are_recorded(x, made):
    (x + made).sum().backward()
    tn.cat([x, made]).sum().backward()
    (x * 1).add_(made).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert not (made + 1).is_inference() and not made.clone().is_inference()


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.add_(1),
        lambda t: t.zero_(),
        lambda t: t.copy_(tn.ones(2)),
        lambda t: t[:1].fill_(3),
        lambda t: t.unsqueeze_(0),
        lambda t: t.uniform_(),
        lambda t: t.__setitem__(0, 1),
        lambda t: t.__setitem__(tn.tensor([0]), 1),
        lambda t: t.__iadd__(1),
    ],
)
def test_writes_outside_are_refused_before_anything_is_touched(made, write):
    assert refused(lambda: write(made)).startswith(WRITTEN)
    with tn.no_grad():
        assert refused(lambda: write(made)).startswith(WRITTEN)
    assert made.tolist() == [2.0, 2.0] and made.shape == (2,)
    with tn.inference_mode():
        write(made)


def test_the_flag_is_refused_outside(made):
    text = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
    assert refused(made.requires_grad_) == text
    assert refused(lambda: setattr(made, "requires_grad", True)) == text
    assert refused(lambda: nn.Parameter(made)) == text
    made.requires_grad = False
    assert nn.Parameter(made, requires_grad=False).is_inference()
    with tn.inference_mode():
        assert tn.zeros(2).requires_grad_().requires_grad


def test_copies_are_normal(x, made):
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made)), tn.tensor(made.numpy())):
        assert not other.is_inference() and other.tolist() == [2.0, 2.0]
        (x * other.add_(1)).sum().backward()


def test_modes_inside_of_modes(x):
    with tn.inference_mode():
        with tn.enable_grad():
            assert not (x * 2).requires_grad
        with tn.inference_mode(False):
            assert not tn.is_inference_mode_enabled() and tn.is_grad_enabled()
            y = x * 2
            assert y.requires_grad and not y.is_inference()
        assert tn.is_inference_mode_enabled() and tn.zeros(1).is_inference()
    with tn.no_grad(), tn.inference_mode(False):
        assert tn.is_grad_enabled()
    with pytest.raises(KeyError), tn.inference_mode():
        raise KeyError
    assert not tn.is_inference_mode_enabled() and not tn.zeros(1).is_inference()


def test_decorators():
    @tn.inference_mode()
    def with_parentheses():
        return tn.ones(1)

    @tn.inference_mode
    def without():
        return tn.ones(1)

    @tn.inference_mode(mode=False)
    def normal():
        return tn.ones(1)

    @tn.inference_mode()
    def generator():
        yield tn.ones(1)
        yield tn.ones(1)

    assert with_parentheses().is_inference() and without().is_inference()
    assert not normal().is_inference() and normal.__name__ == "normal"
    for t in generator():
        assert t.is_inference() and not tn.ones(1).is_inference()


def test_other_threads_do_not_notice(x):
    seen = []

    def elsewhere():
        y = x * tn.ones(2)
        seen.append((y.is_inference(), y.requires_grad, tn.is_inference_mode_enabled()))

    with tn.inference_mode():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert seen == [(False, True, False)]
