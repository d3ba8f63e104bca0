"""Trackers: what they get, and that a run neither fails nor waits because of one."""

import json
import threading
import time
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import tinynet as tn
from tests.tools.rounding import near
from tests.unit.distributed.launching import needs_mpi
from tests.unit.distributed.launching import start as mpirun
from tinynet import nn, optim
from tinynet.base.invocation import installation
from tinynet.train import (
    Callbacks,
    ConfigError,
    StorageWarning,
    Track,
    TrackerWarning,
    evaluate_run,
    fit,
    resume,
    run,
)
from tinynet.train.cli import main
from tinynet.train.trackers import Point, TrackedRun, tracking

from .conftest import Killed

OWN = """
    import json, pathlib

    class Diary:
        '''Writes a line for each call.'''

        def __init__(self, file: str = "diary.jsonl", fails: str = "", times: int = 10**9):
            self.file = pathlib.Path(file).absolute()
            self.fails, self.times = fails, times

        def write(self, method, *content):
            if method == self.fails and self.times:
                self.times -= 1
                raise ConnectionError("the server is down")
            with open(self.file, "a") as file:
                print(json.dumps([method, *content], default=str), file=file)

        def begin(self, run):
            self.write("begin", vars(run))
            return "id-7"

        def log(self, points):
            self.write("log", [[p.step, p.epoch, dict(p.figures)] for p in points])

        def end(self, status, files):
            self.write("end", status, [file.name for file in files])

    class Short:
        '''Only has the method that a tracker needs.'''

        def log(self, points):
            with open("short.txt", "a") as file:
                print(*[point.step for point in points], file=file)

    class Mute:
        pass

    class Stop:
        def on_step_end(self, at):
            if at.step == 5:
                raise ArithmeticError("no more")
"""
DIARY = '{type = "./own.py:Diary"}'


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(tracking, "_PAUSE", 0.01)
    monkeypatch.setattr(tracking, "_RETRY", 0.01)


def tracked(config, *trackers, epochs=2, report="false"):
    keys = f"epochs = {epochs}\ntrackers = [{', '.join(trackers)}]\nreport = {report}"
    return config.replace("report = false\n", "").replace("epochs = 2", keys)


def calls(path="diary.jsonl"):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def points(found):
    """All points of the calls, as (step, epoch, figures)."""
    return [point for method, *content in found if method == "log" for point in content[0]]


def curves(folder):
    """The scalars in TensorBoard, as {name: {x: value}}."""
    events = EventAccumulator(str(folder)).Reload()
    return {
        name: {one.step: one.value for one in events.Scalars(name)}
        for name in events.Tags()["scalars"]
    }


def assert_same_curve(found, curve, name):
    """Check a curve against that in TensorBoard, which rounds to float32."""
    assert found.keys() == curve.keys(), name
    assert [found[x] for x in curve] == near([*curve.values()], 1), name


def as_curves(listed):
    found = {}
    for point in (Point(*one) for one in listed):
        for name, value in point.figures.items():
            assert point.x(name) not in found.setdefault(name, {})
            found[name][point.x(name)] = value
    return found


# ---- what they get ----


def test_a_tracker_gets_what_tensorboard_gets(digits, write, reports):
    text = tracked(digits, DIARY, '"./own.py:Short"', report="true")
    result = run(write(text, own=OWN), quiet=True)
    (begin, about), *_, (end, status, files) = calls()
    in_tensorboard, found = curves(result.folder), as_curves(points(calls()))
    assert found.keys() == in_tensorboard.keys() > {"train/loss", "lr", "epoch/val_accuracy"}
    for name, curve in in_tensorboard.items():
        assert_same_curve(found[name], curve, name)
    assert (begin, end, status) == ("begin", "end", "finished")
    assert files == ["config.toml", "best.npz", "report.html"]
    assert (about["name"], about["experiment"]) == (result.folder.name, "digits")
    assert about["out"] == str(Path("runs").absolute())
    assert about["config"]["model"]["sizes"] == [64, 16, 10]
    assert about["about"]["run_folder"] == str(result.folder.absolute())
    assert about["about"]["tinynet.version"] == tn.__version__
    assert [*map(int, Path("short.txt").read_text().split())] == [p[0] for p in points(calls())]


def test_log_every_is_that_of_tensorboard(digits, write):
    path = write(tracked(digits, DIARY, epochs=1), own=OWN)
    run(path, {"run.log_every": 10}, quiet=True)
    assert [step for step, _, figures in points(calls()) if "train/loss" in figures] == [
        0,
        10,
        20,
        22,
    ]


def test_a_failed_run_ends_as_failed(digits, write):
    path = write(tracked(digits, DIARY), own=OWN)
    with pytest.raises(ArithmeticError):
        run(path, {"run.callbacks": ["./own.py:Stop"]}, quiet=True)
    assert calls()[-1][:2] == ["end", "failed"]


def test_an_interrupted_run_goes_on_with_its_id(digits, write, dies):
    path = write(tracked(digits, DIARY), own=OWN)
    undo = dies(30)
    with pytest.raises(Killed):
        run(path, {"run.save_every_steps": 10}, quiet=True)
    undo()
    (folder,) = Path("runs/digits").iterdir()
    Path("diary.jsonl").unlink()
    resume(folder, quiet=True)
    (_, about), *_, end = calls()
    assert (about["id"], about["first_step"], end[1]) == ("id-7", 30, "finished")
    assert [step for step, _, _ in points(calls())][:2] == [30, 31]
    (folder / "trackers.json").write_text('{"ids": {}}')  # damaged: without its checksum
    Path("diary.jsonl").unlink()
    with pytest.warns(StorageWarning, match=r"trackers\.json was changed .* begins anew"):
        resume(folder, {"run.epochs": 3}, quiet=True)
    assert calls()[0][1]["id"] == ""


@pytest.mark.parametrize("kind", ["sweep", "search"])
def test_a_run_of_a_sweep_is_in_its_group(digits, write, kind):
    sweep = Path(f"runs/digits/{kind}_1")
    path = write(tracked(digits, DIARY, epochs=1), own=OWN)
    sweep.mkdir(parents=True)
    (sweep / f"{kind}.json").touch()
    run(path, {"run.out": str(sweep), "run.name": "lr=0.1"}, quiet=True)
    about = calls()[0][1]
    found = {name: about[name] for name in ("name", "experiment", "group", "out")}
    assert found.pop("out") == str(Path("runs").absolute())
    assert found == {"name": "lr=0.1", "experiment": "digits", "group": f"{kind}_1"}
    assert about["about"][kind] == f"{kind}_1"


@pytest.mark.slow
def test_all_runs_of_a_sweep_are_a_group(digits, write):
    path = write(tracked(digits, DIARY, epochs=1), own=OWN)
    assert main(["sweep", path, "--set", "optimizer.lr=0.1,0.2", "--json"]) == 0
    (sweep,) = Path("runs/digits").glob("sweep_*")
    about = [content[0] for method, *content in calls() if method == "begin"]
    assert {one["group"] for one in about} == {sweep.name}
    assert {one["experiment"] for one in about} == {"digits"}
    assert [one["name"] for one in about] == [p.name for p in sorted(sweep.glob("*lr*/"))]
    assert {one["out"] for one in about} == {str(Path("runs").absolute())}


@needs_mpi
def test_only_rank_0_tracks(digits, write, tmp_path):
    path = write(tracked(digits, DIARY, epochs=1), own=OWN)
    ended = mpirun(2, "-m", "tinynet", "train", path, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert [method for method, *_ in calls() if method != "log"] == ["begin", "end"]


# ---- failures ----


@pytest.mark.parametrize("fails", ["begin", "log", "end"])
def test_a_tracker_that_fails_only_warns(digits, write, fails):
    plain = run(write(digits), quiet=True)
    path = write(tracked(digits, f'{{type = "./own.py:Diary", fails = "{fails}"}}'), own=OWN)
    message = r"run.trackers.0 \(Diary\) fails. ConnectionError: the server is down"
    with pytest.warns(TrackerWarning, match=message) as given:
        result = run(path, quiet=True)
    assert len(given) == 1 and result.metrics == plain.metrics and result.is_complete
    lines = calls() if Path("diary.jsonl").exists() else []
    called = {"begin": [], "log": ["begin", "end"], "end": ["begin"]}
    assert [method for method, *_ in lines if method != "log"] == called[fails]


@pytest.mark.parametrize("fails", ["begin", "log"])
def test_nothing_is_missing_after_a_passing_failure(fails):
    seen = []

    class Once:
        fails_yet = True

        def call(self, name):
            if name == fails and self.fails_yet:
                self.fails_yet = False
                raise OSError("disk full")

        def begin(self, run):
            self.call("begin")

        def log(self, points):
            self.call("log")
            seen.extend(points)

    one = tracking.Tracking({"once": Once()}, TrackedRun("a", "b"))
    all_points = [Point(step, 1, {"loss": 0.5}) for step in range(1000)]
    with pytest.warns(TrackerWarning, match="once fails. OSError: disk full"):
        for point in all_points:
            one.log(point)
        while any(worker._failure is None for worker in one._workers):
            time.sleep(0.001)
        one.log(Point(1000, 1, {}))  # warns; the next attempt succeeds
        while len(seen) < 1001:
            time.sleep(0.001)
        one.end("finished")
    assert [point.step for point in seen] == [*range(1001)]


def test_a_tracker_that_hangs_does_not_hang_the_run(digits, write, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr(tracking, "_PATIENCE", 0.1)
    path = write(tracked(digits, '"./hanging.py:Hanging"'), hanging=HANGING)
    monkeypatch.setattr(threading, "released", released, raising=False)
    with pytest.warns(TrackerWarning, match="it has not stored everything within"):
        assert run(path, quiet=True).is_complete
    released.set()


HANGING = """
    import threading
    from tinynet.train import Tracker

    class Hanging(Tracker):
        def log(self, points):
            threading.released.wait()
"""


def test_points_that_wait_are_limited(monkeypatch):
    monkeypatch.setattr(tracking, "_MOST", 10)
    monkeypatch.setattr(tracking, "_PATIENCE", 5.0)
    begun, seen = threading.Event(), []

    class Slow(tracking.Tracker):
        def begin(self, run):
            begun.wait()

        def log(self, points):
            seen.extend(point.step for point in points)

    one = tracking.Tracking({"slow": Slow()})
    for step in range(25):
        one.log(Point(step, 1, {}))
    begun.set()
    with pytest.warns(
        TrackerWarning, match="slow fails. RuntimeError: it is too slow to store 15 points"
    ):
        one.end("finished")
    assert seen == [*range(15, 25)]


# ---- mistakes in configs ----


@pytest.mark.parametrize(
    "table, messages",
    [
        ('"MLFlow"', ["there is no 'MLFlow'; did you mean 'MLflow'?", "MLflow, Wandb"]),
        ('{type = "MLflow", folders = "a"}', ["unknown key; did you mean 'folder'?"]),
        ('{type = "MLflow", folder = "a", uri = "b"}', ["trackers.0.uri", "exclude each other"]),
        ('{type = "Wandb", project = "a/b"}', ["trackers.0.project", "refused its arguments"]),
        (
            '{type = "Wandb", mode = "live"}',
            ["trackers.0.mode: ", "one of 'offline', 'online'"],
        ),
        ('"./own.py:Mute"', ["must give a tracker (with a method log)"]),
        ('"./own.py:Dairy"', ["./own.py has no 'Dairy'; did you mean 'Diary'?"]),
        ("7", ["run.trackers: must be a list of types or tables, got [7]"]),
    ],
)
def test_mistakes(digits, write, table, messages):
    with pytest.raises(ConfigError) as failure:
        run(write(tracked(digits, table), own=OWN), quiet=True)
    for message in ["digits.toml:4", *messages]:
        assert message in str(failure.value)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    "table, missing", [('"MLflow"', "mlflow"), ('"MLflow"', "alembic"), ('"Wandb"', "wandb")]
)
def test_a_missing_package_is_a_mistake_of_the_config(digits, write, monkeypatch, table, missing):
    monkeypatch.setattr(tracking.util, "find_spec", lambda n: None if n == missing else _Found)
    with pytest.raises(ConfigError) as failure:
        run(write(tracked(digits, table)), quiet=True)
    name = json.loads(table)
    assert f"digits.toml:4: run.trackers.0: {name} cannot be used: {missing} is not in" in str(
        failure.value
    )
    assert installation(name.lower()) in str(failure.value)
    assert not Path("runs").exists()


class _Found:
    origin = "somewhere"


def test_a_model_is_evaluated_without_the_tracker(digits, write, monkeypatch):
    result = run(write(digits), quiet=True)
    text = (result.folder / "config.toml").read_text()
    (result.folder / "config.toml").write_text(
        text.replace("trackers = []", 'trackers = ["MLflow"]')
    )
    monkeypatch.setattr(tracking.util, "find_spec", lambda name: None)
    with pytest.warns(RuntimeWarning, match="config.toml"):
        assert evaluate_run(result.folder, quiet=True).metrics == result.metrics


def test_they_are_listed(capsys):
    assert main(["list", "tracker"]) == 0
    out = capsys.readouterr().out
    assert "MLflow([folder], uri" in out and "Wandb([folder], project" in out
    assert main(["explain", "run.trackers"]) == 0
    assert "type: MLflow, Wandb; or ./file.py:Name" in capsys.readouterr().out


# ---- in fit ----


class Memory(tracking.Tracker):
    def __init__(self):
        self.run, self.points, self.ended = None, [], []

    def begin(self, run):
        self.run = run

    def log(self, points):
        self.points += points

    def end(self, status, files):
        self.ended += [status, [path.name for path in files]]


def loop(callbacks, epochs=2):
    model, xs = nn.Linear(1, 1, bias=False), tn.ones(4, 1)
    with tn.no_grad():
        model.weight.zero_()
    sgd = optim.SGD(model.parameters(), lr=0.25)
    return fit(model, nn.MSELoss(), sgd, [(xs, 2 * xs)] * 2, epochs, callbacks=callbacks)


def test_fit(tmp_path):
    weights = tmp_path / "weights.npz"
    weights.touch()
    memory = Memory()
    track = Track([memory], "first", "lines", {"lr": 0.25}, files=[weights, tmp_path / "none"])
    callbacks = Callbacks([track])
    for step in loop(callbacks):
        if step.ends_epoch:
            callbacks.evaluated({"loss": 0.5})
            callbacks.end_epoch({"val/loss": 0.5})
    assert (memory.run.name, memory.run.experiment) == ("first", "lines")
    assert memory.run.config == {"lr": 0.25}
    found = [(p.step, p.epoch, dict(p.figures)) for p in memory.points]
    assert found[:4] == [
        (0, 1, {"train/loss": 4.0, "lr": 0.25}),
        (1, 1, {"train/loss": 1.0, "lr": 0.25}),
        (1, 1, {"val/loss": 0.5}),
        (1, 1, {"epoch/val_loss": 0.5}),
    ]
    assert len(found) == 8 and memory.ended == ["finished", ["weights.npz"]]


@pytest.mark.parametrize(
    "error, status",
    [(None, "interrupted"), (KeyboardInterrupt, "interrupted"), (OSError, "failed")],
)
def test_how_a_loop_ends(error, status):
    class Ends:
        def on_step_end(self, at):
            if error is not None:
                raise error

    memory = Memory()
    steps = loop([Track([memory]), Ends()])
    if error is None:
        next(steps)
        steps.close()  # as after `break`
    else:
        with pytest.raises(error):
            next(steps)
    assert memory.ended == [status, []]


def test_every():
    memory = Memory()
    for _ in loop([Track([memory], every=3)]):
        pass
    assert [point.step for point in memory.points] == [0, 1, 3]  # the ends of epochs, too
    with pytest.raises(ValueError, match="'every' must be >= 1. Got 0 instead."):
        Track([memory], every=0)
