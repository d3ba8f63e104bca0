"""Writing to a view or to its base: histories move, and views find theirs again."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def a_write_to_a_view_gives_its_base_a_new_history(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    v = y[1:]
    v.mul_(10)
    y.sum().backward()
    return locals()


@program
def a_write_to_the_base_gives_its_view_a_new_history(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    v = y[1:]
    y.mul_(10)
    v.sum().backward()
    return locals()


@program
def the_new_history_of_a_view_is_made_once(T):
    y = T.tensor([1.0, 2.0], requires_grad=True) * 2
    v = y[1:]
    first = v.grad_fn is v.grad_fn
    y.mul_(10)
    second = v.grad_fn is v.grad_fn
    return locals()


@program
def a_write_to_one_view_is_seen_by_the_gradient_of_another(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    a, b = y[:2], y[1:]
    a.mul_(10)
    b.sum().backward()
    return locals()


@program
def a_write_to_a_view_of_a_view(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    v = y.t()
    w = v[1]
    w.mul_(10)
    (y * y).sum().backward()
    return locals()


@program
def a_write_to_the_middle_of_a_chain(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    v = y.t()
    w = v[1]
    v.mul_(10)
    w.sum().backward()
    return locals()


@program
def writes_to_view_then_base_then_view(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    v.mul_(2)
    y.add_(1)
    v.mul_(5)
    y.sum().backward()
    return locals()


@program
def a_second_view_made_after_a_write(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    v.mul_(2)
    w = y[:2]
    w.sum().backward()
    return locals()


@program
def a_write_to_two_views_in_turn(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    a, b = y[:2], y[1:]
    a.mul_(10)
    b.mul_(3)
    a.add_(1)
    a.backward(T.tensor([1.0, 100.0]))
    return locals()


@program
def copying_a_tensor_with_grad_into_a_view_of_a_constant(T):
    base = T.zeros(3)
    x = T.tensor([1.0, 2.0], requires_grad=True)
    v = base[1:]
    v.copy_(x)
    (base * T.tensor([1.0, 2.0, 3.0])).sum().backward()
    return locals()


@program
def multiplying_a_view_of_a_constant_by_a_leaf(T):
    base = T.ones(3)
    x = T.tensor([2.0, 5.0], requires_grad=True)
    base[1:].mul_(x)
    base.sum().backward()
    return locals()


@program
def another_view_of_that_constant_gets_the_history_too(T):
    base = T.ones(3)
    old = base[1]
    x = T.tensor([2.0, 5.0], requires_grad=True)
    base[1:].mul_(x)
    old.backward()
    return locals()


@program
def a_view_of_a_constant_that_was_not_written_has_a_history_too(T):
    base = T.ones(3)
    untouched = base[:1]
    x = T.tensor([2.0, 5.0], requires_grad=True)
    base[1:].mul_(x)
    untouched.backward()
    return locals()


@program
def a_detached_alias_gets_no_history(T):
    base = T.ones(3)
    alias = base.detach()
    x = T.tensor([2.0, 5.0], requires_grad=True)
    base[1:].mul_(x)
    return locals()


@program
def writing_a_view_of_a_leaf_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    v = x[1:]
    errors = [attempt(lambda: v.mul_(2)), attempt(lambda: v.zero_()), attempt(lambda: v.fill_(1))]
    return locals()


@program.fails
def writing_a_view_of_a_view_of_a_leaf_is_refused(T):
    x = T.tensor([[1.0, 2.0]], requires_grad=True)
    v = x.t()[1]
    v.add_(1)


@program
def writing_a_view_of_a_leaf_under_no_grad(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    v = x[1:]
    with T.no_grad():
        v.mul_(10)
    (x * x).sum().backward()
    return locals()


@program
def a_view_of_a_leaf_written_under_no_grad_keeps_its_history(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    v = x[1:]
    with T.no_grad():
        x.mul_(10)
    v.sum().backward()
    return locals()


@program
def a_leaf_saved_before_a_write_to_its_view_under_no_grad(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    with T.no_grad():
        x[1:].zero_()
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_view_made_under_no_grad_must_not_be_written_outside(T):
    y = T.tensor([1.0, 2.0], requires_grad=True) * 1
    with T.no_grad():
        v = y[:1]
    error = attempt(lambda: v.mul_(2))
    return locals()


@program
def a_view_made_under_no_grad_may_be_written_inside(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with T.no_grad():
        v = y[:1]
        v.mul_(2)
    y.sum().backward()
    return locals()


@program
def a_view_made_under_no_grad_loses_its_history_when_the_base_is_written(T):
    y = T.tensor([1.0, 2.0], requires_grad=True) * 1
    with T.no_grad():
        v = y[:1]
    y.mul_(2)
    error = attempt(lambda: v.grad_fn)
    error_of_use = attempt(lambda: v * 2)
    return locals()


@program
def a_no_grad_view_of_a_leaf_must_not_be_written_outside(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.no_grad():
        v = x[:1]
    error = attempt(lambda: v.mul_(2))
    return locals()


@program
def a_no_grad_view_of_a_constant_may_be_written_by_a_constant(T):
    base = T.ones(2)
    with T.no_grad():
        v = base[:1]
    v.mul_(2)
    return locals()


@program
def a_no_grad_view_of_a_constant_must_not_get_a_history(T):
    base = T.ones(2)
    with T.no_grad():
        v = base[:1]
    x = T.tensor([3.0], requires_grad=True)
    error = attempt(lambda: v.mul_(x))
    return locals()


@program
def a_view_under_enable_grad_inside_no_grad_is_a_usual_one(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with T.no_grad(), T.enable_grad():
        v = y[:1]
    v.mul_(5)
    y.sum().backward()
    return locals()


@program
def one_of_several_views_must_not_be_written(T):
    y = T.tensor([1.0, 2.0, 3.0], requires_grad=True) * 1
    a, b = y.split(2)
    first, *rest = y.unbind()
    half = y.chunk(2)[1]
    errors = [attempt(lambda t=t: t.mul_(2)) for t in (a, b, first, half)]
    return locals()


@program
def one_of_several_views_of_a_leaf_must_not_be_written(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b = x.split(2)
    error = attempt(lambda: a.mul_(2))
    return locals()


@program
def one_of_several_views_may_be_written_under_no_grad(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    a, b = y.split(2)
    with T.no_grad():
        a.mul_(2)
    y.sum().backward()
    return locals()


@program
def one_of_several_views_of_a_constant_may_be_written(T):
    base = T.ones(3)
    a, b = base.split(2)
    a.mul_(2)
    return locals()


@program
def one_of_several_views_of_a_constant_must_not_get_a_history(T):
    base = T.ones(3)
    a, b = base.split(2)
    x = T.tensor([2.0, 3.0], requires_grad=True)
    error = attempt(lambda: a.mul_(x))
    return locals()


@program
def one_of_several_views_is_lost_when_the_base_is_written(T):
    y = T.tensor([1.0, 2.0, 3.0], requires_grad=True) * 1
    a, b = y.split(2)
    y.mul_(2)
    errors = [attempt(lambda: a.grad_fn), attempt(lambda: b.sum())]
    return locals()


@program
def a_view_of_one_of_several_views_must_not_be_written(T):
    y = T.tensor([1.0, 2.0, 3.0], requires_grad=True) * 1
    a, b = y.split(2)
    v = a[:1]
    error = attempt(lambda: v.mul_(2))
    return locals()


@program
def iterating_and_writing_the_rows_is_refused(T):
    y = T.ones(2, 2, requires_grad=True) * 1
    row = next(iter(y))
    error = attempt(lambda: row.add_(1))
    return locals()
