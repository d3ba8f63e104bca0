"""Files that PyTorch 2.13 and safetensors 0.8 wrote (``record.py``), read without either."""

import io
from collections import Counter, OrderedDict
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import bound
from tests.unit.exchange import nets, objects
from tinynet import nn
from tinynet.exchange import (
    ExchangeError,
    UnsafeError,
    load_file,
    load_model,
    load_pytorch,
    safe_open,
    safetensors,
    save_model,
    save_pytorch,
)

FILES = Path(__file__).parent / "files"
DTYPES = "float64 float32 float16 int64 int32 int16 int8 uint8 bool".split()


def check_dtypes(tensors):
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    for kind in DTYPES:
        t = tensors[f"kind.{kind}"]
        assert t.dtype is getattr(tn, kind)
        assert np.array_equal(t.numpy(), np.array([[0, 1], [2, 3]]).astype(kind))
    assert np.array_equal(tensors["rows"].numpy(), x)
    assert np.array_equal(tensors["transposed"].numpy(), x.T)
    assert tensors["scalar"].shape == ()
    assert tensors["scalar"].item() == -1.5
    assert tensors["empty"].shape == (0, 3)
    assert tensors['\u00fc\u4e2d "quoted"\n'].tolist() == [1]
    assert len(tensors) == 14


# ---- .safetensors -------------------------------------------------------------------------------


def test_safetensors_of_every_dtype():
    check_dtypes(load_file(FILES / "dtypes.safetensors"))


@pytest.mark.parametrize("name", ["dtypes", *nets.NAMES])
def test_writing_again_gives_the_same_bytes(name):
    path = FILES / f"{name}.safetensors"
    with safe_open(path) as file:
        metadata = file.metadata()
    assert safetensors.save(load_file(path), metadata) == path.read_bytes()


@pytest.mark.parametrize("name", nets.NAMES)
def test_a_model_of_pytorch_is_saved_to_the_same_bytes(name):
    net = nets.make(nn, name)
    net.to(tn.float32 if name == "cnn" else tn.float64)
    path = FILES / f"{name}.safetensors"
    assert load_model(net, path) == (set(), [])
    save_model(net, file := io.BytesIO())
    assert file.getvalue() == path.read_bytes()


def check_bfloat16(tensors, dtype):
    assert tensors["w"].dtype is dtype
    assert tensors["w"].tolist() == np.linspace(-3, 3, 7).tolist()
    assert tensors["other"].tolist() == [1, 1]


def test_bfloat16():
    pytest.importorskip("ml_dtypes")
    check_bfloat16(load_file(FILES / "bfloat16.safetensors"), tn.bfloat16)
    for name in ("bfloat16.pt", "bfloat16_legacy.pt"):
        check_bfloat16(load_pytorch(FILES / name), tn.bfloat16)


def test_bfloat16_without_its_package(without_ml_dtypes):
    with pytest.warns(UserWarning, match="bfloat16 read as float32 .*1 tensor.*: 'w'"):
        check_bfloat16(load_file(FILES / "bfloat16.safetensors"), tn.float32)
    for name in ("bfloat16.pt", "bfloat16_legacy.pt"):
        with pytest.warns(UserWarning, match="bfloat16 read as float32 .* 1 storage") as found:
            check_bfloat16(load_pytorch(FILES / name), tn.float32)
        assert found[0].filename == __file__


def test_complex_numbers():
    assert load_pytorch(FILES / "complex.pt")["z"].equal(tn.ones(1, dtype=tn.complex64))


def test_a_dtype_that_tinynet_has_not():
    with pytest.raises(ExchangeError, match="tensor 'odd': expected a dtype .*, found U16"):
        load_file(FILES / "uint16.safetensors")
    with pytest.raises(ExchangeError, match="found the name torch._utils._rebuild_tensor_v3"):
        load_pytorch(FILES / "uint16.pt")


# ---- torch.save ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dtypes.pt", "dtypes_legacy.pt"])
def test_pytorch_of_every_dtype(name):
    check_dtypes(load_pytorch(FILES / name))


@pytest.mark.parametrize("name", ["shared", "shared_protocol4", "shared_legacy", "again"])
def test_pytorch_with_shared_memory(name):
    if name == "again":  # through what tinynet writes
        save_pytorch(without_numpy(load_pytorch(FILES / "shared.pt")), file := io.BytesIO())
        back = load_pytorch(file)
    else:
        back = load_pytorch(FILES / f"{name}.pt")
        assert back["set"] == {1, 2}
        assert repr(back["numpy"]) == "[np.float64(0.25), np.int64(3), np.float32(0.5)]"
    x = back["x"]
    assert back["again"] is x
    assert back["transposed"].stride() == (1, 4)
    x[2, 1] = 100
    assert back["transposed"][1, 2] == 100
    assert back["column"].tolist() == [1, 5, 100]
    assert back["column"]._version == x._version == 1
    assert back["expanded"].tolist() == [5, 5, 5]
    assert back["expanded"].stride() == (0,)
    assert type(back["parameter"]) is type(back["frozen"]) is nn.Parameter
    assert [back[k].requires_grad for k in ("parameter", "frozen", "leaf", "x")] == [1, 0, 1, 0]
    assert type(back["state"]) is OrderedDict
    assert back["state"]._metadata == {"": {"version": 2}}
    assert back["dtype"] is tn.float16
    assert back["size"] == tn.Size([2, 3])
    assert type(back["size"]) is tn.Size
    assert back["counter"] == Counter({10: 2})
    assert list(back["ordered"].items()) == [
        ("b", 1),
        ("a", (1, 2.5, None, True, "\u00e9", b"\xff\x00", 2**70)),
    ]
    assert back[3] == -1


def without_numpy(data):
    return {k: v for k, v in data.items() if k not in ("numpy", "set", "device")}


def test_whole_modules_of_pytorch():
    with pytest.raises(UnsafeError, match="the name tests.unit.exchange.objects.Net"):
        tn.load(FILES / "whole.pt")
    back = tn.load(FILES / "whole.pt", weights_only=False)
    again = io.BytesIO()
    tn.save(back, again)  # and through what tinynet writes
    for data in (back, tn.load(again, weights_only=False)):
        modules = data["modules"]
        assert type(modules["own"]) is objects.Net
        assert type(modules["encoder"]) is nn.TransformerEncoderLayer
        for key, module in modules.items():
            made = module(tn.tensor(data["inputs"][key]))
            made = made[0] if isinstance(made, tuple) else made
            assert np.allclose(made.detach().numpy(), data["outputs"][key], rtol=0, atol=1e-12), key
        optimizer = data["optimizer"]
        assert type(optimizer) is tn.optim.AdamW
        weight = modules["own"].embedding.weight
        assert optimizer.param_groups[0]["params"][0] is weight
        assert optimizer.state[weight]["step"].item() == 1
        assert data["args"].config == objects.Config(0.5, [1])
        assert data["functions"] == [tn.relu, nn.functional.gelu, nn.init.normal_, nn.Linear]
        assert data["device"] == tn.device("cuda:1")


@pytest.mark.parametrize(
    "name, message",
    [
        (
            "module.pt",
            r"the name torch.nn.modules.linear.Linear .*weights_only=False.*add_safe_globals",
        ),
        ("sparse.pt", "the name torch.*sparse.*, which tinynet does not have"),
    ],
)
def test_what_is_not_on_the_list_is_named(name, message):
    with pytest.raises(ExchangeError, match=message) as error:
        load_pytorch(FILES / name)
    assert str(FILES / name) in str(error.value)


# ---- networks trained in PyTorch ----------------------------------------------------------------


def close(a, b, tolerance):
    a, b = (np.asarray(t.detach().numpy(), np.float64) for t in (a, b))
    return np.abs(a - b).max(initial=0) <= tolerance * max(np.abs(b).max(initial=0), 1)


@pytest.mark.parametrize("name", nets.NAMES)
def test_outputs_are_those_of_pytorch(name):
    dtype = tn.float32 if name == "cnn" else tn.float64
    x, _ = nets.tensors(tn, name, dtype)
    then = load_pytorch(FILES / f"{name}_then.pt")
    state = load_pytorch(FILES / f"{name}.pt")["model"]
    for load in (
        lambda net: load_model(net, FILES / f"{name}.safetensors"),
        lambda net: net.load_state_dict(state),
    ):
        net = nets.make(nn, name).to(dtype).eval()
        load(net)
        assert close(net(x), then["output"], 2 * bound(dtype.numpy, 100))


@pytest.mark.parametrize("name", nets.NAMES)
def test_training_goes_on_as_in_pytorch(name):
    dtype = tn.float32 if name == "cnn" else tn.float64
    # Four steps of both libraries; the longest sums are those over the batch and its places.
    tolerance = 2 * bound(dtype.numpy, 4 * 2 * 8 * 64) if dtype is tn.float32 else 1e-9
    state = load_pytorch(FILES / f"{name}.pt")
    then = load_pytorch(FILES / f"{name}_then.pt")
    net = nets.make(nn, name).to(dtype)
    net.load_state_dict(state["model"])
    optimizer = nets.optimizer_of(tn, net)
    optimizer.load_state_dict(state["optimizer"])
    losses = nets.train(tn, net, optimizer, *nets.tensors(tn, name, dtype), 4)
    assert losses == pytest.approx(then["losses"], rel=tolerance)
    for key, value in net.state_dict().items():
        assert close(value, then["after"][key], tolerance), key


@pytest.mark.parametrize("name", nets.NAMES)
def test_saving_and_loading_between_changes_nothing(name):
    """From PyTorch's file through tinynet.save, and through save_pytorch."""
    state = load_pytorch(FILES / f"{name}.pt")
    for save, load in ((tn.save, tn.load), (save_pytorch, load_pytorch)):
        save(state, file := io.BytesIO())
        back = load(file)
        assert list(back["model"]) == list(state["model"])
        for key, value in state["model"].items():
            assert np.array_equal(back["model"][key].numpy(), value.numpy())
        assert back["optimizer"]["param_groups"] == state["optimizer"]["param_groups"]
        for number, values in state["optimizer"]["state"].items():
            for key, value in values.items():
                assert np.array_equal(
                    back["optimizer"]["state"][number][key].numpy(), value.numpy()
                )
