"""The programs run, and pyright accepts them where it is installed."""

import importlib.util
import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "scripts").glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_runs(path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [path.name])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_has_no_comments_for_type_checkers():
    for path in [*SCRIPTS, HERE / "revealed.py"]:
        assert "ignore" not in path.read_text().replace("ignore_index", ""), path.name


@pytest.mark.skipif(importlib.util.find_spec("basedpyright") is None, reason="no basedpyright")
def test_pyright_finds_nothing(tmp_path):
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps(
            {
                "typeCheckingMode": "basic",
                "include": [str(HERE)],
                "exclude": [str(Path(__file__))],
                "extraPaths": [str(HERE.parents[2])],
            }
        )
    )
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "-p"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
