"""A program for torchrun runs under mpirun, after a change of its imports."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from tests.unit.distributed.launching import ROOT, needs_mpi, start

SCRIPT = ROOT / "tests" / "unit" / "distributed" / "scripts" / "multi_process.py"
# Of PyTorch 2.13.0 with gloo, in two processes; see the test with torchrun.
LOSSES = [1.1116, 1.0876, 1.0736, 1.0378]
KEYS = (
    "module.conv.weight module.conv.bias module.norm.weight module.norm.bias "
    "module.norm.running_mean module.norm.running_var module.norm.num_batches_tracked "
    "module.fc1.weight module.fc1.bias module.fc2.weight module.fc2.bias"
)


def check(printed):
    losses = [float(loss) for loss in re.findall(r"epoch \d loss ([\d.]+)", printed)]
    assert losses == pytest.approx(LOSSES, abs=2e-3)
    assert KEYS in printed
    assert "[[0.0, 0.0], [7.0, 7.0]]" in printed


def ported(tmp_path):
    text = SCRIPT.read_text()
    text = text.replace("import torch\n", "import tinynet as torch\n")
    text = re.sub(r"^(import|from) torch\b", r"\1 tinynet", text, flags=re.M)
    (tmp_path / "ported.py").write_text(text)
    return "ported.py"


@needs_mpi
def test_imports_changed(tmp_path):
    words = [ported(tmp_path), "4", "2", "snapshot.pt"]
    ended = start(2, *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    check(ended.stdout)
    words[1] = "6"  # from the snapshot after three epochs
    ended = start(2, *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert sorted(re.findall(r"\[(\d)\] Resuming training from snapshot", ended.stdout)) == [
        "0",
        "1",
    ]


@needs_mpi
def test_unchanged_through_the_import_hook(tmp_path):
    words = ["-m", "tinynet.as_torch", str(SCRIPT), "4", "2", "snapshot.pt"]
    ended = start(2, *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    check(ended.stdout)


@pytest.mark.oracle
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
def test_torchrun_prints_the_same(tmp_path):
    launcher = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "29719"]
    ended = subprocess.run(
        [sys.executable, *launcher, str(SCRIPT), "4", "2", "snapshot.pt"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
    )
    assert ended.returncode == 0, ended.stderr
    check(ended.stdout)
