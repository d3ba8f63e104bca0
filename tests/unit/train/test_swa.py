"""``[swa]``: the mean of the weights after the last epochs."""

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.train import load_run, resume, run
from tinynet.train.base.checkpoint_file import read_checkpoint
from tinynet.train.cli import main

from .test_limits import rows
from .test_resume import killed, same

SWA = '\n[swa]\nstart = "40%"\n'
NORMED = """
from tinynet import nn
def net():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(16, 10),
    )
"""
SCHEDULE = """
[schedule]
type = "SequentialLR"
milestones = ["40%"]
schedulers = [
    {type = "CosineAnnealingLR", eta_min = 0.05},
    {type = "SWALR", swa_lr = 0.2, anneal_epochs = 2},
]
"""


@pytest.fixture
def normed(digits):
    """A config with BatchNorm, whose last three of five epochs are averaged."""
    config = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./normed.py:net"')
    return config.replace("epochs = 2", "epochs = 5") + SWA


class Weights:
    """Keeps the weights after each epoch."""

    def __init__(self):
        self.kept = []

    def on_epoch_end(self, at):
        self.kept.append({n: p.detach().numpy().copy() for n, p in at.model.named_parameters()})


def test_the_mean_of_the_last_epochs_is_measured_and_kept(write, normed):
    seen = Weights()
    result = run(write(normed, normed=NORMED), callbacks=[seen], quiet=True)
    saved = read_checkpoint(result.folder / "checkpoint.npz")
    assert saved["ema"]["steps"] == 3 and len(seen.kept) == 5
    trained = load_run(result.folder)
    for name, parameter in trained.model.named_parameters():
        mean = np.mean([kept[name] for kept in seen.kept[2:]], 0, dtype=np.float64)
        assert np.abs(parameter.detach().numpy() - mean).max() <= 8 * 2.0**-24 * abs(mean).max()
    last = read_checkpoint(result.folder / "best.npz")["model"]
    assert result.metrics["accuracy"] > 0.8 and last.keys() == saved["model"].keys()


def test_the_statistics_are_those_of_the_averaged_model(write, normed):
    result = run(write(normed, normed=NORMED), quiet=True)
    trained = load_run(result.folder)
    net, found = trained.model, trained.model.state_dict()
    norm = nn.BatchNorm1d(16)
    norm.momentum = None
    with tn.no_grad():
        for inputs, _ in trained.parts.batches["training"]:
            norm(net[1](net[0](inputs)))
    for name, value in (("mean", norm.running_mean), ("var", norm.running_var)):
        own = found[f"2.running_{name}"]
        assert (own - value).abs().max() <= 64 * 2.0**-24 * value.abs().max()
    assert found["2.num_batches_tracked"].item() == len(trained.parts.batches["training"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("count", [30, 60, 80, 105])
def test_a_killed_run_ends_as_if_it_had_not(write, normed, tmp_path, dies, count):
    given = ["run.save_every_steps=7"]
    path = write(normed + SCHEDULE, normed=NORMED)
    whole = run(path, given, out=tmp_path / "whole", quiet=True)
    folder = killed(path, given, dies, count, tmp_path / "runs")
    resume(folder, quiet=True)
    same(folder, whole.folder)


def test_averaging_does_not_disturb_training(write, normed):
    plain = run(write(normed.replace(SWA, ""), normed=NORMED), quiet=True)
    averaged = run(write(normed, normed=NORMED), quiet=True)
    states = [plain.model.state_dict(), averaged.model.state_dict()]
    assert all((states[0][name] == states[1][name]).all() for name in states[0])
    losses = [[row["train/loss"] for row in rows(one.folder)] for one in (plain, averaged)]
    assert losses[0] == losses[1]
    first, second = ([row["val/loss"] for row in rows(one.folder)] for one in (plain, averaged))
    assert first[:2] == second[:2] and first[2:] != second[2:]


def test_its_schedule(write, normed):
    result = run(write(normed + SCHEDULE, normed=NORMED), quiet=True)
    rates = [row["lr"] for row in rows(result.folder)]
    assert rates[0] == pytest.approx(0.1) and rates[-1] == pytest.approx(0.2)


def test_what_does_not_fit(write, normed, capsys):
    assert main(["check", write(normed, normed=NORMED), "--set", "ema.decay=0.9"]) == 2
    assert "swa: [swa] cannot stand beside [ema]" in capsys.readouterr().err
    limited = normed.replace("epochs = 5", 'max_time = "1h"')
    assert main(["train", write(limited, normed=NORMED)]) == 2
    assert "swa.start must be a number of epochs" in capsys.readouterr().err
