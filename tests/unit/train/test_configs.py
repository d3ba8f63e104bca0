"""The configs and examples that are shipped: each says how it is started, and runs."""

import os
from pathlib import Path

import pytest

import tinynet as tn
from tinynet import data
from tinynet.train import ConfigError, load_run, run

from .shipped import CONFIGS, ROOT, SHORT, accuracy

SEEDS_OF_DIGITS_MLP = range(10)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_it_says_how_it_is_started_and_what_to_expect(path):
    text = path.read_text(encoding="utf-8")
    comment = text[: text.index("\n\n")]
    assert f"\n#   tinynet train {path.relative_to(ROOT).as_posix()}\n" in comment
    assert "\n# Expected: " in comment


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_it_runs(path, short_run):
    result = short_run(path.stem)
    for name, (least, most) in SHORT.get(path.name, accuracy(0.5)).figures.items():
        assert least <= result.metrics[name] <= most, name


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
