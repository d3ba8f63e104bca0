"""Hooks on tensors: order, replaced gradients, removal, and what a write does to them."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def hooks_run_in_order_of_registration(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_hook(lambda g: log.append(["first", g.item()]))
    x.register_hook(lambda g: log.append(["second", g.item()]))
    (x * 3).backward()
    return locals()


@program
def a_hook_replaces_the_gradient(T):
    x = T.tensor(2.0, requires_grad=True)
    x.register_hook(lambda g: g * 10)
    (x * 3).backward()
    return locals()


@program
def the_second_hook_sees_what_the_first_returned(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: log.append(g.item()))
    x.register_hook(lambda g: g + 1)
    (x * 3).backward()
    return locals()


@program
def hooks_of_results_run_from_the_loss_to_the_leaf(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    y = x * 3
    z = y * y
    for name, t in {"x": x, "y": y, "z": z}.items():
        t.register_hook(lambda g, name=name: log.append([name, g.item()]))
    z.backward()
    return locals()


@program
def branches_run_newest_first(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    a, b, c = x * 2, x * 3, x * 4
    for name, t in {"a": a, "b": b, "c": c}.items():
        t.register_hook(lambda g, name=name: log.append(name))
    (b + (c + a)).backward()
    return locals()


@program
def a_leaf_hook_gets_the_sum_of_all_uses_once(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_hook(lambda g: log.append(g.item()))
    (x * 3 + x * 4 + x).backward()
    return locals()


@program
def a_hook_on_a_result_gets_the_sum_of_all_uses_once(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 1
    log = []
    y.register_hook(lambda g: log.append(g.item()))
    (y * 3 + y * 4).backward()
    return locals()


@program
def a_hook_on_a_leaf_sees_this_pass_not_what_was_accumulated(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_hook(lambda g: log.append(g.item()))
    (x * 3).backward()
    (x * 4).backward()
    return locals()


@program
def a_removed_hook_does_not_run(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    handle = x.register_hook(lambda g: log.append("removed"))
    x.register_hook(lambda g: log.append("kept"))
    handle.remove()
    handle.remove()
    (x * 3).backward()
    return locals()


@program
def a_handle_is_a_context(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    with x.register_hook(lambda g: log.append(g.item())):
        (x * 3).backward()
    (x * 4).backward()
    return locals()


@program
def a_hook_that_removes_itself_runs_once(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    handle = x.register_hook(lambda g: (log.append(g.item()), handle.remove())[1])
    (x * 3).backward()
    (x * 4).backward()
    return locals()


@program
def a_hook_that_removes_the_next_one(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    x.register_hook(lambda g: (log.append("first"), second.remove())[1])
    second = x.register_hook(lambda g: log.append("second"))
    (x * 3).backward()
    (x * 3).backward()
    return locals()


@program
def a_hook_that_adds_a_hook(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []

    def add(g):
        log.append("adds")
        x.register_hook(lambda g: log.append("added"))

    handle = x.register_hook(add)
    (x * 3).backward()
    handle.remove()
    (x * 3).backward()
    return locals()


@program
def the_same_function_registered_twice_runs_twice(T):
    x = T.tensor(2.0, requires_grad=True)

    def double(g):
        return g * 2

    x.register_hook(double)
    x.register_hook(double)
    (x * 3).backward()
    return locals()


@program
def a_hook_on_a_result_changes_what_lies_behind_it(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    z = y * 5
    y.register_hook(lambda g: g * 0)
    z.backward()
    return locals()


@program
def a_hook_on_a_tensor_without_grad_is_refused(T):
    x = T.tensor(2.0)
    error = attempt(lambda: x.register_hook(print))
    return locals()


@program
def a_hook_stays_when_the_leaf_is_switched_off_and_on(T):
    x = T.tensor(2.0, requires_grad=True)
    x.register_hook(lambda g: g * 10)
    x.requires_grad_(False)
    x.requires_grad_(True)
    (x * 3).backward()
    return locals()


@program
def a_hook_that_returns_another_shape_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)

    def shrink(g):
        return g[:1]

    x.register_hook(shrink)
    error = attempt(lambda: (x * 3).sum().backward())
    return locals()


@program
def a_hook_that_returns_another_dtype(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)

    def widen(g):
        return g.double()

    x.register_hook(widen)
    error = attempt(lambda: (x * 3).sum().backward())
    return locals()


@program
def a_hook_that_returns_no_tensor_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: 5.0)
    error = attempt(lambda: (x * 3).sum().backward())
    return locals()


@program
def an_error_in_a_hook_comes_out_of_backward(T):
    x = T.tensor(2.0, requires_grad=True)

    def refuse(g):
        raise ValueError("no gradient today")

    x.register_hook(refuse)
    error = attempt(lambda: (x * 3).backward())
    return locals()


@program
def a_hook_runs_in_autograd_grad_too(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    y.register_hook(lambda g: log.append(["y", g.item()]))
    x.register_hook(lambda g: g * 10)
    (d_x,) = T.autograd.grad(y * 2, x)
    return locals()


@program
def a_hook_on_the_input_that_autograd_grad_captures(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    d_x, d_y = T.autograd.grad(y * 2, [x, y])
    return locals()


@program
def a_hook_does_not_run_where_no_gradient_arrives(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    unused = x * 4
    log = []
    unused.register_hook(lambda g: log.append("unused"))
    y.backward()
    return locals()


@program
def a_hook_does_not_run_off_the_path_to_the_inputs(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    y = w * 2
    log = []
    y.register_hook(lambda g: log.append("y"))
    w.register_hook(lambda g: log.append("w"))
    (d_x,) = T.autograd.grad(x * y, x)
    return locals()


@program
def a_hook_on_a_tensor_survives_its_name(T):
    x = T.tensor(2.0, requires_grad=True)
    log = []
    y = x * 3
    y.register_hook(lambda g: log.append(g.item()))
    y = y * 5
    y.backward()
    return locals()


@program
def a_hook_runs_in_each_pass_over_a_kept_graph(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    log = []
    y.register_hook(lambda g: log.append(g.item()))
    y.backward(retain_graph=True)
    y.backward()
    return locals()


@program
def the_gradient_in_a_hook_is_recorded_only_with_create_graph(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x * x
    log = []
    x.register_hook(lambda g: log.append([g.requires_grad, T.is_grad_enabled()]))
    T.autograd.grad(y, x, retain_graph=True)
    T.autograd.grad(y, x, create_graph=True)
    return locals()


@program
def a_hook_that_replaces_is_part_of_the_second_derivative(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x * x
    x.register_hook(lambda g: g * g)
    (d_1,) = T.autograd.grad(y, x, create_graph=True)
    (d_2,) = T.autograd.grad(d_1, x)
    return locals()


@program
def a_prehook_of_a_node_with_two_outputs(T):
    log = []
    x = T.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    variance, mean = T.var_mean(x, 1)
    mean.grad_fn.register_prehook(lambda gs: log.append(gs[1].tolist()) or (gs[0], gs[1] * 10))
    (variance.sum() + mean.sum()).backward()
    return {"log": log, "x": x, "one": variance.grad_fn is mean.grad_fn}


@program
def hooks_of_one_gradient_are_given_one_tensor(T):
    seen = []

    def mark(g):
        g.mark = len(seen)
        seen.append(g)

    def double(g):
        seen.append(g)
        return g * 2

    def watched(t):
        seen.clear()
        for hook in (mark, mark, double, mark, mark):
            t.register_hook(hook)
        (t * 3).sum().backward()
        return [[a is b for a in seen] for b in seen], [getattr(g, "mark", None) for g in seen]

    x = T.tensor([1.0, 2.0], requires_grad=True)
    inner, leaf = watched(x * 2), watched(x)
    given = T.tensor([7.0, 5.0])
    y = x * 2
    y.register_hook(lambda g: given)
    y.register_hook(lambda g: seen.append(g is given))
    y.sum().backward()
    return {"inner": inner, "leaf": leaf, "given": seen[-1], "x": x}


@program
def hooks_of_one_node_are_given_one_tensor(T):
    log = []

    def mark(gs, *others):
        log.append(getattr(gs[0], "mark", None))
        gs[0].mark = len(log)

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    for _ in range(2):
        y.grad_fn.register_prehook(mark)
    for _ in range(2):
        y.grad_fn.register_hook(mark)
    y.sum().backward()
    return {"log": log, "x": x}
