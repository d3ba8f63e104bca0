"""Arguments of another type than the one that is meant."""

import pytest

import tinynet as tn

X = tn.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "name", "sum mean amax all argmax max median cumsum sort squeeze logsumexp softmax".split()
)
def test_a_truth_value_is_no_dimension(name):
    """``x.sum(True)`` is a mistake for ``keepdim=True``."""
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'dim' must be int, not bool"):
        getattr(X, name)(True)


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
