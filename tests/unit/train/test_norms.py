"""The norms of gradients and weights in the log."""

import math

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn, optim
from tinynet.board.storage import read_events
from tinynet.train import resume, run
from tinynet.train.run.measures import Norms
from tinynet.train.step.task import Updater

from .test_limits import rows
from .test_resume import killed, same

LOG = "\n[log]\nnorms = true\n"


def curves(folder):
    """The curves of the norms, per step."""
    return {
        tag: [value for _, value in sorted(curve.items())]
        for tag, curve in read_events(folder).scalars.items()
        if tag.startswith("train/") and "norm" in tag
    }


def test_the_norms_are_those_before_the_step_and_before_clipping():
    w = nn.Parameter(tn.tensor([3.0, 4.0]))
    w.grad = tn.tensor([6.0, 8.0])
    norms = Norms()
    Updater(optim.SGD([w], lr=1.0), clip_norm=1.0, before=norms.see).step()
    assert (norms.grad, norms.weight) == (10.0, 5.0)
    assert w.tolist() == near([2.4, 3.2], scale=10)


def test_each_step_and_the_mean_of_an_epoch(write, digits, whole_run):
    result = run(write(digits + LOG), {"run.epochs": 1}, quiet=True)
    (row,) = rows(result.folder)
    steps = curves(result.folder)
    assert {len(curve) for curve in steps.values()} == {23}
    sizes = [57] * 22 + [36]
    for name in ("grad_norm", "weight_norm"):
        mean = np.average(steps[f"train/{name}"], weights=sizes)
        assert row[f"train/{name}"] == near(mean, 2 * len(sizes))
    plain = whole_run(digits, "run.epochs=1")
    assert [row[key] for key in ("train/loss", "val/loss")] == [
        rows(plain.folder)[0][key] for key in ("train/loss", "val/loss")
    ]


def test_the_norm_of_all_weights(write, digits):
    given = {"run.max_steps": 1, "run.epochs": 0}
    result = run(write(digits + LOG), given, quiet=True)
    first = run("digits.toml", {**given, "optimizer.lr": 0.0}, quiet=True)
    squares = sum(
        (p.detach().numpy().astype(np.float64) ** 2).sum() for p in first.model.parameters()
    )
    assert rows(result.folder)[0]["train/weight_norm"] == near(math.sqrt(squares))
    before = first.model.state_dict()
    moved = result.model.state_dict()
    change = sum(((before[n] - moved[n]).numpy().astype(np.float64) ** 2).sum() for n in before)
    step = 0.1 * rows(result.folder)[0]["train/grad_norm"]  # of SGD without velocity
    assert step == near(math.sqrt(change), scale=math.sqrt(squares))


@pytest.mark.parametrize("given", [["run.compile=true"], ["optimizer.accumulate=4"]])
def test_compiled_and_accumulated(write, digits, whole_run, given):
    result = run(write(digits + LOG), given, quiet=True)
    plain = whole_run(digits + LOG, *[one for one in given if "compile" not in one])
    assert rows(result.folder) == rows(plain.folder)
    assert curves(result.folder) == curves(plain.folder)


def test_a_killed_run_ends_as_if_it_had_not(write, digits, tmp_path, whole_run, dies):
    given = ["run.save_every_steps=5"]
    folder = killed(write(digits + LOG), given, dies, 33, tmp_path / "runs")
    resume(folder, quiet=True)
    same(folder, whole_run(digits + LOG, *given).folder)


def test_each_of_several_optimizers(write, digits):
    config = digits.replace("[optimizer]", "[optimizer.1]") + LOG
    config += '\n[optimizer.3]\ntype = "Adam"\nlr = 0.01\n'
    result = run(write(config), {"run.epochs": 1}, quiet=True)
    names = {f"train/{kind}_norm_{name}" for kind in ("grad", "weight") for name in "13"}
    assert names == curves(result.folder).keys()
    assert all(rows(result.folder)[0][name] > 0 for name in names)
