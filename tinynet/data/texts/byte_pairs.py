"""Byte-pair encoding: tokens are bytes and merged pairs."""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tinynet.data.texts.tokenizer import Tokenizer, check_special, splitter, texts
from tinynet.dtypes import Array

Pair = tuple[int, int]

# Merges stay within a word: letters, digits or signs with the space before them, a contraction, or
# white space. The pattern is GPT-2's, but limits words to 64 characters, so that a text without
# spaces is not slower than others.
_WORD = re.compile(
    r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]{1,64}| ?\d{1,64}| ?(?:[^\s\w]|_){1,64}|\s{1,64}(?!\S)|\s"
)
_CACHED_WORDS = 1 << 16


class BPETokenizer(Tokenizer):
    """Byte-pair encoding of UTF-8: the 256 bytes, and merges of frequent pairs of tokens.

    Any text can be encoded, and decoding restores it exactly. Tokens are numbered in this order:
    bytes, merges, special tokens. Merges do not cross words (as in GPT-2, words begin with the
    space before them).

    Args:
        merges: pairs of tokens; pair ``i`` makes token ``256 + i``. ``train`` finds them.
        special_tokens: texts that are encoded as one token each.

    Attributes:
        merges: the merges.
        merges: as given.

    Source: R. Sennrich, B. Haddow, A. Birch, Neural Machine Translation of Rare Words with Subword
    Units (2016), https://arxiv.org/abs/1508.07909; on bytes: A. Radford et al., Language Models
    are Unsupervised Multitask Learners (2019).

    Example:
        >>> pairs = tn.data.BPETokenizer.train("low lower lowest slow", vocab_size=258)
        >>> [pairs.decode([token]) for token in pairs.encode("slower")]
        ['s', 'low', 'e', 'r']
    """

    kind = "byte pairs"

    def __init__(self, merges: Sequence[Pair] = (), special_tokens: Iterable[str] = ()):
        self.merges = [(int(a), int(b)) for a, b in merges]
        special = check_special(special_tokens)
        self._bytes = [bytes([byte]) for byte in range(256)]
        self._rank: dict[Pair, int] = {}
        for new, (a, b) in enumerate(self.merges, 256):
            if not (0 <= a < new and 0 <= b < new) or (a, b) in self._rank:
                raise ValueError(
                    f"Merge {new - 256} must be a pair of earlier tokens (0 to {new - 1}) that no "
                    f"merge had before. Got {[a, b]} instead."
                )
            self._rank[a, b] = new
            self._bytes.append(self._bytes[a] + self._bytes[b])
        self._cache: dict[str, tuple[int, ...]] = {}
        super().__init__({name: 256 + len(self.merges) + i for i, name in enumerate(special)})

    @classmethod
    def train(
        cls,
        text: str,
        vocab_size: int,
        special_tokens: Iterable[str] = (),
        min_count: int = 2,
    ) -> BPETokenizer:
        """Return a tokenizer whose merges are the most frequent pairs of a text, one by one.

        The result is deterministic: of equally frequent pairs, the one with the smaller numbers
        comes first. A small text may have fewer frequent pairs than requested.

        Args:
            text: the text to count pairs in; special tokens in it are skipped.
            vocab_size: maximum number of tokens, including the 256 bytes and special tokens.
            special_tokens: as in the constructor.
            min_count: minimum count of a pair to be merged.

        Raises:
            ValueError: ``vocab_size`` is less than 256 plus the number of special tokens.
        """
        special = check_special(special_tokens)
        count = vocab_size - 256 - len(special)
        if count < 0:
            raise ValueError(
                f"The 'vocab_size' parameter must be >= {256 + len(special)} (the bytes and the "
                f"special tokens). Got {vocab_size} instead."
            )
        split = splitter(special)
        parts = [text] if split is None else split.split(text)[::2]
        words = Counter(word for part in parts for word in _WORD.findall(part))
        return cls(_find_merges(words, count, max(1, min_count)), special)

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special ones."""
        return len(self._bytes) + len(self.special_tokens)

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token; for a special token, those of its text."""
        special = self._special_texts.get(token)
        return self._bytes[token] if special is None else special.encode()

    def _encode_plain(self, text: str) -> Array:
        cache = self._cache
        tokens: list[int] = []
        for word in _WORD.findall(text):
            known = cache.get(word)
            if known is None:
                if len(cache) >= _CACHED_WORDS:
                    cache.clear()
                known = cache[word] = tuple(self._merge(list(_utf8(word))))
            tokens += known
        return np.array(tokens, np.int64)

    def _merge(self, tokens: list[int]) -> list[int]:
        """Return the tokens of a word after all merges, in the order of their numbers."""
        rank = self._rank
        while len(tokens) > 1:
            pair = min(pairwise(tokens), key=lambda pair: rank.get(pair, len(self._bytes)))
            new = rank.get(pair)
            if new is None:
                break
            tokens = _replaced(tokens, pair, new)
        return tokens

    def _decode_plain(self, tokens: Sequence[int]) -> str:
        # Tokens may begin or end within a character: such bytes become U+FFFD.
        return b"".join(map(self._bytes.__getitem__, tokens)).decode("utf-8", "replace")

    def _to_json(self) -> dict[str, Any]:
        return {"merges": self.merges, "special_tokens": [*self.special_tokens]}

    @classmethod
    def _from_json(cls, content: dict[str, Any]) -> BPETokenizer:
        merges = content["merges"]
        if not isinstance(merges, list) or not all(_is_pair(merge) for merge in merges):
            raise ValueError("merges that are not a list of pairs of numbers")
        return cls(merges, texts(content, "special_tokens"))


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and [*map(type, value)] == [int, int]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # a lone surrogate becomes a question mark


def _replaced(tokens: list[int], pair: Pair, new: int) -> list[int]:
    """Return the tokens with each ``pair`` replaced by ``new``, from the left."""
    first, second = pair
    result, position, last = [], 0, len(tokens) - 1
    while position <= last:
        token = tokens[position]
        if token == first and position < last and tokens[position + 1] == second:
            result.append(new)
            position += 2
        else:
            result.append(token)
            position += 1
    return result


# ---- training ----


def _find_merges(words: Counter[str], count: int, least: int) -> list[Pair]:
    """Return the ``count`` most frequent pairs, each counted after the previous merges.

    Counts are updated word by word. The heap may hold outdated counts that are too large, because
    the count of an existing pair never grows: an outdated entry is pushed back with its count.
    """
    splits = [list(_utf8(word)) for word in words]
    times = list(words.values())
    counts: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[int]] = defaultdict(set)
    for index, tokens in enumerate(splits):
        for pair in pairwise(tokens):
            counts[pair] += times[index]
            where[pair].add(index)
    heap = [(-number, pair) for pair, number in counts.items()]
    heapq.heapify(heap)
    merges: list[Pair] = []
    while heap and len(merges) < count:
        stated, pair = heapq.heappop(heap)
        number = counts[pair]
        if number != -stated:
            if number >= least:
                heapq.heappush(heap, (-number, pair))
            continue
        if number < least:
            break
        new = 256 + len(merges)
        merges.append(pair)
        created = set()
        for index in where.pop(pair):
            tokens = splits[index]
            splits[index] = merged = _replaced(tokens, pair, new)
            created |= _recount(counts, where, index, times[index], tokens, merged)
        counts.pop(pair, None)
        for fresh in created:
            heapq.heappush(heap, (-counts[fresh], fresh))
    return merges


def _recount(
    counts: Counter[Pair],
    where: defaultdict[Pair, set[int]],
    index: int,
    times: int,
    before: list[int],
    after: list[int],
) -> set[Pair]:
    """Recount a word's pairs after a merge; return the pairs that are new."""
    old, new = Counter(pairwise(before)), Counter(pairwise(after))
    for pair in old.keys() | new.keys():
        change = new[pair] - old[pair]
        if change:
            counts[pair] += change * times
    for pair in old.keys() - new.keys():
        if pair in where:
            where[pair].discard(index)
    created = new.keys() - old.keys()
    for pair in created:
        where[pair].add(index)
    return set(created)
