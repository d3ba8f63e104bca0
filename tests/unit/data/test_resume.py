"""state_dict and load_state_dict of a DataLoader: going on in the middle of a pass."""

import copy
import json
import pickle

import pytest

import tinynet as tn
from tinynet.data import (
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
    get_worker_info,
)
from tinynet.train.base import checkpoint_file as checkpoint

pytestmark = pytest.mark.filterwarnings(
    "ignore:This DataLoader will create", "ignore:.*use of fork:DeprecationWarning"
)

THREADS = {"num_workers": 2}
FORK = {"num_workers": 2, "multiprocessing_context": "fork"}
HOW = [{}, THREADS, {**THREADS, "persistent_workers": True}, FORK]


def seeded(seed=0):
    return tn.Generator().manual_seed(seed)


def plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


class Drawn(Dataset):
    def __len__(self):
        return 11

    def __getitem__(self, index):
        return index, tn.rand(1)


def train(loader, epochs, stop=None):
    """Passes over a loader with draws between batches, and the state after ``stop`` batches."""
    found, saved = [], None
    for _ in range(epochs):
        found.append([])
        for batch in loader:
            found[-1].append((plain(batch), tn.rand(1).item()))  # as dropout would
            if stop is not None and sum(map(len, found)) == stop:
                saved = loader.state_dict(), tn.get_rng_state()
                return found, saved
    return found, saved


SAMPLERS = {
    "in order": lambda: {},
    "shuffled": lambda: {"shuffle": True},
    "by a generator": lambda: {"shuffle": True, "generator": seeded(4)},
    "in order, by a generator": lambda: {"generator": seeded(4)},
    "replacement": lambda: {"sampler": RandomSampler(range(11), True, 9, seeded(3))},
    "several passes": lambda: {"sampler": RandomSampler(range(11), num_samples=25)},
    "subset": lambda: {"sampler": SubsetRandomSampler([1, 2, 3, 5, 8], seeded(3))},
    "weighted": lambda: {"sampler": WeightedRandomSampler(range(11), 7, generator=seeded(3))},
    "distributed": lambda: {"sampler": DistributedSampler(range(11), 2, 1)},
    "drop_last": lambda: {"shuffle": True, "drop_last": True},
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_exact_resume(name, how):
    def loader():
        return DataLoader(Drawn(), 2, **SAMPLERS[name](), **how)

    tn.manual_seed(1)
    whole, _ = train(loader(), 3)
    flat = sum(whole, [])
    stops = range(1, len(flat) + 1) if how is not FORK else (1, 5, len(whole[0]), len(flat) - 1)
    for stop in stops:
        tn.manual_seed(1)
        before, (state, rng) = train(loader(), 3, stop)
        assert sum(before, []) == flat[:stop]
        state = json.loads(json.dumps(state))
        tn.manual_seed(99)
        resumed = loader()
        resumed.load_state_dict(state)
        tn.set_rng_state(rng)
        after, _ = train(resumed, 3 - state["epoch"])
        assert sum(after, []) == flat[stop:]
        assert [len(part) for part in after[1:]] == [len(whole[0])] * (2 - state["epoch"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("first", HOW, ids=str)
@pytest.mark.parametrize("second", HOW, ids=str)
def test_with_another_number_of_workers(first, second):
    def loader(**how):
        return DataLoader(Drawn(), 2, shuffle=True, generator=seeded(), **how)

    batches = iter(began := loader(**first))
    next(batches), next(batches)
    state = began.state_dict()
    went_on = loader(**second)
    went_on.load_state_dict(state)
    assert plain(list(went_on)) == plain(list(batches))
    assert plain(list(went_on)) == plain(list(began))


def test_epoch_and_position():
    def place(loader):
        state = loader.state_dict()
        return state["epoch"], state["position"]

    loader = DataLoader(Drawn(), 4)
    assert place(loader) == (0, 0)
    seen = [place(loader) for _ in loader]
    assert seen == [(0, 1), (0, 2), (0, 3)]
    assert place(loader) == (1, 0)
    for _ in loader:
        break
    assert place(loader) == (1, 1)  # the pass that was begun last
    iter(loader)
    assert place(loader) == (2, 0)
    again = DataLoader(Drawn(), 4)
    again.load_state_dict(loader.state_dict())
    assert place(again) == (2, 0)
    list(again)
    assert place(again) == (3, 0)


def test_between_two_passes():
    def loader():
        return DataLoader(Drawn(), 4, shuffle=True, generator=seeded())

    first, second = loader(), loader()
    list(first)
    second.load_state_dict(first.state_dict())
    assert plain(list(second)) == plain(list(first))


def test_the_generator_goes_to_its_state_at_once():
    source = seeded()
    loader = DataLoader(Drawn(), 4, shuffle=True, generator=source)
    list(loader)
    state = loader.state_dict()
    expected = source.state_dict()
    list(loader)
    loader.load_state_dict(state)
    assert source.state_dict() == expected
    tn.manual_seed(0)
    default = DataLoader(Drawn(), 4, shuffle=True)
    list(default)
    state, expected = default.state_dict(), tn.get_rng_state()
    tn.manual_seed(5)
    default.load_state_dict(state)
    assert tn.equal(tn.get_rng_state(), expected)


def test_a_failed_batch_counts_as_given():
    class Broken(Drawn):
        def __getitem__(self, index):
            return 1 / (index - 4) and index

    for how in HOW:
        loader = DataLoader(Broken(), 2, **how)
        batches = iter(loader)
        next(batches), next(batches)
        with pytest.raises(ZeroDivisionError):
            next(batches)
        resumed = DataLoader(Broken(), 2, **how)
        resumed.load_state_dict(loader.state_dict())
        assert plain(list(resumed)) == plain(list(batches)) == [[6, 7], [8, 9], [10]]


def test_out_of_order():
    loader = DataLoader(Drawn(), 2, num_workers=3, in_order=False)
    batches = iter(loader)
    found = [plain(next(batches)) for _ in range(3)]
    resumed = DataLoader(Drawn(), 2, num_workers=3, in_order=False)
    resumed.load_state_dict(loader.state_dict())
    found += plain(list(resumed))
    assert sorted(sum((indices for indices, _ in found), [])) == list(range(11))


def test_a_sampler_that_has_no_state():
    class Backwards(Sampler):
        def __iter__(self):
            return iter(range(10, -1, -1))

    loader = DataLoader(Drawn(), 2, sampler=Backwards(), generator=seeded())
    batches = iter(loader)
    next(batches)
    resumed = DataLoader(Drawn(), 2, sampler=Backwards(), generator=seeded(7))
    resumed.load_state_dict(loader.state_dict())
    assert plain(list(resumed)) == plain(list(batches))


def test_a_state_can_be_in_a_checkpoint(tmp_path):
    loader = DataLoader(Drawn(), 2, shuffle=True, generator=seeded())
    batches = iter(loader)
    next(batches)
    checkpoint.write_checkpoint(tmp_path / "c.npz", {"data": loader.state_dict()})
    resumed = DataLoader(Drawn(), 2, shuffle=True, generator=seeded(7))
    resumed.load_state_dict(checkpoint.read_checkpoint(tmp_path / "c.npz")["data"])
    assert plain(list(resumed)) == plain(list(batches))


def test_the_state_of_another_loader():
    state = DataLoader(Drawn(), 2).state_dict()
    other = DataLoader(Drawn(), 3, shuffle=True)
    with pytest.raises(ValueError, match=r"whose batch_size is 2\. Got it for batch_size=3"):
        other.load_state_dict(state)


# ---- iterable datasets ----


class Stream(IterableDataset):
    def __iter__(self):
        for i in range(13):
            yield i, tn.rand(1)


class Shared(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for i in range(first, 13, step):
            yield i, tn.rand(1)


class Stateful(Shared):
    """Goes on by itself, and says how often it had to read."""

    def __init__(self):
        self.place, self.reads = 0, 0

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        numbers = range(first, 13, step)
        while self.place < len(numbers):
            self.place += 1
            self.reads += 1
            yield numbers[self.place - 1], tn.rand(1), self.reads
        self.place = 0

    def state_dict(self):
        return {"place": self.place, "history": [self.place]}

    def load_state_dict(self, state):
        self.place = state["place"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("make", [Stream, Shared, Stateful])
def test_exact_resume_of_a_stream(make, how):
    def loader():
        return DataLoader(make(), 2, generator=seeded(), **how)

    def without_reads(batches):
        return [plain(batch)[:2] for batch in batches]

    def passes(loader, n):
        return [without_reads(loader) for _ in range(n)]

    whole = passes(loader(), 2)
    n = len(whole[0])
    for stop in range(1, n + 1) if how is not FORK else (1, 3, n - 1, n):
        batches = iter(began := loader())
        found = without_reads(next(batches) for _ in range(stop))
        state = json.loads(json.dumps(began.state_dict()))
        resumed = loader()
        resumed.load_state_dict(state)
        rest = list(resumed)
        assert found + without_reads(rest) == whole[0]
        assert passes(resumed, 1)[0] == whole[1]
        if make is Stateful and rest:
            assert rest[0][2].tolist()[0] == 1  # nothing was read again


def test_a_stream_goes_on_with_another_number_of_workers():
    for first in HOW:
        for second in HOW:
            batches = iter(began := DataLoader(Stream(), 2, generator=seeded(), **first))
            next(batches), next(batches)
            resumed = DataLoader(Stream(), 2, generator=seeded(5), **second)
            resumed.load_state_dict(began.state_dict())
            assert plain(list(resumed)) == plain(list(batches))


def test_shares_need_the_same_number_of_workers():
    began = DataLoader(Shared(), 2, num_workers=2)
    next(iter(began))
    state = began.state_dict()
    with pytest.raises(ValueError, match=r"in which 2 workers share an IterableDataset\. Got it f"):
        DataLoader(Shared(), 2, num_workers=3).load_state_dict(state)
    next(iter(began := DataLoader(Shared(), 2)))
    resumed = DataLoader(Shared(), 2, num_workers=1)
    resumed.load_state_dict(began.state_dict())
    assert plain([batch[0] for batch in resumed])[0] == [2, 3]


# ---- loaders as objects ----


@pytest.mark.parametrize("how", [{}, THREADS, {**THREADS, "persistent_workers": True}], ids=str)
@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda loader: pickle.loads(pickle.dumps(loader))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_has_passes_of_its_own(copied, how):
    loader = DataLoader(Drawn(), 2, shuffle=True, generator=seeded(), **how)
    batches = iter(loader)
    next(batches)
    again = copied(loader)
    assert sorted(sum((plain(batch)[0] for batch in again), [])) == list(range(11))
    assert len(list(batches)) == 5
    assert loader.state_dict()["epoch"] == again.state_dict()["epoch"] == 1
