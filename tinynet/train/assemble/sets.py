"""Building the data sets of a config: training, validation and test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tinynet import dtypes, nn
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data import IterableDataset, RandomSampler, Subset, default_collate, random_split
from tinynet.data.readers.tables import number
from tinynet.data.splits import (
    Split,
    grouped_folds,
    grouped_split,
    stratified_folds,
    stratified_split,
    time_split,
)
from tinynet.dtypes import Array
from tinynet.nn import BCELoss, BCEWithLogitsLoss
from tinynet.random import Generator, default_generator
from tinynet.train.base.problems import Problems, in_users_code
from tinynet.train.config.components import EVERY, Family
from tinynet.train.config.rules import count_of
from tinynet.train.config.sections import Config, DataSection
from tinynet.train.config.signatures import Component, construct, refusal, refused_at
from tinynet.train.loop.splits import (
    BY_TIME,
    Indices,
    Sets,
    Splits,
    by_itself,
    class_names,
    dataset_attribute,
    divided,
    labels_of,
    prepared,
    targets_of,
    with_some,
)
from tinynet.train.metrics.criterion import SETS
from tinynet.train.step.seeds import derive
from tinynet.train.step.task import InputsAsTargets


class Maker:
    """Calls the constructors that a config names, and collects the problems."""

    def __init__(self, config: Config, problems: Problems | None = None) -> None:
        self.config = config
        self.problems = Problems() if problems is None else problems

    def make(self, section: str, component: Component, *supplied: Any, **hidden: Any) -> Any:
        """Return the object of a component; None after a problem."""
        family = EVERY[section]
        try:
            built = construct(component, *supplied, **hidden)
        except (Exception, SystemExit) as error:
            return self.problem_at(refused_at(component, error), refusal(component, error))
        if not family.fits(built):
            return self.problem(component, f"must give {family.what}, gave {_kind(built, family)}")
        return built

    def problem(self, component: Component, text: str) -> None:
        self.problem_at(component.path, text)

    def problem_at(self, path: str, text: str) -> None:
        origins, place = self.config.origins, path
        while place and place not in origins and f"{place}.type" not in origins:
            place = place.rpartition(".")[0]
        origin = origins.get(f"{place}.type") or self.config.origin(place)
        self.problems.add(origin, path, text)


def _kind(built: Any, family: Family) -> str:
    return f"{built!r} ({type(built).__name__})"[:200]


# ---- partition ----------------------------------------------------------------------------------
# How a config divides the examples of a run into training, validation and test.


_Divide = Callable[[Any, DataSection, Generator], Split]
"""Divides examples into a training part and a part to measure on."""


def partition(dataset: Any, section: DataSection, seed: int, *, tested: bool) -> Indices:
    """Return the indices of the parts of a data set.

    A data set that has parts of its own names them with its method ``own_split()``: a pair of
    indices for training and test, or a triple with those for validation between them. An empty part
    of a triple is split off the training part.

    Args:
        dataset: the data set; without its test part if that is a data set of its own.
        section: how to split it.
        seed: the seed of the run.
        tested: whether there is a test set already.

    Raises:
        ValueError: the data set does not have what the split needs; names the key.
    """
    train, validation, test = _own_parts(dataset)
    if test and (section.test_split != "random" or section.test_by):
        raise ValueError("the data set has its own test part, so there is nothing to split")
    if not test and not tested:
        train, test = _of(train, _divided_by(dataset, section, train, "split", seed, _test_part))
    if not section.splits_validation or isinstance(dataset, IterableDataset):
        validation = []
    elif section.folds or not validation:
        parts = _divided_by(dataset, section, train, "validation", seed, _validation_part)
        train, validation = _of(train, parts)
    return Indices(train, validation, test)


def _own_parts(dataset: Any) -> Indices:
    own = dataset.own_split() if hasattr(dataset, "own_split") else None
    if own is None:
        return Indices([*range(len(dataset))], [], [])
    return Indices(own[0], own[1] if len(own) == 3 else [], own[-1])


def _divided_by(
    dataset: Any, section: DataSection, rows: list[int], purpose: str, seed: int, divide: _Divide
) -> Split:
    """Divide some rows of a data set, in a random order of this purpose only."""
    generator = Generator().manual_seed(derive(seed, purpose))
    return divide(Subset(dataset, rows), section, generator)


def _of(rows: Sequence[int], parts: Split) -> Split:
    """Return the rows at some positions."""
    return [rows[position] for position in parts[0]], [rows[position] for position in parts[1]]


def _test_part(examples: Any, section: DataSection, generator: Generator) -> Split:
    kind, by, fraction = section.test_split, section.test_by, section.test_fraction
    if kind == "grouped":
        return grouped_split(_groups(examples, by), fraction, generator)
    if kind == "time":
        return time_split(_times(examples, by), fraction)
    if kind == "stratified":
        return stratified_split(_strata(examples, by), fraction, generator)
    if by:
        raise ValueError('test_by needs test_split = "grouped", "stratified" or "time"')
    count = round(len(examples) * fraction)
    train, test = random_split(examples, [len(examples) - count, count], generator)
    return [*train.indices], [*test.indices]


def _validation_part(examples: Subset[Any], section: DataSection, generator: Generator) -> Split:
    """Divide training examples as the test part was."""
    kind, by, least = section.test_split, section.test_by, 1
    split: Splits = stratified_split, stratified_folds
    if kind == "time":
        keys, split = _times(examples, by), BY_TIME
    elif kind == "grouped":
        keys, split = _groups(examples, by), (grouped_split, grouped_folds)
        least = min(Counter(keys).values(), default=0)
    elif kind == "stratified":
        keys = _strata(examples, by)
    else:
        keys, split = by_itself(examples)
    if section.folds:
        if section.fold > section.folds:
            raise ValueError(f"there is no fold {section.fold} of {section.folds}")
        return split[1](keys, section.folds, generator)[section.fold - 1]
    return with_some(split[0], keys, section.validation_share, least, generator)


def _groups(examples: Any, by: str) -> Sequence[str]:
    if not by:
        raise ValueError('test_split = "grouped" needs test_by, the name of a column')
    return _column(examples, by)


def _times(examples: Any, by: str) -> Sequence[Any]:
    return _sortable(_column(examples, by)) if by else range(len(examples))


def _strata(examples: Any, by: str) -> Sequence[Hashable]:
    strata: Sequence[Hashable] = _column(examples, by) if by else labels_of(examples).tolist()
    return strata


def _column(dataset: Any, name: str) -> Sequence[str]:
    if isinstance(dataset, Subset):
        values = _column(dataset.dataset, name)
        return [values[index] for index in dataset.indices]
    method = getattr(dataset, "column", None)
    if method is None:
        kind = type(dataset).__name__
        raise ValueError(
            f"test_by needs a data set with a method 'column', such as CSV, not {kind}"
        )
    column: Sequence[str] = method(name)
    return column


def _sortable(values: Sequence[str]) -> Sequence[float] | Sequence[str]:
    """Return numbers if all texts are numbers."""
    numbers = [found for value in values if (found := number(value)) is not None]
    return numbers if len(numbers) == len(values) else values


# ---- data rules ---------------------------------------------------------------------------------
# Rules that examples must satisfy for a loss and a model.


_OF_CLASSES = (nn.CrossEntropyLoss, nn.NLLLoss, nn.MultiMarginLoss)


def takes_class_weights(target: Any) -> bool:
    """Return whether a type is a loss of classes with an argument ``weight``."""
    return isinstance(target, type) and issubclass(target, _OF_CLASSES)


@dataclass(frozen=True)
class Rule:
    """A condition on each row of a part of the examples, such as ``"targets"``."""

    part: str
    expected: str
    """The condition in words, such as ``"a class from 0 to 9"``."""

    bad: Callable[[Array], Array]
    """From a stack of rows to a mask of the rows that violate the condition."""

    found: Callable[[Array], str]
    """From a row that violates the condition to its description."""


def finite(part: str) -> Rule:
    """Return the rule that a part contains no NaN and no infinity."""
    return Rule(part, "finite numbers", _not_finite, _describe_not_finite)


def _not_finite(rows: Array) -> Array:
    if rows.dtype.kind not in "fc":
        return np.zeros(len(rows), bool)
    flat = rows.reshape(len(rows), -1)
    # If all elements are finite, so is the sum, unless it overflows: hence the second check.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = ~np.isfinite(flat.sum(1))
    if suspicious.any():
        suspicious[suspicious] = ~np.isfinite(flat[suspicious]).all(1)
    return suspicious


def _describe_not_finite(row: Array) -> str:
    bad = ~np.isfinite(row)
    where = f", the first at {[int(i) for i in np.argwhere(bad)[0]]}" if row.ndim else ""
    nans = int(np.isnan(row).sum())
    infinities = int(bad.sum()) - nans
    counts = [f"{n} {what}" for n, what in ((nans, "NaN"), (infinities, "inf")) if n]
    return f"{' and '.join(counts)} of {row.size}{where}"


def for_loss(loss: Any, outputs: Any, target: Any) -> list[Rule]:
    """Return the rules for the targets of a loss.

    Args:
        loss: the loss of the config.
        outputs: the model's outputs for a batch.
        target: the target of one example.
    """
    if isinstance(loss, nn.BCELoss):
        return [Rule("targets", "numbers from 0 to 1", _outside(0, 1), _extremes)]
    shape: Any = getattr(outputs, "shape", ())
    if not isinstance(loss, _OF_CLASSES) or len(shape) < 2:
        return []
    if dtypes.is_floating(target.dtype) and target.shape == tuple(shape[1:]):
        return []  # probabilities of classes
    count = int(shape[1])
    last, ignored = count - 1, getattr(loss, "ignore_index", None)
    wrong = _outside(0, last)

    def bad(rows: Array) -> Array:
        if rows.dtype.kind not in "iu":
            return np.ones(len(rows), bool)
        known = rows if ignored is None else np.where(rows == ignored, 0, rows)
        return wrong(known)

    also = f" (or {ignored}, which is ignored)" if ignored is not None and ignored >= 0 else ""
    kind = type(loss).__name__
    model = f"the model has {quantity(count, 'output')}, the loss is {kind}"
    expected = f"a class from 0 to {last}{also}: {model}"
    return [Rule("targets", expected, bad, _extremes)]


def _outside(low: float, high: float) -> Callable[[Array], Array]:
    def bad(rows: Array) -> Array:
        flat = rows.reshape(len(rows), -1)
        return np.asarray(((flat < low) | (flat > high)).any(1))

    return bad


def _extremes(row: Array) -> str:
    kind = "" if row.dtype.kind in "iu" else f" ({row.dtype})"
    if row.size == 1:
        return f"{row.item():.6g}{kind}"
    return f"numbers from {row.min():.6g} to {row.max():.6g}{kind}"


# ---- classes ------------------------------------------------------------------------------------
# What depends on the classes of the training set: weights in the loss, and mixed batches.


def balanced(loss: Component, train_set: Any) -> dict[str, Tensor]:
    """Return the argument of a loss with which all classes count the same.

    Raises:
        ValueError: the loss does not weigh classes, or the targets do not fit it.
    """
    kind = loss.target if isinstance(loss.target, type) else object
    if issubclass(kind, BCEWithLogitsLoss):
        name, weights = "pos_weight", balanced_positives
    elif takes_class_weights(kind):
        name, weights = "weight", balanced_weights
    else:
        advice = "; BCEWithLogitsLoss does" if issubclass(kind, BCELoss) else ""
        raise ValueError(f"{loss.type} does not weigh classes{advice}")
    if name in loss.arguments:
        raise ValueError(f"the loss has a {name} of its own")
    return {name: weights(train_set)}


def balanced_weights(train_set: Any) -> Tensor:
    """Return the weight of each class: examples / (classes * examples of the class).

    That is scikit-learn's ``class_weight="balanced"``.

    Raises:
        ValueError: the targets are not classes, or a class has no examples.

    Example:
        >>> data = tn.data.TensorDataset(tn.zeros(4, 1), tn.tensor([0, 1, 1, 1]))
        >>> balanced_weights(data)
        tensor([2.0000, 0.6667])
    """
    labels = labels_of(train_set)
    if len(labels) and labels.min() < 0:
        raise ValueError("the targets are not classes: there are negative ones")
    names = class_names(train_set)
    counts = np.bincount(labels, minlength=len(names))
    absent = np.flatnonzero(counts == 0).tolist()
    if absent:
        listed = ", ".join(repr(names[i]) if i < len(names) else str(i) for i in absent)
        raise ValueError(
            f"the training part has no examples of the classes {listed} "
            '(data.test_split = "stratified" keeps some of each class)'
        )
    return wrap((len(labels) / (len(counts) * counts)).astype(np.float32))


def balanced_positives(train_set: Any) -> Tensor:
    """Return the weight of the examples of class 1: negative examples / positive examples.

    Targets with several elements, such as labels that do not exclude each other, have a weight
    for each.

    Raises:
        ValueError: the targets are not 0 or 1, or none is 1.

    Example:
        >>> labels = tn.tensor([[0.0, 1], [1, 1], [0, 1], [0, 0]])
        >>> balanced_positives(tn.data.TensorDataset(tn.zeros(4, 1), labels))
        tensor([3.0000, 0.3333])
    """
    targets = targets_of(train_set)
    if not np.isin(targets, (0, 1)).all():
        raise ValueError("the targets are not 0 or 1")
    positive = targets.sum(0, dtype=np.float64)
    if absent := np.flatnonzero(positive == 0).tolist():
        where = f" at the outputs {', '.join(map(str, absent))}" if targets.ndim > 1 else ""
        raise ValueError(f"the training part has no examples of class 1{where}")
    weights: Any = (len(targets) - positive) / positive
    return wrap(np.asarray(weights, np.float32))


class MixedBatches:
    """Builds a batch from samples, and mixes it by one of several functions, chosen at random.

    A loader seeds the default generator for each batch, so workers and interruptions change
    nothing.

    Args:
        mixtures: functions of inputs and targets.

    Example:
        >>> from tinynet.data.transforms import MixUp
        >>> inputs, targets = MixedBatches([MixUp(num_classes=2)])([(tn.ones(1), 0)] * 4)
        >>> targets.shape
        tinynet.Size([4, 2])
    """

    def __init__(self, mixtures: Sequence[Callable[[Any, Any], Any]]) -> None:
        self.mixtures = mixtures

    def __call__(self, samples: Any) -> list[Any]:
        return self.mixed(default_collate(samples))

    def mixed(self, batch: Sequence[Any]) -> list[Any]:
        """Return the mixture of a batch."""
        count = len(self.mixtures)
        chosen = int(default_generator.numpy.integers(count)) if count > 1 else 0
        return [*self.mixtures[chosen](*batch)]


def count_classes(mixtures: Sequence[Any], train_set: Any) -> None:
    """Give mixtures without a number of classes the training set's number.

    Raises:
        ValueError: the targets are not classes.
    """
    for mixture in mixtures:
        if getattr(mixture, "num_classes", 0) is None:
            names = dataset_attribute(train_set, "classes")
            mixture.num_classes = len(names) if names else int(labels_of(train_set).max()) + 1


# ---- sets ---------------------------------------------------------------------------------------


_MOST_EXAMPLES = 2**36
"""The limit of a data set: the order of more examples would take half a terabyte."""


def train_order(config: Config, train_set: Any, generator: Generator) -> Iterable[int]:
    """Return the sampler of the training set, with the batches that the limits of the run leave.

    Args:
        config: a config; ``run.overfit_batches`` draws once, all other settings in each epoch.
        train_set: the training set.
        generator: the generator of the order.
    """
    run, size, total = config.run, config.data.batch_size, len(train_set)
    batches = (total if config.data.drop_last else total + size - 1) // size
    amount = run.overfit_batches or run.limit_batches
    count = total if amount is None else min(count_of(amount, batches) * size, total)
    if not config.data.shuffle:
        return range(count)
    sampler = RandomSampler(train_set, num_samples=count, generator=generator)
    return sampler if run.overfit_batches is None else [*sampler]


def evaluated_part(config: Config, sets: Sets) -> Sets:
    """Return the sets with the examples to evaluate, which ``evaluation.limit_batches`` limits."""
    amount, size = config.evaluation.limit_batches, config.data.batch_size

    def part(examples: Any) -> Any:
        if examples is None or amount is None:
            return examples
        count = count_of(amount, -(-len(examples) // size)) * size
        return Subset(examples, range(min(count, len(examples))))

    return Sets(sets.train, part(sets.validation), part(sets.test))


class SetsBuilder(Maker):
    """Builds the data sets, and splits them as a config says."""

    def build(self, preprocessing: Any = None) -> Sets | None:
        """Return the data sets; None after a problem.

        Args:
            preprocessing: what the data set learned from its training part in an earlier run.
        """
        section = self.config.data
        component, own = section.component, section.validation
        tests = "train" in component.takes
        dataset = self.make("data", component, **({"train": True} if tests else {}))
        if dataset is None or not self.has_length(component, dataset):
            return None  # the test set has the same problem
        test_set = self.make("data", component, train=False) if tests else None
        validation_set = None
        if isinstance(own, Component) and not section.folds:
            validation_set = self.validation_set(own)
        if self.problems:
            return None
        try:
            parts = partition(dataset, section, self.config.run.seed, tested=tests)
        except ValueError as error:
            given = "folds" if section.folds else "test_by" if section.test_by else "test_split"
            self.problem_at(f"data.{given}", str(error))
            return None
        if not parts.train or not (tests or parts.test):
            return self.not_empty(component, Sets(parts.train, None, test_set or parts.test))
        try:
            sets = divided(dataset, parts, preprocessing, tests)
            test_set = sets.test if test_set is None else test_set
            if validation_set is not None:
                sets = replace(sets, validation=prepared(validation_set, sets.train))
        except Exception as error:
            self.problem_at(refused_at(component, error), refusal(component, error))
            return None
        sets = evaluated_part(self.config, replace(sets, test=test_set))
        return self.not_empty(component, sets)

    def validation_set(self, component: Component) -> Any:
        """Return the data set of its own for validation."""
        own = {"train": False} if "train" in component.takes else {}
        built = self.make("data", component, **own)
        if built is not None and self.has_length(component, built) and not len(built):
            self.problem(component, "the validation set is empty")
        return built

    def has_length(self, component: Component, dataset: Any) -> bool:
        """Return whether a data set has a usable length; if not, add the problem."""
        try:
            count = len(dataset)
        except Exception as error:  # Python's own for an invalid length, or the user's
            text = f"the length of the data set cannot be used\n{in_users_code(error)}"
            self.problem(component, text)
            return False
        if count > _MOST_EXAMPLES:
            text = f"the data set has {count:,} examples, too many to shuffle"
            self.problem(component, text)
        return count <= _MOST_EXAMPLES

    def not_empty(self, component: Component, sets: Sets) -> Sets | None:
        """Return the data sets, with the targets of the config; None after a problem."""
        if not all([one is None or self.has_length(component, one) for one in sets]):
            return None
        for name, dataset in zip(SETS, sets, strict=True):
            if dataset is not None and not len(dataset):
                self.problem(component, f"the {name} set is empty")
        return sets.map(InputsAsTargets) if self.config.data.targets == "inputs" else sets
