"""state_dict and load_state_dict."""

import collections
import copy
import pickle

import pytest

import tinynet as tn
from tinynet import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(tn.ones(2))
        self.register_buffer("b", tn.ones(3))
        self.register_buffer("cache", tn.ones(3), persistent=False)
        self.lin = nn.Linear(2, 3)


# ---- saving -------------------------------------------------------------------------------------


def test_saving():
    net = Net()
    found = net.state_dict()
    assert type(found) is collections.OrderedDict
    assert list(found) == ["w", "b", "lin.weight", "lin.bias"]
    assert found._metadata == {"": {"version": 1}, "lin": {"version": 1}}
    assert type(found["w"]) is tn.Tensor and not found["w"].requires_grad
    with tn.no_grad():
        net.w.add_(1)
    assert found["w"].tolist() == [2.0, 2.0]  # it shares the memory
    assert net.state_dict(keep_vars=True)["w"] is net.w
    assert list(net.state_dict(prefix="net."))[:2] == ["net.w", "net.b"]
    mine = {}
    assert net.state_dict(destination=mine) is mine and len(mine) == 4


def test_none_is_not_saved():
    net = Net()
    net.lin.bias = None
    net.b = None
    assert list(net.state_dict()) == ["w", "lin.weight"]


def test_extra_state():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = 3

        def get_extra_state(self):
            return {"seen": self.seen}

        def set_extra_state(self, state):
            self.seen = state["seen"]

    net = nn.Sequential(Counts())
    found = net.state_dict()
    assert found == {"0._extra_state": {"seen": 3}}
    net[0].seen = 0
    assert str(net.load_state_dict(found)) == "<All keys matched successfully>"
    assert net[0].seen == 3
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "0._extra_state"'):
        net.load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected key\(s\) in state_dict: "_extra_state"'):
        nn.ReLU().load_state_dict({"_extra_state": 1})
    with pytest.raises(RuntimeError, match="has no extra state"):
        nn.ReLU().get_extra_state()


# ---- loading ------------------------------------------------------------------------------------


def test_loading_writes_in_place():
    net, other = Net(), Net()
    before = {name: (p, p._version) for name, p in net.named_parameters()}
    memory = net.w.data_ptr()
    result = net.load_state_dict(other.state_dict())
    assert repr(result) == str(result) == "<All keys matched successfully>"
    assert result == ([], []) and result.missing_keys == []
    for name, p in net.named_parameters():
        assert p is before[name][0] and p._version == before[name][1] + 1
        assert p.tolist() == other.get_parameter(name).tolist()
    assert net.w.data_ptr() == memory and net.w.requires_grad
    assert net.b._version == 1


def test_loading_converts_the_dtype():
    net = Net()
    net.load_state_dict({"w": tn.tensor([3.0, 4.0], dtype=tn.float64)}, strict=False)
    assert net.w.dtype == tn.float32 and net.w.tolist() == [3.0, 4.0]


def test_a_number_loads_from_one_element():
    net = nn.Module()
    net.scale = nn.Parameter(tn.tensor(1.0))
    net.load_state_dict({"scale": tn.tensor([2.0])})
    assert net.scale.item() == 2.0


def test_everything_that_does_not_match_is_told_at_once():
    net = Net()
    given = {
        "w": tn.ones(3),
        "lin.weight": 3,
        "b": tn.zeros(3),
        "q": tn.ones(1),
        "lin.x": tn.ones(1),
        "lin.x.y": tn.ones(1),
        "w.z": tn.ones(1),
    }
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(given)
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Net:\n"
        '\tMissing key(s) in state_dict: "lin.bias". \n'
        '\tUnexpected key(s) in state_dict: "q", "w.z", "lin.x", "lin.x.y". \n'
        "\tsize mismatch for w: copying a param with shape tinynet.Size([3]) from checkpoint, the "
        "shape in current model is tinynet.Size([2]).\n"
        '\tWhile copying the parameter named "lin.weight", expected tinynet.Tensor or Tensor-like '
        "object from checkpoint but received <class 'int'>"
    )
    assert net.b.tolist() == [0.0] * 3  # what matches is loaded, as in PyTorch


def test_not_strict():
    net = Net()
    result = net.load_state_dict({"w": tn.zeros(2), "q": 1}, strict=False)
    assert repr(result) == (
        "_IncompatibleKeys(missing_keys=['b', 'lin.weight', 'lin.bias'], unexpected_keys=['q'])"
    )
    assert net.w.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="size mismatch for w"):
        net.load_state_dict({"w": tn.zeros(3)}, strict=False)


def test_what_is_no_mapping_is_refused():
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'int'>"):
        Net().load_state_dict(3)


def test_assign_takes_the_tensors_over():
    net = Net()
    net.w.requires_grad_(False)
    given = {"w": tn.zeros(2, dtype=tn.float64), "b": tn.zeros(3)}
    net.load_state_dict(given, strict=False, assign=True)
    assert type(net.w) is nn.Parameter and net.w.dtype == tn.float64 and not net.w.requires_grad
    assert net.w.data_ptr() == given["w"].data_ptr() and net.b is given["b"]


def test_a_backward_that_needs_the_old_values_says_so():
    net = nn.Linear(2, 1)
    x = tn.ones(1, 2, requires_grad=True)
    loss = net(x).sum()
    net.load_state_dict(nn.Linear(2, 1).state_dict())
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        loss.backward()
    text = str(caught.value)
    assert "net.load_state_dict(nn.Linear(2, 1).state_dict())" in text
    assert "by load_state_dict, version 1 -> 2" in text


def test_a_shared_parameter_is_saved_and_loaded_under_both_names():
    net = nn.Module()
    net.a = nn.Linear(2, 2)
    net.b = nn.Linear(2, 2)
    net.b.weight = net.a.weight
    state = copy.deepcopy(net.state_dict())
    assert len(state) == 4
    net.load_state_dict(state)
    assert net.b.weight is net.a.weight


def test_a_state_dict_survives_pickling():
    net, other = Net(), Net()
    state = pickle.loads(pickle.dumps(net.state_dict()))
    other.load_state_dict(state)
    assert other.lin.weight.tolist() == net.lin.weight.tolist()
    assert state._metadata == net.state_dict()._metadata


# ---- hooks and overriding -----------------------------------------------------------------------


def test_hooks_around_saving_and_loading():
    net, seen = nn.Sequential(nn.Linear(1, 1)), []
    handles = [
        net.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(("pre", prefix))),
        net[0].register_state_dict_post_hook(
            lambda m, state, prefix, local: state.update({prefix + "extra": 1})
        ),
        net[0].register_load_state_dict_pre_hook(
            lambda m, state, prefix, *rest: state.pop(prefix + "extra")
        ),
        net.register_load_state_dict_post_hook(lambda m, keys: seen.append(("post", keys))),
    ]
    state = net.state_dict()
    assert list(state) == ["0.weight", "0.bias", "0.extra"]
    net.load_state_dict(state)
    assert seen == [("pre", ""), ("post", ([], []))]
    for handle in handles:
        handle.remove()
    assert list(net.state_dict()) == ["0.weight", "0.bias"]


def test_a_load_hook_may_forgive_but_not_return():
    net = nn.Linear(1, 1)
    handle = net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    net.load_state_dict({})
    handle.remove()
    net.register_load_state_dict_post_hook(lambda m, keys: keys)
    with pytest.raises(AssertionError, match="not expected to return new values"):
        net.load_state_dict({}, strict=False)


def test_a_module_that_reads_an_older_format():
    class Renamed(nn.Module):
        _version = 2

        def __init__(self):
            super().__init__()
            self.new = nn.Parameter(tn.ones(1))

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            if local_metadata.get("version", 1) < 2:
                state_dict[prefix + "new"] = state_dict.pop(prefix + "old")
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    net = nn.Sequential(Renamed())
    net.load_state_dict({"0.old": tn.zeros(1)})
    assert net[0].new.item() == 0
    assert net.state_dict()._metadata["0"] == {"version": 2}
