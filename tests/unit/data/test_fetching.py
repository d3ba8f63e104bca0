"""The classes that read the samples of a batch, which programs replace."""

import pytest

from tinynet.data import DataLoader
from tinynet.data.loading import collate


class Twice(collate._MapDatasetFetcher):
    def fetch(self, possibly_batched_index):
        return 2 * super().fetch(possibly_batched_index)


def test_the_loader_reads_by_the_class_of_this_name(monkeypatch):
    monkeypatch.setattr(collate, "_MapDatasetFetcher", Twice)
    assert [batch.tolist() for batch in DataLoader([1, 2, 3], batch_size=2)] == [[2, 4], [6]]
    assert [*DataLoader([1, 2, 3], batch_size=None)] == [2, 4, 6]


@pytest.mark.parametrize("drop_last, last", [(False, [[3]]), (True, [])])
def test_a_stream_gives_the_next_samples(drop_last, last):
    fetcher = collate._IterableDatasetFetcher(iter([1, 2, 3]), True, list, drop_last)
    found = [fetcher.fetch([0, 0])]
    with pytest.raises(StopIteration):
        while True:
            found.append(fetcher.fetch([0, 0]))
    assert found == [[1, 2], *last]


def test_samples_without_batches_and_the_base_class():
    fetcher = collate._IterableDatasetFetcher([1], False, str, False)
    assert fetcher.fetch(None) == "1"
    with pytest.raises(StopIteration):
        fetcher.fetch(None)
    with pytest.raises(NotImplementedError):
        collate._BaseDatasetFetcher([1], True, list, False).fetch([0])
