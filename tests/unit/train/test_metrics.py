"""Metrics against scikit-learn's and PyTorch's definitions, written out; the best; the average."""

import math

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn, optim
from tinynet.train import UsageError, evaluate_run, run
from tinynet.train.assemble.averages import MovingAverage
from tinynet.train.assemble.stopping import Best
from tinynet.train.config.sections import EvaluationSection
from tinynet.train.metrics.metric import UnsuitableError
from tinynet.train.metrics.registry import METRICS, find_metric, higher_is_better
from tinynet.train.outputs import confusion_table, rows_of, sentence_of, table_of
from tinynet.train.step.epoch import Totals


def totals(metrics, *batches):
    sums = Totals(metrics)
    for outputs, targets in batches:
        sums.add(tn.tensor(outputs), tn.tensor(targets), loss=0.5)
    return sums


def random_classes(count=50, classes=7, seed=0):
    generator = np.random.default_rng(seed)
    scores = generator.integers(0, 5, (count, classes)).astype(float)  # with many ties
    return scores, generator.integers(0, classes, count)


@pytest.mark.parametrize("k", [1, 2, 3, 7, 9])
def test_top_k(k):
    scores, targets = random_classes()
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    expected = np.mean([target in row for target, row in zip(targets, order, strict=True)])
    figures = totals([f"top{k}", "accuracy"], (scores, targets)).figures()
    assert figures[f"top{k}"] == pytest.approx(expected)
    if k == 1:
        assert figures["accuracy"] == figures["top1"]


def test_top_k_of_pixels():
    scores = np.random.default_rng(0).standard_normal((2, 5, 3, 4))
    targets = np.random.default_rng(1).integers(0, 5, (2, 3, 4))
    flat = scores.transpose(0, 2, 3, 1).reshape(-1, 5)
    one = totals(["top2", "accuracy"], (scores, targets)).figures()
    assert one == totals(["top2", "accuracy"], (flat, targets.ravel())).figures()


def test_ignored_targets_do_not_count():
    figures = totals(["accuracy", "top1"], ([[0.0, 1.0], [1.0, 0.0]], [1, -100])).figures()
    assert (figures["accuracy"], figures["top1"]) == (1.0, 1.0)
    assert math.isnan(totals(["accuracy"], ([[0.0, 1.0]], [-100])).figures()["accuracy"])


def test_sizes_of_batches_have_no_influence():
    scores, targets = random_classes()
    names = ["accuracy", "top3", "perplexity"]
    whole = totals(names, (scores, targets))
    parts = totals(names, (scores[:3], targets[:3]), (scores[3:], targets[3:]))
    assert whole.figures() == pytest.approx(parts.figures())
    assert whole.figures()["perplexity"] == pytest.approx(math.exp(0.5))


def test_distances():
    outputs, targets = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 4.0]])
    figures = totals(["mse", "rmse", "mae"], (outputs, targets)).figures()
    assert figures == {"loss": 0.5, "mse": 13 / 4, "rmse": math.sqrt(13 / 4), "mae": 5 / 4}


def test_binary_accuracy():
    figures = totals(["binary_accuracy"], ([[-1.0], [2.0], [3.0]], [[0.0], [1.0], [0.0]])).figures()
    assert figures["binary_accuracy"] == pytest.approx(2 / 3)


def test_the_confusion_matrix():
    scores, targets = random_classes(classes=3)
    sums = totals(["confusion_matrix"], (scores[:20], targets[:20]), (scores[20:], targets[20:]))
    expected = np.zeros((3, 3), int)
    for score, target in zip(scores, targets, strict=True):
        expected[target, score.argmax()] += 1
    assert (sums.confusion_matrix() == expected).all()
    assert sums.figures() == {"loss": 0.5}
    assert confusion_table(np.array([[1, 2], [3, 4]])).splitlines()[2:] == [
        "| **0** | 1 | 2 |",
        "| **1** | 3 | 4 |",
    ]


@pytest.mark.parametrize(
    "name", [n for n, m in METRICS.items() if m.of_loss is None and m.of_number is None]
)
def test_what_a_metric_is_not_for(name):
    with pytest.raises(UnsuitableError, match=f"^{name} needs"):
        totals([name], ([[1.0], [2.0]], [0.0, 1.0]))


def test_names():
    patterns = {name for name in METRICS if name.endswith("K")}
    assert {name for name in METRICS if find_metric(name) is None} == patterns
    assert [find_metric(name) for name in ("top0", "top", "top-1", "acc", "")] == [None] * 5
    assert not higher_is_better("loss")
    with pytest.raises(ValueError, match="There is no metric 'acc'"):
        Totals(["acc"])


# ---- the best ----


def see(section, *accuracies):
    best = Best(section)
    return best, [best.see({"loss": 1.0, "accuracy": a}, i) for i, a in enumerate(accuracies, 1)]


def test_the_best_is_the_first_of_equal_ones():
    best, news = see(EvaluationSection(), 0.5, 0.7, 0.7, 0.6)
    assert news == [True, True, False, False]
    assert (best.epoch, best.waited, best.is_over) == (2, 2, False)


def test_small_improvements_do_not_count():
    best, news = see(EvaluationSection(min_delta=0.1, patience=2), 0.5, 0.55, 0.59)
    assert news == [True, False, False]
    assert best.is_over
    again = Best(best.section)
    again.load_state_dict(best.state_dict())
    assert again.state_dict() == best.state_dict()


NAN = math.nan


@pytest.mark.parametrize(
    "accuracies, news, best, since",
    [
        ([0.5, NAN, 0.6], [True, False, True], 3, 3),
        ([NAN, 0.6], [True, True], 2, 2),
        ([NAN, NAN, 0.6, NAN], [True, False, True, False], 3, 3),
        ([NAN, NAN, NAN], [True, False, False], 1, 1),  # the first, as none is better
        ([-math.inf, -math.inf, NAN], [True, False, False], 1, 1),
        ([NAN, -math.inf, 0.1], [True, True, True], 3, 3),
    ],
)
@pytest.mark.parametrize("figure", ["accuracy", "mse"])
def test_a_figure_that_is_no_number_is_never_better(accuracies, news, best, since, figure):
    """So the patience ends after two evaluations that are not better, with numbers or not."""
    sign = 1 if figure == "accuracy" else -1
    seen = Best(EvaluationSection(patience=2))
    figures = [{"loss": 1.0, figure: sign * a} for a in accuracies]
    assert [seen.see(one, epoch) for epoch, one in enumerate(figures, 1)] == news
    assert (seen.epoch, seen.since) == (best, since)
    assert seen.is_over == (len(accuracies) - since == 2)


def test_a_tie_moves_the_best_but_not_the_patience():
    best = Best(EvaluationSection(patience=2))
    seen = [(0.1, 4.0), (0.3, NAN), (0.2, 2.0), (0.3, 1.0)]
    assert [best.see({"loss": x, "accuracy": a}, i) for i, (a, x) in enumerate(seen, 1)] == [
        True,
        True,
        False,
        True,
    ]
    assert (best.epoch, best.since, best.is_over) == (4, 2, True)
    again = Best(best.section)
    again.load_state_dict(best.state_dict())
    assert vars(again) == vars(best)


# ---- the moving average ----


def test_the_average_follows_and_can_stand_in():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    average = MovingAverage(model, 0.9)
    expected = model[0].weight.detach().numpy().copy()
    sgd = optim.SGD(model.parameters(), lr=0.5)
    for step in range(1, 4):
        sgd.zero_grad()
        model(tn.rand(4, 2)).square().sum().backward()
        sgd.step()
        average.update()
        decay = min(0.9, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * model[0].weight.detach().numpy()
    assert average.arrays["0.weight"] == near(expected)
    assert average.arrays["1.num_batches_tracked"] == 3
    own = model[0].weight.detach().numpy().copy()
    with average.in_place_of_weights():
        assert model[0].weight.detach().numpy() == near(expected)
    assert (model[0].weight.detach().numpy() == own).all()
    again = MovingAverage(model, 0.9)
    again.load_state_dict(average.state_dict())
    assert again.steps == 3
    assert (again.arrays["0.weight"] == average.arrays["0.weight"]).all()


# ---- what a model says ----


def test_rows_and_sentences():
    (row,) = rows_of(tn.tensor([[1000.0, 0.0]]), tn.tensor([1]), classes=True)
    assert row == {"class": 0, "probability": 1.0, "target": 1}
    (row,) = rows_of(tn.tensor([[0.1, 0.2]]), classes=False)
    assert row == {"output": [0.1, 0.2]}
    long = sentence_of({"output": [[0.5] * 10] * 2})
    assert long.endswith("0.5 ... (20 numbers)")
    assert table_of([row]).splitlines()[-1] == "| 0 | 0.1 0.2 |"


# ---- precision, areas, calibration; metrics of users ----

SCORES = [[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
TARGETS = [0, 1, 2, 0, 1]

# scikit-learn 1.9.1's answers; test_metrics_live.py compares with it where installed
RECORDED = {
    "precision": 0.5,
    "precision_micro": 0.6,
    "recall_weighted": 0.6,
    "f1": 0.5,
    "f1_class0": 1.0,
    "f1_class1": 0.5,
    "f1_class2": 0.0,
    "roc_auc": 0.5555555555555555,
    "average_precision": 0.5666666666666667,
}


def test_recorded_answers():
    names = [name for name in RECORDED if not name.startswith("f1_")] + ["f1_per_class"]
    figures = totals(names, (SCORES[:2], TARGETS[:2]), (SCORES[2:], TARGETS[2:])).figures()
    assert figures.pop("loss") == 0.5
    assert figures == pytest.approx(RECORDED)


def test_figures_that_do_not_exist():
    names = ["precision", "roc_auc", "average_precision", "f1_weighted", "f1_micro"]
    none = totals([*names, "calibration_error"], ([[1.0, 0.0]], [-100])).figures()
    assert [name for name, value in none.items() if math.isnan(value)] == [*none][1:]
    one = totals(["r2"], ([[1.0]], [[1.0]])).figures()
    assert math.isnan(one["r2"])
    assert math.isnan(totals(["f1_class7"], (SCORES, TARGETS)).figures()["f1_class7"])
    wrong = totals(["roc_auc", "precision"], ([float("nan"), 1.0], [1.0, 0.0])).figures()
    assert math.isnan(wrong["roc_auc"])


def test_a_confident_mistake_is_the_largest_calibration_error():
    right, wrong = ([[50.0, 0.0]] * 4, [0] * 4), ([[50.0, 0.0]] * 4, [1] * 4)
    assert totals(["calibration_error"], right).figures()["calibration_error"] == near(0.0, scale=1)
    assert totals(["calibration_error"], wrong).figures()["calibration_error"] == near(1.0)


class Worst:
    higher_is_better = False

    def __init__(self, power=1):
        self.power, self.largest = power, 0.0

    def update(self, outputs, targets):
        self.largest = max(self.largest, ((outputs - targets).abs() ** self.power).max().item())

    def compute(self):
        return {"error": self.largest, "power": self.power}


def bias(outputs, targets):
    return (outputs - targets).mean()


def test_metrics_of_users():
    batches = ([1.0, 2.0], [1.0, 0.0]), ([5.0], [2.0])
    worst = Worst(power=2)
    for _ in range(2):  # the second time from the start again
        figures = totals([bias, worst], *batches).figures()
        assert figures == {"loss": 0.5, "bias": near(5 / 3), "Worst_error": 9.0, "Worst_power": 2.0}
    assert worst.largest == 0


def test_a_metric_with_reset_is_reset():
    class Kept(Worst):
        def reset(self):
            self.largest = 0.0

    kept = Kept()
    assert totals([kept], ([1.0], [4.0])).figures()["Kept_error"] == 3
    assert totals([kept], ([1.0], [2.0])).figures()["Kept_error"] == 1
    assert kept.largest == 1


def test_what_a_metric_of_a_user_must_return():
    with pytest.raises(UnsuitableError, match="<lambda> must return a number, or numbers by name"):
        totals([lambda outputs, targets: "good"], ([1.0], [1.0])).figures()
    with pytest.raises(UnsuitableError, match="<lambda> needs outputs and targets that are tens"):
        Totals([lambda outputs, targets: 0]).add((1, 2), tn.ones(1), 0.0)


METRIC_FILE = """
    def margin(outputs, targets):
        two = outputs.topk(2).values
        return {"mean": (two[:, 0] - two[:, 1]).mean(), "least": (two[:, 0] - two[:, 1]).min()}

    margin.higher_is_better = True

    class FBeta:
        higher_is_better = True

        def __init__(self, beta: float = 1.0):
            self.beta, self.counts = beta, [0, 0, 0]

        def update(self, outputs, targets):
            found = outputs.argmax(1) == 3
            true = targets == 3
            groups = found & true, found, true
            self.counts = [n + g.sum().item() for n, g in zip(self.counts, groups)]

        def compute(self):
            right, found, true = self.counts
            return (1 + self.beta**2) * right / (found + self.beta**2 * true)

    class Silent:
        def update(self, outputs, targets): pass
        def compute(self): return 0

    def broken(outputs, targets):
        return outputs.nonsense
"""


def with_metrics(config, *lines):
    return config + "\n[evaluation]\n" + "\n".join(lines)


def test_metrics_of_users_in_a_config(digits, write):
    listed = '["f1_class3", "./m.py:margin", {type = "./m.py:FBeta", beta = 1}]'
    lines = f"metrics = {listed}", 'monitor = "margin_mean"'
    result = run(write(with_metrics(digits, *lines), m=METRIC_FILE), quiet=True)
    assert [*result.metrics] == ["loss", "f1_class3", "margin_mean", "margin_least", "FBeta"]
    assert result.metrics["FBeta"] == near(result.metrics["f1_class3"])
    assert result.best.figures["margin_mean"] == result.best.figures["margin_mean"]
    assert evaluate_run(result.folder, quiet=True).metrics == result.metrics


@pytest.mark.parametrize(
    "lines, messages",
    [
        (
            ['metrics = ["f1", "precison"]'],
            ["evaluation.metrics: must be a list of metrics", "did you mean 'precision'?"],
        ),
        (['metrics = ["f1", "f1"]'], ["has more than one metric f1"]),
        (['metrics = ["./m.py"]'], ["'./m.py' names no class or function in the file"]),
        (['metrics = ["./m.py:Fbeta"]'], ["./m.py has no 'Fbeta'; did you mean 'FBeta'?"]),
        (
            ['metrics = [{type = "./m.py:FBeta", bta = 2}]'],
            ["bta: unknown key; did you mean 'beta'?"],
        ),
        (
            ['metrics = [{type = "./m.py:margin", beta = 2}]'],
            ["beta: unknown key. ./m.py:margin takes: no arguments"],
        ),
        (
            ['metrics = ["./m.py:Silent"]'],
            ["Silent decides which weights are best, so it must have an attribute higher_is"],
        ),
        (
            ['metrics = ["f1", "./m.py:Silent"]', 'monitor = "Silent"', "patience = -1"],
            ["evaluation.monitor: Silent decides", "patience: must not be negative", "2 mistakes"],
        ),
        (['metrics = ["f1", "./m.py:broken"]'], ["a metric failed", "outputs.nonsense"]),
        (
            ['metrics = ["f1", "./m.py:margin"]', 'monitor = "margin_most"'],
            ["'margin_most' is not among the metrics", "did you mean 'margin_least'?"],
        ),
    ],
)
def test_mistakes_in_metrics(digits, write, tmp_path, lines, messages):
    path = write(with_metrics(digits, *lines), m=METRIC_FILE)
    with pytest.raises(UsageError) as failure:
        run(path, quiet=True)
    for message in ["digits.toml:2", *messages]:
        assert message in str(failure.value)
    assert not (tmp_path / "runs").exists()
