"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict: all of their interface."""

from __future__ import annotations

import copy
from collections import OrderedDict

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def kinds(container):
    return [type(m).__name__ for m in container]


def keys(container):
    return [name for name, _ in container.named_children()]


def three(T, container):
    given = [T.nn.ReLU(), T.nn.Tanh(), T.nn.Sigmoid()]
    return container(*given) if container is T.nn.Sequential else container(given)


# ---- Sequential and ModuleList ------------------------------------------------------------------


def both(program_of_container):
    """A program for each of the two."""
    for which in ("Sequential", "ModuleList"):
        program.add(
            f"{which}_{program_of_container.__name__}",
            lambda T, which=which: program_of_container(T, getattr(T.nn, which)),
        )


@both
def indexing(T, container):
    net = three(T, container)
    found = [kinds([net[0], net[-1], net[True]]), len(net), net[1] is list(net)[1]]
    slices = [net[1:], net[::2], net[::-1], net[5:], net[:]]
    names = [keys(part) for part in slices]
    net[0], net[-1] = T.nn.ELU(), T.nn.GELU()
    texts = [
        attempt(lambda: net[3]),
        attempt(lambda: net[-4]),
        attempt(lambda: net["a"]),
        attempt(lambda: net[1.0]),
        attempt(lambda: net.__setitem__(3, T.nn.ReLU())),
        attempt(lambda: net.__setitem__(0, 3)),
    ]
    contained = net[0] in net, T.nn.ReLU() in net
    return locals()


@both
def deleting(T, container):
    net = three(T, container)
    del net[1]
    one = kinds(net), keys(net)
    del net[-1]
    two = kinds(net), keys(net)
    wide = three(T, container)
    del wide[::2]
    three_ = kinds(wide), keys(wide)
    text = attempt(lambda: net.__delitem__(5))
    return locals()


@both
def popping(T, container):
    net = three(T, container)
    popped = net.pop(1)
    last = net.pop(-1)
    more = three(T, container)
    part = more.pop(slice(0, 2))
    text = attempt(lambda: net.pop(9))
    return locals()


@both
def growing(T, container):
    net = three(T, container)
    same = net.append(T.nn.ELU()) is net
    returned = net.insert(1, T.nn.SELU()) is net
    net.insert(len(net), T.nn.GELU())
    net.insert(0, T.nn.CELU())
    same_too = net.extend([T.nn.SiLU(), T.nn.Mish()]) is net
    net.extend(three(T, container))
    names = keys(net)
    texts = [attempt(lambda: net.append(3)), attempt(lambda: net.extend([3]))]
    return locals()


@both
def adding(T, container):
    net, other = three(T, container), three(T, container)
    joined = net + other
    lengths = len(net), len(joined)
    before = net
    net += other
    same = net is before, net[3] is other[0]
    return locals()


@both
def emptiness(T, container):
    net = container()
    facts = len(net), list(net), bool(net), keys(net)
    part = net[:]
    text = attempt(lambda: net[0])
    return locals()


@both
def subclasses(T, container):
    class Named(container):
        pass

    net = three(T, container)
    made = Named(*net) if container is T.nn.Sequential else Named(net)
    part = made[1:]
    copied = copy.deepcopy(made)
    return locals()


@program
def sequential_runs(T):
    net = three(T, T.nn.Sequential)
    x = T.tensor([-1.0, 0.5])
    out, none = net(x), T.nn.Sequential()(x) is x
    return locals()


@program
def sequential_of_names(T):
    net = T.nn.Sequential(OrderedDict([("b", T.nn.ReLU()), ("a", T.nn.Tanh())]))
    part, same = net[1:], net.a is net[1]
    net.append(T.nn.ELU())
    names = keys(net)
    del net[0]
    after = keys(net)
    return locals()


@program
def sequential_times(T):
    net = T.nn.Sequential(T.nn.ReLU(), T.nn.Tanh())
    twice, other = net * 2, 3 * net
    shared = twice[0] is twice[2]
    before = net
    net *= 2
    same = net is before
    texts = [
        attempt(lambda: net * 0),
        attempt(lambda: net * 1.5),
        attempt(lambda: net + 3),
        attempt(lambda: net + [T.nn.ReLU()]),
    ]
    return locals()


@program
def sequential_insert_outside(T):
    net = three(T, T.nn.Sequential)
    net.insert(-1, T.nn.ELU())
    texts = [
        attempt(lambda: net.insert(9, T.nn.ReLU())),
        attempt(lambda: net.insert(-9, T.nn.ReLU())),
    ]
    return locals()


@program
def module_lists_count_equal_neighbours(T):
    linear = [T.nn.Linear(2, 2) for _ in range(3)]
    for layer in linear:
        T.nn.init.zeros_(layer.weight)
        T.nn.init.zeros_(layer.bias)
    net = T.nn.ModuleList([*linear, T.nn.ReLU(), T.nn.ReLU(), T.nn.Sequential(T.nn.ReLU())])
    inside = T.nn.Sequential(T.nn.ModuleList([T.nn.ReLU(), T.nn.ReLU()]))
    texts = [
        attempt(lambda: T.nn.ModuleList(3)),
        attempt(lambda: T.nn.ModuleList([3])),
        attempt(lambda: T.nn.ModuleList().extend(3)),
        attempt(lambda: net(1)),
    ]
    holes = repr(T.nn.ModuleList([None])).split("\n")
    return locals()


# ---- ModuleDict ---------------------------------------------------------------------------------


@program
def module_dicts(T):
    d = T.nn.ModuleDict({"b": T.nn.ReLU(), "a": T.nn.Tanh()})
    order = list(d), list(d.keys()), kinds(d.values()), [k for k, _ in d.items()]
    d["c"] = T.nn.ELU()
    d["b"] = T.nn.GELU()
    facts = len(d), "a" in d, "x" in d, type(d["b"]).__name__, d.a is d["a"]
    d.update([("d", T.nn.ReLU()), ["e", T.nn.ReLU()]])
    d.update(T.nn.ModuleDict({"f": T.nn.Tanh()}))
    d.update(OrderedDict(a=T.nn.SiLU()))
    popped = d.pop("b")
    del d["a"]
    texts = [
        attempt(lambda: d["x"]),
        attempt(lambda: d.pop("x")),
        attempt(lambda: d.__delitem__("x")),
        attempt(lambda: d.update(3)),
        attempt(lambda: d.update([("a", T.nn.ReLU(), 3)])),
        attempt(lambda: d.__setitem__("keys", T.nn.ReLU())),
        attempt(lambda: d.__setitem__("a.b", T.nn.ReLU())),
        attempt(lambda: d.__setitem__("", T.nn.ReLU())),
        attempt(lambda: d.__setitem__(3, T.nn.ReLU())),
        attempt(lambda: d.__setitem__("x", 3)),
    ]
    copied = copy.deepcopy(d)
    d.clear()
    return locals()


# ---- ParameterList ------------------------------------------------------------------------------


@program
def parameter_lists(T):
    p = T.nn.ParameterList([T.zeros(2), T.nn.Parameter(T.ones(1), requires_grad=False), 3, "x"])
    facts = len(p), p[2], p[-1], isinstance(p[0], T.nn.Parameter), [type(x).__name__ for x in p]
    names = [name for name, _ in p.named_parameters()]
    same = p.append(T.ones(3)) is p, p.extend([T.ones(1), 4]) is p
    p += [T.zeros(1)]
    part, step = p[1:3], p[::3]
    p[0], p[2] = T.ones(1), T.zeros(2)
    printed = repr(p).split("\n")
    texts = [
        attempt(lambda: p[99]),
        attempt(lambda: p[-99]),
        attempt(lambda: p.extend(3)),
        attempt(lambda: p.extend(T.ones(2))),
        attempt(lambda: T.nn.ParameterList(3)),
        attempt(lambda: p(1)),
        attempt(lambda: T.nn.ParameterList().append(T.ones(1, dtype=T.int64))),
    ]
    return locals()


@program
def parameter_lists_in_modules(T):
    net = T.nn.Module()
    net.weights = T.nn.ParameterList(T.ones(i + 1) for i in range(3))
    copied = copy.deepcopy(net)
    shared = copied.weights[0] is net.weights[0], len(copied.weights)
    net.float()
    return locals()


# ---- ParameterDict ------------------------------------------------------------------------------


@program
def parameter_dicts(T):
    d = T.nn.ParameterDict({"b": T.zeros(2), "a": T.ones(1), "n": 3})
    order = list(d), list(d.keys()), list(reversed(d)), [k for k, _ in d.items()]
    d["c"] = T.ones(3)
    facts = len(d), "a" in d, "x" in d, d["n"], d.get("n"), d.get("x"), d.get("x", 5)
    set_ = d.setdefault("c", 1) is d["c"], d.setdefault("new", T.ones(1)), d.setdefault("none")
    values = [type(v).__name__ for v in d.values()]
    popped, item = d.pop("b"), d.popitem()
    d.update([("d", T.zeros(1)), ["e", 4]])
    d.update(OrderedDict(z=T.ones(1), y=T.ones(1)))
    d.update({"z2": T.ones(1), "y2": T.ones(1)})
    d.update(T.nn.ParameterDict(OrderedDict(q=T.ones(1), p=T.ones(1))))
    printed = repr(d).split("\n")
    names = [name for name, _ in d.named_parameters()]
    other = d.copy()
    shared = other["a"] is d["a"], list(other) == list(d)
    from_keys = d.fromkeys(["u", "v"], T.ones(1))
    joined = list(d | T.nn.ParameterDict({"w": T.ones(1)}))
    d |= T.nn.ParameterDict({"w": T.ones(1)})
    del d["w"]
    texts = [
        attempt(lambda: d["x"]),
        attempt(lambda: d.pop("x")),
        attempt(lambda: d.__delitem__("x")),
        attempt(lambda: d.update(3)),
        attempt(lambda: d.update([("a", 1, 2)])),
        attempt(lambda: T.nn.ParameterDict().__setitem__(3, T.ones(1))),
        attempt(lambda: d(1)),
    ]
    d.clear()
    empty = len(d), list(d)
    return locals()
