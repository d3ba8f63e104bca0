"""Iterable datasets: alone, chained, with workers that share them and workers that do not."""

import importlib
import warnings

import pytest

import tinynet as tn
from tinynet.data import ChainDataset, DataLoader, IterableDataset, get_worker_info

pytestmark = pytest.mark.filterwarnings(
    "ignore:This DataLoader will create", "ignore:.*use of fork:DeprecationWarning"
)

THREADS = {"worker_method": "thread"}
FORK = {"multiprocessing_context": "fork"}
WORKERS = [
    {},
    {"num_workers": 1},
    {"num_workers": 3},
    {"num_workers": 3, "persistent_workers": True},
    {"num_workers": 1, **FORK},
    {"num_workers": 3, **FORK},
    {"num_workers": 3, "persistent_workers": True, **FORK},
]
KINDS = [pytest.param(THREADS, id="threads"), pytest.param(FORK, id="processes")]


def seeded(seed=0):
    return tn.Generator().manual_seed(seed)


def plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


class Stream(IterableDataset):
    """0, 1, 2, ... with something drawn; it does not ask who iterates it."""

    def __init__(self, n=10, draw=True):
        self.n, self.draw = n, draw

    def __iter__(self):
        for i in range(self.n):
            yield (i, tn.rand(1)) if self.draw else i

    def __len__(self):
        return self.n


def shared_stream(lib):
    """A dataset of either library that gives each worker every n-th number."""

    class Shared(lib.IterableDataset):
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            info = lib.get_worker_info()
            first, step = (0, 1) if info is None else (info.id, info.num_workers)
            return iter(range(first, self.n, step))

    return Shared


Shared = shared_stream(importlib.import_module("tinynet.data"))


# ---- without workers ----


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("n", "options", "batches"),
    [
        (5, {"batch_size": 2}, [[0, 1], [2, 3], [4]]),
        (4, {"batch_size": 2}, [[0, 1], [2, 3]]),
        (5, {"batch_size": 2, "drop_last": True}, [[0, 1], [2, 3]]),
        (3, {}, [[0], [1], [2]]),
        (3, {"batch_size": None}, [0, 1, 2]),
        (0, {"batch_size": 2}, []),
        (0, {"batch_size": None}, []),
        (1, {"batch_size": 2, "drop_last": True}, []),
    ],
)
@pytest.mark.parametrize("how", WORKERS, ids=str)
def test_batches(n, options, batches, how):
    loader = DataLoader(Stream(n, draw=False), **options, **how)
    assert plain(list(loader)) == plain(list(loader)) == batches
    assert len(loader) == len(batches)


def test_collate_fn():
    assert list(DataLoader(Stream(5, False), 2, collate_fn=sum, num_workers=2)) == [1, 5, 4]
    assert list(DataLoader(Stream(2, False), None, collate_fn=str, num_workers=2)) == ["0", "1"]


def test_a_length_that_is_too_small_is_warned_about():
    class Longer(Stream):
        def __len__(self):
            return self.n - 1

    loader = DataLoader(Longer(3, False))
    assert len(list(loader)) == 3  # nobody asked for the length
    assert len(loader) == 2
    with pytest.warns(UserWarning, match=r"was reported to be 2\(when accessing len\(datalo") as w:
        assert len(list(loader)) == 3
    assert w[0].filename == __file__


# ---- with workers ----


@pytest.mark.parametrize("how", WORKERS[1:], ids=str)
def test_who_does_not_ask_is_read_by_one_worker(how):
    def passes(**options):
        loader = DataLoader(Stream(11), 3, generator=seeded(2), **options)
        return [plain(list(loader)) for _ in range(2)]

    assert passes(**how) == passes()


@pytest.mark.parametrize("how", WORKERS[1:], ids=str)
def test_shares(how):
    loader = DataLoader(Shared(11), 2, **how)
    shares = {
        1: [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10]],
        3: [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10], [8]],
    }
    assert plain(list(loader)) == plain(list(loader)) == shares[how["num_workers"]]


@pytest.mark.oracle
@pytest.mark.parametrize("num_workers", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("n", [0, 1, 4, 11, 17])
def test_shares_are_as_in_pytorch(n, num_workers):
    lib = importlib.import_module("torch.utils.data")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = list(lib.DataLoader(shared_stream(lib)(n), 2, num_workers=num_workers))
    assert plain(list(DataLoader(Shared(n), 2, num_workers=num_workers))) == plain(theirs)


@pytest.mark.parametrize("options", KINDS)
def test_a_worker_init_fn_makes_the_shares(options):
    class Range(Stream):
        first = 0

        def __iter__(self):
            return iter(range(self.first, self.n))

    def init(worker):
        mine = get_worker_info().dataset
        mine.first, mine.n = worker * 4, worker * 4 + 4

    dataset = Range(100)
    loader = DataLoader(dataset, 2, num_workers=2, worker_init_fn=init, **options)
    assert plain(list(loader)) == [[0, 1], [4, 5], [2, 3], [6, 7]]
    assert (dataset.first, dataset.n) == (0, 100)


def test_shares_of_uneven_length_with_draws_are_repeated_by_the_seed():
    class Uneven(IterableDataset):
        def __iter__(self):
            info = get_worker_info()
            for i in range(7 * info.id):
                yield info.id, i, tn.rand(1)

    def passed(**options):
        return plain(list(DataLoader(Uneven(), 2, num_workers=3, generator=seeded(), **options)))

    expected = passed()
    assert len(expected) == 4 + 7
    for options in (THREADS, FORK):
        assert passed(**options) == expected
    values = [value for *_, column in expected for (value,) in column]
    assert len(set(values)) == 21  # no share draws what another draws


def test_shares_out_of_order():
    loader = DataLoader(Shared(12), 2, num_workers=3, in_order=False)
    assert sorted(plain(list(loader))) == [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10], [8, 11]]


@pytest.mark.parametrize("options", KINDS)
def test_an_iterator_that_threads_share_is_read_by_one(options):
    class Once(IterableDataset):
        def __init__(self):
            self.numbers = iter(range(6))

        def __iter__(self):
            return self.numbers

    assert plain(list(DataLoader(Once(), 2, num_workers=3, **options))) == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("how", WORKERS, ids=str)
def test_errors(how):
    class Broken(Stream):
        def __iter__(self):
            yield 0
            raise ValueError("broken")

    class Closed(Stream):
        def __iter__(self):
            raise OSError("closed")

    batches = iter(DataLoader(Broken(), **how))
    assert next(batches).item() == 0
    with pytest.raises(ValueError, match="broken"):
        next(batches)
    assert list(batches) == []
    batches = iter(DataLoader(Closed(), **how))
    with pytest.raises(OSError, match="closed"):
        next(batches)
    assert list(batches) == []


def test_must_be_subclassed():
    with pytest.raises(NotImplementedError, match=r"^Subclasses of IterableDataset should"):
        iter(IterableDataset())


# ---- chains ----


def test_chain():
    chain = ChainDataset([Stream(2, False), Stream(0, False), Stream(3, False)])
    assert list(chain) == list(chain) == [0, 1, 0, 1, 2]
    assert len(chain) == 5
    assert isinstance(Stream(2, False) + Stream(1, False), ChainDataset)
    assert list(Stream(2, False) + Stream(1, False)) == [0, 1, 0]
    assert plain(list(DataLoader(chain, 2, num_workers=2))) == [[0, 1], [0, 1], [2]]


def test_a_chain_of_shares():
    chain = ChainDataset([Shared(3), Shared(4)])
    assert sorted(plain(list(DataLoader(chain, None, num_workers=2)))) == [0, 0, 1, 1, 2, 2, 3]
