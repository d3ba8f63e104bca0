"""Without MPI: asking for it says what to install, and everything else works."""

import os
import subprocess
import sys

import pytest

from tests.unit.distributed.launching import ROOT

# As if mpi4py were not installed, or had no MPI library.
WITHOUT = {
    "mpi4py is not installed": "sys.modules['mpi4py'] = None",
    "mpi4py finds no MPI library": "os.environ['MPI4PY_LIBMPI'] = '/no/such/library.so'",
}
PREPARED = """
import importlib.util, os, sys
{}
found = importlib.util.find_spec
def find(name, *rest):
    return None if sys.modules.get(name, 0) is None else found(name, *rest)
importlib.util.find_spec = find
"""
PROGRAM = """
import tinynet as tn, tinynet.distributed as dist
assert not dist.is_initialized()
net = tn.nn.DataParallel(tn.nn.Linear(2, 1))
net(tn.ones(3, 2)).sum().backward()
print("available", dist.is_available())
dist.init_process_group("mpi")
"""
COMMAND = "import tinynet.train.cli as c\nsys.exit(c.main(['train', {config!r}, *{words!r}]))"


def python(text, **environment):
    return subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


@pytest.mark.parametrize("problem", WITHOUT)
def test_asking_for_it_says_what_to_install(problem):
    if "library" in problem:
        pytest.importorskip("mpi4py")
    ended = python(PREPARED.format(WITHOUT[problem]) + PROGRAM)
    assert ended.returncode == 1
    assert f"available {'library' in problem}" in ended.stdout
    last = ended.stderr.splitlines()[-1]
    assert last.startswith(f"RuntimeError: tinynet.distributed runs on MPI, and {problem}")
    assert "pip install mpi4py mpich" in last


def test_training_under_mpirun_says_what_to_install(tmp_path):
    config = str(ROOT / "configs" / "digits_mlp.toml")
    words = ["run.epochs=1", f"run.out={str(tmp_path)!r}", "run.report=false"]
    program = PREPARED.format(WITHOUT["mpi4py is not installed"])
    program += COMMAND.format(config=config, words=words)
    ended = python(program, PMI_SIZE="2")
    assert ended.returncode == 2
    assert "pip install mpi4py mpich" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []
    ended = python(program)
    assert ended.returncode == 0, ended.stderr
