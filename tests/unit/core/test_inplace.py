"""Writes in place give what the operation out of place gives; who is told of them, and how."""

import pytest

import tinynet as tn
from tinynet.core.declaration.operation import REGISTRY
from tinynet.core.trace import observing


def leaf(*values):
    return tn.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


OPERANDS = {
    "int": 3,
    "float": 2.5,
    "same": tn.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    "double": tn.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=tn.float64) / 3,
    "whole": tn.tensor([[1, 2, 3], [4, 5, 6]]),
    "row": tn.tensor([1.0, 2.0, 3.0]),
    "column": tn.tensor([[1.0], [2.0]]),
    "one": tn.tensor(7.0),
    "one double": tn.tensor(7.0, dtype=tn.float64) / 3,
    "one whole": tn.tensor(7),
    "transposed": tn.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).t(),
    "expanded": tn.tensor([[2.0], [3.0]]).expand(2, 3),
}


@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize("operand", OPERANDS.values(), ids=OPERANDS)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow"])
def test_in_place_gives_what_out_of_place_gives(name, operand, recording):
    for dtype in (tn.float32, tn.float64):
        start = (tn.arange(6.0).reshape(2, 3) + 1).to(dtype)
        expected = getattr(tn, name)(start, operand).to(dtype)
        x = start.clone().requires_grad_(recording) * 1
        assert getattr(x, f"{name}_")(operand) is x
        assert x.dtype is dtype and x.tolist() == expected.tolist() and x._version == 1
        assert x.requires_grad is recording


WRITES = {
    "relu_": lambda x, y: (x.relu_, x.relu, ()),
    "add_": lambda x, y: (x.add_, x.add, (y,)),
    "clamp_": lambda x, y: (x.clamp_, x.clamp, (-0.5, 0.5)),
    "clamp_min_": lambda x, y: (x.clamp_min_, x.clamp_min, (y,)),
    "lerp_": lambda x, y: (x.lerp_, x.lerp, (y, 0.25)),
    "lerp_ of tensors": lambda x, y: (x.lerp_, x.lerp, (y, y)),
    "addcmul_": lambda x, y: (x.addcmul_, x.addcmul, (y, y)),
    "masked_fill_": lambda x, y: (x.masked_fill_, x.masked_fill, (y > 0, 2.0)),
    "index_add_": lambda x, y: (x.index_add_, x.index_add, (0, tn.tensor([1, 1, 0]), y)),
    "index_copy_": lambda x, y: (x.index_copy_, x.index_copy, (0, tn.tensor([2, 0, 1]), y)),
    "scatter_": lambda x, y: (x.scatter_, x.scatter, (0, (y > 0).long(), y)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("part", ["whole", "view", "transposed", "beside"])
def test_writes_without_history_give_what_the_operation_gives(write, part):
    numbers = tn.linspace(-2, 2, 18)
    x = {
        "whole": lambda: numbers[:9].reshape(3, 3).clone(),
        "view": lambda: numbers.clone()[9:].view(3, 3),
        "transposed": lambda: numbers.clone()[9:].view(3, 3).t(),
        "beside": lambda: numbers.clone().view(3, 6)[:, ::2],
    }[part]()
    y = x._base.view(3, 6)[:, 1::2] if part == "beside" else numbers[9:].reshape(3, 3).neg()
    before, pointer = x._version, x.data_ptr()
    in_place, out_of_place, args = write(x, y)
    expected = out_of_place(*args)
    assert in_place(*args) is x
    assert x.tolist() == expected.tolist()
    assert x._version == before + 1 and x.data_ptr() == pointer


def test_the_operand_may_be_the_tensor_itself():
    for name, args in {"mul": (), "lerp": (0.25,), "clamp_max": ()}.items():
        x = tn.tensor([[1.0, -2.0], [3.0, 4.0]])
        expected = getattr(x, name)(x, *args).tolist()
        assert getattr(x, f"{name}_")(x, *args).tolist() == expected
    x = tn.tensor([1.0, 2.0, 3.0])
    x[tn.tensor([2, 0, 1])] = x
    assert x.tolist() == [2.0, 3.0, 1.0]


@pytest.mark.parametrize("recording", [False, True])
def test_whole_numbers_stay_whole(recording):
    x = tn.tensor([5, 7])
    with tn.set_grad_enabled(recording):
        x += 2
        x *= tn.tensor([1, 2])
        x -= tn.tensor(1)
        x //= 2
    assert x.tolist() == [3, 8] and x.dtype is tn.int64 and x._version == 4
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        x /= 2
    assert x.tolist() == [3, 8] and x._version == 4


@pytest.mark.parametrize(
    ("write", "what"),
    [
        (lambda x: x.add_(1), "add_"),
        (lambda x: x.__iadd__(1), "__iadd__"),
        (lambda x: x.__imul__(2), "__imul__"),
        (lambda x: x.__setitem__(0, 1.0), "__setitem__"),
        (lambda x: x.clamp_(0, 1), "clamp_"),
        (lambda x: x.zero_(), "zero_"),
        (lambda x: x.copy_(tn.zeros(3)), "copy_"),
        (lambda x: x.unsqueeze_(0), "unsqueeze_"),
        (lambda x: x[1:].mul_(2), "mul_"),
    ],
)
@pytest.mark.parametrize("recording", [False, True])
def test_writes_go_by_their_name(write, what, recording):
    x = leaf() * 1
    y = x * x
    with tn.set_grad_enabled(recording):
        write(x)
    with pytest.raises(RuntimeError, match="at version 1; expected version 0") as raised:
        y.sum().backward()
    assert f"by {what}, version 0 -> 1" in str(raised.value)


def test_observers_are_told_what_was_written_from_what():
    told = []
    x, y = tn.zeros(3), tn.ones(3)
    with observing(lambda op, ins, outs, rest: told.append((op, ins, outs, rest))):
        x.add_(y)
    write = told[-1][0]
    assert write.writes and write.name == write.title == "add_" and told[-1][3] == {}
    assert [a is b for a, b in zip(told[-1][1], (x._array, y._array), strict=True)] == [True] * 2
    assert len(told[-1][2]) == 1 and told[-1][2][0] is x._array


def test_the_output_of_a_function_that_is_a_view_may_not_be_written():
    class Part(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2]

        @staticmethod
        def backward(ctx, g):
            return tn.cat([g, tn.zeros(1)])

    x = leaf() * 1
    part = Part.apply(x)
    with pytest.raises(RuntimeError, match="was created inside a custom Function") as raised:
        part.mul_(2)
    assert raised.value.hint == "write to a copy: `.clone()` the output of the Function"
    assert raised.value.changed_by[0].text == "part.mul_(2)"


def test_a_refused_or_failed_write_leaves_no_trace():
    x = leaf() * 1
    node = x.grad_fn
    for write in (
        lambda: x.add_(tn.ones(2)),
        lambda: x.add_(tn.ones(2, 3)),
        lambda: x.copy_(tn.ones(2, 3)),
        lambda: x.__setitem__(7, 1.0),
        lambda: x.__setitem__(slice(0, 2), tn.ones(3)),
    ):
        with pytest.raises((RuntimeError, IndexError)):
            write()
        assert x.grad_fn is node and x._version == 0 and x.tolist() == [1.0, 2.0, 3.0]


def test_a_moved_leaf_is_told_with_the_assignment():
    a = leaf()
    a[0] = 5
    with pytest.raises(
        RuntimeError, match="^leaf variable has been moved into the graph"
    ) as raised:
        a.sum().backward()
    error = raised.value
    assert error.changed_by[0].text == "a[0] = 5" and error.needed_at.text == "a.sum().backward()"
    assert "by __setitem__: no longer a leaf" in str(error) and error.topic == "leaf-moved"
    assert error.hint.startswith("to fill or initialise it: assign inside `with no_grad():`")


def test_kernels_that_are_no_ufunc_write_in_place_too():
    for name in ("sigmoid", "relu", "rsqrt", "square"):
        x = tn.tensor([0.5, 2.0])
        expected = getattr(x, name)().tolist()
        assert getattr(x, f"{name}_")() is x and x.tolist() == expected and x._version == 1


WRITES = {
    "index_add_": (lambda x, i, v: x.index_add_(0, i, v), "slices_added"),
    "index_copy_": (lambda x, i, v: x.index_copy_(0, i, v), "slices_copied"),
    "index_fill_": (lambda x, i, v: x.index_fill_(0, i, 7), "slices_filled"),
    "index_put_": (lambda x, i, v: x.index_put_((i,), v), "index_set"),
    "accumulate": (lambda x, i, v: x.index_put_((i,), v, accumulate=True), "index_set"),
    "__setitem__": (lambda x, i, v: x.__setitem__(i, v), "index_set"),
    "scatter_": (lambda x, i, v: x.scatter_(0, i[:, None].expand(2, 3), v), "scatter_source"),
    "scatter_add_": (lambda x, i, v: x.scatter_add_(0, i[:, None].expand(2, 3), v), "scatter_sum"),
}


@pytest.mark.parametrize("kind", [tn.float32, tn.int64, tn.float16])
@pytest.mark.parametrize("name", WRITES)
def test_writes_to_some_places_copy_nothing_else(name, kind, monkeypatch):
    write, op = WRITES[name]
    index, values = tn.tensor([2, 0]), tn.tensor([[1, 2, 3], [4, 5, 6]], dtype=kind)
    whole = tn.arange(24).reshape(8, 3).to(kind)
    recorded = whole.double().requires_grad_().clone()  # goes the long way
    write(recorded, index, values.double())
    rest, alias = whole.t(), whole.view(-1)
    if kind is not tn.float16:
        monkeypatch.setattr(REGISTRY[op].function, "__code__", (lambda *_: 1 / 0).__code__)
    write(whole, index, values)
    assert whole.tolist() == recorded.tolist() == rest.t().tolist()
    assert whole._version == alias._version == 1


def test_writes_to_some_places_read_before_they_write():
    x = tn.arange(6.0)
    x[tn.tensor([1, 2, 3])] = x[::2]
    assert x.tolist() == [0, 0, 2, 4, 4, 5]
    k = tn.tensor([2, 0, 1])
    k[k] = k
    assert k.tolist() == [0, 1, 2]


def test_a_refused_write_to_some_places_writes_nothing():
    x = tn.zeros(3, 2)
    for write in (
        lambda: x.index_add_(0, tn.tensor([0, 3]), tn.ones(2, 2)),
        lambda: x.index_copy_(0, tn.tensor([0, 3]), tn.ones(2, 2)),
        lambda: x.index_fill_(0, tn.tensor([0, 3]), 1),
        lambda: x.__setitem__(tn.tensor([0, 3]), 1.0),
        lambda: x.scatter_(0, tn.tensor([[0, 3]]), 1.0),
    ):
        with pytest.raises((IndexError, RuntimeError)):
            write()
    assert x.sum() == 0 and x._version == 0


def test_integers_are_written_in_place():
    x = tn.tensor([2**63 - 1, -3])
    for write, expected in (
        (lambda: x.add_(1), [-(2**63), -2]),  # wraps, as in C
        (lambda: x.sub_(1), [2**63 - 1, -3]),
        (lambda: x.mul_(0).add_(True), [1, 1]),
    ):
        assert write().tolist() == expected
    with pytest.raises(RuntimeError, match="result type Float can't be cast"):
        x.add_(0.5)
