"""autograd.Function in odd situations: dirty results saved, views saved, graphs in graphs."""

from tests.tools.recorded.programs import Family, attempt, function

program = Family(__name__)


@program
def a_dirty_input_is_saved_after_the_write(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        y = x.exp_()
        ctx.save_for_backward(y)
        return y

    x = T.tensor([0.0, 1.0], requires_grad=True)
    y = x * 1
    z = function(T, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(y)
    z.sum().backward()
    return locals()


@program
def a_dirty_input_is_saved_and_written_again_later(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        y = x.exp_()
        ctx.save_for_backward(y)
        return y

    x = T.tensor([0.0, 1.0], requires_grad=True)
    y = x * 1
    z = function(T, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(y)
    z.add_(1)
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def a_saved_view_whose_base_is_written(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = function(T, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0]).apply(y[:1])
    y.zero_()
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def a_saved_tensor_is_read_twice_in_backward(T):
    log = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        log.append(ctx.saved_tensors[0] is ctx.saved_tensors[0])
        return 2 * g * ctx.saved_tensors[0]

    x = T.tensor([1.0, 2.0], requires_grad=True)
    function(T, forward, backward).apply(x).sum().backward()
    return locals()


@program
def saved_tensors_can_be_read_after_forward(T):
    def forward(ctx, x):
        ctx.save_for_backward(x, x * 2)
        return x * x

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0]).apply(x)
    a, b = y.grad_fn.saved_tensors
    same = a is x
    return locals()


@program
def backward_writes_its_incoming_gradient(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    g = T.tensor([1.0, 1.0])
    y = function(T, lambda ctx, x: x * 1, lambda ctx, g: g.clone().mul_(10)).apply(x)
    y.backward(g)
    return locals()


@program
def backward_returns_a_saved_tensor(T):
    def forward(ctx, x, c):
        ctx.save_for_backward(c)
        return x * c

    x, c = T.tensor([1.0, 2.0], requires_grad=True), T.tensor([3.0, 4.0])
    y = function(T, forward, lambda ctx, g: (ctx.saved_tensors[0], None)).apply(x, c)
    y.sum().backward()
    x.grad.mul_(10)
    return locals()


@program
def backward_returns_one_gradient_for_two_inputs(T):
    a, b = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    y = function(T, lambda ctx, a, b: a + b, lambda ctx, g: (g, g)).apply(a, b)
    y.sum().backward()
    a.grad.mul_(10)
    return locals()


@program
def a_forward_that_returns_its_input_unchanged_under_no_grad(T):
    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        y = function(T, lambda ctx, x: x, lambda ctx, g: g).apply(x)
    same = y is x
    return locals()


@program
def a_dirty_leaf_under_no_grad(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        y = function(T, forward, lambda ctx, g: g * 2).apply(x)
    same = y is x
    return locals()


@program
def a_dirty_view_of_a_leaf_is_refused(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = T.ones(2, requires_grad=True)
    v = x[:1]
    error = attempt(lambda: function(T, forward, lambda ctx, g: g * 2).apply(v))
    return locals()


@program
def a_dirty_piece_of_a_split_is_refused(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    y = T.ones(2, requires_grad=True) * 1
    a, b = y.split(1)
    error = attempt(lambda: function(T, forward, lambda ctx, g: g * 2).apply(a))
    return locals()


@program
def two_dirty_inputs(T):
    def forward(ctx, a, b):
        ctx.mark_dirty(a, b)
        return a.mul_(2), b.mul_(3)

    x = T.ones(2, requires_grad=True)
    a, b = x * 1, x * 1
    custom = function(T, forward, lambda ctx, g, h: (g * 2, h * 3))
    c, d = custom.apply(a, b)
    same = [c is a, d is b]
    (c + d).sum().backward()
    return locals()


@program
def a_dirty_input_and_another_output(T):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x, x + 1

    x = T.ones(2, requires_grad=True)
    y = x * 1
    z, w = function(T, forward, lambda ctx, g, h: (g + h) * 2).apply(y)
    (z * 10 + w).sum().backward()
    return locals()


@program
def the_second_derivative_through_a_dirty_input(T):
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        ctx.mark_dirty(x)
        return x.mul_(x)

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x**2
    z = function(T, forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0]).apply(y)
    (d_x,) = T.autograd.grad(z.sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def once_differentiable_behind_something_that_is_differentiated_twice(T):
    @T.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2

    x = T.tensor(3.0, requires_grad=True)
    y = function(T, lambda ctx, x: x * 2, backward).apply(x)
    (d_x,) = T.autograd.grad(y**2, x, create_graph=True)
    error = attempt(d_x.backward)
    return locals()


@program
def a_backward_with_a_function_of_its_own_in_it(T):
    inner = function(T, lambda ctx, g: g * 3, lambda ctx, h: h * 3)
    x = T.tensor(2.0, requires_grad=True)
    outer = function(T, lambda ctx, x: x * 3, lambda ctx, g: inner.apply(g))
    y = outer.apply(x)
    (d_x,) = T.autograd.grad(y**2, x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x, x)
    return locals()


@program
def the_gradient_of_a_function_requires_grad_only_through_what_it_uses(T):
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w, g * x

    x, w = T.tensor(2.0, requires_grad=True), T.tensor(3.0, requires_grad=True)
    y = function(T, forward, backward).apply(x, w)
    d_x, d_w = T.autograd.grad(y, [x, w], create_graph=True)
    (d_xw,) = T.autograd.grad(d_x, w)
    return locals()


@program
def a_non_differentiable_output_in_a_second_derivative(T):
    def forward(ctx, x):
        sign = x.sign()
        ctx.mark_non_differentiable(sign)
        ctx.save_for_backward(sign)
        return x * sign, sign

    x = T.tensor([-1.0, 2.0], requires_grad=True)
    y, sign = function(T, forward, lambda ctx, g, _: g * ctx.saved_tensors[0]).apply(x)
    (d_x,) = T.autograd.grad((y**3).sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def an_integer_input_gets_no_gradient(T):
    x, index = T.tensor([1.0, 2.0], requires_grad=True), T.tensor([1, 0])
    custom = function(T, lambda ctx, x, i: x[i], lambda ctx, g: (g.flip(0), None))
    y = custom.apply(x, index)
    y.backward(T.tensor([1.0, 10.0]))
    return locals()


@program
def a_gradient_for_an_integer_input_is_ignored(T):
    x, index = T.tensor([1.0, 2.0], requires_grad=True), T.tensor([1, 0])
    custom = function(T, lambda ctx, x, i: x[i], lambda ctx, g: (g.flip(0), g))
    y = custom.apply(x, index)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def an_empty_tensor_goes_through_a_function(T):
    x = T.zeros(0, 3, requires_grad=True)
    y = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    y.sum().backward()
    return locals()


@program
def a_strided_input_goes_through_a_function(T):
    log = []

    def forward(ctx, x):
        log.append([list(x.stride()), x.is_contiguous()])
        return x * 2

    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = function(T, forward, lambda ctx, g: g * 2).apply(x.t())
    (y * T.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    return locals()


@program
def inputs_inside_forward_keep_their_flags_but_results_do_not(T):
    log = []

    def forward(ctx, x, y):
        log.extend([x.requires_grad, x.is_leaf, y.requires_grad, y.is_leaf, (x * y).requires_grad])
        return x * y

    x = T.ones(2, requires_grad=True)
    y = x * 2
    function(T, forward, lambda ctx, g: (g, g)).apply(x, y)
    return locals()


@program
def the_arguments_of_forward_are_the_tensors_themselves(T):
    log = []
    x = T.ones(2, requires_grad=True)

    def forward(ctx, y):
        log.append(y is x)
        return y * 1

    function(T, forward, lambda ctx, g: g).apply(x)
    return locals()


@program
def a_function_called_many_times_in_one_graph(T):
    double = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    x = T.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(5):
        y = double.apply(y)
    y.backward()
    return locals()


@program
def needs_input_grad_in_setup_context(T):
    log = []

    def setup(ctx, inputs, output):
        log.append(list(ctx.needs_input_grad))

    x, c = T.tensor(2.0, requires_grad=True), T.tensor(3.0)
    custom = function(T, lambda a, b: a * b, lambda ctx, g: (g * 3, None), setup_context=setup)
    custom.apply(x, c).backward()
    return locals()


@program
def mark_dirty_in_setup_context(T):
    def setup(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])

    x = T.ones(2, requires_grad=True)
    y = x * 1
    custom = function(T, lambda x: x.mul_(2), lambda ctx, g: g * 2, setup_context=setup)
    z = custom.apply(y)
    same = z is y
    z.sum().backward()
    return locals()


@program
def retain_graph_keeps_the_saved_tensors_of_a_function(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    x = T.tensor(3.0, requires_grad=True)
    y = function(T, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0]).apply(x)
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    return locals()
