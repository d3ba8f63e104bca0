"""backward: roots, gradients given, graphs kept, inputs named, and what is refused."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def a_second_backward_is_refused(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward()
    error = attempt(y.backward)
    return locals()


@program
def a_second_backward_through_what_saved_nothing(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x + 1
    y.backward()
    error = attempt(y.backward)
    return locals()


@program
def a_second_backward_through_a_shared_part_is_refused(T):
    x = T.tensor(2.0, requires_grad=True)
    shared = x * x
    a, b = shared * 2, shared * 3
    a.backward()
    error = attempt(b.backward)
    return locals()


@program
def a_kept_graph_can_be_used_again(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    error = attempt(y.backward)
    return locals()


@program
def a_second_backward_through_written_slices_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y[0] = 5.0
    z = y.sum()
    z.backward()
    error = attempt(z.backward)
    return locals()


@program
def a_second_backward_through_views_is_allowed(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.view(2, 1)[0].sum()
    y.backward()
    error = attempt(y.backward)
    return locals()


@program
def only_scalars_need_no_gradient(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    error = attempt(y.backward)
    y.backward(T.tensor([1.0, 10.0]))
    return locals()


@program
def a_tensor_of_one_element_needs_no_gradient(T):
    x = T.tensor([[3.0]], requires_grad=True)
    (x * 2).backward()
    return locals()


@program
def a_gradient_given_for_a_scalar(T):
    x = T.tensor(3.0, requires_grad=True)
    (x * 2).backward(T.tensor(10.0))
    return locals()


@program
def a_gradient_of_a_wrong_shape_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    errors = [attempt(lambda g=g: y.backward(g)) for g in (T.ones(3), T.ones(()), T.ones(2, 1))]
    return locals()


@program
def a_gradient_of_another_dtype(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    error = attempt(lambda: y.backward(T.ones(2, dtype=T.float64)))
    return locals()


@program
def an_integer_gradient_is_refused_or_cast(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    error = attempt(lambda: y.backward(T.tensor([1, 10])))
    return locals()


@program
def a_gradient_that_is_no_tensor_is_refused(T):
    x = T.tensor(1.0, requires_grad=True)
    y = x * 2
    error = attempt(lambda: y.backward(5.0))
    return locals()


@program
def a_given_gradient_is_not_changed_or_kept(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    g = T.tensor([3.0, 4.0])
    x.backward(g)
    x.backward(g)
    return locals()


@program
def a_leaf_can_be_a_root(T):
    x = T.tensor(2.0, requires_grad=True)
    x.backward()
    x.backward(T.tensor(5.0))
    return locals()


@program
def a_constant_cannot_be_a_root(T):
    x = T.tensor(2.0)
    y = x * 3
    errors = [attempt(x.backward), attempt(y.backward)]
    return locals()


@program
def a_detached_loss_cannot_be_a_root(T):
    x = T.tensor(2.0, requires_grad=True)
    y = (x * 3).detach()
    error = attempt(y.backward)
    return locals()


@program
def an_integer_result_cannot_be_a_root(T):
    x = T.tensor([2.0, 1.0], requires_grad=True)
    error = attempt(lambda: x.argmax().backward())
    return locals()


@program
def several_roots(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    T.autograd.backward([x * w, x + w])
    return locals()


@program
def several_roots_with_gradients(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y, z = x * 2, (x * 3).sum()
    T.autograd.backward([y, z], [T.tensor([1.0, 10.0]), None])
    return locals()


@program
def the_same_root_twice(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    T.autograd.backward([y, y])
    return locals()


@program
def the_same_root_twice_with_two_gradients(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    T.autograd.backward([y, y], [T.tensor(1.0), T.tensor(10.0)])
    return locals()


@program
def a_root_that_is_behind_another_root(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    z = y * 3
    T.autograd.backward([z, y])
    return locals()


@program
def two_outputs_of_one_node_as_roots(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    a, b = (x * x).split(1)
    T.autograd.backward([a, b], [T.tensor([3.0]), T.tensor([5.0])])
    return locals()


@program
def no_roots_at_all(T):
    error = attempt(lambda: T.autograd.backward([]))
    return locals()


@program
def roots_and_gradients_of_different_number_are_refused(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 2
    error = attempt(lambda: T.autograd.backward([y, y], [T.tensor(1.0)]))
    return locals()


@program
def one_root_without_grad_among_others_is_refused(T):
    x = T.tensor(2.0, requires_grad=True)
    y, c = x * 2, T.tensor(1.0)
    error = attempt(lambda: T.autograd.backward([y, c]))
    return locals()


@program
def inputs_limit_what_is_accumulated(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    (x * w).backward(inputs=[x])
    return locals()


@program
def inputs_may_be_a_single_tensor(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    (x * w).backward(inputs=w)
    return locals()


@program
def inputs_may_be_results(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    (y * y).backward(inputs=[y])
    gradient = y.grad
    return locals()


@program
def inputs_may_be_a_result_and_the_leaf_behind_it(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.retain_grad()
    (y * y).backward(inputs=[x, y])
    return locals()


@program
def inputs_must_not_be_empty(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    error = attempt(lambda: y.backward(inputs=[]))
    return locals()


@program
def inputs_that_require_no_grad_are_refused(T):
    x, c = T.tensor(2.0, requires_grad=True), T.tensor(1.0)
    y = x * 3
    error = attempt(lambda: y.backward(inputs=[c]))
    return locals()


@program
def inputs_that_were_not_used(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    y = x * 3
    error = attempt(lambda: y.backward(inputs=[w]))
    return locals()


@program
def create_graph_records_the_gradient_and_warns(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x**3
    y.backward(create_graph=True)
    d_x = x.grad
    x.grad = None
    (d_xx,) = T.autograd.grad(d_x, x)
    return locals()


@program
def a_diamond_is_visited_once(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    a, b = y * y, y.exp() * 0
    (a * b + a).backward()
    return locals()


@program
def a_deep_chain(T):
    x = T.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(5000):
        y = y + 1
    y.backward()
    del y
    return locals()


@program
def a_gradient_has_dtype_and_shape_of_its_leaf(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor(3.0, dtype=T.float64, requires_grad=True)
    h = T.tensor([[1.0]], dtype=T.float16, requires_grad=True)
    (x * w * h).sum().backward()
    return locals()


@program
def a_gradient_of_a_transposed_leaf(T):
    x = T.ones(2, 3).t().detach().requires_grad_()
    (x * 2).sum().backward()
    strides = [x.stride(), x.grad.stride()]
    return locals()


@program
def a_gradient_through_a_select_of_the_maximum(T):
    x = T.tensor([1.0, 3.0, 3.0], requires_grad=True)
    x.max().backward()
    y = x.detach().requires_grad_()
    y.max(0).values.backward()
    return locals()


@program
def a_part_that_is_not_needed_gets_no_gradient(T):
    x = T.tensor(2.0, requires_grad=True)
    unused = T.tensor(5.0, requires_grad=True)
    side = unused * x
    (x * 3).backward()
    return locals()
