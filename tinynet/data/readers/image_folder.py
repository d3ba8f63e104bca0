"""Folders of examples, above all of images, with one subfolder per class."""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from tinynet.core.tensors.tensor import wrap
from tinynet.data.dataset import Dataset
from tinynet.data.readers.files import FormatError, StrPath, errors_in, listed, raise_all
from tinynet.data.readers.image_encoding import Framing, ImageEncoder
from tinynet.data.readers.pillow import opaque_image, read_image, require_pillow, size_of_image
from tinynet.data.transforms.base import Compose
from tinynet.data.transforms.geometry import Side, height_and_width


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


EXTENSIONS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp")
_FRAMED = 20  # images whose framing is measured
_SECONDS = 5.0  # to look for more mistakes once there is one


class ImageFolder(DatasetFolder):
    """The images in a folder's subfolders: each subfolder is a class, its name the label.

    Sample ``i`` is ``(image, label)``: float32 of shape (channels, height, width) from 0 to 1, and
    a 0-d int64. Requires Pillow (``pip install pillow``), unless a ``loader`` is given.
    Images are read on access.

    Args:
        root: the folder with a subfolder for each class: ``root/cat/1.png``, ``root/dog/x/2.png``.
        transform: a function of the image.
        target_transform: a function of the label.
        loader: a function that loads an image, given its path, instead of Pillow.
        is_valid_file: a function of the path that selects the images (by default, the file name
            extensions of PNG, JPEG, BMP, GIF, PPM, TIFF and WebP).
        allow_empty: whether a class may have no images.
        mode: ``"RGB"``, ``"RGBA"`` or ``"L"`` (gray, one channel).
        size: resize all images to this height and width, or one number for both; otherwise they
            must all have the same size to form batches.
        augment: a function of the image, applied before the transform, in the training part only.
        train_transform: a function of the image that replaces ``transform`` in the training part.
        standardize: scale each channel to mean 0 and variance 1 after the transform, with the
            mean and deviation of the training part (without augmentation).
        test_root: a folder with the same classes, whose images are the test part.
        validation_root: another one, whose images are the validation part.

    The last five apply to the parts that ``divided`` returns, which a config trains and measures
    on. In the data set itself, the images of ``validation_root`` and then those of ``test_root``
    follow those of ``root``.

    Attributes:
        classes: the names of the classes.
        class_to_idx: their numbers.
        samples, imgs: pairs of a path and a class number.
        targets: the class numbers.
        preprocessing: from paths or arrays to a batch of inputs, as in the test part.

    Raises:
        FileNotFoundError: the folder does not exist, has no classes, or a class has no images.
        ModuleNotFoundError: Pillow is not installed.
        FormatError: (on access) an image is damaged.

    Example:
        >>> import pathlib, tempfile
        >>> root = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ("cat", "dog"):
        ...     (root / name).mkdir()
        ...     _ = (root / name / "0.png").write_bytes(b"")
        >>> data = tn.data.ImageFolder(root, loader=lambda path: tn.ones(3, 8, 8))
        >>> data.classes, data[1][0].shape, data[1][1]
        (['cat', 'dog'], tinynet.Size([3, 8, 8]), tensor(1))
    """

    def __init__(
        self,
        root: StrPath,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        loader: Callable[[str], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
        *,
        mode: Literal["RGB", "RGBA", "L"] = "RGB",
        size: Side | None = None,
        augment: Callable[[Any], Any] | None = None,
        train_transform: Callable[[Any], Any] | None = None,
        standardize: bool = False,
        test_root: StrPath | None = None,
        validation_root: StrPath | None = None,
    ):
        if mode not in ("RGB", "RGBA", "L"):
            raise ValueError(
                f"The 'mode' parameter of ImageFolder must be RGB, RGBA or L. Got {mode!r} instead."
            )
        shape = None if size is None else height_and_width(size, "ImageFolder")
        self._own_loader = loader
        if loader is None:
            require_pillow()
            loader = functools.partial(read_image, mode=mode, size=shape)
        extensions = EXTENSIONS if is_valid_file is None else None
        functions = transform, target_transform, is_valid_file
        super().__init__(root, loader, extensions, *functions, allow_empty)
        self.augment = augment
        self.train_transform = train_transform
        self.standardize = standardize
        self._ends = [len(self.samples)]  # of the training, validation and test part
        for part, place in (("validation", validation_root), ("test", test_root)):
            if place is not None:
                self._add(part, os.fspath(place))
            self._ends.append(len(self.samples))
        self.preprocessing = ImageEncoder(
            self.classes, mode, shape, transform=transform, loader=self._own_loader
        )

    @property
    def imgs(self) -> list[tuple[str, int]]:
        """``samples`` under torchvision's name."""
        return self.samples

    def own_split(self) -> tuple[list[int], list[int], list[int]]:
        """Return the indices for training, for ``validation_root`` and for ``test_root``."""
        first, second, third = self._ends
        return [*range(first)], [*range(first, second)], [*range(second, third)]

    def divided(
        self,
        train: Sequence[int],
        test: Sequence[int],
        state: Mapping[str, Any] | None = None,
    ) -> tuple[Self, Self]:
        """Return the training part, with augmentation, and the test part.

        Args:
            train: the indices of the images for training.
            test: those of the images for testing.
            state: the ``preprocessing.state_dict()`` to use, instead of learning it.

        Raises:
            FormatError: files are not images, or sizes differ and nothing makes them equal; the
                message has all of them.
            ValueError: the classes differ from those in ``state``.
        """
        encoder = self.preprocessing
        if state is None:
            raise_all(self._mistakes())
            encoder = replace(self._fitted(train), framing=self._framing(train))
        else:
            encoder = ImageEncoder.from_state_dict(state, self.transform, self._own_loader)
            if encoder.classes != self.classes:
                raise ValueError(
                    f"The folders in 'root' are the classes {', '.join(self.classes)}, but the "
                    f"model was trained for {', '.join(encoder.classes)}."
                )
        instead = self.transform if self.train_transform is None else self.train_transform
        steps = encoder.steps(self.augment, instead), encoder.steps(self.transform)
        return self._part(train, steps[0], encoder), self._part(test, steps[1], encoder)

    def _part(
        self, rows: Sequence[int], steps: list[Callable[[Any], Any]], encoder: ImageEncoder
    ) -> Self:
        part = copy.copy(self)
        part.samples = [self.samples[index] for index in rows]
        part.targets = [number for _, number in part.samples]
        part._ends = [len(part.samples)] * 3
        part.transform = Compose(steps) if steps else None
        part.preprocessing = encoder
        return part

    def _add(self, part: str, root: str) -> None:
        names, _ = self.find_classes(root)
        unknown = [name for name in names if name not in self.class_to_idx]
        tests = self._samples_in(root, {n: self.class_to_idx[n] for n in names if n not in unknown})
        if unknown or not tests:
            found = f"the classes {', '.join(unknown)}" if unknown else "no images"
            raise FileNotFoundError(
                f"{root}: the {part} images must be of the classes in {self.root} "
                f"({', '.join(self.classes)}), but it has {found}."
            )
        self.samples += tests
        self.targets = [number for _, number in self.samples]

    def _refuse_empty_classes(self) -> None:
        try:
            super()._refuse_empty_classes()
        except FileNotFoundError as error:  # with the other mistakes of the folder
            found = self._damaged([])
            raise FileNotFoundError("\n".join(map(str, [error, *found]))) from None

    def _fitted(self, train: Sequence[int]) -> ImageEncoder:
        if not self.standardize:
            return self.preprocessing
        paths = [self.samples[index][0] for index in train]
        try:
            return self.preprocessing.fitted(paths)
        except FormatError as error:  # with the mistakes of the test part
            errors = errors_in(error)
            raise_all([*errors, *self._damaged(errors, [*paths])])
            raise

    def _framing(self, train: Sequence[int]) -> Framing | None:
        """Return the framing of some training images, which other images get for predictions."""
        if self._own_loader is not None:
            return None
        every = max(1, len(train) // _FRAMED)
        images, transparent = [], False
        for index in train[::every]:
            with contextlib.suppress(FormatError, OSError):  # training names the file
                image, _, has_transparency = opaque_image(self.samples[index][0], "L")
                images.append(image)
                transparent |= has_transparency
        if self.preprocessing.mode == "L":
            return replace(Framing.of(images), transparent=transparent)
        return Framing(Framing.of(images).size, transparent=transparent)

    def _mistakes(self) -> list[FormatError]:
        """Return the errors for all files that are not images, or images of another size.

        The first bytes of each file are read, and only if there are mistakes, all of them.
        """
        if self._own_loader is not None:
            return []
        sizes = {path: _size_in(path) for path, _ in self.samples}
        found = [size for size in sizes.values() if isinstance(size, FormatError)]
        encoder = self.preprocessing
        steps = [encoder.size, self.transform, self.train_transform, self.augment]
        if all(step is None for step in steps):
            found += _of_other_sizes({p: s for p, s in sizes.items() if isinstance(s, tuple)})
        return [*found, *self._damaged(found)] if found else []

    def _damaged(
        self, known: Sequence[FormatError], read: Collection[str] = ()
    ) -> list[FormatError]:
        """Return more errors, found by reading whole files for a few seconds.

        Args:
            known: the errors found before.
            read: the paths of other files that have been read.
        """
        end, done = time.monotonic() + _SECONDS, {*read, *(error.path for error in known)}
        found = []
        for path, _ in self.samples:
            if path not in done and self._own_loader is None and time.monotonic() < end:
                try:
                    self.loader(path)
                except FormatError as error:
                    found.append(error)
                except OSError as error:
                    found.append(_not_readable(path, error))
        return found


def _of_other_sizes(sizes: Mapping[str, tuple[int, int]]) -> list[FormatError]:
    """Return the errors for images of other sizes than most."""
    if len({*sizes.values()}) < 2:
        return []
    (usual, _), *_ = Counter(sizes.values()).most_common(1)
    expected = f"{_pixels(usual)}, as most images ('size' or a transform makes them equal)"
    return [
        FormatError(path, expected, _pixels(size)) for path, size in sizes.items() if size != usual
    ]


def _size_in(path: str) -> tuple[int, int] | FormatError:
    try:
        return size_of_image(path)
    except FormatError as error:
        return error
    except OSError as error:
        return _not_readable(path, error)


def _not_readable(path: str, error: OSError) -> FormatError:
    return FormatError(path, "a file that can be read", str(error.strerror or error))


def _pixels(size: tuple[int, int]) -> str:
    return f"{size[0]} x {size[1]} pixels (height x width)"
