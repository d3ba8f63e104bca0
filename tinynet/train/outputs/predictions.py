"""Predictions of a model, formatted for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.data import Tokenizer
from tinynet.dtypes import Array
from tinynet.train.base.problems import UsageError
from tinynet.train.metrics.metric import UnsuitableError, classes_of
from tinynet.train.step.task import shape_of

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
    """Return outputs by name: those of a tuple or dict by its names, or numbered.

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
        rows: those of a language model; others remain as they are.
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
