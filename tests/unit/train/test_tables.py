"""Tables in configs: what is learned from the training part, splits, class weights, mistakes."""

import csv
import io
import json
import subprocess
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import tinynet as tn
from tests.tools.patience import PATIENCE
from tests.tools.rounding import near
from tinynet.data import CSV, FormatError, Parquet
from tinynet.data.readers.tables import TableEncoder
from tinynet.data.splits import grouped_split, stratified_split, time_split
from tinynet.train import ConfigError, UsageError, evaluate_run, load_config, load_run, resume, run
from tinynet.train.assemble.build import build
from tinynet.train.base.checkpoint_file import read_checkpoint
from tinynet.train.cli import main
from tinynet.train.metrics.registry import PoorFitWarning

from .test_cli import ENVIRONMENT, PROGRAM

CONFIG = """\
[data]
type = "CSV"
path = "rows.csv"
target = "kind"
ignore = ["patient", "day"]
fill = "mean"
standardize = true
test_fraction = 0.25
validation = 0

[model]
type = "LazyLinear"
out_features = 2

[loss]
type = "CrossEntropyLoss"

[optimizer]
type = "SGD"
lr = 0.1

[run]
epochs = 1
"""
MODEL = {"model.type": "Linear", "model.in_features": 5}


def table(count=80):
    """Rows of two kinds, one of them rare, with gaps in a column of numbers and one of colours."""
    random = np.random.default_rng(0)
    lines = ["patient,day,age,color,dose,kind"]
    for row in range(count):
        age = "" if row % 9 == 4 else f"{random.normal(40 + row, 9):.2f}"
        color = ("red", "blue", "")[int(random.integers(3))]
        kind = "rare" if row % 10 == 3 else "common"
        day = f"2024-{1 + row // 28:02d}-{1 + row % 28:02d}"
        lines.append(f"p{row // 4},{day},{age},{color},{random.random():.3f},{kind}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def config(tmp_path):
    (tmp_path / "rows.csv").write_text(table())
    path = tmp_path / "c.toml"
    path.write_text(CONFIG.replace('"LazyLinear"', '"Linear"\nin_features = 5'))
    return path


def parts_of(config, **values):
    return build(load_config(config, {f"data.{key}": value for key, value in values.items()}))


def ages(part):
    return [float(value) for value in part.column("age") if value]


# ---- learned from the training part ----


def test_numbers_are_learned_from_the_training_part(config):
    parts = parts_of(config)
    column = parts.train_set.preprocessing.inputs[0]
    known = np.array(ages(parts.train_set))
    assert column.filler == np.mean(known)
    filled = [float(value) if value else column.filler for value in parts.train_set.column("age")]
    assert column.mean == np.mean(filled)
    assert column.std == np.std(filled)
    assert np.mean(known) != np.mean(ages(CSV(config.parent / "rows.csv", "kind", fill="mean")))
    assert parts.test_set.preprocessing == parts.train_set.preprocessing
    raw = np.array([float(v) if v else column.filler for v in parts.test_set.column("age")])
    expected = ((raw - column.mean) / column.std).astype(np.float32)
    assert parts.test_set.features[:, 0].numpy().tolist() == expected.tolist()
    assert abs(parts.train_set.features[:, 0].mean().item()) < 1e-6


def test_a_category_of_the_test_part_alone(config):
    rows = config.parent / "rows.csv"
    lines = rows.read_text().splitlines()
    lines[-1] = lines[-1].replace("red", "green").replace("blue", "green").replace(",,", ",green,")
    assert "green" in lines[-1]
    rows.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match="line 81, column 'color': expected one of .* 'green'"):
        parts_of(config, test_split="time")
    parts = parts_of(config, test_split="time", unknown="ignore")
    assert parts.test_set.features[-1, 1:4].tolist() == [0, 0, 0]
    parts = parts_of(config, test_split="time", unknown="ignore", encode="index")
    assert parts.test_set[len(parts.test_set) - 1][0][1].item() == 3


def test_it_is_kept_with_the_model(config, tmp_path):
    folder = run(config, out=tmp_path / "runs", quiet=True).folder
    stored = json.loads((folder / "preprocessing.json").read_text())
    assert stored == read_checkpoint(folder / "checkpoint.npz")["preprocessing"]
    assert stored == read_checkpoint(folder / "best.npz")["preprocessing"]
    assert [column["name"] for column in stored["inputs"]] == ["age", "color", "dose"]
    before = evaluate_run(folder, quiet=True).metrics
    again = load_run(folder).parts.train_set.preprocessing
    assert again.state_dict() == stored
    assert before == evaluate_run(folder, quiet=True).metrics
    assert resume(folder, {"run.epochs": 2}, quiet=True).is_complete


# ---- splits ----


def test_stratified(config):
    parts = parts_of(config, test_split="stratified", validation=0)
    assert (len(parts.train_set), len(parts.test_set)) == (60, 20)
    assert parts.train_set.targets.sum().item() == 6
    assert parts.test_set.targets.sum().item() == 2
    by_color = parts_of(config, test_split="stratified", test_by="color", validation=0)
    for color in ("red", "blue", ""):
        share = by_color.train_set.column("color").count(color) / 60
        assert abs(share - by_color.test_set.column("color").count(color) / 20) <= 1 / 20


def test_grouped(config):
    parts = parts_of(config, test_split="grouped", test_by="patient", validation=0.1)
    sets = [{*part.column("patient")} for part in parts.sets.values()]
    assert len(sets) == 3 and sum(map(len, sets)) == len(set.union(*sets)) == 20
    assert len(parts.test_set) == 20


def test_time(config):
    parts = parts_of(config, test_split="time", test_by="day")
    assert max(parts.train_set.column("day")) < min(parts.test_set.column("day"))
    assert len(parts.test_set) == 20


def test_the_split_follows_the_seed(config):
    def rows(seed):
        parts = build(load_config(config, {"run.seed": seed, "data.test_split": "stratified"}))
        return parts.test_set.column("dose")

    assert rows(1) == rows(1)
    assert rows(1) != rows(2)


@pytest.mark.parametrize("seed", range(5))
def test_splits_are_partitions(seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, 50).tolist()
    for fraction in (0.1, 0.3, 0.5):
        generator = tn.Generator().manual_seed(seed)
        train, test = stratified_split(labels, fraction, generator)
        assert sorted(train + test) == [*range(50)]
        assert len(test) == round(50 * fraction)
        for label in range(4):
            count = sum(labels[i] == label for i in test)
            assert abs(count - fraction * labels.count(label)) < 1
        train, test = grouped_split(labels, fraction, generator)
        assert sorted(train + test) == [*range(50)]
        assert not {labels[i] for i in train} & {labels[i] for i in test}
        train, test = time_split(labels, fraction)
        assert sorted(train + test) == [*range(50)]
        assert not train or max(labels[i] for i in train) < min(labels[i] for i in test)


@pytest.mark.parametrize(
    "values, message",
    [
        ({"test_split": "grouped"}, 'data.test_split: test_split = "grouped" needs test_by'),
        ({"test_by": "day"}, 'data.test_by: test_by needs test_split = "grouped"'),
        ({"test_split": "time", "test_by": "dya"}, "data.test_by: .*expected a column 'dya'"),
        ({"test_split": "stratified", "target": "dose"}, "targets are not classes"),
        ({"test_split": "sorted"}, "data.test_split: must be one of 'random', 'strat"),
    ],
)
def test_splits_that_do_not_fit(config, values, message):
    with pytest.raises(ConfigError, match=message):
        parts_of(config, **values)


# ---- class weights ----


def test_balanced(config):
    split = {"data.test_split": "stratified", "data.validation": 0}
    overrides = {**split, "loss.class_weights": "balanced"}
    parts = build(load_config(config, overrides))
    assert parts.loss.weight.tolist() == near([60 / (2 * 54), 60 / (2 * 6)])
    assert build(load_config(config)).loss.weight is None
    short = {**split, "loss.weights": "balanced"}
    assert build(load_config(config, short)).loss.weight.tolist() == parts.loss.weight.tolist()


MARKED = """
import tinynet as tn
class Marked(tn.data.TensorDataset):  # 12 training examples, with 3 and 9 positives; 4 for testing
    def __init__(self, train, shape=(2,), top=1.0):
        flags = [[1.0, i % 4 != 0] for i in range(3)] + [[0.0, i % 4 != 1] for i in range(9)]
        rows = flags if train else [[1.0, 1.0]] * 4
        labels = tn.tensor(rows)[:, :2 if list(shape) == [2] else 1].reshape(-1, *shape)
        super().__init__(tn.zeros(len(rows), 3), labels * top)
"""
BINARY = """
[data]
type = "./marked.py:Marked"
[model]
type = "Linear"
in_features = 3
out_features = 2
[loss]
type = "BCEWithLogitsLoss"
[optimizer]
type = "SGD"
lr = 0.1
"""


@pytest.mark.parametrize("shape", [[2], [1], []])
@pytest.mark.parametrize("key", ["weights", "class_weights"])
def test_balanced_positives_come_from_the_training_set_only(tmp_path, shape, key):
    (tmp_path / "marked.py").write_text(MARKED)
    (tmp_path / "config.toml").write_text(BINARY)
    given = {f"loss.{key}": "balanced", "data.shape": shape, "data.validation": 0.0}
    loss = build(load_config(tmp_path / "config.toml", given)).loss
    assert loss.pos_weight.tolist() == near(
        [3.0, 3 / 9] if shape == [2] else [3.0] * len(shape) or 3.0
    )


@pytest.mark.parametrize(
    "given, message",
    [
        ({"loss.type": "BCELoss"}, "BCELoss does not weigh classes; BCEWithLogitsLoss does"),
        ({"loss.pos_weight": [2.0, 2.0]}, "the loss has a pos_weight of its own"),
        ({"data.top": 0.5}, "the targets are not 0 or 1"),
        ({"data.top": 0.0}, "the training part has no examples of class 1 at the outputs 0, 1"),
        ({"loss.type": "CrossEntropyLoss"}, "the targets are not classes"),
    ],
)
def test_positives_that_cannot_be_balanced(tmp_path, given, message):
    (tmp_path / "marked.py").write_text(MARKED)
    (tmp_path / "config.toml").write_text(BINARY)
    with pytest.raises(ConfigError, match=f"loss.class_weights: {message}"):
        build(load_config(tmp_path / "config.toml", {"loss.weights": "balanced", **given}))


def test_an_own_loss_may_have_weights(tmp_path):
    (tmp_path / "marked.py").write_text(
        MARKED
        + "def own(weights):\n    return lambda outputs, targets: (outputs - targets).sum()\n"
    )
    (tmp_path / "config.toml").write_text(BINARY)
    given = {"loss.type": "./marked.py:own", "loss.weights": "balanced"}
    assert load_config(tmp_path / "config.toml", given).loss.component.arguments == {
        "weights": "balanced"
    }


def test_weights_that_do_not_fit(config):
    with pytest.raises(ConfigError, match="loss.class_weights: MSELoss does not weigh classes"):
        build(load_config(config, {"loss.type": "MSELoss", "loss.class_weights": "balanced"}))
    rows = config.parent / "rows.csv"
    lines = rows.read_text().replace("rare", "common").splitlines()
    lines[-1] = lines[-1].replace("common", "rare")
    rows.write_text("\n".join(lines))
    overrides = {"data.test_split": "time", "loss.class_weights": "balanced"}
    with pytest.raises(ConfigError, match="no examples of the classes 'rare'"):
        build(load_config(config, overrides))


# ---- mistakes ----


def test_all_mistakes_at_once(config):
    (config.parent / "rows.csv").write_text("a,b,kind\n1,2,x\n?,4,y\n4,oops,x\n5,6,\n7,8,x\n")
    with pytest.raises(ConfigError) as raised:
        build(load_config(config, {"data.fill": "refuse", "data.ignore": []}))
    text = str(raised.value)
    assert "rows.csv: 3 mistakes" in text
    assert "line 3, column 'a': expected a value ('fill' says what else to do), found none" in text
    assert "line 4, column 'b': expected a number, as in 4 of 5 rows" in text
    assert "line 5, column 'kind': expected a value" in text


# ---- Parquet ----


def test_parquet(tmp_path, config):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    convert = csv.ConvertOptions(strings_can_be_null=True)
    parquet.write_table(
        csv.read_csv(config.parent / "rows.csv", convert_options=convert), tmp_path / "rows.parquet"
    )
    options = {"ignore": ["patient", "day"], "fill": "mean", "standardize": True}
    one = CSV(config.parent / "rows.csv", "kind", **options)
    other = Parquet(tmp_path / "rows.parquet", "kind", **options)
    assert other.feature_names == one.feature_names
    assert other.features.tolist() == one.features.tolist()
    assert other.targets.tolist() == one.targets.tolist()
    values = {"type": "Parquet", "path": str(tmp_path / "rows.parquet"), "test_split": "stratified"}
    assert len(parts_of(config, **values).test_set) == 20
    with pytest.raises(FormatError, match=r"rows.parquet: 9 mistakes\n  row 5, column 'age'"):
        Parquet(tmp_path / "rows.parquet", "kind", ["age", "dose"])
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "rows.parquet").read_bytes()[:-9])
    with pytest.raises(FormatError, match="expected a complete Parquet file"):
        Parquet(tmp_path / "cut.parquet")
    parquet.write_table(pa.table({"a": [[1], [2]]}), tmp_path / "list.parquet")
    with pytest.raises(FormatError, match="column 'a': expected single values, found list"):
        Parquet(tmp_path / "list.parquet")


# ---- predictions for raw rows ----


@pytest.fixture
def folder(config, tmp_path):
    overrides = {"data.test_split": "stratified", "run.epochs": 3}
    return run(config, overrides, out=tmp_path / "runs", quiet=True).folder


def raw_rows(config):
    with open(config.parent / "rows.csv", newline="") as file:
        return [*csv.DictReader(file)]


def test_raw_rows_get_what_the_test_set_gets(config, folder):
    trained = load_run(folder)
    by_day = {row["day"]: row for row in raw_rows(config)}
    chosen = [by_day[day] for day in trained.parts.test_set.column("day")]
    inputs = trained.inputs_of(chosen)
    assert inputs.tolist() == trained.parts.test_set.features.tolist()
    answers = trained.predict(chosen)
    scores = trained.model.eval()(inputs).softmax(1)
    assert [row["class"] for row in answers] == scores.argmax(1).tolist()
    assert {row["label"] for row in answers} <= {"common", "rare"}


def test_it_predicts_without_the_data(config, folder):
    rows = raw_rows(config)
    expected = load_run(folder).predict(rows)
    (config.parent / "rows.csv").unlink()
    trained = load_run(folder, data=False)
    assert trained.predict(rows) == expected
    typed = {"age": None, "color": "red", "dose": 0.5}
    assert trained.predict([typed]) == trained.predict([{"age": "", "color": "red", "dose": ".5"}])
    with pytest.raises(UsageError, match="was loaded without its data"):
        _ = trained.parts
    with pytest.raises(FormatError) as raised:
        trained.predict([{"age": "old", "color": "pink", "dose": 1}, {"age": 1}])
    assert str(raised.value).splitlines() == [
        "rows: 2 mistakes",
        "  row 2, column 'color': expected this column, found the columns 'age'",
        "  row 2, column 'dose': expected this column, found the columns 'age'",
    ]
    with pytest.raises(FormatError, match="row 1, column 'color': expected one of .* 'pink'"):
        trained.predict([{"age": "old", "color": "pink", "dose": 1}])


def test_predict_on_a_table(config, folder, capsys):
    rows = config.parent / "rows.csv"
    assert main(["predict", str(folder), str(rows), "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = load_run(folder, data=False).predict(raw_rows(config))
    assert [row["label"] for row in found] == [row["label"] for row in expected]
    bad = config.parent / "bad.csv"
    bad.write_text("color,age,dose\nred,1,2\nred,x,2\nblue,1,y\n")
    assert main(["predict", str(folder), str(bad)]) == 2
    error = capsys.readouterr().err
    assert "line 3, column 'age': expected a finite number, found 'x'" in error
    assert "line 4, column 'dose': expected a finite number, found 'y'" in error
    bad.write_text("color\nred\n")
    assert main(["predict", str(folder), str(bad)]) == 2
    assert "expected a column 'age', found the columns 'color'" in capsys.readouterr().err


def test_standard_input_is_answered_line_by_line(folder):
    command = [*PROGRAM, "predict", str(folder), "-", "--json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=ENVIRONMENT) as process:
        answers = []
        lines = ['{"age": 41, "color": "red", "dose": 0.5}', "41,red,0.5", '{"age": 41}', "1,2"]
        for line in lines:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))  # before the next line is sent
        process.stdin.close()
        assert process.wait(PATIENCE) == 1
    first, second, third, fourth = answers
    assert {**first, "example": 1} == second
    assert first["label"] in ("common", "rare")
    assert "column 'color': expected this column" in third["error"]
    assert fourth["error"] == "expected 3 values (age, color, dose), found 2"


def test_a_header_in_standard_input(folder, capsys, monkeypatch):
    text = "dose,age,patient,color\n0.5,41,p1,red\n\n0.5,,p2,blue\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["predict", str(folder), "-", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    rows = [{"age": 41, "color": "red", "dose": 0.5}, {"age": "", "color": "blue", "dose": 0.5}]
    expected = load_run(folder, data=False).predict(rows)
    assert found == [{"example": i, **row} for i, row in enumerate(expected)]


# ---- regression ----

HOUSES = """
run.epochs = 3
data = {type = "CSV", path = "houses.csv", target = "price", standardize = true, batch_size = 8}
model = {type = "mlp", sizes = [4, 8, 1]}
loss = {type = "MSELoss"}
optimizer = {type = "Adam", lr = 0.02}
evaluation = {metrics = ["r2", "mae", "rmse"]}
"""


@pytest.fixture
def houses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cities = ["Bern", "Ulm"]
    rows = [f"{20 + 3 * i},{cities[i % 2]},{i % 5},{100000 + 9000 * i + i % 7}" for i in range(60)]
    Path("houses.csv").write_text("\n".join(["area,city,floor,price", *rows]))
    Path("houses.toml").write_text(HOUSES)
    return run("houses.toml", quiet=True)


def prices(part):
    return [float(value) for value in part.column("price")]


def test_a_standardized_target(houses):
    """It is learned from the training part; metrics, predictions and exports have its units."""
    trained = load_run(houses.folder)
    parts, encoder = trained.parts, trained.preprocessing
    values = prices(parts.train_set)
    assert encoder.target.mean == pytest.approx(np.mean(values), rel=1e-12)
    assert encoder.target.std == pytest.approx(np.std(values), rel=1e-12)
    targets = np.array([target.item() for _, target in parts.test_set])
    own = (np.array(prices(parts.test_set)) - encoder.target.mean) / encoder.target.std
    assert targets.tolist() == near(own)
    predicted = [row["output"][0] for row in trained.predict(rows_of_houses(parts.test_set))]
    errors = np.array(predicted) - prices(parts.test_set)
    assert houses.metrics["mae"] == near(np.abs(errors).mean(), 64, scale=max(values))
    assert houses.metrics["mae"] > 1000 > houses.metrics["loss"]
    expected = np.square(errors / encoder.target.std).mean()
    assert houses.metrics["loss"] == near(expected, 256, scale=1)


def rows_of_houses(part):
    return [part.row(index) for index in range(len(part))]


def test_its_units_in_commands_and_exports(houses, capsys):
    trained = load_run(houses.folder)
    assert main(["predict", str(houses.folder), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["target"][0] for row in rows] == near(prices(trained.parts.test_set))
    assert main(["export", str(houses.folder), "model.onnx"]) == 0
    session = onnxruntime.InferenceSession("model.onnx")
    inputs = np.stack([features.numpy() for features, _ in trained.parts.test_set])
    (found,) = session.run(None, {session.get_inputs()[0].name: inputs})
    assert found[:, 0] == near([row["output"][0] for row in rows], 256)
    capsys.readouterr()
    assert main(["export", str(houses.folder), "model.npz"]) == 0
    target = trained.preprocessing.target
    line = f"price was standardized: for its units, multiply by {target.std:g} and add"
    assert line in capsys.readouterr().out


@pytest.mark.parametrize(
    "changes, scales",
    [
        ({}, True),
        ({"data.standardize": "inputs"}, False),
        ({"data.standardize": False}, False),
        ({"data.target": "label"}, False),  # 0 or 1
    ],
)
def test_which_targets_are_standardized(changes, scales, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{i % 2},{i * i}" for i in range(40)]
    Path("houses.csv").write_text("\n".join(["area,label,price", *rows]))
    Path("houses.toml").write_text(HOUSES.replace("[4, 8, 1]", "[2, 8, 1]"))
    parts = build(load_config("houses.toml", changes))
    assert parts.train_set.preprocessing.scales_target == scales


def test_a_loss_of_counts_needs_them_as_they_are(houses, capsys):
    count = ["train", "houses.toml", "--set", "loss.type=PoissonNLLLoss"]
    assert main(count) == 2
    err = capsys.readouterr().err
    assert 'PoissonNLLLoss needs targets as they are: use standardize = "inputs"' in err
    assert main([*count, "data.standardize=inputs", "evaluation.metrics=[]"]) == 0


def test_a_run_before_targets_were_standardized(houses):
    """Its checkpoint has a target without mean and deviation, which stay 0 and 1."""
    trained = load_run(houses.folder)
    state = trained.preprocessing.state_dict()
    for key in ("mean", "std"):
        del state["target"][key]
    old = TableEncoder.from_state_dict(state)
    assert not old.scales_target
    assert old.original(tn.ones(2)).tolist() == [1, 1]


def test_worse_than_the_mean(houses):
    with pytest.warns(
        PoorFitWarning, match=r"r2 is -[\d.]+ on the validation set: the mean .* better"
    ):
        run("houses.toml", {"data.standardize": False, "run.epochs": 1}, quiet=True)
