"""nn.utils: clipping, parameters as a vector, functional calls, skipped initialisation."""

from __future__ import annotations

import copy

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def with_grads(T, *grads):
    made = []
    for grad in grads:
        p = T.nn.Parameter(T.zeros(len(grad)))
        p.grad = T.tensor(grad)
        made.append(p)
    return made


# ---- clipping -----------------------------------------------------------------------------------


for _p in (2.0, 1.0, 3, 0.5, 0, -1, float("inf"), float("-inf"), "inf"):

    def norm_of_order(T, p=_p):
        params = with_grads(T, [3.0, -1.0], [0.5, 4.0, 2.0])
        total = T.nn.utils.get_total_norm([q.grad for q in params], p)
        clipped = T.nn.utils.clip_grad_norm_(params, 1.5, norm_type=p)
        return locals()

    program.add(f"norm_of_order_{_p!r}", norm_of_order)


@program
def one_tensor_and_generators(T):
    params = with_grads(T, [3.0, 4.0], [0.0])
    total = T.nn.utils.get_total_norm(params[0].grad)
    clipped = T.nn.utils.clip_grad_norm_(params[0], 1.0)
    again = T.nn.utils.clip_grad_norm_((p for p in params), 0.5, foreach=False)
    T.nn.utils.clip_grad_value_(params[0], 0.25)
    T.nn.utils.clip_grad_value_((p for p in params), 0.125, foreach=True)
    return locals()


@program
def nothing_to_clip(T):
    utils = T.nn.utils
    without_grad = T.nn.Parameter(T.ones(1))
    totals = [
        utils.clip_grad_norm_(without_grad, 1.0),
        utils.clip_grad_norm_([], 1.0),
        utils.clip_grad_norm_((p for p in []), 1.0),
        utils.get_total_norm([]),
    ]
    utils.clip_grads_with_norm_([], 1.0, T.tensor(1.0))
    return locals()


@program
def small_gradients_stay_and_odd_norms_do_odd_things(T):
    params = with_grads(T, [3.0, 4.0])
    total = T.nn.utils.clip_grad_norm_(params, 10.0)
    T.nn.utils.clip_grads_with_norm_(params, 1.0, T.tensor(4.0), foreach=None)
    after = params[0].grad.tolist()
    T.nn.utils.clip_grad_norm_(params, 0.0)
    T.nn.utils.clip_grad_norm_(params, -1.0)
    return locals()


@program
def gradients_that_are_not_finite(T):
    params = with_grads(T, [3.0, float("inf")], [1.0])
    refused = attempt(lambda: T.nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True))
    kept = params[1].grad.tolist()
    total = T.nn.utils.clip_grad_norm_(params, 1.0)
    more = with_grads(T, [float("nan")], [1.0])
    nan = T.nn.utils.clip_grad_norm_(more, 1.0)
    refused_inf = attempt(
        lambda: T.nn.utils.get_total_norm(more[0].grad, float("inf"), error_if_nonfinite=True)
    )
    return locals()


@program
def the_norm_of_several_dtypes(T):
    a, b = T.tensor([3.0]), T.tensor([4.0], dtype=T.float32)
    total = T.nn.utils.get_total_norm([a, b])
    single = T.nn.utils.get_total_norm([b])
    return locals()


@program
def norms_that_do_not_exist(T):
    texts = [
        attempt(lambda: T.nn.utils.get_total_norm([T.tensor([1])])),
        attempt(lambda: T.nn.utils.get_total_norm([T.zeros(0)], float("-inf"))),
        attempt(lambda: T.nn.utils.get_total_norm([T.zeros(0)], -1)),
    ]
    empty = T.nn.utils.get_total_norm([T.zeros(0), T.ones(1)])
    return locals()


@program
def the_old_name_of_clipping(T):
    params = with_grads(T, [3.0, 4.0])
    total = T.nn.utils.clip_grad_norm(params, 1.0)
    return locals()


# ---- parameters as a vector ---------------------------------------------------------------------


@program
def a_vector_and_back(T):
    net = T.nn.Linear(2, 3)
    with T.no_grad():
        net.weight.copy_(T.arange(6.0).reshape(3, 2))
        net.bias.copy_(T.arange(3.0))
    vector = T.nn.utils.parameters_to_vector(net.parameters())
    (vector * T.arange(9.0)).sum().backward()
    given = T.arange(9.0) * 2
    T.nn.utils.vector_to_parameters(given, net.parameters())
    given += 1
    shared = net.bias.tolist()
    T.nn.utils.vector_to_parameters(T.arange(12.0), net.parameters())
    leaf = net.weight.is_leaf, net.weight.requires_grad
    texts = [
        attempt(lambda: T.nn.utils.vector_to_parameters([1.0], net.parameters())),
        attempt(lambda: T.nn.utils.vector_to_parameters(T.zeros(5), net.parameters())),
        attempt(lambda: T.nn.utils.parameters_to_vector([])),
    ]
    return locals()


# ---- functional calls ---------------------------------------------------------------------------


def called(T):
    """torch.func.functional_call, where it is."""
    return getattr(T, "func", T.nn.utils.stateless).functional_call


def tied(T):
    """A module with a parameter under two paths, and a buffer that its forward replaces."""

    class Net(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = T.nn.Parameter(T.tensor([2.0]))
            self.again = self.weight
            self.inner = T.nn.Linear(1, 1, bias=False)
            with T.no_grad():
                self.inner.weight.fill_(3.0)
            self.register_buffer("count", T.zeros(1))
            self.plain = T.tensor([5.0])

        def forward(self, x, scale=1.0):
            self.count = self.count + 1
            return self.inner(x * self.weight + self.again) * scale + self.plain

    return Net()


@program
def a_functional_call(T):
    net, call = tied(T), called(T)
    source = T.tensor([7.0], requires_grad=True)
    out = call(net, {"inner.weight": (source * 2).reshape(1, 1)}, T.ones(1, 1), {"scale": 10.0})
    out.sum().backward()
    own = net(T.ones(1, 1))
    same = isinstance(net.inner.weight, T.nn.Parameter)
    nothing = call(net, {}, (T.ones(1, 1),))
    return locals()


@program
def tied_parameters(T):
    net, call = tied(T), called(T)
    one = call(net, {"weight": T.zeros(1)}, T.ones(1, 1))
    other = call(net, {"again": T.zeros(1)}, T.ones(1, 1))
    apart = call(net, {"again": T.zeros(1)}, T.ones(1, 1), tie_weights=False)
    zero = T.zeros(1)
    both = call(net, {"weight": zero, "again": zero}, T.ones(1, 1))
    different = {"weight": T.zeros(1), "again": T.ones(1)}
    refused = attempt(lambda: call(net, different, T.ones(1, 1)))
    untied = call(net, different, T.ones(1, 1), tie_weights=False)
    return locals()


@program
def buffers_come_back_in_the_dictionary(T):
    net, call = tied(T), called(T)
    given = {"count": T.tensor([41.0]), "plain": T.zeros(1)}
    out = call(net, given, T.ones(1, 1))
    count, plain = net.count, net.plain
    return locals()


@program
def several_dictionaries(T):
    net, call = tied(T), called(T)
    out = call(net, ({"weight": T.zeros(1)}, {"count": T.ones(1)}), T.ones(1, 1))
    texts = [
        attempt(lambda: call(net, ({"weight": T.zeros(1)}, {"weight": T.ones(1)}), T.ones(1, 1))),
        attempt(lambda: call(net, ({"weight": T.zeros(1)}, 3), T.ones(1, 1))),
        attempt(lambda: call(net, 3, T.ones(1, 1))),
    ]
    return locals()


@program
def strict_calls(T):
    net, call = tied(T), called(T)
    full = {"weight": T.ones(1), "inner.weight": T.ones(1, 1), "count": T.zeros(1)}
    out = call(net, full, T.ones(1, 1), strict=True)
    del full["count"]
    missing = attempt(lambda: call(net, full, T.ones(1, 1), strict=True))
    full["x"] = T.ones(1)
    both = attempt(lambda: call(net, full, T.ones(1, 1), strict=True))
    whole = str(both).split("\n")
    return locals()


@program
def what_cannot_be_replaced(T):
    net, call = tied(T), called(T)
    texts = [
        attempt(lambda: call(net, {"weight": 3}, T.ones(1, 1))),
        attempt(lambda: call(net, {"inner": T.ones(1)}, T.ones(1, 1))),
        attempt(lambda: call(net, {"nothing.weight": T.ones(1)}, T.ones(1, 1))),
    ]
    new = call(net, {"new": T.ones(1)}, T.ones(1, 1))
    gone = hasattr(net, "new")
    kept = net.weight, isinstance(net.weight, T.nn.Parameter)
    return locals()


@program
def the_own_parameters_are_back_after_an_error(T):
    net, call = tied(T), called(T)
    error = type(attempt(lambda: call(net, {"weight": T.zeros(5)}, T.ones(2, 2)))).__name__
    weight = net.weight
    return locals()


@program
def a_functional_call_of_a_parametrized_module(T):
    net = T.nn.utils.parametrizations.weight_norm(T.nn.Linear(2, 1, bias=False))
    with T.no_grad():
        net.parametrizations.weight.original0.fill_(2.0)
        net.parametrizations.weight.original1.copy_(T.tensor([[3.0, 4.0]]))
    call = called(T)
    original = call(net, {"parametrizations.weight.original0": T.ones(1, 1)}, T.ones(1, 2))
    whole = call(net, {"weight": T.tensor([[5.0, 12.0]])}, T.ones(1, 2))
    return locals()


@program
def stacking(T):
    stack = getattr(T, "func", T.nn.utils.stateless).stack_module_state
    net = tied(T)
    nets = [net, copy.deepcopy(net)]
    parameters, buffers = stack(nets)
    grads = {name: p.requires_grad and p.is_leaf for name, p in parameters.items()}
    nets[0].eval()
    texts = [attempt(lambda: stack([])), attempt(lambda: stack(nets))]
    texts.append(attempt(lambda: stack([T.nn.Tanh(), T.nn.Identity()])))
    nets[0].train().requires_grad_(False)
    texts.append(attempt(lambda: stack(nets)))
    return {k: v for k, v in locals().items() if k not in ("net", "nets")}


# ---- not initialised ----------------------------------------------------------------------------


@program
def skipping_the_initialisation(T):
    net = T.nn.utils.skip_init(T.nn.Linear, 2, out_features=3)
    shapes = [list(p.shape) for p in net.parameters()], net.weight.requires_grad
    texts = [
        attempt(lambda: T.nn.utils.skip_init(T.nn.Tanh)),
        attempt(lambda: T.nn.utils.skip_init(int)),
    ]
    return {"shapes": shapes, "texts": texts}
