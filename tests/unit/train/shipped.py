"""The configs and examples that are shipped, and short runs of them."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tinynet.exchange import save_file
from tinynet.train import run

ROOT = Path(__file__).parents[3]
CONFIGS = sorted([*ROOT.glob("configs/*.toml"), *ROOT.glob("examples/**/*.toml")])


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


def train_shortly(path, folder):
    """Train a config for a short time in a folder; it leaves nothing elsewhere."""
    short = SHORT.get(path.name, accuracy(0.5))
    before = {*path.parent.iterdir()}
    overrides = {"run.epochs": 1, **short.overrides, **short.files(folder)}
    result = run(path, overrides, out=folder / "runs", quiet=True)
    assert {file.name for file in {*path.parent.iterdir()} - before} <= {"__pycache__"}
    return result
