"""Whole modules and objects of any class, saved and loaded; what a file may name."""

import argparse
import collections
import copy
import datetime
import functools
import io
import math
import pathlib
import pickle
import random
import types
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import tinynet as tn
from tests.unit.exchange import objects
from tests.unit.exchange.test_pytorch import zipped
from tinynet import nn, optim
from tinynet.exchange import ExchangeError, UnsafeError, load_pytorch, save_pytorch


def round_trip(obj, **options):
    tn.save(obj, file := io.BytesIO())
    return tn.load(file, **options)


# ---- what is data: read by default --------------------------------------------------------------

DATA = [
    {1, 2},
    frozenset({(1, 2), frozenset({3})}),
    range(2, 9, 3),
    slice(1, None, 2),
    1 - 2j,
    bytearray(b"\x00\xff"),
    collections.defaultdict(list, a=[1]),
    collections.defaultdict(int, a=1),
    collections.defaultdict(set, a={1}),
    collections.defaultdict(None, a=1),
    collections.deque([1, 2], 3),
    datetime.datetime(2020, 2, 29, 1, 2, 3, 4),
    datetime.datetime(2020, 2, 29, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    datetime.date(2020, 2, 29),
    datetime.time(1, 2),
    datetime.timedelta(days=-1, seconds=3),
    pathlib.Path("runs") / "a b",
    pathlib.PurePath("x"),
    argparse.Namespace(lr=0.1, layers=[1, 2], name="x"),
    types.SimpleNamespace(a=1),
    np.arange(6).reshape(2, 3).T,
    np.array(1.5),
    np.array(["a", "bc"]),
    np.zeros((0, 3), np.int16),
    np.float32(0.5),
    np.bool_(True),
    random.Random(0).getstate(),
    np.random.RandomState(0).get_state(),
    tn.device("cpu"),
    tn.device("cuda", 1),
]


@pytest.mark.parametrize("value", DATA, ids=lambda v: f"{type(v).__name__} {v!r:.30}")
def test_data_of_python_and_numpy(value):
    obj = {"x": value, "forces a pickle": {1}, "model": nn.Linear(1, 1).state_dict()}
    for options in ({}, {"weights_only": False}):
        back = round_trip(obj, **options)["x"]
        assert type(back) is type(value)
        assert repr(back) == repr(value)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_of_every_protocol(protocol):
    data = [v for v in DATA if not isinstance(v, tn.device)]
    back = load_pytorch(zipped(pickle.dumps(data, protocol)))
    assert repr(back) == repr(data)


def test_a_checkpoint_of_a_script(tmp_path):
    model = objects.Net()
    optimizer = optim.Adam(model.parameters())
    model(tn.tensor([1, 2, 3])).sum().backward()
    optimizer.step()
    args = argparse.Namespace(lr=0.1, out=tmp_path)
    state = {"model": model.state_dict(), "args": args, "opt": optimizer.state_dict(), "epoch": 3}
    tn.save(state, tmp_path / "last.pt")
    back = tn.load(tmp_path / "last.pt", map_location=lambda storage, location: storage)
    assert back["args"] == args
    other = objects.Net()
    other.load_state_dict(back["model"])
    optim.Adam(other.parameters()).load_state_dict(back["opt"])
    assert type(back["model"]) is collections.OrderedDict
    assert back["model"]._metadata == state["model"]._metadata


# ---- objects: read if the file is trusted, or their classes are allowed -------------------------


def equal(a, b):
    return type(a) is type(b) and (a == b or vars(a) == vars(b))


OBJECTS = [
    objects.Config(0.2, [1]),
    objects.Frozen("x"),
    objects.Point(1, 2),
    objects.Colour.RED,
    objects.Table(a=1),
    objects.Numbers([1, 2]),
    objects.Reduced(3),
    objects.Named(value=4),
    objects.Outer.Inner(),
]


@pytest.mark.parametrize("value", OBJECTS, ids=lambda v: type(v).__name__)
def test_objects_of_ones_own(value):
    assert equal(round_trip(value, weights_only=False), value)
    with pytest.raises(UnsafeError) as error:
        round_trip(value)
    if type(value) is not objects.Outer.Inner:  # what is inside another class is got by getattr
        name = type(value).__name__
        assert error.value.name == f"tests.unit.exchange.objects.{name}"
        assert f"tinynet.serialization.add_safe_globals([{name}])" in str(error.value)
        with tn.serialization.safe_globals([type(value)]):
            assert equal(round_trip(value), value)


def test_other_states():
    back = round_trip(objects.Slotted(1), weights_only=False)
    assert back.value == 1
    assert back.again[0] is back
    assert vars(round_trip(objects.Stateful(), weights_only=False)) == {
        "value": 1,
        "function": None,
    }
    assert round_trip(functools.partial(int, base=2), weights_only=False)("11") == 3
    assert round_trip(np.random.default_rng(3), weights_only=False).random() == (
        np.random.default_rng(3).random()
    )


def test_classes_and_functions_are_values():
    values = [print, math.sqrt, int, type(None), ..., NotImplemented, np.float32, nn.Linear]
    values += [objects.Config, objects.Outer.Inner, nn.functional.relu, tn.tanh, tn.Tensor, tn.Size]
    back = round_trip(values, weights_only=False)
    assert all(a is b for a, b in zip(back, values, strict=True))


def test_what_leads_back_to_itself():
    one = []
    one.append(one)
    assert (back := round_trip(one))[0] is back
    two = ([],)
    two[0].append(two)
    assert (back := round_trip(two))[0][0] is back


def test_one_object_is_one_afterwards():
    shared = [1]
    back = round_trip({"a": shared, "b": (shared, {1})})
    assert back["a"] is back["b"][0]


# ---- modules ------------------------------------------------------------------------------------

COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "process": lambda x: pickle.loads(ForkingPickler.dumps(x)),  # what multiprocessing sends
}


def check_equal_modules(a, b):
    assert repr(a) == repr(b)
    assert [n for n, _ in a.named_buffers()] == [n for n, _ in b.named_buffers()]
    assert a.training == b.training
    left, right = a.state_dict(), b.state_dict()
    assert list(left) == list(right)
    assert all(np.array_equal(left[k].numpy(), right[k].numpy()) for k in left)
    x = tn.tensor([1, 2, 3])
    assert np.array_equal(a.eval()(x).detach().numpy(), b.eval()(x).detach().numpy())


def test_a_whole_module():
    net = objects.Net()
    net(tn.tensor([1, 2, 3]))
    net.body[0].weight.requires_grad_(False)
    net.parent = [net]
    back = round_trip({"model": net}, weights_only=False)["model"]
    check_equal_modules(back, net)
    assert back.parent[0] is back
    assert back.config == net.config
    assert not back.body[0].weight.requires_grad
    assert type(back.body[2].weight) is nn.Parameter
    assert back.body[2].bias is None
    assert "cache" not in back.state_dict()


def test_a_whole_module_by_default_names_the_remedy():
    net = nn.Sequential(nn.Linear(2, 1), nn.Tanh())
    tn.save(net, file := io.BytesIO())
    with pytest.raises(
        pickle.UnpicklingError, match="^Weights only load failed.*torch.nn.Sequential"
    ):
        tn.load(file)
    tn.serialization.add_safe_globals([nn.Sequential, nn.Linear])
    try:
        with pytest.raises(UnsafeError, match=r"add_safe_globals\(\[Tanh\]\)"):
            tn.load(file)
        with tn.serialization.safe_globals([(nn.Tanh, "torch.nn.Tanh")]):
            assert repr(tn.load(file)) == repr(net)
        assert tn.serialization.get_safe_globals() == [nn.Sequential, nn.Linear]
    finally:
        tn.serialization.clear_safe_globals()
    assert repr(tn.load(file, weights_only=False)) == repr(net)


def test_modules_and_optimizers_stay_together():
    net = objects.Net()
    optimizer = optim.Adam(net.parameters())
    net(tn.tensor([1, 2, 3])).sum().backward()
    optimizer.step()
    back = round_trip({"net": net, "optimizer": optimizer}, weights_only=False)
    for both in ((net, optimizer), (back["net"], back["optimizer"])):
        both[1].zero_grad()
        both[0].eval()(tn.tensor([1, 2])).sum().backward()
        both[1].step()
    check_equal_modules(back["net"], net)


def test_states_that_a_module_sets_itself():
    net = objects.Assigning(2, 1)
    for copied in (*COPIES.values(), trusted, copy.copy):
        back = copied(net)
        assert back(tn.ones(1, 2)).item() == net(tn.ones(1, 2)).item()
        back = copied(net)
        back.weight = nn.Parameter(tn.zeros(1, 2))
        assert back.weight is back._parameters["weight"]
        assert not back.state_dict()["weight"].any()
        assert net.weight.any() or copied is copy.copy  # it shares the tables


def trusted(obj):
    return round_trip(obj, weights_only=False)


def test_hooks_of_a_module():
    net = nn.Linear(2, 1)
    net.register_forward_pre_hook(shifted)
    back = trusted(net)
    x = tn.ones(1, 2)
    assert back(x).item() == net(x).item() != nn.Linear.forward(net, x).item()


def test_hooks_in_files_keep_how_they_are_called_and_get_numbers_of_their_own():
    net = nn.Linear(2, 1)
    net.register_forward_hook(scaled, with_kwargs=True, always_call=True)
    net.register_full_backward_hook(ignored)
    back = trusted(net)
    handle = back.register_forward_hook(ignored)
    x = tn.ones(1, 2)
    assert back(x).item() == net(x).item() != net.forward(x).item()
    assert [*back._backward_hooks.values()] == [ignored]
    assert len(back._forward_hooks) == 2
    assert back._forward_hooks.keys() - {handle.id} == {*back._forward_hooks_always_called}
    assert not back._forward_hooks.keys() & net._forward_hooks.keys()


def shifted(module, arguments):
    return (arguments[0] + 1,)


def scaled(module, arguments, keywords, output):
    return output * 2


def ignored(module, *arguments):
    return None


def test_recurrent_layers_and_lazy_ones():
    net = nn.LSTM(3, 2, num_layers=2, bidirectional=True)
    back = round_trip(net, weights_only=False)
    x = tn.ones(4, 1, 3)
    assert np.array_equal(back(x)[0].detach().numpy(), net(x)[0].detach().numpy())
    lazy = round_trip(nn.LazyLinear(2), weights_only=False)
    assert lazy(tn.ones(1, 3)).shape == (1, 2)


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_of_modules_and_optimizers(copied):
    net = objects.Net()
    optimizer = optim.Adam(net.parameters())
    net(tn.tensor([1, 2, 3])).sum().backward()
    optimizer.step()
    other, again = copied((net, optimizer))
    assert again.param_groups[0]["params"][0] is next(other.parameters())
    check_equal_modules(other, net)


# ---- hostile files ------------------------------------------------------------------------------


def test_only_what_is_allowed_is_called():
    """An allowed class does not open the door for another, nor for what it makes."""
    with tn.serialization.safe_globals([objects.Config]):
        with pytest.raises(UnsafeError, match="the name .*system"):
            load_pytorch(zipped(b"\x80\x02cos\nsystem\nX\4\0\0\0echo\x85R."))
        called = b"\x80\x02ctests.unit.exchange.objects\nConfig\n)\x81)R."
        with pytest.raises(ExchangeError, match="a call of a Config"):
            load_pytorch(zipped(called))
        made = b"\x80\x02ctests.unit.exchange.objects\nConfig\n)\x81cbuiltins\nlist\n\x85b."
        with pytest.raises(ExchangeError):
            load_pytorch(zipped(made))


@pytest.mark.parametrize(
    "pickled, message",
    [
        (b"cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R.", "a bytearray of a int"),
        (
            b"ccollections\ndefaultdict\nccollections\nCounter\n\x85R.",
            "a defaultdict of collections",
        ),
        (b"cbuiltins\nlist\n)R.", "a call of a Factory"),
        (b"cbuiltins\nlist\n.", "builtins.list as a value"),
        (b"cargparse\nNamespace\n)\x81}X\x0b\0\0\0_get_kwargsNsb.", "the attribute '_get_kwargs'"),
        (b"cnumpy\nndarray\n)R.", "a call of one of Python's or numpy's types"),
        (b"cnumpy._core.multiarray\n_reconstruct\n(NNNtR.", "of another class than numpy's"),
    ],
)
def test_calls_with_arguments_that_are_no_data(pickled, message):
    with pytest.raises(ExchangeError, match=message):
        load_pytorch(zipped(b"\x80\x02" + pickled))


@pytest.mark.parametrize("shape", [(2**61 + 1,), (2**62, 0, 4), (-1, -8), (1,) * 65, (7,), (9,)])
def test_arrays_outside_of_their_bytes(shape):
    function, (kind, start, code), state = np.zeros(8, np.uint8).__reduce__()
    state = (*state[:1], shape, *state[2:])
    with pytest.raises(ExchangeError):
        load_pytorch(zipped(pickle.dumps(Call(function, (kind, start, code), state), 2)))


class Call:
    def __init__(self, *reduced):
        self.reduced = reduced

    def __reduce__(self):
        return self.reduced


# ---- errors of trusted files --------------------------------------------------------------------


def test_a_class_that_is_gone(monkeypatch):
    tn.save(objects.Table(a=1), file := io.BytesIO())
    monkeypatch.delattr(objects, "Table")
    with pytest.raises(AttributeError, match="Can't get attribute 'Table'"):
        tn.load(file, weights_only=False)


def test_what_pytorch_has_and_tinynet_has_not():
    data = zipped(b"\x80\x02ctorch.nn.modules.sparse\nNothing\n)\x81.")
    for options in ({}, {"weights_only": False}):
        with pytest.raises(ExchangeError, match="the name torch.nn.modules.sparse.Nothing, which"):
            load_pytorch(data, **options)


def test_attributes_of_tensors():
    p = nn.Parameter(tn.ones(2))
    p.group, x = "a", tn.zeros(1)
    x.note = {1}
    save_pytorch([p, x, p], file := io.BytesIO())
    back = load_pytorch(file)
    assert back[0].group == "a"
    assert type(back[0]) is nn.Parameter
    assert back[0].requires_grad
    assert back[1].note == {1}
    assert back[2] is back[0]


def test_what_is_no_list_of_classes_is_refused():
    for wrong in ("Net", ("torch.nn.Linear", nn.Linear), (nn.Linear, 1)):
        with pytest.raises(TypeError, match="must have classes and functions, or pairs"):
            tn.serialization.add_safe_globals([wrong])
    assert tn.serialization.get_safe_globals() == []


def test_locations():
    assert tn.serialization.default_restore_location(3, "cpu") == 3
    with pytest.raises(RuntimeError, match="runs on the cpu only"):
        tn.serialization.default_restore_location(3, "cuda:0")


@pytest.mark.parametrize("protocol", range(2, 6))
def test_names_that_are_not_safe(protocol):
    point, odd = objects.Point(1, 2), functools.partial(max, 1)
    file = zipped(
        pickle.dumps([point, point, odd, "Point", collections.OrderedDict()], protocol=protocol)
    )
    asked = tn.serialization.get_unsafe_globals_in_checkpoint
    found = asked(file)
    assert found == sorted(found) and "tests.unit.exchange.objects.Point" in found
    assert "functools.partial" in found and "collections.OrderedDict" not in found
    with tn.serialization.safe_globals([objects.Point]):
        assert "tests.unit.exchange.objects.Point" not in asked(file)
    tn.save({"w": tn.ones(2)}, data := io.BytesIO())
    assert asked(data) == []
    with pytest.raises(ValueError, match="Expected input to be a checkpoint returned by torch.sa"):
        asked(io.BytesIO(b"no file of that kind"))
