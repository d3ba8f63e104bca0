"""``run.numba``: a run with the kernels that numba compiles, and no trace of them after it."""

import json

import pytest

import tinynet as tn
from tests.rounding import near
from tinynet.numba_kernels import compiler
from tinynet.train import ConfigError, evaluate_run, load_config, resume, run

needs_numba = pytest.mark.skipif(not compiler.is_available(), reason="needs numba")


def weights(model):
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


@needs_numba
def test_a_run_with_numba(write, digits):
    config, asked = write(digits), {"run.numba": True}
    results = [run(config, asked, quiet=True) for _ in range(2)]
    assert weights(results[0].model) == weights(results[1].model)
    assert not tn.backends.numba.enabled
    record = json.loads((results[0].folder / "run.json").read_text())
    assert record["versions"]["numba"] == tn.backends.numba.version()
    assert evaluate_run(results[0].folder, quiet=True).metrics == results[0].metrics
    plain = run(config, quiet=True)
    roundings = 2 * 46 * 2 * (64 + 16 + 10 + 64)  # sums of layers and batch in all steps
    assert plain.metrics["loss"] == near(results[0].metrics["loss"], roundings)


@needs_numba
def test_a_resumed_run_uses_it_too(write, digits):
    config = write(digits)
    whole = run(config, {"run.numba": True, "run.epochs": 3}, quiet=True)
    begun = run(config, {"run.numba": True, "run.epochs": 2}, quiet=True)
    again = resume(begun.folder, {"run.epochs": 3}, quiet=True)
    assert weights(again.model) == weights(whole.model)
    assert not tn.backends.numba.enabled


def test_where_it_is_missing(write, digits, monkeypatch):
    monkeypatch.setattr(compiler, "is_available", lambda: False)
    with pytest.raises(
        ConfigError, match="run.numba: must be false: numba is not installed: .* -m pip"
    ):
        load_config(write(digits), ["run.numba=true"])
