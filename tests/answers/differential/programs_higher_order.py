"""Second and third derivatives: through products, writes, views, indices, and mixed passes."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def the_derivatives_of_a_power(T):
    x = T.tensor(2.0, requires_grad=True)
    (d_1,) = T.autograd.grad(x**4, x, create_graph=True)
    (d_2,) = T.autograd.grad(d_1, x, create_graph=True)
    (d_3,) = T.autograd.grad(d_2, x, create_graph=True)
    (d_4,) = T.autograd.grad(d_3, x, create_graph=True)
    values = [d_1.item(), d_2.item(), d_3.item(), d_4.item()]
    del d_1, d_2, d_3, d_4
    return locals()


@program
def a_mixed_second_derivative(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    (d_x,) = T.autograd.grad(x**2 * w**3, x, create_graph=True)
    (d_xw,) = T.autograd.grad(d_x, w)
    return locals()


@program
def the_second_derivative_by_the_gradient_given(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    g = T.tensor([1.0, 1.0], requires_grad=True)
    (d_x,) = T.autograd.grad(x * x, x, g, create_graph=True)
    d_xx, d_xg = T.autograd.grad(d_x, [x, g], T.tensor([1.0, 10.0]))
    return locals()


@program
def a_gradient_penalty(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor([3.0, 4.0], requires_grad=True)
    (d_x,) = T.autograd.grad((x * x * w).sum(), x, create_graph=True)
    penalty = ((d_x * d_x).sum() - 1) ** 2
    penalty.backward()
    return locals()


@program
def a_hessian_times_a_vector(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    v = T.tensor([1.0, 10.0])
    (d_x,) = T.autograd.grad((x * x).sum() * x[0], x, create_graph=True)
    (d_v,) = T.autograd.grad((d_x * v).sum(), x)
    return locals()


@program
def the_second_derivative_through_a_write(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y.mul_(x)
    (d_x,) = T.autograd.grad((y * x).sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_a_written_view(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y[1:].mul_(x[:1])
    (d_x,) = T.autograd.grad((y * y).sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_an_assignment(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    y[0] = x[1] * x[2]
    (d_x,) = T.autograd.grad((y * y).sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_an_assignment_by_list(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    y[[0, 2]] = x[1] * x[2]
    (d_x,) = T.autograd.grad((y * y).sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_an_assignment_by_mask(T):
    x = T.tensor([1.0, -2.0, 3.0], requires_grad=True)
    y = x * x * x
    y[x < 0] = x[0] ** 2
    (d_x,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_views_of_views(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    v = x.t()[1].view(2, 1).expand(2, 3)
    (d_x,) = T.autograd.grad((v**3).sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_split_and_cat(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b = x.split([1, 2])
    y = T.cat([b, a, b]) * x.sum()
    (d_x,) = T.autograd.grad((y * y).sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_unbind_and_stack(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    a, b = x.unbind()
    y = T.stack([a * b, b * b])
    (d_x,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_repeated_indices(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x[[0, 0, 2]] ** 3
    (d_x,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_a_matrix_product(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = (x @ x @ x).sum()
    (d_x,) = T.autograd.grad(y, x, create_graph=True)
    (d_xx,) = T.autograd.grad((d_x * d_x).sum(), x)
    return locals()


@program
def the_second_derivative_through_what_saved_its_result(T):
    x = T.tensor([0.5, 1.0], requires_grad=True)
    y = x.exp().tanh().sigmoid().sqrt().sum()
    (d_x,) = T.autograd.grad(y, x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_broadcasting(T):
    x = T.tensor([[1.0], [2.0]], requires_grad=True)
    w = T.tensor([3.0, 4.0, 5.0], requires_grad=True)
    y = (x * w) ** 2
    d_x, d_w = T.autograd.grad(y.sum(), [x, w], create_graph=True)
    d_xx, d_ww = T.autograd.grad(d_x.sum() + d_w.sum(), [x, w])
    return locals()


@program
def the_second_derivative_through_softmax_and_log(T):
    x = T.tensor([1.0, 2.0, 4.0], requires_grad=True)
    y = x.softmax(0)[0].log() + x.log_softmax(0)[1]
    (d_x,) = T.autograd.grad(y, x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x[2], x)
    return locals()


@program
def backward_with_create_graph_twice_accumulates_with_history(T):
    x = T.tensor(2.0, requires_grad=True)
    (x**3).backward(create_graph=True)
    (x**2).backward(create_graph=True)
    d_x = x.grad
    x.grad = None
    d_x.backward()
    return locals()


@program
def backward_of_the_gradient_accumulates_into_it(T):
    x = T.tensor(2.0, requires_grad=True)
    (x**3).backward(create_graph=True)
    d_x = x.grad
    d_x.backward()
    same = x.grad is d_x
    return locals()


@program
def a_recorded_gradient_is_replaced_not_written_by_a_recorded_pass(T):
    x = T.tensor(2.0, requires_grad=True)
    (x**3).backward(create_graph=True)
    d_x = x.grad
    (x**3).backward(create_graph=True)
    same = x.grad is d_x
    return locals()


@program
def a_plain_gradient_is_not_written_by_a_recorded_pass(T):
    x = T.tensor(2.0, requires_grad=True)
    (x**3).backward()
    d_x = x.grad
    (x**3).backward(create_graph=True)
    same = x.grad is d_x
    return locals()


@program
def a_retained_gradient_of_a_result_has_a_history_with_create_graph(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    y.retain_grad()
    T.autograd.backward(y**2, create_graph=True)
    (d_xx,) = T.autograd.grad(y.grad, x)
    return locals()


@program
def a_write_between_the_first_and_the_second_derivative(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    (d_x,) = T.autograd.grad((y**3).sum(), x, create_graph=True)
    y.add_(1)
    error = attempt(lambda: T.autograd.grad(d_x.sum(), x))
    return locals()


@program
def a_write_to_a_leaf_between_the_derivatives(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    (d_x,) = T.autograd.grad((x**3).sum(), x, create_graph=True)
    with T.no_grad():
        x.sub_(0.1)
    error = attempt(lambda: T.autograd.grad(d_x.sum(), x))
    return locals()


@program
def a_write_to_the_first_derivative_itself(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    (d_x,) = T.autograd.grad((x**3).sum(), x, create_graph=True)
    d_x.mul_(10)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def a_detached_first_derivative_is_a_constant(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    (d_x,) = T.autograd.grad((x**3).sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad((d_x.detach() * x).sum(), x)
    return locals()


@program
def a_step_of_gradient_descent_can_be_differentiated(T):
    rate = T.tensor(0.1, requires_grad=True)
    w = T.tensor(2.0, requires_grad=True)
    (d_x,) = T.autograd.grad(w**2, w, create_graph=True)
    after = w - rate * d_x
    (after**2).backward()
    return locals()


@program
def three_differentiable_steps(T):
    rate = T.tensor(0.1, requires_grad=True)
    start = w = T.tensor(2.0, requires_grad=True)
    for _ in range(3):
        (d_x,) = T.autograd.grad(w**2, w, create_graph=True)
        w = w - rate * d_x
    (w**2).backward()
    del d_x
    return locals()


@program
def a_hook_in_the_second_pass(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    (d_x,) = T.autograd.grad(x**3, x, create_graph=True)
    d_x.register_hook(lambda h: log.append(h.item()))
    d_x.register_hook(lambda h: h * 10)
    d_x.backward()
    return locals()


@program
def the_second_derivative_of_a_maximum_and_a_clamp(T):
    x = T.tensor([1.0, 3.0, -2.0], requires_grad=True)
    y = (x * x).max() + (x**3).clamp(min=0).sum()
    (d_x,) = T.autograd.grad(y, x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_where_and_gather(T):
    x = T.tensor([1.0, 3.0, -2.0], requires_grad=True)
    y = T.where(x > 0, x**3, x**2).gather(0, T.tensor([2, 2, 0]))
    (d_x,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_through_mean_var_and_norm(T):
    x = T.tensor([1.0, 3.0, -2.0], requires_grad=True)
    y = x.mean() ** 2 + x.var() * x.norm()
    (d_x,) = T.autograd.grad(y, x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_third_derivative_through_a_written_view(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x**2
    y[0].mul_(x[1])
    (d_1,) = T.autograd.grad((y * y).sum(), x, create_graph=True)
    (d_2,) = T.autograd.grad(d_1.sum(), x, create_graph=True)
    (d_3,) = T.autograd.grad(d_2.sum(), x)
    return locals()


@program
def the_second_derivative_of_an_accumulated_sum(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    total = T.zeros(2)
    for k in range(1, 4):
        total += x**k
    (d_x,) = T.autograd.grad(total.sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def the_second_derivative_of_a_view_that_was_replayed(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x**2
    v = y[1:]
    y.mul_(x)
    (d_x,) = T.autograd.grad((v * v).sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()
