"""With PyTorch and safetensors at hand: both ways, byte for byte, and training that goes on."""

import argparse
import datetime
import io
import os
import pathlib
from collections import defaultdict, deque

import numpy as np
import pytest

import tinynet as tn
from tests.unit.exchange import nets, objects
from tinynet import nn
from tinynet.exchange import (
    load_file,
    load_pytorch,
    safetensors,
    save_file,
    save_model,
    save_pytorch,
)

pytestmark = pytest.mark.oracle


@pytest.fixture
def torch():
    import torch

    return torch


@pytest.fixture
def package():
    import safetensors.torch

    return safetensors.torch


def random_tensors(lib, seed):
    """Return some tensors of random dtypes and shapes, equal in both libraries."""
    random = np.random.default_rng(seed)
    kinds = "float64 float32 float16 int64 int32 int16 int8 uint8 bool".split()
    made = {}
    for _ in range(random.integers(0, 12)):
        name = "".join(random.choice([*"ab.\u00e9Z_\u4e2d"], random.integers(0, 6)))
        shape = random.integers(0, 5, random.integers(0, 4))
        values = random.integers(0, 100, shape)
        made[name] = lib.tensor(values).to(getattr(lib, str(random.choice(kinds))))
    return made


@pytest.mark.parametrize("seed", range(30))
def test_bytes_are_those_of_the_package(torch, package, seed):
    metadata = [None, {}, {"a\u00e9": "\u2028\n"}][seed % 3]
    ours = safetensors.save(random_tensors(tn, seed), metadata)
    assert ours == package.save(random_tensors(torch, seed), metadata)
    back = package.load(ours)
    for name, t in safetensors.load(ours).items():
        assert str(t.dtype)[8:] == str(back[name].dtype)[6:]
        assert np.array_equal(t.numpy(), back[name].numpy())


def test_tied_and_transposed_models_have_the_bytes_of_the_package(torch, package, tmp_path):
    def tied(nn):
        model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 3), nn.Linear(3, 4))
        model[2].weight = model[0].weight
        model[1].weight = nn.Parameter(model[0].weight.detach().t() * 2)
        return model

    theirs, ours = tied(torch.nn), tied(nn)
    ours.load_state_dict({k: tn.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    package.save_model(theirs, tmp_path / "theirs")
    save_model(ours, tmp_path / "ours")
    assert (tmp_path / "theirs").read_bytes() == (tmp_path / "ours").read_bytes()
    other = tied(torch.nn)
    assert package.load_model(other, tmp_path / "ours") == (set(), [])
    assert torch.equal(other[1].weight, theirs[1].weight)


def test_the_package_reads_what_it_would_not_write(torch, package, tmp_path):
    x = tn.arange(6.0).reshape(2, 3).t()
    save_file({"x": x}, tmp_path / "x.safetensors")
    back = package.load_file(tmp_path / "x.safetensors")["x"]
    assert np.array_equal(back.numpy(), x.numpy())


def test_bfloat16_of_the_package(torch, package, tmp_path):
    pytest.importorskip("ml_dtypes")
    x = torch.randn(1000).bfloat16()
    package.save_file({"x": x}, tmp_path / "x.safetensors")
    ours = load_file(tmp_path / "x.safetensors")
    assert ours["x"].dtype is tn.bfloat16
    assert np.array_equal(ours["x"].float().numpy(), x.float().numpy())
    save_file(ours, tmp_path / "y.safetensors")
    assert (tmp_path / "y.safetensors").read_bytes() == (tmp_path / "x.safetensors").read_bytes()


def test_bfloat16_of_torch(torch, tmp_path):
    pytest.importorskip("ml_dtypes")
    x = tn.linspace(-3, 3, 12).reshape(3, 4).bfloat16()
    tn.exchange.save_pytorch({"x": x, "column": x[:, 1], "dtype": x.dtype}, tmp_path / "x.pt")
    theirs = torch.load(tmp_path / "x.pt")
    assert theirs["dtype"] is theirs["column"].dtype is torch.bfloat16
    assert theirs["column"].tolist() == x[:, 1].tolist()
    assert theirs["column"].data_ptr() == theirs["x"].data_ptr() + 2
    torch.save(theirs, tmp_path / "y.pt")
    ours = load_pytorch(tmp_path / "y.pt")
    assert ours["dtype"] is ours["x"].dtype is tn.bfloat16
    assert ours["x"].tolist() == theirs["x"].tolist()


@pytest.mark.parametrize("legacy", [False, True], ids=["zip", "legacy"])
@pytest.mark.parametrize("seed", range(10))
def test_torch_save_and_load(torch, seed, legacy):
    theirs = random_tensors(torch, seed)
    torch.save(theirs, file := io.BytesIO(), _use_new_zipfile_serialization=not legacy)
    ours = load_pytorch(file)
    assert list(ours) == list(theirs)
    save_pytorch(ours, file := io.BytesIO())
    file.seek(0)
    back = torch.load(file, weights_only=True)
    for name, t in theirs.items():
        assert np.array_equal(ours[name].numpy(), t.numpy())
        assert back[name].dtype == t.dtype
        assert torch.equal(back[name], t)


def test_torch_load_shares_memory_as_tinynet_does(torch, tmp_path):
    x = tn.arange(12.0).reshape(3, 4)
    obj = {
        "x": x,
        "again": x,
        "t": x.t(),
        "row": x[1],
        "expanded": tn.ones(1).expand(3),
        "p": nn.Parameter(tn.ones(2)),
        "frozen": nn.Parameter(tn.ones(2), requires_grad=False),
        "leaf": tn.ones(1, requires_grad=True),
        "state": nn.BatchNorm1d(2).state_dict(),
        "plain": [1, 2**40, -(2**70), 0.5, None, True, "\u00e9", b"\xff", (1, ()), tn.Size([2])],
        "dtypes": [d for d in tn.dtypes.ALL],
    }
    save_pytorch(obj, tmp_path / "x.pt")
    for options in ({}, {"mmap": True}, {"weights_only": False}):
        back = torch.load(tmp_path / "x.pt", **options)
        assert back["again"] is back["x"]
        back["x"][1, 0] = 100
        assert back["t"][0, 1] == 100 == back["row"][0]
        assert back["expanded"].stride() == (0,)
        assert type(back["p"]) is type(back["frozen"]) is torch.nn.Parameter
        assert [back[k].requires_grad for k in ("p", "frozen", "leaf", "x")] == [1, 0, 1, 0]
        assert back["state"]._metadata == obj["state"]._metadata
        assert back["plain"] == [*obj["plain"][:-1], torch.Size([2])]
        assert [str(d)[6:] for d in back["dtypes"]] == [str(d)[8:] for d in tn.dtypes.ALL]


@pytest.mark.parametrize("way", ["safetensors", "pt"])
@pytest.mark.parametrize("name", nets.NAMES)
def test_training_begun_here_goes_on_in_pytorch(torch, package, tmp_path, name, way):
    tn.manual_seed(5)
    net = nets.make(nn, name).to(tn.float64)
    optimizer = nets.optimizer_of(tn, net)
    x, y = nets.tensors(tn, name, tn.float64)
    nets.train(tn, net, optimizer, x, y, 4)
    save_pytorch(
        {"model": net.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "both.pt"
    )
    save_model(net, tmp_path / "model.safetensors")

    state = torch.load(tmp_path / "both.pt", weights_only=True)
    theirs = nets.make(torch.nn, name).double()
    if way == "safetensors":
        package.load_model(theirs, os.fspath(tmp_path / "model.safetensors"))
    else:
        theirs.load_state_dict(state["model"])
    optimizer_there = nets.optimizer_of(torch, theirs)
    optimizer_there.load_state_dict(state["optimizer"])
    x_there, y_there = nets.tensors(torch, name, torch.float64)

    there = nets.train(torch, theirs, optimizer_there, x_there, y_there, 5)
    assert nets.train(tn, net, optimizer, x, y, 5) == pytest.approx(there, rel=1e-9)
    with torch.no_grad():
        output = theirs.eval()(x_there).numpy()
    assert np.abs(net.eval()(x).detach().numpy() - output).max() < 1e-9


# ---- whole modules and other objects ------------------------------------------------------------

LAYERS = {
    "linear": lambda nn: nn.Sequential(nn.Linear(4, 3, bias=False), nn.Tanh()),
    "norm": lambda nn: nn.Sequential(nn.BatchNorm1d(2), nn.LayerNorm(4), nn.PReLU()),
    "lstm": lambda nn: nn.LSTM(4, 3, 2, bidirectional=True),
    "gru": lambda nn: nn.GRU(4, 3),
    "attention": lambda nn: nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0),
    "circular": lambda nn: nn.Conv1d(2, 3, 2, padding="same", padding_mode="circular"),
    "transposed": lambda nn: nn.ConvTranspose1d(2, 3, 2),
}


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_whole_modules_both_ways(torch, name, legacy):
    x = np.random.default_rng(0).standard_normal((3, 2, 4))
    theirs = LAYERS[name](torch.nn).double().eval()
    torch.save(theirs, file := io.BytesIO(), _use_new_zipfile_serialization=not legacy)
    ours = tn.load(file, weights_only=False)
    save_pytorch({"model": ours, "state": ours.state_dict()}, file := io.BytesIO())
    file.seek(0)
    back = torch.load(file, weights_only=False)
    assert type(back["model"]) is type(theirs)
    assert repr(back["model"]) == repr(ours) == repr(theirs)
    results = [m(torch.tensor(x)) for m in (theirs, back["model"])] + [ours(tn.tensor(x))]
    results = [y[0] if isinstance(y, tuple) else y for y in results]
    for y in results:
        assert np.allclose(y.detach().numpy(), results[0].detach().numpy(), rtol=0, atol=1e-12)
    theirs.load_state_dict(back["state"])


def test_checkpoints_of_scripts_both_ways(torch):
    data = {
        "args": argparse.Namespace(lr=0.1, layers=[1]),
        "history": defaultdict(list, loss=[0.5]),
        "config": objects.Config(0.5, [1]),
        "array": np.arange(6.0).reshape(2, 3),
        "number": np.float32(0.5),
        "when": datetime.datetime(2020, 1, 1),
        "path": pathlib.Path("a"),
        "others": [range(3), {1}, frozenset({2}), 1j, slice(1), deque([1], 2), bytearray(b"x")],
    }
    data["again"] = data["history"]["loss"]
    torch.save(data, theirs := io.BytesIO())
    tn.save(data, ours := io.BytesIO())
    ours.seek(0)
    for back in (tn.load(theirs, weights_only=False), torch.load(ours, weights_only=False)):
        assert repr(back) == repr(data)
        assert back["again"] is back["history"]["loss"]


def test_what_pytorch_reads_by_default(torch):
    data = {"a": [1, {2}, (3.5, None)], "b": bytearray(b"x"), "c": 1j, "w": tn.ones(2)}
    data["again"] = data["a"]
    save_pytorch(data, file := io.BytesIO())
    file.seek(0)
    back = torch.load(file)
    assert back["again"] is back["a"]
    assert back["a"] == data["a"]
    assert back["w"].tolist() == [1, 1]
