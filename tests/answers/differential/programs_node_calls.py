"""Nodes that are called, and hooks of nodes and modules that are not usual."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def a_node_is_called(T):
    x = T.ones(2, requires_grad=True)
    y = x * 3
    d_x, nothing = y.grad_fn(T.ones(2))
    return locals()


@program
def a_node_that_is_called_records(T):
    x = T.ones(2, requires_grad=True)
    d_x = x.exp().grad_fn(T.ones(2))
    return {"d_x": d_x, "wants": d_x.requires_grad}


@program
def a_node_that_is_called_sums_to_the_shapes_of_its_inputs(T):
    x, w = T.ones(2, 3, requires_grad=True), T.ones(3, requires_grad=True)
    d_x, d_w = (x * w).grad_fn(T.ones(2, 3))
    return {"d_x": d_x.detach(), "d_w": d_w.detach()}


@program
def a_node_of_several_outputs_is_called(T):
    x = T.ones(2, 2, requires_grad=True)
    d_x = x.unbind(0)[0].grad_fn(T.ones(2), T.zeros(2))
    return {"d_x": d_x}


@program
def a_leaf_s_node_is_called(T):
    x = T.ones(2, requires_grad=True)
    leaf = (x * 1).grad_fn.next_functions[0][0]
    leaf(T.ones(2))
    leaf(T.ones(2))
    return {"grad": x.grad}


@program
def a_node_without_hooks_is_called(T):
    log = []
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: log.append("tensor"))
    y.grad_fn.register_hook(lambda gi, go: log.append("node"))
    y.grad_fn(T.ones(2))
    return {"log": log}


@program
def a_gradient_that_is_asked_for_on_the_way_is_taken_before_its_hooks(T):
    log = []
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: log.append("tensor") or g * 3)
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 7,))
    d_y, d_x = T.autograd.grad(y.sum(), [y, x])
    return {"log": log, "d_x": d_x, "d_y": d_y}


@program
def a_gradient_at_the_end_of_the_way_is_taken_after_its_tensor_hooks(T):
    log = []
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: log.append("tensor") or g * 3)
    y.grad_fn.register_prehook(lambda gs: log.append("node"))
    (d_y,) = T.autograd.grad(y.sum(), [y])
    return {"log": log, "d_y": d_y}


@program
def hooks_of_a_leaf_and_of_its_node(T):
    log = []
    x = T.ones(2, requires_grad=True)
    x.register_hook(lambda g: log.append("tensor") or g + 1)
    x.register_post_accumulate_grad_hook(lambda p: log.append(("accumulated", p.grad.tolist())))
    y = x * 1
    leaf = y.grad_fn.next_functions[0][0]
    leaf.register_prehook(lambda gs: log.append("pre") or (gs[0] * 7,))
    leaf.register_hook(lambda gi, go: log.append("post"))
    y.sum().backward()
    return {"log": log, "x": x}


@program
def a_handle_knows_its_registry(T):
    net = T.nn.ReLU()
    handle = net.register_forward_hook(lambda *a: None)
    inside = handle.id in handle.hooks_dict_ref()
    count = len(net._forward_hooks)
    handle.remove()
    return {"inside": inside, "count": count, "after": len(net._forward_hooks)}


@program
def a_backward_hook_of_the_older_kind(T):
    log = []
    net = T.nn.Sequential(T.nn.ReLU(), T.nn.Tanh())
    handle = net.register_backward_hook(
        lambda module, gi, go: log.append((type(module).__name__, gi[0].tolist(), go[0].tolist()))
    )
    net(T.zeros(1, 2, requires_grad=True)).sum().backward()
    handle.remove()
    net(T.zeros(1, 2, requires_grad=True)).sum().backward()
    return {"log": log}


@program
def backward_hooks_of_both_kinds(T):
    net = T.nn.ReLU()
    net.register_full_backward_hook(lambda *a: None)
    error = attempt(lambda: net.register_backward_hook(lambda *a: None))
    other = T.nn.ReLU()
    other.register_backward_hook(lambda *a: None)
    again = attempt(lambda: other.register_full_backward_hook(lambda *a: None))
    return {"error": error, "again": again}


@program
def setup_context_gets_default_arguments(T):
    class Scale(T.autograd.Function):
        @staticmethod
        def forward(x, k=3):
            return x * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            _, ctx.k = inputs

        @staticmethod
        def backward(ctx, g):
            return g * ctx.k, None

    x = T.ones(2, requires_grad=True)
    Scale.apply(x).sum().backward()
    return {"x": x}


@program
def a_view_that_lost_its_history_prints(T):
    x = T.ones(3, requires_grad=True) * 1
    with T.no_grad():
        v = x[:2]
    x.add_(1)
    return {"text": repr(v), "wants": v.requires_grad}


@program
def a_view_made_in_inference_mode_is_not_written_outside(T):
    x = T.ones(2, requires_grad=True) * 1
    with T.inference_mode():
        v = x[0:1]
    error = attempt(lambda: v.add_(1))
    return {"error": error, "inference": v.is_inference()}


@program
def a_state_dict_by_position(T):
    net = T.nn.Linear(1, 1)
    found = {}
    net.state_dict(found, "p.", False)
    return {"names": list(found)}


@program
def a_buffer_of_a_module_that_overrides_the_older_signature(T):
    class Net(T.nn.Module):
        def register_buffer(self, name, tensor):
            super().register_buffer(name, tensor)

    net = Net()
    net.register_buffer("b", T.ones(1))
    net.b = T.zeros(1)
    return {"state": list(net.state_dict()), "b": net.b}


@program
def a_node_is_called_with_what_does_not_fit(T):
    node = (T.ones(2, requires_grad=True) * 3).grad_fn
    given = [(), (T.ones(2), T.ones(2)), (1,)]
    errors = [attempt(lambda gs=gs: node(*gs)) for gs in given]
    return {f"error{i}": error for i, error in enumerate(errors)}


@program
def backward_to_some_inputs_runs_their_nodes_and_hooks(T):
    a = T.tensor(1.0, requires_grad=True)
    b = a.clone()
    log = []
    leaf = b.grad_fn.next_functions[0][0]
    for name, node in (("b", b.grad_fn), ("a", leaf)):
        node.register_prehook(lambda gs, name=name: log.append(f"before {name}"))
        node.register_hook(lambda gi, go, name=name: log.append(f"after {name}"))
    a.register_hook(lambda g: log.append("tensor a"))
    b.register_hook(lambda g: log.append("tensor b"))
    c = b * 2
    c.backward(inputs=[b], retain_graph=True)
    log.append("both")
    c.backward(inputs=[a, b], retain_graph=True)
    log.append("grad")
    T.autograd.grad(c, [a, b], retain_graph=True)
    return {"log": log, "a": a, "b_grad": b.grad}


@program
def hooks_around_an_accumulated_gradient_see_the_gradient_itself(T):
    x = T.ones(3, requires_grad=True)
    leaf = x.view_as(x).grad_fn.next_functions[0][0]

    def after_the_sum(t):
        t.grad.add_(0.5)

    def after_the_node(grad_in, grad_out):
        x.grad = grad_out[0] * 10

    x.register_hook(lambda g: g - 2)
    leaf.register_prehook(lambda gs: (gs[0] / 5,))
    x.register_post_accumulate_grad_hook(after_the_sum)
    leaf.register_hook(after_the_node)
    x.sum().backward()
    return {"x": x}
