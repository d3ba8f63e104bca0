"""The word tokenizer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.data.texts.tokenizer import VocabularyTokenizer, check_special, room_for, texts
from tinynet.dtypes import Array

_WORD = re.compile(r"\w+|[^\w\s]")


class WordTokenizer(VocabularyTokenizer):
    """A tokenizer with one token per word or punctuation mark of a vocabulary, in lower case.

    Tokens are numbered in the order of the vocabulary, followed by the special tokens, of which
    ``unknown`` is the first. Decoding puts a space between tokens.

    Args:
        vocabulary: the words in lower case, each once, in the order of their numbers.
        unknown: the special token for all other words.
        special_tokens: more special tokens.

    Attributes:
        vocabulary: the words.
        unknown: the special token of unknown words.

    Raises:
        ValueError: a word or special token appears twice.

    Example:
        >>> words = tn.data.WordTokenizer(["a", "cat", "!"])
        >>> words.encode("A big cat!"), words.decode([0, 1, 2])
        ([0, 3, 1, 2], 'a cat !')
    """

    kind = "words"

    def __init__(
        self,
        vocabulary: Iterable[str],
        unknown: str = "<unk>",
        special_tokens: Iterable[str] = (),
    ):
        words = list(vocabulary)
        self._numbers = {word: number for number, word in enumerate(words)}
        if len(self._numbers) < len(words):
            twice = next(word for word, count in Counter(words).items() if count > 1)
            raise ValueError(
                "The 'vocabulary' parameter of WordTokenizer must hold each word once. "
                f"Got {twice!r} twice instead."
            )
        super().__init__(words, unknown, special_tokens)

    @classmethod
    def train(
        cls,
        text: str,
        vocab_size: int | None = None,
        unknown: str = "<unk>",
        special_tokens: Iterable[str] = (),
    ) -> WordTokenizer:
        """Return a tokenizer for the words of a text, the most frequent ones first.

        Args:
            text: the text to take the vocabulary from.
            vocab_size: maximum number of tokens, including special ones.
            unknown, special_tokens: as in the constructor.

        Example:
            >>> tn.data.WordTokenizer.train("the cat and the dog", vocab_size=3).vocabulary
            ['the', 'cat']
        """
        special = check_special(special_tokens)
        counts = Counter(_WORD.findall(text.lower()))
        room = None if vocab_size is None else room_for("words", vocab_size, len(special) + 1)
        return cls([word for word, _ in counts.most_common(room)], unknown, special)

    def decode(self, tokens: Iterable[int] | Tensor, specials: bool = True) -> str:
        """Return the words of tokens, with a space between them; arguments are as in `Tokenizer`.

        Example:
            >>> tn.data.WordTokenizer(["a", "cat"]).decode([0, 2, 1])
            'a <unk> cat'
        """
        numbers = tokens.tolist() if isinstance(tokens, Tensor) else tokens
        words = (super(WordTokenizer, self).decode([number], specials) for number in numbers)
        return " ".join(filter(None, words))

    def _encode_plain(self, text: str) -> Array:
        missing = self.special_tokens[str(self.unknown)]
        found = (self._numbers.get(word, missing) for word in _WORD.findall(text.lower()))
        return np.fromiter(found, np.int64)

    def _decode_plain(self, tokens: Sequence[int]) -> str:
        return " ".join(map(self.vocabulary.__getitem__, tokens))

    @classmethod
    def _from_json(cls, content: dict[str, Any]) -> WordTokenizer:
        unknown = content["unknown"]
        if not isinstance(unknown, str):
            raise ValueError("an unknown token that is no text")
        return cls(texts(content, "vocabulary"), unknown, texts(content, "special_tokens"))
