"""Every lazy layer: what it shows, saves and loads before its first call; what that call does."""

from __future__ import annotations

import copy
import inspect
import pickle

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)

LAYERS = {
    "Linear": lambda T: T.nn.LazyLinear(4),
    "Linear_no_bias": lambda T: T.nn.LazyLinear(4, bias=False),
    "BatchNorm1d": lambda T: T.nn.LazyBatchNorm1d(),
    "BatchNorm2d": lambda T: T.nn.LazyBatchNorm2d(eps=0.1, bias=False),
    "BatchNorm3d": lambda T: T.nn.LazyBatchNorm3d(affine=False),
    "InstanceNorm1d": lambda T: T.nn.LazyInstanceNorm1d(),
    "InstanceNorm2d": lambda T: T.nn.LazyInstanceNorm2d(track_running_stats=False),
    "InstanceNorm3d": lambda T: T.nn.LazyInstanceNorm3d(affine=False),
    "Conv1d": lambda T: T.nn.LazyConv1d(4, 3),
    "Conv2d": lambda T: T.nn.LazyConv2d(4, (3, 2), bias=False),
    "Conv3d": lambda T: T.nn.LazyConv3d(4, 2, padding=1),
    "ConvTranspose1d": lambda T: T.nn.LazyConvTranspose1d(4, 3),
    "ConvTranspose2d": lambda T: T.nn.LazyConvTranspose2d(4, 3, stride=2, bias=False),
    "ConvTranspose3d": lambda T: T.nn.LazyConvTranspose3d(4, 2, output_padding=0),
}


def sample(T, name):
    dims = 2 if name.startswith("Linear") else 2 + int(name[-2])
    return T.ones(2, 3, *(4,) * (dims - 2)).cumsum(-1)


def states(module):
    """Names and shapes of the state; the class of what has no shape."""
    shown = {}
    for key, value in module.state_dict().items():
        lazy = type(value).__name__.startswith("Uninitialized")
        shown[key] = repr(value) if lazy else list(value.shape)
    return shown


def a_first_call(T, name):
    layer = LAYERS[name](T)
    before = [repr(layer), states(layer), layer.has_uninitialized_params()]
    members = [[n for n, _ in layer.named_parameters()], [n for n, _ in layer.named_buffers()]]
    shape = layer(sample(T, name)).shape
    after = [repr(layer), states(layer), type(layer).__name__, hasattr(layer, "_initialize_hook")]
    return {"before": before, "members": members, "shape": shape, "after": after}


def pickled(module):
    return pickle.loads(pickle.dumps(module))


def a_copy_called(T, name):
    layer = LAYERS[name](T)
    copies = [pickled(layer)]
    if "Norm" not in name:  # PyTorch cannot copy buffers that have no shape; see test_lazy.py
        copies.append(copy.deepcopy(layer))
    shapes = [one(sample(T, name)).shape for one in copies]
    return {"shapes": shapes, "copies": [repr(one) for one in copies], "layer": repr(layer)}


def values_loaded(T, name):
    full, lazy, still = LAYERS[name](T), LAYERS[name](T), LAYERS[name](T)
    empty = pickled(still)
    full(sample(T, name))
    keys = lazy.load_state_dict(full.state_dict())
    told = [str(keys), repr(lazy), lazy.has_uninitialized_params(), states(lazy)]
    told += [str(still.load_state_dict(empty.state_dict())), states(still)]
    told.append(attempt(lambda: full.load_state_dict(empty.state_dict())))
    return {"told": told}


def signatures(T, name):
    kind = type(LAYERS[name](T))
    found = inspect.signature(kind.__init__).parameters.values()
    return {"shown": [f"{p.name}={None if p.default is p.empty else p.default}" for p in found]}


for _name in LAYERS:
    for _what in (a_first_call, a_copy_called, values_loaded, signatures):
        program.add(
            f"{_what.__name__}_{_name}",
            lambda T, what=_what, name=_name: what(T, name),
        )


@program
def refusals(T):
    texts = [
        attempt(lambda: T.nn.LazyConv2d(4, 3)(T.zeros(2, 3))),
        attempt(lambda: T.nn.LazyConv2d(4, 3, groups=2)(T.zeros(2, 3, 5, 5))),
        attempt(lambda: T.nn.LazyConvTranspose1d(4, 3)(T.zeros(2))),
        attempt(lambda: T.nn.LazyBatchNorm2d()(T.zeros(2, 3))),
        attempt(lambda: T.nn.LazyLinear(4).load_state_dict({})),
        attempt(lambda: T.nn.LazyLinear(4).weight.shape),
    ]
    return {"texts": texts}


@program
def a_loaded_linear_is_called_with_another_size(T):
    lazy = T.nn.LazyLinear(4)
    lazy.load_state_dict(T.nn.Linear(3, 4).state_dict())
    text = attempt(lambda: lazy(T.zeros(2, 5)))
    shown, size = repr(lazy), lazy.in_features
    lazy(T.zeros(2, 3))
    return {"text": text, "shown": shown, "size": size, "then": repr(lazy)}


@program
def a_refused_first_call_can_be_repeated(T):
    conv = T.nn.LazyConv2d(4, 3, groups=2)
    text = attempt(lambda: conv(T.zeros(2, 3, 5, 5)))
    shape = conv(T.zeros(2, 4, 5, 5)).shape
    shown = repr(conv)
    return {"text": text, "shape": shape, "shown": shown}


@program
def unbatched_inputs(T):
    conv, transposed = T.nn.LazyConv2d(4, 3), T.nn.LazyConvTranspose1d(4, 3)
    shapes = [conv(T.zeros(3, 5, 5)).shape, transposed(T.zeros(3, 5)).shape]
    shown = [repr(conv), repr(transposed)]
    return {"shapes": shapes, "shown": shown}


@program
def conversions_before_the_first_call(T):
    net = T.nn.Sequential(T.nn.LazyLinear(4), T.nn.LazyBatchNorm1d()).to(T.float32)
    kinds = [net[0].weight.dtype, net[1].running_mean.dtype, net[1].num_batches_tracked.dtype]
    net.half().float().double()
    kinds += [net[0].bias.dtype, net[1].weight.dtype]
    flags = [net[0].weight.requires_grad, net[1].running_var.requires_grad, net[0].weight.is_leaf]
    net.zero_grad()
    gradient = net[0].weight.grad
    out = net(T.ones(3, 2)).dtype
    kinds += [net[0].bias.dtype, net[1].running_mean.dtype]
    trainable = [p.requires_grad for p in net.parameters()]
    return {"kinds": kinds, "flags": flags, "gradient": gradient, "out": out, "t": trainable}


@program
def uninitialised_tensors(T):
    frozen = T.nn.UninitializedParameter(requires_grad=False, dtype=T.float32)
    trained = T.nn.UninitializedParameter()
    buffer = T.nn.UninitializedBuffer()
    shown = [repr(frozen), repr(trained), repr(buffer)]
    lazy = [T.nn.parameter.is_lazy(x) for x in (frozen, trained, buffer, T.ones(2), None)]
    frozen.materialize((2, 3))
    trained.materialize((2,), dtype=T.float32)
    buffer.materialize((4,))
    made = [
        [isinstance(x, T.nn.Parameter), x.dtype, x.shape, x.requires_grad]
        for x in (frozen, trained, buffer)
    ]
    return {"shown": shown, "lazy": lazy, "made": made, "version": trained._version}


@program
def a_module_of_ones_own(T):
    class Scale(T.nn.modules.lazy.LazyModuleMixin, T.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = T.nn.UninitializedParameter()

        def forward(self, x, power=1):
            return x * self.scale**power

    layer = Scale()
    texts = [attempt(lambda: layer(T.ones(2)))]
    Scale.initialize_parameters = lambda self, x, power: None
    texts.append(attempt(lambda: layer(T.ones(2), power=2)))

    def initialize(self, x, power):
        self.scale.materialize(x.shape)
        T.nn.init.constant_(self.scale, 3.0)

    Scale.initialize_parameters = initialize
    out = layer(T.ones(2), power=2)
    shown = [type(layer).__name__, hasattr(layer, "_initialize_hook"), states(layer)]
    again = layer(T.ones(2))
    return {"texts": texts, "out": out, "shown": shown, "again": again}


@program
def a_buffer_of_ones_own_is_registered(T):
    module = T.nn.Module()
    module.mean = T.nn.UninitializedBuffer()
    module.hidden = T.nn.UninitializedBuffer(persistent=False)
    names = [n for n, _ in module.named_buffers()]
    module.mean.materialize((2,))
    module.hidden.materialize((2,))
    saved = list(module.state_dict())
    return {"names": names, "saved": saved}


@program
def a_net_is_trained(T):
    net = T.nn.Sequential(T.nn.LazyLinear(3), T.nn.LazyBatchNorm1d(), T.nn.LazyLinear(1))
    optimizer = T.optim.SGD(net.parameters(), lr=0.1)
    x = T.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]])
    net(x)
    for parameter in net.parameters():
        T.nn.init.constant_(parameter, 0.5)
    net[0].weight.data[0, 0] = -1.0
    net[1].reset_running_stats()
    for _ in range(3):
        optimizer.zero_grad()
        loss = (net(x) - x.sum(1, keepdim=True)).square().sum()
        loss.backward()
        optimizer.step()
    return {"loss": loss, "net": net}
