"""Datasets, subsets and splits."""

import warnings

import numpy as np
import pytest

import tinynet as tn
from tinynet.data import Dataset, Subset, TensorDataset, random_split
from tinynet.data.dataset import Samples


def points(n=6):
    return TensorDataset(tn.arange(n * 2.0).reshape(n, 2), tn.arange(n))


def plain(value):
    """Nested lists of what nested sequences of tensors hold."""
    return value.tolist() if isinstance(value, tn.Tensor) else [plain(part) for part in value]


class Letters(Dataset):
    """Has no __getitems__."""

    def __len__(self):
        return 5

    def __getitem__(self, index):
        return "abcde"[index]


# ---- TensorDataset ----


def test_samples_are_rows():
    data = points()
    assert len(data) == 6
    assert isinstance(data[1], tuple)
    assert plain(data[1]) == [[2.0, 3.0], 1]
    assert plain(data[-1]) == [[10.0, 11.0], 5]
    assert plain(data[[0, 2]]) == [[[0.0, 1.0], [4.0, 5.0]], [0, 2]]
    assert plain(data[4:]) == [[[8.0, 9.0], [10.0, 11.0]], [4, 5]]


def test_several_samples_at_once_are_a_sequence_of_samples():
    data = points()
    several = data.__getitems__([3, -1, 3])
    assert len(several) == 3
    assert plain(several) == plain([data[3], data[-1], data[3]])
    assert plain(several[1:]) == plain([data[-1], data[3]])
    assert plain(several[-1]) == plain(data[3])
    with pytest.raises(IndexError):
        several[3]


def test_several_samples_at_once_are_gathered():
    assert isinstance(points().__getitems__([0, np.int64(2)]), Samples)


def test_gathered_samples_do_not_share_memory_with_the_dataset():
    data = points()
    data.__getitems__([0, 1]).columns[0].fill_(7)
    assert plain(data[0]) == [[0.0, 1.0], 0]


@pytest.mark.parametrize("indices", [[True, False], [slice(0, 2)], [[0], [1, 2]], []])
def test_what_is_no_list_of_numbers_is_not_gathered(indices):
    data = points()
    several = data.__getitems__(indices)
    assert isinstance(several, list)
    assert plain(several) == [plain(data[index]) for index in indices]


@pytest.mark.parametrize("index", [6, -7, 2**80])
def test_out_of_range(index):
    data = points()
    with pytest.raises(IndexError) as one:
        data[index]
    with pytest.raises(IndexError) as several:
        data.__getitems__([0, index])
    assert str(several.value) == str(one.value)


def test_a_subclass_that_changes_samples_is_asked_for_each():
    class Negated(TensorDataset):
        def __getitem__(self, index):
            x, y = super().__getitem__(index)
            return -x, y

    data = Negated(tn.arange(3.0), tn.arange(3))
    assert plain(data.__getitems__([1, 2])) == [[-1.0, 1], [-2.0, 2]]
    assert plain(Subset(data, [2, 1]).__getitems__([0])) == [[-2.0, 2]]


def test_gathering_keeps_history():
    x = tn.arange(4.0).requires_grad_()
    data = TensorDataset(x)
    (gathered,) = data.__getitems__([2, 0, 2]).columns
    gathered.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 2.0, 0.0]


def test_dataset_must_be_subclassed():
    with pytest.raises(NotImplementedError, match=r"^Subclasses of Dataset should implement"):
        Dataset()[0]


# ---- Subset ----


def test_subset():
    part = Subset(points(), [4, 2, 0])
    assert len(part) == 3
    assert plain(part[0]) == [[8.0, 9.0], 4]
    assert plain(part[1:]) == [[[4.0, 5.0], [0.0, 1.0]], [2, 0]]
    assert plain(part[[0, 2]]) == [[[8.0, 9.0], [0.0, 1.0]], [4, 0]]
    assert plain(part.__getitems__([2, 0])) == [[[0.0, 1.0], 0], [[8.0, 9.0], 4]]


def test_subset_of_subset_is_gathered_from_the_root():
    part = Subset(Subset(points(), [5, 4, 3]), [2, 0])
    assert isinstance(part.__getitems__([0, 1]), Samples)
    assert plain(part.__getitems__([0, 1])) == [[[6.0, 7.0], 3], [[10.0, 11.0], 5]]


def test_subset_of_a_dataset_without_getitems():
    assert Subset(Letters(), [4, 0]).__getitems__([1, 0]) == ["a", "e"]


def test_a_subset_subclass_that_changes_samples_is_asked_for_each():
    class Upper(Subset):
        def __getitem__(self, index):
            return super().__getitem__(index).upper()

    assert Upper(Letters(), [4, 0]).__getitems__([0, 1]) == ["E", "A"]


# ---- random_split ----


def seeded(seed=0):
    return tn.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [
        ([3, 7], [3, 7]),
        ([10, 0], [10, 0]),
        ([0.5, 0.5], [5, 5]),
        ([0.33, 0.33, 0.34], [4, 3, 3]),
        ([1 / 3, 1 / 3, 1 / 3], [4, 3, 3]),
        ([0.05, 0.95], [1, 9]),
        ([0.7, 0.2, 0.1], [7, 2, 1]),
        ([0.1] * 10, [1] * 10),
        ([1], [10]),
        ([1.0], [10]),
        ([np.float64(0.5), 0.5], [5, 5]),
    ],
)
def test_sizes_of_a_split(lengths, sizes):
    parts = random_split(range(10), lengths, seeded())
    assert [len(part) for part in parts] == sizes
    assert sorted(index for part in parts for index in part) == list(range(10))


def test_a_split_draws_from_its_generator():
    def order(generator):
        return [list(part) for part in random_split(range(50), [20, 30], generator)]

    assert order(seeded(1)) == order(seeded(1))
    assert order(seeded(1)) != order(seeded(2))
    shared = seeded(1)
    assert order(shared) != order(shared)
    tn.manual_seed(3)
    first = order(None)
    assert order(None) != first
    tn.manual_seed(3)
    assert order(None) == first


def test_an_empty_part_is_warned_about():
    with pytest.warns(UserWarning, match=r"^Length of split at index 1 is 0\. This might") as seen:
        parts = random_split(range(10), [0.99, 0.01])
    assert [len(part) for part in parts] == [10, 0]
    assert seen[0].filename == __file__


def test_an_empty_part_that_was_asked_for_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        random_split(range(10), [0, 10])
