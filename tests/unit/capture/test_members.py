"""Functions that go over the members of a module: each of these is compared before a replay."""

import operator

import pytest

import tinynet as tn
from tinynet import distributions, nn, optim
from tinynet.distributions import transforms


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.listed = nn.ParameterList([nn.Parameter(tn.ones(3)), nn.Parameter(tn.ones(3) * 2)])
        self.named = nn.ParameterDict({"a": nn.Parameter(tn.ones(1) * 3)})
        self.parts = nn.ModuleList([nn.Linear(1, 1)])
        self.chain = nn.Sequential(nn.Linear(1, 1))
        self.register_buffer("shift", tn.ones(2))


def total(tensors):
    return sum((i + 1) * t.detach().sum() for i, t in enumerate(tensors))


def by_apply(net):
    found = []
    net.apply(lambda m: found.append(m.weight) if isinstance(m, nn.Linear) else None)
    return found


PATH = "lin", "ear.weight"
FORMS = {
    "parameters": lambda net: net.parameters(),
    "a list": lambda net: [*net.parameters()],
    "named_parameters": lambda net: [p for name, p in net.named_parameters()],
    "a dict": lambda net: dict(net.named_parameters()).values(),
    "state_dict": lambda net: net.state_dict().values(),
    "modules": lambda net: [p for m in net.modules() for p in m.parameters(recurse=False)],
    "named_modules": lambda net: [m.weight for _, m in net.named_modules() if type(m) is nn.Linear],
    "children": lambda net: [p for child in net.children() for p in child.parameters()],
    "buffers": lambda net: net.buffers(),
    "of a part": lambda net: [*net.chain.parameters(), *net.listed.parameters()],
    "items of a list": lambda net: net.listed,
    "values of a dict": lambda net: net.named.values(),
    "modules of a list": lambda net: [m.weight for m in net.parts],
    "the first": lambda net: [next(iter(net.parameters()))],
    "map": lambda net: map(tn.detach, net.parameters()),
    "apply": by_apply,
    "a vector": lambda net: [nn.utils.parameters_to_vector(net.parameters())],
    "a norm": lambda net: [nn.utils.get_total_norm(net.parameters())],
    "tables": lambda net: [p for m in net._modules.values() for p in m._parameters.values()],
    "vars": lambda net: vars(vars(net)["_modules"]["linear"])["_parameters"].values(),
    "get_parameter": lambda net: [net.get_parameter("linear.weight")],
    "a path made here": lambda net: [net.get_parameter(PATH[0] + PATH[1])],
    "get_submodule": lambda net: [net.get_submodule("chain.0").weight],
    "attrgetter": lambda net: [operator.attrgetter("linear.weight")(net)],
    "numbers of elements": lambda net: [tn.tensor(sum(p.numel() for p in net.parameters()))],
}


def of_list(net):
    net.listed[0] = nn.Parameter(tn.ones(3) * 0.5)


def of_dict(net):
    net.named["a"] = nn.Parameter(tn.ones(1) * 0.5)


def of_parts(net):
    net.parts[0] = nn.Linear(1, 1)


def of_chain(net):
    net.chain[0] = nn.Linear(1, 1)


def weight(net):
    net.linear.weight = nn.Parameter(tn.ones(2, 2) * 9)


def module(net):
    net.linear = nn.Linear(2, 2)


def buffer(net):
    net.shift = tn.ones(2) * 5


def one_more(net):
    net.listed.append(nn.Parameter(tn.ones(3)))


def one_more_inside(net):
    net.chain[0].register_parameter("new", nn.Parameter(tn.ones(3)))


def one_less(net):
    del net.named["a"]


CHANGES = [of_list, of_dict, of_parts, of_chain, weight, module, buffer]
CHANGES += [one_more, one_more_inside, one_less]


def called(form, change, compiling):
    tn.manual_seed(0)
    net = Net()

    def function(x):
        return x + total(form(net))

    used = tn.compile(function, verify=0) if compiling else function
    found = []
    for i in range(6):
        if i == 3:
            change(net)
        found.append(used(tn.ones(2)).tolist())
    return found, used


# Each second case is half of the changes of a form, and of the next form the other half.
HALVES = {
    f"{name}-{half}": (form, CHANGES[(place + half) % 2 :: 2])
    for place, (name, form) in enumerate(FORMS.items())
    for half in range(2)
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", HALVES)
def test_a_member_is_replaced(name):
    form, changes = HALVES[name]
    for change in changes:
        found, compiled = called(form, change, True)
        assert found == called(form, change, False)[0], change.__name__
        assert compiled.explain().calls.eager == 0 and compiled.explain().calls.replayed >= 2


def normal():
    return distributions.Normal(tn.zeros(3), tn.ones(3))


def mixture():
    parts = distributions.Normal(tn.tensor([0.0, 1.0]), tn.tensor([1.0, 2.0]))
    return distributions.MixtureSameFamily(distributions.Categorical(tn.tensor([0.3, 0.7])), parts)


def transformed():
    normal, affine = distributions.Normal(tn.zeros(3), tn.ones(3)), transforms.AffineTransform(1, 2)
    return distributions.TransformedDistribution(normal, [affine, transforms.TanhTransform()])


class Shifted(distributions.Normal):
    """A user's class; code of tinynet reads the attributes of its base."""


def reads(d):
    """Return functions that get an object, or what a property of it reads."""
    first = normal()
    return {
        "log_prob": lambda x: d.log_prob(x),
        "second": lambda x: distributions.kl_divergence(first, d) + x,
        "keyword": lambda x: distributions.kl_divergence(first, q=d) + x,
        "property": lambda x: d.stddev + x,
    }


@pytest.mark.parametrize("name", ["log_prob", "second", "keyword", "property"])
def test_an_object_is_an_argument_or_has_a_property(name):
    found = []
    for compiling in (False, True):
        d = normal()
        used = tn.compile(reads(d)[name], verify=0) if compiling else reads(d)[name]
        found.append([])
        for i in range(6):
            if i == 3:
                d.scale = tn.full((3,), 3.0)
            found[-1].append(used(tn.arange(3.0) + i).tolist())
    assert found[0] == found[1] and used.explain().calls.replayed >= 2


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (mixture, lambda d: setattr(d.component_distribution, "loc", tn.tensor([5.0, 6.0]))),
        (transformed, lambda d: setattr(d.transforms[0], "scale", 5.0)),
        (transformed, lambda d: d.transforms.pop()),
        (transformed, lambda d: setattr(d.base_dist, "loc", tn.ones(3))),
        (lambda: Shifted(tn.zeros(3), tn.ones(3)), lambda d: setattr(d, "loc", tn.ones(3))),
    ],
    ids=["a part", "a transform", "one less", "a base", "a subclass"],
)
def test_what_tinynets_objects_hold_is_replaced(make, change):
    found = []
    for compiling in (False, True):
        d = make()

        def function(x, d=d):
            return d.log_prob(x)

        used = tn.compile(function, verify=0) if compiling else function
        found.append([])
        for i in range(6):
            if i == 3:
                change(d)
            found[-1].append(used((tn.arange(3.0) + i) * 0.05).tolist())
    assert found[0] == found[1] and used.explain().calls.replayed >= 2


def test_an_optimizer_gets_other_parameters():
    """Then ``zero_grad`` leaves other gradients, which the code reads."""
    found = []
    for compiling in (False, True):
        tn.manual_seed(0)
        net = nn.Linear(3, 2)
        optimizer = optim.SGD(net.parameters(), lr=0.1)

        def step(x, net=net, optimizer=optimizer):
            net(x).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            with tn.no_grad():
                for p in net.parameters():
                    if p.grad is not None:
                        p.sub_(p.grad)

        used = tn.compile(step, verify=0) if compiling else step
        found.append([])
        for i in range(6):
            if i == 3:
                optimizer.param_groups[0]["params"] = [net.bias]
            used(tn.ones(2, 3))
            found[-1].append(net.weight.tolist())
    assert found[0] == found[1] and used.explain().calls.replayed >= 2
