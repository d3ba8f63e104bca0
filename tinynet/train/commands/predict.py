"""``tinynet predict RUN [FILE]``."""

from __future__ import annotations

import argparse
import contextlib
import itertools
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import wrap
from tinynet.dtypes import Array
from tinynet.train.build.build import Parts, first_batch
from tinynet.train.build.shapes import shape_of
from tinynet.train.commands.options import add_json, add_trained
from tinynet.train.config.problems import TrainError, UsageError, in_users_code
from tinynet.train.report.generation import generate_text
from tinynet.train.report.predictions import Row, are_classes, rows_of, sentence_of
from tinynet.train.report.progress import as_json
from tinynet.train.running.loop import as_evaluated
from tinynet.train.running.runner import load_language_model, load_run

NAME = "predict"
HELP = "print the predictions of a run's model"
DESCRIPTION = """\
Print the prediction of a run's model for each example of its test set, or of a file of inputs: .npy
or .npz (one array, examples first) or .csv (numbers only, one example per line). With --prompt, a
language model continues the given text.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_trained(parser)
    parser.add_argument("file", metavar="FILE", nargs="?", help="inputs (default: the test set)")
    parser.add_argument(
        "--count", type=int, metavar="N", help="only the first N examples (default: all)"
    )
    add_json(parser, "one object per example")
    writing = parser.add_argument_group("for language models")
    writing.add_argument("--prompt", metavar="TEXT", help="the text to continue")
    writing.add_argument(
        "--length",
        type=int,
        default=300,
        metavar="N",
        help="number of tokens to generate (default: 300)",
    )
    writing.add_argument(
        "--temperature",
        type=float,
        default=0.8,
        metavar="T",
        help="values below 1 favor likely tokens; 0 always picks the likeliest (default: 0.8)",
    )
    writing.add_argument("--top-k", type=int, metavar="K", help="sample from the K likeliest only")
    writing.add_argument("--seed", type=int, default=0, help="the seed for sampling (default: 0)")


def run_command(arguments: argparse.Namespace) -> int:
    """Print one line per example."""
    if arguments.count is not None and arguments.count < 1:
        raise UsageError(f"--count must be at least 1, got {arguments.count}")
    if arguments.prompt is not None:
        return continue_prompt(arguments)
    parts = load_run(arguments.run, best=arguments.best).parts
    rows = of_test_set(parts) if arguments.file is None else of_file(parts, arguments.file)
    with contextlib.closing(rows):  # leaves eval mode at once, also if --count stops early
        for index, row in enumerate(itertools.islice(rows, arguments.count)):
            row = {"example": index, **row}
            print(as_json(row) if arguments.json else f"{index}: {sentence_of(row)}")
    return 0


def continue_prompt(arguments: argparse.Namespace) -> int:
    """Print the prompt and the model's continuation."""
    if arguments.file is not None or arguments.count is not None:
        raise UsageError("--prompt cannot be combined with FILE or --count")
    model, tokenizer = load_language_model(arguments.run, best=arguments.best)
    try:
        text = generate_text(
            model,
            tokenizer,
            arguments.prompt,
            arguments.length,
            temperature=arguments.temperature,
            top_k=arguments.top_k,
            seed=arguments.seed,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(as_json({"prompt": arguments.prompt, "text": text}) if arguments.json else text)
    return 0


def of_test_set(parts: Parts) -> Generator[Row, None, None]:
    """Yield the predictions for the test set, with the targets."""
    with as_evaluated(parts.model, parts.config.run.seed):
        for inputs, targets in parts.test_batches:
            outputs = parts.model(inputs)
            known = targets if parts.method.compares else None
            yield from rows_of(outputs, known, classes=are_classes(outputs, targets))


def of_file(parts: Parts, name: str) -> Generator[Row, None, None]:
    """Yield the predictions for the inputs in a file.

    Raises:
        UsageError: if they cannot be read, or their shape is not that of the data set.
    """
    example, targets = first_batch(parts, parts.test_set, 1)
    with as_evaluated(parts.model):
        classes = are_classes(parts.model(example), targets)
    array = read_inputs(Path(name))
    wanted = tuple(example.shape[1:])
    if array.shape == wanted:
        array = array[None]
    if array.ndim == 2 and array.shape[1:] == (int(np.prod(wanted)),):
        array = array.reshape(-1, *wanted)  # such as the rows of a table
    if array.shape[1:] != wanted or not len(array):
        raise UsageError(
            f"{name} has shape {[*array.shape]}, but must have [examples, {str([*wanted])[1:]}"
            f", because the inputs of the data set are {shape_of(example)}"
        )
    array = array.astype(example.numpy().dtype)
    with as_evaluated(parts.model, parts.config.run.seed):
        size = parts.config.data.batch_size
        for start in range(0, len(array), size):
            inputs = wrap(array[start : start + size])
            yield from _rows(parts, inputs, classes, name)


def _rows(parts: Parts, inputs: Any, classes: bool, name: str) -> list[Row]:
    try:
        outputs = parts.model(inputs)
    except Exception as error:
        raise TrainError(f"the model fails on {name}\n{in_users_code(error)}") from error
    return rows_of(outputs, classes=classes)


def read_inputs(path: Path) -> Array:
    """Return the array in a file.

    Raises:
        UsageError: if it cannot be read, or does not hold exactly one array of numbers.
    """
    try:
        if path.suffix == ".csv":
            array = np.loadtxt(path, delimiter=",", ndmin=2)
        else:
            with open(path, "rb") as file:
                loaded = np.load(file, allow_pickle=False)
                array = loaded if isinstance(loaded, np.ndarray) else _only(loaded)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # a damaged file can raise anything
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"{path} cannot be read: {text}") from None
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{path} holds {array.dtype}, not numbers")
    return array


def _only(archive: Any) -> Array:
    if len(archive.files) != 1:
        raise ValueError(f"it holds {len(archive.files)} arrays instead of one")
    array: Array = archive[archive.files[0]]
    return array
