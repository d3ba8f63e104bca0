"""Output that cannot be written, a folder that is gone, and Ctrl-C at any moment."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.tools.patience import PATIENCE

from .test_cli import ENVIRONMENT, PROGRAM, interruptible, start

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals, /dev/full")
SLOW_IMPORT = "import time\nprint('importing', flush=True)\ntime.sleep(60)\n"
ONE_EPOCH = ["--set", "run.epochs=1"]


def shell(line, folder, **variables):
    """A line of a shell in which $T is tinynet."""
    command = f'T() {{ {" ".join(map(repr, PROGRAM))} "$@"; }}\n{line}'
    environment = ENVIRONMENT | variables
    options = {"capture_output": True, "cwd": folder, "env": environment, "timeout": 100}
    done = subprocess.run(["bash", "-c", command], text=True, **options)
    return done.returncode, done.stdout, done.stderr


def record(folder):
    (path,) = folder.glob("runs/*/*/run.json")
    return json.loads(path.read_text())


# ---- a log that cannot be written does not end a run ----


@pytest.mark.parametrize(
    "line, told",
    [
        pytest.param(
            "T train digits.toml > /dev/full",
            "warning: the output cannot be written (No space left on device); everything else "
            "continues\n",
            marks=pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full"),
        ),
        ("T train digits.toml >&- 2>&-", ""),
        ("set -o pipefail; T train digits.toml | read -n 1", ""),
        ("set -o pipefail; T train digits.toml 2>&1 | read -n 1", ""),
    ],
    ids=["full", "closed", "no reader", "no reader at all"],
)
def test_a_run_ends_as_finished(write, digits, tmp_path, line, told):
    write(digits)
    code, out, err = shell(line, tmp_path)
    assert (out, err) == ("", told)
    assert code in (0, 1)  # 1 may be that of `read`
    assert record(tmp_path)["status"] == "finished"


# ---- a command that only prints ends in at most one line ----


@pytest.mark.parametrize("words", ["list model", "--help"])
def test_closed_and_full_output(words, tmp_path):
    assert shell(f"T {words} | true", tmp_path) == (0, "", "")
    assert shell(f"T {words} >&-", tmp_path) == (0, "", "")
    if os.path.exists("/dev/full"):
        told = "cannot write the output: No space left on device\n"
        assert shell(f"T {words} > /dev/full", tmp_path) == (1, "", told)


def test_what_the_output_cannot_encode(write, digits, tmp_path):
    write(digits)
    line = "T train digits.toml --quiet --set run.epochs=1 --out größe && T explain größe"
    code, out, err = shell(line, tmp_path, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    assert r"gr\xf6\xdfe is not the folder of a run; there are 1 in it" in out


def test_a_deleted_folder(tmp_path):
    line = 'mkdir gone && cd gone && rmdir "$PWD" && T list'
    told = "the current folder has been deleted: change to another one\n"
    assert shell(line, tmp_path) == (2, "", told)


# ---- Ctrl-C ----


def stopped(process, *, times=1):
    """What a process says after Ctrl-C, once it has the time to notice each."""
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    return out, err


def test_while_tinynet_imports(tmp_path):
    """As late as numpy, which is imported before anything of the command line."""
    (tmp_path / "numpy.py").write_text(SLOW_IMPORT)
    for program in ([*PROGRAM, "list"], [sys.executable, console(tmp_path), "list"]):
        path = os.pathsep.join([str(tmp_path), ENVIRONMENT["PYTHONPATH"]])
        process = subprocess.Popen(
            program,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT | {"PYTHONPATH": path},
            preexec_fn=interruptible,
        )
        assert process.stdout.readline() == "importing\n"
        assert stopped(process) == ("", "stopped by Ctrl-C\n")


def console(folder):
    """The script that pip makes."""
    path = folder / "tinynet"
    path.write_text("import sys\nfrom tinynet.train.cli import main\nsys.exit(main())\n")
    return str(path)


def test_before_the_first_step(write, digits, tmp_path):
    config = digits.replace('"mlp"', '"./slow.py:Net"')
    program = start("train", write(config, slow=SLOW_IMPORT), cwd=tmp_path)
    assert program.stdout.readline() == "importing\n"
    assert stopped(program) == ("", "stopped by Ctrl-C\n")
    assert not (tmp_path / "runs").exists()


NET = """
import time
from pathlib import Path
from tinynet import nn

class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Flatten(), nn.Linear(64, 10))

    def forward(self, x):
        if any(Path().glob("runs/*/*/run.json")):
            print("training", flush=True)
            time.sleep(60)
        return super().forward(x)
"""


def test_twice_in_the_middle_of_a_step(write, digits, tmp_path):
    config = write(digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"'), net=NET)
    program = start("train", config, cwd=tmp_path)
    assert program.stdout.readline() == "training\n"
    _, err = stopped(program, times=2)
    (folder,) = (tmp_path / "runs" / "digits").iterdir()
    assert err.splitlines() == [
        "stopped by Ctrl-C",
        "the steps after the last checkpoint are lost; to resume:",
        f"  python -m tinynet resume {folder.relative_to(tmp_path)}",
    ]
    assert record(tmp_path)["status"] == "interrupted"


def test_ctrl_c_that_is_ignored_stays_so(write, digits, tmp_path):
    """That of nohup, and of what a shell without job control runs in the background."""
    config = write(digits)
    ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    program = start("train", config, "--set", "run.epochs=20", cwd=tmp_path, **ignoring)
    program.stdout.readline()
    program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=PATIENCE)
    assert (program.returncode, err) == (0, "")
    assert record(tmp_path)["status"] == "finished"
