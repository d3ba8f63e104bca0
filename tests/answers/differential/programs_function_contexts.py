"""autograd.Function: setup_context, once_differentiable, create_graph, hooks, and odd uses."""

import copy

from tests.tools.recorded.programs import Family, attempt, function

program = Family(__name__)


@program
def setup_context_is_called_after_forward(T):
    log = []

    def setup(ctx, inputs, output):
        log.append([len(inputs), inputs[1], output is not inputs[0]])
        ctx.save_for_backward(inputs[0])

    x = T.tensor(2.0, requires_grad=True)
    square = function(
        T,
        lambda x, k: x * x,
        lambda ctx, g: (2 * g * ctx.saved_tensors[0], None),
        setup_context=setup,
    )
    square.apply(x, 5).backward()
    return locals()


@program
def a_subclass_that_forward_returns_as_it_is(T):
    class Marked(T.Tensor):
        pass

    same = function(T, lambda ctx, x: x, lambda ctx, g: g)
    x = T.ones(2).as_subclass(Marked)
    found = [type(same.apply(t)).__name__ for t in (x, x.requires_grad_())]
    return {"classes": found, "parameter": type(same.apply(T.nn.Parameter(T.ones(2)))).__name__}


@program
def the_edges_of_a_gradient_that_is_differentiable_once(T):
    once = T.autograd.function.once_differentiable
    product = function(
        T,
        lambda ctx, x, number, y: (ctx.save_for_backward(x, y), x * y * number)[1],
        once(lambda ctx, g: (g * ctx.saved_tensors[1], None, g * ctx.saved_tensors[0])),
    )
    x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    g = T.ones(2, requires_grad=True)
    (slope,) = T.autograd.grad(product.apply(x, 2, y), x, g, create_graph=True)
    edges = [(node and node.name(), number) for node, number in slope.grad_fn.next_functions]
    return {"edges": edges, "error": attempt(slope.sum().backward)}


@program
def setup_context_saves_the_output(T):
    def setup(ctx, inputs, output):
        ctx.save_for_backward(output)

    x = T.tensor(1.0, requires_grad=True)
    exp = function(
        T, lambda x: x.exp(), lambda ctx, g: g * ctx.saved_tensors[0], setup_context=setup
    )
    y = exp.apply(x)
    y.backward()
    return locals()


@program
def setup_context_gets_several_outputs_as_a_tuple(T):
    log = []

    def setup(ctx, inputs, outputs):
        log.append([isinstance(outputs, tuple), len(outputs)])
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(outputs[1])

    x = T.tensor(2.0, requires_grad=True)
    custom = function(
        T,
        lambda x: (x * 2, x * 3),
        lambda ctx, g, h: g * 2 if h is None else h,
        setup_context=setup,
    )
    y, z = custom.apply(x)
    y.backward()
    return locals()


@program
def a_forward_with_context_and_a_setup_context_is_refused(T):
    x = T.tensor(2.0, requires_grad=True)
    apply = function(
        T, lambda ctx, x: x * 1, lambda ctx, g: g, setup_context=lambda ctx, i, o: None
    ).apply
    error = attempt(lambda: apply(x))
    return locals()


@program
def no_forward_is_refused(T):
    class Empty(T.autograd.Function):
        pass

    x = T.tensor(2.0, requires_grad=True)
    error = attempt(lambda: Empty.apply(x))
    return locals()


@program
def no_backward_is_refused_in_backward(T):
    x = T.tensor(2.0, requires_grad=True)
    y = function(T, lambda ctx, x: x * 1).apply(x)
    error = attempt(y.backward)
    return locals()


@program
def calling_an_instance_is_refused(T):
    custom = function(T, lambda ctx, x: x * 1, lambda ctx, g: g)
    x = T.tensor(2.0, requires_grad=True)
    error = attempt(lambda: custom()(x))
    return locals()


@program
def keyword_arguments_of_apply(T):
    custom = function(T, lambda ctx, x, w: x * w, lambda ctx, g: (g * 10, g * 20))
    x, w = T.tensor(2.0, requires_grad=True), T.tensor(3.0, requires_grad=True)
    y = custom.apply(x, w=w)
    y.backward()
    return locals()


@program
def vjp_is_another_name_for_backward(T):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    x = T.tensor(3.0, requires_grad=True)
    Double.apply(x).backward()
    return locals()


@program
def the_name_of_the_node_comes_from_the_class(T):
    class Special(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x = T.tensor(3.0, requires_grad=True)
    y = Special.apply(x)
    name, type_name = y.grad_fn.name(), type(y.grad_fn).__name__
    return locals()


@program
def the_context_is_the_node(T):
    kept = []

    def forward(ctx, x):
        kept.append(ctx)
        ctx.note = "kept"
        return x * 2

    x = T.tensor(3.0, requires_grad=True)
    y = function(T, forward, lambda ctx, g: g * 2).apply(x)
    same, note = kept[0] is y.grad_fn, y.grad_fn.note
    kept.clear()
    return locals()


@program
def the_edges_of_a_custom_node(T):
    x, c = T.tensor(2.0, requires_grad=True), T.tensor(3.0)
    y = function(T, lambda ctx, a, b, k: a * b, lambda ctx, g: (g, g, None)).apply(x, c, 5)
    edges = [(after and after.name(), n) for after, n in y.grad_fn.next_functions]
    return locals()


@program
def a_hook_on_a_custom_node(T):
    x = T.tensor(2.0, requires_grad=True)
    y = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    log = []
    y.grad_fn.register_hook(lambda inner, outer: log.append([inner, outer]))
    y.grad_fn.register_prehook(lambda outer: (outer[0] * 10,))
    y.backward()
    return locals()


@program
def a_backward_made_of_operations_can_be_differentiated(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    x = T.tensor(2.0, requires_grad=True)
    y = function(T, forward, lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2).apply(x)
    (d_1,) = T.autograd.grad(y, x, create_graph=True)
    (d_2,) = T.autograd.grad(d_1, x, create_graph=True)
    (d_3,) = T.autograd.grad(d_2, x)
    return locals()


@program
def a_backward_that_uses_a_saved_output_can_be_differentiated(T):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    x = T.tensor(1.0, requires_grad=True)
    y = function(T, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    (d_1,) = T.autograd.grad(y, x, create_graph=True)
    (d_2,) = T.autograd.grad(d_1, x)
    return locals()


@program
def a_saved_intermediate_value_is_a_constant_in_the_second_derivative(T):
    def forward(ctx, x):
        ctx.save_for_backward(x.cos())
        return x.sin()

    x = T.tensor(1.0, requires_grad=True)
    y = function(T, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    (d_1,) = T.autograd.grad(y, x, create_graph=True)
    error = attempt(lambda: T.autograd.grad(d_1, x))
    return locals()


@program
def a_value_on_ctx_is_a_constant_in_the_second_derivative_or_leaks(T):
    def forward(ctx, x):
        ctx.x = x
        return x**3

    x = T.tensor(2.0, requires_grad=True)
    y = function(T, forward, lambda ctx, g: g * 3 * ctx.x**2).apply(x)
    (d_1,) = T.autograd.grad(y, x, create_graph=True)
    (d_2,) = T.autograd.grad(d_1, x)
    return locals()


@program
def grad_mode_in_backward_follows_create_graph(T):
    log = []

    def backward(ctx, g):
        log.append([T.is_grad_enabled(), g.requires_grad])
        return g * 2

    x = T.tensor(2.0, requires_grad=True)
    apply = function(T, lambda ctx, x: x * 2, backward).apply
    apply(x).backward()
    T.autograd.grad(apply(x), x, create_graph=True)
    w = T.tensor(1.0, requires_grad=True)
    T.autograd.grad(apply(x), x, w, create_graph=True)
    return locals()


@program
def once_differentiable_refuses_a_second_derivative(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @T.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 3 * ctx.saved_tensors[0] ** 2

    x = T.tensor(2.0, requires_grad=True)
    y = function(T, forward, backward).apply(x)
    (d_1,) = T.autograd.grad(y, x, create_graph=True)
    error = attempt(lambda: T.autograd.grad(d_1, x))
    return locals()


@program
def once_differentiable_runs_without_recording(T):
    log = []

    @T.autograd.function.once_differentiable
    def backward(ctx, g):
        log.append([T.is_grad_enabled(), g.requires_grad])
        return g * 2

    x = T.tensor(2.0, requires_grad=True)
    y = function(T, lambda ctx, x: x * 2, backward).apply(x)
    y.backward()
    return locals()


@program
def once_differentiable_without_a_graph_returns_plain_gradients(T):
    @T.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2, None

    x = T.tensor(2.0, requires_grad=True)
    y = function(T, lambda ctx, x, k: x * 2, backward).apply(x, 1)
    (d_1,) = T.autograd.grad(y, x, retain_graph=True)
    return locals()


@program
def a_function_inside_a_function(T):
    inner = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    outer = function(T, lambda ctx, x: inner.apply(x) + 1, lambda ctx, g: g * 50)
    x = T.tensor(2.0, requires_grad=True)
    outer.apply(x).backward()
    return locals()


@program
def autograd_inside_forward(T):
    def forward(ctx, x):
        with T.enable_grad():
            y = x.detach().requires_grad_()
            (d_y,) = T.autograd.grad(y**3, y)
        ctx.save_for_backward(d_y)
        return x**3

    x = T.tensor(2.0, requires_grad=True)
    function(T, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x).backward()
    return locals()


@program
def backward_inside_backward(T):
    w = T.tensor(5.0, requires_grad=True)

    def backward(ctx, g):
        with T.enable_grad():
            (w * w).backward()
        return g * 2

    x = T.tensor(2.0, requires_grad=True)
    function(T, lambda ctx, x: x * 2, backward).apply(x).backward()
    return locals()


@program
def an_error_in_backward_comes_out_as_it_is(T):
    def backward(ctx, g):
        raise KeyError("missing")

    x = T.tensor(2.0, requires_grad=True)
    y = function(T, lambda ctx, x: x * 2, backward).apply(x)
    error = attempt(y.backward)
    return locals()


@program
def an_error_in_forward_leaves_grad_mode_as_it_was(T):
    def forward(ctx, x):
        raise KeyError("missing")

    x = T.tensor(2.0, requires_grad=True)
    error = attempt(lambda: function(T, forward, lambda ctx, g: g).apply(x))
    recording = T.is_grad_enabled()
    return locals()


@program
def the_same_tensor_twice_as_argument(T):
    x = T.tensor(2.0, requires_grad=True)
    y = function(T, lambda ctx, a, b: a * b, lambda ctx, g: (g * 10, g * 1)).apply(x, x)
    y.backward()
    return locals()


@program
def a_tensor_inside_a_list_is_not_tracked(T):
    x, w = T.tensor(2.0, requires_grad=True), T.tensor(3.0, requires_grad=True)
    apply = function(T, lambda ctx, a, others: a * others[0], lambda ctx, g: (g, None)).apply
    y = apply(x, [w])
    y.backward()
    return locals()


@program
def a_custom_result_cannot_be_copied_deeply(T):
    x = T.tensor(2.0, requires_grad=True)
    y = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    error = attempt(lambda: copy.deepcopy(y))
    return locals()


@program
def a_straight_through_estimator(T):
    x = T.tensor([0.3, 1.7], requires_grad=True)
    y = function(T, lambda ctx, x: x.round(), lambda ctx, g: g.clone()).apply(x)
    (y * T.tensor([2.0, 3.0])).sum().backward()
    return locals()


@program
def a_gradient_reversed(T):
    x = T.tensor([0.3, 1.7], requires_grad=True)
    y = function(T, lambda ctx, x: x.view_as(x), lambda ctx, g: -g).apply(x)
    (y * y).sum().backward()
    return locals()


@program
def backward_returns_the_incoming_gradient_itself(T):
    w = T.ones(2)
    x = T.tensor([0.3, 1.7], requires_grad=True)
    y = function(T, lambda ctx, x: x * 1, lambda ctx, g: g).apply(x)
    y.backward(w)
    same = x.grad is w
    x.grad.add_(1)
    return locals()


@program
def once_differentiable_gives_an_error_node(T):
    @T.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2

    x = T.tensor([1.0, 2.0], requires_grad=True)
    v = T.ones(2, requires_grad=True)
    y = function(T, lambda ctx, x: x * 2, backward).apply(x)
    (d,) = T.autograd.grad(y, x, v, create_graph=True)
    return {"node": type(d.grad_fn).__name__, "inputs": len(d.grad_fn.next_functions)}
