"""What an autoencoder makes of its inputs."""

from __future__ import annotations

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.train.build.shapes import shape_of
from tinynet.train.exhibits.exhibit import Exhibit, Moment
from tinynet.train.report import pictures


class Reconstructions(Exhibit):
    """Test images, and below each of them what the model gives back.

    If the model returns a tuple, its first element counts (a VAE returns more than the images).
    Outputs that are flat, such as those of an ``mlp``, take the shape of the inputs.

    Args:
        count: how many examples of the test set, from its beginning.
        tag: what TensorBoard calls the picture.

    Raises:
        ValueError: inputs are no images, or outputs have not as many elements.
    """

    def __init__(self, count: int = 16, tag: str = "test/reconstructions") -> None:
        if count < 1:
            raise ValueError(
                f"The 'count' parameter of Reconstructions must be >= 1. Got {count} instead."
            )
        self.count = count
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the picture."""
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
        at.picture(self.tag, pictures.grid(wrap(both), columns=len(inputs)))
