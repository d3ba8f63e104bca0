"""Operations of built-in models name the config, or the model's own file; never what starts it."""

import re
import subprocess
import sys

import pytest

from .test_cli import ENVIRONMENT, PROGRAM, ROOT


@pytest.fixture
def console(tmp_path):
    """The script that pip makes."""
    path = tmp_path / "tinynet"
    path.write_text("import sys\nfrom tinynet.train.cli import main\nsys.exit(main())\n")
    return [sys.executable, str(path)]


def printed(command, folder):
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines_of(graph):
    """What stands for each kind of operation."""
    return set(re.findall(r"(\w+) .* (\S+:\d+(?: in \w+)?)  <- ", graph))


def test_the_line_of_the_config(write, digits, tmp_path, console):
    write(digits)
    for program in (console, PROGRAM):
        assert lines_of(printed([*program, "graph", "digits.toml"], tmp_path)) == {
            ("view", "digits.toml:10"),
            ("addmm", "digits.toml:10"),
            ("relu", "digits.toml:10"),
            ("nll_loss", "digits.toml:14"),
        }


def test_the_models_own_file(tmp_path, console):
    config = str(ROOT / "configs" / "digits_vae.toml")
    found = lines_of(printed([*console, "graph", config], tmp_path))
    files = {place.partition(":")[0] for _, place in found}
    assert files == {"autoencoder.py"}
