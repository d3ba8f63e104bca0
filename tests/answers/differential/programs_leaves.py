"""Leaves: which tensors are leaves, what may not be done to them, requires_grad on and off."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def what_is_a_leaf(T):
    made = T.ones(2)
    wanted = T.ones(2, requires_grad=True)
    computed = wanted * 2
    of_constants = made * 2
    cut = computed.detach()
    parameter = T.nn.Parameter(T.ones(2))
    with T.no_grad():
        unrecorded = wanted * 2
    return locals()


@program
def a_comparison_is_a_leaf_without_grad(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    mask = x > 1
    place = x.argmax()
    count = x.long()
    return locals()


@program
def a_computed_tensor_switched_on_is_a_leaf(T):
    y = (T.ones(2) * 2).requires_grad_()
    (y * 3).sum().backward()
    return locals()


@program
def one_input_with_grad_is_enough(T):
    a = T.ones(2)
    b = T.ones(2, requires_grad=True)
    c, d, e = a + a, a + b, b + a
    return locals()


@program
def requires_grad_returns_the_tensor_itself(T):
    x = T.ones(2)
    y = x.requires_grad_()
    z = x.requires_grad_(False)
    return locals()


@program
def requires_grad_can_be_assigned(T):
    x = T.ones(2)
    x.requires_grad = True
    y = x * 2
    x.requires_grad = False
    z = x * 2
    return locals()


@program
def a_leaf_switched_off_after_its_use_still_gets_a_gradient(T):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    x.requires_grad_(False)
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_leaf_switched_off_and_on_again_gets_a_gradient(T):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    x.requires_grad_(False)
    x.requires_grad_(True)
    y.sum().backward()
    return locals()


@program
def a_leaf_switched_on_late_gets_the_gradient_of_later_uses_only(T):
    x = T.ones(2)
    w = T.ones(2, requires_grad=True)
    early = x * w
    x.requires_grad_()
    late = x * w
    (early * 10 + late).sum().backward()
    return locals()


@program
def switching_off_keeps_the_gradient(T):
    x = T.ones(2, requires_grad=True)
    x.sum().backward()
    x.requires_grad_(False)
    return locals()


@program
def switching_off_a_result_is_refused(T):
    y = T.ones(2, requires_grad=True) * 2
    errors = [attempt(lambda: y.requires_grad_(False))]
    errors.append(attempt(lambda: setattr(y, "requires_grad", False)))
    return locals()


@program
def switching_on_a_result_changes_nothing(T):
    y = T.ones(2, requires_grad=True) * 2
    errors = [attempt(y.requires_grad_), attempt(lambda: setattr(y, "requires_grad", True))]
    return locals()


@program
def switching_off_a_constant_changes_nothing(T):
    x = T.ones(2)
    x.requires_grad_(False)
    x.requires_grad = False
    return locals()


@program
def integers_cannot_require_grad(T):
    x = T.tensor([1, 2])
    mask = T.tensor([True])
    errors = [attempt(x.requires_grad_), attempt(mask.requires_grad_)]
    errors.append(attempt(lambda: setattr(x, "requires_grad", True)))
    errors.append(attempt(lambda: T.tensor([1, 2], requires_grad=True)))
    errors.append(attempt(lambda: T.zeros(2, dtype=T.int64, requires_grad=True)))
    return locals()


@program
def integers_may_be_told_not_to_require_grad(T):
    x = T.tensor([1, 2], requires_grad=False)
    x.requires_grad_(False)
    return locals()


@program
def is_leaf_and_grad_fn_cannot_be_assigned(T):
    x = T.ones(2, requires_grad=True)
    errors = [attempt(lambda: setattr(x, "is_leaf", False))]
    errors.append(attempt(lambda: setattr(x, "_base", None)))
    return locals()


@program
def writing_a_leaf_is_refused_and_changes_nothing(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = T.ones(2)
    errors = [attempt(lambda: x.add_(1)), attempt(lambda: x.zero_()), attempt(lambda: x.copy_(y))]
    errors += [attempt(lambda: x.mul_(x)), attempt(x.exp_), attempt(lambda: x.normal_())]
    return locals()


@program
def augmenting_a_leaf_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)

    def augment():
        y = x
        y += 1

    error = attempt(augment)
    return locals()


@program
def a_leaf_as_out_argument_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    error = attempt(lambda: T.add(T.ones(2), T.ones(2), out=x))
    return locals()


@program
def an_out_argument_of_what_requires_grad_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    out = T.zeros(2)
    error = attempt(lambda: T.add(x, x, out=out))
    with T.no_grad():
        T.add(x, x, out=out)
    return locals()


@program
def writing_a_leaf_under_no_grad(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.no_grad():
        x.add_(1)
        x.mul_(2)
    return locals()


@program
def writing_a_leaf_that_was_switched_off(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    x.requires_grad_(False)
    x.add_(1)
    x.requires_grad_(True)
    (x * x).sum().backward()
    return locals()


@program
def writing_a_leaf_with_grad_by_a_tensor_without(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    error = attempt(lambda: x.mul_(T.ones(2)))
    return locals()


@program
def adding_a_leaf_to_a_constant_makes_it_a_result(T):
    total = T.zeros(2)
    x = T.tensor([1.0, 2.0], requires_grad=True)
    total += x
    error = attempt(lambda: total.requires_grad_(False))
    return locals()


@program
def a_constant_that_became_a_result_can_be_written_again(T):
    total = T.zeros(2)
    x = T.tensor([1.0, 2.0], requires_grad=True)
    total += x
    total *= 2
    total.sum().backward()
    return locals()


@program
def a_constant_with_a_gradient_of_its_own_becomes_a_result(T):
    total = T.zeros(2)
    total.grad = T.ones(2)
    x = T.tensor([1.0, 2.0], requires_grad=True)
    total += x
    return locals()


@program
def a_parameter_requires_grad_and_is_a_leaf(T):
    data = T.ones(2)
    p = T.nn.Parameter(data)
    frozen = T.nn.Parameter(data, requires_grad=False)
    y = p * 2
    return locals()


@program
def a_parameter_of_a_result_is_cut_from_it(T):
    x = T.ones(2, requires_grad=True)
    p = T.nn.Parameter(x * 2)
    return locals()


@program
def tensor_of_a_tensor_is_a_copy_and_warns(T):
    x = T.ones(2, requires_grad=True)
    y = T.tensor(x)
    return locals()


@program
def as_tensor_of_a_tensor_is_the_tensor_itself(T):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    a, b = T.as_tensor(x), T.as_tensor(y)
    return locals()


@program
def tensors_like_a_leaf_do_not_require_grad(T):
    x = T.ones(2, requires_grad=True)
    like = [T.zeros_like(x), T.ones_like(x), T.full_like(x, 3.0), x.new_zeros(2), x.new_ones(2)]
    wanted = T.zeros_like(x, requires_grad=True)
    return locals()


@program
def numpy_of_what_requires_grad_is_refused(T):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    errors = [attempt(x.numpy), attempt(y.numpy), attempt(x[:1].numpy)]
    array = x.detach().numpy()
    return locals()


@program
def numpy_shares_memory_but_no_version(T):
    x = T.zeros(2)
    array = x.numpy()
    array[0] = 5.0
    y = T.from_numpy(array)
    y[1] = 7.0
    return locals()


@program
def item_and_tolist_work_on_what_requires_grad(T):
    x = T.tensor(2.0, requires_grad=True)
    values = [x.item(), x.tolist(), (x * 2).item()]
    return locals()


@program
def the_truth_of_what_requires_grad(T):
    x = T.tensor(2.0, requires_grad=True)
    truth = [bool(x), bool(x > 3), not x]
    error = attempt(lambda: bool(T.ones(2)))
    return locals()
