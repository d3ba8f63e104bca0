"""Several features at once: hooks and views, modes and Functions, copies and graphs."""

import copy
import pickle

from tests.tools.recorded.programs import Family, attempt, function

program = Family(__name__)


@program
def a_hook_on_a_view_that_is_written_afterwards(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y[:1]
    log = []
    v.register_hook(lambda g: log.append(["before", g.tolist()]))
    v.mul_(10)
    v.register_hook(lambda g: log.append(["after", g.tolist()]))
    y.sum().backward()
    return {"x": x, "y": y}


@program
def retain_grad_of_base_and_view_together(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    v = y[:1]
    y.retain_grad()
    v.retain_grad()
    (v * 10 + y.sum()).sum().backward()
    return locals()


@program
def a_hook_that_scales_in_a_recorded_pass(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    y.register_hook(lambda g: g * x)
    (d_x,) = T.autograd.grad(y, x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x, x)
    return locals()


@program
def a_removed_hook_in_a_recorded_pass(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    handle = y.register_hook(lambda g: g * 10)
    (d_1,) = T.autograd.grad(y, x, create_graph=True)
    handle.remove()
    (d_2,) = T.autograd.grad(y, x)
    return locals()


@program
def post_accumulation_and_node_hooks_in_order(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    accumulator = y.grad_fn.next_functions[0][0]
    x.register_post_accumulate_grad_hook(lambda t: log.append("post accumulate"))
    accumulator.register_hook(lambda inner, outer: log.append("hook"))
    accumulator.register_prehook(lambda outer: log.append("prehook"))
    x.register_hook(lambda g: log.append("tensor hook"))
    y.backward()
    return {"log": log, "x": x}


@program
def an_optimizer_in_a_hook_after_accumulation(T):
    w = T.tensor([1.0, 2.0], requires_grad=True)
    optimizer = T.optim.SGD([w], lr=0.5)

    def step(t):
        optimizer.step()
        optimizer.zero_grad()

    w.register_post_accumulate_grad_hook(step)
    (w * w).sum().backward()
    return locals()


@program
def a_step_inside_the_forward_of_the_next_loss(T):
    w = T.tensor([1.0, 2.0], requires_grad=True)
    first, second = (w * w).sum(), (w * 3).sum()
    first.backward()
    with T.no_grad():
        w -= 0.1 * w.grad
    second.backward()
    return locals()


@program
def truncated_backward_through_time(T):
    w = T.tensor(2.0, requires_grad=True)
    state = T.tensor(1.0)
    for _ in range(3):
        state = state.detach()
        state = (state * w).tanh()
        state.backward()
    return locals()


@program
def a_state_that_is_not_detached(T):
    w = T.tensor(2.0, requires_grad=True)
    state = T.tensor(1.0)
    errors = []
    for _ in range(2):
        state = (state * w).tanh()
        errors.append(attempt(state.backward))
    return locals()


@program
def a_buffer_written_in_a_loop(T):
    w = T.tensor(2.0, requires_grad=True)
    buffer = T.zeros(3)
    losses = []
    for i in range(3):
        buffer[i] = i
        losses.append((buffer * w).sum())
    error = attempt(lambda: sum(losses).backward())
    return {"error": error, "w": w}


@program
def a_residual_added_in_place(T):
    x = T.tensor([0.5, 1.0], requires_grad=True)
    y = x.tanh()
    z = y.sigmoid()
    y += z
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def a_residual_added_in_place_where_nobody_looks(T):
    x = T.tensor([0.5, 1.0], requires_grad=True)
    y = x * 2
    z = y.sigmoid()
    y += z
    y.sum().backward()
    return locals()


@program
def a_mean_over_a_running_sum_written_in_place(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    running = T.zeros(2)
    for _ in range(2):
        running.mul_(0.5).add_(x * x)
    running.mean().backward()
    return locals()


@program
def a_deepcopy_of_a_module_shares_nothing(T):
    layer = T.nn.Linear(2, 1, bias=False)
    with T.no_grad():
        layer.weight.fill_(1.0)
    twin = copy.deepcopy(layer)
    twin(T.ones(1, 2)).backward()
    weight, twin_weight = layer.weight, twin.weight
    return locals()


@program
def a_pickled_pair_of_the_same_tensor(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    a, b = pickle.loads(pickle.dumps([x, x]))
    same = a is b
    return {"same": same, "wants": a.requires_grad, "values": a.tolist()}


@program
def a_frozen_layer_between_two_trained_ones(T):
    a = T.tensor(2.0, requires_grad=True)
    frozen = T.tensor(3.0, requires_grad=True).requires_grad_(False)
    b = T.tensor(5.0, requires_grad=True)
    (a * frozen * b).backward()
    return locals()


@program
def a_loss_without_any_leaf_is_switched_on_by_hand(T):
    loss = T.tensor(2.0) * 3
    loss.requires_grad = True
    loss.backward()
    return locals()


@program
def a_function_under_enable_grad_inside_no_grad(T):
    x = T.tensor(2.0, requires_grad=True)
    square = function(T, lambda ctx, x: x * x, lambda ctx, g: g * 100)
    with T.no_grad():
        y = square.apply(x)
        with T.enable_grad():
            z = square.apply(x)
    z.backward()
    return locals()


@program
def a_custom_result_as_base_of_written_views(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    y[0] = 10.0
    y[1:].mul_(3)
    (y * y).sum().backward()
    return locals()


@program
def indices_made_of_results(T):
    x = T.tensor([3.0, 1.0, 2.0], requires_grad=True)
    order = x.argsort()
    y = x[order]
    (y * T.tensor([1.0, 10.0, 100.0])).sum().backward()
    return locals()


@program
def where_hides_a_nan_but_not_its_gradient(T):
    x = T.tensor([0.0, 4.0], requires_grad=True)
    y = T.where(x > 0, x.sqrt(), T.zeros(2))
    y.sum().backward()
    return locals()


@program
def a_gradient_clipped_in_place_between_backward_and_step(T):
    w = T.tensor([3.0, 4.0], requires_grad=True)
    (w * w).sum().backward()
    d_w = w.grad
    norm = T.nn.utils.clip_grad_norm_([w], 1.0).item()
    same = w.grad is d_w
    return {"same": same, "norm": norm, "d_w": d_w}


@program
def two_losses_that_share_a_trunk(T):
    w = T.tensor(2.0, requires_grad=True)
    trunk = w * w
    a, b = trunk * 3, trunk * 5
    a.backward(retain_graph=True)
    d_w = w.grad.clone()
    b.backward()
    return locals()


@program
def a_detached_target_follows_no_gradient(T):
    w = T.tensor([1.0, 2.0], requires_grad=True)
    prediction, target = w * 2, (w * 3).detach()
    ((prediction - target) ** 2).sum().backward()
    return locals()
