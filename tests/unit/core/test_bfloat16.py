"""bfloat16: what numpy does not know of, computed in float32 and rounded once."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn, optim
from tinynet.core.trace import observing
from tinynet.dtypes import extension_dtypes

pytest.importorskip("ml_dtypes", reason="needs ml_dtypes: pip install ml_dtypes")
BF16 = tn.bfloat16


def half(*values, **options):
    return tn.tensor([*values], dtype=BF16, **options)


def test_the_dtype():
    assert repr(BF16) == "tinynet.bfloat16" and BF16.itemsize == 2
    assert BF16.is_floating_point and BF16.is_signed
    assert pickle.loads(pickle.dumps(BF16)) is BF16
    info = tn.finfo(BF16)
    assert (info.bits, info.eps, info.resolution) == (16, 2**-7, 0.01)
    assert info.max == (2 - 2**-7) * 2.0**127 == -info.min and info.tiny == 2.0**-126


def test_promotion():
    wider = (tn.float32, tn.float64, tn.complex64, tn.complex128)
    expected = {tn.float16: tn.float32, **{kind: kind for kind in wider}}
    for other in tn.dtypes.ALL:
        wanted = expected.get(other, BF16)
        assert tn.promote_types(BF16, other) is tn.promote_types(other, BF16) is wanted
        x = half(1.5) * tn.ones(1, dtype=other)
        assert x.dtype is wanted and x.item() == 1.5
    assert (half(1.0) * tn.tensor(2.0)).dtype is BF16  # a 0-d tensor decides among categories only
    assert (tn.tensor([1]) * half(2.0)[0]).dtype is BF16
    assert tn.can_cast(BF16, tn.float16) and not tn.can_cast(BF16, tn.int64)


def test_numbers_are_not_rounded_before_the_product():
    x = half(3.0)
    assert (x * 0.1).item() == half(3.0 * 0.1).item()
    assert (x / 3).item() == 1.0 and (x**2).item() == 9.0 and (7 - x).item() == 4.0


def test_making_showing_and_converting():
    assert str(half(1.0, 2.5, 3.1415)) == (
        "tensor([1.0000, 2.5000, 3.1406], dtype=tinynet.bfloat16)"
    )
    for t in (tn.zeros(2, dtype=BF16), tn.full((2,), 3, dtype=BF16), tn.randn(2, dtype=BF16)):
        assert t.dtype is BF16
    x = tn.tensor([1.0, -2.0])
    assert x.bfloat16().dtype is x.to(BF16).dtype is x.type("torch.BFloat16Tensor").dtype is BF16
    assert isinstance(x.bfloat16(), tn.BFloat16Tensor) and not isinstance(x, tn.BFloat16Tensor)
    assert tn.BFloat16Tensor([1, 2]).type() == "tinynet.BFloat16Tensor"
    assert x.bfloat16().tolist() == [1.0, -2.0] and type(x.bfloat16()[0].item()) is float
    assert half(1.5).long().tolist() == [1] and half(1.5).double().dtype is tn.float64
    with pytest.raises(TypeError, match="^Got unsupported ScalarType BFloat16$"):
        x.bfloat16().numpy()


def test_rounding_is_to_even():
    step = 2.0**-7
    values = [1 + step / 2, 1 + 1.5 * step, 1 + step / 2 + 2.0**-20]
    assert tn.tensor(values).bfloat16().tolist() == [1.0, 1 + 2 * step, 1 + step]


def test_sums_and_products_accumulate_in_float32():
    ones = tn.ones(1000, dtype=BF16)
    assert ones.sum().item() == 1000 and ones.mean().item() == 1.0
    assert (ones[None] @ ones[:, None]).item() == 1000
    assert ones.cumsum(0)[-1].item() == 1000


def test_views_writes_and_indices():
    x = half(1.0, 2.0, 3.0)
    x[1:].mul_(2)
    x[0] = 7.1
    assert x.tolist() == [7.09375, 4.0, 6.0] and x._version == 2
    assert x[tn.tensor([2, 0])].tolist() == [6.0, 7.09375]
    assert x[x > 5].tolist() == [7.09375, 6.0] and x.max(0).indices.item() == 0
    with pytest.raises(RuntimeError, match="result type BFloat16 can't be cast to .* Long"):
        tn.ones(3, dtype=tn.int64).add_(x)


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(RuntimeError, match="same dtype, but got: c10::BFloat16 != float"):
        tn.mm(tn.ones(1, 1, dtype=BF16), tn.ones(1, 1))
    with pytest.raises(RuntimeError, match="without overflow"):
        tn.full((1,), 1e39, dtype=BF16).clamp_(1e40)


def test_gradients_have_the_dtype_of_their_tensor():
    w = half(1.0, 2.0, requires_grad=True)
    y = (w * w).sum()
    (d,) = tn.autograd.grad(y, w, create_graph=True)
    assert d.dtype is BF16 and d.tolist() == [2.0, 4.0]
    (second,) = tn.autograd.grad(d.sum(), w)
    assert second.tolist() == [2.0, 2.0]
    x = tn.ones(2, requires_grad=True)
    (x.bfloat16() * w).float().sum().backward()
    assert x.grad.dtype is tn.float32 and w.grad.dtype is BF16


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_a_whole_network(name):
    tn.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2)).bfloat16()
    optimizer = getattr(optim, name)(net.parameters(), lr=0.05)
    x, y = tn.randn(16, 4).bfloat16(), tn.arange(16) % 2
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert {p.dtype for p in net.parameters()} == {p.grad.dtype for p in net.parameters()} == {BF16}
    other = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2)).bfloat16()
    other.load_state_dict(net.state_dict())
    assert other(x).tolist() == net(x).tolist()


@pytest.mark.parametrize("name", ["x.npz", "x.pt"])
def test_files(tmp_path, name):
    x = tn.linspace(-3, 3, 6).bfloat16().reshape(2, 3)
    write = tn.save if name == "x.npz" else tn.exchange.save_pytorch
    write({"x": x, "column": x[:, 1], "t": x.t().contiguous().t(), "kind": BF16}, tmp_path / name)
    back = tn.load(tmp_path / name)
    assert back["kind"] is back["x"].dtype is back["column"].dtype is BF16
    assert back["x"].tolist() == back["t"].tolist() == x.tolist()
    back["x"].zero_()
    assert back["column"].tolist() == [0.0, 0.0]


def test_observers_see_bfloat16():
    seen = []
    with observing(lambda op, ins, outs, rest: seen.append((op.name, ins[0].dtype, outs[0].dtype))):
        half(1.0).exp()
    assert seen == [("exp", BF16.numpy, BF16.numpy)]


def test_without_its_package_each_use_says_what_to_install():
    code = """
import sys
sys.modules["ml_dtypes"] = None
import tinynet as tn
assert tn.bfloat16.itemsize == 2 and str(tn.bfloat16) == "tinynet.bfloat16"
uses = (
    lambda: tn.zeros(1, dtype=tn.bfloat16), lambda: tn.ones(1).bfloat16(),
    lambda: tn.nn.Linear(1, 1).bfloat16(), lambda: tn.finfo(tn.bfloat16),
    lambda: tn.promote_types(tn.bfloat16, tn.float32),
)
for use in uses:
    try:
        use()
    except ImportError as error:
        print(error)
assert tn.ones(1).sum().item() == 1
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "" and done.stdout.splitlines() == [extension_dtypes.missing()] * 5


def test_arrays_of_ml_dtypes_are_taken():
    x = np.array([1.0, 2.0], BF16.numpy)
    assert tn.tensor(x).dtype is tn.from_numpy(x).dtype is BF16


def test_numbers_stay_in_float32_for_products_and_quotients_only():
    """As in PyTorch: 0.3 in float32, or rounded to bfloat16 first."""
    x, number = half(0.1), tn.tensor(0.3)
    rounded = half(0.3).float()
    for narrow, exact in (
        (x * 0.3, x.float() * 0.3),
        (0.3 * x, x.float() * 0.3),
        (x * number, x.float() * number),
        (x / 0.3, x.float() / 0.3),
        (x + 0.3, x.float() + rounded),
        (x - number, x.float() - rounded),
        (x % 0.3, x.float() % rounded),
    ):
        assert narrow.dtype is BF16 and narrow.item() == exact.to(BF16).item()
    assert (x == 0.1).item()
