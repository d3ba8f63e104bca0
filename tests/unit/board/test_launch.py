"""TensorBoard started from Python and shown in notebooks."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.tools.patience import PATIENCE
from tinynet.board import SummaryWriter, launch
from tinynet.utils.tensorboard import notebook

ROOT = Path(__file__).parents[3]
SLOW_LOADER = ["--load_fast", "false"]  # the fast one is a program of its own, not always there


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """A folder for temporary files of our own, so that nobody else's TensorBoard is seen."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / ".tensorboard-info"


@pytest.fixture
def run(tmp_path):
    with SummaryWriter(tmp_path / "runs" / "one") as writer:
        writer.add_scalar("loss", 0.5, 3)
    return tmp_path / "runs"


def get(address):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(address, timeout=PATIENCE) as answer:
        return json.loads(answer.read())


def loss(address):
    ((_, step, value),) = get(f"{address}data/plugin/scalars/scalars?run=one&tag=loss")
    return step, value


def test_launch_runs_until_it_is_interrupted(run):
    pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")
    code = (
        "import sys; from tinynet.board import launch;"
        f"sys.exit(launch(sys.argv[1], port=0, host='127.0.0.1', extra={SLOW_LOADER}))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(run)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            address = re.search(r"http://127\.0\.0\.1:\d+/", line)
            if address:
                break
        assert address, "".join(said)
        assert loss(address.group()) == (3, 0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    with pytest.raises(urllib.error.URLError):
        loss(address.group())


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        launch(tmp_path / "nothing")
    monkeypatch.setattr(notebook.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install tensorboard"):
        launch(tmp_path)
    with pytest.raises(ImportError, match="pip install tensorboard"):
        notebook.start("--logdir runs")


# TensorBoard does not wait for the process that it starts.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_notebook_starts_finds_and_lists(run, notes, capsys):
    manager = pytest.importorskip("tensorboard.manager", reason="needs TensorBoard")
    notebook.list()
    assert capsys.readouterr().out == "No known TensorBoard instances running.\n"
    with pytest.raises(ValueError, match="no known instances running"):
        notebook.display()
    arguments = f"--logdir {run} --port 0 --host 127.0.0.1 {' '.join(SLOW_LOADER)}  # ours"
    notebook.start(arguments)
    (started,) = manager.get_all()
    try:
        port = started.port
        address = f"Please visit http://localhost:{port} in a web browser.\n"
        assert capsys.readouterr().out == f"Launching TensorBoard...\n{address}"
        assert loss(f"http://127.0.0.1:{port}/") == (3, 0.5)
        notebook.start(arguments)
        assert manager.get_all() == [started]
        assert f"Reusing TensorBoard on port {port} (pid {started.pid})" in capsys.readouterr().out
        notebook.list()
        assert f"  - port {port}: logdir {run} (started 0:00:" in capsys.readouterr().out
        notebook.display(port)
        assert capsys.readouterr().out.endswith(address)
    finally:
        os.kill(started.pid, signal.SIGKILL)
    said, end = "", time.monotonic() + 30
    assert (notes / f"pid-{started.pid}.info").exists()  # TensorBoard takes it for a running one
    while "No known TensorBoard" not in said and time.monotonic() < end:
        notebook.list()
        said = capsys.readouterr().out
    assert said == "No known TensorBoard instances running.\n"


def test_a_tensorboard_that_does_not_start_says_why(notes, capsys):
    pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")
    notebook.start("--no_such_flag")
    said = capsys.readouterr().out
    assert "Failed to launch TensorBoard" in said and "--no_such_flag" in said


def test_processes_of_others_are_alive(notes):
    pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")
    notes.mkdir()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    names = [f"pid-{pid}.info" for pid in (1, os.getpid(), dead.pid)] + ["pid-none.info"]
    for name in names:
        (notes / name).write_text("not JSON")
    notebook.list()
    names.remove(f"pid-{dead.pid}.info")
    assert sorted(path.name for path in notes.iterdir()) == sorted(names)
