"""The sections of a report about predictions.

The confusion matrix, plots and residuals; the worst and a few typical examples.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import nn
from tinynet.board.summaries.pixels import png
from tinynet.core.tensors.tensor import Tensor
from tinynet.data import Subset, Tokenizer
from tinynet.data.readers.table_rows import TableRows
from tinynet.data.readers.tables import TableEncoder
from tinynet.dtypes import Array
from tinynet.train import outputs
from tinynet.train.metrics.metric import Collected, softmax
from tinynet.train.metrics.registry import r2
from tinynet.train.observe.progress import number_text
from tinynet.train.outputs import are_classes, rows_of, sentence_of
from tinynet.train.show.page import Html, bar, cards, element, escaped, joined, picture, table
from tinynet.train.show.plots import GREY, Curve, Scale, lines
from tinynet.train.show.run_data import Answer, RunData

# ---- exhibits -----------------------------------------------------------------------------------
# The last pictures and texts that the run wrote for TensorBoard.


_ELSEWHERE = (
    "test/confusion_matrix",
    "test/samples",
    "val/confusion_matrix",
    "val/samples",
    "graph/folded",
)
_MOST_EXHIBITS = 12
_LONGEST = 5000  # characters


def exhibits(run: RunData) -> Html | None:
    """Return what exhibits and callbacks showed last."""
    shown = []
    for tag, (step, encoded) in sorted(run.logged.images.items()):
        if tag not in _ELSEWHERE:
            image = picture(encoded, tag).replace('class="pixels"', 'class="pixels shown"')
            shown.append(_figure(tag, step, Html(image)))
    for tag, (step, text) in sorted(run.logged.texts.items()):
        if tag not in _ELSEWHERE:
            shown.append(_figure(tag, step, _text(text[:_LONGEST])))
    return joined(shown[:_MOST_EXHIBITS]) if shown else None


def _text(markdown: str) -> Html:
    """Return a text for TensorBoard: a table as a table, all else as it is written."""
    lines = markdown.strip().splitlines()
    if len(lines) > 2 and all(line.startswith("|") for line in lines):
        cells = [line.strip("| ").replace("*", "").split("|") for line in lines]
        if len({*map(len, cells)}) == 1:
            return table(cells[0], cells[2:])
    return element("pre", "\n", textwrap.dedent(markdown), class_="text")


def _figure(tag: str, step: int, content: Html) -> Html:
    caption = element("figcaption", element("b", tag), f", after step {step}")
    return element("figure", caption, content)


# ---- examples -----------------------------------------------------------------------------------


_MOST = 12  # values of a row
_CLASSES = 3  # with the highest probabilities


def examples(run: RunData) -> Html | None:
    """Return the worst and the typical examples."""
    if run.model is None:
        return None
    shown: list[Html] = []
    ranked = f"among the first {run.model.ranked:,} of the test set"
    for title, note, answers in (
        ("Worst", f"The largest losses {ranked}.", run.model.worst),
        ("Typical", "Losses around the median.", run.model.typical),
    ):
        if answers:
            note = note if answers[0].loss is not None else "The first ones of the test set."
            if _is_picture(answers[0].inputs, _first(answers[0].output)):
                note += " On the left the example, on the right the output of the model."
            elif _is_text(run, answers[0]):
                note += (
                    " Above is the text: the redder a token, the less the model expected it. Below "
                    "is the likeliest token at each place, red where it is wrong."
                )
            wide = "examples long" if _is_text(run, answers[0]) else "examples"
            shown += [element("h3", title), element("p", note, class_="soft")]
            if _is_row(run, answers[0]):
                shown.append(_table(run, answers))
                continue
            cards = [_card(run, answer) for answer in answers]
            shown.append(element("div", *cards, class_=wide))
    return joined(shown) if shown else None


def _first(output: Any) -> Any:
    """Return the first of several outputs, or the only one."""
    return output[0] if isinstance(output, tuple) and output else output


def _card(run: RunData, answer: Answer) -> Html:
    loss = "" if answer.loss is None else f", loss {answer.loss:.3g}"
    foot = element("div", f"example {answer.index}{loss}", class_="soft")
    first = _first(answer.output)
    if _is_text(run, answer) and are_classes(first, answer.target):
        content = _continuation(run, answer, first)
    elif _is_picture(answer.inputs, first):
        content = element("div", _image(answer.inputs), _image(first), class_="pair")
    else:
        content = joined([_inputs(run, answer.inputs), _said(run, answer, first)])
    return element("div", content, foot, class_="example")


# ---- rows of values ----


def _is_row(run: RunData, answer: Answer) -> bool:
    """Return whether an example is a row of values, and not an image, a text or words."""
    inputs = answer.inputs
    names = run.model is not None and run.model.about("vocabulary")
    return (
        isinstance(inputs, Tensor) and inputs.ndim == 2 and not names and not _is_text(run, answer)
    )


def _table(run: RunData, answers: Sequence[Answer]) -> Html:
    """Return examples as the rows of a table, with predicted and actual values."""
    count = answers[0].inputs.shape[1]
    given = run.model.about("feature_names") if run.model is not None else None
    names = given if given and len(given) == count else [f"x{i}" for i in range(count)]
    more = [f"and {count - _MOST} more"] if count > _MOST else []
    as_written = [_as_written(run, answer.index) for answer in answers]
    if all(as_written):
        names, count = [*as_written[0]], len(as_written[0])
        more = [f"and {count - _MOST} more"] if count > _MOST else []
    header = ["example", "predicted", "actual", "loss", *names[:_MOST], *more]
    rows = []
    for answer, own in zip(answers, as_written, strict=True):
        given = own.values() or map(number_text, answer.inputs.numpy()[0].tolist())
        values = [*itertools.islice(given, _MOST)]
        loss = "" if answer.loss is None else number_text(answer.loss, 3)
        rows.append([answer.index, *_pair(run, answer), loss, *values, *[""] * len(more)])
    return table(header, rows, numbers=3)


def _as_written(run: RunData, index: int) -> dict[str, str]:
    """Return the inputs of an example as the file of a table has them; {} of other data."""
    examples: Any = run.model.parts.test_set if run.model is not None else None
    while isinstance(examples, Subset):
        examples, index = examples.dataset, examples.indices[index]
    return examples.row(index) if isinstance(examples, TableRows) else {}


def _pair(run: RunData, answer: Answer) -> tuple[Html, str]:
    """Return the prediction and the target, in a few words each."""
    output, target = _first(answer.output), answer.target
    if not isinstance(output, Tensor):
        return escaped(str(output)[:80]), str(target)[:80]
    if are_classes(output, target) and output.ndim == 2:
        names, true = class_names(run, output.shape[1]), int(target.numpy().ravel()[0])
        row = rows_of(output, classes=True)[0]
        text = f"{names[row['class']]} ({100 * row['probability']:.1f} %)"
        tone = "good" if row["class"] == true else "bad"
        right = names[true] if 0 <= true < len(names) else str(true)
        return element("span", text, class_=tone), right
    said, right = map(_numbers, (output, target))
    return escaped(said), right


def _numbers(value: Any) -> str:
    """Return the numbers of an output, or of a target."""
    if not isinstance(value, Tensor) or value.numel() > _MOST:
        return sentence_of(rows_of(value, classes=False)[0])
    return " ".join(map(number_text, value.detach().numpy().ravel().tolist()))


# ---- what the model was given ----


def _inputs(run: RunData, inputs: Any) -> Html:
    """Return the inputs of an example: a picture, words, or values."""
    if outputs.are_images(inputs):
        return _image(inputs)
    values = _flat(inputs)
    words = run.model.about("vocabulary") if run.model is not None else None
    if values is None:
        return element("div", str(inputs)[:200], class_="mono")
    if words and values.dtype.kind in "iu" and values.max(initial=0) < len(words):
        return element("p", element("b", " ".join(words[int(i)] for i in values[:_MOST])))
    tokenizer = run.model.about("tokenizer") if run.model is not None else None
    if isinstance(tokenizer, Tokenizer) and values.dtype.kind in "iu":
        return element("pre", "\n", tokenizer.decode(values.tolist()), class_="text")
    more = f" and {len(values) - _MOST} more" if len(values) > _MOST else ""
    return element("p", " ".join(f"{value:.4g}" for value in values[:_MOST]) + more, class_="mono")


def _flat(inputs: Any) -> Array | None:
    """Return the values of an example; None if it is not a tensor."""
    if isinstance(inputs, tuple | list) and all(isinstance(part, Tensor) for part in inputs):
        parts: list[Array] = [part.numpy().ravel() for part in inputs]
        return np.concatenate(parts) if parts else None
    return inputs.numpy().ravel() if isinstance(inputs, Tensor) else None


def _image(images: Tensor) -> Html:
    """Return the only image of a batch, from its darkest to its brightest value."""
    array = images.detach().numpy()[0].astype(float)
    array = np.nan_to_num(array)
    low, high = float(array.min()), float(array.max())
    pixels = ((array - low) / (high - low or 1.0) * 255).round().astype(np.uint8)
    return picture(png(np.ascontiguousarray(pixels.transpose(1, 2, 0))), "an example")


def _is_picture(inputs: Any, output: Any) -> bool:
    """Return whether inputs and output are images of one shape."""
    return outputs.are_images(inputs) and outputs.are_images(output)


# ---- the prediction ----


def _said(run: RunData, answer: Answer, output: Any) -> Html:
    if not isinstance(output, Tensor):
        return element("div", str(output)[:200], class_="mono")
    if are_classes(output, answer.target) and output.ndim == 2:
        return _classes(run, answer, output)
    if _are_labels(run, answer, output):
        return _labels(run, answer, output)
    classes = are_classes(output, answer.target)
    row = rows_of(output, answer.target, classes=classes)[0]
    actual = row.pop("target")
    lines = {"predicted": sentence_of(row), "actual": sentence_of({"output": actual})}
    return joined(element("div", f"{name}: {text}") for name, text in lines.items())


def _classes(run: RunData, answer: Answer, output: Tensor) -> Html:
    """Return the likeliest classes with their probabilities, and the true one."""
    shares = softmax(output.detach().numpy())[0]
    names, true = class_names(run, len(shares)), int(answer.target.numpy().ravel()[0])
    order = [*np.argsort(-shares, kind="stable")[:_CLASSES]]
    if 0 <= true < len(shares) and true not in order:
        order.append(true)
    rows = []
    for index in map(int, order):
        name = element("b", names[index]) if index == true else names[index]
        rows.append(bar(name, float(shares[index])))
    right = order[0] == true
    text = f"actual: {names[true] if 0 <= true < len(names) else true}"
    return joined([*rows, element("div", text, class_="good" if right else "bad")])


def _are_labels(run: RunData, answer: Answer, output: Tensor) -> bool:
    """Return whether outputs are logits of labels: one each, for targets of 0 or 1."""
    assert run.model is not None
    target = answer.target
    if not isinstance(run.model.parts.loss, nn.BCEWithLogitsLoss) or output.shape != target.shape:
        return False
    return output.numel() <= _MOST and bool(np.isin(target.numpy(), (0, 1)).all())


def _labels(run: RunData, answer: Answer, output: Tensor) -> Html:
    """Return the probability of each label, those that apply in bold."""
    assert run.model is not None
    logits, targets = (tensor.detach().numpy().ravel() for tensor in (output, answer.target))
    shares = 0.5 * (1 + np.tanh(logits.astype(float) / 2))
    names, given = class_names(run, len(shares)), _flat(answer.inputs)
    words = run.model.about("vocabulary")
    if words and given is not None and len(given) == len(shares) + 1:  # a word and its context
        names = [words[int(index)] for index in given[1:]]
    return joined(
        bar(element("b", name) if target else name, share)
        for name, share, target in zip(names, shares, targets, strict=True)
    )


# ---- text ----


def _is_text(run: RunData, answer: Answer) -> bool:
    tokenizer = run.model.about("tokenizer") if run.model is not None else None
    inputs = answer.inputs
    if not isinstance(tokenizer, Tokenizer) or not isinstance(inputs, Tensor):
        return False
    return inputs.ndim == 2 and inputs.numpy().dtype.kind in "iu"


def _continuation(run: RunData, answer: Answer, scores: Tensor) -> Html:
    """Return a text with the model's surprise at each token, and what it would have written."""
    assert run.model is not None
    tokenizer = run.model.about("tokenizer")
    true = answer.target.numpy()[0]
    shares = softmax(np.moveaxis(scores.detach().numpy()[0], 0, -1))
    own = np.take_along_axis(shares, true.clip(0)[:, None], axis=1)[:, 0]
    found = shares.argmax(axis=1)
    text = [
        _token(tokenizer, token, (1 - share) ** 2) for token, share in zip(true, own, strict=True)
    ]
    guesses = [
        _token(tokenizer, token, float(token != right))
        for token, right in zip(found, true, strict=True)
    ]
    return joined(element("pre", "\n", *part, class_="text") for part in (text, guesses))


def _token(tokenizer: Tokenizer, token: int, share: float) -> Html:
    known = 0 <= token < tokenizer.vocab_size  # a model may have more outputs than tokens
    text = tokenizer.decode([int(token)]) if known else "�"
    if share < 0.1:
        return joined([text])
    seen = text.replace("\n", "↵\n").replace(" ", "·") if share == 1 else text
    return element("mark", seen, style=f"--share: {60 * share:.0f}%")


# ---- confusion ----------------------------------------------------------------------------------
# The confusion matrix of the test set.


_MOST_CLASSES = 25  # classes of a matrix that is shown whole
_PAIRS = 20


def confusion(run: RunData) -> Html | None:
    """Return the matrix; of many classes, the most frequent mistakes."""
    if run.model is None or run.model.confusion is None:
        return None
    counts, names = run.model.confusion, class_names(run, len(run.model.confusion))
    if len(counts) > _MOST_CLASSES:
        return _mistakes(counts, names)
    text = "Rows are the actual classes, columns the predicted ones."
    return joined([element("p", text, class_="soft"), _matrix(counts, names)])


def class_names(run: RunData, count: int) -> list[str]:
    """Return the names of the classes; their numbers if they have none."""
    model = run.model
    for attribute in ("classes", "vocabulary"):
        given = model.about(attribute) if model is not None else None
        if isinstance(given, list | tuple) and len(given) == count:
            return [*map(str, given)]
    tokenizer = model.about("tokenizer") if model is not None else None
    if isinstance(tokenizer, Tokenizer):  # a model may have more outputs than tokens
        known = range(min(count, tokenizer.vocab_size))
        tokens = [repr(tokenizer.decode([number])) for number in known]
        return [*tokens, *map(str, range(len(tokens), count))]
    return [*map(str, range(count))]


def _matrix(counts: Array, names: list[str]) -> Html:
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows = [element("tr", element("th"), *[element("th", name) for name in names])]
    for name, row, parts in zip(names, counts.tolist(), shares.tolist(), strict=True):
        cells = [_cell(count, share) for count, share in zip(row, parts, strict=True)]
        rows.append(element("tr", element("th", name), *cells))
    return element("div", element("table", *rows, class_="matrix"), class_="wide")


def _cell(count: int, share: float) -> Html:
    ink = share**0.5  # makes a few mistakes among many right answers visible
    strong = "strong" if ink > 0.6 else None
    return element("td", count or "", class_=strong, style=f"--share: {100 * ink:.0f}%")


def _mistakes(counts: Array, names: list[str]) -> Html:
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_PAIRS]
    pairs = [divmod(int(place), len(counts)) for place in order]
    totals = np.maximum(counts.sum(axis=1), 1)
    rows = [
        (names[i], names[j], f"{wrong[i, j]:,}", f"{100 * wrong[i, j] / totals[i]:.1f} %")
        for i, j in pairs
        if wrong[i, j]
    ]
    text = f"The most frequent mistakes among {len(counts)} classes."
    header = ["actual", "predicted", "count", "of the actual class"]
    return joined([element("p", text, class_="soft"), table(header, rows, numbers=2)])


# ---- regression ---------------------------------------------------------------------------------
# Predictions of numbers: against the actual values, and the residuals.


_MOST_POINTS = 500  # points of a plot
_BINS = 30


def regression(run: RunData) -> Html | None:
    """Return the errors of the predictions, and two plots for each number of a target."""
    model = run.model
    if model is None or model.predictions is None:
        return None
    found, true = model.predictions
    names = _names(run, true.shape[1])
    errors = found - true
    score = r2(Collected(found, true))
    shown = {
        "R²": number_text(score, 3),
        "mean absolute error": number_text(float(np.abs(errors).mean())),
        "root mean squared error": number_text(float(np.sqrt(np.square(errors).mean()))),
    }
    parts = [cards(shown)]
    if score < 0:
        text = "R² is below 0: the mean of the actual values would be a better prediction."
        parts.append(element("p", text, class_="bad"))
    if len(true) > _MOST_POINTS:
        text = f"The plots show {_MOST_POINTS:,} of {len(true):,} examples."
        parts.append(element("p", text, class_="soft"))
    plots = [
        plot
        for column, name in enumerate(names)
        for plot in (*_scatter(name, found[:, column], true[:, column]),)
    ]
    return joined([*parts, element("div", *plots, class_="plots")])


def _names(run: RunData, count: int) -> list[str]:
    """Return the names of the numbers of a target: its column's name, if it has one."""
    learned = run.model.about("preprocessing") if run.model is not None else None
    if count == 1 and isinstance(learned, TableEncoder) and learned.target is not None:
        return [learned.target.name]
    return ["target"] if count == 1 else [f"target {number}" for number in range(1, count + 1)]


def _scatter(name: str, found: Array, true: Array) -> Sequence[Html]:
    """Return the plots of predicted against actual values, and of the residuals."""
    chosen = np.linspace(0, len(true) - 1, min(_MOST_POINTS, len(true))).astype(int)
    xs, ys = true[chosen].tolist(), found[chosen].tolist()
    ends = [min(xs + ys), max(xs + ys)]
    diagonal = Curve("predicted = actual", ends, ends, GREY, thin=True)
    counts, edges = np.histogram(found - true, bins=min(_BINS, math.isqrt(len(true)) + 1))
    x = [edges[0], *np.repeat(edges, 2)[1:-1].tolist(), edges[-1]]
    bars = Curve("", x, [0, *np.repeat(counts, 2).tolist(), 0], tips=False)
    zero = Curve("no error", [0.0, 0.0], [0, int(counts.max())], GREY, thin=True)
    points = Curve("", xs, ys, dots=True)
    title, y = f"{name}: predicted and actual", Scale("predicted")
    return (
        lines(title, [diagonal, points], "actual", y=y),
        lines(f"{name}: residuals", [zero, bars], "predicted - actual", y=Scale("examples")),
    )
