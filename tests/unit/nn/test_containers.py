"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from collections import OrderedDict

import pytest

import tinynet as tn
from tinynet import nn


def kinds(container):
    return [type(m).__name__ for m in container]


def keys(container):
    return [name for name, _ in container.named_children()]


def three():
    return nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())


# ---- Sequential ---------------------------------------------------------------------------------


def test_sequential_runs_in_order():
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    x = tn.randn(5, 2)
    expected = net[2](net[1](net[0](x)))
    assert net(x).tolist() == expected.tolist()
    assert nn.Sequential()(x) is x
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        net(x, x)


def test_sequential_of_names():
    net = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    assert keys(net) == ["a", "b"] and net.a is net[0]
    assert keys(net[1:]) == ["b"]
    assert keys(net.append(nn.ELU())) == ["a", "b", "2"]
    assert kinds(net.insert(1, nn.GELU())) == ["ReLU", "GELU", "Tanh", "ELU"]
    del net[0]
    assert keys(net) == ["0", "1", "2"]


def test_sequential_indexing():
    net = three()
    assert kinds(net[1:]) == ["Tanh", "Sigmoid"] and keys(net[1:]) == ["1", "2"]
    assert net[-1] is net[2] and len(net) == 3
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"index {index} is out of range"):
            net[index]
    with pytest.raises(TypeError):
        net["a"]
    net[0] = nn.GELU()
    assert kinds(net) == ["GELU", "Tanh", "Sigmoid"]
    with pytest.raises(TypeError, match="cannot assign 'int' as child module '0'"):
        net[0] = 3


def test_sequential_deleting():
    net = three()
    del net[1]
    assert keys(net) == ["0", "1"] and kinds(net) == ["ReLU", "Sigmoid"]
    del net[:1]
    assert kinds(net) == ["Sigmoid"]
    with pytest.raises(IndexError):
        del net[1]
    net = three()
    assert type(net.pop(0)).__name__ == "ReLU" and kinds(net) == ["Tanh", "Sigmoid"]


def test_sequential_growing():
    net = nn.Sequential(nn.ReLU())
    assert net.append(nn.Tanh()) is net
    net.insert(1, nn.ELU()).insert(-1, nn.SELU())
    assert kinds(net) == ["ReLU", "ELU", "SELU", "Tanh"] and keys(net) == ["0", "1", "2", "3"]
    net.extend([nn.GELU()]).extend(nn.Sequential(nn.SiLU()))
    assert kinds(net)[4:] == ["GELU", "SiLU"]
    with pytest.raises(IndexError, match="Index out of range: 9"):
        net.insert(9, nn.ReLU())
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        net.append(3)
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        nn.Sequential(3)


def test_sequential_arithmetic():
    net = nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh())
    assert kinds(net) == ["ReLU", "Tanh"]
    net += nn.Sequential(nn.ELU())
    assert kinds(net) == ["ReLU", "Tanh", "ELU"]
    assert kinds(2 * nn.Sequential(nn.ReLU())) == ["ReLU", "ReLU"]
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    net *= 2
    assert kinds(net) == ["ReLU", "Tanh"] * 2 and net[0] is net[2]
    with pytest.raises(ValueError, match="add operator supports only objects of Sequential class"):
        net + 3
    with pytest.raises(ValueError, match="Non-positive multiplication factor 0"):
        net * 0
    with pytest.raises(TypeError, match="unsupported operand"):
        net * 1.5


def test_slices_of_subclasses():
    class Same(nn.Sequential):
        pass

    class Sized(nn.Sequential):
        def __init__(self, size):
            super().__init__(*[nn.ReLU() for _ in range(size)])

    assert type(Same(nn.ReLU(), nn.Tanh())[:1]) is Same
    assert type(Sized(3)[:2]) is nn.Sequential and len(Sized(3)[:2]) == 2


# ---- ModuleList ---------------------------------------------------------------------------------


def test_module_list():
    layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    assert layers[-1] is layers[1] and type(layers[:1]) is nn.ModuleList
    assert keys(layers[1:]) == ["0"]
    layers[0] = nn.GELU()
    layers += [nn.ELU()]
    assert layers.append(nn.SiLU()) is layers and layers.insert(1, nn.Mish()) is None
    assert kinds(layers) == ["GELU", "Mish", "Tanh", "ELU", "SiLU"]
    assert kinds(layers + [nn.ReLU()])[-1] == "ReLU" and len(layers) == 5
    del layers[0], layers[0:2]
    assert kinds(layers) == ["ELU", "SiLU"] and keys(layers) == ["0", "1"]
    assert type(layers.pop(-1)).__name__ == "SiLU"
    assert len([*nn.ModuleList([nn.Linear(1, 1)]).parameters()]) == 2


def test_module_list_refusals():
    with pytest.raises(TypeError, match="should be called with an iterable, but got int"):
        nn.ModuleList(3)
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        nn.ModuleList([3])
    with pytest.raises(IndexError, match="index 5 is out of range"):
        nn.ModuleList()[5]
    with pytest.raises(NotImplementedError, match=r"Module \[ModuleList\] is missing"):
        nn.ModuleList()(3)


def test_module_list_printing():
    layers = [nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU(), nn.Sequential(nn.ReLU())]
    assert repr(nn.ModuleList(layers)) == (
        "ModuleList(\n"
        "  (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)\n"
        "  (2): ReLU()\n"
        "  (3): Sequential(\n"
        "    (0): ReLU()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"
    assert repr(nn.ModuleList([None])) == "ModuleList(\n  (0): None\n)"


# ---- ModuleDict ---------------------------------------------------------------------------------


def test_module_dict():
    d = nn.ModuleDict({"a": nn.ReLU()})
    d["b"] = nn.Tanh()
    assert list(d) == list(d.keys()) == ["a", "b"] and "a" in d and len(d) == 2
    assert [*d.values()] == [d["a"], d["b"]] and dict(d.items())["b"] is d["b"]
    assert d.pop("a") and list(d) == ["b"]
    d.update([("c", nn.ELU()), ("b", nn.GELU())])
    assert list(d) == ["b", "c"] and type(d["b"]).__name__ == "GELU"
    d.update(nn.ModuleDict({"d": nn.ReLU()}))
    del d["b"]
    assert list(d) == ["c", "d"]
    d.clear()
    assert len(d) == 0 and repr(d) == "ModuleDict()"
    assert repr(nn.ModuleDict({"x": nn.ReLU()})) == "ModuleDict(\n  (x): ReLU()\n)"


def test_module_dict_refusals():
    for given, error, text in [
        ({"keys": nn.ReLU()}, KeyError, "attribute 'keys' already exists"),
        ({3: nn.ReLU()}, TypeError, "module name should be a string. Got int"),
        ([("a",)], ValueError, "ModuleDict update sequence element #0 has length 1; 2 is required"),
        ([3], TypeError, "ModuleDict update sequence element #0 should be Iterable; is int"),
        (3, TypeError, "should be called with an iterable of key/value pairs, but got int"),
    ]:
        with pytest.raises(error) as caught:
            nn.ModuleDict(given)
        assert text in str(caught.value.args[0])
    with pytest.raises(KeyError):
        nn.ModuleDict()["x"]
    with pytest.raises(KeyError):  # an attribute, but no module of the dictionary
        nn.ModuleDict()["training"]


# ---- ParameterList, ParameterDict ---------------------------------------------------------------


def test_parameter_list():
    p = nn.ParameterList([tn.ones(2), nn.Parameter(tn.ones(2, 2)), 3])
    assert [type(x) for x in p] == [nn.Parameter, nn.Parameter, int]
    assert list(p.state_dict()) == ["0", "1"]
    p.append(tn.zeros(1)).extend([tn.zeros(3)])
    p += [tn.ones(1)]
    assert len(p) == 6 and p[-1].tolist() == [1.0] and len(p[1:3]) == 2
    p[0] = tn.zeros(5)
    assert type(p[0]) is nn.Parameter and p[0].shape == (5,)
    with pytest.raises(IndexError, match="index 10 is out of range"):
        p[10]
    for wrong in (3, tn.ones(2)):
        with pytest.raises(TypeError, match="ParameterList.extend should be called with"):
            p.extend(wrong)
    with pytest.raises(RuntimeError, match="ParameterList should not be called."):
        p()
    assert repr(nn.ParameterList([tn.ones(2, 3), 3])) == (
        "ParameterList(\n"
        "    (0): Parameter containing: [tinynet.float32 of size 2x3]\n"
        "    (1): Object of type: int\n"
        ")"
    )


def test_parameter_dict():
    p = nn.ParameterDict({"a": tn.ones(2), "b": 3})
    assert type(p["a"]) is nn.Parameter and p["b"] == 3 and list(p.state_dict()) == ["a"]
    p["c"] = tn.zeros(2)
    assert list(p) == ["a", "b", "c"] and list(reversed(p))[0] == "c" and "b" in p and len(p) == 3
    assert p.pop("a").tolist() == [1.0, 1.0] and p.popitem()[0] == "c"
    assert p.get("zz", 5) == 5 and p.setdefault("n", tn.ones(1)) is p["n"]
    assert list((p | nn.ParameterDict({"zz": tn.ones(1)})).keys()) == ["b", "n", "zz"]
    assert p.copy()["n"] is p["n"] and list(p.fromkeys(["u"], tn.ones(1)).keys()) == ["u"]
    p |= {"k": tn.ones(1)}
    del p["b"]
    assert [key for key, _ in p.items()] == ["n", "k"] and len([*p.values()]) == 2
    assert [name for name, _ in p.named_parameters()] == ["n", "k"]
    p.clear()
    assert len(p) == 0
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        p["nope"]
    with pytest.raises(TypeError, match="not a string"):
        p[3]
    with pytest.raises(RuntimeError, match="ParameterDict should not be called."):
        p(3)
    assert repr(nn.ParameterDict({"a": tn.ones(2), "b": 3})) == (
        "ParameterDict(\n"
        "    (a): Parameter containing: [tinynet.FloatTensor of size 2]\n"
        "    (b): Object of type: int\n"
        ")"
    )
