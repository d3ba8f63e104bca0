"""What is printed can be typed, in each way of starting tinynet, in a folder with a space."""

import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.tools.patience import PATIENCE, wait_for
from tinynet.base.invocation import VARIABLE, command, commands, python
from tinynet.base.invocation.commands import shell
from tinynet.train.cli import main

from .test_cli import ENVIRONMENT, ROOT, interruptible

PYTHON = Path(sys.executable)
WAYS = {
    "console script": "tinynet",
    "path of the script": "'the bin/tinynet'",
    "module": f"{PYTHON.name} -m tinynet",
    "run.py": f"{PYTHON.name} run.py",
    "module, by a shim": f"{shlex.quote(str(PYTHON))} -m tinynet",  # as pyenv starts Python
    "run.py, by a shim": f"{shlex.quote(str(PYTHON))} run.py",
}
# Each step waits as long as there is a file beside it: a run that Ctrl-C can hit.
NET = """
import time
from pathlib import Path
from tinynet import nn

class Net(nn.Linear):
    def forward(self, x):
        time.sleep(0.2 * Path(__file__).with_name("slow").exists())
        return super().forward(x.flatten(1))
"""


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """A folder as users have it: tinynet on the PATH, run.py after its setup."""
    folder = tmp_path_factory.mktemp("started") / "my work"
    scripts = folder / "the bin"
    scripts.mkdir(parents=True)
    console = "import sys\nfrom tinynet.train.cli import main\nsys.exit(main())\n"
    shebang = f"#!/bin/sh\n'''exec' '{sys.executable}' \"$0\" \"$@\"\n' '''\n"  # as pip writes it
    (scripts / "tinynet").write_text(shebang + console)
    board = folder / "modules" / "tensorboard"
    board.mkdir(parents=True)
    (board / "__init__.py").touch()
    (board / "main.py").write_text("import sys; print('TensorBoard', *sys.argv[1:])\n")
    set_up(folder)
    for script in [*scripts.iterdir(), folder / ".venv" / "bin" / "python"]:
        script.chmod(0o755)
    return folder


def set_up(folder):
    """What run.py leaves behind, without an installation."""
    for name in ("run.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    spec = importlib.util.spec_from_file_location("run_of_started", folder / "run.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.VENV_PYTHON.parent.mkdir(parents=True)
    script.VENV_PYTHON.write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
    state = {"made_here": True, "extras": ["report", "tensorboard"]}
    script.write_state(script.wanted_state() | state)


def typed(line, folder):
    """A command as a shell runs it."""
    scripts = [folder / "the bin"] if line.startswith("tinynet") else []
    paths = [folder / "modules", ROOT, os.environ.get("PYTHONPATH", "")]
    environment = {k: v for k, v in ENVIRONMENT.items() if k != VARIABLE} | {
        "PYTHONPATH": os.pathsep.join(map(str, paths)).rstrip(os.pathsep),
        "PATH": os.pathsep.join(map(str, [*scripts, PYTHON.parent, os.environ["PATH"]])),
    }
    return subprocess.Popen(
        ["bash", "-c", f"exec {line}"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,
    )


def said(line, folder):
    process = typed(line, folder)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", WAYS)
def test_a_run_is_stopped_and_goes_on_as_it_says(started, digits, way):
    line = WAYS[way]
    start = line.replace(shlex.quote(str(PYTHON)), PYTHON.name)  # it is on the PATH
    model = 'type = "./my net.py:Net"\nin_features = 64\nout_features = 10'
    config = digits.replace('type = "mlp"\nsizes = [64, 16, 10]', model)
    (started / "my digits.toml").write_text(config)
    (started / "my net.py").write_text(NET)
    (started / "slow").touch()
    shutil.rmtree(started / "runs", ignore_errors=True)
    process = typed(f"{line} train 'my digits.toml' --set run.save_every_steps=1", started)
    wait_for(process, lambda: [*started.glob("runs/my digits/*/checkpoint.npz")])
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, "")
    (started / "slow").unlink()
    resume = out.partition("To resume:\n  ")[2].splitlines()[0]
    assert resume.startswith(f"{start} resume 'runs/my digits/")
    *_, look = said(resume, started).splitlines()
    board = look.removeprefix("view it: ")
    assert board == f"{start} board runs"
    assert said(board, started).startswith("TensorBoard --logdir runs ")


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
def test_ctrl_c_between_run_py_and_tinynet(started):
    """While Python starts: nothing of tinynet's can answer it yet."""
    python = started / ".venv" / "bin" / "python"
    before = python.read_text()
    python.write_text(before.replace("exec", "kill -INT $$\nexec"))
    process = typed(f"{WAYS['run.py']} list", started)
    assert process.communicate(timeout=PATIENCE) == ("", "stopped by Ctrl-C\n")
    assert process.returncode == 130
    python.write_text(before)


def hints(text):
    """The commands in what was printed."""
    for line in text.splitlines():
        _, name, rest = line.partition(f"{command()} ")
        if name:
            yield shlex.split(rest.partition("`")[0])


def test_what_explain_says(write, digits, capsys, tmp_path):
    config = write(digits)
    assert main(["train", config, "--set", "run.epochs=1", "--out", "my runs"]) == 0
    assert main(["explain", "my runs"]) == 0
    (one,) = hints(capsys.readouterr().out.partition("newest first")[2])
    assert main(one) == 0
    found = [*hints(capsys.readouterr().out)]
    assert [words[0] for words in found] == ["eval", "predict", "board"]
    for words in found[:2]:
        assert main(words) == 0
    assert Path(found[2][1]).is_dir()
    assert main(["eval", "my runs"]) == 2  # says what lists the runs in it
    (again,) = hints(capsys.readouterr().err)
    assert main(again) == 0


def test_what_a_sweep_says(write, digits, capsys):
    config = write(digits)
    many = ["optimizer.lr=0.1,1e38", "run.epochs=1"]
    assert main(["sweep", config, "--out", "my runs", "--set", *many]) == 1
    board, again = hints(capsys.readouterr().out)
    assert board[0] == "board" and Path(board[1]).is_dir()
    assert main(again) == 1


def test_a_path_is_as_short_as_it_can_be(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inside, outside = tmp_path / "a b", tmp_path.parent / "c"
    assert command("eval", inside, Path("-x")) == "tinynet eval 'a b' ./-x"
    assert command("eval", outside) == f"tinynet eval {shlex.quote(str(outside))}"


SHELLS = {
    "cmd": {"PROMPT": "$P$G"},
    "powershell": {},
    "posix": {"SHELL": "bash.exe"},
}
EVALUATED = {
    "cmd": 'tinynet eval "my runs" "a&b" lr=0.1 "it\'s" "a \\"b\\"" "(1)"',
    "powershell": "tinynet eval 'my runs' 'a&b' lr=0.1 'it''s' 'a \"b\"' '(1)'",
    "posix": """tinynet eval 'my runs' 'a&b' lr=0.1 'it'"'"'s' 'a "b"' '(1)'""",
}
STARTED = {
    "cmd": '"C:/my env/python.exe" -m pip install numpy',
    "powershell": "& 'C:/my env/python.exe' -m pip install numpy",
    "posix": "'C:/my env/python.exe' -m pip install numpy",
}


@pytest.mark.parametrize("kind", SHELLS)
def test_commands_have_the_form_of_the_shell(kind, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    windows = SimpleNamespace(NeedCurrentDirectoryForExePath=lambda name: False)
    monkeypatch.setattr(shutil, "_winapi", windows, raising=False)  # which() of Python 3.12
    for name in ("PROMPT", "SHELL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in SHELLS[kind].items():
        monkeypatch.setenv(name, value)
    assert shell() == kind
    words = "eval", Path("my runs"), "a&b", "lr=0.1", "it's", 'a "b"', "(1)"
    assert command(*words) == EVALUATED[kind]
    monkeypatch.setenv(VARIABLE, '"C:\\my env\\python.exe" run.py')  # as run.py sets it
    call = "& '{}'" if kind == "powershell" else '"{}"'
    assert command("list") == call.format("C:\\my env\\python.exe") + " run.py list"
    monkeypatch.setattr(sys, "executable", "C:/my env/python.exe")
    commands._python.cache_clear()
    try:
        assert python("-m", "pip", "install", "numpy") == STARTED[kind]
    finally:
        commands._python.cache_clear()


def test_windows_finds_programs_in_any_case(monkeypatch):
    monkeypatch.setattr(os.path, "normcase", str.lower)
    monkeypatch.setattr(commands.shutil, "which", {"python": "C:/Python/python.EXE"}.get)
    monkeypatch.setattr(sys, "executable", "C:/Python/python.exe")
    commands._python.cache_clear()
    try:
        assert python("-c", "1") == "python -c 1"
    finally:
        commands._python.cache_clear()


def test_a_program_of_the_users_own(tmp_path):
    """Its messages name the Python that runs it, as it can be typed."""
    code = (
        "from tinynet.base.invocation import command, python;"
        "print(command('list')); print(python())"
    )
    environment = {k: v for k, v in ENVIRONMENT.items() if k != VARIABLE}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    one, other = run.stdout.splitlines()
    assert one == f"{other} -m tinynet list" and Path(shutil.which(shlex.split(other)[0])).exists()
    assert python("-m", "pip").endswith(" -m pip")
