"""What operations want of out= beyond room; tests/answers/pytorch_tables has the sentences."""

import pytest

import tinynet as tn

X = tn.arange(6.0).reshape(2, 3)
INDEX = tn.zeros(2, 3, dtype=tn.int64)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: tn.gather(x, 0, INDEX, out=x),
        lambda x: tn.cat([x, x], out=x),
        lambda x: tn.stack([x, x], out=x),
        lambda x: tn.take(x, INDEX, out=x),
        lambda x: tn.masked_select(x, x > 2, out=x),
        lambda x: tn.index_select(x, 0, INDEX[0], out=x),
        lambda x: tn.kthvalue(x, 1, dim=0, out=(x, INDEX[0].clone())),
    ],
)
def test_an_input_is_refused(call):
    x = X.clone()
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        call(x)
    assert tn.equal(x, X)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda out: tn.gather(X, 0, INDEX, out=out), "out tensor to have dtype float, but got do"),
        (lambda out: tn.take(X, INDEX, out=out), "self.dtype = Float and out.dtype = Double"),
        (lambda out: tn.amax(X, 0, out=out), "got Float for input's dtype and Double for out's"),
        (lambda out: tn.masked_select(X, X > 2, out=out), "must have the same scalar type"),
        (lambda out: tn.kthvalue(X, 1, out=(out, INDEX[0].clone())), "same type as input"),
        (lambda out: tn.kthvalue(X, 1, out=(tn.zeros(0), out)), "must be of scalar type Long"),
    ],
)
def test_another_dtype_is_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(tn.zeros(0, dtype=tn.float64))


@pytest.mark.parametrize(
    ("name", "inputs"), [("exp", 1), ("mul", 2), ("mm", 2), ("addcmul", 3), ("addmm", 3)]
)
def test_out_is_given_by_name_only(name, inputs):
    written = tn.zeros(2, 2)
    with pytest.raises(TypeError, match=rf"{name}\(\) takes {inputs} positional arg"):
        getattr(tn, name)(*[tn.ones(2, 2)] * inputs, written)
    assert written.tolist() == [[0, 0], [0, 0]]


def test_what_is_made_of_nothing_has_the_dtype_of_out():
    assert tn.zeros(2, out=tn.ones(2, dtype=tn.int64)).tolist() == [0, 0]
    assert tn.arange(3, out=tn.ones(3)).tolist() == [0.0, 1.0, 2.0]
    assert tn.rand(2, out=tn.ones(2, dtype=tn.float64)).dtype is tn.float64
    with pytest.raises(RuntimeError, match=r"dtype Long does not match .* parameter \(Float\)"):
        tn.arange(3, dtype=tn.int64, out=tn.ones(3))


def test_a_product_that_is_larger_than_what_it_is_added_to():
    with pytest.raises(
        RuntimeError, match=r"input tensor size \[1\] and output tensor size \[2, 3"
    ):
        tn.ones(1).addmm_(tn.ones(2, 4), tn.ones(4, 3))


def test_a_median_along_a_dimension_takes_out():
    values, indices = tn.empty(0), tn.empty(0, dtype=tn.int64)
    assert tn.median(X, 1, out=(values, indices))[0] is values
    assert values.tolist() == [1.0, 4.0] and indices.tolist() == [1, 1]
    assert tn.nanmedian(X, 1, out=(values, indices))[1] is indices
    with pytest.raises(TypeError, match=r"median\(\) received an invalid combination"):
        tn.median(X, out=values)


@pytest.mark.parametrize("name", ["concat", "concatenate"])
def test_another_name_takes_out_as_the_first_does(name):
    out = tn.empty(4)
    assert getattr(tn, name)([tn.ones(2), tn.zeros(2)], out=out) is out
    assert out.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("name", ["moveaxis", "unsafe_chunk", "unsafe_split"])
def test_another_name_refuses_what_the_first_does(name):
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        getattr(tn, name)([1.0], 0, 0)
