"""`tinynet new`: a project to start from."""

import os
import shlex
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from tinynet.train import latest_run
from tinynet.train.base.files import read_rows
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.cli import main
from tinynet.train.commands.training import FILES

ROOT = Path(__file__).parents[3]


def run_as_printed(line, folder):
    """Run a printed command in a shell, as a user would paste it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        line, shell=True, cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def start(monkeypatch, tmp_path):
    """The folder of a user, whose path has a space; commands are printed for this Python."""
    folder = tmp_path / "the user's folder"
    folder.mkdir()
    monkeypatch.setenv("TINYNET_COMMAND", f"{shlex.quote(sys.executable)} -m tinynet")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["project", "my first project", "a/b", "größer"])
def test_the_printed_command_trains(name, start, capsys):
    assert main(["new", name]) == 0
    wrote, train = capsys.readouterr().out.splitlines()
    assert wrote == f"wrote config.toml, data.py, model.py, metric.py and README.md to {name}"
    ran = run_as_printed(train.removeprefix("train it: ") + " --set run.epochs=2", start)
    assert ran.returncode == 0, ran.stderr
    assert not ran.stderr
    rows = read_rows(RunFolder(latest_run(start / "runs")).metrics)
    assert {"test/accuracy", "test/confidence"} <= rows[-1].keys()
    assert latest_run(start / "runs").parent.name == Path(name).name


def test_a_project_learns_and_its_readme_is_right(start, capsys):
    assert main(["new", "project"]) == 0
    os.chdir("project")
    readme = Path("README.md").read_text(encoding="utf-8")
    begun = f"{os.environ['TINYNET_COMMAND']} "
    lines = [
        line.removeprefix(f"    {begun}")
        for line in readme.splitlines()
        if line.startswith(f"    {begun}")
    ]
    assert len(lines) == 5
    for line in lines[:-1]:  # the last starts TensorBoard
        words = line.partition("  ")[0].split()
        assert main(words) == 0, words
    out = capsys.readouterr().out
    assert "no problems found; nothing was written" in out
    assert read_rows(RunFolder(latest_run()).metrics)[-1]["test/accuracy"] > 0.9
    assert "0: class " in out or "0: " in out
    for command in ("explain optimizer.lr", "list optimizer"):
        assert f"`{begun}{command}`" in readme
        assert main(command.split()) == 0


def test_a_project_is_started_by_the_script_that_made_it(start, monkeypatch):
    Path("run.py").touch()
    monkeypatch.setenv("TINYNET_COMMAND", "python3 run.py")
    assert main(["new", "my project"]) == 0
    readme = Path("my project", "README.md").read_text(encoding="utf-8")
    assert "    python3 ../run.py train config.toml " in readme
    config = tomllib.loads(Path("my project", "config.toml").read_text(encoding="utf-8"))
    assert config["run"]["name"] == "my project"


def test_the_files_are_those_of_the_package():
    """All of tinynet/ is in the wheel, so these are, too: see test_stubs_are_in_the_wheel."""
    folder = resources.files("tinynet.train") / "project"
    assert {*FILES} == {file.name for file in folder.iterdir() if file.name != "__pycache__"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["tinynet"]}


def test_nothing_is_overwritten(start, capsys):
    Path("full").mkdir()
    Path("full", "notes.txt").write_text("mine")
    assert main(["new", "full"]) == 2
    assert "full is not empty: name a new folder" in capsys.readouterr().err
    assert [file.name for file in Path("full").iterdir()] == ["notes.txt"]
    assert main(["new", "full/notes.txt"]) == 2
    assert "full/notes.txt is a file" in capsys.readouterr().err
    assert main(["new", "full/notes.txt/deeper"]) == 1
    assert "cannot be made" in capsys.readouterr().err
    Path("empty").mkdir()
    assert main(["new", "empty"]) == 0


def test_data_may_call_its_labels_classes(start, capsys):
    """They are names only if they are a list."""
    assert main(["new", "."]) == 0
    data = Path("data.py")
    data.write_text(data.read_text(encoding="utf-8").replace("self.labels", "self.classes"))
    assert main(["train", "config.toml", "run.epochs=1", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["predict", "latest", "--count", "1"]) == 0
    assert capsys.readouterr().out.startswith("0: ")
