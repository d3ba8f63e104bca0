"""autograd.grad: inputs, unused inputs, gradients given, and what it leaves alone."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def grad_returns_a_tuple_and_leaves_the_leaves_alone(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    d_x = T.autograd.grad(y, x)
    is_tuple = isinstance(d_x, tuple)
    return locals()


@program
def grad_by_several_inputs_in_their_order(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    d_w, d_x = T.autograd.grad(x * w, [w, x])
    return locals()


@program
def grad_by_the_same_input_twice(T):
    x = T.tensor(2.0, requires_grad=True)
    d_a, d_b = T.autograd.grad(x * x, [x, x])
    return locals()


@program
def grad_by_a_result(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    z = y * y
    d_y, d_x = T.autograd.grad(z, [y, x])
    return locals()


@program
def grad_by_the_output_itself(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    (d_y,) = T.autograd.grad(y, y)
    return locals()


@program
def grad_by_a_leaf_of_itself(T):
    x = T.tensor(2.0, requires_grad=True)
    (d_x,) = T.autograd.grad(x, x)
    return locals()


@program
def grad_by_one_of_several_outputs(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b = x.split(2)
    z = (a.sum() * b.sum()) * 2
    d_a, d_b = T.autograd.grad(z, [a, b])
    return locals()


@program
def grad_by_a_view(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    v = x[1:]
    z = (v * v).sum() + x.sum()
    d_v, d_x = T.autograd.grad(z, [v, x])
    return locals()


@program
def grad_by_a_tensor_that_was_written_later(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    z = y + 1
    y.mul_(2)
    error = attempt(lambda: T.autograd.grad(z.sum(), y))
    return locals()


@program
def grad_by_a_tensor_that_was_written_before(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.mul_(2)
    (d_y,) = T.autograd.grad((y * y).sum(), y)
    return locals()


@program
def grad_by_a_base_whose_view_was_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y[0].mul_(2)
    (d_y,) = T.autograd.grad((y * y).sum(), y)
    return locals()


@program
def an_unused_input_is_refused(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    y = x * x
    error = attempt(lambda: T.autograd.grad(y, [x, w]))
    return locals()


@program
def an_unused_input_is_none_if_allowed(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    d_both = T.autograd.grad(x * x, [x, w], allow_unused=True)
    return locals()


@program
def an_unused_input_is_zeros_if_materialized(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor([3.0, 4.0], dtype=T.float64, requires_grad=True)
    d_both = T.autograd.grad(x * x, [x, w], materialize_grads=True)
    return locals()


@program
def zeros_for_unused_inputs_with_create_graph(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    d_both = T.autograd.grad(x * x, [x, w], materialize_grads=True, create_graph=True)
    return locals()


@program
def materialized_and_not_allowed_is_refused(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    error = attempt(
        lambda: T.autograd.grad(y, x, materialize_grads=True, allow_unused=False)
    )  # fmt: skip
    return locals()


@program
def an_input_without_grad_is_refused(T):
    x, c = T.tensor(2.0, requires_grad=True), T.tensor(3.0)
    y = x * c
    errors = [attempt(lambda: T.autograd.grad(y, c, retain_graph=True))]
    errors.append(attempt(lambda: T.autograd.grad(y, c, allow_unused=True)))
    return locals()


@program
def an_output_without_grad_is_refused(T):
    x, c = T.tensor(2.0, requires_grad=True), T.tensor(3.0)
    error = attempt(lambda: T.autograd.grad(c * 2, x))
    return locals()


@program
def a_result_of_the_input_is_not_the_input(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    error = attempt(lambda: T.autograd.grad(y, x[0]))
    return locals()


@program
def gradients_of_outputs(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    (d_x,) = T.autograd.grad(y, x, T.tensor([1.0, 10.0]))
    return locals()


@program
def gradients_of_several_outputs(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y, z = x * x, (x * 3).sum()
    (d_x,) = T.autograd.grad([y, z], x, [T.tensor([1.0, 10.0]), None])
    return locals()


@program
def the_gradient_of_a_vector_must_be_given(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    error = attempt(lambda: T.autograd.grad(x * x, x))
    return locals()


@program
def a_gradient_of_a_wrong_shape_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    error = attempt(lambda: T.autograd.grad(x * x, x, T.ones(3)))
    return locals()


@program
def too_many_gradients_are_refused(T):
    x = T.tensor(1.0, requires_grad=True)
    y = x * x
    error = attempt(lambda: T.autograd.grad(y, x, [T.tensor(1.0), T.tensor(1.0)]))
    return locals()


@program
def grad_frees_the_graph(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    T.autograd.grad(y, x)
    error = attempt(lambda: T.autograd.grad(y, x))
    return locals()


@program
def grad_with_retain_graph_keeps_it(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    d_a = T.autograd.grad(y, x, retain_graph=True)
    d_b = T.autograd.grad(y, x)
    return locals()


@program
def create_graph_keeps_the_graph(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    d_a = T.autograd.grad(y, x, create_graph=True)
    d_b = T.autograd.grad(y, x)
    return locals()


@program
def create_graph_without_retain_graph_frees_it(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    (d_1,) = T.autograd.grad(y, x, create_graph=True, retain_graph=False)
    error = attempt(lambda: T.autograd.grad(y, x))
    return locals()


@program
def grad_leaves_the_parts_that_are_off_its_path_alone(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    a, b = x * x, w * w
    y = a * b
    T.autograd.grad(y, a, retain_graph=True)
    (d_w,) = T.autograd.grad(b, w)
    return locals()


@program
def grad_does_not_free_what_it_did_not_visit(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    z = y + 1
    T.autograd.grad(z, y)
    z_again = attempt(lambda: y.backward())
    return locals()


@program
def grad_keeps_a_retained_gradient_alone(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.retain_grad()
    (d_x,) = T.autograd.grad(y * y, x)
    return locals()


@program
def the_found_gradient_of_a_linear_function_does_not_require_grad(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    (d_1,) = T.autograd.grad((x * 3).sum(), x, create_graph=True)
    error = attempt(lambda: T.autograd.grad(d_1.sum(), x))
    return locals()


@program
def outputs_that_are_no_tensors_are_refused(T):
    x = T.tensor(1.0, requires_grad=True)
    error = attempt(lambda: T.autograd.grad(5.0, x))
    return locals()


@program
def the_same_output_twice(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    (d_x,) = T.autograd.grad([y, y], x)
    return locals()


@program
def the_gradient_given_may_be_the_result_itself(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    g = T.tensor([3.0, 4.0])
    y = x + 0
    (d_x,) = T.autograd.grad(y, x, g)
    return locals()


@program
def batched_gradients(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    (d_x,) = T.autograd.grad(y, x, T.eye(2), is_grads_batched=True)
    return locals()
