"""set_, resize_, swap_tensors: other memory for the same tensor."""

import os
import warnings
import weakref

import pytest

import tinynet as tn
from tinynet import nn


def test_set_takes_the_memory_of_another_tensor():
    x, y = tn.zeros(2), tn.ones(1, 3)
    assert x.set_(y) is x and x.shape == (1, 3) and (x._version, y._version) == (1, 0)
    y.add_(1)
    assert x.tolist() == [[2.0, 2.0, 2.0]] and (x._version, y._version) == (1, 1)


def test_what_set_refuses():
    leaf = tn.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in"):
        leaf.set_(tn.ones(3))
    with pytest.raises(RuntimeError, match="the derivative for 'set_' is not implemented"):
        (leaf * 1).set_(tn.ones(3))
    with pytest.raises(RuntimeError, match="Could not set tensor of type long to a tensor of type"):
        tn.ones(2).set_(tn.ones(2, dtype=tn.int64))
    with pytest.raises(TypeError, match="set_"):
        tn.ones(2).set_([1.0])
    with tn.no_grad():
        assert leaf.set_(tn.ones(3)).tolist() == [1.0, 1.0, 1.0]
    assert leaf.is_leaf and leaf.requires_grad


def test_resize_stays_in_its_memory_while_that_is_large_enough():
    x = tn.arange(4.0)
    part = x[1:]
    assert x.resize_(2).tolist() == [0.0, 1.0]
    assert x.resize_(2, 2).tolist() == [[0.0, 1.0], [2.0, 3.0]] and x._version == 2
    x[0, 1] = 7
    assert part.tolist() == [7.0, 2.0, 3.0]
    assert part.resize_((2,)).tolist() == [7.0, 2.0]
    assert x.resize_([2, 3]).tolist() == [[0.0, 7.0, 2.0], [3.0, 0.0, 0.0]]
    assert part.tolist() == [7.0, 2.0]
    assert x.resize_as_(tn.ones(1, 2)).tolist() == [[0.0, 7.0]]
    assert tn.arange(4).t().resize_(0).tolist() == []


def test_what_resize_refuses():
    leaf = tn.ones(2, requires_grad=True)
    for t in (leaf, leaf * 1):
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            t.resize_(3)
    with pytest.raises(RuntimeError, match=r"resize to \[-1\], which has a negative dimension"):
        tn.ones(2).resize_(-1)


def test_swapping_exchanges_everything():
    a, b = nn.Parameter(tn.ones(2)), tn.zeros(3)
    a.grad, a.note = tn.ones(2) * 5, "mine"
    tn.utils.swap_tensors(a, b)
    assert type(a) is tn.Tensor and type(b) is nn.Parameter and b.note == "mine"
    assert a.tolist() == [0.0] * 3 and b.tolist() == [1.0] * 2 and b.grad.tolist() == [5.0] * 2
    assert not a.requires_grad and b.requires_grad and not hasattr(a, "note")


def test_what_swapping_refuses():
    a, b = tn.ones(1), tn.ones(1)
    held = weakref.ref(b)
    with pytest.raises(RuntimeError, match="Cannot swap t2 because it has weakref associated"):
        tn.utils.swap_tensors(a, b)
    assert held() is b
    with pytest.raises(TypeError, match=r"swap_tensors\(\): t2 must be Tensor, not int"):
        tn.utils.swap_tensors(a, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_shared_memory_is_written_by_a_fork():
    net = nn.Linear(2, 2).share_memory()
    bias = net.bias
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks of processes with threads
        child = os.fork()
    if child == 0:
        with tn.no_grad():
            bias.fill_(7)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert net.bias is bias and bias.tolist() == [7.0, 7.0]


def test_what_is_shared():
    x = tn.arange(6).view(2, 3)
    assert not x.is_shared()
    with pytest.raises(RuntimeError, match="would separate a view from its base"):
        x.share_memory_()
    y = x.t().clone()
    assert y.share_memory_() is y and y.is_shared() and y[1:].is_shared()
    assert tn.equal(y, x.t()) and y.share_memory_().data_ptr() == y.data_ptr()
    assert tn.zeros(0).share_memory_().shape == (0,) and tn.tensor(2.0).share_memory_().item() == 2
