"""``run.llvm`` and ``run.threads``: how a run computes, and no trace of that after it."""

import json

import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet.kernels import threads
from tinynet.kernels.native import compiler
from tinynet.train import ConfigError, evaluate_run, load_config, resume, run

needs_llvm = pytest.mark.skipif(not compiler.is_available(), reason="needs llvmlite")


def weights(model):
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


@needs_llvm
def test_a_run_with_llvm(write, digits):
    config, asked = write(digits), {"run.llvm": True}
    results = [run(config, asked, quiet=True) for _ in range(2)]
    assert weights(results[0].model) == weights(results[1].model)
    assert not tn.backends.llvm.enabled
    record = json.loads((results[0].folder / "run.json").read_text())
    assert record["versions"]["llvm"] == tn.backends.llvm.version()
    assert evaluate_run(results[0].folder, quiet=True).metrics == results[0].metrics
    plain = run(config, quiet=True)
    roundings = 2 * 46 * 2 * (64 + 16 + 10 + 64)  # sums of layers and batch in all steps
    assert plain.metrics["loss"] == near(results[0].metrics["loss"], roundings)


@needs_llvm
def test_a_resumed_run_uses_it_too(write, digits):
    config = write(digits)
    whole = run(config, {"run.llvm": True, "run.epochs": 3}, quiet=True)
    begun = run(config, {"run.llvm": True, "run.epochs": 2}, quiet=True)
    again = resume(begun.folder, {"run.epochs": 3}, quiet=True)
    assert weights(again.model) == weights(whole.model)
    assert not tn.backends.llvm.enabled


def test_where_it_is_missing(write, digits, monkeypatch):
    monkeypatch.setattr(compiler, "is_available", lambda: False)
    with pytest.raises(
        ConfigError, match="run.llvm: must be false: llvmlite is not installed: .* -m pip"
    ):
        load_config(write(digits), ["run.llvm=true"])


def test_the_number_of_threads(write, digits):
    config, before = write(digits), threads.get_count()
    results = [run(config, {"run.threads": count}, quiet=True) for count in (1, 3)]
    assert weights(results[0].model) == weights(results[1].model)
    assert threads.get_count() == before
    counts = [json.loads((r.folder / "run.json").read_text())["threads"] for r in results]
    assert counts == [1, 3]
    resume(results[1].folder, {"run.epochs": 3}, quiet=True)
    assert json.loads((results[1].folder / "run.json").read_text())["threads"] == 3
    assert run(config, quiet=True).config.run.threads == "auto"


def test_a_busy_machine_is_mentioned(write, digits, monkeypatch, capsys):
    for name in threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads.sharing, "_pool", threads.sharing._Pool())
    monkeypatch.setattr(threads.processors, "usable", lambda: 4)
    monkeypatch.setattr(threads.processors, "free", lambda: 2)
    run(write(digits))
    assert "other programs are using processors: 2 threads of 4" in capsys.readouterr().out
    run(write(digits), {"run.threads": 2})
    assert "other programs" not in capsys.readouterr().out


@pytest.mark.parametrize("threads", [0, -1, 2000, "many", True, 1.5])
def test_a_wrong_number_of_threads(write, digits, threads):
    with pytest.raises(ConfigError, match="run.threads"):
        load_config(write(digits), {"run.threads": threads})
