"""Folders with one subfolder per class."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import wrap
from tinynet.data.dataset import Dataset
from tinynet.data.readers.files import StrPath, listed


class DatasetFolder(Dataset[tuple[Any, ...]]):
    """The files in a folder's subfolders: each subfolder is a class, its name the label.

    Sample ``i`` is ``(loader(path), label)``, with the label as 0-d int64. Files may be nested
    deeper in the folder of a class. Classes, and the files of a class, are sorted by name.

    Args:
        root: the folder with a subfolder for each class.
        loader: a function that loads a file, given its path.
        extensions: load files with these extensions: ``(".npy", ".png")``.
        transform: a function of the loaded file.
        target_transform: a function of the label.
        is_valid_file: a function of the path that selects the files to load, instead of
            ``extensions``.
        allow_empty: whether a class may have no files.

    Attributes:
        classes: the names of the classes.
        class_to_idx: their numbers.
        samples: pairs of a path and a class number.
        targets: the class numbers.

    Raises:
        FileNotFoundError: the folder does not exist, has no classes, or a class has no files.
        ValueError: neither or both of ``extensions`` and ``is_valid_file`` are given.

    Example:
        >>> import pathlib, tempfile
        >>> root = pathlib.Path(tempfile.mkdtemp())
        >>> for name, row in {"cat": [1, 2], "dog": [3, 4]}.items():
        ...     (root / name).mkdir()
        ...     np.save(root / name / "0.npy", np.array(row))
        >>> data = tn.data.DatasetFolder(root, lambda path: tn.tensor(np.load(path)), (".npy",))
        >>> data.classes, data[1]
        (['cat', 'dog'], (tensor([3, 4]), tensor(1)))
    """

    def __init__(
        self,
        root: StrPath,
        loader: Callable[[str], Any],
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ):
        if (extensions is None) == (is_valid_file is None):
            raise ValueError(
                "Both extensions and is_valid_file cannot be None or not None at the same time"
            )
        self.root = os.fspath(root)
        self.loader = loader
        self.extensions = (extensions,) if isinstance(extensions, str) else extensions
        self.transform = transform
        self.target_transform = target_transform
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self._is_valid = self._has_extension if is_valid_file is None else is_valid_file
        self.samples = self._samples_in(self.root, self.class_to_idx)
        self.targets = [number for _, number in self.samples]
        if not allow_empty:
            self._refuse_empty_classes()

    @staticmethod
    def find_classes(directory: StrPath) -> tuple[list[str], dict[str, int]]:
        """Return the names of the classes in a folder, and their numbers."""
        classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        if not classes:
            raise FileNotFoundError(
                f"Couldn't find any class folder in {os.fspath(directory)}. "
                f"It has: {listed(sorted(os.listdir(directory)), 8)}."
            )
        return classes, {name: number for number, name in enumerate(classes)}

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        path, number = self.samples[index]
        sample, label = self.loader(path), wrap(np.array(number))
        return (
            sample if self.transform is None else self.transform(sample),
            label if self.target_transform is None else self.target_transform(label),
        )

    def location(self, index: int) -> str:
        """Return the path of a sample, for messages."""
        return self.samples[index][0]

    def _samples_in(self, root: str, numbers: Mapping[str, int]) -> list[tuple[str, int]]:
        """Return the paths of the files in the folders of classes, with the classes' numbers."""
        return [
            (path, number)
            for name, number in numbers.items()
            for path in files_in(os.path.join(root, name))
            if self._is_valid(path)
        ]

    def _has_extension(self, path: str) -> bool:
        return path.lower().endswith(tuple(end.lower() for end in self.extensions or ()))

    def _refuse_empty_classes(self) -> None:
        filled = set(self.targets)
        empty = [name for name, number in self.class_to_idx.items() if number not in filled]
        if empty:
            known = f"Supported extensions are: {', '.join(self.extensions or ())}"
            raise FileNotFoundError(
                f"Found no valid file for the classes {', '.join(empty)}. "
                + (known if self.extensions else "The function 'is_valid_file' took none.")
            )


def files_in(folder: str) -> Iterator[str]:
    """Return the paths of all files in a folder and its subfolders, in order."""
    for place, inner, files in os.walk(folder, followlinks=True):
        inner.sort()
        yield from (os.path.join(place, name) for name in sorted(files))
