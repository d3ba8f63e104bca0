"""Folders with one subfolder per class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinynet import data
from tinynet.compat.vision.datasets.base import VisionDataset
from tinynet.data.readers.files import StrPath
from tinynet.data.readers.pillow import read_pillow, require_pillow

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
