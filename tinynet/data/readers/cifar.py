"""CIFAR-10 and CIFAR-100 in their binary version."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import (
    FormatError,
    StrPath,
    first_existing,
    kind_of,
    opened,
    text_of,
)
from tinynet.data.readers.images import LabelledImages
from tinynet.dtypes import Array

_PIXELS = 3 * 32 * 32


class CIFAR10(LabelledImages):
    """CIFAR-10: 60,000 photographs of ten kinds of objects, 32x32 pixels, read from a folder.

    50,000 images are for training, 10,000 for testing. Sample ``i`` is ``(image, label)``: float32
    of shape (3, 32, 32) from 0 to 1, and a 0-d int64. The files are ``data_batch_1.bin`` to
    ``data_batch_5.bin`` and ``test_batch.bin`` of the *binary version*, each plain or with
    ``.gz``. (The other version consists of Python pickles, which can run any code and are never
    read.) tinynet downloads nothing.

    Args:
        root: the folder, or the parent of ``cifar-10-batches-bin``.
        train: True for the training images, False for the test images.
        transform: a function of the image, such as ``Normalize([0.5] * 3, [0.25] * 3)``.
        target_transform: a function of the label.
        augment: a function of training images only, applied before ``transform``, such as
            ``RandomCrop(32, padding=4)``.
        flatten: return images of shape (3072,) instead of (3, 32, 32).
        normalize: scale values to 0 to 1 instead of 0 to 255.

    Attributes:
        classes: the names of the classes.
        class_to_idx: their numbers.
        data: all images, uint8 of shape (N, 3, 32, 32).
        targets: all labels, int64 of shape (N,).

    Raises:
        FileNotFoundError: a file is missing; the message has the names that were looked for.
        FormatError: a file is truncated or has an invalid label.

    Source: A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images (2009),
    https://www.cs.toronto.edu/~kriz/cifar.html

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "test_batch.bin").write_bytes(bytes([3]) + bytes(3072))  # of class 3
        >>> test = tn.data.CIFAR10(folder, train=False)
        >>> image, label = test[0]
        >>> image.shape, test.classes[int(label)]
        (tinynet.Size([3, 32, 32]), 'cat')
    """

    classes: Sequence[str] = (
        *("airplane", "automobile", "bird", "cat", "deer"),
        *("dog", "frog", "horse", "ship", "truck"),
    )
    _folder = "cifar-10-batches-bin"
    _files: tuple[Sequence[str], Sequence[str]] = (
        [f"data_batch_{number}.bin" for number in range(1, 6)],
        ["test_batch.bin"],
    )
    _labels: Sequence[int] = (10,)

    def __init__(
        self,
        root: StrPath,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        augment: Callable[[Any], Any] | None = None,
        flatten: bool = False,
        normalize: bool = True,
    ):
        paths = [self._find(root, name) for name in self._files[0 if train else 1]]
        records = np.concatenate([_records(path, self._labels) for path in paths])
        images = records[:, len(self._labels) :].reshape(-1, 3, 32, 32)
        super().__init__(
            images,
            records[:, self._label_column()].astype(np.int64),
            transform=transform,
            target_transform=target_transform,
            augment=augment if train else None,
            flatten=flatten,
            normalize=normalize,
        )

    def _label_column(self) -> int:
        return 0

    @property
    def data(self) -> Tensor:
        """All images as stored in the files: uint8, shape (N, 3, 32, 32)."""
        return wrap(self._arrays[0])

    @classmethod
    def _find(cls, root: StrPath, name: str) -> str:
        folders = [root, os.path.join(root, cls._folder)]
        return first_existing(folders, [name, f"{name}.gz"], f"{cls.__name__} (binary version)")


class CIFAR100(CIFAR10):
    """CIFAR-100: 60,000 photographs of a hundred kinds of objects, read from a folder.

    Samples, parameters and attributes are those of ``CIFAR10``. The files are ``train.bin`` and
    ``test.bin``, in the folder or in ``cifar-100-binary`` inside it. Class names are read from
    ``fine_label_names.txt`` (``coarse_label_names.txt``) in the same folder; without that file
    they are numbers.

    Args:
        root, train, transform, target_transform, augment, flatten, normalize: as in ``CIFAR10``.
        coarse: use the 20 superclasses instead of the 100 classes.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "test.bin").write_bytes(bytes([2, 11]) + bytes(3072))
        >>> fine = tn.data.CIFAR100(folder, train=False)
        >>> coarse = tn.data.CIFAR100(folder, train=False, coarse=True)
        >>> fine[0][1], coarse[0][1]
        (tensor(11), tensor(2))
    """

    _folder = "cifar-100-binary"
    _files = (["train.bin"], ["test.bin"])
    _labels = (20, 100)  # a record begins with the coarse label and the fine one

    def __init__(
        self,
        root: StrPath,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        augment: Callable[[Any], Any] | None = None,
        flatten: bool = False,
        normalize: bool = True,
        coarse: bool = False,
    ):
        self._coarse = coarse
        super().__init__(root, train, transform, target_transform, augment, flatten, normalize)
        self.classes = self._names(root)

    def _label_column(self) -> int:
        return 0 if self._coarse else 1

    def _names(self, root: StrPath) -> Sequence[str]:
        name = f"{'coarse' if self._coarse else 'fine'}_label_names.txt"
        count = self._labels[self._label_column()]
        try:
            path = self._find(root, name)
        except FileNotFoundError:
            return [str(number) for number in range(count)]
        names = [line.strip() for line in text_of(path).splitlines() if line.strip()]
        if len(names) != count:
            raise FormatError(path, f"{count} names, one per line", str(len(names)))
        return names


def _records(path: str, labels: Sequence[int]) -> Array:
    """Return the records of a file: validated label bytes, then pixels."""
    size = len(labels) + _PIXELS
    with opened(path) as file:
        content = file.read()
    if not content or len(content) % size:
        found = f"{len(content)} bytes ({len(content) / size:.2f} records)"
        if ": " in kind_of(content[:9]):
            found += f", beginning with {kind_of(content[:9])}"
        expected = f"records of {size} bytes ({len(labels)} for labels, {_PIXELS} for pixels)"
        raise FormatError(path, expected, found)
    records = np.frombuffer(content, np.uint8).reshape(-1, size)
    for column, classes in enumerate(labels):
        wrong = np.flatnonzero(records[:, column] >= classes)
        if len(wrong):
            row = int(wrong[0])
            expected, found = f"a label from 0 to {classes - 1}", str(records[row, column])
            raise FormatError(path, expected, found, f"record {row} (byte {row * size + column})")
    return records
