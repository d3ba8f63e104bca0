"""Module: members, walking, modes, conversion, printing, copies."""

import copy
import pickle
import types

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.core import trace as scope
from tinynet.core.modes import mode
from tinynet.nn.base.registry import attributes


class Scale(nn.Module):
    """A parameter, a saved buffer, a buffer that is not saved."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(tn.ones(2))
        self.register_buffer("count", tn.zeros(1))
        self.register_buffer("cache", tn.zeros(3), persistent=False)

    def forward(self, x, add=0.0):
        return x * self.factor + add


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Scale()
        self.second = nn.Sequential(Scale(), nn.Linear(2, 3))
        self.bias = nn.Parameter(tn.zeros(3))
        self.note = "plain"

    def forward(self, x):
        return self.second(self.first(x)) + self.bias


def names(pairs):
    return [name for name, _ in pairs]


# ---- attributes ---------------------------------------------------------------------------------


def test_reads_are_native():
    net = Net()
    own = attributes(net)
    assert own["bias"] is net.bias and own["first"] is net.first


def test_a_typo_raises_pythons_own_error():
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'biass'") as caught:
        Net().biass  # noqa: B018
    assert caught.value.name == "biass"  # what Python builds "Did you mean: 'bias'?" from


def test_a_property_that_fails_says_why():
    """PyTorch's message is that the property does not exist."""

    class Broken(nn.Module):
        @property
        def size(self):
            return self.missing

    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        Broken().size  # noqa: B018


def test_members_keep_their_order_and_place():
    net = Net()
    assert names(net.named_parameters()) == [
        "bias",
        "first.factor",
        "second.0.factor",
        "second.1.weight",
        "second.1.bias",
    ]
    net.first, net.bias = nn.Identity(), nn.Parameter(tn.ones(3))
    assert names(net.named_children()) == ["first", "second"]
    net.bias = None
    assert names(net.named_parameters(recurse=False)) == []
    net.bias = nn.Parameter(tn.ones(1))
    assert names(net.named_parameters(recurse=False)) == ["bias"]


def test_another_kind_takes_a_name_over():
    net = Net()
    net.note = nn.Parameter(tn.ones(1))
    assert names(net.named_parameters(recurse=False)) == ["bias", "note"]
    net.first = nn.Parameter(tn.ones(1))
    assert names(net.named_children()) == ["second"]
    assert names(net.named_parameters(recurse=False)) == ["bias", "note", "first"]
    scale = Scale()
    scale.count = nn.Linear(1, 1)
    assert names(scale.named_buffers()) == ["cache"] and names(scale.named_children()) == ["count"]


def test_deleting():
    net = Net()
    del net.first, net.bias, net.second[0].count, net.note
    assert names(net.named_children()) == ["second"]
    assert names(net.named_parameters()) == ["second.0.factor", "second.1.weight", "second.1.bias"]
    assert names(net.named_buffers()) == ["second.0.cache"]
    with pytest.raises(AttributeError, match="bias"):
        net.bias  # noqa: B018
    with pytest.raises(AttributeError, match="nothing"):
        del net.nothing


def test_a_buffer_keeps_its_persistence_when_it_is_assigned():
    scale = Scale()
    scale.cache, scale.count = tn.ones(3), tn.ones(1)
    assert list(scale.state_dict()) == ["factor", "count"]
    assert scale.cache.tolist() == [1.0] * 3
    scale.count = None
    assert list(scale.state_dict()) == ["factor"]


def assign(name, value):
    def do(module):
        setattr(module, name, value)

    return do


NOT_ALLOWED = [
    (
        assign("factor", tn.ones(2)),
        TypeError,
        "cannot assign 'tinynet.FloatTensor' as parameter 'factor' "
        "(tinynet.nn.Parameter or None expected)",
    ),
    (
        assign("factor", [3]),
        TypeError,
        "cannot assign 'list' as parameter 'factor' (tinynet.nn.Parameter or None expected)",
    ),
    (
        assign("factor", nn.ReLU()),
        TypeError,
        "cannot assign 'tinynet.nn.layers.piecewise_activation.ReLU' as parameter 'factor' "
        "(tinynet.nn.Parameter or None expected)",
    ),
    (
        assign("inner", tn.ones(2)),
        TypeError,
        "cannot assign 'tinynet.FloatTensor' as child module 'inner' "
        "(tinynet.nn.Module or None expected)",
    ),
    (
        assign("count", 3),
        TypeError,
        "cannot assign 'int' as buffer 'count' "
        "(tinynet.nn.Buffer, tinynet.Tensor or None expected)",
    ),
    (
        lambda m: m.register_parameter("plain", None),
        KeyError,
        "attribute 'plain' already exists",
    ),
    (
        lambda m: m.register_parameter("a.b", None),
        KeyError,
        'parameter name can\'t contain "."',
    ),
    (
        lambda m: m.register_parameter("", None),
        KeyError,
        'parameter name can\'t be empty string ""',
    ),
    (
        lambda m: m.register_parameter(3, None),
        TypeError,
        "parameter name should be a string. Got int",
    ),
    (
        lambda m: m.register_parameter("z", tn.ones(2)),
        TypeError,
        "cannot assign 'tinynet.FloatTensor' object to parameter 'z' "
        "(tinynet.nn.Parameter or None required)",
    ),
    (
        lambda m: m.register_buffer("z", 3),
        TypeError,
        "cannot assign 'int' object to buffer 'z' (tinynet Tensor or None required)",
    ),
    (lambda m: m.register_buffer("factor", None), KeyError, "attribute 'factor' already exists"),
    (lambda m: m.add_module("z", 3), TypeError, "int is not a Module subclass"),
    (
        lambda m: m.add_module(3, nn.ReLU()),
        TypeError,
        "module name should be a string. Got int",
    ),
    (
        lambda m: m.add_module("a.b", nn.ReLU()),
        KeyError,
        'module name can\'t contain ".", got: a.b',
    ),
    (
        lambda m: m.add_module("forward", nn.ReLU()),
        KeyError,
        "attribute 'forward' already exists",
    ),
    (
        assign("forward", nn.Parameter(tn.ones(1))),
        KeyError,
        "attribute 'forward' already exists",
    ),
]


@pytest.mark.parametrize("do, error, text", NOT_ALLOWED)
def test_what_cannot_become_a_member(do, error, text):
    module = Scale()
    module.inner, module.plain = nn.ReLU(), 3
    before = repr(module), list(module.state_dict())
    with pytest.raises(error) as caught:
        do(module)
    assert caught.value.args[0] == text
    assert (repr(module), list(module.state_dict())) == before


def test_a_computed_tensor_cannot_become_a_parameter():
    p = nn.Parameter(tn.ones(2))
    p[:] = p * 2  # the seeds' rule: recorded, p becomes a result
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'w'"):
        nn.Module().register_parameter("w", p)


@pytest.mark.parametrize(
    "do, what",
    [
        (assign("x", nn.Parameter(tn.ones(1))), "parameters"),
        (assign("x", nn.ReLU()), "module"),
        (assign("x", nn.Buffer(tn.ones(1))), "buffer"),
        (lambda m: m.register_parameter("x", None), "parameter"),
        (lambda m: m.register_buffer("x", None), "buffer"),
    ],
)
def test_nothing_joins_before_init(do, what):
    class Early(nn.Module):
        def __init__(self):
            do(self)

    with pytest.raises(AttributeError) as caught:
        Early()
    first, fix = str(caught.value).splitlines()
    assert first == f"cannot assign {what} before Module.__init__() call"
    assert "call `super().__init__()` first in `Early.__init__`" in fix


def test_arguments_of_init():
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        nn.Module(3)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'a'"):
        nn.Module(a=3)


def test_call_super_init():
    class Other:
        def __init__(self, size):
            self.size = size

    class Both(nn.Module, Other):
        call_super_init = True

    assert Both(size=3).size == 3


# ---- walking ------------------------------------------------------------------------------------


def test_walking():
    net = Net()
    assert names(net.named_modules()) == ["", "first", "second", "second.0", "second.1"]
    assert [type(m).__name__ for m in net.modules()] == [
        "Net", "Scale", "Sequential", "Scale", "Linear",
    ]  # fmt: skip
    assert names(net.named_modules(prefix="net"))[:2] == ["net", "net.first"]
    assert [*net.children()] == [net.first, net.second]
    assert names(net.named_buffers()) == [
        "first.count",
        "first.cache",
        "second.0.count",
        "second.0.cache",
    ]
    assert names(net.named_parameters(prefix="net", recurse=False)) == ["net.bias"]
    assert len([*net.parameters()]) == 5 and len([*net.buffers()]) == 4


def test_shared_members_appear_once():
    net = Net()
    net.again = net.first
    net.tied = net.bias
    assert "again" not in names(net.named_modules())
    assert "again" in names(net.named_modules(remove_duplicate=False))
    assert names(net.named_children()) == ["first", "second"]
    assert "tied" not in names(net.named_parameters())
    both = names(net.named_parameters(remove_duplicate=False))
    assert "tied" in both and "again.factor" in both
    assert {"tied", "again.factor"} <= set(net.state_dict())


def test_a_recursive_module_is_walked_once():
    net = Net()
    net.first.parent = net
    assert names(net.named_modules()) == ["", "first", "second", "second.0", "second.1"]


def test_finding_by_path():
    net = Net()
    assert net.get_submodule("") is net and net.get_submodule("second.1") is net.second[1]
    assert net.get_parameter("second.1.weight") is net.second[1].weight
    assert net.get_buffer("first.count") is net.first.count
    for call, text in [
        (lambda: net.get_submodule("x.y"), "Net has no attribute `x`"),
        (lambda: net.get_submodule("bias"), "`bias` is not an nn.Module"),
        (lambda: net.get_parameter("second.1.foo"), "Linear has no attribute `foo`"),
        (lambda: net.get_parameter("first.count"), "`count` is not an nn.Parameter"),
        (lambda: net.get_buffer("bias"), "`bias` is not a buffer"),
    ]:
        with pytest.raises(AttributeError) as caught:
            call()
        assert str(caught.value) == text


def test_setting_by_path():
    net = Net()
    net.set_submodule("second.1", nn.Linear(2, 5))
    assert net.second[1].out_features == 5
    net.set_submodule("second.2", nn.ReLU())
    assert len(net.second) == 3
    with pytest.raises(AttributeError, match="Sequential has no attribute `7`"):
        net.set_submodule("second.7", nn.ReLU(), strict=True)
    with pytest.raises(AttributeError, match="`bias` is not an nn.Module"):
        net.set_submodule("bias", nn.ReLU())
    with pytest.raises(ValueError, match="without a target name"):
        net.set_submodule("", nn.ReLU())
    with pytest.raises(ValueError, match="`module` is not an nn.Module, found"):
        net.set_submodule("first", 3)


# ---- calling ------------------------------------------------------------------------------------


def test_calling():
    net = Scale()
    assert net(tn.ones(2)).tolist() == [1.0, 1.0]
    assert net(tn.ones(2), add=1.0).tolist() == [2.0, 2.0]
    with pytest.raises(NotImplementedError) as caught:
        nn.Module()(1)
    first, *_, fix = str(caught.value).splitlines()
    assert first == 'Module [Module] is missing the required "forward" function'
    assert "define `def forward(self, x):` in the class Module" in fix


def test_the_scope_says_which_modules_run():
    seen = []

    class Look(nn.Module):
        def forward(self, x):
            seen.append(scope.modules_of(mode.scope))
            return x

    inner = Look()
    outer = nn.Sequential(inner)
    outer(1)
    assert seen == [[outer, inner]] and mode.scope is None


@pytest.mark.parametrize("hooked", [False, True])
def test_the_stack_is_right_after_an_exception(hooked):
    class Fails(nn.Module):
        def forward(self, x):
            raise KeyboardInterrupt

    net = nn.Sequential(Fails())
    if hooked:
        net[0].register_forward_hook(lambda *a: None)
    with pytest.raises(KeyboardInterrupt):
        net(1)
    assert mode.scope is None


# ---- values and modes ---------------------------------------------------------------------------


def test_train_and_eval():
    net = Net()
    assert net.training and net.first.training
    assert net.eval() is net
    assert not any(m.training for m in net.modules())
    net.second.train()
    assert net.second[0].training and not net.first.training
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        net.train(3)


def test_requires_grad_and_zero_grad():
    net = Net()
    assert net.requires_grad_(False) is net
    assert not any(p.requires_grad for p in net.parameters())
    net.second.requires_grad_()
    net(tn.ones(2)).sum().backward()
    assert net.second[1].weight.grad is not None and net.bias.grad is None
    grad = net.second[1].weight.grad
    net.zero_grad(set_to_none=False)
    assert net.second[1].weight.grad is grad and not grad.any()
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_zero_grad_cuts_the_history_of_a_gradient():
    p = nn.Parameter(tn.tensor([2.0]))
    module = nn.Module()
    module.p = p
    with pytest.warns(UserWarning, match="create_graph"):
        (p**3).sum().backward(create_graph=True)
    assert p.grad.grad_fn is not None
    module.zero_grad(set_to_none=False)
    assert p.grad.grad_fn is None and not p.grad.requires_grad and p.grad.tolist() == [0.0]


def test_conversion():
    net = Net()
    before = [*net.parameters()]
    net(tn.ones(2)).sum().backward()
    net.first.register_buffer("steps", tn.tensor([3]))
    assert net.double() is net
    assert [*net.parameters()][0] is before[0]
    assert all(p.dtype == p.grad.dtype == tn.float64 for p in net.parameters())
    assert net.first.count.dtype == tn.float64 and net.first.steps.dtype == tn.int64
    assert net.half().bias.dtype == tn.float16 and net.float().bias.dtype == tn.float32
    assert net.to("cpu", tn.float64).bias.dtype == tn.float64
    assert net.to(tn.zeros(1)).bias.dtype == tn.float32
    assert net.to(device=tn.device("cpu"), dtype=tn.float64).bias.dtype == tn.float64
    assert net.to("cpu") is net and net.cpu() is net
    assert net(tn.ones(2, dtype=tn.float64)).dtype == tn.float64
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes, but got"):
        net.to(tn.int64)
    with pytest.raises(RuntimeError, match="cpu only"):
        net.to("cuda")


def test_type_converts_everything():
    net = Scale().requires_grad_(False)
    assert net.type(tn.float64).count.dtype == tn.float64


def test_apply():
    seen = []
    net = Net()
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen == ["Scale", "Scale", "Linear", "Sequential", "Net"]


# ---- printing -----------------------------------------------------------------------------------


def test_printing():
    net = Net()
    net.none = None
    net.add_module("empty", None)
    assert repr(net) == (
        "Net(\n"
        "  (first): Scale()\n"
        "  (second): Sequential(\n"
        "    (0): Scale()\n"
        "    (1): Linear(in_features=2, out_features=3, bias=True)\n"
        "  )\n"
        "  (empty): None\n"
        ")"
    )


def test_printing_with_extra_lines():
    class Both(nn.Module):
        def __init__(self, extra, *inner):
            super().__init__()
            self.extra = extra
            for i, module in enumerate(inner):
                self.add_module(f"m{i}", module)

        def extra_repr(self):
            return self.extra

    assert repr(Both("a=1")) == "Both(a=1)"
    assert repr(Both("a=1\nb=2")) == "Both(\n  a=1\n  b=2\n)"
    assert repr(Both("a=1", nn.ReLU())) == "Both(\n  a=1\n  (m0): ReLU()\n)"


def test_dir():
    net = nn.Sequential(nn.ReLU())
    net.extra = nn.Parameter(tn.ones(1))
    assert {"extra", "forward", "training"} <= set(dir(net))
    assert "0" not in dir(net)


# ---- copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_deep_copies_share_nothing(again):
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.3), nn.ReLU()).eval()
    net.tied = net[0].weight
    net.register_buffer("mean", tn.ones(1), persistent=False)
    other = again(net)
    assert repr(other) == repr(net) and not other.training
    assert other.tied is other[0].weight
    assert names(other.named_buffers()) == ["mean"] and list(other.state_dict()) == list(
        net.state_dict()
    )
    for a, b in zip(net.parameters(), other.parameters(), strict=True):
        assert a is not b and a.tolist() == b.tolist() and b.requires_grad
        assert not np.shares_memory(a._array, b._array)
    other.new = nn.Parameter(tn.ones(1))
    assert "new" not in names(net.named_parameters())


# ---- subclasses that know PyTorch ---------------------------------------------------------------


def test_a_dataclass_like_default_of_a_class_attribute():
    class WithDefault(nn.Module):
        scale: nn.Parameter | None = None

        def __init__(self):
            super().__init__()
            self.rate = 0.1

    assert WithDefault().scale is None and WithDefault().rate == 0.1


class Scope:
    """What programs that make modules functions call `forward` on: attributes of an instance."""

    def __init__(self, module):
        vars(self).update({k: v for k, v in vars(module).items() if k[0] != "_"})
        for table in (module._parameters, module._buffers):
            vars(self).update(table)
        for name in ("_conv_forward", "_check_input_dim"):
            if hasattr(module, name):
                setattr(self, name, types.MethodType(getattr(type(module), name), self))


SPATIAL = [
    *(nn.Conv1d(4, 4, 3, padding=1, padding_mode="circular"), nn.Conv2d(4, 4, 3), nn.MaxPool1d(2)),
    *(
        nn.MaxPool2d(2),
        nn.AvgPool1d(2),
        nn.AvgPool2d(2),
        nn.AdaptiveAvgPool1d(2),
        nn.LPPool2d(2, 2),
    ),
    *(nn.AdaptiveAvgPool2d(2), nn.AdaptiveMaxPool2d(2), nn.ZeroPad2d(1), nn.ReflectionPad1d(1)),
    *(nn.ConstantPad2d(1, 2.0), nn.RNNCell(8, 3), nn.GRUCell(8, 3), nn.LSTMCell(8, 3)),
]


@pytest.mark.parametrize("layer", SPATIAL, ids=lambda layer: type(layer).__name__)
def test_forward_reads_attributes_of_the_instance_only(layer):
    x = tn.rand(2, 8) if isinstance(layer, nn.RNNCellBase) else tn.rand(2, 4, 8)
    if type(layer).__name__.endswith("2d"):
        x = tn.rand(2, 4, 8, 8)
    results, expected = type(layer).forward(Scope(layer), x), layer(x)
    if not isinstance(results, tuple):
        results, expected = (results,), (expected,)
    assert all(map(tn.equal, results, expected))
