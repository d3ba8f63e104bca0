"""Sweeps: their points, what they leave behind, failures, going on."""

import csv
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from tests.tools.patience import PATIENCE, wait_for
from tests.unit.board.test_dashboards import Api
from tests.unit.board.test_tensorboard import server
from tinynet.train.cli import main
from tinynet.train.study.run_group import Outcome, log_hparams, outcome_of
from tinynet.train.study.search import open_sweep
from tinynet.train.study.study import MOST, Point, axis, points

from .test_cli import start


@pytest.fixture
def sweep(capsys):
    def run_sweep(*arguments, code=0):
        assert main(["sweep", *map(str, arguments)]) == code
        return capsys.readouterr()

    return run_sweep


def folder_of(out):
    return re.search(r"runs in (\S+)$", out.splitlines()[0])[1]


# ---- points ----


@pytest.mark.parametrize(
    "text, values",
    [
        ("1e-3,1e-2", ["1e-3", "1e-2"]),
        ("0..2", ["0", "1", "2"]),
        ("-1..1,5", ["-1", "0", "1", "5"]),
        ("[1,2],[3]", ["[1,2]", "[3]"]),
        ('"a,b",c', ['"a,b"', "c"]),
        ("'],',x", ["'],'", "x"]),
        ("{a=[1,2]}", ["{a=[1,2]}"]),
        ("1,1", ["1"]),
        ("1..", ["1.."]),
        ("", [""]),
    ],
)
def test_values(text, values):
    assert axis(f"a.b={text}").values == tuple(values)


@pytest.mark.parametrize(
    "assignments, message",
    [
        (["a"], "--set needs KEY=VALUE, got 'a'"),
        (["=1"], "--set needs KEY=VALUE, got '=1'"),
        (["a=3..1"], "the range 3..1 in 'a=3..1' is empty, or too long"),
        (["a=0..99999999"], "is empty, or too long"),
        (["a=1", "a=2"], "a is given twice"),
        (["a=0..999", "b=0..999"], "these are 1,000,000 runs"),
    ],
)
def test_points_that_are_refused(assignments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        points([axis(one) for one in assignments])


def test_constants_are_not_in_the_names():
    found = points([axis("run.epochs=2"), axis("x.lr=1,2"), axis("a.b=c/d,e")])
    assert [point.name for point in found][:2] == ["000_lr=1,b=c_d", "001_lr=1,b=e"]
    assert found[0].assignments == ["run.epochs=2", "x.lr=1", "a.b=c/d"]


@given(st.text())
def test_any_text_is_an_axis_or_refused(text):
    try:
        found = axis(text)
    except ValueError:
        return
    assert 1 <= len(found.values) <= MOST
    (first, *_) = points([found])
    assert "/" not in first.name and len(first.name) <= 100


# ---- sweeps ----


def test_a_sweep_with_a_failure(write, digits, reports, sweep, tmp_path):
    path = write(digits)
    out, err = sweep(
        path, "--set", "optimizer.lr=0.1,1e38", "seed=0..1", "epochs=1", "--jobs", 2, code=1
    )
    assert err == ""
    folder = folder_of(out)
    reports = [line for line in out.splitlines() if line.startswith("[")]
    assert sorted(line[:5] for line in reports) == ["[1/4]", "[2/4]", "[3/4]", "[4/4]"]
    failed = [line for line in reports if "FAILED, exit code 1: the " in line]
    assert len(failed) == 2 and all("lr=1e38" in line for line in failed)

    with open(f"{folder}/results.csv", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    assert [row["status"] for row in rows] == ["finished"] * 2 + ["failed"] * 2
    assert float(rows[0]["validation accuracy"]) >= float(rows[1]["validation accuracy"]) > 0.5
    assert {row["seed"] for row in rows[:2]} == {"0", "1"}
    run = json.loads((tmp_path / folder / rows[0]["folder"] / "run.json").read_text())
    for name in ("validation", "test"):
        found = float(rows[0][f"{name} accuracy"])
        assert run[name]["accuracy"] == pytest.approx(found, abs=1e-4)
    assert re.search(r"^0\.1 +0\.\d+ ± ", out, re.M)  # over the seeds
    pages = f"table: {folder}/results.csv\nreport: {folder}/report.html\n"
    assert f"{pages}view it: tinynet board {folder}\n" in out
    assert out.endswith(f"  tinynet sweep --resume {folder}\n") and not Path(folder).is_absolute()

    before = sorted(os.listdir(tmp_path / folder))
    finished = (tmp_path / folder / rows[0]["folder"] / "checkpoint.npz").stat().st_mtime_ns
    again, _ = sweep("--resume", folder, "--json", code=1)
    again = [json.loads(line) for line in again.splitlines()]
    assert [run["status"] for run in again] == ["failed"] * 2
    assert all(run["folder"].startswith(f"{folder}/") for run in again)
    assert sorted(os.listdir(tmp_path / folder)) == before
    assert (tmp_path / folder / rows[0]["folder"] / "checkpoint.npz").stat().st_mtime_ns == finished


def test_tensorboard_shows_the_hyperparameters(write, digits, sweep, tmp_path):
    out, _ = sweep(write(digits), "optimizer.lr=0.1,0.2", "epochs=1", "data.shuffle=true")
    folder = tmp_path / folder_of(out)
    runs = [*folder.glob("*/*/run.json")]
    assert len(runs) == 2
    for record in runs:
        events = EventAccumulator(str(record.parent)).Reload()
        for name, short in (("validation", "val"), ("test", "test")):
            accuracy = events.Scalars(f"hparam/{short}_accuracy")[0].value
            assert accuracy == pytest.approx(json.loads(record.read_text())[name]["accuracy"])
        plugins = events.SummaryMetadata("_hparams_/session_start_info")
        data = HParamsPluginData.FromString(plugins.plugin_data.content)
        values = data.session_start_info.hparams
        assert values["optimizer.lr"].number_value in (0.1, 0.2)
        assert values["data.shuffle"].bool_value is True


def test_sweeps_and_searches_in_a_folder_keep_all_columns(tmp_path):
    values = {
        "a/000": ("finished", {"optimizer.lr": "0.1", "run.seed": "1"}),
        "b/000": ("finished", {"model.dropout": "0.5", "optimizer.type": "Adam"}),
        "b/001": ("pruned", {"model.dropout": "0.9", "optimizer.type": "SGD"}),
    }
    for number, (folder, (status, point)) in enumerate(values.items()):
        best = {"epoch": 2, "accuracy": 0.9}
        figures = {"accuracy": 0.5, "loss": "nan"}
        path = str(tmp_path / folder)
        log_hparams(Outcome(Point(number, point, ()), status, figures, best, path))
    with server(tmp_path) as address:
        found = Api(address)("hparams/experiment", post={"experimentName": ""})
        columns = {info["name"] for info in found["hparamInfos"]}
        assert columns == {"status"}.union(*(point for _, point in values.values()))
        metrics = {info["name"]["tag"] for info in found["metricInfos"]}
        assert metrics == {
            *("hparam/test_accuracy", "hparam/best_test_accuracy", "hparam/best_test_epoch")
        }
        asked = {"experimentName": "", "startIndex": 0, "sliceSize": 10}
        asked["allowedStatuses"] = ["STATUS_SUCCESS"]
        asked["colParams"] = [{"metric": info["name"]} for info in found["metricInfos"]]
        groups = Api(address)("hparams/session_groups", post=asked)["sessionGroups"]
    assert {group["name"]: group["hparams"]["status"] for group in groups} == {
        folder: status for folder, (status, _) in values.items()
    }
    tags = {value["name"]["tag"]: value["value"] for value in groups[0]["metricValues"]}
    assert tags["hparam/best_test_accuracy"] == pytest.approx(0.9)


def test_what_cannot_be_swept(write, digits, capsys, tmp_path):
    path = write(digits)
    for arguments, message in [
        ([path, "--set", "optimizer.lrr=1,2"], "optimizer.lrr: unknown key; did you mean 'lr'"),
        ([path, "--set", "seed=1,x"], "run.seed: must be an integer, got the string 'x'"),
        ([path], "nothing to sweep"),
        ([], "CONFIG is missing"),
        ([path, "seed=3..1"], "is empty, or too long"),
        ([path, "run.out=a,b"], "run.out cannot be swept"),
        ([path, "seed=1,2", "--jobs", "0"], "--jobs must be at least 1"),
        (["--resume", "x"], "is not the folder of a sweep"),
        (["--resume", "x", "seed=1"], "--resume FOLDER cannot be combined with CONFIG or --set"),
        (["none.toml", "seed=1,2"], "cannot be read"),
    ]:
        assert main(["sweep", *arguments]) == 2
        out, err = capsys.readouterr()
        assert message in err and out == ""
    assert os.listdir(tmp_path) == [path]


def test_each_mistake_is_told_once(write, digits, capsys):
    assert main(["sweep", write(digits.replace("momentum", "momentun")), "seed=0..9"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "1 mistake; nothing was written."


def test_a_config_that_has_changed_is_not_gone_on_with(write, digits, sweep, capsys):
    path = write(digits)
    out, _ = sweep(path, "seed=0,1", "epochs=1")
    write("# a comment changes nothing\n" + digits)
    sweep("--resume", folder_of(out))
    write(digits.replace("0.1", "0.2"))
    assert main(["sweep", "--resume", folder_of(out)]) == 2
    assert "has changed since the sweep began" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_signal_ends_a_sweep_and_it_goes_on_later(write, digits, sweep, tmp_path):
    path = write(digits)
    program = start("sweep", path, "seed=0,1", "epochs=1000000", "--jobs", "2", cwd=tmp_path)
    folder = folder_of(program.stdout.readline())
    wait_for(program, lambda: len([*(tmp_path / folder).glob("*/*/checkpoint.npz")]) == 2)
    program.send_signal(signal.SIGTERM)
    out, err = program.communicate(timeout=PATIENCE)
    assert program.returncode == 143, (out, err)
    assert out.count("INTERRUPTED") == 2
    state = open_sweep(tmp_path / folder)
    assert [outcome_of(state.runs, point).status for point in state.points] == ["interrupted"] * 2
    running = subprocess.run(["ps", "-ef"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in running  # nothing is left behind


KILLS = [
    ("all", signal.SIGINT),
    ("parent", signal.SIGINT),
    ("parent", signal.SIGTERM),
    ("run", signal.SIGTERM),
    ("run", signal.SIGKILL),
    ("run", signal.SIGSEGV),
]
"""Who gets which signal while a run starts."""


def kill_while_a_run_starts(folder, arguments, whom, number, seconds=0.1):
    """Start a sweep or a search, and send a signal that long after its first run began to start.

    Returns:
        The folder of the sweep or search, and what was printed.
    """
    program = start(*arguments, cwd=folder, start_new_session=True)
    first = program.stdout.readline()
    found = folder / first.split()[-1]
    wait_for(program, lambda: [*found.glob("000*.log")])
    time.sleep(seconds)
    if whom == "run":
        listed = ["ps", "-o", "pid=", "--ppid", str(program.pid)]
        (child,) = subprocess.run(listed, capture_output=True, text=True).stdout.split()
        os.kill(int(child), number)
    elif whom == "parent":
        program.send_signal(number)
    else:
        os.killpg(program.pid, number)
    out, err = program.communicate(timeout=PATIENCE)
    assert err == "" and "FAILED" not in out
    assert program.returncode == (1 if whom == "run" else 128 + number)
    return found, out


@pytest.mark.sampled(3)
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("whom, number", KILLS)
def test_a_run_that_is_killed_while_it_starts_has_not_failed(
    write, digits, sweep, tmp_path, whom, number
):
    own = ["sweep", write(digits), "seed=0,1", "epochs=1", "run.report=false"]
    folder, out = kill_while_a_run_starts(tmp_path, own, whom, number)
    line = re.search(r"^\[1/2\] run.seed=0: (.*)$", out, re.M)[1]
    log = next(folder.glob("000*.log")).relative_to(tmp_path)
    reason = f", killed by {number.name}: see {log}" if whom == "run" else ""
    assert line == f"INTERRUPTED{reason}"
    out, _ = sweep("--resume", folder.relative_to(tmp_path))
    assert "2 runs are not" not in out and out.count("finished") == 2


def test_a_sweep_of_one_value_is_named_after_it():
    (point,) = points([axis("optimizer.lr=0.1"), axis("run.seed=3")])
    assert point.name == "000_lr=0.1,seed=3"
    assert point.varying == ("optimizer.lr", "run.seed")
