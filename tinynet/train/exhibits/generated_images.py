"""Images that a model makes by itself."""

from __future__ import annotations

from tinynet.train.build.shapes import shape_of
from tinynet.train.exhibits.exhibit import Exhibit, Moment
from tinynet.train.report import pictures


class GeneratedImages(Exhibit):
    """Samples of a generative model: what ``model.samples(count)`` returns, as one picture.

    The method is what a VAE or a GAN of `tinynet.train.models` has; a class of one's own needs it,
    too. The random numbers that it draws are the same at each measurement, so the same latent
    vectors are seen to become better images.

    Args:
        count: how many images; they are laid out in about as many rows as columns.
        tag: what TensorBoard calls the picture.

    Raises:
        ValueError: the model has no such method, or it does not return images (count, channels,
            height, width).
    """

    def __init__(self, count: int = 64, tag: str = "samples") -> None:
        if count < 1:
            raise ValueError(
                f"The 'count' parameter of GeneratedImages must be >= 1. Got {count} instead."
            )
        self.count = count
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the picture."""
        samples = getattr(at.model, "samples", None)
        if not callable(samples):
            raise ValueError(f"{type(at.model).__name__} has no method samples(count)")
        images = samples(self.count)
        if not pictures.are_images(images):
            raise ValueError(
                f"{type(at.model).__name__}.samples({self.count}) must be images (count, 1 or 3 "
                f"channels, height, width), floating; is {shape_of(images)}"
            )
        at.picture(self.tag, pictures.grid(images))
