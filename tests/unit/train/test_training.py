"""What a config can say about how it is trained: schedules, averages, metrics, the best."""

import json
import math
import subprocess

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tinynet.optim import lr_scheduler
from tinynet.train import ConfigError, UsageError, evaluate_run, load_run, run
from tinynet.train.base import checkpoint_file as checkpoints

from .test_runner import weights


def all_rows(result):
    return [json.loads(row) for row in (result.folder / "metrics.jsonl").read_text().splitlines()]


def rows(result):
    """The rows of the epochs, without those of the test set at the end."""
    return [row for row in all_rows(result) if "weights" not in row]


def test_metrics_reach_lines_files_and_tensorboard(write, digits, capsys):
    extra = ['evaluation.metrics=["accuracy", "top3", "confusion_matrix"]', "evaluation.samples=5"]
    result = run(write(digits), extra)
    assert [*result.metrics] == ["loss", "accuracy", "top3"]
    assert result.metrics["top3"] > result.metrics["accuracy"]
    assert " %, val top3 9" in capsys.readouterr().out
    assert rows(result)[-1]["val/top3"] == result.validation["top3"]
    assert all_rows(result)[-1]["test/top3"] == result.metrics["top3"]
    events = EventAccumulator(str(result.folder)).Reload()
    assert {"val/top3", "test/top3", "test_best/top3"} <= {*events.Tags()["scalars"]}
    tensors = events.Tags()["tensors"]
    assert "val/samples/text_summary" in tensors
    assert "val/confusion_matrix/text_summary" in tensors
    assert {"val/samples", "val/confusion_matrix"} <= {*events.Tags()["images"]}
    picture = events.Images("val/confusion_matrix")[-1]
    assert (picture.width, picture.height) == (331, 331)  # 10 cells of 32 pixels, and lines
    assert evaluate_run(result.folder, quiet=True).metrics == result.metrics


def test_accumulation_and_clipping(write, digits):
    extra = ["optimizer.accumulate=4", "optimizer.clip_value=0.1", "optimizer.clip_norm=1"]
    result = run(write(digits), extra, quiet=True)
    assert [row["step"] for row in rows(result)] == [5, 11]  # 23 batches are 6 steps
    assert result.metrics["accuracy"] > 0.3


def test_the_moving_average_is_what_is_measured_and_kept(write, digits):
    path = write(digits + "[ema]\ndecay = 0.9\n")
    result = run(path, quiet=True)
    plain = run(path, ["ema.decay=1e-9"], quiet=True)
    assert weights(result.model) == weights(plain.model)  # it does not change how training goes
    assert result.metrics != plain.metrics
    trained = load_run(result.folder)
    assert weights(trained.parts.model) != weights(result.model)
    assert evaluate_run(result.folder, quiet=True).metrics == result.metrics
    assert evaluate_run(result.folder, best=True, quiet=True).metrics == result.best_metrics
    own = {"best": True, "on": "validation", "quiet": True}
    assert evaluate_run(result.folder, **own).metrics == result.best.figures


def test_early_stopping_and_the_best_checkpoint(write, digits, capsys):
    extra = ["run.epochs=50", "evaluation.patience=2", "optimizer.lr=0.3", "run.seed=2"]
    result = run(write(digits), extra)
    done = rows(result)
    accuracies = [row["val/accuracy"] for row in done]
    best = accuracies.index(max(accuracies)) + 1
    assert len(done) == best + 2 < 50
    assert 0.5 < accuracies[-1] < max(accuracies)
    assert result.best.epoch == best
    assert checkpoints.read_checkpoint(result.folder / "best.npz")["epoch"] == best
    again = evaluate_run(result.folder, best=True, on="validation", quiet=True)
    assert again.metrics["accuracy"] == max(accuracies)
    tested = evaluate_run(result.folder, best=True, quiet=True).metrics
    assert tested == result.best_metrics != result.metrics
    assert f"(best: accuracy {100 * max(accuracies):.2f} %, after epoch {best})" in (
        capsys.readouterr().out
    )
    record = json.loads((result.folder / "run.json").read_text())
    assert record["best"]["epoch"] == best
    assert record["status"] == "finished"


def test_the_best_by_another_figure(write, digits):
    result = run(write(digits), ["evaluation.monitor=loss", "run.epochs=3"], quiet=True)
    losses = [row["val/loss"] for row in rows(result)]
    assert result.best.epoch == losses.index(min(losses)) + 1


@pytest.mark.parametrize(
    "extra, message",
    [
        (
            'evaluation.metrics=["mse"]',
            r"command line: evaluation.metrics: mse needs outputs and targets of the same shape; "
            r"outputs are \[57, 10\]",
        ),
        (
            "evaluation.monitor=top5",
            "command line: evaluation.monitor: 'top5' is not among the metrics: loss, accuracy",
        ),
        ("evaluation.monitor=confusion_matrix", "is not among the metrics"),
    ],
)
def test_what_does_not_fit_is_told_before_anything_is_written(
    write, digits, tmp_path, extra, message
):
    with pytest.raises(UsageError, match=message):
        run(write(digits), [extra], quiet=True)
    assert not (tmp_path / "runs").exists()


def test_weights_to_begin_with(write, digits, tmp_path):
    first = run(write(digits), quiet=True)
    extra = {"run.init_from": str(first.folder), "optimizer.lr": 1e-12, "run.epochs": 1}
    second = run(write(digits), extra, quiet=True)
    assert second.metrics["accuracy"] == first.metrics["accuracy"]
    assert rows(second)[0]["epoch"] == 1  # weights only: this is not going on
    assert str(tmp_path) in (second.folder / "config.toml").read_text()
    with pytest.raises(UsageError, match="command line: run.init_from: Error.* loading state_dict"):
        run(write(digits), [f"run.init_from={first.folder}", "model.sizes=[64, 10]"], quiet=True)
    with pytest.raises(UsageError, match="there is no run folder"):
        run(write(digits), {"run.init_from": "x"}, quiet=True)


def test_a_schedule_that_waits_for_a_figure(write, digits):
    config = digits + '[schedule]\ntype = "./plateau.py:Plateau"\n'
    plateau = """
        from tinynet.optim.lr_scheduler import LRScheduler

        class Plateau(LRScheduler):
            def __init__(self, optimizer):
                self.optimizer, self.seen = optimizer, []

            def step(self, metrics):
                self.seen.append(metrics)
                self.optimizer.param_groups[0]["lr"] /= 2

            def state_dict(self):
                return {"seen": self.seen}
    """
    result = run(write(config, plateau=plateau), ["run.epochs=5", "run.eval_every=2"], quiet=True)
    assert [row["lr"] for row in rows(result)] == [0.1, 0.1, 0.05, 0.05, 0.025]
    state = checkpoints.read_checkpoint(result.folder / "checkpoint.npz")["schedules"][""]
    assert [round(figure, 9) for figure in state["schedule"]["seen"]] == [
        round(rows(result)[epoch]["val/loss"], 9) for epoch in (1, 3)
    ]
    assert state["figure"] == result.validation["loss"]


@pytest.mark.parametrize("extra, mode", [("", "max"), ('\nmode = "min"', "min")])
def test_a_plateau_of_a_figure_that_is_better_when_higher(write, digits, extra, mode):
    config = f'{digits}[schedule]\ntype = "ReduceLROnPlateau"\nmonitor = "accuracy"{extra}\n'
    result = run(write(config), ["run.epochs=1"], quiet=True)
    state = checkpoints.read_checkpoint(result.folder / "checkpoint.npz")["schedules"][""]
    assert state["schedule"]["mode"] == mode
    assert f'mode = "{mode}"' in (result.folder / "config.toml").read_text()
    again = run(result.folder / "config.toml", quiet=True)
    assert weights(again.model) == weights(result.model)


SCHEDULES = {
    "SequentialLR": (
        "milestones = [2]\nschedulers = [{type = 'ConstantLR', factor = 0.5},"
        " {type = 'ExponentialLR', gamma = 0.1}]",
        [0.05, 0.05, 0.1, 0.01],
    ),
    "ChainedScheduler": (
        "schedulers = [{type = 'ExponentialLR', gamma = 0.5}, {type = 'StepLR', step_size = 2}]",
        [0.1, 0.05, 0.0025, 0.00125],
    ),
    "LambdaLR": ("lr_lambda = './rate.py:rate'", [0.1, 0.05, 0.1 / 3, 0.025]),
    "ReduceLROnPlateau": (
        "threshold = 1e9\npatience = 0\nfactor = 0.5",
        [0.1, 0.05, 0.025, 0.0125],
    ),
}


@pytest.mark.parametrize("kind", [name for name in SCHEDULES if hasattr(lr_scheduler, name)])
def test_schedules_from_configs(write, digits, kind):
    text, expected = SCHEDULES[kind]
    config = write(
        digits + f'[schedule]\ntype = "{kind}"\n{text}\n',
        rate="def rate(epoch):\n    return 1 / (1 + epoch)\n",
    )
    result = run(config, ["run.epochs=4"], quiet=True)
    assert [row["lr"] for row in rows(result)] == pytest.approx(expected)
    again = run(result.folder / "config.toml", quiet=True)
    assert weights(again.model) == weights(result.model)


def test_a_function_that_is_not_there(write, digits):
    config = write(
        digits + '[schedule]\ntype = "LambdaLR"\nlr_lambda = "./rate.py:ratte"\n',
        rate="def rate(): 1",
    )
    with pytest.raises(
        ConfigError, match=r"lr_lambda: ./rate.py has no 'ratte'; did you mean 'rate'"
    ):
        run(config)


def test_any_number_of_workers_gives_the_same_bits(write, digits):
    path = write(digits)
    results = [run(path, {"data.workers": n, "model.dropout": 0.3}, quiet=True) for n in (0, 1, 3)]
    assert len({str(weights(result.model)) for result in results}) == 1


def test_json_lines_are_for_programs(write, digits, capsys):
    result = run(write(digits), json=True)
    *epochs, end = map(json.loads, capsys.readouterr().out.splitlines())
    assert [row["epoch"] for row in epochs] == [1, 2]
    assert epochs[-1]["val/accuracy"] == result.validation["accuracy"]
    assert end == {
        "folder": str(result.folder),
        "stopped_by": None,
        "selected_on": "validation",
        "validation": result.validation,
        "test": result.metrics,
        "test_best": result.best_metrics,
        "best": {"epoch": result.best.epoch, **result.best.figures},
    }
    evaluate_run(result.folder, json=True)
    assert json.loads(capsys.readouterr().out)["test"] == result.metrics


def test_the_git_commit_is_recorded(write, digits, tmp_path):
    path = write(digits)

    def git(*arguments):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def record(result):
        return json.loads((result.folder / "run.json").read_text())["git"]

    extra = {"run.epochs": 1}
    assert record(run(path, extra, out=tmp_path / "out", quiet=True)) is None
    git("init")
    git("add", "digits.toml")
    git("commit", "-m", "x")
    clean = run(path, extra, quiet=True)
    expected = {"commit": git("rev-parse", "HEAD"), "dirty": False, "untracked": ["out/"]}
    assert record(clean) == {**expected, "untracked": ["out/", "runs/"]}
    assert not (clean.folder / "changes.diff").exists()
    (tmp_path / path).write_text(digits.replace("0.1", "0.125"))
    changed = run(path, extra, quiet=True)
    assert record(changed)["dirty"] is True
    assert "+lr = 0.125" in (changed.folder / "changes.diff").read_text()


def test_perplexity(write, digits):
    result = run(write(digits), {"evaluation.metrics": ["perplexity"], "run.epochs": 1}, quiet=True)
    assert result.metrics["perplexity"] == pytest.approx(math.exp(result.metrics["loss"]))
