"""Building the data sets of a config: training, validation and test."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tinynet.data import RandomSampler, Subset
from tinynet.random import Generator
from tinynet.train.assemble.maker import Maker
from tinynet.train.assemble.partition import partition
from tinynet.train.base.problems import in_users_code
from tinynet.train.config.amounts import count_of
from tinynet.train.config.constructor_errors import refusal, refused_at
from tinynet.train.config.sections import Config
from tinynet.train.config.signatures import Component
from tinynet.train.loop.splits import Sets, divided, prepared
from tinynet.train.metrics.criterion import SETS
from tinynet.train.step.targets import InputsAsTargets

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
