"""The base class of readers of small labelled images that fit into memory."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import FormatError, StrPath
from tinynet.data.readers.table_rows import Rows
from tinynet.data.transforms import Compose, ToDtype, Transform
from tinynet.dtypes import Array


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
