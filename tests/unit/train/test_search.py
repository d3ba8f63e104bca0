"""Searches: their spaces, what Optuna proposes, prunes and stores, and going on after a kill."""

import csv
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.libraries import needs
from tests.tools.patience import PATIENCE, wait_for
from tinynet.base.invocation import installation
from tinynet.train import run
from tinynet.train.assemble.stopping import PRUNED
from tinynet.train.base.files import locked
from tinynet.train.base.problems import Problems, TrainError, UsageError
from tinynet.train.base.terminal import brief
from tinynet.train.cli import main
from tinynet.train.run.processes import Supervised
from tinynet.train.study.run_group import outcome_of
from tinynet.train.study.search import open_search, read_results
from tinynet.train.study.study import Plan, Point, Study, dimension, probes, space_of

from .test_cli import start
from .test_sweep import KILLS, kill_while_a_run_starts

pytestmark = needs("optuna")


@pytest.fixture
def search(capsys):
    def run_search(*arguments, code=0):
        assert main(["search", *map(str, arguments)]) == code, capsys.readouterr()
        return capsys.readouterr()

    return run_search


def folder_of(out):
    return re.search(r" in (\S+)$", out.splitlines()[0])[1]


def rows_of(folder):
    """The table of a search, without the times in the names of its folders."""
    with open(f"{folder}/results.csv", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    return [row | {"folder": row["folder"].partition("/")[0]} for row in rows]


# ---- spaces ----


@pytest.mark.parametrize(
    "text, ends, grid",
    [
        ("log(1e-4,1e-1)", ("0.0001", "0.1"), None),
        ("float( 0 , 0.5 )", ("0.0", "0.5"), None),
        ("float(0,0.3,0.1)", ("0.0", "0.3"), [0, 0.1, 0.2, 0.3]),
        ("int(2,4)", ("2", "4"), [2, 3, 4]),
        ("int(2,9,3)", ("2", "9"), [2, 5, 8]),
        ("logint(1,100)", ("1", "100"), None),
        ("SGD,Adam", ("SGD", "Adam"), None),
        ("0..2", ("0", "1", "2"), None),
        ("[64, 10],[64, 32, 10]", ("[64, 10]", "[64, 32, 10]"), None),
    ],
)
def test_values(text, ends, grid):
    found = dimension(f"a.b={text}")
    assert found.key == "a.b" and found.ends == ends
    assert (found.interval and found.interval.grid) == grid


def test_all_mistakes_in_a_space():
    texts = [
        "x", "a=lgo(1,2)", "b=log(0,1)", "c=int(1.5,2)", "d=float(2,1)", "e=log(1)",
        "f=float(1,2,3)",
        "g=float(nan,1)", "h=int(0,1e400)", "i=1,log(1,2)", "run.out=a,b", "fixed=1,2", "y=1,2",
        "y=3", "evaluation.monitor=loss,f1", "j=int(0,99999999999999999999)",
    ]  # fmt: skip
    problems = Problems()
    assert [one.key for one in space_of(texts, ["fixed"], problems)] == ["y"]
    assert [f"{problem.path}: {problem.text}" for problem in problems] == [
        ": --space needs KEY=VALUE, got 'x'",
        "a: there is no lgo(); did you mean 'log'? There are: float, int, log, logint",
        "b: a logarithmic scale needs bounds above 0, got 0",
        "c: '1.5' is not an integer",
        "d: the lower bound 2 must be below 1",
        "e: must be log(LOW,HIGH), got 1 number",
        "f: the step 3 must be above 0 and fit into the bounds",
        "g: NaN is not a bound",
        "h: '1e400' is not an integer",
        "i: log(1,2) cannot be one of several values",
        "run.out: cannot be searched: use --out",
        "fixed: is given with --set, too",
        "y: is given twice",
        "evaluation.monitor: cannot be searched: it decides which trial is best; use --metric",
        "j: 99999999999999999999 is too large",
    ]


@given(st.text())
def test_any_text_is_a_dimension_or_refused(text):
    try:
        found = dimension(f"a={text}")
    except ValueError:
        return
    assert found.ends and all(point.name for point in probes([found]))


def test_names_of_folders_are_short():
    point = Point(7, {"optimizer.lr": "0.0012345678901234", "run.seed": "12345678901"}, ("a",))
    assert brief(point.values["optimizer.lr"]) == "0.001235"
    assert brief(point.values["run.seed"]) == "12345678901"


# ---- studies ----

SPACE = ("a=log(1e-3,1)", "b=int(1,9)", "c=x,y")


def plan(space=SPACE, **others):
    own = {"metric": "m", "higher_is_better": True, "trials": 20, **others}
    return Plan(tuple(map(dimension, space)), **own)


def figure_of(point, epoch):
    return float(point.values["a"]) * epoch


def explore(path, plan, count, *, epochs, killed=()):
    """The trials of a study, each with its status; within some it is opened as after a kill."""
    study = Study(path, plan)
    for number in range(count):
        point = study.ask()
        status = "finished"
        for epoch in range(1, epochs + 1):
            if number in killed and epoch == epochs:
                study = Study(path, plan)
                (again,) = study.unfinished()
                assert again == point
            if study.report(point.number, epoch, figure_of(point, epoch)):
                status = "pruned"
                break
        study.tell(point.number, status, figure_of(point, epochs))
    return [(trial.point.values, trial.status, trial.figures) for trial in study.trials()]


@pytest.mark.parametrize(
    "sampler, pruner, count, epochs",
    [("tpe", "none", 13, 1), ("random", "median", 8, 2), ("random", "hyperband", 6, 3)],
)
def test_a_search_repeats_even_if_it_is_killed(sampler, pruner, count, epochs, tmp_path, capfd):
    own = plan(sampler=sampler, pruner=pruner, epochs=epochs)
    whole = explore(tmp_path / "a ?#%.sqlite3", own, count, epochs=epochs)
    killed = explore(tmp_path / "b.sqlite3", own, count, killed=range(0, count, 3), epochs=epochs)
    assert killed == whole
    statuses = {"finished"} if pruner == "none" else {"finished", "pruned"}
    assert {status for _, status, _ in whole} == statuses
    other = replace(own, seed=1)
    assert explore(tmp_path / "c.sqlite3", other, 1, epochs=epochs) != whole[:1]
    assert capfd.readouterr() == ("", "")  # Optuna's log


def test_a_grid_has_each_point_once(tmp_path):
    own = plan(["a=1,2", "b=int(1,5,2)", "c=x,y"], sampler="grid", pruner="none")
    found = explore(tmp_path / "a.sqlite3", own, 12, epochs=1)
    assert len({tuple(values.items()) for values, *_ in found}) == 12
    assert {values["b"] for values, *_ in found} == {"1", "3", "5"}


def test_a_trial_that_was_killed_while_it_began(tmp_path):
    path = tmp_path / "a.sqlite3"
    study = Study(path, plan())
    first = study.ask()
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM trial_params WHERE param_name != 'a'")
    database.close()
    (again,) = Study(path, plan()).unfinished()
    assert again.number == 0 and again.values["a"] == first.values["a"]
    assert again.values.keys() == first.values.keys()


def test_importances(tmp_path):
    path, own = tmp_path / "a.sqlite3", plan(sampler="random", pruner="none")
    explore(path, own, 4, epochs=1)
    assert Study(path, own).importances() == {}
    explore(path, own, 12, epochs=1)
    shares = Study(path, own).importances()
    assert shares.keys() == {"a", "b", "c"} and sum(shares.values()) == pytest.approx(1)
    assert next(iter(shares)) == "a"


def test_a_failed_trial_keeps_its_message(tmp_path):
    study = Study(tmp_path / "a.sqlite3", plan())
    study.tell(study.ask().number, "failed", None, "the loss is nan")
    (trial,) = study.trials()
    assert (trial.status, trial.message) == ("failed", "the loss is nan")


def test_a_damaged_study(tmp_path):
    path = tmp_path / "a.sqlite3"
    path.write_bytes(b"garbage" * 1000)
    with pytest.raises(TrainError, match="a.sqlite3 cannot be used: file is not a database"):
        Study(path, plan())


# ---- runs that are supervised ----


def supervised():
    """A callback, and the ends of its pipes: to read its reports, and to answer."""
    (answers, ours), (theirs, reports) = os.pipe(), os.pipe()
    return Supervised(answers, reports), open(theirs, "rb"), open(ours, "wb", buffering=0)


def test_a_pruned_run_ends_cleanly(write, digits, capsys, reports):
    callback, epochs, answers = supervised()

    def answer():
        for reason in "", PRUNED:
            said.append(json.loads(epochs.readline()))
            answers.write(json.dumps(reason).encode() + b"\n")

    said = []
    thread = threading.Thread(target=answer)
    thread.start()
    result = run(write(digits), {"run.epochs": 9}, callbacks=[callback], quiet=True)
    thread.join()
    assert [report["epoch"] for report in said] == [1, 2]
    assert said[-1]["figures"] == result.validation
    record = json.loads((result.folder / "run.json").read_text())
    assert (record["status"], record["stopped_by"]) == ("finished", "pruned")
    assert main(["explain", str(result.folder)]) == 0
    assert ": pruned by the search: other trials were better" in capsys.readouterr().out
    assert "pruned by the search" in (result.folder / "report.html").read_text()
    assert "Supervised" not in (result.folder / "config.toml").read_text()
    for pipe in (epochs, answers):
        pipe.close()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_run_whose_search_is_killed_saves_and_ends(write, digits):
    callback, reports, answers = supervised()

    def answer():
        reports.readline()
        answers.close()

    thread = threading.Thread(target=answer)
    thread.start()
    result = run(write(digits), {"run.epochs": 10**6}, callbacks=[callback], quiet=True)
    thread.join()
    assert not result.is_complete and result.stopped_by == signal.SIGTERM
    assert (result.folder / "checkpoint.npz").exists()
    reports.close()


# ---- searches ----

FEW = "--space", "optimizer.lr=log(1e-3,1)", "model.sizes=[64,8,10],[64,16,10]"


@pytest.mark.parametrize(
    "seeds, finished, failed", [("0", 2, 1), pytest.param("0..1", 4, 2, marks=pytest.mark.slow)]
)
def test_a_search(write, digits, reports, search, capsys, seeds, finished, failed):
    failing = "optimizer.lr=0.05,0.2,1e38"
    count = finished + failed
    out, err = search(
        write(digits), "--space", failing, f"seed={seeds}", "--sampler", "grid",
        "--pruner", "none", "--jobs", 2,
    )  # fmt: skip
    first = f"{count} trials for the highest validation accuracy (grid, pruner none)"
    assert err == "" and out.startswith(first)
    folder = folder_of(out)
    assert out.count("FAILED, exit code 1: the loss is ") == failed
    assert f"\n{finished} finished, {failed} failed\nbest: trial " in out
    rows = rows_of(folder)
    assert [row["status"] for row in rows] == ["finished"] * finished + ["failed"] * failed
    accuracies = [row["validation accuracy"] for row in rows[:finished]]
    assert accuracies == sorted(accuracies, reverse=True)

    evaluate, again = re.findall(r"^  (?:evaluate it|train it again): +tinynet (.*)$", out, re.M)
    best = re.search(r"best: .*, (validation accuracy \d\S+ %)", out)[1]
    assert main([*shlex.split(evaluate), "--set", "validation"]) == 0
    assert best in capsys.readouterr().out
    assert main([*shlex.split(evaluate), "--json"]) == 0  # on the test set
    found = json.loads(capsys.readouterr().out)
    record = json.loads(Path(found["checkpoint"]).with_name("run.json").read_text())
    assert found["test"] == record["test_best"]
    assert main([*shlex.split(again), "--quiet"]) == 0

    page = Path(folder, "report.html").read_text()
    titles = ["Best run", "Search", "Importance of the values", "Runs", "Failed trials"]
    assert re.findall("<h2>(.*?)</h2>", page)[:5] == titles
    assert f"{count} trials: {finished} finished, {failed} failed. Sampler grid with seed 0" in page
    assert "cannot be shown" not in page and "Fewer than 5 trials finished" in page
    os.remove(f"{folder}/report.html")
    assert main(["report", folder]) == 0
    assert Path(folder, "report.html").read_text() == page
    assert optuna_tools_read(f"{folder}/study.sqlite3") == count


def optuna_tools_read(path):
    with sqlite3.connect(path) as database:
        count = database.execute("SELECT count(*) FROM trials").fetchone()[0]
    database.close()
    return count


def test_a_search_is_extended(write, digits, search):
    own = "--trials", 1, "--metric", "loss", "--set", "run.epochs=1", "run.report=false"
    out, _ = search(write(digits), *FEW, *own)
    assert out.startswith("1 trial for the lowest validation loss (tpe, pruner median)")
    assert "report: " not in out and "--set run.epochs=1 run.report=false evaluation.monitor" in out
    more, _ = search("--resume", folder_of(out), "--trials", 3, "--jobs", 2, "--json")
    said = [json.loads(line) for line in more.splitlines()]
    assert sorted(one["trial"] for one in said) == [1, 2]
    assert {one["status"] for one in said} <= {"finished", "pruned"}
    figures = [
        float(row["validation loss"])
        for row in rows_of(folder_of(out))
        if row["status"] == "finished"
    ]
    assert figures == sorted(figures) and len(rows_of(folder_of(out))) == 3
    assert open_search(Path(folder_of(out))).plan.trials == 3


HOLD = """
import time
from pathlib import Path


class Hold:
    def on_epoch_end(self, at):
        is_second = [*Path("killed").glob("*/*/001*")]
        while at.epoch == 2 and is_second and Path("hold").exists():
            time.sleep(0.01)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_killed_search_goes_on_as_if_nothing_had_happened(write, digits, search, tmp_path):
    """The runs of a search that gets SIGKILL end by themselves, with checkpoints."""
    config = digits.replace("[run]", '[run]\ncallbacks = ["./hold.py:Hold"]')
    own = [write(config, hold=HOLD), *FEW, "--trials", "2", "--pruner", "none"]
    own += ["--set", "run.epochs=3", "run.report=false"]
    whole, _ = search(*own, "--out", "whole")
    hold = tmp_path / "hold"
    hold.touch()
    program = start("search", *own, "--out", "killed", cwd=tmp_path)
    folder = folder_of(program.stdout.readline())
    wait_for(program, lambda: [*(tmp_path / folder).glob("001*/*/checkpoint.npz")])
    program.kill()
    hold.unlink()
    program.communicate(timeout=PATIENCE)
    state = open_search(Path(folder))
    assert [trial.status for trial in state.study().trials()] == ["finished", "running"]
    search("--resume", folder)
    assert rows_of(folder) == rows_of(folder_of(whole))
    trials = state.study().trials()
    assert [one.status for one in trials] == ["finished"] * 2
    assert all([*one.figures] == [1, 2, 3] for one in trials)
    runs = [*Path(folder).glob("*/*/run.json")]
    assert len(runs) == 2  # none began anew
    resumed = [run for run in runs if "resumed" in json.loads(run.read_text())]
    assert [run.parent.parent.name[:3] for run in resumed] == ["001"]


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c(write, digits, search, tmp_path, capsys):
    own = "run.epochs=1000000", "run.report=false"
    arguments = write(digits), *FEW, "--jobs", "2", "--trials", "5", "--set", *own
    program = start("search", *arguments, cwd=tmp_path, start_new_session=True)
    folder = folder_of(program.stdout.readline())
    wait_for(program, lambda: len([*(tmp_path / folder).glob("*/*/checkpoint.npz")]) == 2)
    assert main(["search", "--resume", folder]) == 2
    assert f"another process is training in {folder}" in capsys.readouterr().err
    os.killpg(program.pid, signal.SIGINT)
    out, err = program.communicate(timeout=PATIENCE)
    assert program.returncode == 130 and err == ""
    line, again = out.splitlines()
    assert line == "5 of 5 trials are not finished; to resume:"
    assert again.endswith(f"tinynet search --resume {folder}")
    state = open_search(tmp_path / folder)
    begun = state.study().unfinished()
    assert [outcome_of(state.runs, point).status for point in begun] == ["interrupted"] * 2
    for run_folder in Path(folder).glob("*/*/run.json"):
        with locked(run_folder.parent):  # nothing is left behind
            pass


@pytest.mark.sampled(6)  # test_sweep.py has others
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("whom, number", KILLS)
def test_a_trial_that_is_killed_while_it_starts_has_not_failed(
    write, digits, search, tmp_path, whom, number
):
    own = "--trials", "1", "--set", "epochs=1", "run.report=false"
    arguments = ["search", write(digits), *FEW, *own]
    folder, out = kill_while_a_run_starts(tmp_path, arguments, whom, number)
    assert (f"INTERRUPTED, killed by {number.name}: see " in out) == (whom == "run")
    trials = open_search(folder).study().trials()
    assert [trial.status for trial in trials] == ["running"]
    out, _ = search("--resume", folder.relative_to(tmp_path))
    assert "\n1 finished\n" in out


DIES = """
    import os, signal, sys
    from tinynet.train.models import mlp

    def dies(descriptor, content):
        write(descriptor, content[: len(content) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    if sys.argv[1:2] == ["train"]:  # the run, and not its search
        write, os.write = os.write, dies
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_trial_that_is_killed_while_it_reports_an_evaluation(write, digits, search, tmp_path):
    path = write(digits.replace('"mlp"', '"./net.py:mlp"'), net=DIES)
    own = "--space", "optimizer.lr=log(1e-3,1)", "--trials", 1, "--set", "run.report=false"
    out, err = search(path, *own, code=1)
    assert "INTERRUPTED, killed by SIGKILL" in out and err == ""
    out, _ = search("--resume", folder_of(out))
    assert "\n1 finished\n" in out


def test_what_cannot_be_searched(write, digits, capsys, tmp_path):
    path = write(digits)
    lr = "--space", "optimizer.lr=log(1e-3,1)"
    for arguments, message in [
        (
            [path, "--space", "optimizer.lrr=log(1,2)", "run.epochs=flota(1,2)"],
            "2 mistakes; nothing",
        ),
        ([path, "--space", "optimizer.lrr=log(1,2)"], "unknown key; did you mean 'lr'"),
        ([path, "--space", "optimizer.lr=-1,1"], "optimizer.lr"),
        ([path, "--space", "model.sizes=[64,8,10],[63,8,10]"], "with model.sizes=[63,8,10]: "),
        ([path, *lr, "--sampler", "grid"], "log(1e-3,1) is not a grid: list the values"),
        ([path, "--space", "run.seed=int(0,99999)", "--sampler", "grid"], "has 100,000 points"),
        ([path, *lr, "--metric", "acuracy"], "did you mean 'accuracy'"),
        ([path, *lr, "--metric", "f1"], "'f1' is not among the metrics: loss, accuracy"),
        ([path], "nothing to search"),
        ([], "CONFIG is missing"),
        ([path, *lr, "--jobs", "0"], "--jobs must be at least 1"),
        ([path, *lr, "--trials", "0"], "--trials must be at least 1"),
        (["--resume", "x"], "is not the folder of a search"),
        (["--resume", "x", *lr, "--seed", "1"], "cannot be combined with --seed, --space"),
    ]:
        assert main(["search", *arguments]) == 2
        out, err = capsys.readouterr()
        assert message in err and out == "", err
    assert os.listdir(tmp_path) == [path]


def test_a_config_that_has_changed(write, digits, search, capsys):
    path = write(digits)
    own = "--trials", 1, "--set", "run.epochs=1", "run.report=false"
    folder = folder_of(search(path, *FEW, *own)[0])
    write(digits.replace("momentum = 0.9", "momentum = 0.8"))
    assert main(["search", "--resume", folder]) == 2
    assert "has changed since the search began" in capsys.readouterr().err


def test_runs_without_a_best_evaluation(write, capsys):
    path = write((Path(__file__).parents[3] / "configs/digits_gan.toml").read_text())
    space = "--space", "optimizer.generator.lr=log(1e-4,1e-2)"
    assert main(["search", path, *space]) == 2
    assert "use --metric, with one of loss_discriminator, " in capsys.readouterr().err


def test_without_optuna(write, digits, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert main(["search", write(digits), *FEW]) == 2
    assert capsys.readouterr().err == f"a search needs Optuna: {installation('search')}\n"


def test_optuna_is_imported_only_by_a_search():
    code = "import sys, tinynet.train.cli; print('optuna' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_results_that_cannot_be_read(tmp_path):
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(UsageError, match="results.json cannot be read"):
        read_results(tmp_path)
