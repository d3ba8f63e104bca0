"""``out=``: where results may be written, and what is refused before anything is touched."""

import pytest

import tinynet as tn


def test_the_result_is_written_and_returned():
    out = tn.zeros(2)
    assert tn.mul(tn.tensor([1.0, 2.0]), 3, out=out) is out
    assert out.tolist() == [3.0, 6.0] and out._version == 1
    view = tn.zeros(2, 2)
    tn.exp(tn.zeros(2), out=view[1])
    assert view.tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_composites_and_sequences_take_it_too():
    out = tn.zeros(2)
    assert tn.add(tn.ones(2), tn.ones(2), alpha=3, out=out) is out and out.tolist() == [4.0, 4.0]
    assert tn.cat([tn.ones(1), tn.zeros(1)], out=out) is out and out.tolist() == [1.0, 0.0]
    assert tn.arange(2.0, out=out) is out and out.tolist() == [0.0, 1.0]
    assert tn.mul(tn.ones(2), 2, out=None).tolist() == [2.0, 2.0]
    assert tn.add(tn.ones(2), 2, out=None).tolist() == [3.0, 3.0]


def test_several_results():
    values, indices = tn.zeros(2), tn.zeros(2, dtype=tn.int64)
    found = tn.max(tn.tensor([[1.0, 3.0], [5.0, 4.0]]), 1, out=(values, indices))
    assert values.tolist() == [3.0, 5.0] and indices.tolist() == [1, 0]
    assert found[0] is values and found[1] is indices
    with pytest.raises(TypeError, match="expected out to hold 2 tensors. Got 1"):
        tn.max(tn.ones(2, 2), 1, out=values)


def test_an_empty_tensor_is_resized_silently_and_another_with_a_warning():
    assert tn.exp(tn.zeros(2), out=tn.empty(0)).tolist() == [1.0, 1.0]
    with pytest.warns(UserWarning, match=r"An output .* was resized since it had shape \[3\]"):
        out = tn.exp(tn.zeros(2), out=tn.zeros(3))
    assert out.tolist() == [1.0, 1.0]


def test_dtypes():
    out = tn.zeros(2, dtype=tn.float64)
    assert tn.add(tn.ones(2), 1, out=out).dtype is tn.float64
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired outp"):
        tn.exp(tn.zeros(2), out=tn.zeros(2, dtype=tn.int64))


def test_refusals_touch_nothing():
    leaf, out = tn.ones(2, requires_grad=True), tn.zeros(2)
    sentence = r"mul\(\): functions with out=... arguments don't support automatic differentiation"
    for call in (lambda: tn.mul(leaf, 2, out=out), lambda: tn.mul(out, 2, out=leaf)):
        with pytest.raises(RuntimeError, match=sentence):
            call()
    with pytest.raises(TypeError, match=r"mul\(\): argument 'out' must be Tensor, not list"):
        tn.mul(out, 2, out=[[0.0]])
    with pytest.raises(RuntimeError, match="single memory location"):
        tn.exp(tn.zeros(2), out=tn.zeros(1).expand(2))
    whole = tn.zeros(3)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        tn.exp(whole[:2], out=whole[1:])
    with pytest.raises(RuntimeError, match=r"output with shape \[2\] doesn't match"):
        tn.mul(out, tn.ones(3, 2), out=out)
    assert (leaf._version, out._version, whole._version) == (0, 0, 0)
    assert leaf.tolist() == [1.0, 1.0] and out.tolist() == [0.0, 0.0]


def test_under_no_grad_everything_may_be_written():
    leaf = tn.ones(2, requires_grad=True)
    with tn.no_grad():
        assert tn.mul(leaf, 2, out=leaf) is leaf
    assert leaf.tolist() == [2.0, 2.0] and leaf._version == 1 and leaf.is_leaf


def test_backward_notices_the_write():
    x = tn.ones(2, requires_grad=True)
    y = x * 2
    z = y.exp()
    w = z.detach()
    tn.mul(w, 2, out=w)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        z.sum().backward()
    assert "by mul(out=...), version 0 -> 1" in str(error.value)


def test_inference_tensors_are_not_written_outside():
    with tn.inference_mode():
        out = tn.zeros(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        tn.exp(tn.zeros(2), out=out)
