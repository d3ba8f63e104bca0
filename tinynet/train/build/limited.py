"""The parts of the data sets that the limits of a config leave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tinynet.data import RandomSampler, Subset
from tinynet.random import Generator
from tinynet.train.build.splitting import Sets
from tinynet.train.config.amounts import count_of
from tinynet.train.config.sections import Config


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
