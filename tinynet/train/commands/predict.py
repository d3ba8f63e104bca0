"""``tinynet predict RUN [FILE]``."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
from collections.abc import Generator, Sequence
from pathlib import Path

from tinynet.train.commands.options import add_json, add_trained
from tinynet.train.commands.raw_inputs import LineReader, files_of, is_example, read_inputs
from tinynet.train.config.problems import TrainError, UsageError
from tinynet.train.report.generation import generate_text
from tinynet.train.report.predictions import Row, are_classes, labelled, rows_of, sentence_of
from tinynet.train.report.progress import as_json
from tinynet.train.running.loop import as_evaluated
from tinynet.train.running.runner import find_checkpoint, load_language_model, load_run
from tinynet.train.running.trained import Trained

NAME = "predict"
HELP = "print the predictions of a run's model"
DESCRIPTION = """\
Print the prediction of a run's model for each example of its test set, or of files: a .csv or
.parquet table with the columns of the training data (raw values: what was learned for the training
data is applied), images or folders of them for a model of images, .txt files or folders of them for
a model of texts, and for other models .npy or .npz (one array, examples first) or .csv (numbers
only). With - as FILE, read standard input and answer each line at once: a JSON object or list, a
CSV line, the path of an image, or a text. With --prompt, a language model continues the given text.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_trained(parser)
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help="inputs (default: the test set); - reads lines"
    )
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
    if arguments.files == ["-"]:
        return answer_lines(arguments)
    rows = of_files(arguments) if arguments.files else of_test_set(arguments)
    failed = False
    with contextlib.closing(rows):  # leaves eval mode at once, also if --count stops early
        for index, row in enumerate(itertools.islice(rows, arguments.count)):
            print_row(index, row, arguments.json)
            failed |= "error" in row
    return int(failed)


def print_row(index: int, row: Row, json: bool) -> None:
    """Print a prediction, for programs or for people."""
    row = {"example": index, **row}
    if json:
        print(as_json(row), flush=True)
    else:
        text = f"error: {row['error']}" if "error" in row else sentence_of(row)
        file = f"  {row['file']}" if "file" in row and "error" not in row else ""
        print(f"{index}: {text}{file}", flush=True)


def answer_lines(arguments: argparse.Namespace) -> int:
    """Print one answer for each line of standard input; return 1 if a line has a mistake.

    A line with a mistake is answered with an error, so that answers and lines stay together.
    """
    trained = loaded(arguments, needs_data=False)
    reader, failed = LineReader(trained), False
    lines = (line.strip() for line in sys.stdin)
    rows = (line for line in lines if line and not reader.is_header(line))
    for index, line in enumerate(itertools.islice(rows, arguments.count)):
        try:
            (row,) = trained.predict([reader.row(line)])
        except (TrainError, ValueError) as error:
            row, failed = {"error": str(error)}, True
        print_row(index, row, arguments.json)
    return int(failed)


def loaded(arguments: argparse.Namespace, *, needs_data: bool) -> Trained:
    """Return the run, without its data if they are not needed."""
    if not needs_data:
        _, saved = find_checkpoint(arguments.run, best=arguments.best)
        needs_data = "preprocessing" not in saved
    return load_run(arguments.run, best=arguments.best, data=needs_data)


def continue_prompt(arguments: argparse.Namespace) -> int:
    """Print the prompt and the model's continuation."""
    if arguments.files or arguments.count is not None:
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


def of_test_set(arguments: argparse.Namespace) -> Generator[Row, None, None]:
    """Yield the predictions for the test set, with the targets."""
    trained = loaded(arguments, needs_data=True)
    parts = trained.parts
    with as_evaluated(parts.model, parts.config.run.seed):
        for inputs, targets in parts.test_batches:
            outputs, original = parts.model(inputs), parts.method.original
            known = original(targets) if parts.method.compares else None
            rows = rows_of(original(outputs), known, classes=are_classes(outputs, targets))
            yield from labelled(rows, trained.classes)


def of_files(arguments: argparse.Namespace) -> Generator[Row, None, None]:
    """Yield the predictions for the inputs in files.

    Raises:
        UsageError: if they cannot be read, or do not fit the data set.
    """
    trained = loaded(arguments, needs_data=False)
    size = trained.config.data.batch_size
    paths = files_of(trained, arguments.files)
    with as_evaluated(trained.model, trained.config.run.seed):
        for are_examples, group in itertools.groupby(paths, lambda path: is_example(trained, path)):
            while batch := [*itertools.islice(group, size if are_examples else 1)]:
                if are_examples:
                    yield from of_examples(trained, batch)
                    continue
                inputs = read_inputs(trained, batch)
                for start in range(0, len(inputs), size):
                    yield from trained.rows_for(inputs[start : start + size], str(batch[0]))


def of_examples(trained: Trained, paths: Sequence[Path]) -> list[Row]:
    """Return the predictions for files that are one example each; errors for broken ones."""
    try:
        rows = trained.rows_for(read_inputs(trained, paths), ", ".join(map(str, paths)))
    except UsageError as error:
        if len(paths) > 1:
            return [row for path in paths for row in of_examples(trained, [path])]
        rows = [{"error": str(error)}]
    return [{**row, "file": str(path)} for row, path in zip(rows, paths, strict=True)]
