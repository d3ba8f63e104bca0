"""Members of modules: registration, finding, walking, conversion, copies, and refusals."""

from __future__ import annotations

import copy
import pickle

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def names(pairs):
    return [name for name, _ in pairs]


def tree(T):
    """Modules in modules, with a shared one and a shared parameter."""
    net = T.nn.Module()
    net.first = T.nn.Sequential(T.nn.Identity(), T.nn.Tanh())
    net.second = T.nn.Module()
    net.second.weight = T.nn.Parameter(T.arange(3.0))
    net.second.register_buffer("mean", T.ones(2))
    net.second.register_buffer("cache", T.zeros(2), persistent=False)
    net.again = net.second
    net.tied = net.second.weight
    return net


# ---- attributes ---------------------------------------------------------------------------------


@program
def texts_of_missing_attributes(T):
    net = tree(T)
    read = attempt(lambda: net.wieght)
    deep = attempt(lambda: net.second.nothing)
    deleted = attempt(lambda: delattr(net, "nothing"))
    return locals()


@program
def what_cannot_be_assigned(T):
    net = tree(T)
    texts = [
        attempt(lambda: setattr(net.second, "weight", T.ones(2))),
        attempt(lambda: setattr(net.second, "weight", 3)),
        attempt(lambda: setattr(net.second, "mean", "text")),
        attempt(lambda: setattr(net, "first", T.ones(1))),
        attempt(lambda: setattr(net, "forward", T.nn.Parameter(T.ones(1)))),
    ]
    return locals()


@program
def members_with_names_of_class_attributes(T):
    class Net(T.nn.Module):
        head = None

        def __init__(self):
            super().__init__()
            self.parameters = [T.nn.Parameter(T.ones(2))]
            self.parameters = T.nn.ParameterList(self.parameters)
            self.head = T.nn.Identity()

    net = Net()
    read = [net.head, len(list(net.parameters())), [*net.state_dict()], [*net._modules]]
    texts = [
        attempt(lambda: setattr(net, "parameters", 3)),
        attempt(lambda: setattr(net, "head", T.nn.Parameter(T.ones(1)))),
    ]
    net.head = T.nn.Linear(1, 1)
    del net.head
    copied = [*copy.deepcopy(net).state_dict()]
    return locals()


@program
def what_cannot_be_registered(T):
    net = tree(T)
    history = T.ones(1, requires_grad=True) * 2
    texts = [
        attempt(lambda: net.register_parameter("first", None)),
        attempt(lambda: net.register_parameter("a.b", None)),
        attempt(lambda: net.register_parameter("", None)),
        attempt(lambda: net.register_parameter(3, None)),
        attempt(lambda: net.register_parameter("w", T.ones(1))),
        attempt(lambda: net.register_buffer("first", None)),
        attempt(lambda: net.register_buffer("a.b", None)),
        attempt(lambda: net.register_buffer("", None)),
        attempt(lambda: net.register_buffer(3, None)),
        attempt(lambda: net.register_buffer("w", 3)),
        attempt(lambda: net.add_module("tied", T.nn.Identity())),
        attempt(lambda: net.add_module("a.b", T.nn.Identity())),
        attempt(lambda: net.add_module("", T.nn.Identity())),
        attempt(lambda: net.add_module(3, T.nn.Identity())),
        attempt(lambda: net.add_module("w", 3)),
        attempt(lambda: net.register_module("w", 3)),
    ]
    net.register_buffer("computed", history)
    return locals()


@program
def nothing_joins_before_init(T):
    texts = []

    class Early(T.nn.Module):
        def __init__(self):
            for value in (T.nn.Parameter(T.ones(1)), T.nn.Identity(), T.nn.Buffer(T.ones(1))):
                texts.append(attempt(lambda v=value: setattr(self, "x", v)))
            texts.append(attempt(lambda: self.register_parameter("x", None)))
            texts.append(attempt(lambda: self.register_buffer("x", None)))
            super().__init__()

    Early()
    return locals()


@program
def arguments_of_init(T):
    texts = [attempt(lambda: T.nn.Module(3)), attempt(lambda: T.nn.Module(a=3))]
    return locals()


@program
def a_name_changes_its_kind(T):
    net = T.nn.Module()
    net.x = T.ones(1)
    kinds = [names(net.named_parameters()), names(net.named_buffers())]
    net.x = T.nn.Parameter(T.ones(1))
    kinds.append(names(net.named_parameters()))
    no_module = attempt(lambda: setattr(net, "x", T.nn.Identity()))
    no_buffer = attempt(lambda: setattr(net, "x", T.nn.Buffer(T.ones(1))))
    del net.x
    net.x = T.nn.Identity()
    kinds.append([names(net.named_parameters()), names(net.named_children())])
    still_no_buffer = attempt(lambda: setattr(net, "x", T.nn.Buffer(T.ones(1))))
    net.x = T.nn.Parameter(T.ones(1))
    kinds.append([names(net.named_children()), names(net.named_parameters())])
    del net.x
    net.x = T.nn.Buffer(T.ones(1))
    kinds.append(names(net.named_buffers()))
    net.x = T.nn.Identity()
    kinds.append([names(net.named_children()), names(net.named_buffers())])
    net.x = None
    kinds.append(names(net.named_buffers()))
    del net.x
    gone = hasattr(net, "x")
    return locals()


@program
def buffers_keep_their_persistence(T):
    net = T.nn.Module()
    net.kept = T.nn.Buffer(T.ones(2))
    net.temporary = T.nn.Buffer(T.ones(2), persistent=False)
    net.register_buffer("old", T.ones(1), persistent=False)
    net.old, net.temporary = T.zeros(1), T.zeros(2)
    keys = [list(net.state_dict()), names(net.named_buffers())]
    net.temporary = T.nn.Buffer(T.ones(2))
    keys.append(list(net.state_dict()))
    empty = T.nn.Buffer()
    with_grad = T.nn.Buffer(T.ones(1, requires_grad=True)).requires_grad
    is_buffer = isinstance(net.kept, T.nn.Buffer), isinstance(T.ones(1), T.nn.Buffer)
    return locals()


@program
def tables_of_members_can_be_read(T):
    net = tree(T)
    net.register_parameter("none", None)
    parameters = list(net._parameters), net._parameters["tied"] is net.tied
    buffers = list(net.second._buffers), "mean" in net.second._buffers
    modules = list(net._modules), [type(m).__name__ for m in net._modules.values()]
    return locals()


@program
def tables_of_members_can_be_written(T):
    net = tree(T)
    net._modules["third"] = T.nn.ReLU()
    net._modules.update({"fourth": T.nn.Identity(), "again": None})
    third, fourth, again = net.third, net.fourth, net.again
    net._parameters["scale"] = T.nn.Parameter(T.ones(2))
    scaled = net.scale * 2
    removed = net._parameters.pop("tied"), hasattr(net, "tied")
    absent = net._parameters.pop("tied", "absent"), attempt(lambda: net._parameters.pop("tied"))
    second = net.second
    second._buffers["mean"] = T.zeros(1)
    mean = second.mean
    del second._parameters["weight"]
    second.weight = T.ones(3)  # an ordinary attribute from now on
    same = second._buffers.setdefault("mean"), second._buffers.setdefault("late", T.ones(1))
    late = second.late
    keys = list(net.state_dict()), list(second.state_dict())
    second._buffers |= {"more": T.ones(1)}
    more = list(second._buffers), second.more
    last = second._buffers.popitem(), hasattr(second, "more")
    second._buffers.clear()
    nothing = list(second.named_buffers()), hasattr(second, "mean")
    net._modules = {"only": T.nn.Tanh()}
    only = names(net.named_children()), net.only
    printed = repr(net)
    return locals()


@program
def tables_stand_in_the_dictionary_of_the_instance(T):
    net = tree(T)
    tables = [list(net.__dict__[name]) for name in ("_parameters", "_buffers", "_modules")]
    unsaved = net.second.__dict__["_non_persistent_buffers_set"]
    kinds = [isinstance(net.second.__dict__[n], dict) for n in ("_parameters", "_buffers")]
    net.second.__dict__["_buffers"]["mean"] += 1
    mean = net.second.mean
    net.second.register_buffer("cache", T.ones(1), persistent=True)
    saved = set(unsaved), list(net.second.state_dict())
    return locals()


@program
def copies_have_tables_of_their_own(T):
    net = tree(T)
    shallow, deep = copy.copy(net.second), copy.deepcopy(net.second)
    pickled = pickle.loads(pickle.dumps(net.second))
    state = list(net.second.__getstate__()["_buffers"])
    for one in (deep, pickled):
        one._buffers["mean"] = T.zeros(1)
        del one._parameters["weight"]
    deep_mean, own_mean = deep.mean, net.second.mean
    has = [hasattr(one, "weight") for one in (net.second, shallow, deep, pickled)]
    unsaved = list(pickled.state_dict()), list(deep.state_dict())
    table = copy.copy(net._modules)
    table["first"] = None
    first = net.first
    return locals()


@program
def wrappers_ask_modules_for_their_attributes(T):
    class Wrapper(T.nn.Module):
        def __init__(self, base):
            super().__init__()
            self.base = base

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                if name == "base":
                    raise
                return getattr(self.base, name)

    net = Wrapper(tree(T).second)
    found = net.mean, net.weight is net.base.weight, list(net.state_dict())
    base = T.nn.Module.__getattr__(net, "base") is net.base
    absent = attempt(lambda: net.nothing)
    direct = attempt(lambda: T.nn.Linear(1, 1).__getattr__("nothing"))
    has = hasattr(net, "cache"), hasattr(net, "caches")
    return locals()


# ---- finding and walking ------------------------------------------------------------------------


@program
def duplicates_are_left_out_or_kept(T):
    net = tree(T)
    once = [
        names(net.named_parameters()),
        names(net.named_buffers()),
        names(net.named_modules()),
        names(net.named_children()),
        len(list(net.modules())),
    ]
    all_of_them = [
        names(net.named_parameters(remove_duplicate=False)),
        names(net.named_buffers(remove_duplicate=False)),
        names(net.named_modules(remove_duplicate=False)),
        len(list(net.modules(remove_duplicate=False))),
    ]
    prefixed = names(net.named_parameters("net", recurse=False)), names(net.named_buffers("net"))
    below = names(net.named_modules(prefix="net"))
    memo = {net.second}
    without = names(net.named_modules(memo))
    return locals()


@program
def finding_by_path(T):
    net = tree(T)
    found = [
        net.get_submodule("") is net,
        net.get_submodule("first.1") is net.first[1],
        net.get_parameter("second.weight") is net.tied,
        net.get_buffer("second.cache") is net.second.cache,
    ]
    texts = [
        attempt(lambda: net.get_submodule("x.y")),
        attempt(lambda: net.get_submodule("second.weight")),
        attempt(lambda: net.get_submodule("second..x")),
        attempt(lambda: net.get_parameter("second.foo")),
        attempt(lambda: net.get_parameter("second.mean")),
        attempt(lambda: net.get_buffer("second.weight")),
        attempt(lambda: net.get_buffer("second.foo")),
    ]
    return locals()


@program
def setting_by_path(T):
    net = tree(T)
    net.set_submodule("first.0", T.nn.Tanh())
    net.set_submodule("second.new", T.nn.Tanh())
    net.set_submodule("second.new", T.nn.Identity(), strict=True)
    texts = [
        attempt(lambda: net.set_submodule("", T.nn.Tanh())),
        attempt(lambda: net.set_submodule("second.other", T.nn.Tanh(), strict=True)),
        attempt(lambda: net.set_submodule("second.weight", T.nn.Tanh())),
        attempt(lambda: net.set_submodule("nothing.x", T.nn.Tanh())),
    ]
    return locals()


@program
def apply_goes_from_the_inside_out(T):
    net, log = tree(T), []
    same = net.apply(lambda module: log.append(type(module).__name__)) is net
    return locals()


@program
def modes_and_freezing(T):
    net = tree(T)
    net.first.eval()
    modes = [m.training for m in net.modules()]
    same = net.train() is net, net.eval() is net, net.requires_grad_(False) is net
    modes += [m.training for m in net.modules()]
    frozen = [p.requires_grad for p in net.parameters()]
    net.second.requires_grad_()
    text = attempt(lambda: net.train(1))
    return locals()


@program
def zero_grad_drops_or_zeroes(T):
    net = tree(T)
    net.tied.grad = T.ones(3)
    grad = net.tied.grad
    net.zero_grad(set_to_none=False)
    same = net.tied.grad is grad, grad.tolist()
    net.zero_grad()
    return locals()


# ---- conversion ---------------------------------------------------------------------------------


@program
def conversion_keeps_the_parameters(T):
    net = tree(T)
    net.second.register_buffer("steps", T.tensor([3]))
    before, net.tied.grad = net.tied, T.ones(3)
    dtypes = []
    for convert in (
        lambda: net.float(),
        lambda: net.double(),
        lambda: net.half(),
        lambda: net.to(T.float32),
        lambda: net.to("cpu", T.float64),
        lambda: net.to(dtype=T.float32, device="cpu", non_blocking=True),
        lambda: net.to(T.zeros(1, dtype=T.float64)),
        lambda: net.to("cpu"),
        lambda: net.to(device=T.device("cpu")),
        lambda: net.cpu(),
    ):
        same = convert() is net
        state = [net.tied, net.tied.grad, net.second.mean, net.second.steps]
        dtypes.append([same, *[t.dtype for t in state]])
    kept = net.tied is before, net.second.weight is before
    refused = attempt(lambda: net.to(T.int64))
    return locals()


@program
def type_converts_everything(T):
    net = T.nn.Module()
    net.register_buffer("mean", T.tensor([1.5, 2.5]))
    net.register_buffer("steps", T.tensor([3]))
    same = net.type(T.float32) is net
    return locals()


@program
def empty_memory(T):
    net = tree(T)
    parameter = net.tied
    same = net.to_empty(device="cpu") is net, net.tied is parameter
    shapes = [list(t.shape) for t in [*net.parameters(), *net.buffers()]]
    return {"same": same, "shapes": shapes}


@program
def apply_to_tensors(T):
    net = tree(T)
    net.tied.grad = T.ones(3)
    same = net._apply(lambda t: t + 1) is net
    outer = tree(T)._apply(lambda t: t + 1, recurse=False)
    return locals()


# ---- copies -------------------------------------------------------------------------------------


@program
def deep_copies_share_inside_but_not_outside(T):
    net = tree(T)
    net.register_forward_hook(lambda *a: None)
    net.tied.grad = T.ones(3)
    other = copy.deepcopy(net)
    tied = other.tied is other.second.weight, other.again is other.second
    apart = other.tied is net.tied, other.tied.data_ptr() == net.tied.data_ptr()
    grad = other.tied.grad is None
    other.new = T.nn.Identity()
    return locals()


@program
def shallow_copies_share_members(T):
    net = tree(T)
    other = copy.copy(net)
    same = other.tied is net.tied, other.first is net.first
    return locals()


@program
def pickles(T):
    net = T.nn.Sequential(T.nn.Tanh(), T.nn.Identity()).eval()
    net.weight = T.nn.Parameter(T.arange(3.0), requires_grad=False)
    net.register_buffer("mean", T.ones(2))
    net.register_buffer("cache", T.ones(2), persistent=False)
    other = pickle.loads(pickle.dumps(net))
    same = other.weight is net.weight, names(other.named_buffers())
    return locals()


@program
def setstate_is_called_and_may_call_super(T):
    class Net(T.nn.Module):
        def __setstate__(self, state):
            super().__setstate__(state)
            self.old = "filled in"

    net = copy.deepcopy(Net())
    old = net.old
    return locals()


@program
def texts_of_calling(T):
    class Net(T.nn.Module):
        pass

    texts = attempt(lambda: Net()(1)), attempt(lambda: T.nn.Identity()())
    return locals()
