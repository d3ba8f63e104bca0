"""``torch._foreach_*``: operations on each tensor of a list."""

import pytest

import tinynet as tn
from tinynet.compat import root

ARGUMENTS = {
    **dict.fromkeys("add sub mul div maximum minimum clamp_max clamp_min pow".split(), 1),
    **dict.fromkeys(["lerp", "addcdiv", "addcmul"], 2),
}


def pair():
    return [tn.tensor([0.5, 0.25]), tn.tensor([1.0])]


@pytest.mark.parametrize("name", [*root._BOTH, "maximum", "minimum"])
def test_both_forms_give_what_the_operation_gives(name):
    operation = {"maximum": tn.clamp_min, "minimum": tn.clamp_max}.get(name) or getattr(tn, name)
    others = [[2 * x for x in pair()]] * ARGUMENTS.get(name, 0)
    expected = [operation(x, *(o[i] for o in others)) for i, x in enumerate(pair())]
    made = getattr(root, f"_foreach_{name}")(pair(), *others)
    written = pair()
    assert getattr(root, f"_foreach_{name}_")(written, *others) is written
    for a, b, c in zip(made, written, expected, strict=True):
        assert a.equal(c) and b.equal(c)


def test_numbers_stand_for_all_tensors_or_for_one_each():
    times = root._foreach_mul
    assert [x.tolist() for x in times(pair(), tn.tensor(2.0))] == [[1.0, 0.5], [2.0]]
    assert [x.tolist() for x in times(pair(), [2.0, 3.0])] == [[1.0, 0.5], [3.0]]
    assert [x.tolist() for x in root._foreach_pow(2.0, [tn.ones(1)])] == [[2.0]]
    for value in ([1.0, 2.0], tn.tensor([1.0, 2.0])):
        made = root._foreach_addcdiv(pair(), pair(), pair(), value)
        assert [x.tolist() for x in made] == [[1.5, 1.25], [3.0]]
    assert [x.item() for x in root._foreach_norm(pair(), 1)] == [0.75, 1.0]
    assert [x.item() for x in root._foreach_powsum(pair(), 2)] == [0.3125, 1.0]


def test_gradients_reach_the_tensors():
    w = tn.ones(2, requires_grad=True)
    root._foreach_mul([w], 3.0)[0].sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: root._foreach_add([], 1), "Tensor list must have at least one tensor."),
        (
            lambda: root._foreach_add(pair(), [1.0]),
            "Tensor lists must have the same number of tensors, got 2 and 1",
        ),
    ],
)
def test_lists_that_do_not_fit(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_operands_by_their_names():
    x, y = [tn.ones(2), tn.full((1,), 2.0)], [tn.full((2,), 4.0), tn.full((1,), 8.0)]
    for_each = root.for_each
    assert [t.tolist() for t in for_each("mul")(x, scalar=3.0)] == [[3, 3], [6]]
    assert [t.tolist() for t in for_each("add")(x, scalars=[1.0, 2.0])] == [[2, 2], [4]]
    assert [t.tolist() for t in for_each("sub")(x, other=y, alpha=2)] == [[-7, -7], [-14]]
    assert [t.tolist() for t in for_each("lerp")(x, tensors1=y, weight=0.5)] == [[2.5, 2.5], [5]]
    assert [t.tolist() for t in for_each("pow")(y, exponent=2)] == [[16, 16], [64]]
    found = for_each("addcdiv")(x, tensor1=y, tensor2=x, scalars=[1.0, 0.5])
    assert [t.tolist() for t in found] == [[5, 5], [4]]
    for_each("copy_")(x, src=y)
    assert [t.tolist() for t in x] == [[4, 4], [8]]
