"""What a run does about NaN, what it keeps, and what `tinynet explain RUN` says afterwards."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tinynet.train import NonFiniteError, evaluate_run, run
from tinynet.train.base import checkpoint_file as checkpoints
from tinynet.train.base.files import row_with_checksum
from tinynet.train.base.problems import TrainError
from tinynet.train.cli import main
from tinynet.train.diagnose.explanation import replay
from tinynet.train.incidents import guard as post_mortems
from tinynet.train.incidents.guard import read_report

from .test_resume import rows
from .test_runner import own_model

NET = """
    import tinynet as tn
    from tinynet import nn

    class Head(nn.Module):
        def __init__(self, at):
            super().__init__()
            self.linear, self.at = nn.Linear(32, 10), at
            self.register_buffer("calls", tn.zeros((), dtype=tn.int64), persistent=False)

        def forward(self, x):
            self.calls += self.training
            scores = self.linear(x)
            if int(self.calls) in self.at:
                return scores.relu().log()
            return scores

    class Net(nn.Module):
        def __init__(self, at: list[int] = [30]):
            super().__init__()
            self.body = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32))
            self.drop, self.head = nn.Dropout(0.5), Head(at)

        def forward(self, x):
            return self.head(self.drop(self.body(x)).relu())
"""


@pytest.fixture
def say(capsys):
    """Runs a command that must succeed; what it prints."""

    def run_command(*arguments):
        assert main([*map(str, arguments)]) == 0
        return capsys.readouterr().out

    return run_command


@pytest.fixture
def failed(write, digits):
    """The folder of a run that came to NaN in its second epoch, and the error."""
    with pytest.raises(NonFiniteError) as caught:
        run(write(own_model(digits), net=NET), quiet=True)
    (folder,) = Path("runs/digits").iterdir()
    return folder, caught.value


def test_the_run_folder_keeps_the_step(failed):
    folder, error = failed
    report = read_report(folder / "post_mortem" / "step_30")
    assert report == error.post_mortem.report
    assert (report.epoch, report.step, report.batch, report.batches) == (2, 30, 7, 23)
    (suspect,) = report.suspects
    assert (suspect.name, suspect.module, suspect.line.line) == ("log", "Net.head", 15)
    assert len(report.indices) == 57
    record = json.loads((folder / "run.json").read_text())
    assert record["status"] == "failed"
    assert record["error"] == "the loss is inf in epoch 2, step 30 (batch 7 of 23)"
    assert str(error).endswith(
        f"  kept     {folder}/post_mortem/step_30\n           tinynet explain {folder}"
    )


def test_explain_reads_it_back(failed, say):
    folder, error = failed
    text = say("explain", folder)
    for line in (
        rf"{folder}: failed \(started ....-..-.. ..:..:..\)",
        r"epoch 1: train loss .*, val accuracy .*",
        r"checkpoint: after step 23, epoch 1",
        r"the loss is inf in epoch 2, step 30 \(batch 7 of 23\); the weights are .* this step\.",
        r"  made     net\.py:15 in forward .*scores\.relu\(\)\.log\(\) .*by log in Net\.head",
        r"  resume: +tinynet resume .*",
    ):
        assert re.search(f"^{line}$", text, re.M), line
    for line in error.post_mortem.report.lines():
        assert line in text
    assert say("explain", folder / "post_mortem" / "step_30").startswith(
        "the loss is inf in epoch 2"
    )


def test_the_step_can_be_done_again(failed, say):
    folder, error = failed
    again = replay(folder / "post_mortem" / "step_30")
    assert again.report == error.post_mortem.report
    assert "repeated just now" in say("explain", folder, "--replay")
    net = Path("net.py")
    net.write_text(net.read_text().replace("relu().log()", "relu() + 1"))
    (folder / "config.toml").write_text(
        (folder / "config.toml").read_text().replace("./net.py", "./mended.py")
    )
    Path("mended.py").write_text(net.read_text())
    assert "this no longer happens" in say("explain", folder, "--replay")


def test_what_is_kept_are_numbers_and_nothing_that_can_run(failed):
    folder, error = failed
    with np.load(folder / "post_mortem" / "step_30" / "step.npz", allow_pickle=False) as archive:
        assert len(archive.files) > 5
    state = checkpoints.read_checkpoint(folder / "post_mortem" / "step_30" / "step.npz")
    saved = checkpoints.read_checkpoint(folder / "checkpoint.npz")  # of the epoch before
    assert state["model"].keys() == {*saved["model"], "head.calls"}
    assert not (state["model"]["body.1.weight"] == saved["model"]["body.1.weight"]).all()
    ((inputs, targets),) = state["batches"]
    assert (inputs.shape, targets.shape) == ((57, 1, 8, 8), (57,))


@pytest.fixture
def holed(write, digits):
    """Writes a config whose training set has NaN in some rows, which nobody looks at."""

    def write_config(*rows):
        made = f"""
            import tinynet as tn
            from tinynet import data

            def holed(train: bool):
                x, y = (tn.stack(column) for column in zip(*data.Digits(train=train)))
                if train:
                    x[{[*rows]}] = float("nan")
                return data.TensorDataset(x, y)
        """
        model = own_model(digits).replace(':Net"', ':Net"\nat = []')
        config = model.replace('"Digits"', '"./made.py:holed"\ncheck = false')
        config = config.replace("batch_size = 57", "batch_size = 64\nvalidation = 0")  # all rows
        return write(config.replace("check =", "shuffle = false\ncheck ="), net=NET, made=made)

    return write_config


def test_steps_are_skipped_and_counted(holed, capsys, say):
    result = run(holed(70), ["run.non_finite=skip"])
    out = capsys.readouterr().out
    assert "skipped step 2 (epoch 1, batch 2 of 23): the loss is nan, it was in inputs of" in out
    assert "(2 of at most 10)" in out
    assert result.metrics["accuracy"] > 0.5
    record = json.loads((result.folder / "run.json").read_text())
    assert (record["status"], record["skipped"]) == ("finished", 2)
    assert checkpoints.read_checkpoint(result.folder / "checkpoint.npz")["skipped"] == 2
    assert all(row["train/loss"] is not None for row in rows(result.folder))
    text = say("explain", result.folder)
    assert f"{result.folder}: finished" in text and "2 steps were skipped:" in text
    assert f"tinynet explain {result.folder}/post_mortem/step_25" in text
    assert evaluate_run(result.folder, quiet=True).metrics == result.metrics


def test_skipping_has_a_limit(holed):
    options = ["run.non_finite=skip", "run.skip_limit=1"]
    with pytest.raises(NonFiniteError, match="1 step before this one, and run.skip_limit") as found:
        run(holed(0, 200), options, quiet=True)
    assert found.value.number == 3


def test_the_last_step_of_an_epoch_can_be_skipped(holed):
    result = run(holed(1432), ["run.non_finite=skip"], quiet=True)
    assert len(rows(result.folder)) == 2
    assert result.metrics["accuracy"] > 0.5


def test_a_full_disk_does_not_hide_the_reason(write, digits, monkeypatch):
    def full(*arguments):
        raise TrainError("report.json cannot be written (No space left on device)")

    monkeypatch.setattr(post_mortems, "write_json", full)
    with pytest.raises(NonFiniteError, match="by log in Net.head") as caught:
        run(write(own_model(digits), net=NET), quiet=True)
    assert "  kept     not everything: report.json cannot be written (No space" in str(caught.value)


# ---- runs that ended otherwise ----


def test_explain_a_run_that_finished(write, digits, say):
    folder = run(write(digits), quiet=True).folder
    text = say("explain", folder)
    assert text.startswith(f"{folder}: finished (started ")
    for telling in ("epoch 2: train loss", "best, after epoch", "tinynet eval", "tinynet board"):
        assert telling in text
    assert "post_mortem" not in text


def test_explain_a_run_that_crashed(write, digits, capsys):
    net = NET.replace("return scores.relu().log()", 'raise ValueError("a mistake")')
    assert main(["train", write(own_model(digits), net=net)]) == 1
    (folder,) = Path("runs/digits").iterdir()
    capsys.readouterr()
    assert main(["explain", str(folder)]) == 0
    text = capsys.readouterr().out
    assert "failed" in text and "ValueError: a mistake" in text and "in forward" in text
    assert "tinynet resume" in text


def test_explain_a_run_that_was_killed_or_stopped(write, digits, say):
    folder = run(write(digits), quiet=True).folder
    record = json.loads((folder / "run.json").read_text())
    for status, telling in (
        ("running", "it is running, or it was killed"),
        ("interrupted", "stopped by Ctrl-C or SIGTERM"),
    ):
        (folder / "run.json").write_text(json.dumps(record | {"status": status}))
        row = row_with_checksum('{"epoch": 1, "train/loss": 0.5}')
        (folder / "metrics.jsonl").write_text(f'{row}\n{{"epoch": 2, "tra')
        text = say("explain", folder)
        assert telling in text and "epoch 1: train loss 0.5" in text and "tinynet resume" in text
    (folder / "checkpoint.npz").write_bytes(b"damage")
    assert "is not a checkpoint, or damaged" in say("explain", folder)
    (folder / "checkpoint.npz").unlink()
    assert "start again:" in say("explain", folder)


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "is not the folder of a run: it has no run.json"),
        ("{", "cannot be read"),
        ("[]", "is damaged"),
    ],
)
def test_explain_what_is_no_run(tmp_path, capsys, content, message):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    assert main(["explain", str(tmp_path)]) in (1, 2)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"suspects": [1]}'])
def test_a_damaged_report(failed, capsys, content):
    place = failed[0] / "post_mortem" / "step_30"
    (place / "report.json").write_text(content)
    assert main(["explain", str(place)]) == 1
    assert "is damaged" in capsys.readouterr().err


def test_a_flipped_bit_in_a_report(failed, capsys):
    place = failed[0] / "post_mortem" / "step_30"
    text = (place / "report.json").read_text()
    assert '"step": 30' in text
    (place / "report.json").write_text(text.replace('"step": 30', '"step": 20'))
    assert main(["explain", str(place)]) == 1
    assert "is damaged: ValueError: its checksum" in capsys.readouterr().err


def test_a_topic_stays_one_where_a_folder_has_its_name(say, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("optimizer").mkdir()
    assert say("explain", "optimizer").startswith("[optimizer]")


def test_replay_without_anything_kept(write, digits, capsys):
    folder = run(write(digits), {"run.epochs": 1}, quiet=True).folder
    assert main(["explain", str(folder), "--replay"]) == 2
    assert "has no stored step that produced NaN" in capsys.readouterr().err


def test_explain_lists_the_runs_in_a_folder(write, digits, say, capsys):
    config = write(digits)
    first = run(config, {"run.epochs": 1}, quiet=True).folder
    assert main(["sweep", config, "--set", "run.epochs=1", "optimizer.lr=0.1,0.2"]) == 0
    (lost,) = Path("runs/digits").glob("sweep_*/001*/*")
    record = json.loads((first / "run.json").read_text())
    (first / "run.json").write_text(json.dumps(record | {"started": "2020-01-01T00:00:00"}))
    (lost / "run.json").write_text("{")
    (lost / "metrics.jsonl").unlink()
    capsys.readouterr()
    text = say("explain", "runs")
    heading, _, columns, *rows = text.splitlines()
    assert heading == "runs is not the folder of a run; there are 3 in it, the newest first:"
    assert columns.split() == ["status", "last", "epoch", "details"]
    assert rows[1].split()[0] == "finished" and rows[1].endswith(f"  tinynet explain {first}")
    assert "1: val loss" in rows[1] and rows[2].startswith("damaged   none  ")
    assert rows[2].endswith(f"  tinynet explain {lost}")
    assert f"tinynet explain {first}" not in say("explain", lost.parents[1])
    for command in ("eval", "resume", "predict"):
        assert main([command, "runs"]) == 2
        assert capsys.readouterr().err.endswith("; `tinynet explain runs` lists the 3 in it\n")


def test_of_many_runs_the_newest_are_listed(tmp_path, say):
    for day in range(1, 26):
        (tmp_path / f"{day}").mkdir()
        (tmp_path / f"{day}" / "run.json").write_text(
            json.dumps({"status": "finished", "started": f"2026-01-{day:02}T10:00:00"})
        )
    *lines, last = say("explain", tmp_path).splitlines()
    assert lines[3].endswith("/25") and lines[-1].endswith("/6") and last == "and 5 older ones"
