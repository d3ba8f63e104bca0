"""The base class of tokenizers: special tokens, decoding, files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tinynet.base.atomic_write import write_atomically
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import FormatError, StrPath, raise_all, text_of
from tinynet.dtypes import Array

_FORMAT, _VERSION = "tinynet tokenizer", 1


class Tokenizer:
    """Converts text to numbers and back; there are ones for words, characters and byte pairs.

    A subclass defines ``_encode_plain`` and ``_decode_plain``, for text without special tokens,
    and its contents in a file.

    Args:
        special: the special tokens, such as ``"<|end|>"``, and their numbers.

    Attributes:
        vocab_size: the number of tokens, which are numbered from 0.
        special_tokens: the special tokens and their numbers.

    Example:
        >>> tokenizer = tn.data.CharTokenizer("abc", unknown=None)
        >>> isinstance(tokenizer, tn.data.Tokenizer), tokenizer.encode("cab")
        (True, [2, 0, 1])
        >>> tokenizer.decode([1, 0])
        'ba'
    """

    kind: ClassVar[str] = ""
    _kinds: ClassVar[dict[str, type[Tokenizer]]] = {}

    def __init_subclass__(cls) -> None:
        if cls.kind:
            Tokenizer._kinds[cls.kind] = cls

    def __init__(self, special: Mapping[str, int]):
        self.special_tokens = dict(special)
        self._special_texts = {number: text for text, number in special.items()}
        self._splitter = splitter(self._recognized())

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special ones."""
        raise NotImplementedError

    def encode(self, text: str, specials: bool = True) -> list[int]:
        """Return the numbers of the tokens of a text.

        Args:
            text: any text.
            specials: encode special tokens in the text as their numbers; False treats them as
                ordinary text, which is right for untrusted text.
        """
        numbers: list[int] = self.encode_array(text, specials).tolist()
        return numbers

    def encode_array(self, text: str, specials: bool = True) -> Array:
        """Return the result of ``encode`` as an int64 array: better for long texts."""
        if not isinstance(text, str):
            raise TypeError(f"A tokenizer encodes a str. Got {type(text).__name__} instead.")
        if not specials or self._splitter is None:
            return self._encode_plain(text)
        parts = self._splitter.split(text)  # text, special, text, special, ..., text
        arrays = [self._encode_plain(part) for part in parts[::2]]
        for place, name in zip(range(1, len(parts), 2), parts[1::2], strict=True):
            arrays.insert(place, np.array([self.special_tokens[name]], np.int64))
        return np.concatenate(arrays)

    def decode(self, tokens: Iterable[int] | Tensor, specials: bool = True) -> str:
        """Return the text of tokens.

        Args:
            tokens: their numbers, in a list or a one-dimensional tensor.
            specials: include special tokens; False leaves them out.

        Raises:
            ValueError: a number belongs to no token.
        """
        numbers = tokens.tolist() if isinstance(tokens, Tensor) else list(tokens)
        parts: list[str] = []
        plain: list[int] = []
        for number in numbers:
            if not 0 <= number < self.vocab_size:
                raise ValueError(
                    f"Tokens are numbers from 0 to {self.vocab_size - 1}. Got {number!r} instead."
                )
            name = self._special_texts.get(number)
            if name is None:
                plain.append(number)
                continue
            parts.append(self._decode_plain(plain))
            plain = []
            if specials:
                parts.append(name)
        return "".join([*parts, self._decode_plain(plain)])

    def is_same(self, other: Tokenizer) -> bool:
        """Return whether another tokenizer encodes every text to the same numbers.

        Example:
            >>> from tinynet.data import CharTokenizer
            >>> CharTokenizer("abc").is_same(CharTokenizer("abc"))
            True
            >>> CharTokenizer("abc").is_same(CharTokenizer("abd"))
            False
        """
        mine, others = (json.dumps(one._to_json()) for one in (self, other))  # tuples as lists
        return self.kind == other.kind and mine == others

    def save(self, path: StrPath) -> None:
        """Write the tokenizer to a JSON file; an existing file is replaced atomically."""
        write_atomically(Path(path), lambda file: file.write(self.to_bytes()))

    def to_bytes(self) -> bytes:
        """Return the contents of the file that ``save`` writes."""
        content = {"format": _FORMAT, "version": _VERSION, "kind": self.kind, **self._to_json()}
        return json.dumps(content, ensure_ascii=False, indent=None).encode()

    @classmethod
    def load(cls, path: StrPath) -> Any:
        """Return a tokenizer from a file written by ``save``.

        Raises:
            FormatError: the file is not a tokenizer, or one of another kind than this class.
        """
        try:
            content = json.loads(text_of(path))
        except FormatError:
            raise
        except (ValueError, RecursionError) as error:
            raise FormatError(path, "a tokenizer as JSON", f"invalid JSON: {error}") from None
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise FormatError(path, f'JSON with "format": "{_FORMAT}"', _brief(content))
        if content.get("version") != _VERSION:
            raise FormatError(path, f"version {_VERSION}", _brief(content.get("version")))
        kind = content.get("kind")
        found = cls._kinds.get(kind) if isinstance(kind, str) else None
        if found is None or not issubclass(found, cls):
            expected = f"a tokenizer of the kind {cls.kind or ' or '.join(cls._kinds)}"
            raise FormatError(path, expected, _brief(kind))
        try:
            return found._from_json(content)
        except (KeyError, TypeError, ValueError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise FormatError(path, f"a complete tokenizer of the kind {kind}", reason) from None

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> Tokenizer:
        """Return a tokenizer from the contents of its file, which ``to_bytes`` returns as JSON."""
        return Tokenizer._kinds[content["kind"]]._from_json(dict(content))

    def _recognized(self) -> Iterable[str]:
        """Return the special tokens to recognize in a text."""
        return self.special_tokens

    def _encode_plain(self, text: str) -> Array:
        raise NotImplementedError

    def _decode_plain(self, tokens: Sequence[int]) -> str:
        raise NotImplementedError

    def _to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def _from_json(cls, content: dict[str, Any]) -> Tokenizer:
        raise NotImplementedError


class VocabularyTokenizer(Tokenizer):
    """Base class of tokenizers with a vocabulary and a special token for everything else.

    Args:
        vocabulary: the tokens, each once, in the order of their numbers.
        unknown: the special token, or None.
        special_tokens: more special tokens.
    """

    vocabulary: Any
    unknown: str | None

    def __init__(
        self, vocabulary: Sequence[str], unknown: str | None, special_tokens: Iterable[str]
    ):
        self.vocabulary = vocabulary
        self.unknown = unknown
        first = [] if unknown is None else [unknown]
        special = check_special([*first, *check_special(special_tokens)])
        super().__init__({name: len(vocabulary) + i for i, name in enumerate(special)})

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special ones."""
        return len(self.vocabulary) + len(self.special_tokens)

    def _recognized(self) -> Iterable[str]:
        return [name for name in self.special_tokens if name != self.unknown]

    def _to_json(self) -> dict[str, Any]:
        return {
            "vocabulary": self.vocabulary,
            "unknown": self.unknown,
            "special_tokens": [*self._recognized()],
        }


def room_for(what: str, vocab_size: int, special: int) -> int:
    """Return the number of tokens in a vocabulary beside the special ones.

    Raises:
        ValueError: there is none.
    """
    room = vocab_size - special
    if room < 1:
        raise ValueError(
            f"The 'vocab_size' parameter must leave room for {what} beside the special tokens. "
            f"Got {vocab_size} instead."
        )
    return room


def splitter(special: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern that splits a text at its special tokens; None if there are none."""
    names = sorted(special, key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, names))})") if names else None


def check_special(tokens: Iterable[str]) -> list[str]:
    """Return the special tokens as a list; ValueError if one is empty or repeated."""
    names = [tokens] if isinstance(tokens, str) else list(tokens)
    for name in names:
        if not isinstance(name, str) or not name or names.count(name) > 1:
            raise ValueError(
                "The 'special_tokens' must be different texts that are not empty. "
                f"Got {names!r} instead."
            )
    return names


def texts(content: dict[str, Any], key: str) -> list[str]:
    """Return the list of texts under a key of a file."""
    value = content[key]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{_brief(value)} as {key!r}")
    return value


def _brief(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


# ---- encoding -----------------------------------------------------------------------------------
# The conversion of texts to inputs of equal length: the tokens of a tokenizer, and padding.


@dataclass(frozen=True)
class TextEncoder:
    """The classes, the length of an input, and the tokenizer that was trained on the texts.

    Called with texts, it returns a batch of inputs: 0 is padding, and token ``t`` is ``t + 1``.
    """

    classes: list[str]
    length: int
    tokenizer: Tokenizer

    def __call__(self, texts: Iterable[Any]) -> Tensor:
        """Return texts as a batch of inputs, int64 of shape (texts, length).

        Raises:
            FormatError: with all values that are not texts.
        """
        rows, mistakes = [], []
        for number, text in enumerate(texts, 1):
            if isinstance(text, str):
                rows.append(self.row(text))
            else:
                mistakes.append(FormatError("rows", "a text", repr(text), f"row {number}"))
        raise_all(mistakes)
        return wrap(np.stack(rows))

    def row(self, text: str) -> Array:
        """Return the input for a text: its first tokens, or all and padding."""
        tokens = self.tokenizer.encode_array(text, specials=False)[: self.length] + 1
        row = np.zeros(self.length, np.int64)
        row[: len(tokens)] = tokens
        return row

    def state_dict(self) -> dict[str, Any]:
        """Return the encoder as plain data, for JSON."""
        tokenizer = json.loads(self.tokenizer.to_bytes())
        kept = {"classes": self.classes, "length": self.length}
        return {"kind": "texts", **kept, "tokenizer": tokenizer}

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> TextEncoder:
        """Return the encoder that `state_dict` described."""
        tokenizer = Tokenizer.from_json(state["tokenizer"])
        return cls(list(state["classes"]), state["length"], tokenizer)


# ---- characters ---------------------------------------------------------------------------------
# The character tokenizer.


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
            raise ValueError("a vocabulary or unknown token that is not a text")
        return cls(vocabulary, unknown, texts(content, "special_tokens"))


def _code_points(text: str) -> Array:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


# ---- words --------------------------------------------------------------------------------------
# The word tokenizer.


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
            raise ValueError("an unknown token that is not a text")
        return cls(texts(content, "vocabulary"), unknown, texts(content, "special_tokens"))
