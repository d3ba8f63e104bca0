"""Folders of images, with one subfolder per class."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

from tinynet.data.readers.files import StrPath
from tinynet.data.readers.folder import DatasetFolder
from tinynet.data.readers.pillow import read_image, require_pillow
from tinynet.data.transforms.geometry import Side, height_and_width

EXTENSIONS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp")


class ImageFolder(DatasetFolder):
    """The images in a folder's subfolders: each subfolder is a class, its name the label.

    Sample ``i`` is ``(image, label)``: float32 of shape (channels, height, width) from 0 to 1, and
    a 0-d int64. Requires Pillow (``pip install tinynet[images]``), unless a ``loader`` is given.
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

    Attributes:
        classes: the names of the classes.
        class_to_idx: their numbers.
        samples, imgs: pairs of a path and a class number.
        targets: the class numbers.

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
        """``samples`` under torchvision's name."""
        return self.samples
