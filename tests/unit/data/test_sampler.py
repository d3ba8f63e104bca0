"""Samplers."""

import itertools

import pytest

import tinynet as tn
from tinynet.data import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


def seeded(seed=0):
    return tn.Generator().manual_seed(seed)


def test_sequential():
    sampler = SequentialSampler("abcd")
    assert len(sampler) == 4
    assert list(sampler) == list(sampler) == [0, 1, 2, 3]


def test_random_is_a_permutation_in_plain_ints():
    order = list(RandomSampler(range(100), generator=seeded()))
    assert sorted(order) == list(range(100))
    assert order != sorted(order)
    assert {type(index) for index in order} == {int}


def test_each_pass_has_its_own_order_and_the_seed_repeats_them_all():
    first, again = (RandomSampler(range(50), generator=seeded(1)) for _ in range(2))
    passes = [list(first) for _ in range(3)]
    assert passes == [list(again) for _ in range(3)]
    assert passes[0] != passes[1] != passes[2]
    assert list(RandomSampler(range(50), generator=seeded(2))) != passes[0]


@pytest.mark.parametrize("make", [RandomSampler, SubsetRandomSampler])
def test_without_a_generator_the_default_one_is_used(make):
    sampler = make(range(50))
    tn.manual_seed(5)
    first, second = list(sampler), list(sampler)
    assert first != second
    tn.manual_seed(5)
    assert [list(sampler), list(sampler)] == [first, second]


@pytest.mark.parametrize(
    "sampler",
    [
        RandomSampler(range(50)),
        RandomSampler(range(50), replacement=True, num_samples=20),
        SubsetRandomSampler(range(50)),
        WeightedRandomSampler([1.0] * 50, 20),
    ],
    ids=lambda sampler: type(sampler).__name__,
)
def test_the_order_is_drawn_with_the_first_index(sampler):
    passes, orders = (iter(sampler), iter(sampler)), ([], [])
    for order, indices in zip(orders, passes, strict=True):
        tn.manual_seed(5)
        order.append(next(indices))
    for order, indices in zip(orders, passes, strict=True):
        order.extend(indices)
    assert orders[0] == orders[1]


def test_a_generator_leaves_the_default_one_alone():
    tn.manual_seed(5)
    state = tn.get_rng_state()
    list(RandomSampler(range(50), generator=seeded()))
    assert tn.equal(tn.get_rng_state(), state)


def test_with_replacement():
    sampler = RandomSampler(range(10), replacement=True, num_samples=200, generator=seeded())
    order = list(sampler)
    assert len(order) == len(sampler) == 200
    assert set(order) == set(range(10))


def test_with_replacement_as_many_as_there_are():
    sampler = RandomSampler(range(10), replacement=True, generator=seeded())
    assert len(list(sampler)) == len(sampler) == 10


def test_more_samples_than_data_means_several_passes():
    order = list(RandomSampler(range(10), num_samples=23, generator=seeded()))
    assert len(order) == 23
    assert sorted(order[:10]) == sorted(order[10:20]) == list(range(10))
    assert order[:10] != order[10:20]
    assert len(set(order[20:])) == 3


def test_the_length_follows_the_data():
    data = [1, 2]
    sampler = RandomSampler(data)
    data.append(3)
    assert len(sampler) == 3
    assert sorted(sampler) == [0, 1, 2]


def test_subset_random():
    sampler = SubsetRandomSampler([3, 5, 8], generator=seeded())
    assert len(sampler) == 3
    assert {tuple(sampler) for _ in range(100)} == {
        (3, 5, 8), (3, 8, 5), (5, 3, 8), (5, 8, 3), (8, 3, 5), (8, 5, 3)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("n", "size", "drop_last", "batches"),
    [
        (5, 2, False, [[0, 1], [2, 3], [4]]),
        (5, 2, True, [[0, 1], [2, 3]]),
        (4, 2, False, [[0, 1], [2, 3]]),
        (4, 2, True, [[0, 1], [2, 3]]),
        (2, 3, False, [[0, 1]]),
        (2, 3, True, []),
        (0, 3, False, []),
    ],
)
def test_batches(n, size, drop_last, batches):
    sampler = BatchSampler(SequentialSampler(range(n)), size, drop_last)
    assert list(sampler) == list(sampler) == batches
    assert len(sampler) == len(batches)


def test_batches_of_any_iterable():
    assert list(BatchSampler(iter([7, 8, 9]), 2, False)) == [[7, 8], [9]]


def test_sampler_must_be_subclassed():
    with pytest.raises(NotImplementedError, match="Subclasses of Sampler should implement"):
        iter(Sampler())


def test_more_draws_than_anyone_takes_are_drawn_a_part_at_a_time():
    tn.manual_seed(0)
    sampler = RandomSampler(range(7), replacement=True, num_samples=10**10)
    first = list(itertools.islice(sampler, 5))
    tn.manual_seed(0)
    assert first == list(itertools.islice(sampler, 5)) and all(0 <= i < 7 for i in first)
    loader = tn.data.DataLoader(tn.arange(7), batch_size=2, sampler=sampler)
    assert len(loader) == 5 * 10**9 and next(iter(loader)).shape == (2,)
