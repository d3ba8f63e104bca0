"""Memory formats: the strides are PyTorch's, and values and gradients are as without them."""

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.compat.testing import assert_close

ROWS, LAST = (60, 20, 5, 1), (60, 1, 15, 3)


def image():
    return tn.arange(120.0).view(2, 3, 4, 5)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.to(memory_format=tn.channels_last),
        lambda x: x.contiguous(memory_format=tn.channels_last),
        lambda x: x.clone(memory_format=tn.channels_last),
        lambda x: x.cpu(memory_format=tn.channels_last),
        lambda x: x.double(memory_format=tn.channels_last),
        lambda x: x.to(tn.float64, memory_format=tn.channels_last),
    ],
)
def test_asked_for(make):
    made = make(image())
    assert made.stride() == LAST
    assert made.is_contiguous(memory_format=tn.channels_last) and not made.is_contiguous()
    assert tn.equal(made, image().to(made.dtype))
    assert made.contiguous().stride() == ROWS
    assert made.contiguous(memory_format=tn.channels_last) is made


@pytest.mark.parametrize(
    "make",
    [
        tn.zeros_like,
        tn.ones_like,
        tn.empty_like,
        tn.rand_like,
        tn.randn_like,
        lambda x, **options: tn.full_like(x, 2.0, **options),
        lambda x, **options: tn.randint_like(x, 3, **options),
        lambda x, **options: x.clone(**options),
    ],
)
def test_likes(make):
    last = image().to(memory_format=tn.channels_last)
    assert make(last).stride() == LAST == make(last, memory_format=tn.preserve_format).stride()
    assert make(last, memory_format=tn.contiguous_format).stride() == ROWS == make(image()).stride()
    assert make(image(), memory_format=tn.channels_last).stride() == LAST


def test_new_memory_and_modules():
    assert tn.empty(2, 3, 4, 5, memory_format=tn.channels_last).stride() == LAST
    net = nn.Conv2d(3, 4, 3).to(memory_format=tn.channels_last)
    assert net.weight.stride() == (27, 1, 9, 3) and net.bias.stride() == (1,)
    assert isinstance(net.weight, nn.Parameter) and net.weight.is_leaf
    plain = nn.Conv2d(3, 4, 3)
    plain.load_state_dict(net.state_dict())
    one, other = net(image().to(memory_format=tn.channels_last)), plain(image())
    assert_close(one, other)
    one.sum().backward()
    other.sum().backward()
    assert_close(net.weight.grad, plain.weight.grad)
    assert tn.zeros(1, 2, 3, 4, 5).to(memory_format=tn.channels_last_3d).stride()[1] == 1


def test_gradients_pass():
    x = image().requires_grad_()
    x.contiguous(memory_format=tn.channels_last).mul(2).sum().backward()
    assert tn.equal(x.grad, tn.full_like(x, 2.0))


@pytest.mark.parametrize("shape", [(2, 3), (1, 2, 3, 4, 5)])
def test_other_numbers_of_dimensions_are_refused(shape):
    for ask in (tn.Tensor.contiguous, tn.Tensor.to, tn.Tensor.clone, tn.zeros_like):
        with pytest.raises(RuntimeError, match="^required rank 4 tensor to use channels_last form"):
            ask(tn.zeros(shape), memory_format=tn.channels_last)


def test_an_expanded_tensor_is_copied_to_rows():
    x = tn.arange(4.0).expand(2, 4)
    assert x.clone().stride() == tn.empty_like(x).stride() == (4, 1)
