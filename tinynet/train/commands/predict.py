"""``tinynet predict RUN [FILE]``."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
from collections.abc import Generator
from pathlib import Path

from tinynet.base.invocation import command, shown
from tinynet.train.base.problems import UsageError
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.commands.options import TRAINED, WRITING, argument, declare, json_of, writing_of
from tinynet.train.loop.fit import as_evaluated
from tinynet.train.loop.splits import dataset_attribute
from tinynet.train.observe.progress import as_json
from tinynet.train.outputs import Row, are_classes, as_text, labelled, rows_of, sentence_of
from tinynet.train.prediction.answers import (
    Prompts,
    Words,
    answer,
    answers,
    is_word_vectors,
    kind_of,
    prompts_of,
)
from tinynet.train.prediction.inputs import ARRAYS, Kind, Numbers
from tinynet.train.prediction.trained import Trained
from tinynet.train.run.runner import find_checkpoint, load_run


@declare(
    "predict",
    "print the predictions of a run's model",
    *TRAINED,
    argument(
        "files",
        metavar="FILE",
        nargs="*",
        help="files, folders, or examples themselves (default: the test set); - reads lines",
    ),
    argument(
        "--count",
        type=int,
        at_least=1,
        metavar="N",
        help="only the first N examples (default: all)",
    ),
    json_of("one object per example"),
    *WRITING,
)
def run_command(arguments: argparse.Namespace) -> int:
    """Print the prediction of a run's model for each example of its test set, or for each FILE.

    The data set of the run decides what FILE may be. Images: files of any size, in color, gray or
    transparent, and folders of them; they are converted as the training images were (dark on light
    becomes light on dark if those are), and the conversion is printed. Tables: .csv or .parquet
    files with the columns of the training data, or a row as JSON or CSV; values are raw, and what
    was learned for the training data is applied. Labelled texts: .txt files, folders of them, or
    texts in quotes. Numbers: points such as 0.5,-0.2, and .csv, .npy or .npz files (one array,
    examples first; also for images). A language model continues --prompt, or the text of .txt
    files. Word vectors: words, whose nearest neighbours are printed. For an autoencoder, the
    difference from the input and the code are printed. A GAN has no predictions (see generate).
    With - as FILE, read standard input and answer each line at once.
    """
    if arguments.prompt is not None:
        return continue_prompt(arguments)
    trained = loaded(arguments)
    refuse_generators(trained, arguments.run)
    if arguments.files:
        kind = kind_for(trained, arguments)
        is_stream = arguments.files == ["-"]
        rows = of_lines(kind) if is_stream else answers(kind, arguments.files)
    elif is_word_vectors(trained):
        rows = of_vocabulary(kind_for(trained, arguments))
    else:
        rows = of_test_set(trained)
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
    elif "error" in row:
        print(f"{index}: error: {row['error']}", flush=True)
    else:
        source = ": ".join(row[key] for key in ("file", "conversion") if key in row)
        print(f"{index}: {sentence_of(row)}{f'  {source}' if source else ''}", flush=True)


def loaded(arguments: argparse.Namespace) -> Trained:
    """Return the run, without its data if they are not needed."""
    path, saved = find_checkpoint(arguments.run, best=arguments.best)
    needs_data = "preprocessing" not in saved and not has_own_words(path, arguments)
    return load_run(arguments.run, best=arguments.best, data=needs_data or not arguments.files)


def has_own_words(checkpoint: Path, arguments: argparse.Namespace) -> bool:
    """Return whether the inputs are texts or words for what the run folder has learned."""
    folder = RunFolder(checkpoint.parent)
    return (folder.tokenizer.exists() or folder.vocabulary.exists()) and not are_arrays(arguments)


def are_arrays(arguments: argparse.Namespace) -> bool:
    """Return whether all inputs are files of numbers."""
    return all(Path(name).suffix in ARRAYS for name in arguments.files)


def kind_for(trained: Trained, arguments: argparse.Namespace) -> Kind:
    """Return the kind of the inputs."""
    kind = kind_of(trained, writing_of(arguments))
    if isinstance(kind, Prompts | Words) and arguments.files and are_arrays(arguments):
        return Numbers(trained)  # the tokens themselves
    return kind


def refuse_generators(trained: Trained, place: str) -> None:
    """Raise a UsageError for a model that generates examples and has no predictions."""
    method = trained.config.method.component.target
    if not getattr(method, "compares", True) and callable(getattr(trained.model, "samples", None)):
        raise UsageError(
            f"the model of {shown(Path(place))} has no predictions: it generates examples, and its "
            f"outputs only distinguish them from real ones. To generate some: "
            f"{command('generate', place)}"
        )


def of_lines(kind: Kind) -> Generator[Row, None, None]:
    """Yield an answer for each line of standard input.

    A line with a mistake is answered with an error, so that answers and lines stay together.
    """
    with as_evaluated(kind.trained.model, kind.trained.config.run.seed):
        for line in map(str.strip, sys.stdin):
            if line and not kind.reader.is_header(line):
                yield answer(kind, line)


def of_vocabulary(kind: Kind) -> Generator[Row, None, None]:
    """Yield the neighbours of each word, the most frequent first."""
    assert isinstance(kind, Words)
    yield from map(kind.neighbours, kind.vocabulary)


def continue_prompt(arguments: argparse.Namespace) -> int:
    """Print the prompt and the model's continuation."""
    if arguments.files or arguments.count is not None:
        raise UsageError("--prompt cannot be combined with FILE or --count")
    if not arguments.prompt:
        raise UsageError(
            "--prompt is empty: a language model continues a prompt that is not empty. To begin "
            f"with a line break: {command('generate', arguments.run)}"
        )
    trained = load_run(arguments.run, best=arguments.best, data=False)
    row = prompts_of(trained, writing_of(arguments)).line(arguments.prompt)
    print(as_json(row) if arguments.json else row["text"])
    return 0


def of_test_set(trained: Trained) -> Generator[Row, None, None]:
    """Yield the predictions for the test set, with the targets."""
    parts = trained.parts
    tokenizer = dataset_attribute(parts.test_set, "tokenizer")
    compares = parts.method.compares and parts.config.data.targets != "inputs"
    with as_evaluated(parts.model, parts.config.run.seed):
        for inputs, targets in parts.test_batches:
            outputs, original = parts.model(inputs), parts.method.original
            known = original(targets) if compares else None
            rows = rows_of(original(outputs), known, classes=are_classes(outputs, targets))
            rows = as_text(labelled(rows, trained.classes), tokenizer)
            yield from trained.compared(rows, outputs, inputs)
