"""detach, detach_, .data, data = y: four ways out of the graph, and what each shares."""

import copy

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def detach_is_a_new_leaf_on_the_same_memory(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    d = y.detach()
    twice = y.detach() is d
    return locals()


@program
def detach_of_a_leaf_and_of_a_constant(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    c = T.ones(2)
    dx, dc = x.detach(), c.detach()
    new_object = dc is c
    return locals()


@program
def a_use_of_a_detached_tensor_sends_no_gradient(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    (y * y.detach()).sum().backward()
    return locals()


@program
def a_detached_tensor_can_be_switched_on(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    d = y.detach().requires_grad_()
    (d * d).sum().backward()
    y.backward(d.grad)
    return locals()


@program
def a_written_detached_tensor_changes_the_original(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    d = x.detach()
    d.zero_()
    d[0] = 7.0
    return locals()


@program
def a_written_original_changes_the_detached_tensor(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    d = y.detach()
    y.mul_(10)
    return locals()


@program
def a_detached_leaf_written_between_forward_and_backward(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    x.detach().zero_()
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def detach_of_a_detached_tensor(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    d = x.detach().detach()
    d.add_(1)
    return locals()


@program
def the_base_of_a_detached_view(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    d = x[1:].detach()
    v = x.detach()[1:]
    is_view = [d._is_view(), v._is_view()]
    return locals()


@program
def writing_a_detached_view_of_a_leaf_is_allowed(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    x[1:].detach().mul_(10)
    return locals()


@program
def writing_a_detached_piece_of_a_split_is_allowed(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    a, b = y.split(1)
    d = a.detach()
    d.mul_(10)
    return locals()


@program
def detach_in_place_makes_a_result_a_leaf(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y * 3
    same = y.detach_() is y
    z.sum().backward()
    return locals()


@program
def detach_in_place_of_a_leaf_switches_it_off(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    x.detach_()
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def detach_in_place_of_a_view_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    views = [x[:1], y[:1], T.ones(2)[:1]]
    errors = [attempt(lambda v=v: v.detach_()) for v in views]
    return locals()


@program
def detach_in_place_of_a_piece_is_refused(T):
    y = T.tensor([1.0, 2.0], requires_grad=True) * 2
    a, b = y.split(1)
    error = attempt(lambda: a.detach_())
    return locals()


@program
def detach_in_place_of_a_base_with_views(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y[:1]
    y.detach_()
    return locals()


@program
def detach_in_place_cuts_a_recurrence(T):
    w = T.tensor(3.0, requires_grad=True)
    state = T.tensor(1.0)
    for _ in range(2):
        state = state * w
        state.detach_()
    loss = state * w
    loss.backward()
    return locals()


@program
def data_is_a_new_leaf_with_a_counter_of_its_own(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    data = y.data
    twice = y.data is data
    data.zero_()
    return locals()


@program
def a_write_through_data_goes_unnoticed(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    x.data[0] = 100.0
    y.sum().backward()
    return locals()


@program
def data_of_a_view_is_no_view(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    data = x[1:].data
    data.add_(1)
    return locals()


@program
def assigning_data_keeps_leaf_and_gradient(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    y = T.tensor([5.0, 6.0])
    x.data = y
    (x * x).sum().backward()
    return locals()


@program
def assigned_data_shares_memory_but_not_the_counter(T):
    x = T.tensor([1.0, 2.0])
    y = T.tensor([5.0, 6.0])
    x.data = y
    x.add_(1)
    y.add_(1)
    return locals()


@program
def assigning_data_keeps_the_version(T):
    x = T.tensor([1.0, 2.0])
    x.add_(1)
    x.add_(1)
    y = T.tensor([5.0, 6.0])
    y.add_(1)
    x.data = y
    return locals()


@program
def assigning_data_of_another_shape(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    x.data = T.ones(3, 2)
    (x * x).sum().backward()
    return locals()


@program
def assigning_data_between_forward_and_backward(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    x.data = T.tensor([10.0, 20.0])
    y.sum().backward()
    return locals()


@program
def assigning_data_to_a_result(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.data = T.tensor([10.0, 20.0])
    (y * y).sum().backward()
    return locals()


@program
def assigning_data_that_requires_grad(T):
    x = T.tensor([1.0, 2.0])
    w = T.tensor([5.0, 6.0], requires_grad=True)
    x.data = w
    (x * w).sum().backward()
    return locals()


@program
def assigning_data_of_another_dtype(T):
    x = T.tensor([1.0, 2.0])
    x.data = T.tensor([1.0, 2.0], dtype=T.float64)
    return locals()


@program
def assigning_integer_data_to_what_requires_grad_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    error = attempt(lambda: setattr(x, "data", T.tensor([1, 2])))
    return locals()


@program
def assigning_data_that_is_no_tensor_is_refused(T):
    x = T.tensor([1.0, 2.0])
    errors = [attempt(lambda: setattr(x, "data", 5.0)), attempt(lambda: setattr(x, "data", None))]
    return locals()


@program
def assigning_data_leaves_old_views_with_the_old_memory(T):
    x = T.tensor([1.0, 2.0])
    v = x[:1]
    x.data = T.tensor([5.0, 6.0])
    v.add_(10)
    return locals()


@program
def assigning_data_of_another_shape_keeps_the_old_gradient(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    x.data = T.ones(3)
    error = attempt(lambda: (x * x).sum().backward())
    return locals()


@program
def a_copy_of_a_detached_tensor_is_independent(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.detach().clone()
    z = copy.deepcopy(x.detach())
    y.zero_()
    return locals()


@program
def swapping_the_data_of_two_tensors(T):
    a = T.tensor([1.0], requires_grad=True)
    b = T.tensor([2.0], requires_grad=True)
    a.data, b.data = b.data, a.data
    (a * 10 + b).backward()
    return locals()


@program
def clone_of_a_detached_tensor_and_detach_of_a_clone(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    a, b = x.detach().clone(), x.clone().detach()
    c = x.clone()
    (a * b * c).sum().backward()
    return locals()
