"""The base class of tokenizers: special tokens, decoding, files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tinynet.base.atomic_write import write_atomically
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.readers.files import FormatError, StrPath, text_of
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
