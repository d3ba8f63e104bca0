"""What a model computes, for people: predictions, generated texts, pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.data import Tokenizer
from tinynet.dtypes import Array
from tinynet.nn import functional as F
from tinynet.ops.creation.constructors import tensor
from tinynet.ops.creation.random import multinomial
from tinynet.ops.shaping.joining import cat
from tinynet.train.base.problems import UsageError
from tinynet.train.metrics.metric import UnsuitableError, classes_of
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


_PAPER, _INK = np.array([255.0, 255.0, 255.0]), np.array([8.0, 48.0, 107.0])
_GRID_GREY = 200


def are_images(inputs: Any) -> TypeGuard[Tensor]:
    """Return whether a batch holds images: (batch, 1 or 3 channels, height, width), floating.

    Example:
        >>> are_images(tn.zeros(2, 1, 8, 8)), are_images(tn.zeros(2, 64))
        (True, False)
    """
    return (
        isinstance(inputs, Tensor)
        and inputs.ndim == 4
        and inputs.shape[1] in (1, 3)
        and min(inputs.shape) > 0
        and inputs.is_floating_point()
    )


def grid(images: Tensor, least: int = 32, columns: int = 0) -> Array:
    """Arrange images in a grid with lines between them.

    Args:
        images: a batch as for `are_images`; its range of values becomes black to white.
        least: the minimum number of pixels per side; smaller images are enlarged.
        columns: the number of columns; 0 for about as many as rows.

    Example:
        >>> grid(tn.zeros(4, 1, 8, 8)).shape
        (67, 67, 3)
    """
    array = images.detach().numpy().astype(float)
    low, high = float(array.min()), float(array.max())
    array = (array - low) / (high - low or 1.0) * 255
    factor = max(1, math.ceil(least / max(array.shape[2:])))
    array = array.repeat(factor, axis=2).repeat(factor, axis=3)
    count, channels, height, width = array.shape
    columns = columns or math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    canvas = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1, 3), _GRID_GREY, np.uint8)
    for place, image in enumerate(array):
        top = place // columns * (height + 1) + 1
        left = place % columns * (width + 1) + 1
        pixels = image.transpose(1, 2, 0).round().astype(np.uint8)
        canvas[top : top + height, left : left + width] = pixels  # one channel becomes grey
    return canvas


def heat_map(counts: Array, least: int = 320) -> Array:
    """Draw a confusion matrix: rows are true classes, columns predictions, shades shares of a row.

    Args:
        counts: (classes, classes).
        least: the approximate minimum number of pixels per side.

    Example:
        >>> picture = heat_map(np.array([[5, 0], [0, 5]]), least=20)
        >>> picture.shape, picture[5, 5].tolist(), picture[5, 15].tolist()
        ((23, 23, 3), [8, 48, 107], [255, 255, 255])
    """
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ink = np.sqrt(share)[..., None]  # makes a few mistakes among many right answers visible
    cells = (_PAPER * (1 - ink) + _INK * ink).round().astype(np.uint8)
    size = max(2, math.ceil(least / len(counts)))
    side = len(counts) * (size + 1) + 1
    canvas = np.full((side, side, 3), _GRID_GREY, np.uint8)
    for (row, column), _ in np.ndenumerate(counts):
        top, left = row * (size + 1) + 1, column * (size + 1) + 1
        canvas[top : top + size, left : left + size] = cells[row, column]
    return canvas


Row = dict[str, Any]
"""``class``, ``probability`` and perhaps ``label`` (the name of the class), or ``classes`` (of a
sequence), or ``output``; and ``target`` (perhaps with ``target_label``), if known."""


def are_classes(outputs: Any, targets: Any) -> bool:
    """Return whether outputs are class scores and targets classes, per example or element.

    Example:
        >>> are_classes(tn.zeros(4, 10), tn.zeros(4, dtype=tn.int64))
        True
        >>> are_classes(tn.zeros(4, 10, 7), tn.zeros(4, 7, dtype=tn.int64))
        True
        >>> are_classes(tn.zeros(4, 1), tn.zeros(4, 1))
        False
    """
    if not (isinstance(outputs, Tensor) and isinstance(targets, Tensor)) or not targets.ndim:
        return False
    try:
        classes_of(outputs.detach().numpy(), targets.numpy())
    except UnsuitableError:
        return False
    return outputs.shape[1] > 1


def rows_of(outputs: Any, targets: Any = None, *, classes: bool) -> list[Row]:
    """Return one row per example of a batch.

    Args:
        outputs: the outputs of the model.
        targets: the targets, if known.
        classes: whether the outputs are class scores. The row then has the class with the largest
            output and its probability (the softmax), or the classes of a sequence.

    Example:
        >>> rows_of(tn.tensor([[0.0, 0.0], [1.0, 3.0]]), tn.tensor([0, 1]), classes=True)[1]
        {'class': 1, 'probability': 0.8808, 'target': 1}
    """
    if classes:
        rows = [_class_row(scores) for scores in outputs.detach().numpy()]
    else:
        named = _named(outputs)
        columns = {name: value.detach().numpy() for name, value in named.items()}
        count = min(map(len, columns.values()), default=0)
        rows = [{name: _plain(c[i]) for name, c in columns.items()} for i in range(count)]
    if targets is not None:
        for row, target in zip(rows, targets, strict=True):
            row["target"] = _plain(
                target.detach().numpy() if isinstance(target, Tensor) else target
            )
    return rows


def _named(outputs: Any) -> dict[str, Tensor]:
    """Return outputs by name: the names of a tuple or dict, or numbers.

    Raises:
        UsageError: there is something else than batches among them.
    """
    if isinstance(outputs, Mapping):
        named = {str(name): value for name, value in outputs.items()}
    elif isinstance(outputs, tuple | list):
        names = getattr(outputs, "_fields", [f"output_{i}" for i in range(len(outputs))])
        named = dict(zip(names, outputs, strict=True))
    else:
        named = {"output": outputs}
    for name, value in named.items():
        if not isinstance(value, Tensor) or not value.ndim:
            raise UsageError(
                f"the model's {name.replace('_', ' ')} must be a tensor with an element for each "
                f"example, is {shape_of(value)}"
            )
    return named


def differences(outputs: Any, inputs: Any) -> list[float]:
    """Return the root mean square of output minus input for each example of an autoencoder.

    Args:
        outputs: the reconstructions, or a tuple that begins with them.
        inputs: a batch of inputs; without one number for each output, there are no differences.

    Example:
        >>> differences(tn.zeros(2, 4), tn.tensor([[0.0] * 4, [0.5] * 4]))
        [0.0, 0.5]
    """
    first = outputs[0] if isinstance(outputs, tuple) else outputs
    if not isinstance(first, Tensor) or not isinstance(inputs, Tensor):
        return []
    if not first.ndim or len(first) != len(inputs) or first.numel() != inputs.numel():
        return []
    arrays = (
        one.detach().numpy().reshape(len(inputs), -1).astype(float) for one in (first, inputs)
    )
    gaps = np.subtract(*arrays)
    means: list[float] = np.sqrt(np.square(gaps).mean(1)).round(6).tolist()
    return means


def as_text(rows: list[Row], tokenizer: Any) -> list[Row]:
    """Replace the tokens in rows by their text; return the rows.

    Args:
        rows: a language model's; others remain as they are.
        tokenizer: the tokenizer of the data set, or None.
    """
    if not isinstance(tokenizer, Tokenizer):
        return rows
    for row in rows:
        for key, name in (("target", "target_text"), ("classes", "text")):
            tokens = row.get(key)
            if isinstance(tokens, list) and _are_tokens(tokens, tokenizer):
                row[name] = tokenizer.decode(tokens)
                del row[key]
    return rows


def _are_tokens(values: list[Any], tokenizer: Tokenizer) -> bool:
    return all(type(value) is int and 0 <= value < tokenizer.vocab_size for value in values)


def labelled(rows: list[Row], names: Sequence[str]) -> list[Row]:
    """Add the names of classes to rows, unless they are their numbers; return the rows.

    Example:
        >>> labelled([{"class": 1, "probability": 0.75, "target": 0}], ["cat", "dog"])
        [{'class': 1, 'probability': 0.75, 'target': 0, 'label': 'dog', 'target_label': 'cat'}]
    """
    for row in rows:
        for key, name in (("class", "label"), ("target", "target_label")):
            number = row.get(key) if "class" in row else None
            if isinstance(number, int) and 0 <= number < len(names):
                row |= {name: names[number]} if names[number] != str(number) else {}
    return rows


def _class_row(scores: Array) -> Row:
    if scores.ndim > 1:  # a sequence, or an image
        return {"classes": scores.argmax(0).tolist()}
    chosen = int(scores.argmax())
    powers = np.exp((scores - scores.max()).astype(float))
    return {"class": chosen, "probability": round(float(powers[chosen] / powers.sum()), 4)}


def _plain(value: Any) -> Any:
    """Convert a value to plain JSON data, with the digits of float32."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


_EXTRAS = ("example", "target", "target_label", "difference", "file", "conversion")
"""What is not an output in a row."""


def sentence_of(row: Mapping[str, Any]) -> str:
    """Format a row for people.

    Example:
        >>> sentence_of({"class": 1, "probability": 0.8808, "target": 3})
        '1 (88.1 %), should be 3'
        >>> sentence_of({"output": [0.5, 1.5], "target": [0.5, 1.0]})
        '0.5 1.5, should be 0.5 1'
    """
    if "class" in row:
        text = f"{row.get('label', row['class'])} ({100 * row['probability']:.1f} %)"
        wrong = row.get("target", row["class"]) != row["class"]
        right = row.get("target_label", row.get("target"))
        return f"{text}, should be {right}" if wrong else text
    if "nearest" in row:
        return f"{row['word']}: {' '.join(row['nearest'])}"
    if "target_text" in row:
        return f"{row['text']!r}, should be {row['target_text']!r}"
    if "prompt" in row:
        return str(row["text"])
    return _values(row)


def _values(row: Mapping[str, Any]) -> str:
    """Format the outputs of a row."""
    if "difference" in row:  # an autoencoder's; the images themselves would be long
        names = [name for name in row if name not in _EXTRAS][1:]
        parts = [f"differs from the input by {row['difference']:.4g} (root mean square)"]
    else:
        names, parts = [name for name in row if name not in _EXTRAS], []
    label = len(names) > 1 or parts
    parts += [f"{name} {_numbers(row[name])}" if label else _numbers(row[name]) for name in names]
    text = "; ".join(parts)
    return f"{text}, should be {_numbers(row['target'])}" if "target" in row else text


def table_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Format rows as a Markdown table, for TensorBoard's Text tab."""
    lines = ["| example | prediction |", "|---:|:---|"]
    lines += [f"| {index} | {sentence_of(row)} |" for index, row in enumerate(rows)]
    return "\n".join(lines)


def confusion_table(counts: Array) -> str:
    """Format a confusion matrix in Markdown: rows are true classes, columns predictions."""
    columns = range(len(counts))
    lines = [f"| | {' | '.join(map(str, columns))} |", f"|---:|{'---:|' * len(counts)}"]
    lines += [f"| **{i}** | {' | '.join(map(str, row))} |" for i, row in enumerate(counts.tolist())]
    return "\n".join(lines)


def _numbers(value: Any, most: int = 8) -> str:
    if not isinstance(value, list):
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    flat = np.asarray(value).ravel().tolist()
    shown = " ".join(_numbers(item) for item in flat[:most])
    return f"{shown} ... ({len(flat)} numbers)" if len(flat) > most else shown
