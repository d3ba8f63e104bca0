"""The decision boundary of a classifier of points in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.train.exhibits.exhibit import Exhibit, Moment, require_positive
from tinynet.train.step.shapes import shape_of

_COLOURS = np.array(
    [
        (0, 114, 178),
        (230, 126, 0),
        (0, 158, 115),
        (204, 51, 102),
        (120, 80, 180),
        (140, 110, 60),
        (60, 180, 220),
        (230, 190, 20),
        (110, 110, 110),
        (150, 30, 30),
    ],
    float,
)
_PAPER = 255.0
_TINT = 0.55
"""The strength of the class colours in the plane, relative to those of the points."""

_ENLARGED = 2
"""The number of pixels per side for each evaluated place."""

_ROWS_AT_ONCE = 4096


class DecisionBoundary(Exhibit):
    """The plane coloured by class probabilities, with the points of the validation set.

    Inputs must have two numbers. Colours mix where the model is uncertain. The points are the first
    of the validation set, in the colours of their classes.

    Args:
        points: the maximum number of points.
        resolution: the number of evaluated places per side.
        tag: the name in TensorBoard, by default ``val/decision_boundary``, or ``test/...`` without
            a validation set.

    Raises:
        ValueError: if inputs are not (batch, 2), outputs not (batch, classes) or one logit per
            example, or there are more than ten classes.
    """

    def __init__(self, points: int = 300, resolution: int = 160, tag: str = "") -> None:
        require_positive("DecisionBoundary", points=points, resolution=resolution)
        self.points = points
        self.resolution = resolution
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the image."""
        at.picture(
            self.tag or at.tag("decision_boundary"), self.draw(at.model, *at.examples(self.points))
        )

    def draw(self, model: nn.Module, inputs: Any, targets: Any) -> Array:
        """Return the image: (height, width, 3) bytes, both sides twice the resolution."""
        if not isinstance(inputs, Tensor) or inputs.ndim != 2 or inputs.shape[1] != 2:
            raise ValueError(f"inputs must be points (batch, 2), are {shape_of(inputs)}")
        points = inputs.numpy().astype(float)
        middle = (points.min(0) + points.max(0)) / 2
        reach = float(np.ptp(points, axis=0).max()) * 0.55 or 1.0
        shares = self._shares(model, middle, reach, inputs.numpy().dtype)
        colours = shares @ _COLOURS[: shares.shape[1]]
        plane = (_PAPER + _TINT * (colours - _PAPER)).round().astype(np.uint8)
        canvas = plane.reshape(self.resolution, self.resolution, 3)
        canvas = canvas.repeat(_ENLARGED, axis=0).repeat(_ENLARGED, axis=1)
        places = (points - middle) / reach * (1, -1) * 0.5 + 0.5  # the second number goes upwards
        classes = _classes(targets, len(points), shares.shape[1])
        _draw_dots(canvas, (places * (len(canvas) - 1)).round().astype(int), _COLOURS[classes])
        return canvas

    def _shares(self, model: nn.Module, middle: Array, reach: float, dtype: Any) -> Array:
        """Return the class probabilities at each place, row by row from the top left."""
        steps = np.linspace(-reach, reach, self.resolution)
        across, down = np.meshgrid(middle[0] + steps, middle[1] - steps)
        places = np.stack([across.ravel(), down.ravel()], 1).astype(dtype)
        parts = [
            _probabilities(model(wrap(places[first : first + _ROWS_AT_ONCE])))
            for first in range(0, len(places), _ROWS_AT_ONCE)
        ]
        return np.concatenate(parts)


def _probabilities(outputs: Any) -> Array:
    """Return probabilities (batch, classes) from logits; a single one is that of class 1."""
    if not isinstance(outputs, Tensor) or outputs.ndim not in (1, 2):
        raise ValueError(f"outputs must be (batch, classes), are {shape_of(outputs)}")
    logits = outputs.detach().numpy().astype(float)
    if logits.ndim == 1 or logits.shape[1] == 1:
        logits = np.stack([np.zeros(len(logits)), logits.reshape(-1)], 1)
    if logits.shape[1] > len(_COLOURS):
        raise ValueError(f"there are colours for {len(_COLOURS)} classes, not {logits.shape[1]}")
    powers = np.exp(logits - logits.max(1, keepdims=True))
    shares: Array = powers / powers.sum(1, keepdims=True)
    return shares


def _classes(targets: Any, count: int, most: int) -> Array:
    """Return the class of each point, clipped to the classes of the model."""
    if not isinstance(targets, Tensor) or targets.numel() != count:
        raise ValueError(f"targets must be a class for each point, are {shape_of(targets)}")
    classes: Array = targets.numpy().reshape(-1).round().astype(np.int64).clip(0, most - 1)
    return classes


def _draw_dots(canvas: Array, places: Array, colours: Array) -> None:
    """Draw dots of 5 pixels with a white edge, in order."""
    offsets = np.arange(-3, 4)
    squares = offsets[:, None] ** 2 + offsets[None, :] ** 2
    for radius, paint in ((11, np.full_like(colours, _PAPER)), (5, colours)):
        ys, xs = np.nonzero(squares <= radius)
        rows = (places[:, 1, None] + offsets[ys]).clip(0, len(canvas) - 1)
        columns = (places[:, 0, None] + offsets[xs]).clip(0, len(canvas) - 1)
        canvas[rows, columns] = paint[:, None].astype(np.uint8)
