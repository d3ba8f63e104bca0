"""Metrics against scikit-learn's and PyTorch's definitions, written out; the best; the average."""

import math

import numpy as np
import pytest

import tinynet as tn
from tests.rounding import near
from tinynet import nn, optim
from tinynet.train.build.ema import MovingAverage
from tinynet.train.build.metrics import (
    METRICS,
    Totals,
    UnsuitableError,
    find_metric,
    higher_is_better,
)
from tinynet.train.config.sections import EvaluationSection
from tinynet.train.report.predictions import confusion_table, rows_of, sentence_of, table_of
from tinynet.train.running.best import Best


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
    "name", [name for name in METRICS if name not in ("topK", "perplexity", "bits")]
)
def test_what_a_metric_is_not_for(name):
    with pytest.raises(UnsuitableError, match=f"^{name} needs"):
        totals([name], ([[1.0], [2.0]], [0.0, 1.0]))


def test_names():
    assert {name for name in METRICS if find_metric(name) is None} == {"topK"}
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


def test_a_figure_that_is_no_number_is_never_the_best():
    best, news = see(EvaluationSection(), 0.5, float("nan"), 0.6)
    assert news == [True, False, True]
    best, news = see(EvaluationSection(), float("nan"), 0.6)
    assert news == [True, True]


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
