"""autograd.Function: inputs written, inputs and views returned, outputs without derivative."""

from tests.tools.recorded.programs import Family, attempt, function

program = Family(__name__)


@program
def an_input_written_and_marked_dirty(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = function(T, forward, lambda ctx, g: g * 2).apply(y)
    same = z is y
    z.sum().backward()
    return locals()


@program
def a_leaf_written_and_marked_dirty_is_refused(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = T.tensor([1.0, 2.0], requires_grad=True)
    error = attempt(lambda: function(T, forward, lambda ctx, g: g * 2).apply(x))
    return locals()


@program
def a_view_written_and_marked_dirty(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    z = function(T, forward, lambda ctx, g: g * 2).apply(v)
    y.sum().backward()
    return locals()


@program
def a_constant_written_and_marked_dirty_becomes_a_result(T):
    def forward(ctx, c, x):
        ctx.mark_dirty(c)
        return c.add_(x)

    c = T.zeros(2)
    x = T.tensor([1.0, 2.0], requires_grad=True)
    z = function(T, forward, lambda ctx, g: (g, g)).apply(c, x)
    c.sum().backward()
    return locals()


@program
def a_dirty_input_that_is_not_returned(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x + 0

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    error = attempt(lambda: function(T, forward, lambda ctx, g: g * 2).apply(y))
    return locals()


@program
def an_input_marked_dirty_but_not_written(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = function(T, forward, lambda ctx, g: g * 2).apply(y)
    z.sum().backward()
    return locals()


@program
def an_input_written_without_mark(T):
    def forward(ctx, x):
        x.mul_(2)
        return x.clone()

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    before = y.grad_fn
    z = function(T, forward, lambda ctx, g: g * 2).apply(y)
    same = y.grad_fn is before
    z.sum().backward()
    return locals()


@program
def an_input_returned_as_it_is(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x, lambda ctx, g: g * 10).apply(x)
    same = y is x
    y.sum().backward()
    return locals()


@program
def a_result_returned_as_it_is(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = function(T, lambda ctx, x: x, lambda ctx, g: g * 10).apply(y)
    same = z is y
    (y * 3 + z).sum().backward()
    return locals()


@program
def an_input_returned_and_then_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = function(T, lambda ctx, x: x, lambda ctx, g: g * 10).apply(y)
    error = attempt(lambda: z.mul_(3))
    return locals()


@program
def a_constant_input_returned_as_it_is(T):
    x, c = T.tensor([1.0, 2.0], requires_grad=True), T.tensor([3.0, 4.0])
    apply = function(T, lambda ctx, x, c: c, lambda ctx, g: (g, None)).apply
    z = apply(x, c)
    same = z is c
    return locals()


@program
def one_input_returned_twice(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y, z = function(T, lambda ctx, x: (x, x), lambda ctx, g, h: g + 10 * h).apply(x)
    (y + z * 3).sum().backward()
    return locals()


@program
def one_new_tensor_returned_twice(T):
    def forward(ctx, x):
        y = x * 2
        return y, y

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y, z = function(T, forward, lambda ctx, g, h: g + 10 * h).apply(x)
    same = y is z
    error = attempt(lambda: (y + z).sum().backward())
    return locals()


@program
def a_view_of_an_input_returned(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = function(T, lambda ctx, x: x[:1], lambda ctx, g: T.cat([g * 10, T.zeros(1)])).apply(y)
    v.sum().backward()
    return locals()


@program
def a_view_of_an_input_returned_and_then_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = function(T, lambda ctx, x: x[:1], lambda ctx, g: T.cat([g * 10, T.zeros(1)])).apply(y)
    error = attempt(lambda: v.mul_(2))
    return locals()


@program
def a_view_of_an_input_returned_and_its_base_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = function(T, lambda ctx, x: x[:1], lambda ctx, g: T.cat([g * 10, T.zeros(1)])).apply(y)
    y.mul_(2)
    error = attempt(lambda: v.grad_fn)
    return locals()


@program
def several_views_of_an_input_returned_and_one_written(T):
    def forward(ctx, x):
        return x[:1], x[1:]

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v, w = function(T, forward, lambda ctx, g, h: T.cat([g, h])).apply(y)
    error = attempt(lambda: v.mul_(2))
    return locals()


@program
def a_view_of_a_leaf_returned(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    v = function(T, lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2) * 10).apply(x)
    v.sum().backward()
    return locals()


@program
def a_view_of_a_constant_returned(T):
    x, c = T.tensor([1.0, 2.0], requires_grad=True), T.tensor([3.0, 4.0])
    v = function(T, lambda ctx, x, c: c[:1], lambda ctx, g: (g.expand(2), None)).apply(x, c)
    v.sum().backward()
    return locals()


@program
def a_new_tensor_and_a_view_of_it_returned(T):
    def forward(ctx, x):
        y = x * 2
        return y, y[:1]

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y, v = function(T, forward, lambda ctx, g, h: g * 2).apply(x)
    error = attempt(lambda: y.mul_(2))
    return locals()


@program
def a_detached_input_returned(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x.detach(), lambda ctx, g: g * 10).apply(x)
    y.sum().backward()
    return locals()


@program
def an_output_marked_non_differentiable(T):
    def forward(ctx, x):
        index = x.argmax()
        ctx.mark_non_differentiable(index)
        return x * 2, index

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y, index = function(T, forward, lambda ctx, g, h: g * 2).apply(x)
    y.sum().backward()
    return locals()


@program
def a_float_output_marked_non_differentiable(T):
    def forward(ctx, x):
        rounded = x.round()
        ctx.mark_non_differentiable(rounded)
        return x * 2, rounded

    x = T.tensor([1.2, 2.0], requires_grad=True)
    y, rounded = function(T, forward, lambda ctx, g, h: g * 2).apply(x)
    error = attempt(lambda: rounded.sum().backward())
    return locals()


@program
def the_gradient_of_a_non_differentiable_output_is_zeros(T):
    log = []

    def forward(ctx, x):
        rounded = x.round()
        ctx.mark_non_differentiable(rounded)
        return x * 2, rounded

    x = T.tensor([1.2, 2.0], requires_grad=True)
    apply = function(T, forward, lambda ctx, g, h: (log.append(h.tolist()), g * 2)[1]).apply
    apply(x)[0].sum().backward()
    return locals()


@program
def an_integer_output_is_not_differentiable(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x.long(), lambda ctx, g: g).apply(x)
    return locals()


@program
def all_outputs_marked_non_differentiable(T):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, forward, lambda ctx, g: g).apply(x)
    return locals()


@program
def outputs_do_not_require_grad_if_no_input_does(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    x = T.tensor([1.0, 2.0])
    y = function(T, forward, lambda ctx, g: g).apply(x)
    return locals()


@program
def nothing_is_recorded_under_no_grad(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    log = []

    def forward(ctx, x):
        log.append([T.is_grad_enabled(), list(ctx.needs_input_grad)])
        return x * 2

    with T.no_grad():
        y = function(T, forward, lambda ctx, g: g).apply(x)
    return locals()


@program
def forward_runs_without_recording(T):
    log = []

    def forward(ctx, x):
        y = x * 2
        log.extend([T.is_grad_enabled(), y.requires_grad, x.requires_grad])
        return y

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, forward, lambda ctx, g: g).apply(x)
    return locals()


@program
def an_output_written_later(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    y.mul_(5)
    v = y[1:]
    v.add_(1)
    y.sum().backward()
    return locals()


@program
def one_of_several_outputs_written_later(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    apply = function(T, lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: 2 * g + 3 * h).apply
    y, z = apply(x)
    y.mul_(5)
    (y + z).sum().backward()
    return locals()


@program
def one_of_several_outputs_is_a_view_and_written(T):
    x = T.ones(2, requires_grad=True).clone()
    y = function(T, lambda ctx, x: (x.view_as(x), x + 1), lambda ctx, g, h: g + h).apply(x)[0]
    error = attempt(lambda: y.mul_(2))
    return {"error": error}


@program
def a_view_from_a_function_that_needed_no_gradient_is_written(T):
    y = function(T, lambda ctx, x: x.view_as(x), lambda ctx, g: g).apply(T.ones(2))
    y += 1
    wants = y.requires_grad
    error = attempt(lambda: y.add_(T.ones(2, requires_grad=True)))
    return {"wants": wants, "error": error}


@program
def the_old_name_of_saved_tensors(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, forward, lambda ctx, g: 2 * g * ctx.saved_variables[0]).apply(x)
    y.sum().backward()
    return {"x": x}


@program
def an_inplace_function_on_what_needs_no_gradient(T):
    class Add(T.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx, a, b):
            ctx.mark_dirty(a)
            return a.add_(b), b + 2

        @staticmethod
        def backward(ctx, g, h):
            return g, g + h

    x, y = T.zeros(2), T.ones(2, requires_grad=True)
    first, second = Add.apply(x, y)
    same = first is x
    first.sum().backward()
    return {"same": same, "y": y}


@program
def outputs_without_gradients_may_stay_without(T):
    log = []

    def forward(ctx, x):
        ctx._materialize_non_diff_grads = False
        doubled, constant = x * 2, x * 3
        ctx.mark_non_differentiable(constant)
        return doubled, constant

    def backward(ctx, g, none):
        log.append(none)
        return g * 2

    x = T.tensor([1.0, 2.0], requires_grad=True)
    function(T, forward, backward).apply(x)[0].sum().backward()
    return {"log": log, "x": x}
