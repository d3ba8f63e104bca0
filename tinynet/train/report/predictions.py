"""Predictions of a model, formatted for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.train.metrics.metric import UnsuitableError, classes_of

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
    array = outputs.detach().numpy()
    if classes:
        rows = [_class_row(scores) for scores in array]
    else:
        rows = [{"output": _plain(value)} for value in array]
    if targets is not None:
        for row, target in zip(rows, targets, strict=True):
            row["target"] = _plain(
                target.detach().numpy() if isinstance(target, Tensor) else target
            )
    return rows


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
    text = _numbers(row["classes" if "classes" in row else "output"])
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
