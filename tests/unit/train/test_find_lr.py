"""`tinynet find-lr`: the curve, what it suggests, and what is refused."""

import json
import random
import shlex

import pytest

from tests.tools.rounding import STEPS, near
from tinynet.base.invocation import installation
from tinynet.train import find_lr, load_config
from tinynet.train.assemble.build import build
from tinynet.train.assemble.optimizers import updaters_for
from tinynet.train.base.problems import UsageError
from tinynet.train.cli import main
from tinynet.train.show import plots
from tinynet.train.study.curve import Divergence, grid, smoothed, suggestions
from tinynet.train.study.learning_rate import Rates

from .test_html_report import CONFIGS, Page

PARABOLA = """
[run]
seed = 0

[data]
type = "./ones.py:Ones"
batch_size = 4

[model]
type = "Linear"
in_features = 1
out_features = 1
bias = false

[loss]
type = "MSELoss"

[optimizer]
type = "SGD"
lr = 0.01
"""
ONES = """
import tinynet as tn

class Ones:
    def __init__(self, noise: float = 0.0):
        self.noise = noise

    def __len__(self):
        return 20

    def __getitem__(self, index):
        return tn.ones(1), tn.full((1,), 3 + self.noise * (index % 5 - 2))
"""


@pytest.fixture
def refuse(capsys):
    """Runs a command that must end with exit code 2 and write nothing; returns its message."""

    def run_command(*words):
        assert main(["find-lr", *words]) == 2
        out, err = capsys.readouterr()
        assert out == "" and "Traceback" not in err
        return err

    return run_command


# ---- the test ----


def test_a_parabola_diverges_where_it_must(write):
    """The loss (w - 3)**2 grows at each step with a rate above 1, and vanishes with 0.5."""
    found = find_lr(write(PARABOLA, ones=ONES), {"data.noise": 0.05}, lowest=1e-4)
    assert found.ended == "diverged" and found.rates[-1] > 1
    assert 0.05 < found.suggestions.minimum < 1.2
    assert found.suggestions.steepest < found.suggestions.minimum
    assert found.suggestions.tenth_of_minimum == found.suggestions.minimum / 10
    assert found.settings == [f"optimizer.lr={found.suggestion}"]
    assert (found.key, found.configured) == ("optimizer.lr", 0.01)


def test_the_losses_are_those_of_training_with_these_rates(write):
    """Each step multiplies the error by 1 - 2 * rate."""
    found = find_lr(write(PARABOLA, ones=ONES), lowest=0.01, highest=0.4, steps=12)
    assert found.ended == "range" and found.rates == grid(0.01, 0.4, 12)
    for rate, before, after in zip(found.rates, found.losses, found.losses[1:], strict=False):
        assert after == near(before * (1 - 2 * rate) ** 2, 4 * STEPS)


def test_the_same_seed_gives_the_same_curve(write, digits):
    path = write(digits)
    first = find_lr(path, steps=20)
    assert find_lr(path, {"run.compile": True}, steps=20) == first
    assert find_lr(path, ["run.seed=4"], steps=20).losses != first.losses


def test_a_run_trains_with_what_is_printed(write, digits, capsys, tmp_path):
    path = write(digits)
    words = ["--set", "optimizer.lr=7", "epochs=1", "optimizer.accumulate=2", "--steps", "60"]
    assert main(["find-lr", path, *words]) == 0
    out, err = capsys.readouterr()
    assert err == "" and [p.name for p in tmp_path.iterdir()] == [path]
    assert "steepest descent (S)" in out and "minimum (M) / 10" in out and "         +-" in out
    program, *command = shlex.split(out.splitlines()[-1])
    assert program == "tinynet" and "optimizer.accumulate=2" in command
    assert sum(word.startswith("optimizer.lr=") for word in command) == 1
    assert main(command) == 0
    assert "test accuracy" in capsys.readouterr().out


def test_for_programs(write, digits, capsys):
    assert main(["find-lr", write(digits), "--steps", "60", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["command"].endswith(f"--set optimizer.lr={found['suggestion']}")
    assert len(found["rates"]) == len(found["losses"]) == len(found["smoothed"]) <= 60
    assert found["suggestions"]["steepest"] < found["suggestions"]["minimum"]


def test_without_a_suggestion(write, digits, capsys):
    path = write(digits)
    assert main(["find-lr", path, "--max", "1e-5", "--steps", "50"]) == 1
    out = capsys.readouterr().out
    assert "There is no suggestion" in out and "Try a larger maximum" in out
    assert main(["find-lr", path, "--min", "1e30", "--max", "1e32"]) == 1
    assert "Try a smaller minimum" in capsys.readouterr().out
    assert main(["find-lr", path, "--min", "1e30", "--max", "1e32", "--json"]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert err == "" and found["ended"] == "not finite"
    assert found["suggestions"] is found["suggestion"] is found["command"] is None


def test_a_loss_that_is_not_finite_at_first_is_an_error(write, capsys):
    net = "from tinynet import nn\nclass Net(nn.Linear):\n    def forward(self, x):\n"
    net += "        return super().forward(x) * float('inf')\n"
    config = PARABOLA.replace('"Linear"', '"./net.py:Net"')
    assert main(["find-lr", write(config, ones=ONES, net=net)]) == 1
    assert "the loss is inf" in capsys.readouterr().err


# ---- rates ----


def rates_of(path, overrides, name=None):
    config = load_config(path, overrides)
    parts = build(config)
    updaters = updaters_for(config, parts.model)
    return Rates(config, updaters, name), updaters


def test_layers_keep_their_ratios(write, digits):
    own = {"optimizer.layer_lr": {"1.*": 0.01, "3.bias": 0.4}}
    rates, updaters = rates_of(write(digits), own)
    rates.set(1.0)
    groups = updaters[""].optimizer.param_groups
    assert [group["lr"] for group in groups] == pytest.approx([1.0, 0.1, 4.0])
    settings = rates.settings(0.02)
    assert settings[0] == "optimizer.lr=0.02" and len(settings) == 2
    config = load_config("digits.toml", settings)
    assert config.optimizer.layer_lr == {"1.*": 0.002, "3.bias": 0.08}


def test_one_of_several_optimizers(write, capsys, refuse):
    path = write((CONFIGS / "digits_gan.toml").read_text(encoding="utf-8"))
    assert "choose the optimizer whose rate to find: generator, disc" in refuse(path)
    assert "did you mean 'generator'?" in refuse(path, "--optimizer", "generater")
    words = [path, "--optimizer", "discriminator", "--steps", "30", "--json"]
    assert main(["find-lr", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == [f"optimizer.discriminator.lr={found['suggestion']}"]
    other, updaters = rates_of(path, {}, "generator")
    other.set(0.5)
    assert (updaters["generator"].lr, updaters["discriminator"].lr) == (0.5, 1e-3)
    both, updaters = rates_of(path, {"optimizer.discriminator.lr": 4e-3})
    both.set(0.5)
    assert (updaters["generator"].lr, updaters["discriminator"].lr) == (0.5, 2.0)
    assert both.settings(0.01) == ["optimizer.generator.lr=0.01", "optimizer.discriminator.lr=0.04"]


def test_a_schedule_that_sets_the_rate(write, digits, refuse):
    own = {"schedule.type": "OneCycleLR", "schedule.max_lr": 0.3, "schedule.per": "step"}
    path = write(digits)
    rates, updaters = rates_of(path, own)
    assert (rates.key, rates.configured) == ("schedule.max_lr", 0.3)
    rates.set(0.02)
    assert updaters[""].lr == pytest.approx(0.02)
    assert rates.settings(0.02) == ["schedule.max_lr=0.02"]
    with pytest.raises(UsageError, match="of all layers, so layer_lr has no effect"):
        rates_of(path, {**own, "optimizer.layer_lr": {"1.*": 0.01}})
    given = [f"{key}={value}" for key, value in own.items()]
    assert "each to another one" in refuse(path, *given, "schedule.max_lr=[0.3]")


# ---- what is refused ----


def test_mistakes_are_reported_at_once(write, digits, refuse, tmp_path, monkeypatch):
    path = write(digits)
    message = refuse(path, "--min", "nan", "--max", "-1", "--steps", "1", "--report", "no/lr.toml")
    for part in (
        "the lowest rate must be a finite number above 0, got nan",
        "the highest rate must be a finite number above 0, got -1",
        "the number of steps must be from 2 to 1,000,000, got 1",
        "--report no/lr.toml must end in .html",
        "--report no/lr.toml: there is no folder no",
    ):
        assert part in message
    assert "below the highest, got 1 and 1" in refuse(path, "--min", "1", "--max", "1")
    assert "2 mistakes; nothing was written." in refuse(path, "optimizer.lrr=1", "model.sizes=3")
    assert "needs a rate above 0" in refuse(path, "optimizer.lr=0")
    assert "the config has one optimizer" in refuse(path, "--optimizer", "x")
    assert "invalid float value: 'fast'" in refuse(path, "--min", "fast")
    monkeypatch.setattr(plots, "is_available", lambda: False)
    assert installation("report") in refuse(path, "--report", "lr.html")
    assert [p.name for p in tmp_path.iterdir()] == [path]


# ---- the page ----


def test_the_page(write, digits, capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install matplotlib")
    path = write(digits)
    words = ["find-lr", path, "--steps", "60", "--report", "lr.html"]
    assert main(words) == 0
    assert capsys.readouterr().out.endswith("report: lr.html\n")
    text = (tmp_path / "lr.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.titles == ["Suggestion", "Curve", "Config"]
    assert "tinynet train digits.toml --set optimizer.lr=" in page.texts["Suggestion"]
    assert "optimizer.lr" in page.texts["Curve"] and "momentum" in page.texts["Config"]
    assert not any(tag == "script" for tag, _ in page.elements)
    assert main(words) == 0
    assert (tmp_path / "lr.html").read_text(encoding="utf-8") == text


def test_the_page_of_a_test_without_a_suggestion(write, digits, tmp_path):
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install matplotlib")
    words = ["--min", "1e30", "--max", "1e32", "--report", "lr.html"]
    assert main(["find-lr", write(digits), *words]) == 1
    page = Page((tmp_path / "lr.html").read_text(encoding="utf-8"))
    assert "There is no suggestion" in page.texts["Suggestion"]


# ---- the curve ----


def test_noise_suggests_nothing():
    drawn = random.Random(0)
    for _ in range(50):
        losses = [2.3 + drawn.gauss(0, 0.1) for _ in range(100)]
        assert suggestions(grid(1e-6, 10, 100), losses, smoothed(losses, 5), 5) is None


@pytest.mark.parametrize("shift", [0.0, -100.0, 5.0])
def test_a_step_down_is_found_where_it_is(shift):
    rates = grid(1e-4, 1, 81)
    losses = [shift + (3.0 if rate < 0.0095 else 1.0) for rate in rates]
    losses[-1] = shift + 9.0
    found = suggestions(rates, losses, smoothed(losses, 4), 4)
    assert 0.007 < found.steepest < 0.013 < 0.015 < found.minimum


@pytest.mark.parametrize("level", [2.0, 0.0, -50.0])
def test_divergence(level):
    """At any level, only a rise by several times the fall is a divergence."""
    detected = Divergence()
    down = [level + 3.0 * (1 - k / 40) for k in range(40)]
    assert not any(detected.see(loss) for loss in [*down, *down[::-1]])
    assert any(detected.see(level + 3 + 10.0 * k * k) for k in range(20))
