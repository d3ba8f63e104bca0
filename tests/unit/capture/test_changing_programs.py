"""Random programs in which everything that a function can reach changes between its calls.

They run eagerly and compiled, and everything that can be seen is compared. Verification is off:
the guards are tested. ``python -m tests.unit.capture.changing`` runs other seeds.
"""

import functools
import random

import pytest

import tinynet as tn
from tinynet.capture.native import fusion
from tinynet.kernels.llvm import machine, store

from .changing import __main__ as changing
from .changing.__main__ import backend
from .changing.catalogue import EVERY, Place
from .changing.language import CALL, Program, random_program
from .changing.lockstep import Way, restored, run, shrunken

QUICK, FULL = 20, 5000
SEED = 20261128


def check(seed, compile):
    """Fail with the smallest program that shows the same difference; return the calls."""
    program = random_program(seed)
    found, calls = run(program, compile)
    if found is not None:
        small = shrunken(program, compile, found)
        found, _ = run(small, compile)
        raise AssertionError(f"seed {seed}: {found}\n\n{small.text()}")
    return calls


def run_programs(name, number):
    """Run programs; return the number of those that were replayed."""
    compile = functools.partial(tn.compile, backend=name, verify=0)
    with backend(name):
        return sum(check(SEED + i, compile).replayed > 0 for i in range(number))


@pytest.mark.parametrize("name", ["numpy", "llvm"])
def test_some_programs(name):
    if name == "llvm":
        pytest.importorskip("llvmlite")
    assert run_programs(name, QUICK) > QUICK / 2


def test_some_programs_in_machine_code(monkeypatch):
    """Even single calls are native functions, and these are compiled."""
    pytest.importorskip("llvmlite")
    compiled, compile = [], machine.machine_code
    monkeypatch.setattr(machine, "machine_code", lambda text: compiled.append(1) or compile(text))
    monkeypatch.setattr(store, "folder", lambda: None)
    monkeypatch.setattr(fusion, "LEAST", 1)
    monkeypatch.setattr(changing, "interpret", lambda patch: None)
    run_programs("llvm", QUICK // 2)
    assert len(compiled) > QUICK // 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["numpy", "llvm"])
def test_many_programs(name, capsys):
    replayed = run_programs(name, FULL)
    with capsys.disabled():
        print(f"\n{FULL} programs from seed {SEED}, {name}: {replayed} replayed")


@pytest.mark.parametrize("world", EVERY, ids=lambda world: world.name)
def test_each_way_to_read_a_world_works(world):
    """A read that always fails would test nothing."""
    arguments = "x1 = tn.arange(6.0).view(2, 3) - 2\na1 = tn.ones(2, 3)\ni1 = tn.tensor([0, 1])"
    for number in range(len(world.reads)):
        place = Place(world, 1, random.Random(0))
        read = place.reads()[number]
        program = Program("function", (place.setup,), (read,), "y", (arguments, CALL), ())
        way = Way(lambda f: f)
        with restored():
            way.run(program, "changing program")
        errors = [value for _, what, value in way.log if "error" in what]
        assert not errors, f"{read}: {errors}"
