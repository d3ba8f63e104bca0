"""backward, grad, hooks, grad modes: what PyTorch's users rely on."""

import threading
import warnings

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near


def leaf(*values):
    return tn.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


# ---- backward ----------------------------------------------------------------------------------


def test_gradients_accumulate_and_zeroing_starts_again():
    x = leaf(2.0)
    for expected in (4.0, 8.0):
        (x * x).backward()
        assert x.grad.item() == expected
    x.grad = None
    (x * x).backward()
    assert x.grad.item() == 4.0


def test_the_gradient_is_nobody_elses_memory():
    a, b = leaf(), leaf()
    start = tn.ones(3)
    (a + b).backward(start)
    a.grad.zero_()
    assert b.grad.tolist() == [1.0, 1.0, 1.0] and start.tolist() == [1.0, 1.0, 1.0]


def test_saved_values_survive_changes_to_the_gradient():
    a = leaf()
    y = a.exp()
    y.sum().backward(retain_graph=True)
    a.grad.zero_()
    y.sum().backward()
    assert a.grad.tolist() == near(np.exp(a.tolist()))


def test_inputs_restrict_where_gradients_go():
    a, b = leaf(), leaf()
    c = a * b
    (c * 2).sum().backward(inputs=[b])
    assert a.grad is None and b.grad.tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (a * b).sum().backward(inputs=[])


def test_inputs_may_be_in_the_middle():
    a = leaf()
    c = a * 3
    c.retain_grad()
    (c * c).sum().backward(inputs=[c])
    assert a.grad is None and c.grad.tolist() == [6.0, 12.0, 18.0]


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (lambda x: x.detach().sum().backward(), "element 0 of tensors does not require grad"),
        (lambda x: (x * 2).backward(), "grad can be implicitly created only for scalar outputs"),
        (
            lambda x: (x * 2).backward(tn.ones(2)),
            r"Mismatch in shape: grad_output\[0\] has a shape of tinynet.Size\(\[2\]\) and "
            r"output\[0\] has a shape of tinynet.Size\(\[3\]\)",
        ),
        (lambda x: tn.autograd.grad(x.sum(), leaf()), "appears to not have been used"),
        (lambda x: tn.autograd.grad(x.sum(), tn.ones(2)), "does not require grad"),
        (lambda x: tn.autograd.backward([x.sum()], [None, None]), "1 tensors and 2 gradients"),
    ],
)
def test_what_cannot_be_differentiated(start, message):
    with pytest.raises(RuntimeError, match=message):
        start(leaf())


def test_gradients_arrive_in_the_dtype_and_shape_of_their_leaf():
    a = tn.ones(3, requires_grad=True)
    b = tn.ones(2, 1, dtype=tn.float64, requires_grad=True)
    (a * b).sum().backward()
    assert (a.grad.dtype, a.grad.shape) == (tn.float32, (3,))
    assert (b.grad.dtype, b.grad.shape) == (tn.float64, (2, 1))


def test_a_node_that_backward_does_not_reach_costs_nothing():
    a, b = leaf(), leaf()
    x, y = (a * b).unbind()[:2]
    (x * 5).backward()
    assert a.grad.tolist() == [5.0, 0.0, 0.0]


# ---- grad --------------------------------------------------------------------------------------


def test_grad_does_not_touch_dot_grad():
    a, b = leaf(), leaf()
    c = a * b
    ga, gc = tn.autograd.grad((c * c).sum(), [a, c])
    assert a.grad is None and gc.tolist() == [2.0, 8.0, 18.0] and ga.tolist() == [2.0, 16.0, 54.0]


def test_unused_inputs():
    a, b = leaf(), leaf()
    found = tn.autograd.grad(a.sum(), [a, b], allow_unused=True)
    assert found[1] is None
    found = tn.autograd.grad(a.sum(), [a, b], materialize_grads=True)
    assert found[1].tolist() == [0.0, 0.0, 0.0]


def test_derivatives_to_the_fourth_order():
    x = tn.tensor(2.0, dtype=tn.float64, requires_grad=True)
    y = x**5
    for expected in (80.0, 160.0, 240.0, 240.0):
        (y,) = tn.autograd.grad(y, x, create_graph=True)
        assert y.item() == expected


def test_create_graph_in_backward_warns():
    x = leaf(3.0)
    with pytest.warns(UserWarning, match="create_graph=True"):
        (x * x * x).backward(create_graph=True)
    assert x.grad.grad_fn.name() == "CopyBackwards"
    x.grad = None


# ---- hooks -------------------------------------------------------------------------------------


def test_hooks_run_in_order_replace_and_can_be_removed():
    seen = []
    a = leaf(3.0)
    b = a * 2
    first = b.register_hook(lambda g: seen.append(g.item()))
    b.register_hook(lambda g: g * 10)
    b.register_hook(lambda g: seen.append(g.item()))
    b.backward(retain_graph=True)
    assert seen == [1.0, 10.0] and a.grad.item() == 20.0
    first.remove()
    first.remove()
    b.backward()
    assert seen == [1.0, 10.0, 10.0]


def test_hooks_of_a_leaf_and_after_accumulation():
    seen = []
    a = leaf(3.0)
    a.register_hook(lambda g: g + 1)
    a.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (a * 2).backward()
    (a * 2).backward()
    assert seen == [3.0, 6.0]


def test_a_leaf_is_served_once_all_its_uses_have_arrived():
    order = []
    a, b = leaf(1.0), leaf(1.0)
    a.register_hook(lambda g: order.append(("a", g.item())))
    b.register_hook(lambda g: order.append(("b", g.item())))
    late = b * 2
    ((a * 3 + a * 4) * late).backward()
    assert order == [("a", 14.0), ("b", 14.0)] or order == [("b", 14.0), ("a", 14.0)]


@pytest.mark.parametrize(
    ("hook", "error", "message"),
    [
        (lambda g: 5, TypeError, "expected Variable, but hook returned 'int'"),
        (lambda g: tn.ones(2, 2), RuntimeError, "has changed the size of value"),
    ],
)
def test_what_a_hook_may_not_return(hook, error, message):
    x = leaf() * 1
    x.register_hook(hook)
    with pytest.raises(error, match=message):
        x.sum().backward()


def test_hooks_need_grad():
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't"):
        tn.ones(2).register_hook(print)
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has"):
        tn.ones(2).retain_grad()


def test_retained_gradients_come_after_hooks():
    x = leaf(3.0) * 1
    x.retain_grad()
    x.register_hook(lambda g: g * 5)
    assert x.retains_grad
    (x * 2).backward()
    assert x.grad.item() == 10.0


def test_reading_the_gradient_of_a_non_leaf_warns_once_it_cannot_come():
    x = leaf() * 1
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf"):
        assert x.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert leaf().grad is None


# ---- what may be assigned ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (3, TypeError, "assigned grad expected to be a Tensor or None but got grad of type int"),
        (tn.ones(2), RuntimeError, r"attempting to assign a gradient of size '\[2\]'"),
        (tn.ones(3, dtype=tn.float64), RuntimeError, "gradient with dtype 'double'"),
    ],
)
def test_what_is_no_gradient(value, error, message):
    x = leaf()
    with pytest.raises(error, match=message):
        x.grad = value


def test_flags():
    x = leaf()
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
        (x * 2).requires_grad = False
    with pytest.raises(RuntimeError, match="only Tensors of floating point"):
        tn.tensor([1]).requires_grad_()
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        (x * 2)[0].detach_()
    y = (x * 2).detach_()
    assert y.is_leaf and not y.requires_grad


# ---- modes -------------------------------------------------------------------------------------


def test_modes_nest_and_survive_errors():
    x = leaf()
    with pytest.raises(ZeroDivisionError), tn.no_grad():
        raise ZeroDivisionError
    assert tn.is_grad_enabled()
    with tn.no_grad():
        with tn.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad
    with tn.set_grad_enabled(False):
        assert not tn.is_grad_enabled()
    tn.set_grad_enabled(False)
    assert not tn.is_grad_enabled()
    tn.set_grad_enabled(True)


def test_modes_decorate_functions_and_generators():
    @tn.no_grad()
    def off():
        return tn.is_grad_enabled()

    @tn.no_grad
    def off_too():
        return tn.is_grad_enabled()

    @tn.set_grad_enabled(False)
    def off_three():
        return tn.is_grad_enabled()

    @tn.no_grad()
    def generator():
        sent = yield tn.is_grad_enabled()
        yield sent, tn.is_grad_enabled()

    assert not off() and not off_too() and not off_three() and tn.is_grad_enabled()
    running = generator()
    assert next(running) is False and tn.is_grad_enabled()
    assert running.send("x") == ("x", False) and tn.is_grad_enabled()


def test_each_thread_has_its_own_mode():
    found = []
    with tn.no_grad():
        thread = threading.Thread(target=lambda: found.append(tn.is_grad_enabled()))
        thread.start()
        thread.join()
    assert found == [True]


# ---- memory ------------------------------------------------------------------------------------


def hook_on_the_leaf(x, seen):
    x.register_hook(lambda g: seen.append(g))
    return x * 2


def hook_on_the_node(x, seen):
    y = x * 2
    y.grad_fn.register_hook(lambda ins, outs: seen.append(ins[0]))
    return y


def hook_on_the_accumulator(x, seen):
    edge = tn.autograd.graph.get_gradient_edge(x)
    edge.node.register_prehook(lambda outs: seen.append(outs[0]))
    return x * 2


@pytest.mark.parametrize("start", [hook_on_the_leaf, hook_on_the_node, hook_on_the_accumulator])
def test_a_gradient_that_a_hook_kept_stays_as_it_was(start):
    seen = []
    x = leaf()
    start(x, seen).sum().backward()
    (x * 5).sum().backward()
    assert seen[0].tolist() == [2.0, 2.0, 2.0] and x.grad.tolist() == [7.0, 7.0, 7.0]
