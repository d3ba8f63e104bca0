#!/usr/bin/env python3
"""Set tinynet up in a .venv of its own and run it there.

    python3 run.py train configs/digits_mlp.toml   any command of tinynet
    python3 run.py board runs                      view runs in TensorBoard
    python3 run.py test [pytest arguments]         run the tests
    python3 run.py check [pytest arguments]        run all checks of CI
    python3 run.py check CONFIG.toml               try a config, write nothing
    python3 run.py docs [mkdocs arguments]         serve the documentation

It needs Python >= 3.11 and a package index. The first run creates .venv beside
this file and installs into it with pip, which follows your pip configuration.
Later runs find that nothing has changed and start at once.
"""

import os
import platform
import re
import signal
import sys

if sys.version_info < (3, 11):  # what follows is read, but not run, by older ones (>= 3.6)
    sys.exit(
        f"tinynet needs Python >= 3.11, and this is Python {platform.python_version()} "
        f"({sys.executable}).\nRun it with a newer one, for example: python3.13 run.py"
    )


if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # At once, for the imports take a moment. Where Ctrl-C is ignored (nohup), it stays so.
    signal.signal(signal.SIGINT, lambda *_: os.write(2, b"run.py: stopped\n") and os._exit(130))

import contextlib
import hashlib
import json
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

try:
    import venv
except ImportError:  # some distributions ship it as a package of its own
    venv = None  # type: ignore[assignment]  # a module, where it is
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module, where it is

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STATE = VENV / "tinynet-setup.json"
ENSUREPIP = ["-m", "ensurepip", "--default-pip"]

CHECKS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy"],
    "architecture": ["pytest", "-q", "tests/laws/test_architecture.py"],
    # Beside mypy, it leaves bytecode of all tests, which each process of pytest would else compile.
    "collection": ["pytest", "-q", "--collect-only"],
}
# Tests whose results depend on the processor; they run a second time as on an older one, ...
NUMERICAL = [
    "tests/unit/nn", "tests/unit/native_kernels", "tests/unit/optim", "tests/unit/ops/test_erf.py",
    "tests/unit/ops/test_linalg.py", "tests/unit/ops/test_sums.py", "tests/unit/test_accuracy.py",
    "tests/answers/oracle",
    "tinynet/autograd", "tinynet/core", "tinynet/data/transforms", "tinynet/distributions",
    "tinynet/fft.py", "tinynet/func", "tinynet/masked.py", "tinynet/nn", "tinynet/kernels/native",
    "tinynet/ops", "tinynet/optim", "tinynet/signal", "tinynet/sparse",
]  # fmt: skip
# ... but for these, which compare no results of kernels: records with themselves, messages, hooks.
NOT_NUMERICAL = [
    "tests/answers/oracle/test_oracle.py::TestRows::test_comparison_sees_every_single_change",
    "tests/answers/oracle/test_oracle.py::test_rows_meet_all_kinds_of_input",
    "tests/unit/nn/classes/test_classes.py::TestLayers::test_comparison_sees_every_single_change",
    "tests/unit/nn/classes/test_classes.py::test_copies_compute_the_same",
    "tests/unit/nn/machinery",
    "tests/unit/nn/test_refusals.py",
    "tests/unit/optim/test_as_pytorch.py::test_schedules",
    "tests/unit/optim/test_as_pytorch.py::test_refused",
    "tests/unit/optim/test_formula.py::test_both_readers_agree",
]
# The extras that commands need, ...
EXTRAS = {
    "board": ["tensorboard"],
    "report": ["report"],
    "resume": ["report"],
    "search": ["report", "search"],
    "sweep": ["report"],
    "tensorboard": ["tensorboard"],
    "test-run": ["report"],
    "train": ["report"],
}
# ... and those of what their arguments and configs name.
NAMED = {
    r"\.onnx$": "onnx",
    r"(?i)\.(png|jpe?g|bmp|gif|ppm|pgm|tiff?|webp)$": "images",
    r"""^[^#\n]*["'=]ImageFolder\b""": "images",
    r"""^[^#\n]*["'=]Parquet\b""": "parquet",
    r"""^[^#\n]*["'=]MLflow\b""": "mlflow",
    r"""^[^#\n]*["'=]Wandb\b""": "wandb",
}
# Prints what numpy uses of this processor beyond what every one has.
FEATURES = """
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*(name for name in __cpu_dispatch__ if __cpu_features__.get(name)))
"""


class SetupError(Exception):
    """The environment cannot be set up; the message says why and what to do."""


def say(text: str) -> None:
    """Tell one line about the setup, apart from the output of the command itself."""
    print(f"run.py: {text}", file=sys.stderr, flush=True)


# ---- what is there, and what should be ----


def project_hash() -> str:
    """The part of pyproject.toml that an installation depends on, as a hash."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project["tool"] = project.get("tool", {}).get("hatch")  # a new lint rule needs no new install
    return hashlib.sha256(json.dumps(project, sort_keys=True).encode()).hexdigest()


def wanted_state() -> dict[str, Any]:
    """What a finished .venv is good for: this place, this Python, these dependencies."""
    abi = sysconfig.get_config_var("EXT_SUFFIX")
    return {"root": str(ROOT), "python": abi, "project": project_hash()}


def read_state() -> dict[str, Any]:
    """What the last run noted in .venv; without "root" it did not finish."""
    try:
        state = json.loads(STATE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"made_here": False}
    except ValueError:  # cut off while it was written
        return {"made_here": True}
    return state if isinstance(state, dict) else {"made_here": True}


def write_state(state: dict[str, Any]) -> None:
    """Note the state of .venv in it."""
    STATE.write_text(json.dumps(state, indent=1), encoding="utf-8")


def is_usable(state: dict[str, Any]) -> bool:
    """Whether an earlier run finished for this place and this Python, and its Python is there."""
    wanted = wanted_state()
    same_python = state.get("python") == wanted["python"] or not state["made_here"]
    return state.get("root") == wanted["root"] and same_python and VENV_PYTHON.exists()


def is_ready(state: dict[str, Any], extras: set[str]) -> bool:
    """Whether there is nothing to do."""
    same_project = state.get("project") == project_hash()
    return is_usable(state) and same_project and extras <= set(state["extras"])


# ---- making it so ----


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Hold a lock that pip inherits: a pip whose run.py was killed is waited for as well."""
    with open(ROOT / "pyproject.toml", "rb") as lock:
        if fcntl is not None:
            os.set_inheritable(lock.fileno(), True)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("another setup of this .venv is running; waiting for it")
                fcntl.flock(lock, fcntl.LOCK_EX)
            except OSError:
                pass  # a file system without locks
        yield


def call(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a setup command silently; its output is in the result."""
    # Without PYTHONPATH: pip would take packages of another Python for installed ones.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PIP_USER": "0"}
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        close_fds=False,  # hands down the lock, the one descriptor that can be inherited
        check=False,
    )


def create_venv() -> None:
    """Make .venv anew, without pip."""
    if venv is None:
        raise SetupError(
            f"this Python ({sys.executable}) has no 'venv' module. "
            "On Debian and Ubuntu: sudo apt install python3-venv. Then run this again."
        )
    say(f"creating {VENV} (Python {platform.python_version()})")
    VENV.mkdir(exist_ok=True)
    write_state({"made_here": True})  # first, so that all an interruption leaves is known as ours
    for child in VENV.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child)
        elif child != STATE:
            child.unlink()
    venv.EnvBuilder(symlinks=os.name != "nt").create(VENV)


def prepare_venv(state: dict[str, Any]) -> None:
    """Keep a .venv that works, replace one of ours that does not, never delete someone else's."""
    if is_usable(state):
        return
    if state["made_here"] or not VENV.exists() or not any(VENV.iterdir()):
        create_venv()
        return
    probe = "import sys; sys.exit(sys.version_info < (3, 11) or sys.prefix == sys.base_prefix)"
    if not VENV_PYTHON.exists() or call([str(VENV_PYTHON), "-c", probe]).returncode != 0:
        raise SetupError(
            f"{VENV} was not made by run.py, and is no working environment of Python >= 3.11. "
            "Delete or rename it and run this again."
        )
    say(f"using {VENV}, which is already there")


def pip_command() -> list[str]:
    """The command that starts a pip for .venv: its own, or that of the Python we run in."""
    own = [str(VENV_PYTHON), "-P", "-m", "pip"]
    if call([*own, "--version"]).returncode == 0:
        return own
    bundled = call([str(VENV_PYTHON), "-P", *ENSUREPIP])
    if bundled.returncode == 0:
        return own
    for python in (sys.executable, getattr(sys, "_base_executable", sys.executable)):
        outer = [python, "-P", "-m", "pip", "--python", str(VENV_PYTHON)]
        if call([*outer, "--version"]).returncode == 0:
            return outer
    raise SetupError(
        "this Python can put no pip into a virtual environment: it has no 'ensurepip', and no pip "
        ">= 22.3 of its own.\nOn Debian and Ubuntu: sudo apt install python3-venv. "
        f"Then run this again.\nensurepip says:\n{bundled.stdout}"
    )


def install(extras: set[str]) -> None:
    """Install this project, editable, with its dependencies and those of `extras`."""
    names = ",".join(sorted(extras))
    target = f"{ROOT}[{names}]" if names else str(ROOT)
    pip = pip_command()
    say(f"installing tinynet{f' [{names}]' if names else ''} with pip")
    if "dev" in extras and read_state()["made_here"]:  # a new pip takes half the time of old ones
        call([*pip, "install", "--no-input", "--no-compile", "--upgrade", "pip"])
    result = call([*pip, "install", "--no-input", "--no-compile", "--editable", target])
    if result.returncode != 0:
        raise SetupError(f"the installation failed; pip says:\n{result.stdout}")
    if "dev" not in extras:  # tests keep the bytecode of what they import, a third of all
        compiled = ["-m", "compileall", "-q", "-j0", "-x", r"[/\\]pip[/\\]", str(VENV)]
        call([str(VENV_PYTHON), *compiled])  # on all processors


def ensure(extras: set[str]) -> None:
    """Make .venv hold tinynet and `extras`; nothing to do is the usual case, and fast."""
    if is_ready(read_state(), extras):
        return
    with one_at_a_time():
        state = read_state()
        if is_ready(state, extras):  # done by the one that we waited for
            return
        started = time.monotonic()
        update = is_usable(state)
        if update:
            extras = extras | set(state["extras"])
        prepare_venv(state)
        made_here = read_state()["made_here"]
        write_state({"made_here": made_here})
        try:
            install(extras)
        except SetupError:
            if update:  # offline, say: pip fails before it touches what is installed
                write_state(state)
            raise
        finished = {"made_here": made_here, "extras": sorted(extras)}
        write_state(wanted_state() | finished)
        say(f"ready after {time.monotonic() - started:.0f} s")


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt: there is something to tidy up."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---- the commands ----


def is_of_project(command: str, arguments: list[str]) -> bool:
    """Whether ``check`` means the project, as in CI, and not a config file."""
    return command == "check" and not any(a.endswith(".toml") for a in arguments)


def is_of_mpirun() -> bool:
    """Whether ``mpirun`` started several processes, of which this is one."""
    names = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS")
    return any(os.environ.get(name, "1") != "1" for name in names)


def extras_for(command: str, arguments: list[str]) -> set[str]:
    """The extras of pyproject.toml that a command needs."""
    if is_of_mpirun():
        return {"mpi"} | extras_of(command, arguments)
    return extras_of(command, arguments)


def extras_of(command: str, arguments: list[str]) -> set[str]:
    """The extras that a command needs in one process, too."""
    if command == "test" or is_of_project(command, arguments):
        return {"dev", "oracle"} if "--oracle" in arguments else {"dev"}
    if command == "docs":
        return {"docs"}
    extras = set(EXTRAS.get(command, ()))
    if command == "find-lr" and any(a.startswith("--report") for a in arguments):
        extras.add("report")
    if command != "tensorboard":
        text = "\n".join(contents_of(arguments))
        extras |= {extra for pattern, extra in NAMED.items() if re.search(pattern, text, re.M)}
    return extras


def contents_of(arguments: list[str]) -> Iterator[str]:
    """The arguments of a command, and the texts of the config files among them."""
    for argument in arguments:
        yield argument
        if argument.endswith(".toml"):
            with contextlib.suppress(OSError, UnicodeDecodeError):  # tinynet reports it
                yield Path(argument).read_text(encoding="utf-8")


def become(arguments: list[str]) -> int:
    """Run the Python of .venv instead of this process, so that signals and exit codes are its."""
    command = [str(VENV_PYTHON), *arguments]
    if os.name == "nt":
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is called has it, and decides
        return subprocess.call(command)
    os.execv(command[0], command)


def count_ran(junit: Path) -> int:
    """The number of tests in a report of pytest that were not skipped; 0 without a report."""
    if not junit.exists():
        return 0
    suites = ElementTree.parse(junit).getroot().iter("testsuite")
    return sum(int(suite.get("tests", 0)) - int(suite.get("skipped", 0)) for suite in suites)


def in_parallel() -> list[str]:
    """What makes pytest use up to four processors; a process more than these, as tests wait."""
    processors = os.cpu_count() or 1
    return ["-n", str(min(processors + 1, 4)), "--dist", "worksteal"] if processors > 1 else []


def for_tests() -> dict[str, str]:
    """Return an environment in which processes of pytest share the processors and what they load.

    Each has one thread of BLAS. Bytecode is kept even where PYTHONDONTWRITEBYTECODE is set, as in
    images of containers: else each of the hundreds of programs that tests start compiles tinynet.
    """
    return {"OPENBLAS_NUM_THREADS": "1", **os.environ, "PYTHONDONTWRITEBYTECODE": ""}


def older_processor() -> dict[str, str]:
    """Settings that make numpy, OpenBLAS and LLVM compute as on the oldest processor they know."""
    answer = subprocess.run([str(VENV_PYTHON), "-c", FEATURES], stdout=subprocess.PIPE, text=True)
    settings = {"TINYNET_CPU": "generic", "OPENBLAS_NUM_THREADS": "2"}
    features = answer.stdout.strip()
    if features:
        settings["NPY_DISABLE_CPU_FEATURES"] = features
    else:
        print("==== numpy uses nothing here that older processors lack", flush=True)
    if platform.machine().lower() in ("x86_64", "amd64"):
        settings["OPENBLAS_CORETYPE"] = "Prescott"
    else:
        print(f"==== no older OpenBLAS kernels are known for {platform.machine()}", flush=True)
    return settings


class Running:
    """A check that runs beside others, and prints when they have."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        self.name = name
        self._heading = f"==== {name}: {' '.join(command)}"
        self._out = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [str(VENV_PYTHON), "-m", *command],
            cwd=ROOT,
            env=environment,
            stdout=self._out,
            stderr=subprocess.STDOUT,
        )

    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def wait(self) -> None:
        """Wait for its end, and print nothing yet."""
        self._process.wait()

    def has_failed(self) -> bool:
        """Wait, and print everything after a failure, else the last line."""
        has_failed = self._process.wait() != 0
        with self._out:
            self._out.seek(0)
            lines = self._out.read().decode(errors="replace").splitlines()
        print(self._heading, *(lines if has_failed else lines[-1:]), sep="\n", flush=True)
        return has_failed


def check(arguments: list[str]) -> int:
    """Run every check, also after one has failed; 0 if all passed and at least one test ran."""
    environment = for_tests()
    running = {name: Running(name, command, environment) for name, command in CHECKS.items()}
    if "collection" in running:
        running["collection"].wait()  # for the bytecode
    over = [check for check in running.values() if check.is_over()]
    # The others use the time in which tests wait: for programs, a browser, the disk.
    beside = [check for check in running.values() if check not in over]
    failed = [check.name for check in over if check.has_failed()]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "tests.xml")
        pytest = ["pytest", "-q", "--durations=25"]
        if NUMERICAL and not arguments:
            older = older_processor()
            shown = " ".join(f"{name}='{value}'" for name, value in older.items())
            name = "tests as on an older processor"
            print(f"==== {name}, at the same time: {shown}", flush=True)
            numerical = [*NUMERICAL, *(f"--deselect={each}" for each in NOT_NUMERICAL)]
            beside.append(Running(name, [*pytest, *numerical], environment | older))
        tests = [*pytest, *in_parallel(), *arguments]
        tests += ["--ignore=tests/laws/test_architecture.py", f"--junitxml={report}"]
        print(f"==== tests: {' '.join(tests)}", flush=True)
        if subprocess.call([str(VENV_PYTHON), "-m", *tests], cwd=ROOT, env=environment) != 0:
            failed.append("tests")
        failed += [check.name for check in beside if check.has_failed()]
        ran = count_ran(report)
    if ran == 0:
        failed.append("no test ran")
    print(f"==== FAILED: {', '.join(failed)}" if failed else f"==== all passed, {ran} tests")
    return 1 if failed else 0


def help_text() -> str:
    """The text of --help: that of this file, and the commands of tinynet from their own files."""
    folder = ROOT / "tinynet" / "train" / "commands"
    listed = (folder / "__init__.py").read_text(encoding="utf-8").partition("COMMANDS = {")[2]
    lines = [f"{__doc__}\nThe commands of tinynet (python3 run.py COMMAND --help prints more):\n"]
    for name, file in re.findall(r'"([\w-]+)": "(\w+)"', listed.partition("}")[0]):
        text = (folder / f"{file}.py").read_text(encoding="utf-8")
        found = re.search(rf'@declare\(\s*"{name}",\s*"(.*)",', text)
        assert found, f"{file}.py does not declare {name}"
        lines.append(f"    {name:<16} {found[1]}")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Set up what the command needs and run it; returns the exit code."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(help_text())
        return 0 if argv else 2
    command, *arguments = argv
    try:
        with interruptible():
            ensure(extras_for(command, arguments))
            if is_of_project(command, arguments):
                return check(arguments)
    except SetupError as error:
        say(str(error))
        return 1
    except OSError as error:
        say(f"cannot set up {VENV}: {error}")
        return 1
    except KeyboardInterrupt:
        say("interrupted; the next run takes care of what is unfinished")
        return 130
    if command == "test":
        os.chdir(ROOT)
        if {*arguments} <= {"--full", "--oracle"}:  # all tests: on all processors
            os.environ |= for_tests()
            arguments = ["-q", *in_parallel(), *arguments]
        return become(["-m", "pytest", *arguments])
    if command == "docs":
        os.chdir(ROOT)
        os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # an advertisement
        return become(["-m", "mkdocs", *(arguments or ["serve"])])
    if command == "tensorboard":
        return become(["-m", "tensorboard.main", *arguments])
    started = sys.orig_argv[: len(sys.orig_argv) - len(argv)]
    name = os.path.basename(started[0])
    if shutil.which(name) == started[0]:  # pyenv's shims, for one, start Python by its whole path
        started[0] = name
    typed = subprocess.list2cmdline(started) if os.name == "nt" else shlex.join(started)
    os.environ.setdefault("TINYNET_COMMAND", typed)  # what messages tell to type
    if os.name != "nt":  # Ctrl-C waits until tinynet can answer it: tinynet/base/startup.py
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    return become(["-m", "tinynet", *argv])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
