"""weight_norm, spectral_norm, orthogonal: the parametrizations, and the old hooks."""

from __future__ import annotations

import numpy as np

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def linear(T, inputs=2, outputs=3):
    """A Linear with fixed weights."""
    net = T.nn.Linear(inputs, outputs)
    with T.no_grad():
        net.weight.copy_((T.arange(inputs * outputs) * 0.7).cos().reshape(outputs, inputs))
        net.bias.copy_(T.arange(0.5, outputs))
    return net


def trained(T, net, inputs=2):
    """The losses of three steps."""
    optimizer = T.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = (net(T.arange(1.0, inputs + 1).reshape(1, inputs)) ** 2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def started(T, function):
    """Fixed vectors for a spectral norm."""
    with T.no_grad():
        function._u.copy_(T.ones(len(function._u)) / len(function._u) ** 0.5)
        function._v.copy_(T.ones(len(function._v)) / len(function._v) ** 0.5)


# ---- weight_norm --------------------------------------------------------------------------------


@program
def weight_norm(T):
    net = T.nn.utils.parametrizations.weight_norm(linear(T))
    value = net.weight
    losses = trained(T, net)
    net.weight = T.tensor([[3.0, 4.0], [1.0, 0.0], [0.0, 2.0]])
    return locals()


for _dim in (0, 1, -2, None):

    def norm_over(T, dim=_dim):
        net = T.nn.utils.parametrizations.weight_norm(linear(T), dim=dim)
        value = net.weight
        losses = trained(T, net)
        return locals()

    program.add(f"weight_norm_dim_{_dim}", norm_over)


@program
def weight_norm_of_three_dimensions(T):
    values, gradients = [], []
    for dim in (0, 1, 2):
        net = T.nn.Module()
        net.kernel = T.nn.Parameter((T.arange(24.0) * 0.3).cos().reshape(2, 3, 4))
        T.nn.utils.parametrizations.weight_norm(net, "kernel", dim)
        (net.kernel**3).sum().backward()
        values.append(net.kernel)
        gradients.append([p.grad for p in net.parameters()])
    return locals()


@program
def weight_norm_of_a_vector(T):
    net = T.nn.utils.parametrizations.weight_norm(linear(T), "bias")
    value = net.bias
    return locals()


@program
def weight_norm_reads_what_the_old_one_saved(T):
    net = T.nn.utils.parametrizations.weight_norm(linear(T))
    outer = T.nn.Sequential(net)
    state = {
        "0.bias": T.zeros(3),
        "0.weight_g": T.ones(3, 1),
        "0.weight_v": T.arange(6.0).reshape(3, 2),
    }
    text = str(outer.load_state_dict(state))
    return locals()


@program
def weight_norm_refuses(T):
    weight_norm = T.nn.utils.parametrizations.weight_norm
    texts = [attempt(lambda: weight_norm(linear(T), "nothing"))]
    net = weight_norm(linear(T))
    twice = attempt(lambda: weight_norm(net))
    return locals()


# ---- the old weight_norm ------------------------------------------------------------------------


@program
def old_weight_norm(T):
    net = T.nn.utils.weight_norm(linear(T))
    names = [name for name, _ in net.named_parameters()]
    value, is_parameter = net.weight, isinstance(net.weight, T.nn.Parameter)
    losses = trained(T, net)
    refused = attempt(lambda: T.nn.utils.weight_norm(net))
    same = T.nn.utils.remove_weight_norm(net) is net
    names += [name for name, _ in net.named_parameters()]
    texts = [
        attempt(lambda: T.nn.utils.remove_weight_norm(net)),
        attempt(lambda: T.nn.utils.remove_weight_norm(net, "bias")),
    ]
    out = net(T.ones(1, 2))
    return locals()


@program
def old_weight_norm_over_everything(T):
    net = T.nn.utils.weight_norm(linear(T), dim=None)
    losses = trained(T, net)
    both = T.nn.utils.weight_norm(net, "bias")
    out = net(T.ones(1, 2))
    T.nn.utils.remove_weight_norm(net, "bias")
    return locals()


# ---- spectral_norm ------------------------------------------------------------------------------


@program
def spectral_norm(T):
    net = T.nn.utils.parametrizations.spectral_norm(linear(T))
    function = net.parametrizations.weight[0]
    started(T, function)
    before = function._u.data_ptr(), function._v.data_ptr()
    value = net.weight
    in_place = before == (function._u.data_ptr(), function._v.data_ptr())
    losses = trained(T, net)
    net.eval()
    u = function._u.clone()
    evaluated = net.weight
    unchanged = bool((u == function._u).all())
    net.weight = T.arange(6.0).reshape(3, 2)
    return {k: v for k, v in locals().items() if k != "before"}


@program
def spectral_norm_begins_near_the_truth(T):
    net = T.nn.utils.parametrizations.spectral_norm(linear(T).eval())
    near = abs(np.linalg.svd(net.weight.detach().numpy())[1][0] - 1) < 1e-3
    shapes = {key: list(value.shape) for key, value in net.state_dict().items()}
    return {"near": bool(near), "shapes": shapes}


@program
def spectral_norm_of_several_steps_and_dimensions(T):
    made = []
    for dim in (0, 1, 2, -1):
        net = T.nn.Module()
        net.kernel = T.nn.Parameter((T.arange(24.0) * 0.3).cos().reshape(2, 3, 4))
        T.nn.utils.parametrizations.spectral_norm(net, "kernel", n_power_iterations=3, dim=dim)
        started(T, net.parametrizations.kernel[0])
        (net.kernel**3).sum().backward()
        made.append([net.parametrizations.kernel.original.grad, net.state_dict()])
    return {"made": made}


@program
def spectral_norm_of_a_vector(T):
    net = T.nn.utils.parametrizations.spectral_norm(linear(T), "bias")
    value = net.bias
    return locals()


@program
def spectral_norm_refuses(T):
    spectral_norm = T.nn.utils.parametrizations.spectral_norm
    texts = [
        attempt(lambda: spectral_norm(linear(T), "nothing")),
        attempt(lambda: spectral_norm(linear(T), n_power_iterations=0)),
        attempt(lambda: spectral_norm(linear(T), dim=2)),
        attempt(lambda: spectral_norm(linear(T), dim=-3)),
    ]
    return locals()


@program
def two_forwards_before_one_backward(T):
    net = T.nn.utils.parametrizations.spectral_norm(linear(T))
    started(T, net.parametrizations.weight[0])
    x = T.ones(1, 2)
    (net(x) - net(2 * x)).sum().backward()
    return locals()


# ---- the old spectral_norm ----------------------------------------------------------------------


def started_old(T, net):
    with T.no_grad():
        net.weight_u.copy_(T.ones(len(net.weight_u)) / len(net.weight_u) ** 0.5)
        net.weight_v.copy_(T.ones(len(net.weight_v)) / len(net.weight_v) ** 0.5)


@program
def old_spectral_norm(T):
    net = T.nn.utils.spectral_norm(linear(T))
    started_old(T, net)
    names = [name for name, _ in net.named_parameters()]
    keys = list(net.state_dict())
    losses = trained(T, net)
    value = net.weight
    net.eval()
    out = net(T.ones(1, 2))
    refused = attempt(lambda: T.nn.utils.spectral_norm(net))
    same = T.nn.utils.remove_spectral_norm(net) is net
    names += [name for name, _ in net.named_parameters()]
    texts = attempt(lambda: T.nn.utils.remove_spectral_norm(net))
    return locals()


@program
def old_spectral_norm_of_several_steps(T):
    net = T.nn.utils.spectral_norm(linear(T), n_power_iterations=3, dim=1)
    with T.no_grad():
        net.weight_u.copy_(T.ones(2) / 2**0.5)
        net.weight_v.copy_(T.ones(3) / 3**0.5)
    losses = trained(T, net)
    return locals()


@program
def old_spectral_norm_refuses(T):
    texts = [
        attempt(lambda: T.nn.utils.spectral_norm(linear(T), n_power_iterations=0)),
        attempt(lambda: T.nn.utils.spectral_norm(T.nn.Linear(1, 1, bias=False), "bias")),
        attempt(lambda: T.nn.utils.remove_spectral_norm(linear(T))),
    ]
    return locals()


@program
def the_version_of_spectral_norm_is_in_the_metadata(T):
    net = T.nn.utils.spectral_norm(linear(T))
    noted = dict(net.state_dict()._metadata[""])
    T.nn.utils.remove_spectral_norm(net)
    return {"noted": noted, "removed": dict(net.state_dict()._metadata[""])}


# ---- the classes of the old hooks ---------------------------------------------------------------


def hook_of(net):
    return next(iter(net._forward_pre_hooks.values()))


def parameters_of(net):
    return [name for name, _ in net.named_parameters()]


@program
def the_class_of_weight_norm_applies_and_removes(T):
    kind = type(hook_of(T.nn.utils.weight_norm(linear(T))))
    net, whole = linear(T), linear(T)
    hook = kind.apply(net, "weight", dim=1)
    names, losses = parameters_of(net), trained(T, net)
    again = attempt(lambda: kind.apply(net, "weight", 0))
    hook.remove(net)
    kind.apply(whole, "weight", None)
    values = [*losses, net.weight, whole.weight_g, hook_of(whole).dim]
    return {"names": [names, parameters_of(net)], "values": values, "again": again}


@program
def the_class_of_spectral_norm_applies_and_removes(T):
    kind = type(hook_of(T.nn.utils.spectral_norm(linear(T))))
    net, plain, x = linear(T), kind(), T.arange(24.0).reshape(2, 3, 4)
    hook = kind.apply(net, "weight", 2, 0, 1e-12)
    matrices = [f.reshape_weight_to_matrix(x) for f in (hook, kind("weight", dim=1))]
    defaults = plain.name, plain.n_power_iterations, plain.dim, plain.eps
    started_old(T, net)
    names, losses = parameters_of(net), trained(T, net)
    again = attempt(lambda: kind.apply(net, "weight", 1, 0, 1e-12))
    hook.remove(net)
    values = [*losses, *matrices, net.weight, defaults]
    return {"names": [names, parameters_of(net)], "values": values, "again": again}
