"""Runs programs with ``mpirun``."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.patience import PATIENCE

PROGRAMS = Path(__file__).with_name("programs")
ROOT = Path(__file__).parents[3]


def mpirun():
    """The path of mpirun: that of this environment, of the one with mpi4py, or of the system."""
    found = importlib.util.find_spec("mpi4py")
    if found is None:
        return None
    own = Path(sys.prefix, "bin", "mpirun")
    beside = Path(found.origin).parents[4] / "bin" / "mpirun"
    return next((str(p) for p in (own, beside) if p.exists()), shutil.which("mpirun"))


needs_mpi = pytest.mark.skipif(
    mpirun() is None or os.name == "nt", reason="needs mpi4py and mpirun (extra mpi)"
)


def launch(program, n, *arguments, **options):
    """Start a program of ``programs/`` in ``n`` processes; return subprocess's result."""
    return start(n, str(PROGRAMS / program), *arguments, **options)


def start(n, *words, environment=None, cwd=None):
    """Run Python in ``n`` processes; return subprocess's result."""
    with begin(n, *words, environment=environment, cwd=cwd) as running:
        try:
            printed, errors = running.communicate(timeout=PATIENCE)
        except BaseException:
            running.kill()
            raise
    return subprocess.CompletedProcess(running.args, running.returncode, printed, errors)


def begin(n, *words, environment=None, cwd=None):
    """Start Python in ``n`` processes; return the process of mpirun."""
    extra = {
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    unset = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.Popen(
        [mpirun(), "-n", str(n), sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=inherited | extra | (environment or {}),
    )


def passes(program, n, *arguments, **options):
    """Run a program and compare: it ends well, and all ranks print ``passed``."""
    run = launch(program, n, *arguments, **options)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("passed") == n, run.stdout + run.stderr
    return run
