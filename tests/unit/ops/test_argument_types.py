"""Arguments of another type than the one that is meant."""

import numpy as np
import pytest

import tinynet as tn
from tinynet.compat.pytree import tree_leaves
from tinynet.nn import functional as F

X = tn.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "name", "sum mean amax all argmax max median cumsum sort squeeze logsumexp softmax".split()
)
def test_a_truth_value_is_no_dimension(name):
    """``x.sum(True)`` is a mistake for ``keepdim=True``."""
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'dim' must be int, not bool"):
        getattr(X, name)(True)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        *[(name, "dim") for name in "cumsum sort argsort median unsqueeze unbind argmax".split()],
        *[(name, "k") for name in ("topk", "kthvalue")],
        *[(name, "diagonal") for name in ("tril", "triu")],
    ],
)
@pytest.mark.parametrize("wrong", [tn.tensor(1.5), tn.tensor([1, 0]), 1.5])
def test_numbers_and_tensors_that_are_no_whole_number(name, argument, wrong):
    text = rf"{name}\(\): argument '{argument}'.* must be int, not {type(wrong).__name__}"
    with pytest.raises(TypeError, match=text):
        getattr(X, name)(wrong)


ONE = tn.tensor(1)


@pytest.mark.parametrize(
    "call",
    [
        *[
            lambda x, one, name=name: getattr(x, name)(one)
            for name in "sum mean prod var amax argmax softmax cumsum sort logsumexp".split()
        ],
        lambda x, one: x.roll(one, one),
        lambda x, one: x.unsqueeze(one).squeeze(one),
        lambda x, one: x.split(one, one),
        lambda x, one: x.chunk(one, one),
        lambda x, one: tn.fft.fft(x, one),
        lambda x, one: (x @ x.mT).matrix_power(one),
        lambda x, one: x.tril(one),
    ],
)
def test_an_integer_tensor_is_a_whole_number(call):
    x = X.clone().requires_grad_()
    for ours, theirs in zip(*(tree_leaves(call(x, n)) for n in (ONE, 1)), strict=True):
        assert ours.equal(theirs)


IMAGE = tn.arange(16.0).reshape(1, 1, 4, 4)


@pytest.mark.parametrize(
    "call",
    [
        lambda n: F.interpolate(IMAGE, size=(n, 3)),
        lambda n: F.interpolate(IMAGE, size=[tn.tensor([2]), n]),
        lambda n: F.adaptive_avg_pool2d(IMAGE, (n, n)),
        lambda n: F.pad(IMAGE, (n, 0, 1, n)),
        lambda n: F.avg_pool2d(IMAGE, n),
        lambda n: F.max_pool2d(IMAGE, (n, 2), n),
        lambda n: F.conv2d(IMAGE, tn.ones(1, 1, 2, 2), stride=n, padding=(n, 1)),
        lambda n: F.pixel_shuffle(tn.ones(1, 4, 1, 1), n),
        lambda n: IMAGE.movedim(n, 0),
        lambda n: tn.randint(0, n, (n, n)).shape,
        lambda n: tn.randperm(n).sort().values,
        lambda n: tn.eye(n),
        lambda n: tn.linspace(0, 1, n),
        lambda n: F.one_hot(tn.tensor([0, 1]), n),
    ],
)
@pytest.mark.parametrize("dtype", [tn.int64, tn.int32])
def test_an_integer_tensor_is_a_size(call, dtype):
    ours, theirs = call(tn.tensor(2, dtype=dtype)), call(2)
    assert ours.equal(theirs) if isinstance(ours, tn.Tensor) else ours == theirs


def test_a_tensor_is_no_choice_of_a_dimension():
    for wrong in (lambda: tn.max(X, 0, ONE), lambda: tn.min(X, X, X)):
        with pytest.raises(TypeError, match="received an invalid combination of arguments"):
            wrong()
    with pytest.raises(TypeError, match="'eps' must be Number, not Tensor"):
        tn.nn.functional.cosine_similarity(X, X, eps=tn.ones(1))
    with pytest.raises(TypeError, match="'to' must be Number, not Tensor"):
        X.clone().uniform_(0, to=tn.ones(1))


@pytest.mark.parametrize("name", ["topk", "kthvalue"])
def test_a_truth_value_is_no_count(name):
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'k' must be int, not bool"):
        getattr(X, name)(True)


@pytest.mark.parametrize(
    "call",
    [
        lambda: X.float(memory_format=3),
        lambda: X.contiguous(memory_format=3),
        lambda: X.clone(memory_format=3),
        lambda: X.is_contiguous(memory_format=3),
        lambda: tn.empty_like(X, memory_format=3),
        lambda: tn.rand_like(X, memory_format=3),
    ],
)
def test_a_memory_format_is_no_number(call):
    with pytest.raises(TypeError, match="'memory_format' must be tinynet.memory_format, not int"):
        call()


@pytest.mark.parametrize("arguments", [("cpu", True), (tn.float64, tn.device("cpu")), (True,)])
@pytest.mark.parametrize("target", [X, tn.nn.Linear(1, 1)])
def test_arguments_of_to_in_another_order(target, arguments):
    with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments"):
        target.to(*arguments)


NUMBERS = [2, np.float32(2), np.int64(2), tn.tensor(2.0), tn.tensor(2.0, dtype=tn.float64)]


@pytest.mark.parametrize("two", NUMBERS, ids=lambda x: f"{type(x).__name__} {x}")
@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda two: X.add(X, alpha=two), 3 * X),
        (lambda two: X.clone().sub_(X, alpha=two), -X),
        (lambda two: X.addcmul(X, tn.ones(3), value=two), 3 * X),
        (lambda two: tn.addmm(X, tn.eye(2), X, beta=two, alpha=two), 4 * X),
        (lambda two: tn.nn.functional.leaky_relu(-X, two), -2 * X),
        (lambda two: tn.lerp(X, 2 * X, two), 3 * X),
        (lambda two: tn.full((3,), two, dtype=tn.float32), tn.tensor([2.0, 2.0, 2.0])),
        (lambda two: tn.arange(two, dtype=tn.float32), tn.arange(2.0)),
        (lambda two: tn.linspace(0, two, 3), tn.arange(3.0)),
    ],
)
def test_numbers_are_pythons_numpys_or_tensors_of_no_dimensions(call, value, two):
    made = call(two)
    assert made.dtype is tn.float32
    assert made.equal(value)


@pytest.mark.parametrize("wrong", [[2.0], tn.ones(1), tn.tensor(2.0, requires_grad=True), "2"])
@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda x: X.add(X, alpha=x), "alpha"),
        (lambda x: X.addcmul(X, X, value=x), "value"),
        (lambda x: tn.nn.functional.leaky_relu(X, x), "negative_slope"),
        (lambda x: tn.full((2,), x), "fill_value"),
        (lambda x: tn.full_like(X, x), "fill_value"),
    ],
)
def test_other_values_are_no_numbers(call, argument, wrong):
    with pytest.raises(TypeError, match=rf"argument '{argument}'.* must be Number, not \w+$"):
        call(wrong)


def test_a_truth_value_as_alpha_is_for_truth_values():
    with pytest.raises(RuntimeError, match=r"^Boolean alpha only supported for Boolean results\."):
        X.add(X, alpha=True)
    assert (X > 1).add(X > 3, alpha=True).equal(X > 1)
