"""The validation set: what selects looks at it, and the test set is measured once, at the end."""

import json
import re
import shutil
import statistics
from collections import Counter

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import tinynet as tn
from tinynet import nn, optim
from tinynet.train import (
    ConfigError,
    evaluate,
    evaluate_run,
    fit,
    load_config,
    load_run,
    resume,
    run,
)
from tinynet.train.assemble.build import build
from tinynet.train.base import checkpoint_file as checkpoints
from tinynet.train.cli import main
from tinynet.train.run.measures import Measures

from .test_runner import weights
from .test_training import all_rows, rows


def parts_of(path, *overrides):
    return build(load_config(path, overrides))


def inputs_of(examples):
    return {examples[index][0].numpy().tobytes() for index in range(len(examples))}


# ---- which examples ----


def test_a_tenth_of_the_training_set_with_the_same_share_of_each_class(write, digits):
    parts = parts_of(write(digits))
    assert {name: len(examples) for name, examples in parts.sets.items()} == {
        "training": 1290,
        "validation": 143,
        "test": 364,
    }
    counts = Counter(label.item() for _, label in parts.validation_set)
    assert set(counts) == set(range(10)) and max(counts.values()) - min(counts.values()) <= 1
    train, validation, test = (inputs_of(examples) for examples in parts.sets.values())
    assert not train & validation and not test & validation
    assert train | validation == inputs_of(tn.data.Digits(train=True))


def test_it_depends_on_the_seed_only(write, digits):
    path = write(digits)
    chosen = [parts_of(path, *extra).validation_set.indices for extra in ([], ["run.epochs=9"])]
    assert chosen[0] == chosen[1] != parts_of(path, "run.seed=4").validation_set.indices


@pytest.mark.parametrize("share, count", [("0.3", 430), ("1e-9", 1), ("0", 0)])
def test_shares(write, digits, share, count):
    parts = parts_of(write(digits), f"data.validation={share}")
    assert len(parts.sets.get("validation", ())) == count
    assert len(parts.train_set) == 1433 - count
    assert parts.selection == ("validation" if count else "test")


@pytest.mark.parametrize("given", ["1", "-0.1", '"0.1"', "true"])
def test_mistakes(write, digits, given):
    with pytest.raises(ConfigError, match="command line: data.validation: must be "):
        load_config(write(digits), [f"data.validation={given}"])


def test_augmentation_is_of_training_examples_only(write, digits):
    config = digits.replace(
        'type = "Digits"', 'type = "Digits"\naugment = {type = "RandomCrop", size = 8, padding = 3}'
    )
    parts = parts_of(write(config.replace("[64, 16, 10]", "[64, 10]")))
    plain = tn.data.Digits(train=True)
    for position, index in enumerate(parts.validation_set.indices[:20]):
        assert (parts.validation_set[position][0] == plain[index][0]).all()
    moved = [(parts.train_set[k][0] != plain[i][0]).any() for k, i in enumerate(range(20))]
    assert any(moved)


TABLE = """\
[run]
epochs = 2

[data]
type = "CSV"
path = "visits.csv"
target = "ill"
standardize = true
batch_size = 8
{more}

[model]
type = "mlp"
sizes = [1, 4, 2]

[loss]
type = "CrossEntropyLoss"

[optimizer]
type = "SGD"
lr = 0.1
"""


@pytest.fixture
def table(write, tmp_path):
    """Writes 80 visits of 20 patients, and a config of them."""

    def write_table(more):
        path = write(TABLE.format(more=more))
        lines = [f"p{i % 20},{i},{i % 7},{'yes' if i * i % 5 == 1 else 'no'}" for i in range(80)]
        text = "\n".join(["patient,day,dose,ill", *lines]) + "\n"
        (tmp_path / "visits.csv").write_text(text)
        return path

    return write_table


def values_of(parts, column):
    return [set(examples.column(column)) for examples in parts.sets.values()]


def test_groups_stay_whole(table):
    more = 'ignore = ["patient", "day"]\ntest_split = "grouped"\ntest_by = "patient"'
    train, validation, test = values_of(parts_of(table(more)), "patient")
    assert (len(train), len(validation), len(test)) == (14, 2, 4)
    assert not train & validation and not train & test and not validation & test


def test_time_goes_on_from_training_to_validation_to_test(table):
    more = 'ignore = ["patient", "day"]\ntest_split = "time"\ntest_by = "day"'
    parts = parts_of(table(more))
    days = [sorted(map(int, found)) for found in values_of(parts, "day")]
    assert days == [[*range(58)], [*range(58, 64)], [*range(64, 80)]]
    dose = parts.train_set.preprocessing.inputs[0]
    assert dose.mean == pytest.approx(np.mean([i % 7 for i in range(58)]))
    assert parts.validation_set.preprocessing is parts.test_set.preprocessing or (
        parts.validation_set.preprocessing.state_dict() == parts.test_set.preprocessing.state_dict()
    )


def test_a_single_group_leaves_nothing_for_validation(table, capsys):
    more = 'ignore = ["patient", "day"]\ntest_split = "grouped"\ntest_by = "patient"\n'
    path = table(more)
    assert len(values_of(parts_of(path, "data.test_fraction=0.9"), "patient")[0]) == 1
    parts = parts_of(path, "data.test_fraction=0.95")
    assert parts.selection == "test" and "validation" not in parts.sets
    run(path, ["data.test_fraction=0.95"])
    assert "selected on the test set" in capsys.readouterr().out


def test_the_end_of_a_text(write, tmp_path):
    letters = "".join(chr(97 + i * i % 26) for i in range(1000))
    (tmp_path / "t.txt").write_text(letters)
    config = """
        data = {type = "Text", path = "t.txt", length = 10, stride = 3, batch_size = 8}
        model = {type = "GPT", vocab_size = 30, context = 10, layers = 1, heads = 1, width = 4}
        loss = {type = "CrossEntropyLoss"}
        optimizer = {type = "SGD", lr = 0.1}
    """
    parts = parts_of(write(config))
    train, validation = parts.train_set, parts.validation_set
    starts = [[index * 3 for index in part.indices] for part in (train, validation)]
    assert max(starts[0]) + 10 <= min(starts[1])  # no token of validation is an input
    assert np.diff(starts[1]).min() >= 10 and len(validation) >= 8
    assert parts.test_set.tokenizer is not None


def test_a_set_of_its_own(write, digits):
    own = '\nvalidation = {type = "./part.py:Part", first = 100}'
    config = digits.replace('type = "Digits"', f'type = "Digits"{own}')
    part = """
        from tinynet.data import Digits, Subset

        class Part(Subset):
            def __init__(self, first: int):
                super().__init__(Digits(train=False), range(first))
    """
    result = run(write(config, part=part), quiet=True)
    parts = load_run(result.folder).parts
    assert [len(examples) for examples in parts.sets.values()] == [1433, 100, 364]
    assert rows(result)[-1]["val/loss"] == result.validation["loss"] != result.metrics["loss"]
    assert 'validation = {type = "' in (result.folder / "config.toml").read_text()
    again = evaluate_run(result.folder, on="validation", quiet=True)
    assert again.metrics == result.validation


def test_a_table_of_its_own_is_prepared_as_the_training_part(table, tmp_path):
    more = 'ignore = ["patient", "day"]\nvalidation = {type = "CSV", path = "own.csv", '
    path = table(more + 'target = "ill", ignore = ["patient", "day"]}')
    (tmp_path / "own.csv").write_text("patient,day,dose,ill\nq,1,3,no\nq,2,5,yes\n")
    parts = parts_of(path)
    dose = parts.train_set.preprocessing.inputs[0]
    assert len(parts.validation_set) == 2
    expected = (np.array([3, 5]) - dose.mean) / dose.std
    assert parts.validation_set.features.numpy().ravel() == pytest.approx(expected)


def test_parts_of_a_data_set_of_the_user(write, digits):
    config = digits.replace('"Digits"', '"./own.py:Own"')
    own = """
        from tinynet.data import Digits

        class Own(Digits):
            def own_split(self):
                return [*range(1000)], [*range(1000, 1200)], [*range(1200, 1433)]

            def __init__(self):
                super().__init__(train=True)
    """
    parts = parts_of(write(config, own=own))
    assert [len(examples) for examples in parts.sets.values()] == [1000, 200, 233]
    parts = parts_of(write(config, own=own), "data.validation=0")
    assert {name: len(one) for name, one in parts.sets.items()} == {"training": 1000, "test": 233}


def test_adversarial_training_has_none_unless_asked_for():
    config = "configs/digits_gan.toml"
    assert load_config(config).data.validation == 0
    assert load_config(config, {"data.validation": 0.2}).data.validation == 0.2
    assert load_config(config, {"evaluation.monitor": "loss"}).data.validation == 0.1


# ---- what selects ----


def test_the_test_set_is_measured_once_and_selects_nothing(write, digits, monkeypatch):
    measured = []
    on = Measures.on

    def watched(self, name):
        measured.append(name)
        return on(self, name)

    monkeypatch.setattr(Measures, "on", watched)
    extra = ["run.epochs=5", "optimizer.lr=0.5", "run.seed=2"]
    result = run(write(digits), extra, quiet=True)
    assert result.best.epoch < 5
    assert measured == ["validation"] * 5 + ["test"] * 2  # with the last and the best weights
    best = max(range(5), key=lambda epoch: rows(result)[epoch]["val/accuracy"])
    assert result.best.epoch == best + 1
    assert result.metrics != result.best_metrics


def test_without_a_validation_set_everything_says_so(write, digits, capsys, reports, tmp_path):
    path = write(digits)
    result = run(path, ["data.validation=0", "run.epochs=3"])
    out = capsys.readouterr().out
    assert "selected on the test set" in out and "validation accuracy" not in out
    assert [row["test/loss"] for row in rows(result)] and rows(result) == all_rows(result)
    record = json.loads((result.folder / "run.json").read_text())
    assert record["selected_on"] == "test" and record["test"] == result.metrics
    assert "elected on the test set" in (result.folder / "report.html").read_text()
    assert main(["explain", str(result.folder)]) == 0
    assert "selected on the test set" in capsys.readouterr().out
    values = ["--set", "optimizer.lr=0.1,0.2", "data.validation=0", "epochs=1"]
    assert main(["sweep", path, *values]) == 0
    out = capsys.readouterr().out
    assert "the runs are selected on the test set" in out and "test accuracy" in out
    (page,) = tmp_path.glob("runs/digits/sweep_*/report.html")
    assert "elected on the test set" in page.read_text()


def test_resuming_gives_the_same_sets_and_figures(write, digits, dies):
    path = write(digits)
    extra = ["run.epochs=4", "evaluation.patience=3"]
    whole = run(path, extra, quiet=True)
    revive = dies(50)
    with pytest.raises(BaseException, match="^$"):
        run(path, extra, quiet=True)
    revive()
    folder = max(whole.folder.parent.iterdir())
    again = resume(folder, quiet=True)
    assert weights(again.model) == weights(whole.model)
    assert (again.metrics, again.validation) == (whole.metrics, whole.validation)
    assert again.best_metrics == whole.best_metrics
    assert all_rows(again) == all_rows(whole)


def test_a_run_that_goes_on_measures_the_test_set_at_its_new_end(write, digits):
    path = write(digits)
    whole = run(path, ["run.epochs=4"], quiet=True)
    first = run(path, quiet=True)
    complete = resume(first.folder, quiet=True)
    assert complete.metrics == first.metrics and all_rows(complete) == all_rows(first)
    longer = resume(first.folder, ["run.epochs=4"], quiet=True)
    assert all_rows(longer) == all_rows(whole)
    assert longer.metrics == whole.metrics
    points = [
        [event.step for event in EventAccumulator(str(one.folder)).Reload().Scalars("test/loss")]
        for one in (longer, whole)
    ]
    assert points == [[91], [91]]


def test_a_run_that_goes_on_after_its_end_has_no_figures_of_the_test_set(write, digits, dies):
    folder = run(write(digits), quiet=True).folder
    revive = dies(25)
    with pytest.raises(BaseException, match="^$"):
        resume(folder, ["run.epochs=5"], quiet=True)
    revive()
    record = json.loads((folder / "run.json").read_text())
    assert "test" not in record and "test_best" not in record
    assert "tests" not in checkpoints.read_checkpoint(folder / "checkpoint.npz")


# ---- fit ----


def digits_loader(**options):
    return tn.data.DataLoader(tn.data.Digits(flatten=True), batch_size=100, **options)


def ends_of(batches, validation, **options):
    """The last steps of two epochs, and the inputs that were trained on."""
    model, seen = nn.Linear(64, 10), set()
    sgd = optim.SGD(model.parameters(), lr=0.1)
    ends = []
    steps = fit(model, nn.CrossEntropyLoss(), sgd, batches, 2, validation=validation, **options)
    for step in steps:
        seen |= {row.tobytes() for row in step.inputs.numpy()}
        ends += [step] if step.ends_epoch else []
        assert step.ends_epoch or not step.validation
    return model, ends, seen


@pytest.mark.parametrize("shuffle", [False, True])
def test_fit_keeps_a_share(shuffle):
    calls = []

    class Listens:
        def on_evaluation_end(self, at):
            calls.append((at.measured_on, dict(at.figures)))

    options = {"callbacks": [Listens()], "metrics": ["top3"]}
    _, ends, seen = ends_of(digits_loader(shuffle=shuffle), 0.1, **options)
    assert [step.number for step in ends] == [12, 25] and len(seen) == 1290
    assert calls == [("validation", step.validation) for step in ends]
    assert [*ends[0].validation] == ["loss", "top3"]


def test_fit_takes_batches_and_data_sets():
    test_set = tn.data.Digits(train=False, flatten=True)
    batches = tn.data.DataLoader(test_set, batch_size=100)
    for validation in (batches, test_set):
        model, ends, seen = ends_of(digits_loader(), validation)
        assert len(seen) == 1433
        assert ends[-1].validation == evaluate(model, nn.CrossEntropyLoss(), batches)


@pytest.mark.parametrize(
    "batches, validation, error, message",
    [
        ([(tn.ones(2, 64), tn.tensor([0, 1]))], 0.5, TypeError, "is a share, which needs"),
        ([(tn.ones(2, 64), tn.tensor([0, 1]))], tn.data.Digits(), TypeError, "is a data set"),
        (digits_loader(sampler=range(10)), 0.5, TypeError, "without a sampler of its own"),
        (digits_loader(), 1.0, ValueError, "must be between 0 and 1. Got 1.0 instead"),
        (digits_loader(), -0.1, ValueError, "must be between 0 and 1. Got -0.1 instead"),
        (
            tn.data.DataLoader(tn.data.TensorDataset(tn.ones(1, 64), tn.tensor([0]))),
            0.5,
            ValueError,
            "has 1 example, too few",
        ),
    ],
)
def test_what_fit_cannot_validate_on(batches, validation, error, message):
    with pytest.raises(error, match=message):
        ends_of(batches, validation)


# ---- cross-validation ----


def folds_of(path, count, *overrides):
    each = [f"data.fold={fold}" for fold in range(1, count + 1)]
    return [parts_of(path, f"data.folds={count}", *overrides, fold).sets for fold in each]


def test_each_example_is_in_one_fold(write, digits):
    folds = folds_of(write(digits), 4)
    chosen = [sets["validation"].indices for sets in folds]
    assert sorted(index for part in chosen for index in part) == [*range(1433)]
    assert {len(part) for part in chosen} == {358, 359}
    for sets in folds:
        assert not {*sets["validation"].indices} & {*sets["training"].indices}
        counts = Counter(label.item() for _, label in sets["validation"])
        assert max(counts.values()) - min(counts.values()) <= 5  # as in the whole training set


def test_folds_of_groups_and_of_time(table):
    more = 'ignore = ["patient", "day"]\ntest_split = "{}"\ntest_by = "{}"'
    folds = folds_of(table(more.format("grouped", "patient")), 4)
    groups = [{*sets["validation"].column("patient")} for sets in folds]
    assert len(set().union(*groups)) == sum(map(len, groups)) == 16
    folds = folds_of(table(more.format("time", "day")), 3)
    for sets in folds:
        days = [[*map(int, sets[name].column("day"))] for name in ("training", "validation")]
        assert max(days[0]) + 1 == min(days[1])


@pytest.mark.parametrize(
    "extra, message",
    [
        (["data.folds=1"], "data.folds: must be 0 or at least 2"),
        (["data.folds=2000"], "data.folds: 2000 folds need as many examples, and there are 1433"),
        (["data.folds=2", "data.fold=3"], "data.folds: there is no fold 3 of 2"),
    ],
)
def test_wrong_folds(write, digits, extra, message):
    with pytest.raises(ConfigError, match=message):
        parts_of(write(digits), *extra)


def test_cross_validate(write, digits, capsys, reports, tmp_path):
    path = write(digits)
    assert main(["cross-validate", path, "--folds", "2", "--set", "run.epochs=1"]) == 0
    out = capsys.readouterr().out
    (folder,) = tmp_path.glob("runs/digits/cross-validation_*")
    records = [json.loads(file.read_text()) for file in sorted(folder.glob("*/*/run.json"))]
    for record in records:
        assert "test" not in record and record["selected_on"] == "validation"
    own = [record["validation"]["accuracy"] for record in records]
    mean, deviation = statistics.fmean(own), statistics.stdev(own)
    line = re.search(r"^(\S+) ± (\S+) .* 2$", out, re.M)
    assert (float(line[1]), float(line[2])) == (
        pytest.approx(mean, rel=1e-4),
        pytest.approx(deviation, rel=0.1),
    )
    page = (folder / "report.html").read_text()
    assert "Cross-validation" in page and f"{100 * mean:.2f} % ± " in page
    assert "Best run" not in page  # no fold is better than another
    (one,) = folder.glob("000_*/*/checkpoint.npz")
    shutil.rmtree(one.parent)
    assert main(["cross-validate", "--resume", str(folder)]) == 0
    again = capsys.readouterr().out
    assert len(re.findall(r"^\[", again, re.M)) == 1 and line[0] in again


@pytest.mark.parametrize(
    "words, message",
    [
        (["--folds", "1"], "--folds must be at least 2, got 1"),
        (["--set", "data.fold=1"], "data.fold is given twice"),
        (["--folds", "2", "--resume", "x"], "cannot be combined"),
    ],
)
def test_mistakes_of_cross_validate(write, digits, capsys, words, message):
    assert main(["cross-validate", write(digits), *words]) == 2
    assert message in capsys.readouterr().err


# ---- commands ----


def test_eval_of_each_set(write, digits, capsys):
    result = run(write(digits), quiet=True)
    found = {}
    for name, count in (("training", 1290), ("validation", 143), ("test", 364)):
        assert main(["eval", str(result.folder), "--set", name]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"{name} accuracy ") and f"({count} examples, epoch 2)" in out
        assert main(["eval", str(result.folder), "--set", name, "--json"]) == 0
        found[name] = json.loads(capsys.readouterr().out)[name]
    assert found["validation"] == result.validation and found["test"] == result.metrics
    without = run("digits.toml", ["data.validation=0", "run.epochs=1"], quiet=True)
    assert main(["eval", str(without.folder), "--set", "validation"]) == 2
    assert "has no validation set; it has: training, test" in capsys.readouterr().err
