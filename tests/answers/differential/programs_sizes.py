"""Tensors without dimensions and tensors without elements: everywhere the others go."""

import copy

from tests.tools.recorded.programs import Family, attempt, function

program = Family(__name__)


@program
def a_0d_leaf_through_a_product(T):
    x = T.tensor(3.0, requires_grad=True)
    (x * x).backward()
    return locals()


@program
def a_0d_result_written_in_place(T):
    x = T.tensor(3.0, requires_grad=True)
    y = x * 1
    y.mul_(x)
    y += 1
    y.backward()
    return locals()


@program
def a_0d_result_written_by_dots(T):
    x = T.tensor(3.0, requires_grad=True)
    y = x * 1
    y[...] = x * 5
    y.backward()
    return locals()


@program
def a_0d_result_written_by_an_empty_tuple(T):
    x = T.tensor(3.0, requires_grad=True)
    y = x * 1
    y[()] = 7.0
    y.backward()
    return locals()


@program
def an_index_into_a_0d_tensor_is_refused(T):
    x = T.tensor(3.0, requires_grad=True)
    y = x * 1
    errors = [attempt(lambda: y[0]), attempt(lambda: y.__setitem__(0, 1.0)), attempt(lambda: y[:])]
    return locals()


@program
def views_of_a_0d_tensor(T):
    x = T.tensor(3.0, requires_grad=True)
    y = x * 1
    a, b, c, d = y.view(1), y.unsqueeze(0), y[None], y.expand(2, 3)
    a.mul_(10)
    d.sum().backward()
    return locals()


@program
def an_element_is_a_0d_view(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    e = y[1]
    e.mul_(10)
    e.add_(1)
    y.sum().backward()
    return locals()


@program
def a_0d_view_is_replayed(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    e = y[1]
    y.mul_(10)
    e.backward()
    return locals()


@program
def a_0d_tensor_times_a_vector(T):
    x = T.tensor(3.0, requires_grad=True)
    w = T.tensor([1.0, 2.0], requires_grad=True)
    (x * w).sum().backward()
    return locals()


@program
def a_vector_written_by_a_0d_tensor(T):
    x = T.tensor(3.0, requires_grad=True)
    y = T.ones(3)
    y.mul_(x)
    y.sum().backward()
    return locals()


@program
def a_0d_tensor_must_not_be_written_by_a_vector(T):
    y = T.tensor(3.0, requires_grad=True) * 1
    error = attempt(lambda: y.mul_(T.ones(3)))
    return locals()


@program
def a_0d_tensor_of_another_dtype_does_not_promote(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor(3.0, dtype=T.float64, requires_grad=True)
    y = x * w
    y.sum().backward()
    return locals()


@program
def hooks_and_retained_gradients_of_0d_tensors(T):
    x = T.tensor(3.0, requires_grad=True)
    y = x * 2
    y.retain_grad()
    log = []
    y.register_hook(lambda g: log.append(list(g.shape)))
    y.backward()
    return locals()


@program
def unbind_of_a_vector_gives_0d_views(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    a, b = x.unbind()
    (a * b).backward()
    return locals()


@program
def the_second_derivative_of_a_0d_tensor_written_in_place(T):
    x = T.tensor(3.0, requires_grad=True)
    y = x * 1
    y.mul_(x).mul_(2)
    (d_x,) = T.autograd.grad(y, x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x, x)
    return locals()


@program
def a_detached_0d_tensor_and_its_data(T):
    x = T.tensor(3.0, requires_grad=True)
    d, data = x.detach(), x.data
    d.add_(1)
    data.add_(1)
    return locals()


@program
def a_copy_of_a_0d_leaf(T):
    x = T.tensor(3.0, requires_grad=True)
    y = copy.deepcopy(x)
    (x * y).backward()
    return locals()


@program
def a_function_of_a_0d_tensor(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    x = T.tensor(3.0, requires_grad=True)
    function(T, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0]).apply(x).backward()
    return locals()


@program
def a_gradient_of_one_element_for_a_0d_leaf_is_refused(T):
    x = T.tensor(3.0, requires_grad=True)
    error = attempt(lambda: setattr(x, "grad", T.ones(1)))
    error_of_backward = attempt(lambda: (x * 2).backward(T.ones(1)))
    return locals()


@program
def the_sum_of_an_empty_leaf(T):
    x = T.zeros(0, 3, requires_grad=True)
    (x * 2).sum().backward()
    return locals()


@program
def an_empty_result_needs_a_gradient(T):
    x = T.zeros(0, requires_grad=True)
    y = x * 2
    error = attempt(y.backward)
    y.backward(T.zeros(0))
    return locals()


@program
def an_empty_result_written_in_place(T):
    x = T.zeros(0, requires_grad=True)
    y = x * 2
    y.mul_(3)
    y[:] = 5.0
    y.sum().backward()
    return locals()


@program
def an_empty_leaf_must_not_be_written(T):
    x = T.zeros(0, requires_grad=True)
    errors = [attempt(lambda: x.add_(1)), attempt(lambda: x[:].add_(1))]
    return locals()


@program
def an_empty_view_of_a_result_is_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y[2:]
    v.mul_(3)
    (y * y).sum().backward()
    return locals()


@program
def an_empty_view_counts_writes_of_its_base(T):
    x = T.tensor([1.0, 2.0])
    v = x[2:]
    v.add_(1)
    x.add_(1)
    return locals()


@program
def an_empty_part_saved_and_another_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y[2:] * y[2:]
    y.add_(1)
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def an_empty_tensor_joined_with_a_full_one(T):
    x = T.zeros(0, requires_grad=True)
    w = T.tensor([1.0, 2.0], requires_grad=True)
    y = T.cat([x, w])
    y.sum().backward()
    return locals()


@program
def a_split_with_an_empty_piece(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    a, b = x.split([0, 2])
    (a.sum() + b.sum() * 3).backward()
    return locals()


@program
def an_empty_product_with_broadcasting(T):
    x = T.tensor([[2.0]], requires_grad=True)
    w = T.zeros(0, 3, requires_grad=True)
    (x * w).sum().backward()
    return locals()


@program
def a_matrix_product_over_nothing(T):
    x = T.zeros(2, 0, requires_grad=True)
    w = T.zeros(0, 3, requires_grad=True)
    (x @ w).sum().backward()
    return locals()


@program
def the_maximum_of_nothing_is_refused(T):
    x = T.zeros(0, requires_grad=True)
    error = attempt(x.max)
    return locals()


@program
def an_empty_mask_selects_nothing(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x[x > 5]
    y.sum().backward()
    return locals()


@program
def the_second_derivative_through_an_empty_tensor(T):
    x = T.zeros(0, requires_grad=True)
    (d_x,) = T.autograd.grad((x**3).sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x)
    return locals()


@program
def an_expanded_tensor_without_rows(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.expand(0, 2)
    y.sum().backward()
    return locals()


@program
def hooks_and_accumulation_on_an_empty_leaf(T):
    x = T.zeros(0, requires_grad=True)
    log = []
    x.register_hook(lambda g: log.append(list(g.shape)))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    return locals()
