"""The DataLoader."""

import inspect

import numpy as np
import pytest

import tinynet as tn
import tinynet.utils.data as door
from tinynet import data
from tinynet.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    SequentialSampler,
    Subset,
    TensorDataset,
    default_collate,
    random_split,
)


def points(n=10):
    return TensorDataset(tn.arange(n * 3.0).reshape(n, 3), tn.arange(n))


def seeded(seed=0):
    return tn.Generator().manual_seed(seed)


def numbers(loader):
    """The labels of all batches of one pass."""
    return [labels.tolist() for _, labels in loader]


def same(a, b):
    return a.dtype is b.dtype and a.shape == b.shape and bool((a == b).all())


class OneByOne(Dataset):
    """The same samples without __getitems__."""

    def __init__(self, whole):
        self.whole = whole

    def __len__(self):
        return len(self.whole)

    def __getitem__(self, index):
        return self.whole[index]


class Recorded:
    """A dataset of numbers with __getitems__ that notes what it is asked for."""

    def __init__(self):
        self.asked = []

    def __len__(self):
        return 4

    def __getitem__(self, index):
        self.asked.append(index)
        return index * 10

    def __getitems__(self, indices):
        self.asked.append(indices)
        return [index * 10 for index in indices]


# ---- batches ----


def test_batches_in_order():
    loader = DataLoader(points(), batch_size=4)
    assert len(loader) == 3
    batches = list(loader)
    assert [type(batch) for batch in batches] == [list] * 3
    assert [tuple(x.shape) for x, _ in batches] == [(4, 3), (4, 3), (2, 3)]
    assert numbers(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_drop_last():
    loader = DataLoader(points(), batch_size=4, drop_last=True)
    assert len(loader) == 2
    assert numbers(loader) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_batch_of_one_is_the_default():
    assert numbers(DataLoader(points(2))) == [[0], [1]]


def test_positional_arguments_are_pytorchs():
    assert numbers(DataLoader(points(3), 2, False, None, None, 0, None, False, True)) == [[0, 1]]


def test_no_batches():
    loader = DataLoader(points(3), batch_size=None)
    assert len(loader) == 3
    assert loader.batch_sampler is None
    x, label = list(loader)[1]
    assert (x.tolist(), label.tolist()) == ([3.0, 4.0, 5.0], 1)
    arrays = list(DataLoader([np.zeros(2), "a"], batch_size=None))
    assert arrays[0].tolist() == [0.0, 0.0]
    assert arrays[1] == "a"


def test_no_batches_with_collate_fn():
    assert list(DataLoader([1, 2], batch_size=None, collate_fn=lambda n: n * 10)) == [10, 20]


def test_an_empty_dataset_has_no_batches():
    loader = DataLoader(TensorDataset(tn.zeros(0, 3)), batch_size=2)
    assert len(loader) == 0
    assert list(loader) == []


def test_any_sequence_is_a_dataset():
    assert [batch.tolist() for batch in DataLoader([1, 2, 3], batch_size=2)] == [[1, 2], [3]]


def test_attributes():
    dataset, generator = points(), seeded()
    loader = DataLoader(dataset, batch_size=4, drop_last=True, generator=generator)
    assert loader.dataset is dataset
    assert (loader.batch_size, loader.drop_last, loader.num_workers) == (4, True, 0)
    assert isinstance(loader.sampler, SequentialSampler)
    assert isinstance(loader.batch_sampler, BatchSampler)
    assert loader.generator is generator
    assert loader.collate_fn is default_collate


def test_pin_memory_has_nothing_to_pin():
    with pytest.warns(UserWarning, match=r"^'pin_memory' argument is set as true but no"):
        loader = DataLoader(points(2), pin_memory=True)
    assert len(list(loader)) == 2


# ---- order ----


def test_each_pass_has_a_new_order_and_the_seed_repeats_them_all():
    first, again = (
        DataLoader(points(50), batch_size=7, shuffle=True, generator=seeded(1)) for _ in range(2)
    )
    passes = [numbers(first) for _ in range(3)]
    assert passes == [numbers(again) for _ in range(3)]
    assert passes[0] != passes[1] != passes[2]
    for batches in passes:
        assert sorted(sum(batches, [])) == list(range(50))


def test_inputs_and_labels_stay_together():
    for x, labels in DataLoader(points(50), batch_size=7, shuffle=True):
        assert same(x, points(50).tensors[0][labels])


def test_without_a_generator_the_default_one_is_used():
    loader = DataLoader(points(50), batch_size=50, shuffle=True)
    tn.manual_seed(3)
    passes = [numbers(loader), numbers(loader)]
    assert passes[0] != passes[1]
    tn.manual_seed(3)
    assert [numbers(loader), numbers(loader)] == passes


def test_a_pass_draws_its_seed_and_nothing_else_before_its_order():
    source, again = seeded(), seeded()
    numbers(DataLoader(points(), batch_size=4, generator=source))
    again.numpy.integers(2**63)
    assert source.state_dict() == again.state_dict()


def test_what_is_drawn_between_batches_does_not_change_the_order():
    loader = DataLoader(points(50), batch_size=7, shuffle=True)
    tn.manual_seed(3)
    expected = numbers(loader)
    tn.manual_seed(3)
    found = []
    for _, labels in loader:
        tn.rand(5)
        found.append(labels.tolist())
    assert found == expected


def test_the_state_of_the_generator_continues_the_orders():
    loader = DataLoader(points(50), batch_size=50, shuffle=True, generator=seeded())
    numbers(loader)
    state = loader.generator.get_state()
    expected = numbers(loader)
    later = DataLoader(points(50), batch_size=50, shuffle=True, generator=tn.Generator())
    later.generator.set_state(state)
    assert numbers(later) == expected


def test_two_passes_at_a_time():
    loader = DataLoader(points(3), batch_size=2)
    pairs = [(a.tolist(), b.tolist()) for (_, a), (_, b) in zip(loader, loader, strict=True)]
    assert pairs == [([0, 1], [0, 1]), ([2], [2])]


def test_sampler():
    loader = DataLoader(points(), batch_size=2, sampler=[5, 3, 1])
    assert len(loader) == 2
    assert numbers(loader) == [[5, 3], [1]]


def test_sampler_of_tensors():
    assert numbers(DataLoader(points(), batch_size=2, sampler=tn.tensor([5, 3, 1]))) == [
        [5, 3],
        [1],
    ]


def test_batch_sampler():
    loader = DataLoader(points(), batch_sampler=[[1, 2, 3], [0]])
    assert len(loader) == 2
    assert (loader.batch_size, loader.drop_last) == (None, False)
    assert numbers(loader) == [[1, 2, 3], [0]]


# ---- at once, or one by one ----


def test_getitems_is_asked_for_whole_batches():
    dataset = Recorded()
    assert [batch.tolist() for batch in DataLoader(dataset, batch_size=3)] == [[0, 10, 20], [30]]
    assert dataset.asked == [[0, 1, 2], [3]]


def test_getitems_is_not_asked_without_batches():
    dataset = Recorded()
    assert list(DataLoader(dataset, batch_size=None)) == [0, 10, 20, 30]
    assert dataset.asked == [0, 1, 2, 3]


def test_getitems_is_asked_through_a_subset():
    dataset = Recorded()
    (batch,) = DataLoader(Subset(dataset, [3, 1]), batch_size=2)
    assert batch.tolist() == [30, 10]
    assert dataset.asked == [[3, 1]]


@pytest.mark.parametrize(
    "dataset",
    [
        points(),
        TensorDataset(tn.arange(10).reshape(10, 1, 1)),
        TensorDataset(tn.arange(20.0).reshape(2, 10).t(), tn.arange(10) > 4, tn.zeros(10, 0)),
        Subset(points(), [9, 0, 4, 4, -1]),
        Subset(Subset(points(), range(2, 8)), (5, 0, 3)),
        random_split(points(), [7, 3], seeded())[0],
    ],
    ids=["points", "one tensor", "layouts", "subset", "subset of subset", "split"],
)
def test_gathered_batches_equal_collated_ones(dataset):
    fast = list(DataLoader(dataset, batch_size=4, shuffle=True, generator=seeded()))
    slow = list(DataLoader(OneByOne(dataset), batch_size=4, shuffle=True, generator=seeded()))
    assert len(fast) == len(slow) > 0
    for a, b in zip(fast, slow, strict=True):
        assert type(a) is type(b) is list
        assert len(a) == len(b)
        assert all(map(same, a, b))


def test_a_subclass_that_augments_is_not_bypassed():
    class Negated(TensorDataset):
        def __getitem__(self, index):
            x, y = super().__getitem__(index)
            return -x, y

    dataset = Negated(*points(4).tensors)
    (batch,) = DataLoader(dataset, batch_size=4)
    assert same(batch[0], -dataset.tensors[0])


def test_collate_fn_gets_a_list_of_samples():
    seen = []

    def collate(samples):
        seen.append(type(samples))
        samples.sort(key=lambda sample: -sample[1].item())
        return [label.item() for _, label in samples]

    assert list(DataLoader(points(5), batch_size=3, collate_fn=collate)) == [[2, 1, 0], [4, 3]]
    assert seen == [list, list]


def test_gradients_reach_the_tensors_of_a_dataset():
    x = tn.ones(4, 2, requires_grad=True)
    for batch in DataLoader(TensorDataset(x), batch_size=3):
        batch[0].sum().backward()
    assert same(x.grad, tn.ones(4, 2))


# ---- the door ----


def test_the_door_leads_to_the_same_things():
    names = [n for n, v in vars(door).items() if n[0] != "_" and not inspect.ismodule(v)]
    assert {"DataLoader", "Dataset", "TensorDataset", "random_split"} <= set(names)
    assert all(getattr(door, name) is getattr(data, name) for name in names)
