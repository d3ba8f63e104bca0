"""In-place operations: every order of saving, writing and backward."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def an_in_place_operation_returns_its_tensor(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y.add_(1)
    w = y
    w += 1
    return locals()


@program
def the_new_node_leads_to_the_old_one(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    before = y.grad_fn
    y.add_(1)
    leads_back = y.grad_fn.next_functions[0][0] is before
    return locals()


@program
def writing_what_nobody_saved(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = y * 2
    y.mul_(100)
    z.sum().backward()
    return locals()


@program
def writing_what_a_product_saved(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = y * y
    y.mul_(100)
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def writing_before_it_is_saved(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    y.mul_(100)
    z = y * y
    z.sum().backward()
    return locals()


@program
def writing_after_backward(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = y * y
    z.sum().backward()
    y.mul_(100)
    return locals()


@program
def writing_between_two_backwards(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = (y * y).sum()
    z.backward(retain_graph=True)
    y.mul_(100)
    error = attempt(z.backward)
    return locals()


@program
def writing_a_result_that_its_own_node_saved(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    results = [x.exp(), x.sigmoid(), x.tanh(), x.sqrt(), x.softmax(0)]
    errors = []
    for y in results:
        y.add_(1)
        errors.append(attempt(lambda y=y: y.sum().backward()))
    return locals()


@program
def writing_a_result_whose_node_saved_its_input(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.sin()
    y.add_(1)
    y.sum().backward()
    return locals()


@program
def an_in_place_product_saves_what_was_there_before(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor([3.0, 4.0], requires_grad=True)
    y = x * 1
    y.mul_(w)
    y.sum().backward()
    return locals()


@program
def an_in_place_product_with_itself(T):
    x = T.tensor([2.0, 3.0], requires_grad=True)
    y = x * 1
    y.mul_(y)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def an_in_place_sum_with_itself(T):
    x = T.tensor([2.0, 3.0], requires_grad=True)
    y = x * 1
    y.add_(y)
    y.sum().backward()
    return locals()


@program
def in_place_exp_then_a_use(T):
    x = T.tensor([0.0, 1.0], requires_grad=True)
    y = x * 1
    y.exp_()
    (y * 2).sum().backward()
    return locals()


@program
def in_place_exp_then_a_write(T):
    x = T.tensor([0.0, 1.0], requires_grad=True)
    y = x * 1
    y.exp_()
    y.add_(1)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_write_that_changes_no_value_counts_all_the_same(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = y * y
    y.mul_(1)
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def a_write_that_is_undone_counts_all_the_same(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = y * y
    y.add_(1).sub_(1)
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def a_write_under_no_grad_counts_all_the_same(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = y * y
    with T.no_grad():
        y.zero_()
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def a_write_to_a_detached_alias_counts(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.sigmoid()
    d = y.detach()
    d.zero_()
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_write_to_data_does_not_count(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.sigmoid()
    y.data.zero_()
    y.sum().backward()
    return locals()


@program
def a_write_to_a_view_counts_for_the_saved_base(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = y * y
    y[0].zero_()
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def a_write_to_the_base_counts_for_a_saved_view(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = y[0] * y[0]
    y.zero_()
    error = attempt(z.backward)
    return locals()


@program
def a_write_to_another_part_counts_all_the_same(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = y[0] * y[0]
    y[1].zero_()
    error = attempt(z.backward)
    return locals()


@program
def a_constant_factor_must_not_be_written_either(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    c = T.tensor([3.0, 4.0])
    z = x * c
    c.add_(1)
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def a_constant_factor_whose_partner_wants_no_gradient_is_not_saved(T):
    c = T.tensor([3.0, 4.0])
    x = T.tensor([1.0, 2.0], requires_grad=True)
    z = x * c
    with T.no_grad():
        x.add_(1)
    z.sum().backward()
    return locals()


@program
def a_leaf_written_under_no_grad_between_forward_and_backward(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    z = x * x
    with T.no_grad():
        x.sub_(0.1)
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def a_leaf_written_through_data_gives_a_silently_wrong_gradient(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    z = x * x
    x.data.mul_(10)
    z.sum().backward()
    return locals()


@program
def a_constant_becomes_a_result_when_a_tensor_with_grad_is_added(T):
    c = T.tensor([1.0, 2.0])
    x = T.tensor([3.0, 4.0], requires_grad=True)
    c.add_(x)
    c.sum().backward()
    return locals()


@program
def a_constant_is_overwritten_by_copy(T):
    c = T.tensor([1.0, 2.0])
    x = T.tensor([3.0, 4.0], requires_grad=True)
    c.copy_(x)
    (c * c).sum().backward()
    return locals()


@program
def a_result_filled_with_a_constant_has_a_history_without_gradient(T):
    x = T.tensor([3.0, 4.0], requires_grad=True)
    y = x * 2
    y.fill_(5)
    y.sum().backward()
    return locals()


@program
def a_result_zeroed_in_place(T):
    x = T.tensor([3.0, 4.0], requires_grad=True)
    y = x * 2
    y.zero_()
    y.sum().backward()
    return locals()


@program
def clamping_in_place_stops_some_gradients(T):
    x = T.tensor([-1.0, 0.5, 3.0], requires_grad=True)
    y = x * 1
    y.clamp_(0, 1)
    y.sum().backward()
    return locals()


@program
def masked_fill_in_place(T):
    x = T.tensor([-1.0, 0.5, 3.0], requires_grad=True)
    y = x * 1
    y.masked_fill_(x > 0, 7.0)
    y.sum().backward()
    return locals()


@program
def an_augmented_assignment_of_a_name_is_a_write(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    alias = y
    y *= 3
    same = y is alias
    y = y * 3
    same_after = y is alias
    return locals()


@program
def a_loop_of_writes_on_an_accumulator(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    total = T.zeros(2)
    for k in range(3):
        total += x * k
    total.sum().backward()
    return locals()


@program
def a_loop_that_multiplies_an_accumulator(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    total = T.ones(2)
    for _ in range(3):
        total *= x
    error = attempt(lambda: total.sum().backward())
    return locals()


@program.fails
def a_write_in_a_larger_shape_is_refused(T):
    y = T.tensor([1.0], requires_grad=True) * 1
    y.add_(T.ones(3))


@program.fails
def a_write_of_floats_into_integers_is_refused(T):
    y = T.tensor([1, 2])
    y.add_(0.5)


@program
def products_and_determinants_save_their_results(T):
    errors = []
    for call in (
        lambda x: x.prod(),
        lambda x: x.prod(0),
        lambda x: x.prod(1, keepdim=True),
        lambda x: T.linalg.det(x),
    ):
        x = T.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        y = call(x)
        y.add_(1)
        errors.append(attempt(lambda y=y: y.sum().backward()))
    return locals()


@program
def erfinv_saves_its_input(T):
    x = T.tensor([0.25, -0.5], requires_grad=True)
    y = T.erfinv(x)
    y.mul_(2)
    y.sum().backward()
    z = x * 1
    y = T.erfinv(z)
    z.mul_(2)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def ctc_loss_saves_its_result_before_infinities_are_replaced(T):
    errors, d_x = [], []
    for zero_infinity in (False, True):
        x = T.zeros(4, 2, 3, dtype=T.float64, requires_grad=True)
        labels, lengths = T.tensor([[1, 2], [2, 2]]), T.tensor([2, 2])
        options = {"reduction": "none", "zero_infinity": zero_infinity}
        y = T.nn.functional.ctc_loss(
            x.log_softmax(-1), labels, T.tensor([4, 2]), lengths, **options
        )
        node = type(y.grad_fn).__name__
        y.mul_(2)
        errors.append(attempt(lambda y=y: y.sum().backward()))
        d_x.append(x.grad)
    return locals()
