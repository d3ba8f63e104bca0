"""Layers of images as native functions: batch norm, pooling and convolutions against float64."""

import numpy as np
import pytest

import tinynet as tn
from tests.rounding import assert_near
from tinynet import nn, optim
from tinynet.nn import functional as F

pytest.importorskip("numba")


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


def test_a_network():
    exact = step_of(net, tn.float64)
    found = step_of(net, tn.float32, backend="numba", fullgraph=True)
    scale = max(np.abs(value).max() for name, value in exact.items() if name.endswith("grad"))
    for name, value in exact.items():
        if value.dtype == np.int64:
            assert value == found[name]
            continue
        least = scale if name.endswith("grad") else 1.0
        size = max(np.abs(value).max(), least)
        assert_near(np.asarray(found[name]), value, 4 * 6 * 14 * 15 * 16, size, name)


def test_each_layer_has_a_native_form():
    model = net()

    @tn.compile(backend="numba")
    def step(x):
        model.zero_grad()
        model(x).sum().backward()

    for _ in range(4):
        step(tn.randn(6, 3, 14, 15))
    ((_, entry),) = step.programs()
    source = "".join(getattr(v, "native_source", "") for v in entry.namespace.values())
    for name in ("batch_norm", "batch_norm_slope", "max_pool", "max_pool_slope", "channel_sums"):
        assert f" {name}(" in source


@pytest.mark.parametrize("size", [(2, 6, 64, 66), (2, 3, 65, 67)])
def test_max_pooling(size):
    x = np.random.default_rng(0).integers(-2, 3, size).astype("f4")  # with ties
    x[0, 0, 0, :2], x[0, 1, 4:6, 4:6] = [np.inf, np.nan], np.nan

    def pooled(x):
        return F.max_pool2d(x.relu() * 2, 2)

    fast, found = tn.compile(pooled, backend="numba", fullgraph=True), []
    for function in (pooled, fast, fast, fast):
        given = tn.from_numpy(x.copy()).requires_grad_()
        y = function(given)
        y.backward(tn.arange(y.numel(), dtype=tn.float32).reshape(y.shape))
        found.append((y.detach().numpy(), given.grad.numpy()))
    for one in found[1:]:
        for a, b in zip(one, found[0], strict=True):
            np.testing.assert_array_equal(a, b)
