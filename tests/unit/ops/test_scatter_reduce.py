"""What `scatter` does besides writing."""

import pytest

import tinynet as tn

INDEX = tn.tensor([[0, 2, 0]])


def x():
    return tn.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize("source", [tn.tensor([[2.0, 3.0, 4.0]]), 2.0])
def test_reduce_uses_every_index(source):
    a, b, c = (2.0, 3.0, 4.0) if isinstance(source, tn.Tensor) else (2.0, 2.0, 2.0)
    added = x().scatter(1, INDEX, source, reduce="add")
    assert added.tolist() == [[1 + a + c, 2, 3 + b], [4, 5, 6]]
    multiplied = x().scatter_(1, INDEX, source, reduce="multiply")
    assert multiplied.tolist() == [[1 * a * c, 2, 3 * b], [4, 5, 6]]


def test_adding_has_a_derivative():
    start = x().requires_grad_()
    source = tn.ones(1, 3, requires_grad=True)
    (start.scatter(1, INDEX, source, reduce="add") * x()).sum().backward()
    assert start.grad.tolist() == x().tolist() and source.grad.tolist() == [[1.0, 3.0, 1.0]]


def test_multiplying_has_none_and_says_so():
    start = x().requires_grad_()
    with pytest.raises(NotImplementedError, match="the derivative for 'scatter' with reduce="):
        start.scatter(1, INDEX, 2.0, reduce="multiply")
    with tn.no_grad():
        start.scatter(1, INDEX, 2.0, reduce="multiply")


def test_unknown_reduction():
    with pytest.raises(RuntimeError, match="^reduce argument must be either add or multiply.$"):
        x().scatter(1, INDEX, 2.0, reduce="max")


def test_neither_source_nor_value():
    with pytest.raises(TypeError, match=r"^scatter\(\) received an invalid combination"):
        x().scatter(1, INDEX)
