"""run.py, for real, on a small project that builds itself, so that no package index is needed."""

import ast
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.tools.patience import PATIENCE, wait_for
from tinynet.train.commands import COMMANDS, find

RUN = Path(__file__).parents[2] / "run.py"

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "tinynet"
version = "0.1.0"

[project.optional-dependencies]
dev = []
"""

# A complete build backend for editable installs, which can be made to hang or to fail.
BACKEND = """
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    (ROOT / "installing").touch()
    while (ROOT / "hang").exists():
        time.sleep(0.05)
    if (ROOT / "fail").exists():
        raise RuntimeError("the backend says no")
    name = "tinynet-0.1.0-py3-none-any.whl"
    files = {
        "METADATA": "Metadata-Version: 2.1\\nName: tinynet\\nVersion: 0.1.0\\n"
        "Provides-Extra: dev\\n",
        "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(Path(wheel_directory, name), "w") as wheel:
        wheel.writestr("tinynet.pth", str(ROOT))
        for file, text in files.items():
            wheel.writestr(f"tinynet-0.1.0.dist-info/{file}", text)
    return name
"""

MAIN = """
import sys

print("tinynet was called with", sys.argv[1:])
sys.exit(7 if "fail" in sys.argv else 0)
"""


def make_project(folder):
    (folder / "tinynet").mkdir(parents=True)
    (folder / "tinynet" / "__init__.py").touch()
    (folder / "tinynet" / "__main__.py").write_text(MAIN)
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "backend.py").write_text(BACKEND)
    shutil.copy(RUN, folder)
    return folder


def start(project, *arguments):
    """run.py as a user starts it, elsewhere, and with the hazards that a user's shell may hold."""
    hazards = {"PIP_NO_INDEX": "1", "PIP_USER": "1", "PYTHONPATH": str(project / "elsewhere")}
    return subprocess.Popen(
        [sys.executable, str(project / "run.py"), *arguments],
        cwd=project.parent,
        env=os.environ | hazards,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(project, *arguments):
    process = start(project, *arguments)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """A project, and what its first run gave."""
    folder = make_project(tmp_path_factory.mktemp("run") / "a path [with] spaces" / "tinynet")
    return folder, run(folder, "train", "a config.toml", "--set", "a=b")


@pytest.fixture(scope="module")
def project(new):
    """The same project; in an environment that is made again, its pip is a copy of the first one.

    ensurepip compiles all of pip, which takes longer than everything else.
    """
    folder, _ = new
    (installed,) = folder.glob(".venv/[Ll]ib/**/site-packages")
    kept = folder.parent / "pip"
    for part in installed.glob("pip*"):
        shutil.copytree(part, kept / part.name)
    into = "sysconfig.get_path('purelib')"
    copy = f"import shutil, sysconfig; shutil.copytree({str(kept)!r}, {into}, dirs_exist_ok=True)"
    text = (folder / "run.py").read_text(encoding="utf-8")
    line = 'ENSUREPIP = ["-m", "ensurepip", "--default-pip"]\n'
    assert line in text
    text = text.replace(line, f"ENSUREPIP = {['-c', copy]}\n")
    (folder / "run.py").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def script(tmp_path, monkeypatch):
    """run.py as a module, for a project in `tmp_path`."""
    make_project(tmp_path / "p")
    spec = importlib.util.spec_from_file_location("run_under_test", tmp_path / "p" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return module


def test_the_first_run_sets_up_and_the_second_starts_at_once(new):
    folder, (code, out, err) = new
    assert (code, out) == (
        0,
        "tinynet was called with ['train', 'a config.toml', '--set', 'a=b']\n",
    )
    assert [line.split()[1] for line in err.splitlines()] == ["creating", "installing", "ready"]
    code, out, err = run(folder, "train", "fail")
    assert (code, out, err) == (7, "tinynet was called with ['train', 'fail']\n", "")


def test_only_what_matters_to_an_installation_leads_to_another_one(project):
    run(project, "train")
    with (project / "pyproject.toml").open("a") as file:
        file.write("\n[tool.ruff]\nline-length = 99\n")
    assert run(project, "train")[2] == ""
    with (project / "pyproject.toml").open("a") as file:
        file.write("\n[tool.hatch]\na = 1\n")
    err = run(project, "train")[2]
    assert "creating" not in err and "installing" in err


def test_a_failed_installation_shows_pip_and_leaves_what_was_there(project):
    run(project, "train")
    (project / "fail").touch()
    code, _out, err = run(project, "test")
    (project / "fail").unlink()
    assert code == 1
    assert "installation failed; pip says" in err and "the backend says no" in err
    assert run(project, "train")[0::2] == (0, "")


def test_a_failed_repair_is_not_taken_for_what_was_there(project):
    run(project, "train")
    (project / ".venv/bin/python").unlink()
    (project / "fail").touch()
    assert run(project, "train")[0] == 1
    (project / "fail").unlink()
    code, _out, err = run(project, "train")
    assert code == 0 and "creating" in err


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_an_interrupted_installation_is_done_again_from_scratch(project):
    run(project, "train")
    (project / "hang").touch()
    (project / "installing").unlink(missing_ok=True)
    process = start(project, "test")
    wait_for(process, (project / "installing").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    (project / "hang").unlink()
    code, out, err = run(project, "train")
    assert (code, out) == (0, "tinynet was called with ['train']\n")
    assert "creating" in err and "ready" in err


def test_a_moved_project_is_set_up_again(script):
    state = {"made_here": True, "extras": []} | script.wanted_state()
    script.VENV_PYTHON.parent.mkdir(parents=True)
    script.VENV_PYTHON.touch()
    assert script.is_ready(state, set())
    assert not script.is_ready(state, {"dev"})
    assert not script.is_usable(state | {"root": "/somewhere/else"})
    assert not script.is_usable(state | {"python": ".cpython-310.so"})
    script.VENV_PYTHON.unlink()
    assert not script.is_usable(state)


def test_the_extras_of_a_command_exist(script):
    project = tomllib.loads((RUN.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert script.extras_for("search", []) == {"report", "search"}
    for command in ("train", "sweep", "search", "report", "board", "docs", "test"):
        assert script.extras_for(command, []) <= set(project["optional-dependencies"])
    assert {*script.NAMED.values()} <= set(project["optional-dependencies"])


@pytest.mark.parametrize(
    ("command", "extras"),
    [
        ("export RUN x.onnx", {"onnx"}),
        ("export RUN x.pt", set()),
        ("predict RUN three.PNG", {"images"}),
        ("train photos.toml", {"report", "images", "mlflow"}),
        ("train plain.toml", {"report"}),
        ("train absent.toml --set data.type=Parquet", {"report", "parquet"}),
        ("check photos.toml", {"images", "mlflow"}),
        ("find-lr plain.toml --report=lr.html", {"report"}),
        ("graph RUN", set()),
    ],
)
def test_the_extras_of_what_a_command_names(script, tmp_path, monkeypatch, command, extras):
    monkeypatch.chdir(tmp_path)
    text = '[data]\ntype = "{}"  # or "Parquet"\n[run]\ntrackers = [{}]\n'
    Path("photos.toml").write_text(text.format("ImageFolder", '"MLflow"'), encoding="utf-8")
    Path("plain.toml").write_text(text.format("Digits", ""), encoding="utf-8")
    name, *arguments = command.split()
    assert script.extras_for(name, arguments) == extras


def test_an_environment_of_someone_else_is_never_deleted(script, capsys):
    precious = script.VENV / "precious"
    script.VENV.mkdir()
    precious.touch()
    assert script.main(["train"]) == 1
    assert "Delete or rename it" in capsys.readouterr().err
    assert precious.exists()


def test_without_ensurepip_the_pip_outside_is_used(script):
    script.ENSUREPIP = ["-m", "no_such_module"]
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("this Python has no pip that could help")
    script.ensure(set())
    assert not list(script.VENV.rglob("pip-*"))
    command = [script.VENV_PYTHON, "-m", "tinynet", "eval"]
    answer = subprocess.check_output(command, cwd=script.ROOT, text=True)
    assert answer == "tinynet was called with ['eval']\n"


@pytest.mark.parametrize(
    ("extras", "made_here", "upgrades", "compiles"),
    [({"dev"}, True, True, False), ({"dev"}, False, False, False), (set(), True, False, True)],
)
def test_tests_need_a_new_pip_and_no_bytecode(
    script, monkeypatch, extras, made_here, upgrades, compiles
):
    script.VENV.mkdir()
    script.write_state({"made_here": made_here})
    monkeypatch.setattr(script, "pip_command", lambda: ["pip"])
    commands = []

    def call(command):
        commands.append(command)
        is_upgrade = command[-1] == "pip"  # without an index it fails, and the old one serves
        return subprocess.CompletedProcess(command, int(is_upgrade), stdout="")

    monkeypatch.setattr(script, "call", call)
    script.install(extras)
    assert any("--upgrade" in command for command in commands) == upgrades
    assert any("--editable" in command for command in commands)
    assert any("compileall" in command for command in commands) == compiles


def test_without_any_pip_it_says_what_to_install(script, monkeypatch, capsys):
    script.ENSUREPIP = ["-m", "no_such_module"]
    monkeypatch.setattr(sys, "executable", "/no/python")
    failed = subprocess.CompletedProcess([], 1, stdout="")
    monkeypatch.setattr(script, "call", lambda command: failed)
    assert script.main(["train"]) == 1
    assert "sudo apt install python3-venv" in capsys.readouterr().err


def test_an_older_python_gets_a_sentence():
    source = RUN.read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 7))  # it must get as far as the sentence
    code = f"import runpy, sys; sys.version_info = (3, 10, 0); runpy.run_path({str(RUN)!r})"
    old = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert old.returncode == 1
    assert old.stderr.startswith("tinynet needs Python >= 3.11, and this is Python ")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("body", "code", "verdict"),
    [
        ("def test_it():\n    pass\n", 0, "all passed, 1 tests"),
        ("def test_it():\n    assert False\n", 1, "FAILED: tests"),
        ("import pytest\n\n\n@pytest.mark.skip\ndef test_it():\n    pass\n", 1, "no test ran"),
        ("", 1, "no test ran"),
    ],
    ids=["passes", "fails", "skipped", "none"],
)
def test_a_check_without_a_test_that_ran_fails(script, monkeypatch, capfd, body, code, verdict):
    (script.ROOT / "test_one.py").write_text(body)
    monkeypatch.setattr(script, "CHECKS", {})
    monkeypatch.setattr(script, "NUMERICAL", [])
    if verdict != "all passed, 1 tests":  # one of them has several processes
        monkeypatch.setattr(script, "in_parallel", lambda: [])
    monkeypatch.setattr(script, "VENV_PYTHON", Path(sys.executable))
    assert script.check([]) == code
    assert verdict in capfd.readouterr().out.splitlines()[-1]


def test_tests_start_when_all_are_collected_and_other_checks_go_on(script, monkeypatch, capfd):
    late = (
        "import pathlib, sys, time\nwhile not pathlib.Path('ran').exists():\n    time.sleep(0.01)\n"
    )
    (script.ROOT / "late.py").write_text(f"{late}sys.exit(3)\n")
    (script.ROOT / "collects.py").touch()
    test = "from pathlib import Path\n\n\ndef test_it():\n    Path('ran').touch()\n"
    (script.ROOT / "test_one.py").write_text(test)
    monkeypatch.setattr(script, "CHECKS", {"late": ["late"], "collection": ["collects"]})
    monkeypatch.setattr(script, "NUMERICAL", [])
    monkeypatch.setattr(script, "in_parallel", lambda: [])
    monkeypatch.setattr(script, "VENV_PYTHON", Path(sys.executable))
    assert script.check([]) == 1
    assert capfd.readouterr().out.splitlines()[-1] == "==== FAILED: late"


def test_checks_that_run_together_print_one_after_the_other(script, monkeypatch, capfd):
    monkeypatch.setattr(script, "VENV_PYTHON", Path(sys.executable))
    for name, code in (("good", ""), ("bad", "sys.exit(3)")):
        (script.ROOT / f"{name}.py").write_text(f"import sys\nprint('first\\n{name}')\n{code}")
    running = [script.Running("1", [name], {**os.environ}) for name in ("bad", "good", "bad")]
    assert [check.has_failed() for check in running] == [True, False, True]
    bad = "==== 1: bad\nfirst\nbad\n"
    assert capfd.readouterr().out == f"{bad}==== 1: good\ngood\n{bad}"


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], "the project, dev"),
        (["-k", "views"], "the project, dev"),
        (
            ["configs/digits_mlp.toml", "lr=0.1"],
            "-m tinynet check configs/digits_mlp.toml lr=0.1, ",
        ),
    ],
)
def test_check_means_the_project_or_a_config(script, monkeypatch, arguments, wanted):
    done = []
    monkeypatch.setattr(script, "ensure", lambda extras: done.append(" ".join(extras)))
    monkeypatch.setattr(script, "check", lambda arguments: done.append("the project"))
    monkeypatch.setattr(script, "become", lambda command: done.append(" ".join(command)))
    script.main(["check", *arguments])
    assert f"{done[1]}, {done[0]}" == wanted


@pytest.mark.parametrize(
    ("arguments", "wanted"), [([], "-m mkdocs serve"), (["build"], "-m mkdocs build")]
)
def test_docs_serves_or_builds(script, monkeypatch, arguments, wanted):
    done = []
    monkeypatch.chdir(script.ROOT)
    monkeypatch.setattr(script, "ensure", lambda extras: done.append(" ".join(extras)))
    monkeypatch.setattr(script, "become", lambda command: done.append(" ".join(command)))
    script.main(["docs", *arguments])
    assert done == ["docs", wanted]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], "-m pytest -q PARALLEL"),
        (["--full"], "-m pytest -q PARALLEL --full"),
        (["tests/unit/ops", "-k", "mul"], "-m pytest tests/unit/ops -k mul"),
    ],
)
def test_all_tests_run_on_all_processors(script, monkeypatch, arguments, wanted):
    done = []
    monkeypatch.chdir(script.ROOT)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.setattr(script, "ensure", lambda extras: done.append(" ".join(extras)))
    monkeypatch.setattr(script, "in_parallel", lambda: ["PARALLEL"])
    monkeypatch.setattr(script, "become", lambda command: done.append(" ".join(command)))
    script.main(["test", *arguments])
    assert done == ["dev", wanted]
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    assert bool(os.environ["PYTHONDONTWRITEBYTECODE"]) == ("PARALLEL" not in wanted)


NUMERICAL_TEST = """
import os
from pathlib import Path


def test_it():
    if os.environ.get("TINYNET_CPU") == "generic":
        Path("older").touch()
        assert not Path("fail").exists()
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("arguments", [[], ["-q"]])
@pytest.mark.parametrize("fails", [False, True])
def test_a_check_runs_numerical_tests_as_on_an_older_processor(
    script, monkeypatch, capfd, arguments, fails
):
    (script.ROOT / "test_one.py").write_text(NUMERICAL_TEST)
    if fails:
        (script.ROOT / "fail").touch()
    monkeypatch.setattr(script, "CHECKS", {})
    monkeypatch.setattr(script, "NUMERICAL", ["test_one.py"])
    monkeypatch.setattr(script, "in_parallel", lambda: [])
    monkeypatch.setattr(script, "VENV_PYTHON", Path(sys.executable))
    assert script.check(arguments) == (fails and not arguments)
    assert (script.ROOT / "older").exists() == (not arguments)
    verdict = capfd.readouterr().out.splitlines()[-1]
    assert ("FAILED: tests as on an older processor" in verdict) == (fails and not arguments)


def test_numpy_takes_the_settings_of_an_older_processor(script, monkeypatch):
    monkeypatch.setattr(script, "VENV_PYTHON", Path(sys.executable))
    settings = script.older_processor()
    command = [sys.executable, "-W", "error", "-c", script.FEATURES]
    assert not subprocess.check_output(command, env=os.environ | settings).strip()
    monkeypatch.setattr(script.platform, "machine", lambda: "aarch64")
    assert "OPENBLAS_CORETYPE" not in script.older_processor()


def test_numerical_tests_are_there(script):
    assert all((RUN.parent / path).exists() for path in script.NUMERICAL)
    inherited = (RUN.parent / "tests/tools/recorded/checks.py").read_text(encoding="utf-8")
    for each in script.NOT_NUMERICAL:
        path, *_, name = each.split("::") if "::" in each else (each, "")
        assert (RUN.parent / path).exists()
        if name:
            text = (RUN.parent / path).read_text(encoding="utf-8") + inherited
            assert f"def {name}(" in text, each


def test_a_state_that_was_cut_off_counts_as_unfinished(script):
    script.VENV.mkdir()
    script.STATE.write_text(json.dumps({"made_here": True, "root": "x"})[:-3])
    assert script.read_state() == {"made_here": True}


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_sets_nothing_up(script, capsys, arguments):
    commands = Path("tinynet", "train", "commands")
    shutil.copytree(RUN.parent / commands, script.ROOT / commands)
    assert script.main(arguments) == (0 if arguments else 2)
    out = capsys.readouterr().out
    assert "python3 run.py train" in out
    assert all(len(line) < 80 for line in out.splitlines())
    for command in map(find, COMMANDS):
        assert re.search(rf"^    {command.name} +{re.escape(command.help)}$", out, re.M)
    assert not script.VENV.exists()
