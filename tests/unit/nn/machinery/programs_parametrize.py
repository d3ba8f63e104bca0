"""nn.utils.parametrize: what is stored where, reading, assigning, caching, removing, refusals."""

from __future__ import annotations

import copy
import pickle

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def linear(T, size=2):
    """A square Linear with fixed weights."""
    net = T.nn.Linear(size, size)
    with T.no_grad():
        net.weight.copy_(T.arange(1.0, size * size + 1).reshape(size, size))
        net.bias.copy_(T.arange(0.5, size))
    return net


def symmetric(T):
    class Symmetric(T.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).T

        def right_inverse(self, a):
            return a.triu()

    return Symmetric()


def function(T, forward, right_inverse=None):
    """A parametrization made of functions."""
    methods = {"forward": lambda self, *xs: forward(*xs)}
    if right_inverse:
        methods["right_inverse"] = lambda self, x: right_inverse(x)
    return type("Custom", (T.nn.Module,), methods)()


# ---- what is stored where -----------------------------------------------------------------------


@program
def one_original(T):
    P, net = T.nn.utils.parametrize, linear(T)
    weight = net.weight
    same = P.register_parametrization(net, "weight", symmetric(T)) is net
    value = net.weight
    original = net.parametrizations.weight.original is weight
    names = [name for name, _ in net.named_parameters()]
    modules = [name for name, _ in net.named_modules()]
    facts = [
        type(net).__name__,
        isinstance(net, T.nn.Linear),
        P.type_before_parametrizations(net) is T.nn.Linear,
        P.type_before_parametrizations(T.nn.Tanh()) is T.nn.Tanh,
        P.is_parametrized(net),
        P.is_parametrized(net, "weight"),
        P.is_parametrized(net, "bias"),
        P.is_parametrized(T.nn.Tanh()),
        type(net.parametrizations.weight).__name__,
        net.parametrizations.weight.is_tensor,
        net.parametrizations.weight.ntensors,
        net.parametrizations.weight.unsafe,
    ]
    net(T.ones(1, 2)).sum().backward()
    return locals()


@program
def several_originals(T):
    P, net = T.nn.utils.parametrize, linear(T)
    product = function(T, lambda a, b: a * b, lambda x: (x * 2, T.full_like(x, 0.5)))
    P.register_parametrization(net, "weight", product)
    value, several = net.weight, net.parametrizations.weight.ntensors
    net.weight = T.tensor([[1.0, 0.0], [2.0, 5.0]])
    net(T.ones(1, 2)).sum().backward()
    return locals()


@program
def a_chain(T):
    P, net = T.nn.utils.parametrize, linear(T)
    P.register_parametrization(net, "weight", symmetric(T))
    P.register_parametrization(net, "weight", function(T, lambda x: x * 2, lambda x: x / 2))
    net.weight = T.ones(2, 2)
    value = net.weight
    count = len(net.parametrizations["weight"])
    return locals()


@program
def two_tensors(T):
    P, net = T.nn.utils.parametrize, linear(T)
    P.register_parametrization(net, "weight", symmetric(T))
    P.register_parametrization(net, "bias", function(T, lambda x: x.exp(), lambda x: x.log()))
    bias = net.bias
    P.remove_parametrizations(net, "weight")
    left = P.is_parametrized(net, "weight"), P.is_parametrized(net, "bias"), type(net).__name__
    P.remove_parametrizations(net, "bias")
    after = type(net) is T.nn.Linear, hasattr(net, "parametrizations")
    return locals()


@program
def a_buffer(T):
    P, net = T.nn.utils.parametrize, T.nn.Module()
    net.register_buffer("mean", T.arange(3.0))
    P.register_parametrization(net, "mean", function(T, lambda x: x + 1, lambda x: x - 1))
    value, names = net.mean, [name for name, _ in net.named_buffers()]
    P.remove_parametrizations(net, "mean")
    return locals()


@program
def a_frozen_parameter_stays_frozen(T):
    P, net = T.nn.utils.parametrize, linear(T)
    net.weight.requires_grad_(False)
    split = function(T, lambda a, b: a + b, lambda x: (x / 2, x / 2))
    P.register_parametrization(net, "weight", split)
    value = net.weight
    return locals()


@program
def the_mode_of_the_module_is_taken_over(T):
    P, net, f = T.nn.utils.parametrize, linear(T).eval(), symmetric(T)
    P.register_parametrization(net, "weight", f)
    modes = [f.training, net.parametrizations.weight.training, net.parametrizations.training]
    net.train()
    modes.append(f.training)
    return locals()


@program
def without_an_inverse_the_value_is_the_original(T):
    P, net = T.nn.utils.parametrize, linear(T)
    P.register_parametrization(net, "weight", function(T, lambda x: x.triu()))
    value = net.weight
    refused = attempt(lambda: setattr(net, "weight", T.ones(2, 2)))
    return locals()


@program
def an_inverse_that_is_not_implemented(T):
    P, net = T.nn.utils.parametrize, linear(T)

    def no(x):
        raise NotImplementedError("not today")

    P.register_parametrization(net, "weight", function(T, lambda x: x.triu(), no))
    P.register_parametrization(net, "weight", function(T, lambda x: x * 2, no))
    refused = attempt(lambda: setattr(net, "weight", T.ones(2, 2)))
    return locals()


# ---- caching ------------------------------------------------------------------------------------


@program
def inside_cached_a_value_is_computed_once(T):
    P, net, log = T.nn.utils.parametrize, linear(T), []

    def noted(x):
        log.append("computed")
        return x * 2

    P.register_parametrization(net, "weight", function(T, noted))
    log.append("begin")
    same = net.weight is net.weight
    log.append("cached")
    with P.cached():
        same_cached = net.weight is net.weight
        with P.cached():
            same_inner = net.weight is net.weight
        net(T.ones(1, 2)).sum().backward()
    log.append("after")
    value = net.weight
    grad = net.parametrizations.weight.original.grad
    return locals()


@program
def caches_of_two_modules(T):
    P, nets = T.nn.utils.parametrize, [linear(T), linear(T, 3)]
    for net in nets:
        P.register_parametrization(net, "weight", symmetric(T))
        P.register_parametrization(net, "bias", function(T, lambda x: x * 2))
    with P.cached():
        values = [t for net in nets for t in (net.weight, net.bias)]
    return locals()


# ---- removing, copying, saving ------------------------------------------------------------------


@program
def removing_leaves_the_value(T):
    P, net = T.nn.utils.parametrize, linear(T)
    weight = net.weight
    P.register_parametrization(net, "weight", symmetric(T))
    same = P.remove_parametrizations(net, "weight") is net
    kept = net.weight is weight, type(net) is T.nn.Linear
    names = [name for name, _ in net.named_parameters()]
    return locals()


@program
def removing_leaves_the_original(T):
    P, net = T.nn.utils.parametrize, linear(T)
    P.register_parametrization(net, "weight", function(T, lambda x: x * 2))
    P.remove_parametrizations(net, "weight", leave_parametrized=False)
    return locals()


@program
def removing_several_originals(T):
    P, net = T.nn.utils.parametrize, linear(T)
    product = function(T, lambda a, b: a * b, lambda x: (x * 2, T.full_like(x, 0.5)))
    P.register_parametrization(net, "weight", product)
    refused = attempt(lambda: P.remove_parametrizations(net, "weight", leave_parametrized=False))
    P.remove_parametrizations(net, "weight")
    leaf = net.weight.is_leaf, isinstance(net.weight, T.nn.Parameter)
    return locals()


@program
def state_dicts_have_the_originals(T):
    P, net, other = T.nn.utils.parametrize, linear(T), linear(T)
    for module in (net, other):
        P.register_parametrization(module, "weight", symmetric(T))
    state = {key: value.clone() + 1 for key, value in net.state_dict().items()}
    text = str(other.load_state_dict(state))
    plain = attempt(lambda: linear(T).load_state_dict(state))
    return locals()


@program
def deep_copies(T):
    P, net = T.nn.utils.parametrize, linear(T)
    P.register_parametrization(net, "weight", symmetric(T))
    other = copy.deepcopy(T.nn.Sequential(net))[0]
    with T.no_grad():
        other.parametrizations.weight.original.add_(1)
    value, copied = net.weight, other.weight
    return locals()


@program.fails
def they_cannot_be_pickled(T):
    P, net = T.nn.utils.parametrize, linear(T)
    P.register_parametrization(net, "weight", symmetric(T))
    pickle.dumps(net)


@program
def transferring(T):
    P, net, other, bare = T.nn.utils.parametrize, linear(T), linear(T, 2), T.nn.Module()
    P.register_parametrization(net, "weight", symmetric(T))
    product = function(T, lambda a, b: a * b, lambda x: (x * 2, T.full_like(x, 0.5)))
    P.register_parametrization(net, "bias", product)
    P.transfer_parametrizations_and_params(net, other, "weight")
    P.transfer_parametrizations_and_params(net, bare)
    P.transfer_parametrizations_and_params(T.nn.Tanh(), bare)
    shared = [
        other.parametrizations.weight.original is net.parametrizations.weight.original,
        bare.parametrizations.bias.original1 is net.parametrizations.bias.original1,
        other.parametrizations.weight[0] is net.parametrizations.weight[0],
    ]
    return locals()


@program
def gradients_and_steps(T):
    P, net = T.nn.utils.parametrize, linear(T)
    P.register_parametrization(net, "weight", symmetric(T))
    P.register_parametrization(net, "weight", function(T, lambda x: x.tanh()))
    optimizer = T.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = (net(T.tensor([[1.0, 2.0]])) ** 2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return locals()


# ---- refusals -----------------------------------------------------------------------------------


@program
def what_does_not_fit(T):
    P, net = T.nn.utils.parametrize, linear(T)

    def register(*functions, name="weight", **more):
        return attempt(
            lambda: P.register_parametrization(net, name, function(T, *functions), **more)
        )

    texts = [
        register(lambda x: x, name="nothing"),
        register(lambda x: x.float()),
        register(lambda x: x[0]),
        register(lambda x: 3),
        register(lambda x: x, lambda x: x.float()),
        register(lambda x: x, lambda x: 3),
        register(lambda x, y: x, lambda x: (x, 3)),
        register(lambda x, y: x[0], lambda x: (x, x)),
    ]
    still = type(net) is T.nn.Linear
    wider = register(lambda x: x[0].float(), unsafe=True)
    value = net.weight
    return locals()


@program
def what_does_not_fit_in_a_chain(T):
    P, net = T.nn.utils.parametrize, linear(T)
    P.register_parametrization(net, "weight", symmetric(T))

    def register(*functions, **more):
        return attempt(
            lambda: P.register_parametrization(net, "weight", function(T, *functions), **more)
        )

    texts = [
        register(lambda x: x.float()),
        register(lambda x: x[0]),
        register(lambda x: 3),
        register(lambda x: x, lambda x: x.float()),
        register(lambda x: x, lambda x: x[0]),
        register(lambda x: x, lambda x: 3),
    ]
    count = len(net.parametrizations.weight)
    wider = register(lambda x: x[0], unsafe=True)
    unsafe = net.parametrizations.weight.unsafe
    return locals()


@program
def what_cannot_be_assigned(T):
    P, net, _many = T.nn.utils.parametrize, linear(T), linear(T)
    answers = []
    P.register_parametrization(
        net, "weight", function(T, lambda x: x, lambda x: answers[-1] if answers else x)
    )
    P.register_parametrization(
        _many,
        "weight",
        function(T, lambda x, y: x + y, lambda x: answers[-1] if answers else (x, x)),
    )
    texts = []
    for answer in (3, T.ones(2, 2).float()):
        answers.append(answer)
        texts.append(attempt(lambda: setattr(net, "weight", T.ones(2, 2))))
    for answer in (3, (T.ones(2, 2),), (T.ones(2, 2), 3), (T.ones(2, 2), T.ones(2, 2).float())):
        answers.append(answer)
        texts.append(attempt(lambda: setattr(_many, "weight", T.ones(2, 2))))
    answers.clear()
    return locals()


@program
def what_cannot_be_removed(T):
    P, net = T.nn.utils.parametrize, linear(T)
    texts = [attempt(lambda: P.remove_parametrizations(net, "weight"))]
    P.register_parametrization(net, "weight", symmetric(T))
    texts.append(attempt(lambda: P.remove_parametrizations(net, "bias")))
    texts.append(attempt(lambda: setattr(net, "weight", T.nn.Parameter(T.ones(2, 2)))))
    texts.append(type(attempt(lambda: delattr(net, "weight"))).__name__)
    texts.append(attempt(lambda: P.ParametrizationList([], T.ones(1))))
    return locals()
