"""``run.compile = "llvm"``: a run whose steps become native, and its resumption to the bit."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.capture.interpreted import interpret
from tinynet.capture import native
from tinynet.kernels.native import compiler
from tinynet.train import ConfigError, load_config, resume, run

from .test_method import GAN_CONFIG
from .test_resume import ALL, all_of, killed

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.usefixtures("fast_captures")

NATIVE = {"run.compile": "llvm", "run.epochs": 2, "run.save_every_steps": 4}


@pytest.fixture
def digits(digits):
    """A small model: its native code runs as Python."""
    return digits.replace("[64, 16, 10]", "[64, 4, 10]")


@pytest.fixture(autouse=True)
def compilations(monkeypatch):
    """Compilations that end after a number of questions, of functions that run as Python."""
    interpret(monkeypatch)

    class Compilation:
        takes = 5

        def __init__(self, work):
            self.left = self.takes

        def is_done(self, wait=False):
            self.left -= 1
            return wait or self.left <= 0

    monkeypatch.setattr(native.beside, "Compilation", Compilation)
    return Compilation


def same(one, other):
    first, second = all_of(one), all_of(other)
    assert [key for key in first if first[key] != second[key]] == []
    assert first.keys() == second.keys()


def record_of(result):
    return json.loads((Path(result.folder) / "run.json").read_text())["compiled"]


def test_a_run_becomes_native_and_says_when(write, digits):
    result = run(write(digits), NATIVE, quiet=True)
    assert result.compiled["native_from"][0] == 5 and result.compiled["eager"] == 0
    assert record_of(result) == result.compiled
    plain = run(write(digits), {**NATIVE, "run.compile": True}, quiet=True)
    assert "native_from" not in plain.compiled


def test_its_notes_repeat_it(write, digits, compilations):
    first = run(write(digits), NATIVE, quiet=True)
    compilations.takes = 10**6
    notes = {"run.native_from": first.compiled["native_from"]}
    same(first.folder, run(write(digits), {**NATIVE, **notes}, quiet=True).folder)
    never = run(write(digits), NATIVE, quiet=True)
    assert {*never.compiled["native_from"]} == {0}
    exact = run(write(digits), {**NATIVE, "run.compile": False}, quiet=True)
    assert exact.metrics == never.metrics


@pytest.mark.sampled(2)
@pytest.mark.parametrize("steps, sections", [(9, ""), (30, ""), (23, ALL)])
def test_a_killed_run_ends_as_if_it_had_not(steps, sections, write, digits, dies):
    path = write(digits + sections)
    whole = run(path, NATIVE, quiet=True)
    folder = killed(path, NATIVE, dies, steps, "killed")
    again = resume(folder, quiet=True)
    same(whole.folder, folder)
    assert again.compiled["native_from"] == whole.compiled["native_from"]
    assert again.compiled["eager"] == 0


def test_several_compiled_parts_of_a_step(write, dies):
    path, extra = write(GAN_CONFIG), {**NATIVE, "run.epochs": 2}
    whole = run(path, extra, quiet=True)
    folder = killed(path, extra, dies, 12, "killed")
    resume(folder, quiet=True)
    same(whole.folder, folder)


def test_a_run_may_go_on_otherwise(write, digits, dies):
    path = write(digits)
    folder = killed(path, NATIVE, dies, 14, "killed")
    again = resume(folder, {"run.compile": False}, quiet=True)
    assert again.compiled is None
    folder = killed(path, {**NATIVE, "run.compile": True}, dies, 14, "other")
    assert resume(folder, {"run.compile": "llvm"}, quiet=True).compiled["native_from"][0] == 5


def test_where_llvm_is_missing(write, digits, monkeypatch):
    monkeypatch.setattr(compiler, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="run.compile: must be true or false: llvmlite is not"):
        load_config(write(digits), ["run.compile=llvm"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_processes_that_are_killed_while_native_code_is_compiled(seed, write, digits, tmp_path):
    """A run that was killed five times has the bits of one that follows its notes."""
    path = write(digits)
    chance = random.Random(seed)
    smaller = {**NATIVE, "run.epochs": 6, "run.save_every_steps": 5, "data.batch_size": 8}
    started = ["train", str(path), *(f"--set={key}={value}" for key, value in smaller.items())]

    def process(*arguments):
        command = [sys.executable, "-m", "tinynet", *arguments]
        cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **cache})

    out = tmp_path / "killed"
    for kills_left in range(5, -1, -1):
        runs = [file.parent for file in out.glob("*/*/config.toml")]
        one = process(*(["resume", str(runs[0])] if runs else [*started, f"--out={out}"]))
        try:
            one.wait(chance.uniform(2, 9) if kills_left else None)
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()
        else:
            assert one.returncode == 0
    (folder,) = (file.parent for file in out.glob("*/*/config.toml"))
    notes = json.loads((folder / "run.json").read_text())["compiled"]["native_from"]
    again = process(*started, f"--set=run.native_from={notes}", f"--out={tmp_path / 'again'}")
    assert again.wait() == 0
    (repeated,) = (file.parent for file in (tmp_path / "again").glob("*/*/config.toml"))
    same(folder, repeated)
