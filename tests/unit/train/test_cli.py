"""The command line: what it prints, where, and its exit codes."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.patience import PATIENCE
from tinynet.train.base.run_folder import new_run_folder
from tinynet.train.cli import main

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
}
PROGRAM = [sys.executable, "-m", "tinynet"]


def interruptible():
    """Undo an ignored Ctrl-C: shells without job control give it to what runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(*arguments, **options):
    if os.name != "nt":
        options.setdefault("preexec_fn", interruptible)
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        **options,
    )


# ---- in this process ----


def test_train_and_eval(write, digits, capsys):
    assert main(["train", write(digits), "--set", "run.epochs=1", "--set", "optimizer.lr=0.2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    folder = re.search(r"^run folder: (.*)$", out, re.M)[1]
    assert "lr = 0.2" in Path(folder, "config.toml").read_text()
    accuracy = re.search(r"^test accuracy .*, test loss [\d.]+", out, re.M)[0]
    assert main(["eval", folder]) == 0
    assert capsys.readouterr().out.startswith(accuracy)


def test_options_may_come_first(write, digits, tmp_path):
    path = write(digits)
    code = main(["train", "--set", "run.epochs=1", "--out", "elsewhere", path])
    assert code == 0
    assert (tmp_path / "elsewhere" / "digits").is_dir()


def test_out_may_be_any_text(write, digits, tmp_path):
    assert main(["train", write(digits), "--set", "run.epochs=1", "--out", "1"]) == 0
    assert (tmp_path / "1" / "digits").is_dir()


def test_a_mistake_in_the_config(write, digits, capsys, tmp_path):
    path = write(digits.replace("momentum", "momentun"))
    assert main(["train", path]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        "digits.toml:19: optimizer.momentun: unknown key; did you mean 'momentum'?"
    )
    assert err.endswith("1 mistake; nothing was written.\n")
    assert os.listdir(tmp_path) == ["digits.toml"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["train", "none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["eval", "none"], "there is no run folder none"),
        (["train"], "the following arguments are required: CONFIG"),
        (
            ["trian"],
            "there is no command 'trian'; did you mean 'train'? Commands: new, train, resume,",
        ),
        (["nonsense"], "there is no command 'nonsense'. Commands: new, train, resume,"),
        ([], "train the model of a config file"),
        (["train", "x.toml", "--lr", "1"], "unrecognized arguments: --lr"),
    ],
    ids=str,
)
def test_mistakes_in_the_arguments(arguments, message, capsys):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["eval", "--help"]])
def test_help(arguments, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: tinynet")
    assert all(len(line) <= 100 for line in out.splitlines())


def test_help_shows_commands_and_examples(capsys):
    main(["--help"])
    out = capsys.readouterr().out
    for text in ("train the model of a config file", "evaluate the model", "--set optimizer.lr="):
        assert text in out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("tinynet ")


def test_a_run_that_fails(write, digits, capsys):
    assert main(["train", write(digits), "--set", "optimizer.lr=1e38"]) == 1
    err = capsys.readouterr().err
    assert "stopped before the weights were changed" in err
    assert "Traceback" not in err


# ---- as a program ----


def test_python_m_tinynet(write, digits, reports, tmp_path):
    program = start("train", write(digits), "--set", "run.epochs=2", cwd=tmp_path)
    out, err = program.communicate()
    assert program.returncode == 0, err
    lines = out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "epoch 1/2",
        "epoch 2/2",
        *lines[2:4],  # the figures of the validation set, and of the test set
        "run folder",
        "report",
        "view it",
    ]
    assert err == ""  # not a terminal: no bar


def test_two_at_once(write, digits, tmp_path):
    path = write(digits)
    programs = [start("train", path, cwd=tmp_path) for _ in range(2)]
    outs = [program.communicate()[0] for program in programs]
    assert [program.returncode for program in programs] == [0, 0]
    folders = {re.search(r"^run folder: (.*)$", out, re.M)[1] for out in outs}
    assert len(folders) == 2
    checkpoints = {(tmp_path / folder / "checkpoint.npz").read_bytes() for folder in folders}
    assert len(checkpoints) == 1  # weights, optimizer and generators: the same to the bit


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_run_after_the_step(write, digits, tmp_path, number, code):
    program = start("train", write(digits), "--set", "run.epochs=100000", cwd=tmp_path)
    program.stdout.readline()
    program.send_signal(number)
    out, err = program.communicate(timeout=PATIENCE)
    assert program.returncode == code
    assert err == ""
    assert "stopped after the step in progress; everything is saved" in out
    folder = re.search(r"^run folder: (.*)$", out, re.M)[1]
    assert '"status": "interrupted"' in Path(tmp_path, folder, "run.json").read_text()
    assert main(["eval", str(tmp_path / folder)]) == 0


# ---- any file at all ----


def test_any_damage_to_a_config_gives_a_message(write, digits, tmp_path, capsys):
    """Bytes are changed, removed, doubled; the answer is a checked config or a clean message."""
    import numpy as np

    from tinynet.train import ConfigError, load_config

    random = np.random.default_rng(0)
    path, whole = write(digits), digits.encode()
    refused = 0
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(random.integers(1, 4)):
            at = int(random.integers(len(data)))
            match random.integers(3):
                case 0:
                    data[at] = int(random.integers(256))
                case 1:
                    del data[at : at + int(random.integers(1, 20))]
                case 2:
                    data[at:at] = data[: int(random.integers(1, 40))]
        (tmp_path / path).write_bytes(data)
        try:
            load_config(path)
        except ConfigError as error:
            refused += 1
            for problem in error.problems:
                assert problem.origin.file == path
                assert "\n" not in str(problem)
    assert refused > 300
    assert os.listdir(tmp_path) == [path]


def test_run_folders_are_dated(tmp_path):
    name = new_run_folder(tmp_path, "x").path.name
    assert re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", name)


def test_a_warning_is_a_line(write, digits, tmp_path):
    assert main(["train", write(digits), "--quiet", "--set", "run.epochs=2"]) == 0
    (folder,) = (tmp_path / "runs" / "digits").iterdir()
    (folder / "checkpoint.npz").write_bytes(b"")
    process = start("eval", str(folder), cwd=tmp_path)
    out, err = process.communicate()
    assert process.returncode == 0 and out.startswith("test accuracy ")
    (line,) = err.splitlines()
    assert line.startswith(f"warning: {folder / 'checkpoint.npz'} is not a checkpoint, or damaged")
