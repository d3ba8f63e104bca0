"""The pass itself: missing gradients, passes within passes, errors in the middle, order."""

from tests.tools.recorded.programs import Family, attempt, function

program = Family(__name__)


@program
def a_function_behind_a_missing_gradient_gets_zeros(T):
    log = []

    def backward(ctx, g):
        log.append(g.tolist())
        return g

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x * 1, backward).apply(x)
    z = function(T, lambda ctx, y: y * 1, lambda ctx, g: None).apply(y)
    z.sum().backward()
    return locals()


@program
def a_function_behind_a_missing_gradient_gets_none_if_it_wants(T):
    log = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1

    def backward(ctx, g):
        log.append(g)
        return g

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, forward, backward).apply(x)
    z = function(T, lambda ctx, y: y * 1, lambda ctx, g: None).apply(y)
    z.sum().backward()
    return locals()


@program
def an_operation_behind_a_missing_gradient_gives_none(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = function(T, lambda ctx, y: y * 1, lambda ctx, g: None).apply(y)
    z.sum().backward()
    return locals()


@program
def a_hook_behind_a_missing_gradient(T):
    log = []
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    x.register_hook(lambda g: log.append(["x", g]))
    y.register_hook(lambda g: log.append(["y", g]))
    z = function(T, lambda ctx, y: y * 1, lambda ctx, g: None).apply(y)
    z.sum().backward()
    return locals()


@program
def a_retained_gradient_behind_a_missing_gradient(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = function(T, lambda ctx, y: y * 1, lambda ctx, g: None).apply(y)
    z.sum().backward()
    return locals()


@program
def autograd_grad_behind_a_missing_gradient(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    z = function(T, lambda ctx, y: y * 1, lambda ctx, g: None).apply(x * 2)
    error = attempt(lambda: T.autograd.grad(z.sum(), x, retain_graph=True))
    d_x = T.autograd.grad(z.sum(), x, allow_unused=True)
    return locals()


@program
def a_missing_and_a_present_gradient_add_up(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = function(T, lambda ctx, y: y * 1, lambda ctx, g: None).apply(y)
    (z + y * 3).sum().backward()
    return locals()


@program
def backward_inside_a_hook(T):
    w = T.tensor(3.0, requires_grad=True)
    x = T.tensor(2.0, requires_grad=True)

    def also(g):
        with T.enable_grad():
            (w * w).backward()

    x.register_hook(also)
    (x * 5).backward()
    return locals()


@program
def backward_inside_a_hook_through_the_same_leaf(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 5
    inner = x * 7

    y.register_hook(lambda g: inner.backward())
    y.backward()
    return locals()


@program
def the_gradient_is_not_there_yet_in_a_hook(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_hook(lambda g: log.append(x.grad is None))
    y = x * 3
    y.backward(retain_graph=True)
    y.backward()
    return locals()


@program
def a_hook_that_zeroes_the_gradient_of_the_leaf_itself(T):
    x = T.tensor(2.0, requires_grad=True)
    (x * 3).backward()

    def forget(g):
        x.grad = None

    x.register_hook(forget)
    (x * 5).backward()
    return locals()


@program
def an_error_in_a_hook_leaves_earlier_gradients_in_place(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)

    def refuse(g):
        raise ValueError("stop")

    y = x * 5
    y.register_hook(refuse)
    error = attempt(lambda: (y * w).backward())
    recording = T.is_grad_enabled()
    return locals()


@program
def after_an_error_in_a_hook_the_graph_is_partly_freed(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x

    def refuse(g):
        raise ValueError("stop")

    handle = y.register_hook(refuse)
    z = y * y
    errors = [attempt(z.backward)]
    handle.remove()
    errors.append(attempt(z.backward))
    fine = attempt(y.backward)
    return locals()


@program
def the_order_of_leaf_hooks_in_a_chain(T):
    log = []
    leaves = [T.tensor(float(i), requires_grad=True) for i in range(3)]
    for i, leaf in enumerate(leaves):
        leaf.register_hook(lambda g, i=i: log.append(i))
    ((leaves[0] * leaves[1]) * leaves[2]).backward()
    del leaves, leaf
    return locals()


@program
def the_order_of_leaf_hooks_of_one_node(T):
    log = []
    a, b = T.tensor(1.0, requires_grad=True), T.tensor(2.0, requires_grad=True)
    a.register_hook(lambda g: log.append("a"))
    b.register_hook(lambda g: log.append("b"))
    (a * b).backward()
    (b * a).backward()
    return locals()


@program
def a_leaf_hook_waits_for_the_last_use(T):
    log = []
    x = T.tensor(2.0, requires_grad=True)
    early = x * 3
    late = early * x
    x.register_hook(lambda g: log.append(["x", g.item()]))
    early.register_hook(lambda g: log.append(["early", g.item()]))
    late.backward()
    return locals()


@program
def the_order_of_two_roots(T):
    log = []
    x = T.tensor(2.0, requires_grad=True)
    a, b = x * 3, x * 5
    a.register_hook(lambda g: log.append("a"))
    b.register_hook(lambda g: log.append("b"))
    T.autograd.backward([a, b], retain_graph=True)
    T.autograd.backward([b, a])
    return locals()


@program
def hooks_of_several_outputs_run_in_their_order(T):
    log = []
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b, c = x.unbind()
    for name, t in {"c": c, "a": a, "b": b}.items():
        t.register_hook(lambda g, name=name: log.append(name))
    (a + b + c).backward()
    return locals()


@program
def leaf_roots_and_results_mixed(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    T.autograd.backward([x, y, x], [T.tensor(10.0), None, T.tensor(100.0)])
    return locals()


@program
def leaf_outputs_and_results_mixed_in_grad(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    (d_x,) = T.autograd.grad([x, y], x, [T.tensor(10.0), T.tensor(1.0)])
    return locals()


@program
def a_root_whose_gradient_requires_grad(T):
    x = T.tensor(2.0, requires_grad=True)
    g = T.tensor(3.0, requires_grad=True)
    (x * x).backward(g)
    return locals()


@program
def a_root_that_is_a_view_of_a_leaf(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    x[1].backward()
    return locals()


@program
def only_what_was_visited_is_freed(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    a, b = x * x, w * w
    y = a + b
    y.backward(inputs=[x])
    fine = attempt(b.backward)
    error = attempt(a.backward)
    return locals()


@program
def accumulating_into_a_gradient_that_is_expanded(T):
    x = T.ones(2, requires_grad=True)
    x.grad = T.zeros(1).expand(2)
    error = attempt(lambda: (x * 3).sum().backward())
    return locals()


@program
def accumulating_into_a_gradient_that_is_the_result_of_another_graph(T):
    x = T.ones(2, requires_grad=True)
    w = T.ones(2, requires_grad=True)
    x.grad = w * 2
    (x * 3).sum().backward()
    return locals()


@program
def accumulating_with_create_graph_into_an_assigned_gradient(T):
    x = T.ones(2, requires_grad=True)
    g = T.tensor([10.0, 20.0])
    x.grad = g
    (x * x).sum().backward(create_graph=True)
    same = x.grad is g
    return locals()


@program
def a_retained_gradient_is_added_to_an_assigned_one(T):
    x = T.ones(2, requires_grad=True)
    y = x * 3
    y.retain_grad()
    g = T.tensor([10.0, 20.0])
    y.grad = g
    y.sum().backward()
    same = y.grad is g
    return locals()


@program
def retain_grad_and_then_detach_in_place(T):
    x = T.ones(2, requires_grad=True)
    y = x * 3
    y.retain_grad()
    z = y * 2
    y.detach_()
    z.sum().backward()
    return locals()


@program
def a_wide_sum_of_one_leaf(T):
    x = T.tensor(1.0, requires_grad=True)
    log = []
    x.register_hook(lambda g: log.append(g.item()))
    sum(x * i for i in range(50)).backward()
    return locals()


@program
def a_pass_through_a_graph_that_grew_in_between(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    z = y + 1
    z.backward(retain_graph=True)
    late = y * z
    late.backward()
    return locals()


@program
def half_precision_and_double_in_one_graph(T):
    x = T.tensor([1.0, 2.0], dtype=T.float16, requires_grad=True)
    w = T.tensor([3.0, 4.0], dtype=T.float64, requires_grad=True)
    y = x * 2 + w
    y.sum().backward()
    return locals()


@program
def written_gradients_do_not_reach_the_saved_values(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    c = T.tensor([3.0, 4.0])
    y = x * c
    (d_x,) = T.autograd.grad(y.sum(), x, retain_graph=True)
    d_x.mul_(100)
    (again,) = T.autograd.grad(y, x, T.ones(2))
    values = again.tolist()
    del again
    return locals()


@program
def two_gradients_of_a_sum_written_one_after_the_other(T):
    a, b = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    d_a, d_b = T.autograd.grad((a + b).sum(), [a, b])
    values = [(d_a * 5).tolist(), (d_b * 7).tolist()]
    return {"values": values}


@program
def the_gradient_of_a_sum_can_be_written(T):
    x = T.ones(2, 3, requires_grad=True)
    (d_x,) = T.autograd.grad(x.sum(), x)
    error = attempt(lambda: d_x.clone().mul_(2))
    return {"error": error, "d_x": d_x}


@program
def passes_within_passes_go_deep(T):
    class Countdown(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.rest = x.detach().requires_grad_() if x > 0 else None
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.rest is not None:
                with T.enable_grad():
                    Countdown.apply(ctx.rest - 1).backward()
            return g

    x = T.tensor(500.0, requires_grad=True)
    Countdown.apply(x).backward()
    return {"x": x}


@program.fails
def a_pass_deep_within_others_raises(T):
    class Countdown(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.rest = x.detach().requires_grad_()
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.rest < 0:
                raise ValueError("the bottom")
            with T.enable_grad():
                Countdown.apply(ctx.rest - 1).backward()
            return g

    Countdown.apply(T.tensor(100.0, requires_grad=True)).backward()


@program
def callbacks_run_at_the_end_of_the_pass(T):
    log = []
    engine = T.autograd.Variable._execution_engine

    def backward(ctx, g):
        engine.queue_callback(lambda: log.append("end"))
        log.append("backward")
        return g

    x = T.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: log.append("leaf"))
    function(T, lambda ctx, x: x * 1, backward).apply(x * 2).sum().backward()
    outside = attempt(lambda: engine.queue_callback(lambda: None))
    return {"log": log, "outside": outside}


@program
def whether_a_pass_reaches_all_leaves(T):
    valid = T.autograd.Variable._execution_engine.is_checkpoint_valid
    log = [valid()]

    def backward(ctx, g):
        log.append(valid())
        if ctx.depth:
            with T.enable_grad():
                leaf = T.tensor([1.0], requires_grad=True)
                noting(0)(leaf).sum().backward()
        return g

    def noting(depth):
        def forward(ctx, x):
            ctx.depth = depth
            return x * 1

        return function(T, forward, backward).apply

    x = T.tensor([1.0, 2.0], requires_grad=True)
    noting(1)(x).sum().backward()
    T.autograd.grad(noting(1)(x).sum(), x)
    noting(1)(x).sum().backward(inputs=[x])
    log.append(valid())
    return {"log": log}
