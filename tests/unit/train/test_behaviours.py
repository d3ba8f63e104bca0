"""What people ask of trainers with configs, one test per wish, under its number and name."""

import io
import json
import os
import re
import signal
import sys
import tomllib
from pathlib import Path

import pytest

from tests.tools.patience import PATIENCE
from tinynet.train import ConfigError, StorageWarning, load_config, run
from tinynet.train.cli import main
from tinynet.train.config.sections import SECTIONS, settings

from .terminals import on_a_terminal
from .test_cli import start
from .test_resume import same
from .test_runner import own_model, weights

NET = """
    from tinynet import nn
    from parts import head

    class Net(nn.Sequential):
        def __init__(self, width: int = 10):
            super().__init__(nn.Flatten(), head(width))
"""
PARTS = """
    from tinynet import nn

    def head(width):
        return nn.Linear(64, width)
"""


@pytest.fixture
def refuse(capsys):
    """Runs a command that must end with exit code 2; the lines of its message."""

    def run_command(*arguments):
        assert main([*arguments]) == 2
        out, err = capsys.readouterr()
        assert out == "" and "Traceback" not in err
        return err.splitlines()

    return run_command


def test_01_an_unknown_key_is_an_error_with_its_path_and_did_you_mean(write, digits, refuse):
    path = write(digits.replace("momentum", "momentun") + "[optimiser]\nlr = 1\n")
    first, second, _ = refuse("train", path)
    assert first.startswith("digits.toml:19: optimizer.momentun: unknown key; did you mean")
    assert "SGD takes: lr, momentum, " in first  # where it could be declared
    assert second.startswith("digits.toml:20: optimiser: unknown section; did you mean 'optimizer'")
    path = write(digits + '[schedule]\ntype = "StepLR"\nstep_size = 1\n')
    for section, cls in SECTIONS.items():  # no section lets anything through
        for key in settings(cls):
            with pytest.raises(ConfigError, match=rf"{section}\.{key}x: unknown key"):
                load_config(path, {f"{section}.{key}x": 1})


def test_02_all_errors_at_once_with_their_lines_and_no_traceback(write, digits, refuse):
    text = digits.replace("epochs = 2", 'epochs = "ten"').replace('"mlp"', '"mpl"')
    lines = refuse("train", write(text.replace("lr =", "lrr =")), "--set", "data.batch_size=0")
    assert [line.split(": ")[0] for line in lines[:-1]] == [
        *("digits.toml:3", "digits.toml:10", "digits.toml:18", "command line")
    ]
    assert lines[-1] == "4 mistakes; nothing was written."


@pytest.mark.parametrize("text", ["1e-3", "0.001", "+1.0e-03", "1"])
def test_03_numbers_are_numbers(write, digits, refuse, text):
    config = load_config(write(digits.replace("lr = 0.1", f"lr = {text}")))
    assert config.optimizer.component.arguments["lr"] == float(text)
    assert load_config("digits.toml", [f"optimizer.lr={text}"]).optimizer.component.arguments[
        "lr"
    ] == float(text)
    (line, _) = refuse("train", write(digits.replace("lr = 0.1", f'lr = "{text}"')))
    assert f"must be a number, got the string '{text}' (write it without quotes)" in line


def test_04_dotted_overrides_reach_into_lists(write, digits):
    second = '{type = "LazyLinear", out_features = 9}'
    layers = f'type = "sequential"\nlayers = [{{type = "Flatten"}}, {second}]'
    path = write(digits.replace('type = "mlp"\nsizes = [64, 16, 10]', layers))
    assert main(["check", path, "model.layers.1.out_features=10", "optimizer.lr=3e-4"]) == 0
    config = load_config(path, ["model.layers.1.type=Linear", "model.layers.1.in_features=64"])
    assert config.model.component.arguments["layers"][1].type == "Linear"


def test_05_the_resolved_config_shows_where_each_value_came_from(write, digits, capsys, tmp_path):
    (tmp_path / "base.toml").write_text(digits)
    path = write('base = "base.toml"\n\noptimizer.lr = 0.2\n')
    assert main(["show", path, "seed=9"]) == 0
    out = capsys.readouterr().out
    for line in ("lr = 0.2 .*# digits.toml:3", "momentum = 0.9 .*# base.toml:19"):
        assert re.search(f"^{line}$", out, re.M)
    for line in ("seed = 9 .*# command line", "nesterov = false .*# default"):
        assert re.search(f"^{line}$", out, re.M)
    assert tomllib.loads(out)["optimizer"]["lr"] == 0.2


def test_06_inheritance_merges_tables_replaces_lists_and_deletes_explicitly(
    write, digits, tmp_path
):
    (tmp_path / "base.toml").write_text(digits + '[schedule]\ntype = "StepLR"\nstep_size = 1\n')
    config = load_config(
        write('base = "base.toml"\nwithout = ["schedule"]\nmodel.sizes = [64, 10]\n')
    )
    assert config.schedule is None
    assert config.model.component.arguments == {"sizes": [64, 10]}
    assert config.optimizer.component.arguments == {"lr": 0.1, "momentum": 0.9}


def test_07_user_code_by_file_or_import_path_with_its_siblings(write, digits, refuse, monkeypatch):
    path = write(own_model(digits), net=NET, parts=PARTS)
    assert run(path, {"run.epochs": 1}, quiet=True).metrics["accuracy"] > 0.5
    assert run(path, {"run.epochs": 1, "model.type": "net:Net"}, quiet=True).metrics
    for name in ("net", "parts"):
        sys.modules.pop(name)
    (line, _) = refuse("train", path, "--set", "model.type=./nett.py:Net")
    assert "there is no file ./nett.py; did you mean net.py? Tried: /" in line
    tried = refuse("train", path, "--set", "model.type=nett:Net")
    assert "there is no module 'nett'. Tried these folders" in tried[0]
    assert str(Path.cwd()) in tried[1]


def test_08_check_tries_everything_and_writes_nothing(write, digits, capsys, tmp_path):
    path = write(digits)
    assert main(["check", path]) == 0
    out = capsys.readouterr().out
    for telling in (
        "inputs [57, 1, 8, 8]",
        "parameters: 1,210",
        "memory: ",
        "ms per step, 2 epochs",
    ):
        assert telling in out
    assert os.listdir(tmp_path) == [path]


def test_09_run_folders_are_never_overwritten(write, digits, tmp_path):
    first = run(write(digits), {"run.epochs": 1}, quiet=True)
    before = {file: file.read_bytes() for file in first.folder.iterdir()}
    again = run(first.folder / "config.toml", quiet=True)
    assert again.folder != first.folder
    assert {file: file.read_bytes() for file in first.folder.iterdir()} == before


def test_10_the_working_directory_is_never_changed(write, digits, tmp_path, monkeypatch):
    write(own_model(digits), net=NET, parts=PARTS)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    seen = []
    monkeypatch.setattr(os, "chdir", seen.append)
    for arguments in (["check"], ["show"], ["train"], ["sweep"]):
        extra = ["seed=0,1"] if arguments == ["sweep"] else []
        assert main([*arguments, "../digits.toml", "epochs=1", *extra]) == 0
    assert seen == []
    assert os.getcwd() == str(tmp_path / "below")
    assert os.listdir() == ["runs"]


def test_11_all_that_is_needed_to_repeat_is_in_the_run_folder(write, digits):
    result = run(write(digits), ["optimizer.lr=0.3"], quiet=True)
    record = json.loads((result.folder / "run.json").read_text())
    assert record["command"] == sys.argv
    assert record["seed"] == 3
    assert record["versions"].keys() >= {"tinynet", "numpy", "python"}
    assert record["platform"] and record["started"] and "git" in record
    again = run(result.folder / "config.toml", quiet=True)
    assert weights(again.model) == weights(result.model)


def test_12_resume_means_exact_continuation(write, digits, tmp_path):
    path = write(digits)
    extra = ["model.dropout=0.3", "run.save_every_steps=10"]
    whole = run(path, extra, out=tmp_path / "whole", quiet=True)
    folder = run(path, extra, out=tmp_path / "killed", quiet=True).folder
    (folder / "checkpoint.npz").unlink()  # the one of step 40 is left
    with pytest.warns(StorageWarning, match=r"checkpoint\.npz is missing"):
        assert main(["resume", str(folder)]) == 0
    same(folder, whole.folder)


def test_13_resume_with_a_changed_config_says_what_differs_and_who_wins(write, digits, capsys):
    folder = run(write(digits), {"run.epochs": 1}, quiet=True).folder
    assert main(["resume", str(folder), "epochs=2", "optimizer.lr=0.05"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[:4] == [
        "changed since the checkpoint (the new values apply):",
        "  run.epochs: 1 -> 2",
        "  optimizer.lr: 0.1 -> 0.05",
        "resuming after epoch 1, step 23",
    ]
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["lr"] for row in rows[:2]] == [0.1, 0.05]


def test_14_init_from_takes_weights_only(write, digits, tmp_path):
    path = write(digits)
    first = run(path, {"run.seed": 5}, quiet=True)
    assert main(["train", path, "epochs=1", "--init-from", str(first.folder), "--out", "new"]) == 0
    (folder,) = (tmp_path / "new" / "digits").iterdir()
    record = json.loads((folder / "run.json").read_text())
    assert record["seed"] == 3
    row, *_ = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    assert row["epoch"] == 1 and row["step"] == 22  # counting begins anew
    assert row["train/accuracy"] > 0.85  # the weights do not


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_15_a_signal_finishes_the_step_and_saves(write, digits, tmp_path, number, code):
    program = start("train", write(digits), "epochs=100000", cwd=tmp_path)
    program.stdout.readline()
    program.send_signal(number)
    out, _ = program.communicate(timeout=PATIENCE)
    assert program.returncode == code
    folder = re.search(r"^run folder: (.*)$", out, re.M)[1]
    assert main(["eval", str(tmp_path / folder)]) == 0


def test_16_seeds_are_set_recorded_and_split_by_purpose(write, digits):
    path = write(digits)
    extra = {"run.epochs": 4, "model.dropout": 0.3}
    often = run(path, extra, quiet=True)
    seldom = run(path, {**extra, "run.eval_every": 4, "evaluation.samples": 3}, quiet=True)
    assert weights(often.model) == weights(seldom.model)
    assert "seed = 3" in (often.folder / "config.toml").read_text()
    assert weights(run(path, {**extra, "run.seed": 4}, quiet=True).model) != weights(often.model)


def test_17_sweeps_go_on_after_failures_and_resume(write, digits, capsys):
    path = write(digits)
    assert main(["sweep", path, "optimizer.lr=1e38,0.1", "epochs=1"]) == 1
    out = capsys.readouterr().out
    assert out.index("[1/2] optimizer.lr=1e38: FAILED") < out.index("[2/2] optimizer.lr=0.1: val")
    (folder,) = Path("runs/digits").iterdir()
    assert main(["sweep", "--resume", str(folder)]) == 1
    again = capsys.readouterr().out
    assert "[2/2] optimizer.lr=1e38: FAILED" in again and "[1/2]" not in again
    assert re.search(r"^ *0\.1 +0\.\d+ +\d\.\d+ +0\.\d+ +finished", again, re.M)


def test_18_quiet_when_not_on_a_terminal(write, digits, reports, tmp_path, capsys):
    path = write(digits)
    program = start("train", path, cwd=tmp_path)
    out, err = program.communicate(timeout=PATIENCE)
    assert err == "" and len(out.splitlines()) == 7
    assert not re.search(r"[\r\x1b]", out)
    assert main(["train", path, "--json"]) == 0
    assert all(json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert main(["train", path, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    if os.name != "nt":
        screen, _ = on_a_terminal(["train", path, "--set", "report=false"], tmp_path)
        assert re.search(r"epoch 2/2 +\d+ %", screen)


def test_19_metrics_reach_the_disk_also_after_an_exception(write, digits):
    net = """
        from tinynet import nn

        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(nn.Flatten(), nn.Linear(64, 10))
                self.calls = 0

            def forward(self, images):
                self.calls += self.training
                if self.calls > 30:
                    raise RuntimeError("no more")
                return super().forward(images)
    """
    path = write(own_model(digits), net=net)
    with pytest.raises(RuntimeError, match="no more"):
        run(path, quiet=True)
    (folder,) = Path("runs/digits").iterdir()
    (row,) = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    assert row["epoch"] == 1
    (events,) = folder.glob("events*")
    assert b"val/accuracy" in events.read_bytes()
    assert json.loads((folder / "run.json").read_text())["status"] == "failed"


def test_an_error_in_the_users_code_is_told_in_the_users_lines(write, digits, capsys, tmp_path):
    net = """
        from tinynet import nn

        class Net(nn.Linear):
            def __init__(self):
                super().__init__(64, 10)
                self.calls = 0

            def forward(self, images):
                self.calls += self.training
                if self.calls > 30:
                    raise KeyError("no more")
                return super().forward(images.flatten(1))
    """
    assert main(["train", write(own_model(digits), net=net)]) == 1
    assert [line.strip() for line in capsys.readouterr().err.splitlines()] == [
        "the run failed",
        f'File "{tmp_path / "net.py"}", line 12, in forward',
        'raise KeyError("no more")',
        "KeyError: 'no more'",
    ]


def test_20_helpful_grammar(write, digits, capsys, monkeypatch):
    path = write(digits)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    for arguments in (["show", path, "--set", "seed=1"], ["show", "--set", "seed=1", path]):
        assert main(arguments) == 0
    first, second = capsys.readouterr().out.split("# The config of a run")[1:]
    assert first == second
    for arguments, telling in [
        (["list", "optimizer"], "SGD(lr="),
        (["explain", "optimizer.SGD"], "SGD(lr="),
        (["explain", "optimizer.lr"], "learning rate"),
        (["explain", "run.seed"], "The seed of all random numbers."),
    ]:
        assert main(arguments) == 0
        assert telling in capsys.readouterr().out
    assert main(["train"]) == 2
    assert "the following arguments are required: CONFIG" in capsys.readouterr().err
    assert main(["trian", path]) == 2
    assert "did you mean 'train'?" in capsys.readouterr().err
