"""Folders of images, one folder per class."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

from tinynet.data.readers.files import StrPath
from tinynet.data.readers.folder import DatasetFolder
from tinynet.data.readers.pillow import read_image, require_pillow
from tinynet.data.transforms.frame import Side, height_and_width

EXTENSIONS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp")


class ImageFolder(DatasetFolder):
    """The images in the folders of a folder: each inner folder is a class, its name the label.

    Sample ``i`` is ``(image, label)``: float32 of shape (channels, height, width) from 0 to 1, and
    int64 without dimensions. Needs Pillow (``pip install tinynet[images]``), unless a ``loader`` is
    given. Images are read when they are asked for.

    Args:
        root: the folder with a folder for each class: ``root/cat/1.png``, ``root/dog/x/2.png``.
        transform: a function of the image.
        target_transform: a function of the label.
        loader: a function from a path to what ``transform`` gets, instead of Pillow.
        is_valid_file: which files are images, as a function of the path (those with the name
            endings of PNG, JPEG, BMP, GIF, PPM, TIFF and WebP).
        allow_empty: whether a class may have no images.
        mode: ``"RGB"``, ``"RGBA"`` or ``"L"`` (grey, one channel).
        size: height and width that all images are scaled to, or one number for both; without it
            they must all have one size to form batches.

    Attributes:
        classes: the names of the classes.
        class_to_idx: their numbers.
        samples, imgs: pairs of a path and the number of its class.
        targets: the numbers alone.

    Raises:
        FileNotFoundError: there is no such folder, no class in it, or a class without images.
        ModuleNotFoundError: Pillow is not installed.
        FormatError: when it is read, an image turns out to be damaged.

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
    ):
        if mode not in ("RGB", "RGBA", "L"):
            raise ValueError(
                f"The 'mode' parameter of ImageFolder must be RGB, RGBA or L. Got {mode!r} instead."
            )
        if loader is None:
            require_pillow()
            shape = None if size is None else height_and_width(size, "ImageFolder")
            loader = functools.partial(read_image, mode=mode, size=shape)
        super().__init__(
            root,
            loader,
            EXTENSIONS if is_valid_file is None else None,
            transform,
            target_transform,
            is_valid_file,
            allow_empty,
        )

    @property
    def imgs(self) -> list[tuple[str, int]]:
        """The same as ``samples``: torchvision's name."""
        return self.samples
