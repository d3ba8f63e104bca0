"""One backward pass: who owns which memory, what hooks see, what the pass refuses."""

import numpy as np
import pytest

import tinynet as tn
from tinynet.core.graph.engine import BackwardPass


def leaf(*values):
    return tn.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


# ---- memory: a gradient belongs to one leaf alone ------------------------------------------------


def one_and_the_same(a, b, given):
    (a + b).backward(given)


def twice(a, b, given):
    ((a + a) + b).backward(given)


def through_views(a, b, given):
    (a.view(3) + b.view(3)).backward(given)


def through_several_outputs(a, b, given):
    tn.cat([a, b])[:3].backward(given)
    (a * 0 + b).sum().backward()


def directly(a, b, given):
    a.backward(given)
    b.backward(given)


def hooks_that_give_one_tensor(a, b, given):
    a.register_hook(lambda g: given)
    b.register_hook(lambda g: given)
    (a * b).sum().backward()


def prehooks_that_give_one_tensor(a, b, given):
    from_node = tn.autograd.graph.get_gradient_edge
    for x in (a, b):
        from_node(x).node.register_prehook(lambda outs: (given,))
    (a * b).sum().backward()


@pytest.mark.parametrize(
    "program",
    [
        one_and_the_same,
        twice,
        through_views,
        through_several_outputs,
        directly,
        hooks_that_give_one_tensor,
        prehooks_that_give_one_tensor,
    ],
    ids=lambda program: program.__name__,
)
def test_no_two_gradients_share_memory(program):
    a, b, given = leaf(), leaf(), tn.ones(3)
    program(a, b, given)
    arrays = [a.grad.numpy(), b.grad.numpy(), given.numpy(), a.detach().numpy()]
    for i, one in enumerate(arrays):
        assert not any(np.shares_memory(one, other) for other in arrays[:i])
    a.grad.zero_()
    assert given.tolist() == [1.0, 1.0, 1.0]


def test_the_retained_gradient_is_a_copy():
    a = leaf()
    b = a * 1
    b.retain_grad()
    b.sum().backward()
    b.grad.zero_()
    assert a.grad.tolist() == [1.0] * 3


def test_retained_gradients_add_up_over_passes():
    a = leaf()
    b = a * 1
    b.retain_grad()
    b.sum().backward(retain_graph=True)
    first = b.grad
    b.sum().backward(retain_graph=True)
    assert b.grad.tolist() == [2.0] * 3 and first.tolist() == [1.0] * 3
    with pytest.warns(UserWarning, match="create_graph=True"):
        (b * b).sum().backward(create_graph=True)
    assert b.grad.tolist() == [4.0, 6.0, 8.0] and b.grad.requires_grad
    a.grad = b.grad = None


# ---- gradients in the shape and dtype of their tensor --------------------------------------------


def test_a_gradient_has_the_dtype_of_its_tensor():
    a = leaf()
    b = tn.tensor([1.0, 2.0, 3.0], dtype=tn.float64, requires_grad=True)
    seen = []
    c = a * 1
    c.register_hook(lambda g: seen.append(g.dtype))
    (c * b).sum().backward()
    assert (a.grad.dtype, b.grad.dtype, seen) == (tn.float32, tn.float64, [tn.float32])
    (g,) = tn.autograd.grad((a * b).sum(), a, create_graph=True)
    assert g.dtype is tn.float32 and g.requires_grad


def test_a_gradient_has_the_shape_of_its_tensor():
    a = tn.ones(2, 1, requires_grad=True)
    b = tn.ones(3, requires_grad=True)
    c = tn.tensor(1.0, requires_grad=True)
    (a * b * c).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([[3.0], [3.0]], [2.0, 2.0, 2.0])
    assert c.grad.item() == 6.0 and c.grad.shape == ()


def test_a_gradient_that_cannot_be_brought_to_shape():
    class Wrong(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return tn.ones(2)

    with pytest.raises(RuntimeError, match=r"got \[2\] but expected shape compatible with \[3\]"):
        Wrong.apply(leaf() * 1).backward()


# ---- hooks on nodes with several outputs ---------------------------------------------------------


def test_hooks_see_none_for_outputs_without_gradient():
    seen = []
    a = tn.ones(2, 2, requires_grad=True)
    first, second = (a * 1).unbind()
    node = first.grad_fn
    assert node is second.grad_fn
    node.register_prehook(lambda outs: seen.append(outs))
    node.register_prehook(lambda outs: (None, outs[1] * 3))
    node.register_hook(lambda ins, outs: seen.append((ins, outs)))
    second.sum().backward()
    (before, (ins, outs)) = seen
    assert before[0] is None and before[1].tolist() == [1.0, 1.0]
    assert outs[0] is None and outs[1].tolist() == [3.0, 3.0]
    assert ins[0].tolist() == a.grad.tolist() == [[0.0, 0.0], [3.0, 3.0]]


def test_posthooks_see_none_for_inputs_without_gradient_and_replace():
    seen = []
    a = leaf()
    y = a * tn.ones(3)
    y.grad_fn.register_hook(lambda ins, outs: seen.append(ins))
    y.grad_fn.register_hook(lambda ins, outs: (ins[0] * 5, None))
    y.grad_fn.register_hook(lambda ins, outs: seen.append(ins))
    y.sum().backward()
    assert [ins[0].tolist() for ins in seen] == [[1.0] * 3, [5.0] * 3]
    assert all(ins[1] is None for ins in seen) and a.grad.tolist() == [5.0] * 3


@pytest.mark.parametrize("create_graph", [False, True])
def test_node_hooks_under_create_graph(create_graph):
    a = leaf()
    y = a * a
    y.grad_fn.register_prehook(lambda outs: (outs[0] * 2,))
    y.grad_fn.register_hook(lambda ins, outs: (ins[0] * 3, None))
    (g,) = tn.autograd.grad(y.sum(), a, create_graph=create_graph)
    assert g.tolist() == [7.0 * 1 - 1.0, 12.0, 18.0] and g.requires_grad is create_graph


def test_what_node_hooks_may_not_return():
    def listed(ins, outs):
        return [ins[0], None]

    def short(ins, outs):
        return (ins[0],)

    y = leaf() * 2
    handle = y.grad_fn.register_hook(listed)
    with pytest.raises(TypeError, match="expected tuple, but hook returned 'list'"):
        y.sum().backward(retain_graph=True)
    handle.remove()
    y.grad_fn.register_hook(short)
    sentence = r"hook 'short' has returned an incorrect number of values \(got 1, but expected 2\)"
    with pytest.raises(RuntimeError, match=sentence):
        y.sum().backward()


def test_a_tensor_hook_keeps_the_type():
    def doubled(g):
        return g.double()

    x = leaf() * 1
    x.register_hook(doubled)
    sentence = (
        r"hook 'doubled' has changed the type of value \(was tinynet.FloatTensor got "
        r"tinynet.DoubleTensor\)"
    )
    with pytest.raises(RuntimeError, match=sentence):
        x.sum().backward()


def test_a_hook_after_accumulation_returns_nothing():
    a = leaf()
    a.register_post_accumulate_grad_hook(lambda t: t)
    with pytest.raises(RuntimeError, match="post accumulate grad hooks should return None"):
        a.sum().backward()
    for wrong, sentence in ((tn.ones(2), "doesn't require gradient"), (a * 1, "non-leaf tensors")):
        with pytest.raises(RuntimeError, match=sentence):
            wrong.register_post_accumulate_grad_hook(print)


# ---- where a pass starts and ends ----------------------------------------------------------------


def test_what_a_pass_may_not_start_from():
    with pytest.raises(RuntimeError, match="^element 0 of tensors does not require grad") as raised:
        tn.ones(()).backward()
    assert raised.value.needed_at.text == "tn.ones(()).backward()"
    with pytest.raises(RuntimeError, match="^element 1 of tensors does not require grad"):
        tn.autograd.backward([leaf().sum(), tn.ones(())])
    with pytest.raises(RuntimeError, match="^grad can be implicitly created only for scalar out"):
        leaf().backward()
    with pytest.raises(TypeError, match="can be either Tensors or None, but got list"):
        leaf().backward([1.0, 1.0, 1.0])
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        leaf().backward(tn.ones(2))


def test_one_element_of_any_shape_needs_no_gradient():
    a = tn.tensor([[3.0]], requires_grad=True)
    (a * a).backward()
    assert a.grad.tolist() == [[6.0]]


def test_only_the_inputs_get_gradients():
    a, b = leaf(), leaf()
    c = a * 2
    (c * b).sum().backward(inputs=[a, c])
    assert b.grad is None and a.grad.tolist() == [2.0, 4.0, 6.0] and c.grad.tolist() == [1, 2, 3]
    with pytest.raises(RuntimeError, match="`inputs` argument to `backward\\(\\)` cannot be empty"):
        (a * b).sum().backward(inputs=[])
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require"):
        tn.autograd.grad(a.sum(), [a, tn.ones(2)])


def test_gradients_of_inputs_add_up_in_place():
    a = leaf()
    (a * 2).sum().backward(inputs=[a])
    first = a.grad
    (a * 2).sum().backward(inputs=a)
    assert a.grad is first and first._version == 1 and first.tolist() == [4.0] * 3
    with pytest.warns(UserWarning, match="create_graph=True"):
        (a * a).sum().backward(inputs=[a], create_graph=True)
    assert a.grad is not first and a.grad.tolist() == [6.0, 8.0, 10.0] and a.grad.requires_grad
    a.grad = None


def test_branches_that_nobody_asked_for_are_not_run():
    ran = []
    a, b = leaf(), leaf()
    left, right = a * 2, b * 3
    left.register_hook(lambda g: ran.append("left"))
    right.register_hook(lambda g: ran.append("right"))
    tn.autograd.grad((left * right).sum(), a)
    assert ran == ["left"] and a.grad is None


def test_gradients_of_several_inputs_one_of_them_inside():
    a = leaf()
    b = a * 2
    c = b * b
    gs = tn.autograd.grad(c.sum(), [a, b, c])
    assert [g.tolist() for g in gs] == [[8.0, 16.0, 24.0], [4.0, 8.0, 12.0], [1.0] * 3]


def test_an_unused_input():
    a, b = leaf(), leaf()
    with pytest.raises(RuntimeError, match="^The differentiated Tensor at index 1 appears to not"):
        tn.autograd.grad((a * 2).sum(), [a, b])
    g, none = tn.autograd.grad((a * 2).sum(), [a, b], allow_unused=True)
    assert g.tolist() == [2.0] * 3 and none is None


def test_a_leaf_that_stops_wanting_a_gradient_gets_none():
    a = leaf()
    y = (a * 2).sum()
    a.requires_grad_(False)
    y.backward()
    assert a.grad is None


def test_the_graph_stays_where_retain_graph_says_so():
    a = leaf()
    y = (a * a).sum()
    (g,) = tn.autograd.grad(y, a, retain_graph=True)
    (g,) = tn.autograd.grad(y, a, create_graph=True)  # keeps it, too
    (h,) = tn.autograd.grad(y, a, create_graph=True, retain_graph=False)
    assert h.tolist() == g.tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_grad_mode_inside_and_after_a_pass():
    found = []
    a = leaf()
    b = a * 1
    b.register_hook(lambda g: found.append(tn.is_grad_enabled()))
    b.sum().backward(retain_graph=True)
    tn.autograd.grad(b.sum(), a, create_graph=True)
    assert found == [False, True] and tn.is_grad_enabled()
    with tn.no_grad():
        b.backward(tn.ones(3))
        assert not tn.is_grad_enabled()


def test_a_pass_to_a_late_tensor_leaves_out_what_is_older():
    """Else a derivative within each of n steps takes time n * n (ODE solvers, physics losses)."""
    x = tn.ones(2, requires_grad=True)
    late = x
    for _ in range(9):
        late = late * 2
    y = (late * late).sum()
    start = [y.edge], [tn.tensor(1.0)], True, False
    assert len(BackwardPass(*start, [late.edge]).order) == 3
    assert len(BackwardPass(*start, [late.edge, x.edge]).order) == 11


def test_a_pass_to_a_late_tensor_and_a_leaf_that_was_moved():
    a = tn.ones(2, requires_grad=True)
    a[:] = 0
    late = a * 2
    y = (late * late).sum()
    assert tn.autograd.grad(y, late, retain_graph=True)[0].tolist() == [0, 0]
    x = tn.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        ((a * x).sum() + y).backward()
