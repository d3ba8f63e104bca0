"""Parameter and Buffer."""

import copy
import pickle

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn


def test_a_parameter_shares_memory_and_version():
    data = tn.zeros(2)
    p = nn.Parameter(data)
    data.add_(1)
    assert p.tolist() == [1.0, 1.0]
    assert p._version == data._version == 1
    assert isinstance(p, tn.Tensor) and type(p) is nn.Parameter
    assert p.is_leaf and p.requires_grad and p.grad is None and p.grad_fn is None


def test_a_parameter_of_a_computed_tensor_is_a_leaf():
    x = tn.ones(2, requires_grad=True)
    p = nn.Parameter(x * 2)
    (p * 3).sum().backward()
    assert p.grad.tolist() == [3.0, 3.0] and x.grad is None


def test_results_are_plain_tensors():
    p = nn.Parameter(tn.ones(2))
    assert type(p * 2) is tn.Tensor and type(p.detach()) is tn.Tensor and type(p[0]) is tn.Tensor


def test_no_grad_does_not_change_a_new_parameter():
    with tn.no_grad():
        assert nn.Parameter(tn.ones(1)).requires_grad


def test_printing():
    assert repr(nn.Parameter(tn.tensor([1.0, 2.0]))) == (
        "Parameter containing:\ntensor([1., 2.], requires_grad=True)"
    )
    assert repr(nn.Parameter(tn.tensor([1]), requires_grad=False)) == (
        "Parameter containing:\ntensor([1])"
    )


def test_an_empty_parameter():
    assert nn.Parameter().shape == (0,)


def test_refusals():
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can"):
        nn.Parameter(tn.tensor([1]))
    with pytest.raises(TypeError, match="The 'data' parameter of Parameter must be a Tensor. Got"):
        nn.Parameter([1.0])


@pytest.mark.parametrize("again", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
@pytest.mark.parametrize("requires_grad", [True, False])
def test_copies(again, requires_grad):
    p = nn.Parameter(tn.tensor([[1.0, 2.0]], dtype=tn.float64), requires_grad=requires_grad)
    if requires_grad:
        p.sum().backward()
    other = again(p)
    assert type(other) is nn.Parameter and other.requires_grad is requires_grad
    assert other.dtype == tn.float64 and other.tolist() == p.tolist() and other.grad is None
    assert not np.shares_memory(other._array, p._array)


def test_a_copy_of_a_shared_parameter_is_shared():
    p = nn.Parameter(tn.ones(1))
    for a, b in (copy.deepcopy([p, p]), pickle.loads(pickle.dumps([p, p]))):
        assert a is b and a is not p


def test_a_pickled_parameter_keeps_its_attributes():
    p = nn.Parameter(tn.ones(1))
    p.group = "slow"
    assert pickle.loads(pickle.dumps(p)).group == "slow"


def test_buffers():
    module = nn.Module()
    module.kept = nn.Buffer(tn.ones(2))
    module.temporary = nn.Buffer(tn.ones(2), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["kept", "temporary"]
    assert list(module.state_dict()) == ["kept"]
    assert not module.kept.requires_grad
    for again in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert type(again.temporary) is nn.Buffer and not again.temporary.persistent
        assert again.kept.tolist() == [1.0, 1.0]
