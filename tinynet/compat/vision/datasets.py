"""``torchvision.datasets``: data sets of images in local files. tinynet downloads nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from tinynet import data
from tinynet.compat.vision.pillow import image_of
from tinynet.compat.vision.transforms.functional import to_pil_image
from tinynet.data import Dataset
from tinynet.data.readers.files import StrPath
from tinynet.data.readers.images import LabelledImages
from tinynet.data.readers.pillow import read_pillow, require_pillow
from tinynet.ops.creation.random import randint, randn
from tinynet.random import Generator

# ---- base ---------------------------------------------------------------------------------------
# The base class of torchvision's data sets.


class VisionDataset(Dataset[Any]):
    """Base class of data sets of images.

    Args:
        root: the folder of the data set.
        transforms: a function of an image and its target; or
        transform: a function of the image, and
        target_transform: a function of the target.

    Raises:
        ValueError: both kinds are given.

    Example:
        >>> from tinynet.compat.vision.datasets import VisionDataset
        >>> class One(VisionDataset):
        ...     def __len__(self):
        ...         return 1
        >>> One("data", transform=tn.abs)
        Dataset One
            Number of datapoints: 1
            Root location: data
            StandardTransform
        Transform: ...
    """

    def __init__(
        self,
        root: StrPath | None = None,
        transforms: Callable[..., Any] | None = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        self.root = None if root is None else os.path.expanduser(os.fspath(root))
        separate = transform is not None or target_transform is not None
        if transforms is not None and separate:
            raise ValueError(
                "Only transforms or transform/target_transform can be passed as argument"
            )
        self.transform = transform
        self.target_transform = target_transform
        self.transforms = StandardTransform(transform, target_transform) if separate else transforms

    def transformed(self, image: Any, target: Any) -> tuple[Any, Any]:
        """Return an image and its target after ``transform`` and ``target_transform``."""
        if self.transform is not None:
            image = self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def extra_repr(self) -> str:
        """Return more lines of the representation."""
        return ""

    def __repr__(self) -> str:
        lines = [f"Number of datapoints: {len(self)}"]  # type: ignore[arg-type]  # a subclass's
        lines += [] if self.root is None else [f"Root location: {self.root}"]
        lines += self.extra_repr().splitlines()
        if self.transforms is not None:
            lines += [repr(self.transforms)]
        head = f"Dataset {type(self).__name__}"
        return "\n".join([head, *(f"    {line}" for line in lines)])


class StandardTransform:
    """A function of an image and its target, from one of each.

    Args:
        transform: a function of the image.
        target_transform: a function of the target.
    """

    def __init__(
        self,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input: Any, target: Any) -> tuple[Any, Any]:
        if self.transform is not None:
            input = self.transform(input)
        return input, target if self.target_transform is None else self.target_transform(target)

    def __repr__(self) -> str:
        parts = {"Transform: ": self.transform, "Target transform: ": self.target_transform}
        lines = ["StandardTransform"]
        for title, function in parts.items():
            if function is not None:
                lines.append(title + repr(function).replace("\n", "\n" + " " * len(title)))
        return "\n".join(lines)


# ---- fake ---------------------------------------------------------------------------------------
# Random images with random classes.


class FakeData(VisionDataset):
    """Random images with random classes; the same ones each time.

    Args:
        size: the number of images.
        image_size: channels, height and width.
        num_classes: the number of classes.
        transform, target_transform: functions of the image and of the class.
        random_offset: added to an image's number, it seeds the image.

    Example:
        >>> from tinynet.compat.vision.datasets import FakeData
        >>> len(FakeData(5))
        5
    """

    def __init__(
        self,
        size: int = 1000,
        image_size: Sequence[int] = (3, 224, 224),
        num_classes: int = 10,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        random_offset: int = 0,
    ):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size, self.num_classes, self.image_size = size, num_classes, image_size
        self.random_offset = random_offset

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        generator = Generator().manual_seed(index + self.random_offset)
        image = randn(*self.image_size, generator=generator)
        target = int(randint(0, self.num_classes, (1,), generator=generator))
        return self.transformed(to_pil_image(image), target)

    def __len__(self) -> int:
        return self.size


# ---- folders ------------------------------------------------------------------------------------
# Folders with one subfolder per class.


IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def pil_loader(path: StrPath) -> Any:
    """Return the image in a file, in mode RGB.

    Raises:
        FormatError: the file is damaged or not an image.
        ModuleNotFoundError: Pillow is not installed.
    """
    require_pillow()
    return read_pillow(path)


default_loader = pil_loader


class DatasetFolder(VisionDataset, data.DatasetFolder):  # type: ignore[misc]  # root is no None
    """The files in a folder's subfolders: each subfolder is a class, its name the label.

    Sample ``i`` is ``(loader(path), class)``, with the class as an int.

    Args:
        root: the folder with a subfolder for each class.
        loader: a function that loads a file, given its path.
        extensions: load files with these extensions.
        transform, target_transform: functions of the loaded file and of the class.
        is_valid_file: a function of the path that selects the files, instead of ``extensions``.
        allow_empty: whether a class may have no files.

    Attributes:
        classes, class_to_idx: the names of the classes, and their numbers.
        samples: pairs of a path and a class number.
        targets: the class numbers.

    Raises:
        FileNotFoundError: the folder does not exist, has no classes, or a class has no files.
        ValueError: neither or both of ``extensions`` and ``is_valid_file`` are given.
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
        VisionDataset.__init__(self, root, transform=transform, target_transform=target_transform)
        options = (extensions, transform, target_transform, is_valid_file, allow_empty)
        data.DatasetFolder.__init__(self, self.root or "", loader, *options)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, number = self.samples[index]
        return self.transformed(self.loader(path), number)

    __len__ = data.DatasetFolder.__len__


class ImageFolder(DatasetFolder):
    """The images in a folder's subfolders: each subfolder is a class, its name the label.

    Sample ``i`` is a Pillow image in mode RGB and its class, an int.

    Args:
        root: the folder with a subfolder for each class: ``root/cat/1.png``.
        transform, target_transform: functions of the image and of the class.
        loader: a function that loads an image, given its path.
        is_valid_file: a function of the path that selects the images.
        allow_empty: whether a class may have no images.

    Attributes and errors are those of ``DatasetFolder``; ``imgs`` is another name of ``samples``.
    """

    def __init__(
        self,
        root: StrPath,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        loader: Callable[[str], Any] = default_loader,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ):
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        functions = (transform, target_transform, is_valid_file)
        super().__init__(root, loader, extensions, *functions, allow_empty)
        self.imgs = self.samples


# ---- in memory ----------------------------------------------------------------------------------
# MNIST, CIFAR and data sets in the same files.


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
