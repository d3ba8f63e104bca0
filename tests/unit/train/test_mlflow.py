"""Runs in MLflow, read back with MLflow's own client from a real database."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tools.libraries import Library, needs
from tinynet.train import TrackerWarning, resume, run
from tinynet.train.trackers import MLflow, Point, TrackedRun, tracking

from .conftest import Killed
from .test_trackers import assert_same_curve, curves, tracked

mlflow = Library("mlflow")
pytestmark = [
    needs("mlflow", "mlflow-skinny"),
    needs("sqlalchemy"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in MLflow and SQLAlchemy
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # MLflow keeps its connections
]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(tracking, "_PAUSE", 0.01)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory):
    """A new database, whose tables MLflow creates in some seconds."""
    folder = tmp_path_factory.mktemp("mlflow")
    MLflow(folder).begin(TrackedRun("none", "none"))
    return folder / "mlflow.db"


@pytest.fixture
def store(empty_database, tmp_path):
    """The folder of a database that has its tables."""
    folder = tmp_path / "runs" / "mlflow"
    folder.mkdir(parents=True)
    shutil.copy(empty_database, folder)
    return folder


def client(store):
    uri = f"sqlite:///{store}/mlflow.db"
    return mlflow.MlflowClient(tracking_uri=uri, registry_uri=uri)


def the_run(store, experiment="digits"):
    """The only run of an experiment, with the histories of its metrics as {name: [(x, value)]}."""
    reader = client(store)
    (found,) = reader.search_runs([reader.get_experiment_by_name(experiment).experiment_id])
    histories = {
        name: [(m.step, m.value) for m in reader.get_metric_history(found.info.run_id, name)]
        for name in found.data.metrics
    }
    return found, histories


def test_a_run(digits, write, store, reports):
    result = run(write(tracked(digits, '"MLflow"', report="true")), quiet=True)
    found, histories = the_run(store)
    assert (found.info.status, found.info.run_name) == ("FINISHED", result.folder.name)
    params, tags = found.data.params, found.data.tags
    assert (params["optimizer.lr"], params["model.sizes"]) == ("0.1", "[64, 16, 10]")
    assert tags["tinynet.version"] and tags["tinynet.run_folder"] == str(result.folder.absolute())
    in_tensorboard = curves(result.folder)
    assert histories.keys() == in_tensorboard.keys()
    for name, curve in in_tensorboard.items():
        assert_same_curve(dict(histories[name]), curve, name)
        assert len(histories[name]) == len(curve)
    listed = client(store).list_artifacts(found.info.run_id)
    assert [file.path for file in listed] == ["best.npz", "config.toml", "report.html"]
    stored = next((store / "artifacts").glob("*/artifacts/report.html"))
    assert stored.read_bytes() == result.folder.joinpath("report.html").read_bytes()
    assert not Path("mlruns").exists()


def test_a_git_commit(tmp_path, store, write, digits):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    path = write(tracked(digits, '"MLflow"', epochs=1))
    for words in (["init", "-q"], ["add", path], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, cwd=tmp_path)
    run(path, quiet=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    tags = the_run(store)[0].data.tags
    assert tags["mlflow.source.git.commit"] == tags["tinynet.git.commit"] == head.stdout.strip()
    assert tags["tinynet.git.dirty"] == "false"


def test_a_killed_run_goes_on_without_doubled_points(digits, write, store, dies, monkeypatch):
    path = write(tracked(digits, '"MLflow"'))
    undo = dies(30)
    with monkeypatch.context() as patch:  # a killed process does not end its run
        patch.setattr(MLflow, "end", lambda self, status, files: None)
        with pytest.raises(Killed):
            run(path, {"run.save_every_steps": 25}, quiet=True)
    undo()
    first, histories = the_run(store)
    assert first.info.status == "RUNNING" and len(histories["train/loss"]) == 30
    (folder,) = Path("runs/digits").iterdir()
    resume(folder, quiet=True)  # from step 25 on
    again, histories = the_run(store)
    assert (again.info.run_id, again.info.status) == (first.info.run_id, "FINISHED")
    for name, curve in curves(folder).items():
        assert_same_curve(dict(histories[name]), curve, name)
        assert len(histories[name]) == len(curve), f"{name} is doubled"


def test_changed_values_become_tags(digits, write, store):
    result = run(write(tracked(digits, '"MLflow"', epochs=1)), quiet=True)
    resume(result.folder, {"run.epochs": 2, "optimizer.lr": 0.2}, quiet=True)
    found, histories = the_run(store)
    params, tags = found.data.params, found.data.tags
    assert (params["run.epochs"], tags["changed.run.epochs"]) == ("1", "1 -> 2")
    assert tags["changed.optimizer.lr"] == "0.1 -> 0.2"
    assert [value for _, value in histories["epoch/lr"]] == [0.1, 0.2]


def test_failed_and_interrupted_runs(store):
    for status, expected in [("failed", "FAILED"), ("interrupted", "KILLED")]:
        tracker = MLflow(store)
        tracker.begin(TrackedRun("a", status))
        tracker.end(status, [])
        assert the_run(store, status)[0].info.status == expected


def test_the_limits_of_mlflow(store):
    layers = {f"layer.{n}.*": "x" * 10_000 for n in range(150)}
    tracker = MLflow(store, experiment="mine")
    config = {"optimizer": {"layer_lr": layers, "k" * 300: 1}, "é": "ü"}
    identity = tracker.begin(TrackedRun("a", "b", config=config, about={"run_folder": "y" * 9000}))
    values = {"train/a+b": 0.5, "nan": float("nan"), "inf": float("inf")}
    points = [Point(step, 1, values, step) for step in range(700)]
    for _ in range(2):  # the second time as after an error
        tracker.log(points)
    found, histories = the_run(store, "mine")
    params = found.data.params
    assert len(params) == 152 and params["é"] == "ü" and params[f"optimizer.{'k' * 240}"] == "1"
    assert params["optimizer.layer_lr.layer.7._"] == "x" * 6000
    assert len(found.data.tags["tinynet.run_folder"]) == 8000
    assert len(histories["train/a_b"]) == len(histories["nan"]) == len(histories["inf"]) == 700
    # As after a resume: what is there already is not stored again, whatever it is.
    again = MLflow(store, experiment="mine")
    assert again.begin(TrackedRun("a", "b", id=identity, first_step=690)) == identity
    again.log([Point(step, 1, values, 1000.0 + step) for step in range(690, 702)])
    _, histories = the_run(store, "mine")
    assert len(histories["train/a_b"]) == len(histories["nan"]) == len(histories["inf"]) == 702


def test_a_run_that_is_gone_begins_anew(store):
    first = MLflow(store).begin(TrackedRun("a", "b"))
    client(store).delete_run(first)
    client(store).delete_experiment(client(store).get_experiment_by_name("b").experiment_id)
    assert MLflow(store).begin(TrackedRun("a", "b", id=first)) != first
    assert MLflow(store).begin(TrackedRun("a", "b", id="0" * 32)) != first


def test_a_server_that_is_down_only_warns(digits, write, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    path = write(tracked(digits, '{type = "MLflow", uri = "http://127.0.0.1:9"}', epochs=1))
    with pytest.warns(TrackerWarning, match=r"run.trackers.0 \(MLflow\) fails. MlflowException"):
        assert run(path, quiet=True).is_complete


@pytest.mark.slow
def test_a_real_kill(digits, write, store, tmp_path):
    stop = """
        import os, time

        class Stop:
            def on_step_end(self, at):
                if at.step == 40 and "WAITS" in os.environ:
                    time.sleep(99)
    """
    keys = 'save_every_steps = 25\ncallbacks = ["./stop.py:Stop"]\n[data]'
    text = tracked(digits, '"MLflow"', '"Wandb"').replace("[data]", keys)
    path = write(text, stop=stop)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3]), "WAITS": ""}
    words = [sys.executable, "-m", "tinynet", "train", path]
    with subprocess.Popen(words, cwd=tmp_path, env=environment) as process:
        while count_of(store) < 40:
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    (folder,) = Path("runs/digits").iterdir()
    resume(folder, quiet=True)
    _, histories = the_run(store)
    assert [x for x, _ in histories["train/loss"]] == [*range(46)]
    first, second = Path("runs/wandb").glob("offline-run-*")  # DATE-ID
    assert first.name.rpartition("-")[2] == second.name.rpartition("-")[2]


def count_of(store):
    """The number of losses in a database that a run writes to."""
    with sqlite3.connect(store / "mlflow.db", timeout=30) as database:
        return database.execute("select count(*) from metrics where key = 'train/loss'").fetchone()[
            0
        ]
