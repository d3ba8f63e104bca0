"""The .grad attribute: what may be assigned, how gradients accumulate, who shares them."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def a_gradient_begins_as_none(T):
    x = T.ones(2, requires_grad=True)
    c = T.ones(2)
    first = [x.grad, c.grad]
    return locals()


@program
def gradients_accumulate_in_the_same_object(T):
    x = T.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    g = x.grad
    (x * 3).sum().backward()
    same = x.grad is g
    return locals()


@program
def a_gradient_set_to_none_begins_anew(T):
    x = T.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    g = x.grad
    x.grad = None
    (x * 3).sum().backward()
    return locals()


@program
def a_gradient_can_be_deleted(T):
    x = T.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    del x.grad
    return locals()


@program
def a_gradient_that_was_assigned_is_accumulated_into(T):
    x = T.ones(2, requires_grad=True)
    g = T.tensor([10.0, 20.0])
    x.grad = g
    (x * 3).sum().backward()
    same = x.grad is g
    return locals()


@program
def a_gradient_can_be_assigned_to_a_constant(T):
    c = T.ones(2)
    c.grad = T.tensor([1.0, 2.0])
    return locals()


@program
def a_gradient_can_be_assigned_to_a_result(T):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.grad = T.tensor([1.0, 2.0])
    y.sum().backward()
    return locals()


@program
def a_gradient_of_another_shape_is_refused(T):
    x = T.ones(2, requires_grad=True)
    gradients = [T.ones(3), T.ones(2, 1), T.ones(())]
    errors = [attempt(lambda g=g: setattr(x, "grad", g)) for g in gradients]
    return locals()


@program
def a_gradient_of_another_dtype_is_refused(T):
    x = T.ones(2, requires_grad=True)
    gradients = [T.ones(2, dtype=T.float64), T.tensor([1, 2])]
    errors = [attempt(lambda g=g: setattr(x, "grad", g)) for g in gradients]
    return locals()


@program
def a_gradient_that_is_no_tensor_is_refused(T):
    x = T.ones(2, requires_grad=True)
    errors = [attempt(lambda g=g: setattr(x, "grad", g)) for g in (5.0, [1.0, 2.0], "g")]
    return locals()


@program
def a_tensor_cannot_be_its_own_gradient(T):
    x = T.ones(2, requires_grad=True)
    error = attempt(lambda: setattr(x, "grad", x))
    return locals()


@program
def a_gradient_may_require_grad(T):
    x = T.ones(2, requires_grad=True)
    w = T.tensor([1.0, 2.0], requires_grad=True)
    x.grad = w
    error = attempt(lambda: (x * 3).sum().backward())
    return locals()


@program
def a_gradient_may_be_a_result(T):
    x = T.ones(2, requires_grad=True)
    w = T.tensor([1.0, 2.0], requires_grad=True)
    x.grad = w * 2
    (x.grad * x).sum().backward(inputs=[w])
    return locals()


@program
def a_gradient_may_be_shared_by_two_leaves(T):
    x = T.ones(2, requires_grad=True)
    w = T.ones(2, requires_grad=True)
    x.grad = w.grad = T.zeros(2)
    (x * 2 + w * 3).sum().backward()
    return locals()


@program
def a_gradient_may_be_a_view(T):
    x = T.ones(2, requires_grad=True)
    buffer = T.zeros(4)
    x.grad = buffer[1:3]
    (x * 3).sum().backward()
    return locals()


@program
def two_leaves_of_a_sum_do_not_share_their_gradients(T):
    x = T.ones(2, requires_grad=True)
    w = T.ones(2, requires_grad=True)
    (x + w).sum().backward()
    x.grad.mul_(10)
    return locals()


@program
def the_gradient_of_a_sum_is_writable(T):
    x = T.ones(3, requires_grad=True)
    x.sum().backward()
    x.grad[0] = 5.0
    x.grad.mul_(2)
    return locals()


@program
def the_gradient_of_a_view_is_a_tensor_of_its_own(T):
    x = T.ones(2, 2, requires_grad=True)
    g = T.tensor([1.0, 2.0, 3.0, 4.0])
    x.view(4).backward(g)
    x.grad.zero_()
    return locals()


@program
def the_gradient_given_to_backward_is_not_shared(T):
    x = T.ones(2, requires_grad=True)
    g = T.tensor([1.0, 2.0])
    (x + 0).backward(g)
    x.grad.zero_()
    return locals()


@program
def zeroing_a_gradient_in_place_keeps_the_object(T):
    x = T.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    g = x.grad
    x.grad.zero_()
    (x * 3).sum().backward()
    return locals()


@program
def writing_the_data_of_a_gradient(T):
    x = T.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    x.grad.data.mul_(10)
    (x * 3).sum().backward()
    return locals()


@program
def a_kept_gradient_changes_with_the_next_pass_a_copy_does_not(T):
    x = T.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    kept, copied = x.grad, x.grad.clone()
    (x * 3).sum().backward()
    return locals()


@program
def a_gradient_is_a_leaf_without_grad(T):
    x = T.ones(2, requires_grad=True)
    (x * x).sum().backward()
    d_x = x.grad
    y = d_x * 2
    return locals()


@program
def a_gradient_written_between_two_passes_over_one_graph(T):
    x = T.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    with T.no_grad():
        x.grad.clamp_(max=1.0)
    y.backward()
    return locals()


@program
def a_frozen_leaf_gets_no_gradient(T):
    x = T.ones(2, requires_grad=True)
    frozen = T.ones(2)
    (x * frozen).sum().backward()
    return locals()


@program
def reading_the_gradient_of_a_result_warns_each_time(T):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    first, second = y.grad, y.grad
    return locals()


@program
def reading_the_gradient_of_a_view_of_a_leaf_warns(T):
    x = T.ones(2, requires_grad=True)
    v = x[:1]
    gradient = v.grad
    return locals()


@program
def reading_the_gradient_of_a_constant_does_not_warn(T):
    c = T.ones(2) * 2
    gradient = c.grad
    return locals()


@program
def an_optimizer_zeroes_or_forgets_gradients(T):
    x = T.ones(2, requires_grad=True)
    optimizer = T.optim.SGD([x], lr=0.1)
    (x * 2).sum().backward()
    g = x.grad
    optimizer.zero_grad(set_to_none=False)
    same = x.grad is g
    optimizer.zero_grad()
    return locals()


@program
def the_sparse_gradient_of_a_lookup_is_dense_by_default(T):
    table = T.ones(3, 2, requires_grad=True)
    rows = table[T.tensor([2, 2])]
    rows.sum().backward()
    return locals()


@program
def the_gradient_through_a_cast_comes_back_in_the_dtype_of_the_leaf(T):
    x = T.ones(2, requires_grad=True)
    y = x.double()
    y.retain_grad()
    (y * 3).sum().backward()
    return locals()
