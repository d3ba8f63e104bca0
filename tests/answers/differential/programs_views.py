"""Views: who is whose base, what they share, and how gradients flow back through them."""

from tests.tools.recorded.programs import Family

program = Family(__name__)


@program
def a_view_knows_its_base_and_shares_memory_and_version(T):
    x = T.zeros(4)
    v = x[1:3]
    x.add_(1)
    return locals()


@program
def a_view_of_a_view_has_the_root_as_base(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]])
    v = x.t()
    w = v[0]
    u = w.unsqueeze(0)
    return locals()


@program
def every_view_operation_makes_a_view(T):
    x = T.zeros(2, 2, 2)
    views = [x[0], x[:, 1:], x[..., 0], x[None], x.transpose(0, 1)]
    views += [x.permute(2, 0, 1), x.view(8), x.view(4, 2), x.reshape(2, 4), x.unsqueeze(0)]
    views += [x.squeeze(0), x.squeeze(), x.select(0, 1), x.narrow(1, 0, 1), x.expand(3, 2, 2, 2)]
    views += [x.view_as(T.ones(4, 2)), x.flatten(), x.diagonal(), x.movedim(0, 2), x.mT]
    return locals()


@program
def every_operation_with_several_views_makes_views_of_one_base(T):
    x = T.zeros(4, 2)
    halves = x.chunk(2)
    rows = x.unbind()
    parts = x.split([1, 3])
    left, right = x.split(1, dim=1)
    return locals()


@program
def what_copies_is_no_view(T):
    x = T.zeros(2, 3)
    copies = [x.clone(), x.t().reshape(6), x[[0, 1]], x[T.tensor([True, False])], x + 0]
    copies += [x.t().contiguous(), x.repeat(1, 1), x.flip(0), x.index_select(0, T.tensor([0]))]
    return locals()


@program
def contiguous_of_a_contiguous_tensor_is_the_tensor_itself(T):
    x = T.zeros(2, 3)
    same = x.contiguous() is x
    y = x.t().contiguous()
    again = y.contiguous() is y
    return locals()


@program
def a_reshape_that_changes_nothing_is_a_view_of_its_own(T):
    x = T.zeros(2, 3)
    y = x.reshape(2, 3)
    z = x.view(2, 3)
    return locals()


@program
def expand_to_the_same_shape_is_a_view(T):
    x = T.zeros(2, 3)
    y = x.expand(2, 3)
    z = x.expand(-1, -1)
    return locals()


@program
def a_float_cast_to_the_same_dtype_is_the_tensor_itself(T):
    x = T.zeros(2, requires_grad=True)
    y = x.float()
    z = x.to(T.float32)
    w = x.type_as(T.zeros(1))
    return locals()


@program
def the_gradient_of_a_slice_is_zero_elsewhere(T):
    x = T.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    v = x[1:3]
    (v * v).sum().backward()
    return locals()


@program
def the_gradient_of_a_chain_of_views(T):
    x = T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    v = x.t()[1:].reshape(4)[::2]
    (v * v).sum().backward()
    return locals()


@program
def two_overlapping_views_add_their_gradients(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b = x[:2], x[1:]
    (a * b).sum().backward()
    return locals()


@program
def the_same_element_indexed_twice_gets_both_gradients(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x[[0, 0, 2]]
    y.backward(T.tensor([1.0, 10.0, 100.0]))
    return locals()


@program
def the_gradient_of_an_expanded_tensor_is_summed(T):
    x = T.tensor([[1.0], [2.0]], requires_grad=True)
    v = x.expand(3, 2, 4)
    v.sum().backward()
    return locals()


@program
def a_view_of_an_expanded_tensor(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    v = x.expand(3, 2)[1]
    (v * T.tensor([1.0, 5.0])).sum().backward()
    return locals()


@program
def unbound_rows_give_a_gradient_only_where_used(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    a, b = x.unbind()
    (b * 3).sum().backward()
    return locals()


@program
def split_pieces_number_the_outputs_of_one_node(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b = x.split(2)
    same_node = a.grad_fn is b.grad_fn
    (a.sum() * b.sum()).backward()
    return locals()


@program
def iterating_over_a_tensor_unbinds_it(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    rows = list(x)
    (rows[0] * rows[1]).sum().backward()
    return locals()


@program
def a_diagonal_gets_its_gradient_on_the_diagonal(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    d = x.diagonal()
    (d * d).sum().backward()
    return locals()


@program
def a_view_of_a_leaf_is_not_a_leaf(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    v = x[:1]
    w = v.view(1)
    return locals()


@program
def a_view_of_a_constant_is_a_leaf(T):
    x = T.tensor([1.0, 2.0])
    v = x[:1]
    w = v.unsqueeze(0)
    return locals()


@program
def a_view_of_a_constant_may_require_grad_itself(T):
    x = T.tensor([1.0, 2.0])
    v = x[:1].requires_grad_()
    (v * 3).backward()
    return locals()


@program
def a_view_made_under_no_grad_is_a_leaf_without_grad(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.no_grad():
        v = x[:1]
    return locals()


@program
def a_view_made_under_no_grad_of_a_view_of_a_result(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y[:1]
    with T.no_grad():
        w = v.view(1)
    return locals()


@program
def a_recorded_view_of_a_view_made_under_no_grad(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.no_grad():
        v = x[:1]
    w = v.unsqueeze(0)
    return locals()


@program
def a_view_before_requires_grad_does_not_follow_its_base(T):
    x = T.tensor([1.0, 2.0])
    v = x[:1]
    x.requires_grad_()
    w = x[:1]
    return locals()


@program
def a_view_of_an_integer_tensor_has_no_gradient(T):
    x = T.tensor([1, 2, 3])
    v = x[1:]
    v += 5
    return locals()


@program
def detach_of_a_view_is_a_leaf_that_shares_memory_and_version(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y[1:]
    d = v.detach()
    y.mul_(3)
    return locals()


@program
def a_view_of_a_detached_tensor_has_it_as_base(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    d = y.detach()
    v = d[1:]
    return locals()


@program
def a_view_keeps_a_base_without_a_name_alive(T):
    v = T.tensor([1.0, 2.0, 3.0])[1:]
    w = v[1:]
    same_base = v._base is w._base
    base_values = v._base.tolist()
    return locals()


@program
def the_base_of_a_tensor_that_is_no_view_is_none(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    bases = [x._base, (x * 2)._base, x.clone()._base]
    return locals()


@program
def views_of_one_base_each_have_their_own_node(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    a, b = x[:1], x[:1]
    same_node = a.grad_fn is b.grad_fn
    same_twice = a.grad_fn is a.grad_fn
    return locals()


@program
def squeezing_where_there_is_nothing_to_squeeze_is_a_view(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.squeeze()
    z = x.squeeze(0)
    (y * z).sum().backward()
    return locals()


@program
def a_step_of_two_and_an_offset(T):
    x = T.arange(6.0).requires_grad_()
    v = x[1::2]
    w = v[1:]
    (w * T.tensor([3.0, 5.0])).sum().backward()
    return locals()


@program
def transposing_twice_is_a_view_with_the_first_layout(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    v = x.t().t()
    strides = [x.stride(), x.t().stride(), v.stride()]
    v[0].sum().backward()
    return locals()


@program.fails
def a_view_across_strides_is_refused(T):
    x = T.zeros(2, 3)
    x.t().view(6)


@program.fails
def expanding_what_is_not_one_is_refused(T):
    x = T.zeros(2, 3)
    x.expand(4, 3)


@program
def assigning_a_gradient_to_a_view_is_no_write(T):
    x = T.zeros(3)
    v = x[1:]
    v.grad = T.ones(2)
    return locals()


@program
def a_view_of_a_view_that_requires_grad_itself(T):
    x = T.tensor([1.0, 2.0])
    v = x[:2].requires_grad_()
    w = v[:1]
    (w * 3).sum().backward()
    return locals()
