"""The LLVM backend: the results of float64's truth, within a few roundings."""

import copy

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tests.tools.rounding import near
from tests.unit.capture.test_compile import batch, make
from tinynet import nn, optim
from tinynet.capture.native import fusion, symbols
from tinynet.capture.native.symbols import KERNELS, UFUNCS, form_of
from tinynet.compat.testing import assert_close
from tinynet.core.declaration.operation import REGISTRY

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def no_fall_back(recwarn):
    yield
    assert not [w for w in recwarn if issubclass(w.category, tn.compiler.CompileWarning)]


def natives(compiled):
    """The sources of the native functions of all programs."""
    entries = [e for some in compiled._entries.values() for e in some]
    spaces = [e.namespace.values() for e in entries]
    return [v.native.source for space in spaces for v in space if hasattr(v, "native")]


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        (optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
        (optim.AdamW, {"lr": 0.01}),
        (optim.RMSprop, {"lr": 0.01}),
    ],
)
def test_a_training_step(optimizer, options):
    net, updating, step = make(optimizer, **options)
    other, reference, eager = make(optimizer, **options)
    compiled = tn.compile(step, backend="llvm")
    for i in range(8):
        x, y = batch(3 if i == 6 else 4)
        if i == 5:
            updating.param_groups[0]["lr"] = reference.param_groups[0]["lr"] = 0.02
        assert_close(compiled(x, y), eager(x, y))
        for p, q in zip(net.parameters(), other.parameters(), strict=True):
            assert_close(p, q)
            assert_close(p.grad, q.grad)
            assert p._version == q._version
    (source,) = natives(compiled)
    assert "cross_entropy_slope" in source and source.count("product(") == 5
    assert "group0_step_table" in source  # the step, too


def test_equal_layers_share_their_native_functions():
    """The runs differ in the numbers of their values alone, so LLVM compiles them once."""

    def layers(x):
        for _ in range(3):
            x = ((x * 2 + 1).tanh() - x).cumsum(0)
        return x

    compiled = tn.compile(layers, backend="llvm")
    x = tn.randn(4, 3)
    for _ in range(3):
        assert_close(compiled(x), layers(x))
    ((entry,),) = compiled._entries.values()
    used = [v.native for v in entry.namespace.values() if hasattr(v, "native")]
    assert len(used) == 3 and len({*used}) == 1


def test_formulas_that_accept_bfloat16_are_native():
    tn.ones(2, dtype=tn.bfloat16)
    x = tn.ones(3, requires_grad=True)
    compiled = tn.compile(lambda x: (x.exp() * x).sum(), backend="llvm")
    for _ in range(4):
        compiled(x).backward()
    assert x.grad.tolist() == near([8 * np.e] * 3)
    ((entry,),) = compiled._entries.values()
    spaces = [function.__globals__.values() for _, function in entry.backwards]
    assert any(hasattr(v, "native") for space in spaces for v in space)


def test_runs_are_the_same_from_one_to_the_next():
    def run():
        net, _, step = make()
        compiled = tn.compile(step, backend="llvm")
        tn.manual_seed(5)
        for _ in range(5):
            compiled(*batch())
        return [p.detach().numpy().tobytes() for p in net.parameters()]

    assert run() == run()


def test_a_chain_of_numbers_is_one_native_function():
    scale = tn.tensor(0.9, requires_grad=True)

    @tn.compile(backend="llvm")
    def step(x):
        for _ in range(10):
            x = tn.tanh(x * scale)
        return x

    for value in (0.5, 0.6, 0.7, 0.8):
        x = tn.tensor(value)
        found = step(x)
        with tn.no_grad():
            for _ in range(10):
                x = tn.tanh(x * scale)
        assert_close(found, x)


# The operations whose kernels have a native form.
OPS = [
    op
    for op in REGISTRY.values()
    if form_of(op) is not None and len(op.tensors) <= 2 and not op.attributes
]


@pytest.mark.parametrize("kind", [tn.float32, tn.float64], ids=str)
def test_elementwise_operations_and_their_formulas(kind):
    chosen = OPS if kind is tn.float32 else OPS[::4]

    def eager(x, y):
        each = [op.function(x, y) if len(op.tensors) == 2 else op.function(x) for op in chosen]
        return tn.stack([result.sin() for result in each])

    compiled = tn.compile(eager, backend="llvm")
    for i in range(4):
        x, y = tn.rand(4, 5, dtype=kind) + 0.25, tn.rand(5, dtype=kind) + 0.25
        if i == 3:  # a replay on numbers that need care
            x = tn.tensor([[1.5, -0.0, 0.0, float("inf"), float("nan")]] * 4, dtype=kind)
        x.requires_grad_(), y.requires_grad_()
        mine, its = compiled(x, y), eager(x, y)
        for op, weights in zip(chosen, tn.eye(len(chosen), dtype=kind), strict=True):
            assert_close(mine, its, equal_nan=True)
            weights = weights[:, None, None].expand_as(its)
            slopes = [tn.autograd.grad(z, [x, y], weights, retain_graph=True) for z in (mine, its)]
            assert_close(*slopes, equal_nan=True, msg=f"slope of {op.name} of call {i}")
    assert all(f"e{i} = " in "".join(natives(compiled)) for i in range(2, 6))


def test_each_form_belongs_to_an_operation():
    assert {*KERNELS} <= {*REGISTRY}
    assert all(hasattr(np, name) for name in UFUNCS)


def test_data_that_the_native_function_does_not_take():
    net, _, step = make()
    other, _, eager = make()
    compiled = tn.compile(step, backend="llvm")
    x, y = batch()
    for _ in range(3):
        compiled(x, y), eager(x, y)
    y[1] = -100  # ignored: by numpy
    assert_close(compiled(x, y), eager(x, y))
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert_close(p, q)
    y[1] = 3
    with pytest.raises(IndexError, match="Target 3 is out of bounds"):
        compiled(x, y)


def test_views_and_transposes_are_left_to_numpy():
    @tn.compile(backend="llvm")
    def f(x):
        return (x.T * 2 + 1).tanh() * x.T

    for _ in range(4):
        x = tn.randn(3, 4)
        assert_close(f(x), (x.T * 2 + 1).tanh() * x.T)


def test_a_module_and_its_backward():
    net = nn.Sequential(nn.Linear(4, 8), nn.Sigmoid(), nn.Linear(8, 2, bias=False))
    compiled = tn.compile(net, backend="llvm")
    for _ in range(4):
        x = tn.randn(2, 3, 4, requires_grad=True)
        mine = tn.autograd.grad(compiled(x).square().sum(), [x, *net.parameters()])
        its = tn.autograd.grad(net(x).square().sum(), [x, *net.parameters()])
        for a, b in zip(mine, its, strict=True):
            assert_close(a, b)


@pytest.mark.parametrize("kind", [tn.float32, tn.float64], ids=str)
def test_layers_of_a_transformer(kind):
    net = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8), nn.Tanh())
    net, truth = net.to(kind), copy.deepcopy(net).double()
    compiled = tn.compile(lambda x: (net(x) + x).reshape(12, 8).exp(), backend="llvm")
    for i in range(4):
        x = tn.randn(4, 3, 8, dtype=kind, requires_grad=True)
        if i == 3:
            x.data *= 30  # GELU far from zero
        exact = x.detach().double().requires_grad_()
        mine = compiled(x).clamp(max=9)
        its = (truth(exact) + exact).reshape(12, 8).exp().clamp(max=9)
        slopes = tn.autograd.grad(mine.sum(), [x, *net.parameters()])
        exact_slopes = tn.autograd.grad(its.sum(), [exact, *truth.parameters()])
        for a, b in zip([mine, *slopes], [its, *exact_slopes], strict=True):
            bound = (4e-6 if kind is tn.float32 else 1e-12) * max(1.0, b.abs().max().item())
            assert_close(a.double(), b, rtol=0, atol=bound)
    ((entry,),) = compiled._entries.values()
    ((_, backward),) = entry.backwards
    sources = [v.native.source for v in backward.__globals__.values() if hasattr(v, "native")]
    if kind is tn.float32:  # products of float64 are numpy's, so runs of calls are shorter
        assert "layer_norm(" in "".join(natives(compiled))
        assert "layer_norm_slope(" in "".join(sources)


@pytest.mark.parametrize(
    ("name", "numbers", "bound"),
    [("exp", np.linspace(-87, 88.7, 100_001), 1.5), ("tanh", np.linspace(-12, 12, 100_001), 3)],
)
def test_exponential_functions(name, numbers, bound):
    function = tn.compile(lambda x: getattr(tn, name)(x * 1) + 0, backend="llvm")
    given = tn.tensor(numbers, dtype=tn.float32)
    for _ in range(3):
        found = function(given)
    truth = getattr(np, name)(given.numpy().astype(float))
    roundings = np.abs(found.numpy() - truth) / np.maximum(np.abs(truth), 1e-30) / 2**-24
    assert roundings.max() < bound
    special = tn.tensor([np.nan, np.inf, -np.inf, 89, -110, 0], dtype=tn.float32)
    function = tn.compile(lambda x: getattr(tn, name)(x * 1) + 0, backend="llvm")
    with np.errstate(over="ignore"):
        for _ in range(3):
            found, truth = function(special), getattr(np, name)(special.numpy())
    np.testing.assert_array_equal(found.numpy(), truth)


def test_what_llvm_cannot_compile_is_left_to_numpy(monkeypatch, recwarn):
    monkeypatch.setitem(symbols.UFUNCS, "sin", "unknown({0})")
    function = tn.compile(lambda x: x.sin() * 2, backend="llvm")
    for _ in range(5):
        assert_close(function(tn.ones(3)), tn.ones(3).sin() * 2)
    (message,) = [str(w.message) for w in recwarn if "LLVM" in str(w.message)]
    assert "which numpy runs instead" in message


def test_one_call_is_left_to_numpy():
    f = tn.compile(lambda x: x.tanh(), backend="llvm")
    for _ in range(4):
        f(tn.ones(3))
    assert not natives(f) and fusion.LEAST == 2


def test_where_numbers_of_the_loss_come_from():
    def loss(x, y):
        return F.cross_entropy(x, y)

    compiled = tn.compile(loss, backend="llvm")
    for _ in range(4):
        x = tn.randn(8, 5, requires_grad=True)
        y = tn.randint(0, 5, (8,))
        truth = F.cross_entropy(x.detach().double(), y)
        assert abs(compiled(x, y).item() - truth.item()) < 4e-7
