"""Hooks of one module and of all: order, what they get, what they may return."""

from __future__ import annotations

from typing import Any

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def affine(T: Any, inputs: int = 2, outputs: int = 2) -> Any:
    """A Linear with fixed weights."""
    net = T.nn.Linear(inputs, outputs)
    with T.no_grad():
        net.weight.copy_(T.arange(1.0, inputs * outputs + 1).reshape(outputs, inputs))
        net.bias.copy_(T.arange(0.5, outputs))
    return net


def listed(grads: Any) -> list[Any]:
    return [None if g is None else g.tolist() for g in grads]


# ---- of one module ------------------------------------------------------------------------------


@program
def prepended_hooks_run_first(T):
    net, log = T.nn.Identity(), []
    for name, prepend in [("b", False), ("c", False), ("a", True)]:
        net.register_forward_hook(lambda *a, n=name: log.append(n), prepend=prepend)
        net.register_forward_pre_hook(lambda *a, n=name: log.append(n + "0"), prepend=prepend)
    net(1)
    return locals()


@program
def prepended_backward_hooks_run_first(T):
    net, log = affine(T), []
    for name, prepend in [("b", False), ("c", False), ("a", True)]:
        net.register_full_backward_hook(lambda *a, n=name: log.append(n), prepend=prepend)
        net.register_full_backward_pre_hook(lambda *a, n=name: log.append(n + "0"), prepend=prepend)
    net(T.ones(1, 2, requires_grad=True)).sum().backward()
    return locals()


@program
def pre_hooks_get_and_change_keywords(T):
    class Net(T.nn.Module):
        def forward(self, x, scale=1.0, shift=0.0):
            return x * scale + shift

    net, log = Net(), []

    def change(module, args, kwargs):
        log.append([len(args), sorted(kwargs)])
        return (args[0] + 1,), {**kwargs, "scale": 3.0}

    net.register_forward_pre_hook(change, with_kwargs=True)
    net.register_forward_hook(
        lambda m, a, k, out: log.append([a[0].tolist(), k, out.tolist()]), with_kwargs=True
    )
    out = net(T.ones(2), shift=0.5)
    return locals()


@program.fails
def a_pre_hook_with_keywords_returns_a_pair_or_nothing(T):
    net = T.nn.Identity()
    net.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    net(1)


@program
def an_always_called_hook_sees_the_error_pass(T):
    class Net(T.nn.Module):
        def forward(self, x):
            raise KeyError("broken")

    net, log = Net(), []
    net.register_forward_hook(lambda m, a, out: log.append("never"))
    net.register_forward_hook(lambda m, a, out: log.append(["always", out]), always_call=True)
    error = attempt(lambda: net(1))
    return locals()


@program
def an_always_called_hook_that_fails_is_silenced(T):
    class Net(T.nn.Module):
        def forward(self, x):
            raise KeyError("broken")

    def fail(*args):
        raise ValueError("hook")

    net, log = Net(), []
    net.register_forward_hook(fail, always_call=True)
    net.register_forward_hook(lambda m, a, out: log.append(out), always_call=True)
    error = attempt(lambda: net(1))
    return locals()


@program
def an_always_called_hook_runs_once(T):
    net, log = T.nn.Identity(), []
    net.register_forward_hook(lambda m, a, out: log.append(out), always_call=True)
    out = net(1)
    return locals()


@program
def a_removed_hook_is_gone(T):
    net, log = T.nn.Identity(), []
    handle = net.register_forward_hook(lambda *a: log.append(1))
    net(1)
    handle.remove()
    handle.remove()
    net(1)
    with net.register_forward_pre_hook(lambda *a: log.append(2)):
        net(1)
    net(1)
    return locals()


@program
def backward_hooks_see_and_change_gradients(T):
    net, log = affine(T), []
    x = T.tensor([[1.0, 2.0]], requires_grad=True)
    net.register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))
    net.register_full_backward_hook(lambda m, gi, go: log.append([listed(gi), listed(go)]))
    net.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    net(x).sum().backward()
    return locals()


@program
def backward_hooks_of_several_inputs_and_outputs(T):
    class Net(T.nn.Module):
        def forward(self, a, b, n):
            return a * b, b * n, n

    net, log = Net(), []
    net.register_full_backward_hook(lambda m, gi, go: log.append([listed(gi), listed(go)]))
    a, b = T.tensor([2.0], requires_grad=True), T.tensor([3.0], requires_grad=True)
    first, second, third = net(a, b, 4)
    second.sum().backward(retain_graph=True)
    first.sum().backward()
    return locals()


# ---- of all modules -----------------------------------------------------------------------------


@program
def global_forward_hooks_come_before_the_modules_own(T):
    everywhere = T.nn.modules.module
    net, log = T.nn.Sequential(T.nn.Identity()), []

    def note(name):
        return lambda module, *rest: log.append([name, type(module).__name__, len(rest)])

    net.register_forward_pre_hook(note("own pre"))
    net.register_forward_hook(note("own"))
    _handles = [
        everywhere.register_module_forward_pre_hook(note("pre")),
        everywhere.register_module_forward_hook(note("post")),
        everywhere.register_module_forward_hook(note("post with keywords"), with_kwargs=True),
    ]
    net(1)
    for handle in _handles:
        handle.remove()
    log.append("removed")
    net(1)
    return locals()


@program
def global_forward_hooks_change_arguments_and_outputs(T):
    everywhere = T.nn.modules.module
    net = T.nn.Sequential(T.nn.Identity(), T.nn.Identity())
    with (
        everywhere.register_module_forward_pre_hook(lambda m, args: args[0] + 1),
        everywhere.register_module_forward_hook(lambda m, args, out: out * 10),
    ):
        out = net(T.ones(1))
    after = net(T.ones(1))
    return locals()


@program
def a_global_hook_that_is_always_called(T):
    class Net(T.nn.Module):
        def forward(self, x):
            raise KeyError("broken")

    log = []
    everywhere = T.nn.modules.module
    with everywhere.register_module_forward_hook(
        lambda m, a, out: log.append([type(m).__name__, out]), always_call=True
    ):
        error = attempt(lambda: T.nn.Sequential(Net())(1))
    return locals()


@program
def a_global_hook_that_is_always_called_and_fails_is_silenced(T):
    class Net(T.nn.Module):
        def forward(self, x):
            raise KeyError("broken")

    def fail(*args):
        raise ValueError("hook")

    everywhere = T.nn.modules.module
    with everywhere.register_module_forward_hook(fail, always_call=True):
        error = attempt(lambda: Net()(1))
    return locals()


@program
def global_backward_hooks_come_before_the_modules_own(T):
    everywhere = T.nn.modules.module
    net, log = T.nn.Sequential(affine(T), T.nn.ReLU()), []
    net[0].register_full_backward_hook(lambda m, gi, go: log.append(["own", listed(gi)]))
    x = T.tensor([[1.0, 2.0]], requires_grad=True)
    with (
        everywhere.register_module_full_backward_pre_hook(
            lambda m, go: log.append(["pre", type(m).__name__, listed(go)])
        ),
        everywhere.register_module_full_backward_hook(
            lambda m, gi, go: log.append([type(m).__name__, listed(gi), listed(go)])
        ),
    ):
        net(x).sum().backward()
    return locals()


@program
def a_global_backward_hook_changes_gradients(T):
    everywhere = T.nn.modules.module
    x = T.tensor([[1.0, 2.0]], requires_grad=True)
    with everywhere.register_module_full_backward_hook(lambda m, gi, go: (gi[0] * 10,)):
        T.nn.Sequential(T.nn.Identity())(x).sum().backward()
    return locals()


# ---- on registration ----------------------------------------------------------------------------


@program
def registration_hooks_see_parameters_buffers_and_modules(T):
    everywhere = T.nn.modules.module
    log = []

    def note(kind):
        def hook(module, name, value):
            log.append([kind, type(module).__name__, name, type(value).__name__])

        return hook

    with (
        everywhere.register_module_parameter_registration_hook(note("parameter")),
        everywhere.register_module_buffer_registration_hook(note("buffer")),
        everywhere.register_module_module_registration_hook(note("module")),
    ):
        net = T.nn.Module()
        net.weight = T.nn.Parameter(T.ones(1))
        net.register_parameter("none", None)
        net.register_parameter("again", T.nn.Parameter(T.ones(2)))
        net.register_buffer("mean", T.zeros(1))
        net.register_buffer("nothing", None)
        net.mean = T.ones(1)
        net.layer = T.nn.Identity()
        net.add_module("more", T.nn.Identity())
        net.add_module("empty", None)
        net.layer = None
        net.weight = None
    net.late = T.nn.Parameter(T.ones(1))
    return locals()


@program
def registration_hooks_replace_what_is_registered(T):
    everywhere = T.nn.modules.module
    with (
        everywhere.register_module_parameter_registration_hook(
            lambda m, name, p: T.nn.Parameter(p.detach() * 2)
        ),
        everywhere.register_module_buffer_registration_hook(lambda m, name, b: b + 1),
        everywhere.register_module_module_registration_hook(lambda m, name, s: T.nn.Tanh()),
    ):
        net = T.nn.Module()
        net.weight = T.nn.Parameter(T.ones(1))
        net.register_buffer("mean", T.zeros(1))
        net.layer = T.nn.Identity()
    return locals()


# ---- the tables in which programs look ----------------------------------------------------------


@program
def hooks_are_functions_in_tables_that_programs_empty(T):
    net, log = T.nn.Identity(), []

    def note(*given):
        log.append(len(given))

    def counts():
        return [
            len(getattr(net, f"_{stage}"))
            for stage in (
                *("forward_pre_hooks", "forward_hooks", "backward_pre_hooks", "backward_hooks"),
                *("forward_hooks_with_kwargs", "forward_hooks_always_called"),
                "forward_pre_hooks_with_kwargs",
            )
        ]

    def fill():
        return [
            net.register_forward_pre_hook(note, with_kwargs=True),
            net.register_forward_hook(note),
            net.register_forward_hook(note, with_kwargs=True, always_call=True),
            net.register_full_backward_pre_hook(note),
            net.register_full_backward_hook(note),
        ]

    same = [counts()]
    handles = fill()
    same += [counts(), [*net._forward_hooks.values()] == [note, note]]
    net(T.ones(1))
    for handle in handles:
        handle.remove()
    same += [counts()]
    fill()
    net._forward_hooks.clear()
    net._forward_pre_hooks = type(net._forward_pre_hooks)()
    net(T.ones(1))
    return {"same": same, "log": log}


@program
def a_table_that_is_written_to_is_the_modules_own(T):
    one, other, log = T.nn.Identity(), T.nn.Identity(), []
    one._forward_hooks[-1] = lambda *given: log.append(len(given))
    out = [one(T.ones(1)), other(T.ones(1))]
    return locals()


@program
def state_hooks_stand_in_tables(T):
    net, log = T.nn.Linear(1, 1), []
    net.register_state_dict_pre_hook(lambda *given: log.append("before saving"))
    net.register_state_dict_post_hook(lambda *given: log.append("after saving"))
    net.register_load_state_dict_pre_hook(lambda *given: log.append("before loading"))
    net.register_load_state_dict_post_hook(lambda *given: log.append("after loading"))
    keys = [*net.state_dict()]
    tables = [
        *(net._state_dict_pre_hooks, net._state_dict_hooks),
        *(net._load_state_dict_pre_hooks, net._load_state_dict_post_hooks),
    ]
    lengths = [len(table) for table in tables]
    for table in tables:
        table.clear()
    net.load_state_dict(net.state_dict())
    del tables, table, net
    return locals()


@program
def global_hooks_stand_in_tables(T):
    everywhere, log = T.nn.modules.module, []
    everywhere.register_module_forward_hook(
        lambda *given: log.append(len(given)), with_kwargs=True, always_call=True
    )
    T.nn.Identity()(1)
    tables = [everywhere._global_forward_hooks, everywhere._global_forward_pre_hooks]
    lengths = [len(table) for table in tables]
    for table in tables:
        table.clear()
    T.nn.Identity()(1)
    del everywhere, tables, table
    return locals()
