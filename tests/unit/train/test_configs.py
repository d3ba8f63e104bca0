"""The configs and examples that are shipped: each says how it is started, and runs."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinynet as tn
from tinynet import data
from tinynet.exchange import save_file
from tinynet.train import ConfigError, load_run, run

ROOT = Path(__file__).parents[3]
CONFIGS = sorted([*ROOT.glob("configs/*.toml"), *ROOT.glob("examples/**/*.toml")])
SEEDS_OF_DIGITS_MLP = range(10)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_it_says_how_it_is_started_and_what_to_expect(path):
    text = path.read_text(encoding="utf-8")
    comment = text[: text.index("\n\n")]
    assert f"\n#   tinynet train {path.relative_to(ROOT).as_posix()}\n" in comment
    assert "\n# Expected: " in comment


@dataclass(frozen=True)
class Short:
    """A short run of a config, and what must come of it."""

    figures: Mapping[str, tuple[float, float]]
    """What is measured -> from and to what."""

    overrides: Mapping[str, Any] = field(default_factory=dict)
    files: Callable[[Path], Mapping[str, Any]] = lambda folder: {}
    """Writes the files that it needs, and says where they are."""


def accuracy(least, **arguments):
    return Short({"accuracy": (least, 1.0)}, **arguments)


def clothes(folder):
    """Fashion-MNIST's files, with a few images that are easy to tell apart: a bright row each."""
    random = np.random.default_rng(0)
    for stem, count in (("train", 600), ("t10k", 100)):
        labels = np.arange(count) % 10
        images = random.integers(0, 100, (count, 28, 28))
        images[np.arange(count), 2 * labels + 4] += 150
        for name, array in (("images-idx3", images), ("labels-idx1", labels)):
            header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
            content = header + array.astype(np.uint8).tobytes()
            (folder / f"{stem}-{name}-ubyte").write_bytes(content)
    return {"data.root": str(folder)}


def tumours(folder):
    """The data set of scikit-learn, as the example writes it."""
    pytest.importorskip("sklearn")
    program = ROOT / "examples" / "table" / "write_csv.py"
    path = folder / "breast_cancer.csv"
    subprocess.run([sys.executable, program, path], check=True, stdout=subprocess.DEVNULL)
    return {"data.path": str(path)}


def photographs(folder):
    """Some images, as the example writes them as files."""
    pytest.importorskip("PIL")
    clothes(folder)
    program = ROOT / "examples" / "images" / "write_folders.py"
    command = [sys.executable, program, folder, folder / "clothes", "30"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    parts = {"data.root": "train", "data.test_root": "test"}
    return {key: str(folder / "clothes" / part) for key, part in parts.items()}


def pretrained(folder):
    """The weights of configs/digits_mlp.toml after a few epochs."""
    config = ROOT / "configs" / "digits_mlp.toml"
    model = run(config, {"run.epochs": 3}, out=folder / "first", quiet=True).model
    save_file(model.state_dict(), folder / "digits.safetensors")
    return {"run.init_from": str(folder / "digits.safetensors")}


SHORT_TEXT = {"data.limit": 40_000, "data.batch_size": 16}
SHORT = {
    "spiral.toml": accuracy(0.45, overrides={"run.epochs": 2}),
    "fashion_mlp.toml": accuracy(0.8, overrides={"data.batch_size": 16}, files=clothes),
    "fashion_cnn.toml": accuracy(0.8, overrides={"data.batch_size": 16}, files=clothes),
    "breast_cancer.toml": accuracy(0.9, overrides={"run.epochs": 3}, files=tumours),
    "clothes.toml": accuracy(
        0.3, overrides={"run.epochs": 2, "data.batch_size": 16}, files=photographs
    ),
    "parity.toml": accuracy(0.8, files=pretrained),
    "digits_vae.toml": Short({"loss": (20, 28)}, {"run.epochs": 2}),
    "digits_gan.toml": Short(
        {"loss_generator": (0.5, 3), "loss_discriminator": (0.5, 1.4)}, {"run.epochs": 2}
    ),
    "text_gpt.toml": Short(
        {"bits": (2, 5), "accuracy": (0.15, 0.5)},
        {**SHORT_TEXT, "model.width": 32, "model.layers": 1, "run.epochs": 2, "data.validation": 0},
    ),
    "text_lstm.toml": Short(
        {"bits": (2, 5), "accuracy": (0.15, 0.5)}, {**SHORT_TEXT, "model.hidden": 64}
    ),
    "words_skipgram.toml": Short(
        {"loss": (0.4, 0.55)}, {"data.limit": 500_000, "data.batch_size": 256}
    ),
}
"""Those of the rest learn to be right more often than not in one epoch."""


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_it_runs(path, tmp_path):
    short = SHORT.get(path.name, accuracy(0.5))
    before = {*path.parent.iterdir()}
    overrides = {"run.epochs": 1, **short.overrides, **short.files(tmp_path)}
    result = run(path, overrides, out=tmp_path / "runs", quiet=True)
    for name, (least, most) in short.figures.items():
        assert least <= result.metrics[name] <= most, name
    assert {file.name for file in {*path.parent.iterdir()} - before} <= {"__pycache__"}


def test_the_example_finds_its_files_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = os.path.relpath(ROOT / "examples" / "config_with_own_model" / "residual.toml")
    result = run(path, {"run.epochs": 1, "model.blocks": 3}, quiet=True)
    assert len(result.model.blocks) == 3


def test_digits_mlp_reaches_what_it_promises(tmp_path):
    result = run(ROOT / "configs" / "digits_mlp.toml", out=tmp_path, quiet=True)
    assert result.metrics["accuracy"] > 0.97  # as the README says


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS_OF_DIGITS_MLP)
def test_digits_mlp_with_any_seed(seed, tmp_path):
    path = ROOT / "configs" / "digits_mlp.toml"
    result = run(path, {"run.seed": seed}, out=tmp_path, quiet=True)
    assert result.metrics["accuracy"] > 0.97  # as the README says; a tenth is for validation


# ---- what the other configs promise ----


def trained(name, folder, **overrides):
    return run(ROOT / "configs" / name, overrides, out=folder, quiet=True)


def test_spiral_reaches_what_it_promises(tmp_path):
    assert trained("spiral.toml", tmp_path).metrics["accuracy"] >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name, least", [("spiral.toml", 0.99), ("digits_cnn.toml", 0.985)])
def test_with_any_seed(name, least, seed, tmp_path):
    result = trained(name, tmp_path, **{"run.seed": seed})
    assert result.metrics["accuracy"] >= least


@pytest.mark.slow
@pytest.mark.parametrize("name, least", [("fashion_mlp.toml", 0.88), ("fashion_cnn.toml", 0.91)])
def test_fashion_mnist_in_the_setting_of_the_benchmark(name, least, tmp_path):
    root = Path("/usr/share/datasets/fashion-mnist")
    if not root.is_dir():
        pytest.skip(f"needs the files of Debian's package dataset-fashion-mnist in {root}")
    assert trained(name, tmp_path).metrics["accuracy"] >= least


def test_where_to_get_fashion_mnist(tmp_path):
    with pytest.raises(ConfigError) as raised:
        trained("fashion_cnn.toml", tmp_path, **{"data.root": str(tmp_path / "nowhere")})
    (problem,) = raised.value.problems
    assert "nowhere does not exist: it must be a folder with the training images" in problem.text
    assert "apt install dataset-fashion-mnist" in problem.text
    assert problem.text.endswith("To use another path: --set data.root=PATH")


@pytest.fixture(scope="module")
def inception_score(tmp_path_factory):
    """Of images, by the classifier of digits_cnn: at most 10, the number of classes."""
    result = trained("digits_cnn.toml", tmp_path_factory.mktemp("classifier"))

    def score(images):
        with tn.no_grad():
            shares = result.model.eval()(images).softmax(1)
            divergence = (shares * (shares.log() - shares.mean(0).log())).sum(1)
        return divergence.mean().exp().item()

    return score


@pytest.mark.slow
@pytest.mark.parametrize("name, least", [("digits_vae.toml", 6.0), ("digits_gan.toml", 7.0)])
def test_digits_that_are_made_up_look_like_digits(name, least, inception_score, tmp_path):
    assert inception_score(data.Digits(train=False).images) > 9
    assert inception_score(tn.rand(1000, 1, 8, 8)) < 2
    model = load_run(trained(name, tmp_path).folder).parts.model.eval()
    tn.manual_seed(0)
    with tn.no_grad():
        images = model.samples(1000)
    assert inception_score(images) > least
