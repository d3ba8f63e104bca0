"""Version counters: what counts as a write, how much it counts, and who shares a counter."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)

WRITES = {
    "add_": lambda T, x: x.add_(1),
    "mul_": lambda T, x: x.mul_(2),
    "zero_": lambda T, x: x.zero_(),
    "fill_": lambda T, x: x.fill_(3),
    "copy_": lambda T, x: x.copy_(T.ones(2)),
    "exp_": lambda T, x: x.exp_(),
    "clamp_": lambda T, x: x.clamp_(0, 1),
    "normal_": lambda T, x: x.normal_().zero_(),
    "an_assignment": lambda T, x: x.__setitem__(0, 5.0),
    "an_assignment_of_all": lambda T, x: x.__setitem__(slice(None), 5.0),
    "an_assignment_by_list": lambda T, x: x.__setitem__([0], 5.0),
    "an_assignment_by_mask": lambda T, x: x.__setitem__(x > 0, 5.0),
    "an_augmented_assignment_of_a_part": lambda T, x: augment(x),
    "a_chain_of_three": lambda T, x: x.add_(1).mul_(2).sub_(3),
    "unsqueeze_": lambda T, x: x.unsqueeze_(0),
    "t_": lambda T, x: x.t_(),
    "out_of_an_operation": lambda T, x: T.add(T.ones(2), T.ones(2), out=x),
    "masked_fill_": lambda T, x: x.masked_fill_(T.tensor([True, False]), 9.0),
    "index_fill_": lambda T, x: x.index_fill_(0, T.tensor([1]), 9.0),
    "index_add_": lambda T, x: x.index_add_(0, T.tensor([1]), T.ones(1)),
    "scatter_": lambda T, x: x.scatter_(0, T.tensor([1]), 4.0),
    "a_comparison_in_place": lambda T, x: x.gt_(0),
    "requires_grad_": lambda T, x: x.requires_grad_(),
    "detach_": lambda T, x: x.detach_(),
    "reading": lambda T, x: (x.sum(), x[0], x.tolist(), x.numpy()),
    "a_refused_write": lambda T, x: attempt(lambda: x.add_(T.ones(3, 2))),
    "a_write_of_nothing": lambda T, x: x[2:].zero_(),
    "setting_data": lambda T, x: setattr(x, "data", T.ones(2)),
    "a_write_through_data": lambda T, x: x.data.zero_(),
    "a_write_through_numpy": lambda T, x: x.numpy().fill(4),
}


def augment(x):
    x[1:] += 1


def write(change):
    def written(T):
        x = T.tensor([1.0, 2.0])
        change(T, x)
        return locals()

    return written


def write_without_recording(change):
    def written(T):
        x = T.tensor([1.0, 2.0])
        with T.no_grad():
            change(T, x)
        return locals()

    return written


for _name, _change in WRITES.items():
    program.add(f"after_{_name}", write(_change))
    program.add(f"after_{_name}_under_no_grad", write_without_recording(_change))


@program
def a_new_tensor_has_version_0(T):
    new = [T.zeros(2), T.ones(2), T.tensor([1.0]), T.arange(3), T.full((2,), 5.0), T.eye(2)]
    new += [T.zeros(2) + 1, T.zeros(2).clone(), T.zeros(2)[0], T.empty(0), T.zeros(2).detach()]
    versions = [t._version for t in new]
    return locals()


@program
def views_share_one_counter_in_all_directions(T):
    x = T.zeros(4)
    a, b = x[:2], x[2:]
    c = a[:1]
    c.add_(1)
    after_grandchild = [x._version, a._version, b._version, c._version]
    b.add_(1)
    x.add_(1)
    return locals()


@program
def detach_shares_the_counter_and_data_has_its_own(T):
    x = T.zeros(2)
    x.add_(1)
    d, data = x.detach(), x.data
    d.add_(1)
    data.add_(1)
    return locals()


@program
def the_counter_of_data_begins_at_zero(T):
    x = T.zeros(2)
    x.add_(1)
    first = x.data
    first.add_(1)
    second = x.data
    return locals()


@program
def a_view_of_data_shares_the_counter_of_data(T):
    x = T.zeros(2)
    data = x.data
    data[0] = 1.0
    return locals()


@program
def a_view_made_after_writes_shows_them(T):
    x = T.zeros(2)
    x.add_(1)
    x.add_(1)
    v = x[:1]
    d = x.detach()
    return locals()


@program
def a_copy_begins_anew(T):
    x = T.zeros(2)
    x.add_(1)
    y = x.clone()
    return locals()


@program
def several_writes_in_a_loop_count_each(T):
    x = T.zeros(2)
    for i in range(5):
        x[0] = float(i)
    return locals()


@program
def a_result_written_in_place_counts_from_zero(T):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.mul_(3)
    y[0] = 1.0
    return locals()


@program
def the_gradient_counts_what_is_accumulated(T):
    x = T.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad._version
    g = x.grad
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    return locals()


@program
def a_gradient_zeroed_in_place_and_accumulated_again(T):
    x = T.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    g = x.grad
    g.zero_()
    (x * 2).sum().backward()
    return locals()


@program
def a_counter_cannot_be_set(T):
    x = T.ones(2)
    error = attempt(lambda: setattr(x, "_version", 5))
    return locals()


@program
def the_message_counts_the_writes_since_the_save(T):
    y = T.ones(2, requires_grad=True) * 1
    y.add_(1)
    z = y * y
    y.add_(1)
    y.add_(1)
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def a_tensor_saved_twice_at_two_versions(T):
    y = T.ones(2, requires_grad=True) * 1
    first = y * y
    y.add_(1)
    second = y * y
    fine = attempt(lambda: second.sum().backward(retain_graph=True))
    error = attempt(lambda: first.sum().backward())
    return locals()


@program
def unsafe_preservation_is_not_needed_for_a_leaf_that_nobody_saved(T):
    w = T.ones(2, requires_grad=True)
    loss = (w * 3).sum()
    with T.no_grad():
        w.sub_(0.5)
    loss.backward()
    return locals()


@program
def an_optimizer_step_is_a_write(T):
    w = T.ones(2, requires_grad=True)
    optimizer = T.optim.SGD([w], lr=0.5)
    (w * 3).sum().backward()
    optimizer.step()
    optimizer.step()
    return locals()


@program
def a_step_between_forward_and_backward(T):
    w = T.ones(2, requires_grad=True)
    optimizer = T.optim.SGD([w], lr=0.5)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    error = attempt(loss.backward)
    return locals()


@program
def loading_a_state_is_a_write(T):
    layer = T.nn.Linear(1, 1)
    state = {"weight": T.ones(1, 1), "bias": T.zeros(1)}
    layer.load_state_dict(state)
    weight, bias = layer.weight, layer.bias
    return locals()


@program
def an_initializer_is_a_write(T):
    w = T.ones(2, requires_grad=True)
    T.nn.init.zeros_(w)
    T.nn.init.constant_(w, 3.0)
    return locals()
