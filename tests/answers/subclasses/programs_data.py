"""Data sets and samplers with a part of the protocol, as public programs write them."""

from __future__ import annotations

import copy
import importlib
import pickle

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, composition=False)


def package(T):
    return importlib.import_module(f"{T.__name__}.utils.data")


class Squares:
    """Only ``__getitem__``: IndexError ends it."""

    def __getitem__(self, i):
        if i >= 5:
            raise IndexError(i)
        return float(i * i)


@program
def batch_samplers_without_a_sampler(T):
    data = package(T)

    class Pairs(data.BatchSampler):
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return iter([i, i + 1] for i in range(self.n))

        def __len__(self):
            return self.n

    loader = data.DataLoader(T.arange(10), batch_sampler=Pairs(3))
    batches, again, n = list(loader), list(loader), len(loader)
    options = loader.batch_size, loader.drop_last, type(loader.sampler).__name__
    return locals()


@program
def samplers_of_their_own(T):
    data = package(T)

    class Odd(data.Sampler):
        def __init__(self, data_source):
            self.data_source = data_source

        def __iter__(self):
            return iter(range(1, len(self.data_source), 2))

    loader = data.DataLoader(T.arange(6), sampler=Odd(range(6)), batch_size=2)
    batches = list(loader)
    no_length = attempt(lambda: len(loader))
    generator = list(data.DataLoader(T.arange(6), sampler=(i for i in (2, 0))))
    listed = list(data.DataLoader(T.arange(6), sampler=[3, 1], batch_size=2))
    of_lists = list(data.DataLoader(T.arange(6), batch_sampler=[[0], [1, 2]]))
    return locals()


@program
def data_sets_with_half_of_the_protocol(T):
    data = package(T)

    class Sized(data.Dataset):
        def __getitem__(self, i):
            return Squares()[i]

        def __len__(self):
            return 5

    class Unsized(data.Dataset):
        def __getitem__(self, i):
            return Squares()[i]

    iterated = [list(Sized()), list(Unsized()), list(Squares())]
    loaded = [
        list(data.DataLoader(Sized(), batch_size=2)),
        list(data.DataLoader([1.0, 2.0, 3.0], batch_size=2)),
        list(data.DataLoader({0: 1.0, 1: 2.0}, batch_size=2)),
        list(data.DataLoader(Squares(), sampler=[0, 4], batch_size=2)),
        list(data.DataLoader(Unsized(), batch_sampler=[[3, 2]])),
        list(data.DataLoader("abc", batch_size=2)),
    ]
    refused = [
        attempt(lambda: list(data.DataLoader(Unsized(), batch_size=2))),
        attempt(lambda: list(data.DataLoader(Squares()))),
        attempt(lambda: len(data.DataLoader(Unsized(), sampler=iter([1])))),
        attempt(lambda: Unsized() + 3),
        attempt(lambda: data.Dataset()[0]),
        attempt(lambda: len(data.Dataset())),
        attempt(lambda: data.random_split(Unsized(), [1, 2])),
    ]
    together = [(Sized() + Sized())[7], len(Sized() + Sized()), data.Subset(Unsized(), [2, 3])[1]]
    return locals()


@program
def several_samples_at_once(T):
    data = package(T)

    class Many(data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return T.tensor(float(i))

        def __getitems__(self, indices):
            return [T.tensor(float(i) + 10) for i in indices]

    batches = list(data.DataLoader(Many(), batch_size=3))
    subset = list(data.DataLoader(data.Subset(Many(), [3, 1]), batch_size=2))
    return locals()


@program
def streams(T):
    data = package(T)

    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(5))

    class Counted(Stream):
        def __len__(self):
            return 5

    loaded = list(data.DataLoader(Stream(), batch_size=2))
    short = list(data.DataLoader(Stream(), batch_size=2, drop_last=True))
    plain = list(data.DataLoader(Stream(), batch_size=None))
    lengths = [len(data.DataLoader(Counted(), batch_size=n)) for n in (1, 2, None)]
    chained = list(Stream() + Stream())
    refused = [
        attempt(lambda: data.DataLoader(Stream(), shuffle=True)),
        attempt(lambda: data.DataLoader(Stream(), sampler=[1])),
        attempt(lambda: len(data.DataLoader(Stream()))),
    ]
    return locals()


@program
def copies_of_data_sets_and_loaders(T):
    data = package(T)
    source = data.TensorDataset(T.arange(4), T.ones(4))
    made = [source, data.Subset(source, [0, 2]), data.ConcatDataset([source, source])]
    lengths = [len(copy.copy(one)) for one in made]
    deep = [copy.deepcopy(one)[1] for one in made]
    loaded = [pickle.loads(pickle.dumps(one))[1] for one in made]
    loader = copy.copy(data.DataLoader(source, batch_size=2))
    batches = list(loader)
    return locals()
