"""Anomaly mode: the first nan of a backward, with the forward line that it belongs to."""

import traceback
import warnings

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.autograd import (
    Function,
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)


def leaf(*values):
    return tn.tensor(values, requires_grad=True)


def anomaly(start, **options):
    """The error of a backward in anomaly mode."""
    with set_detect_anomaly(True), pytest.raises(RuntimeError) as caught:
        start.backward(**options)
    return caught.value


class Failing(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        raise ValueError("some error")


class Nan(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g, g * float("nan")


def rows(error):
    """The message without carets, its first line apart."""
    first, *rest = str(error).splitlines()
    return first, [line.split(None, 1) for line in rest if line.strip(" ^")]


def test_the_slope_of_a_masked_value():
    x = tn.tensor([[1.0, 0.0, 4.0], [2.0, 3.0, 0.0]], requires_grad=True)
    root = x.sqrt()
    error = anomaly(tn.where(x > 1, root, x).sum())
    first, lines = rows(error)
    assert first == "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert [label for label, _ in lines] == ["forward", "needed", "nan", "fix", "explain"]
    assert "root = x.sqrt()" in lines[0][1] and lines[0][1].endswith("for SqrtBackward0")
    assert lines[2][1] == (
        "2 of 6 in the gradient of 'self'; the first at [0, 1], from the incoming gradient = 0, "
        "result = 0"
    )
    assert lines[3][1] == error.hint
    assert error.hint == (
        "0 times an infinite slope: a later line (a mask, a `where`) discards the value, but "
        "not its slope. Make the input safe first: `f(where(mask, x, 1))`"
    )
    assert error.saved_at.text == "root = x.sqrt()"
    assert error.needed_at.text == "start.backward(**options)"
    assert x.grad is None


def test_the_output_that_is_nan_and_what_made_it():
    x = leaf(0.0, 4.0)
    first, lines = rows(anomaly((x / x).sum()))
    assert first == "Function 'DivBackward0' returned nan values in its 1th output."
    assert lines[2][1] == (
        "1 of 2 in the gradient of 'other'; the first at [0], from the incoming gradient = 1, "
        "self = 0, other = 0"
    )
    assert lines[3][1].startswith("keep the input away from the point where the slope is undefined")


def test_nan_of_the_forward_is_followed_to_where_it_was_made():
    x = leaf(-1.0, 4.0)
    root = x.sqrt()
    scaled = root * 2
    y = scaled * x.exp()
    error = anomaly(y.sum())
    first, lines = rows(error)
    assert first == "Function 'MulBackward0' returned nan values in its 1th output."
    made = dict(lines)["made"]
    assert "scaled = root * 2" in made and made.endswith("nan, by MulBackward0")
    assert "self = nan" in dict(lines)["nan"]
    assert error.hint.startswith("the forward produced nan already")

    product = (root * x) * x
    made = dict(rows(anomaly(product.sum()))[1])["made"]
    assert "root = x.sqrt()" in made and made.endswith("nan, by SqrtBackward0")


def test_operations_that_mix_places():
    weight = leaf(1.0, float("nan"))
    x = tn.ones(3, 2, requires_grad=True)
    error = anomaly((x @ weight).sum())
    assert error.hint.startswith("the forward produced nan already")
    error = anomaly(x @ tn.ones(2, 4), gradient=tn.full((3, 4), float("inf")) * tn.eye(3, 4))
    assert error.hint.startswith("the gradient was not finite when it arrived here")


def test_a_start_that_is_not_finite():
    x = leaf(1.0, 4.0)
    y = x * 2
    error = anomaly(y, gradient=tn.tensor([float("nan"), 1.0]))
    assert "the incoming gradient = nan" in str(error)
    assert error.hint.startswith("the gradient was not finite when it arrived here")


def test_functions_of_the_user():
    x = leaf(1.0, 2.0)
    error = anomaly(Nan.apply(x, x).sum())
    assert str(error).startswith("Function 'NanBackward' returned nan values in its 1th output.\n")
    assert error.hint == "look at the backward of this function"


def test_recorded_passes_and_modules():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(2, 2)

        def forward(self, x):
            return (self.lin(x) * 0).sqrt()

    net = Net()
    x = tn.ones(2, requires_grad=True)
    for run in (
        lambda y: y.backward(),
        lambda y: tn.autograd.grad(y, x, create_graph=True),
        lambda y: y.backward(inputs=[x]),
    ):
        with set_detect_anomaly(True), pytest.raises(RuntimeError) as caught:
            run((net(x) * 0).sum())
        assert str(caught.value).startswith("Function 'SqrtBackward0' returned nan values in its")
        assert "for SqrtBackward0   module Net" in str(caught.value)


def test_an_error_of_a_backward_gets_a_note():
    y = Failing.apply(leaf(1.0))
    with set_detect_anomaly(True, check_nan=False), pytest.raises(ValueError) as caught:
        y.sum().backward()
    assert str(caught.value) == "some error"
    (note,) = caught.value.__notes__
    assert note.startswith("Error detected in FailingBackward.\n  forward  test_anomaly.py:")
    assert "Failing.apply(leaf(1.0))" in note
    assert "Error detected in" in "".join(traceback.format_exception(caught.value))


def test_errors_that_know_their_lines_are_left_alone():
    x = leaf(1.0)
    y = x.exp()
    with tn.no_grad():
        y.add_(1)
    assert not hasattr(anomaly(y), "__notes__")


def test_without_anomaly_mode_nan_passes():
    x = leaf(0.0)
    (x.sqrt() * 0).backward()
    assert x.grad.isnan().all()
    with set_detect_anomaly(True, check_nan=False):
        (x.sqrt() * 0).backward()


def test_switching():
    assert not is_anomaly_enabled() and is_anomaly_check_nan_enabled()
    with set_detect_anomaly(True, check_nan=False):
        assert is_anomaly_enabled() and not is_anomaly_check_nan_enabled()
        with set_detect_anomaly(False):
            assert not is_anomaly_enabled() and is_anomaly_check_nan_enabled()
        assert is_anomaly_enabled()
    assert not is_anomaly_enabled() and is_anomaly_check_nan_enabled()
    set_detect_anomaly(True)
    assert is_anomaly_enabled()
    set_detect_anomaly(False)
    assert not is_anomaly_enabled()
    with pytest.raises(KeyError), set_detect_anomaly(True):
        raise KeyError
    assert not is_anomaly_enabled()


def test_detect_anomaly_warns_where_it_is_made():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        block = detect_anomaly()
    assert [w.filename for w in caught] == [__file__]
    assert str(caught[0].message) == (
        "Anomaly Detection has been enabled. This mode will increase the runtime and should only "
        "be enabled for debugging."
    )
    assert not is_anomaly_enabled()
    with block:
        assert is_anomaly_enabled() and is_anomaly_check_nan_enabled()
        with block:
            assert is_anomaly_enabled()
        assert is_anomaly_enabled()
    assert not is_anomaly_enabled()


def test_detect_anomaly_decorates():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):

        @detect_anomaly(check_nan=False)
        def state():
            return is_anomaly_enabled(), is_anomaly_check_nan_enabled()

    assert state() == (True, False)
    assert not is_anomaly_enabled()
