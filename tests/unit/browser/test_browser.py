"""Pure Python on numpy, as in a browser: no threads, no processes, no other packages."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tinynet

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[3]


@pytest.fixture
def run(tmp_path):
    """Run a file in a Python with no packages but numpy and tinynet."""
    packages = Path(np.__file__).parents[1]
    for package in (*packages.glob("numpy"), *packages.glob("numpy.libs"), ROOT / "tinynet"):
        (tmp_path / package.name).symlink_to(package, target_is_directory=True)

    def start(*arguments):
        return subprocess.run(
            [sys.executable, "-S", "-W", "error", *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return start


def accuracy(done):
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def test_core_nn_optim_and_data_train_with_nothing_but_numpy(run):
    """Not even `multiprocessing` and `subprocess` can be imported."""
    program = [HERE / "like_pyodide.py", HERE / "digits.py", "multiprocessing", "subprocess"]
    assert accuracy(run(*program)) > 0.9


def test_fit_drawings_and_files_do_too(run):
    assert accuracy(run(HERE / "like_pyodide.py", HERE / "fit.py")) > 0.85


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import tensorboardX", "No module named 'tensorboardX'"),
        ("import multiprocessing", "import of multiprocessing halted"),
        ("import threading; threading.Thread(target=print).start()", "can't start new thread"),
        ("import os; os.fork()", "does not support processes"),
        ("import subprocess; subprocess.run(['true'])", "import of subprocess halted"),
    ],
)
def test_the_blocks_block(run, tmp_path, code, said):
    (tmp_path / "program.py").write_text(code)
    done = run(HERE / "like_pyodide.py", "program.py", "multiprocessing", "subprocess")
    assert done.returncode == 1 and said in done.stderr.splitlines()[-1]


def test_workers_say_that_there_are_no_threads(run, tmp_path):
    (tmp_path / "program.py").write_text(
        "from tinynet.utils.data import DataLoader\nlist(DataLoader([1, 2], num_workers=2))\n"
    )
    done = run(HERE / "like_pyodide.py", "program.py")
    assert "num_workers=0" in done.stderr


def test_the_wheel_is_pure_python():
    """The package contains Python, data and type stubs, and nothing compiled."""
    package = Path(tinynet.__file__).parent
    files = [path for path in package.rglob("*") if path.is_file()]
    kinds = {path.suffix for path in files if "__pycache__" not in path.parts}
    assert kinds <= {".py", ".pyi", ".md", ".npz", ".css", ".js", ".toml", ".typed"}
