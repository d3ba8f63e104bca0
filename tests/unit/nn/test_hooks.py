"""Hooks on modules: before and after forward, on gradients."""

import collections
import copy

import pytest

import tinynet as tn
from tinynet import nn


class Two(nn.Module):
    def forward(self, a, b, scale=2):
        return a * scale, b * 3, 5


# ---- forward ------------------------------------------------------------------------------------


def test_pre_hooks_change_the_arguments():
    net = nn.Identity()
    net.register_forward_pre_hook(lambda m, args: args[0] + 1)
    net.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    net.register_forward_pre_hook(lambda m, args: None)
    assert net(tn.ones(1)).tolist() == [4.0]


def test_hooks_change_the_output():
    net = nn.Identity()
    seen = []
    net.register_forward_hook(lambda m, args, out: seen.append((m, args, out)))
    net.register_forward_hook(lambda m, args, out: out * 2)
    net.register_forward_hook(lambda m, args, out: out + 1)
    x = tn.ones(1)
    assert net(x).tolist() == [3.0]
    assert seen[0][0] is net and seen[0][1][0] is x and seen[0][2] is x


def test_keyword_arguments():
    net = Two()
    net.register_forward_pre_hook(lambda m, a, k: (a, {"scale": k["scale"] * 10}), with_kwargs=True)
    net.register_forward_pre_hook(lambda m, a, k: None, with_kwargs=True)
    seen = []
    net.register_forward_hook(lambda m, a, k, out: seen.append(k), with_kwargs=True)
    assert net(tn.ones(1), tn.ones(1), scale=2)[0].tolist() == [20.0]
    assert seen == [{"scale": 20}]
    net.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        net(tn.ones(1), tn.ones(1), scale=2)


def test_order_and_prepend():
    net, seen = nn.Identity(), []
    for name, prepend in [("b", False), ("c", False), ("a", True)]:
        net.register_forward_hook(lambda *a, n=name: seen.append(n), prepend=prepend)
        net.register_forward_pre_hook(lambda *a, n=name: seen.append(n + "0"), prepend=prepend)
    net(1)
    assert seen == ["a0", "b0", "c0", "a", "b", "c"]


def test_removing():
    net, seen = nn.Identity(), []
    with net.register_forward_hook(lambda *a: seen.append(1)) as handle:
        net(1)
    net(1)
    handle.remove()
    assert seen == [1]


def test_a_hook_that_removes_itself():
    net, seen = nn.Identity(), []
    handles = []

    def once(*args):
        seen.append(1)
        handles[0].remove()

    handles.append(net.register_forward_hook(once))
    net.register_forward_hook(lambda *a: seen.append(2))
    net(1)
    net(1)
    assert seen == [1, 2, 2]


def test_always_call():
    class Fails(nn.Module):
        def forward(self, x):
            raise KeyError("forward")

    net, seen = Fails(), []
    net.register_forward_hook(lambda m, a, out: seen.append("never"))
    net.register_forward_hook(lambda m, a, out: seen.append(out), always_call=True)
    with pytest.raises(KeyError, match="forward"):
        net(1)
    assert seen == [None]

    def breaks(*args):
        raise ValueError("hook")

    net.register_forward_hook(breaks, always_call=True)
    with (
        pytest.warns(UserWarning, match="silenced as another error was raised in forward: hook"),
        pytest.raises(KeyError, match="forward"),
    ):
        net(1)


def test_hooks_are_copied_with_the_module():
    net = nn.Identity()
    net.register_forward_hook(double)
    other = copy.deepcopy(net)
    other.register_forward_hook(double)
    assert (net(1), other(1)) == (2, 4)


def double(module, args, out):
    return out * 2


# ---- gradients ----------------------------------------------------------------------------------


def listed(grads):
    return tuple(None if g is None else g.tolist() for g in grads)


def test_gradients_of_inputs_and_outputs():
    net, seen = Two(), []
    net.register_full_backward_pre_hook(lambda m, go: seen.append(listed(go)))
    net.register_full_backward_hook(lambda m, gi, go: seen.append((listed(gi), listed(go))))
    a, b = tn.ones(2, requires_grad=True), tn.ones(2)
    out = net(a, b)
    assert type(out[0].grad_fn).__name__ == "BackwardHookFunctionBackward"
    assert out[1].grad_fn is None and out[2] == 5
    out[0].sum().backward()
    ones = [1.0, 1.0]
    assert seen == [(ones, None, None), (([2.0, 2.0], [0.0, 0.0]), (ones, None, None))]
    assert a.grad.tolist() == [2.0, 2.0]


def test_an_input_that_is_not_used_gets_zeros():
    net, seen = Two(), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append(listed(gi)))
    a, b = tn.ones(2, requires_grad=True), tn.ones(2, requires_grad=True)
    net(a, b)[0].sum().backward()
    assert seen == [([2.0, 2.0], [0.0, 0.0])]
    assert b.grad.tolist() == [0.0, 0.0]


def test_hooks_change_gradients():
    for register, factor in [
        (lambda m: m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 3,)), 3),
        (lambda m: m.register_full_backward_hook(lambda m, gi, go: gi[0] * 3), 3),
        (lambda m: m.register_full_backward_pre_hook(lambda m, go: (go[0] * 5,)), 5),
    ]:
        net, x = nn.Identity(), tn.ones(2, requires_grad=True)
        register(net)
        net(x).sum().backward()
        assert x.grad.tolist() == [factor] * 2


def test_what_hooks_may_not_return():
    x = tn.ones(2, requires_grad=True)
    net = nn.Identity()
    net.register_full_backward_hook(lambda m, gi, go: (gi[0], 1))
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        net(x).sum().backward()
    net = nn.Identity()
    net.register_full_backward_pre_hook(lambda m, go: (go[0], 1))
    with pytest.raises(RuntimeError, match="invalid number of grad_output, got 2, but expected 1"):
        net(x).sum().backward()


def test_no_input_requires_grad():
    net, seen = nn.Linear(2, 1), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append((gi, listed(go))))
    loss = net(tn.ones(1, 2)).sum()
    with pytest.warns(UserWarning, match="Full backward hook is firing when gradients are"):
        loss.backward()
    assert seen == [((None,), ([[1.0]],))]
    assert net.weight.grad.tolist() == [[1.0, 1.0]]
    net.register_full_backward_hook(lambda m, gi, go: (go[0],))
    loss = net(tn.ones(1, 2)).sum()
    with (
        pytest.warns(UserWarning, match="Full backward hook"),
        pytest.raises(RuntimeError, match="should always return None or None for all gradients"),
    ):
        loss.backward()


def test_nothing_is_gated_without_grad():
    net = nn.Identity()
    net.register_full_backward_hook(lambda m, gi, go: None)
    x = tn.ones(2, requires_grad=True)
    with tn.no_grad():
        assert net(x) is x
    y = tn.ones(2)
    assert net(y) is y


def test_an_output_that_is_no_tensor():
    class AsDict(nn.Module):
        def forward(self, x):
            return {"x": x * 2}

    net, seen = AsDict(), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append(1))
    x = tn.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="module output should be a Tensor or a tuple of Tensors"):
        out = net(x)
    out["x"].sum().backward()
    assert seen == [] and x.grad.tolist() == [2.0, 2.0]


def test_gradients_of_gradients_through_a_gate():
    net, seen = nn.Tanh(), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append(gi[0].requires_grad))
    x = tn.tensor([0.5], dtype=tn.float64, requires_grad=True)
    (g,) = tn.autograd.grad(net(x).sum(), x, create_graph=True)
    assert seen == [True]
    (h,) = tn.autograd.grad(g.sum(), x)
    t = x.detach().tanh()
    assert h.tolist() == pytest.approx((-2 * t * (1 - t * t)).tolist())


@pytest.mark.parametrize("where", ["input", "output"])
def test_in_place_operations_at_a_gate_are_refused(where):
    x = tn.ones(2, requires_grad=True) * 1
    net = nn.ReLU(inplace=where == "input")
    net.register_full_backward_hook(lambda m, gi, go: None)
    match = "Output 0 of BackwardHookFunction is a view and is being modified inplace"
    with pytest.raises(RuntimeError, match=match):
        net(x).add_(1)
    assert x._version == 0


def test_a_gate_may_be_passed_twice():
    net, seen = nn.Linear(2, 2), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append(go[0].tolist()))
    x = tn.ones(1, 2, requires_grad=True)
    y = net(net(x))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert len(seen) == 4 and seen[0] == [[1.0, 1.0]] and seen[:2] == seen[2:]


def test_named_tuples_come_through():
    Pair = collections.namedtuple("Pair", "left right")

    class Makes(nn.Module):
        def forward(self, x):
            return Pair(x * 2, x * 3)

    net = Makes()
    net.register_full_backward_hook(lambda m, gi, go: None)
    out = net(tn.ones(1, requires_grad=True))
    assert type(out) is Pair and out.right.tolist() == [3.0]


@pytest.mark.parametrize("when", ["forward_pre", "forward", "backward_pre", "backward"])
def test_the_tables_of_hooks_are_there_under_pytorchs_names(when):
    module, full = nn.Linear(2, 2), "full_" * when.startswith("backward")
    assert len(getattr(module, f"_{when}_hooks")) == 0
    handle = getattr(module, f"register_{full}{when}_hook")(lambda *_: None)
    assert list(getattr(module, f"_{when}_hooks")) == [handle.id]
