"""Bad arguments: PyTorch's exception and first sentence where it has one, and ours where not."""

import importlib
import re

import numpy as np
import pytest

import tinynet as tn
import tinynet.data


class Pairs:
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return index, index


D = Pairs()
POSITIVE = "batch_size should be a positive integer value, but got batch_size="
EXCLUSIVE = (
    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
)
SUM = "Sum of input lengths does not equal the length of the input dataset!"
FOUND = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
STACK = "stack expects each tensor to be equal size, but got "
NUM_SAMPLES = "num_samples should be a positive integer value, but got num_samples="


def loader(**arguments):
    return lambda lib, data: data.DataLoader(D, **arguments)


class TooFew(Pairs):
    def __getitems__(self, indices):
        return [0]


def stream_of(data):
    """A dataset without numbers, of either library."""

    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter([1, 2])

    return Stream()


def stream(**arguments):
    return lambda lib, data: data.DataLoader(stream_of(data), **arguments)


def weighted(*arguments):
    return lambda lib, data: data.WeightedRandomSampler(*arguments)


def changed(name):
    return lambda lib, data: setattr(data.DataLoader(D), name, 3)


def sampler(**arguments):
    return lambda lib, data: data.RandomSampler(D, **arguments)


def batches(size, drop_last):
    return lambda lib, data: data.BatchSampler([1, 2, 3], size, drop_last)


def split(*lengths):
    return lambda lib, data: data.random_split(D, lengths)


def collated(*samples):
    return lambda lib, data: data.default_collate(list(samples))


# name: call, exception, how the message begins; in both libraries
AS_IN_PYTORCH = {
    "batch_size 0": (loader(batch_size=0), ValueError, POSITIVE + "0"),
    "batch_size -1": (loader(batch_size=-1), ValueError, POSITIVE + "-1"),
    "batch_size 2.5": (loader(batch_size=2.5), ValueError, POSITIVE + "2.5"),
    "batch_size True": (loader(batch_size=True), ValueError, POSITIVE + "True"),
    "batch_size '3'": (loader(batch_size="3"), ValueError, POSITIVE + "3"),
    "drop_last 1": (
        loader(drop_last=1),
        ValueError,
        "drop_last should be a boolean value, but got drop_last=1",
    ),
    "sampler and shuffle": (
        loader(sampler=[1, 2], shuffle=True),
        ValueError,
        "sampler option is mutually exclusive with shuffle",
    ),
    "batch_sampler and batch_size": (
        loader(batch_sampler=[[1]], batch_size=2),
        ValueError,
        EXCLUSIVE,
    ),
    "batch_sampler and no batch": (
        loader(batch_sampler=[[1]], batch_size=None),
        ValueError,
        EXCLUSIVE,
    ),
    "batch_sampler and shuffle": (loader(batch_sampler=[[1]], shuffle=True), ValueError, EXCLUSIVE),
    "batch_sampler and sampler": (loader(batch_sampler=[[1]], sampler=[]), ValueError, EXCLUSIVE),
    "batch_sampler and drop_last": (
        loader(batch_sampler=[[1]], drop_last=True),
        ValueError,
        EXCLUSIVE,
    ),
    "no batch and drop_last": (
        loader(batch_size=None, drop_last=True),
        ValueError,
        "batch_size=None option disables auto-batching and is mutually exclusive with drop_last",
    ),
    "num_workers -1": (
        loader(num_workers=-1),
        ValueError,
        "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.",
    ),
    "timeout -1": (loader(timeout=-1), ValueError, "timeout option should be non-negative"),
    "prefetch_factor without workers": (
        loader(prefetch_factor=2),
        ValueError,
        "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to "
        "enable multiprocessing, otherwise set prefetch_factor to None.",
    ),
    "prefetch_factor -1": (
        loader(num_workers=2, prefetch_factor=-1),
        ValueError,
        "prefetch_factor option should be non-negative",
    ),
    "persistent without workers": (
        loader(persistent_workers=True),
        ValueError,
        "persistent_workers option needs num_workers > 0",
    ),
    "context without workers": (
        loader(multiprocessing_context="spawn"),
        ValueError,
        "multiprocessing_context can only be used with multi-process loading (num_workers > 0), "
        "but got num_workers=0",
    ),
    "no such start method": (
        loader(num_workers=1, multiprocessing_context="threads"),
        ValueError,
        "multiprocessing_context option should specify a valid start method in [",
    ),
    "no context": (
        loader(num_workers=1, multiprocessing_context=3),
        TypeError,
        "multiprocessing_context option should be a valid context object or a string specifying "
        "the start method, but got multiprocessing_context=3",
    ),
    "shuffle a stream": (
        stream(shuffle=True),
        ValueError,
        "DataLoader with IterableDataset: expected unspecified shuffle option, but got "
        "shuffle=True",
    ),
    "sample a stream": (
        stream(sampler=[1]),
        ValueError,
        "DataLoader with IterableDataset: expected unspecified sampler option, but got sampler=[1]",
    ),
    "sample batches of a stream": (
        stream(batch_sampler=[[1]]),
        ValueError,
        "DataLoader with IterableDataset: expected unspecified batch_sampler option, but got "
        "batch_sampler=[[1]]",
    ),
    "length of a stream": (
        lambda lib, data: len(data.DataLoader(stream_of(data))),
        TypeError,
        "object of type 'Stream' has no len()",
    ),
    "stack nothing": (
        lambda lib, data: data.StackDataset(),
        ValueError,
        "At least one dataset should be passed",
    ),
    "stack two lengths": (
        lambda lib, data: data.StackDataset(D, [1, 2]),
        ValueError,
        "Size mismatch between datasets",
    ),
    "stack by name and not": (
        lambda lib, data: data.StackDataset(D, a=D),
        ValueError,
        "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like "
        "input/output, but both types are given.",
    ),
    "stack what returns too few": (
        lambda lib, data: data.StackDataset(TooFew()).__getitems__([1, 2]),
        ValueError,
        "Nested dataset's output size mismatch. Expected 2, got 1",
    ),
    "concatenate nothing": (
        lambda lib, data: data.ConcatDataset([]),
        AssertionError,
        "datasets should not be an empty iterable",
    ),
    "concatenate a stream": (
        lambda lib, data: data.ConcatDataset([stream_of(data)]),
        AssertionError,
        "ConcatDataset does not support IterableDataset",
    ),
    "index below a ConcatDataset": (
        lambda lib, data: data.ConcatDataset([D])[-11],
        ValueError,
        "absolute value of index should not exceed dataset length",
    ),
    "chain what is not a stream": (
        lambda lib, data: list(data.ChainDataset([D])),
        AssertionError,
        "ChainDataset only supports IterableDataset",
    ),
    "length of a chain of what is not a stream": (
        lambda lib, data: len(data.ChainDataset([D])),
        AssertionError,
        "ChainDataset only supports IterableDataset",
    ),
    "rank 2 of 2": (
        lambda lib, data: data.DistributedSampler(D, 2, 2),
        ValueError,
        "Invalid rank 2, rank should be in the interval [0, 1]",
    ),
    "rank -1": (
        lambda lib, data: data.DistributedSampler(D, 2, -1),
        ValueError,
        "Invalid rank -1, rank should be in the interval [0, 1]",
    ),
    "weights, num_samples 0": (weighted([1], 0), ValueError, NUM_SAMPLES + "0"),
    "weights, num_samples True": (weighted([1], True), ValueError, NUM_SAMPLES + "True"),
    "weights, replacement 1": (
        weighted([1], 1, 1),
        ValueError,
        "replacement should be a boolean value, but got replacement=1",
    ),
    "weights in two dimensions": (
        weighted([[1.0, 2.0]], 1),
        ValueError,
        "weights should be a 1d sequence but given weights have shape (1, 2)",
    ),
    "weights, too few": (
        lambda lib, data: list(data.WeightedRandomSampler([1, 2], 3, False)),
        RuntimeError,
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    ),
    "weights, negative": (
        lambda lib, data: list(data.WeightedRandomSampler([1, -1], 1)),
        RuntimeError,
        "probability tensor contains either `inf`, `nan` or element < 0",
    ),
    **{
        f"{name} is changed": (
            changed(name),
            ValueError,
            f"{name} attribute should not be set after DataLoader is initialized",
        )
        for name in ("dataset", "batch_size", "drop_last", "sampler", "batch_sampler")
        + ("persistent_workers",)
    },
    "shuffle nothing": (
        lambda lib, data: data.DataLoader([], shuffle=True),
        ValueError,
        NUM_SAMPLES + "0",
    ),
    "shuffle without length": (
        lambda lib, data: data.DataLoader(iter([1]), shuffle=True),
        TypeError,
        "object of type 'list_iterator' has no len()",
    ),
    "length of a sampler without": (
        lambda lib, data: len(data.DataLoader(D, sampler=iter([1]))),
        TypeError,
        "object of type 'list_iterator' has no len()",
    ),
    "num_samples 0": (sampler(num_samples=0), ValueError, NUM_SAMPLES + "0"),
    "num_samples -3": (sampler(num_samples=-3), ValueError, NUM_SAMPLES + "-3"),
    "num_samples 2.0": (sampler(num_samples=2.0), ValueError, NUM_SAMPLES + "2.0"),
    "replacement 1": (
        sampler(replacement=1),
        TypeError,
        "replacement should be a boolean value, but got replacement=1",
    ),
    "batch sampler, size 0": (batches(0, False), ValueError, POSITIVE + "0"),
    "batch sampler, drop_last 0": (
        batches(2, 0),
        ValueError,
        "drop_last should be a boolean value, but got drop_last=0",
    ),
    "tensors of unequal length": (
        lambda lib, data: data.TensorDataset(lib.zeros(3), lib.zeros(4, 3)),
        AssertionError,
        "Size mismatch between tensors",
    ),
    "split, too many": (split(3, 8), ValueError, SUM),
    "split, too few": (split(3, 6), ValueError, SUM),
    "split, fractions above 1": (split(0.5, 0.6), ValueError, SUM),
    "split, fractions below 1": (split(0.3, 0.3), ValueError, SUM),
    "split, nothing": (split(), ValueError, SUM),
    "split, fraction of 1.5": (
        split(1.5, -0.5),
        ValueError,
        "Fraction at index 0 is not between 0 and 1",
    ),
    "split, fraction of -0.5": (
        split(0.5, -0.5, 1),
        ValueError,
        "Fraction at index 1 is not between 0 and 1",
    ),
    "collate None": (collated(None), TypeError, FOUND + "<class 'NoneType'>"),
    "collate objects": (collated(D), TypeError, FOUND + "<class"),
    "collate sets": (collated({1, 2}), TypeError, FOUND + "<class 'set'>"),
    "collate complex": (collated(1j), TypeError, FOUND + "<class 'complex'>"),
    "collate None inside": (collated((1, None)), TypeError, FOUND + "<class 'NoneType'>"),
    "collate string arrays": (collated(np.array(["a"])), TypeError, FOUND + "<U1"),
    "collate object arrays": (collated(np.array([object()])), TypeError, FOUND + "object"),
    "collate dates": (
        collated(np.datetime64(1, "s")),
        TypeError,
        FOUND + "<class 'numpy.datetime64'>",
    ),
    "collate nothing": (collated(), IndexError, ""),
    "collate tensors of two sizes": (
        lambda lib, data: data.default_collate([lib.zeros(2), lib.zeros(3)]),
        RuntimeError,
        STACK + "[2] at entry 0 and [3] at entry 1",
    ),
    "collate arrays of two sizes": (
        collated(np.zeros(2), np.zeros((1, 2))),
        RuntimeError,
        STACK + "[2] at entry 0 and [1, 2] at entry 1",
    ),
    "collate tensors and numbers": (
        lambda lib, data: data.default_collate([lib.tensor(1), 2]),
        TypeError,
        "expected Tensor as element 1 in argument 0, but got int",
    ),
    "collate tuples of two sizes": (
        collated((1, 2), (3,)),
        RuntimeError,
        "each element in list of batch should be of equal size",
    ),
    "collate dicts of two kinds": (collated({"a": 1}, {"b": 1}), KeyError, "'a'"),
}

# PyTorch accepts these, or fails with something that does not help. name: call, exception, message
OURS = {
    "num_workers 'two'": (
        loader(num_workers="two"),
        TypeError,
        "The 'num_workers' parameter of DataLoader must be an integer >= 0. Got 'two' instead.",
    ),
    "timeout without workers": (
        loader(timeout=5),
        ValueError,
        "The 'timeout' parameter of DataLoader is for workers, and num_workers is 0.",
    ),
    "prefetch_factor 0": (
        loader(num_workers=2, prefetch_factor=0),
        ValueError,
        "The 'prefetch_factor' parameter of DataLoader must be at least 1",
    ),
    "worker_method 'fork'": (
        loader(num_workers=2, worker_method="fork"),
        ValueError,
        "The 'worker_method' parameter of DataLoader must be 'thread' or 'multiprocessing'.",
    ),
    "threads with a context": (
        loader(num_workers=2, worker_method="thread", multiprocessing_context="spawn"),
        ValueError,
        "The 'multiprocessing_context' parameter of DataLoader is for worker processes.",
    ),
    "index beyond a ConcatDataset": (
        lambda lib, data: data.ConcatDataset([D])[10],
        IndexError,
        "The index of a ConcatDataset must be below its length 10. Got 10 instead.",
    ),
    "generator of a weighted sampler": (
        lambda lib, data: data.WeightedRandomSampler([1], 1, generator=0),
        TypeError,
        "The 'generator' parameter of WeightedRandomSampler must be",
    ),
    "distributed sampler without a group": (
        lambda lib, data: data.DistributedSampler(D),
        ValueError,
        "Default process group has not been initialized, please make sure to call "
        "init_process_group.",
    ),
    "generator of a loader": (
        loader(generator=3),
        TypeError,
        "The 'generator' parameter of DataLoader must be a tinynet.Generator or None. "
        "Got 3 instead.",
    ),
    "generator of a sampler": (
        sampler(generator="seed"),
        TypeError,
        "The 'generator' parameter of RandomSampler must be a tinynet.Generator or None. "
        "Got 'seed' instead.",
    ),
    "generator of a subset sampler": (
        lambda lib, data: data.SubsetRandomSampler([1], generator=0),
        TypeError,
        "The 'generator' parameter of SubsetRandomSampler must be",
    ),
    "generator of a split": (
        lambda lib, data: data.random_split(D, [5, 5], 3),
        TypeError,
        "The 'generator' parameter of random_split must be",
    ),
    "samples of nothing": (
        lambda lib, data: data.RandomSampler([], num_samples=3),
        ValueError,
        "RandomSampler cannot draw 3 samples from an empty dataset.",
    ),
    "arrays as tensors": (
        lambda lib, data: data.TensorDataset(lib.zeros(3), np.zeros(3)),
        TypeError,
        "TensorDataset(): argument 'tensors' (position 2) must be Tensor, not numpy.ndarray",
    ),
    "no tensors": (
        lambda lib, data: data.TensorDataset(),
        TypeError,
        "TensorDataset() needs at least one tensor. Got none instead.",
    ),
    "tensors without dimensions": (
        lambda lib, data: data.TensorDataset(lib.tensor(1.0)),
        IndexError,
        "Dimension",
    ),
    "lengths in the message": (
        lambda lib, data: data.TensorDataset(lib.zeros(3), lib.zeros(4)),
        AssertionError,
        "Size mismatch between tensors. Got lengths [3, 4] instead.",
    ),
    "split, sizes in the message": (
        split(3, 8),
        ValueError,
        SUM + " Got lengths [3, 8] for a dataset of 10 instead.",
    ),
    "split, negative length": (
        split(-1, 11),
        ValueError,
        "The 'lengths' parameter of random_split must hold integers >= 0, or fractions that sum "
        "to 1. Got -1 at index 0 instead.",
    ),
    "split, floats": (
        split(5, 5.0),
        ValueError,
        "The 'lengths' parameter of random_split must hold integers >= 0, or fractions that sum "
        "to 1. Got 5.0 at index 1 instead.",
    ),
    "collate numbers and strings": (collated(1, "a"), TypeError, "can't convert np.ndarray"),
    "collate longdouble": (collated(np.longdouble(1)), TypeError, "can't convert np.ndarray"),
    "collate big-endian": (
        collated(np.zeros(1, np.dtype("f4").newbyteorder())),
        ValueError,
        "given numpy array has byte order different from the native byte order",
    ),  # fmt: skip
    "collate nothing": (collated(), IndexError, "default_collate: the batch is empty"),
}
CASES = [*AS_IN_PYTORCH.items(), *OURS.items()]


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[name for name, _ in CASES])
def test_refusal(case):
    call, exception, begin = case
    with pytest.raises(exception, match="^" + re.escape(begin)) as caught:
        call(tn, tinynet.data)
    assert caught.type is exception


@pytest.mark.oracle
@pytest.mark.parametrize("name", AS_IN_PYTORCH)
def test_pytorch_says_the_same(name):
    call, exception, begin = AS_IN_PYTORCH[name]
    torch = importlib.import_module("torch")
    with pytest.raises(exception, match="^" + re.escape(begin)) as caught:
        call(torch, torch.utils.data)
    assert caught.type is exception


def test_a_refused_change_changes_nothing():
    data = tinynet.data.DataLoader(D, batch_size=4)
    with pytest.raises(ValueError):
        data.batch_size = 2
    assert data.batch_size == 4
    assert [len(batch[0]) for batch in data] == [4, 4, 2]
