"""Commands on terminals of any width: every line fits, and no word of it is cut."""

import os
import re

import pytest

from tinynet.train.base.terminal import aligned, width_of

from .terminals import Screen, on_a_terminal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no pseudo terminals")

COLUMNS = [20, 40, 60, 80, 100, 120, 200]
METRICS = '[evaluation]\nmetrics = ["accuracy", "top3", "f1", "precision", "recall"]\n'
FIELD = re.compile(
    r"((test|val) )?(loss|acc|top3|f1|precision|recall) +\d+(\.\d+)?( %)?|lr +0\.1"
    r"|[\d,]+ ex/s|\d+\.\d s|0:00:\d\d left"
)


def fields_of(line):
    """The fields of a line of an epoch; asserts that each is whole."""
    head = re.match(r"epoch [12]/2( +\d+ %( \|[█▏▎▍▌▋▊▉ ]{8,28}\|)?)?(  |$)", line)
    assert head, line
    fields = [one for one in line[head.end() :].split(", ") if one]
    assert all(FIELD.fullmatch(one.strip()) for one in fields), line
    return fields


@pytest.mark.sampled(2)
@pytest.mark.parametrize("columns", COLUMNS)
def test_the_lines_of_epochs(columns, write, digits, tmp_path):
    text, code = on_a_terminal(
        ["train", write(digits + METRICS), "--set", "report=false"], tmp_path, columns
    )
    assert code == 0, text
    screen = Screen(text, columns)
    ended = [line for line in screen.lines if line.startswith("epoch")]
    assert len(ended) == 2, text
    whole = [fields_of(line) for line in ended]
    drawn = [line for line in screen.drawn if re.match(r"epoch \d/\d +\d+ %", line)]
    assert drawn and all(len(line) < columns and fields_of(line) is not None for line in drawn)
    assert all(len(line) < columns for line in ended)
    assert all(fields[:1] and fields[0].startswith("loss") for fields in whole if columns >= 40)
    if columns >= 80:
        assert all("|" in line for line in drawn)
        assert all(any("val acc" in field for field in fields) for fields in whole)
    if columns == 200:
        assert all(len(fields) == 11 for fields in whole), whole  # nothing is left out


def test_a_bar_in_ascii(write, digits, tmp_path):
    own = {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    text, code = on_a_terminal(["train", write(digits), "--set", "epochs=40"], tmp_path, 80, own)
    assert code == 0 and text.isascii() and re.search(r"\|#* *\|", text), text


def test_a_terminal_that_cannot_return_gets_lines(write, digits, tmp_path):
    text, code = on_a_terminal(["train", write(digits)], tmp_path, 80, {"TERM": "dumb"})
    assert code == 0
    assert text.count("\r") == text.count("\r\n")
    assert re.search(r"^epoch 1/2: train loss [\d.]+, train accuracy [\d.]+ %, ", text, re.M)


NOISY = """
    import warnings

    def right(outputs, targets):
        warnings.warn("the metric is slow", stacklevel=2)
        return 1.0

    right.higher_is_better = True
"""


def test_a_warning_gets_a_line_of_its_own(write, digits, tmp_path):
    config = write(digits + '[evaluation]\nmetrics = ["./m.py:right"]\n', m=NOISY)
    text, code = on_a_terminal(["train", config], tmp_path, 200)
    assert code == 0
    assert any(re.fullmatch(r"warning: .*the metric is slow", s) for s in Screen(text, 200).lines)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("jobs, columns", [(2, 80), (1, 60)])
def test_a_sweep_shows_the_epochs_of_its_runs(jobs, columns, write, digits, tmp_path):
    values = ["optimizer.lr=0.01,0.1", "model.sizes=[64, 16, 10],[64, 300, 300, 10]", "epochs=20"]
    sweep = ["sweep", write(digits), *values, "report=false", "--jobs", str(jobs)]
    text, code = on_a_terminal(sweep, tmp_path, columns, {"OPENBLAS_NUM_THREADS": "1"})
    assert code == 0, text
    screen = Screen(text, columns)
    live = [line for line in screen.drawn if re.match(r"\d/4 done: ", line)]
    assert any(re.search(r"=0.01 .* epoch [1-9]\d?/20", line) for line in live), text
    assert all(len(line) < columns for line in live)
    ended = [line for line in screen.lines if line.startswith("[")]
    assert [line[:5] for line in ended] == [f"[{n}/4]" for n in (1, 2, 3, 4)]
    assert all(re.search(r"accuracy \d\d.\d\d %", line) for line in ended)
    table = screen.lines[screen.lines.index("") + 1 :][:5]
    assert re.match(r" *lr +sizes +validation accuracy", table[0]), table
    assert all(len(line) < columns for line in table)


@pytest.mark.parametrize("columns", [50, 60, 80, 120, 200])
def test_tables_leave_out_columns(columns):
    """The names and the first figure remain; without a terminal, everything."""
    layers = [f'[{{type = "Linear", out_features = {n}}}, {{type = "ReLU"}}]' for n in (8, 16)]
    rows = [("layers", "seed", "accuracy", "loss", "status", "folder")]
    rows += [
        (one, "1", "0.97", "0.1", "finished", "001_layers/2026-01-31_12-00-00") for one in layers
    ]
    lines = aligned(rows, columns)
    assert all(width_of(line) <= columns for line in lines)
    header = lines[0].split()
    assert header[0] == "layers" and header[1] == "seed"
    assert (header == [*rows[0]]) is (columns >= 120)
    assert len({line.split("  ")[0] for line in lines[1:3]}) == 2
    whole = aligned(rows)
    assert len(whole) == 3 and all(
        layer in line for layer, line in zip(layers, whole[1:], strict=True)
    )
    commands = aligned(
        [("status", "details"), ("failed", "tinynet explain runs/" + 9 * "long_")], 40
    )
    assert commands[1].endswith("long_long_")


def test_a_search_shows_the_epochs_of_its_trials(write, digits, tmp_path):
    space = ["--space", "optimizer.lr=log(1e-3,1e-1)", "--trials", "2", "--set", "epochs=20"]
    search = ["search", write(digits), *space, "--set", "report=false"]
    text, code = on_a_terminal(search, tmp_path, 80)
    assert code == 0, text
    screen = Screen(text, 80)
    live = [line for line in screen.drawn if re.match(r"\d/2 done: ", line)]
    assert any(re.search(r"lr=[\d.]+, epoch [1-9]\d?/20, loss [\d.]+", line) for line in live)
    assert all(len(line) < 80 for line in screen.lines if line.startswith("[trial"))


COMMANDS = ["check", "find-lr", "list", "profile", "train", "list model", "explain"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_of_prose_is_broken_between_words(command, columns, write, digits, tmp_path):
    name, *more = command.split()
    config = [] if name in ("list", "explain") else [write(digits + METRICS)]
    text, code = on_a_terminal([name, *more, *config], tmp_path, columns)
    screen = Screen(text, columns)
    cut = [line for line in screen.wrapped if "python" not in "".join(screen.lines[:line])[-200:]]
    assert code == 0 and screen.lines, text
    assert not cut, [screen.lines[line - 1 : line + 1] for line in cut]
