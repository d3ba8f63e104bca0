"""Views in odd situations: switched on late, cut loose, reshaped in place, overlapping."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def a_view_of_a_tensor_that_is_switched_on_later_must_not_be_written(T):
    x = T.ones(3)
    v = x[1:]
    x.requires_grad_()
    error = attempt(lambda: v.mul_(2))
    return locals()


@program
def a_view_of_a_leaf_that_is_switched_off_later(T):
    x = T.ones(3, requires_grad=True)
    v = x[1:]
    x.requires_grad_(False)
    error = attempt(lambda: v.mul_(2))
    return locals()


@program
def a_view_that_is_a_leaf_itself_must_not_be_written(T):
    x = T.ones(3)
    v = x[1:].requires_grad_()
    error = attempt(lambda: v.mul_(2))
    return locals()


@program
def the_base_of_a_view_that_is_a_leaf_itself_is_written(T):
    x = T.ones(3)
    v = x[1:].requires_grad_()
    x.mul_(2)
    (v * v).sum().backward()
    return locals()


@program
def the_base_of_a_view_that_is_a_leaf_itself_gets_a_history(T):
    x = T.ones(3)
    v = x[1:].requires_grad_()
    w = T.tensor(5.0, requires_grad=True)
    x.mul_(w)
    error = attempt(lambda: (v * v).sum().backward())
    return locals()


@program
def a_view_of_a_base_that_was_detached_in_place(T):
    x = T.ones(3, requires_grad=True)
    y = x * 2
    v = y[1:]
    y.detach_()
    error = attempt(lambda: v.mul_(2))
    return locals()


@program
def a_base_that_was_detached_in_place_is_written(T):
    x = T.ones(3, requires_grad=True)
    y = x * 2
    v = y[1:]
    y.detach_()
    y.mul_(2)
    error = attempt(lambda: v.sum().backward())
    return locals()


@program
def a_base_that_was_detached_and_switched_on_again(T):
    x = T.ones(3, requires_grad=True)
    y = x * 2
    v = y[1:]
    y.detach_().requires_grad_()
    error = attempt(lambda: v.mul_(2))
    return locals()


@program
def a_view_made_under_no_grad_whose_base_is_written_under_no_grad(T):
    x = T.ones(3, requires_grad=True)
    with T.no_grad():
        v = x[1:]
        x.mul_(2)
    error = attempt(lambda: v.grad_fn)
    return locals()


@program
def a_view_made_under_no_grad_is_used_in_a_product(T):
    x = T.ones(3, requires_grad=True)
    with T.no_grad():
        v = x[1:]
    y = v * 2
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_recorded_view_of_a_view_made_under_no_grad_must_not_be_written(T):
    y = T.ones(3, requires_grad=True) * 2
    with T.no_grad():
        v = y[1:]
    w = v[:1]
    error = attempt(lambda: w.mul_(2))
    return locals()


@program
def a_view_made_under_no_grad_of_a_recorded_view_must_not_be_written(T):
    y = T.ones(3, requires_grad=True) * 2
    v = y[1:]
    with T.no_grad():
        w = v[:1]
    error = attempt(lambda: w.mul_(2))
    fine = attempt(lambda: v.mul_(2))
    return locals()


@program
def several_views_made_under_no_grad_must_not_be_written_outside(T):
    y = T.ones(3, requires_grad=True) * 2
    with T.no_grad():
        a, b = y.split(2)
    error = attempt(lambda: a.mul_(2))
    return locals()


@program
def a_detached_view_made_under_no_grad_may_be_written(T):
    y = T.ones(3, requires_grad=True) * 2
    with T.no_grad():
        v = y[1:].detach()
    v.mul_(2)
    return locals()


@program
def a_view_whose_base_is_unsqueezed_in_place(T):
    x = T.ones(3, requires_grad=True)
    y = x * 2
    v = y[1:]
    y.unsqueeze_(0)
    v.mul_(10)
    y.sum().backward()
    return locals()


@program
def a_view_whose_base_is_squeezed_in_place_and_written(T):
    x = T.ones(1, 3, requires_grad=True)
    y = x * 2
    v = y[:, 1:]
    y.squeeze_(0)
    y.mul_(10)
    v.sum().backward()
    return locals()


@program
def a_base_transposed_in_place_and_then_written(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    v = y[0]
    y.t_()
    y.mul_(10)
    v.sum().backward()
    return locals()


@program
def a_view_made_after_the_base_was_transposed_in_place(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    y.t_()
    v = y[0]
    v.mul_(10)
    y.sum().backward()
    return locals()


@program
def a_view_unsqueezed_in_place_and_then_its_base_written(T):
    x = T.ones(3, requires_grad=True)
    y = x * 2
    v = y[1:]
    v.unsqueeze_(0)
    y.mul_(10)
    v.sum().backward()
    return locals()


@program
def transposing_a_leaf_in_place_is_refused(T):
    x = T.ones(2, 3, requires_grad=True)
    errors = [attempt(x.t_), attempt(lambda: x.transpose_(0, 1)), attempt(lambda: x.squeeze_())]
    with T.no_grad():
        x.t_()
    return locals()


@program
def transposing_in_place_what_was_saved(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    z = y * y
    y.t_()
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def a_part_copied_over_an_overlapping_part(T):
    y = T.tensor([1.0, 2.0, 3.0], requires_grad=True) * 1
    error = attempt(lambda: y[1:].copy_(y[:-1]))
    return locals()


@program
def a_part_added_to_an_overlapping_part(T):
    y = T.tensor([1.0, 2.0, 3.0], requires_grad=True) * 1
    error = attempt(lambda: y[1:].add_(y[:-1]))
    return locals()


@program
def a_part_added_to_a_part_beside_it(T):
    x = T.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = x * 1
    y[2:].add_(y[:2])
    y.sum().backward()
    return locals()


@program
def a_tensor_added_to_its_own_transpose(T):
    y = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) * 1
    error = attempt(lambda: y.add_(y.t()))
    return locals()


@program
def a_view_of_an_expanded_result_is_written(T):
    x = T.tensor([[1.0], [2.0]], requires_grad=True)
    y = (x * 1).expand(2, 3)
    errors = [attempt(lambda: y[:, 0].mul_(10)), attempt(lambda: y[0].mul_(10))]
    y.sum().backward()
    return locals()


@program
def assigning_data_to_a_base_leaves_its_views_behind(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y[:1]
    y.data = T.tensor([5.0, 6.0])
    v.mul_(10)
    y.sum().backward()
    return locals()


@program
def a_write_through_a_view_of_data(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y * y
    y.data[:1].zero_()
    z.sum().backward()
    return locals()


@program
def a_replayed_view_is_used_before_and_after(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y[:1]
    a = v * v
    y.add_(1)
    b = v * v
    error = attempt(lambda: (a + b).sum().backward())
    return locals()


@program
def ten_writes_through_two_views_in_turn(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    a, b = y[:1], y[2:]
    for _ in range(5):
        a.mul_(2)
        b.add_(a)
    y.sum().backward()
    return locals()


@program
def a_write_to_a_view_by_a_function_of_the_other_half(T):
    x = T.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = x * 1
    y[:2] += y[2:].exp() * 0 + y[2:].clone() ** 2
    y.sum().backward()
    return locals()


@program
def a_base_without_a_name_is_reached_through_its_view(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    v = (x * 1)[1:]
    v.mul_(10)
    v._base.sum().backward()
    return locals()


@program
def a_constant_view_becomes_part_of_a_graph_and_is_read_first_through_its_leafness(T):
    base = T.zeros(3)
    v = base[1:]
    states = [v.is_leaf, v.requires_grad]
    base[0] = T.tensor(1.0, requires_grad=True)
    states += [v.is_leaf, v.requires_grad]
    return locals()


@program
def a_view_of_a_row_is_written_after_the_base_was_zeroed(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    row = y[1]
    y.zero_()
    row.add_(x[0])
    (y * y).sum().backward()
    return locals()


@program
def a_write_with_a_value_that_is_a_view_of_the_target_is_saved_before(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y[0] = y[0] * 3
    y[0] = y[0] * 5
    y.sum().backward()
    return locals()
