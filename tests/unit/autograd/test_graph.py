"""autograd.graph: nodes, edges, hooks on nodes and on saved values; autograd.checked."""

import gc
import math

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet.autograd import graph


def leaf(*values):
    return tn.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


def test_nodes_know_what_came_before():
    x, y = leaf(), leaf()
    node = (x * y).exp().grad_fn
    assert isinstance(node, graph.Node) and node.name() == "ExpBackward"
    ((product, number),) = node.next_functions
    assert (product.name(), number) == ("MulBackward0", 0)
    (a, _), (b, _) = product.next_functions
    assert a.name() == "AccumulateGrad" and a.variable is x and b.variable is y
    assert (x * 2).grad_fn.next_functions[1] == (None, 0)


def test_saved_values_can_be_read():
    x = leaf()
    node = (x * x.detach()).grad_fn
    assert node._saved_self is None
    assert node._saved_other.tolist() == [1.0, 2.0, 3.0]
    y = x.exp()
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn
    assert x.sum(dim=0, keepdim=True).grad_fn._saved_keepdim is True
    y.sum().backward()
    with pytest.raises(RuntimeError, match="already been freed"):
        assert y.grad_fn._saved_result


def test_metadata_is_the_users():
    node = (leaf() * 2).grad_fn
    node.metadata["note"] = 1
    assert node.metadata == {"note": 1}


def test_hooks_on_nodes():
    seen = []
    x = leaf(3.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda outs: seen.append(("pre", outs[0].item())))
    y.grad_fn.register_prehook(lambda outs: (outs[0] * 10,))
    handle = y.grad_fn.register_hook(
        lambda ins, outs: seen.append(("post", ins[0].item(), outs[0].item()))
    )
    y.backward(retain_graph=True)
    assert seen == [("pre", 1.0), ("post", 20.0, 10.0)] and x.grad.item() == 20.0
    handle.remove()
    y.backward()
    assert len(seen) == 3


def test_hooks_on_the_accumulator_of_a_leaf():
    seen = []
    x = leaf(3.0)
    accumulator = graph.get_gradient_edge(x).node
    accumulator.register_prehook(lambda outs: (outs[0] * 5,))
    accumulator.register_hook(lambda ins, outs: seen.append((ins, outs[0].item())))
    (x * 2).backward()
    assert x.grad.item() == 10.0 and seen == [((), 10.0)]


@pytest.mark.parametrize(
    "function", [lambda x: x * x, lambda x: x.exp(), lambda x: (x * x).sigmoid().prod()]
)
def test_saved_values_are_packed_and_unpacked(function):
    packed = []

    def pack(t):
        packed.append(t.tolist())
        return t.numpy(force=True).astype(np.float16)

    def unpack(a):
        return tn.tensor(a).float()

    x, plain = leaf(), leaf()
    with graph.saved_tensors_hooks(pack, unpack):
        function(x).sum().backward()
    function(plain).sum().backward()
    assert packed and (x.grad - plain.grad).abs().max() < 0.01


def test_packing_works_under_create_graph_and_in_functions():
    class Cube(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x * x * g

    x = tn.tensor(2.0, dtype=tn.float64, requires_grad=True)
    with graph.save_on_cpu():
        y = Cube.apply(x) * x
    (g,) = tn.autograd.grad(y, x, create_graph=True)
    (h,) = tn.autograd.grad(g, x)
    assert (g.item(), h.item()) == (32.0, 48.0)


def test_copies_survive_a_change_in_place():
    x = leaf() * 1
    with graph.save_on_cpu():
        y = x * x
    x.add_(1)
    y.sum().backward()


def test_hooks_can_be_disabled():
    with graph.disable_saved_tensors_hooks("none here"):
        with pytest.raises(RuntimeError, match="none here"):
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                pass
        x = leaf()
        (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_one_hook_for_several_gradients():
    seen = []
    a, b = leaf(), leaf()
    handle = graph.register_multi_grad_hook(
        [a, b], lambda gs: seen.append([g.tolist() for g in gs])
    )
    (a + 2 * b).sum().backward()
    assert seen == [[[1.0] * 3, [2.0] * 3]]
    handle.remove()
    (a + 2 * b).sum().backward()
    assert len(seen) == 1


# ---- checked -----------------------------------------------------------------------------------


def through_data(x, y):
    y.data.zero_()


def through_numpy(x, y):
    y.detach().numpy()[:] = 0


def through_an_older_array(x, y):
    OLDER[0][...] = 0


OLDER = []


@pytest.mark.parametrize("write", [through_data, through_numpy, through_an_older_array])
def test_unseen_writes_are_caught_only_when_checked(write):
    for checked in (False, True):
        x = leaf()
        if checked:
            with tn.autograd.checked():
                y = x.sigmoid()
        else:
            y = x.sigmoid()
        OLDER[:] = [y.detach().numpy()]
        write(x, y)
        if checked:
            with pytest.raises(RuntimeError, match="without autograd's knowledge") as error:
                y.sum().backward()
            assert "y = x.sigmoid()" in str(error.value) and "  fix " in str(error.value)
        else:
            y.sum().backward()
            assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_seen_writes_raise_the_usual_error_when_checked():
    with tn.autograd.checked():
        x = leaf() * 1
        y = x * x
    x.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        y.sum().backward()


def test_checked_programs_give_the_same_gradients():
    a, b = leaf(), leaf()
    (a.exp() * a.sigmoid()).sum().backward()
    with tn.autograd.checked():
        (b.exp() * b.sigmoid()).sum().backward()
    assert a.grad.tolist() == b.grad.tolist()


def test_a_tensor_stored_on_ctx_warns_once():
    class Stored(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.x * g

    with pytest.warns(UserWarning, match=r"outside save_for_backward \(attribute 'x'\)"):
        Stored.apply(leaf())
    Stored.apply(leaf())


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (lambda outs: (outs[0], outs[0]), RuntimeError, r"\(got 2, but expected 1\)"),
        (lambda outs: (), RuntimeError, r"\(got 0, but expected 1\)"),
        (lambda outs: outs[0], TypeError, "expected tuple, but hook returned 'Tensor'"),
    ],
)
def test_what_a_hook_before_a_node_may_not_return(returned, error, message):
    y = leaf() * 2
    y.grad_fn.register_prehook(returned)
    with pytest.raises(error, match=message):
        y.sum().backward()


# ---- gradient edges, batched gradients, writes to what is saved ---------------------------------


def test_gradient_edges_stand_for_tensors():
    x = tn.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    edge, start, leaf = (tn.autograd.graph.get_gradient_edge(t) for t in (y, z, x))
    found = tn.autograd.grad(start, [edge, leaf, x], retain_graph=True)
    assert [g.tolist() for g in found] == [[4.0, 8.0], [8.0, 16.0], [8.0, 16.0]]
    tn.autograd.backward(start, inputs=[leaf], retain_graph=True)
    assert x.grad.tolist() == [8.0, 16.0]
    tn.autograd.backward(edge, tn.ones(2), retain_graph=True)
    assert x.grad.tolist() == [10.0, 18.0]
    z.backward(inputs=[edge])
    assert x.grad.tolist() == [10.0, 18.0]
    parts = x.unbind()
    (g,) = tn.autograd.grad(tn.autograd.graph.get_gradient_edge(parts[1]), x)
    assert g.tolist() == [0.0, 1.0]
    with pytest.raises(TypeError, match="inputs must be Tensors or GradientEdges. Got int"):
        tn.autograd.grad(z, [3])
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input"):
        other = tn.autograd.graph.get_gradient_edge(tn.ones(1, requires_grad=True))
        tn.autograd.grad(x.sum(), other, materialize_grads=True)


def test_batched_gradients_are_computed_row_by_row():
    x = tn.tensor([1.0, 2.0], requires_grad=True)
    unused = tn.ones(1, requires_grad=True)
    y, z = x * x, x.sum()
    given = (tn.eye(2), tn.tensor([1.0, 10.0]))
    found = tn.autograd.grad((y, z), (x, unused), given, is_grads_batched=True, allow_unused=True)
    assert found[0].tolist() == [[3.0, 1.0], [10.0, 14.0]] and found[1] is None
    with pytest.raises(RuntimeError, match="a second time"):
        tn.autograd.grad(y, x, tn.eye(2), is_grads_batched=True)
    with pytest.raises(RuntimeError, match=r"grad_output\[0\] has a shape of .*\[2\]"):
        tn.autograd.grad(x * x, x, tn.ones(2), is_grads_batched=True)
    with pytest.raises(ValueError, match=r"one batch size, got \[1, 2\]"):
        tn.autograd.grad((x * x, x.sum()), x, (tn.eye(2), tn.ones(1)), is_grads_batched=True)


def test_saved_tensors_may_be_written_inside_the_context():
    x = tn.tensor([0.5], requires_grad=True)
    graph = tn.autograd.graph
    with graph.allow_mutation_on_saved_tensors() as saved:
        with pytest.raises(RuntimeError, match="contexts cannot be nested"):
            with graph.allow_mutation_on_saved_tensors():
                pass
        y = x * 1
        z = y.exp()
        z.mul_(3)
        z.backward(retain_graph=True)
        assert x.grad.item() == near(3 * math.exp(0.5))
        saved.clear()
        with pytest.raises(AssertionError, match="Trying to backward outside"):
            z.backward(retain_graph=True)
    with graph.allow_mutation_on_saved_tensors():
        z = (x * 1).exp()
    with pytest.raises(AssertionError, match="Trying to backward outside"):
        z.backward()


def test_a_pack_hook_may_not_write():
    y = tn.ones(2, requires_grad=True) * 1
    with tn.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
            y.sin()


def test_a_hook_on_several_gradients_runs_once_per_pass_with_what_the_pass_comes_to():
    x, y, z = (tn.ones(1, requires_grad=True) for _ in range(3))
    seen = []
    handle = tn.autograd.graph.register_multi_grad_hook([x, y, z], seen.append)
    (x * 2 + y * 3).backward()
    assert [None if g is None else g.item() for g in seen.pop()] == [2.0, 3.0, None]
    (x * 4).backward()
    assert [None if g is None else g.item() for g in seen.pop()] == [4.0, None, None]
    tn.autograd.grad((x * y).sum(), [y])
    assert [None if g is None else g.item() for g in seen.pop()] == [None, 1.0, None]
    handle.remove()
    (x * 2).backward()
    assert not seen
    with tn.autograd.graph.register_multi_grad_hook([x, y], seen.append, mode="any"):
        for _ in range(2):
            (x * 2 + y * 2).backward()
    assert [g.item() for g in seen] == [2.0, 2.0]


def test_a_hook_of_several_gradients_waits_for_those_that_the_pass_computes():
    leaves = [tn.ones(2, requires_grad=True) for _ in range(3)]
    x, y, z = (leaf * n for n, leaf in enumerate(leaves, 2))
    seen = []

    def hook(grads):
        seen.append([None if g is None else g.tolist() for g in grads])

    tn.autograd.graph.register_multi_grad_hook((x, y, z), hook)
    loss = (x * y * z).sum()
    tn.autograd.grad(loss, leaves[:2], retain_graph=True)
    loss.backward(inputs=leaves[1:], retain_graph=True)
    loss.backward()
    of_x, of_y, of_z = [12.0, 12.0], [8.0, 8.0], [6.0, 6.0]
    assert seen == [[of_x, of_y, None], [None, of_y, of_z], [of_x, of_y, of_z]]


@pytest.mark.parametrize("mode", ["all", "any"])
@pytest.mark.parametrize("leaf", [True, False])
def test_a_hook_of_several_tensors_lives_no_longer_than_they(mode, leaf):
    """While one lives, ``tn.compile`` replays no step; the collector of cycles may come late."""
    gc.disable()
    try:
        before = len(tn.autograd.graph.waiting)
        x, y = (tn.ones(2, requires_grad=True) for _ in range(2))
        tensors = [x, y] if leaf else [x * 2, y * 2]
        tn.autograd.graph.register_multi_grad_hook(tensors, lambda grads: None, mode=mode)
        (tensors[0] * tensors[1]).sum().backward()
        assert len(tn.autograd.graph.waiting) == before + 1
        del x, y, tensors
        assert len(tn.autograd.graph.waiting) == before
    finally:
        gc.enable()
