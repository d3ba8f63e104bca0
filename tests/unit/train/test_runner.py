"""Whole runs: what they leave behind, and that they can be repeated to the bit."""

import json
import os
import random
import shutil
import tomllib

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import tinynet as tn
from tests.tools.rounding import near
from tinynet.train import CheckpointError, NonFiniteError, UsageError, evaluate_run, run
from tinynet.train.base import checkpoint_file as checkpoints
from tinynet.train.base import run_folder as folders
from tinynet.train.base.run_folder import new_run_folder
from tinynet.train.store import storage


def weights(model):
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


def own_model(digits, **others):
    return digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"')


# ---- what a run leaves behind ----


def test_the_run_folder(write, digits, tmp_path, capsys, reports):
    result = run(write(digits))
    assert result.folder.parent.as_posix() == "runs/digits"
    names = sorted(os.listdir(result.folder))
    assert names[:4] == ["best.npz", "checkpoint-23.npz", "checkpoint.npz", "config.toml"]
    assert names[4].startswith("events.out.tfevents.")
    assert names[5:] == ["metrics.jsonl", "report.html", "run.json"]
    assert os.getcwd() == str(tmp_path)

    record = json.loads((result.folder / "run.json").read_text())
    assert record["seed"] == 3
    assert record["status"] == "finished"
    assert (record["test"], record["validation"]) == (result.metrics, result.validation)
    assert record["test_best"] == result.best_metrics and record["selected_on"] == "validation"
    assert set(record["versions"]) == {"tinynet", "numpy", "python"}

    rows = [json.loads(row) for row in (result.folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows[:2]] == [1, 2]
    assert rows[1]["val/accuracy"] == result.validation["accuracy"]
    assert rows[1]["train/loss"] < rows[0]["train/loss"]
    assert not any("test/accuracy" in row for row in rows[:2])
    assert [(row["weights"], row["test/accuracy"]) for row in rows[2:]] == [
        ("last", result.metrics["accuracy"]),
        ("best", result.best_metrics["accuracy"]),
    ]

    *epochs, chosen, accuracy, place, report, look = capsys.readouterr().out.splitlines()
    assert len(epochs) == 2
    assert epochs[0].startswith("epoch 1/2: train loss ") and ", val accuracy " in epochs[0]
    assert chosen.startswith(f"validation accuracy {100 * result.validation['accuracy']:.2f} %, ")
    assert accuracy.startswith(f"test accuracy {100 * result.metrics['accuracy']:.2f} %, test loss")
    assert accuracy.endswith("(with the last weights, which are the best)")
    assert place == f"run folder: {result.folder}"
    assert report == f"report: {result.folder}/report.html"
    assert look.startswith("view it: tinynet board runs")


def test_quiet(write, digits, capsys):
    run(write(digits), {"run.epochs": 1}, quiet=True)
    assert capsys.readouterr() == ("", "")


def test_out_is_where_the_folder_goes(write, digits, tmp_path):
    result = run(write(digits), ["run.epochs=1", "run.name=x"], out=tmp_path / "a", quiet=True)
    assert result.folder.parent == tmp_path / "a" / "x"


def test_tensorboard_reads_scalars_and_graph(write, digits):
    result = run(write(digits), quiet=True)
    events = EventAccumulator(str(result.folder), size_guidance={"scalars": 0})
    events.Reload()
    assert sorted(events.Tags()["scalars"]) == [
        "epoch/lr",
        "epoch/train_accuracy",
        "epoch/train_loss",
        "epoch/val_accuracy",
        "epoch/val_loss",
        "lr",
        "test/accuracy",
        "test/loss",
        "test_best/accuracy",
        "test_best/loss",
        "train/loss",
        "val/accuracy",
        "val/loss",
    ]
    steps = [event.step for event in events.Scalars("train/loss")]
    assert steps == [*range(46)]
    assert [event.step for event in events.Scalars("val/accuracy")] == [22, 45]
    assert [event.step for event in events.Scalars("test/accuracy")] == [45]
    assert [event.step for event in events.Scalars("epoch/lr")] == [1, 2]
    last = events.Scalars("test/accuracy")[-1].value
    assert last == near(result.metrics["accuracy"])
    assert {" step", "forward", "backward", "optimizer"} <= {*events.Tags()["tensors"]}


def test_logging_less_often(write, digits):
    result = run(write(digits), ["run.log_every=10", "run.eval_every=5"], quiet=True)
    events = EventAccumulator(str(result.folder), size_guidance={"scalars": 0})
    events.Reload()
    assert [e.step for e in events.Scalars("train/loss")] == [0, 10, 20, 22, 30, 40, 45]
    assert [e.step for e in events.Scalars("val/loss")] == [45]


@pytest.mark.parametrize(
    "settings, steps",
    [
        (["log.histograms=1"], [22, 45]),
        (["log.histograms=2"], [45]),
        (["log.histograms=20", 'log.histograms_per="step"'], [19, 39]),
        (["log.histograms=2", "run.compile=true"], [45]),
        (["log.histograms=2", "optimizer.accumulate=4"], [11]),
    ],
)
def test_histograms_of_weights_and_gradients(write, digits, settings, steps):
    path = write(digits)
    plain = run(path, settings[1:], quiet=True)
    result = run(path, settings, quiet=True)
    assert weights(result.model) == weights(plain.model)
    events = EventAccumulator(str(result.folder), size_guidance={"histograms": 0}).Reload()
    names = [name for name, _ in result.model.named_parameters()]
    tags = [f"{kind}/{name}" for kind in ("weights", "gradients") for name in names]
    assert sorted(events.Tags()["histograms"]) == sorted(tags)
    for name, parameter in result.model.named_parameters():
        found = events.Histograms(f"weights/{name}")
        assert [event.step for event in found] == steps
        assert found[-1].histogram_value.num == parameter.numel()
        if steps[-1] in (11, 45):  # the last step
            total = parameter.detach().double().sum().item()
            assert found[-1].histogram_value.sum == pytest.approx(total)
        gradient = events.Histograms(f"gradients/{name}")[-1].histogram_value
        assert 0 < max(abs(gradient.min), abs(gradient.max)) < 10
    assert EventAccumulator(str(plain.folder)).Reload().Tags()["histograms"] == []


def test_histograms_leave_out_what_is_not_trained(write, digits):
    path = write(digits)
    few = ["log.histograms=1", "run.epochs=1", 'model.frozen=["1.*"]']
    events = EventAccumulator(str(run(path, few, quiet=True).folder)).Reload()
    assert sorted(events.Tags()["histograms"]) == [
        *("gradients/3.bias", "gradients/3.weight", "weights/3.bias", "weights/3.weight"),
    ]


# ---- repeating ----


def test_the_same_config_twice_gives_the_same_bits(write, digits):
    path = write(digits + '[schedule]\ntype = "StepLR"\nstep_size = 1\n')
    extra = ["model.dropout=0.3"]
    one, two = (run(path, extra, quiet=True) for _ in range(2))
    assert one.folder != two.folder
    assert weights(one.model) == weights(two.model)
    assert one.metrics == two.metrics
    assert weights(run(path, [*extra, "run.seed=4"], quiet=True).model) != weights(one.model)


def test_the_stored_config_gives_the_same_bits(write, digits):
    one = run(write(digits), ["optimizer.lr=0.2", "model.dropout=0.3"], quiet=True)
    two = run(one.folder / "config.toml", quiet=True)
    assert weights(one.model) == weights(two.model)
    assert two.folder.parent == one.folder.parent


def test_what_ran_before_does_not_matter(write, digits):
    path = write(digits)
    one = run(path, {"model.dropout": 0.3}, quiet=True)
    tn.manual_seed(123), np.random.seed(5), random.seed(6)
    tn.rand(10)
    two = run(path, {"model.dropout": 0.3}, quiet=True)
    assert weights(one.model) == weights(two.model)


def test_measuring_more_often_changes_nothing(write, digits):
    path = write(digits)
    extra = {"run.epochs": 3, "model.dropout": 0.3}
    often = run(path, {**extra, "run.eval_every": 1}, quiet=True)
    once = run(path, {**extra, "run.eval_every": 3}, quiet=True)
    assert weights(often.model) == weights(once.model)


def test_the_trial_and_the_graph_change_nothing(write, digits):
    """A model that counts, draws at random and keeps a buffer sees its first batch in training."""
    net = """
        import random
        import numpy as np
        import tinynet as tn
        from tinynet import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(64, 10)
                self.register_buffer("seen", tn.zeros(1))
                self.drawn = []

            def forward(self, images):
                if self.training:
                    self.drawn.append(tn.rand(1).item() + np.random.rand() + random.random())
                    self.seen.add_(1)
                return self.head(images.flatten(1))
    """
    path = write(own_model(digits), net=net)
    result = run(path, {"run.epochs": 1}, quiet=True)
    assert result.model.seen.item() == 23
    assert len(result.model.drawn) == 23
    from tinynet.train.step.seeds import seed_all

    seed_all(3, "training")
    assert result.model.drawn[0] == tn.rand(1).item() + np.random.rand() + random.random()


# ---- measuring again ----


def test_eval_gives_the_figures_of_the_end(write, digits, capsys):
    result = run(write(digits), quiet=True)
    again = evaluate_run(result.folder)
    assert again.metrics == result.metrics
    assert weights(again.model) == weights(result.model)
    line = f"test accuracy {100 * result.metrics['accuracy']:.2f} %, test loss "
    out = capsys.readouterr().out
    assert out.startswith(line)
    assert out.endswith("(364 examples, epoch 2)\n")
    assert evaluate_run(result.folder / "checkpoint.npz", quiet=True).metrics == result.metrics


def test_eval_of_a_config_says_what_to_name(write, digits):
    with pytest.raises(UsageError, match="is a config; name the folder of a run that was trained"):
        evaluate_run(write(digits), quiet=True)


def test_eval_of_a_split_that_is_drawn(write, digits):
    config = digits.replace('"Digits"', '"./half.py:Half"\ntest_fraction = 0.25')
    half = """
        from tinynet.data import Digits, Subset

        class Half(Subset):
            def __init__(self):
                super().__init__(Digits(), range(400))
    """
    result = run(write(config, half=half), quiet=True)
    assert evaluate_run(result.folder, quiet=True).metrics == result.metrics
    state = checkpoints.read_checkpoint(result.folder / "checkpoint.npz")
    assert state["step"] == 2 * 5  # 270 examples in batches of 57


def test_eval_from_elsewhere_after_a_move(write, digits, tmp_path, monkeypatch):
    net = (
        "from tinynet import nn\n\ndef Net(): return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))"
    )
    result = run(write(own_model(digits), net=net), quiet=True)
    shutil.move(result.folder, tmp_path / "moved")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert evaluate_run("../moved", quiet=True).metrics == result.metrics


def test_eval_of_nothing(tmp_path):
    with pytest.raises(UsageError, match="there is no run folder"):
        evaluate_run(tmp_path / "x")
    with pytest.raises(UsageError, match=r"is not the folder of a run: it has no checkpoint\.npz$"):
        evaluate_run(tmp_path)
    (tmp_path / "config.toml").touch()  # of a run that has just begun
    for best in (False, True):
        with pytest.raises(UsageError, match=r"has no weights yet: no epoch was completed") as told:
            evaluate_run(tmp_path, best=best)
        assert str(told.value).endswith(f"resume {tmp_path}")
    (tmp_path / "checkpoint.npz").write_bytes(b"PK")
    with pytest.raises(UsageError, match=r"has no best\.npz: no evaluation selected weights yet"):
        evaluate_run(tmp_path, best=True)
    with pytest.raises(CheckpointError, match="is not a checkpoint, or damaged"):
        evaluate_run(tmp_path)


def test_the_checkpoint_has_all_that_going_on_needs(write, digits):
    config = digits + '[schedule]\ntype = "StepLR"\nstep_size = 1\n'
    result = run(write(config), quiet=True)
    state = checkpoints.read_checkpoint(result.folder / "checkpoint.npz")
    assert sorted(state) == sorted(
        ["batch", "best", "config", "ema", "epoch", "epoch_is_complete", "generators", "loader"]
        + [
            "loss",
            "measured",
            "method",
            "model",
            "optimizers",
            "schedules",
            "skipped",
            "step",
            "tests",
        ]
        + ["totals", "validation"]
    )
    assert (state["epoch"], state["step"], state["epoch_is_complete"]) == (2, 46, True)
    assert set(state["generators"]) == {"numpy", "python", "tinynet"}
    assert set(state["model"]) == {*result.model.state_dict()}
    assert len(state["optimizers"][""]["state"]) == 4
    assert tomllib.loads(state["config"])["run"]["seed"] == 3


# ---- folders ----


def test_two_runs_of_the_same_second(tmp_path, monkeypatch):
    monkeypatch.setattr(folders.time, "strftime", lambda form: "now")
    paths = [new_run_folder(tmp_path, "x").path.name for _ in range(3)]
    assert paths == ["now", "now_2", "now_3"]


def test_a_folder_that_cannot_be_made(write, digits, tmp_path):
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(folders.TrainError, match="cannot make a run folder in runs/digits"):
        run(write(digits), quiet=True)


# ---- what stops a run ----


def test_a_loss_that_is_nan(write, digits):
    net = """
        from tinynet import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head, self.calls = nn.Linear(64, 10), 0

            def forward(self, images):
                self.calls += self.training
                factor = float("nan") if self.calls == 30 else 1.0
                return self.head(images.flatten(1)) * factor
    """
    with pytest.raises(
        NonFiniteError, match=r"the loss is nan in epoch 2, step 30 \(batch 7 of 23"
    ):
        run(write(own_model(digits), net=net), quiet=True)
    (folder,) = (folders.Path("runs") / "digits").iterdir()
    assert json.loads((folder / "run.json").read_text())["status"] == "failed"
    assert evaluate_run(folder, quiet=True).metrics["loss"] > 0  # of the epoch before


def test_shapes_that_do_not_fit_are_told_before_anything_is_written(write, digits, tmp_path):
    with pytest.raises(UsageError) as caught:
        run(write(digits), ["model.sizes=[60, 10]"], quiet=True)
    first, *rest = str(caught.value).splitlines()
    assert first == (
        "digits.toml:10: the model, the loss and the data do not fit together: "
        "inputs are [57, 1, 8, 8] tinynet.float32, targets [57] tinynet.int64"
    )
    assert rest
    assert not (tmp_path / "runs").exists()


def test_a_batch_that_is_no_pair(write, digits, tmp_path):
    config = digits.replace('"Digits"', '"./odd.py:Odd"')
    odd = "class Odd(list):\n    def __init__(self): super().__init__([1.0] * 10)"
    with pytest.raises(UsageError, match=r"(?s)digits\.toml:6: data: .*a pair \(input, target\)"):
        run(write(config, odd=odd), quiet=True)
    with pytest.raises(
        UsageError, match=r"digits\.toml:6: a batch must be a pair \(inputs, targets\)"
    ):
        run("digits.toml", ["data.check=false"], quiet=True)


def test_no_batch_is_left(write, digits):
    with pytest.raises(UsageError, match="has 1290 examples, fewer than data.batch_size = 2000"):
        run(write(digits), ["data.batch_size=2000", "data.drop_last=true"], quiet=True)


def test_a_full_disk(write, digits, monkeypatch):
    def full(*arguments):
        raise CheckpointError("checkpoint.npz cannot be written (No space left on device)")

    monkeypatch.setattr(storage, "write_checkpoint", full)
    with pytest.raises(CheckpointError, match="No space left"):
        run(write(digits), quiet=True)
