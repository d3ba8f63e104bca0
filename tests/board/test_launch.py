"""TensorBoard started from Python and shown in notebooks."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import types
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tinynet.board import SummaryWriter, launch, launching
from tinynet.utils.tensorboard import notebook

ROOT = Path(__file__).parents[2]
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
    with opener.open(address, timeout=30) as answer:
        return json.loads(answer.read())


def loss(address):
    ((_, step, value),) = get(f"{address}data/plugin/scalars/scalars?run=one&tag=loss")
    return step, value


def test_launch_runs_until_it_is_interrupted(run):
    pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tinynet[tensorboard]")
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
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    with pytest.raises(urllib.error.URLError):
        loss(address.group())


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        launch(tmp_path / "nothing")
    monkeypatch.setattr(launching.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install tensorboard"):
        launch(tmp_path)
    with pytest.raises(ImportError, match="pip install tensorboard"):
        notebook.start("--logdir runs")


def test_notebook_starts_finds_and_lists(run, notes, capsys, monkeypatch):
    pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tinynet[tensorboard]")
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    notebook.list()
    assert capsys.readouterr().out == "No known TensorBoard instances running.\n"
    with pytest.raises(RuntimeError, match="No TensorBoard runs. Start one"):
        notebook.display()
    arguments = f"--logdir {run} --port 0 --host 127.0.0.1 {' '.join(SLOW_LOADER)}  # ours"
    notebook.start(arguments)
    (started,) = launching.running()
    try:
        port = started.port
        assert capsys.readouterr().out == f"TensorBoard runs at http://localhost:{port}/\n"
        assert loss(f"http://127.0.0.1:{port}/") == (3, 0.5)
        notebook.start(arguments)
        assert launching.running() == [started]
        assert f"Reusing TensorBoard on port {port} (pid {started.pid})" in capsys.readouterr().out
        notebook.list()
        assert f"  - port {port}: logdir {run} (started 0:00:" in capsys.readouterr().out
    finally:
        os.kill(started.pid, signal.SIGKILL)
    end = time.monotonic() + 30
    while launching.running() and time.monotonic() < end:
        time.sleep(0.05)
    assert (notes / f"pid-{started.pid}.info").exists()  # its note is still there
    notebook.list()
    assert capsys.readouterr().out == "No known TensorBoard instances running.\n"


def test_a_tensorboard_that_does_not_start_says_why(notes):
    pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tinynet[tensorboard]")
    with pytest.raises(RuntimeError, match="it ended at once(.|\n)*--no_such_flag"):
        notebook.start("--no_such_flag")


def test_notes_that_cannot_be_read_are_passed_over(notes):
    notes.mkdir()
    (notes / "pid-1.info").write_text("not JSON")
    (notes / "pid-2.info").write_text('{"pid": 2}')
    assert launching.running() == []


def test_frame(monkeypatch, notes, capsys):
    shown = []
    one = launching.Running(os.getpid(), 6006, "runs", 0.0, "", (), "")
    monkeypatch.setattr(launching, "running", lambda: [one])
    fake = types.SimpleNamespace(
        get_ipython=lambda: object(),
        display=types.SimpleNamespace(display=shown.append, HTML=lambda text: text),
    )
    monkeypatch.setitem(sys.modules, "IPython", fake)
    notebook.display(6006, height=300)
    (html,) = shown
    assert 'height="300"' in html
    assert 'new URL("/", window.location)' in html
    assert "if (6006) url.port = 6006;" in html
    monkeypatch.setenv("TENSORBOARD_PROXY_URL", "/proxy/%PORT%/")
    notebook.display()
    assert 'new URL("/proxy/6006/", window.location)' in shown[1]
    assert "if (0) url.port = 0;" in shown[1]
    assert capsys.readouterr().out == ""
    with pytest.raises(RuntimeError, match="No TensorBoard runs on port 1"):
        notebook.display(1)
