"""autograd.Function: saving, several outputs, what backward gets and what it may return."""

from tests.tools.recorded.programs import Family, attempt, function

program = Family(__name__)


@program
def a_class_of_ones_own(T):
    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = Cube.apply(x)
    y.sum().backward()
    return locals()


@program
def a_saved_output(T):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    x = T.tensor([0.0, 1.0], requires_grad=True)
    y = function(T, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    y.sum().backward()
    return locals()


@program
def a_saved_tensor_that_is_neither_input_nor_output(T):
    def forward(ctx, x):
        ctx.save_for_backward(x.cos())
        return x.sin()

    x = T.tensor([0.0, 1.0], requires_grad=True)
    y = function(T, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    y.sum().backward()
    return locals()


@program
def a_saved_input_that_is_written_is_refused(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    x = T.tensor([1.0, 2.0], requires_grad=True)
    z = x * 1
    y = function(T, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0]).apply(z)
    z.add_(1)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_saved_output_that_is_written_is_refused(T):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    y.add_(1)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def saved_tensors_are_freed_after_backward(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0]).apply(x).sum()
    y.backward()
    error = attempt(y.backward)
    return locals()


@program
def a_graph_without_saved_tensors_can_be_used_twice(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    y.backward(T.ones(2))
    error = attempt(lambda: y.backward(T.ones(2)))
    return locals()


@program
def none_may_be_saved(T):
    log = []

    def forward(ctx, x):
        ctx.save_for_backward(None, x)
        return x * 1

    def backward(ctx, g):
        log.extend([ctx.saved_tensors[0], len(ctx.saved_tensors)])
        return g

    x = T.tensor(1.0, requires_grad=True)
    function(T, forward, backward).apply(x).backward()
    return locals()


@program
def saving_what_is_no_tensor_is_refused(T):
    def forward(ctx, x):
        ctx.save_for_backward(x, 5)
        return x * 1

    x = T.tensor(1.0, requires_grad=True)
    error = attempt(lambda: function(T, forward, lambda ctx, g: g).apply(x))
    return locals()


@program
def saving_twice_keeps_the_last(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 10)
        return x * 1

    x = T.tensor(2.0, requires_grad=True)
    function(T, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x).backward()
    return locals()


@program
def the_saved_tensor_is_the_leaf_itself_or_a_stand_in(T):
    log = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    def backward(ctx, g):
        (saved,) = ctx.saved_tensors
        log.extend([saved.is_leaf, saved.requires_grad, saved.grad_fn is None, saved._version])
        return g

    x = T.tensor(2.0, requires_grad=True)
    function(T, forward, backward).apply(x).backward()
    return locals()


@program
def attributes_of_ctx_reach_backward(T):
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    x = T.tensor(2.0, requires_grad=True)
    y = function(T, forward, lambda ctx, g: (g * ctx.factor, None)).apply(x, 5)
    y.backward()
    return locals()


@program
def arguments_that_are_no_tensors(T):
    log = []

    def forward(ctx, x, text, numbers, nothing):
        log.extend([text, numbers, nothing])
        return x * 1

    x = T.tensor(2.0, requires_grad=True)
    apply = function(T, forward, lambda ctx, g: (g, None, None, None)).apply
    apply(x, "text", [1, 2], None).backward()
    return locals()


@program
def needs_input_grad_has_one_bool_per_argument(T):
    log = []

    def forward(ctx, *args):
        log.append(list(ctx.needs_input_grad))
        return args[0] * args[1]

    x, c = T.tensor(2.0, requires_grad=True), T.tensor(3.0)
    apply = function(T, forward, lambda ctx, g: (g, g, None)).apply
    apply(x, c, 5)
    apply(c, x, "a")
    apply(x, x, None)
    return locals()


@program
def needs_input_grad_in_backward(T):
    log = []

    def backward(ctx, g):
        log.append(list(ctx.needs_input_grad))
        return g, None

    x, c = T.tensor(2.0, requires_grad=True), T.tensor(3.0)
    function(T, lambda ctx, a, b: a * b, backward).apply(x, c).backward()
    return locals()


@program
def several_outputs(T):
    x = T.tensor(2.0, requires_grad=True)
    apply = function(T, lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: 2 * g + 3 * h).apply
    a, b = apply(x)
    (a * 10 + b).backward()
    return locals()


@program
def an_unused_output_gives_backward_zeros(T):
    log = []

    def backward(ctx, g, h):
        log.extend([g.tolist(), h.tolist()])
        return 2 * g + 3 * h

    x = T.tensor([2.0, 3.0], requires_grad=True)
    a, b = function(T, lambda ctx, x: (x * 2, x * 3), backward).apply(x)
    b.sum().backward()
    return locals()


@program
def an_unused_output_gives_backward_none_without_materialization(T):
    log = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, g, h):
        log.extend([g, h.tolist()])
        return 3 * h

    x = T.tensor([2.0, 3.0], requires_grad=True)
    function(T, forward, backward).apply(x)[1].sum().backward()
    return locals()


@program
def an_output_of_one_element_in_a_tuple_stays_a_tuple(T):
    x = T.tensor(2.0, requires_grad=True)
    out = function(T, lambda ctx, x: (x * 2,), lambda ctx, g: g * 2).apply(x)
    is_tuple = isinstance(out, tuple)
    out[0].backward()
    return locals()


@program
def outputs_that_are_no_tensors_pass_through(T):
    x = T.tensor(2.0, requires_grad=True)
    apply = function(T, lambda ctx, x: (x * 2, 5, None, "a"), lambda ctx, g, *rest: g * 2).apply
    out = apply(x)
    out[0].backward()
    return locals()


@program
def a_forward_that_returns_no_tensor_at_all(T):
    x = T.tensor(2.0, requires_grad=True)
    error = attempt(lambda: function(T, lambda ctx, x: 5, lambda ctx, g: g).apply(x))
    return locals()


@program
def a_list_is_no_tuple_of_outputs(T):
    x = T.tensor(2.0, requires_grad=True)
    error = attempt(lambda: function(T, lambda ctx, x: [x * 1], lambda ctx, g: g).apply(x))
    return locals()


@program
def too_few_gradients_are_refused(T):
    x, w = T.tensor(2.0, requires_grad=True), T.tensor(3.0, requires_grad=True)
    y = function(T, lambda ctx, a, b: a * b, lambda ctx, g: g).apply(x, w)
    error = attempt(y.backward)
    return locals()


@program
def too_many_gradients_are_refused(T):
    x = T.tensor(2.0, requires_grad=True)
    y = function(T, lambda ctx, x: x * 1, lambda ctx, g: (g, g)).apply(x)
    error = attempt(y.backward)
    return locals()


@program
def too_many_gradients_that_are_none_are_allowed(T):
    x = T.tensor(2.0, requires_grad=True)
    y = function(T, lambda ctx, x: x * 1, lambda ctx, g: (g, None, None)).apply(x)
    y.backward()
    return locals()


@program
def a_gradient_of_a_wrong_shape_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x * 1, lambda ctx, g: T.ones(3)).apply(x)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_gradient_that_can_be_summed_to_the_shape_is_summed(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x * 1, lambda ctx, g: T.ones(3, 2)).apply(x)
    y.sum().backward()
    return locals()


@program
def a_gradient_that_would_have_to_be_expanded_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x * 1, lambda ctx, g: T.ones(1)).apply(x)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_gradient_of_another_dtype_is_cast(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x * 1, lambda ctx, g: g.double() * 3).apply(x)
    y.sum().backward()
    return locals()


@program
def a_gradient_that_is_no_tensor_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x * 1, lambda ctx, g: 5.0).apply(x)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_gradient_for_what_is_no_tensor_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x, k: x * k, lambda ctx, g: (g, g)).apply(x, 3)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_gradient_for_a_constant_is_ignored(T):
    x, c = T.tensor(2.0, requires_grad=True), T.tensor(3.0)
    y = function(T, lambda ctx, a, b: a * b, lambda ctx, g: (g * 3, g * 2)).apply(x, c)
    y.backward()
    return locals()


@program
def none_as_gradient_means_no_gradient(T):
    x, w = T.tensor(2.0, requires_grad=True), T.tensor(3.0, requires_grad=True)
    y = function(T, lambda ctx, a, b: a * b, lambda ctx, g: (None, g)).apply(x, w)
    y.backward()
    return locals()
