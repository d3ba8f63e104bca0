"""The configs and examples that are shipped: each says how it is started, and runs."""

import os
from pathlib import Path

import pytest

from tinynet.train import run

ROOT = Path(__file__).parents[2]
CONFIGS = sorted([*ROOT.glob("configs/*.toml"), *ROOT.glob("examples/**/*.toml")])
SEEDS_OF_DIGITS_MLP = range(10)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_it_says_how_it_is_started_and_what_to_expect(path):
    text = path.read_text(encoding="utf-8")
    comment = text[: text.index("\n\n")]
    assert f"\n#   tinynet train {path.relative_to(ROOT).as_posix()}\n" in comment
    assert "\n# Expected: " in comment


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_it_runs(path, tmp_path):
    before = {*path.parent.iterdir()}
    result = run(path, {"run.epochs": 1}, out=tmp_path, quiet=True)
    assert result.metrics["accuracy"] > 0.5
    assert {file.name for file in {*path.parent.iterdir()} - before} <= {"__pycache__"}


def test_the_example_finds_its_files_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = os.path.relpath(ROOT / "examples" / "config_with_own_model" / "residual.toml")
    result = run(path, {"run.epochs": 1, "model.blocks": 3}, quiet=True)
    assert len(result.model.blocks) == 3


def test_digits_mlp_reaches_what_it_promises(tmp_path):
    result = run(ROOT / "configs" / "digits_mlp.toml", out=tmp_path, quiet=True)
    assert result.metrics["accuracy"] >= 0.975


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS_OF_DIGITS_MLP)
def test_digits_mlp_with_any_seed(seed, tmp_path):
    path = ROOT / "configs" / "digits_mlp.toml"
    assert run(path, {"run.seed": seed}, out=tmp_path, quiet=True).metrics["accuracy"] >= 0.975
