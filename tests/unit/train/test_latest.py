"""The run that began last, and the word for it in commands."""

import os

import pytest

from tinynet.train import UsageError, latest_run, run
from tinynet.train.cli import main
from tinynet.train.commands import COMMANDS, find


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three runs of two configs; the names of the folders do not tell which began last."""
    folder = tmp_path_factory.mktemp("latest")
    config = folder / "digits.toml"
    config.write_text(
        'data = {type = "Digits"}\nmodel = {type = "mlp", sizes = [64, 10]}\n'
        'loss = {type = "CrossEntropyLoss"}\noptimizer = {type = "SGD", lr = 0.1}\n'
    )
    few = {"run.epochs": 1, "run.report": False, "run.callbacks": []}
    out = folder / "runs"
    made = []
    for number, name in enumerate(("b", "a", "a")):
        made.append(run(config, {**few, "run.name": name}, out=out, quiet=True).folder)
        os.utime(made[-1] / "config.toml", (number, number))
    return folder, made


def test_the_latest_run(runs):
    folder, (first, second, third) = runs
    assert latest_run(folder / "runs") == third
    assert latest_run(str(folder / "runs" / "b")) == first
    os.utime(second / "config.toml", (9, 9))
    assert latest_run(folder / "runs") == second
    os.utime(second / "config.toml", (1, 1))


def test_by_default_it_is_that_in_runs(runs, monkeypatch):
    folder, (*_, third) = runs
    monkeypatch.chdir(folder)
    assert latest_run().absolute() == third


def test_without_a_run(tmp_path):
    with pytest.raises(
        UsageError, match=r"there is no run in .*; `tinynet train CONFIG` makes one"
    ):
        latest_run(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        "eval latest",
        "eval latest --best",
        "predict latest --count 1",
        "explain latest",
        "export latest weights.npz --force",
        "resume latest --set run.epochs=2",
        "report latest --save page.html",
        "show latest",
        "check latest",
        "graph latest --format dot",
    ],
)
def test_commands(command, runs, monkeypatch, capsys):
    folder, (*_, third) = runs
    monkeypatch.chdir(folder)
    before = (third / "config.toml").stat()
    outputs = []
    for word in ("latest", str(third.relative_to(folder))):
        assert main(command.replace("latest", word).split()) == 0, capsys.readouterr().err
        outputs.append(capsys.readouterr().out)
        os.utime(third / "config.toml", ns=(before.st_atime_ns, before.st_mtime_ns))
    if command.split()[0] not in ("resume", "check", "graph"):  # these print times
        assert outputs[0] == outputs[1]


def test_of_one_config(runs, monkeypatch, capsys):
    folder, (first, *_) = runs
    monkeypatch.chdir(folder)
    assert main(["show", "runs/b/latest"]) == 0
    assert 'name = "b"' in capsys.readouterr().out
    assert main(["eval", "runs/c/latest"]) == 2
    assert "there is no run in runs/c" in capsys.readouterr().err


def test_a_file_of_that_name_comes_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latest").mkdir()
    assert main(["eval", "latest"]) == 2
    assert "latest is not the folder of a run" in capsys.readouterr().err


def test_every_command_that_takes_a_run_or_a_config_knows_the_word(runs, monkeypatch, capsys):
    folder, _ = runs
    monkeypatch.chdir(folder)
    for command in map(find, COMMANDS):
        assert main([command.name, "--help"]) == 0
        usage, _, text = capsys.readouterr().out.partition("\n\n")
        if " RUN" in usage or " CONFIG" in usage:
            assert "latest" in text, command.name
