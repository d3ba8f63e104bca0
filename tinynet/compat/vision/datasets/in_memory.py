"""MNIST, CIFAR and data sets in the same files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from tinynet import data
from tinynet.compat.vision.datasets.base import VisionDataset
from tinynet.compat.vision.images import image_of
from tinynet.data.readers.files import StrPath
from tinynet.data.readers.images import LabelledImages


class _InMemory(VisionDataset):
    """Base class of data sets of small images that a reader of tinynet loads."""

    reader: Callable[[str, bool], LabelledImages]
    classes: Sequence[str] = ()

    def __init__(
        self,
        root: StrPath,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        download: bool = False,
    ):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        folder = os.fspath(self.root or "")
        try:
            read = self.reader(self.folder_of(folder), train)
        except FileNotFoundError:
            raise RuntimeError(self._missing(folder, download)) from None
        self.classes = list(read.classes)
        self.data, self.targets = self.contents(read)

    def folder_of(self, root: str) -> str:
        """Return the folder to look in."""
        return root

    def contents(self, read: Any) -> tuple[Any, Any]:
        """Return all images and all targets, as torchvision keeps them."""
        raise NotImplementedError

    def needed(self, root: str) -> str:
        """Return the files that the data set consists of, and where they belong."""
        raise NotImplementedError

    def _missing(self, root: str, download: bool) -> str:
        asked = "download=True has no effect: " if download else ""
        return f"Dataset not found. {asked}tinynet downloads nothing. Put {self.needed(root)}."

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class."""
        return {name: number for number, name in enumerate(self.classes)}

    def image(self, index: int) -> Any:
        """Return an image, before its transform."""
        return image_of(self.data[index])

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self.transformed(self.image(index), int(self.targets[index]))

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        """Return which part of the data set it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


class MNIST(_InMemory):
    """MNIST, from its four files in ``root/MNIST/raw``, or in ``root`` itself.

    Sample ``i`` is a Pillow image (28 x 28 bytes, mode L) and its class, an int.

    Args:
        root: the folder.
        train: True for the training images, False for the test images.
        transform: a function of the image, such as ``ToTensor()``.
        target_transform: a function of the class.
        download: without effect; tinynet downloads nothing.

    Attributes:
        data: all images, a uint8 tensor of shape (N, 28, 28).
        targets: all classes, an int64 tensor.
        classes, class_to_idx: the names of the classes, and their numbers.

    Raises:
        RuntimeError: files are missing; the message has their names and their place.
        FormatError: a file is damaged.

    Example:
        >>> from tinynet.compat.vision.datasets import MNIST
        >>> MNIST("no/such/folder", download=True)
        Traceback (most recent call last):
        RuntimeError: Dataset not found. download=True has no effect: tinynet downloads nothing...
    """

    reader: Callable[[str, bool], LabelledImages] = data.MNIST
    source = data.MNIST.source

    def folder_of(self, root: str) -> str:
        """Return ``root``, or the folder in it that is named like the class."""
        inside = os.path.join(root, type(self).__name__, "raw")
        return inside if os.path.isdir(inside) and os.listdir(inside) else root

    @property
    def raw_folder(self) -> str:
        """The folder in which torchvision keeps the files."""
        return os.path.join(self.root or "", type(self).__name__, "raw")

    def contents(self, read: Any) -> tuple[Any, Any]:
        """Return all images and all targets, as tensors."""
        return read.data, read.targets

    def image(self, index: int) -> Any:
        """Return an image, before its transform."""
        return image_of(self.data[index].numpy(), "L")

    def needed(self, root: str) -> str:
        """Return the names of the files, and their folder."""
        names = [
            f"{part}-{what}-ubyte"
            for part in ("train", "t10k")
            for what in ("images-idx3", "labels-idx1")
        ]
        return f"{', '.join(names)} (plain or .gz) into {self.raw_folder}. {self.source}"


class FashionMNIST(MNIST):
    """Fashion-MNIST, from its four files in ``root/FashionMNIST/raw``, or in ``root`` itself.

    Arguments, attributes and errors are those of ``MNIST``.
    """

    reader, source = data.FashionMNIST, data.FashionMNIST.source


class _KuzushijiFiles(data.MNIST):
    """The reader of Kuzushiji-MNIST."""

    classes = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")
    source = "The files are at https://codh.rois.ac.jp/kmnist/."


class KMNIST(MNIST):
    """Kuzushiji-MNIST, from its four files in ``root/KMNIST/raw``, or in ``root`` itself.

    Arguments, attributes and errors are those of ``MNIST``.

    Source: T. Clanuwat et al., Deep Learning for Classical Japanese Literature (2018),
    https://arxiv.org/abs/1812.01718
    """

    reader, source = _KuzushijiFiles, _KuzushijiFiles.source


class CIFAR10(_InMemory):
    """CIFAR-10, from the files of its binary version in ``root`` or ``root/cifar-10-batches-bin``.

    Sample ``i`` is a Pillow image (32 x 32, mode RGB) and its class, an int. The files that
    torchvision reads are Python pickles, which can run any code; tinynet never reads them.

    Args:
        root, train, transform, target_transform, download: as for ``MNIST``.

    Attributes:
        data: all images, a uint8 array of shape (N, 32, 32, 3).
        targets: all classes, a list of ints.
        classes, class_to_idx: the names of the classes, and their numbers.

    Raises:
        RuntimeError: files are missing; the message has their names and their place.
        FormatError: a file is damaged.
    """

    reader = data.CIFAR10
    _archive, _folder = "cifar-10-binary.tar.gz", "cifar-10-batches-bin"

    def contents(self, read: Any) -> tuple[Any, Any]:
        """Return all images as an array, and all targets as a list."""
        return read.data.numpy().transpose(0, 2, 3, 1), read.targets.tolist()

    def needed(self, root: str) -> str:
        """Return the names of the files, and their folder."""
        folder = os.path.join(root, self._folder)
        return (
            f"the .bin files of the binary version into {folder}: unpack "
            f"https://www.cs.toronto.edu/~kriz/{self._archive} in {root}"
        )


class CIFAR100(CIFAR10):
    """CIFAR-100, from the files of its binary version in ``root`` or ``root/cifar-100-binary``.

    Arguments, attributes and errors are those of ``CIFAR10``.
    """

    reader = data.CIFAR100
    _archive, _folder = "cifar-100-binary.tar.gz", "cifar-100-binary"
