"""Checkpoints: nested plain data and arrays in an .npz file, without pickle anywhere.

The file is a zip archive: ``checkpoint.json`` holds the structure, each array is an .npy member
beside it, so `numpy.load` and `unzip` can look into it. Nothing in it can run code.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from tinynet.core.tensor import Tensor, wrap
from tinynet.train.folder import write_atomically
from tinynet.train.problems import TrainError

FORMAT = 1
"""The version of the format that is written; older ones are still read, newer ones refused."""

_KIND = "tinynet checkpoint"
_STRUCTURE = "checkpoint.json"


class CheckpointError(TrainError):
    """A checkpoint cannot be written or read; the message names the file and says why."""


def save(path: str | Path, content: dict[str, Any]) -> None:
    """Write a checkpoint; until it is complete, the one that was there before stays.

    Args:
        path: the file.
        content: dicts, lists and tuples of numbers, strings, None, Tensors and numpy arrays.
            Arrays that are one and the same are stored once.

    Raises:
        CheckpointError: something in it can only be pickled, or the disk is full.

    Example:
        >>> path = getfixture("tmp_path") / "checkpoint.npz"
        >>> save(path, {"epoch": 3, "model": nn.Linear(2, 1).state_dict()})
        >>> load(path)["model"]["weight"].shape
        tinynet.Size([1, 2])
    """
    arrays = _Arrays()
    structure = {"format": _KIND, "version": FORMAT, "content": arrays.encode(content, ())}
    text = json.dumps(structure, ensure_ascii=False, allow_nan=False).encode()
    try:
        write_atomically(Path(path), lambda file: _write_archive(file, text, arrays.stored))
    except OSError as error:
        reason = error.strerror or str(error)
        raise CheckpointError(f"{path} cannot be written ({reason})") from error


def load(path: str | Path) -> dict[str, Any]:
    """What `save` was given: equal numbers, Tensors as new leaves, shared arrays shared again.

    Raises:
        CheckpointError: there is no such file, it is damaged, or it is of a newer format.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            structure = json.loads(archive.read(_STRUCTURE))
            if structure["format"] != _KIND:
                raise ValueError(f"it is {structure['format']!r}")
            if structure["version"] > FORMAT:
                raise CheckpointError(
                    f"{path} was written by a newer tinynet: its format is "
                    f"{structure['version']}, this one reads up to {FORMAT}"
                )
            return _Decoder(archive).decode(structure["content"])
    except CheckpointError:
        raise
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # damage shows in as many ways as there are bytes
        reason = f"{type(error).__name__}: {error}"
        raise CheckpointError(f"{path} is not a checkpoint, or damaged ({reason})") from error


def _write_archive(file: IO[bytes], structure: bytes, arrays: dict[str, np.ndarray]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        # A fixed date, so that equal contents make equal files.
        archive.writestr(zipfile.ZipInfo(_STRUCTURE), structure)
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


class _Arrays:
    """Turns contents into JSON and sets the arrays in them aside."""

    def __init__(self) -> None:
        self.stored: dict[str, np.ndarray] = {}
        self._names: dict[Any, str] = {}

    def encode(self, value: Any, path: tuple[Any, ...]) -> Any:
        match value:
            case Tensor():
                return {"$tensor": self.store(value.detach().numpy(), path)}
            case np.ndarray():
                return {"$array": self.store(value, path)}
            case np.generic():
                return {"$scalar": self.store(np.asarray(value), path)}
            case None | bool() | int() | str():
                return value
            case float():
                return value if math.isfinite(value) else {"$float": repr(value)}
            case list():
                return [self.encode(item, (*path, i)) for i, item in enumerate(value)]
            case tuple():
                return {"$tuple": self.encode(list(value), path)}
            case dict():
                return self.encode_dict(value, path)
        place = "/".join(map(str, path))
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise CheckpointError(f"{place} is a {kind}, which a checkpoint cannot hold")

    def encode_dict(self, value: dict[Any, Any], path: tuple[Any, ...]) -> Any:
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: self.encode(item, (*path, key)) for key, item in value.items()}
        pairs = [
            [self.encode(key, (*path, key)), self.encode(item, (*path, key))]
            for key, item in value.items()
        ]
        return {"$dict": pairs}

    def store(self, array: np.ndarray, path: tuple[Any, ...]) -> str:
        """Keep an array under a readable name, once for all that are the same memory."""
        if array.dtype.hasobject:
            place = "/".join(map(str, path))
            raise CheckpointError(f"{place} is an array of objects, which could only be pickled")
        start = array.__array_interface__["data"][0]
        same = (start, array.shape, array.strides, array.dtype.str)
        if same not in self._names:
            name = "/".join(re.sub(r"[^\w.-]", "_", str(part)) for part in path)
            while name in self.stored:
                name += "_"
            self._names[same] = name
            self.stored[name] = array
        return self._names[same]


class _Decoder:
    """Puts contents together again."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.arrays: dict[str, np.ndarray] = {}
        self.tensors: dict[str, Tensor] = {}

    def decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        match value:
            case {"$tensor": str(name)}:
                if name not in self.tensors:
                    self.tensors[name] = wrap(self.array(name))
                return self.tensors[name]
            case {"$array": str(name)}:
                return self.array(name)
            case {"$scalar": str(name)}:
                return self.array(name)[()]
            case {"$float": str(text)}:
                return float(text)
            case {"$tuple": list(items)}:
                return tuple(self.decode(item) for item in items)
            case {"$dict": list(pairs)}:
                return {self.decode(key): self.decode(item) for key, item in pairs}
        return {key: self.decode(item) for key, item in value.items()}

    def array(self, name: str) -> np.ndarray:
        if name not in self.arrays:
            data = self.archive.read(f"{name}.npy")  # checks the CRC of the whole member
            self.arrays[name] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
        return self.arrays[name]
