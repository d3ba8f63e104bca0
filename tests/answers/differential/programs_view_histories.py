"""More writes through views: each kind of view, each moment, and the histories that follow."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)

PARTS = {
    "a_row": lambda y: y[1],
    "an_element": lambda y: y[1, 0],
    "a_column": lambda y: y[:, 1],
    "every_second_row": lambda y: y[::2],
    "a_transpose": lambda y: y.t(),
    "a_flat_view": lambda y: y.view(6),
    "an_unsqueezed_row": lambda y: y[2].unsqueeze(0),
    "a_narrowed_part": lambda y: y.narrow(0, 1, 2),
    "a_diagonal": lambda y: y.diagonal(),
    "a_row_of_the_transpose": lambda y: y.t()[1],
    "a_part_of_a_flat_view": lambda y: y.view(6)[2:5],
    "a_squeezed_part": lambda y: y[:1].squeeze(0),
    "all_of_it": lambda y: y[:],
    "all_of_it_by_dots": lambda y: y[...],
    "nothing_of_it": lambda y: y[3:],
    "a_permuted_part": lambda y: y[1:].permute(1, 0),
    "a_moved_dimension": lambda y: y.movedim(0, 1)[0],
    "an_unflattened_part": lambda y: y.view(2, 3)[1].view(3, 1),
}


def write_to(part):
    def written(T):
        x = T.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
        y = x * 1
        v = part(y)
        v.mul_(10)
        (y * y).sum().backward()
        return locals()

    return written


def write_around(part):
    def written(T):
        x = T.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
        y = x * 1
        v = part(y)
        y.mul_(10)
        (v * v).sum().backward()
        return locals()

    return written


for _name, _part in PARTS.items():
    program.add(f"writing_{_name}_rebases_the_base", write_to(_part))
    program.add(f"{_name}_is_replayed_when_the_base_is_written", write_around(_part))


@program
def an_expanded_view_is_replayed_when_the_base_is_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y.expand(3, 2)
    y.mul_(10)
    v.sum().backward()
    return locals()


@program
def an_expanded_view_must_not_be_written(T):
    y = T.tensor([1.0, 2.0], requires_grad=True) * 1
    v = y.expand(3, 2)
    error = attempt(lambda: v.mul_(10))
    return locals()


@program
def one_row_of_an_expanded_view_may_be_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y.expand(3, 2)
    v[1].mul_(10)
    y.sum().backward()
    return locals()


@program
def filling_an_expanded_view_fills_its_base(T):
    y = T.tensor([1.0, 2.0], requires_grad=True) * 1
    v = y.expand(3, 2)
    error = attempt(lambda: v.fill_(7))
    return locals()


@program
def the_old_node_of_a_view_can_still_be_used(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    before = v.grad_fn
    y.mul_(10)
    same = v.grad_fn is before
    return locals()


@program
def a_use_of_a_view_before_a_write_keeps_the_old_history(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    old = v + 0
    y.mul_(10)
    (old.sum() + v.sum()).backward()
    return locals()


@program
def a_use_of_the_base_before_a_write_to_its_view(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    old = y + 0
    y[1:].mul_(10)
    (old.sum() + y.sum()).backward()
    return locals()


@program
def a_write_of_a_view_by_its_own_base(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y[:1]
    v.add_(y[1:])
    y.sum().backward()
    return locals()


@program
def a_write_of_a_view_by_a_product_with_another_view(T):
    x = T.tensor([2.0, 5.0], requires_grad=True)
    y = x * 1
    y[:1].mul_(y[1:])
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def writes_that_need_the_old_value_of_a_view(T):
    x = T.tensor([2.0, 5.0], requires_grad=True)
    y = x * 1
    y[:1].pow_(3)
    y[1:].exp_()
    y.sum().backward()
    return locals()


@program
def a_chain_of_writes_through_one_view(T):
    x = T.tensor([2.0, 5.0], requires_grad=True)
    y = x * 1
    v = y[:1]
    v.mul_(2).add_(1).mul_(3)
    y.sum().backward()
    return locals()


@program
def the_view_that_was_written_can_be_used_for_backward_itself(T):
    x = T.tensor([2.0, 5.0], requires_grad=True)
    y = x * 1
    v = y[:1]
    v.mul_(7)
    v.backward()
    return locals()


@program
def zeroing_a_view_stops_the_gradient_of_its_part(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    y[1:].zero_()
    y.sum().backward()
    return locals()


@program
def copying_into_a_view_sends_the_gradient_to_the_source(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = T.tensor([4.0], requires_grad=True)
    y = x * 1
    y[1:].copy_(w)
    (y * y).sum().backward()
    return locals()


@program
def a_write_under_no_grad_does_not_change_the_history(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    with T.no_grad():
        v.mul_(10)
    y.sum().backward()
    return locals()


@program
def a_view_after_a_write_to_its_base_under_no_grad(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    before = v.grad_fn
    with T.no_grad():
        y.mul_(10)
    same = v.grad_fn is before
    v.sum().backward()
    return locals()


@program
def a_write_to_a_detached_alias_is_not_recorded_but_replays_views(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    before = v.grad_fn
    y.detach().mul_(10)
    same = v.grad_fn is before
    v.sum().backward()
    return locals()


@program
def retain_grad_of_a_view(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    v.retain_grad()
    (v * v).sum().backward()
    return locals()


@program
def retain_grad_of_a_view_whose_base_is_written(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    v.retain_grad()
    y.mul_(10)
    (v * v).sum().backward()
    return locals()


@program
def squeezing_a_view_in_place(T):
    x = T.tensor([[1.0, 2.0]], requires_grad=True)
    y = x * 1
    v = y[:, 1:]
    v.squeeze_(0)
    v.mul_(10)
    y.sum().backward()
    return locals()


@program
def transposing_in_place(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    y.t_()
    (y * T.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    return locals()


@program
def a_view_of_what_is_transposed_in_place(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    v = y[0]
    y.t_()
    v.mul_(10)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def unsqueezing_a_leaf_in_place_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    error = attempt(lambda: x.unsqueeze_(0))
    return locals()
