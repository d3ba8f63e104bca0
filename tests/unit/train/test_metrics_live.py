"""Metrics against live scikit-learn, where it is installed."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.libraries import Library, needs
from tests.tools.rounding import near
from tinynet.train.step.epoch import Totals

sk, calibration = Library("sklearn.metrics"), Library("sklearn.calibration")
pytestmark = needs("sklearn", "scikit-learn")


def figures(names, outputs, targets, size=17):
    """The figures of examples that come in batches."""
    totals = Totals(names)
    for first in range(0, len(targets), size):
        part = slice(first, first + size)
        totals.add(tn.tensor(outputs[part]), tn.tensor(targets[part]), loss=0.0)
    return totals.figures()


def classes(seed, count=4):
    generator = np.random.default_rng(seed)
    targets = generator.integers(0, count - 1, 200)  # the last class never occurs
    outputs = generator.standard_normal((200, count)).round(1)  # with ties
    outputs[np.arange(200), targets] += 1
    return outputs, targets


def probabilities(outputs):
    powers = np.exp(outputs)
    return powers / powers.sum(1, keepdims=True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["precision", "recall", "f1"])
def test_precision_recall_and_f1(name, seed):
    outputs, targets = classes(seed)
    function, found = getattr(sk, f"{name}_score"), outputs.argmax(1)
    names = [name, f"{name}_micro", f"{name}_weighted", f"{name}_per_class", f"{name}_class2"]
    ours = figures(names[:4], outputs, targets)
    for average, key in (("macro", name), ("micro", names[1]), ("weighted", names[2])):
        theirs = function(targets, found, average=average, zero_division=0)
        assert ours[key] == near(theirs)
    each = function(targets, found, average=None, labels=range(4), zero_division=0)
    assert [ours[f"{name}_class{i}"] for i in range(4)] == near(each)
    assert figures(names[4:], outputs, targets)[names[4]] == ours[names[4]]


@pytest.mark.parametrize("name", ["precision", "recall", "f1"])
@pytest.mark.parametrize("shape", [(200,), (200, 1), (200, 3)])
def test_labels(name, shape):
    generator = np.random.default_rng(1)
    logits = generator.standard_normal(shape)
    labels = (logits + generator.standard_normal(shape) > 0.5).astype(float)
    function = getattr(sk, f"{name}_score")
    average = "macro" if shape == (200, 3) else "binary"
    theirs = function(labels.squeeze(), (logits > 0).squeeze(), average=average)
    assert figures([name], logits, labels)[name] == near(theirs)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_areas(name):
    theirs = getattr(sk, f"{name}_score")
    generator = np.random.default_rng(2)
    logits = generator.standard_normal(150).round(1)  # with ties
    labels = (logits + generator.standard_normal(150) > 0).astype(float)
    ours = figures([name], logits, labels)[name]
    assert ours == near(theirs(labels, logits))
    two = figures([name], np.stack([-logits / 2, logits / 2], 1), labels.astype(int))
    assert two[name] == near(ours)
    _, targets = classes(3)
    outputs = generator.standard_normal((200, 3)) + np.eye(3)[targets]
    shares, hot = probabilities(outputs), np.eye(3)[targets]
    expected = np.mean([theirs(hot[:, i], shares[:, i]) for i in range(3)])
    assert figures([name], outputs, targets)[name] == near(expected)
    if name == "roc_auc":
        assert expected == near(theirs(targets, shares, multi_class="ovr"))


@pytest.mark.parametrize("columns", [1, 3])
def test_regression(columns):
    generator = np.random.default_rng(4)
    targets = generator.standard_normal((100, columns)) + 1000
    outputs = targets + 0.3 * generator.standard_normal((100, columns))
    ours = figures(["r2", "mae", "mse"], outputs, targets)
    assert ours["r2"] == near(sk.r2_score(targets, outputs), roundings=200)
    assert ours["mae"] == near(sk.mean_absolute_error(targets, outputs), roundings=200)
    assert ours["mse"] == near(sk.mean_squared_error(targets, outputs), roundings=200)


def test_calibration():
    generator = np.random.default_rng(5)
    logits = generator.standard_normal(500) * 3
    labels = (generator.random(500) < 1 / (1 + np.exp(-logits / 2))).astype(float)
    chances = 1 / (1 + np.exp(-logits))
    hits, confidences = calibration.calibration_curve(labels, chances, n_bins=15)
    counts = np.histogram(chances, np.linspace(0, 1, 16))[0]
    expected = (np.abs(hits - confidences) * counts[counts > 0]).sum() / 500
    assert figures(["calibration_error"], logits, labels)["calibration_error"] == near(expected)
