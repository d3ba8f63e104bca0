"""What Module answers otherwise than PyTorch, and why; what is compared is in machinery/."""

import copy
import pickle

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.nn.modules.module import (
    register_module_forward_hook,
    register_module_full_backward_hook,
)


@pytest.mark.parametrize("name", ["cuda", "ipu", "mtia", "xpu"])
def test_there_is_only_the_cpu(name):
    with pytest.raises(RuntimeError, match=f"tinynet runs on the cpu only. Got device '{name}'"):
        getattr(nn.Linear(1, 1), name)()
    with pytest.raises(RuntimeError, match="cpu only"):
        nn.Linear(1, 1).to_empty(device=name)


def test_what_a_module_cannot_be_converted_to():
    net = nn.Linear(1, 1)
    with pytest.raises(TypeError, match=r"invalid combination of arguments - got \(list\)"):
        net.to([])
    with pytest.raises(TypeError, match="unexpected keyword argument 'what'"):
        net.to(what=tn.float64)
    assert net.weight.dtype == tn.float32


def test_compiling_changes_nothing():
    net = nn.Linear(1, 1)
    x = tn.ones(1, 1)
    before = net(x).tolist()
    assert net.compile(mode="default") is None and net(x).tolist() == before


def test_modules_are_fast_again_when_the_last_global_hook_is_gone():
    first = register_module_forward_hook(lambda *a: None)
    second = register_module_full_backward_hook(lambda *a: None)
    net = nn.Identity()
    own = nn.Identity()
    own.register_forward_hook(lambda *a: None)
    for handle in (first, second):
        assert net._hooks is not None
        handle.remove()
    assert nn.Module._hooks is None and net._hooks is None and own._hooks is not None


def test_hooks_registered_while_there_are_global_ones_are_the_modules_own():
    with register_module_forward_hook(lambda *a: None):
        net, other = nn.Identity(), nn.Identity()
        net.register_forward_hook(lambda m, args, out: out + 1)
        assert net(1) == 2 and other(1) == 1
        assert copy.deepcopy(net)(1) == 2
    assert net(1) == 2 and other(1) == 1


def test_a_buffer_that_requires_grad_stays_one():
    b = nn.Buffer(tn.ones(1, requires_grad=True), persistent=False)
    assert b.requires_grad and b.is_leaf
    for other in (copy.deepcopy(b), pickle.loads(pickle.dumps(b))):
        assert type(other) is nn.Buffer and other.requires_grad and not other.persistent


def test_a_lazy_instance_norm_that_was_loaded_knows_its_features():
    """PyTorch leaves num_features at 0 and refuses the input."""
    net, other = nn.LazyInstanceNorm1d(), nn.LazyInstanceNorm1d()
    net(tn.zeros(1, 3, 4))
    other.load_state_dict(net.state_dict())
    assert other(tn.zeros(1, 3, 4)).shape == (1, 3, 4) and other.num_features == 3
    plain = nn.LazyInstanceNorm1d(affine=False, track_running_stats=False)
    plain(tn.zeros(1, 3, 4))
    assert plain.num_features == 3
