"""Writes the files in ``files/`` with PyTorch and the safetensors package.

    python -m tests.unit.exchange.record

They are what ``test_fixtures.py`` reads, so that it needs neither.
"""

import argparse
import pickle
from collections import Counter, OrderedDict
from pathlib import Path

import numpy as np
import safetensors.torch
import torch

from tests.unit.exchange import nets, objects

FILES = Path(__file__).parent / "files"


def every_dtype():
    """Return tensors in all dtypes and layouts that both libraries have."""
    x = torch.arange(12.0).reshape(3, 4)
    kinds = "float64 float32 float16 int64 int32 int16 int8 uint8 bool".split()
    return {
        **{f"kind.{k}": torch.tensor([[0, 1], [2, 3]]).to(getattr(torch, k)) for k in kinds},
        "transposed": x.t().contiguous(),
        "rows": x,
        "scalar": torch.tensor(-1.5),
        "empty": torch.zeros(0, 3),
        '\u00fc\u4e2d "quoted"\n': torch.ones(1),
    }


def shared():
    """Return tensors that share memory, with what else state_dicts contain."""
    x = torch.arange(12.0).reshape(3, 4)
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    state = torch.nn.BatchNorm1d(2).state_dict()
    return {
        "x": x,
        "again": x,
        "transposed": x.t(),
        "column": x[:, 1],
        "expanded": torch.tensor([5]).expand(3),
        "parameter": parameter,
        "frozen": torch.nn.Parameter(torch.ones(1), requires_grad=False),
        "leaf": torch.tensor([1.0], requires_grad=True),
        "state": state,
        "dtype": torch.float16,
        "size": torch.Size([2, 3]),
        "device": torch.device("cpu"),
        "counter": Counter({10: 2}),
        "ordered": OrderedDict(
            [("b", 1), ("a", (1, 2.5, None, True, "\u00e9", b"\xff\x00", 2**70))]
        ),
        "set": {1, 2},
        "numpy": [np.float64(0.25), np.int64(3), np.float32(0.5)],
        3: -1,
    }


def whole():
    """Save whole modules, an optimizer, and objects of other classes; what the modules compute."""
    torch.manual_seed(7)
    objects.Net = objects.net_of(torch.nn)  # where the file looks for it
    tokens = torch.tensor([[1, 2, 3], [4, 5, 6]])
    net = objects.Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    net(tokens[0]).sum().backward()
    optimizer.step()
    made = {"own": net.eval(), **{name: nets.make(torch.nn, name) for name in ("cnn",)}}
    made["lstm"] = torch.nn.LSTM(4, 3, num_layers=2, bidirectional=True)
    made["encoder"] = torch.nn.TransformerEncoderLayer(4, 2, 6, activation="gelu").eval()
    made["circular"] = torch.nn.Conv2d(1, 2, 3, padding="same", padding_mode="circular")
    x, image = torch.randn(3, 2, 4).double(), torch.randn(2, 1, 8, 8).double()
    inputs = {"own": tokens[0], "cnn": image, "lstm": x, "encoder": x, "circular": image}
    outputs = {}
    for name, module in made.items():
        y = module.double().eval()(inputs[name])
        outputs[name] = (y[0] if isinstance(y, tuple) else y).detach().numpy()
    return {
        "modules": made,
        "optimizer": optimizer,
        "inputs": {name: x.numpy() for name, x in inputs.items()},
        "outputs": outputs,
        "args": argparse.Namespace(lr=0.01, config=objects.Config(0.5, [1])),
        "functions": [torch.relu, torch.nn.functional.gelu, torch.nn.init.normal_, torch.nn.Linear],
        "device": torch.device("cuda", 1),
    }


def networks():
    """Train the networks for a few steps and save them in the middle."""
    for name in nets.NAMES:
        torch.manual_seed(7)
        dtype = torch.float32 if name == "cnn" else torch.float64
        net = nets.make(torch.nn, name).to(dtype)
        x, y = nets.tensors(torch, name, dtype)
        optimizer = nets.optimizer_of(torch, net)
        nets.train(torch, net, optimizer, x, y, 4)
        safetensors.torch.save_model(net, FILES / f"{name}.safetensors")
        state = {"model": net.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, FILES / f"{name}.pt")
        with torch.no_grad():
            output = net.eval()(x).clone()
        losses = nets.train(torch, net, optimizer, x, y, 4)
        after = net.state_dict()
        torch.save({"output": output, "losses": losses, "after": after}, FILES / f"{name}_then.pt")


def main():
    FILES.mkdir(exist_ok=True)
    tensors = every_dtype()
    safetensors.torch.save_file(tensors, FILES / "dtypes.safetensors", {"by": "safetensors \u00fc"})
    half = {"w": torch.linspace(-3, 3, 7).bfloat16(), "other": torch.ones(2)}
    safetensors.torch.save_file(half, FILES / "bfloat16.safetensors")
    odd = {"odd": torch.ones(2, dtype=torch.uint16), "even": torch.ones(2)}
    safetensors.torch.save_file(odd, FILES / "uint16.safetensors")
    torch.save(shared(), FILES / "shared.pt")
    torch.save(shared(), FILES / "shared_protocol4.pt", pickle_protocol=4)
    torch.save(shared(), FILES / "shared_legacy.pt", _use_new_zipfile_serialization=False)
    (FILES / "pickled.pkl").write_bytes(pickle.dumps(shared()))
    torch.save(tensors, FILES / "dtypes.pt")
    torch.save(tensors, FILES / "dtypes_legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(half, FILES / "bfloat16.pt")
    torch.save(half, FILES / "bfloat16_legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(odd, FILES / "uint16.pt")
    torch.save({"z": torch.ones(1, dtype=torch.complex64)}, FILES / "complex.pt")
    torch.save({"s": torch.eye(2).to_sparse()}, FILES / "sparse.pt")
    torch.save(torch.nn.Linear(2, 1), FILES / "module.pt")
    torch.save(whole(), FILES / "whole.pt")  # the old format has the source of the classes in it
    networks()


if __name__ == "__main__":
    main()
