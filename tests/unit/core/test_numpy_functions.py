"""numpy's functions on tensors: what PyTorch's `__array__` and `__array_wrap__` make of them."""

import numpy as np
import pytest

import tinynet as tn


@pytest.fixture
def x():
    return tn.tensor([[1.0, 4.0, 9.0]])


def test_ufuncs_return_tensors(x):
    root = np.sqrt(x)
    assert isinstance(root, tn.Tensor) and root.dtype == tn.float32
    assert root.tolist() == [[1.0, 2.0, 3.0]]
    assert np.add(np.ones(3), x).dtype == tn.float64
    parts = np.frexp(x)
    assert [type(p) for p in parts] == [tn.Tensor, tn.Tensor] and parts[1].dtype == tn.int32
    assert np.sqrt(tn.tensor(4.0)).shape == ()
    assert np.sin(tn.tensor([1])).dtype == tn.float64
    assert np.add.reduce(x).tolist() == [1.0, 4.0, 9.0]
    assert np.clip(x, 2, 5).tolist() == [[2.0, 4.0, 5.0]]


def test_truth_values_are_uint8_as_in_pytorch(x):
    assert np.isnan(x).dtype == tn.uint8 and np.greater(x, 2).tolist() == [[0, 1, 1]]


def test_an_array_as_output_stays_one(x):
    out = np.empty((1, 3), np.float32)
    assert np.sqrt(x, out=out) is out and out.tolist() == [[1.0, 2.0, 3.0]]


def test_tensors_that_require_grad_say_what_to_write(x):
    with pytest.raises(RuntimeError, match=r"Use tensor\.detach\(\)\.numpy\(\) instead"):
        np.sin(x.requires_grad_())


def test_operators_with_arrays_are_the_tensors_own():
    x = tn.ones(2, requires_grad=True)
    for result in (np.ones(2) * x, np.ones(2) - x, np.float64(2) / x, np.float32(2) * x):
        assert isinstance(result, tn.Tensor) and result.requires_grad
    assert (np.ones(2) == x).tolist() == [True, True]


def test_cuda_is_refused_as_by_modules(x):
    for move in (x.cuda, tn.nn.Linear(1, 1).cuda, lambda: x.cuda("cuda:0"), lambda: x.cuda(0)):
        with pytest.raises(RuntimeError, match="tinynet runs on the cpu only"):
            move()
