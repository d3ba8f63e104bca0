"""``tinynet generate RUN [FILE]``."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tinynet.base.invocation import command, shown
from tinynet.board.summaries.pixels import png
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor
from tinynet.train import outputs
from tinynet.train.base.problems import TrainError, UsageError, did_you_mean, one_of
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.base.writing import write_bytes
from tinynet.train.commands.options import TRAINED, WRITING, argument, declare, writing_of
from tinynet.train.loop.fit import as_evaluated
from tinynet.train.prediction.answers import prompts_of
from tinynet.train.prediction.trained import Trained
from tinynet.train.run.runner import load_run
from tinynet.train.step.task import shape_of
from tinynet.train.store.storage import moment_of

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
def run_command(arguments: argparse.Namespace) -> int:
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


def _array(samples: Tensor) -> bytes:
    file = io.BytesIO()
    np.save(file, samples.numpy())
    return file.getvalue()


def _rows(samples: Tensor) -> bytes:
    file = io.StringIO()
    np.savetxt(file, samples.numpy().reshape(len(samples), -1), delimiter=",", fmt="%.7g")
    return file.getvalue().encode()


ENCODERS: dict[str, Callable[[Tensor], bytes]] = {
    ".png": lambda samples: png(outputs.grid(samples)),
    ".npy": _array,
    ".csv": _rows,
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
