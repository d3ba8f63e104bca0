"""``tinynet predict`` and ``generate``: what the model of a run answers, and what it writes."""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import sys
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tinynet.base.invocation import command, shown
from tinynet.board.summaries.pixels import png
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor
from tinynet.train import outputs
from tinynet.train.base.files import write_bytes
from tinynet.train.base.problems import TrainError, UsageError, did_you_mean, one_of
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
from tinynet.train.step.task import shape_of
from tinynet.train.store.storage import moment_of


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
def predict_command(arguments: argparse.Namespace) -> int:
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


# ---- generate ----


START = "\n"
"""The prompt of a text that the user gives no prompt for."""


@declare(
    "generate",
    "write new examples of a run's model to a file",
    *TRAINED,
    argument("file", metavar="FILE", nargs="?", help="a .png, .npy, .csv or .txt file"),
    argument(
        "--count",
        type=int,
        at_least=1,
        metavar="N",
        help="number of examples (default: 64; of texts, 1)",
    ),
    argument("--force", action="store_true", help="replace an existing file"),
    *WRITING,
)
def generate_command(arguments: argparse.Namespace) -> int:
    """Write new examples that a generative model makes.

    A model with a method samples(count), such as GAN and VAE, makes images, which go to a .png file
    as a grid (default: samples.png in the run folder) or to an .npy file as an array; other
    examples go to a .csv or .npy file. A language model writes texts to a .txt file (default:
    samples.txt in the run folder) and prints them; without --prompt, they begin with a line break.
    """
    if arguments.file and Path(arguments.file).exists() and not arguments.force:
        raise UsageError(f"{arguments.file} already exists; --force replaces it")
    trained = load_run(arguments.run, best=arguments.best, data=False)
    writes = write_samples if makes_samples(trained) else write_texts
    if writes is write_texts and not RunFolder(trained.checkpoint.parent).tokenizer.exists():
        raise UsageError(
            f"the model of {arguments.run} generates nothing: generate is for language models, and "
            f"for models with a method samples(count), such as GAN and VAE. For predictions: "
            f"{command('predict', arguments.run)}"
        )
    path, text = writes(trained, arguments)
    print(f"{shown(path)}: {text}, from {moment_of(trained.saved)}")
    return 0


def makes_samples(trained: Trained) -> bool:
    """Return whether a model has a method ``samples(count)``."""
    return callable(getattr(trained.model, "samples", None))


def target(trained: Trained, arguments: argparse.Namespace, endings: tuple[str, ...]) -> Path:
    """Return the file to write, by default one in the run folder.

    Raises:
        UsageError: its name ends in none of these.
    """
    if not arguments.file:
        return trained.checkpoint.parent / f"samples{endings[0]}"
    path = Path(arguments.file)
    if path.suffix not in endings:
        hint = did_you_mean(path.suffix, endings)
        raise UsageError(f"{path} must end in {one_of(endings).replace(', ', ' or ')}{hint}")
    return path


# ---- examples ----


def write_samples(trained: Trained, arguments: argparse.Namespace) -> tuple[Path, str]:
    """Write the examples; return the file, and in words what is in it.

    Raises:
        TrainError: the model fails, or makes something else.
    """
    count = arguments.count or 64
    model: Any = trained.model
    with as_evaluated(model, arguments.seed):
        samples = model.samples(count)
    if not isinstance(samples, Tensor) or not samples.ndim or len(samples) != count:
        name = type(model).__name__
        raise TrainError(
            f"{name}.samples({count}) must be {quantity(count, 'example')}, is {shape_of(samples)}"
        )
    are_images = outputs.are_images(samples)
    path = target(trained, arguments, (".png", ".npy") if are_images else (".csv", ".npy"))
    write_bytes(path, ENCODERS[path.suffix](samples))
    one = f"{samples.shape[3]} x {samples.shape[2]} image" if are_images else "example"
    return path, quantity(count, one)


def _as_npy(samples: Tensor) -> bytes:
    file = io.BytesIO()
    np.save(file, samples.numpy())
    return file.getvalue()


def _as_csv(samples: Tensor) -> bytes:
    file = io.StringIO()
    np.savetxt(file, samples.numpy().reshape(len(samples), -1), delimiter=",", fmt="%.7g")
    return file.getvalue().encode()


ENCODERS: dict[str, Callable[[Tensor], bytes]] = {
    ".png": lambda samples: png(outputs.grid(samples)),
    ".npy": _as_npy,
    ".csv": _as_csv,
}
"""The function that encodes examples, for each file extension."""


# ---- texts ----


def write_texts(trained: Trained, arguments: argparse.Namespace) -> tuple[Path, str]:
    """Write and print the texts; return the file, and in words what is in it."""
    path = target(trained, arguments, (".txt",))
    writing, count = writing_of(arguments), arguments.count or 1
    texts = []
    for number in range(count):
        one = replace(writing, seed=writing.seed + number)
        row = prompts_of(trained, one).line(arguments.prompt or START)
        texts.append(row["text"].removeprefix("" if arguments.prompt else START))
    text = "\n\n".join(texts) + "\n"
    write_bytes(path, text.encode())
    print(text)
    return path, quantity(count, "text")
