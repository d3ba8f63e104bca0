"""Lazy modules: what is unknown, when it becomes known, saving, loading, copies."""

from __future__ import annotations

import copy
import pickle

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def kinds(net):
    return [type(m).__name__ for m in net.modules()]


def filled(T, net):
    """Fixed weights."""
    with T.no_grad():
        for p in net.parameters():
            p.copy_((T.arange(p.numel()) * 0.7).cos().reshape(p.shape))
    return net


@program
def the_first_forward_makes_a_linear(T):
    net = T.nn.Sequential(T.nn.LazyLinear(3), T.nn.Tanh(), T.nn.LazyLinear(2, bias=False))
    before = [repr(net).split("\n"), kinds(net), [repr(p) for p in net.parameters()]]
    lazy = net[0].has_uninitialized_params(), net[0].cls_to_become is T.nn.Linear
    shape = list(net(T.zeros(5, 4)).shape)
    filled(T, net)
    hooks = hasattr(net[0], "_initialize_hook"), hasattr(net[0], "_load_hook")
    wrong = attempt(lambda: net[0].has_uninitialized_params())
    out = net(T.ones(1, 4))
    parameters = [type(p).__name__ for p in net.parameters()]
    return locals()


@program
def conversion_before_the_first_forward(T):
    net = T.nn.LazyLinear(3)
    before = net.weight
    net.float()
    dtypes = [net.weight.dtype, net.bias.dtype]
    net.to(T.float64)
    dtypes.append(net.weight.dtype)
    other = T.nn.LazyLinear(2, dtype=T.float32)
    other(T.zeros(1, 2).float())
    dtypes.append(other.weight.dtype)
    same = net.weight is before
    return {"dtypes": dtypes, "same": same}


@program
def state_of_lazy_modules(T):
    net, other = T.nn.LazyLinear(3), T.nn.LazyLinear(3)
    state = net.state_dict()
    shown = {key: repr(value) for key, value in state.items()}
    text = str(other.load_state_dict(state))
    still = other.has_uninitialized_params()
    known = filled(T, T.nn.Linear(2, 3))
    text_known = str(other.load_state_dict(known.state_dict()))
    loaded = other.has_uninitialized_params(), type(other).__name__
    out = other(T.ones(1, 2))
    after = type(other).__name__, other.in_features
    refused = attempt(lambda: known.load_state_dict(state))
    state = {}
    return {k: v for k, v in locals().items() if k not in ("net", "state")}


@program
def what_lazy_parameters_refuse(T):
    p = T.nn.UninitializedParameter()
    b = T.nn.UninitializedBuffer()
    texts = [
        attempt(lambda: p.shape),
        type(attempt(lambda: p + 1)).__name__,
        type(attempt(lambda: p.sum())).__name__,
        type(attempt(lambda: T.exp(p))).__name__,
        type(attempt(lambda: b.add_(1))).__name__,
        type(attempt(lambda: T.optim.SGD([p], lr=0.1).zero_grad())).__name__,
    ]
    facts = [repr(p), repr(b), p.requires_grad, b.requires_grad, p.dtype, p.is_floating_point()]
    facts += [isinstance(p, T.nn.Parameter), isinstance(b, T.nn.Buffer), p.is_leaf]
    return {"texts": texts, "facts": facts}


@program
def materialising(T):
    p, b = T.nn.UninitializedParameter(requires_grad=False), T.nn.UninitializedBuffer()
    net = T.nn.Module()
    net.p, net.b = p, b
    net.c = T.nn.UninitializedBuffer(persistent=False)
    names = [name for name, _ in net.named_buffers()], list(net.state_dict(keep_vars=True))
    p.materialize((2, 3))
    b.materialize((4,), dtype=T.float32)
    facts = [type(p).__name__, list(p.shape), p.requires_grad, p.dtype, net.p is p]
    facts += [list(b.shape), b.dtype, b.persistent, isinstance(b, T.nn.Buffer)]
    p.requires_grad_()
    (p * 0).sum().backward()
    grad = list(p.grad.shape)
    return {"names": names, "facts": facts, "grad": grad}


@program
def copies_of_lazy_modules(T):
    net = T.nn.Sequential(T.nn.LazyLinear(3))
    other = copy.deepcopy(net)
    other(T.zeros(1, 2))
    p = T.nn.UninitializedParameter(False, dtype=T.float32)
    q, r = copy.deepcopy(p), pickle.loads(pickle.dumps(p))
    facts = [kinds(net), kinds(other), repr(q), q.requires_grad, q.dtype, repr(r), r.requires_grad]
    net(T.zeros(1, 5))
    facts += [kinds(net), net[0].in_features]
    return {"facts": facts}


@program
def an_own_lazy_module(T):
    lazy = T.nn.modules.lazy.LazyModuleMixin

    class Scale(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = T.nn.Parameter(T.ones(2))

        def forward(self, x, by=1.0):
            return x * self.weight * by

    class LazyScale(lazy, Scale):
        cls_to_become = Scale

        def __init__(self):
            super().__init__()
            self.weight = T.nn.UninitializedParameter()

        def initialize_parameters(self, x, by=1.0):
            self.weight.materialize(x.shape)
            T.nn.init.constant_(self.weight, 2.0)

    net = LazyScale()
    out = net(T.ones(3), by=4.0)

    class Forgets(lazy, Scale):
        def __init__(self):
            super().__init__()
            self.weight = T.nn.UninitializedParameter()

    class Half(Forgets):
        def initialize_parameters(self, x):
            pass

    texts = [attempt(lambda: Forgets()(T.ones(1))), attempt(lambda: Half()(T.ones(1)))]
    return locals()


@program
def lazy_modules_are_trained(T):
    net = T.nn.Sequential(T.nn.LazyLinear(3), T.nn.Tanh(), T.nn.LazyLinear(1))
    net(T.zeros(1, 2))
    filled(T, net)
    optimizer, losses = T.optim.SGD(net.parameters(), lr=0.1), []
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(T.tensor([[1.0, 2.0]])).square().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return locals()


@program
def lazy_modules_are_not_normed(T):
    texts = [
        attempt(lambda: T.nn.utils.spectral_norm(T.nn.LazyLinear(2))),
        attempt(lambda: T.nn.utils.weight_norm(T.nn.LazyLinear(2))),
    ]
    return {"texts": texts}


for _name, _options, _shape in [
    ("Conv1d", (4, 3), (1, 6, 5)),
    ("Conv2d", (4, 3, 1, 1, 1, 2), (1, 6, 5, 5)),
    ("Conv3d", (4, 3), (1, 2, 3, 3, 3)),
    ("ConvTranspose1d", (4, 3), (1, 6, 5)),
    ("ConvTranspose2d", (4, 3, 2, 0, 1, 2), (1, 6, 5, 5)),
    ("ConvTranspose3d", (4, 3), (1, 2, 3, 3, 3)),
    ("BatchNorm1d", (1e-3,), (4, 3)),
    ("BatchNorm2d", (1e-3, 0.2, False), (1, 3, 4, 4)),
    ("BatchNorm3d", (1e-3, 0.2, True, False), (1, 3, 2, 2, 2)),
    ("InstanceNorm1d", (), (1, 3, 4)),
    ("InstanceNorm2d", (1e-3, 0.2, True, False), (1, 3, 4, 4)),
    ("InstanceNorm3d", (), (1, 3, 2, 2, 2)),
]:

    def before_and_after(T, name=_name, options=_options, shape=_shape):
        net = getattr(T.nn, f"Lazy{name}")(*options)
        printed = [repr(net), type(net).__name__, net.cls_to_become is getattr(T.nn, name)]
        names = [key for key, _ in net.named_parameters()], [key for key, _ in net.named_buffers()]
        out = list(net(T.zeros(*shape)).shape)
        printed += [repr(net), type(net) is getattr(T.nn, name)]
        state = {key: list(value.shape) for key, value in net.state_dict().items()}
        other = getattr(T.nn, f"Lazy{name}")(*options)
        loaded = str(other.load_state_dict(net.state_dict()))
        waiting = other.has_uninitialized_params()
        if "Instance" not in name:  # PyTorch refuses: it forgets num_features when it loads
            other(T.zeros(*shape))
        became = type(other).__name__
        return {k: v for k, v in locals().items() if k not in ("net", "other")}

    program.add(f"before_and_after_{_name}", before_and_after)
