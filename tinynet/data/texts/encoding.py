"""The conversion of texts to inputs of equal length: the tokens of a tokenizer, and padding."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import FormatError, raise_all
from tinynet.data.texts.tokenizer import Tokenizer
from tinynet.dtypes import Array


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
