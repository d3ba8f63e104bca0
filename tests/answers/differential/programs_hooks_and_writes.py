"""retain_grad, hooks around writes and on views, and hooks that run after accumulation."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def retain_grad_keeps_the_gradient_of_a_result(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    before = y.retains_grad
    y.retain_grad()
    (y * y).backward()
    return locals()


@program
def retain_grad_of_a_leaf_changes_nothing(T):
    x = T.tensor(2.0, requires_grad=True)
    x.retain_grad()
    (x * 3).backward()
    return locals()


@program
def retain_grad_of_a_constant_is_refused(T):
    x = T.tensor(2.0)
    error = attempt(x.retain_grad)
    return locals()


@program
def retain_grad_twice_keeps_it_once(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    y.backward()
    return locals()


@program
def a_retained_gradient_accumulates(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    z = y * y
    y.retain_grad()
    z.backward(retain_graph=True)
    z.backward()
    return locals()


@program
def the_loss_can_retain_its_own_gradient(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.retain_grad()
    y.backward()
    return locals()


@program
def the_gradient_of_a_result_that_does_not_retain_it_is_none_and_warns(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.backward()
    missing = y.grad
    return locals()


@program
def a_retained_gradient_is_what_the_hooks_made_of_it(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    y.retain_grad()
    y.register_hook(lambda g: g * 100)
    y.backward()
    return locals()


@program
def retain_grad_before_a_write_follows_the_tensor(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.retain_grad()
    y.mul_(5)
    y.backward()
    return locals()


@program
def retain_grad_after_a_write(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.mul_(5)
    y.retain_grad()
    y.backward()
    return locals()


@program
def a_hook_before_a_write_stays_with_the_old_value(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    y.register_hook(lambda g: log.append(["before", g.item()]))
    y.mul_(5)
    y.register_hook(lambda g: log.append(["after", g.item()]))
    y.backward()
    return locals()


@program
def a_hook_that_replaces_before_a_write(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    y.mul_(5)
    y.backward()
    return locals()


@program
def a_hook_and_retain_grad_before_two_writes(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    y.retain_grad()
    y.register_hook(lambda g: log.append(g.item()))
    y.mul_(5)
    y.mul_(7)
    y.backward()
    return locals()


@program
def retain_grad_of_a_base_whose_view_is_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.retain_grad()
    y[0].mul_(5)
    y.sum().backward()
    return locals()


@program
def retain_grad_of_a_view_that_is_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    v = y[:1]
    v.retain_grad()
    v.mul_(5)
    (v * 7).backward()
    return locals()


@program
def a_hook_on_a_view_of_a_leaf(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    v = x[:1]
    v.register_hook(lambda g: g * 10)
    (v * 3).backward()
    return locals()


@program
def a_hook_on_a_view_does_not_see_the_use_of_its_base(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    v = y[:1]
    log = []
    v.register_hook(lambda g: log.append("view"))
    y.register_hook(lambda g: log.append("base"))
    y.sum().backward()
    return locals()


@program
def a_hook_on_a_view_whose_base_is_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    v = y[:1]
    log = []
    v.register_hook(lambda g: log.append("before"))
    y.mul_(5)
    v.register_hook(lambda g: log.append("after"))
    v.sum().backward()
    return locals()


@program
def a_hook_on_a_base_whose_view_is_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    log = []
    y.register_hook(lambda g: log.append(["before", g.tolist()]))
    y[:1].mul_(5)
    y.register_hook(lambda g: log.append(["after", g.tolist()]))
    y.sum().backward()
    return locals()


@program
def a_hook_on_one_of_several_outputs(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b = x.split(2)
    a.register_hook(lambda g: g * 10)
    (a.sum() + b.sum()).backward()
    return locals()


@program
def retain_grad_of_several_outputs(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b = x.split(2)
    a.retain_grad()
    b.retain_grad()
    (a.sum() * 2).backward()
    return locals()


@program
def a_hook_on_a_leaf_that_an_assignment_wrote_under_no_grad(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: g * 10)
    with T.no_grad():
        x[0] = 5.0
    (x * x).sum().backward()
    return locals()


@program
def a_hook_on_a_leaf_whose_data_is_replaced(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: g * 10)
    x.data = T.tensor([5.0, 6.0])
    (x * x).sum().backward()
    return locals()


@program
def a_hook_returns_a_written_copy_of_the_gradient(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: g.clone().mul_(10))
    y.sum().backward()
    return locals()


@program
def a_hook_after_accumulation_sees_the_gradient_in_place(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_post_accumulate_grad_hook(lambda t: log.append([t is x, t.grad.item()]))
    (x * 3).backward()
    (x * 4).backward()
    return locals()


@program
def hooks_after_accumulation_run_in_order_and_after_tensor_hooks(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_post_accumulate_grad_hook(lambda t: log.append("after 1"))
    x.register_post_accumulate_grad_hook(lambda t: log.append("after 2"))
    x.register_hook(lambda g: log.append("tensor"))
    (x * 3).backward()
    return locals()


@program
def a_hook_after_accumulation_may_clear_the_gradient(T):
    x = T.tensor(2.0, requires_grad=True)

    def step(t):
        with T.no_grad():
            t.sub_(t.grad)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 3).backward()
    return locals()


@program
def a_hook_after_accumulation_runs_once_per_pass(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_post_accumulate_grad_hook(lambda t: log.append(t.grad.item()))
    (x * 3 + x * 4).backward()
    return locals()


@program
def a_hook_after_accumulation_does_not_run_in_autograd_grad(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_post_accumulate_grad_hook(lambda t: log.append("accumulated"))
    T.autograd.grad(x * 3, x)
    return locals()


@program
def a_hook_after_accumulation_runs_in_backward_with_inputs(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_post_accumulate_grad_hook(lambda t: log.append("x"))
    w.register_post_accumulate_grad_hook(lambda t: log.append("w"))
    (x * w).backward(inputs=[x])
    return locals()


@program
def a_hook_after_accumulation_is_for_leaves_that_require_grad(T):
    x = T.tensor(2.0, requires_grad=True)
    y, c = x * 2, T.tensor(1.0)
    errors = [attempt(lambda t=t: t.register_post_accumulate_grad_hook(print)) for t in (y, c)]
    return locals()


@program
def a_hook_after_accumulation_that_is_removed(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    handle = x.register_post_accumulate_grad_hook(lambda t: log.append("accumulated"))
    (x * 3).backward()
    handle.remove()
    (x * 3).backward()
    return locals()


@program
def a_hook_after_accumulation_that_returns_something(T):
    x = T.tensor(2.0, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: t.grad * 10)
    error = attempt(lambda: (x * 3).backward())
    return locals()
