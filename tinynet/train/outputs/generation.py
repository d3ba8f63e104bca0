"""Text generation with language models."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.data import Tokenizer
from tinynet.nn import functional as F
from tinynet.ops.creation.constructors import tensor
from tinynet.ops.creation.random import multinomial
from tinynet.ops.shaping.joining import cat
from tinynet.train.step.task import as_evaluated, shape_of

Advance = Callable[[Tensor, Any], tuple[Tensor, Any]]
"""From new tokens and a state to the scores of the next token, and the next state."""


def generate(
    model: nn.Module,
    tokens: Tensor,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    vocab_size: int | None = None,
    seed: int = 0,
) -> Tensor:
    """Continue texts with tokens sampled from a language model.

    Args:
        model: a module from (batch, time) integers to scores (batch, vocabulary, time). With a
            method ``advance`` (as in `LSTMLanguageModel`) it reads each token once; otherwise it
            reads the last ``model.context`` tokens at each step, or all without that attribute.
        tokens: (batch, time), the texts to continue: at least one token each.
        length: the number of tokens to generate.
        temperature: divides the scores: below 1, likely tokens become likelier; 0 always picks the
            likeliest.
        top_k: sample from the k likeliest tokens only.
        vocab_size: sample only tokens below this, if the model has more outputs.
        seed: the seed for sampling. All random streams are restored afterwards.

    Shape:
        (batch, time + length).

    Raises:
        ValueError: if an argument is out of range, or the model is not a language model.

    Example:
        >>> from tinynet.train.models import GPT
        >>> net = GPT(vocab_size=50, context=16, layers=1, heads=2, width=8)
        >>> generate(net, tn.tensor([[1, 2], [3, 4]]), 20, temperature=0.8, top_k=10).shape
        tinynet.Size([2, 22])
    """
    _check(tokens, length, temperature, top_k)
    advance: Advance = getattr(model, "advance", None) or _by_windows(model)
    state: Any = None
    new, parts = tokens, [tokens]
    with as_evaluated(model, seed):
        for _ in range(length):
            scores, state = advance(new, state)
            new = _sample(scores[:, :vocab_size], temperature, top_k)
            parts.append(new)
    return cat(parts, 1)


def generate_text(
    model: nn.Module,
    tokenizer: Tokenizer,
    prompt: str,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int = 0,
) -> str:
    """Continue a prompt with text sampled from a language model.

    Args:
        model: a language model, as for `generate`.
        tokenizer: the tokenizer of the model.
        prompt: the text to continue: at least one token.
        length: the number of tokens to generate.
        temperature, top_k, seed: as in `generate`.

    Raises:
        ValueError: as for `generate`; or if the prompt is empty.

    Example:
        >>> from tinynet.data import CharTokenizer
        >>> from tinynet.train.models import LSTMLanguageModel
        >>> net = LSTMLanguageModel(vocab_size=4)
        >>> text = generate_text(net, CharTokenizer("abcd", unknown=None), "bad", 5)
        >>> len(text), text[:3]
        (8, 'bad')
    """
    tokens = tensor([tokenizer.encode(prompt)]).long()
    generated = generate(
        model,
        tokens,
        length,
        temperature=temperature,
        top_k=top_k,
        vocab_size=tokenizer.vocab_size,
        seed=seed,
    )
    return tokenizer.decode(generated[0])


def _check(tokens: Tensor, length: int, temperature: float, top_k: int | None) -> None:
    if tokens.ndim != 2 or not tokens.shape[1]:
        raise ValueError(
            "The 'tokens' parameter of generate must be (batch, time) with at least one token to "
            f"begin with (a prompt that is not empty). Got {shape_of(tokens)} instead."
        )
    least = {"length": (length, 0), "temperature": (temperature, 0)}
    if top_k is not None:
        least["top_k"] = (top_k, 1)
    for name, (value, smallest) in least.items():
        if not smallest <= value < math.inf:
            raise ValueError(
                f"The '{name}' parameter of generate must be >= {smallest}. Got {value} instead."
            )


def _by_windows(model: nn.Module) -> Advance:
    """Return an `Advance` for a model without a state: the state is the last window."""
    context = getattr(model, "context", None)

    def advance(new: Tensor, before: Tensor | None) -> tuple[Tensor, Tensor]:
        window = new if before is None else cat([before, new], 1)
        window = window if context is None else window[:, -context:]
        scores = model(window)
        if not isinstance(scores, Tensor) or scores.ndim != 3 or scores.shape[2] != window.shape[1]:
            raise ValueError(
                "a language model gives scores (batch, vocabulary, time) for tokens (batch, time); "
                f"{type(model).__name__} gives {shape_of(scores)} for {shape_of(window)}"
            )
        return scores[:, :, -1], window

    return advance


def _sample(scores: Tensor, temperature: float, top_k: int | None) -> Tensor:
    """Sample a token for each text, (batch, 1), from scores (batch, vocabulary)."""
    if temperature == 0:
        return scores.argmax(1, keepdim=True)
    if top_k is not None and top_k < scores.shape[1]:
        last = scores.topk(top_k).values[:, -1:]
        scores = scores.masked_fill(scores < last, -math.inf)
    scores = scores - scores.amax(1, keepdim=True)  # a small temperature must not overflow
    return multinomial(F.softmax(scores / temperature, 1), 1)
