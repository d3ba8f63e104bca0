"""Weights from files to begin with, frozen parameters, learning rates per layer."""

import numpy as np
import pytest

import tinynet as tn
from tinynet import exchange, optim
from tinynet.train import ConfigError, UsageError, load_config, resume, run
from tinynet.train.assemble.build import build
from tinynet.train.assemble.optimizers import groups_of
from tinynet.train.cli import main


@pytest.fixture
def first(write, digits):
    """A trained network with the sizes 64, 16, 10: the parameters 1.* and 3.*."""
    return run(write(digits), {"run.epochs": 1, "run.name": "first"}, quiet=True)


def same(one, other):
    return bool((one == other).all())


@pytest.mark.parametrize("ending", ["safetensors", "pt", "npz"])
def test_weights_in_a_file(first, write, digits, tmp_path, ending, capsys):
    path = tmp_path / f"w.{ending}"
    assert main(["export", str(first.folder), str(path)]) == 0
    few = {"run.epochs": 1, "optimizer.lr": 1e-12, "run.init_from": str(path)}
    second = run(write(digits), few, quiet=True)
    assert second.metrics["accuracy"] == first.metrics["accuracy"]


def test_a_checkpoint_of_pytorchs_with_a_state_dict_inside(first, write, digits, tmp_path):
    exchange.save_pytorch({"epoch": 3, "state_dict": first.model.state_dict()}, tmp_path / "w.pth")
    few = {"run.epochs": 1, "optimizer.lr": 1e-12, "run.init_from": str(tmp_path / "w.pth")}
    assert run(write(digits), few, quiet=True).metrics["accuracy"] == first.metrics["accuracy"]


def test_a_new_head_and_frozen_layers(first, write, digits, tmp_path):
    exchange.save_file(first.model.state_dict(), tmp_path / "w.safetensors")
    values = {
        "run.init_from": str(tmp_path / "w.safetensors"),
        "run.init_skip": ["3.*"],
        "model.sizes": [64, 16, 12],
        "model.frozen": ["1.*"],
    }
    with pytest.raises(UsageError, match=r"run.init_from: Error.* loading state_dict"):
        run(write(digits), {**values, "run.init_skip": []}, quiet=True)
    result = run(write(digits), {**values, "run.epochs": 1}, quiet=True)
    before, after = first.model.state_dict(), result.model.state_dict()
    assert same(before["1.weight"], after["1.weight"])
    assert after["3.weight"].shape == (12, 16)
    longer = resume(result.folder, {"run.epochs": 2}, quiet=True).model.state_dict()
    assert same(before["1.weight"], longer["1.weight"])
    assert not same(after["3.weight"], longer["3.weight"])


def test_rates_per_layer(write, digits):
    path = write(digits.replace("[optimizer]", "[optimizer]\nlayer_lr = {'1.*' = 0.001}"))
    parts = build(load_config(path))
    rest, layer = parts.updaters[""].optimizer.param_groups
    assert layer["lr"] == 0.001 != rest["lr"]
    assert [p.shape for p in layer["params"]] == [(16, 64), (16,)]
    result = run(path, {"run.epochs": 1}, quiet=True)
    assert resume(result.folder, {"run.epochs": 2}, quiet=True).is_complete


def test_the_first_pattern_that_fits_applies(write, digits):
    model = build(load_config(write(digits))).model
    groups = groups_of(model, {"1.bias": 0.0, "1.*": 1e-3})
    assert [(len(g["params"]), g.get("lr")) for g in groups] == [(2, None), (1, 0.0), (1, 1e-3)]
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model(tn.ones(2, 64)).square().sum().backward()
    optim.SGD(groups, lr=0.1).step()
    changed = {name for name, value in model.state_dict().items() if not same(value, before[name])}
    assert changed == {"1.weight", "3.weight", "3.bias"}


@pytest.mark.parametrize(
    "values, message",
    [
        (
            {"model.frozen": ["7.*"]},
            "model.frozen: '7.\\*' fits no name.* There are: 1.weight, 1.b",
        ),
        ({"model.frozen": ["*"]}, "model.frozen: no parameter is left to train"),
        ({"optimizer.layer_lr": {"7.*": 0.1}}, "optimizer.layer_lr: '7.\\*' fits no name"),
        ({"optimizer.layer_lr": {"1.*": -0.1}}, "optimizer.layer_lr: must have patterns of param"),
        ({"run.init_skip": ["7.*"]}, "run.init_skip: '7.\\*' fits no name"),
        ({"run.init_from": "none.pt"}, "none.pt"),
        ({"run.init_from": "bad.safetensors"}, "bad.safetensors"),
        ({"run.init_from": "list.npz"}, "list.npz"),
    ],
)
def test_mistakes(first, write, digits, tmp_path, monkeypatch, values, message):
    monkeypatch.chdir(tmp_path)
    exchange.save_file(first.model.state_dict(), "w.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"not this")
    np.savez("list.npz", np.zeros(3))
    path = write(digits)
    runs = {*tmp_path.glob("runs/*/*")}
    with pytest.raises((ConfigError, UsageError), match=message):
        run(path, {"run.init_from": "w.safetensors", **values}, quiet=True)
    assert {*tmp_path.glob("runs/*/*")} == runs
