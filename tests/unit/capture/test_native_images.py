"""Layers of images as native functions: batch norm, pooling and convolutions against float64."""

import copy

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import assert_near
from tinynet import nn, optim
from tinynet.capture.graph import record_program
from tinynet.kernels import onednn
from tinynet.nn import functional as F

pytest.importorskip("llvmlite")


def step_of(net, dtype, **options):
    """Weights, buffers and gradients after four steps; the last ones replay a program."""
    tn.manual_seed(0)
    net = net().to(tn.float32).to(dtype)
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.5)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()

    step = tn.compile(step, **options) if options else step
    rng = np.random.default_rng(0)
    for _ in range(4):
        step(tn.from_numpy(rng.standard_normal((6, 3, 14, 15)).astype("f4")).to(dtype))
    found = {name: value.numpy() for name, value in net.state_dict().items()}
    return found | {f"{name}.grad": p.grad.numpy() for name, p in net.named_parameters()}


def net():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 4, 3, stride=2), nn.BatchNorm2d(4, eps=1e-3), nn.Flatten(),
        nn.Linear(36, 2), nn.BatchNorm1d(2),
    )  # fmt: skip


class Residual(nn.Module):
    """A block as in residual networks, and calls that need the usual layout between its layers."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.short, self.norm = nn.Conv2d(3, 8, 1), nn.BatchNorm2d(8)
        self.up = nn.ConvTranspose2d(8, 4, 3, stride=2)
        self.factor = nn.Parameter(tn.linspace(0.5, 1.5, 8).reshape(1, 8, 1, 1))

    def forward(self, x):
        y = self.norm(self.first(x))
        y = F.relu(self.second(y.relu_() * self.factor) + self.short(x)) + y
        y = self.up(F.avg_pool2d(tn.cat([y[:, 4:], y[:, :4]], 1), 3))
        return F.adaptive_avg_pool2d(y.tanh(), 1).flatten(1)


class Rewritten(nn.Module):
    """Changes an image of which there is a copy with the channels last."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, groups=3)

    def forward(self, x):
        x = x.clone()
        with tn.no_grad():
            y = self.conv(x)
        x[:, 1].mul_(2)
        return F.relu(self.conv(x) - y) * y


NETS = {"layers": net, "residual": Residual, "rewritten": Rewritten}


@pytest.fixture(params=["oneDNN", "numpy"])
def convolutions(request, monkeypatch):
    """Who computes them: the channels are last with oneDNN, and otherwise second."""
    if request.param == "numpy":
        monkeypatch.setattr(onednn, "is_available", lambda: False)
        monkeypatch.setattr(onednn.library, "is_available", lambda: False)
    elif not onednn.is_available():
        pytest.skip("needs onednn-cpu-gomp")
    return request.param


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NETS)
def test_a_network(name, convolutions):
    exact = step_of(NETS[name], tn.float64)
    found = step_of(NETS[name], tn.float32, backend="llvm", fullgraph=True)
    scale = max(np.abs(value).max() for name, value in exact.items() if name.endswith("grad"))
    for name, value in exact.items():
        if value.dtype == np.int64:
            assert value == found[name]
            continue
        least = scale if name.endswith("grad") else 1.0
        size = max(np.abs(value).max(), least)
        assert_near(np.asarray(found[name]), value, 4 * 6 * 14 * 15 * 16, size, name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NETS)
def test_threads_change_nothing(name):
    before, found = tn.get_num_threads(), []
    for count in (1, 2, 3):
        tn.set_num_threads(count)
        found.append(step_of(NETS[name], tn.float32, backend="llvm", fullgraph=True))
    tn.set_num_threads(before)
    for other in found[1:]:
        for key, value in found[0].items():
            np.testing.assert_array_equal(other[key], value, err_msg=key)


def program_of(model, *shape):
    """A compiled step of a model, and an input for which it has a program."""

    @tn.compile(backend="llvm")
    def step(x):
        model.zero_grad()
        model(x).sum().backward()

    x = tn.randn(*shape)
    for _ in range(4):
        step(x)
    return step, x


def test_each_layer_has_a_native_form(convolutions):
    step, _ = program_of(net(), 6, 3, 14, 15)
    ((_, entry),) = step.programs()
    source = "".join(v.native.source for v in entry.namespace.values() if hasattr(v, "native"))
    last = "_last" * (convolutions == "oneDNN")
    for name in ("batch_norm", "batch_norm_slope", "max_pool", "max_pool_slope", "channel_sums"):
        assert f" {name}{last}(" in source
    assert ("positive(" in source) == (not last)  # a norm and its relu are one loop


def test_answers_run_natively(convolutions):
    model, x = net().eval(), tn.randn(1, 3, 14, 15)
    compiled = tn.compile(lambda x: model(x), backend="llvm")
    with tn.no_grad():
        wanted = copy.deepcopy(model).double()(x.double())
        for _ in range(3):
            assert_near(compiled(x).numpy(), wanted.numpy(), 16 * 9 * 14 * 15)
    ((_, entry),) = compiled.programs()
    source = "".join(v.native.source for v in entry.namespace.values() if hasattr(v, "native"))
    if convolutions == "oneDNN":
        assert " batch_scale_last(" in source and " max_pool_last(" in source


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NETS)
def test_the_graph_of_a_program_runs_each_call(name):
    step, x = program_of(NETS[name](), 6, 3, 14, 15)
    names = [n.name for n in record_program(step, x).graphs["program"].nodes]
    assert any("native" in n for n in names)


def test_gradients_outside_of_the_program_and_evaluation():
    tn.manual_seed(0)
    model, x = net(), tn.randn(6, 3, 14, 15)
    compiled, found = tn.compile(model, backend="llvm", fullgraph=True), []
    for train in (True, False):
        model.train(train)
        exact = copy.deepcopy(model).to(tn.float64)
        for _ in range(4):
            model.load_state_dict(exact.to(tn.float32).state_dict())
            exact = exact.to(tn.float64)
            model.zero_grad()
            y = compiled(x)
            y.sum().backward()
        found.append((y, exact(x.to(tn.float64))))
    for y, wanted in found:
        assert_near(y.detach().numpy(), wanted.detach().numpy(), 16 * 9 * 14 * 15)


@pytest.mark.parametrize("size", [(2, 6, 64, 66), (2, 3, 65, 67)])
def test_max_pooling(size):
    x = np.random.default_rng(0).integers(-2, 3, size).astype("f4")  # with ties
    x[0, 0, 0, :2], x[0, 1, 4:6, 4:6] = [np.inf, np.nan], np.nan

    def pooled(x):
        return F.max_pool2d(x.relu() * 2, 2)

    fast, found = tn.compile(pooled, backend="llvm", fullgraph=True), []
    for function in (pooled, fast, fast, fast):
        given = tn.from_numpy(x.copy()).requires_grad_()
        y = function(given)
        y.backward(tn.arange(y.numel(), dtype=tn.float32).reshape(y.shape))
        found.append((y.detach().numpy(), given.grad.numpy()))
    for one in found[1:]:
        for a, b in zip(one, found[0], strict=True):
            np.testing.assert_array_equal(a, b)
