"""What calls take, and what they refuse: numbers, results, empty lists, other modes."""

from tests.tools.recorded.programs import Family, attempt, function

program = Family(__name__)


@program
def two_numbers_are_added_as_tensors_would_be(T):
    sums = [T.add(True, True), T.add(2, 3), T.add(2.5, 2), T.add(True, 2)]
    others = [T.sub(2, 3), T.mul(2, 0.5), T.mul(True, False), T.div(2, 4), T.floor_divide(7, 2)]
    dtypes = [str(t.dtype).split(".")[1] for t in sums + others]
    first, second, third, fourth = sums
    a, b, c, d, e = others
    return locals()


@program.fails
def two_bools_are_not_subtracted(T):
    T.sub(True, True)


@program
def most_functions_take_no_two_numbers(T):
    errors = [attempt(lambda f=f: f(2, 3)) for f in (T.maximum, T.atan2)]
    kinds = [type(e).__name__ for e in errors]
    return {"kinds": kinds}


@program
def sums_are_computed_in_the_dtype_of_out(T):
    x = T.tensor([[0.75, 0.75], [1.75, 2.0]])
    whole = T.sum(x, 0, out=T.empty(2, dtype=T.int64))
    wide = T.sum(x, 0, out=T.empty(2, dtype=T.float64))
    narrow = T.sum(T.tensor([[1, 2], [3, 4]]), 0, out=T.empty(2, dtype=T.int32))
    product = T.prod(x, 0, out=T.empty(2, dtype=T.int64))
    running = T.cumsum(x, 0, out=T.empty(2, 2, dtype=T.int64))
    factors = T.cumprod(x, 0, out=T.empty(2, 2, dtype=T.int64))
    error = attempt(lambda: T.sum(x, 0, dtype=T.float64, out=T.empty(2)))
    return locals()


@program
def a_sum_of_everything_takes_no_out(T):
    x = T.ones(2, 3)
    errors = [attempt(lambda f=f: f(x, out=T.empty(()))) for f in (T.sum, T.prod)]
    kinds = [type(e).__name__ for e in errors]
    mean = T.mean(x, out=T.empty(()))
    return {"kinds": kinds, "mean": mean}


@program.fails
def gradients_with_respect_to_nothing(T):
    x = T.ones(1, requires_grad=True)
    T.autograd.grad(x * 2, [], grad_outputs=T.ones(1))


@program
def numpy_of_a_leaf_under_no_grad(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.no_grad():
        values = x.numpy().tolist()
    error = attempt(x.numpy)
    return locals()


@program
def a_resize_to_the_same_shape_counts_no_write(T):
    x = T.tensor([1.0, 2.0, 3.0])
    x.resize_((3,))
    x.resize_as_(T.zeros(3))
    same = x._version
    x.resize_((1, 2))
    return locals()


@program
def an_inference_tensor_that_requires_grad_is_resized(T):
    with T.inference_mode():
        x = T.ones(1, 2, 3, requires_grad=True)
        x.resize_(1, 2)
        y = T.ones(2, requires_grad=True).resize_as_(T.ones(1, 2))
        shapes = [list(x.shape), list(y.shape)]
    return {"shapes": shapes, "flags": [x.requires_grad, x.is_inference()]}


@program
def a_view_of_an_inference_tensor_outside_is_a_leaf(T):
    with T.inference_mode():
        x = T.ones(1, 2, requires_grad=True)
    v = x.view(-1)
    parts = x.unbind(1)
    seen = [[t.is_leaf, t.requires_grad, t._is_view(), t.grad_fn is None] for t in (v, *parts)]
    return {"seen": seen}


@program
def out_of_inference_mode_with_inputs_that_require_grad(T):
    with T.inference_mode():
        made = T.ones(2)
    x = T.ones(2, requires_grad=True)
    error = attempt(lambda: T.mul(x, x, out=made))
    return {"error": error}


@program
def gradients_lie_in_the_order_of_their_leaf(T):
    x = T.ones(2, 3, 4, 5).to(memory_format=T.channels_last).requires_grad_()
    x.sum().backward()
    broadcast = x.grad.stride()
    x.grad = None
    (x * x).sum().backward()
    product = x.grad.stride()
    w = T.ones(3, 2).t().requires_grad_()
    w.sum().backward()
    transposed = w.grad.stride()
    return {"broadcast": broadcast, "product": product, "transposed": transposed}


@program
def a_function_writes_a_view(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y[:1]

    def forward(ctx, v):
        ctx.mark_dirty(v)
        return v.mul_(2)

    z = function(T, forward, lambda ctx, g: g * 2).apply(v)
    z.sum().backward()
    history = type(z.grad_fn.next_functions[0][0]).__name__
    return {"d_x": x.grad, "history": history, "same": z is v, "values": y.detach()}


@program
def a_function_writes_a_view_beside_another_input(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    b = T.tensor(3.0, requires_grad=True)
    y = x * 1
    v = y[1:]

    def forward(ctx, v, b):
        ctx.mark_dirty(v)
        ctx.save_for_backward(b)
        return v.mul_(b)

    z = function(T, forward, lambda ctx, g: (g * ctx.saved_tensors[0], None)).apply(v, b)
    (z.sum() + y.sum()).backward()
    return {"d_x": x.grad, "b": b.grad}


@program
def results_that_are_no_tensors_have_no_gradient(T):
    log = []

    def forward(ctx, x):
        return x.clone(), None, 3, "text", x.long(), x.clone()

    def backward(ctx, *grads):
        log.extend(None if g is None else g.tolist() for g in grads)
        return grads[0]

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, forward, backward).apply(x)[0]
    y.sum().backward()
    return locals()
