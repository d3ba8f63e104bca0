"""Words, their neighbours, and words drawn at random."""

import collections

import numpy as np
import pytest

import tinynet as tn
from tinynet.data import DataLoader, SkipGrams

WORDS = ["red", "green", "blue", "pink", "grey", "black", "white", "brown"]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "colours.txt"
    file.write_text(" ".join(WORDS * 50), encoding="utf-8")
    return file


def place(grams, number):
    return WORDS.index(grams.vocabulary[number])


def test_what_counts_as_a_word(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("readLines read_lines(x, 42) HTTPServer Größe größe\nread", encoding="utf-8")
    grams = SkipGrams(file, held_out=0, subsample=None)
    kept = [grams.vocabulary[grams[i][0][0].item()] for i in range(len(grams))]
    assert kept == ["read", "lines", "read", "lines", "httpserver", "größe", "größe", "read"]
    assert grams.vocabulary == ["read", "lines", "größe", "httpserver"]  # the most frequent first
    assert SkipGrams(file, held_out=0, vocab_size=1, subsample=None).vocabulary == ["read"]


@pytest.mark.parametrize("window", [1, 3])
def test_neighbours_are_within_the_window(path, window):
    grams = SkipGrams(path, window=window, negatives=2, held_out=0, subsample=None)
    assert len(grams) == 400
    words, labels = next(iter(DataLoader(grams, batch_size=400)))
    assert words.dtype is tn.int64
    assert labels.dtype is tn.float32
    assert (words.shape, labels.tolist()) == ((400, 4), [[1, 0, 0]] * 400)
    distances = collections.Counter()
    for i, (word, neighbour) in enumerate(words[:, :2].tolist()):
        assert place(grams, word) == i % 8
        distances[(place(grams, neighbour) - i + 4) % 8 - 4] += 1
    assert {*distances} == {*range(-window, window + 1)} - {0}
    assert min(distances.values()) > 400 / (2 * window) / 2


def test_random_words_are_as_frequent_as_the_paper_says(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("rare " + "often " * 16, encoding="utf-8")
    grams = SkipGrams(file, negatives=5000, held_out=0, subsample=None)
    assert grams.vocabulary == ["often", "rare"]
    share = grams[0][0][2:].float().mean().item()
    assert share == pytest.approx(1 / 9, abs=0.02)  # 16 ** 0.75 is 8


def test_very_frequent_words_are_thinned(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("often " * 10_000 + " ".join(WORDS * 10), encoding="utf-8")
    grams = SkipGrams(file, held_out=0, subsample=0.01)
    counts = np.bincount([grams[i][0][0].item() for i in range(len(grams))])
    assert counts[0] == pytest.approx(10_000 * (0.01 * 1.008) ** 0.5, rel=0.1)
    assert counts[1:].tolist() == [10] * 8


def test_what_is_drawn_follows_from_the_loader(path):
    grams = SkipGrams(path, held_out=0)

    def batches(seed, **options):
        generator = tn.Generator().manual_seed(seed)
        loader = DataLoader(grams, batch_size=64, shuffle=True, generator=generator, **options)
        return [words.tolist() for words, _ in loader]

    before = tn.get_rng_state()
    assert batches(1) == batches(1) == batches(1, num_workers=2) != batches(2)
    assert tn.equal(tn.get_rng_state(), before)


def test_what_is_held_out_is_always_the_same(path):
    options = dict(held_out=0.2, subsample=None)
    train, test = SkipGrams(path, **options), SkipGrams(path, train=False, **options)
    assert test.vocabulary == train.vocabulary
    assert (len(train), len(test)) == (320, 80)
    assert test[3][0].tolist() == test[3][0].tolist() == test[3 - len(test)][0].tolist()
    (batch,) = DataLoader(test, batch_size=2, sampler=[5, 3])
    assert batch[0].tolist() == [test[5][0].tolist(), test[3][0].tolist()]
    again = SkipGrams(path, train=False, **options)
    assert again[3][0].tolist() == test[3][0].tolist()


def test_mistakes(path):
    with pytest.raises(ValueError, match="'window' parameter of SkipGrams must be >= 1. Got 0"):
        SkipGrams(path, window=0)
    with pytest.raises(ValueError, match="'held_out' parameter of SkipGrams must be from 0 to 1"):
        SkipGrams(path, held_out=2)
    with pytest.raises(ValueError, match="held-out part of the text has fewer than two known"):
        SkipGrams(path, train=False, held_out=0)
    with pytest.raises(IndexError, match="word 400 is out of range: there are 400"):
        SkipGrams(path, held_out=0, subsample=None)[400]
    with pytest.raises(FileNotFoundError):
        SkipGrams(path.parent)  # which has no .py


def test_the_standard_library_is_the_default():
    grams = SkipGrams(limit=200_000)
    assert {"self", "return", "import"} <= {*grams.vocabulary}
