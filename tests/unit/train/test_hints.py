"""Messages about mistakes: at the line that they are about, and with what may be meant."""

import json
import re

import pytest

from tinynet.train import load_config
from tinynet.train.assemble.build import build
from tinynet.train.base.checkpoint_file import read_checkpoint
from tinynet.train.base.files import read_rows
from tinynet.train.base.problems import ConfigError
from tinynet.train.cli import main
from tinynet.train.observe import progress as progress_module
from tinynet.train.observe.progress import ProgressPrinter


def refused(path, **overrides):
    with pytest.raises(ConfigError) as error:
        build(load_config(path, overrides))
    return str(error.value).splitlines()[0]


@pytest.mark.parametrize(
    "before, after, said",
    [
        ("momentum = 0.9", "nesterov = true", "digits.toml:19: optimizer.nesterov: SGD refused "),
        (
            'type = "SGD"\nlr = 0.1\nmomentum = 0.9',
            'type = "Adam"\nlr = 0.1\nbetas = [0.9, 1.5]',
            "digits.toml:19: optimizer.betas: Adam refused its arguments. ",
        ),
        ("sizes = [64, 16, 10]", "sizes = [64]", "digits.toml:11: model.sizes: mlp refused its "),
        (
            "momentum = 0.9",
            "[schedule]\ntype = 'SequentialLR'\nmilestones = [1]\n"
            "schedulers = [{type = 'LinearLR'}, {type = 'StepLR', step_size = 1, gamma = 'x'}]",
            "digits.toml:22: schedule.schedulers.1.gamma: must be a number",
        ),
        (
            "momentum = 0.9",
            "[schedule]\ntype = 'SequentialLR'\nmilestones = [1]\n"
            "schedulers = [{type = 'LinearLR'}, {type = 'CosineAnnealingLR', T_max = 0}]",
            "digits.toml:22: schedule.schedulers.1.T_max: SequentialLR refused its arguments. ",
        ),
    ],
    ids=["nesterov", "betas", "sizes", "type", "inside"],
)
def test_a_refused_value_is_reported_at_its_own_line(write, digits, before, after, said):
    assert refused(write(digits.replace(before, after))).startswith(said)


def test_a_file_without_a_class_lists_what_is_in_it(write, digits):
    own = "from tinynet import nn\nclass Net(nn.Linear): pass\n"
    path = write(digits, net=own, nets=f"{own}class Other(Net): pass\n")
    text = "model.type: './net.py' names no class or function in the file: write './net.py:Net'"
    assert f"{text}. It defines: Net" in refused(path, **{"model.type": "./net.py"})
    text = "'./nets.py' names no class or function in the file. It defines: Net, Other"
    assert text in refused(path, **{"model.type": "./nets.py"})
    text = "there is no file ./nett.py; did you mean net.py?"
    assert text in refused(path, **{"model.type": "./nett.py"})


@pytest.mark.parametrize(
    "key, value, meant",
    [
        ("schedule.type", "cosine", "CosineAnnealingLR"),
        ("schedule.type", "plateau", "ReduceLROnPlateau"),
        ("optimizer.type", "adam_w", "AdamW"),
        ("loss.type", "cross_entropy", "CrossEntropyLoss"),
        ("evaluation.metrics", ["top5", "acuracy"], "accuracy"),
        ("evaluation.monitor", "acc", "accuracy"),
        ("evaluation.monitor", "los", "loss"),
    ],
)
def test_wrong_names_get_a_suggestion(write, digits, key, value, meant):
    assert f"; did you mean {meant!r}?" in refused(write(digits), **{key: value})


@pytest.mark.parametrize(
    "key, meant",
    [
        ("optimizer.learning_rate", "lr"),
        ("run.num_epochs", "epochs"),
        ("run.batch_size", "data.batch_size"),
        ("optimizer.epochs", "run.epochs"),
        ("data.bs", "batch_size"),
        ("model.drop_rate", "dropout"),
        ("optimizer.max_grad_norm", "clip_norm"),
        ("learning_rate", "optimizer.lr"),
        ("criterion.type", "loss"),
    ],
)
def test_names_of_other_frameworks_and_sections_get_a_suggestion(write, digits, key, meant):
    assert f"; did you mean {meant!r}?" in refused(write(digits), **{key: 1})


def test_a_suggestion_precedes_long_lists(write, digits):
    for key, value in (("metrics", ["acuracy"]), ("monitor", "acuracy")):
        text = refused(write(digits), **{f"evaluation.{key}": value})
        assert text.index("did you mean 'accuracy'?") < text.index("perplexity")


def test_explain_suggests_all_that_have_the_word_in_them(capsys):
    assert main(["explain", "cosine"]) == 2
    assert re.search(r"Did you mean .*CosineAnnealingLR", capsys.readouterr().err)
    assert main(["explain", "acuracy"]) == 2
    assert "Did you mean accuracy?" in capsys.readouterr().err


def test_a_sweep_tries_every_combination_first(write, digits, tmp_path, capsys):
    path = write(digits)
    nesterov = ["--set", "optimizer.nesterov=true"]
    assert main(["sweep", path, "--set", "optimizer.dampening=0,1,2", "seed=0..3", *nesterov]) == 2
    refusals = capsys.readouterr().err.splitlines()
    assert len(refusals) == 2 and "optimizer.nesterov: SGD refused" in refusals[0]
    sizes = "model.sizes=[64,10],[32,10]"
    assert main(["sweep", path, "--set", sizes, "epochs=1"]) == 2
    error = capsys.readouterr().err
    assert "with model.sizes=[32,10]: digits.toml:10: the model, the loss and the data do" in error
    assert not (tmp_path / "runs").exists()


# ---- what is not silent ----


SCRIPTED = """
    def _scripted(name, better, *values):
        class Scripted:
            higher_is_better = better
            number = -1  # the first is for the trial before the run

            def reset(self): pass
            def update(self, outputs, targets): pass
            def compute(self):
                self.number += 1
                return values[min(max(self.number - 1, 0), len(values) - 1)]

        Scripted.__name__ = name
        return Scripted

    nan = float("nan")
    Up = _scripted("Up", True, 0.1, 0.3, 0.2, 0.3, 0.1)
    Never = _scripted("Never", True, nan, nan, nan, nan)
    Down = _scripted("Down", False, nan, 3.0, 2.0, nan, 2.0, 1.0)
"""


@pytest.mark.parametrize(
    "metric, best, epochs, line",
    [
        ("Up", 4, 4, "stopped early: validation Up has not improved since epoch 2 ("),
        ("Never", 1, 3, "stopped early: validation Never was NaN in each evaluation ("),
        ("Down", 5, 5, "stopped early: validation Down has not improved since epoch 3 ("),
    ],
)
def test_patience_counts_the_watched_figure_only(
    write, digits, capsys, tmp_path, metric, best, epochs, line
):
    path = write(digits.replace("lr = 0.1", "lr = 0.01"), m=SCRIPTED)
    own = [f'evaluation.metrics=["./m.py:{metric}"]', "evaluation.patience=2", "epochs=9"]
    assert main(["train", path, "--set", *own]) == 0
    out = capsys.readouterr().out
    assert f"\n{line}" in out
    (folder,) = (tmp_path / "runs/digits").iterdir()
    record = json.loads((folder / "run.json").read_text())
    assert record["stopped_by"] == "early stopping" and record["best"]["epoch"] == best
    assert record["criterion"] == {"figure": metric, "higher_is_better": metric != "Down"}
    assert len(read_rows(folder / "metrics.jsonl")) == epochs + 2  # and those of the test set
    assert read_checkpoint(folder / "best.npz")["epoch"] == best
    assert main(["explain", str(folder)]) == 0
    explained = capsys.readouterr().out
    doubt = "Never was never a number; the first evaluation counts"
    assert (f"after epoch 1, as {doubt})" in out) == (doubt in explained) == (metric == "Never")
    assert f"\nbest, after epoch {best}: " in explained


def test_early_stopping_says_so(write, digits, capsys):
    path = write(digits)
    patience = ["--set", "evaluation.patience=1", "optimizer.lr=1e-9", "epochs=9"]
    assert main(["train", path, *patience]) == 0
    out = capsys.readouterr().out
    line = "validation accuracy has not improved since epoch 1 (evaluation.patience = 1)"
    assert f"\nstopped early: {line}\n" in out
    folder = out.partition("run folder: ")[2].splitlines()[0]
    assert main(["explain", folder]) == 0
    assert "finished by early stopping: " in capsys.readouterr().out
    assert main(["train", path, *patience, "--json"]) == 0
    assert '"stopped_by": "early stopping"' in capsys.readouterr().out
    assert main(["resume", folder]) == 0
    assert f"\nstopped early: {line}\n" in capsys.readouterr().out


def test_a_long_epoch_reports_in_between(monkeypatch, capsys):
    clock = iter(range(0, 1000, 20))  # seconds; each look at it takes 20
    monkeypatch.setattr(progress_module.time, "perf_counter", lambda: next(clock))
    progress = ProgressPrinter(2, 100)
    progress.start_epoch(0)
    for _ in range(4):
        progress.update(10, {"train/loss": 0.5})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "epoch 1/2: 20 %, train loss 0.5, 0 examples/s, 0:06:00 left"


def test_the_list_is_short(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) < 20 and "tinynet list SECTION" in out
    assert main(["list", "optimizer"]) == 0
    assert "SGD(lr=0.001" in capsys.readouterr().out
