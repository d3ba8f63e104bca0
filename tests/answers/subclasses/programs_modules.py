"""Modules that override parts of the protocol, and code that reads their ``__dict__``."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, composition=False)

HOOKS = {"_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_state_dict_hooks"}


def names(module):
    """The names in ``__dict__``, but for the tables of hooks."""
    return sorted(name for name in vars(module) if "_hooks" not in name and name[:4] != "_is_")


def filled(module):
    """The module, with parameters of 0.5."""
    for parameter in module.parameters():
        parameter.data.fill_(0.5)
    return module


def base(T, kind=None):
    """A class of modules with a member of each kind."""

    class Net(kind or T.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = filled(T.nn.Linear(2, 2))
            self.scale = T.nn.Parameter(T.ones(2))
            self.register_buffer("mean", T.zeros(2))
            self.register_buffer("count", T.zeros(1), persistent=False)
            self.register_parameter("nothing", None)
            self.size = 2

        def forward(self, x):
            return self.fc(x) * self.scale + self.mean

    return Net


@program
def members_stand_in_three_tables(T):
    net = base(T)()
    own = vars(net)
    present = [n in own for n in ("fc", "scale", "mean", "count", "nothing", "size", "training")]
    public = {name: value for name, value in own.items() if name[0] != "_"}
    tables = [list(own[t]) for t in ("_parameters", "_buffers", "_modules")]
    unsaved = own["_non_persistent_buffers_set"]
    kinds = [isinstance(value, dict) for value in (own, own["_parameters"], own["_modules"])]
    listed = [n in dir(net) for n in ("fc", "scale", "mean", "nothing", "size", "forward", "gone")]
    read = net.fc is own["_modules"]["fc"], net.scale is own["_parameters"]["scale"]
    missing = attempt(lambda: own["fc"]), own.get("scale"), own.get("size")
    layer = [n in vars(T.nn.Linear(1, 1)) for n in ("weight", "bias", "in_features")]
    containers = [
        [name for name in vars(c) if name[0] != "_"]
        for c in (
            T.nn.Sequential(T.nn.ReLU()),
            T.nn.ModuleList([T.nn.ReLU()]),
            T.nn.ModuleDict({"a": T.nn.ReLU()}),
        )
    ]
    return {k: v for k, v in locals().items() if k != "own"}


@program
def attributes_written_into_the_dictionary(T):
    net = base(T)()
    net.__dict__["teacher"] = filled(T.nn.Linear(1, 1))
    hidden = [name for name, _ in net.named_modules()], type(net.teacher).__name__
    net.__dict__.update(a=1, b=2)
    net.__dict__ |= {"c": 3}
    vars(net).setdefault("d", 4)
    first = net.a, net.b, net.c, net.d, net.__dict__.pop("a"), hasattr(net, "a")
    del net.__dict__["b"]
    gone = hasattr(net, "b"), attempt(lambda: net.__dict__.pop("b"))
    object.__setattr__(net, "plain", T.nn.ReLU())
    unregistered = "plain" in net._modules, "plain" in vars(net)
    net.__dict__["_parameters"]["late"] = T.nn.Parameter(T.zeros(1))
    net._modules["act"] = T.nn.ReLU()
    late = net.late, net.act, [name for name, _ in net.named_parameters()]
    del net._parameters["late"]
    left = hasattr(net, "late")
    net.__dict__["scale"] = T.full((2,), 3.0)
    shadowed = net.scale, "scale" in vars(net), net._parameters["scale"]
    del net.__dict__["scale"]
    uncovered = net.scale
    net._buffers = OrderedDict(mean=T.ones(2))
    replaced = net.mean, hasattr(net, "count"), list(net.state_dict())
    return locals()


@program
def shallow_copies_share_tables(T):
    net = base(T)()
    other = copy.copy(net)
    shared = [getattr(net, t) is getattr(other, t) for t in ("_parameters", "_buffers", "_modules")]
    other.extra = filled(T.nn.Linear(1, 1))
    other.mean = T.full((2,), 5.0)
    other.size = 7
    seen = "extra" in dict(net.named_children()), net.extra is other.extra, net.mean, net.size
    del other.extra
    gone = hasattr(net, "extra")
    other._modules = other._modules.copy()
    other.fc = T.nn.Identity()
    apart = type(net.fc).__name__, type(other.fc).__name__
    net.scale = T.nn.Parameter(T.zeros(2))
    followed = other.scale is net.scale
    deep = copy.deepcopy(net)
    deep.scale = T.nn.Parameter(T.ones(2))
    own = deep._parameters is net._parameters, net.scale, deep.scale
    layer = copy.copy(filled(T.nn.Linear(2, 1)))
    changed = T.nn.Sequential(layer, copy.copy(layer))
    layer.weight = T.nn.Parameter(T.ones(1, 2))
    both = changed[1].weight
    names_of_copy = names(other) == names(net)
    return locals()


@program
def replicas_made_by_hand(T):
    net = base(T)()
    replica = net.__new__(type(net))
    replica.__dict__ = net.__dict__.copy()
    replica._parameters = dict(net._parameters)
    replica._buffers = net._buffers.copy()
    replica._modules = net._modules.copy()
    replica._parameters["scale"] = T.nn.Parameter(T.zeros(2))
    values = net.scale, replica.scale, replica.fc is net.fc
    loaded = type(net).__new__(type(net))
    loaded.__dict__.update(net.__dict__)
    after = loaded.scale is net.scale, loaded._modules is net._modules, loaded.size
    output = loaded(T.ones(1, 2)) - net(T.ones(1, 2))
    by_pytorch = net._replicate_for_data_parallel()
    kept = (
        by_pytorch.fc is net.fc,
        by_pytorch._modules is net._modules,
        list(by_pytorch._parameters),
    )
    return locals()


@program
def states_of_pickles(T):
    net = base(T)()
    state = dict(net.__getstate__()) if hasattr(net, "__getstate__") else net.__dict__
    keys = [n in state for n in ("fc", "scale", "mean", "size", "_parameters", "_modules")]
    del state

    class Linear(T.nn.Linear):
        def __getstate__(self):
            kept = self.__dict__.copy()
            kept["loaded"] = True
            return kept

        def __setstate__(self, given):
            self.__dict__.update(given)
            self.seen = "weight" in given

    again = copy.deepcopy(filled(Linear(2, 1)))
    fields = again.loaded, again.seen, [name for name, _ in again.named_parameters()]
    sequential = pickle.loads(pickle.dumps(filled(T.nn.Sequential(T.nn.Linear(1, 1)))))
    trained = list(sequential.state_dict()), sequential[0].weight.requires_grad
    return locals()


@program
def a_mixin_before_the_module(T):
    class Named:
        label = "a"

        def describe(self):
            return sorted(name for name in self.__dict__ if name[0] != "_")

    class Net(Named, base(T)):
        pass

    net = Net()
    described = net.describe()
    net.other = filled(T.nn.Linear(1, 1))
    read = type(net.other).__name__, net.scale, net.mean, "other" in net.__dict__
    net.__dict__.update(flag=1)
    second = copy.copy(net)
    second.fc = T.nn.Identity()
    shared = type(net.fc).__name__, second.flag
    output = net(T.ones(1, 2))
    del net.other
    gone = hasattr(net, "other")
    return locals()


@program
def attributes_of_wrapped_modules(T):
    class Wrapper(T.nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.module, name)

    class Direct(T.nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def __getattr__(self, name):
            if "_modules" in self.__dict__ and name in self.__dict__["_modules"]:
                return self.__dict__["_modules"][name]
            return getattr(self.__dict__["_modules"]["module"], name)

    net = base(T)()
    wrapped, direct = Wrapper(net), Direct(net)
    read = wrapped.size, wrapped.scale is net.scale, direct.size, direct.fc is net.fc
    missing = attempt(lambda: wrapped.nowhere), attempt(lambda: direct.nowhere)
    called = [wrapped.module.__class__.__name__, type(direct.module).__name__]
    return locals()


@program
def overridden_attribute_access(T):
    told = []

    class Net(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = filled(T.nn.Linear(2, 2))

        def __setattr__(self, name, value):
            told.append(["set", name])
            super().__setattr__(name, value)

        def __delattr__(self, name):
            told.append(["del", name])
            super().__delattr__(name)

        def __getattr__(self, name):
            told.append(["get", name]) if name in ("absent", "doubled") else None
            return 2 * self.scale if name == "doubled" else super().__getattr__(name)

    net = Net()
    net.scale = T.nn.Parameter(T.ones(2))
    net.scale = None
    net.scale = T.nn.Parameter(T.ones(2))
    value = net.doubled
    missing = attempt(lambda: net.absent)
    del net.scale
    net.train().eval()
    modes = [name for what, name in told if name == "training"]
    listed = [pair for pair in told if pair[1] != "training"]
    return {k: v for k, v in locals().items() if k != "told"}


@program
def overridden_walks(T):
    class Half(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = filled(T.nn.Linear(1, 1)), filled(T.nn.Linear(1, 1))

        def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
            for name, p in super().named_parameters(prefix, recurse, remove_duplicate):
                if "b." not in name:
                    yield name, p

        def train(self, mode=True):
            super().train(mode)
            self.a.eval()
            return self

        def _apply(self, fn, recurse=True):
            self.applied = True
            return super()._apply(fn, recurse)

    net = Half()
    outer = T.nn.Sequential(net)
    listed = [n for n, _ in net.named_parameters()], len([*net.parameters()])
    inside = [n for n, _ in outer.named_parameters()]
    modes = outer.train() and (net.a.training, net.b.training)
    outer.double()
    converted = net.applied, net.a.weight.dtype
    members = [n for n, _ in net._named_members(lambda m: m._parameters.items(), "p")]
    flat = [n for n, _ in net._named_members(lambda m: m._parameters.items(), recurse=False)]
    net.zero_grad()
    frozen = net.requires_grad_(False) and [p.requires_grad for p in net.b.parameters()]
    return locals()


@program
def overridden_states(T):
    class Old(T.nn.Linear):
        _version = 2

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "kernel"] = destination.pop(prefix + "weight")

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            self.version = local_metadata.get("version")
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel")
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    class Whole(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = filled(Old(1, 1))

        def state_dict(self, *args, **kwargs):
            return self.inner.state_dict(*args, **kwargs)

        def load_state_dict(self, state_dict, strict=True):
            return self.inner.load_state_dict(state_dict, strict)

    a, b = T.nn.Sequential(filled(Old(2, 1))), T.nn.Sequential(filled(Old(2, 1)))
    state = a.state_dict()
    loaded = str(b.load_state_dict(state)), b[0].version, list(state)
    equal = T.equal(a[0].weight, b[0].weight)
    whole = list(T.nn.Sequential(Whole()).state_dict()), list(Whole().state_dict())
    same = str(Whole().load_state_dict(Whole().state_dict()))
    return locals()


@program
def overridden_calls(T):
    class Counted(T.nn.Linear):
        calls = 0

        def __call__(self, *args, **kwargs):
            self.calls += 1
            return super().__call__(*args, **kwargs)

    class Doubled(T.nn.Linear):
        def _call_impl(self, *args, **kwargs):
            return 2 * super()._call_impl(*args, **kwargs)

    layer = filled(Counted(1, 1, bias=False))
    layer.weight.data.fill_(2.0)
    output = layer(T.ones(1, 1)), layer.calls
    net = T.nn.Sequential(layer)
    through = net(T.ones(1, 1)), layer.calls
    doubled = filled(Doubled(1, 1, bias=False))
    doubled.weight.data.fill_(3.0)
    called = doubled(T.ones(1, 1)), doubled._call_impl(T.ones(1, 1))
    direct = layer._call_impl(T.ones(1, 1)), layer._wrapped_call_impl(T.ones(1, 1))
    return locals()


@program
def tables_of_hooks(T):
    layer = filled(T.nn.Linear(1, 1))
    empty = [len(layer.__dict__[name]) for name in sorted(HOOKS)], layer._is_full_backward_hook
    handle = layer.register_forward_hook(lambda m, x, y: y * 0)
    one = len(layer._forward_hooks), len(layer.__dict__["_forward_hooks"])
    zero = layer(T.ones(1, 1))
    layer._forward_hooks.clear()
    layer.register_full_backward_hook(lambda m, gi, go: None)
    full = layer._is_full_backward_hook
    old = T.nn.ReLU()
    old.register_backward_hook(lambda m, gi, go: None)
    other = old._is_full_backward_hook, old._get_name()
    return {k: v for k, v in locals().items() if k != "handle"}
