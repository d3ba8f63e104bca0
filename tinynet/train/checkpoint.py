"""Checkpoints: files of ``tinynet.save`` under a name of their own, with the trainer's errors.

The file is a zip archive: ``checkpoint.json`` holds the structure, each array is an .npy member
beside it, so `numpy.load` and `unzip` can look into it. Nothing in it can run code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tinynet.exchange.files import ExchangeError, opened, write_atomically
from tinynet.exchange.npz import CHECKPOINT, CHECKPOINT_KIND, VERSION, read_archive, write_archive
from tinynet.exchange.structure import Encoder, UnstorableError
from tinynet.train.problems import TrainError

FORMAT = VERSION
"""The version of the format that is written; older ones are still read, newer ones refused."""


class CheckpointError(TrainError):
    """A checkpoint cannot be written or read; the message names the file and says why."""


def save(path: str | Path, content: dict[str, Any]) -> None:
    """Write a checkpoint; until it is complete, the one that was there before stays.

    Args:
        path: the file.
        content: what ``tinynet.save`` stores, in a dict.

    Raises:
        CheckpointError: something in it can only be pickled, or the disk is full.

    Example:
        >>> path = getfixture("tmp_path") / "checkpoint.npz"
        >>> save(path, {"epoch": 3, "model": nn.Linear(2, 1).state_dict()})
        >>> load(path)["model"]["weight"].shape
        tinynet.Size([1, 2])
    """
    encoder = Encoder()
    try:
        encoded = encoder.encode(content)
    except UnstorableError as error:
        place = "/".join(map(str, error.path))
        raise CheckpointError(f"{place} {error.what}, which a checkpoint cannot hold") from error
    parts = (CHECKPOINT_KIND, CHECKPOINT, encoded, encoder.arrays)
    try:
        write_atomically(Path(path), lambda file: write_archive(file, *parts))
    except OSError as error:
        reason = error.strerror or str(error)
        raise CheckpointError(f"{path} cannot be written ({reason})") from error


def load(path: str | Path) -> dict[str, Any]:
    """What `save` was given: equal numbers, Tensors as new leaves, shared arrays shared again.

    Raises:
        CheckpointError: there is no such file, it is damaged, or it is of a newer format.
    """
    try:
        with opened(path) as file:
            return read_archive(file, str(path), {CHECKPOINT: CHECKPOINT_KIND})
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from None
    except ExchangeError as error:
        text = f"{path} is not a checkpoint, or damaged: expected {error.expected}, "
        raise CheckpointError(f"{text}found {error.found}") from error
