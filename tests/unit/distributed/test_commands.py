"""Commands other than train and resume under mpirun."""

import csv
import re

import pytest

from tests.unit.distributed.launching import needs_mpi, start
from tinynet.train import run

pytestmark = needs_mpi

CONFIG = """
run = {epochs = 1, report = false}
data = {type = "Digits"}
model = {type = "mlp", sizes = [64, 8, 10]}
loss = {type = "CrossEntropyLoss"}
optimizer = {type = "Adam", lr = 0.01}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "digits.toml").write_text(CONFIG)
    return tmp_path


def tinynet(folder, n, *words):
    return start(n, "-m", "tinynet", *words, cwd=folder)


def test_a_sweep_hands_its_runs_to_the_other_processes(folder):
    values = ["--set", "optimizer.lr=0.01,1e30,0.001", "--executor", "mpi"]
    ended = tinynet(folder, 3, "sweep", "digits.toml", *values)
    assert ended.returncode == 1
    assert ended.stdout.count("3 runs in ") == 1
    assert ended.stdout.count("FAILED, exit code 1: ") == 1
    (results,) = folder.glob("runs/digits/*/results.csv")
    rows = list(csv.DictReader(results.read_text().splitlines()))
    assert [row["status"] for row in rows] == ["finished", "finished", "failed"]
    alone = run(folder / "digits.toml", {"optimizer.lr": 0.01}, out=folder / "alone", quiet=True)
    figure = alone.validation["accuracy"]
    assert float(rows[0]["validation accuracy"]) == pytest.approx(figure, rel=1e-4)


def test_a_sweep_without_processes_for_its_runs_is_refused(folder):
    sweep = ["sweep", "digits.toml", "--set", "optimizer.lr=0.1,0.01"]
    ended = tinynet(folder, 2, *sweep)
    assert ended.returncode == 2
    assert ended.stderr.count("mpirun has started 2 processes: add --executor mpi") == 1
    ended = tinynet(folder, 1, *sweep, "--executor", "mpi")
    assert ended.returncode == 2
    assert "start it with mpirun -n 4 tinynet sweep" in ended.stderr
    ended = tinynet(folder, 2, *sweep[:3], "optimizer.lr=-1,0.01", "--executor", "mpi")
    assert ended.returncode == 2
    assert ended.stderr.count("optimizer.lr: must not be negative") == 1
    assert not (folder / "runs").exists()


def test_other_commands_run_once(folder):
    trained = run(folder / "digits.toml", out=folder / "runs", quiet=True)
    ended = tinynet(folder, 2, "eval", str(trained.folder))
    assert ended.returncode == 0
    (accuracy,) = re.findall(r"accuracy ([\d.]+) %", ended.stdout)
    assert float(accuracy) == pytest.approx(100 * trained.metrics["accuracy"], abs=0.005)
    ended = tinynet(folder, 2, "trian")
    assert ended.returncode == 2
    assert ended.stderr.count("did you mean 'train'?") == 1
