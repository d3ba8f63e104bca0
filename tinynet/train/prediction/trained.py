"""A trained model with its preprocessing: predictions for raw rows, and for files of images."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.image_encoding import Framing, ImageEncoder, conversion
from tinynet.data.readers.pillow import opaque_image, require_pillow
from tinynet.data.readers.tables import TableEncoder
from tinynet.data.texts.tokenizer import TextEncoder
from tinynet.dtypes import Array
from tinynet.ops import stack
from tinynet.train.assemble.build import Parts, first_batch
from tinynet.train.base.problems import TrainError, UsageError, in_users_code
from tinynet.train.config.sections import Config
from tinynet.train.config.signatures import built
from tinynet.train.config.user_code import on_path
from tinynet.train.loop.splits import class_names, dataset_attribute
from tinynet.train.outputs import Row, are_classes, are_images, differences, labelled, rows_of
from tinynet.train.step.task import as_evaluated, shape_of


@dataclass(frozen=True)
class Trained:
    """A run loaded from its folder: its model with the trained weights, and its parts."""

    model: nn.Module
    config: Config
    checkpoint: Path
    saved: dict[str, Any]
    changes: Sequence[str] = ()
    """What has changed since the run, one sentence each."""

    loaded: Parts | None = None
    """The parts, unless the run was loaded without its data."""

    @property
    def parts(self) -> Parts:
        """The objects of the config, data sets included.

        Raises:
            UsageError: the run was loaded without its data.
        """
        if self.loaded is None:
            raise UsageError(f"{self.checkpoint} was loaded without its data (data=False)")
        return self.loaded

    @cached_property
    def preprocessing(self) -> TableEncoder | ImageEncoder | TextEncoder | None:
        """What the data set learned from its training part; None if it learns nothing."""
        state = self.saved.get("preprocessing")
        if state is None:
            return None
        kind = state.get("kind", "table")
        if kind == "images":
            component = self.config.data.component
            with on_path(self.config.run.path):
                functions = built(component, "transform"), built(component, "loader")
            return ImageEncoder.from_state_dict(state, *functions)
        return (TextEncoder if kind == "texts" else TableEncoder).from_state_dict(state)

    @cached_property
    def example(self) -> tuple[Any, bool]:
        """An input as a batch of one, and whether the outputs are class scores."""
        inputs, targets = first_batch(self.parts, self.parts.test_set, 1)
        with as_evaluated(self.model):
            return inputs, are_classes(self.model(inputs), targets)

    @cached_property
    def images(self) -> _ImageReader | None:
        """Reads files as inputs of the data set; None if its inputs are not images."""
        dataset = self.parts.test_set
        shape = _shape_of_images(dataset, self.example[0])
        if shape is None:
            return None
        inputs, _ = first_batch(self.parts, dataset, MEASURED)
        return _ImageReader(inputs, shape)

    @property
    def classes(self) -> Sequence[str]:
        """The names of the classes; empty if there are none."""
        if self.preprocessing is not None:
            return self.preprocessing.classes
        return class_names(self.parts.test_set)

    def predict(self, rows: Iterable[Any]) -> list[Row]:
        """Return the predictions for raw rows, one dictionary each.

        Args:
            rows: for a table, mappings from column names to values (None is a missing value); for
                a folder of images, paths, Pillow images, and arrays (bytes, or floats from 0 to
                1); for other images, paths, and inputs as numbers; for labelled texts, texts; for
                other data, inputs as numbers.

        Returns:
            ``class``, ``label`` (its name) and ``probability``, or ``output``, for each row; or
            each element of the outputs by its name, if the model returns a tuple.

        Raises:
            FormatError: values do not fit, or an image is damaged.
            TrainError: the model fails.
            UsageError: the rows are not of the kind of the data set.

        Example:
            >>> from tinynet.train import load_run, run
            >>> few = {"run.epochs": 20, "run.out": str(getfixture("tmp_path"))}
            >>> trained = load_run(run("configs/spiral.toml", few, quiet=True).folder)
            >>> [*trained.predict([[0.5, -0.2]])[0]]
            ['class', 'probability']
        """
        listed, size = [*rows], self.config.data.batch_size
        found: list[Row] = []
        with as_evaluated(self.model, self.config.run.seed):
            for start in range(0, len(listed), size):
                inputs = self.inputs_of(listed[start : start + size])
                found += self.rows_for(inputs)
        return found

    def inputs_of(self, rows: Sequence[Any]) -> Tensor:
        """Return raw rows as a batch of inputs, with the arguments and errors of `predict`."""
        encoder = self.preprocessing
        if isinstance(encoder, ImageEncoder | TextEncoder):
            try:
                return encoder(rows)
            except OSError as error:
                raise _unreadable(error) from None
        if isinstance(rows[0], Mapping):
            if encoder is None:
                kind = self.config.data.component.type
                raise UsageError(f"rows with named columns need a run on a table, not on {kind}")
            return encoder(rows)
        if isinstance(rows[0], str | os.PathLike):
            return self._images(rows)
        array = np.stack([np.asarray(row) for row in rows])
        if array.dtype.kind not in "biuf":
            raise UsageError(f"the rows hold {array.dtype}, not numbers")
        return self.shaped(array, "the array of the rows")

    def shaped(self, array: Array, name: str) -> Tensor:
        """Return an array as inputs of the shape and dtype of the data set.

        Args:
            array: shape (examples, ...), or one example.
            name: what a message calls it.

        Raises:
            UsageError: its shape differs from the data set's.
        """
        encoder = self.preprocessing
        if self.loaded is None and isinstance(encoder, TableEncoder):
            return wrap(array.astype(encoder.options.dtype.numpy))
        example, _ = self.example
        expected = tuple(example.shape[1:])
        if array.shape == expected:
            array = array[None]
        if array.ndim == 2 and array.shape[1:] == (int(np.prod(expected)),):
            array = array.reshape(-1, *expected)  # such as the rows of a table
        if array.shape[1:] != expected or not len(array):
            raise UsageError(
                f"{name} has shape {[*array.shape]}, but must have [examples, "
                f"{str([*expected])[1:]}, because the inputs of the data set are "
                f"{shape_of(example)}"
            )
        return wrap(array.astype(example.numpy().dtype))

    def rows_for(self, inputs: Tensor, name: str = "the rows") -> list[Row]:
        """Return the predictions for a batch of inputs, in evaluation mode.

        Raises:
            TrainError: the model fails; names the inputs.
        """
        try:
            outputs = self.model(inputs)
        except Exception as error:
            raise TrainError(f"the model fails on {name}\n{in_users_code(error)}") from error
        names = self.classes
        if isinstance(self.preprocessing, TableEncoder):
            outputs = self.preprocessing.original(outputs)
        if self.preprocessing is not None:
            shape = getattr(outputs, "shape", ())
            is_class = bool(names) and tuple(shape[1:]) == (len(names),)
        else:
            is_class = self.example[1]
        rows = labelled(rows_of(outputs, classes=is_class), names)
        return self.compared(rows, outputs, inputs)

    def compared(self, rows: list[Row], outputs: Any, inputs: Any) -> list[Row]:
        """Add the difference of each output from its input to the rows of an autoencoder."""
        if self.config.data.targets == "inputs":
            for row, difference in zip(rows, differences(outputs, inputs), strict=False):
                row["difference"] = difference
        return rows

    def _images(self, paths: Sequence[str | os.PathLike[str]]) -> Tensor:
        dataset = self.parts.test_set
        loader = dataset_attribute(dataset, "loader")
        if loader is None and self.images is not None:
            try:
                return self.images.batch(paths)
            except OSError as error:
                raise _unreadable(error) from None
        if loader is None:
            kind = self.config.data.component.type
            raise UsageError(f"paths need a run on images, or a folder of files, not on {kind}")
        transform = dataset_attribute(dataset, "transform") or (lambda image: image)
        try:
            images = [transform(loader(os.fspath(path))) for path in paths]
        except OSError as error:
            raise _unreadable(error) from None
        if len({tuple(image.shape) for image in images}) > 1:
            raise UsageError("the images have different sizes; data.size makes them equal")
        return stack(images)


def _unreadable(error: OSError) -> UsageError:
    return UsageError(f"{error.filename} cannot be read: {error.strerror or error}")


MEASURED = 500
"""The number of examples whose range, background and extent are measured."""


def _shape_of_images(dataset: Any, inputs: Any) -> tuple[int, int, int] | None:
    """Return channels, height and width of a data set's images; None if it has none.

    Args:
        dataset: the data set, perhaps with an attribute ``image_shape`` for flat inputs.
        inputs: a batch of its inputs.
    """
    if are_images(inputs):
        return inputs.shape[1], inputs.shape[2], inputs.shape[3]
    shape = dataset_attribute(dataset, "image_shape")
    if shape is None or not isinstance(inputs, Tensor) or not inputs.is_floating_point():
        return None
    is_image = len(shape) == 3 and shape[0] in (1, 3)
    return tuple(shape) if is_image and math.prod(shape) == inputs[0].numel() else None


class _ImageReader:
    """Reads files as inputs like those of a data set, from their range, size and background.

    Args:
        inputs: inputs of the data set, (examples, ...).
        shape: channels, height and width of its images.

    Example:
        >>> digits = tn.data.Digits(train=False)
        >>> reader = _ImageReader(digits.images[:100], digits.image_shape)
        >>> reader.framing.size, reader.framing.background
        ((8, 8), 0.0)
    """

    def __init__(self, inputs: Tensor, shape: tuple[int, int, int]) -> None:
        self.shape, self.input_shape = shape, tuple(inputs.shape[1:])
        array = inputs.numpy().reshape(-1, *shape)
        self.dtype = array.dtype
        self.low = array.min(axis=(0, 2, 3))[:, None, None]
        reach = array.max(axis=(0, 2, 3))[:, None, None] - self.low
        self.reach = np.where(reach > 0, reach, 1)
        self.framing = Framing.of((array - self.low) / self.reach)

    def __call__(self, path: str | os.PathLike[str]) -> tuple[Array, str]:
        """Return a file as an input, and its conversion in words.

        Raises:
            FormatError: it is not an image.
            ModuleNotFoundError: Pillow is not installed.
            OSError: it cannot be opened.
        """
        require_pillow()
        image, kind, transparent = opaque_image(path, "L" if self.shape[0] == 1 else "RGB")
        image, done = self.framing.framed(image, self.shape[1:])
        if transparent:
            done.insert(0, "transparency removed")
        values = (self.low + image * self.reach).astype(self.dtype)
        return values.reshape(self.input_shape), conversion(kind, self.shape, done)

    def batch(self, paths: Iterable[str | os.PathLike[str]]) -> Tensor:
        """Return files as a batch of inputs; raises the errors of a call."""
        return wrap(np.stack([self(path)[0] for path in paths]))
