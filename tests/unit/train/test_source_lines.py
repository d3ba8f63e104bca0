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
    assert files == {"feedforward.py"}


# ---- messages and warnings -----------------------------------------------------------------------

LAYERS = """\
[run]
epochs = 1

[data]
type = "Digits"
batch_size = 360

[model]
type = "sequential"
layers = [
    {{ type = "Flatten" }},
    {{ type = "Linear", in_features = 64, out_features = 10 }},
    {last}
]

[loss]
type = "CrossEntropyLoss"

[optimizer]
type = "SGD"
lr = 0.1
"""


def said(program, folder, last, command="train"):
    """What a command with a config of layers writes to stderr, and its exit code."""
    (folder / "layers.toml").write_text(LAYERS.format(last=last))
    done = subprocess.run(
        [*program, command, "layers.toml"],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
    )  # fmt: skip
    assert "sys.exit" not in done.stderr and "tinynet/" not in done.stderr
    return done.stderr, done.returncode


def test_a_change_in_place_inside_a_model(tmp_path, console):
    last = '{ type = "Sigmoid" }, { type = "ReLU", inplace = true },'
    text, code = said(console, tmp_path, last)
    assert code == 2
    for label, what in (
        ("saved", "for SigmoidBackward0 (its output)   module Sequential.2"),
        ("changed", "by relu_, version 0 -> 1   module Sequential.3"),
    ):
        row = rf"^    {label} +layers.toml:9 +type = \"sequential\" +{re.escape(what)}$"
        assert re.search(row, text, re.M), text
    assert not re.search(r"^ +needed *$", text, re.M)  # no line of the user's does


def test_shapes_that_do_not_fit_inside_a_model(tmp_path, console):
    last = '{ type = "Linear", in_features = 11, out_features = 10 },'
    text, code = said(console, tmp_path, last, "check")
    assert code == 2 and text.startswith("layers.toml:9: the model, the loss and the data do")
    assert "mat1 and mat2 shapes cannot be multiplied (360x10 and 11x10)" in text


def test_a_warning_inside_a_model_is_not_shown_at_each_step(tmp_path, console):
    text, code = said(console, tmp_path, '{ type = "Softmax" },')
    place = "layers.toml:9: UserWarning: Implicit dimension choice for softmax"
    # Once, and once more after a library has touched the filters of warnings.
    assert code == 0 and 1 <= text.count(place) == text.count("Warning") <= 2, text
