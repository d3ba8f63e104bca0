"""The character tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tinynet.data.texts.tokenizer import VocabularyTokenizer, check_special, room_for, texts
from tinynet.dtypes import Array


class CharTokenizer(VocabularyTokenizer):
    """A tokenizer with one token per character of a vocabulary.

    Tokens are numbered in the order of the vocabulary, followed by the special tokens, of which
    ``unknown`` is the first.

    Args:
        vocabulary: the characters, each once, in the order of their numbers.
        unknown: the special token for all other characters; None refuses them.
        special_tokens: more special tokens.

    Attributes:
        vocabulary: the characters, as one text.
        unknown: the special token, or None.

    Raises:
        ValueError: a character or special token appears twice.

    Example:
        >>> letters = tn.data.CharTokenizer("abc")
        >>> letters.encode("cab!"), letters.vocab_size
        ([2, 0, 1, 3], 4)
        >>> letters.decode([2, 0, 1, 3])
        'cab<unk>'
    """

    kind = "characters"

    def __init__(
        self,
        vocabulary: str | Iterable[str],
        unknown: str | None = "<unk>",
        special_tokens: Iterable[str] = (),
    ):
        characters = list(vocabulary)
        for character in characters:
            if not isinstance(character, str) or len(character) != 1:
                raise ValueError(
                    "The 'vocabulary' parameter of CharTokenizer must hold single characters. "
                    f"Got {character!r} instead."
                )
        if len(set(characters)) < len(characters):
            twice = next(c for i, c in enumerate(characters) if c in characters[:i])
            raise ValueError(
                "The 'vocabulary' parameter of CharTokenizer must hold each character once. "
                f"Got {twice!r} twice instead."
            )
        super().__init__("".join(characters), unknown, special_tokens)
        self._table = self._numbers_by_code_point()

    @classmethod
    def train(
        cls,
        text: str,
        vocab_size: int | None = None,
        unknown: str | None = "<unk>",
        special_tokens: Iterable[str] = (),
    ) -> CharTokenizer:
        """Return a tokenizer for the characters of a text, in Unicode order.

        Args:
            text: the text to take the vocabulary from.
            vocab_size: maximum number of tokens, including special ones: the most frequent
                characters are kept (of equally frequent ones, those first in Unicode).
            unknown, special_tokens: as in the constructor.

        Example:
            >>> tn.data.CharTokenizer.train("banana", vocab_size=3).vocabulary
            'an'
        """
        special = check_special(special_tokens)
        points, counts = np.unique(_code_points(text), return_counts=True)
        if vocab_size is not None:
            room = room_for("characters", vocab_size, len(special) + (unknown is not None))
            points = np.sort(points[np.argsort(-counts, kind="stable")[:room]])
        return cls(map(chr, points.tolist()), unknown, special)

    def _numbers_by_code_point(self) -> Array:
        """Return a table from code points to tokens; its last entry serves all larger ones."""
        points = _code_points(self.vocabulary)
        missing = -1 if self.unknown is None else self.special_tokens[self.unknown]
        table = np.full(int(points.max(initial=0)) + 2, missing, np.int64)
        table[points] = np.arange(len(points))
        return table

    def _encode_plain(self, text: str) -> Array:
        numbers: Array = self._table[np.minimum(_code_points(text), len(self._table) - 1)]
        if self.unknown is None and numbers.size and numbers.min() < 0:
            place = int(np.argmin(numbers))
            raise ValueError(
                f"The character {text[place]!r} (U+{ord(text[place]):04X}) at position {place} is "
                "not in the vocabulary, and there is no token for unknown ones."
            )
        return numbers

    def _decode_plain(self, tokens: Sequence[int]) -> str:
        return "".join(map(self.vocabulary.__getitem__, tokens))

    @classmethod
    def _from_json(cls, content: dict[str, Any]) -> CharTokenizer:
        vocabulary, unknown = content["vocabulary"], content["unknown"]
        if not isinstance(vocabulary, str) or not isinstance(unknown, str | None):
            raise ValueError("a vocabulary or unknown token that is no text")
        return cls(vocabulary, unknown, texts(content, "special_tokens"))


def _code_points(text: str) -> Array:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
