"""Small labelled images that fit into memory: IDX files (MNIST), CIFAR-10 and CIFAR-100."""

import math
import os
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import (
    FormatError,
    StrPath,
    first_existing,
    kind_of,
    opened,
    read_up_to,
    text_of,
)
from tinynet.data.readers.table_rows import Rows
from tinynet.data.transforms import Compose, ToDtype, Transform
from tinynet.dtypes import Array
from tinynet.kernels.strides import MOST_DIMENSIONS, array_in


class LabelledImages(Rows[tuple[Tensor, Tensor]]):
    """Images stored in memory as bytes and returned as float32, with their labels.

    Args:
        images: uint8, shape (N, channels, height, width).
        labels: int64, shape (N,).
        transform, target_transform: functions of the image and of the label.
        augment: a function of the image, applied before ``transform``.
        flatten: return images as vectors.
        normalize: scale values to 0 to 1 instead of 0 to 255.
    """

    classes: Sequence[str] = ()

    def __init__(
        self,
        images: Array,
        labels: Array,
        *,
        transform: Callable[[Any], Any] | None,
        target_transform: Callable[[Any], Any] | None,
        augment: Callable[[Any], Any] | None,
        flatten: bool,
        normalize: bool,
    ):
        floats = ToDtype(dtypes.float32, scale=normalize)
        last = _Flatten() if flatten else None
        chain, plain = (_chain(floats, one, transform, last) for one in (augment, None))
        super().__init__([images, labels], chain, target_transform)
        self._plain = plain

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The channels, height and width of an image, also if it is flattened."""
        return self._arrays[0].shape[1:]

    @property
    def targets(self) -> Tensor:
        """The labels of all images, in order."""
        return wrap(self._arrays[1])

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class."""
        return {name: number for number, name in enumerate(self.classes)}

    @classmethod
    def _check_labels(cls, labels: Array, path: StrPath) -> None:
        """Refuse labels without a class."""
        wrong = np.flatnonzero((labels < 0) | (labels >= len(cls.classes)))
        if len(wrong):
            row = int(wrong[0])
            expected = f"labels from 0 to {len(cls.classes) - 1}"
            raise FormatError(path, expected, str(labels[row]), f"row {row}")


def _chain(*steps: Any) -> Compose:
    return Compose([part for step in steps for part in _parts(step)])


def _parts(step: Any) -> list[Any]:
    """Return the steps inside a transform, so that each can be applied to whole batches."""
    if type(step) is Compose:
        return [part for inner in step.transforms for part in _parts(inner)]
    return [] if step is None else [step]


class _Flatten(Transform):
    """Merges channels, height and width into one dimension."""

    batched = True

    def __call__(self, image: Tensor) -> Tensor:
        array = image._array
        return wrap(array.reshape(*array.shape[:-3], -1))


# The third byte of a file -> the dtype of its numbers, which are big-endian.
_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_MAGIC = "the magic number 00 00 TT DD of an IDX file (TT = type: {}; DD = dimensions)".format(
    ", ".join(f"{code:02x}" for code in _TYPES)
)


def read_idx(path: StrPath) -> Tensor:
    """Return the contents of an IDX file as a tensor with the file's dtype and shape.

    Args:
        path: the file; decompressed if its name ends in ``.gz``.

    Raises:
        FormatError: it is truncated, too long, or not an IDX file.

    Source: Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database: the IDX file format.

    Example:
        >>> import tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "x.idx1")
        >>> with open(path, "wb") as file:
        ...     _ = file.write(bytes([0, 0, 8, 1, 0, 0, 0, 3]) + bytes([5, 6, 7]))
        >>> tn.data.read_idx(path)
        tensor([5, 6, 7], dtype=tinynet.uint8)
    """
    return wrap(_read(path))


def _read(path: StrPath, rank: int | None = None) -> Array:
    """Return the array in an IDX file; ``rank`` is its required number of dimensions, if given."""
    with opened(path) as file:
        dtype, shape = _header(path, file, rank)
        size = math.prod(shape) * dtype.itemsize
        content = read_up_to(file, size)
        rest = b"" if len(content) < size else file.read(1)
    if len(content) != size or rest:
        found = "more" if rest else str(len(content))
        expected = f"{size} bytes after the header, for the shape {list(shape)} that it states"
        raise FormatError(path, expected, found)
    try:
        array = array_in(content, shape, dtype)
    except ValueError:  # sizes of 0 together with sizes whose product overflows in numpy
        raise FormatError(path, "valid array sizes", str(list(shape)), "header") from None
    return array.astype(dtype.newbyteorder("="))  # a writable copy


def _header(path: StrPath, file: IO[bytes], rank: int | None) -> tuple[Any, tuple[int, ...]]:
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _TYPES:
        raise FormatError(path, _MAGIC, kind_of(magic))
    if magic[3] > MOST_DIMENSIONS:
        expected = f"at most {MOST_DIMENSIONS} dimensions"
        raise FormatError(path, expected, str(magic[3]), "magic number")
    if rank is not None and magic[3] != rank:
        expected = f"{rank} dimensions ({'labels' if rank == 1 else 'images'})"
        raise FormatError(path, expected, f"{magic[3]}", "magic number")
    sizes = file.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise FormatError(path, f"{magic[3]} sizes of 4 bytes", f"{len(sizes)} bytes", "header")
    return np.dtype(_TYPES[magic[2]]), tuple(np.frombuffer(sizes, ">u4").tolist())


class IDX(Rows[tuple[Tensor, Tensor]]):
    """The rows of an IDX file, optionally with labels from a second file.

    Sample ``i`` is ``(row, label)``: the row with the file's dtype and any shape, the label as
    int64; without ``labels`` it is ``(row,)``. For images in MNIST's own files, use ``MNIST``.

    Args:
        data: a file, plain or ``.gz``.
        labels: a one-dimensional file of the same length.
        transform: a function of the row, such as ``ConvertImageDtype(tn.float32)``.
        target_transform: a function of the label.

    Raises:
        FormatError: a file is damaged or not an IDX file, or the lengths differ.

    See ``read_idx`` for the format.

    Example:
        >>> import tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "x.idx2")
        >>> with open(path, "wb") as file:
        ...     _ = file.write(bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6]))
        >>> tn.data.IDX(path)[1]
        (tensor([4, 5, 6], dtype=tinynet.uint8),)
    """

    def __init__(
        self,
        data: StrPath,
        labels: StrPath | None = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        rows = _read(data)
        if not rows.ndim:
            raise FormatError(data, "at least one dimension", "none", "magic number")
        arrays = [rows] if labels is None else [rows, _labels(labels, data, len(rows))]
        super().__init__(arrays, transform, target_transform)


def _labels(path: StrPath, images: StrPath, count: int) -> Array:
    labels = _read(path, rank=1)
    if labels.dtype.kind not in "iu":
        raise FormatError(path, "integers as labels", labels.dtype.name, "magic number")
    if len(labels) != count:
        raise FormatError(path, f"{count} labels, one per image in {images}", str(len(labels)))
    return labels.astype(np.int64)


class MNIST(LabelledImages):
    """MNIST, or another image data set in four IDX files of the same names, from a folder.

    Sample ``i`` is ``(image, label)``: float32 of shape (1, 28, 28) from 0 to 1, and a 0-d int64.
    The files are ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``, and the same with
    ``t10k`` for ``train``, each plain or with ``.gz``; a dot in place of the dash before ``idx``
    is accepted. tinynet downloads nothing.

    Args:
        root: the folder (or the parent of ``MNIST/raw``, torchvision's layout).
        train: True for the training images, False for the test images.
        transform: a function of the image, such as ``Normalize([0.13], [0.31])``.
        target_transform: a function of the label.
        augment: a function of training images only, applied before ``transform``, such as
            ``RandomCrop(28, padding=2)``.
        flatten: return images of shape (784,) instead of (1, 28, 28).
        normalize: scale values to 0 to 1 instead of 0 to 255.

    Attributes:
        classes: the names of the classes.
        class_to_idx: their numbers.
        data: all images, uint8 of shape (N, 28, 28).
        targets: all labels, int64 of shape (N,).

    Raises:
        FileNotFoundError: a file is missing; the message has the names that were looked for.
        FormatError: a file is damaged, or labels and images do not match.

    Source: LeCun et al., "Gradient-based learning applied to document recognition", 1998.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> head = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28])  # one, of 28 x 28
        >>> _ = (folder / "t10k-images-idx3-ubyte").write_bytes(head + bytes(784))
        >>> _ = (folder / "t10k-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
        >>> test = tn.data.MNIST(folder, train=False)
        >>> image, label = test[0]
        >>> len(test), image.shape, label
        (1, tinynet.Size([1, 28, 28]), tensor(7))
    """

    classes: Sequence[str] = (
        *("0 - zero", "1 - one", "2 - two", "3 - three", "4 - four"),
        *("5 - five", "6 - six", "7 - seven", "8 - eight", "9 - nine"),
    )
    source = "The files are at https://yann.lecun.com/exdb/mnist/."

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
        images_path, labels_path = (self._find(root, train, what) for what in ("images", "labels"))
        images = _read(images_path, rank=3)
        if images.dtype != np.uint8:
            raise FormatError(images_path, "the type 08 (bytes)", images.dtype.name, "magic number")
        labels = _labels(labels_path, images_path, len(images))
        self._check_labels(labels, labels_path)
        super().__init__(
            images[:, None],
            labels,
            transform=transform,
            target_transform=target_transform,
            augment=augment if train else None,
            flatten=flatten,
            normalize=normalize,
        )

    @property
    def data(self) -> Tensor:
        """All images as stored in the file: uint8, shape (N, height, width)."""
        return wrap(self._arrays[0][:, 0])

    @classmethod
    def _find(cls, root: StrPath, train: bool, what: str) -> str:
        rank = {"images": 3, "labels": 1}[what]
        stem, part = ("train", "training") if train else ("t10k", "test")
        names = [f"{stem}-{what}{mark}idx{rank}-ubyte" for mark in "-."]
        folders = [root, os.path.join(root, "raw"), os.path.join(root, cls.__name__, "raw")]
        names = [name + end for name in names for end in ("", ".gz")]
        try:
            return first_existing(folders, names, f"the {part} {what} of {cls.__name__}")
        except FileNotFoundError as error:
            raise FileNotFoundError(f"{error} {cls.source}") from None


class FashionMNIST(MNIST):
    """Fashion-MNIST: 70,000 images of clothes, 28x28 pixels, read from a folder.

    60,000 images are for training, 10,000 for testing. Files, parameters and attributes are those
    of ``MNIST``. On Debian, the package ``dataset-fashion-mnist`` installs the files in
    ``/usr/share/datasets/fashion-mnist``.

    Source: H. Xiao, K. Rasul, R. Vollgraf, Fashion-MNIST: a Novel Image Dataset for Benchmarking
    Machine Learning Algorithms (2017), https://arxiv.org/abs/1708.07747

    Example:
        >>> tn.data.FashionMNIST("no/such/folder")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        FileNotFoundError: ...
    """

    classes = (
        *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
        *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
    )
    source = (
        "To get the files: apt install dataset-fashion-mnist (Debian, Ubuntu; it puts them into "
        "/usr/share/datasets/fashion-mnist), or https://github.com/zalandoresearch/fashion-mnist."
    )


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
