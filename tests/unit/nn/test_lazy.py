"""Lazy modules, where tinynet goes further than PyTorch or says it otherwise.

What both do alike is in machinery/programs_lazy.py and programs_lazy_layers.py.
"""

import copy

import pytest

import tinynet as tn
from tinynet import nn

USES = {
    "add": lambda w: w + 1,
    "reflected": lambda w: 2 * w,
    "matmul": lambda w: tn.ones(2, 2) @ w,
    "compare": lambda w: w == 1,
    "index": lambda w: w[0],
    "write": lambda w: w.zero_(),
    "len": len,
    "truth": bool,
    "list": lambda w: w.tolist(),
    "init": nn.init.zeros_,
    "cat": lambda w: tn.cat([w, w]),
    "forward": lambda w: nn.functional.linear(tn.ones(2, 2), w),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("kind", [nn.UninitializedParameter, nn.UninitializedBuffer])
def test_whatever_needs_values_is_refused(name, kind):
    said = f"Attempted to use an uninitialized parameter.*tinynet.nn.parameter.{kind.__name__}"
    with pytest.raises(ValueError, match=said):
        USES[name](kind())


def test_forward_called_by_hand_is_refused():
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
        nn.LazyLinear(3).forward(tn.ones(2, 2))


@pytest.mark.parametrize("wrong", [tn.tensor(1.0), 1.0, None])
def test_a_lazy_linear_says_of_its_input_what_a_linear_says(wrong):
    lazy = nn.LazyLinear(3)
    with pytest.raises((RuntimeError, TypeError)) as expected:
        nn.Linear(2, 3)(wrong)
    with pytest.raises(expected.type) as raised:
        lazy(wrong)
    assert str(raised.value).splitlines()[0] == str(expected.value).splitlines()[0]
    assert lazy(tn.ones(2, 2)).shape == (2, 3)  # nothing was lost


NORMS = {
    "BatchNorm1d": nn.LazyBatchNorm1d,
    "InstanceNorm1d": nn.LazyInstanceNorm1d,
    "frozen": lambda: nn.LazyInstanceNorm1d(track_running_stats=False),
    "bare": lambda: nn.LazyBatchNorm1d(affine=False, track_running_stats=False),
}


@pytest.mark.parametrize("name", NORMS)
def test_buffers_without_a_shape_can_be_copied(name):
    lazy = NORMS[name]()
    copied = copy.deepcopy(lazy)
    copied(tn.ones(2, 3, 4))
    assert copied.num_features == 3 and lazy.num_features == 0


def test_a_copy_keeps_dtype_and_flags():
    frozen = nn.UninitializedParameter(requires_grad=False, dtype=tn.float64)
    hidden = nn.UninitializedBuffer(persistent=False)
    for one in (copy.copy(frozen), copy.deepcopy(frozen)):
        assert one.dtype == tn.float64 and not one.requires_grad and nn.parameter.is_lazy(one)
    assert copy.deepcopy(hidden).persistent is False
    memo = {}
    assert copy.deepcopy(frozen, memo) is copy.deepcopy(frozen, memo)


@pytest.mark.parametrize(
    ("make", "shape", "name"),
    [
        (lambda: nn.LazyConv1d(6, 3, groups=3), (2, 3, 5), "in_channels"),
        (lambda: nn.LazyConvTranspose1d(4, 3), (2, 3, 5), "in_channels"),
        (nn.LazyBatchNorm1d, (2, 3), "num_features"),
        (lambda: nn.LazyBatchNorm1d(affine=False), (2, 3), "num_features"),
        (nn.LazyInstanceNorm1d, (2, 3, 5), "num_features"),
        (lambda: nn.LazyLinear(2), (2, 3), "in_features"),
    ],
)
def test_loaded_values_tell_the_size(make, shape, name):
    """In PyTorch it stays 0, and a lazy instance norm then refuses its input."""
    full, lazy = make(), make()
    full(tn.randn(shape))
    lazy.load_state_dict(full.state_dict())
    x = tn.randn(shape)
    full.eval(), lazy.eval()
    assert lazy(x).tolist() == full(x).tolist()
    assert getattr(lazy, name) == 3 and repr(lazy) == repr(full)


def test_a_module_that_is_not_lazy_cannot_load_what_has_no_shape():
    module = nn.Module()
    module.w = nn.UninitializedParameter()
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
        module.load_state_dict({"w": tn.ones(2)})


def test_hooks_of_the_user_see_an_initialised_module():
    lazy, seen = nn.LazyLinear(2), []
    lazy.register_forward_pre_hook(lambda module, args: seen.append(module.weight.shape))
    lazy(tn.ones(4, 3))
    lazy(tn.ones(4, 3))
    assert seen == [(2, 3), (2, 3)]


def test_parameters_are_the_same_objects_afterwards():
    lazy = nn.LazyLinear(2)
    weight = lazy.weight
    optimizer = tn.optim.SGD(lazy.parameters(), lr=0.1)
    lazy(tn.ones(4, 3)).sum().backward()
    before = weight.tolist()
    optimizer.step()
    assert lazy.weight is weight and type(weight) is nn.Parameter
    assert weight.tolist() != before


def test_the_draw_is_that_of_the_layer_it_becomes():
    tn.manual_seed(0)
    lazy = nn.LazyConv2d(4, 3)
    lazy(tn.zeros(1, 2, 5, 5))
    tn.manual_seed(0)
    assert lazy.weight.tolist() == nn.Conv2d(2, 4, 3).weight.tolist()


@pytest.mark.parametrize("make", [nn.LazyBatchNorm1d, nn.LazyInstanceNorm1d])
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4, 4)])
def test_a_norm_that_refuses_its_first_input_keeps_waiting(make, shape):
    norm = make()
    with pytest.raises(ValueError, match=f"expected 2D or 3D input .got {len(shape)}D input"):
        norm(tn.ones(*shape))
    assert norm.has_uninitialized_params()
    norm(tn.ones(2, 5, 4))
    assert norm.num_features == 5
