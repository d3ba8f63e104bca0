"""The reconstructions of an autoencoder."""

from __future__ import annotations

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.train.exhibits.exhibit import Exhibit, Moment, require_positive
from tinynet.train.outputs import pictures
from tinynet.train.step.shapes import shape_of


class Reconstructions(Exhibit):
    """Validation images with the output of the model below each.

    If the model returns a tuple, the output is its first element, as for a VAE. Flat outputs, such
    as those of an ``mlp``, are reshaped like the inputs.

    Args:
        count: the number of examples, from the start of the validation set.
        tag: the name in TensorBoard, by default ``val/reconstructions``, or ``test/...`` without a
            validation set.

    Raises:
        ValueError: if the inputs are no images, or the outputs differ in their number of elements.
    """

    def __init__(self, count: int = 16, tag: str = "") -> None:
        require_positive("Reconstructions", count=count)
        self.count = count
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the image."""
        inputs = at.examples(self.count)[0]
        if not pictures.are_images(inputs):
            raise ValueError(
                "inputs must be images (batch, 1 or 3 channels, height, width), floating; "
                f"are {shape_of(inputs)}"
            )
        outputs = at.model(inputs)
        if isinstance(outputs, tuple):
            outputs = outputs[0]
        if not isinstance(outputs, Tensor) or outputs.numel() != inputs.numel():
            raise ValueError(
                f"outputs must be images like the inputs {shape_of(inputs)}, are "
                f"{shape_of(outputs)}"
            )
        both = np.concatenate([inputs.numpy(), outputs.numpy().reshape(inputs.shape)])
        at.picture(
            self.tag or at.tag("reconstructions"), pictures.grid(wrap(both), columns=len(inputs))
        )
